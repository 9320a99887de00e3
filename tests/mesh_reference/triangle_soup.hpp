// SPDX-License-Identifier: Apache-2.0
//
// Brute force over triangles in extended precision: distance of two sets of triangles, whether they
// cross, and whether a point is inside. Shares no code with src/: what it says is what the engine
// is measured against. A set has a radius around its triangles, so that balls (one point), capsules
// (one segment) and clouds of points are sets too.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

namespace tangere::reference {

using Ext = long double;

struct Point {
  Ext x = 0, y = 0, z = 0;
};
inline Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Point operator*(Point a, Ext s) { return {a.x * s, a.y * s, a.z * s}; }
inline Ext dot(Point a, Point b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Point cross(Point a, Point b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline Ext length(Point a) { return std::sqrt(dot(a, a)); }

/// Corners may coincide: a segment or a point.
struct SoupTriangle {
  Point v[3];
  Point middle{};
  Ext reach = 0;  ///< from the middle

  SoupTriangle(Point a, Point b, Point c) : v{a, b, c}, middle((a + b + c) * (1 / Ext(3))) {
    for (const Point& p : v) reach = std::fmax(reach, length(p - middle));
  }
};

struct TriangleSoup {
  std::vector<SoupTriangle> triangles;
  std::vector<int> pieces;  ///< the first triangle of each piece that hangs together
  bool closed = false;
  Ext radius = 0;

  void beginPiece() { pieces.push_back(static_cast<int>(triangles.size())); }
  void add(Point a, Point b, Point c) {
    if (pieces.empty()) beginPiece();
    triangles.emplace_back(a, b, c);
  }
};

/// Nearest points of two sets; `distance` is without the radii, 0 where triangles cross.
struct Nearest {
  Ext distance = std::numeric_limits<Ext>::infinity();
  Point on1{}, on2{};
};

namespace detail {

inline Ext clamp01(Ext s) { return s < 0 ? 0 : (s > 1 ? 1 : s); }

inline void nearestOfSegments(Point p0, Point p1, Point q0, Point q1, Nearest& best) {
  const Point d = p1 - p0, e = q1 - q0, r = p0 - q0;
  const Ext a = dot(d, d), b = dot(d, e), c = dot(e, e), f = dot(d, r), g = dot(e, r);
  const Ext determinant = a * c - b * b;
  Ext s = determinant > 1e-18L * a * c ? clamp01((b * g - c * f) / determinant) : Ext(0);
  Ext t = c > 0 ? clamp01((b * s + g) / c) : Ext(0);
  s = a > 0 ? clamp01((b * t - f) / a) : Ext(0);
  const Point on1 = p0 + d * s, on2 = q0 + e * t;
  const Ext l = length(on1 - on2);
  if (l < best.distance) best = {l, on1, on2};
}

/// Where the foot of p on the plane is in the triangle; edges and corners are the segments' matter.
inline bool footInTriangle(Point p, const SoupTriangle& t, Point* foot) {
  const Point n = cross(t.v[1] - t.v[0], t.v[2] - t.v[0]);
  const Ext n2 = dot(n, n);
  if (!(n2 > 0)) return false;
  *foot = p - n * (dot(n, p - t.v[0]) / n2);
  for (int k = 0; k < 3; ++k)
    if (dot(n, cross(t.v[(k + 1) % 3] - t.v[k], *foot - t.v[k])) < 0) return false;
  return true;
}

inline bool segmentPierces(Point p, Point q, const SoupTriangle& t, Point* at) {
  const Point n = cross(t.v[1] - t.v[0], t.v[2] - t.v[0]);
  const Ext hp = dot(n, p - t.v[0]), hq = dot(n, q - t.v[0]);
  if (!(dot(n, n) > 0) || (hp > 0 && hq > 0) || (hp < 0 && hq < 0) || hp == hq) return false;
  *at = p + (q - p) * (hp / (hp - hq));
  for (int k = 0; k < 3; ++k)
    if (dot(n, cross(t.v[(k + 1) % 3] - t.v[k], *at - t.v[k])) < 0) return false;
  return true;
}

}  // namespace detail

inline void nearestOfTriangles(const SoupTriangle& a, const SoupTriangle& b, Nearest& best) {
  Point foot;
  for (int k = 0; k < 3; ++k) {
    if (detail::segmentPierces(a.v[k], a.v[(k + 1) % 3], b, &foot) ||
        detail::segmentPierces(b.v[k], b.v[(k + 1) % 3], a, &foot)) {
      best = {0, foot, foot};
      return;
    }
    if (detail::footInTriangle(a.v[k], b, &foot) && length(a.v[k] - foot) < best.distance)
      best = {length(a.v[k] - foot), a.v[k], foot};
    if (detail::footInTriangle(b.v[k], a, &foot) && length(b.v[k] - foot) < best.distance)
      best = {length(b.v[k] - foot), foot, b.v[k]};
    for (int j = 0; j < 3; ++j)
      detail::nearestOfSegments(a.v[k], a.v[(k + 1) % 3], b.v[j], b.v[(j + 1) % 3], best);
  }
}

/// Nothing farther apart than `bound` is looked for: then the distance stays `bound`.
[[nodiscard]] inline Nearest nearest(const TriangleSoup& a, const TriangleSoup& b,
                                     Ext bound = std::numeric_limits<Ext>::infinity()) {
  Nearest best;
  best.distance = bound;
  for (const SoupTriangle& s : a.triangles)
    for (const SoupTriangle& t : b.triangles) {
      const Point between = s.middle - t.middle;
      const Ext reach = best.distance + s.reach + t.reach;
      if (dot(between, between) > reach * reach) continue;
      nearestOfTriangles(s, t, best);
    }
  return best;
}

/// Winding number of a closed surface around p (Van Oosterom, Strackee 1983).
[[nodiscard]] inline bool isInside(const TriangleSoup& soup, Point p) {
  if (!soup.closed) return false;
  Ext sum = 0;
  for (const SoupTriangle& t : soup.triangles) {
    const Point a = t.v[0] - p, b = t.v[1] - p, c = t.v[2] - p;
    const Ext la = length(a), lb = length(b), lc = length(c);
    sum += std::atan2(dot(a, cross(b, c)),
                      la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb);
  }
  return std::fabs(sum) > 3.14159265358979323846L;
}

/// Whether two bodies have a point in common; `nearest` is that of their sets.
[[nodiscard]] inline bool overlaps(const TriangleSoup& a, const TriangleSoup& b,
                                   const Nearest& nearest) {
  if (nearest.distance <= a.radius + b.radius) return true;
  // Surfaces that do not cross may hold pieces of the other: one point tells of each piece.
  for (const int t : a.pieces)
    if (isInside(b, a.triangles[t].v[0])) return true;
  for (const int t : b.pieces)
    if (isInside(a, b.triangles[t].v[0])) return true;
  return false;
}

}  // namespace tangere::reference
