// SPDX-License-Identifier: Apache-2.0
//
// A point against a convex polytope. Inside, the nearest face plane is the exact answer. Outside,
// the walk starts on the face whose plane is farthest and goes from face to face, each nearer than
// the last; as the distance is convex, the first feature that no neighbour beats is the nearest.
#pragma once

#include "collision/kernels/contact_features.hpp"
#include "geometry/kernels/convex_view.hpp"

#include <cstdint>

namespace tangere::kernel {

template <class S>
struct HullPoint {
  S distance{};                       ///< negative inside
  Vec3T<S> normal{};                  ///< unit, outward, at the nearest point
  std::int32_t feature = kNoFeature;  ///< nearest vertex, face or edge
};

/// The nearest point of one face, in terms of p - nearest.
template <class S>
struct HullFacePoint {
  Vec3T<S> away{};  ///< p - nearest
  int slot = -1;  ///< of the nearest edge or of its first vertex in faceVertex; -1: inside the face
  int vertex = -1;  ///< nearest vertex, or -1: within the edge
};

template <class S>
TANGERE_HD inline bool pointToHull(const HullView<S>& hull, S scale, const Vec3T<S>& p, S limit,
                                   HullPoint<S>* out);

/// p against face `face`, which p is above.
template <class S>
TANGERE_HD inline HullFacePoint<S> pointToHullFace(const HullView<S>& hull, int face, S height,
                                                   const Vec3T<S>& p) {
  const Vec3T<S>& n = hull.faceNormal[face];
  const int begin = hull.faceStart[face], end = hull.faceStart[face + 1];
  HullFacePoint<S> best{n * height, -1, -1};
  S best2{};
  int previous = hull.faceVertex[end - 1];
  Vec3T<S> a = hull.vertex(previous);
  for (int i = begin; i < end; ++i) {
    const int current = hull.faceVertex[i];
    const Vec3T<S> b = hull.vertex(current);
    const Vec3T<S> e = b - a;
    const Vec3T<S> w = p - a;
    if (dot(cross(e, n), w) > S(0)) {
      const S along = dot(e, w), length2 = squaredNorm(e);
      HullFacePoint<S> edge;
      edge.slot = i == begin ? end - 1 : i - 1;
      if (along <= S(0)) {
        edge.away = w;
        edge.vertex = previous;
      } else if (along >= length2) {
        edge.away = p - b;
        edge.vertex = current;
        edge.slot = i;
      } else {
        edge.away = w - e * (along / length2);
      }
      const S d2 = squaredNorm(edge.away);
      if (best.slot < 0 || d2 < best2) {
        best = edge;
        best2 = d2;
      }
    }
    previous = current;
    a = b;
  }
  return best;
}

/// The face on the other side of the edge at `slot` of face `face`.
template <class S>
TANGERE_HD inline int hullFaceAcross(const HullView<S>& hull, int face, int v0, int v1) {
  for (int i = hull.vertexFaceStart[v0]; i < hull.vertexFaceStart[v0 + 1]; ++i) {
    const int other = hull.vertexFace[i];
    if (other == face) continue;
    for (int k = hull.vertexFaceStart[v1]; k < hull.vertexFaceStart[v1 + 1]; ++k)
      if (hull.vertexFace[k] == other) return other;
  }
  return face;
}

template <class S>
TANGERE_HD inline int hullSlotEnd(const HullView<S>& hull, int face, int slot) {
  return hull.faceVertex[slot + 1 < hull.faceStart[face + 1] ? slot + 1 : hull.faceStart[face]];
}

/// `scale` is a length of the hull's size: distances below 1e-13 of it have no direction.
template <class S>
TANGERE_HD inline bool pointToHull(const HullView<S>& hull, S scale, const Vec3T<S>& p, S limit,
                                   HullPoint<S>* out) {
  using std::sqrt;
  int face = 0;
  S height = dot(hull.faceNormal[0], p) - hull.faceOffset[0];
  for (int f = 1; f < hull.numFaces; ++f) {
    const S d = dot(hull.faceNormal[f], p) - hull.faceOffset[f];
    if (d > height) {
      height = d;
      face = f;
    }
  }
  if (height > limit) return false;
  *out = {height, hull.faceNormal[face], faceFeature(face)};
  if (!(height > S(0))) return true;

  HullFacePoint<S> nearest = pointToHullFace(hull, face, height, p);
  int owner = face;
  if (nearest.slot >= 0) {
    S d2 = squaredNorm(nearest.away);
    for (int step = 0; step < 2 * hull.numFaces; ++step) {
      // A neighbouring face that leads nearer, if any.
      int next = owner;
      if (nearest.vertex < 0) {
        const int v0 = hull.faceVertex[nearest.slot];
        const int v1 = hullSlotEnd(hull, owner, nearest.slot);
        const int across = hullFaceAcross(hull, owner, v0, v1);
        const Vec3T<S> inward = cross(hull.faceNormal[across], hull.vertex(v0) - hull.vertex(v1));
        if (dot(inward, nearest.away) > S(0)) next = across;
      } else {
        const Vec3T<S> v = hull.vertex(nearest.vertex);
        S steepest{};
        int along = -1;
        for (int i = hull.neighborStart[nearest.vertex]; i < hull.neighborStart[nearest.vertex + 1];
             ++i) {
          const Vec3T<S> e = hull.vertex(hull.neighbor[i]) - v;
          const S slope = dot(e, nearest.away);
          if (slope > S(0) && slope * slope > steepest * squaredNorm(e)) {
            steepest = slope * slope / squaredNorm(e);
            along = hull.neighbor[i];
          }
        }
        if (along >= 0) next = hullFaceAcross(hull, owner, nearest.vertex, along);
      }
      if (next == owner) break;
      const S nextHeight = dot(hull.faceNormal[next], p) - hull.faceOffset[next];
      const HullFacePoint<S> candidate = pointToHullFace(hull, next, nextHeight, p);
      const S candidate2 = squaredNorm(candidate.away);
      if (!(candidate2 < d2)) break;
      nearest = candidate;
      owner = next;
      d2 = candidate2;
      if (nearest.slot < 0) break;
    }
  }
  if (nearest.slot < 0) {  // straight above a face
    const S d = dot(hull.faceNormal[owner], p) - hull.faceOffset[owner];
    if (d > limit) return false;
    *out = {d, hull.faceNormal[owner], faceFeature(owner)};
    return true;
  }
  Vec3T<S> away = nearest.away;
  S d2 = squaredNorm(away);
  if (d2 > limit * limit) return false;
  if (nearest.vertex < 0 && d2 < S(1e-10) * scale * scale) {
    // So near the edge the rounding of the foot tilts the direction: take that part out again.
    const int v0 = hull.faceVertex[nearest.slot];
    const Vec3T<S> e = hull.vertex(hullSlotEnd(hull, owner, nearest.slot)) - hull.vertex(v0);
    away -= e * (dot(e, away) / squaredNorm(e));
    d2 = squaredNorm(away);
  }
  const S smallest = S(1e-13) * scale;
  if (d2 > smallest * smallest) {
    const S d = sqrt(d2);
    out->distance = d;
    out->normal = away * (S(1) / d);
  }
  out->feature = nearest.vertex >= 0 ? vertexFeature(nearest.vertex)
                                     : edgeFeature(hull.faceVertex[nearest.slot],
                                                   hullSlotEnd(hull, owner, nearest.slot));
  return true;
}

}  // namespace tangere::kernel
