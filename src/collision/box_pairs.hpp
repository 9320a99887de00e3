// SPDX-License-Identifier: Apache-2.0
//
// Box against box by separating axes and, apart, by a Newton search for the nearest points.
#pragma once

#include "collision/narrow_phase.hpp"

namespace tangere::collision {

/// The functions for (Box, Box); null for any other pair.
[[nodiscard]] PairFunctions boxPairFunctions(ShapeType type1, ShapeType type2);

}  // namespace tangere::collision
