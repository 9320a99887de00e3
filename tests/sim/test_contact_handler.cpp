// SPDX-License-Identifier: Apache-2.0
//
// Constraints of the user's own under the SAP solver: the rope of the documentation, and handlers
// whose first step can be worked out by hand.
#include <tangere/contact_handler.hpp>
#include <tangere/error.hpp>
#include <tangere/simulator.hpp>

#include "rope_handler.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

namespace tangere {
namespace {

constexpr Real kGravity = 9.81;
constexpr Real kDt = 0.002;

SimulationOptions sapOptions(const Vec3& gravity = {0, 0, -kGravity}) {
  SimulationOptions options;
  options.dt = kDt;
  options.gravity = gravity;
  options.solver = SolverType::Sap;
  return options;
}

Body ball(const std::string& name, Real mass, const Vec3& at, Real inertia = 0.01) {
  Body body;
  body.name = name;
  body.massProperties =
      MassProperties{.mass = mass,
                     .center = {},
                     .inertia = Mat3{{{inertia, 0, 0}, {0, inertia, 0}, {0, 0, inertia}}}};
  body.pose.translation = at;
  return body;
}

/// Viscous resistance along its rows: gamma = -dt c v_c.
class Damper : public ContactHandler {
 public:
  Damper(const ConstraintRows& rows, Real coefficient) : rows_(rows), coefficient_(coefficient) {}

  int detect(const HandlerView& view) override {
    time = view.time();
    return 1;
  }
  ConstraintRows rows(int) const override { return rows_; }
  void prepare(int, Real dt, int numRows, const Real* delassus) override {
    dt_ = dt;
    firstDelassus = delassus[0];
    lastDelassus = delassus[numRows * numRows - 1];
  }
  Real evaluate(int, const Real* vc, Real* gamma, Real* hessian) const override {
    const int n = rows_.numRows;
    Real cost = 0;
    if (hessian != nullptr) std::fill(hessian, hessian + n * n, 0);
    for (int i = 0; i < n; ++i) {
      gamma[i] = -dt_ * coefficient_ * vc[i];
      if (hessian != nullptr) hessian[i * n + i] = dt_ * coefficient_;
      cost += dt_ * coefficient_ * vc[i] * vc[i] / 2;
    }
    return cost;
  }

  Real time = -1, firstDelassus = 0, lastDelassus = 0;

