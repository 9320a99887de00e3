// SPDX-License-Identifier: Apache-2.0
//
// Which polygons of two bodies are one flat patch.
#pragma once

#include "contact/pressure_workspace.hpp"

#include <span>
#include <vector>

namespace tangere::contact {

/// Marks the polygons of one pair with the patch that each belongs to, and returns how many patches
/// there are. Polygons that press and such that are only foreseen are never in one patch; patches
/// are numbered by their first polygons. Which polygons are together depends on the polygons alone,
/// and neither on their order nor on the frame.
int markPatches(std::span<const PressureContact> polygons, std::vector<int>* patchOf);

}  // namespace tangere::contact
