// SPDX-License-Identifier: Apache-2.0
//
// Capsule against box, capsule, cylinder, cone, ellipsoid, half space and convex hull. All but the
// hull are closed forms or one-dimensional iterations, exact for deep overlaps as well.
#pragma once

#include "collision/narrow_phase.hpp"

namespace tangere::collision {

/// The functions for (Box, Capsule) and (Capsule, type2) with a convex type2 or a plane; null for
/// any other pair.
[[nodiscard]] PairFunctions capsulePairFunctions(ShapeType type1, ShapeType type2);

}  // namespace tangere::collision
