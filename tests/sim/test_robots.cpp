// SPDX-License-Identifier: Apache-2.0
//
// Jointed bodies under the SAP solver: numbers that can be checked by hand.
#include <tangere/error.hpp>
#include <tangere/simulator.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tangere {
namespace {

SimulationOptions sapOptions(Real dt = 0.002) {
  SimulationOptions options;
  options.dt = dt;
  options.solver = SolverType::Sap;
  return options;
}

MassProperties pointLike(Real mass, const Vec3& center, Real radius = 0.01) {
  const Real i = Real(0.4) * mass * radius * radius;
  return {.mass = mass, .center = center, .inertia = Mat3{{{i, 0, 0}, {0, i, 0}, {0, 0, i}}}};
}

Body link(const std::string& name, const std::string& parent, const Joint& joint,
          const MassProperties& mass, const Vec3& at = {}) {
  Body body;
  body.name = name;
  body.parent = parent;
  body.joints = {joint};
  body.massProperties = mass;
  body.pose.translation = at;
  return body;
}

Joint hinge(const std::string& name, const Vec3& axis = {0, 1, 0}) {
  return {.name = name, .type = JointType::Revolute, .axis = axis};
}

Body box(const std::string& name, const Vec3& half, const Vec3& at, Real mass = 1) {
  Body body;
  body.name = name;
  body.shapes = {{.shape = std::make_shared<Box>(half)}};
  body.pose.translation = at;
  const Real c = mass / 3;
  body.massProperties =
      MassProperties{.mass = mass,
                     .center = {},
                     .inertia = Mat3{{{c * (half.y * half.y + half.z * half.z), 0, 0},
                                      {0, c * (half.x * half.x + half.z * half.z), 0},
                                      {0, 0, c * (half.x * half.x + half.y * half.y)}}}};
  return body;
}

Body ground() {
  Body body;
  body.name = "ground";
  body.type = BodyType::Fixed;
  body.shapes = {{.shape = std::make_shared<Plane>()}};
  return body;
}

TEST(Robots, APendulumSwingsWithItsPeriod) {
  // 1 m, small angle: T = 2 pi sqrt(l/g) (1 + a^2/16).
  ModelBuilder builder;
  builder.setOptions(sapOptions(1e-4));
  builder.addBody(link("bob", "", hinge("h"), pointLike(2, {0, 0, -1})));
  Simulator sim(builder.build());
  const Real amplitude = 0.1;
  sim.setPositions(std::vector<Real>{amplitude});
  int crossings = 0;
  Real firstTime = 0, lastTime = 0, before = amplitude;
  for (int i = 0; i < 100000; ++i) {
    sim.step();
    const Real now = sim.state().q[0];
    if (before > 0 && now <= 0) {
      const Real t = sim.state().time - 1e-4 * (0 - now) / (before - now);
      if (crossings++ == 0) firstTime = t;
      lastTime = t;
    }
    before = now;
  }
  const Real inertia = 2 * 1 + Real(0.4) * 2 * 1e-4;
  const Real expected =
      2 * M_PI * std::sqrt(inertia / (2 * 9.81)) * (1 + amplitude * amplitude / 16);
  ASSERT_GE(crossings, 4);
  EXPECT_NEAR((lastTime - firstTime) / (crossings - 1), expected, 2e-5 * expected);
}

TEST(Robots, TheLedgerClosesForADoublePendulum) {
  ModelBuilder builder;
  builder.setOptions(sapOptions());
  Joint upper = hinge("upper");
  upper.damping = 0.01;
  upper.stiffness = 0.3;
  upper.armature = 0.02;
  builder.addBody(link("a", "", upper, pointLike(1, {0, 0, -0.5})));
  builder.addBody(
      link("b", "a", hinge("lower", {0, 1, 0}), pointLike(0.5, {0, 0, -0.5}), {0, 0, -1}));
  Simulator sim(builder.build());
  sim.setPositions(std::vector<Real>{1.5, 0.7});
  Real scale = 0;
  for (int i = 0; i < 2000; ++i) {
    ASSERT_EQ(sim.step().status, StepStatus::Ok);
    const EnergyLedger& e = sim.energy();
    scale = std::max(scale, std::fabs(e.kinetic) + std::fabs(e.potential));
    ASSERT_LT(std::fabs(e.residual), 1e-12 * scale) << i;
  }
  EXPECT_LT(sim.energySum().damping, 0);
}

/// An arm about z with a forearm about y, in free space.
Simulator spinningArm(Real rate) {
  ModelBuilder builder;
  SimulationOptions options = sapOptions(0.01);
  options.gravity = {};
  builder.setOptions(options);
  builder.addBody(link("a", "", hinge("turn", {0, 0, 1}), pointLike(1, {0.5, 0, 0})));
  builder.addBody(
      link("b", "a", hinge("swing", {0, 1, 0}), pointLike(1, {0.25, 0, 0.25}), {1, 0, 0}));
  Simulator sim(builder.build());
  sim.setVelocities(std::vector<Real>{rate, 0});
  return sim;
}

TEST(Robots, AnArmThatTurnsAFifthOfARadianInAStepKeepsItsEnergy) {
  Simulator sim = spinningArm(20);
  sim.step();
  const Real start = sim.energy().kinetic;
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(sim.step().status, StepStatus::Ok);
    ASSERT_NEAR(sim.energy().kinetic, start, 0.05 * start) << i;
  }
}

