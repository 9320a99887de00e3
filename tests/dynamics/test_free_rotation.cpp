// SPDX-License-Identifier: Apache-2.0
//
// The free rotation of any body keeps its energy and momentum, for needles and plates as well.
#include "dynamics/kernels/free_rotation.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tangere {
namespace {

struct Spin {
  Mat3 inertia{}, inverse{};
  kernel::RotationState<Real> state{};

  Spin(Real a, Real b, Real c, const Vec3& w) {
    const Real moments[3] = {a, b, c};
    for (int i = 0; i < 3; ++i) {
      inertia(i, i) = moments[i];
      inverse(i, i) = 1 / moments[i];
    }
    state.angularVelocity = w;
  }
  void step(Real duration) {
    state = kernel::freeRotation(inertia, inverse, false, state, duration);
  }
  [[nodiscard]] Vec3 momentum() const {
    const Mat3 R = rotationMatrix(state.orientation);
    return R * (inertia * transposeTimes(R, state.angularVelocity));
  }
  [[nodiscard]] Real energy() const { return 0.5 * dot(momentum(), state.angularVelocity); }
};

TEST(FreeRotation, KeepsEnergyAndMomentumWhateverTheShapeOfTheBody) {
  // A needle's moments differ by ten thousand and more.
  for (const Real thin : {1e-6, 1e-4, 1e-2, 0.3}) {
    for (const Vec3& w : {Vec3{20, 0, 0}, Vec3{20, 3, 0.1}, Vec3{1, 2, 100}, Vec3{0.1, 0.2, 0.1}}) {
      for (const Real duration : {1e-3, 1e-2, 0.1}) {
        Spin spin(1, 1 + thin / 2, thin, w);
        const Vec3 L = spin.momentum();
        const Real energy = spin.energy();
        for (int i = 0; i < 200; ++i) spin.step(duration);
        EXPECT_LT(norm(spin.momentum() - L), 1e-11 * norm(L)) << thin << " " << duration;
        EXPECT_NEAR(spin.energy(), energy, 1e-9 * energy) << thin << " " << duration;
      }
    }
  }
}

TEST(FreeRotation, ANeedleTurnsAboutAFixedAxis) {
  Spin spin(1, 1, 1e-4, {0, 20, 0});
  for (int i = 0; i < 100; ++i) spin.step(0.01);
  EXPECT_NEAR(spin.state.angularVelocity.y, 20, 1e-9);
  EXPECT_NEAR(rotationMatrix(spin.state.orientation)(0, 0), std::cos(20.0), 1e-5);
}

TEST(FreeRotation, IsOfFourthOrder) {
  const auto end = [](int steps) {
    Spin spin(1, 2, 2.5, {3, 0.1, 1});
    for (int i = 0; i < steps; ++i) spin.step(1.0 / steps);
    return spin.state.angularVelocity;
  };
  // One step of a second is divided until it turns by little: both are accurate.
  EXPECT_LT(norm(end(1) - end(2000)), 1e-5);
  EXPECT_LT(norm(end(100) - end(2000)), 1e-6);
}

TEST(FreeRotation, NothingTurnsWithoutASpin) {
  Spin spin(1, 2, 2.5, {});
  spin.step(1);
  EXPECT_EQ(spin.state.orientation, Quat{});
}

}  // namespace
}  // namespace tangere
