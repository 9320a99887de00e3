// SPDX-License-Identifier: Apache-2.0
//
// Gilbert-Johnson-Keerthi: the point of the Minkowski difference of two cores that is nearest to
// the origin (van den Bergen 2003), on the bare cores, without their rounding radii.
//
// Every iterate carries both bounds: |v| is the distance of two points that exist, and v.w/|v| that
// of two planes with nothing between them. Polytopes end when the best vertex is already in the
// simplex (the answer is then exact to rounding), curved cores when the bounds meet.
#pragma once

#include "collision/kernels/polish.hpp"
#include "collision/kernels/simplex.hpp"
#include "collision/kernels/simplex_feature.hpp"

namespace tangere::kernel {

enum class GjkStatus : unsigned char {
  Separated,    ///< simplex.v is the nearest point
  Beyond,       ///< lower bound above the limit: v separates, and is not the nearest point
  Overlapping,  ///< the origin is in D, or within rounding of it
  Stalled,      ///< iteration cap: simplex.v is the best point found
};

template <class S>
struct GjkOptions {
  S limit = S(1e300);  ///< stop once the distance is proved larger
  S within{};          ///< stop as Overlapping once a point of D is as near as this
  S gap = S(1e-10);    ///< curved cores: relative difference of the two bounds
  int maxIterations = 128;
};

/// Nearest point v of D, the point of A it belongs to, and the simplex that carries it (for curved
/// cores that ended with Newton's method: carried it before).
template <class S>
struct GjkResult {
  Vec3T<S> v{};
  S distance{};       ///< |v|; with Beyond a lower bound
  Vec3T<S> normal{};  ///< unit, along v; known to more digits than v where v is small
  Vec3T<S> pointA{};
  bool polished = false;  ///< by Newton's method: the normal has all its digits
  Simplex<S> simplex;
};

/// Which slots a simplex uses and how, without the points.
template <class S>
struct SimplexState {
  int active[4];
  S lambda[4];
  int count;
  Vec3T<S> v;