TEST(Robots, AnArmTooFastForNumbersIsRefusedAndNotCounted) {
  Simulator sim = spinningArm(1e110);
  const std::vector<Real> before(sim.state().v.begin(), sim.state().v.end());
  const StepReport report = sim.step();
  EXPECT_TRUE(has(report.status, StepStatus::StateNotFinite));
  EXPECT_TRUE(std::equal(before.begin(), before.end(), sim.state().v.begin()));
}

TEST(Robots, AStiffPositionDriveHoldsAgainstGravity) {
  // kp (target - q) = m g l cos(q): with kp = 1e6 the angle is off by 9.81e-6.
  ModelBuilder builder;
  builder.setOptions(sapOptions(0.005));
  builder.addBody(link("arm", "", hinge("h"), pointLike(1, {1, 0, 0})));
  builder.addActuator(Actuator::position("servo", "h", 1e6, 1e3));
  Simulator sim(builder.build());
  sim.step(2000);
  EXPECT_NEAR(sim.state().q[0], 9.81e-6, 1e-10);
  EXPECT_NEAR(sim.actuatorForces()[0], -9.81, 1e-6);
  EXPECT_LT(std::fabs(sim.state().v[0]), 1e-9);
}

TEST(Robots, ADriveGivesNoMoreThanItsEffort) {
  ModelBuilder builder;
  builder.setOptions(sapOptions());
  builder.addBody(link("slider", "", {.name = "s", .type = JointType::Prismatic, .axis = {1, 0, 0}},
                       pointLike(2, {})));
  Actuator servo = Actuator::position("servo", "s", 1e6, 1e3);
  servo.lowerForce = -4;
  servo.upperForce = 4;
  builder.addActuator(servo);
  Simulator sim(builder.build());
  sim.setControl(0, 100);
  sim.step(500);  // 1 s with 4 N on 2 kg
  EXPECT_NEAR(sim.state().v[0], 2, 1e-9);
  EXPECT_NEAR(sim.actuatorForces()[0], 4, 1e-9);
}

TEST(Robots, ALimitStopsAJointAndFeelsItsWeight) {
  ModelBuilder builder;
  builder.setOptions(sapOptions());
  Joint slide{.name = "z", .type = JointType::Prismatic, .axis = {0, 0, 1}};
  slide.lower = -0.1;
  builder.addBody(link("weight", "", slide, pointLike(3, {})));
  Simulator sim(builder.build());
  for (int i = 0; i < 2000; ++i) {
    sim.step();
    ASSERT_GT(sim.state().q[0], -0.1 - 1e-5);
  }
  EXPECT_NEAR(sim.state().q[0], -0.1, 1e-6);
  EXPECT_LT(std::fabs(sim.state().v[0]), 1e-9);
}

TEST(Robots, DryFrictionHoldsBelowItsLimitAndBrakesAboveIt) {
  ModelBuilder builder;
  SimulationOptions options = sapOptions();
  options.gravity = {};
  builder.setOptions(options);
  Joint slide{.name = "x", .type = JointType::Prismatic, .axis = {1, 0, 0}};
  slide.frictionLoss = 5;
  builder.addBody(link("block", "", slide, pointLike(2, {})));
  Simulator sim(builder.build());
  for (int i = 0; i < 500; ++i) {
    sim.applyJointForces(std::vector<Real>{4.9});
    sim.step();
  }
  EXPECT_LT(std::fabs(sim.state().q[0]), 1e-5);
  sim.reset();
  for (int i = 0; i < 500; ++i) {
    sim.applyJointForces(std::vector<Real>{9});
    sim.step();
  }
  EXPECT_NEAR(sim.state().v[0], (9 - 5) / Real(2) * 1, 1e-4);
}

