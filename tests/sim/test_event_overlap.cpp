// SPDX-License-Identifier: Apache-2.0
//
// Bodies that overlap at the start under the event solver: they come apart slowly, the step says so
// and names them, and the ledger has what the overlap held.
#include "event_samples.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tangere {
namespace {

using test::addGround;
using test::eventBuilder;
using test::makeBody;

constexpr Real kRadius = 0.05, kMass = 0.5;

Model sunkenBall(const Material& material, Real depth, const Vec3& gravity, Real maxSpeed = 0) {
  ModelBuilder builder = eventBuilder(material, gravity, 1e-3);
  SimulationOptions options = builder.options();
  if (maxSpeed > 0) options.event.maxCorrectionSpeed = maxSpeed;
  builder.setOptions(options);
  addGround(builder);
  Body ball = makeBody("ball", std::make_shared<Sphere>(kRadius), {0, 0, kRadius - depth});
  ball.massProperties =
      MassProperties{.mass = kMass, .inertia = {{{5e-4, 0, 0}, {0, 5e-4, 0}, {0, 0, 5e-4}}}};
  builder.addBody(ball);
  return builder.build();
}

/// The first step tells; what was held is booked, and is lost but for the little that is left.
void expectSlowRelease(Simulator& simulator, Real maxSpeed) {
  const StepReport& first = simulator.step();
  EXPECT_EQ(first.status, StepStatus::EnergyInjected);
  EXPECT_EQ(describe(first, simulator.model(), 0),
            "step 0: EnergyInjected between 'ball' and 'ground'");
  for (int i = 0; i < 400; ++i) ASSERT_EQ(simulator.step().status, StepStatus::Ok);
  const Real speed = simulator.body("ball").linearVelocity.z;
  EXPECT_GT(speed, 0);
  EXPECT_LE(speed, maxSpeed * (1 + 1e-6));
  EXPECT_GT(simulator.body("ball").pose.translation.z, kRadius);  // it has come out
  const EnergyLedger& sum = simulator.energySum();
  EXPECT_GT(sum.correction, 0);
  EXPECT_LT(sum.contactNormal, 0);
  EXPECT_NEAR(sum.correction + sum.contactNormal, kMass * speed * speed / 2,
              1e-6 * sum.correction + 1e-9);
}

TEST(EventOverlap, WhatStartsInSomethingRigidComesOutSlowlyAndIsTold) {
  const Material rigid{.name = "m", .friction = 0.5, .restitution = 0.8};
  for (const Real depth : {1e-6, 1e-4, 1e-2}) {
    Simulator simulator(sunkenBall(rigid, depth, {}));
    expectSlowRelease(simulator, 0.1);
    // 1/2 k depth^2 with k = m (2 pi / rest_period)^2.
    const Real frequency = 2 * 3.14159265358979 / 1e-4;
    EXPECT_NEAR(simulator.energySum().correction, kMass * frequency * frequency * depth * depth / 2,
                1e-6 * simulator.energySum().correction);
  }
  Simulator simulator(sunkenBall(rigid, 1e-2, {}, 0.5));
  expectSlowRelease(simulator, 0.5);
}

TEST(EventOverlap, WhatStartsInSomethingThatYieldsComesOutSlowlyAndIsTold) {
  for (const Real e : {0.0, 0.5, 0.9}) {
    Simulator hertz(sunkenBall({.name = "m",
                                .friction = 0,
                                .restitution = e,
                                .contact = ContactModel::Hertz,
                                .youngsModulus = 1e8},
                               2e-3, {}));
    const StepStatus status = hertz.step().status;
    EXPECT_EQ(status, StepStatus::EnergyInjected);
    hertz.advanceTo(0.5);
    EXPECT_LE(hertz.body("ball").linearVelocity.z, 0.1);
  }
  // Two of k = 2e5 N/m in series, 2 mm: 0.2 J, and 0.9 m/s if nothing held it back.
  Simulator linear(
      sunkenBall({.name = "m", .friction = 0, .stiffness = 2e5, .relaxationTime = 0}, 2e-3, {}));
  expectSlowRelease(linear, 0.1);
  EXPECT_NEAR(linear.energySum().correction, 0.2, 1e-9);  // less the hysteresis of 1e-13 m
}

TEST(EventOverlap, WhatRestsAtItsDepthIsNotTold) {
  constexpr Real kStiffness = 1e3;  // of the pair, two in series: it sinks in by 5 mm
  Simulator simulator(
      sunkenBall({.name = "m", .friction = 0, .stiffness = 2 * kStiffness, .relaxationTime = 0.01},
                 kMass * 9.81 / kStiffness, {0, 0, -9.81}));
  for (int i = 0; i < 100; ++i) ASSERT_EQ(simulator.step().status, StepStatus::Ok);
  EXPECT_EQ(simulator.energySum().correction, 0);
  EXPECT_NEAR(simulator.body("ball").linearVelocity.z, 0, 1e-6);
}

TEST(EventOverlap, ARunThatGoesOnFromTheMiddleOfItComesOutAsSlowly) {
  const Material soft{.name = "m", .friction = 0, .stiffness = 1e5, .relaxationTime = 0};
  Simulator first(sunkenBall(soft, 2e-3, {}));
  first.step(3);
  ASSERT_LT(first.body("ball").pose.translation.z, kRadius);
  Simulator second(sunkenBall(soft, 2e-3, {}));
  second.setState(State::load(second.model(), first.state().save(first.model())));
  for (int i = 0; i < 100; ++i) ASSERT_EQ(second.step().status, StepStatus::Ok);
  first.step(100);
  EXPECT_LE(second.body("ball").linearVelocity.z, 0.1);
  EXPECT_NEAR(second.body("ball").linearVelocity.z, first.body("ball").linearVelocity.z, 1e-6);
}

}  // namespace
}  // namespace tangere