  TANGERE_HD explicit SimplexState(const Simplex<S>& s) : count(s.count), v(s.v) {
    for (int i = 0; i < 4; ++i) {
      active[i] = s.active[i];
      lambda[i] = s.lambda[i];
    }
  }
  TANGERE_HD void restore(Simplex<S>& s) const {
    for (int i = 0; i < 4; ++i) {
      s.active[i] = active[i];
      s.lambda[i] = lambda[i];
    }
    s.count = count;
    s.v = v;
  }
};

/// Where v is as short as this precision gets, its direction is known to half the digits only: goes
/// on from `next` as long as the support plane moves out. `dual`: the square of where it is.
template <class Pair, class S>
TANGERE_HD inline void sharpenDirection(const Pair& pair, Simplex<S> next, S dual,
                                        Simplex<S>& best) {
  const S vv = squaredNorm(best.v);
  for (int step = 0; step < 6; ++step) {
    const S nextVv = squaredNorm(next.v);
    if (!(nextVv < vv * S(1 + 1e-12)) || !(nextVv > S(0))) return;
    const SimplexVertex<S> p = pair.support(-next.v);
    const S vw = dot(next.v, p.w);
    if (!(vw > S(0)) || !(vw * vw > dual * nextVv)) return;
    dual = vw * vw / nextVv;
    best = next;
    next.add(p);
    reduceSimplex(next);
    if (next.enclosesOrigin) return;
  }
}

/// Whether both bounds of a polished direction meet. `lower`: the distance of the support planes.
template <class S>
TANGERE_HD inline bool isNearest(const PolishResult<S>& polished, S lower, S gap, S size) {
  const S enough = lower * (S(1) + gap) + S(1e-15) * size;
  return lower > S(0) && squaredNorm(polished.pointD) <= enough * enough;
}

template <class S>
TANGERE_HD inline void setPolished(const PolishResult<S>& polished, S distance,
                                   GjkResult<S>& result) {
  result.normal = -polished.direction;
  result.distance = distance;
  result.v = result.normal * distance;
  result.pointA = polished.pointA;
  result.polished = true;
}

/// Newton's method from the current simplex; true when it ends with both bounds together. If not,
/// `p`, the next point to add, may become the support point along the direction it found.
template <class Pair, class S>
TANGERE_HD inline bool gjkPolish(const Pair& pair, const GjkOptions<S>& options, S size,
                                 GjkResult<S>& result, SimplexVertex<S>& p) {
  using std::sqrt;
  const Simplex<S>& simplex = result.simplex;
  Unset<SimplexVertex<S>, 4> vertex;
  for (int i = 0; i < simplex.count; ++i) vertex[i] = simplex.vertex(i);
  const Vec3T<S> m = simplex.v * (S(-1) / sqrt(squaredNorm(simplex.v)));
  const PolishResult<S> polished = polishDirection(pair, m, vertex.data(), simplex.count, size);
  if (!polished.converged || !(polished.value < S(0))) return false;
  const SimplexVertex<S> q = pair.support(polished.direction);
  const S lower = -dot(polished.direction, q.w);
  if (isNearest(polished, lower, options.gap, size)) {
    setPolished(polished, lower, result);
    return true;
  }
  // Any point below the plane through v brings v nearer.
  if (dot(simplex.v, q.w) < S(0.999) * squaredNorm(simplex.v)) p = q;
  return false;
}

/// The answer from the final simplex: in the order of its pieces, so that two searches that end on
/// the same feature give the same bits, and from its nearest vertex, which loses the fewest digits.
template <class Pair, class S>
TANGERE_HD inline void finishSimplex(const Pair& pair, GjkResult<S>& result) {
  using std::sqrt;
  Simplex<S>& s = result.simplex;
  if (s.count == 2) {
    const SimplexVertex<S>&p = s.vertex(0), &q = s.vertex(1);
    const bool swap = q.ia < p.ia || (q.ia == p.ia && q.ib < p.ib);
    const Vec3T<S> w0 = swap ? q.w : p.w, w1 = swap ? p.w : q.w, e = w1 - w0;
    const S ee = squaredNorm(e);
    const bool first = squaredNorm(w0) <= squaredNorm(w1);
    const Vec3T<S>& w = first ? w0 : w1;
    const S t = dot(w, e) / ee;
    Vec3T<S> v = w - e * t;
    v = v - e * (dot(v, e) / ee);
    if (squaredNorm(v) > S(0)) {
      s.v = v;
      const S l0 = first ? S(1) + t : t;
      s.lambda[0] = swap ? S(1) - l0 : l0;
      s.lambda[1] = swap ? l0 : S(1) - l0;
      result.pointA = (swap ? q.a : p.a) * l0 + (swap ? p.a : q.a) * (S(1) - l0);
    } else {  // the line is within rounding of the origin: the old v has a direction at least
      result.pointA = s.pointA();
    }
  } else if (s.count == 3) {
    SimplexVertex<S> p[3] = {s.vertex(0), s.vertex(1), s.vertex(2)};
    sortByPiece(p);
    FacetFoot<S> facet;
    if (pair.isPolytopePair() && facetFoot(pair, p, s.v, &facet) && facet.offset > S(0)) {
      result.v = s.v = facet.normal * facet.offset;
      result.normal = facet.normal;
      result.distance = facet.offset;
      result.pointA = facet.pointA;
      return;
    }
    const Vec3T<S> ab = p[1].w - p[0].w, ac = p[2].w - p[0].w, n = cross(ab, ac);
    int near = 0;
    for (int i = 1; i < 3; ++i)
      if (squaredNorm(p[i].w) < squaredNorm(p[near].w)) near = i;
    const S scale = S(1) / squaredNorm(n);
    const Vec3T<S> v = n * (dot(n, p[near].w) * scale);
    if (squaredNorm(v) > S(0)) {
      s.v = v;
      const S l2 = dot(cross(ab, n), p[0].w) * scale, l1 = dot(cross(n, ac), p[0].w) * scale;
      result.pointA = p[0].a * (S(1) - l1 - l2) + p[1].a * l1 + p[2].a * l2;
    } else {  // the same with the plane
      result.pointA = s.pointA();
    }
  } else {
    result.pointA = s.pointA();
  }
  result.v = s.v;
  result.distance = sqrt(squaredNorm(s.v));
  result.normal = s.v * (S(1) / result.distance);
}

/// Starts from result.simplex when it has points, else looks along `axis`, a guess of v that must
/// not be zero. `size` is that of D: what rounding errors are relative to.
template <class Pair, class S>
TANGERE_HD inline GjkStatus gjkDistance(const Pair& pair, const GjkOptions<S>& options,
                                        const Vec3T<S>& axis, S size, GjkResult<S>& result) {
  using std::sqrt;
  const bool polytopes = pair.isPolytopePair();
  Simplex<S>& simplex = result.simplex;
  Vec3T<S> v = axis;
  if (simplex.count > 0) {
    reduceSimplex(simplex);
    if (simplex.enclosesOrigin) return GjkStatus::Overlapping;
    v = simplex.v;
  }
  S vv = squaredNorm(v);
  const S touching = S(1e-30) * size * size, rounding = S(1.6e-31) * size * size;
  const S within2 = options.within * options.within;
  // A portal or an old simplex may touch the origin already: it has no direction to go on from.
  if (simplex.count > 0 && (vv <= touching || vv <= within2)) return GjkStatus::Overlapping;
  const S limit2 = options.limit * options.limit;
  S polishGap = S(0.05);
  for (int iteration = 0; iteration < options.maxIterations; ++iteration) {
    SimplexVertex<S>& p = simplex.slot[simplex.active[simplex.count]];
    p = pair.support(-v);
    const S vw = dot(v, p.w);
    if (vw > S(0) && vw * vw > limit2 * vv) {
      const S scale = S(1) / sqrt(vv);
      result.v = v;
      result.normal = v * scale;
      result.distance = vw * scale;
      result.pointA = p.a;
      return GjkStatus::Beyond;
    }
    if (simplex.count > 0) {
      const S gap = vv - vw;
      bool done = gap <= S(0) || gap * gap <= rounding * vv;
      if (polytopes) {
        for (int i = 0; i < simplex.count; ++i)
          done = done || (p.ia == simplex.vertex(i).ia && p.ib == simplex.vertex(i).ib);
      } else {
        done = done || gap <= options.gap * vv;
        if (!done && gap <= polishGap * vv) {
          polishGap = S(0.1) * gap / vv;
          if (gjkPolish(pair, options, size, result, p)) return GjkStatus::Separated;
        }
      }
      if (done) break;
    }
    const SimplexState<S> before(simplex);
    ++simplex.count;
    reduceSimplex(simplex);
    if (simplex.enclosesOrigin) return GjkStatus::Overlapping;
    const S newVv = squaredNorm(simplex.v);
    if (before.count > 0 && !(newVv < vv)) {
      const Simplex<S> next = simplex;
      before.restore(simplex);
      SimplexVertex<S> unused;
      if (!polytopes && gjkPolish(pair, options, size, result, unused)) return GjkStatus::Separated;
      sharpenDirection(pair, next, vw > S(0) ? vw * vw / vv : S(0), simplex);
      break;
    }
    v = simplex.v;
    vv = newVv;
    if (vv <= touching || vv <= within2) return GjkStatus::Overlapping;
    if (iteration + 1 == options.maxIterations) {
      finishSimplex(pair, result);
      return GjkStatus::Stalled;
    }
  }
  finishSimplex(pair, result);
  return GjkStatus::Separated;
}

}  // namespace tangere::kernel