TEST(Robots, AConnectedLoopStaysClosed) {
  // A four-bar linkage, driven by gravity.
  ModelBuilder builder;
  builder.setOptions(sapOptions(0.001));
  builder.addBody(link("crank", "", hinge("a"), pointLike(1, {0, 0, 0.25}, 0.1)));
  builder.addBody(
      link("coupler", "crank", hinge("b"), pointLike(1, {0.5, 0, 0}, 0.1), {0, 0, 0.5}));
  builder.addBody(link("rocker", "", hinge("c"), pointLike(1, {0, 0, 0.25}, 0.1), {1, 0, 0}));
  builder.addEquality({.name = "close",
                       .type = Equality::Type::Connect,
                       .first = "coupler",
                       .second = "rocker",
                       .anchor = {1, 0, 0}});
  Simulator sim(builder.build());
  sim.setVelocities(std::vector<Real>{1, -1, 1});
  Real worst = 0;
  for (int i = 0; i < 5000; ++i) {
    ASSERT_EQ(sim.step().status, StepStatus::Ok);
    const BodyState coupler = sim.body("coupler"), rocker = sim.body("rocker");
    const Vec3 gap = coupler.pose * Vec3{1, 0, 0} - rocker.pose * Vec3{0, 0, 0.5};
    worst = std::max(worst, norm(gap));
  }
  EXPECT_LT(worst, 1e-5);
}

TEST(Robots, AMimickedJointFollows) {
  ModelBuilder builder;
  builder.setOptions(sapOptions());
  builder.addBody(link("left", "", hinge("l"), pointLike(1, {0, 0, -1})));
  builder.addBody(link("right", "", hinge("r"), pointLike(1, {0, 0, -1}), {1, 0, 0}));
  builder.addEquality({.name = "mimic",
                       .type = Equality::Type::Joint,
                       .first = "r",
                       .second = "l",
                       .polynomial = {0.1, -2, 0, 0, 0}});
  Simulator sim(builder.build());
  sim.setPositions(std::vector<Real>{0.2, 0.1 - 0.4});
  for (int i = 0; i < 1000; ++i) {
    sim.step();
    ASSERT_NEAR(sim.state().q[1], 0.1 - 2 * sim.state().q[0], 1e-5);
  }
}

TEST(Robots, AFixedTendonCouplesAndPulls) {
  // Length q1 + q2, 6 N: both masses of 1 kg accelerate at 6 m/s^2.
  ModelBuilder builder;
  SimulationOptions options = sapOptions();
  options.gravity = {};
  builder.setOptions(options);
  const Joint x1{.name = "x1", .type = JointType::Prismatic, .axis = {1, 0, 0}};
  const Joint x2{.name = "x2", .type = JointType::Prismatic, .axis = {1, 0, 0}};
  builder.addBody(link("m1", "", x1, pointLike(1, {})));
  builder.addBody(link("m2", "", x2, pointLike(1, {}), {0, 1, 0}));
  builder.addTendon({.name = "t", .terms = {{"x1", 1}, {"x2", 1}}});
  Actuator pull = Actuator::motor("pull", "t");
  pull.target = Actuator::Target::Tendon;
  builder.addActuator(pull);
  Simulator sim(builder.build());
  sim.setControl(0, 6);
  sim.step(500);
  EXPECT_NEAR(sim.state().v[0], 6, 1e-9);
  EXPECT_NEAR(sim.state().v[1], 6, 1e-9);
}

TEST(Robots, AFreeBodyUnderSapFallsExactly) {
  ModelBuilder builder;
  builder.setOptions(sapOptions());
  builder.addBody(box("b", {0.1, 0.2, 0.3}, {0, 0, 100}));
  Simulator sim(builder.build());
  sim.step(500);
  EXPECT_NEAR(sim.state().q[2], 100 - 0.5 * 9.81, 1e-9);
  EXPECT_NEAR(sim.state().v[2], -9.81, 1e-12);
}

