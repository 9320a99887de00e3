// SPDX-License-Identifier: Apache-2.0
//
// Penetration depth: the smallest translation that takes the origin out of the Minkowski difference
// D of two overlapping cores, by the expanding polytope algorithm (van den Bergen 2001).
//
// The polytope is the hull of points of D. Its nearest face is a lower bound of the depth, the
// support plane along any direction an upper one. The nearest face is pushed out until no face is
// nearer than the best support plane: then no direction anywhere is better. The origin need not be
// inside at the start: a face that has the origin outside counts with its negative distance, so
// touching and slightly separated cores come out right as well.
//
// Curved cores would need many small faces around the contact. There Newton's method (polish.hpp)
// finds the local minimum from a coarse face, and faces in its basin are left alone.
#pragma once

#include "collision/kernels/epa_polytope.hpp"
#include "collision/kernels/polish.hpp"
#include "collision/kernels/simplex.hpp"
#include "collision/kernels/simplex_feature.hpp"

namespace tangere::kernel {

/// The best direction m (unit, along which D ends soonest) and D's extent along it.
template <class S>
struct Penetration {
  Vec3T<S> direction{};
  S depth{};  ///< of the cores; slightly negative when they are apart by rounding
  Vec3T<S> pointA{};
  Vec3T<S> pointB{};
  int piece[3][2] = {};  ///< of A and B, that meet there
  int numPieces = 0;
  bool converged = false;
  bool polished = false;  ///< the direction has all its digits: by Newton's method, or an axis
  /// Every direction that does not lead down to this one has at least this depth; 0: unknown.
  S clearance{};
};

namespace detail {

/// Points of D in the plane of the best direction, weighted to give the foot of the origin: GJK in
/// that plane, from the three points of a face. Support directions tilted a little from the best
/// one give the rim of a flat facet.
template <class Pair, class S>
TANGERE_HD inline bool witnessInPlane(const Pair& pair, const SimplexVertex<S>* vertex, S tolerance,
                                      Penetration<S>& out) {
  using std::sqrt;
  const Vec3T<S> foot = out.direction * out.depth;
  Simplex<S> simplex;
  for (int i = 0; i < 3; ++i) {
    SimplexVertex<S> p = vertex[i];
    p.w -= foot;
    simplex.add(p);
  }
  reduceSimplex(simplex);
  S tilt = S(1e-3);
  for (int step = 0; step < 64 && !simplex.enclosesOrigin; ++step) {
    const S vv = squaredNorm(simplex.v);
    if (vv <= S(1e-4) * tolerance * tolerance) break;
    SimplexVertex<S> p = pair.support(out.direction - simplex.v * (tilt / sqrt(vv)));
    p.w -= foot;
    const bool inPlane = dot(out.direction, p.w) >= -tolerance;
    const bool nearer = dot(simplex.v, p.w) < vv * S(1 - 1e-9);
    if (!inPlane || !nearer) {
      tilt *= S(0.01);
      if (tilt < S(1e-10)) break;
      continue;
    }
    Simplex<S> next = simplex;
    next.add(p);
    reduceSimplex(next);
    if (!next.enclosesOrigin && !(squaredNorm(next.v) < vv)) break;
    simplex = next;
  }
  out.pointA = simplex.pointA();
  out.pointB = out.pointA - foot;
  return simplex.enclosesOrigin || squaredNorm(simplex.v) <= tolerance * tolerance;
}

/// Whether a face, given by its vertices and normal, may belong to the basin of a polished minimum:
/// close to it, and on its pieces only.
template <class S>
TANGERE_HD inline bool inBasin(const SimplexVertex<S>* vertex, const Vec3T<S>& normal,
                               const Vec3T<S>& minimum, const int (*piece)[2], int numPieces) {
  if (!(dot(normal, minimum) > S(0.95))) return false;
  for (int i = 0; i < 3; ++i) {
    bool known = false;
    for (int j = 0; j < numPieces; ++j)
      known = known || (vertex[i].ia == piece[j][0] && vertex[i].ib == piece[j][1]);
    if (!known) return false;
  }
  return true;
}

/// Whether the first Newton step from `start` went most of the way to the minimum: between them
/// the pieces are then close to one quadratic, with room for one minimum only.
template <class S>
TANGERE_HD inline bool stepsTowards(const Vec3T<S>& start, const Vec3T<S>& first,
                                    const Vec3T<S>& minimum) {
  const S way = squaredNorm(start - minimum);
  return squaredNorm(first - minimum) <= (way < S(0.03) ? S(0.1) : S(0.02)) * way;
}

/// One run of the algorithm on a polytope that was started. `size`: of D.
template <class Pair, class S>
struct EpaSearch {
  const Pair& pair;
  EpaPolytope<S>& polytope;
  S size;
  S smaller;      ///< of the two bodies
  S rounding;     ///< of a plane's offset
  S enough;       ///< a face this close to its support plane is a face of D
  S certificate;  ///< that nothing is better than a polished minimum by more than this is proved
  Penetration<S> best;
  int bestFace = -1;       ///< the face that gave the best direction; -1: a polished one or none
  int bestVertex[3] = {};  ///< its vertices
  int triedAxes = 0;
  bool bestIsAxis = false;
  S otherMinimum = EpaPolytope<S>::infinite();  ///< the least of those that are not the best
  S wantedClearance{};                          ///< goes on for this after the proof,
  int numExtra = 0;                             ///< for as many steps

