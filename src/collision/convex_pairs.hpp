// SPDX-License-Identifier: Apache-2.0
//
// Box, cylinder, cone, ellipsoid and convex hull against each other, by GJK, EPA and Newton's
// method with the support functions of the two cores inlined; and the same for any two convex
// shapes without the inlining, for callers that ask for GJK or MPR by name.
#pragma once

#include "collision/narrow_phase.hpp"

namespace tangere::collision {

/// The functions for two of (Box, Cylinder, Cone, Ellipsoid, Convex); null for any other pair.
[[nodiscard]] PairFunctions convexPairFunctions(ShapeType type1, ShapeType type2);

/// The functions for any two convex shapes, rounded ones included. They read option.algorithm: Mpr
/// goes by portal refinement, MprExtended by extended_mpr.hpp, anything else by GJK.
[[nodiscard]] const PairFunctions& generalConvexFunctions();

}  // namespace tangere::collision
