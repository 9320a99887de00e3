// SPDX-License-Identifier: Apache-2.0
//
// Bodies that are thrown, for tests of impacts: shapes, places and speeds from a seed.
#pragma once

#include <tangere/simulator.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

namespace tangere::test {

class RandomThrow {
 public:
  explicit RandomThrow(std::uint64_t seed) : random_(seed) {}

  Real between(Real low, Real high) {
    return low + (high - low) * static_cast<Real>(random_() >> 11) * 0x1p-53;
  }
  Vec3 vector(Real size) {
    return {between(-size, size), between(-size, size), between(-size, size)};
  }
  template <std::size_t N>
  Real oneOf(const Real (&values)[N]) {
    return values[random_() % N];
  }
  std::shared_ptr<const Shape> shape() {
    const Vec3 half{between(0.05, 0.3), between(0.05, 0.3), between(0.05, 0.3)};
    switch (random_() % 5) {
      case 0:
        return std::make_shared<Box>(half);
      case 1:
        return std::make_shared<Box>(Vec3{half.x, half.y, 0.1 * half.z});
      case 2:
        return std::make_shared<Capsule>(0.3 * half.x, half.z);
      case 3:
        return std::make_shared<Ellipsoid>(half);
      default: {
        std::vector<Vec3> corners;
        for (int i = 0; i < 12; ++i) corners.push_back(vector(0.2));
        return std::make_shared<Convex>(corners);
      }
    }
  }
  Quat orientation() {
    const Real w = between(-1, 1);
    const Vec3 v = vector(1);
    const Real size = std::sqrt(w * w + squaredNorm(v));
    return {w / size, v.x / size, v.y / size, v.z / size};
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace tangere::test