  TANGERE_HD EpaSearch(const Pair& p, EpaPolytope<S>& started, S sizeOfD)
      : pair(p), polytope(started), size(sizeOfD) {
    smaller = pair.a.boundingRadius < pair.b.boundingRadius ? pair.a.boundingRadius
                                                            : pair.b.boundingRadius;
    rounding = S(1e-15) * size;
    enough = pair.isPolytopePair() ? S(4) * rounding : S(1e-11) * size;
    certificate = S(2e-7) * smaller;
    best.depth = EpaPolytope<S>::infinite();
  }

  TANGERE_HD void run() {
    for (;;) {
      const int f = polytope.nearestFace();
      const S offset = polytope.offset[f];
      if (hasPolished() && offset >= best.depth - certificate) {
        best.converged = true;
        // A boundary point of D in the cone of a face is beyond it. So along every unit vector m
        // that is in no settled cone, D has a point at least `offset` far out: h(m) >= offset.
        // Not around a flat end, whose settled faces reach past its rim.
        best.clearance = bestIsAxis ? S(0) : offset < otherMinimum ? offset : otherMinimum;
        if (best.clearance >= wantedClearance || offset > otherMinimum || numExtra-- == 0) return;
      }
      if (!(offset < EpaPolytope<S>::infinite())) break;
      const Vec3T<S> normal = polytope.normal(f);
      SimplexVertex<S> p = pair.support(normal);
      const S depth = dot(normal, p.w);
      if (depth < best.depth) {
        if (hasPolished() && best.depth < otherMinimum) otherMinimum = best.depth;
        best.depth = depth;
        best.direction = normal;
        best.numPieces = 0;  // below the last polished minimum: another basin
        bestFace = f;
        for (int i = 0; i < 3; ++i) bestVertex[i] = polytope.face[f].vertex[i];
      }
      if (depth - offset <= enough) {
        best.converged = true;
        if (hasPolished()) return;
        if (depth <= best.depth + enough) {
          best.direction = normal;
          best.depth = depth;
          for (int i = 0; i < 3; ++i) bestVertex[i] = polytope.face[f].vertex[i];
        }
        finishOnFace();
        return;
      }
      if (!pair.isPolytopePair() && depth - offset <= S(0.02) * size &&
          settle(f, normal, depth, &p)) {
        polytope.offset[f] = EpaPolytope<S>::infinite();
        continue;
      }
      if (!polytope.expand(f, p, rounding)) break;
    }
    // A cap was reached. The support plane found is a true one, its point a true point.
    if (hasPolished()) return;
    const SimplexVertex<S> p = pair.support(best.direction);
    best.pointA = p.a;
    best.pointB = p.a - best.direction * best.depth;
  }

  /// Whether the best direction is a minimum found by Newton's method, or an axis.
  [[nodiscard]] TANGERE_HD bool hasPolished() const { return bestFace < 0 && best.numPieces > 0; }

  /// Begins with a minimum that is known. Its finder comes again after a small motion: a few steps
  /// beyond the proof save it the next search. Not on rims, where a step costs more than that.
  TANGERE_HD void startFrom(const PolishResult<S>& seed) {
    setPolished(seed, seed.value);
    if (hasRim(pair.coreA()) || hasRim(pair.coreB())) return;
    wantedClearance = seed.value + S(0.01) * size;
    numExtra = 4;
  }

