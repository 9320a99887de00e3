// SPDX-License-Identifier: Apache-2.0
//
// The points that carry the force of flat shapes on flat shapes, continuous in the poses.
//
// A sum of forces at points is smooth when every point has a fixed share, or one that fades. So:
// corners of boxes, hulls and meshes on a half space are always the same corners, each with its own
// distance. A disc stands on four points of its rim that are fixed in the body; tilted by more than
// its depth it turns to four points that go with the lowest one, and where the one passes into the
// other the two sums are the same. Two faces share their overlap: the corners of the clipped
// polygon, weighted so that a force linear in depth is integrated exactly, which is continuous when
// corners appear, vanish or pass an edge. A corner on a straight edge, as where edges of two equal
// faces cross, carries nothing.
#pragma once

#include "integrator/event_distance.hpp"

namespace tangere::integrator {

/// Writes the points of two shapes whose nearest points are `nearest`, apart by at most the margin
/// of evaluatePair(). False: the nearest points are all there is.
[[nodiscard]] bool writeFlatPoints(const Shape& s1, const Transform& X_W1, const Shape& s2,
                                   const Transform& X_W2, const DistanceResult& nearest,
                                   Real margin, PairDistance* out);

}  // namespace tangere::integrator
