// SPDX-License-Identifier: Apache-2.0
#include "collision/convex_pair_functions.hpp"

namespace tangere::collision {

using kernel::CoreType;

PairFunctions cylinderQueries(CoreType other) {
  switch (other) {
    case CoreType::Cylinder:
      return convexQueries<CoreType::Cylinder, CoreType::Cylinder>();
    case CoreType::Cone:
      return convexQueries<CoreType::Cylinder, CoreType::Cone>();
    case CoreType::Ellipsoid:
      return convexQueries<CoreType::Cylinder, CoreType::Ellipsoid>();
    case CoreType::Hull:
      return convexQueries<CoreType::Cylinder, CoreType::Hull>();
    default:
      return {};
  }
}

}  // namespace tangere::collision
