// SPDX-License-Identifier: Apache-2.0
//
// Scenes made from a seed: bodies of every shape, materials, sizes over three decades, overlapping
// starts.
#pragma once

#include "sim/checked_simulation.hpp"

#include <cstdint>

namespace tangere::test {

/// splitmix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 0x2545f491ull) {}
  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  Real uniform(Real low, Real high) {
    return low + (high - low) * (static_cast<Real>(bits() >> 11) * 0x1p-53);
  }
  int index(int count) { return static_cast<int>(bits() % static_cast<std::uint64_t>(count)); }
  Real magnitude(Real low, Real high) {
    return std::pow(10, uniform(std::log10(low), std::log10(high)));
  }
  Vec3 vector(Real half) {
    return {uniform(-half, half), uniform(-half, half), uniform(-half, half)};
  }
  Mat3 rotation() {
    const Vec3 axis = vector(1);
    return turnAbout(norm(axis) > 1e-3 ? axis : Vec3{0, 0, 1}, uniform(0, 6.28));
  }

 private:
  std::uint64_t state_;
};

inline std::shared_ptr<const Shape> tetrahedronMesh(Real size) {
  const std::vector<Vec3> v = {
      {size, size, size}, {-size, -size, size}, {-size, size, -size}, {size, -size, -size}};
  const std::vector<Triangle> f = {{0, 1, 3}, {0, 2, 1}, {0, 3, 2}, {1, 2, 3}};
  return std::make_shared<Mesh>(v, f);
}

/// Any shape that has a mass, about `size` across.
inline std::shared_ptr<const Shape> randomShape(Real size, Random& random) {
  const auto length = [&] { return size * random.uniform(0.3, 1); };
  switch (random.index(9)) {
    case 0:
      return ball(length());
    case 1:
      return box(length(), length(), length());
    case 2:
      return std::make_shared<Capsule>(length(), length());
    case 3:
      return std::make_shared<Cylinder>(length(), length());
    case 4:
      return std::make_shared<Cone>(length(), length());
    case 5: {
      const Real x = length(), y = length(), z = length();
      return std::make_shared<Ellipsoid>(Vec3{x, y, z});
    }
    case 6: {
      std::vector<Vec3> points;
      for (int i = 0; i < 12; ++i) points.push_back(random.vector(size));
      return std::make_shared<Convex>(points);
    }
    case 7:
      return tetrahedronMesh(length());
    default: {
      const Real a = length();
      return std::make_shared<Compound>(std::vector<Compound::Child>{
          {box(a, a / 4, a / 4), {}}, {ball(a / 3), {Mat3::identity(), {a, 0, 0}}}});
    }
  }
}

inline Body randomFloor(Real size, Random& random) {
  switch (random.index(4)) {
    case 0:
      return floorOf("m0");
    case 1:
      return fixedOf("floor", box(20 * size, 20 * size, size), {0, 0, -size}, Mat3::identity(),
                     "m0");
    case 2: {
      std::vector<Real> heights;
      for (int i = 0; i < 81; ++i) heights.push_back(random.uniform(-0.5, 0.5) * size);
      return fixedOf("floor", std::make_shared<HeightField>(9, 9, 40 * size, 40 * size, heights),
                     {}, Mat3::identity(), "m0");
    }
    default: {
      std::vector<Vec3> v;
      std::vector<Triangle> f;
      const int n = 6;
      for (int j = 0; j <= n; ++j)
        for (int i = 0; i <= n; ++i)
          v.push_back({size * 40.0 * (i - n / 2) / n, size * 40.0 * (j - n / 2) / n,
                       random.uniform(-0.5, 0.5) * size});
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
          const int a = j * (n + 1) + i;
          f.push_back({a, a + 1, a + n + 2});
          f.push_back({a, a + n + 2, a + n + 1});
        }
      return fixedOf("floor", std::make_shared<Mesh>(v, f), {}, Mat3::identity(), "m0");
    }
  }
}

inline Scene randomScene(std::uint64_t seed) {
  Random random(seed);
  Scene scene;
  const Real size = random.magnitude(1e-2, 1e1);
  scene.options.dt = random.magnitude(5e-4, 2e-2);
  scene.options.impulse.slop = 1e-3 * size;
  scene.options.patchCache.enabled = random.index(4) != 0;
  scene.options.impulse.correction =
      random.index(5) == 0 ? PositionCorrection::None : PositionCorrection::SplitImpulse;
  for (int i = 0; i < 3; ++i) {
    scene.materials.push_back({.name = named("m", i),
                               .density = random.magnitude(10, 10000),
                               .friction = random.index(4) == 0 ? 0 : random.uniform(0, 1.5),
                               .restitution = random.index(2) == 0 ? 0 : random.uniform(0, 1),
                               .torsionalFriction = random.index(3) == 0 ? 0.1 * size : 0,
                               .rollingFriction = random.index(3) == 0 ? 0.05 * size : 0});
  }
  scene.bodies.push_back(randomFloor(size, random));
  const int count = 2 + random.index(29);
  // Half of the scenes start with bodies in each other.
  const Real spread =
      (random.index(2) == 0 ? 0.5 : 2.0) * size * std::cbrt(static_cast<Real>(count));
  for (int i = 0; i < count; ++i) {
    const Real scale = size * random.uniform(0.3, 1);
    std::shared_ptr<const Shape> shape = randomShape(scale, random);
    const Vec3 place = random.vector(spread) + Vec3{0, 0, spread + size};
    const Mat3 turn = random.rotation();
    Body body =
        bodyOf(named("body", i), std::move(shape), place, turn, named("m", random.index(3)));
    const Real speed = std::sqrt(kGravity * size);
    if (random.index(2) == 0) body.linearVelocity = random.vector(3 * speed);
    if (random.index(2) == 0) body.angularVelocity = random.vector(3 * speed / size);
    if (random.index(8) == 0) body.linearDamping = random.uniform(0, 2);
    if (random.index(8) == 0) body.angularDamping = random.uniform(0, 2);
    if (random.index(15) == 0) body.type = BodyType::Kinematic;
    scene.bodies.push_back(std::move(body));
  }
  return scene;
}

}  // namespace tangere::test
