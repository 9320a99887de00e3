// SPDX-License-Identifier: Apache-2.0
//
// Minkowski portal refinement in extended precision: for callers of distance() and collide() that
// want every digit of a signed distance, normal and nearest points, whatever it takes (some ten
// microseconds).
#pragma once

#include "collision/kernels/convex_contact.hpp"
#include "geometry/kernels/convex_view.hpp"

namespace tangere::collision {

/// Signed distance of two convex shapes in the frame of the first. The portal through which the ray
/// of the centres leaves is refined, carried on by Newton's method to 1e-28 of the size, and
/// compared with what GJK and EPA find in double precision: where the ray leaves by another way
/// than the shortest one, theirs is refined instead. Coincident centres and flat cores, which have
/// no portal, are answered the same way. NotConverged: the digits are those of GJK and EPA.
[[nodiscard]] kernel::ConvexContact<Real> extendedDistance(const kernel::ConvexView<Real>& a,
                                                           const kernel::ConvexView<Real>& b,
                                                           const Transform& X_AB);

}  // namespace tangere::collision
