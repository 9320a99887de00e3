// SPDX-License-Identifier: Apache-2.0
//
// Robots that start wrong: links that overlap what they are jointed to, limits and equalities that
// are violated. They are led back at a limited speed, in their joints too, or named and left alone.
#include <tangere/simulator.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace tangere {
namespace {

SimulationOptions sapOptions(Real dt = 0.002) {
  SimulationOptions options;
  options.dt = dt;
  options.solver = SolverType::Sap;
  return options;
}

MassProperties pointLike(Real mass, const Vec3& center, Real radius = 0.1) {
  const Real i = Real(0.4) * mass * radius * radius;
  return {.mass = mass, .center = center, .inertia = Mat3{{{i, 0, 0}, {0, i, 0}, {0, 0, i}}}};
}

Joint hinge(const std::string& name, const Vec3& axis = {0, 1, 0}) {
  return {.name = name, .type = JointType::Revolute, .axis = axis};
}

/// A capsule from the body's origin to `end`.
BodyShape capsuleTo(const Vec3& end, Real radius) {
  const Real length = norm(end);
  const Vec3 z = end / length;
  const Vec3 other = std::fabs(z.x) < 0.9 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
  const Vec3 y = cross(z, other) / norm(cross(z, other));
  BodyShape shape;
  shape.shape = std::make_shared<Capsule>(radius, length / 2);
  shape.pose = {Mat3{{cross(y, z), y, z}}, end * Real(0.5)};
  return shape;
}

/// A pole on the ground, and a link that turns about its upper end: both end there in half spheres
/// of the same centre, on the axis of the hinge.
Model pivot(const Vec3& end, Real radius, Real dt, bool isExcluded = false,
            const Vec3& axis = {0, 1, 0}) {
  ModelBuilder builder;
  SimulationOptions options = sapOptions(dt);
  options.excludeStartOverlaps = isExcluded;
  builder.setOptions(options);
  Body pole;
  pole.name = "pole";
  pole.type = BodyType::Fixed;
  pole.shapes = {capsuleTo({0, 0, 0.5}, radius)};
  builder.addBody(pole);
  Body link;
  link.name = "link";
  link.pose.translation = {0, 0, 0.5};
  link.joints = {hinge("h", axis)};
  link.shapes = {capsuleTo(end, radius)};
  builder.addBody(link);
  return builder.build();
}

/// The same link without anything to touch.
Model lonely(const Vec3& end, Real radius, Real dt, const Vec3& axis = {0, 1, 0}) {
  ModelBuilder builder;
  builder.setOptions(sapOptions(dt));
  Body link;
  link.name = "link";
  link.pose.translation = {0, 0, 0.5};
  link.joints = {hinge("h", axis)};
  link.shapes = {capsuleTo(end, radius)};
  builder.addBody(link);
  return builder.build();
}

TEST(RobotOverlaps, AContactAtThePivotOfItsHingeIsNamedAndDoesNothing) {
  for (const Real dt : {0.01, 0.002, 0.0003}) {
    for (const Real radius : {0.05, 0.013}) {
      for (const Vec3& end : {Vec3{0.3, 0, 0.3}, Vec3{0.2, 0.1, 0.05}, Vec3{0.5, 0, -0.01}}) {
        Simulator sim(pivot(end, radius, dt)), alone(lonely(end, radius, dt));
        for (int i = 0; i < 20; ++i) {
          const StepReport& report = sim.step();
          alone.step();
          ASSERT_TRUE(has(report.status, StepStatus::OverlapNotResolved)) << i << " at " << dt;
          EXPECT_EQ(describe(report, sim.model(), 1),
                    "step 1: OverlapNotResolved between 'link' and 'pole'");
          ASSERT_NEAR(sim.state().v[0], alone.state().v[0], 1e-9) << i << " at " << dt;
        }
      }
    }
  }
}

TEST(RobotOverlaps, ALinkThatOverlapsItsFixedBaseAtTheStartMayBeExcludedByOneOption) {
  const Model given = pivot({0.3, 0, 0.3}, 0.05, 0.002);
  const std::vector<StartOverlap> overlaps = given.startOverlaps();
  ASSERT_EQ(overlaps.size(), 1u);
  EXPECT_EQ(given.bodyName(given.bodyOfShape(overlaps[0].shape1)), "link");
  EXPECT_EQ(given.bodyName(given.bodyOfShape(overlaps[0].shape2)), "pole");
  EXPECT_NEAR(overlaps[0].depth, 0.1, 1e-3);  // two radii
  EXPECT_TRUE(overlaps[0].isWithBase);

  SimulationOptions options = given.options();
  options.excludeStartOverlaps = true;
  const Model excluded = given.withOptions(options);
  EXPECT_TRUE(excluded.startOverlaps().empty());
  EXPECT_NE(excluded.hash(), given.hash());
  EXPECT_TRUE(pivot({0.3, 0, 0.3}, 0.05, 0.002, true).startOverlaps().empty());
  Simulator sim(excluded);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(sim.step().status, StepStatus::Ok);
  EXPECT_EQ(sim.report().numContacts, 0);

  options.excludeStartOverlaps = false;
  EXPECT_EQ(excluded.withOptions(options).startOverlaps().size(), 1u);
  EXPECT_EQ(excluded.withOptions(options).hash(), given.hash());
}

/// A walker: its root slides over a floor, its foot starts in the floor.
TEST(RobotOverlaps, WhatIsNeitherParentNorBaseIsListedAndNotExcluded) {
  ModelBuilder builder;
  SimulationOptions options = sapOptions();
  options.excludeStartOverlaps = true;
  builder.setOptions(options);
  Body floor;
  floor.name = "floor";
  floor.type = BodyType::Fixed;
  floor.shapes = {{.shape = std::make_shared<Plane>()}};
  builder.addBody(floor);
  Body trunk;
  trunk.name = "trunk";
  trunk.pose.translation = {0, 0, 1};
  trunk.joints = {{.name = "up", .type = JointType::Prismatic, .axis = {0, 0, 1}}};
  trunk.shapes = {{.shape = std::make_shared<Sphere>(0.1)}};
  builder.addBody(trunk);
  Body foot;
  foot.name = "foot";
  foot.parent = "trunk";
  foot.pose.translation = {0, 0, -0.92};
  foot.joints = {hinge("ankle")};
  foot.shapes = {{.shape = std::make_shared<Sphere>(0.1)}};
  builder.addBody(foot);
  const Model model = builder.build();
  const std::vector<StartOverlap> overlaps = model.startOverlaps();
  ASSERT_EQ(overlaps.size(), 1u);
  EXPECT_FALSE(overlaps[0].isWithBase);
  EXPECT_NEAR(overlaps[0].depth, 0.02, 1e-9);
  Simulator sim(model);
  for (int i = 0; i < 500; ++i) {
    ASSERT_EQ(sim.step().status, StepStatus::Ok) << i;
    ASSERT_LT(std::fabs(sim.state().v[0]), 1.1);
  }
  EXPECT_NEAR(sim.body("foot").pose.translation.z, 0.1, 1e-3);  // it was led out
}

/// A link of 0.4 m that lies 40 mm deep in a ball near its hinge: at a lever of 60 mm a recovery of
/// 1 m/s would be 17 rad/s.
TEST(RobotOverlaps, RecoveryIsLimitedInTheJointsToo) {
  for (const Real lever : {0.3, 0.12, 0.06}) {
    for (const Real dt : {0.01, 0.002, 0.0005}) {
      ModelBuilder builder;
      SimulationOptions options = sapOptions(dt);
      options.gravity = {};
      builder.setOptions(options);
      Body block;
      block.name = "block";
      block.type = BodyType::Fixed;
      block.pose.translation = {lever, 0, 0};
      block.shapes = {{.shape = std::make_shared<Sphere>(0.05)}};
      builder.addBody(block);
      Body link;
      link.name = "link";
      link.joints = {hinge("h")};
      link.massProperties = pointLike(1, {0.2, 0, 0.02});
      BodyShape bar{.shape = std::make_shared<Box>(Vec3{0.2, 0.02, 0.02})};
      bar.pose.translation = {0.2, 0, 0.03};
      link.shapes = {bar};
      builder.addBody(link);
      Simulator sim(builder.build());
      Real fastest = 0;
      for (int i = 0; i < static_cast<int>(1 / dt); ++i) {
        sim.step();
        fastest = std::max(fastest, std::fabs(sim.state().v[0]));
      }
      EXPECT_LT(fastest, 3.1) << lever << " at " << dt;
      EXPECT_GT(fastest, 0.1) << lever << " at " << dt;
      EXPECT_LT(sim.report().maxDepth, 1e-3) << lever << " at " << dt;
    }
  }
}

TEST(RobotOverlaps, AJointBeyondItsLimitIsLedBackAtThreeRadiansOrOneMetrePerSecond) {
  for (const Real dt : {2e-3, 1e-3, 1e-4}) {
    ModelBuilder builder;
    SimulationOptions options = sapOptions(dt);
    options.gravity = {};
    builder.setOptions(options);
    Body turning;
    turning.name = "turning";
    turning.joints = {hinge("h")};
    turning.joints[0].upper = 0.5;
    turning.massProperties = pointLike(1, {0.5, 0, 0});
    builder.addBody(turning);
    Body sliding;
    sliding.name = "sliding";
    sliding.joints = {{.name = "s", .type = JointType::Prismatic, .axis = {1, 0, 0}}};
    sliding.joints[0].lower = -0.1;
    sliding.massProperties = pointLike(2, {});
    builder.addBody(sliding);
    Simulator sim(builder.build());
    sim.setPositions(std::vector<Real>{1.5, -2});
    Real turn = 0, slide = 0;
    for (int i = 0; i < static_cast<int>(3 / dt); ++i) {
      sim.step();
      turn = std::max(turn, std::fabs(sim.state().v[0]));
      slide = std::max(slide, std::fabs(sim.state().v[1]));
    }
    EXPECT_NEAR(turn, 3, 0.01) << dt;  // 17 times that without a limit
    EXPECT_NEAR(slide, 1, 0.01) << dt;
    EXPECT_LT(sim.state().q[0], 0.5) << dt;
    EXPECT_GT(sim.state().q[1], -0.1) << dt;
  }
}

TEST(RobotOverlaps, EqualitiesThatAreViolatedAtTheStartCloseAtALimitedSpeed) {
  // Two bodies of 1 kg, 1 m apart and welded: at 1 m/s of approach 0.25 J, not 472 kJ.
  for (const Equality::Type type :
       {Equality::Type::Connect, Equality::Type::Weld, Equality::Type::Distance}) {
    for (const Real dt : {0.005, 0.001, 0.0002}) {
      ModelBuilder builder;
      SimulationOptions options = sapOptions(dt);
      options.gravity = {};
      builder.setOptions(options);
      Body body;
      body.name = "a";
      body.massProperties = pointLike(1, {});
      builder.addBody(body);
      body.name = "b";
      body.pose.translation = {1, 0, 0};
      builder.addBody(body);
      Equality equality{.name = "e", .type = type, .first = "a", .second = "b"};
      equality.hasRelativePose = true;
      if (type == Equality::Type::Distance) equality.distance = 0.1;
      builder.addEquality(equality);
      Simulator sim(builder.build());
      Real most = 0;
      for (int i = 0; i < static_cast<int>(1.5 / dt); ++i) {
        sim.step();
        most = std::max(most, sim.energy().kinetic);
      }
      EXPECT_NEAR(most, 0.25, 0.01) << dt;
      const Real apart = norm(sim.body("a").pose.translation - sim.body("b").pose.translation);
      EXPECT_NEAR(apart, type == Equality::Type::Distance ? 0.1 : 0, 1e-3) << dt;
    }
  }
}

TEST(RobotOverlaps, AHeavyBodyStillHangsOnALightOne) {
  // What joins a gram to a tonne carries its load by an error: R gamma 2 dt = 4.9 mm.
  ModelBuilder builder;
  builder.setOptions(sapOptions(0.001));
  Body body;
  body.name = "light";
  body.massProperties = pointLike(1e-3, {0, 0, -0.1});
  builder.addBody(body);
  body.name = "heavy";
  body.pose.translation = {0, 0, -0.2};
  body.massProperties = pointLike(1e3, {0, 0, -0.1});
  builder.addBody(body);
  builder.addEquality(
      {.name = "top", .type = Equality::Type::Connect, .first = "light", .second = ""});
  builder.addEquality(
      {.name = "pin", .type = Equality::Type::Connect, .first = "heavy", .second = "light"});
  Simulator sim(builder.build());
  for (int i = 0; i < 1000; ++i) {
    sim.step();
    ASSERT_GT(sim.body("heavy").pose.translation.z, -0.22) << i;
  }
}

TEST(RobotOverlaps, CoupledJointsThatStartApartCloseAtALimitedRate) {
  ModelBuilder builder;
  SimulationOptions options = sapOptions();
  options.gravity = {};
  builder.setOptions(options);
  for (const char* name : {"a", "b"}) {
    Body body;
    body.name = name;
    body.joints = {hinge(std::string("h") + name)};
    body.massProperties = pointLike(1, {0.3, 0, 0});
    builder.addBody(body);
  }
  builder.addEquality({.name = "e", .type = Equality::Type::Joint, .first = "ha", .second = "hb"});
  Simulator sim(builder.build());
  sim.setPositions(std::vector<Real>{2, -1});
  Real fastest = 0;
  for (int i = 0; i < 1000; ++i) {
    sim.step();
    fastest = std::max(fastest, std::fabs(sim.state().v[0] - sim.state().v[1]));
  }
  EXPECT_NEAR(fastest, 3, 0.01);
  EXPECT_NEAR(sim.state().q[0], sim.state().q[1], 1e-4);
}

/// A four-bar linkage that turns at 60 rad/s: its loop stays closed, however fast it goes.
TEST(RobotOverlaps, ALoopThatTurnsFastStaysClosed) {
  ModelBuilder builder;
  SimulationOptions options = sapOptions(0.001);
  options.gravity = {};
  builder.setOptions(options);
  const auto add = [&](const char* name, const char* parent, const Vec3& at, const Vec3& center) {
    Body body;
    body.name = name;
    body.parent = parent;
    body.pose.translation = at;
    body.joints = {hinge(std::string("h") + name)};
    body.massProperties = pointLike(1, center, 0.05);
    builder.addBody(body);
  };
  add("crank", "", {0, 0, 0}, {0, 0, 0.1});
  add("coupler", "crank", {0, 0, 0.2}, {0.5, 0, 0});
  add("rocker", "", {1, 0, 0}, {0, 0, 0.1});
  Equality equality{
      .name = "pin", .type = Equality::Type::Connect, .first = "coupler", .second = "rocker"};
  equality.anchor = {1, 0, 0};
  builder.addEquality(equality);
  Simulator sim(builder.build());
  sim.setVelocities(std::vector<Real>{60, -60, 60});
  for (int i = 0; i < 300; ++i) {
    sim.step();
    const BodyState coupler = sim.body("coupler"), rocker = sim.body("rocker");
    const Vec3 gap = coupler.pose * Vec3{1, 0, 0} - rocker.pose * Vec3{0, 0, 0.2};
    ASSERT_LT(norm(gap), 2e-3) << i;  // (60 rad/s)^2 0.2 m (1 ms)^2 = 0.7 mm in each step
  }
}

}  // namespace
}  // namespace tangere
