// SPDX-License-Identifier: Apache-2.0
#include "collision/convex_pair_functions.hpp"

namespace tangere::collision {

using kernel::CoreType;

PairFunctions boxQueries(CoreType other) {
  switch (other) {
    case CoreType::Box:
      return convexQueries<CoreType::Box, CoreType::Box>();
    case CoreType::Cylinder:
      return convexQueries<CoreType::Box, CoreType::Cylinder>();
    case CoreType::Cone:
      return convexQueries<CoreType::Box, CoreType::Cone>();
    case CoreType::Ellipsoid:
      return convexQueries<CoreType::Box, CoreType::Ellipsoid>();
    case CoreType::Hull:
      return convexQueries<CoreType::Box, CoreType::Hull>();
    default:
      return {};
  }
}

}  // namespace tangere::collision
