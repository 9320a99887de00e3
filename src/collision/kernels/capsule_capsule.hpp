// SPDX-License-Identifier: Apache-2.0
//
// Two segments: the nearest points, and the stretch along which they lie side by side.
#pragma once

#include "collision/kernels/segment_contact.hpp"

namespace tangere::kernel {

template <class S>
struct SegmentPair {
  S distance{};       ///< of the two segments, never negative
  Vec3T<S> normal{};  ///< unit, from segment 2 to segment 1
  S t1{};             ///< nearest points
  S t2{};
};

/// Up to three pairs of points of two segments that are almost parallel: the ends of the stretch
/// where they lie side by side and, if it is nearer than both, the nearest pair between them.
template <class S>
struct SideBySide {
  struct Pair {
    S t1, t2;
    S distance;
    Vec3T<S> normal;  ///< unit, from segment 2 to segment 1, at this pair
  };
  Pair pairs[3];
  int count = 0;
};

template <class S>
TANGERE_HD inline bool segmentToSegment(const Vec3T<S>& axis1, S half1, const Vec3T<S>& axis2,
                                        S half2, const Vec3T<S>& offset, S limit,
                                        SegmentPair<S>* out);

/// The unit direction from segment 2 to segment 1 where their difference `away` has too few digits
/// to give it: almost touching, touching or crossing segments.
template <class S>
TANGERE_HD inline Vec3T<S> directionAcross(const Vec3T<S>& axis1, const Vec3T<S>& axis2,
                                           const Vec3T<S>& offset, const Vec3T<S>& away,
                                           bool inside1, bool inside2) {
  using std::sqrt;
  Vec3T<S> v = away;
  const Vec3T<S> n = cross(axis1, axis2);
  if (inside1 && inside2) {
    if (squaredNorm(n) > S(1e-28)) v = dot(n, offset) >= S(0) ? n : -n;
    v -= axis1 * dot(axis1, v);
  } else if (inside1) {
    v -= axis1 * dot(axis1, v);
  } else if (inside2) {
    v -= axis2 * dot(axis2, v);
  }
  S l2 = squaredNorm(v);
  if (!(l2 > leastSquaredLength<S>())) {
    v = n;
    l2 = squaredNorm(v);
  }
  if (!(l2 > leastSquaredLength<S>())) return unitAcross(axis1);
  return v * (S(1) / sqrt(l2));
}

/// `offset` is center1 - center2. Returns false, with nothing written, beyond `limit`.
template <class S>
TANGERE_HD inline bool segmentToSegment(const Vec3T<S>& axis1, S half1, const Vec3T<S>& axis2,
                                        S half2, const Vec3T<S>& offset, S limit,
                                        SegmentPair<S>* out) {
  using std::sqrt;
  const S b = dot(axis1, axis2), d1 = dot(axis1, offset), d2 = dot(axis2, offset);
  // Minimum of |offset + t1 axis1 - t2 axis2|^2 over a rectangle: the free minimum, put back into
  // the range of t1, then of t2, then of t1 again.
  S sin2 = S(1) - b * b;
  S t1;
  if (sin2 > S(1e-4)) {
    t1 = (b * d2 - d1) / sin2;
  } else {
    // The same by cross products, which keep their digits for small angles.
    const Vec3T<S> n = cross(axis1, axis2);
    sin2 = squaredNorm(n);
    t1 = sin2 > S(1e-30) ? -dot(n, cross(offset, axis2)) / sin2 : -d1;
  }
  t1 = clampMagnitude(t1, half1);
  S t2 = b * t1 + d2;
  if (t2 > half2 || t2 < -half2) {
    t2 = clampMagnitude(t2, half2);
    t1 = clampMagnitude(b * t2 - d1, half1);
  }
  const Vec3T<S> away = offset + axis1 * t1 - axis2 * t2;
  const S distance2 = squaredNorm(away);
  if (distance2 > limit * limit) return false;
  out->t1 = t1;
  out->t2 = t2;
  const S length = half1 + half2;
  if (distance2 > S(1e-8) * length * length) {
    out->distance = sqrt(distance2);
    out->normal = away * (S(1) / out->distance);
    return true;
  }
  const bool inside1 = t1 > -half1 && t1<half1, inside2 = t2> - half2 && t2 < half2;
  out->normal = directionAcross(axis1, axis2, offset, away, inside1, inside2);
  out->distance = dot(out->normal, away);
  if (out->distance < S(0)) out->distance = S(0);
  return true;
}

/// Pairs within `limit` of each other, those of the ends of axis 1 along axis 2 and the nearest;
/// none where the segments are not almost parallel or have no stretch in common.
template <class S>
TANGERE_HD inline void segmentsAlongFirst(const Vec3T<S>& axis1, S half1, const Vec3T<S>& axis2,
                                          S half2, const Vec3T<S>& offset, S limit,
                                          const SegmentPair<S>& nearest, SideBySide<S>* out) {
  using std::sqrt;
  out->count = 0;
  const S b = dot(axis1, axis2);
  if (S(1) - b * b > S(0.01)) return;
  const S d2 = dot(axis2, offset);
  S low = -half1, high = half1;
  if (!clipToSlab(d2, b, half2, &low, &high)) return;
  if (!(high - low > S(1e-6) * (half1 + half2))) return;
  typename SideBySide<S>::Pair ends[2] = {{low, S(0), S(0), {}}, {high, S(0), S(0), {}}};
  for (int i = 0; i < 2; ++i) {
    ends[i].t2 = clampMagnitude(b * ends[i].t1 + d2, half2);
    const Vec3T<S> away = offset + axis1 * ends[i].t1 - axis2 * ends[i].t2;
    const S d = sqrt(squaredNorm(away));
    if (d > limit) return;
    ends[i].distance = d;
    ends[i].normal = d > S(1e-6) * (half1 + half2) ? away * (S(1) / d) : nearest.normal;
    // Axes that cross inside each other leave sideways at the ends: no common direction there.
    if (dot(ends[i].normal, nearest.normal) < S(0.99999)) return;
  }
  const int nearer = ends[1].distance < ends[0].distance ? 1 : 0;
  const S margin = S(1e-14) * (half1 + half2 + limit);
  if (nearest.distance < ends[nearer].distance - margin)
    out->pairs[out->count++] = {nearest.t1, nearest.t2, nearest.distance, nearest.normal};
  out->pairs[out->count++] = ends[nearer];
  out->pairs[out->count++] = ends[1 - nearer];
}

/// The same along the longer one, so that the order of the two decides nothing.
template <class S>
TANGERE_HD inline void segmentsSideBySide(const Vec3T<S>& axis1, S half1, const Vec3T<S>& axis2,
                                          S half2, const Vec3T<S>& offset, S limit,
                                          const SegmentPair<S>& nearest, SideBySide<S>* out) {
  using std::fabs;
  const S tie = S(1e-6);
  const S shift1 = fabs(dot(axis1, offset)), shift2 = fabs(dot(axis2, offset));
  const bool isEqual = fabs(half1 - half2) <= tie * (half1 + half2);
  if (isEqual ? shift1 >= shift2 - tie * half1 : half1 > half2)
    return segmentsAlongFirst(axis1, half1, axis2, half2, offset, limit, nearest, out);
  const SegmentPair<S> turned{nearest.distance, -nearest.normal, nearest.t2, nearest.t1};
  segmentsAlongFirst(axis2, half2, axis1, half1, -offset, limit, turned, out);
  for (int i = 0; i < out->count; ++i) {
    typename SideBySide<S>::Pair& pair = out->pairs[i];
    const S t = pair.t1;
    pair.t1 = pair.t2;
    pair.t2 = t;
    pair.normal = -pair.normal;
  }
}

}  // namespace tangere::kernel
