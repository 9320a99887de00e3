// SPDX-License-Identifier: Apache-2.0
//
// Geometry of kept contact points: their order, when two of them are the same, where a point is
// after its bodies have moved, and which of many points to keep.
#pragma once

#include <tangere/contact.hpp>
#include <tangere/types.hpp>

namespace tangere::kernel {

/// The order of points in a patch: deeper first, then by position, then by normal.
template <class S>
TANGERE_HD inline bool comesBefore(const ContactPointT<S>& a, const ContactPointT<S>& b) {
  if (a.depth != b.depth) return a.depth > b.depth;
  if (a.position.x != b.position.x) return a.position.x < b.position.x;
  if (a.position.y != b.position.y) return a.position.y < b.position.y;
  if (a.position.z != b.position.z) return a.position.z < b.position.z;
  if (a.normal.x != b.normal.x) return a.normal.x < b.normal.x;
  if (a.normal.y != b.normal.y) return a.normal.y < b.normal.y;
  return a.normal.z < b.normal.z;
}

/// What makes two points one.
template <class S>
struct PointThresholds {
  S squaredPosition;  ///< [m^2]
  S normalDot;
};

template <class S>
TANGERE_HD inline bool isSamePoint(const Vec3T<S>& position1, const Vec3T<S>& normal1,
                                   const Vec3T<S>& position2, const Vec3T<S>& normal2,
                                   const PointThresholds<S>& thresholds) {
  return squaredNorm(position1 - position2) <= thresholds.squaredPosition &&
         dot(normal1, normal2) >= thresholds.normalDot;
}

/// The witness points of a contact, world.
template <class S>
struct WitnessPoints {
  Vec3T<S> point1, point2;
};

template <class S>
TANGERE_HD inline WitnessPoints<S> witnessPoints(const ContactPointT<S>& contact) {
  const Vec3T<S> half = contact.normal * (S(0.5) * contact.depth);
  return {contact.position - half, contact.position + half};
}

/// Where a contact is whose witness points moved with their bodies.
template <class S>
struct MovedContact {
  Vec3T<S> position;  ///< half way between the witness points
  S depth;            ///< along the normal; negative: a gap
  S squaredDrift;     ///< of the witness points across the normal [m^2]
};

template <class S>
TANGERE_HD inline MovedContact<S> moveContact(const Vec3T<S>& local1, const Vec3T<S>& local2,
                                              const Vec3T<S>& normal, const TransformT<S>& X_W1,
                                              const TransformT<S>& X_W2) {
  const Vec3T<S> p1 = X_W1 * local1;
  const Vec3T<S> p2 = X_W2 * local2;
  const Vec3T<S> offset = p2 - p1;
  const S depth = dot(offset, normal);
  return {(p1 + p2) * S(0.5), depth, squaredNorm(offset - normal * depth)};
}

/// Squared distances that differ by less than this share count as equal: a resting body must not
/// trade one corner for another on rounding noise.
template <class S>
inline constexpr S kSpreadTie = S(1e-6);

/// Farthest-point sampling: starts with points[seed], then takes again and again the point whose
/// nearest chosen neighbour is farthest; of equal ones the first. Writes min(count, maxPoints)
/// indices and returns their number. `nearest` is scratch space for `count` numbers.
template <class S>
TANGERE_HD inline int selectSpreadPoints(const Vec3T<S>* points, int count, int seed, int maxPoints,
                                         S* nearest, int* chosen) {
  const S isChosen = S(-1);
  for (int i = 0; i < count; ++i) nearest[i] = squaredNorm(points[i] - points[seed]);
  chosen[0] = seed;
  nearest[seed] = isChosen;
  const int numWanted = count < maxPoints ? count : maxPoints;
  for (int n = 1; n < numWanted; ++n) {
    int best = -1;
    S farthest = isChosen;
    for (int i = 0; i < count; ++i) {
      if (nearest[i] <= farthest) continue;
      farthest = nearest[i] * (S(1) + kSpreadTie<S>);
      best = i;
    }
    chosen[n] = best;
    const Vec3T<S> last = points[best];
    nearest[best] = isChosen;
    for (int i = 0; i < count; ++i) {
      const S distance = squaredNorm(points[i] - last);
      if (distance < nearest[i]) nearest[i] = distance;
    }
  }
  return numWanted;
}

}  // namespace tangere::kernel
