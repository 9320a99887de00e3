// SPDX-License-Identifier: Apache-2.0
//
// Support points of the convex cores: the farthest point along a direction.
#pragma once

#include "geometry/kernels/convex_view.hpp"

namespace tangere::kernel {

/// Index of a farthest vertex along `direction`; the lowest index of those that tie.
template <class S>
TANGERE_HD inline int supportVertex(const HullView<S>& hull, const Vec3T<S>& direction) {
  int best = 0;
  S bestDot = hull.x[0] * direction.x + hull.y[0] * direction.y + hull.z[0] * direction.z;
  for (int i = 1; i < hull.numVertices; ++i) {
    const S d = hull.x[i] * direction.x + hull.y[i] * direction.y + hull.z[i] * direction.z;
    if (d > bestDot) {
      bestDot = d;
      best = i;
    }
  }
  return best;
}

/// A farthest point of the core (without the rounding radius). `direction` need not be unit; a zero
/// direction gives some point of the core. `index` names the vertex of a polytope, 0 elsewhere.
template <class S>
TANGERE_HD inline Vec3T<S> supportCore(const ConvexView<S>& view, const Vec3T<S>& direction,
                                       int* index) {
  using std::sqrt;
  *index = 0;
  const Vec3T<S>& n = direction;
  const Vec3T<S>& s = view.size;
  switch (view.core) {
    case CoreType::Point:
      return {};
    case CoreType::Segment:
      *index = n.z >= S(0) ? 1 : 0;
      return {S(0), S(0), n.z >= S(0) ? s.z : -s.z};
    case CoreType::Triangle: {
      const S d0 = dot(view.triangle[0], n), d1 = dot(view.triangle[1], n),
              d2 = dot(view.triangle[2], n);
      *index = d0 >= d1 ? (d0 >= d2 ? 0 : 2) : (d1 >= d2 ? 1 : 2);
      return view.triangle[*index];
    }
    case CoreType::Box:
      *index = (n.x >= S(0) ? 1 : 0) | (n.y >= S(0) ? 2 : 0) | (n.z >= S(0) ? 4 : 0);
      return {n.x >= S(0) ? s.x : -s.x, n.y >= S(0) ? s.y : -s.y, n.z >= S(0) ? s.z : -s.z};
    case CoreType::Cylinder: {
      const S l2 = n.x * n.x + n.y * n.y;
      const S z = n.z >= S(0) ? s.z : -s.z;
      if (!(l2 > S(0))) return {S(0), S(0), z};
      const S k = s.x / sqrt(l2);
      return {n.x * k, n.y * k, z};
    }
    case CoreType::Cone: {
      const S l2 = n.x * n.x + n.y * n.y;
      const S l = sqrt(l2);
      if (S(2) * s.z * n.z >= s.x * l) return {S(0), S(0), s.z};
      if (!(l2 > S(0))) return {S(0), S(0), -s.z};
      const S k = s.x / l;
      return {n.x * k, n.y * k, -s.z};
    }
    case CoreType::Ellipsoid: {
      const Vec3T<S> m{s.x * n.x, s.y * n.y, s.z * n.z};
      const S l2 = squaredNorm(m);
      if (!(l2 > S(0))) return {s.x, S(0), S(0)};
      const S k = S(1) / sqrt(l2);
      return {s.x * m.x * k, s.y * m.y * k, s.z * m.z * k};
    }
    case CoreType::Hull:
      *index = supportVertex(*view.hull, n);
      return view.hull->vertex(*index);
  }
  return {};
}

}  // namespace tangere::kernel
