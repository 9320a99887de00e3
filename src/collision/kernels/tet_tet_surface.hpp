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

/// A linear pressure as points elsewhere are compared with it.
template <class S>
struct ComparedField {
  LinearField<S> field;
  S slope, size, magnitude;

  TANGERE_HD explicit ComparedField(const PressureTet<S>& tet) : field(tet.field()) {
    using std::fabs;
    // An edge stands for the size of the element: corners that nearly coincide were computed from
    // numbers of that size.
    slope = absoluteSum(tet.gradient);
    size = absoluteSum(tet.x[1] - tet.x[0]);
    magnitude = fabs(tet.pressure[0]);
  }
};

/// What a pressure at `x` exceeds the field by; zero where the two agree to rounding. It depends on
/// the corner and on the field alone: all tetrahedra at a corner agree on the sign.
template <class S>
TANGERE_HD inline S excessOver(const ComparedField<S>& other, const Vec3T<S>& x, S pressure) {
  using std::fabs;
  const Vec3T<S> offset = x - other.field.origin;
  const S elsewhere = other.field.value + dot(other.field.gradient, offset);
  const S magnitude =
      fabs(pressure) + other.magnitude + other.slope * (other.size + absoluteSum(offset));
  return snappedToZero(pressure - elsewhere, magnitude);
}

/// What the pressure of `tet` exceeds the field of `other` by, at the corners of `tet`.
template <class S>
TANGERE_HD inline void excessPressure(const PressureTet<S>& tet, const PressureTet<S>& other,
                                      S* excess) {
  const ComparedField<S> field(other);
  for (int i = 0; i < 4; ++i) excess[i] = excessOver(field, tet.x[i], tet.pressure[i]);
}

/// Two tetrahedra that the surface of equal pressure goes through, by what the pressure of each
/// exceeds that of the other by at its corners.
template <class S>
struct TetPairCut {
  S excess1[4], excess2[4];
};

/// False when the surface misses one of them.
template <class S>
TANGERE_HD inline bool cutTetPair(const PressureTet<S>& tet1, const PressureTet<S>& tet2,
                                  TetPairCut<S>* out) {
  excessPressure(tet1, tet2, out->excess1);
  if (!isCut(out->excess1)) return false;
  excessPressure(tet2, tet1, out->excess2);
  return isCut(out->excess2);
}

/// A tetrahedron with what all its polygons need of it.
template <class S>
struct MeasuredTet {
  PressureTet<S> tet;
  BarycentricMap<S> map;
  bool isFlat;
  S size, steepness;

  TANGERE_HD void measure(const PressureTet<S>& of) {
    tet = of;
    isFlat = !barycentricMap(tet.x, &map);
    size = elementSize(tet.x, 4);
    steepness = norm(tet.gradient);
  }
};

/// The part of the surface in both, relative to small.tet.x[0]: the smaller one is sliced, for
/// points on the edges of a large one are too coarse for a small one. Null when there is none.
template <class S>
TANGERE_HD inline CutPolygon<S>* sliceWithin(const MeasuredTet<S>& small, const S* excess,
                                             const MeasuredTet<S>& large, const S* otherExcess,
                                             CutPolygon<S>* polygon, CutPolygon<S>* spare) {
  if (large.isFlat) return nullptr;
  const Vec3T<S>& origin = small.tet.x[0];
  sliceTet(small.tet.x, excess, origin, polygon);
  CutPolygon<S>* const cut = clipByTet(large.map, origin, facesAtZero(otherExcess), polygon, spare);
  return cut->count >= 3 ? cut : nullptr;
}

/// Contact of two tetrahedra, given in one frame. False when there is none. `memory`: two polygons.
template <class S>
TANGERE_HD inline bool tetTetSurface(const MeasuredTet<S>& tet1, const MeasuredTet<S>& tet2,
                                     const TetPairCut<S>& cut, CutPolygon<S>* memory,
                                     PressurePolygon<S>* out) {
  const bool isFirstSmaller = tet1.size <= tet2.size;
  CutPolygon<S>* const polygon =
      isFirstSmaller ? sliceWithin(tet1, cut.excess1, tet2, cut.excess2, memory, memory + 1)
                     : sliceWithin(tet2, cut.excess2, tet1, cut.excess1, memory, memory + 1);
  if (polygon == nullptr) return false;

  const Vec3T<S>&gradient1 = tet1.tet.gradient, &gradient2 = tet2.tet.gradient;
  const Vec3T<S> difference = gradient1 - gradient2;
  const S length = norm(difference);
  if (!(length > roundingOf(tet1.steepness + tet2.steepness))) return false;
  const Vec3T<S> normal = difference / length;
  const S growth1 = dot(gradient1, normal), growth2 = -dot(gradient2, normal);
  if (!isPressedAlong(growth1, tet1.steepness) || !isPressedAlong(growth2, tet2.steepness)) {
    return false;
  }
  const MeasuredTet<S>& sliced = isFirstSmaller ? tet1 : tet2;
  if (!measurePolygon(polygon, sliced.tet.x[0], normal, sliced.size, out)) return false;
  clearWeights(out);
  setPressure(tet1.tet.field(), growth1, tet2.tet.field(), growth2, out);
  if (!tet1.isFlat) barycentricCoordinates(tet1.map, out->centroid, out->weight1);
  if (!tet2.isFlat) barycentricCoordinates(tet2.map, out->centroid, out->weight2);
  return isFinite(*out);
}

/// The same of tetrahedra by themselves.
template <class S>
TANGERE_HD inline bool tetTetSurface(const PressureTet<S>& tet1, const PressureTet<S>& tet2,
                                     PressurePolygon<S>* out) {
  TetPairCut<S> cut;
  if (!cutTetPair(tet1, tet2, &cut)) return false;
  MeasuredTet<S> measured1, measured2;
  measured1.measure(tet1);
  measured2.measure(tet2);
  CutPolygon<S> memory[2];
  return tetTetSurface(measured1, measured2, cut, memory, out);
}

}  // namespace tangere::kernel
