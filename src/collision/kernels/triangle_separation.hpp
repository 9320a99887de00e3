// SPDX-License-Identifier: Apache-2.0
//
// Whether two triangles keep apart, by separating axes. Errs to one side: triangles that touch, lie
// in one plane and overlap, or are nearer than the tolerance never count as apart.
#pragma once

#include <tangere/types.hpp>

namespace tangere::kernel {

/// True when b lies beyond a on the axis, or a beyond b, by more than the tolerance [m].
template <class S>
TANGERE_HD inline bool isSeparating(const Vec3T<S>& axis, const Vec3T<S>* a, const Vec3T<S>* b,
                                    S tolerance) {
  using std::fabs;
  // From a corner of a: far from the origin the coordinates themselves have too few digits.
  const S a1 = dot(axis, a[1] - a[0]), a2 = dot(axis, a[2] - a[0]);
  const S b0 = dot(axis, b[0] - a[0]), b1 = dot(axis, b[1] - a[0]), b2 = dot(axis, b[2] - a[0]);
  const S lowA = a1 < a2 ? (a1 < S(0) ? a1 : S(0)) : (a2 < S(0) ? a2 : S(0));
  const S highA = a1 > a2 ? (a1 > S(0) ? a1 : S(0)) : (a2 > S(0) ? a2 : S(0));
  const S lowB = b1 < b2 ? (b1 < b0 ? b1 : b0) : (b2 < b0 ? b2 : b0);
  const S highB = b1 > b2 ? (b1 > b0 ? b1 : b0) : (b2 > b0 ? b2 : b0);
  const S room = tolerance * (fabs(axis.x) + fabs(axis.y) + fabs(axis.z));
  return lowB - highA > room || lowA - highB > room;
}

/// True when a plane lies between the triangles. One of them may be a segment, with its end twice.
template <class S>
TANGERE_HD inline bool areTrianglesApart(const Vec3T<S>* a, const Vec3T<S>* b, S tolerance) {
  const Vec3T<S> edgeA[3] = {a[1] - a[0], a[2] - a[1], a[0] - a[2]};
  const Vec3T<S> edgeB[3] = {b[1] - b[0], b[2] - b[1], b[0] - b[2]};
  const Vec3T<S> normalA = cross(edgeA[0], edgeA[1]), normalB = cross(edgeB[0], edgeB[1]);
  if (isSeparating(normalA, a, b, tolerance) || isSeparating(normalB, a, b, tolerance)) return true;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      if (isSeparating(cross(edgeA[i], edgeB[j]), a, b, tolerance)) return true;
    }
  }
  // In one plane the axes above are all normal to it.
  for (int i = 0; i < 3; ++i) {
    if (isSeparating(cross(normalA, edgeA[i]), a, b, tolerance) ||
        isSeparating(cross(normalA, edgeB[i]), a, b, tolerance) ||
        isSeparating(cross(normalB, edgeA[i]), a, b, tolerance) ||
        isSeparating(cross(normalB, edgeB[i]), a, b, tolerance)) {
      return true;
    }
  }
  return false;
}

}  // namespace tangere::kernel
