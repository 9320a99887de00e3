// SPDX-License-Identifier: Apache-2.0
//
// The last digits of the direction in which two cores are nearest or leave each other soonest: flat
// faces by their planes, all else by Newton's method of polish.hpp carried on until rounding stops
// it.
//
// h(m), the support function of D, is stationary at the answer, so the distance -h(m) has the
// square of the error of m: m to half the digits gives all digits of the distance. What is carried
// on here are the digits of the normal and of the points.
#pragma once

#include "collision/kernels/mpr.hpp"
#include "collision/kernels/polish.hpp"

namespace tangere::kernel {

/// A minimum of h: direction m, value h(m), and the point value * m of D with its point of A.
template <class S>
struct RefinedDirection {
  Vec3T<S> direction{};
  S value{};
  Vec3T<S> pointA{};
  int piece[3][2] = {};
  int numPieces = 0;
  S rest{};  ///< how far the weighted points of the pieces are from value * m
};

namespace detail {

/// Tangent basis (Duff et al. 2017).
template <class S>
TANGERE_HD inline void tangentBasis(const Vec3T<S>& m, Vec3T<S>* tu, Vec3T<S>* tv) {
  const S sign = m.z < S(0) ? S(-1) : S(1);
  const S ka = S(-1) / (sign + m.z), kb = m.x * m.y * ka;
  *tu = {S(1) + sign * m.x * m.x * ka, sign * kb, -sign * m.x};
  *tv = {kb, sign + m.y * m.y * ka, -m.y};
}

/// Newton's method on the given pieces until steps no longer shrink. `epsilon`: of the arithmetic.
/// False where these are not the pieces of a minimum near `start`.
template <class Pair, class S>
TANGERE_HD inline bool refineOnPieces(const Pair& pair, const Vec3T<S>& start,
                                      const SimplexVertex<S>* vertex, int count, S size, S epsilon,
                                      RefinedDirection<S>& out) {
  using std::sqrt;
  constexpr int kMaxIterations = 24;
  int piece[4];
  int k = distinctPieces(vertex, count, piece);
  if (k == 0 || k > 3) return false;
  Unset<PolishPiece<S>, 3> room;
  PolishPiece<S>* p = room.data();
  Vec3T<S> m = start;
  S lambda[3] = {S(1), S(0), S(0)};
  S before = S(1);
  bool last = false;
  for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
    Vec3T<S> tu, tv;
    tangentBasis(m, &tu, &tv);
    evaluatePieces(pair, vertex, piece, k, m, tu, tv, p);
    if (!polishWeights(p, k, size, lambda)) return false;
    S du{}, dv{};
    if (!last && !polishStep(p, k, size, lambda, &du, &dv)) return false;
    const S step2 = du * du + dv * dv;
    if (k > 1 && (step2 < S(1e-4) || last)) {
      int worst = 0;
      for (int i = 1; i < k; ++i)
        if (lambda[i] < lambda[worst]) worst = i;
      if (lambda[worst] < S(-1e-12)) {
        for (int i = worst; i + 1 < k; ++i) piece[i] = piece[i + 1];
        --k;
        last = false;
        before = S(1);
        continue;
      }
    }
    if (last) {
      S ru{}, rv{};
      Vec3T<S> pointD{};
      out.pointA = {};
      for (int i = 0; i < k; ++i) {
        ru += lambda[i] * p[i].gu;
        rv += lambda[i] * p[i].gv;
        out.pointA += p[i].a * lambda[i];
        pointD += p[i].w * lambda[i];
        out.piece[i][0] = vertex[piece[i]].ia;
        out.piece[i][1] = vertex[piece[i]].ib;
      }
      out.numPieces = k;
      out.direction = m;
      out.value = dot(m, pointD);
      out.rest = sqrt(ru * ru + rv * rv);
      return true;
    }
    if (!(step2 < S(0.25))) return false;
    m = m + tu * du + tv * dv;
    m = m * (S(1) / sqrt(squaredNorm(m)));
    // Rounding has been reached where a small step is not followed by a much smaller one.
    last = step2 <= S(4) * epsilon * epsilon || (step2 < S(1e-10) && !(step2 < S(0.25) * before)) ||
           iteration + 2 == kMaxIterations;
    before = step2;
  }
  return false;
}

/// Whether p (relative to the origin of the hull) is over face f.
template <class S>
TANGERE_HD inline bool isOverFace(const HullView<S>& hull, int f, const Vec3T<S>& p) {
  const int start = hull.faceStart[f], count = hull.faceStart[f + 1] - start;
  for (int k = 0; k < count; ++k) {
    const Vec3T<S> p0 = hull.vertex(hull.faceVertex[start + k]);
    const Vec3T<S> p1 = hull.vertex(hull.faceVertex[start + (k + 1 < count ? k + 1 : 0)]);
    if (dot(cross(hull.faceNormal[f], p1 - p0), p - p0) < S(0)) return false;
  }
  return true;
}

/// The flat face of a core that looks along m (unit, core frame) to within `leastCosine`: its
/// outward normal and the distance of its plane from the origin. -1: there is none. Faces of a box
/// and of a hull are numbered as their features are, a disc is 0 (lower) or 1 (upper).
template <class S>
TANGERE_HD inline int flatFaceAlong(const ConvexView<S>& view, CoreType core, const Vec3T<S>& m,
                                    S leastCosine, Vec3T<S>* normal, S* offset) {
  using std::fabs;
  *normal = {};
  if (core == CoreType::Box) {
    const S x = fabs(m.x), y = fabs(m.y), z = fabs(m.z);
    const int axis = x >= y && x >= z ? 0 : y >= z ? 1 : 2;
    if (!(fabs(m[axis]) >= leastCosine)) return -1;
    (*normal)[axis] = m[axis] < S(0) ? S(-1) : S(1);
    *offset = view.size[axis];
    return 2 * axis + (m[axis] < S(0) ? 0 : 1);
  }
  if (core == CoreType::Cylinder || core == CoreType::Cone) {
    if (!(fabs(m.z) >= leastCosine) || (core == CoreType::Cone && m.z > S(0))) return -1;
    normal->z = m.z < S(0) ? S(-1) : S(1);
    *offset = view.size.z;
    return m.z < S(0) ? 0 : 1;
  }
  if (core == CoreType::Hull && view.hull->numFaces > 0) {
    const HullView<S>& hull = *view.hull;
    const int v = supportVertex(hull, m);
    int best = -1;
    S most = leastCosine;
    for (int i = hull.vertexFaceStart[v]; i < hull.vertexFaceStart[v + 1]; ++i) {
      const S cosine = dot(hull.faceNormal[hull.vertexFace[i]], m);
      if (!(cosine >= most)) continue;
      most = cosine;
      best = hull.vertexFace[i];
    }
    if (best < 0) return -1;
    *normal = hull.faceNormal[best];
    *offset = hull.faceOffset[best];
    return best;
  }
  return -1;
}

/// Whether p (core frame) is over the face that flatFaceAlong() named.
template <class S>
TANGERE_HD inline bool isOverFlatFace(const ConvexView<S>& view, CoreType core, int face,
                                      const Vec3T<S>& p) {
  using std::fabs;
  const Vec3T<S>& s = view.size;
  if (core == CoreType::Box) {
    for (int k = 0; k < 3; ++k)
      if (k != face >> 1 && !(fabs(p[k]) <= s[k])) return false;
    return true;
  }
  if (core == CoreType::Hull) return isOverFace(*view.hull, face, p);
  return p.x * p.x + p.y * p.y <= s.x * s.x;
}

/// The flat face of A or B around m, where the farthest point of the other is over it: then that
/// plane is the answer.
template <class Pair, class S>
TANGERE_HD inline bool refineOnFace(const Pair& pair, const Vec3T<S>& m, RefinedDirection<S>& out) {
  const S close = S(0.9995);
  const Mat3T<S>& R = pair.X_AB.rotation;
  Vec3T<S> normal;
  S offset{};
  int index = 0;
  int face = flatFaceAlong(pair.a, pair.coreA(), m, close, &normal, &offset);
  if (face >= 0) {
    const Vec3T<S> b = pair.supportB(-transposeTimes(R, normal), &index);
    const Vec3T<S> p = pair.X_AB * b;
    if (isOverFlatFace(pair.a, pair.coreA(), face, p)) {
      out.direction = normal;
      out.value = offset - dot(normal, p);
      out.pointA = p + normal * out.value;
      return true;
    }
  }
  face = flatFaceAlong(pair.b, pair.coreB(), -transposeTimes(R, m), close, &normal, &offset);
  if (face < 0) return false;
  const Vec3T<S> outward = R * normal;  // of B, in A's frame
  const Vec3T<S> a = pair.supportA(-outward, &index);
  const Vec3T<S> p = inverseTimes(pair.X_AB, a);
  if (!isOverFlatFace(pair.b, pair.coreB(), face, p)) return false;
  out.direction = -outward;
  out.value = offset - dot(normal, p);
  out.pointA = a;
  return true;
}

/// Two faces that lie on each other: the farthest point of one need not be over the other, and the
/// pieces do not tell the direction apart from that of the faces. `m`, `value` and `pointA` are the
/// answer so far: where its direction is that of a face, the plane of the face is the answer.
template <class Pair, class S>
TANGERE_HD inline bool refineOnParallelFaces(const Pair& pair, const Vec3T<S>& m, S value,
                                             const Vec3T<S>& pointA, RefinedDirection<S>& out) {
  using std::fabs;
  const S close = S(1 - 1e-12);
  const Mat3T<S>& R = pair.X_AB.rotation;
  Vec3T<S> normal;
  S offset{};
  if (flatFaceAlong(pair.a, pair.coreA(), m, close, &normal, &offset) < 0) {
    if (flatFaceAlong(pair.b, pair.coreB(), -transposeTimes(R, m), close, &normal, &offset) < 0)
      return false;
    normal = -(R * normal);
  }
  out.direction = normal;
  out.value = dot(normal, pair.support(normal).w);
  out.pointA = pointA;
  out.numPieces = 0;
  return fabs(out.value - value) <= S(1e-9) * minkowskiSize(pair);
}

/// From the points of the pieces of the minimum near `start`; pieces that were missed are
/// exchanged.
template <class Pair, class S>
TANGERE_HD inline bool refineFrom(const Pair& pair, const Vec3T<S>& start,
                                  const SimplexVertex<S>* vertex, int count, S size, S epsilon,
                                  RefinedDirection<S>& out) {
  constexpr int kMaxExchanges = 6;
  const bool onePiece = pair.coreA() == CoreType::Ellipsoid && pair.coreB() == CoreType::Ellipsoid;
  Unset<SimplexVertex<S>, 4> p;
  for (int i = 0; i < count; ++i) p[i] = vertex[i];
  for (int exchange = 0; exchange < kMaxExchanges; ++exchange) {
    if (!refineOnPieces(pair, start, p.data(), count, size, epsilon, out)) return false;
    if (!(out.rest <= S(1e-9) * size)) return false;
    if (onePiece) return true;
    const SimplexVertex<S> q = pair.support(out.direction);
    const S value = dot(out.direction, q.w);
    bool known = value <= out.value + S(64) * epsilon * size;
    for (int i = 0; i < out.numPieces; ++i)
      known = known || (out.piece[i][0] == q.ia && out.piece[i][1] == q.ib);
    if (known) return true;
    // The pieces that carried this, and the one that reaches farther.
    if (out.numPieces == 3) return false;
    Unset<SimplexVertex<S>, 4> next;
    int n = 0;
    for (int i = 0; i < count && n < 3; ++i)
      for (int j = 0; j < out.numPieces; ++j)
        if (p[i].ia == out.piece[j][0] && p[i].ib == out.piece[j][1]) {
          next[n++] = p[i];
          break;
        }
    next[n++] = q;
    for (int i = 0; i < n; ++i) p[i] = next[i];
    count = n;
  }
  return false;
}

/// The same from all of the points, or where shapes touch along a line from two of three.
template <class Pair, class S>
TANGERE_HD inline bool refineFromSome(const Pair& pair, const Vec3T<S>& start,
                                      const SimplexVertex<S>* vertex, int count, S size, S epsilon,
                                      RefinedDirection<S>& out) {
  if (refineFrom(pair, start, vertex, count, size, epsilon, out)) return true;
  for (int i = 0; count == 3 && i < 3; ++i) {
    Unset<SimplexVertex<S>, 2> two;
    two[0] = vertex[i];
    two[1] = vertex[i == 2 ? 0 : i + 1];
    if (refineFrom(pair, start, two.data(), 2, size, epsilon, out)) return true;
  }
  return false;
}

}  // namespace detail

/// From the plane through which the ray of the centers leaves D: for shapes that touch, or nearly.
/// `exit` gets the direction of that plane.
template <class Pair, class S>
TANGERE_HD inline bool refineFromPortal(const Pair& pair, S epsilon, RefinedDirection<S>& out,
                                        Vec3T<S>* exit = nullptr) {
  const S size = detail::minkowskiSize(pair);
  Portal<S> portal;
  findExit(pair, detail::insidePoint(pair, size), S(1e-9) * size, portal);
  const S length = norm(portal.normal);
  if (!(length > S(0))) return false;
  const Vec3T<S> m = portal.normal * (S(1) / length);
  if (exit != nullptr) *exit = m;
  if (detail::refineOnFace(pair, m, out)) return true;
  Unset<SimplexVertex<S>, 4> p;
  for (int i = 0; i < 3; ++i) p[i] = portal.p(i);
  if (detail::refineFromSome(pair, m, p.data(), 3, size, epsilon, out)) return true;
  p[0] = pair.support(m);
  return detail::refineFrom(pair, m, p.data(), 1, size, epsilon, out);
}

}  // namespace tangere::kernel
