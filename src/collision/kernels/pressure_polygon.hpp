// SPDX-License-Identifier: Apache-2.0
//
// Small convex polygons cut out of tetrahedra and triangles, and what a pressure contact needs of
// them. Tolerances are relative to the operands, so nothing depends on the unit of length.
#pragma once

#include <tangere/types.hpp>

#include "geometry/kernels/tet_gradient.hpp"
#include "math/limits.hpp"

#include <cmath>

namespace tangere::kernel {

/// A quadrilateral cut by four half spaces.
inline constexpr int kMaxPressureVertices = 8;

/// cos(5 pi/8): a polygon whose normal leans farther than this from the gradient of a pressure
/// belongs to the far side of the body.
inline constexpr double kPressureNormalLimit = -0.38268343236508977;

/// A pressure must grow along the normal by this share of its gradient; a contact force could not
/// be given a stiffness otherwise.
inline constexpr double kMinNormalGradient = 1e-6;

/// A linear field: value + gradient . (x - origin).
template <class S>
struct LinearField {
  Vec3T<S> origin;
  S value;
  Vec3T<S> gradient;
};

/// Part of a contact surface, convex and flat, vertices counter-clockwise about the normal.
template <class S>
struct PressurePolygon {
  int count;
  Vec3T<S> vertex[kMaxPressureVertices];
  S vertexPressure[kMaxPressureVertices];
  Vec3T<S> centroid;
  Vec3T<S> normal;  ///< unit, from object 2 to object 1
  S area;
  S pressure;  ///< at the centroid
  S gradient;  ///< 1/(1/g1 + 1/g2), g1 and g2 the growth along the normal into 1 and into 2
  S weight1[4], weight2[4];  ///< barycentric coordinates of the centroid in the two elements
};

/// Vertices in the making, relative to some origin. Larger than a result can be: with vertices
/// that coincide to rounding a cut may add a point that is merged at the end.
template <class S>
struct CutPolygon {
  static constexpr int kCapacity = 12;
  Vec3T<S> vertex[kCapacity];
  int count;

  TANGERE_HD void add(const Vec3T<S>& p) {
    if (count < kCapacity) vertex[count++] = p;
  }
};

/// What sums of a few products of these sizes may have lost to rounding.
template <class S>
TANGERE_HD inline S roundingOf(S magnitude) {
  return S(256) * math::kEpsilon<S> * magnitude;
}

/// |a.x b.x| + |a.y b.y| + |a.z b.z|: the size of the terms of dot(a, b).
template <class S>
TANGERE_HD inline S dotMagnitude(const Vec3T<S>& a, const Vec3T<S>& b) {
  using std::fabs;
  return fabs(a.x * b.x) + fabs(a.y * b.y) + fabs(a.z * b.z);
}

/// |a.x| + |a.y| + |a.z|.
template <class S>
TANGERE_HD inline S absoluteSum(const Vec3T<S>& a) {
  using std::fabs;
  return fabs(a.x) + fabs(a.y) + fabs(a.z);
}

/// Zero where `value` is no more than the rounding of terms of this magnitude: what lies in a plane
/// is then seen to do so by everything that touches it.
template <class S>
TANGERE_HD inline S snappedToZero(S value, S magnitude) {
  using std::fabs;
  return fabs(value) <= roundingOf(magnitude) ? S(0) : value;
}

/// Largest coordinate of the edges from x[0]: the size of an element with n vertices.
template <class S>
TANGERE_HD inline S elementSize(const Vec3T<S>* x, int n) {
  using std::fabs;
  S size = S(0);
  for (int i = 1; i < n; ++i) {
    const Vec3T<S> e = x[i] - x[0];
    if (fabs(e.x) > size) size = fabs(e.x);
    if (fabs(e.y) > size) size = fabs(e.y);
    if (fabs(e.z) > size) size = fabs(e.z);
  }
  return size;
}

template <class S>
TANGERE_HD inline S evaluate(const LinearField<S>& field, const Vec3T<S>& x) {
  return field.value + dot(field.gradient, x - field.origin);
}

/// The point between `below` and `above` where a linear value goes from valueBelow <= 0 to
/// valueAbove > 0. Always asked in this order, so that all elements at an edge get the same point;
/// a value of zero gives `below` itself.
template <class S>
TANGERE_HD inline Vec3T<S> crossingPoint(const Vec3T<S>& below, S valueBelow, const Vec3T<S>& above,
                                         S valueAbove) {
  return below + (valueBelow / (valueBelow - valueAbove)) * (above - below);
}

/// What offset + gradient . x is at the vertices, zero in the plane (to rounding), and on which
/// sides of it some are.
template <class S>
struct SideValues {
  S value[CutPolygon<S>::kCapacity];
  bool isSomeAbove, isSomeBelow;
};

template <class S>
TANGERE_HD inline void findSides(const CutPolygon<S>& polygon, const Vec3T<S>& gradient, S offset,
                                 SideValues<S>* out) {
  using std::fabs;
  unsigned above = 0, below = 0;  // without branches: the signs are hard to foretell
  for (int i = 0; i < polygon.count; ++i) {
    const Vec3T<S> term{gradient.x * polygon.vertex[i].x, gradient.y * polygon.vertex[i].y,
                        gradient.z * polygon.vertex[i].z};
    const S value = offset + (term.x + term.y + term.z);
    const S rounding = roundingOf(fabs(offset) + absoluteSum(term));
    out->value[i] = fabs(value) <= rounding ? S(0) : value;
    above |= static_cast<unsigned>(value >= -rounding);
    below |= static_cast<unsigned>(value < -rounding);
  }
  out->isSomeAbove = above != 0;
  out->isSomeBelow = below != 0;
}

/// Keeps the part of `in` above. A vertex in the plane stays as it is and makes no second point,
/// from whichever side the polygon reaches it.
template <class S>
TANGERE_HD inline void keepAbove(const CutPolygon<S>& in, const S* value, CutPolygon<S>* out) {
  out->count = 0;
  for (int i = 0; i < in.count; ++i) {
    const int next = i + 1 < in.count ? i + 1 : 0;
    if (value[i] >= S(0)) out->add(in.vertex[i]);
    if (value[i] < S(0) && value[next] > S(0)) {
      out->add(crossingPoint(in.vertex[i], value[i], in.vertex[next], value[next]));
    } else if (value[i] > S(0) && value[next] < S(0)) {
      out->add(crossingPoint(in.vertex[next], value[next], in.vertex[i], value[i]));
    }
  }
}

/// A polygon that is cut again and again; the result lies in `current`.
template <class S>
struct PolygonClipper {
  CutPolygon<S>* current;
  CutPolygon<S>* spare;

