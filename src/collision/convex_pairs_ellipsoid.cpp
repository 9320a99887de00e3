// SPDX-License-Identifier: Apache-2.0
#include "collision/convex_pair_functions.hpp"

namespace tangere::collision {

using kernel::CoreType;

PairFunctions ellipsoidQueries(CoreType other) {
  switch (other) {
    case CoreType::Ellipsoid:
      return convexQueries<CoreType::Ellipsoid, CoreType::Ellipsoid>();
    case CoreType::Hull:
      return convexQueries<CoreType::Ellipsoid, CoreType::Hull>();
    default:
      return {};
  }
}

}  // namespace tangere::collision
