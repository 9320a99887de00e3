// SPDX-License-Identifier: Apache-2.0
//
// The vertex, edge or face with which a convex shape touches along a direction. What lies within
// `reach` below the farthest point belongs to it: at the depth of a contact, a face tilted so
// little that its far side still overlaps is a face contact, one tilted more is an edge or a
// vertex.
#pragma once

#include <tangere/types.hpp>

#include "collision/kernels/contact_features.hpp"
#include "collision/kernels/face_clipping.hpp"
#include "geometry/kernels/support.hpp"

namespace tangere::kernel {

enum class SupportKind : std::uint8_t { Vertex, Segment, Polygon };

/// Which feature it is, before its points are written out.
template <class S>
struct SupportKey {
  SupportKind kind = SupportKind::Vertex;
  std::int32_t feature = kNoFeature;
  int index0 = 0, index1 = 0;  ///< vertices of a segment; face of a polygon
};

/// The points of a feature. Not initialised, only the first `count` entries mean anything.
template <class S>
struct SupportFeature {
  S x[kMaxFeatureVertices], y[kMaxFeatureVertices], z[kMaxFeatureVertices];
  int vertex[kMaxFeatureVertices];  ///< numbers for vertexFeature() and edgeFeature()
  int count;
  Vec3T<S> normal;  ///< outward, of a polygon