TEST(Robots, AStackOfTenStandsAndOneOfAThousandToOne) {
  for (const Real topMass : {Real(1), Real(1000)}) {
    ModelBuilder builder;
    builder.setOptions(sapOptions(0.005));
    builder.addBody(ground());
    const int count = topMass > 1 ? 2 : 10;
    for (int i = 0; i < count; ++i) {
      builder.addBody(box("box" + std::to_string(i), {0.1, 0.1, 0.1}, {0, 0, 0.1 + 0.2 * i},
                          i == count - 1 ? topMass : 1));
    }
    Simulator sim(builder.build());
    for (int i = 0; i < 2000; ++i) ASSERT_EQ(sim.step().status, StepStatus::Ok);
    const BodyState top = sim.body("box" + std::to_string(count - 1));
    EXPECT_NEAR(top.pose.translation.z, 0.1 + 0.2 * (count - 1), 1e-3);
    EXPECT_LT(std::fabs(top.pose.translation.x), 1e-6);
    EXPECT_LT(norm(top.linearVelocity), 1e-6);
  }
}

TEST(Robots, AHeldBlockOnASlopeDoesNotCreep) {
  ModelBuilder builder;
  SimulationOptions options = sapOptions(0.005);
  const Real angle = 20 * M_PI / 180;
  options.gravity = {9.81 * std::sin(angle), 0, -9.81 * std::cos(angle)};
  builder.setOptions(options);
  builder.addBody(ground());
  builder.addBody(box("block", {0.1, 0.1, 0.05}, {0, 0, 0.05}));
  Simulator sim(builder.build());
  sim.step(200);
  const Real x = sim.state().q[0];
  sim.step(2000);  // 10 s
  EXPECT_LT(std::fabs(sim.state().q[0] - x), 1e-7);
}

TEST(Robots, APairOfShapesHasItsOwnFrictionAndIgnoresTheFilter) {
  ModelBuilder builder;
  SimulationOptions options = sapOptions();
  options.gravity = {2, 0, -9.81};
  builder.setOptions(options);
  Body floor = ground();
  floor.shapes[0].name = "floor";
  builder.addBody(floor);
  Body block = box("block", {0.1, 0.1, 0.05}, {0, 0, 0.05});
  block.shapes[0].name = "block";
  block.shapes[0].mask = 0;  // touches nothing by itself
  builder.addBody(block);
  builder.addShapePair({.shape1 = "block", .shape2 = "floor", .friction = 0.1});
  Simulator sim(builder.build());
  sim.step(500);
  EXPECT_NEAR(sim.state().v[0], 2 - 0.1 * 9.81, 1e-3);
  EXPECT_NEAR(sim.state().q[2], 0.05, 1e-5);
}

TEST(Robots, BodiesThatStartInsideEachOtherAreLedApart) {
  ModelBuilder builder;
  builder.setOptions(sapOptions());
  builder.addBody(ground());
  builder.addBody(box("a", {0.1, 0.1, 0.1}, {0, 0, 0.1}));
  builder.addBody(box("b", {0.1, 0.1, 0.1}, {0, 0, 0.15}));
  Simulator sim(builder.build());
  for (int i = 0; i < 1000; ++i) {
    sim.step();
    ASSERT_LT(norm(sim.body("b").linearVelocity), 1.5);
  }
  EXPECT_LT(sim.report().maxDepth, 1e-4);
}

TEST(Robots, AGripperHoldsABoxForAMinute) {
  ModelBuilder builder;
  builder.setOptions(sapOptions(0.005));
  Joint left{.name = "left", .type = JointType::Prismatic, .axis = {0, 1, 0}};
  Joint right{.name = "right", .type = JointType::Prismatic, .axis = {0, -1, 0}};
  Body finger = box("fingerL", {0.02, 0.01, 0.04}, {0, -0.06, 0.5}, 0.1);
  finger.joints = {left};
  builder.addBody(finger);
  finger = box("fingerR", {0.02, 0.01, 0.04}, {0, 0.06, 0.5}, 0.1);
  finger.joints = {right};
  builder.addBody(finger);
  builder.addBody(box("held", {0.03, 0.04, 0.03}, {0, 0, 0.5}, 0.25));
  for (const char* name : {"left", "right"}) {
    Actuator grip = Actuator::position(std::string("grip_") + name, name, 1000, 50);
    grip.lowerForce = -20;
    grip.upperForce = 20;
    builder.addActuator(grip);
  }
  Simulator sim(builder.build());
  sim.setControls(std::vector<Real>{0.1, 0.1});
  sim.step(400);
  const BodyState start = sim.body("held");
  for (int i = 0; i < 12000; ++i) ASSERT_EQ(sim.step().status, StepStatus::Ok);
  const BodyState end = sim.body("held");
  EXPECT_LT(norm(end.pose.translation - start.pose.translation), 1e-5);
  EXPECT_GT(start.pose.translation.z, 0.45);
}

