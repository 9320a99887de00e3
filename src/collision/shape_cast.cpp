// SPDX-License-Identifier: Apache-2.0
#include "collision/shape_cast.hpp"

#include "collision/time_of_impact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tangere::collision {

Aabb sweptAabb(const Shape& shape, const Motion& motion) {
  const Transform end = motion.at(1);
  const Aabb first = shape.worldAabb(motion.start), last = shape.worldAabb(end);
  const Real angle = norm(motion.rotationVector);
  const Real reach = angle > 0 ? reachAboutOrigin(shape) : Real(0);

  // A point of the shape strays from the straight line between its first and last place by at most
  // angle^2 reach / 8 (its second derivative bounds the error of linear interpolation), and from
  // the path of the origin by at most its reach: either gives a box, and both hold.
  const Real bow = angle > 0 ? angle * angle * reach / 8 : Real(0);
  Aabb box;
  for (int k = 0; k < 3; ++k) {
    const Real begin = motion.start.translation[k], finish = end.translation[k];
    Real lower = std::min(first.lower[k], last.lower[k]) - bow;
    Real upper = std::max(first.upper[k], last.upper[k]) + bow;
    if (angle > 0) {
      lower = std::max(lower, std::min(begin, finish) - reach);
      upper = std::min(upper, std::max(begin, finish) + reach);
    }
    const Real rounding = 1e-14 * (std::fabs(lower) + std::fabs(upper) + std::fabs(finish - begin));
    box.lower[k] = lower - rounding;
    box.upper[k] = upper + rounding;
    constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
    if (!(box.lower[k] > -kInfinity)) box.lower[k] = -kInfinity;  // NaN too
    if (!(box.upper[k] < kInfinity)) box.upper[k] = kInfinity;
  }
  return box;
}

}  // namespace tangere::collision