 private:
  ConstraintRows rows_;
  Real coefficient_, dt_ = 0;
};

TEST(ContactHandler, AWeightHangsOnARope) {
  ModelBuilder builder;
  builder.setOptions(sapOptions());
  builder.addBody(ball("weight", 2, {0, 0, 2}));
  Simulator sim(builder.build());
  const int rope = sim.addContactHandler(
      std::make_shared<Rope>(Rope::End{0, {}}, Rope::End{-1, {0, 0, 3}}, 1, 1000, 20));
  EXPECT_TRUE(sim.handlerForces(rope).empty());
  Real scale = 0;
  for (int i = 0; i < 3000; ++i) {
    ASSERT_EQ(sim.step().status, StepStatus::Ok);
    const EnergyLedger& e = sim.energy();
    scale = std::max(scale, std::fabs(e.kinetic) + std::fabs(e.potential));
    ASSERT_LT(std::fabs(e.residual), 1e-12 * scale);
  }
  EXPECT_NEAR(sim.body("weight").pose.translation.z, 2 - 2 * kGravity / 1000, 1e-9);
  ASSERT_EQ(sim.handlerForces(rope).size(), 1u);
  const HandlerForce& force = sim.handlerForces(rope)[0];
  EXPECT_EQ(force.body1, 0);
  EXPECT_EQ(force.body2, -1);
  EXPECT_EQ(force.numRows, 1);
  EXPECT_NEAR(force.force[0], -2 * kGravity, 1e-6);  // along the rope, away from the ceiling
  EXPECT_NEAR(force.velocity[0], 0, 1e-9);
  sim.reset();
  EXPECT_TRUE(sim.handlerForces(rope).empty());
}

TEST(ContactHandler, ASlackRopeDoesNothing) {
  ModelBuilder builder;
  builder.setOptions(sapOptions());
  builder.addBody(ball("weight", 2, {0, 0, 2.5}));
  Simulator sim(builder.build());
  const int rope = sim.addContactHandler(
      std::make_shared<Rope>(Rope::End{0, {}}, Rope::End{-1, {0, 0, 3}}, 1, 1000, 20));
  sim.step(100);
  EXPECT_TRUE(sim.handlerForces(rope).empty());  // not even looked at
  EXPECT_NEAR(sim.state().v[2], -kGravity * 100 * kDt, 1e-12);
  sim.step(2);
  while (sim.handlerForces(rope).empty()) sim.step();  // nearly taut: free until it is
  EXPECT_EQ(sim.handlerForces(rope)[0].force[0], 0);
  EXPECT_NEAR(sim.state().v[2], -kGravity * sim.state().time, 1e-12);
}

TEST(ContactHandler, TheRopesGradientAndHessianMatchDifferences) {
  Rope rope(Rope::End{0, {}}, Rope::End{-1, {}}, 1, 1000, 20);
  ModelBuilder builder;
  builder.setOptions(sapOptions());
  builder.addBody(ball("weight", 2, {0, 0, 1.01}));
  const Model model = builder.build();
  const State state(model);
  ASSERT_EQ(rope.detect(HandlerView(model.data(), state, kDt)), 1);
  const Real delassus = 0.5;
  rope.prepare(0, kDt, 1, &delassus);
  for (const Real v : {Real(-3), Real(-0.6), Real(-0.1), Real(0), Real(2)}) {
    const Real h = 1e-4;
    Real gamma, hessian, above, below;
    const Real lower = v - h, upper = v + h;
    (void)rope.evaluate(0, &v, &gamma, &hessian);
    const Real costAbove = rope.evaluate(0, &upper, &above, nullptr);
    const Real costBelow = rope.evaluate(0, &lower, &below, nullptr);
    EXPECT_NEAR(-gamma, (costAbove - costBelow) / (2 * h), 1e-9);
    EXPECT_NEAR(hessian, -(above - below) / (2 * h), 1e-9);
    EXPECT_EQ(gamma<0, v> - 1000 * 0.01 / 22);  // taut where 10 N + 22 N s/m v is positive
  }
}

TEST(ContactHandler, ARopeBetweenTwoBodiesKeepsTheirMomentum) {
  ModelBuilder builder;
  builder.setOptions(sapOptions({}));
  builder.addBody(ball("a", 1, {0, 0, 0}));
  builder.addBody(ball("b", 3, {1.5, 0, 0}));
  Simulator sim(builder.build());
  sim.addContactHandler(
      std::make_shared<Rope>(Rope::End{0, {0, 0.2, 0}}, Rope::End{1, {}}, 1, 500, 5));
  for (int i = 0; i < 500; ++i) {
    sim.step();
    const BodyState a = sim.body("a"), b = sim.body("b");
    const Vec3 sum = a.linearVelocity + b.linearVelocity * Real(3);
    ASSERT_LT(norm(sum), 1e-12);
  }
  EXPECT_GT(norm(sim.body("a").linearVelocity), 0.1);
}

TEST(ContactHandler, ARopeHoldsARobotArmAndTheForceSensorKnowsIt) {
  // 2 kg, centre at half length: the rope at the tip takes one half of the weight.
  ModelBuilder builder;
  builder.setOptions(sapOptions());
  Body arm = ball("arm", 2, {});
  arm.massProperties->center = {0.5, 0, 0};
  arm.joints = {{.name = "h", .type = JointType::Revolute, .axis = {0, 1, 0}}};
  builder.addBody(arm);
  builder.addSite({.name = "root", .body = "arm"});
  builder.addSensor({.name = "force", .type = SensorType::Force, .object = "root"});
  builder.addSensor({.name = "torque", .type = SensorType::Torque, .object = "root"});
  Simulator sim(builder.build());
  const int rope = sim.addContactHandler(
      std::make_shared<Rope>(Rope::End{0, {1, 0, 0}}, Rope::End{-1, {1, 0, 1}}, 1, 1e5, 100));
  for (int i = 0; i < 3000; ++i) ASSERT_EQ(sim.step().status, StepStatus::Ok);
  EXPECT_NEAR(sim.handlerForces(rope)[0].force[0], -kGravity, 1e-3);
  const std::span<const Real> readings = sim.sensors();
  EXPECT_NEAR(readings[2], kGravity, 1e-3);
  EXPECT_NEAR(readings[4], 0, 1e-6);  // a hinge gives no torque about its axis
}

TEST(ContactHandler, ANetOfRopesMovesAlikeOnAnyNumberOfThreadsAndUnderErrorControl) {
  const auto hangNet = [](int numThreads, Real accuracy) {
    ModelBuilder builder;
    SimulationOptions options = sapOptions();
    options.accuracy = accuracy;
    builder.setOptions(options);
    constexpr int kSide = 6;
    const auto nameOf = [](int i, int j) {
      return std::string("n") + static_cast<char>('a' + i) + static_cast<char>('a' + j);
    };
    for (int i = 0; i < kSide; ++i) {
      for (int j = 0; j < kSide; ++j)
        builder.addBody(ball(nameOf(i, j), 0.1, {0.1 * i, 0, -0.1 * j}));
    }
    Simulator sim(builder.build(), numThreads);
    const auto at = [&](int i, int j) { return Rope::End{sim.model().findBody(nameOf(i, j)), {}}; };
    const auto tie = [&](const Rope::End& a, const Rope::End& b) {
      sim.addContactHandler(std::make_shared<Rope>(a, b, 0.1, 500, 0.5));
    };
    for (int i = 0; i < kSide; ++i) {
      tie(at(i, 0), {-1, {0.1 * i, 0, 0.1}});
      for (int j = 1; j < kSide; ++j) tie(at(i, j), at(i, j - 1));
      for (int j = 0; j < kSide && i > 0; ++j) tie(at(i, j), at(i - 1, j));
    }
    for (int i = 0; i < 100; ++i) EXPECT_EQ(sim.step().status, StepStatus::Ok);
    Real top = 0;  // what the ceiling carries
    for (int handler = 0; handler < 6 * 6 + 5 * 6; ++handler) {
      for (const HandlerForce& force : sim.handlerForces(handler)) {
        if (force.body2 < 0) top -= force.force[0];
      }
    }
    return std::pair(sim.state().hash(), top);
  };
  const auto one = hangNet(1, 0);
  EXPECT_EQ(one.first, hangNet(4, 0).first);
  EXPECT_GT(one.second, 1);
  const auto controlled = hangNet(1, 1e-5);
  EXPECT_EQ(controlled.first, hangNet(2, 1e-5).first);
  EXPECT_NEAR(controlled.second, one.second, 0.05 * one.second);
}

TEST(ContactHandler, AngularRowsBrakeATurn) {
  ModelBuilder builder;
  builder.setOptions(sapOptions({}));
  Body a = ball("a", 1, {}, 0.02), b = ball("b", 1, {3, 0, 0}, 0.02);
  a.angularVelocity = {0, 0, 5};
  builder.addBody(a);
  builder.addBody(b);
  Simulator sim(builder.build());
  ConstraintRows rows{.body1 = 0, .body2 = 1, .numRows = 1};
  rows.row[0] = {.direction = {0, 0, 1}, .isAngular = true};
  const auto damper = std::make_shared<Damper>(rows, 0.3);
  sim.addContactHandler(damper);
  sim.step();
  EXPECT_NEAR(damper->firstDelassus, 2 / 0.02, 1e-9);
  // The difference of the rates falls as 1/(1 + dt c 2/I); their sum stays.
  const Real difference = 5 / (1 + kDt * 0.3 * 2 / 0.02);
  EXPECT_NEAR(sim.body("a").angularVelocity.z, (5 + difference) / 2, 1e-9);
  EXPECT_NEAR(sim.body("b").angularVelocity.z, (5 - difference) / 2, 1e-9);
}

TEST(ContactHandler, AKinematicBodyDragsAlong) {
  ModelBuilder builder;
  builder.setOptions(sapOptions({}));
  Body belt = ball("belt", 1, {0, 0, -1});
  belt.type = BodyType::Kinematic;
  belt.massProperties.reset();
  belt.linearVelocity = {2, 0, 0};
  builder.addBody(belt);
  builder.addBody(ball("cargo", 4, {}));
  Simulator sim(builder.build());
  ConstraintRows rows{.body1 = 1, .body2 = 0, .numRows = 3};
  rows.row[0] = {.direction = {1, 0, 0}};
  rows.row[1] = {.direction = {0, 1, 0}};
  rows.row[2] = {.direction = {0, 0, 1}};
  const auto damper = std::make_shared<Damper>(rows, 50);
  const int handler = sim.addContactHandler(damper);
  sim.step();
  EXPECT_EQ(damper->time, 0);
  EXPECT_NEAR(damper->lastDelassus, 0.25, 1e-12);
  const Real speed = kDt * 50 * 2 / (4 + kDt * 50);  // m v = dt c (u - v)
  EXPECT_NEAR(sim.state().velocity[1].x, speed, 1e-9);
  const HandlerForce& force = sim.handlerForces(handler)[0];
  EXPECT_NEAR(force.velocity[0], speed - 2, 1e-9);
  EXPECT_NEAR(force.force[0], 50 * (2 - speed), 1e-6);
}

TEST(ContactHandler, RowsThatCannotBeAreLeftOutAndReported) {
  ModelBuilder builder;
  builder.setOptions(sapOptions({}));
  builder.addBody(ball("a", 1, {}));
  const Model model = builder.build();
  const auto statusOf = [&](const ConstraintRows& rows) {
    Simulator sim(model);
    sim.addContactHandler(std::make_shared<Damper>(rows, 1));
    return sim.step().status;
  };
  ConstraintRows rows{.body1 = 0, .numRows = 1};
  rows.row[0].direction = {1, 0, 0};
  EXPECT_EQ(statusOf(rows), StepStatus::Ok);
  for (const auto& [body1, body2] : {std::pair(7, -1), std::pair(0, -2), std::pair(0, 0)}) {
    ConstraintRows wrong = rows;
    wrong.body1 = body1;
    wrong.body2 = body2;
    EXPECT_EQ(statusOf(wrong), StepStatus::HandlerRefused);
  }
  rows.numRows = 7;
  EXPECT_EQ(statusOf(rows), StepStatus::HandlerRefused);
  rows.numRows = 1;
  rows.row[0].direction.x = std::numeric_limits<Real>::quiet_NaN();
  EXPECT_EQ(statusOf(rows), StepStatus::HandlerRefused);
}

TEST(ContactHandler, WhatAHandlerActsOnWakesAndStaysAwake) {
  ModelBuilder builder;
  SimulationOptions options = sapOptions();
  options.sleep = {.enabled = true, .duration = 0.1};
  builder.setOptions(options);
  Body ground;
  ground.name = "ground";
  ground.type = BodyType::Fixed;
  ground.shapes = {{.shape = std::make_shared<Plane>()}};
  builder.addBody(ground);
  for (const char* name : {"a", "b"}) {
    Body box = ball(name, 1, {name[0] == 'a' ? 0.0 : 3.0, 0, 0.1});
    box.shapes = {{.shape = std::make_shared<Box>(Vec3{0.1, 0.1, 0.1})}};
    builder.addBody(box);
  }
  Simulator sim(builder.build());
  sim.step(500);
  ASSERT_NE(sim.state().isAsleep[0], 0);
  ASSERT_NE(sim.state().isAsleep[1], 0);
  const auto pull = [&](Real stiffness) {  // by 0.1 m of stretch
    sim.addContactHandler(
        std::make_shared<Rope>(Rope::End{0, {}}, Rope::End{-1, {0, 0, 1.1}}, 0.9, stiffness, 10));
  };
  pull(50);  // 5 N do not lift it
  sim.step(500);
  EXPECT_EQ(sim.state().isAsleep[0], 0);
  EXPECT_NEAR(sim.body("a").pose.translation.z, 0.1, 1e-4);
  EXPECT_NEAR(sim.handlerForces(0)[0].force[0], -5, 1e-2);
  pull(100);  // 15 N do
  sim.step(500);
  EXPECT_GT(sim.body("a").pose.translation.z, 0.12);
  EXPECT_NE(sim.state().isAsleep[1], 0);  // nobody woke the other one
}

TEST(ContactHandler, NeedsTheSapSolver) {
  ModelBuilder builder;
  builder.addBody(ball("a", 1, {}));
  Simulator impulse(builder.build());
  ConstraintRows rows{.body1 = 0, .numRows = 1};
  EXPECT_THROW(impulse.addContactHandler(std::make_shared<Damper>(rows, 1)), InvalidInput);
  EXPECT_THROW((void)impulse.handlerForces(0), InvalidInput);
  builder.setOptions(sapOptions());
  Simulator sap(builder.build());
  EXPECT_THROW(sap.addContactHandler(nullptr), InvalidInput);
  EXPECT_THROW((void)sap.handlerForces(0), InvalidInput);
}

std::string textOf(const std::string& path) {
  std::ifstream file(TANGERE_TEST_DATA "/../../" + path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// What is between two lines "// [name]".
std::string quoted(const std::string& text, const std::string& name) {
  const std::string mark = "// [" + name + "]\n";
  const std::size_t first = text.find(mark) + mark.size();
  const std::size_t last = text.rfind('\n', text.find(mark, first)) + 1;
  return text.substr(first, last - first);
}

TEST(ContactHandler, ThePageQuotesTheExampleAsItIs) {
  const std::string page = textOf("docs/add_a_contact_handler.md");
  for (const auto& [file, name] : {std::pair("examples/rope_handler.hpp", "rope"),
                                   std::pair("examples/hanging_weight.cpp", "weight")}) {
    const std::string code = quoted(textOf(file), name);
    EXPECT_GT(code.size(), 500u);
    EXPECT_NE(page.find(code), std::string::npos) << file;
  }
}

}  // namespace
}  // namespace tangere
