// SPDX-License-Identifier: Apache-2.0
//
// Signed distance and overlap of two rounded convex shapes: the distance of the cores by GJK less
// the radii, and the penetration of the cores where those overlap.
#pragma once

#include "collision/kernels/convex_contact.hpp"
#include "collision/kernels/epa.hpp"
#include "collision/kernels/gjk.hpp"
#include "collision/kernels/mpr.hpp"
#include "collision/kernels/refine_direction.hpp"

#include <cstddef>
#include <cstdint>

namespace tangere::kernel {

/// What one query leaves for the next on the same two shapes. tangere::PairCache has the same
/// members and may be passed instead. What any query left gives the same answer, sooner or later.
template <class S>
struct ConvexHint {
  Vec3T<S> axis{};
  std::uint8_t count = 0;
  std::int16_t index1[4] = {-1, -1, -1, -1};
  std::int16_t index2[4] = {-1, -1, -1, -1};
  Vec3T<S> drift{};
  S clearance{};
  TransformT<S> X_12{};
  S shapesKey{};
};

namespace detail {

/// Four points of D that span a volume; false when D is flat, then `normal` is across it.
template <class Pair, class S>
TANGERE_HD inline bool spanningTetrahedron(const Pair& pair, S size, SimplexVertex<S>* p,
                                           Vec3T<S>* normal) {
  const S tiny = S(1e-12) * size;
  p[0] = pair.support(Vec3T<S>{S(1), S(0), S(0)});
  p[1] = pair.support(Vec3T<S>{S(-1), S(0), S(0)});
  Vec3T<S> u = p[1].w - p[0].w;
  for (int axis = 1; axis < 3 && !(squaredNorm(u) > tiny * tiny); ++axis) {
    Vec3T<S> m{};
    m[axis] = S(1);
    p[0] = pair.support(m);
    p[1] = pair.support(-m);
    u = p[1].w - p[0].w;
  }
  if (!(squaredNorm(u) > tiny * tiny)) {
    *normal = {S(0), S(0), S(1)};
    return false;
  }
  Vec3T<S> m = anyPerpendicular(u);
  for (int turn = 0;; ++turn) {
    p[2] = pair.support(m);
    const Vec3T<S> q = pair.support(-m).w;
    const S up = dot(m, p[2].w - p[0].w), down = dot(m, p[0].w - q);
    if (down > up) p[2] = pair.support(-m);
    const S far = down > up ? down : up;
    if (far * far > tiny * tiny * squaredNorm(m)) break;
    *normal = m * (S(1) / norm(m));
    if (turn == 1) return false;
    m = cross(u, m);
  }
  m = cross(u, p[2].w - p[0].w);
  p[3] = pair.support(m);
  SimplexVertex<S> other = pair.support(-m);
  S up = dot(m, p[3].w - p[0].w), down = dot(m, p[0].w - other.w);
  if (down > up) {
    p[3] = other;
    up = down;
  }
  if (up * up > tiny * tiny * squaredNorm(m)) return true;
  *normal = m * (S(1) / norm(m));
  return false;
}

/// D is flat and the origin in it: any way across frees it.
template <class Pair, class S>
TANGERE_HD inline Penetration<S> flatPenetration(const Pair& pair, const Vec3T<S>& normal,
                                                 const Vec3T<S>& pointA) {
  Penetration<S> out;
  out.direction = normal;
  out.depth = dot(normal, pair.support(normal).w);
  out.pointA = pointA;
  out.pointB = pointA - normal * out.depth;
  out.converged = true;
  return out;
}

/// From four points that span a volume, wherever the origin is. `pointA`: of flat cores.
template <class Pair, class S>
TANGERE_HD inline Penetration<S> penetrationFromAnywhere(const Pair& pair, const Vec3T<S>& pointA,
                                                         S size, EpaPolytope<S>& polytope) {
  Unset<SimplexVertex<S>, 4> p;
  Vec3T<S> normal;
  if (!spanningTetrahedron(pair, size, p.data(), &normal))
    return flatPenetration(pair, normal, pointA);
  polytope.start(p[0], p[1], p[2], p[3]);
  return epaExpand(pair, polytope, size);
}

/// From a tetrahedron that holds the origin; a sliver that leads nowhere is replaced.
template <class Pair, class S>
TANGERE_HD inline Penetration<S> penetrationFrom(const Pair& pair, const SimplexVertex<S>& p0,
                                                 const SimplexVertex<S>& p1,
                                                 const SimplexVertex<S>& p2,
                                                 const SimplexVertex<S>& p3, S size) {
  EpaPolytope<S> polytope;
  polytope.start(p0, p1, p2, p3);
  const Penetration<S> out = epaExpand(pair, polytope, size);
  if (out.converged) return out;
  const Penetration<S> again = penetrationFromAnywhere(pair, p1.a, size, polytope);
  return again.converged || again.depth < out.depth ? again : out;
}

/// Depth of two cores that GJK found to overlap or to touch.
template <class Pair, class S>
TANGERE_HD inline Penetration<S> penetrationDepth(const Pair& pair, const Simplex<S>& simplex,
                                                  S size) {
  if (simplex.enclosesOrigin)
    return penetrationFrom(pair, simplex.slot[0], simplex.slot[1], simplex.slot[2], simplex.slot[3],
                           size);
  EpaPolytope<S> polytope;
  return penetrationFromAnywhere(pair, simplex.pointA(), size, polytope);
}

/// Depth of two cores whose portal is beyond the origin.
template <class Pair, class S>
TANGERE_HD inline Penetration<S> penetrationDepth(const Pair& pair, const Portal<S>& portal,
                                                  S size) {
  return penetrationFrom(pair, {portal.center, pair.a.center, -1, -1}, portal.p(0), portal.p(1),
                         portal.p(2), size);
}

/// Whether D has an inside of its own: not when both cores are flat.
template <class Pair>
TANGERE_HD inline bool hasInside(const Pair& pair) {
  const auto flat = [](CoreType core) {
    return core == CoreType::Point || core == CoreType::Segment || core == CoreType::Triangle;
  };
  return !(flat(pair.coreA()) && flat(pair.coreB()));
}

/// Witness points of the cores -> contact of the rounded shapes.
template <class Pair, class S>
TANGERE_HD inline void setContact(const Pair& pair, const Vec3T<S>& pointA, const Vec3T<S>& pointB,
                                  S coreDistance, const Vec3T<S>& normal, ConvexContact<S>& out) {
  out.normal = normal;
  out.distance = coreDistance - pair.a.radius - pair.b.radius;
  out.pointA = pointA - normal * pair.a.radius;
  out.pointB = pointB + normal * pair.b.radius;
}

template <class Pair, class S>
TANGERE_HD inline void setContact(const Pair& pair, const Penetration<S>& deep,
                                  ConvexContact<S>& out) {
  setContact(pair, deep.pointA, deep.pointB, -deep.depth, -deep.direction, out);
  if (!deep.converged) out.status = QueryStatus::NotConverged;
}

template <class Hint>
TANGERE_HD inline void forget(Hint* hint) {
  if (hint != nullptr) hint->count = 0;
}

/// Leaves the pieces that carry an answer for the next query. `axis`: from B to A.
template <class Hint, class S>
TANGERE_HD inline void remember(Hint* hint, const Vec3T<S>& axis, const int (*piece)[2],
                                int count) {
  if (hint == nullptr) return;
  hint->drift = hint->count > 0 ? axis - hint->axis : Vec3T<S>{};
  hint->axis = axis;
  hint->count = 0;
  for (int i = 0; i < count; ++i)
    if (piece[i][0] < 0 || piece[i][0] > 0x7fff || piece[i][1] < 0 || piece[i][1] > 0x7fff) return;
  for (int i = 0; i < count; ++i) {
    hint->index1[i] = static_cast<std::int16_t>(piece[i][0]);
    hint->index2[i] = static_cast<std::int16_t>(piece[i][1]);
  }
  hint->count = static_cast<std::uint8_t>(count);
}

template <class Hint, class S>
TANGERE_HD inline void remember(Hint* hint, const Vec3T<S>& axis, const Simplex<S>& simplex) {
  if (hint == nullptr) return;
  int piece[4][2];
  for (int i = 0; i < simplex.count; ++i) {
    piece[i][0] = simplex.vertex(i).ia;
    piece[i][1] = simplex.vertex(i).ib;
  }
  remember(hint, axis, piece, simplex.count);
}

/// The points of a hint at the present pose; 0 when it has none that fit these shapes.
template <class Pair, class S, class Hint>
TANGERE_HD inline int recall(const Pair& pair, const Hint* hint, SimplexVertex<S>* p) {
  if (hint == nullptr || hint->count < 1 || hint->count > 4) return 0;
  const auto pieces = [](const ConvexView<S>& view, CoreType core) {
    return isPolytope(core) ? coreVertexCount(view) : core == CoreType::Ellipsoid ? 1 : 2;
  };
  const int countA = pieces(pair.a, pair.coreA()), countB = pieces(pair.b, pair.coreB());
  for (int i = 0; i < hint->count; ++i) {
    const int ia = hint->index1[i], ib = hint->index2[i];
    if (ia < 0 || ia >= countA || ib < 0 || ib >= countB) return 0;
    p[i] = pair.vertex(ia, ib);
  }
  return hint->count;
}

/// A number that changes with the shape: what was proved of one is not used for another. 0: never
/// the same again.
template <class S>
TANGERE_HD inline S shapeKey(const ConvexView<S>& view) {
  if (view.core == CoreType::Triangle) return S(0);
  S key = (view.size.x * S(1.259) + view.size.y * S(1.587)) +
          (view.size.z * S(1.817) + view.radius) +
          (view.center.x * S(2.154) + view.center.y * S(2.289)) +
          (view.center.z * S(2.410) + view.boundingRadius * S(2.571)) +
          S(static_cast<int>(view.core) + 1);
  if (view.hull != nullptr)
    key += view.hull->x[0] * S(2.668) + view.hull->y[0] * S(2.758) + view.hull->z[0] * S(2.843) +
           S(view.hull->numVertices);
  return key;
}

template <class Pair>
TANGERE_HD inline typename Pair::Scalar shapesKey(const Pair& pair) {
  using S = typename Pair::Scalar;
  const S keyA = shapeKey(pair.a), keyB = shapeKey(pair.b);
  return keyA != S(0) && keyB != S(0) ? keyA + keyB * S(1.414) : S(0);
}

/// What the search for the depth proved about all other directions, for the next query.
template <class Pair, class Hint, class S>
TANGERE_HD inline void rememberClearance(const Pair& pair, const Penetration<S>& deep, Hint* hint) {
  if (hint == nullptr) return;
  hint->clearance = deep.clearance;
  if (!(deep.clearance > deep.depth)) return;
  hint->X_12 = pair.X_AB;
  hint->shapesKey = shapesKey(pair);
}

/// Whether the minimum `value` is the only one below what the motion since the last proof leaves of
/// its clearance.
///
/// There, every unit direction m outside the basin of the minimum had h(m) >= clearance. No point
/// of B has moved by more than delta since (B's frame turned by R and shifted by t:
/// |R x - x| <= |R - 1|_F |x| / sqrt(2)), so h(m) >= clearance - delta now. With value below that,
/// the direction of `value` is in the basin, and nothing outside is better. The basin is a few
/// faces on the pieces of the minimum that Newton's method leads out of in one step; a flat end,
/// whose kink no smooth piece shows, is looked at anew by the caller.
template <class Pair, class S, class Hint>
TANGERE_HD inline bool isClearOfOthers(const Pair& pair, const Hint* hint, S value) {
  using std::sqrt;
  const S slack = hint->clearance - value;
  if (!(slack > S(0))) return false;
  S turned{};
  for (int j = 0; j < 3; ++j)
    turned += squaredNorm(pair.X_AB.rotation.col[j] - hint->X_12.rotation.col[j]);
  const S reach = pair.b.boundingRadius + norm(pair.b.center);
  const S delta =
      sqrt(S(0.5) * turned) * reach + norm(pair.X_AB.translation - hint->X_12.translation);
  // The basin must still be what it was: rims have narrow ones.
  const auto hasRim = [](CoreType core) {
    return core == CoreType::Cylinder || core == CoreType::Cone;
  };
  const S most = hasRim(pair.coreA()) || hasRim(pair.coreB()) ? S(0.03) : S(0.1);
  if (!(delta <= slack) || !(delta <= most * reach)) return false;
  const S key = shapesKey(pair);
  return key != S(0) && key == hint->shapesKey;
}

enum class WarmStatus : unsigned char {
  Unknown,
  Separated,
  Overlapping,  ///< with a minimum that may not be the only one
  Proved,       ///< overlapping, and no other minimum is lower
};

/// Whether the flat end of a cylinder or cone that looks along `axis` (unit, of A: outward, of B:
/// inward) is what meets the other body there: the support point of the other is over the disc.
/// Then axis * value is a point of D, so the end of D along the axis and a minimum of h.
template <class Pair, class S>
TANGERE_HD inline bool meetsFlatEnd(const Pair& pair, const Vec3T<S>& axis, bool ofA,
                                    PolishResult<S>& out) {
  const SimplexVertex<S> p = pair.support(axis);
  const S value = dot(axis, p.w);
  // The other body's point, and its distance from the axis of this one.
  const Vec3T<S> other = ofA ? p.a - p.w : p.a;
  const Vec3T<S> d = ofA ? other : other - pair.X_AB.translation;
  const Vec3T<S> z = ofA ? Vec3T<S>{S(0), S(0), S(1)} : pair.X_AB.rotation.col[2];
  const S r = ofA ? pair.a.size.x : pair.b.size.x;
  if (!(squaredNorm(d - z * dot(z, d)) <= r * r)) return false;
  out.direction = axis;
  out.value = value;
  out.pointD = axis * value;
  out.pointA = ofA ? other + out.pointD : other;
  out.piece[0][0] = p.ia;
  out.piece[0][1] = p.ib;
  out.numPieces = 1;
  out.converged = out.isAxis = true;
  return true;
}

/// The flat end that looks along m to within `leastCosine`, if there is one; +1 for the direction
/// of the core's z axis in D, -1 against it, else 0. A cone has no end at its tip.
template <class S>
TANGERE_HD inline int flatEndAlong(CoreType core, S cosine, bool ofA, S leastCosine) {
  using std::fabs;
  if (core != CoreType::Cylinder && core != CoreType::Cone) return 0;
  if (!(fabs(cosine) > leastCosine)) return 0;
  const bool upper = (cosine > S(0)) == ofA;  // B looks along -m
  if (core == CoreType::Cone && upper) return 0;
  return cosine > S(0) ? 1 : -1;
}

/// The flat end of A or B that the last answer was on, or is close to.
template <class Pair, class S>
TANGERE_HD inline bool polishFlatEnd(const Pair& pair, const Vec3T<S>& m, PolishResult<S>& out) {
  const S close = S(0.9995);
  const Vec3T<S>& zB = pair.X_AB.rotation.col[2];
  const int endA = flatEndAlong(pair.coreA(), m.z, true, close);
  if (endA != 0 && meetsFlatEnd(pair, Vec3T<S>{S(0), S(0), S(endA)}, true, out)) return true;
  const int endB = flatEndAlong(pair.coreB(), dot(m, zB), false, close);
  return endB != 0 && meetsFlatEnd(pair, zB * S(endB), false, out);
}

/// Whether no flat end around m is a shorter way out than `value`.
template <class Pair, class S>
TANGERE_HD inline bool noFlatEndIsBetter(const Pair& pair, const Vec3T<S>& m, S value) {
  const S around = S(0.8);
  const Vec3T<S>& zB = pair.X_AB.rotation.col[2];
  const int endA = flatEndAlong(pair.coreA(), m.z, true, around);
  if (endA != 0) {
    const Vec3T<S> axis{S(0), S(0), S(endA)};
    if (dot(axis, pair.support(axis).w) < value) return false;
  }
  const int endB = flatEndAlong(pair.coreB(), dot(m, zB), false, around);
  if (endB == 0) return true;
  const Vec3T<S> axis = zB * S(endB);
  return !(dot(axis, pair.support(axis).w) < value);
}

/// Newton's method again where another piece, that of `q`, reaches farther than those of `seed`:
/// with it instead of the one that is behind.
template <class Pair, class S>
TANGERE_HD inline PolishResult<S> exchangePiece(const Pair& pair, const PolishResult<S>& seed,
                                                const SimplexVertex<S>& q, S size) {
  Unset<SimplexVertex<S>, 4> p;
  for (int i = 0; i < seed.numPieces; ++i) p[i] = seed.vertex[i];
  int count = seed.numPieces;
  p[count++] = q;
  if (count == 4) {
    // Those that face a point outside of D, before the minimum.
    const Vec3T<S> outside = seed.direction * (seed.value > S(0) ? seed.value + size : S(0));
    Simplex<S> simplex;
    for (int i = 0; i < 4; ++i) {
      simplex.add(p[i]);
      simplex.slot[i].w -= outside;
    }
    reduceSimplex(simplex);
    if (simplex.enclosesOrigin) return {};
    int active[4];
    count = simplex.count;
    for (int i = 0; i < count; ++i) active[i] = simplex.active[i];
    Unset<SimplexVertex<S>, 4> kept;
    for (int i = 0; i < count; ++i) kept[i] = p[active[i]];
    return polishDirection(pair, seed.direction, kept.data(), count, size);
  }
  return polishDirection(pair, seed.direction, p.data(), count, size);
}

/// Curved cores: a flat end or Newton's method from the pieces and the direction of the last
/// answer, carried on as it moved last. Separated cores are then done (`gjk`), overlapping ones
/// have a minimum (`seed`).
template <class Pair, class S, class Hint>
TANGERE_HD inline WarmStatus warmStart(const Pair& pair, const Hint* hint, S size,
                                       GjkResult<S>& gjk, PolishResult<S>& seed) {
  Unset<SimplexVertex<S>, 4> p;
  const int count = recall(pair, hint, p.data());
  const S axis2 = squaredNorm(hint->axis);
  if (count == 0 || count > 3 || !(axis2 > S(0.9)) || !(axis2 < S(1.1))) return WarmStatus::Unknown;
  Vec3T<S> start = -hint->axis;
  if (squaredNorm(hint->drift) < S(0.01)) start -= hint->drift;
  start = start * (S(1) / norm(start));
  // Two ellipsoids are one piece: nothing else can reach farther.
  const bool onePiece = pair.coreA() == CoreType::Ellipsoid && pair.coreB() == CoreType::Ellipsoid;
  if (!polishFlatEnd(pair, start, seed)) seed = polishDirection(pair, start, p.data(), count, size);
  for (int exchange = 0;; ++exchange) {
    if (!seed.converged) return WarmStatus::Unknown;
    S value = seed.value;
    SimplexVertex<S> q;
    if (!onePiece && !seed.isAxis) {
      q = pair.support(seed.direction);
      value = dot(seed.direction, q.w);
    }
    if (value < S(0) ? isNearest(seed, -value, GjkOptions<S>{}.gap, size)
                     : value - seed.value <= S(1e-11) * size) {
      if (value < S(0)) {
        setPolished(seed, -value, gjk);
        return WarmStatus::Separated;
      }
      seed.value = value;
      break;
    }
    if (onePiece || seed.isAxis || exchange == 2) return WarmStatus::Unknown;
    seed = exchangePiece(pair, seed, q, size);
  }
  const bool proved = !seed.isAxis && isClearOfOthers(pair, hint, seed.value) &&
                      noFlatEndIsBetter(pair, seed.direction, seed.value);
  return proved ? WarmStatus::Proved : WarmStatus::Overlapping;
}

/// A polytope for the search of other minima, with the known one in the middle of a face or of an
/// edge: the points of its pieces, where these are fewer than three support points around them, and
/// one opposite. False when it has no volume.
template <class Pair, class S>
TANGERE_HD inline bool startAround(const Pair& pair, const PolishResult<S>& seed, S size,
                                   EpaPolytope<S>& polytope) {
  using std::sqrt;
  const Vec3T<S>& m = seed.direction;
  // Tilted so little that a face between them has the origin behind it.
  const S tilt = sqrt(seed.value / size), half = S(0.5), high = S(0.8660254037844386);
  SimplexVertex<S> p[3];
  SimplexVertex<S> extra;
  const int k = seed.isAxis ? 1 : seed.numPieces;
  if (k == 3) {
    for (int i = 0; i < 3; ++i) p[i] = seed.vertex[i];
  } else if (k == 2) {
    Vec3T<S> u = cross(m, seed.vertex[1].w - seed.vertex[0].w);
    u = u * (tilt / norm(u));
    p[0] = pair.support(m + u);
    p[1] = seed.vertex[0];
    p[2] = seed.vertex[1];
    extra = pair.support(m - u);
  } else {
    Vec3T<S> u = anyPerpendicular(m);
    u = u * (tilt / norm(u));
    const Vec3T<S> v = cross(m, u);
    p[0] = pair.support(m + u);
    p[1] = pair.support(m - u * half + v * high);
    p[2] = pair.support(m - u * half - v * high);
  }
  const SimplexVertex<S> opposite = pair.support(-m);
  const Vec3T<S> e0 = p[0].w - opposite.w, e1 = p[1].w - opposite.w, e2 = p[2].w - opposite.w;
  const S volume = dot(cross(e0, e1), e2);
  if (!(volume * volume > S(1e-12) * squaredNorm(e0) * squaredNorm(e1) * squaredNorm(e2)))
    return false;
  polytope.start(p[0], p[1], p[2], opposite);
  // Face 3 is the one without p[0].
  return k != 2 || dot(polytope.normal(3), extra.w) <= polytope.offset[3] ||
         polytope.expand(3, extra, S(1e-15) * size);
}

/// The depth from a minimum that a warm start found. `proved`: no other need be looked for.
template <class Pair, class S>
TANGERE_HD inline Penetration<S> penetrationFromSeed(const Pair& pair, S size,
                                                     const PolishResult<S>& seed, bool proved) {
  if (!proved) {
    EpaPolytope<S> polytope;
    if (startAround(pair, seed, size, polytope)) {
      const Penetration<S> deep = epaExpand(pair, polytope, size, &seed);
      if (deep.converged) return deep;
    }
    Unset<SimplexVertex<S>, 4> p;
    Vec3T<S> normal;
    if (!spanningTetrahedron(pair, size, p.data(), &normal))
      return flatPenetration(pair, normal, seed.pointA);
    polytope.start(p[0], p[1], p[2], p[3]);
    return epaExpand(pair, polytope, size, &seed);
  }
  Penetration<S> out;
  out.direction = seed.direction;
  out.depth = seed.value;
  out.pointA = seed.pointA;
  out.pointB = seed.pointA - seed.pointD;
  out.numPieces = seed.numPieces;
  for (int i = 0; i < seed.numPieces; ++i)
    for (int k = 0; k < 2; ++k) out.piece[i][k] = seed.piece[i][k];
  out.converged = out.polished = true;
  return out;
}

/// Curved cores that touch, or nearly: the points that GJK and EPA go by are then so close to the
/// origin that their direction is rounding, or stand so close to each other that a face has half
/// the digits. The support plane through the exit of the ray of the centers has all of them.
/// `contact` is the answer so far, with the points of D that carry it.
template <class Pair, class S>
TANGERE_HD inline bool refineTouch(const Pair& pair, S size, const SimplexVertex<S>* vertex,
                                   int count, ConvexContact<S>& contact,
                                   RefinedDirection<S>& refined) {
  using std::fabs;
  const S epsilon = S(2.220446049250313e-16), near = S(1e-6) * size;
  const S coarse = -(contact.distance + pair.a.radius + pair.b.radius);
  const Vec3T<S> pointA = contact.pointA + contact.normal * pair.a.radius;
  const auto agrees = [&] { return fabs(refined.value - coarse) <= near; };
  Vec3T<S> exit = -contact.normal;
  const bool found =
      (refineFromPortal(pair, epsilon, refined, &exit) && agrees()) ||
      (refineFromSome(pair, -contact.normal, vertex, count, size, epsilon, refined) && agrees()) ||
      refineOnParallelFaces(pair, exit, coarse, pointA, refined) ||
      refineOnParallelFaces(pair, -contact.normal, coarse, pointA, refined);
  if (!found) return false;
  // What was found to touch does so but for rounding.
  S value = refined.value;
  if (coarse >= S(0) && value < S(0) && value > S(-4e-15) * size) value = S(0);
  setContact(pair, refined.pointA, refined.pointA - refined.direction * value, -value,
             -refined.direction, contact);
  contact.status = QueryStatus::Ok;
  return true;
}

/// Whether an answer is one for refineTouch(). Newton's method has room to err as well where the
/// bounds that it must meet are little but rounding.
template <class Pair, class S>
TANGERE_HD inline bool isTouch(const Pair& pair, S coreDistance, bool polished, S size) {
  using std::fabs;
  return !pair.isPolytopePair() && fabs(coreDistance) <= (polished ? S(1e-9) : S(1e-6)) * size &&
         hasInside(pair);
}

/// Whether v is so short that its direction is rounding: D then reaches past the plane across it.
template <class Pair, class S>
TANGERE_HD inline bool hasLostDirection(const Pair& pair, const GjkResult<S>& gjk, S size) {
  return pair.isPolytopePair() && gjk.distance <= S(1e-12) * size &&
         dot(gjk.normal, pair.support(-gjk.normal).w) < S(-1e-11) * size;
}

/// Contact of overlapping cores, left for the next query. A proof that still holds is kept.
template <class Pair, class S, class Hint>
TANGERE_HD inline void finishOverlap(const Pair& pair, const Penetration<S>& deep, Hint* hint,
                                     bool keepProof, ConvexContact<S>& out) {
  setContact(pair, deep, out);
  if (!keepProof) rememberClearance(pair, deep, hint);
  const S size = minkowskiSize(pair);
  if (!isTouch(pair, deep.depth, deep.polished, size)) {
    remember(hint, out.normal, deep.piece, deep.numPieces);
    return;
  }
  RefinedDirection<S> refined;
  Unset<SimplexVertex<S>, 3> p;
  for (int i = 0; i < deep.numPieces; ++i) p[i] = pair.vertex(deep.piece[i][0], deep.piece[i][1]);
  // A flat face has no pieces: those of the first answer stay.
  if (refineTouch(pair, size, p.data(), deep.numPieces, out, refined) && refined.numPieces > 0)
    remember(hint, out.normal, refined.piece, refined.numPieces);
  else
    remember(hint, out.normal, deep.piece, deep.numPieces);
}

/// What is known before the first support point of GJK.
template <class Pair, class S, class Hint>
TANGERE_HD inline Vec3T<S> startAxis(const Pair& pair, const Hint* hint, S size) {
  if (hint != nullptr && squaredNorm(hint->axis) > S(0)) return hint->axis;
  return insidePoint(pair, size);
}

/// Answers from what the last query left. False: the cold start is as good, and gjk.simplex holds
/// what there is for it.
template <class Pair, class S, class Hint>
TANGERE_HD inline bool distanceFromHint(const Pair& pair, Hint* hint, S size, GjkResult<S>& gjk,
                                        ConvexContact<S>& out) {
  if (pair.isPolytopePair()) {
    Unset<SimplexVertex<S>, 4> p;
    const int count = recall(pair, hint, p.data());
    for (int i = 0; i < count; ++i) gjk.simplex.add(p[i]);
    return false;
  }
  PolishResult<S> seed;
  const WarmStatus status = warmStart(pair, hint, size, gjk, seed);
  if (status == WarmStatus::Unknown) return false;
  if (status != WarmStatus::Separated) {
    const bool proved = status == WarmStatus::Proved;
    finishOverlap(pair, penetrationFromSeed(pair, size, seed, proved), hint, proved, out);
  } else {
    setContact(pair, gjk.pointA, gjk.pointA - gjk.normal * gjk.distance, gjk.distance, gjk.normal,
               out);
    RefinedDirection<S> refined;
    if (isTouch(pair, gjk.distance, true, size) &&
        refineTouch(pair, size, seed.vertex.data(), seed.numPieces, out, refined) &&
        refined.numPieces > 0)
      remember(hint, out.normal, refined.piece, refined.numPieces);
    else
      remember(hint, out.normal, seed.piece, seed.numPieces);
  }
  return true;
}

template <class Pair, class S, class Hint>
TANGERE_HD inline ConvexContact<S> convexDistance(const Pair& pair, S upperBound, bool enableSigned,
                                                  Hint* hint, bool usePortal) {
  ConvexContact<S> out;
  const S size = minkowskiSize(pair);
  GjkResult<S> gjk;
  bool known = hint != nullptr && distanceFromHint(pair, hint, size, gjk, out);
  if (!known && usePortal && gjk.simplex.count == 0 && hasInside(pair)) {
    Portal<S> portal;
    const PortalStatus status = findPortal(pair, insidePoint(pair, size), portal);
    if (status == PortalStatus::Overlapping) {
      finishOverlap(pair, penetrationDepth(pair, portal, size), hint, false, out);
      known = true;
    } else {
      // The portal ray bounds the distance; the nearest point follows from its vertices.
      for (int i = 0; i < portal.count; ++i) gjk.simplex.add(portal.slot[i]);
    }
  }
  if (!known) {
    GjkOptions<S> options;
    options.limit = upperBound + pair.a.radius + pair.b.radius;
    const GjkStatus status = gjkDistance(pair, options, startAxis(pair, hint, size), size, gjk);
    if (status == GjkStatus::Overlapping || hasLostDirection(pair, gjk, size)) {
      finishOverlap(pair, penetrationDepth(pair, gjk.simplex, size), hint, false, out);
    } else {
      setContact(pair, gjk.pointA, gjk.pointA - gjk.normal * gjk.distance, gjk.distance, gjk.normal,
                 out);
      if (status == GjkStatus::Stalled) out.status = QueryStatus::NotConverged;
      RefinedDirection<S> refined;
      Unset<SimplexVertex<S>, 4> p;
      for (int i = 0; i < gjk.simplex.count; ++i) p[i] = gjk.simplex.vertex(i);
      if (status != GjkStatus::Beyond && isTouch(pair, gjk.distance, gjk.polished, size) &&
          refineTouch(pair, size, p.data(), gjk.simplex.count, out, refined) &&
          refined.numPieces > 0)
        remember(hint, out.normal, refined.piece, refined.numPieces);
      else
        remember(hint, out.normal, gjk.simplex);
    }
  }
  if (!enableSigned && out.distance < S(0)) {
    out.distance = S(0);
    out.pointA = out.pointB = (out.pointA + out.pointB) * S(0.5);
  }
  return out;
}

/// Whether the axis of the last query still separates.
template <class Pair, class Hint>
TANGERE_HD inline bool separatesAgain(const Pair& pair, const Hint* hint) {
  using S = typename Pair::Scalar;
  const Vec3T<S> axis = hint->axis;
  return squaredNorm(axis) > S(0) && dot(axis, pair.support(-axis).w) > S(0);
}

/// convexOverlap() by GJK: rounded shapes, warm polytopes, and what the portal leaves undecided.
template <class Pair, class S, class Hint>
TANGERE_HD inline bool overlapByGjk(const Pair& pair, Hint* hint, S size) {
  GjkResult<S> gjk;
  if (hint != nullptr && pair.isPolytopePair()) {
    Unset<SimplexVertex<S>, 4> p;
    const int count = recall(pair, hint, p.data());
    for (int i = 0; i < count; ++i) gjk.simplex.add(p[i]);
  }
  GjkOptions<S> options;
  // Touching counts. Curved cores that touch come together ever more slowly.
  const S touching = (pair.isPolytopePair() ? S(1e-15) : S(1e-12)) * size;
  options.limit = options.within = pair.a.radius + pair.b.radius + touching;
  const GjkStatus status = gjkDistance(pair, options, startAxis(pair, hint, size), size, gjk);
  if (status == GjkStatus::Beyond) {
    if (hint != nullptr) hint->axis = gjk.v;
    forget(hint);
    return false;
  }
  if (hint != nullptr) remember(hint, hint->axis, gjk.simplex);
  return status == GjkStatus::Overlapping || gjk.distance <= options.within;
}

template <class Pair, class Hint>
TANGERE_HD inline bool convexOverlap(const Pair& pair, Hint* hint) {
  using S = typename Pair::Scalar;
  const S size = minkowskiSize(pair);
  const bool usesSimplex = hint != nullptr && pair.isPolytopePair();
  if (pair.a.radius + pair.b.radius > S(0) || !hasInside(pair) || usesSimplex)
    return overlapByGjk(pair, hint, size);
  if (hint != nullptr && separatesAgain(pair, hint)) return false;
  Portal<S> portal;
  const PortalStatus status = findPortal(pair, insidePoint(pair, size), portal);
  if (status == PortalStatus::Undecided) return overlapByGjk(pair, hint, size);
  if (status == PortalStatus::Overlapping) return true;
  if (hint != nullptr) hint->axis = -portal.axis;
  // The plane may cut off no more than rounding.
  return portal.gap * portal.gap <= S(1e-24) * size * size * squaredNorm(portal.axis);
}

/// convexCollide() of cores without rounding.
template <class Pair, class S, class Hint>
TANGERE_HD inline bool collideCores(const Pair& pair, Hint* hint, bool usePortal, S size,
                                    ConvexContact<S>* out) {
  if (hint != nullptr && hint->count == 0 && separatesAgain(pair, hint)) return false;
  if (hint != nullptr && hint->count > 0 && !pair.isPolytopePair()) {
    GjkResult<S> gjk;
    PolishResult<S> seed;
    const WarmStatus status = warmStart(pair, hint, size, gjk, seed);
    if (status == WarmStatus::Separated) {
      hint->axis = gjk.normal;
      forget(hint);
      return false;
    }
    if (status != WarmStatus::Unknown) {
      const bool proved = status == WarmStatus::Proved;
      finishOverlap(pair, penetrationFromSeed(pair, size, seed, proved), hint, proved, *out);
      return true;
    }
  }
  if (hint == nullptr || hint->count == 0 || !pair.isPolytopePair()) {
    Portal<S> portal;
    const PortalStatus status = findPortal(pair, insidePoint(pair, size), portal);
    if (status == PortalStatus::Separated) {
      if (hint != nullptr) hint->axis = -portal.axis;
      forget(hint);
      return false;
    }
    if (status == PortalStatus::Overlapping) {
      finishOverlap(pair, penetrationDepth(pair, portal, size), hint, false, *out);
      return true;
    }
  }
  *out = convexDistance(pair, S(0), true, hint, usePortal);
  if (out->distance <= S(0)) return true;
  forget(hint);
  return false;
}

/// The contact of shapes that overlap or touch; false when they are apart.
template <class Pair, class S, class Hint>
TANGERE_HD inline bool convexCollide(const Pair& pair, Hint* hint, bool usePortal,
                                     ConvexContact<S>* out) {
  const S size = minkowskiSize(pair);
  if (squaredNorm(pair.center()) > size * size) return false;
  if (!(pair.a.radius + pair.b.radius > S(0)) && hasInside(pair))
    return collideCores(pair, hint, usePortal, size, out);
  *out = convexDistance(pair, S(0), true, hint, usePortal);
  return out->distance <= S(0);
}

}  // namespace detail

/// Signed distance in the frame of A. Beyond `upperBound` the search may stop: the distance is then
/// a lower bound above it. With enableSigned off, overlap gives 0 instead of minus the depth.
template <class S, class Hint>
TANGERE_HD inline ConvexContact<S> convexDistance(const ConvexView<S>& a, const ConvexView<S>& b,
                                                  const TransformT<S>& X_AB, S upperBound,
                                                  bool enableSigned, Hint* hint) {
  return detail::convexDistance(MinkowskiPair<S>{a, b, X_AB}, upperBound, enableSigned, hint,
                                /*usePortal=*/false);
}

template <class S>
TANGERE_HD inline ConvexContact<S> convexDistance(const ConvexView<S>& a, const ConvexView<S>& b,
                                                  const TransformT<S>& X_AB, S upperBound,
                                                  bool enableSigned, std::nullptr_t = nullptr) {
  return convexDistance(a, b, X_AB, upperBound, enableSigned, static_cast<ConvexHint<S>*>(nullptr));
}

/// Whether the rounded shapes overlap or touch.
template <class S, class Hint>
TANGERE_HD inline bool convexOverlap(const ConvexView<S>& a, const ConvexView<S>& b,
                                     const TransformT<S>& X_AB, Hint* hint) {
  return detail::convexOverlap(MinkowskiPair<S>{a, b, X_AB}, hint);
}

template <class S>
TANGERE_HD inline bool convexOverlap(const ConvexView<S>& a, const ConvexView<S>& b,
                                     const TransformT<S>& X_AB, std::nullptr_t = nullptr) {
  return convexOverlap(a, b, X_AB, static_cast<ConvexHint<S>*>(nullptr));
}

}  // namespace tangere::kernel
