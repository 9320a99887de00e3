// SPDX-License-Identifier: Apache-2.0
//
// Signed distance and overlap of two rounded convex shapes: the distance of the cores by GJK less
// the radii, and the penetration of the cores where those overlap.
#pragma once

#include "collision/kernels/convex_contact.hpp"
#include "collision/kernels/epa.hpp"
#include "collision/kernels/gjk.hpp"
#include "collision/kernels/mpr.hpp"

#include <cstddef>
#include <cstdint>

namespace tangere::kernel {

/// What one query leaves for the next on the same two shapes. tangere::PairCache has the same
/// members and may be passed instead. Any content gives the same answer, sooner or later.
template <class S>
struct ConvexHint {
  Vec3T<S> axis{};
  std::uint8_t count = 0;
  std::int16_t index1[4] = {-1, -1, -1, -1};
  std::int16_t index2[4] = {-1, -1, -1, -1};
};

namespace detail {

/// D's size: what lengths are compared to.
template <class Pair>
TANGERE_HD inline typename Pair::Scalar minkowskiSize(const Pair& pair) {
  return pair.a.boundingRadius + pair.b.boundingRadius;
}

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
                                                 const SimplexVertex<S>& p3, S size,
                                                 const PolishResult<S>* seed = nullptr) {
  EpaPolytope<S> polytope;
  polytope.start(p0, p1, p2, p3);
  const Penetration<S> out = epaExpand(pair, polytope, size, seed);
  if (out.converged) return out;
  const Penetration<S> again = penetrationFromAnywhere(pair, p1.a, size, polytope);
  return again.converged || again.depth < out.depth ? again : out;
}

/// Depth of two cores that GJK found to overlap or to touch.
template <class Pair, class S>
TANGERE_HD inline Penetration<S> penetrationDepth(const Pair& pair, const Simplex<S>& simplex,
                                                  S size, const PolishResult<S>* seed = nullptr) {
  if (simplex.enclosesOrigin)
    return penetrationFrom(pair, simplex.slot[0], simplex.slot[1], simplex.slot[2], simplex.slot[3],
                           size, seed);
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

/// A point inside D that is not the origin.
template <class Pair, class S>
TANGERE_HD inline Vec3T<S> insidePoint(const Pair& pair, S size) {
  const Vec3T<S> c = pair.center();
  const S least = S(1e-8) * size;
  if (squaredNorm(c) > least * least) return c;
  // Coincident centers: D reaches much farther than this in every direction.
  return {least, S(0.5) * least, S(0.25) * least};
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

enum class WarmStatus : unsigned char { Unknown, Separated, Overlapping };

/// Curved cores: Newton's method from the pieces and the direction of the last answer. Separated
/// cores are then done (`gjk`), overlapping ones have a minimum (`seed`) and, in gjk.simplex, a
/// tetrahedron about the origin with a face across it.
template <class Pair, class S, class Hint>
TANGERE_HD inline WarmStatus warmStart(const Pair& pair, const Hint* hint, S size,
                                       GjkResult<S>& gjk, PolishResult<S>& seed) {
  using std::sqrt;
  Unset<SimplexVertex<S>, 4> p;
  const int count = recall(pair, hint, p.data());
  const S axis2 = squaredNorm(hint->axis);
  if (count == 0 || count > 3 || !(axis2 > S(0.9)) || !(axis2 < S(1.1))) return WarmStatus::Unknown;
  seed = polishDirection(pair, hint->axis * (S(-1) / norm(hint->axis)), p.data(), count, size);
  if (!seed.converged) return WarmStatus::Unknown;
  const Vec3T<S>& m = seed.direction;
  const S value = dot(m, pair.support(m).w);
  if (value < S(0)) {
    if (!isNearest(seed, -value, GjkOptions<S>{}.gap, size)) return WarmStatus::Unknown;
    setPolished(seed, -value, gjk);
    return WarmStatus::Separated;
  }
  if (!(value - seed.value <= S(1e-11) * size)) return WarmStatus::Unknown;
  seed.value = value;
  // Three support points around m and one opposite; so close that their plane is beyond the origin.
  Vec3T<S> u = anyPerpendicular(m);
  u = u * sqrt(value / (size * squaredNorm(u)));
  const Vec3T<S> v = cross(m, u);
  const S half = S(0.5), high = S(0.8660254037844386);
  Simplex<S>& simplex = gjk.simplex;
  simplex = {};
  simplex.add(pair.support(m + u));
  simplex.add(pair.support(m - u * half + v * high));
  simplex.add(pair.support(m - u * half - v * high));
  simplex.add(pair.support(-m));
  reduceSimplex(simplex);
  if (simplex.enclosesOrigin) return WarmStatus::Overlapping;
  simplex = {};
  return WarmStatus::Unknown;
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
  if (status == WarmStatus::Overlapping) {
    const Penetration<S> deep = penetrationDepth(pair, gjk.simplex, size, &seed);
    setContact(pair, deep, out);
    remember(hint, out.normal, deep.piece, deep.numPieces);
  } else {
    setContact(pair, gjk.pointA, gjk.pointA - gjk.normal * gjk.distance, gjk.distance, gjk.normal,
               out);
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
      const Penetration<S> deep = penetrationDepth(pair, portal, size);
      setContact(pair, deep, out);
      remember(hint, out.normal, deep.piece, deep.numPieces);
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
    if (status == GjkStatus::Overlapping) {
      const Penetration<S> deep = penetrationDepth(pair, gjk.simplex, size);
      setContact(pair, deep, out);
      remember(hint, out.normal, deep.piece, deep.numPieces);
    } else {
      setContact(pair, gjk.pointA, gjk.pointA - gjk.normal * gjk.distance, gjk.distance, gjk.normal,
                 out);
      remember(hint, out.normal, gjk.simplex);
      if (status == GjkStatus::Stalled) out.status = QueryStatus::NotConverged;
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

/// Contact of overlapping cores, left for the next query.
template <class Pair, class S, class Hint>
TANGERE_HD inline void finishOverlap(const Pair& pair, const Penetration<S>& deep, Hint* hint,
                                     ConvexContact<S>* out) {
  setContact(pair, deep, *out);
  remember(hint, out->normal, deep.piece, deep.numPieces);
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
    if (status == WarmStatus::Overlapping) {
      finishOverlap(pair, penetrationDepth(pair, gjk.simplex, size, &seed), hint, out);
      return true;
    }
    if (status == WarmStatus::Separated) {
      hint->axis = gjk.normal;
      forget(hint);
      return false;
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
      finishOverlap(pair, penetrationDepth(pair, portal, size), hint, out);
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
