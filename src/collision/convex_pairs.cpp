// SPDX-License-Identifier: Apache-2.0
#include "collision/convex_pairs.hpp"

#include "collision/convex_pair_functions.hpp"
#include "collision/extended_mpr.hpp"

namespace tangere::collision {

namespace {

/// The core of the shapes this family owns; Point for all others.
kernel::CoreType coreOf(ShapeType type) {
  switch (type) {
    case ShapeType::Box:
      return kernel::CoreType::Box;
    case ShapeType::Cylinder:
      return kernel::CoreType::Cylinder;
    case ShapeType::Cone:
      return kernel::CoreType::Cone;
    case ShapeType::Ellipsoid:
      return kernel::CoreType::Ellipsoid;
    case ShapeType::Convex:
      return kernel::CoreType::Hull;
    default:
      return kernel::CoreType::Point;
  }
}

using GeneralQueries = ConvexPairQueries<kernel::kAnyCore, kernel::kAnyCore>;

int collideGeneral(const PairInput& input, const CollisionOption& option, CollisionResult& result) {
  if (option.algorithm != ConvexAlgorithm::MprExtended)
    return GeneralQueries::collide(input, option, result);
  const Transform X_12 = inverseTimes(input.X_W1, input.X_W2);
  const kernel::ConvexContact<Real> contact =
      extendedDistance(input.shape1.convex, input.shape2.convex, X_12);
  if (contact.distance > 0) return 0;
  return addConvexManifold(input, X_12, contact, option, result);
}

void distanceGeneral(const PairInput& input, const DistanceOption& option, DistanceResult& out) {
  if (option.algorithm != ConvexAlgorithm::MprExtended) {
    GeneralQueries::distance(input, option, out);
    return;
  }
  const Transform X_12 = inverseTimes(input.X_W1, input.X_W2);
  kernel::ConvexContact<Real> contact =
      extendedDistance(input.shape1.convex, input.shape2.convex, X_12);
  if (!option.enableSigned && contact.distance < 0) {
    contact.distance = 0;
    contact.pointA = contact.pointB = (contact.pointA + contact.pointB) * Real(0.5);
  }
  writeConvexDistance(input, contact, out);
}

}  // namespace

PairFunctions convexPairFunctions(ShapeType type1, ShapeType type2) {
  const kernel::CoreType core2 = coreOf(type2);
  if (core2 == kernel::CoreType::Point) return {};
  switch (coreOf(type1)) {
    case kernel::CoreType::Box:
      return boxQueries(core2);
    case kernel::CoreType::Cylinder:
      return cylinderQueries(core2);
    case kernel::CoreType::Cone:
      return coneQueries(core2);
    case kernel::CoreType::Ellipsoid:
      return ellipsoidQueries(core2);
    case kernel::CoreType::Hull:
      return hullQueries();
    default:
      return {};
  }
}

const PairFunctions& generalConvexFunctions() {
  static const PairFunctions functions{collideGeneral, GeneralQueries::overlap, distanceGeneral};
  return functions;
}

}  // namespace tangere::collision
