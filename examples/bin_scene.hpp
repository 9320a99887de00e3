// SPDX-License-Identifier: Apache-2.0
//
// A bin on uneven ground, filled with bodies of every shape. The bodies come to rest by a plain
// relaxation that knows nothing but contacts: lower everything a little, push what overlaps apart,
// turn what is pushed off its centre. No dynamics: it only makes a pile worth looking at.
#pragma once

#include <tangere/collision.hpp>

#include <string>
#include <vector>

namespace tangere::demo {

struct Body {
  ObjectId id = kNoObject;
  std::string name;
  bool isFixed = false;
};

struct BinScene {
  CollisionGroup group;
  std::vector<Body> bodies;  ///< indexed by id
};

/// The same scene for the same number of bodies, bit for bit.
[[nodiscard]] BinScene makeBinScene(int numMovingBodies);

}  // namespace tangere::demo
