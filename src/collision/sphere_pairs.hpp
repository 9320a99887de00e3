// SPDX-License-Identifier: Apache-2.0
//
// Sphere against every convex shape and the half space: closed forms, deep overlaps included.
#pragma once

#include "collision/narrow_phase.hpp"

namespace tangere::collision {

/// The functions for (Sphere, type2) with a convex type2 or a plane; null for any other pair.
[[nodiscard]] PairFunctions spherePairFunctions(ShapeType type1, ShapeType type2);

}  // namespace tangere::collision