TEST(Robots, TheStateIsCompleteForRobots) {
  ModelBuilder builder;
  builder.setOptions(sapOptions());
  builder.addBody(ground());
  builder.addBody(link("arm", "", hinge("h"), pointLike(1, {0.5, 0, 0}), {0, 0, 1}));
  Body tip = box("tip", {0.05, 0.05, 0.05}, {0.5, 0, 0});
  tip.parent = "arm";
  tip.joints = {{.name = "ball", .type = JointType::Ball}};
  builder.addBody(tip);
  builder.addBody(box("loose", {0.1, 0.1, 0.1}, {0.4, 0, 0.1}));
  const Model model = builder.build();
  Simulator sim(model);
  sim.step(300);
  const std::vector<std::byte> saved = sim.state().save(model);
  sim.step(300);
  Simulator other(model, 2);
  other.setState(State::load(model, saved));
  other.step(300);
  EXPECT_EQ(other.state().hash(), sim.state().hash());
}

Model doublePendulum(Real dt, Real accuracy) {
  ModelBuilder builder;
  SimulationOptions options = sapOptions(dt);
  options.accuracy = accuracy;
  builder.setOptions(options);
  builder.addBody(link("a", "", hinge("upper"), pointLike(1, {0, 0, -0.5})));
  builder.addBody(link("b", "a", hinge("lower"), pointLike(0.5, {0, 0, -0.5}), {0, 0, -1}));
  return builder.build();
}

TEST(Robots, ErrorControlReachesTheAccuracyAskedFor) {
  const std::vector<Real> start{0.8, -0.3};
  Simulator fine(doublePendulum(2e-6, 0));
  fine.setPositions(start);
  fine.step(250000);  // 0.5 s
  Real last = 1;
  for (const Real accuracy : {1e-3, 1e-5, 1e-7}) {
    Simulator sim(doublePendulum(0.02, accuracy));
    sim.setPositions(start);
    sim.step(25);
    EXPECT_NEAR(sim.state().time, 0.5, 1e-12);
    EXPECT_EQ(sim.state().step, 25u);
    const Real error = std::max(std::fabs(sim.state().q[0] - fine.state().q[0]),
                                std::fabs(sim.state().q[1] - fine.state().q[1]));
    EXPECT_LT(error, 0.3 * last);
    last = error;
  }
  EXPECT_LT(last, 1e-3);
}

TEST(Robots, AnErrorControlledRunGoesOnFromASavedState) {
  ModelBuilder builder;
  SimulationOptions options = sapOptions(0.02);
  options.accuracy = 1e-4;
  builder.setOptions(options);
  builder.addBody(ground());
  builder.addBody(box("b", {0.1, 0.1, 0.1}, {0, 0, 0.5}));
  const Model model = builder.build();
  Simulator sim(model);
  sim.step(12);
  Simulator other(model);
  other.setState(State::load(model, sim.state().save(model)));
  sim.step(30);
  other.step(30);
  EXPECT_EQ(sim.state().hash(), other.state().hash());
  EXPECT_NEAR(sim.body("b").pose.translation.z, 0.1, 1e-4);
}

TEST(Robots, AForceOnAFreeJointPushesAFreeBody) {
  ModelBuilder builder;
  SimulationOptions options = sapOptions();
  options.gravity = {};
  builder.setOptions(options);
  builder.addBody(box("b", {0.1, 0.1, 0.1}, {0, 0, 1}, 2));
  Simulator sim(builder.build());
  sim.applyJointForces(std::vector<Real>{10, 0, 0, 0, 0, 0.5});
  sim.step();
  EXPECT_NEAR(sim.state().v[0], 10 / Real(2) * 0.002, 1e-15);
  EXPECT_NEAR(sim.state().v[5], 0.5 / (Real(2) / 3 * 0.02) * 0.002, 1e-12);
}

