// SPDX-License-Identifier: Apache-2.0
//
// Pairs with a compound: each child against the other shape, or against each child of the other
// compound. Manifolds are those of the children; a child that cannot be asked about the other shape
// is left out and the status says Unsupported.
#pragma once

#include "collision/narrow_phase.hpp"

namespace tangere::collision {

/// Null members where this family does not own the pair.
[[nodiscard]] PairFunctions compoundPairFunctions(ShapeType type1, ShapeType type2);

}  // namespace tangere::collision
