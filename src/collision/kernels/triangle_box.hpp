// SPDX-License-Identifier: Apache-2.0
//
// Whether a triangle meets a box about the origin: separating axes (Akenine-Moller 2001).
#pragma once

#include <tangere/types.hpp>

namespace tangere::kernel {

/// `v` in the frame of the box with half extents `h`; touching counts.
template <class S>
TANGERE_HD inline bool overlapTriangleBox(const Vec3T<S>& v0, const Vec3T<S>& v1,
                                          const Vec3T<S>& v2, const Vec3T<S>& h) {
  using std::fabs;
  // The box's faces.
  for (int k = 0; k < 3; ++k) {
    const S a = v0[k], b = v1[k], c = v2[k];
    const S low = a < b ? (a < c ? a : c) : (b < c ? b : c);
    const S high = a > b ? (a > c ? a : c) : (b > c ? b : c);
    if (low > h[k] || high < -h[k]) return false;
  }
  const Vec3T<S> e0 = v1 - v0, e1 = v2 - v1, e2 = v0 - v2;
  // The triangle's plane.
  const Vec3T<S> n = cross(e0, e1);
  const S reach = h.x * fabs(n.x) + h.y * fabs(n.y) + h.z * fabs(n.z);
  if (fabs(dot(n, v0)) > reach) return false;
  // Edges of one against edges of the other: axis = unit k x edge. Both ends of the edge project
  // alike, so two of the three vertices tell the interval.
  const Vec3T<S>* const edges[3] = {&e0, &e1, &e2};
  const Vec3T<S>* const ends[3] = {&v0, &v1, &v2};
  for (int i = 0; i < 3; ++i) {
    const Vec3T<S>& e = *edges[i];
    const Vec3T<S>& p = *ends[i];                   // on the edge
    const Vec3T<S>& q = *ends[i == 0 ? 2 : i - 1];  // the vertex across
    const S ax = fabs(e.x), ay = fabs(e.y), az = fabs(e.z);
    {
      const S a = p.z * e.y - p.y * e.z, b = q.z * e.y - q.y * e.z;
      const S r = h.y * az + h.z * ay;
      if ((a < b ? a : b) > r || (a > b ? a : b) < -r) return false;
    }
    {
      const S a = p.x * e.z - p.z * e.x, b = q.x * e.z - q.z * e.x;
      const S r = h.x * az + h.z * ax;
      if ((a < b ? a : b) > r || (a > b ? a : b) < -r) return false;
    }
    {
      const S a = p.y * e.x - p.x * e.y, b = q.y * e.x - q.x * e.y;
      const S r = h.x * ay + h.y * ax;
      if ((a < b ? a : b) > r || (a > b ? a : b) < -r) return false;
    }
  }
  return true;
}

}  // namespace tangere::kernel
