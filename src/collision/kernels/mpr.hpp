// SPDX-License-Identifier: Apache-2.0
//
// Minkowski portal refinement (Snethen 2008): a triangle of support points of D = A - B, the
// portal, through which the ray from a point inside D towards the origin leaves it. Every step asks
// for one support point and needs no division; a support plane with the origin outside proves the
// shapes apart, and a portal beyond the origin proves the overlap.
#pragma once

#include "collision/kernels/simplex.hpp"

namespace tangere::kernel {

enum class PortalStatus : unsigned char {
  Separated,    ///< `axis` is the outward normal of a plane between the origin and D
  Overlapping,  ///< the origin is in the tetrahedron of the center and the portal
  Undecided,    ///< degenerate, or the iteration cap: ask GJK
};

/// The ray starts at `center` and runs along -center; seen from outside the portal's vertices turn
/// counter-clockwise.
template <class S>
struct Portal {
  Vec3T<S> center{};
  Unset<SimplexVertex<S>, 4> slot;
  int vertex[4] = {0, 1, 2, 3};  ///< the slots of the three vertices, and a spare one
  Vec3T<S> normal{};             ///< not unit
  Vec3T<S> axis{};
  S gap{};        ///< of the separating plane, in multiples of |axis|
  int count = 0;  ///< slots filled: fewer than three when a first plane separates

