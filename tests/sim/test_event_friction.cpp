// SPDX-License-Identifier: Apache-2.0
//
// Friction under the event solver from little to a thousand: what holds, slides and sticks, and
// what that costs.
#include <tangere/integrator.hpp>
#include <tangere/simulator.hpp>

#include "sim/event_samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tangere {
namespace {

using test::addGround;
using test::eventBuilder;
using test::makeBody;

enum class Yields { No, Yes };
Material materialOf(Real friction, Yields yields, Real restitution = 0) {
  Material m{.name = "m", .friction = friction, .restitution = restitution};
  if (yields == Yields::Yes) m.stiffness = 2e5, m.relaxationTime = 0.0015;
  return m;
}

/// Steps until a time; all of them must succeed.
void runTo(Simulator& simulator, Real time) {
  while (simulator.state().time < time - 1e-9) {
    const StepReport& report = simulator.step();
    ASSERT_EQ(report.status, StepStatus::Ok)
        << describe(report, simulator.model(), simulator.state().step);
  }
}

TEST(EventFriction, ABlockOnAnInclineHoldsOrSlidesWhateverItsFriction) {
  constexpr Real kAngle = 0.3, g = 9.81;
  const Vec3 gravity{g * std::sin(kAngle), 0, -g * std::cos(kAngle)};
  for (const Yields yields : {Yields::No, Yields::Yes}) {
    for (const Real friction : {0.05, 0.25, 0.35, 1.0, 1.7, 10.0, 100.0, 1000.0}) {
      ModelBuilder builder = eventBuilder(materialOf(friction, yields), gravity);
      addGround(builder);
      builder.addBody(makeBody("b", std::make_shared<Box>(Vec3{0.2, 0.2, 0.02}), {0, 0, 0.02}));
      Simulator simulator(builder.build());
      runTo(simulator, 0.5);
      const Real settled = simulator.body("b").pose.translation.x;
      runTo(simulator, 1);
      const BodyState end = simulator.body("b");
      const Real acceleration = gravity.x + friction * gravity.z;
      if (acceleration > 0) {
        // While a contact that yields is pressed in friction is less than it will be.
        const Real early = yields == Yields::Yes ? 2e-3 : 1e-7;
        EXPECT_NEAR(end.linearVelocity.x, acceleration, early * acceleration) << friction;
        EXPECT_NEAR(end.pose.translation.x - settled, acceleration * 0.375, early) << friction;
      } else {
        // What holds creeps with a third of the slip speed times load over normal force, at most.
        EXPECT_LT(std::fabs(end.linearVelocity.x), 1e-9) << friction;
        EXPECT_LT(std::fabs(end.pose.translation.x - settled), 0.5e-9) << friction;
      }
      EXPECT_LT(simulator.eventStatistics().numSteps, 3000) << friction;
    }
  }
}

/// The part of the slip speed at which friction is this part of its full value: docs/events.md.
Real creepOf(Real part) {
  Real low = 0, high = 1;
  for (int i = 0; i < 60; ++i) {
    const Real x = (low + high) / 2;
    const Real size = x * x * (1 - x / 3) + Real(1) / 3;
    (x / size < part ? low : high) = x;
  }
  return low;
}

// Sticking is a steep slope, not a constraint: what it costs is this creep, some nanometres in ten
// seconds, less than how deep such a body rests in the floor.
TEST(EventFriction, WhatSticksCreepsAtThePartOfTheSlipSpeedThatItsLoadSays) {
  constexpr Real g = 9.81, kSlip = 1e-9;
  for (const Yields yields : {Yields::No, Yields::Yes}) {
    for (const Real angle : {0.1, 0.3, 0.6, 1.2}) {
      for (const Real friction : {0.2, 0.35, 0.8, 1.7, 100.0}) {
        const Real part = std::tan(angle) / friction;
        if (!(part < 0.95)) continue;
        ModelBuilder builder = eventBuilder(materialOf(friction, yields),
                                            {g * std::sin(angle), 0, -g * std::cos(angle)});
        addGround(builder);
        builder.addBody(makeBody("b", std::make_shared<Box>(Vec3{0.2, 0.2, 0.02}), {0, 0, 0.02}));
        Simulator simulator(builder.build());
        runTo(simulator, 1);
        const Real settled = simulator.body("b").pose.translation.x;
        runTo(simulator, 11);
        const Real creep = simulator.body("b").pose.translation.x - settled;
        const Real expected = 10 * kSlip * std::max<Real>(friction, 1) * creepOf(part);
        EXPECT_NEAR(creep, expected, 0.02 * expected) << angle << ", friction " << friction;
        EXPECT_LT(creep, 1e-8);
        EXPECT_LT(simulator.eventStatistics().numSteps, 3000) << angle << ", " << friction;
      }
    }
  }
}

TEST(EventFriction, APlateSlidesToAStopByItsFriction) {
  for (const Real friction : {0.1, 0.7, 3.0, 10.0, 30.0}) {
    ModelBuilder builder = eventBuilder(materialOf(friction, Yields::No));
    addGround(builder);
    Body plate = makeBody("b", std::make_shared<Box>(Vec3{0.2, 0.2, 0.002}), {0, 0, 0.002});
    plate.linearVelocity = {1, 0, 0};
    builder.addBody(plate);
    Simulator simulator(builder.build());
    runTo(simulator, 1.2);
    const BodyState end = simulator.body("b");
    // 3e-5: the normal force is there after a part of the period of rest, 1e-4 s.
    EXPECT_NEAR(end.pose.translation.x, 1 / (2 * friction * 9.81), 3e-5) << friction;
    EXPECT_LT(norm(end.linearVelocity), 1e-12) << friction;
    EXPECT_LT(simulator.eventStatistics().numSteps, 4000) << friction;
  }
}

TEST(EventFriction, ASpinningBallLandsAndRollsOnWhateverItsFriction) {
  constexpr Real r = 0.05;
  for (const Real restitution : {0.0, 0.5}) {
    for (const Real friction : {0.8, 2.0, 10.0, 100.0, 1000.0}) {
      ModelBuilder builder = eventBuilder(materialOf(friction, Yields::No, restitution));
      addGround(builder);
      Body ball = makeBody("b", std::make_shared<Sphere>(r), {0, 0, 0.1});
      ball.linearVelocity = {0.3, 0.1, 0};
      ball.angularVelocity = {0, 40, 0};
      builder.addBody(ball);
      Simulator simulator(builder.build());
      runTo(simulator, 1);
      const BodyState end = simulator.body("b");
      // Angular momentum about the point of contact is kept: v = 5/7 v0 + 2/7 w r.
      EXPECT_NEAR(end.linearVelocity.x, (5 * 0.3 + 2 * 40 * r) / 7, 1e-6) << friction;
      EXPECT_NEAR(end.linearVelocity.y, 5 * 0.1 / 7, 1e-6) << friction;
      EXPECT_NEAR(end.angularVelocity.y * r, end.linearVelocity.x, 1e-6) << friction;
      EXPECT_LT(simulator.eventStatistics().numSteps, 3000) << friction;
    }
  }
}

// A rod that meets the ground obliquely: friction that would stop the slip may throw its end up, so
// that it neither sticks nor presses: the two have to be found together.
TEST(EventFriction, ARodThatLandsObliquelyObeysCoulombsLawWhateverItsFriction) {
  std::mt19937_64 random(11);
  const auto next = [&] { return 2 * (static_cast<Real>(random() >> 11) * 0x1p-53) - 1; };
  int numSticking = 0, numSliding = 0;
  for (int sample = 0; sample < 120; ++sample) {
    const Real friction =
        std::vector<Real>{0.5, 2, 10, 100, 1000}[static_cast<std::size_t>(sample % 5)];
    ModelBuilder builder = eventBuilder(materialOf(friction, Yields::No), {});
    addGround(builder);
    Body rod = makeBody("b", std::make_shared<Capsule>(0.02, 0.3), {0, 0, 0.5});
    const Quat turn{next(), next(), next(), next()};
    rod.pose.rotation = rotationMatrix(turn);
    rod.linearVelocity = {3 * next(), 3 * next(), -1};
    rod.angularVelocity = {3 * next(), 3 * next(), 3 * next()};
    builder.addBody(rod);
    const Model model = builder.build();
    Simulator ahead(model), simulator(model);
    while (ahead.state().time < 0.6 && ahead.events().empty()) ahead.step();
    if (ahead.events().empty()) continue;
    const EventRecord hit = ahead.events().front();
    constexpr Real kShort = 1e-7;
    simulator.advanceTo(hit.time - kShort);
    const BodyState before = simulator.body("b");
    ASSERT_EQ(simulator.advanceTo(hit.time + kShort).status, StepStatus::Ok);
    const BodyState after = simulator.body("b");
    const Real mass = 0.02 * 0.02 * 3.141592653589793 * (0.6 + 0.02 * 4 / 3) * 1000;
    const Vec3 impulse = (after.linearVelocity - before.linearVelocity) * mass;
    const Vec3 arm = hit.position - after.pose.translation;
    const Vec3 velocity = after.linearVelocity + cross(after.angularVelocity, arm);
    const Vec3 slip{velocity.x, velocity.y, 0}, push{impulse.x, impulse.y, 0};
    // 1e-4: forces of rest act for 1e-7 s, and the rod turns.
    EXPECT_NEAR(velocity.z, 0, 1e-4) << sample;
    EXPECT_GT(impulse.z, 0) << sample;
    EXPECT_LE(norm(push), friction * impulse.z * (1 + 1e-3) + 1e-5) << sample;
    if (norm(slip) < 1e-4) {
      ++numSticking;
      continue;
    }
    ++numSliding;
    EXPECT_NEAR(norm(push), friction * impulse.z, 1e-3 * norm(push) + friction * 1e-6) << sample;
    EXPECT_NEAR(dot(push, slip), -norm(push) * norm(slip), 1e-3 * norm(push) * norm(slip))
        << sample;
  }
  EXPECT_GT(numSticking, 20);
  EXPECT_GT(numSliding, 20);
}

// With a friction of 100 the two boxes did not come to an end, and the plank took eighty times as
// long.
TEST(EventFriction, BodiesOfGreatFrictionTakeAsManyStepsAsThoseOfLittle) {
  const auto box = std::make_shared<Box>(Vec3{0.05, 0.05, 0.05});
  std::vector<std::pair<std::string, std::vector<Body>>> scenes;
  Body ball = makeBody("ball", std::make_shared<Sphere>(0.05), {-0.3, 0.01, 0.15});
  ball.linearVelocity = {3, 0, 1};
  scenes.push_back(
      {"two boxes and a ball that hits them",
       {makeBody("b0", box, {0, 0, 0.05}), makeBody("b1", box, {0.01, 0, 0.15}), ball}});
  Body plank = makeBody("plank", std::make_shared<Box>(Vec3{0.2, 0.03, 0.02}), {0, 0, 0.15});
  plank.linearVelocity = {2, 1, 0};
  plank.angularVelocity = {3, 5, 5};
  scenes.push_back({"a plank that is thrown", {plank}});
  Body cylinder = makeBody("cylinder", std::make_shared<Cylinder>(0.05, 0.05), {0, 0, 0.08});
  cylinder.linearVelocity = {1, 0, 0};
  cylinder.angularVelocity = {1, 2, 5};
  scenes.push_back({"a cylinder that lands", {cylinder}});
  for (const auto& [name, bodies] : scenes) {
    for (const Yields yields : {Yields::No, Yields::Yes}) {
      for (const Real friction : {30.0, 100.0, 1000.0}) {
        ModelBuilder builder = eventBuilder(materialOf(friction, yields));
        addGround(builder);
        for (const Body& body : bodies) builder.addBody(body);
        Simulator simulator(builder.build());
        runTo(simulator, 0.25);
        if (HasFatalFailure()) return;
        const EnergyLedger& sum = simulator.energySum();
        EXPECT_LT(std::fabs(sum.residual), 1e-4) << name << ", " << friction;
        EXPECT_LE(sum.contactNormal + sum.contactFriction, 1e-6) << name << ", " << friction;
        EXPECT_LT(simulator.eventStatistics().numSteps, 40000) << name << ", " << friction;
      }
    }
  }
}

}  // namespace
}  // namespace tangere
