// SPDX-License-Identifier: Apache-2.0
//
// From the crossing triangles of two meshes to contacts: see mesh_mesh.hpp.
#pragma once

#include "collision/mesh_crossings.hpp"
#include "collision/mesh_manifolds.hpp"
#include "collision/mesh_mesh.hpp"
#include "collision/mesh_penetration.hpp"

#include <vector>

namespace tangere::collision {

struct RegionReport {
  bool areLeft = true;    ///< each region is left along one of its contacts: then none is missing
  bool hasGuess = false;  ///< the contacts of a region are points of its crossing line
  bool mayBeShorter = false;  ///< a region may be left sooner than along its contacts
  WaysOut ways;               ///< out of the hulls of such regions, and of those not left, for A
};

/// Appends the contacts in the frame of A, normals from A to B.
[[nodiscard]] RegionReport addRegionContacts(const MeshBody& a, const MeshBody& b,
                                             const Transform& X_AB,
                                             const std::vector<Crossing>& crossings,
                                             std::vector<SurfaceContact>& out);

}  // namespace tangere::collision