TEST(Robots, AVeryStiffLimitedServoOnALightJointDoesNotChatter) {
  ModelBuilder builder;
  SimulationOptions options = sapOptions();
  options.gravity = {};
  builder.setOptions(options);
  builder.addBody(link("needle", "", hinge("h"), pointLike(1e-3, {}, 0.05)));  // 1e-6 kg m^2
  Actuator servo = Actuator::velocity("servo", "h", 10);
  servo.lowerForce = -100;
  servo.upperForce = 100;
  builder.addActuator(servo);
  Simulator sim(builder.build());
  sim.setControl(0, 3);
  sim.step(5);
  EXPECT_NEAR(sim.state().v[0], 3, 1e-3);
  EXPECT_LT(std::fabs(sim.actuatorForces()[0]), 1);
}

TEST(Robots, ATendonOverThreeTreesIsRefused) {
  ModelBuilder builder;
  builder.setOptions(sapOptions());
  Tendon tendon{.name = "t"};
  for (const char* name : {"a", "b", "c"}) {
    builder.addBody(box(name, {0.1, 0.1, 0.1}, {0.5 * (name[0] - 'a'), 0, 1}));
    builder.addSite({.name = std::string("on_") + name, .body = name});
    tendon.path.push_back({.site = std::string("on_") + name});
  }
  builder.addTendon(tendon);
  EXPECT_THROW((void)builder.build(), InvalidInput);
}

TEST(Robots, OptionsMayChangeTheSolverThereAndBack) {
  ModelBuilder builder;
  builder.setOptions(sapOptions());
  builder.addBody(box("b", {0.1, 0.1, 0.1}, {0, 0, 1}));
  const Model sap = builder.build();
  SimulationOptions options = sap.options();
  options.solver = SolverType::Impulse;
  const Model impulse = sap.withOptions(options);
  EXPECT_EQ(impulse.numPositions(), 0);
  options.solver = SolverType::Sap;
  const Model again = impulse.withOptions(options);
  EXPECT_EQ(again.numPositions(), 7);
  EXPECT_EQ(again.hash(), sap.hash());
}

TEST(Robots, WhatTheSolverDoesNotUseIsSaid) {
  ModelBuilder builder;
  builder.setOptions(sapOptions());
  builder.addMaterial({.name = "default", .restitution = 0.5});
  builder.addBody(box("b", {0.1, 0.1, 0.1}, {0, 0, 1}));
  const Model model = builder.build();
  ASSERT_EQ(model.unused().size(), 1u);
  EXPECT_NE(model.unused()[0].find("restitution"), std::string::npos);
  SimulationOptions impulse = model.options();
  impulse.solver = SolverType::Impulse;
  EXPECT_TRUE(model.withOptions(impulse).unused().empty());
}

TEST(Robots, JointsNeedTheSapSolver) {
  ModelBuilder builder;
  builder.addBody(link("arm", "", hinge("h"), pointLike(1, {1, 0, 0})));
  EXPECT_THROW((void)builder.build(), InvalidInput);
}

TEST(Robots, AJointThatMovesNoMassIsRefusedByName) {
  ModelBuilder builder;
  builder.setOptions(sapOptions());
  Body body;
  body.name = "empty";
  body.joints = {hinge("lonely")};
  builder.addBody(body);
  const Model model = builder.build();
  try {
    const Simulator sim(model);
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find("lonely"), std::string::npos);
  }
}

TEST(ErrorControlled, WhatFrictionHoldsDoesNotCreepWhenTheStepsChange) {
  SimulationOptions options = sapOptions(0.005);
  options.gravity = {3, 0, -9.81};  // held: 3 < 0.5 * 9.81
  options.accuracy = 1e-6;
  ModelBuilder builder;
  builder.setOptions(options);
  builder.addBody(ground());
  builder.addBody(box("box", {0.1, 0.1, 0.1}, {0, 0, 0.1}));
  Simulator simulator(builder.build());
  simulator.step(100);
  const Real start = simulator.body("box").pose.translation.x;
  simulator.step(400);
  EXPECT_LT(std::fabs(simulator.body("box").pose.translation.x - start), 1e-8);
}

}  // namespace
}  // namespace tangere
