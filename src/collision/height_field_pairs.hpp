// SPDX-License-Identifier: Apache-2.0
//
// Pairs with a terrain: every convex shape and the mesh. What is under the surface overlaps it,
// however deep; nothing is solid beyond the rim of the grid.
#pragma once

#include "collision/narrow_phase.hpp"

namespace tangere::collision {

/// Null members where this family does not own the pair.
[[nodiscard]] PairFunctions heightFieldPairFunctions(ShapeType type1, ShapeType type2);

}  // namespace tangere::collision
