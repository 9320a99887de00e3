// SPDX-License-Identifier: Apache-2.0
//
// Random numbers, poses and convex views that are the same on every machine.
#pragma once

#include <tangere/types.hpp>

#include "collision/golden_cases.hpp"

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

namespace tangere::test {

/// splitmix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0xbf58476d1ce4e5b9ull + 1) {}

  double uniform(double low, double high) {
    state_ += 0x9e3779b97f4a7c15ull;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    z ^= z >> 31;
    return low + (high - low) * (static_cast<double>(z >> 11) * 0x1.0p-53);
  }
  int below(int n) { return static_cast<int>(uniform(0, n)); }

  /// Uniform in the unit ball's shell, scaled to length one.
  Vec3 direction() {
    for (;;) {
      const Vec3 v{uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
      const double l = norm(v);
      if (l > 0.1 && l < 1) return v / l;
    }
  }
  Mat3 rotation() {
    for (;;) {
      const Quat q{uniform(-1, 1), uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
      const double l2 = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
      if (l2 > 0.01 && l2 < 1) return rotationMatrix(q);
    }
  }

 private:
  std::uint64_t state_;
};

/// A random convex view; hulls are kept alive by `hulls`.
inline kernel::ConvexView<double> randomView(Random& random, kernel::CoreType core, double scale,
                                             double aspect,
                                             std::vector<std::unique_ptr<HullPoints>>& hulls) {
  using kernel::CoreType;
  const auto length = [&] {
    return scale * random.uniform(0.3, 1) * (random.below(2) ? 1 : 1 / aspect);
  };
  const double a = length(), b = length(), c = length();
  switch (core) {
    case CoreType::Cylinder:
    case CoreType::Cone:
      return makeView(core, {a, a, b});
    case CoreType::Hull: {
      std::vector<Vec3> points;
      for (int i = 0, n = 6 + random.below(40); i < n; ++i) {
        const Vec3 d = random.direction();
        points.push_back({d.x * a, d.y * b, d.z * c});
      }
      hulls.push_back(std::make_unique<HullPoints>(points));
      return hulls.back()->view();
    }
    case CoreType::Segment:
      return makeView(core, {0, 0, b}, a);
    case CoreType::Point:
      return makeView(core, {}, a);
    default:
      return makeView(core, {a, b, c});
  }
}

}  // namespace tangere::test
