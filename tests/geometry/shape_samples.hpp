// SPDX-License-Identifier: Apache-2.0
//
// What the tests of shapes share: a generator whose numbers are the same everywhere, random poses,
// and one example of every bounded solid at any scale.
#pragma once

#include <tangere/shape.hpp>

#include "core/elementary.hpp"

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tangere::testing {

/// splitmix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// In [lower, upper).
  Real uniform(Real lower, Real upper) {
    return lower + (upper - lower) * (static_cast<Real>(bits() >> 11) * 0x1p-53);
  }
  int index(int count) { return static_cast<int>(bits() % static_cast<std::uint64_t>(count)); }
  Vec3 inBox(const Vec3& half) {
    const Real x = uniform(-half.x, half.x), y = uniform(-half.y, half.y);
    return {x, y, uniform(-half.z, half.z)};
  }
  Vec3 direction() {
    for (;;) {
      const Vec3 v = inBox({1, 1, 1});
      const Real l = norm(v);
      if (l > 0.1 && l <= 1) return v / l;
    }
  }
  Mat3 rotation() {
    for (;;) {
      const Real w = uniform(-1, 1);
      const Vec3 v = inBox({1, 1, 1});
      const Real l2 = w * w + squaredNorm(v);
      if (l2 > 0.01 && l2 <= 1) return rotationMatrix(Quat{w, v.x, v.y, v.z});
    }
  }

 private:
  std::uint64_t state_;
};

struct NamedShape {
  std::string name;
  std::shared_ptr<const Shape> shape;
};

inline std::vector<Vec3> boxCorners(const Vec3& h) {
  std::vector<Vec3> out;
  for (int i = 0; i < 8; ++i) {
    out.push_back(
        {(i & 1) != 0 ? h.x : -h.x, (i & 2) != 0 ? h.y : -h.y, (i & 4) != 0 ? h.z : -h.z});
  }
  return out;
}

/// `count` points on the unit sphere, spread evenly (a golden spiral).
inline std::vector<Vec3> spherePoints(int count) {
  std::vector<Vec3> out;
  for (int i = 0; i < count; ++i) {
    const Real z = 1 - (2 * i + 1) / static_cast<Real>(count);
    const Real r = std::sqrt(1 - z * z);
    const Real angle = 2.399963229728653 * i;
    out.push_back({r * core::cos(angle), r * core::sin(angle), z});
  }
  return out;
}

inline std::vector<Vec3> scaled(std::vector<Vec3> points, Real scale) {
  for (Vec3& p : points) p *= scale;
  return points;
}

inline std::vector<Vec3> moved(std::vector<Vec3> points, const Transform& X) {
  for (Vec3& p : points) p = X * p;
  return points;
}

/// One of every bounded solid, and shapes that are much longer or flatter than wide.
inline std::vector<NamedShape> convexSamples(Real s = 1) {
  Random random(7);
  std::vector<Vec3> cloud;
  for (int i = 0; i < 60; ++i) cloud.push_back(random.inBox({s, 0.7 * s, 1.3 * s}));
  std::vector<Vec3> offCentre = boxCorners({0.2 * s, 0.3 * s, 0.4 * s});
  for (Vec3& p : offCentre) p += Vec3{2 * s, -s, 0.5 * s};
  return {
      {"sphere", std::make_shared<Sphere>(0.8 * s)},
      {"box", std::make_shared<Box>(Vec3{0.5 * s, 0.8 * s, 1.1 * s})},
      {"plate", std::make_shared<Box>(Vec3{s, s, 1e-3 * s})},
      {"capsule", std::make_shared<Capsule>(0.4 * s, 0.9 * s)},
      {"thin capsule", std::make_shared<Capsule>(1e-3 * s, s)},
      {"cylinder", std::make_shared<Cylinder>(0.6 * s, 0.9 * s)},
      {"coin", std::make_shared<Cylinder>(s, 1e-3 * s)},
      {"cone", std::make_shared<Cone>(0.7 * s, 0.9 * s)},
      {"needle", std::make_shared<Cone>(1e-3 * s, s)},
      {"flat cone", std::make_shared<Cone>(s, 1e-3 * s)},
      {"ellipsoid", std::make_shared<Ellipsoid>(Vec3{0.5 * s, 0.8 * s, 1.2 * s})},
      {"disc", std::make_shared<Ellipsoid>(Vec3{s, 0.8 * s, 1e-3 * s})},
      {"hull", std::make_shared<Convex>(cloud)},
      {"off-centre hull", std::make_shared<Convex>(offCentre)},
  };
}

}  // namespace tangere::testing
