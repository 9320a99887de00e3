// SPDX-License-Identifier: Apache-2.0
//
// Half space against box, cylinder, cone, ellipsoid and convex hull: exact heights of support
// points, up to four of them with a depth each.
#pragma once

#include "collision/narrow_phase.hpp"

namespace tangere::collision {

/// The functions for (Box, Cylinder, Cone or Ellipsoid, Plane) and (Plane, Convex); null for any
/// other pair.
[[nodiscard]] PairFunctions planePairFunctions(ShapeType type1, ShapeType type2);

}  // namespace tangere::collision
