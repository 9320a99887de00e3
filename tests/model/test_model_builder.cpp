// SPDX-License-Identifier: Apache-2.0
//
// A builder refuses what cannot be simulated, says which body or material it is about, and stays as
// it was.
#include <tangere/error.hpp>
#include <tangere/model.hpp>
#include <tangere/state.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>

namespace tangere {
namespace {

constexpr Real kNaN = std::numeric_limits<Real>::quiet_NaN();
constexpr Real kInf = std::numeric_limits<Real>::infinity();

Body ballBody(const std::string& name) {
  Body body{.name = name};
  body.shapes.push_back({.shape = std::make_shared<Sphere>(0.1)});
  return body;
}

template <class Change>
void expectBodyRefused(const Change& change) {
  ModelBuilder builder;
  builder.addBody(ballBody("good"));
  Body body = ballBody("bad");
  change(body);
  try {
    builder.addBody(body);
    (void)builder.build();
    ADD_FAILURE() << "accepted";
  } catch (const InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find("bad"), std::string::npos) << error.what();
  }
}

MassProperties massOf(Real mass, Real a, Real b, Real c) {
  MassProperties out{.mass = mass};
  out.inertia(0, 0) = a;
  out.inertia(1, 1) = b;
  out.inertia(2, 2) = c;
  return out;
}

TEST(ModelBuilder, RefusesBodiesThatCannotMoveAsBodiesDo) {
  for (const Real bad : {kNaN, kInf, -kInf}) {
    expectBodyRefused([&](Body& b) { b.pose.translation.x = bad; });
    expectBodyRefused([&](Body& b) { b.linearVelocity.y = bad; });
    expectBodyRefused([&](Body& b) { b.angularVelocity.z = bad; });
    expectBodyRefused([&](Body& b) { b.linearDamping = bad; });
    expectBodyRefused([&](Body& b) { b.gravityScale = bad; });
    expectBodyRefused([&](Body& b) { b.massProperties = massOf(bad, 1, 1, 1); });
  }
  expectBodyRefused([](Body& b) { b.linearDamping = -1; });
  expectBodyRefused([](Body& b) { b.pose.rotation.col[0] = {-1, 0, 0}; });
  expectBodyRefused([](Body& b) { b.pose.rotation.col[0] = {2, 0, 0}; });
  expectBodyRefused([](Body& b) { b.shapes[0].shape = nullptr; });
  expectBodyRefused([](Body& b) { b.shapes[0].shape = std::make_shared<Plane>(); });
  expectBodyRefused([](Body& b) { b.shapes.clear(); });
}

TEST(ModelBuilder, RefusesMassesThatNoBodyHas) {
  expectBodyRefused([](Body& b) { b.massProperties = massOf(0, 1, 1, 1); });
  expectBodyRefused([](Body& b) { b.massProperties = massOf(-1, 1, 1, 1); });
  expectBodyRefused([](Body& b) { b.massProperties = massOf(1, 1, 1, 5); });
  expectBodyRefused([](Body& b) { b.massProperties = massOf(1, -1, 1, 1); });
  expectBodyRefused([](Body& b) {
    b.massProperties = massOf(1, 1, 1, 1);
    b.massProperties->inertia(0, 1) = 0.5;  // not symmetric
  });
}

TEST(ModelBuilder, RefusesAFixedBodyThatMoves) {
  expectBodyRefused([](Body& b) {
    b.type = BodyType::Fixed;
    b.linearVelocity = {1, 0, 0};
  });
}

TEST(ModelBuilder, RefusesMaterialsBeyondTheirRange) {
  ModelBuilder builder;
  for (const Real bad : {kNaN, kInf, -0.1, 1001.0})
    EXPECT_THROW(builder.addMaterial({.name = "m", .friction = bad}), InvalidInput) << bad;
  for (const Real bad : {kNaN, kInf, -0.1, 1.1})
    EXPECT_THROW(builder.addMaterial({.name = "m", .restitution = bad}), InvalidInput) << bad;
  for (const Real bad : {kNaN, kInf, -1.0, 0.0})
    EXPECT_THROW(builder.addMaterial({.name = "m", .density = bad}), InvalidInput) << bad;
  for (const Real bad : {kNaN, kInf, -1.0}) {
    EXPECT_THROW(builder.addMaterial({.name = "m", .torsionalFriction = bad}), InvalidInput) << bad;
    EXPECT_THROW(builder.addMaterial({.name = "m", .rollingFriction = bad}), InvalidInput) << bad;
  }
  for (const Real bad : {kNaN, kInf, -1.0}) {
    EXPECT_THROW(builder.addMaterial({.name = "m", .youngsModulus = bad}), InvalidInput) << bad;
    EXPECT_THROW(builder.addMaterial({.name = "m", .rollingResistance = bad}), InvalidInput) << bad;
    EXPECT_THROW(builder.addPair({.material1 = "m", .material2 = "m", .rollingResistance = bad}),
                 InvalidInput)
        << bad;
  }
  for (const Real bad : {kNaN, -0.1, 0.51})
    EXPECT_THROW(builder.addMaterial({.name = "m", .poissonRatio = bad}), InvalidInput) << bad;
  for (const Real bad : {kNaN, kInf, -1.0, 0.0}) {
    EXPECT_THROW(builder.addPair({.material1 = "m", .material2 = "m", .smallSpeed = bad}),
                 InvalidInput)
        << bad;
    EXPECT_THROW(builder.addPair({.material1 = "m", .material2 = "m", .smallSpin = bad}),
                 InvalidInput)
        << bad;
  }
  builder.addMaterial({.name = "m"});
  EXPECT_THROW(builder.addMaterial({.name = "m"}), InvalidInput) << "twice";
}

TEST(ModelBuilder, RefusesOptionsBeyondTheirRange) {
  ModelBuilder builder;
  const auto refuses = [&](auto change) {
    SimulationOptions options;
    change(options);
    EXPECT_THROW(builder.setOptions(options), InvalidInput);
  };
  for (const Real bad : {0.0, -1.0, kNaN, kInf, 1e6}) refuses([&](auto& o) { o.dt = bad; });
  for (const Real bad : {kNaN, kInf}) {
    refuses([&](auto& o) { o.gravity.x = bad; });
    refuses([&](auto& o) { o.restitutionThreshold = bad; });
    refuses([&](auto& o) { o.impulse.slop = bad; });
    refuses([&](auto& o) { o.impulse.tolerance = bad; });
    refuses([&](auto& o) { o.impulse.correctionRate = bad; });
    refuses([&](auto& o) { o.impulse.maxCorrectionSpeed = bad; });
  }
  for (const Real bad : {kNaN, kInf, -1.0}) {
    refuses([&](auto& o) { o.event.relativeTolerance = bad; });
    refuses([&](auto& o) { o.event.absoluteTolerance = bad; });
    refuses([&](auto& o) { o.event.maxStep = bad; });
    refuses([&](auto& o) { o.event.maxDamping = bad; });
    refuses([&](auto& o) { o.event.stiffnessReduction = bad; });
    refuses([&](auto& o) { o.event.smallSpeed = bad; });
    refuses([&](auto& o) { o.event.smallSpin = bad; });
    refuses([&](auto& o) { o.event.restPeriod = bad; });
    refuses([&](auto& o) { o.event.impactSpeed = bad; });
    refuses([&](auto& o) { o.event.maxCorrectionSpeed = bad; });
    refuses([&](auto& o) { o.event.slipSpeed = bad; });
    refuses([&](auto& o) { o.event.maxMemory = bad; });
  }
  for (const int bad : {0, -1}) refuses([&](auto& o) { o.event.maxSteps = bad; });
  refuses([](auto& o) { o.event.stiffnessReduction = 2; });
  refuses([](auto& o) { o.event.slipSpeed = 0; });
  refuses([](auto& o) { o.sleep.duration = kNaN; });
  refuses([](auto& o) { o.sleep.linearSpeed = -1; });
  refuses([](auto& o) { o.impulse.numSubsteps = 0; });
  refuses([](auto& o) { o.impulse.numSweeps = -1; });
  refuses([](auto& o) { o.impulse.tolerance = 0; });
  refuses([](auto& o) { o.maxImpactsPerStep = -1; });
  EXPECT_EQ(builder.options().dt, SimulationOptions{}.dt) << "as it was";
}

TEST(ModelBuilder, RefusesNamesThatAreTwiceOrUnknown) {
  ModelBuilder twice;
  twice.addBody(ballBody("a"));
  EXPECT_THROW(
      {
        twice.addBody(ballBody("a"));
        (void)twice.build();
      },
      InvalidInput);
  ModelBuilder unknown;
  Body body = ballBody("a");
  body.shapes[0].material = "nowhere";
  unknown.addBody(body);
  EXPECT_THROW((void)unknown.build(), InvalidInput);
  ModelBuilder excluded;
  excluded.addBody(ballBody("a"));
  excluded.excludePair("a", "b");
  EXPECT_THROW((void)excluded.build(), InvalidInput);
  EXPECT_THROW(excluded.excludePair("a", "a"), InvalidInput);
}

TEST(Model, MassComesFromTheShapesAndTheirDensities) {
  ModelBuilder builder;
  builder.addMaterial({.name = "light", .density = 100});
  builder.addMaterial({.name = "heavy", .density = 300});
  Body body{.name = "dumbbell"};
  body.shapes.push_back({.shape = std::make_shared<Box>(Vec3{0.5, 0.5, 0.5}),
                         .pose = {Mat3::identity(), {-1, 0, 0}},
                         .material = "light"});
  body.shapes.push_back({.shape = std::make_shared<Box>(Vec3{0.5, 0.5, 0.5}),
                         .pose = {Mat3::identity(), {1, 0, 0}},
                         .material = "heavy"});
  builder.addBody(body);
  const Model model = builder.build();
  const MassProperties& mass = model.massProperties(0);
  EXPECT_NEAR(mass.mass, 400, 1e-9);
  EXPECT_NEAR(mass.center.x, 0.5, 1e-12);
  // Each m/6 about its own centre, and m d^2 for the two at 1.5 and 0.5 m.
  EXPECT_NEAR(mass.inertia(1, 1), 400.0 / 6 + 100 * 2.25 + 300 * 0.25, 1e-9);
  EXPECT_NEAR(mass.inertia(0, 0), 400.0 / 6, 1e-9);
}

TEST(Model, BodiesAreInOrderOfNamesAndTheHashIsThatOfTheContent) {
  const auto build = [](std::vector<std::string> names, Real radius) {
    ModelBuilder builder;
    for (const std::string& name : names) {
      Body body{.name = name};
      body.shapes.push_back({.shape = std::make_shared<Sphere>(radius)});
      builder.addBody(body);
    }
    return builder.build();
  };
  const Model model = build({"c", "a", "b"}, 0.1);
  EXPECT_EQ(model.bodyName(0), "a");
  EXPECT_EQ(model.findBody("c"), 2);
  EXPECT_EQ(model.findBody("d"), -1);
  EXPECT_EQ(model.hash(), build({"a", "b", "c"}, 0.1).hash());
  EXPECT_NE(model.hash(), build({"a", "b", "c"}, 0.2).hash());
  EXPECT_NE(model.hash(), build({"a", "b", "d"}, 0.1).hash());
  SimulationOptions options = model.options();
  options.dt = 0.01;
  EXPECT_NE(model.withOptions(options).hash(), model.hash());
}

TEST(State, StartsWhereTheBodiesAre) {
  ModelBuilder builder;
  Body body{.name = "hammer"};
  body.pose.translation = {1, 2, 3};
  body.angularVelocity = {0, 0, 2};
  body.shapes.push_back(
      {.shape = std::make_shared<Sphere>(0.1), .pose = {Mat3::identity(), {1, 0, 0}}});
  builder.addBody(body);
  const State state(builder.build());
  EXPECT_EQ(state.time, 0);
  EXPECT_NEAR(state.center[0].x, 2, 1e-12);
  EXPECT_NEAR(state.velocity[0].y, 2, 1e-12) << "of the centre, not of the origin";
}

}  // namespace
}  // namespace tangere
