// SPDX-License-Identifier: Apache-2.0
//
// A segment against an ellipsoid, in the frame of the ellipsoid.
//
// Across its line the ellipsoid throws the shadow of an ellipse, and the line is a point: one
// point-ellipse problem gives the distance or the depth of the whole line. If its foot is beyond an
// end of the segment, that end decides, and is a point-ellipsoid problem.
//
// Crossing, with H+ and H- the depths of the two ends along n, the depth is the minimum over n of
// the larger one: at the line's direction, or at a minimum of H+ or H- where it is the larger. Each
// of these has one global minimum and at most one other (Martinez 1994); all are tried.
#pragma once

#include "collision/kernels/segment_contact.hpp"
#include "geometry/kernels/point_distance.hpp"

namespace tangere::kernel {

template <class S>
TANGERE_HD inline S ellipsoidExtent(const Vec3T<S>& size, const Vec3T<S>& n) {
  using std::sqrt;
  const S x = size.x * n.x, y = size.y * n.y, z = size.z * n.z;
  return sqrt(x * x + y * y + z * z);
}

/// The ellipsoid against the whole line of the segment: signed distance, and the normal across it.
template <class S>
TANGERE_HD inline S lineToEllipsoid(const Vec3T<S>& size, const SegmentT<S>& segment,
                                    Vec3T<S>* normal) {
  using std::fabs;
  using std::sqrt;
  const Vec3T<S>& c = segment.center;
  Vec3T<S> e1 = unitAcross(segment.axis);
  Vec3T<S> e2 = cross(segment.axis, e1);
  const auto scaled = [&](const Vec3T<S>& v) {
    return Vec3T<S>{size.x * v.x, size.y * v.y, size.z * v.z};
  };
  // The shadow is {x : x.M^-1.x <= 1} with M_ij = (E e_i).(E e_j); one Jacobi rotation finds its
  // axes, its angle from the half-angle form that does not cancel.
  Vec3T<S> s1 = scaled(e1), s2 = scaled(e2);
  const S m11 = squaredNorm(s1), m12 = dot(s1, s2), m22 = squaredNorm(s2);
  if (m12 != S(0)) {
    const S theta = (m22 - m11) / (S(2) * m12);
    const S tangent = (theta >= S(0) ? S(1) : S(-1)) / (fabs(theta) + sqrt(S(1) + theta * theta));
    const S cosine = S(1) / sqrt(S(1) + tangent * tangent), sine = tangent * cosine;
    const Vec3T<S> f1 = e1 * cosine - e2 * sine;
    e2 = e1 * sine + e2 * cosine;
    e1 = f1;
    s1 = scaled(e1);
    s2 = scaled(e2);
  }
  const S a = sqrt(squaredNorm(s1)), b = sqrt(squaredNorm(s2));
  // A third axis that is not the smallest changes nothing for a point in the plane.
  const PointDistance<S> d =
      pointDistanceEllipsoid(Vec3T<S>{a, b, a > b ? a : b}, Vec3T<S>{dot(c, e1), dot(c, e2), S(0)});
  *normal = e1 * d.normal.x + e2 * d.normal.y;
  return d.distance;
}

/// The direction of the local, not global, minimum of the depth of a point inside: the nearest
/// surface point on the other side of the middle plane. False where there is none.
template <class S>
TANGERE_HD inline bool farSideOfEllipsoid(const Vec3T<S>& size, const Vec3T<S>& p,
                                          Vec3T<S>* normal) {
  using std::fabs;
  using std::sqrt;
  const int k = size.x <= size.y ? (size.x <= size.z ? 0 : 2) : (size.y <= size.z ? 1 : 2);
  const int i = k == 0 ? 1 : 0;
  const int j = k == 2 ? 1 : 2;
  const S a = size[i], b = size[j], c = size[k];
  const S da = (a - c) * (a + c), db = (b - c) * (b + c);
  const S ga = a * fabs(p[i]), gb = b * fabs(p[j]), gc = c * fabs(p[k]);
  const S pole = da < db ? da : db;
  // sum (g / (d - tau))^2 = 1 for 0 < tau < pole, the root nearest to 0: the sum is convex, and
  // Newton rises to it from where the last term alone is one.
  S tau = gc;
  if (!(tau < pole)) return false;
  if (!(tau > S(0))) {
    // On the middle plane the two sides are alike.
    const S sa = ga / da, sb = gb / db;
    const S rest = S(1) - (sa * sa + sb * sb);
    if (!(rest >= S(0))) return false;
    Vec3T<S> g;
    g[i] = p[i] / da;
    g[j] = p[j] / db;
    g[k] = -sqrt(rest) / c;
    *normal = g * (S(1) / norm(g));
    return true;
  }
  for (int iteration = 0; iteration < 60; ++iteration) {
    const S ia = S(1) / (da - tau), ib = S(1) / (db - tau), ic = S(1) / tau;
    const S sa = ga * ia, sb = gb * ib, sc = gc * ic;
    const S value = sa * sa + sb * sb + sc * sc - S(1);
    const S slope = S(2) * (sa * sa * ia + sb * sb * ib - sc * sc * ic);
    if (!(slope < S(0))) return false;
    const S next = tau - value / slope;
    if (!(next < pole)) return false;
    const bool done = !(next > tau * (S(1) + S(1e-15)));
    tau = next;
    if (done) break;
  }
  Vec3T<S> g;
  g[i] = p[i] / (da - tau);
  g[j] = p[j] / (db - tau);
  g[k] = -p[k] / tau;
  *normal = g * (S(1) / norm(g));
  return true;
}

template <class S>
TANGERE_HD inline bool segmentToEllipsoid(const Vec3T<S>& size, const SegmentT<S>& segment, S limit,
                                          SegmentContact<S>* out) {
  using std::fabs;
  using std::sqrt;
  const Vec3T<S>& c = segment.center;
  const Vec3T<S>& u = segment.axis;
  const S h = segment.halfLength;
  // Where the foot of direction n is along the segment.
  const auto footOf = [&](const Vec3T<S>& n) {
    const S k = S(1) / ellipsoidExtent(size, n);
    return dot(
        u, Vec3T<S>{size.x * size.x * n.x, size.y * size.y * n.y, size.z * size.z * n.z} * k - c);
  };
  // Where the ellipsoid is a unit ball the segment's nearest point is known; the plane across it
  // bounds the distance from below and settles most far pairs.
  {
    const Vec3T<S> k{S(1) / size.x, S(1) / size.y, S(1) / size.z};
    const Vec3T<S> cs{c.x * k.x, c.y * k.y, c.z * k.z}, us{u.x * k.x, u.y * k.y, u.z * k.z};
    const Vec3T<S> x = cs + us * clampMagnitude(-dot(cs, us) / squaredNorm(us), h);
    const Vec3T<S> g{x.x * k.x, x.y * k.y, x.z * k.z};
    const S bound = dot(g, c) - h * fabs(dot(g, u)) - sqrt(squaredNorm(x));
    if (bound > S(0) && bound * bound > limit * limit * squaredNorm(g)) return false;
  }
  Vec3T<S> n;
  const S lineDistance = lineToEllipsoid(size, segment, &n);
  if (lineDistance > limit) return false;
  const S t = footOf(n);
  if (lineDistance > S(0)) {
    if (t >= -h && t <= h) {
      *out = {lineDistance, n, t};
      return true;
    }
    const S end = t > h ? h : -h;
    const PointDistance<S> d = pointDistanceEllipsoid(size, segment.at(end));
    if (d.distance > limit) return false;
    *out = {d.distance, d.normal, end};
    return true;
  }

  // The line meets the ellipsoid; the segment may still end before it.
  const PointDistance<S> low = pointDistanceEllipsoid(size, segment.at(-h));
  const PointDistance<S> high = pointDistanceEllipsoid(size, segment.at(h));
  const S slopeLow = dot(low.normal, u), slopeHigh = dot(high.normal, u);
  // An end whose own best direction does not point along the segment into the body beats all
  // others.
  if (slopeLow >= S(0)) {
    if (low.distance > limit) return false;
    *out = {low.distance, low.normal, -h};
    return true;
  }
  if (slopeHigh <= S(0)) {
    if (high.distance > limit) return false;
    *out = {high.distance, high.normal, h};
    return true;
  }
  *out = {lineDistance, n, clampMagnitude(t, h)};
  const auto consider = [&](S end) {
    Vec3T<S> m;
    if (!farSideOfEllipsoid(size, segment.at(end), &m)) return;
    const S d = dot(m, c) - h * fabs(dot(m, u)) - ellipsoidExtent(size, m);
    if (d > out->distance) *out = {d, m, dot(m, u) > S(0) ? -h : h};
  };
  consider(-h);
  consider(h);
  return true;
}

}  // namespace tangere::kernel
