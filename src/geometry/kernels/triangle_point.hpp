// SPDX-License-Identifier: Apache-2.0
//
// The point of a triangle that is nearest to a given point, and the ray through a triangle.
#pragma once

#include <tangere/types.hpp>

namespace tangere::kernel {

/// Which part of a triangle (v0, v1, v2) a point lies on. Edge k runs from vertex k to vertex k+1.
enum class TriangleFeature : unsigned char { Vertex0, Vertex1, Vertex2, Edge0, Edge1, Edge2, Face };

template <class S>
struct TrianglePoint {
  Vec3T<S> point{};
  TriangleFeature feature = TriangleFeature::Face;
};

/// Nearest point of the triangle to p by Voronoi regions (Ericson 2005, 5.1.5). A triangle without
/// area is answered as one of its edges.
template <class S>
TANGERE_HD inline TrianglePoint<S> closestOnTriangle(const Vec3T<S>& p, const Vec3T<S>& a,
                                                     const Vec3T<S>& b, const Vec3T<S>& c) {
  const Vec3T<S> ab = b - a, ac = c - a, ap = p - a;
  const S d1 = dot(ab, ap), d2 = dot(ac, ap);
  if (d1 <= S(0) && d2 <= S(0)) return {a, TriangleFeature::Vertex0};
  const Vec3T<S> bp = p - b;
  const S d3 = dot(ab, bp), d4 = dot(ac, bp);
  if (d3 >= S(0) && d4 <= d3) return {b, TriangleFeature::Vertex1};
  const S vc = d1 * d4 - d3 * d2;
  if (vc <= S(0) && d1 >= S(0) && d3 <= S(0))
    return {a + ab * (d1 / (d1 - d3)), TriangleFeature::Edge0};
  const Vec3T<S> cp = p - c;
  const S d5 = dot(ab, cp), d6 = dot(ac, cp);
  if (d6 >= S(0) && d5 <= d6) return {c, TriangleFeature::Vertex2};
  const S vb = d5 * d2 - d1 * d6;
  if (vb <= S(0) && d2 >= S(0) && d6 <= S(0))
    return {a + ac * (d2 / (d2 - d6)), TriangleFeature::Edge2};
  const S va = d3 * d6 - d5 * d4;
  if (va <= S(0) && d4 - d3 >= S(0) && d5 - d6 >= S(0))
    return {b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6))), TriangleFeature::Edge1};
  const S sum = va + vb + vc;
  if (!(sum > S(0))) return {a, TriangleFeature::Vertex0};
  return {a + ab * (vb / sum) + ac * (vc / sum), TriangleFeature::Face};
}

/// Ray parameter of the crossing with the triangle's plane inside the triangle, both sides count.
/// Returns false for a miss or a ray in the plane. Edges belong to the triangle.
template <class S>
TANGERE_HD inline bool intersectRayTriangle(const Vec3T<S>& origin, const Vec3T<S>& direction,
                                            const Vec3T<S>& a, const Vec3T<S>& b, const Vec3T<S>& c,
                                            S* t) {
  const Vec3T<S> pa = a - origin, pb = b - origin, pc = c - origin;
  // Scalar triple products of the edges seen from the origin: an edge shared by two triangles gives
  // the same product in both up to its sign, so that no ray slips through between them.
  const S u = dot(direction, cross(pc, pb));
  const S v = dot(direction, cross(pa, pc));
  const S w = dot(direction, cross(pb, pa));
  if (!((u >= S(0) && v >= S(0) && w >= S(0)) || (u <= S(0) && v <= S(0) && w <= S(0))))
    return false;
  const S det = u + v + w;
  if (det == S(0)) return false;
  *t = (u * dot(pa, direction) + v * dot(pb, direction) + w * dot(pc, direction)) /
       (det * dot(direction, direction));
  return true;
}

}  // namespace tangere::kernel
