// SPDX-License-Identifier: Apache-2.0
//
// The query functions of convex pairs, templated on the two cores. Instantiated in the
// convex_pairs*.cpp files, a few pairs each: every instance is a few thousand instructions.
#pragma once

#include "collision/kernels/convex_distance.hpp"
#include "collision/kernels/convex_manifold.hpp"
#include "collision/narrow_phase.hpp"

#include <cmath>

namespace tangere::collision {

/// Contact of two overlapping shapes, in the frame of shape 1, as a manifold in the world.
inline int addConvexManifold(const PairInput& input, const Transform& X_12,
                             const kernel::ConvexContact<Real>& contact,
                             const CollisionOption& option, CollisionResult& result) {
  ContactManifold& manifold = result.beginManifold();
  int count = 0;
  if (option.maxNumContacts == 1)
    count = kernel::writeSinglePoint(contact, -1, -1, &manifold);
  else
    count = kernel::buildConvexManifold(input.shape1.convex, input.shape2.convex, X_12, contact,
                                        &manifold);
  if (count > option.maxNumContacts) manifold.count = count = option.maxNumContacts;
  if (count == 0) {
    result.discardManifold();
    return 0;
  }
  kernel::transformManifold(input.X_W1, &manifold);
  result.commitManifold();
  if (contact.status != QueryStatus::Ok) result.raiseStatus(contact.status);
  return count;
}

inline void writeConvexDistance(const PairInput& input, const kernel::ConvexContact<Real>& contact,
                                DistanceResult& out) {
  out.distance = contact.distance;
  out.normal = input.X_W1.rotation * contact.normal;
  out.point1 = input.X_W1 * contact.pointA;
  out.point2 = input.X_W1 * contact.pointB;
  out.status = contact.status;
}

template <int CA, int CB>
struct ConvexPairQueries {
  using Pair = kernel::MinkowskiPair<Real, CA, CB>;

  /// The gap along an axis in the frame of shape 1; 0 where there is none, or none but rounding. In
  /// the world, before anything is known of the relative pose: most pairs of a scene end here.
  static Real gapAlong(const PairInput& input, const Vec3& axis) {
    const kernel::ConvexView<Real>&a = input.shape1.convex, &b = input.shape2.convex;
    const Real axis2 = squaredNorm(axis);
    if (!(axis2 > 0) || a.radius + b.radius > 0) return 0;
    const Pair cores{a, b, input.X_W2};
    const Vec3 axis_W = input.X_W1.rotation * axis;
    const Vec3 axis_2 = transposeTimes(input.X_W2.rotation, axis_W);
    int unused = 0;
    const Real gap =
        dot(axis_W, input.X_W1.translation - input.X_W2.translation) +
        (dot(axis, cores.supportA(-axis, &unused)) - dot(axis_2, cores.supportB(axis_2, &unused)));
    const Real size = a.boundingRadius + b.boundingRadius;
    if (!(gap > 0) || !(gap * gap > Real(1e-24) * size * size * axis2)) return 0;
    return gap / std::sqrt(axis2);
  }

  /// Leaves the gap along the axis in the cache, or along the line of centres where that is larger;
  /// then that line is the axis. Returns whether there is one.
  static bool leaveGap(const PairInput& input) {
    PairCache& cache = *input.cache;
    Real gap = gapAlong(input, cache.axis);
    // Small gaps are soon used up.
    if (gap * gap < Real(0.25) * cache.apart.limit || !(cache.apart.limit > 0)) {
      const Vec3 line =
          transposeTimes(input.X_W1.rotation, input.X_W1 * input.shape1.convex.center -
                                                  input.X_W2 * input.shape2.convex.center);
      const Real lineGap = gapAlong(input, line);
      if (lineGap > gap) {
        gap = lineGap;
        cache.axis = line;
      }
    }
    cache.apart.gap = gap;
    return gap > 0;
  }

  /// Whether the axis that separated the shapes last time still does, by more than rounding.
  static bool cachedAxisSeparates(const PairInput& input) {
    return input.cache && input.cache->count == 0 && squaredNorm(input.cache->axis) > 0 &&
           leaveGap(input);
  }

  static int collide(const PairInput& input, const CollisionOption& option,
                     CollisionResult& result) {
    if (cachedAxisSeparates(input)) return 0;
    const Transform X_12 = inverseTimes(input.X_W1, input.X_W2);
    kernel::ConvexContact<Real> contact;
    const Pair pair{input.shape1.convex, input.shape2.convex, X_12};
    const bool mpr = option.algorithm == ConvexAlgorithm::Mpr;
    if (!kernel::detail::convexCollide(pair, input.cache, mpr, &contact)) {
      if (input.cache) leaveGap(input);
      return 0;
    }
    return addConvexManifold(input, X_12, contact, option, result);
  }

  static bool overlap(const PairInput& input) {
    const Transform X_12 = inverseTimes(input.X_W1, input.X_W2);
    return kernel::detail::convexOverlap(Pair{input.shape1.convex, input.shape2.convex, X_12},
                                         input.cache);
  }

  static void distance(const PairInput& input, const DistanceOption& option, DistanceResult& out) {
    const Transform X_12 = inverseTimes(input.X_W1, input.X_W2);
    const Pair pair{input.shape1.convex, input.shape2.convex, X_12};
    const bool mpr = option.algorithm == ConvexAlgorithm::Mpr;
    writeConvexDistance(input,
                        kernel::detail::convexDistance(pair, option.upperBound, option.enableSigned,
                                                       input.cache, mpr),
                        out);
  }

  static PairFunctions functions() { return {collide, overlap, distance}; }
};

template <kernel::CoreType A, kernel::CoreType B>
PairFunctions convexQueries() {
  return ConvexPairQueries<static_cast<int>(A), static_cast<int>(B)>::functions();
}

// One file each.
PairFunctions boxQueries(kernel::CoreType other);
PairFunctions cylinderQueries(kernel::CoreType other);
PairFunctions coneQueries(kernel::CoreType other);
PairFunctions ellipsoidQueries(kernel::CoreType other);
PairFunctions hullQueries();

}  // namespace tangere::collision
