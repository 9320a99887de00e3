// SPDX-License-Identifier: Apache-2.0
//
// What counts as motion. A state beyond it has run away: what it is multiplied with next no longer
// fits a number, and before that nothing that it says means anything.
#pragma once

#include <tangere/types.hpp>

#include <cmath>

namespace tangere::model {

/// [m/s], [rad/s]; a scene may begin with up to 1e15.
inline constexpr Real kMaxSpeed = 1e20;

/// False for what is not finite too.
[[nodiscard]] inline bool isSpeed(Real v) { return std::fabs(v) <= kMaxSpeed; }
[[nodiscard]] inline bool isSpeed(const Vec3& v) {
  return isSpeed(v.x) && isSpeed(v.y) && isSpeed(v.z);
}

}  // namespace tangere::model