  [[nodiscard]] TANGERE_HD const SimplexVertex<S>& p(int i) const { return slot[vertex[i]]; }
};

/// `center` must lie inside D and not at the origin.
template <class Pair, class S>
TANGERE_HD inline PortalStatus findPortal(const Pair& pair, const Vec3T<S>& center,
                                          Portal<S>& portal) {
  constexpr int kMaxSteps = 64;
  const Vec3T<S> c = center, d = -center;
  portal.center = c;
  int* v = portal.vertex;
  Vec3T<S> r[3];  // vertices relative to the center
  const auto replace = [&](int i, const Vec3T<S>& r4) {
    r[i] = r4;
    const int spare = v[3];
    v[3] = v[i];
    v[i] = spare;
  };

  SimplexVertex<S>* p = &portal.slot[0];
  *p = pair.support(d);
  portal.count = 1;
  const auto separates = [&](const Vec3T<S>& n) {
    portal.gap = -dot(n, p->w);
    portal.axis = n;
    return portal.gap > S(0);
  };
  if (separates(d)) return PortalStatus::Separated;
  r[0] = p->w - c;
  Vec3T<S> n = cross(r[0], d);
  if (!(squaredNorm(n) > S(1e-24) * squaredNorm(r[0]) * squaredNorm(d))) {
    // The ray leaves through this vertex: any plane through it will do.
    const S x = d.x * d.x, y = d.y * d.y, z = d.z * d.z;
    n = cross(d, x <= y && x <= z ? Vec3T<S>{S(1), S(0), S(0)}
                 : y <= z         ? Vec3T<S>{S(0), S(1), S(0)}
                                  : Vec3T<S>{S(0), S(0), S(1)});
  }
  p = &portal.slot[1];
  *p = pair.support(n);
  portal.count = 2;
  r[1] = p->w - c;
  n = cross(r[0], r[1]);
  if (dot(n, d) < S(0)) {
    const Vec3T<S> swap = r[0];
    r[0] = r[1];
    r[1] = swap;
    v[0] = 1;
    v[1] = 0;
    n = -n;
  }
  // Turn the third vertex round the ray until the ray passes between all three.
  int step = 0;
  for (;; ++step) {
    if (step == kMaxSteps) return PortalStatus::Undecided;
    p = &portal.slot[v[2]];
    *p = pair.support(n);
    portal.count = 3;
    if (separates(n)) return PortalStatus::Separated;
    r[2] = p->w - c;
    const Vec3T<S> r3xd = cross(r[2], d);
    const bool beyond1 = dot(r[1], r3xd) < S(0);  // (r2 x r3) . d < 0
    const bool beyond2 = dot(r[0], r3xd) > S(0);  // (r3 x r1) . d < 0
    if (!beyond1 && !beyond2) break;
    const int i = beyond1 ? 0 : 1;
    r[i] = r[2];
    const int swap = v[i];
    v[i] = v[2];
    v[2] = swap;
    n = cross(r[0], r[1]);
  }
  for (; step < kMaxSteps; ++step) {
    const Vec3T<S> m = cross(r[1] - r[0], r[2] - r[0]);
    portal.normal = m;
    const S height = dot(m, d);  // of the origin over the center
    if (!(height > S(0))) return PortalStatus::Undecided;
    if (dot(m, r[0]) >= height) return PortalStatus::Overlapping;
    p = &portal.slot[v[3]];
    *p = pair.support(m);
    portal.count = 4;
    if (separates(m)) return PortalStatus::Separated;
    const Vec3T<S> r4 = p->w - c, r4xd = cross(r4, d);
    const S s1 = dot(r[0], r4xd), s2 = dot(r[1], r4xd), s3 = dot(r[2], r4xd);
    // The ray passes between the new vertex and two of the old ones.
    const bool out3 = s2 >= S(0) && s1 <= S(0), out1 = s3 >= S(0) && s2 <= S(0);
    replace(out3 ? 2 : out1 ? 0 : 1, r4);
  }
  return PortalStatus::Undecided;
}

/// Where the ray from `center` (inside D) through the origin leaves D, on whichever side of the
/// origin that is: the portal there, its vertices the supports of the surface around the ray, to
/// within `tolerance` of it. False after the iteration cap: the portal is then the best one seen.
///
/// Shapes that just touch leave D at the origin itself, where the portal is the tangent plane: the
/// one case in which GJK has no direction to go by.
template <class Pair, class S>
TANGERE_HD inline bool findExit(const Pair& pair, const Vec3T<S>& center, S tolerance,
                                Portal<S>& portal) {
  using std::sqrt;
  constexpr int kMaxSteps = 120;
  const Vec3T<S> c = center, d = -center;
  portal.center = c;
  int* v = portal.vertex;
  Vec3T<S> r[3];
  const auto look = [&](int i, const Vec3T<S>& along) {
    portal.slot[v[i]] = pair.support(along);
    return portal.slot[v[i]].w - c;
  };
  r[0] = look(0, d);
  Vec3T<S> n = cross(r[0], d);
  if (!(squaredNorm(n) > S(1e-24) * squaredNorm(r[0]) * squaredNorm(d)))
    n = detail::anyPerpendicular(d);
  r[1] = look(1, n);
  n = cross(r[0], r[1]);
  if (dot(n, d) < S(0)) {
    const Vec3T<S> swap = r[0];
    r[0] = r[1];
    r[1] = swap;
    v[0] = 1;
    v[1] = 0;
    n = -n;
  }
  portal.count = 3;
  int step = 0;
  for (;; ++step) {
    if (step == kMaxSteps) return false;
    r[2] = look(2, n);
    const Vec3T<S> r3xd = cross(r[2], d);
    const bool beyond1 = dot(r[1], r3xd) < S(0);
    const bool beyond2 = dot(r[0], r3xd) > S(0);
    if (!beyond1 && !beyond2) break;
    const int i = beyond1 ? 0 : 1;
    r[i] = r[2];
    const int swap = v[i];
    v[i] = v[2];
    v[2] = swap;
    n = cross(r[0], r[1]);
  }
  for (; step < kMaxSteps; ++step) {
    const Vec3T<S> m = cross(r[1] - r[0], r[2] - r[0]);
    const S length = sqrt(squaredNorm(m));
    if (!(length > S(0)) || !(dot(m, d) > S(0))) return step > 0;  // as thin as rounding allows
    portal.normal = m;
    const Vec3T<S> r4 = look(3, m);
    portal.count = 4;
    if (dot(m, r4 - r[0]) <= tolerance * length) return true;
    const Vec3T<S> r4xd = cross(r4, d);
    const S s1 = dot(r[0], r4xd), s2 = dot(r[1], r4xd), s3 = dot(r[2], r4xd);
    const bool out3 = s2 >= S(0) && s1 <= S(0), out1 = s3 >= S(0) && s2 <= S(0);
    const int i = out3 ? 2 : out1 ? 0 : 1;
    r[i] = r4;
    const int spare = v[3];
    v[3] = v[i];
    v[i] = spare;
  }
  return false;
}

}  // namespace tangere::kernel
