// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tangere/types.hpp>

namespace tangere::math {

/// A right-handed orthonormal frame R_WC whose third axis is the unit vector `normal`: the columns
/// are (tangent1, tangent2, normal), so R_WC^T v has the tangential part first.
///
/// It is the least rotation that takes z to the normal where the normal's z is above -1/2, and
/// that of -z below: a continuous field cannot cover the sphere (hairy ball), and this choice
/// keeps its only jump away from floors, ceilings and walls of a world whose z is up, and the
/// division away from zero. normal = z gives the identity.
template <class S>
[[nodiscard]] TANGERE_HD constexpr Mat3T<S> contactFrame(const Vec3T<S>& normal) {
  const S sign = normal.z > S(-0.5) ? S(1) : S(-1);
  const S a = S(-1) / (sign + normal.z);
  const S b = normal.x * normal.y * a;
  return {{{S(1) + sign * normal.x * normal.x * a, sign * b, -sign * normal.x},
           {b, sign + normal.y * normal.y * a, -normal.y},
           normal}};
}

}  // namespace tangere::math
