// SPDX-License-Identifier: Apache-2.0
//
// Cones of normals as bits: one for each of the 26 directions from the centre of a cube to its
// sides, edges and corners. The cone of two sets of normals is the `and` of theirs. No direction is
// farther than 28 degrees from one of the 26.
#pragma once

#include <tangere/types.hpp>

#include <cstdint>

namespace tangere::kernel {

/// Sine of the three degrees by which a normal must be less than square to a direction.
inline constexpr double kFacingMargin = 0.05;

/// The directions that a normal of any length leans to; none for one without a length. Bit k + 13
/// is for the opposite of direction k.
template <class S>
TANGERE_HD inline std::uint32_t facingDirections(const Vec3T<S>& n) {
  using std::sqrt;
  const S least = S(kFacingMargin) * sqrt(squaredNorm(n));
  const S edge = S(0.70710678118654752), corner = S(0.57735026918962576);
  const S sum = n.x + n.y, difference = n.x - n.y;
  const S along[13] = {n.x,
                       n.y,
                       n.z,
                       edge * sum,
                       edge * difference,
                       edge * (n.x + n.z),
                       edge * (n.x - n.z),
                       edge * (n.y + n.z),
                       edge * (n.y - n.z),
                       corner * (sum + n.z),
                       corner * (sum - n.z),
                       corner * (difference + n.z),
                       corner * (difference - n.z)};
  std::uint32_t bits = 0;
  for (int k = 0; k < 13; ++k) {
    // Named first: gcc 12 with -fsanitize=undefined breaks shifts of a conditional expression.
    const std::uint32_t isAlong = along[k] > least ? 1 : 0, isAgainst = along[k] < -least ? 1 : 0;
    bits |= isAlong << k | isAgainst << (k + 13);
  }
  return bits;
}

}  // namespace tangere::kernel
