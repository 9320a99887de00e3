// SPDX-License-Identifier: Apache-2.0
//
// What a step says when it cannot, and what the interface refuses.
#include "sim/checked_simulation.hpp"

#include <limits>

namespace tangere::test {
namespace {

constexpr Real kNaN = std::numeric_limits<Real>::quiet_NaN();
constexpr Real kInf = std::numeric_limits<Real>::infinity();

Scene twoBodies() {
  Scene scene;
  scene.bodies = {floorOf(), bodyOf("a", cube(0.1), {0, 0, 0.1}),
                  bodyOf("b", ball(0.1), {1, 0, 2})};
  return scene;
}

TEST(Status, ForcesVelocitiesAndPosesThatAreNotFiniteAreRefusedAndChangeNothing) {
  Simulator sim(twoBodies().build());
  sim.step(10);
  const std::uint64_t before = sim.state().hash();
  for (const Real bad : {kNaN, kInf, -kInf}) {
    EXPECT_THROW(sim.applyForce(0, {bad, 0, 0}), InvalidInput);
    EXPECT_THROW(sim.applyForce(0, {}, {0, bad, 0}), InvalidInput);
    EXPECT_THROW(sim.setVelocity(0, {0, 0, bad}, {}), InvalidInput);
    EXPECT_THROW(sim.setVelocity(0, {}, {bad, 0, 0}), InvalidInput);
    EXPECT_THROW(sim.setPose(0, {Mat3::identity(), {bad, 0, 0}}), InvalidInput);
  }
  Mat3 mirror = Mat3::identity();
  mirror.col[2] = {0, 0, -1};
  EXPECT_THROW(sim.setPose(0, {mirror, {}}), InvalidInput);
  EXPECT_THROW(sim.setPose(-1, {}), InvalidInput);
  EXPECT_THROW(sim.setPose(3, {}), InvalidInput);
  EXPECT_THROW(sim.applyForce(17, {}), InvalidInput);
  EXPECT_THROW((void)sim.body(5), InvalidInput);
  EXPECT_THROW(sim.setVelocity(sim.model().findBody("floor"), {}, {}), InvalidInput);
  EXPECT_EQ(sim.state().hash(), before);
  Simulator other(twoBodies().build());
  other.step(11);
  sim.step();
  EXPECT_EQ(sim.state().hash(), other.state().hash()) << "no part of a refused call is left behind";
}

TEST(Status, StatesThatAreNotFiniteOrDoNotFitAreRefused) {
  Simulator sim(twoBodies().build());
  sim.step(10);
  const std::uint64_t before = sim.state().hash();
  State state = sim.state();
  state.velocity[1].x = kNaN;
  EXPECT_THROW(sim.setState(state), InvalidInput);
  state = sim.state();
  state.center[0].z = kInf;
  EXPECT_THROW(sim.setState(state), InvalidInput);
  state = sim.state();
  state.orientation[0] = {0, 0, 0, 0};
  EXPECT_THROW(sim.setState(state), InvalidInput);
  state = sim.state();
  state.velocity.pop_back();
  EXPECT_THROW(sim.setState(state), InvalidInput);
  state = sim.state();
  state.time = kNaN;
  EXPECT_THROW(sim.setState(state), InvalidInput);
  EXPECT_EQ(sim.state().hash(), before);
}

TEST(Status, AStepThatWouldNotBeFiniteIsNotTakenAndNamesTheBody) {
  Scene scene = twoBodies();
  Simulator sim(scene.build());
  sim.step(10);
  const State before = sim.state();
  const int ball = sim.model().findBody("b");
  sim.setVelocity(ball, {1e308, 0, 0}, {});
  for (int i = 0; i < 3; ++i) sim.applyForce(ball, {1e308, 0, 0});
  sim.applyForce(ball, {-1e308, 0, 0}, {0, 1e308, 0});
  const StepReport report = sim.step();
  EXPECT_TRUE(has(report.status, StepStatus::StateNotFinite));
  EXPECT_EQ(report.body1, ball);
  EXPECT_EQ(sim.state().step, before.step);
  EXPECT_EQ(sim.state().time, before.time);
  EXPECT_EQ(sim.state().center, before.center);
  const std::string text = describe(report, sim.model(), 11);
  EXPECT_NE(text.find("StateNotFinite"), std::string::npos) << text;
  EXPECT_NE(text.find("'b'"), std::string::npos) << text;
  // And it goes on from there.
  sim.setVelocity(ball, {}, {});
  EXPECT_EQ(sim.step().status, StepStatus::Ok);
  EXPECT_TRUE(isFinite(sim.state()));
}

TEST(Status, AnUnknownBodyIsNamedWithItsNeighbours) {
  Scene scene = twoBodies();
  scene.bodies.push_back(bodyOf("crate", cube(0.1), {4, 0, 1}));
  const Simulator sim(scene.build());
  try {
    (void)sim.body("crat");
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find("crate"), std::string::npos) << error.what();
  }
}

TEST(Status, EveryBitHasAName) {
  for (const StepStatus bit :
       {StepStatus::SolverNotConverged, StepStatus::StateNotFinite, StepStatus::EnergyInjected,
        StepStatus::QueryNotConverged, StepStatus::ImpactsCut, StepStatus::HandlerRefused}) {
    EXPECT_NE(stepStatusName(bit), "Unknown");
  }
  EXPECT_EQ(describe({}, twoBodies().build(), 1), "");
}

TEST(Status, AHugeMassRatioEndsFinite) {
  for (const Real ratio : {1e9, 1e12}) {
    Scene scene;
    scene.materials = {{.name = "light", .density = 1}, {.name = "heavy", .density = ratio}};
    scene.bodies = {floorOf(), bodyOf("low", cube(0.5), {0, 0, 0.5}, Mat3::identity(), "light"),
                    bodyOf("top", cube(0.5), {0.1, 0, 1.5}, Mat3::identity(), "heavy"),
                    bodyOf("topmost", cube(0.5), {0, 0.1, 2.5}, Mat3::identity(), "light")};
    CheckedSimulation run(scene);
    run.run(500);
    EXPECT_TRUE(isFinite(run.sim.state()));
  }
}

TEST(Status, EmptyAndOneBodyModelsStep) {
  Simulator empty(Scene{}.build());
  EXPECT_EQ(empty.step(10).status, StepStatus::Ok);
  Scene scene;
  scene.bodies = {floorOf()};
  Simulator fixed(scene.build(), 8);
  EXPECT_EQ(fixed.step(10).status, StepStatus::Ok);
}

TEST(Status, ExactlyTouchingAndIdenticalPosesAreNoTrouble) {
  Scene scene;
  const Mat3 edge = turnAbout({1, 0, 0}, 0.7853981633974483);
  scene.bodies = {floorOf(),
                  bodyOf("face1", cube(0.5), {0, 0, 0.5}),
                  bodyOf("face2", cube(0.5), {1, 0, 0.5}),
                  bodyOf("same1", cube(0.25), {5, 0, 1}),
                  bodyOf("same2", cube(0.25), {5, 0, 1}),
                  bodyOf("edge", cube(0.5), {10, 0, std::sqrt(0.5)}, edge),
                  bodyOf("edgeOnEdge", cube(0.5), {10, 0, 3 * std::sqrt(0.5)}, edge),
                  bodyOf("corner", cube(0.5), {15, 1, 0.5}),
                  bodyOf("cornerOnCorner", cube(0.5), {16, 2, 1.5})};
  CheckedSimulation run(scene);
  run.run(1000);
  EXPECT_NEAR(run.position("face1").z, 0.5, 1e-6);
  EXPECT_LT(run.sim.report().maxDepth, 1e-2);
}

TEST(Status, WhatRunsAwayIsNamedAndTheStateStays) {
  for (const SolverType solver : {SolverType::Impulse, SolverType::Sap, SolverType::Event}) {
    SCOPED_TRACE(solverTypeName(solver));
    Scene scene = twoBodies();
    scene.options.solver = solver;
    Simulator sim(scene.build());
    const int ball = sim.model().findBody("b");
    sim.setVelocity(ball, {0, 0, 1e21}, {});  // its energy would still be a number
    const BodyState before = sim.body(ball);
    sim.step();
    // The event solver finds no step that is short enough.
    const bool isEvent = solver == SolverType::Event;
    const std::string text = describe(sim.report(), sim.model(), 1);
    const char* expected =
        isEvent ? "IntegratorFailed of 'b'" : "StateNotFinite of 'b': it runs away";
    EXPECT_NE(text.find(expected), std::string::npos) << text;
    EXPECT_EQ(sim.body(ball).pose.translation, before.pose.translation);
    EXPECT_EQ(sim.body(ball).linearVelocity, before.linearVelocity);
  }
}

}  // namespace
}  // namespace tangere::test
