// SPDX-License-Identifier: Apache-2.0
//
// The surface of equal pressure between two tetrahedra, each with a linear pressure: a plane, cut
// by both. Where that plane holds a face, the polygon belongs to the tetrahedron on its own side:
// for object 1 the one that the normal points into, for object 2 the other. So of the tetrahedra
// at a face one reports the polygon, bodies that just touch have their patch, and exchanging the
// objects changes nothing but the sign of the normal.
#pragma once

#include <tangere/types.hpp>

#include "collision/kernels/plane_tet_slice.hpp"
#include "collision/kernels/pressure_polygon.hpp"

namespace tangere::kernel {

/// What the pressure of `tet` exceeds the field of `other` by, at the corners of `tet`; zero where
/// the two agree to rounding. It depends on the corner and on `other` alone: all tetrahedra at a
/// corner agree on the sign.
template <class S>
TANGERE_HD inline void excessPressure(const PressureTet<S>& tet, const PressureTet<S>& other,
                                      S* excess) {
  using std::fabs;
  // An edge stands for the size of the element: corners that nearly coincide were computed from
  // numbers of that size.
  const S slope = absoluteSum(other.gradient), size = absoluteSum(other.x[1] - other.x[0]);
  for (int i = 0; i < 4; ++i) {
    const Vec3T<S> offset = tet.x[i] - other.x[0];
    const S elsewhere = other.pressure[0] + dot(other.gradient, offset);
    const S magnitude =
        fabs(tet.pressure[i]) + fabs(other.pressure[0]) + slope * (size + absoluteSum(offset));
    excess[i] = snappedToZero(tet.pressure[i] - elsewhere, magnitude);
  }
}

/// Slices `tet` where its excess is zero and keeps what lies in `other`; relative to tet.x[0].
template <class S>
TANGERE_HD inline bool sliceWithin(const PressureTet<S>& tet, const S* excess,
                                   const PressureTet<S>& other, const S* otherExcess,
                                   CutPolygon<S>* polygon) {
  BarycentricMap<S> map;
  if (!barycentricMap(other.x, &map)) return false;
  sliceTet(tet.x, excess, tet.x[0], polygon);
  clipByTet(map, tet.x[0], facesAtZero(otherExcess), polygon);
  return true;
}

/// Contact of two tetrahedra, given in one frame. False when there is none.
template <class S>
TANGERE_HD inline bool tetTetSurface(const PressureTet<S>& tet1, const PressureTet<S>& tet2,
                                     PressurePolygon<S>* out) {
  S excess1[4], excess2[4];
  excessPressure(tet1, tet2, excess1);
  if (!isCut(excess1)) return false;
  excessPressure(tet2, tet1, excess2);
  if (!isCut(excess2)) return false;

  const Vec3T<S> difference = tet1.gradient - tet2.gradient;
  const S length = norm(difference);
  if (!(length > roundingOf(norm(tet1.gradient) + norm(tet2.gradient)))) return false;
  const Vec3T<S> normal = difference / length;
  const S growth1 = dot(tet1.gradient, normal), growth2 = -dot(tet2.gradient, normal);
  if (!isPressedAlong(tet1.gradient, growth1) || !isPressedAlong(tet2.gradient, growth2)) {
    return false;
  }

  // The smaller of the two is sliced: points on the edges of a large one are too coarse for a
  // small one.
  const S size1 = elementSize(tet1.x, 4), size2 = elementSize(tet2.x, 4);
  const bool isFirstSmaller = size1 <= size2;
  CutPolygon<S> polygon;
  const bool isSliced = isFirstSmaller ? sliceWithin(tet1, excess1, tet2, excess2, &polygon)
                                       : sliceWithin(tet2, excess2, tet1, excess1, &polygon);
  if (!isSliced) return false;
  const Vec3T<S>& origin = isFirstSmaller ? tet1.x[0] : tet2.x[0];
  if (!measurePolygon(&polygon, origin, normal, isFirstSmaller ? size1 : size2, out)) return false;
  clearWeights(out);
  setPressure(tet1.field(), growth1, tet2.field(), growth2, out);
  setTetWeights(tet1.x, out->centroid, out->weight1);
  setTetWeights(tet2.x, out->centroid, out->weight2);
  return isFinite(*out);
}

}  // namespace tangere::kernel
