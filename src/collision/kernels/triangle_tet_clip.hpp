// SPDX-License-Identifier: Apache-2.0
//
// A triangle of a rigid surface against a tetrahedron with a linear pressure, or against a
// compliant half space. A triangle that lies in the face between two tetrahedra belongs to the one
// in front of it (on the side of its normal) and to no other.
#pragma once

#include <tangere/types.hpp>

#include "collision/kernels/plane_tet_slice.hpp"
#include "collision/kernels/pressure_polygon.hpp"

namespace tangere::kernel {

/// A triangle with its unit normal, outward of the rigid body.
template <class S>
struct FlatTriangle {
  Vec3T<S> x[3];
  Vec3T<S> normal;
};

/// False for a triangle without an area (relative to its sides).
template <class S>
TANGERE_HD inline bool makeFlatTriangle(const Vec3T<S>& a, const Vec3T<S>& b, const Vec3T<S>& c,
                                        FlatTriangle<S>* out) {
  const Vec3T<S> u = b - a, v = c - a;
  const Vec3T<S> twiceArea = cross(u, v);
  const S length = norm(twiceArea);
  if (!(length > roundingOf(norm(u) * norm(v)))) return false;
  *out = {{a, b, c}, twiceArea / length};
  return true;
}

/// Keeps what lies over the triangle; `polygon` is relative to `origin`. The result is `polygon` or
/// `spare`.
template <class S>
TANGERE_HD inline CutPolygon<S>* clipByTriangle(const FlatTriangle<S>& triangle,
                                                const Vec3T<S>& origin, CutPolygon<S>* polygon,
                                                CutPolygon<S>* spare) {
  PolygonClipper<S> clipper{polygon, spare};
  for (int k = 0; k < 3 && clipper.current->count >= 3; ++k) {
    const Vec3T<S> edge = triangle.x[k < 2 ? k + 1 : 0] - triangle.x[k];
    const Vec3T<S> inward = cross(triangle.normal, edge);
    clipper.clip(inward, dot(inward, origin - triangle.x[k]));
  }
  return clipper.current;
}

/// Barycentric coordinates of a point of the triangle's plane; the fourth weight is zero.
template <class S>
TANGERE_HD inline void setTriangleWeights(const FlatTriangle<S>& triangle, const Vec3T<S>& point,
                                          S* weight) {
  const Vec3T<S> u = triangle.x[1] - triangle.x[0], v = triangle.x[2] - triangle.x[0];
  const Vec3T<S> w = point - triangle.x[0];
  const S scale = S(1) / dot(cross(u, v), triangle.normal);
  weight[1] = dot(cross(w, v), triangle.normal) * scale;
  weight[2] = dot(cross(u, w), triangle.normal) * scale;
  weight[0] = S(1) - weight[1] - weight[2];
  weight[3] = S(0);
}

/// Heights of the corners of a tetrahedron over the triangle's plane; zero in it, to rounding.
/// They depend on the corner and the triangle alone, so all tetrahedra at a corner agree.
template <class S>
TANGERE_HD inline S heightOver(const FlatTriangle<S>& triangle, S triangleEdge, const Vec3T<S>& x) {
  const Vec3T<S> offset = x - triangle.x[0];
  return snappedToZero(dot(triangle.normal, offset), triangleEdge + absoluteSum(offset));
}
template <class S>
TANGERE_HD inline void heightsOver(const FlatTriangle<S>& triangle, const Vec3T<S>* x, S* height) {
  const S edge = absoluteSum(triangle.x[1] - triangle.x[0]);
  for (int i = 0; i < 4; ++i) height[i] = heightOver(triangle, edge, x[i]);
}

/// Contact of a tetrahedron (object 1) with a triangle of a rigid surface (object 2), by the
/// heights of its corners over the triangle's plane, which goes through it. False when there is
/// none. A flank of the body presses on the triangle, too, with next to no stiffness; the far side
/// does not.
template <class S>
TANGERE_HD inline bool triangleTetClip(const PressureTet<S>& tet, const S* height,
                                       const FlatTriangle<S>& triangle, CutPolygon<S>* memory,
                                       PressurePolygon<S>* out) {
  const S steepness = norm(tet.gradient);
  const S growth = dot(tet.gradient, triangle.normal);
  if (!isNearSide(growth, steepness)) return false;

  // The smaller of the two is cut by the larger: points on the edges of a large one are too coarse
  // for a small one.
  const S tetSize = elementSize(tet.x, 4), triangleSize = elementSize(triangle.x, 3);
  const bool isTetSmaller = tetSize <= triangleSize;
  const Vec3T<S> origin = isTetSmaller ? tet.x[0] : triangle.x[0];
  CutPolygon<S>* polygon = memory;
  if (isTetSmaller) {
    sliceTet(tet.x, height, origin, polygon);
    polygon = clipByTriangle(triangle, origin, polygon, memory + 1);
  } else {
    BarycentricMap<S> map;
    if (!barycentricMap(tet.x, &map)) return false;
    polygon->count = 0;
    for (int k = 0; k < 3; ++k) polygon->add(triangle.x[k] - origin);
    polygon = clipByTet(map, origin, facesAtZero(height), polygon, memory + 1);
  }
  const S size = isTetSmaller ? tetSize : triangleSize;
  if (!measurePolygon(polygon, origin, triangle.normal, size, out)) return false;
  clearWeights(out);
  const S leastGrowth = S(kMinNormalGradient) * steepness;
  setPressure(tet.field(), growth > leastGrowth ? growth : leastGrowth, out);
  if (!(growth > leastGrowth || out->pressure > S(0))) return false;
  setTetWeights(tet.x, out->centroid, out->weight1);
  setTriangleWeights(triangle, out->centroid, out->weight2);
  return isFinite(*out);
}

/// The same from nothing but the two.
template <class S>
TANGERE_HD inline bool triangleTetClip(const PressureTet<S>& tet, const FlatTriangle<S>& triangle,
                                       PressurePolygon<S>* out) {
  S height[4];
  heightsOver(triangle, tet.x, height);
  CutPolygon<S> memory[2];
  return isCut(height) && triangleTetClip(tet, height, triangle, memory, out);
}

/// Contact of a triangle of a rigid surface (object 1) with a half space (object 2) whose pressure
/// grows by `growth2` per metre of depth: the part of the triangle below the plane, or in it.
template <class S>
TANGERE_HD inline bool layerTriangleClip(const FlatTriangle<S>& triangle, const HalfSpace<S>& space,
                                         S growth2, PressurePolygon<S>* out) {
  S height[3];
  heightsOver(space, triangle.x, 3, height);
  if (height[0] > S(0) && height[1] > S(0) && height[2] > S(0)) return false;
  // The contact's normal is out of the half space, into the rigid body.
  const Vec3T<S> normal = -triangle.normal;
  const Vec3T<S> gradient = space.normal * -growth2;
  const S growth = -dot(gradient, normal);
  if (!isPressedAlong(gradient, growth)) return false;

  const Vec3T<S>& origin = triangle.x[0];
  CutPolygon<S> polygon;
  polygon.count = 0;
  for (int i = 0; i < 3; ++i) {
    const int next = i < 2 ? i + 1 : 0;
    if (height[i] <= S(0)) polygon.add(triangle.x[i] - origin);
    const bool goesUp = height[i] < S(0) && height[next] > S(0);
    const bool goesDown = height[i] > S(0) && height[next] < S(0);
    if (!goesUp && !goesDown) continue;
    const int low = goesUp ? i : next, high = goesUp ? next : i;
    polygon.add(crossingPoint(triangle.x[low] - origin, height[low], triangle.x[high] - origin,
                              height[high]));
  }
  if (!measurePolygon(&polygon, origin, normal, elementSize(triangle.x, 3), out)) return false;
  clearWeights(out);
  const S height0 = dot(space.normal, origin) - space.offset;
  setPressure(LinearField<S>{origin, -growth2 * height0, gradient}, growth, out);
  setTriangleWeights(triangle, out->centroid, out->weight1);
  return isFinite(*out);
}

}  // namespace tangere::kernel
