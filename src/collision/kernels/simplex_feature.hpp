// SPDX-License-Identifier: Apache-2.0
//
// The feature of two polytopes that three vertices of their Minkowski difference lie on. A facet of
// the difference with more than three vertices can be found by several triangles; its plane and the
// foot of the origin, computed from the feature itself, do not depend on which.
#pragma once

#include "collision/kernels/simplex.hpp"

namespace tangere::kernel {

/// Plane and foot of a facet of D: normal . x = offset, and the foot normal * offset belongs to
/// pointA of A.
template <class S>
struct FacetFoot {
  Vec3T<S> normal{};  ///< unit
  S offset{};
  Vec3T<S> pointA{};
};

/// Puts three vertices in the order of their pieces.
template <class S>
TANGERE_HD inline void sortByPiece(SimplexVertex<S> (&v)[3]) {
  for (int i = 1; i < 3; ++i) {
    for (int j = i; j > 0; --j) {
      if (v[j - 1].ia < v[j].ia || (v[j - 1].ia == v[j].ia && v[j - 1].ib <= v[j].ib)) break;
      const SimplexVertex<S> swap = v[j];
      v[j] = v[j - 1];
      v[j - 1] = swap;
    }
  }
}

namespace detail {

/// The axis that three corners of a box have in common: 0, 1, 2, or -1.
TANGERE_HD inline int commonBoxAxis(int i, int j, int k) {
  const int same = (i & j & k) | (~i & ~j & ~k & 7);
  return same == 1 ? 0 : same == 2 ? 1 : same == 4 ? 2 : -1;
}

/// Two edges that cross: the facet is a parallelogram.
template <class Pair, class S>
TANGERE_HD inline bool footOnEdges(const Pair& pair, const SimplexVertex<S> (&v)[3],
                                   const Vec3T<S>& direction, FacetFoot<S>* out) {
  const int a0 = v[0].ia, a1 = v[2].ia;  // sorted
  int b0 = v[0].ib, b1 = v[0].ib;
  for (int i = 1; i < 3; ++i) {
    b0 = v[i].ib < b0 ? v[i].ib : b0;
    b1 = v[i].ib > b1 ? v[i].ib : b1;
  }
  if (a0 == a1 || b0 == b1 || (v[1].ia != a0 && v[1].ia != a1)) return false;
  for (int i = 0; i < 3; ++i)
    if (v[i].ib != b0 && v[i].ib != b1) return false;
  const SimplexVertex<S> p = pair.vertex(a0, b0);
  const Vec3T<S> ea = pair.vertex(a1, b0).w - p.w, eb = pair.vertex(a0, b1).w - p.w;
  const Vec3T<S> n = cross(ea, eb);
  const S nn = squaredNorm(n);
  if (!(nn > S(1e-20) * squaredNorm(ea) * squaredNorm(eb))) return false;
  const S side = dot(n, direction) > S(0) ? S(1) : S(-1);
  out->normal = n * (side / norm(n));
  out->offset = dot(out->normal, p.w);
  const S s = -dot(cross(p.w, eb), n) / nn, t = -dot(cross(ea, p.w), n) / nn;
  if (!(s >= S(0) && s <= S(1) && t >= S(0) && t <= S(1))) return false;
  out->pointA = p.a + ea * s;
  return true;
}

/// A face of a box and a vertex: the normal is an axis of the box.
template <class Pair, class S>
TANGERE_HD inline bool footOnBoxFace(const Pair& pair, const SimplexVertex<S> (&v)[3],
                                     const Vec3T<S>& direction, FacetFoot<S>* out) {
  if (pair.coreA() == CoreType::Box && v[0].ib == v[1].ib && v[0].ib == v[2].ib) {
    const int axis = commonBoxAxis(v[0].ia, v[1].ia, v[2].ia);
    if (axis < 0) return false;
    out->normal = {};
    out->normal[axis] = direction[axis] > S(0) ? S(1) : S(-1);
    const Vec3T<S> b = pair.X_AB * coreVertex(pair.b, v[0].ib);
    out->offset = out->normal[axis] * (v[0].a[axis] - b[axis]);
    out->pointA = b + out->normal * out->offset;
    return true;
  }
  if (pair.coreB() == CoreType::Box && v[0].ia == v[1].ia && v[0].ia == v[2].ia) {
    const int axis = commonBoxAxis(v[0].ib, v[1].ib, v[2].ib);
    if (axis < 0) return false;
    const Vec3T<S>& column = pair.X_AB.rotation.col[axis];
    out->normal = dot(column, direction) > S(0) ? column : -column;
    const S reach = (v[0].ib >> axis & 1) != 0 ? pair.b.size[axis] : -pair.b.size[axis];
    const Vec3T<S> face = pair.X_AB.translation + column * reach;
    out->pointA = coreVertex(pair.a, v[0].ia);
    out->offset = dot(out->normal, out->pointA - face);
    return true;
  }
  return false;
}

}  // namespace detail

/// The facet under three sorted vertices of two polytopes, with its normal on the side of
/// `direction`; false where the triangle itself is the best that is known.
template <class Pair, class S>
TANGERE_HD inline bool facetFoot(const Pair& pair, const SimplexVertex<S> (&v)[3],
                                 const Vec3T<S>& direction, FacetFoot<S>* out) {
  if (v[0].ia < 0) return false;  // not a vertex
  return detail::footOnBoxFace(pair, v, direction, out) ||
         detail::footOnEdges(pair, v, direction, out);
}

}  // namespace tangere::kernel
