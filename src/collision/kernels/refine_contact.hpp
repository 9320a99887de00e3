// SPDX-License-Identifier: Apache-2.0
//
// The last digits of a signed distance that GJK and EPA found: see refine_direction.hpp.
#pragma once

#include "collision/kernels/convex_distance.hpp"

namespace tangere::kernel {

/// Where the last answer led: refined from the pieces and the direction that `hint` holds. A proof
/// for shapes apart; of overlapping shapes the minimum that goes on from the last one.
template <class Pair, class S, class Hint>
TANGERE_HD inline bool refineFromHint(const Pair& pair, const Hint& hint, S epsilon,
                                      RefinedDirection<S>& out) {
  const S axis2 = squaredNorm(hint.axis);
  if (!(axis2 > S(0.9)) || !(axis2 < S(1.1))) return false;
  const Vec3T<S> m = hint.axis * (S(-1) / norm(hint.axis));
  if (detail::refineOnFace(pair, m, out)) return true;
  Unset<SimplexVertex<S>, 4> p;
  const int count = detail::recall(pair, &hint, p.data());
  if (count == 0 || count > 3) return false;
  return detail::refineFrom(pair, m, p.data(), count, detail::minkowskiSize(pair), epsilon, out);
}

/// A refined direction as a contact of the rounded shapes.
template <class Pair, class S>
TANGERE_HD inline void setRefined(const Pair& pair, const RefinedDirection<S>& refined,
                                  ConvexContact<S>* out) {
  const Vec3T<S> pointB = refined.pointA - refined.direction * refined.value;
  detail::setContact(pair, refined.pointA, pointB, -refined.value, -refined.direction, *out);
  out->status = QueryStatus::Ok;
}

/// Signed distance of two shapes of which one is curved, to the last digits. `hint` must not be
/// null. NotConverged: the digits are those of convexDistance().
template <class Pair, class S, class Hint>
TANGERE_HD inline ConvexContact<S> refinedDistance(const Pair& pair, Hint* hint, S epsilon) {
  using std::fabs;
  const S size = detail::minkowskiSize(pair);
  const S smaller =
      pair.a.boundingRadius < pair.b.boundingRadius ? pair.a.boundingRadius : pair.b.boundingRadius;
  ConvexContact<S> contact;
  RefinedDirection<S> refined;
  // So shallow an overlap has no shorter way out than the one it came in by.
  const S shallow = S(1e-2) * smaller;
  if (refineFromHint(pair, *hint, epsilon, refined) && refined.value <= shallow) {
    setRefined(pair, refined, &contact);
    detail::remember(hint, contact.normal, refined.piece, refined.numPieces);
    return contact;
  }
  contact = detail::convexDistance(pair, S(1e300), true, hint, /*usePortal=*/false);
  const S coarse = -(contact.distance + pair.a.radius + pair.b.radius);
  const S touching = S(1e-6) * size;
  const auto agrees = [&] { return fabs(refined.value - coarse) <= touching; };
  // What GJK finds where shapes touch has no direction of its own: the portal goes first there.
  const bool apart = fabs(coarse) > touching;
  bool found = apart && refineFromHint(pair, *hint, epsilon, refined) && agrees();
  found = found || (refineFromPortal(pair, epsilon, refined) && agrees());
  found = found || (!apart && refineFromHint(pair, *hint, epsilon, refined) && agrees());
  found = found ||
          detail::refineOnParallelFaces(pair, -contact.normal, coarse,
                                        contact.pointA + contact.normal * pair.a.radius, refined);
  if (!found) {
    contact.status = QueryStatus::NotConverged;
    return contact;
  }
  setRefined(pair, refined, &contact);
  detail::remember(hint, contact.normal, refined.piece, refined.numPieces);
  return contact;
}

}  // namespace tangere::kernel
