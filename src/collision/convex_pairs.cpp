// SPDX-License-Identifier: Apache-2.0
#include "collision/convex_pairs.hpp"

#include "collision/convex_pair_functions.hpp"

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
  static const PairFunctions functions =
      ConvexPairQueries<kernel::kAnyCore, kernel::kAnyCore>::functions();
  return functions;
}

}  // namespace tangere::collision
