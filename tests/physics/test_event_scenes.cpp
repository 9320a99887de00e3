// SPDX-License-Identifier: Apache-2.0
//
// The scenes of the event solver that users start from do what their comments say.
#include <tangere/scene.hpp>
#include <tangere/simulator.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace tangere {
namespace {

Simulator simulate(const std::string& name) {
  return Simulator(loadScene(std::string(TANGERE_TEST_DATA) + "/../../scenes/" + name).model);
}

TEST(EventScenes, TheSteelSphereEndsAsPublished) {
  Simulator simulator = simulate("bouncing_sphere_steel.toml");
  ASSERT_EQ(simulator.advanceTo(2.2).status, StepStatus::Ok);
  const BodyState steel = simulator.body("steel");
  // What the published run gave with the same tolerance; exact to about 1e-5 itself.
  EXPECT_NEAR(steel.pose.translation.z, 3.869e-4, 3e-6);
  EXPECT_NEAR(steel.linearVelocity.z, -0.4417983, 5e-5);
  EXPECT_EQ(steel.pose.translation.x, 0);
  // Wood, which bounces less, lies: as deep as its weight presses it in.
  const BodyState wood = simulator.body("wood");
  EXPECT_NEAR(wood.pose.translation.z, 0, 1e-7);
  EXPECT_LT(wood.pose.translation.z, 0);
  EXPECT_NEAR(wood.linearVelocity.z, 0, 1e-9);
}

TEST(EventScenes, TheSpeedOfTheFirstBallGoesThroughTheCradle) {
  Simulator simulator = simulate("newtons_cradle_steel.toml");
  ASSERT_EQ(simulator.advanceTo(0.5).status, StepStatus::Ok);
  EXPECT_NEAR(simulator.body("ball_4").linearVelocity.x, 1, 1e-5);
  Real momentum = 0;
  for (const char* name : {"striker", "ball_0", "ball_1", "ball_2", "ball_3"}) {
    EXPECT_NEAR(simulator.body(name).linearVelocity.x, 0, 1e-5) << name;
    momentum += simulator.body(name).linearVelocity.x;
  }
  EXPECT_NEAR(momentum + simulator.body("ball_4").linearVelocity.x, 1, 1e-7);
  EXPECT_EQ(simulator.eventStatistics().numEvents, 10);  // five impacts, each begins and ends
}

TEST(EventScenes, TheBreakSpreadsTheRackAndGainsNoEnergy) {
  Simulator simulator = simulate("billiards.toml");
  const Model& model = simulator.model();
  const auto energy = [&] {
    Real sum = 0;
    for (int i = 0; i < model.numBodies(); ++i) {
      const MassProperties& mass = model.massProperties(i);
      const BodyState body = simulator.body(i);
      sum += mass.mass * squaredNorm(body.linearVelocity) / 2 +
             mass.inertia(0, 0) * squaredNorm(body.angularVelocity) / 2;
    }
    return sum;
  };
  const Real before = energy();
  ASSERT_EQ(simulator.advanceTo(0.6).status, StepStatus::Ok);
  EXPECT_LT(energy(), before);
  int numMoving = 0;
  for (int i = 0; i < model.numBodies(); ++i) {
    if (model.bodyType(i) != BodyType::Dynamic) continue;
    const BodyState body = simulator.body(i);
    EXPECT_NEAR(body.pose.translation.z, 0.03, 3e-4) << model.bodyName(i);
    EXPECT_LT(std::fabs(body.pose.translation.x), 1.12 - 0.03);
    EXPECT_LT(std::fabs(body.pose.translation.y), 0.56 - 0.03);
    numMoving += norm(body.linearVelocity) > 0.01 ? 1 : 0;
  }
  EXPECT_GE(numMoving, 15);
}

}  // namespace
}  // namespace tangere
