// SPDX-License-Identifier: Apache-2.0
//
// Two triangles: the segment in which they cross, and their distance.
#pragma once

#include "geometry/kernels/triangle_point.hpp"

namespace tangere::kernel {

template <class S>
struct TriangleCrossing {
  Vec3T<S> p{}, q{};  ///< ends of the common segment
  /// Bit k: corner k of one triangle is behind the plane of the other.
  int behindA = 0, behindB = 0;
};

/// Nearest points of two segments p0 p1 and q0 q1 (Ericson 2005, 5.1.9); segments without a length
/// are points.
template <class S>
TANGERE_HD inline void closestOnSegments(const Vec3T<S>& p0, const Vec3T<S>& p1, const Vec3T<S>& q0,
                                         const Vec3T<S>& q1, Vec3T<S>* onP, Vec3T<S>* onQ) {
  const Vec3T<S> d1 = p1 - p0, d2 = q1 - q0, r = p0 - q0;
  const S a = squaredNorm(d1), e = squaredNorm(d2), f = dot(d2, r), c = dot(d1, r);
  S s = S(0), t = S(0);
  if (a > S(0) && e > S(0)) {
    const S b = dot(d1, d2);
    const S denominator = a * e - b * b;
    if (denominator > S(0)) s = (b * f - c * e) / denominator;
    s = s < S(0) ? S(0) : (s > S(1) ? S(1) : s);
    t = (b * s + f) / e;
    if (t < S(0)) {
      t = S(0);
      s = -c / a;
    } else if (t > S(1)) {
      t = S(1);
      s = (b - c) / a;
    }
    s = s < S(0) ? S(0) : (s > S(1) ? S(1) : s);
  } else if (a > S(0)) {
    s = -c / a;
    s = s < S(0) ? S(0) : (s > S(1) ? S(1) : s);
  } else if (e > S(0)) {
    t = f / e;
    t = t < S(0) ? S(0) : (t > S(1) ? S(1) : t);
  }
  *onP = p0 + d1 * s;
  *onQ = q0 + d2 * t;
}

/// Part of the line where two planes meet that lies in a triangle: heights h over the other plane,
/// coordinates along the line c; gives the two ends as parameters of points.
template <class S>
TANGERE_HD inline void crossingEnds(const Vec3T<S>* v, const S* h, Vec3T<S>* end0, Vec3T<S>* end1) {
  // `lone` is alone on its side of the plane.
  int lone;
  if (h[0] * h[1] > S(0))
    lone = 2;
  else if (h[0] * h[2] > S(0))
    lone = 1;
  else if (h[1] * h[2] > S(0) || h[0] != S(0))
    lone = 0;
  else if (h[1] != S(0))
    lone = 1;
  else
    lone = 2;
  const int i = lone == 2 ? 0 : lone + 1, j = lone == 0 ? 2 : lone - 1;
  const S di = h[lone] - h[i], dj = h[lone] - h[j];
  *end0 = di != S(0) ? v[lone] + (v[i] - v[lone]) * (h[lone] / di) : v[i];
  *end1 = dj != S(0) ? v[lone] + (v[j] - v[lone]) * (h[lone] / dj) : v[j];
}

/// Overlap of two triangles in one plane; `n` is normal to it.
template <class S>
TANGERE_HD inline bool overlapCoplanarTriangles(const Vec3T<S>* a, const Vec3T<S>* b,
                                                const Vec3T<S>& n) {
  for (int side = 0; side < 2; ++side) {
    const Vec3T<S>* p = side == 0 ? a : b;
    const Vec3T<S>* q = side == 0 ? b : a;
    for (int k = 0; k < 3; ++k) {
      const Vec3T<S> across = cross(p[(k + 1) % 3] - p[k], n);
      const S inner = dot(across, p[(k + 2) % 3] - p[k]);
      const S d0 = dot(across, q[0] - p[k]), d1 = dot(across, q[1] - p[k]),
              d2 = dot(across, q[2] - p[k]);
      if (inner <= S(0) ? (d0 > S(0) && d1 > S(0) && d2 > S(0))
                        : (d0 < S(0) && d1 < S(0) && d2 < S(0)))
        return false;
    }
  }
  return true;
}

/// Whether two triangles have a point in common (Moller 1997: intervals on the line of both
/// planes). `out` gets the common segment; of coplanar triangles, some point of both. `normalA` and
/// `normalB` are unit normals; `tolerance` is the height below which a vertex lies in a plane [m].
template <class S>
TANGERE_HD inline bool intersectTriangles(const Vec3T<S>* a, const Vec3T<S>& normalA,
                                          const Vec3T<S>* b, const Vec3T<S>& normalB, S tolerance,
                                          TriangleCrossing<S>* out) {
  using std::fabs;
  S hb[3];
  for (int k = 0; k < 3; ++k) {
    hb[k] = dot(normalA, b[k] - a[0]);
    if (fabs(hb[k]) <= tolerance) hb[k] = S(0);
  }
  if ((hb[0] > S(0) && hb[1] > S(0) && hb[2] > S(0)) ||
      (hb[0] < S(0) && hb[1] < S(0) && hb[2] < S(0)))
    return false;
  S ha[3];
  for (int k = 0; k < 3; ++k) {
    ha[k] = dot(normalB, a[k] - b[0]);
    if (fabs(ha[k]) <= tolerance) ha[k] = S(0);
  }
  if ((ha[0] > S(0) && ha[1] > S(0) && ha[2] > S(0)) ||
      (ha[0] < S(0) && ha[1] < S(0) && ha[2] < S(0)))
    return false;
  out->behindA = (ha[0] < S(0) ? 1 : 0) | (ha[1] < S(0) ? 2 : 0) | (ha[2] < S(0) ? 4 : 0);
  out->behindB = (hb[0] < S(0) ? 1 : 0) | (hb[1] < S(0) ? 2 : 0) | (hb[2] < S(0) ? 4 : 0);
  const bool flatA = ha[0] == S(0) && ha[1] == S(0) && ha[2] == S(0);
  const bool flatB = hb[0] == S(0) && hb[1] == S(0) && hb[2] == S(0);
  if (flatA || flatB) {
    if (!overlapCoplanarTriangles(a, b, normalA)) return false;
    const Vec3T<S> c = (b[0] + b[1] + b[2]) * S(1.0 / 3.0);
    const TrianglePoint<S> onA = closestOnTriangle(c, a[0], a[1], a[2]);
    const TrianglePoint<S> onB = closestOnTriangle(onA.point, b[0], b[1], b[2]);
    out->p = out->q = (onA.point + onB.point) * S(0.5);
    return true;
  }
  const Vec3T<S> line = cross(normalA, normalB);
  Vec3T<S> a0, a1, b0, b1;
  crossingEnds(a, ha, &a0, &a1);
  crossingEnds(b, hb, &b0, &b1);
  S ta0 = dot(line, a0), ta1 = dot(line, a1), tb0 = dot(line, b0), tb1 = dot(line, b1);
  if (ta0 > ta1) {
    const S t = ta0;
    ta0 = ta1;
    ta1 = t;
    const Vec3T<S> p = a0;
    a0 = a1;
    a1 = p;
  }
  if (tb0 > tb1) {
    const S t = tb0;
    tb0 = tb1;
    tb1 = t;
    const Vec3T<S> p = b0;
    b0 = b1;
    b1 = p;
  }
  if (ta0 > tb1 || tb0 > ta1) return false;
  out->p = ta0 > tb0 ? a0 : b0;
  out->q = ta1 < tb1 ? a1 : b1;
  return true;
}

/// A quick proof that two triangles are at least sqrt(bound2) apart: the slab between them across
/// the line of their centroids. False proves nothing.
template <class S>
TANGERE_HD inline bool areFarApart(const Vec3T<S>* a, const Vec3T<S>* b, S bound2) {
  const Vec3T<S> m = (b[0] + b[1] + b[2]) - (a[0] + a[1] + a[2]);
  const S a0 = dot(m, a[0]), a1 = dot(m, a[1]), a2 = dot(m, a[2]);
  const S b0 = dot(m, b[0]), b1 = dot(m, b[1]), b2 = dot(m, b[2]);
  const S top = a0 > a1 ? (a0 > a2 ? a0 : a2) : (a1 > a2 ? a1 : a2);
  const S low = b0 < b1 ? (b0 < b2 ? b0 : b2) : (b1 < b2 ? b1 : b2);
  const S gap = low - top;
  return gap > S(0) && gap * gap >= bound2 * squaredNorm(m);
}

/// Nearest points of two triangles that do not cross: vertices against triangles, then edges
/// against edges. Returns the squared distance; keeps the points only when it is below `bound2`.
template <class S>
TANGERE_HD inline S squaredDistanceTriangles(const Vec3T<S>* a, const Vec3T<S>* b, S bound2,
                                             Vec3T<S>* onA, Vec3T<S>* onB) {
  S best = bound2;
  for (int k = 0; k < 3; ++k) {
    const Vec3T<S> p = closestOnTriangle(b[k], a[0], a[1], a[2]).point;
    const S d = squaredNorm(p - b[k]);
    if (d < best) {
      best = d;
      *onA = p;
      *onB = b[k];
    }
  }
  for (int k = 0; k < 3; ++k) {
    const Vec3T<S> p = closestOnTriangle(a[k], b[0], b[1], b[2]).point;
    const S d = squaredNorm(p - a[k]);
    if (d < best) {
      best = d;
      *onA = a[k];
      *onB = p;
    }
  }
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      Vec3T<S> p, q;
      closestOnSegments(a[i], a[i == 2 ? 0 : i + 1], b[j], b[j == 2 ? 0 : j + 1], &p, &q);
      const S d = squaredNorm(p - q);
      if (d < best) {
        best = d;
        *onA = p;
        *onB = q;
      }
    }
  return best;
}

}  // namespace tangere::kernel