  /// Takes over a minimum found by Newton's method. `value`: D's extent along its direction.
  TANGERE_HD void setPolished(const PolishResult<S>& polished, S value) {
    if (hasPolished()) noteOther(best.direction, best.depth, polished.direction);
    best.depth = value;
    best.direction = polished.direction;
    best.pointA = polished.pointA;
    best.pointB = polished.pointA - polished.pointD;
    best.numPieces = polished.numPieces;
    for (int i = 0; i < polished.numPieces; ++i)
      for (int k = 0; k < 2; ++k) best.piece[i][k] = polished.piece[i][k];
    bestFace = -1;
    bestIsAxis = polished.isAxis;
  }

 private:
  /// A minimum that is not the best: its basin counts against the clearance.
  TANGERE_HD void noteOther(const Vec3T<S>& direction, S value, const Vec3T<S>& bestDirection) {
    if (value < otherMinimum && squaredNorm(direction - bestDirection) > S(1e-12))
      otherMinimum = value;
  }

  [[nodiscard]] TANGERE_HD static constexpr bool hasRim(CoreType core) {
    return core == CoreType::Cylinder || core == CoreType::Cone;
  }
  /// Curved cores: looks for a local minimum from face f. True when f needs no more work; if not,
  /// `p`, the point to expand with, may be replaced by a better one.
  TANGERE_HD bool settle(int f, const Vec3T<S>& normal, S depth, SimplexVertex<S>* p) {
    const auto& face = polytope.face[f];
    const SimplexVertex<S> v[3] = {polytope.vertex(face.vertex[0]), polytope.vertex(face.vertex[1]),
                                   polytope.vertex(face.vertex[2])};
    tryAxes(normal);
    if (bestIsAxis && hasPolished() &&
        inBasin(v, normal, best.direction, best.piece, best.numPieces))
      return true;
    if (hasPolished() && inBasin(v, normal, best.direction, best.piece, best.numPieces)) {
      const PolishResult<S> probe = polishDirection(pair, normal, v, 3, size, true);
      if (stepsTowards(normal, probe.firstDirection, best.direction)) return true;
    }
    const PolishResult<S> polished = polishDirection(pair, normal, v, 3, size);
    if (!polished.converged) return false;
    const SimplexVertex<S> q = pair.support(polished.direction);
    const S value = dot(polished.direction, q.w);
    if (value - polished.value <= enough) {
      const bool again =
          hasPolished() && squaredNorm(polished.direction - best.direction) <= S(1e-12);
      // As good as a face's plane is better: its points of contact are known.
      if (value < best.depth || (bestFace >= 0 && value <= best.depth + enough))
        setPolished(polished, value);
      else
        noteOther(polished.direction, value, best.direction);
      // Near by, a second face that leads to the same place belongs to it. Rims are less smooth:
      // there it must be on the same pieces.
      if (again && dot(normal, polished.direction) > S(0.99) && !hasRim(pair.coreA()) &&
          !hasRim(pair.coreB()))
        return true;
      // So does a face on the same pieces that led there in one step.
      if (inBasin(v, normal, polished.direction, polished.piece, polished.numPieces) &&
          (again || (stepsTowards(normal, polished.firstDirection, polished.direction) &&
                     seesTheSame(f, polished.numPieces, value))))
        return true;
    }
    // Touches D at the local minimum, where it helps most.
    const S offset = polytope.offset[f];
    if (dot(normal, q.w) - offset > S(0.5) * (depth - offset)) *p = q;
    return false;
  }

  /// Where several pieces meet, in a crease or a corner of h, a Newton step finds it from afar,
  /// across other minima of a rim: there face f must be close to the minimum to speak for it.
  [[nodiscard]] TANGERE_HD bool seesTheSame(int f, int numPieces, S minimum) const {
    return numPieces < 2 || minimum - polytope.offset[f] <= S(5e-5) * size;
  }

  /// The flat ends of cylinders and cones: h has a kink at their axes that no smooth piece sees.
  /// Tries those close to `normal`, each once.
  TANGERE_HD void tryAxes(const Vec3T<S>& normal) {
    if (hasRim(pair.coreA()))
      tryAxis({S(0), S(0), normal.z > S(0) ? S(1) : S(-1)}, pair.coreA(), normal.z > S(0), normal,
              normal.z > S(0) ? 1 : 2);
    if (hasRim(pair.coreB())) {
      const Vec3T<S>& z = pair.X_AB.rotation.col[2];
      const bool up = dot(normal, z) > S(0);  // B looks along -normal
      tryAxis(up ? z : -z, pair.coreB(), !up, normal, up ? 4 : 8);
    }
  }

