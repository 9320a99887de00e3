// SPDX-License-Identifier: Apache-2.0
//
// <include file="..."/> in MJCF: the children of the other file's root take its place.
#pragma once

#include "io/robot_import.hpp"
#include "io/xml_document.hpp"

namespace tangere::io {

/// Replaces every include below `root`. A file is looked for from the folder of the main file, then
/// from that of the file that names it. Errors in the notes: files that are missing, outside the
/// model's folders, included twice or by themselves (with the chain), more than 16 deep, and
/// elements nested deeper than 128.
void expandMjcfIncludes(XmlElement* root, RobotImport& import);

}  // namespace tangere::io
