// SPDX-License-Identifier: Apache-2.0
//
// Linear fields on a tetrahedron: gradient and barycentric coordinates. All of it holds for turned
// (inverted) tetrahedra too; flat ones are told by a threshold relative to the edges.
#pragma once

#include <tangere/types.hpp>

#include "math/limits.hpp"

#include <cmath>

namespace tangere::kernel {

/// b_k(x) = gradient[k] . (x - origin) + (k == 0 ? 1 : 0); the four add up to one.
template <class S>
struct BarycentricMap {
  Vec3T<S> origin;
  Vec3T<S> gradient[4];
};

/// Barycentric coordinates of the tetrahedron x[0..3]. False for a flat one (its volume drowns in
/// the rounding of its edges), and for one that is not finite: nothing is written then.
template <class S>
TANGERE_HD inline bool barycentricMap(const Vec3T<S>* x, BarycentricMap<S>* out) {
  using std::fabs;
  using std::sqrt;
  const Vec3T<S> e1 = x[1] - x[0], e2 = x[2] - x[0], e3 = x[3] - x[0];
  const Vec3T<S> a1 = cross(e2, e3), a2 = cross(e3, e1), a3 = cross(e1, e2);
  const S volume6 = dot(e1, a1);
  // |e1||e2||e3| bounds what the products of volume6 can be; one root at a time cannot overflow.
  const S size = norm(e1) * norm(e2) * norm(e3);
  const S smallest = S(4096) * math::kEpsilon<S>;
  if (!(fabs(volume6) > smallest * size)) return false;
  const S scale = S(1) / volume6;
  out->origin = x[0];
  out->gradient[1] = a1 * scale;
  out->gradient[2] = a2 * scale;
  out->gradient[3] = a3 * scale;
  out->gradient[0] = -(out->gradient[1] + out->gradient[2] + out->gradient[3]);
  return true;
}

/// b_0..b_3 of the point x.
template <class S>
TANGERE_HD inline void barycentricCoordinates(const BarycentricMap<S>& map, const Vec3T<S>& x,
                                              S* b) {
  const Vec3T<S> offset = x - map.origin;
  b[1] = dot(map.gradient[1], offset);
  b[2] = dot(map.gradient[2], offset);
  b[3] = dot(map.gradient[3], offset);
  b[0] = S(1) - b[1] - b[2] - b[3];
}

/// Gradient of the linear field with value[k] at x[k]. False for a flat tetrahedron: the gradient
/// is zero then.
template <class S>
TANGERE_HD inline bool tetGradient(const Vec3T<S>* x, const S* value, Vec3T<S>* gradient) {
  BarycentricMap<S> map;
  *gradient = Vec3T<S>{};
  if (!barycentricMap(x, &map)) return false;
  *gradient = map.gradient[1] * (value[1] - value[0]) + map.gradient[2] * (value[2] - value[0]) +
              map.gradient[3] * (value[3] - value[0]);
  return true;
}

}  // namespace tangere::kernel
