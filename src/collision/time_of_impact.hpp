// SPDX-License-Identifier: Apache-2.0
//
// Time of impact with a horizon, for callers that already know an earlier one, and the reach of a
// shape about its origin.
#pragma once

#include <tangere/collision.hpp>

namespace tangere::collision {

/// timeOfImpact() up to `horizon` (at most 1) only: a Miss then means apart on [0, horizon]. The
/// distance, normal and point of a Miss are left out.
[[nodiscard]] ImpactResult timeOfImpactUntil(const Shape& shape1, const Motion& motion1,
                                             const Shape& shape2, const Motion& motion2,
                                             const ImpactOption& option, Real horizon);

/// At least the distance of the farthest point of the shape from its origin; infinite for a plane.
[[nodiscard]] Real reachAboutOrigin(const Shape& shape);

}  // namespace tangere::collision
