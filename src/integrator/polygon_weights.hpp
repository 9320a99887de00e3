// SPDX-License-Identifier: Apache-2.0
//
// Weights of the corners of a convex polygon in a plane, continuous where corners come and go. `u`,
// `v`: their coordinates, around the polygon; at most kernel::kMaxClippedVertices of them.
#pragma once

#include <tangere/types.hpp>

#include <algorithm>

namespace tangere::integrator {

/// 0 up to `from`, 1 from `to` on, with a continuous derivative.
inline Real fade(Real x, Real from, Real to) {
  const Real t = std::clamp((x - from) / (to - from), Real(0), Real(1));
  return t * t * (3 - 2 * t);
}

/// Weights of the corners of a convex polygon that integrate linear functions exactly: their sum is
/// one and their mean the centroid. A corner that splits in two shares its weight among them.
void cornerWeights(const Real* u, const Real* v, int count, Real* weight, Real* area);

/// Takes the weight from corners that are none. Two faces with edges along each other cross there
/// at a point that may be anywhere on them, or nowhere: what comes and goes must not carry
/// anything. At a corner on an edge the others then have the weights that the polygon has without
/// it; the sum and the mean are kept.
void straightenEdges(const Real* u, const Real* v, int count, Real* weight);

/// Which part of a point each corner is: one, but corners that are about to become one share it by
/// their angles, and what hardly turns is no corner. Returns the sum.
[[nodiscard]] Real countCorners(const Real* u, const Real* v, int count, Real* part);

}  // namespace tangere::integrator
