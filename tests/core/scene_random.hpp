// SPDX-License-Identifier: Apache-2.0
//
// Random numbers, attitudes and orders that are the same on every machine, for the tests of whole
// scenes.
#pragma once

#include <tangere/types.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tangere::test {

/// splitmix64.
struct SceneRandom {
  std::uint64_t state;
  explicit SceneRandom(std::uint64_t seed) : state(seed * 0x9E3779B97F4A7C15u + 1) {}
  std::uint64_t bits() {
    std::uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  int below(int n) { return static_cast<int>(bits() % static_cast<std::uint64_t>(n)); }
  Real real(Real low, Real high) {
    return low + (high - low) * (static_cast<Real>(bits() >> 11) * 0x1p-53);
  }
  /// One statement each: the order of evaluation of arguments is the compiler's choice.
  Vec3 vec(Real low, Real high) {
    const Real x = real(low, high), y = real(low, high), z = real(low, high);
    return {x, y, z};
  }
  Vec3 direction() {
    for (;;) {
      const Vec3 v = vec(-1, 1);
      const Real length = norm(v);
      if (length > 0.1 && length < 1) return v / length;
    }
  }
  Mat3 rotation() {
    for (;;) {
      const Real w = real(-1, 1);
      const Vec3 v = vec(-1, 1);
      const Real square = w * w + squaredNorm(v);
      if (square > 0.01 && square < 1) return rotationMatrix(Quat{w, v.x, v.y, v.z});
    }
  }
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i)
      std::swap(values[i - 1], values[static_cast<std::size_t>(below(static_cast<int>(i)))]);
  }
};

/// A pose that is not turned.
inline Transform movedTo(const Vec3& p) { return {Mat3::identity(), p}; }

}  // namespace tangere::test
