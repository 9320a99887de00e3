// SPDX-License-Identifier: Apache-2.0
#include "collision/convex_pair_functions.hpp"

namespace tangere::collision {

using kernel::CoreType;

PairFunctions hullQueries() { return convexQueries<CoreType::Hull, CoreType::Hull>(); }

}  // namespace tangere::collision
