// SPDX-License-Identifier: Apache-2.0
//
// Distance of two boxes that are apart, with the nearest points. It minimises |x - p|^2 over points
// x of B and p of A, where p is always the projection of x onto A: a convex function of three
// bounded numbers, quadratic wherever the clamped coordinates stay the same, so a Newton step on
// the free ones lands on the minimum as soon as these are right. The duality gap proves the answer;
// where a few steps do not close it (edges parallel to faces within rounding) the caller falls back
// to GJK.
#pragma once

#include "collision/kernels/box_box.hpp"
#include "collision/kernels/segment_contact.hpp"

namespace tangere::kernel {

/// Nearest points of two boxes, in A's frame.
template <class S>
struct BoxDistance {
  S distance{};
  Vec3T<S> normal{};  ///< unit, from B to A
  Vec3T<S> pointA{}, pointB{};
  Vec3T<S> q{};                               ///< pointB in B's frame
  std::int16_t sideA[3] = {}, sideB[3] = {};  ///< of the faces the points are on; 0: between two
  std::int32_t featureA = kNoFeature, featureB = kNoFeature;
  bool isUnique = false;  ///< no whole edge or face is at this distance
};

/// Steps after which the search gives up. From the axis of the largest gap nearly all need none.
inline constexpr int kBoxDistanceMaxSteps = 8;

/// One point of the search: x = t + R q, its projection p onto A, r = x - p and g = R^T r.
template <class S>
struct BoxDistanceState {
  S q[3], x[3], r[3], g[3];
};

template <class S>
TANGERE_HD inline void evaluateBoxDistance(const BoxPair<S>& pair, BoxDistanceState<S>* s) {
  const S q0 = s->q[0], q1 = s->q[1], q2 = s->q[2];
  const S x0 = pair.t[0] + (pair.r[0][0] * q0 + pair.r[0][1] * q1 + pair.r[0][2] * q2);
  const S x1 = pair.t[1] + (pair.r[1][0] * q0 + pair.r[1][1] * q1 + pair.r[1][2] * q2);
  const S x2 = pair.t[2] + (pair.r[2][0] * q0 + pair.r[2][1] * q1 + pair.r[2][2] * q2);
  const S r0 = x0 - clampMagnitude(x0, pair.a.x), r1 = x1 - clampMagnitude(x1, pair.a.y),
          r2 = x2 - clampMagnitude(x2, pair.a.z);
  for (int j = 0; j < 3; ++j) s->g[j] = pair.r[0][j] * r0 + pair.r[1][j] * r1 + pair.r[2][j] * r2;
  s->x[0] = x0;
  s->x[1] = x1;
  s->x[2] = x2;
  s->r[0] = r0;
  s->r[1] = r1;
  s->r[2] = r2;
}

/// The clamped coordinates of both points: which are held at a face.
struct BoxActiveSet {
  bool held[3];  ///< of p, on A
  bool free[3];  ///< of q, on B
  int numHeld, numFree;
};

/// Newton step of |r|^2 over the free coordinates of q, with the held coordinates of p staying
/// where they are: the normal equations (I - sum of c c^T) d = -g, one c per coordinate of p that
/// moves along. Where these have no unique solution the smallest step is taken.
template <class S>
TANGERE_HD inline void stepBoxDistance(const BoxPair<S>& pair, const BoxActiveSet& set,
                                       BoxDistanceState<S>* s) {
  const S tiny = S(1e-24);
  const int j0 = set.free[0] ? 0 : set.free[1] ? 1 : 2;
  const int j1 = set.free[2] ? 2 : 1;  // the other one, of two
  const bool two = set.numFree == 2;
  S d0 = -s->g[j0], d1 = two ? -s->g[j1] : S(0);
  if (set.numHeld == 2) {
    const int k = !set.held[0] ? 0 : !set.held[1] ? 1 : 2;
    const S c0 = pair.r[k][j0], c1 = two ? pair.r[k][j1] : S(0);
    const S rest = S(1) - (c0 * c0 + c1 * c1);
    const S scale = rest > tiny ? (c0 * d0 + c1 * d1) / rest : S(0);
    d0 += c0 * scale;
    d1 += c1 * scale;
  } else if (set.numHeld == 1) {
    const int k = set.held[0] ? 0 : set.held[1] ? 1 : 2;
    const S c0 = pair.r[k][j0], c1 = two ? pair.r[k][j1] : S(0);
    const S row2 = c0 * c0 + c1 * c1;
    const S scale = row2 > tiny ? S(1) / row2 : S(1);
    d0 *= scale;
    d1 *= scale;
  }
  s->q[j0] = clampMagnitude(s->q[j0] + d0, pair.b[j0]);
  if (two) s->q[j1] = clampMagnitude(s->q[j1] + d1, pair.b[j1]);
}

/// Finds which coordinates of an evaluated point are free. True when it is the nearest one: the
/// plane through x across r has B on one side up to gap/|r|, and A on the other.
template <class S>
TANGERE_HD inline bool closesGap(const BoxPair<S>& pair, const BoxDistanceState<S>& s, S square,
                                 BoxActiveSet* set) {
  using std::fabs;
  S gap = S(0);
  set->numFree = set->numHeld = 0;
  for (int j = 0; j < 3; ++j) {
    const S out = -s.g[j] * s.q[j];  // positive where the step leads out of B
    gap += pair.b[j] * fabs(s.g[j]) - out;
    set->free[j] = (fabs(s.q[j]) < pair.b[j]) | (out < S(0));
    set->held[j] = s.r[j] != S(0);
    set->numFree += set->free[j] ? 1 : 0;
    set->numHeld += set->held[j] ? 1 : 0;
  }
  return gap * gap <= S(4) * pair.touch * pair.touch * square;
}

/// Searches from s->q. True when the gap closed: s and `set` are then the answer. False when the
/// boxes touch as far as this search can tell, or when it gave up.
template <class S>
TANGERE_HD inline bool searchBoxDistance(const BoxPair<S>& pair, BoxDistanceState<S>* s,
                                         BoxActiveSet* set) {
  for (int step = 0; step < kBoxDistanceMaxSteps; ++step) {
    evaluateBoxDistance(pair, s);
    const S square = s->r[0] * s->r[0] + s->r[1] * s->r[1] + s->r[2] * s->r[2];
    if (!(square > pair.touch * pair.touch)) return false;
    if (closesGap(pair, *s, square, set)) return true;
    if (set->numFree == 3) {
      // A point inside B: projecting back and forth brings it to the surface.
      for (int j = 0; j < 3; ++j) s->q[j] = clampMagnitude(s->q[j] - s->g[j], pair.b[j]);
    } else {
      stepBoxDistance(pair, *set, s);
    }
  }
  return false;
}

/// The nearest points from the clamped coordinates alone, so that they do not depend on where the
/// search began.
template <class S>
TANGERE_HD inline void solveBoxDistance(const BoxPair<S>& pair, const BoxActiveSet& set,
                                        BoxDistanceState<S>* s) {
  if (set.numFree == 0) return;
  for (int k = 0; k < 3; ++k)
    if (set.free[k]) s->q[k] = S(0);
  for (int k = 0; k < 3; ++k) {
    const S p = s->r[k] > S(0) ? pair.a[k] : -pair.a[k];
    s->x[k] =
        pair.t[k] + (pair.r[k][0] * s->q[0] + pair.r[k][1] * s->q[1] + pair.r[k][2] * s->q[2]);
    s->r[k] = set.held[k] ? s->x[k] - p : S(0);
  }
  for (int j = 0; j < 3; ++j)
    s->g[j] = pair.r[0][j] * s->r[0] + pair.r[1][j] * s->r[1] + pair.r[2][j] * s->r[2];
  stepBoxDistance(pair, set, s);
  evaluateBoxDistance(pair, s);
}

/// Name of the vertex, edge or face of a box on which a point with these clamped coordinates lies.
template <class S>
TANGERE_HD inline std::int32_t boxFeatureOf(const bool held[3], int numHeld, const S point[3]) {
  int vertex = 0;
  for (int k = 0; k < 3; ++k) vertex |= held[k] && point[k] > S(0) ? 1 << k : 0;
  const int other = !held[0] ? 0 : !held[1] ? 1 : 2;
  const int only = held[0] ? 0 : held[1] ? 1 : 2;
  if (numHeld == 3) return vertexFeature(vertex);
  if (numHeld == 2) return edgeFeature(vertex, vertex | (1 << other));
  return faceFeature(boxFace(only, vertex != 0));
}

/// Distance and nearest points from a finished search. Where these are unique the normal comes from
/// the features, not from the difference of the points, which has few digits left when they nearly
/// touch.
template <class S>
TANGERE_HD inline void finishBoxDistance(const BoxPair<S>& pair, const BoxActiveSet& set,
                                         const BoxDistanceState<S>& s, bool unique,
                                         BoxDistance<S>* out) {
  using std::copysign;
  Vec3T<S> n{-s.r[0], -s.r[1], -s.r[2]};
  S distance = S(-1);
  if (set.numHeld == 1) {
    const int k = set.held[0] ? 0 : set.held[1] ? 1 : 2;
    distance = s.r[k] < S(0) ? -s.r[k] : s.r[k];
    n[k] = copysign(S(1), n[k]);
  } else if (unique && set.numFree == 2) {
    const int j = !set.free[0] ? 0 : !set.free[1] ? 1 : 2;
    distance = s.g[j] < S(0) ? -s.g[j] : s.g[j];
    n = Vec3T<S>{pair.r[0][j], pair.r[1][j], pair.r[2][j]} * copysign(S(1), -s.g[j]);
  } else if (unique && set.numFree == 1) {
    const int j = set.free[0] ? 0 : set.free[1] ? 1 : 2;
    if (set.numHeld == 2) {
      const int k = !set.held[0] ? 0 : !set.held[1] ? 1 : 2;
      const Vec3T<S> axis = edgeAxis(pair, k, j);
      n = dot(axis, n) < S(0) ? -axis : axis;
    } else {
      const Vec3T<S> edge{pair.r[0][j], pair.r[1][j], pair.r[2][j]};
      n = n - edge * dot(edge, n);
    }
  }
  if (distance < S(0)) {
    n = n * (S(1) / norm(n));
    distance = -(n.x * s.r[0] + n.y * s.r[1] + n.z * s.r[2]);
  }
  out->distance = distance;
  out->normal = n;
  out->pointB = {s.x[0], s.x[1], s.x[2]};
  out->pointA = {s.x[0] - s.r[0], s.x[1] - s.r[1], s.x[2] - s.r[2]};
  out->q = {s.q[0], s.q[1], s.q[2]};
  const bool fixed[3] = {!set.free[0], !set.free[1], !set.free[2]};
  for (int k = 0; k < 3; ++k) {
    out->sideA[k] = static_cast<std::int16_t>(!set.held[k] ? 0 : s.r[k] > S(0) ? 1 : -1);
    out->sideB[k] = static_cast<std::int16_t>(set.free[k] ? 0 : s.q[k] > S(0) ? 1 : -1);
  }
  out->featureA = boxFeatureOf(set.held, set.numHeld, s.x);
  out->featureB = boxFeatureOf(fixed, 3 - set.numFree, s.q);
}

/// Whether the clamped coordinates leave one solution: two edges that are not parallel, a corner
/// and anything. A whole edge or face at the same distance does not.
template <class S>
TANGERE_HD inline bool hasOneSolution(const BoxPair<S>& pair, const BoxActiveSet& set) {
  const int numMoving = (3 - set.numHeld) + set.numFree;
  if (numMoving != 2 || set.numFree != 1) return numMoving <= 2;
  const int j = set.free[0] ? 0 : set.free[1] ? 1 : 2;
  const int k = !set.held[0] ? 0 : !set.held[1] ? 1 : 2;
  return squaredNorm(edgeAxis(pair, k, j)) > kNearlyParallel<S>;
}

/// The point of B to begin with, in B's frame: where the boxes would touch if the axis of their
/// largest gap were the normal. Mostly it is.
template <class S>
TANGERE_HD inline Vec3T<S> startOfBoxDistance(const BoxPair<S>& pair, int index) {
  using std::copysign;
  Vec3T<S> q;
  if (index < 3) {
    // A face of A: the corner of B nearest to it.
    const S side = copysign(S(1), pair.t[index]);
    for (int j = 0; j < 3; ++j) q[j] = copysign(pair.b[j], -side * pair.r[index][j]);
  } else if (index < 6) {
    // A face of B: the corner of A nearest to it, projected.
    const int k = index - 3;
    const S side = copysign(S(1), pair.tB[k]);
    Vec3T<S> d;
    for (int i = 0; i < 3; ++i) d[i] = copysign(pair.a[i], side * pair.r[i][k]) - pair.t[i];
    for (int j = 0; j < 3; ++j)
      q[j] =
          clampMagnitude(pair.r[0][j] * d.x + pair.r[1][j] * d.y + pair.r[2][j] * d.z, pair.b[j]);
  } else {
    // Two edges: the point of B's nearest to A's, named as in edgeEdgeContact().
    const int i = (index - 6) / 3, j = (index - 6) % 3;
    const int i1 = i == 2 ? 0 : i + 1, i2 = i == 0 ? 2 : i - 1;
    const int j1 = j == 2 ? 0 : j + 1, j2 = j == 0 ? 2 : j - 1;
    const S r0 = pair.r[i][j], r1 = pair.r[i1][j], r2 = pair.r[i2][j];
    const S q1 = pair.r[i][j1], q2 = pair.r[i][j2];
    const S side = copysign(S(1), r2 * pair.t[i1] - r1 * pair.t[i2]);
    const S a1 = copysign(pair.a[i1], side * r2), a2 = copysign(pair.a[i2], -side * r1);
    const S b1 = copysign(pair.b[j1], side * q2), b2 = copysign(pair.b[j2], -side * q1);
    const S alongA = pair.t[i] + (q1 * b1 + q2 * b2);
    const S alongB = pair.tB[j] - (r1 * a1 + r2 * a2);
    const S length2 = r1 * r1 + r2 * r2;
    q[j] = clampMagnitude((r0 * alongA - alongB) / length2, pair.b[j]);
    q[j1] = b1;
    q[j2] = b2;
  }
  return q;
}

/// Nearest points of two boxes that are apart, from `start`, a point of B in B's frame. Where they
/// are unique they do not depend on it. False when the search did not close.
template <class S>
TANGERE_HD inline bool findBoxDistance(const BoxPair<S>& pair, const Vec3T<S>& start,
                                       BoxDistance<S>* out) {
  BoxDistanceState<S> s;
  BoxActiveSet set{};
  for (int j = 0; j < 3; ++j) s.q[j] = clampMagnitude(start[j], pair.b[j]);
  if (!searchBoxDistance(pair, &s, &set)) return false;
  out->isUnique = hasOneSolution(pair, set);
  if (out->isUnique) solveBoxDistance(pair, set, &s);
  finishBoxDistance(pair, set, s, out->isUnique, out);
  return true;
}

/// findBoxDistance() where the nearest features are the guessed ones: `sideA[k]` and `sideB[k]` are
/// the sides (1 or -1) of the faces they lie on, 0 for a coordinate between two faces. The points
/// follow from the features, and the gap proves them nearest; so the answer is that of the search,
/// bit for bit. False where the guess is wrong, the points are not unique, or the boxes are so
/// close that axes and points could differ on whether they touch.
template <class S>
TANGERE_HD inline bool resumeBoxDistance(const BoxPair<S>& pair, const std::int16_t* sideA,
                                         const std::int16_t* sideB, BoxDistance<S>* out) {
  BoxDistanceState<S> s;
  BoxActiveSet guess{}, set{};
  for (int k = 0; k < 3; ++k) {
    guess.held[k] = sideA[k] != 0;
    guess.free[k] = sideB[k] == 0;
    guess.numHeld += guess.held[k] ? 1 : 0;
    guess.numFree += guess.free[k] ? 1 : 0;
    s.q[k] = sideB[k] > 0 ? pair.b[k] : -pair.b[k];
    s.r[k] = S(sideA[k]);
  }
  if (guess.numHeld == 0 || guess.numFree == 3 || !hasOneSolution(pair, guess)) return false;
  if (guess.numFree == 0)
    evaluateBoxDistance(pair, &s);
  else
    solveBoxDistance(pair, guess, &s);
  const S square = s.r[0] * s.r[0] + s.r[1] * s.r[1] + s.r[2] * s.r[2];
  if (!(square > S(1e6) * pair.touch * pair.touch) || !closesGap(pair, s, square, &set))
    return false;
  for (int k = 0; k < 3; ++k)
    if (set.held[k] != guess.held[k] || set.free[k] != guess.free[k] ||
        (set.held[k] && (s.r[k] > S(0)) != (sideA[k] > 0)))
      return false;
  out->isUnique = true;
  finishBoxDistance(pair, set, s, true, out);
  return true;
}

}  // namespace tangere::kernel
