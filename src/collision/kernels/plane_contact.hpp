// SPDX-License-Identifier: Apache-2.0
//
// Convex solids on a half space: the points of the solid that are below the plane, each with its
// own height. Everything is in world, relative to the origin of the solid.
//
// `n` is the outward unit normal of the half space and `height` that of the solid's origin above
// the plane. Each point at or below `limit` is handed to out.add(point, height, feature), the
// lowest first, four at most: `point` is relative to the solid's origin, `height` negative below
// the plane.
#pragma once

#include "collision/kernels/convex_manifold.hpp"
#include "collision/kernels/hull_below.hpp"
#include "collision/kernels/segment_contact.hpp"
#include "geometry/kernels/support.hpp"

#include <cstdint>

namespace tangere::kernel {

/// How many points to write: the lowest alone, or all up to four.
enum class PlanePoints : std::uint8_t { Lowest, All };

template <PlanePoints kPoints, class S, class Sink>
TANGERE_HD inline void planeToBox(const Vec3T<S>& size, const Mat3T<S>& R, const Vec3T<S>& n,
                                  S height, S limit, Sink& out) {
  using std::fabs;
  const Vec3T<S> m = transposeTimes(R, n);
  const Vec3T<S> g{size.x * fabs(m.x), size.y * fabs(m.y), size.z * fabs(m.z)};
  const S lowest = height - (g.x + g.y + g.z);
  if (lowest > limit) return;
  // From the lowest vertex, the step along each edge (raises by 2 g).
  const Vec3T<S> step[3] = {R.col[0] * (m.x >= S(0) ? size.x : -size.x),
                            R.col[1] * (m.y >= S(0) ? size.y : -size.y),
                            R.col[2] * (m.z >= S(0) ? size.z : -size.z)};
  const int vertex = (m.x >= S(0) ? 0 : 1) | (m.y >= S(0) ? 0 : 2) | (m.z >= S(0) ? 0 : 4);
  const Vec3T<S> corner = -(step[0] + step[1] + step[2]);
  out.add(corner, lowest, vertex);
  if constexpr (kPoints == PlanePoints::All) {
    // Edges from the flattest to the steepest; the four lowest vertices are then the corner, the
    // ends of the two flattest edges and the lower of the opposite vertex and the third end.
    int i = 0, j = 1, k = 2;
    if (g[j] < g[i]) {
      const int t = i;
      i = j;
      j = t;
    }
    if (g[k] < g[j]) {
      const int t = j;
      j = k;
      k = t;
      if (g[j] < g[i]) {
        const int u = i;
        i = j;
        j = u;
      }
    }
    const S hi = lowest + S(2) * g[i];
    if (hi <= limit) {
      out.add(corner + step[i] * S(2), hi, vertex ^ (1 << i));
      const S hj = lowest + S(2) * g[j];
      if (hj <= limit) {
        out.add(corner + step[j] * S(2), hj, vertex ^ (1 << j));
        const S hij = lowest + S(2) * (g[i] + g[j]), hk = lowest + S(2) * g[k];
        if (hij <= hk) {
          if (hij <= limit)
            out.add(corner + (step[i] + step[j]) * S(2), hij, vertex ^ (1 << i) ^ (1 << j));
        } else if (hk <= limit) {
          out.add(corner + step[k] * S(2), hk, vertex ^ (1 << k));
        }
      }
    }
  }
}

/// The four points of a disc: +x, +y, -x, -y on its rim are samples 0..3, of which the one nearest
/// to the lowest rim point has moved onto it. The samples turn with the body, so that their numbers
/// stay with their points. (mx, my) is the plane's normal along (x, y) and `slope` its length.
template <class S>
struct DiscSamples {
  S mx, my, slope2, slope;