  TANGERE_HD Vec3T<S> point(int i) const { return {x[i], y[i], z[i]}; }
  TANGERE_HD void add(const Vec3T<S>& p, int number) {
    x[count] = p.x;
    y[count] = p.y;
    z[count] = p.z;
    vertex[count++] = number;
  }
};

/// Kind and name of the feature of `view` along the unit `direction` (shape frame). An edge belongs
/// to it when its far end lies at most `reach` lower and it is not steeper than `maxSlope` (sine).
template <class S>
TANGERE_HD inline SupportKey<S> findSupportKey(const ConvexView<S>& view, const Vec3T<S>& direction,
                                               S reach, S maxSlope);

/// The points of that feature, in the shape's frame, counter-clockwise from outside, on the surface
/// of the rounded shape.
template <class S>
TANGERE_HD inline void fillSupportFeature(const ConvexView<S>& view, const SupportKey<S>& key,
                                          const Vec3T<S>& direction, SupportFeature<S>* out);

template <class S>
TANGERE_HD inline SupportKey<S> boxSupportKey(const Vec3T<S>& half, const Vec3T<S>& direction,
                                              S reach, S maxSlope) {
  using std::fabs;
  const S slope[3] = {fabs(direction.x), fabs(direction.y), fabs(direction.z)};
  const int vertex =
      (direction.x >= S(0) ? 1 : 0) | (direction.y >= S(0) ? 2 : 0) | (direction.z >= S(0) ? 4 : 0);
  const int steepest =
      slope[0] >= slope[1] ? (slope[0] >= slope[2] ? 0 : 2) : (slope[1] >= slope[2] ? 1 : 2);
  int flat = 0, numFlat = 0;
  for (int k = 0; k < 3; ++k) {
    if (k == steepest || slope[k] > maxSlope || S(2) * half[k] * slope[k] > reach) continue;
    flat = k;
    ++numFlat;
  }
  if (numFlat == 0) return {SupportKind::Vertex, vertexFeature(vertex), vertex, vertex};
  if (numFlat == 1) {
    const int low = vertex & ~(1 << flat), high = vertex | (1 << flat);
    return {SupportKind::Segment, edgeFeature(low, high), low, high};
  }
  const int face = boxFace(steepest, ((vertex >> steepest) & 1) != 0);
  return {SupportKind::Polygon, faceFeature(face), face, face};
}

template <class S>
TANGERE_HD inline SupportKey<S> hullSupportKey(const HullView<S>& hull, const Vec3T<S>& direction,
                                               S reach, S maxSlope) {
  const int v = supportVertex(hull, direction);
  const Vec3T<S> p = hull.vertex(v);
  const S maxSlope2 = maxSlope * maxSlope;
  int numFlat = 0, flat = v;
  for (int i = hull.neighborStart[v]; i < hull.neighborStart[v + 1]; ++i) {
    const Vec3T<S> edge = p - hull.vertex(hull.neighbor[i]);
    const S drop = dot(edge, direction);
    // Rounding may put the far end above: then the edge is level.
    if (drop > reach || (drop > S(0) && drop * drop > maxSlope2 * squaredNorm(edge))) continue;
    flat = hull.neighbor[i];
    ++numFlat;
  }
  if (numFlat == 0) return {SupportKind::Vertex, vertexFeature(v), v, v};
  if (numFlat == 1) return {SupportKind::Segment, edgeFeature(v, flat), v, flat};
  int best = hull.vertexFace[hull.vertexFaceStart[v]];
  S bestDot = dot(hull.faceNormal[best], direction);
  for (int i = hull.vertexFaceStart[v] + 1; i < hull.vertexFaceStart[v + 1]; ++i) {
    const S d = dot(hull.faceNormal[hull.vertexFace[i]], direction);
    if (d > bestDot) {
      bestDot = d;
      best = hull.vertexFace[i];
    }
  }
  return {SupportKind::Polygon, faceFeature(best), best, best};
}

template <class S>
TANGERE_HD inline SupportKey<S> triangleSupportKey(const Vec3T<S>* triangle,
                                                   const Vec3T<S>& direction, S reach, S maxSlope) {
  const S d[3] = {dot(triangle[0], direction), dot(triangle[1], direction),
                  dot(triangle[2], direction)};
  const int v = d[0] >= d[1] ? (d[0] >= d[2] ? 0 : 2) : (d[1] >= d[2] ? 1 : 2);
  const int other[2] = {(v + 1) % 3, (v + 2) % 3};
  bool flat[2];
  for (int k = 0; k < 2; ++k) {
    const S drop = d[v] - d[other[k]];
    flat[k] = drop <= reach &&
              drop * drop <= maxSlope * maxSlope * squaredNorm(triangle[v] - triangle[other[k]]);
  }
  if (flat[0] && flat[1]) return {SupportKind::Polygon, faceFeature(0), 0, 0};
  if (!flat[0] && !flat[1]) return {SupportKind::Vertex, vertexFeature(v), v, v};
  const int w = flat[0] ? other[0] : other[1];
  return {SupportKind::Segment, edgeFeature(v, w), v, w};
}

template <class S>
TANGERE_HD inline SupportKey<S> findSupportKey(const ConvexView<S>& view, const Vec3T<S>& direction,
                                               S reach, S maxSlope) {
  using std::fabs;
  using std::sqrt;
  const Vec3T<S>& s = view.size;
  switch (view.core) {
    case CoreType::Point:
    case CoreType::Ellipsoid:
      return {};
    case CoreType::Segment: {
      const S slope = fabs(direction.z);
      if (slope <= maxSlope && S(2) * s.z * slope <= reach)
        return {SupportKind::Segment, edgeFeature(0, 1), 0, 1};
      const int end = direction.z >= S(0) ? 1 : 0;
      return {SupportKind::Vertex, vertexFeature(end), end, end};
    }
    case CoreType::Triangle:
      return triangleSupportKey(view.triangle, direction, reach, maxSlope);
    case CoreType::Box:
      return boxSupportKey(s, direction, reach, maxSlope);
    case CoreType::Cylinder: {
      const S radial = sqrt(direction.x * direction.x + direction.y * direction.y);
      const S axial = fabs(direction.z);
      const int cap = direction.z >= S(0) ? kTopCap : kBottomCap;
      if (axial > radial) {
        if (radial <= maxSlope && S(2) * s.x * radial <= reach)
          return {SupportKind::Polygon, faceFeature(cap), cap, cap};
      } else if (axial <= maxSlope && S(2) * s.z * axial <= reach) {
        return {SupportKind::Segment, faceFeature(kRoundSide), kBottomCap, kTopCap};
      }
      return {SupportKind::Vertex, rimFeature(cap), cap, cap};
    }
    case CoreType::Cone: {
      const S radial = sqrt(direction.x * direction.x + direction.y * direction.y);
      if (direction.z < S(0) && -direction.z > radial) {
        if (radial <= maxSlope && S(2) * s.x * radial <= reach)
          return {SupportKind::Polygon, faceFeature(kBottomCap), kBottomCap, kBottomCap};
        return {SupportKind::Vertex, rimFeature(kBottomCap), kBottomCap, kBottomCap};
      }
      // How much higher the apex is than the rim, along the direction.
      const S rise = S(2) * s.z * direction.z - s.x * radial;
      const S slant2 = S(4) * s.z * s.z + s.x * s.x;
      if (fabs(rise) <= reach && rise * rise <= maxSlope * maxSlope * slant2)
        return {SupportKind::Segment, faceFeature(kRoundSide), kBottomCap, kTopCap};
      if (rise > S(0)) return {SupportKind::Vertex, vertexFeature(kConeApex), kTopCap, kTopCap};
      return {SupportKind::Vertex, rimFeature(kBottomCap), kBottomCap, kBottomCap};
    }
    case CoreType::Hull:
      return hullSupportKey(*view.hull, direction, reach, maxSlope);
  }
  return {};
}

template <class S>
TANGERE_HD inline Vec3T<S> boxVertex(const Vec3T<S>& half, int vertex) {
  return {(vertex & 1) != 0 ? half.x : -half.x, (vertex & 2) != 0 ? half.y : -half.y,
          (vertex & 4) != 0 ? half.z : -half.z};
}

/// Vertex `corner` (0..3) of a face of a box, counter-clockwise from outside.
TANGERE_HD constexpr int boxFaceVertex(int face, int corner) {
  const int axis = face >> 1;
  const int u = axis == 2 ? 0 : axis + 1, v = axis == 0 ? 2 : axis - 1;
  const bool positive = (face & 1) != 0;
  const bool first = corner == 1 || corner == 2, second = corner >= 2;
  const bool highU = positive ? first : second, highV = positive ? second : first;
  return (positive ? 1 << axis : 0) | (highU ? 1 << u : 0) | (highV ? 1 << v : 0);
}

/// Points of a circle about z, tied to the body, so that they are the same in the next query.
template <class S>
TANGERE_HD inline void fillDisc(S radius, S z, int cap, SupportFeature<S>* out) {
  const S c1 = S(0.92387953251128675613), c2 = S(0.70710678118654752440),
          c3 = S(0.38268343236508977173);
  const S quarter[5] = {S(1), c1, c2, c3, S(0)};
  for (int i = 0; i < kDiscVertices; ++i) {
    // Counter-clockwise from outside is clockwise about +z for the lower cap.
    const int k = cap == kTopCap ? i : (kDiscVertices - i) % kDiscVertices;
    const int octant = k / 4, step = k % 4;
    const S c = quarter[step], s = quarter[4 - step];
    const S x = octant == 0 ? c : octant == 1 ? -s : octant == 2 ? -c : s;
    const S y = octant == 0 ? s : octant == 1 ? c : octant == 2 ? -s : -c;
    out->add({radius * x, radius * y, z}, cap * kDiscVertices + k);
  }
  out->normal = {S(0), S(0), cap == kTopCap ? S(1) : S(-1)};
}

template <class S>
TANGERE_HD inline void fillSupportFeature(const ConvexView<S>& view, const SupportKey<S>& key,
                                          const Vec3T<S>& direction, SupportFeature<S>* out) {
  using std::sqrt;
  const Vec3T<S>& s = view.size;
  out->count = 0;
  out->normal = direction;
  switch (view.core) {
    case CoreType::Point:
    case CoreType::Ellipsoid:
      return;
    case CoreType::Segment:
      out->add({S(0), S(0), -s.z}, 0);
      out->add({S(0), S(0), s.z}, 1);
      break;
    case CoreType::Triangle: {
      if (key.kind == SupportKind::Segment) {
        out->add(view.triangle[key.index0], key.index0);
        out->add(view.triangle[key.index1], key.index1);
        break;
      }
      const Vec3T<S> normal =
          cross(view.triangle[1] - view.triangle[0], view.triangle[2] - view.triangle[0]);
      const S length = norm(normal);
      const bool front = dot(normal, direction) >= S(0);  // a triangle has two outsides
      for (int k = 0; k < 3; ++k) {
        const int v = front ? k : 2 - k;
        out->add(view.triangle[v], v);
      }
      if (length > S(0)) out->normal = normal * ((front ? S(1) : S(-1)) / length);
      break;
    }
    case CoreType::Box:
      if (key.kind == SupportKind::Segment) {
        out->add(boxVertex(s, key.index0), key.index0);
        out->add(boxVertex(s, key.index1), key.index1);
      } else {
        for (int k = 0; k < 4; ++k) {
          const int v = boxFaceVertex(key.index0, k);
          out->add(boxVertex(s, v), v);
        }
        const S side = (key.index0 & 1) != 0 ? S(1) : S(-1);
        const int axis = key.index0 >> 1;
        out->normal = {axis == 0 ? side : S(0), axis == 1 ? side : S(0), axis == 2 ? side : S(0)};
      }
      break;
    case CoreType::Cylinder: {
      if (key.kind == SupportKind::Polygon) {
        fillDisc(s.x, key.index0 == kTopCap ? s.z : -s.z, key.index0, out);
        break;
      }
      const S k = s.x / sqrt(direction.x * direction.x + direction.y * direction.y);
      out->add({direction.x * k, direction.y * k, -s.z}, kBottomCap);
      out->add({direction.x * k, direction.y * k, s.z}, kTopCap);
      break;
    }
    case CoreType::Cone: {
      if (key.kind == SupportKind::Polygon) {
        fillDisc(s.x, -s.z, kBottomCap, out);
        break;
      }
      const S radial2 = direction.x * direction.x + direction.y * direction.y;
      const S k = radial2 > S(0) ? s.x / sqrt(radial2) : S(0);
      out->add({direction.x * k, direction.y * k, -s.z}, kBottomCap);
      out->add({S(0), S(0), s.z}, kConeApex);
      break;
    }
    case CoreType::Hull: {
      const HullView<S>& hull = *view.hull;
      if (key.kind == SupportKind::Segment) {
        out->add(hull.vertex(key.index0), key.index0);
        out->add(hull.vertex(key.index1), key.index1);
        break;
      }
      const int start = hull.faceStart[key.index0];
      const int total = hull.faceStart[key.index0 + 1] - start;
      // A face of more vertices than the buffer holds is thinned evenly.
      const int kept = total < kMaxFeatureVertices ? total : kMaxFeatureVertices;
      for (int k = 0; k < kept; ++k) {
        const int at =
            total == kept ? k : static_cast<int>(static_cast<std::int64_t>(k) * total / kept);
        const int v = hull.faceVertex[start + at];
        out->add(hull.vertex(v), v);
      }
      out->normal = hull.faceNormal[key.index0];
      break;
    }
  }
  if (view.radius > S(0)) {
    const Vec3T<S> shift = direction * view.radius;
    for (int i = 0; i < out->count; ++i) {
      out->x[i] += shift.x;
      out->y[i] += shift.y;
      out->z[i] += shift.z;
    }
  }
}

template <class S>
TANGERE_HD inline void moveFeature(const TransformT<S>& X, SupportFeature<S>* feature) {
  for (int i = 0; i < feature->count; ++i) {
    const Vec3T<S> p = X * feature->point(i);
    feature->x[i] = p.x;
    feature->y[i] = p.y;
    feature->z[i] = p.z;
  }
  feature->normal = X.rotation * feature->normal;
}

}  // namespace tangere::kernel
