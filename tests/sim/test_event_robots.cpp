// SPDX-License-Identifier: Apache-2.0
//
// Joints, drives, limits, dry friction and loops under the event solver.
#include <tangere/simulator.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace tangere {
namespace {

ModelBuilder planarBuilder(Real tolerance = 1e-9) {
  SimulationOptions options;
  options.solver = SolverType::Event;
  options.dt = 0.01;
  options.gravity = {0, -9.81, 0};
  options.event.relativeTolerance = tolerance;
  options.event.absoluteTolerance = 1e-2 * tolerance;
  ModelBuilder builder;
  builder.setOptions(options);
  return builder;
}

/// A rod of 1 kg and 1 m along the x axis of its frame, turning about z.
Body rod(const std::string& name, const std::string& parent, Real x) {
  Body body{.name = name, .parent = parent};
  body.pose.translation = {x, 0, 0};
  body.joints.push_back(
      {.name = std::string("j").append(name), .type = JointType::Revolute, .axis = {0, 0, 1}});
  const Real inertia = 1.0 / 12;
  body.massProperties =
      MassProperties{.mass = 1,
                     .center = {0.5, 0, 0},
                     .inertia = {{{1e-3, 0, 0}, {0, inertia, 0}, {0, 0, inertia}}}};
  return body;
}

void advance(Simulator& simulator, Real time) {
  while (simulator.state().time < time - 1e-9) {
    const StepReport& report = simulator.step();
    ASSERT_EQ(report.status, StepStatus::Ok)
        << describe(report, simulator.model(), simulator.state().step);
  }
}

TEST(EventRobots, DoublePendulumKeepsItsEnergy) {
  ModelBuilder builder = planarBuilder(1e-11);
  builder.addBody(rod("a", "", 0));
  builder.addBody(rod("b", "a", 1));
  Simulator simulator(builder.build());
  simulator.setPositions(std::vector<Real>{1.0, 0.5});
  simulator.step();
  const Real before = simulator.energySum().kinetic + simulator.energySum().potential;
  advance(simulator, 2);
  EXPECT_NEAR(simulator.energySum().kinetic + simulator.energySum().potential, before, 1e-7);
}

TEST(EventRobots, LimitHoldsTheJoint) {
  ModelBuilder builder = planarBuilder();
  Body a = rod("a", "", 0);
  a.joints[0].lower = -0.5;
  builder.addBody(a);
  Simulator simulator(builder.build());
  advance(simulator, 2);
  EXPECT_NEAR(simulator.state().q[0], -0.5, 1e-7);
  EXPECT_NEAR(simulator.state().v[0], 0, 1e-9);
  EXPECT_LT(simulator.energySum().constraint, 0);  // it takes the swing
  EXPECT_NEAR(simulator.energySum().residual, 0, 1e-6);
}

TEST(EventRobots, DryFrictionHoldsUntilItIsOvercome) {
  ModelBuilder builder = planarBuilder();
  Body held = rod("held", "", 0), sliding = rod("sliding", "", 0);
  held.joints[0].frictionLoss = 5;     // the weight turns with 4.905 N m
  sliding.joints[0].frictionLoss = 4;  // and is not held
  builder.addBody(held);
  builder.addBody(sliding);
  Simulator simulator(builder.build());
  advance(simulator, 0.5);
  const int h = simulator.model().positionOfJoint(simulator.model().findJoint("jheld"));
  const int s = simulator.model().positionOfJoint(simulator.model().findJoint("jsliding"));
  EXPECT_NEAR(simulator.state().q[h], 0, 1e-8);
  EXPECT_LT(simulator.state().q[s], -0.05);
  EXPECT_NEAR(simulator.energySum().residual, 0, 1e-6);
}

TEST(EventRobots, ServoHoldsItsTargetUpToTheWeight) {
  ModelBuilder builder = planarBuilder();
  builder.addBody(rod("a", "", 0));
  builder.addActuator(Actuator::position("servo", "ja", 1e4, 1e2));
  Simulator simulator(builder.build());
  simulator.setControl(0, 0.7);
  advance(simulator, 2);
  const Real q = simulator.state().q[0];
  EXPECT_NEAR(1e4 * (0.7 - q), 9.81 * 0.5 * std::cos(q), 1e-6);
  EXPECT_NEAR(simulator.actuatorForces()[0], 1e4 * (0.7 - q), 1e-5);
}

TEST(EventRobots, ScheduleIsFollowedBetweenTheSteps) {
  ModelBuilder builder = planarBuilder();
  SimulationOptions options = builder.options();
  options.gravity = {};
  builder.setOptions(options);
  Body slider{.name = "slider"};
  slider.joints.push_back({.name = "x", .type = JointType::Prismatic, .axis = {1, 0, 0}});
  slider.massProperties = MassProperties{.mass = 2, .inertia = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
  builder.addBody(slider);
  builder.addActuator(Actuator::motor("push", "x"));
  builder.addSchedule({.actuator = "push", .times = {0.105, 0.305}, .values = {0, 4}});
  Simulator simulator(builder.build());
  advance(simulator, 0.5);
  // a = 2 (t - 0.105)/0.2 up to 0.305 s, then 2.
  EXPECT_NEAR(simulator.state().v[0], 0.2 + 2 * 0.195, 1e-9);
  EXPECT_NEAR(simulator.state().q[0], 0.2 * 0.2 / 3 + 0.2 * 0.195 + 0.195 * 0.195, 1e-9);
}

TEST(EventRobots, AppliedForceActsForTheWholeCall) {
  ModelBuilder builder = planarBuilder();
  Body slider{.name = "slider"};
  slider.joints.push_back({.name = "x", .type = JointType::Prismatic, .axis = {1, 0, 0}});
  slider.massProperties = MassProperties{.mass = 2, .inertia = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
  builder.addBody(slider);
  Simulator simulator(builder.build());
  for (int i = 1; i <= 10; ++i) {
    simulator.applyForce(0, {3, 0, 0});
    simulator.advanceTo(0.1 * i);
  }
  EXPECT_NEAR(simulator.state().v[0], 1.5, 1e-9);
  EXPECT_EQ(simulator.eventStatistics().numRestarts, 1);  // the same force again is no jump
  simulator.advanceTo(2);
  EXPECT_NEAR(simulator.state().v[0], 1.5, 1e-9);
  EXPECT_NEAR(simulator.energySum().external, 0.5 * 2 * 1.5 * 1.5, 1e-8);
}

TEST(EventRobots, LoopStaysClosed) {
  ModelBuilder builder = planarBuilder();
  const Mat3 up{{{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}}, down{{{0, -1, 0}, {1, 0, 0}, {0, 0, 1}}};
  Body a = rod("a", "", 0), b = rod("b", "a", 1), c = rod("c", "b", 1);
  a.pose.rotation = up;
  b.pose.rotation = c.pose.rotation = down;
  for (const Body& body : {a, b, c}) builder.addBody(body);
  builder.addEquality({.name = "pin",
                       .type = Equality::Type::Connect,
                       .first = "c",
                       .second = "",
                       .anchor = {1, 0, 0}});
  Simulator simulator(builder.build());
  simulator.setVelocities(std::vector<Real>{-1, 1, -1});
  Real worst = 0;
  for (int i = 0; i < 60; ++i) {
    ASSERT_EQ(simulator.step().status, StepStatus::Ok);
    const Vec3 end = simulator.body("c").pose * Vec3{1, 0, 0};
    worst = std::max(worst, norm(end - Vec3{1, 0, 0}));
  }
  EXPECT_LT(worst, 1e-9);
  EXPECT_NEAR(simulator.energySum().residual, 0, 1e-6);
}

TEST(EventRobots, ActivationFollowsItsFilterExactly) {
  ModelBuilder builder = planarBuilder();
  builder.addBody(rod("a", "", 0));
  Actuator motor = Actuator::motor("m", "ja");
  motor.dynamics = Actuator::Dynamics::Filter;
  motor.timeConstant = 0.2;
  builder.addActuator(motor);
  Simulator simulator(builder.build());
  simulator.setControl(0, 1);
  advance(simulator, 0.5);
  EXPECT_NEAR(simulator.state().activation[0], 1 - std::exp(-0.5 / 0.2), 1e-8);
}

}  // namespace
}  // namespace tangere