  TANGERE_HD DiscSamples(S normalX, S normalY) : mx(normalX), my(normalY) {
    using std::sqrt;
    slope2 = mx * mx + my * my;
    slope = sqrt(slope2);
  }
  /// The sample that is on the lowest rim point. Signs of a random attitude: arithmetic instead of
  /// branches. The two diagonals split the disc into the quarters of the samples.
  [[nodiscard]] TANGERE_HD int nearest() const {
    const int beyond = static_cast<int>(mx + my > S(0)), below = static_cast<int>(mx - my > S(0));
    return below ^ (3 * beyond);
  }
  /// The lowest rim point from the centre; x and y are the first columns of R. A slope that is
  /// rounding has no direction: moving the sample would only make it jump.
  TANGERE_HD Vec3T<S> lowest(const Mat3T<S>& R, S radius) const {
    // The reciprocal does not wait for the root.
    if (slope > S(1e-11))
      return (R.col[0] * (radius * mx) + R.col[1] * (radius * my)) * (-slope * (S(1) / slope2));
    const int k = nearest();
    return R.col[k & 1] * (radius * S(1 - (k & 2)));
  }
  /// How far the lowest of the other samples is below the centre, for a unit radius.
  TANGERE_HD S secondDrop() const {
    using std::fabs;
    const S x = fabs(mx), y = fabs(my);
    return x < y ? x : y;
  }
  /// The other samples that are at or below `limit`; x and y are the first columns of R.
  template <class Sink>
  TANGERE_HD void addOthers(const Vec3T<S>& center, S height, S radius, const Mat3T<S>& R, S limit,
                            std::int32_t firstFeature, Sink& out) const {
    const S m[2] = {mx, my};
    const int first = nearest();
    constexpr int kTurn[3] = {1, 3, 2};  // beside the nearest, then across
    for (int i = 0; i < 3; ++i) {
      const int k = (first + kTurn[i]) & 3;
      const int axis = k & 1;
      const S signedRadius = radius * S(1 - (k & 2));
      const S h = height + signedRadius * m[axis];
      out.addIf(h <= limit, center + R.col[axis] * signedRadius, h, firstFeature + k);
    }
  }
};

template <PlanePoints kPoints, class S, class Sink>
TANGERE_HD inline void planeToCylinder(const Vec3T<S>& size, const Mat3T<S>& R, const Vec3T<S>& n,
                                       S height, S limit, Sink& out) {
  using std::fabs;
  const Vec3T<S> m = transposeTimes(R, n);
  const DiscSamples<S> samples(m.x, m.y);
  const S rise = size.z * fabs(m.z);
  const S capHeight = height - rise;
  const S lowest = capHeight - size.x * samples.slope;
  if (!(lowest <= limit)) return;
  const int cap = m.z >= S(0) ? 0 : 1;
  constexpr S kSign[2] = {S(-1), S(1)};
  const Vec3T<S> center = R.col[2] * (kSign[cap] * size.z);
  const Vec3T<S> radial = samples.lowest(R, size.x);
  // Whether there is a second point cannot be guessed when deep. A wrong guess is found out the
  // sooner the less is waited for: tests without the root first. On the cap the samples are 0..3
  // and 4..7, on the side line 8 and 9.
  if (m.z * m.z >= S(0.5)) {
    out.add(center + radial, lowest, 4 * cap + samples.nearest());
    if constexpr (kPoints == PlanePoints::All)
      if (capHeight - size.x * samples.secondDrop() <= limit)
        samples.addOthers(center, capHeight, size.x, R, limit, 4 * cap, out);
  } else {
    out.add(center + radial, lowest, 8 + cap);
    if constexpr (kPoints == PlanePoints::All) {
      // The other end of the side line is below where the middle of its cap is above by less than
      // the radius times the slope; more than rounding is left to the test that counts.
      const S above = height + rise * (S(1) - S(1e-6)) - limit;
      if (above * fabs(above) > size.x * size.x * samples.slope2 * (S(1) + S(1e-6))) return;
      const S across = lowest + S(2) * rise;
      out.addIf(across <= limit, radial - center, across, 9 - cap);
    }
  }
}

template <PlanePoints kPoints, class S, class Sink>
TANGERE_HD inline void planeToCone(const Vec3T<S>& size, const Mat3T<S>& R, const Vec3T<S>& n,
                                   S height, S limit, Sink& out) {
  const Vec3T<S> m = transposeTimes(R, n);
  const DiscSamples<S> samples(m.x, m.y);
  const S baseHeight = height - size.z * m.z;
  const S apexHeight = height + size.z * m.z;
  const S rimHeight = baseHeight - size.x * samples.slope;
  const bool rimLower = rimHeight <= apexHeight;
  if ((rimLower ? rimHeight : apexHeight) > limit) return;
  const Vec3T<S> apex = R.col[2] * size.z;
  const Vec3T<S> rim = samples.lowest(R, size.x) - apex;
  // The base has samples 0..3, its lowest point on a side line is 4, the apex 5.
  const bool onBase = m.z > S(0) && m.z * m.z >= S(0.5);
  constexpr std::int32_t kRim = 4, kApex = 5;
  if (rimLower)
    out.add(rim, rimHeight, onBase ? samples.nearest() : kRim);
  else
    out.add(apex, apexHeight, kApex);
  if constexpr (kPoints == PlanePoints::All) {
    if (onBase) {
      samples.addOthers(-apex, baseHeight, size.x, R, limit, 0, out);
    } else {
      if (rimLower && apexHeight <= limit) out.add(apex, apexHeight, kApex);
      if (!rimLower && rimHeight <= limit) out.add(rim, rimHeight, kRim);
    }
  }
}

template <class S, class Sink>
TANGERE_HD inline void planeToEllipsoid(const Vec3T<S>& size, const Mat3T<S>& R, const Vec3T<S>& n,
                                        S height, S limit, Sink& out) {
  using std::sqrt;
  const Vec3T<S> m = transposeTimes(R, n);
  const Vec3T<S> s{size.x * m.x, size.y * m.y, size.z * m.z};
  const S extent = sqrt(squaredNorm(s));
  if (height - extent > limit) return;
  const S k = S(-1) / extent;
  out.add(R * Vec3T<S>{size.x * s.x * k, size.y * s.y * k, size.z * s.z * k}, height - extent, -1);
}

template <PlanePoints kPoints, class S, class Sink>
TANGERE_HD inline void planeToCapsule(S radius, S halfLength, const Mat3T<S>& R, const Vec3T<S>& n,
                                      S height, S limit, Sink& out) {
  using std::fabs;
  const S c = dot(R.col[2], n);
  const S rise = halfLength * fabs(c);
  const S lowest = height - rise - radius;
  if (!(lowest <= limit)) return;
  // Which end is lower cannot be guessed: arithmetic instead of branches, here and for the other
  // end.
  const int lower = c >= S(0) ? 0 : 1;
  const Vec3T<S> end = R.col[2] * (S(2 * lower - 1) * halfLength);
  const Vec3T<S> down = n * radius;
  out.add(end - down, lowest, lower);
  if constexpr (kPoints == PlanePoints::All) {
    const S other = lowest + S(2) * rise;
    out.addIf(other <= limit, -end - down, other, 1 - lower);
  }
}

/// The vertices below the plane as points (u, v), seen along the normal.
template <class S>
struct StoredFootprint {
  S us[kMaxStoredVertices], vs[kMaxStoredVertices];
  int count;