  /// `upper`: the end at the positive side of the core's own axis; a cone has none there.
  TANGERE_HD void tryAxis(const Vec3T<S>& axis, CoreType core, bool upper, const Vec3T<S>& normal,
                          int flag) {
    if ((triedAxes & flag) != 0 || (core == CoreType::Cone && upper) ||
        !(dot(axis, normal) > S(0.9)))
      return;
    triedAxes |= flag;
    const S value = dot(axis, pair.support(axis).w);
    if (!(value <= best.depth + enough)) return;
    Vec3T<S> u = anyPerpendicular(axis);
    u = u * (S(1e-3) / norm(u));
    const Vec3T<S> w = cross(axis, u);
    const SimplexVertex<S> v[3] = {pair.support(axis + u),
                                   pair.support(axis - u * S(0.5) + w * S(0.87)),
                                   pair.support(axis - u * S(0.5) - w * S(0.87))};
    Penetration<S> flat;
    flat.direction = axis;
    flat.depth = value;
    if (!witnessInPlane(pair, v, S(1e-9) * smaller, flat)) return;
    if (hasPolished()) noteOther(best.direction, best.depth, axis);
    best = flat;
    bestFace = -1;
    bestIsAxis = true;
    setPieces(v);
  }

  /// The best face is a face of D: direction, depth and points from its vertices.
  TANGERE_HD void finishOnFace() {
    SimplexVertex<S> v[3] = {polytope.vertex(bestVertex[0]), polytope.vertex(bestVertex[1]),
                             polytope.vertex(bestVertex[2])};
    if (pair.isPolytopePair()) {
      sortByPiece(v);
      setPieces(v);
      FacetFoot<S> facet;
      if (facetFoot(pair, v, best.direction, &facet)) {
        best.direction = facet.normal;
        best.depth = facet.offset;
        best.pointA = facet.pointA;
        best.pointB = facet.pointA - facet.normal * facet.offset;
        return;
      }
      const Vec3T<S> n = cross(v[1].w - v[0].w, v[2].w - v[0].w);
      const S side = dot(n, best.direction) > S(0) ? S(1) : S(-1);
      best.direction = n * (side / norm(n));
      best.depth = dot(best.direction, v[0].w);
    } else {
      // A face this close gives the depth; the points of contact need the direction itself.
      const PolishResult<S> polished = polishDirection(pair, best.direction, v, 3, size);
      if (polished.converged) {
        const S value = dot(polished.direction, pair.support(polished.direction).w);
        if (value - polished.value <= S(8) * rounding && value <= best.depth + S(2) * enough) {
          setPolished(polished, value);
          return;
        }
      }
    }
    setPieces(v);
    const Vec3T<S> foot = best.direction * best.depth;
    const Vec3T<S> n = cross(v[1].w - v[0].w, v[2].w - v[0].w);
    const S scale = S(1) / squaredNorm(n);
    const S l0 = dot(cross(v[2].w - v[1].w, foot - v[1].w), n) * scale;
    const S l1 = dot(cross(v[0].w - v[2].w, foot - v[2].w), n) * scale;
    const S l2 = S(1) - l0 - l1;
    if (l0 >= S(0) && l1 >= S(0) && l2 >= S(0)) {
      best.pointA = v[0].a * l0 + v[1].a * l1 + v[2].a * l2;
      best.pointB = best.pointA - foot;
      return;
    }
    // In a neighbour in the same plane: a flat facet of D is cut into triangles at random.
    witnessInPlane(pair, v, pair.isPolytopePair() ? S(16) * rounding : S(1e-8) * smaller, best);
  }

  TANGERE_HD void setPieces(const SimplexVertex<S>* v) {
    best.numPieces = 3;
    for (int i = 0; i < 3; ++i) {
      best.piece[i][0] = v[i].ia;
      best.piece[i][1] = v[i].ib;
    }
  }
};

}  // namespace detail

/// Expands a polytope that was started until its best direction is proved best. `size`: of D.
/// `seed`: a minimum known beforehand, with D's extent along its direction.
template <class Pair, class S>
TANGERE_HD inline Penetration<S> epaExpand(const Pair& pair, EpaPolytope<S>& polytope, S size,
                                           const PolishResult<S>* seed = nullptr) {
  detail::EpaSearch<Pair, S> search(pair, polytope, size);
  if (seed != nullptr) search.startFrom(*seed);
  search.run();
  search.best.polished = search.hasPolished();
  return search.best;
}

}  // namespace tangere::kernel
