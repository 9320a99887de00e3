// SPDX-License-Identifier: Apache-2.0
//
// From the crossing triangles of two meshes to contacts: see mesh_mesh.hpp.
#pragma once

#include "collision/mesh_crossings.hpp"
#include "collision/mesh_manifolds.hpp"
#include "collision/mesh_mesh.hpp"

#include <vector>

namespace tangere::collision {

/// Appends the contacts in the frame of A, normals from A to B.
void addRegionContacts(const MeshBody& a, const MeshBody& b, const Transform& X_AB,
                       const std::vector<Crossing>& crossings, std::vector<SurfaceContact>& out);

}  // namespace tangere::collision
