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

/// The directions that a normal of any length leans to; none for one without a length.
template <class S>
TANGERE_HD inline std::uint32_t facingDirections(const Vec3T<S>& n) {
  using std::sqrt;
  const S side = S(kFacingMargin) * sqrt(squaredNorm(n));
  const S edge = side * S(1.4142135623730951), corner = side * S(1.7320508075688772);
  const S along[13] = {n.x,
                       n.y,
                       n.z,
                       n.x + n.y,
                       n.x - n.y,
                       n.x + n.z,
                       n.x - n.z,
                       n.y + n.z,
                       n.y - n.z,
                       n.x + n.y + n.z,
                       n.x + n.y - n.z,
                       n.x - n.y + n.z,
                       n.y + n.z - n.x};
  std::uint32_t bits = 0;
  for (int k = 0; k < 13; ++k) {
    const S least = k < 3 ? side : (k < 9 ? edge : corner);
    bits |= (along[k] > least ? 1u : 0u) << k;
    bits |= (along[k] < -least ? 1u : 0u) << (k + 13);
  }
  return bits;
}

}  // namespace tangere::kernel
