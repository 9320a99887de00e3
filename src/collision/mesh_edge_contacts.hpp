// SPDX-License-Identifier: Apache-2.0
//
// Edges of two meshes that cross each other: as deep as they have passed along the direction across
// both, which must be one in which both edges stick out.
#pragma once

#include "collision/mesh_crossings.hpp"
#include "collision/mesh_manifolds.hpp"
#include "collision/mesh_mesh.hpp"

#include <cstddef>
#include <vector>

namespace tangere::collision {

/// Appends the contacts of one region, in the frame of A, normals from A to B. out[before ...) are
/// the contacts that it has already: edges that push across all of them are left out.
void addEdgeContacts(const MeshBodyPair& pair, const Transform& X_AB,
                     const std::vector<Crossing>& crossings, const std::vector<int>& members,
                     std::size_t before, std::vector<SurfaceContact>& out);

}  // namespace tangere::collision