  /// Keeps the part where the values are not negative.
  TANGERE_HD void clip(const SideValues<S>& sides) {
    if (!sides.isSomeAbove) current->count = 0;
    if (!sides.isSomeBelow || !sides.isSomeAbove) return;
    keepAbove(*current, sides.value, spare);
    CutPolygon<S>* const swap = current;
    current = spare;
    spare = swap;
  }
  /// Keeps the part where offset + gradient . x >= 0.
  TANGERE_HD void clip(const Vec3T<S>& gradient, S offset) {
    SideValues<S> sides;
    findSides(*current, gradient, offset, &sides);
    clip(sides);
  }
};

/// Keeps what lies in the tetrahedron of `map`; `polygon` is relative to `origin`. The faces whose
/// bit is set in `skippedFaces` (bit k: the face opposite to vertex k) do not cut. The result is
/// `polygon` or `spare`.
template <class S>
TANGERE_HD inline CutPolygon<S>* clipByTet(const BarycentricMap<S>& map, const Vec3T<S>& origin,
                                           unsigned skippedFaces, CutPolygon<S>* polygon,
                                           CutPolygon<S>* spare) {
  // Most polygons lie outside of one face and inside of others: all are asked before any cuts.
  const Vec3T<S> shift = origin - map.origin;
  SideValues<S> sides[4];
  S offset[4];
  unsigned cutting = 0;
  for (int k = 0; k < 4; ++k) {
    if ((skippedFaces >> k & 1u) != 0) continue;
    offset[k] = dot(map.gradient[k], shift) + (k == 0 ? S(1) : S(0));
    findSides(*polygon, map.gradient[k], offset[k], &sides[k]);
    if (!sides[k].isSomeAbove) polygon->count = 0;
    if (!sides[k].isSomeAbove) return polygon;
    cutting |= sides[k].isSomeBelow ? 1u << k : 0u;
  }
  PolygonClipper<S> clipper{polygon, spare};
  for (int k = 0; k < 4; ++k) {
    if ((cutting >> k & 1u) == 0 || clipper.current->count < 3) continue;
    const bool isFirst = (cutting & ((1u << k) - 1u)) == 0;
    if (isFirst) {
      clipper.clip(sides[k]);
    } else {
      clipper.clip(map.gradient[k], offset[k]);
    }
  }
  return clipper.current;
}

/// Drops vertices that lie within `tolerance` (per axis) of the one before.
template <class S>
TANGERE_HD inline void mergeCloseVertices(S tolerance, CutPolygon<S>* polygon) {
  using std::fabs;
  int n = 0;
  for (int i = 0; i < polygon->count; ++i) {
    const Vec3T<S>& p = polygon->vertex[i];
    // The last one is compared with the first as well: the polygon is closed.
    bool isDoubled = false;
    for (int side = 0; side < 2 && n > 0; ++side) {
      if (side == 1 && i + 1 < polygon->count) break;
      const Vec3T<S> d = p - polygon->vertex[side == 0 ? n - 1 : 0];
      isDoubled =
          isDoubled || (fabs(d.x) <= tolerance && fabs(d.y) <= tolerance && fabs(d.z) <= tolerance);
    }
    if (!isDoubled) polygon->vertex[n++] = p;
  }
  polygon->count = n;
}

/// Fills vertices, centroid, normal and area of `out` from a polygon relative to `origin`. False,
/// and nothing usable in `out`, when the polygon has no area to speak of: less than rounding leaves
/// of an element of this `size`.
template <class S>
TANGERE_HD inline bool measurePolygon(CutPolygon<S>* polygon, const Vec3T<S>& origin,
                                      const Vec3T<S>& normal, S size, PressurePolygon<S>* out) {
  constexpr auto epsilon = math::kEpsilon<S>;
  mergeCloseVertices(S(64) * epsilon * size, polygon);
  if (polygon->count > kMaxPressureVertices) polygon->count = kMaxPressureVertices;
  const int n = polygon->count;
  if (n < 3) return false;

  const Vec3T<S>& first = polygon->vertex[0];
  S twiceArea = S(0);
  Vec3T<S> moment{};  // of the fan about its first vertex, times six
  for (int i = 1; i + 1 < n; ++i) {
    const Vec3T<S> u = polygon->vertex[i] - first, v = polygon->vertex[i + 1] - first;
    const S part = dot(cross(u, v), normal);
    twiceArea += part;
    moment += (u + v) * part;
  }
  const bool isClockwise = twiceArea < S(0);
  out->area = (isClockwise ? -twiceArea : twiceArea) * S(0.5);
  if (!(out->area > epsilon * size * size)) return false;
  out->centroid = origin + (first + moment / (S(3) * twiceArea));
  out->normal = normal;
  out->count = n;
  for (int i = 0; i < n; ++i)
    out->vertex[i] = origin + polygon->vertex[isClockwise ? n - 1 - i : i];
  return true;
}

/// True when a polygon is not on the far side of a body whose pressure has a gradient of length
/// `steepness` and grows by `growth` along the polygon's normal.
template <class S>
TANGERE_HD inline bool isNearSide(S growth, S steepness) {
  return growth > S(kPressureNormalLimit) * steepness;
}

/// True when a polygon may press on a body whose pressure has a gradient of length `steepness` and
/// grows by `growth` along the polygon's normal.
template <class S>
TANGERE_HD inline bool isPressedAlong(S growth, S steepness) {
  return isNearSide(growth, steepness) && growth > S(kMinNormalGradient) * steepness;
}
template <class S>
TANGERE_HD inline bool isPressedAlong(const Vec3T<S>& gradient, S growth) {
  return isPressedAlong(growth, norm(gradient));
}

/// Pressures and stiffness of a polygon between a body with a pressure and a rigid one. `growth` is
/// that of the pressure along the normal, into the body.
template <class S>
TANGERE_HD inline void setPressure(const LinearField<S>& field, S growth, PressurePolygon<S>* out) {
  out->pressure = evaluate(field, out->centroid);
  out->gradient = growth;
  for (int i = 0; i < out->count; ++i) out->vertexPressure[i] = evaluate(field, out->vertex[i]);
}

/// The same for two bodies with pressures that are equal on the polygon. Their mean is weighted
/// such that a point off the polygon by a rounding error along the normal gives the same pressure.
template <class S>
TANGERE_HD inline void setPressure(const LinearField<S>& field1, S growth1,
                                   const LinearField<S>& field2, S growth2,
                                   PressurePolygon<S>* out) {
  const S share1 = growth2 / (growth1 + growth2);
  const S share2 = growth1 / (growth1 + growth2);
  out->pressure =
      share1 * evaluate(field1, out->centroid) + share2 * evaluate(field2, out->centroid);
  out->gradient = growth1 * share1;
  for (int i = 0; i < out->count; ++i) {
    const Vec3T<S>& x = out->vertex[i];
    out->vertexPressure[i] = share1 * evaluate(field1, x) + share2 * evaluate(field2, x);
  }
}

/// Both sets of weights zero: the elements without corners of their own.
template <class S>
TANGERE_HD inline void clearWeights(PressurePolygon<S>* out) {
  for (int k = 0; k < 4; ++k) out->weight1[k] = out->weight2[k] = S(0);
}

/// False when something in the polygon has overflowed, as elements of absurd size make it.
template <class S>
TANGERE_HD inline bool isFinite(const PressurePolygon<S>& polygon) {
  // Several sums, which need not wait for each other.
  const Vec3T<S>& c = polygon.centroid;
  S sum = polygon.area + polygon.pressure + polygon.gradient;
  Vec3T<S> place = c;
  S weights[4];
  for (int k = 0; k < 4; ++k) weights[k] = polygon.weight1[k] + polygon.weight2[k];
  for (int i = 0; i < polygon.count; ++i) {
    place += polygon.vertex[i];
    sum += polygon.vertexPressure[i];
  }
  sum += (place.x + place.y + place.z) + ((weights[0] + weights[1]) + (weights[2] + weights[3]));
  return sum - sum == S(0);
}

}  // namespace tangere::kernel
