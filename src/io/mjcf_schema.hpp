// SPDX-License-Identifier: Apache-2.0
//
// The vocabulary of MJCF: which elements and attributes exist at all, whether we use them or not.
// A name that is not in it is a typing error of the user's.
#pragma once

#include "io/import_notes.hpp"
#include "io/xml_document.hpp"

namespace tangere::io {

/// Errors in the notes, with near names, for every element and attribute below `root` (a <mujoco>
/// without includes) that MJCF does not have where it stands. An unknown element is not entered.
void checkMjcfVocabulary(const XmlElement& root, ImportNotes& notes);

/// Why what stands in a file is of no consequence here: "it has no effect on the motion".
[[nodiscard]] const char* whyMjcfIgnored(const XmlElement& element, const XmlAttribute* attribute);

}  // namespace tangere::io
