// SPDX-License-Identifier: Apache-2.0
//
// Reproducible random numbers and rotations for the tests of math.
#pragma once

#include "core/stable_hash.hpp"
#include "math/quat.hpp"

#include <cmath>
#include <cstdint>

namespace tangere::math {

class TestRandom {
 public:
  explicit TestRandom(std::uint64_t seed) : state_(seed) {}
  double between(double a, double b) {
    const std::uint64_t bits = core::StableHash::mixBits(state_ += 0x9e3779b97f4a7c15u);
    return a + (b - a) * (static_cast<double>(bits >> 11) * 0x1p-53);
  }
  Vec3 vector(double size) {
    const double x = between(-size, size), y = between(-size, size), z = between(-size, size);
    return {x, y, z};
  }
  Vec3 unitVector() {
    for (;;) {
      const Vec3 v = vector(1.0);
      const double length = tangere::norm(v);
      if (length > 0.1 && length < 1.0) return v / length;
    }
  }
  /// Two statements: the order of evaluation of arguments is the compiler's choice.
  Quat quat() {
    const Vec3 axis = unitVector();
    return quatFromAxisAngle(axis, between(-3.2, 3.2));
  }
  /// 10^e, e uniform.
  double powerOfTen(double lowest, double highest) {
    return std::pow(10.0, between(lowest, highest));
  }

 private:
  std::uint64_t state_;
};

inline double largestDifference(const Mat3& a, const Mat3& b) {
  double largest = 0.0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) largest = std::fmax(largest, std::fabs(a(i, j) - b(i, j)));
  }
  return largest;
}

}  // namespace tangere::math
