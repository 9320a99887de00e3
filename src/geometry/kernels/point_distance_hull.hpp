// SPDX-License-Identifier: Apache-2.0
//
// Signed distance of a point to a convex polytope: exact, one pass over the faces and, when the
// nearest point is on an edge or a vertex, one over the edges.
#pragma once

#include "geometry/kernels/convex_view.hpp"
#include "geometry/kernels/point_distance.hpp"

namespace tangere::kernel {

/// The face whose plane the point is farthest above (or least below), the lowest of those that tie,
/// and that signed height: negative exactly for points inside.
template <class S>
TANGERE_HD inline int highestFace(const HullView<S>& hull, const Vec3T<S>& p, S* height) {
  int best = 0;
  S bestHeight = dot(hull.faceNormal[0], p) - hull.faceOffset[0];
  for (int f = 1; f < hull.numFaces; ++f) {
    const S h = dot(hull.faceNormal[f], p) - hull.faceOffset[f];
    if (h > bestHeight) {
      bestHeight = h;
      best = f;
    }
  }
  *height = bestHeight;
  return best;
}

/// Whether a point projects into a face.
template <class S>
TANGERE_HD inline bool projectsIntoFace(const HullView<S>& hull, int face, const Vec3T<S>& p) {
  const int begin = hull.faceStart[face], end = hull.faceStart[face + 1];
  const Vec3T<S>& n = hull.faceNormal[face];
  Vec3T<S> a = hull.vertex(hull.faceVertex[end - 1]);
  for (int i = begin; i < end; ++i) {
    const Vec3T<S> b = hull.vertex(hull.faceVertex[i]);
    if (dot(cross(n, b - a), p - a) < S(0)) return false;
    a = b;
  }
  return true;
}

template <class S>
TANGERE_HD inline Vec3T<S> nearestOnSegment(const Vec3T<S>& a, const Vec3T<S>& b,
                                            const Vec3T<S>& p) {
  const Vec3T<S> d = b - a;
  const S t = dot(p - a, d) / squaredNorm(d);
  return t > S(0) ? (t < S(1) ? a + d * t : b) : a;
}

/// The point itself, a foot of a perpendicular of length `height`; from very far away, where
/// rounding may have moved it out of the face, the nearest point of the face.
template <class S>
TANGERE_HD inline Vec3T<S> nearestInFace(const HullView<S>& hull, int face, S height,
                                         const Vec3T<S>& foot) {
  const int begin = hull.faceStart[face], end = hull.faceStart[face + 1];
  Vec3T<S> a = hull.vertex(hull.faceVertex[end - 1]);
  const S side2 = squaredNorm(hull.vertex(hull.faceVertex[begin]) - a);
  if (!(height > S(0)) || !(height * height > S(1e6) * side2)) return foot;
  if (projectsIntoFace(hull, face, foot)) return foot;
  Vec3T<S> best{};
  S best2 = S(-1);
  for (int i = begin; i < end; ++i) {
    const Vec3T<S> b = hull.vertex(hull.faceVertex[i]);
    const Vec3T<S> q = nearestOnSegment(a, b, foot);
    const S l2 = squaredNorm(foot - q);
    if (best2 < S(0) || l2 < best2) {
      best2 = l2;
      best = q;
    }
    a = b;
  }
  return best;
}

template <class S>
TANGERE_HD inline PointDistance<S> pointDistanceHull(const HullView<S>& hull, const Vec3T<S>& p) {
  S height;
  const int face = highestFace(hull, p, &height);
  const Vec3T<S>& n = hull.faceNormal[face];
  // No point of the hull is nearer than the highest plane: if the foot is in that face, it is the
  // answer. Inside it always is.
  if (height <= S(0) || projectsIntoFace(hull, face, p)) {
    Vec3T<S> foot = p - n * height;
    foot += n * (hull.faceOffset[face] - dot(n, foot));  // what rounding left off the plane
    return {height, nearestInFace(hull, face, height, foot), n};
  }

  Vec3T<S> closest{};
  S best = S(-1);
  for (int e = 0; e < hull.numEdges; ++e) {
    // The nearest edge has a face that the point is above.
    const int f = hull.edgeFace[2 * e], g = hull.edgeFace[2 * e + 1];
    if (dot(hull.faceNormal[f], p) < hull.faceOffset[f] &&
        dot(hull.faceNormal[g], p) < hull.faceOffset[g]) {
      continue;
    }
    const Vec3T<S> a = hull.vertex(hull.edgeVertex[2 * e]);
    const Vec3T<S> q = nearestOnSegment(a, hull.vertex(hull.edgeVertex[2 * e + 1]), p);
    const S l2 = squaredNorm(p - q);
    if (best < S(0) || l2 < best) {
      best = l2;
      closest = q;
    }
  }
  const Vec3T<S> offset = p - closest;
  const S l = length3(offset);
  // So near that the offset is rounding: the plane's height and normal are better.
  if (!(l * l > (sizeof(S) == 4 ? S(1e-10) : S(1e-26)) * squaredNorm(closest)) || !(l > S(0))) {
    return {height, closest, n};
  }
  return {l, closest, offset / l};
}

}  // namespace tangere::kernel
