// SPDX-License-Identifier: Apache-2.0
#include "collision/convex_pair_functions.hpp"

namespace tangere::collision {

using kernel::CoreType;

PairFunctions coneQueries(CoreType other) {
  switch (other) {
    case CoreType::Cone:
      return convexQueries<CoreType::Cone, CoreType::Cone>();
    case CoreType::Ellipsoid:
      return convexQueries<CoreType::Cone, CoreType::Ellipsoid>();
    case CoreType::Hull:
      return convexQueries<CoreType::Cone, CoreType::Hull>();
    default:
      return {};
  }
}

}  // namespace tangere::collision
