// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collision/mesh_crossings.hpp"
#include "collision/mesh_manifolds.hpp"
#include "collision/mesh_mesh.hpp"

#include <span>
#include <vector>

namespace tangere::collision {

/// Solids that lie on each other along a plane, to rounding: which of their triangles cross is
/// chance then, and what is crossed tells no depth (a cube on a slab got one of 34 cm, sideways).
/// Adds up to four points of the crossing lines with the normal of that plane and returns true;
/// false where no plane of a crossed triangle parts the two. In the frame of body 1, normals to
/// body 2, X_12 as elsewhere.
bool addTouchingContacts(const MeshBodyPair& pair, const Transform& X_12,
                         std::span<const Crossing> crossings, std::vector<SurfaceContact>& out);

}  // namespace tangere::collision
