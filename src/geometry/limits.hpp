// SPDX-License-Identifier: Apache-2.0
//
// The sizes a shape may have. The range is wider than anything that is simulated and narrow enough
// that no product of a few lengths leaves the range of double, so queries need no overflow guards.
#pragma once

#include <tangere/types.hpp>

#include "core/assert.hpp"

#include <cmath>

namespace tangere::geometry {

inline constexpr Real kMinSize = 1e-12;  // [m]
inline constexpr Real kMaxSize = 1e12;   // [m]

/// How far from the world's origin a query still answers: squares of squares of it are finite.
inline constexpr Real kMaxPosition = 1e30;  // [m]

/// True for a usable size; false for NaN.
[[nodiscard]] inline bool isSize(Real size) { return size >= kMinSize && size <= kMaxSize; }

/// True for a usable coordinate of a vertex; false for NaN.
[[nodiscard]] inline bool isCoordinate(const Vec3& p) {
  return std::fabs(p.x) <= kMaxSize && std::fabs(p.y) <= kMaxSize && std::fabs(p.z) <= kMaxSize;
}

/// True for a usable position in the world; false for NaN.
[[nodiscard]] inline bool isPosition(const Vec3& p) {
  return std::fabs(p.x) <= kMaxPosition && std::fabs(p.y) <= kMaxPosition &&
         std::fabs(p.z) <= kMaxPosition;
}

}  // namespace tangere::geometry