  TANGERE_HD int size() const { return count; }
  TANGERE_HD bool contains(int) const { return true; }
  TANGERE_HD S u(int k) const { return us[k]; }
  TANGERE_HD S v(int k) const { return vs[k]; }
};

/// The same without the list, for hulls of any size: point k is vertex k.
template <class S>
struct StreamedFootprint {
  const HullView<S>& hull;
  Vec3T<S> m, e1, e2;
  S bound;

  TANGERE_HD int size() const { return hull.numVertices; }
  TANGERE_HD bool contains(int k) const { return dot(m, hull.vertex(k)) <= bound; }
  TANGERE_HD S u(int k) const { return dot(e1, hull.vertex(k)); }
  TANGERE_HD S v(int k) const { return dot(e2, hull.vertex(k)); }
};

/// The point with the largest positive score, the first of those that tie; -1 if none is positive.
template <class Footprint, class Score>
TANGERE_HD inline int farthestPoint(const Footprint& points, const Score& score) {
  using S = decltype(points.u(0));
  int best = -1;
  S most{};
  for (int k = 0; k < points.size(); ++k) {
    if (!points.contains(k)) continue;
    const S s = score(points.u(k), points.v(k));
    best = s > most ? k : best;  // selections: as good as random, a branch would cost more
    most = s > most ? s : most;
  }
  return best;
}

/// Four of the points: `first`, then the farthest from what is chosen already. Returns how many.
template <class Footprint>
TANGERE_HD inline int spreadFour(const Footprint& points, int first, int (&chosen)[4]) {
  using S = decltype(points.u(0));
  chosen[0] = first;
  const S u0 = points.u(first), v0 = points.v(first);
  const int second =
      farthestPoint(points, [&](S u, S v) { return (u - u0) * (u - u0) + (v - v0) * (v - v0); });
  if (second < 0) return 1;
  chosen[1] = second;
  // The farthest on either side of the line through the first two.
  const S u1 = points.u(second), v1 = points.v(second);
  const auto areaBeyond = [](S ua, S va, S ub, S vb, S u, S v) {
    return (ub - ua) * (v - va) - (vb - va) * (u - ua);
  };
  int left = -1, right = -1;
  S mostLeft{}, mostRight{};
  for (int k = 0; k < points.size(); ++k) {
    if (!points.contains(k)) continue;
    const S area = areaBeyond(u0, v0, u1, v1, points.u(k), points.v(k));
    left = area > mostLeft ? k : left;
    mostLeft = area > mostLeft ? area : mostLeft;
    right = area < mostRight ? k : right;
    mostRight = area < mostRight ? area : mostRight;
  }
  if (left >= 0 && right >= 0) {
    chosen[2] = left;
    chosen[3] = right;
    return 4;
  }
  if (left < 0 && right < 0) return 2;
  // All on one side: the fourth is the farthest beyond the other two sides of the triangle.
  const int third = left >= 0 ? left : right;
  chosen[2] = third;
  const S u2 = points.u(third), v2 = points.v(third);
  const S sign = left >= 0 ? S(-1) : S(1);
  const int fourth = farthestPoint(points, [&](S u, S v) {
    const S area1 = sign * areaBeyond(u1, v1, u2, v2, u, v);
    const S area2 = sign * areaBeyond(u2, v2, u0, v0, u, v);
    return area1 > area2 ? area1 : area2;
  });
  if (fourth < 0 || fourth == first || fourth == second || fourth == third) return 3;
  chosen[3] = fourth;
  return 4;
}

template <PlanePoints kPoints, class S, class Sink>
TANGERE_HD inline void planeToHull(const HullView<S>& hull, const Mat3T<S>& R, const Vec3T<S>& n,
                                   S height, S limit, Sink& out) {
  const Vec3T<S> m = transposeTimes(R, n);
  const S bound = limit - height;
  const auto add = [&](int vertex) {
    const Vec3T<S> p = hull.vertex(vertex);
    const S h = height + dot(m, p);
    out.add(R * p, h < limit ? h : limit, vertex);  // the comparison with `bound` rounds otherwise
  };
  if (kPoints == PlanePoints::Lowest || hull.numVertices > kMaxStoredVertices) {
    const int lowest = supportVertex(hull, -m);
    if (dot(m, hull.vertex(lowest)) > bound) return;
    add(lowest);
    if constexpr (kPoints == PlanePoints::All) {
      const Vec3T<S> e1 = unitAcross(m);
      int chosen[4];
      const int count =
          spreadFour(StreamedFootprint<S>{hull, m, e1, cross(m, e1), bound}, lowest, chosen);
      for (int k = 1; k < count; ++k) add(chosen[k]);
    }
    return;
  }

  S heights[kMaxStoredVertices];
  int below[kMaxStoredVertices];
  const int numBelow = verticesBelow(hull, m, bound, heights, below);
  if (numBelow == 0) return;
  int lowest = 0;
  S least = heights[below[0]];
  for (int k = 1; k < numBelow; ++k) {
    const S h = heights[below[k]];
    lowest = h < least ? k : lowest;  // selections: as good as random
    least = h < least ? h : least;
  }
  add(below[lowest]);
  if (numBelow <= 4) {
    for (int k = 0; k < numBelow; ++k)
      if (k != lowest) add(below[k]);
    return;
  }
  Vec3T<S> e1, e2;
  completeFrame(m, &e1, &e2);
  StoredFootprint<S> points;
  points.count = numBelow;
  for (int k = 0; k < numBelow; ++k) {
    const Vec3T<S> p = hull.vertex(below[k]);
    points.us[k] = dot(e1, p);
    points.vs[k] = dot(e2, p);
  }
  int chosen[4];
  const int count = spreadFour(points, lowest, chosen);
  for (int k = 1; k < count; ++k) add(below[chosen[k]]);
}

}  // namespace tangere::kernel
