// SPDX-License-Identifier: Apache-2.0
//
// What sticks, rolls and lands together under the event solver: the steps it takes, and that
// impacts add no energy. Counts of steps are the same in every run; the limits are about twice what
// is needed.
#include <tangere/integrator.hpp>
#include <tangere/simulator.hpp>

#include "sim/event_samples.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <utility>

namespace tangere {
namespace {

using test::makeBody;
using test::numbered;

ModelBuilder makeBuilder(const Material& material, const Vec3& gravity = {0, 0, -9.81}) {
  ModelBuilder builder = test::eventBuilder(material, gravity);
  test::addGround(builder);
  return builder;
}

TEST(EventMany, CapsuleTopplesAndRollsInFewSteps) {
  ModelBuilder builder = makeBuilder({.name = "m", .friction = 0.5, .restitution = 0.3});
  Body capsule = makeBody("capsule", std::make_shared<Capsule>(0.05, 0.2), {0, 0, 0.3});
  capsule.pose.rotation = rotationMatrix(Quat{0.96, 0.15, 0.24, 0.0});
  builder.addBody(capsule);
  Simulator simulator(builder.build());
  const StepReport& report = simulator.advanceTo(0.6);
  EXPECT_EQ(report.status, StepStatus::Ok);
  EXPECT_NEAR(simulator.body("capsule").pose.translation.z, 0.05, 1e-3);  // it lies
  const EventStatistics counts = simulator.eventStatistics();
  EXPECT_LT(counts.numSteps, 8000);
  EXPECT_LT(counts.numDerivatives, 5 * counts.numSteps);
  EXPECT_LT(counts.numJacobians, counts.numSteps);
}

TEST(EventMany, BallsThatStickToEachOtherAndTheTableTakeFewMatrices) {
  ModelBuilder builder =
      makeBuilder({.name = "m", .friction = 0.3, .stiffness = 5e4, .relaxationTime = 5e-4});
  SimulationOptions options = builder.options();
  options.event.slipSpeed = 1e-9;
  builder.setOptions(options);
  const Real radius = 0.03;
  const auto sphere = std::make_shared<Sphere>(radius);
  Body cue = makeBody("cue", sphere, {-0.07, 0.004, radius - 1e-5});
  cue.linearVelocity = {2, 0, 0};
  builder.addBody(cue);
  int count = 0;
  for (int row = 0; row < 4; ++row) {
    for (int i = 0; i <= row; ++i)
      builder.addBody(
          makeBody(numbered("b", count++), sphere,
                   {row * radius * std::sqrt(Real(3)), (2 * i - row) * radius, radius - 1e-5}));
  }
  Simulator simulator(builder.build());
  const StepReport& report = simulator.advanceTo(0.03);
  EXPECT_EQ(report.status, StepStatus::Ok);
  EXPECT_GT(simulator.body("b9").linearVelocity.x, 0.01);  // the blow has passed through
  const EventStatistics counts = simulator.eventStatistics();
  EXPECT_LT(counts.numDerivatives, 6 * counts.numSteps);
  EXPECT_LT(counts.numJacobians, counts.numSteps);
  const EnergyLedger& sum = simulator.energySum();
  EXPECT_LT(std::fabs(sum.residual), 1e-6 * sum.kinetic);
}

TEST(EventMany, PlateAndBallsThatTouchExactlyStayAtRest) {
  for (const int count : {4, 25}) {
    ModelBuilder builder = makeBuilder({.name = "m", .friction = 0.5, .restitution = 0});
    builder.addBody(makeBody("plate", std::make_shared<Box>(Vec3{4, 0.5, 0.1}), {0, 0, 0.1}));
    const auto sphere = std::make_shared<Sphere>(0.1);
    for (int i = 0; i < count; ++i)
      builder.addBody(
          makeBody(numbered("b", i), sphere, {0.25 * (i - Real(0.5) * (count - 1)), 0, 0.3}));
    Simulator simulator(builder.build());
    std::size_t numEvents = 0;
    for (int look = 1; look <= 5; ++look) {
      const StepReport& report = simulator.advanceTo(0.002 * look);
      EXPECT_EQ(report.status, StepStatus::Ok) << count;
      numEvents += simulator.events().size();
      EXPECT_LT(simulator.energy().kinetic, 1e-10) << count;  // a fall of 2e-13 m: 1e-9 J
    }
    EXPECT_LT(numEvents, 3u * static_cast<unsigned>(count + 1));
  }
}

TEST(EventMany, RodsThatLandObliquelyGainNoEnergy) {
  std::mt19937 random(7);
  std::uniform_real_distribution<Real> signedUnit(-1, 1);
  int numImpacts = 0;
  for (int sample = 0; sample < 300; ++sample) {
    ModelBuilder builder =
        makeBuilder({.name = "m", .friction = 1 + signedUnit(random), .restitution = 0.9}, {});
    Body rod = makeBody("rod", std::make_shared<Capsule>(0.02, 0.5), {0, 0, 0.7});
    const auto next = [&] { return signedUnit(random); };
    const Vec3 turn{next(), next(), next()};
    rod.pose.rotation = rotationMatrix(Quat{next(), turn.x, turn.y, turn.z});
    rod.linearVelocity = {3 * next(), 3 * next(), -1};
    rod.angularVelocity = {5 * next(), 5 * next(), 5 * next()};
    builder.addBody(rod);
    Simulator simulator(builder.build());
    Real before = 0;
    for (int look = 1; look <= 10; ++look) {
      simulator.advanceTo(0.1 * look);
      const EnergyLedger& sum = simulator.energySum();
      const Real work = sum.contactNormal + sum.contactFriction;
      EXPECT_LT(work, before + 1e-9) << sample;  // of some 10 J
      before = work;
      numImpacts += static_cast<int>(simulator.events().size());
    }
  }
  EXPECT_GT(numImpacts, 300);
}

// Friction that locks makes the sweeps of an impact grow before they settle.
TEST(EventMany, BlocksOfGreatFrictionThatHitEachOtherGainNoEnergy) {
  constexpr int kBlocks = 5;
  constexpr Real kMoment = 0.004;
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<Real> uniform(-1, 1);
    ModelBuilder builder =
        test::eventBuilder({.name = "m", .friction = 10, .restitution = 0}, Vec3{});
    const auto box = std::make_shared<Box>(Vec3{0.05, 0.05, 0.1});
    for (int i = 0; i < kBlocks; ++i) {
      Body block = makeBody(numbered("block", i), box, {i * (0.1 - 1e-9), 0, 0});
      block.massProperties = MassProperties{
          .mass = 1, .inertia = {{{kMoment, 0, 0}, {0, kMoment, 0}, {0, 0, kMoment}}}};
      block.linearVelocity.x = 0.1 * uniform(random);
      block.linearVelocity.z = 0.1 * uniform(random);
      block.angularVelocity.y = uniform(random);
      builder.addBody(block);
    }
    Simulator simulator(builder.build());
    const auto energy = [&] {
      Real sum = 0;
      for (int i = 0; i < kBlocks; ++i) {
        const BodyState state = simulator.body(i);
        sum +=
            (squaredNorm(state.linearVelocity) + kMoment * squaredNorm(state.angularVelocity)) / 2;
      }
      return sum;
    };
    const Real before = energy();
    simulator.step();
    EXPECT_LE(energy(), before * (1 + 1e-9)) << seed;
  }
}

}  // namespace
}  // namespace tangere
