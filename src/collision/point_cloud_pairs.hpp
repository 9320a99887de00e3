// SPDX-License-Identifier: Apache-2.0
//
// Pairs with a point cloud: each point is a ball, against every convex shape, the plane, meshes and
// terrains. Two clouds have no surface to touch: that pair is refused. One contact per ball that
// overlaps; the points of one manifold have normals within 15 degrees of each other.
#pragma once

#include "collision/narrow_phase.hpp"

namespace tangere::collision {

/// Null members where this family does not own the pair.
[[nodiscard]] PairFunctions pointCloudPairFunctions(ShapeType type1, ShapeType type2);

}  // namespace tangere::collision
