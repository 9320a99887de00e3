// SPDX-License-Identifier: Apache-2.0
//
// A tetrahedron with a linear pressure cut by a plane: a rigid half space, or a compliant layer on
// one. The cut belongs to the tetrahedron on the upper side where the plane holds a face: of the
// two at that face exactly one reports it, and a body that just touches the plane has its patch.
#pragma once

#include <tangere/types.hpp>

#include "collision/kernels/pressure_polygon.hpp"

namespace tangere::kernel {

/// A tetrahedron and the pressure in it.
template <class S>
struct PressureTet {
  Vec3T<S> x[4];
  S pressure[4];
  Vec3T<S> gradient;

  [[nodiscard]] TANGERE_HD LinearField<S> field() const { return {x[0], pressure[0], gradient}; }
};

/// The half space normal . x <= offset; normal is a unit vector. `reach` is the size of the numbers
/// that offset and the points compared with it were computed from [m]: it says what is rounding.
template <class S>
struct HalfSpace {
  Vec3T<S> normal;
  S offset;
  S reach;
};

/// True when the surface value = 0 goes through the tetrahedron: some vertex above it and some not.
template <class S>
TANGERE_HD inline bool isCut(const S* value) {
  const bool a = value[0] > S(0), b = value[1] > S(0), c = value[2] > S(0), d = value[3] > S(0);
  return (a || b || c || d) && !(a && b && c && d);
}

/// The three or four points of the edges where `value` passes zero, relative to `origin`, in order
/// around the polygon (counter-clockwise about the gradient of the value unless the tetrahedron is
/// turned). A vertex with value zero counts as below, and is the crossing of all its edges.
template <class S>
TANGERE_HD inline void sliceTet(const Vec3T<S>* x, const S* value, const Vec3T<S>& origin,
                                CutPolygon<S>* out) {
  // For each set of vertices above (bit i: vertex i), the edges crossed, four bits each, the first
  // in the lowest; edges are numbered 01 12 20 03 13 23 and 15 ends the list. Four sets to a
  // constant, the first in its lowest 16 bits: an array would be copied by every call.
  constexpr unsigned long long kCrossed0 = 0x1234f410f230ffffull, kCrossed1 = 0xf45345201530f521ull;
  constexpr unsigned long long kCrossed2 = 0xf25103510254f543ull, kCrossed3 = 0xfffff320f1404321ull;
  constexpr unsigned kFirst = 0x210210u, kSecond = 0x333021u;  // vertices of the edges, likewise
  unsigned above = 0;
  for (unsigned i = 0; i < 4; ++i) above |= value[i] > S(0) ? 1u << i : 0u;
  out->count = 0;
  const unsigned long long crossed =
      above < 8 ? (above < 4 ? kCrossed0 : kCrossed1) : (above < 12 ? kCrossed2 : kCrossed3);
  unsigned edges = static_cast<unsigned>(crossed >> 16 * (above & 3u)) & 0xffffu;
  for (; out->count < 4 && (edges & 15u) != 15u; edges >>= 4) {
    const unsigned shift = 4 * (edges & 15u);
    const int i = static_cast<int>(kFirst >> shift & 15u);
    const int j = static_cast<int>(kSecond >> shift & 15u);
    const bool isFirstAbove = value[i] > S(0);
    const int low = isFirstAbove ? j : i, high = isFirstAbove ? i : j;
    out->add(crossingPoint(x[low] - origin, value[low], x[high] - origin, value[high]));
  }
}

/// Bit k is set when the face opposite to vertex k lies in the surface value = 0.
template <class S>
TANGERE_HD inline unsigned facesAtZero(const S* value) {
  unsigned zeros = 0;
  for (unsigned i = 0; i < 4; ++i) zeros |= value[i] == S(0) ? 1u << i : 0u;
  unsigned faces = 0;
  for (unsigned k = 0; k < 4; ++k) faces |= (zeros | 1u << k) == 15u ? 1u << k : 0u;
  return faces;
}

/// Height of the vertices over the half space, zero where they lie in the plane to rounding.
template <class S>
TANGERE_HD inline void heightsOver(const HalfSpace<S>& space, const Vec3T<S>* x, int n, S* height) {
  for (int i = 0; i < n; ++i) {
    height[i] = snappedToZero(dot(space.normal, x[i]) - space.offset, space.reach);
  }
}

/// Barycentric coordinates of the centroid as weight1; zero in a flat tetrahedron.
template <class S>
TANGERE_HD inline void setTetWeights(const Vec3T<S>* x, const Vec3T<S>& centroid, S* weight) {
  BarycentricMap<S> map;
  if (barycentricMap(x, &map)) barycentricCoordinates(map, centroid, weight);
}

/// Contact of a tetrahedron (object 1) with a rigid half space (object 2). False when there is
/// none. A half space pushes one way only, so everything that it cuts presses on it, also where
/// the pressure does not grow on the way in: the flanks of a box, and what is past its middle.
/// There the stiffness is next to nothing.
template <class S>
TANGERE_HD inline bool planeTetSlice(const PressureTet<S>& tet, const HalfSpace<S>& space,
                                     PressurePolygon<S>* out) {
  S height[4];
  heightsOver(space, tet.x, 4, height);
  if (!isCut(height)) return false;
  const S growth = dot(tet.gradient, space.normal);
  const S leastGrowth = S(kMinNormalGradient) * norm(tet.gradient);
  if (!(leastGrowth > S(0))) return false;

  CutPolygon<S> polygon;
  sliceTet(tet.x, height, tet.x[0], &polygon);
  if (!measurePolygon(&polygon, tet.x[0], space.normal, elementSize(tet.x, 4), out)) return false;
  clearWeights(out);
  setPressure(tet.field(), growth > leastGrowth ? growth : leastGrowth, out);
  if (!(growth > leastGrowth || out->pressure > S(0))) return false;  // the top, just touching
  setTetWeights(tet.x, out->centroid, out->weight1);
  return isFinite(*out);
}

/// Contact of a tetrahedron (object 1) with a half space (object 2) whose pressure grows by
/// `growth2` per metre of depth: the surface where the two pressures are equal.
template <class S>
TANGERE_HD inline bool layerTetSlice(const PressureTet<S>& tet, const HalfSpace<S>& space,
                                     S growth2, PressurePolygon<S>* out) {
  using std::fabs;
  S value[4];
  for (int i = 0; i < 4; ++i) {
    const S height = dot(space.normal, tet.x[i]) - space.offset;
    value[i] = snappedToZero(tet.pressure[i] + growth2 * height,
                             fabs(tet.pressure[i]) + growth2 * space.reach);
  }
  if (!isCut(value)) return false;
  const Vec3T<S> gradient2 = space.normal * -growth2;
  const Vec3T<S> difference = tet.gradient - gradient2;
  const S length = norm(difference);
  if (!(length > roundingOf(norm(tet.gradient) + growth2))) return false;
  const Vec3T<S> normal = difference / length;
  const S into1 = dot(tet.gradient, normal), into2 = -dot(gradient2, normal);
  if (!isPressedAlong(tet.gradient, into1) || !isPressedAlong(gradient2, into2)) return false;

  CutPolygon<S> polygon;
  sliceTet(tet.x, value, tet.x[0], &polygon);
  if (!measurePolygon(&polygon, tet.x[0], normal, elementSize(tet.x, 4), out)) return false;
  clearWeights(out);
  const S height0 = dot(space.normal, tet.x[0]) - space.offset;
  const LinearField<S> field2{tet.x[0], -growth2 * height0, gradient2};
  setPressure(tet.field(), into1, field2, into2, out);
  setTetWeights(tet.x, out->centroid, out->weight1);
  return isFinite(*out);
}

}  // namespace tangere::kernel
