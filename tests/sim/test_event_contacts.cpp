// SPDX-License-Identifier: Apache-2.0
//
// Rigid impacts, resting, sliding and rolling, and many bodies under the event solver.
#include <tangere/integrator.hpp>
#include <tangere/simulator.hpp>

#include "sim/event_samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace tangere {
namespace {

using test::addGround;
using test::eventBuilder;
using test::makeBody;
using test::numbered;

Body ball(const std::string& name, Real radius, const Vec3& at) {
  return makeBody(name, std::make_shared<Sphere>(radius), at);
}

Body box(const std::string& name, const Vec3& half, const Vec3& at) {
  return makeBody(name, std::make_shared<Box>(half), at);
}

struct Outcome {
  std::vector<EventRecord> events;
  Real worstResidual = 0;
};

Outcome run(Simulator& simulator, Real time) {
  Outcome out;
  while (simulator.state().time < time - 1e-9) {
    const StepReport& report = simulator.step();
    EXPECT_EQ(report.status, StepStatus::Ok)
        << describe(report, simulator.model(), simulator.state().step);
    if (report.status != StepStatus::Ok) break;
    out.worstResidual = std::max(out.worstResidual, std::fabs(simulator.energy().residual));
    for (const EventRecord& event : simulator.events()) out.events.push_back(event);
  }
  return out;
}

TEST(EventContacts, RigidBallBouncesByNewtonsLawAndComesToRest) {
  ModelBuilder builder = eventBuilder({.name = "m", .friction = 0.5, .restitution = 0.5});
  addGround(builder);
  builder.addBody(ball("ball", 0.1, {0, 0, 1.1}));
  Simulator simulator(builder.build());
  const Outcome out = run(simulator, 2);
  Real speed = std::sqrt(2 * 9.81 * 1.0), time = std::sqrt(2 * 1.0 / 9.81);
  for (int i = 0; i < 6; ++i) {
    ASSERT_LT(static_cast<std::size_t>(i), out.events.size());
    EXPECT_EQ(out.events[i].cause, EventCause::Impact);
    EXPECT_NEAR(out.events[i].approachSpeed / speed, 1, 2e-5) << i;
    EXPECT_NEAR(out.events[i].time, time, 1e-6) << i;
    speed *= 0.5;
    time += 2 * speed / 9.81;
  }
  EXPECT_LT(out.events.size(), 60u);  // the series ends
  EXPECT_NEAR(norm(simulator.body("ball").linearVelocity), 0, 1e-9);
  // Resting depth g/w^2 of a spring with the period of 1e-4 s.
  EXPECT_NEAR(simulator.body("ball").pose.translation.z, 0.1 - 9.81 / std::pow(2 * M_PI / 1e-4, 2),
              1e-11);
}

TEST(EventContacts, BoxSlidesToTheRightPlace) {
  ModelBuilder builder = eventBuilder({.name = "m", .friction = 0.3});
  addGround(builder);
  Body slider = box("box", {0.1, 0.1, 0.1}, {0, 0, 0.1});
  slider.linearVelocity = {2, 0.3, 0};
  builder.addBody(slider);
  Simulator simulator(builder.build());
  const Outcome out = run(simulator, 1);
  const Real speed = std::sqrt(4 + 0.09), way = speed * speed / (2 * 0.3 * 9.81);
  EXPECT_NEAR(simulator.body("box").pose.translation.x, way * 2 / speed, 1e-7);
  EXPECT_NEAR(simulator.body("box").pose.translation.y, way * 0.3 / speed, 1e-7);
  EXPECT_NEAR(norm(simulator.body("box").linearVelocity), 0, 1e-9);  // it sticks
  EXPECT_LT(out.worstResidual, 1e-6);
}

TEST(EventContacts, SlidingBallRollsWithFiveSeventhsOfItsSpeed) {
  ModelBuilder builder = eventBuilder({.name = "m", .friction = 0.2});
  addGround(builder);
  Body slider = ball("ball", 0.03, {0, 0, 0.03});
  slider.linearVelocity = {3, 0, 0};
  builder.addBody(slider);
  Simulator simulator(builder.build());
  run(simulator, 1);  // it rolls from 2/7 v / (mu g) = 0.437 s on
  const BodyState state = simulator.body("ball");
  EXPECT_NEAR(state.linearVelocity.x, 3 * 5.0 / 7, 1e-6);
  EXPECT_NEAR(state.angularVelocity.y, 3 * 5.0 / 7 / 0.03, 1e-4);
}

std::shared_ptr<const Shape> prismOf(int n) {
  std::vector<Vec3> points;
  for (const Real z : {-0.05, 0.05})
    for (int i = 0; i < n; ++i) {
      const Real angle = 6.283185307179586 * i / n + 0.1;
      points.push_back({0.1 * std::cos(angle), 0.1 * std::sin(angle), z});
    }
  return std::make_shared<Convex>(points);
}

/// A body of 3 kg that lies on points of 2e4 N/m: how deep it sinks in under a solver [m].
Real restingDepth(SolverType solver, const Body& lying, const std::shared_ptr<const Shape>& ground,
                  SapContactModel law) {
  SimulationOptions options;
  options.solver = solver;
  options.dt = 0.002;
  options.sap.contact = law;
  ModelBuilder builder;
  builder.setOptions(options);
  // Of two surfaces in series: 2e4 N/m.
  builder.addMaterial(
      {.name = "m", .friction = 0.3, .stiffness = 4e4, .relaxationTime = 0.02, .dissipation = 20});
  Body floor{.name = "floor", .type = BodyType::Fixed};
  if (ground->type() == ShapeType::Box) floor.pose.translation.z = -1;
  floor.shapes.push_back({.shape = ground, .material = "m"});
  builder.addBody(floor);
  Body body = lying;
  const Real start = body.pose.translation.z;
  body.pose.translation.z -= 3e-4;
  body.massProperties =
      MassProperties{.mass = 3, .inertia = {{{0.05, 0, 0}, {0, 0.05, 0}, {0, 0, 0.05}}}};
  builder.addBody(body);
  Simulator simulator(builder.build());
  while (simulator.state().time < 2) {
    if (simulator.step().status != StepStatus::Ok) {
      ADD_FAILURE();
      break;
    }
  }
  return start - simulator.body("b").pose.translation.z;
}

TEST(EventContacts, APointHasItsMaterialsStiffnessUnderEverySolver) {
  const Mat3 lying{{{1, 0, 0}, {0, 0, 1}, {0, -1, 0}}};
  struct Sample {
    const char* name;
    Body body;
    Real numPoints;
  };
  std::vector<Sample> samples = {
      {"sphere", ball("b", 0.05, {0, 0, 0.05}), 1},
      {"box", box("b", {0.1, 0.08, 0.05}, {0, 0, 0.05}), 4},
      {"capsule", makeBody("b", std::make_shared<Capsule>(0.05, 0.1), {0, 0, 0.05}), 2},
      {"cylinder", makeBody("b", std::make_shared<Cylinder>(0.05, 0.05), {0, 0, 0.05}), 4},
      {"lying cylinder", makeBody("b", std::make_shared<Cylinder>(0.05, 0.1), {0, 0, 0.05}), 2}};
  samples[2].body.pose.rotation = samples[4].body.pose.rotation = lying;
  // Three and four feet, each of which ends in a vertex; prisms on faces of many corners.
  for (const auto& places :
       {std::vector<Vec3>{{0.2, 0, 0}, {-0.1, 0.17, 0}, {-0.1, -0.17, 0}},
        std::vector<Vec3>{{0.2, 0.1, 0}, {0.2, -0.1, 0}, {-0.2, 0.1, 0}, {-0.2, -0.1, 0}}}) {
    Body feet{.name = "b"};
    for (const Vec3& at : places)
      feet.shapes.push_back({.shape = std::make_shared<Convex>(std::vector<Vec3>{
                                 at, at + Vec3{0.03, 0.03, 0.05}, at + Vec3{-0.03, 0.03, 0.05},
                                 at + Vec3{0.03, -0.03, 0.05}, at + Vec3{-0.03, -0.03, 0.05}}),
                             .material = "m"});
    samples.push_back({"feet", feet, static_cast<Real>(places.size())});
  }
  for (const int n : {3, 4, 8, 12})
    samples.push_back({"prism", makeBody("b", prismOf(n), {0, 0, 0.05}), std::min<Real>(n, 4)});

  for (const std::shared_ptr<const Shape>& ground :
       {std::shared_ptr<const Shape>(std::make_shared<Plane>()),
        std::shared_ptr<const Shape>(std::make_shared<Box>(Vec3{1, 1, 1}))}) {
    for (const Sample& sample : samples) {
      const Real expected = 3 * 9.81 / (2e4 * sample.numPoints);
      for (const SapContactModel law : {SapContactModel::Linear, SapContactModel::HuntCrossley}) {
        const Real event = restingDepth(SolverType::Event, sample.body, ground, law);
        const Real sap = restingDepth(SolverType::Sap, sample.body, ground, law);
        EXPECT_NEAR(event / expected, 1, 1e-6) << sample.name << ", " << sample.numPoints;
        EXPECT_NEAR(sap / event, 1, 1e-5) << sample.name << ", " << sample.numPoints;
      }
    }
  }
}

TEST(EventContacts, TumblingBoxComesToRestOnAFace) {
  ModelBuilder builder = eventBuilder({.name = "m", .friction = 0.3, .restitution = 0.3});
  addGround(builder);
  Body tumbler = box("box", {0.1, 0.15, 0.12}, {0, 0, 0.5});
  tumbler.angularVelocity = {1, 2, 3};
  builder.addBody(tumbler);
  Simulator simulator(builder.build());
  const Outcome out = run(simulator, 1.5);
  EXPECT_LT(out.events.size(), 300u);
  EXPECT_NEAR(norm(simulator.body("box").linearVelocity), 0, 1e-8);
  EXPECT_NEAR(simulator.body("box").pose.translation.z, 0.12, 1e-7);
  EXPECT_LT(out.worstResidual, 1e-4);  // of 59 J at the start
}

TEST(EventContacts, StackOfBoxesStands) {
  ModelBuilder builder = eventBuilder({.name = "m", .friction = 0.5});
  addGround(builder);
  for (int i = 0; i < 3; ++i)
    builder.addBody(box(numbered("box", i), {0.1, 0.1, 0.1}, {0.01 * i, 0, 0.1 + 0.2 * i}));
  Simulator simulator(builder.build());
  run(simulator, 1);
  EXPECT_NEAR(simulator.body("box2").pose.translation.x, 0.02, 1e-7);
  EXPECT_NEAR(simulator.body("box2").pose.translation.z, 0.5, 1e-7);
  EXPECT_NEAR(norm(simulator.body("box2").linearVelocity), 0, 1e-9);
}

TEST(EventContacts, RigidCradlePassesTheMomentumOn) {
  ModelBuilder builder = eventBuilder({.name = "m", .friction = 0, .restitution = 1}, {});
  for (int i = 0; i < 5; ++i) {
    Body b = ball(numbered("b", i), 0.05, {0.1 * i + (i > 0 ? 0.02 : 0), 0, 0});
    if (i == 0) b.linearVelocity = {1, 0, 0};
    builder.addBody(b);
  }
  Simulator simulator(builder.build());
  const Outcome out = run(simulator, 0.3);
  EXPECT_EQ(out.events.size(), 4u);
  for (int i = 0; i < 4; ++i)
    EXPECT_NEAR(simulator.body(numbered("b", i)).linearVelocity.x, 0, 1e-9);
  EXPECT_NEAR(simulator.body("b4").linearVelocity.x, 1, 1e-9);
}

TEST(EventContacts, SteelCradleWithGapsPassesTheMomentumOn) {
  ModelBuilder builder = eventBuilder({.name = "m",
                                       .friction = 0,
                                       .restitution = 1,
                                       .contact = ContactModel::Hertz,
                                       .youngsModulus = 2e11},
                                      {});
  for (int i = 0; i < 5; ++i) {
    Body b = ball(numbered("b", i), 0.05, {0.101 * i, 0, 0});
    if (i == 0) b.linearVelocity = {1, 0, 0};
    builder.addBody(b);
  }
  Simulator simulator(builder.build());
  const Outcome out = run(simulator, 0.1);
  EXPECT_EQ(out.events.size(), 8u);
  EXPECT_NEAR(simulator.body("b4").linearVelocity.x, 1, 1e-5);
  EXPECT_LT(out.worstResidual, 3e-5);  // of 0.26 J; tolerances of 4e-9 m against depths of 1e-5 m
}

/// Steel balls in a row that touch, the first of which strikes the others at 1 m/s: velocities.
std::vector<Real> strikeTouchingRow(int numBalls, Real restitution, Real startSpeed = 0) {
  ModelBuilder builder = eventBuilder({.name = "m",
                                       .friction = 0,
                                       .restitution = restitution,
                                       .contact = ContactModel::Hertz,
                                       .youngsModulus = 2e11},
                                      {});
  for (int i = 0; i < numBalls; ++i) {
    Body b = ball(numbered("b", i), 0.05, {0.1 * i - (i == 0 ? 0.001 : 0), 0, 0});
    b.linearVelocity.x = i == 0 ? 1 : -startSpeed * i;
    builder.addBody(b);
  }
  Simulator simulator(builder.build());
  run(simulator, 0.02);
  std::vector<Real> out;
  for (int i = 0; i < numBalls; ++i)
    out.push_back(simulator.body(numbered("b", i)).linearVelocity.x);
  return out;
}

struct RowSums {
  Real momentum = 0, energy = 0;  // of unit masses
};
RowSums sumsOf(const std::vector<Real>& velocities) {
  RowSums sums;
  for (const Real v : velocities) sums.momentum += v, sums.energy += v * v / 2;
  return sums;
}

TEST(EventContacts, ARowOfTouchingElasticBallsLosesNothing) {
  for (const int numBalls : {2, 3, 5, 9}) {
    for (const Real startSpeed :
         {0.0, 1e-4}) {  // contacts of two that begin slowly are elastic too
      const std::vector<Real> v = strikeTouchingRow(numBalls, 1, startSpeed);
      Real momentum = 1, energy = 0.5;
      for (int i = 1; i < numBalls; ++i)
        momentum -= startSpeed * i, energy += 0.5 * (startSpeed * i) * (startSpeed * i);
      EXPECT_NEAR(sumsOf(v).momentum, momentum, 1e-7) << numBalls;
      EXPECT_NEAR(sumsOf(v).energy, energy, 1e-5) << numBalls << " balls at " << startSpeed;
    }
  }
  // Balls that touch share a little: the last one does not get all of the speed.
  EXPECT_NEAR(strikeTouchingRow(5, 1).back(), 0.987, 0.002);
}

TEST(EventContacts, ATouchingRowLosesTheLessTheNearerRestitutionIsToOne) {
  const Real start = 0.5;
  Real last = 1;
  for (const Real e : {0.0, 0.5, 0.9, 0.99, 0.999}) {
    const RowSums sums = sumsOf(strikeTouchingRow(5, e));
    EXPECT_NEAR(sums.momentum, 1, 1e-7);
    const Real lost = 1 - sums.energy / start;
    EXPECT_LT(lost, last) << e;
    // The pulse passes four contacts. Each keeps about e^2 of what passes as work, the rest of
    // which passes as motion meanwhile.
    EXPECT_LT(lost, 1 - std::pow(e, 8)) << e;
    EXPECT_GT(lost, 0.4 * (1 - std::pow(e, 8))) << e;
    last = lost;
  }
}

TEST(EventContacts, BilliardBreakKeepsItsEnergyLedger) {
  ModelBuilder builder =
      eventBuilder({.name = "m", .density = 1768, .friction = 0.1, .restitution = 0.95});
  addGround(builder);
  constexpr Real r = 0.0286;
  Body cue = ball("cue", r, {-0.2, 0.003, r});
  cue.linearVelocity = {5, 0, 0};
  builder.addBody(cue);
  int index = 0;
  for (int i = 0; i < 5; ++i) {
    for (int k = 0; k <= i; ++k)
      builder.addBody(ball(numbered("b", index++), r,
                           {i * 1.733 * r * 1.001, (k - 0.5 * i) * 2 * r * 1.001, r}));
  }
  Simulator simulator(builder.build());
  const Outcome out = run(simulator, 0.1);
  EXPECT_GT(out.events.size(), 20u);
  EXPECT_LT(out.worstResidual, 1e-6);  // of 2.2 J
  EXPECT_LT(simulator.energySum().contactFriction, 0);
  Vec3 momentum;
  for (int i = 0; i < simulator.model().numBodies(); ++i)
    momentum += simulator.body(i).linearVelocity;
  EXPECT_NEAR(momentum.y, 0, 1);  // no pocket of the code pushes sideways
}

TEST(EventContacts, HundredBodiesFall) {
  ModelBuilder builder = eventBuilder({.name = "m",
                                       .friction = 0.3,
                                       .restitution = 0.5,
                                       .contact = ContactModel::Hertz,
                                       .youngsModulus = 1e7});
  SimulationOptions options = builder.options();
  options.event.relativeTolerance = 1e-6;
  options.event.absoluteTolerance = 1e-8;
  builder.setOptions(options);
  addGround(builder);
  for (int i = 0; i < 100; ++i)
    builder.addBody(ball(numbered("b", i), 0.05,
                         {0.11 * (i % 5), 0.11 * ((i / 5) % 5), 0.06 + 0.12 * (i / 25)}));
  Simulator simulator(builder.build());
  const Outcome out = run(simulator, 0.06);
  EXPECT_GT(out.events.size(), 24u);
  EXPECT_LT(out.worstResidual, 1e-2);  // of 130 J
}

TEST(EventContacts, KinematicBodyPushesAndItsWorkIsBooked) {
  ModelBuilder builder = eventBuilder({.name = "m", .friction = 0}, {});
  Body pusher = box("pusher", {0.1, 0.1, 0.1}, {0, 0, 0});
  pusher.type = BodyType::Kinematic;
  pusher.linearVelocity = {0.5, 0, 0};
  builder.addBody(pusher);
  builder.addBody(ball("ball", 0.1, {0.25, 0, 0}));
  Simulator simulator(builder.build());
  const Outcome out = run(simulator, 0.3);
  EXPECT_NEAR(simulator.body("pusher").pose.translation.x, 0.15, 1e-12);
  EXPECT_NEAR(simulator.body("ball").linearVelocity.x, 0.5, 1e-6);
  const EnergyLedger& sum = simulator.energySum();
  EXPECT_NEAR(sum.kinematic + sum.contactNormal, sum.kinetic, 1e-7);
  EXPECT_LT(out.worstResidual, 1e-7);
}

TEST(EventContacts, ObserverOnlyReports) {
  ModelBuilder builder = eventBuilder({.name = "m", .contact = ContactModel::Observer}, {});
  builder.addBody(ball("a", 0.1, {0, 0, 0}));
  Body b = ball("b", 0.1, {0.3, 0, 0});
  b.linearVelocity = {-1, 0, 0};
  builder.addBody(b);
  Simulator simulator(builder.build());
  const Outcome out = run(simulator, 0.6);
  ASSERT_EQ(out.events.size(), 2u);
  EXPECT_NEAR(out.events[0].time, 0.1, 1e-9);
  EXPECT_NEAR(out.events[1].time, 0.5, 1e-9);
  EXPECT_NEAR(simulator.body("b").linearVelocity.x, -1, 1e-12);
}

TEST(EventContacts, ThinPassageWithinOneStepIsNotMissed) {
  // Free flight at constant speed lets steps grow without bound; the bodies overlap for 2 ms.
  ModelBuilder builder = eventBuilder({.name = "m", .contact = ContactModel::Observer}, {});
  builder.addBody(ball("a", 0.001, {0, 0, 0}));
  Body b = ball("b", 0.001, {20, 0.0015, 0});
  b.linearVelocity = {-1, 0, 0};
  builder.addBody(b);
  Simulator simulator(builder.build());
  simulator.advanceTo(100);
  ASSERT_EQ(simulator.events().size(), 2u);
  EXPECT_NEAR(simulator.events()[0].time, 20 - std::sqrt(4e-6 - 2.25e-6), 1e-9);
  EXPECT_NEAR(simulator.events()[1].time, 20 + std::sqrt(4e-6 - 2.25e-6), 1e-9);
}

TEST(EventContacts, FailureNamesTheBodyAndKeepsTheState) {
  ModelBuilder builder = eventBuilder({.name = "m"});
  builder.addBody(ball("innocent", 0.1, {0, 0, 0}));
  builder.addBody(ball("culprit", 0.1, {1, 0, 0}));
  Simulator simulator(builder.build());
  simulator.step(3);
  const std::uint64_t before = simulator.state().hash();
  simulator.applyForce(simulator.model().findBody("culprit"), {1e308, 1e308, 0});
  simulator.applyForce(simulator.model().findBody("culprit"), {1e308, 1e308, 0});
  const StepReport& report = simulator.step();
  EXPECT_TRUE(has(report.status, StepStatus::IntegratorFailed));
  EXPECT_EQ(simulator.state().hash(), before);
  EXPECT_NE(describe(report, simulator.model(), 4).find("IntegratorFailed"), std::string::npos);
  EXPECT_EQ(simulator.step().status, StepStatus::Ok);  // without the force it goes on
}

}  // namespace
}  // namespace tangere
