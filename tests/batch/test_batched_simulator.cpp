// SPDX-License-Identifier: Apache-2.0
#include <tangere/batch.hpp>
#include <tangere/error.hpp>

#include "sim/soft_samples.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tangere {
namespace {

/// A driven pendulum that hits a loose box on the ground.
Model swing() {
  ModelBuilder builder;
  SimulationOptions options;
  options.solver = SolverType::Sap;
  builder.setOptions(options);
  Body ground;
  ground.name = "ground";
  ground.type = BodyType::Fixed;
  ground.shapes = {{.shape = std::make_shared<Plane>()}};
  builder.addBody(ground);
  Body arm;
  arm.name = "arm";
  arm.joints = {{.name = "h", .type = JointType::Revolute, .axis = {0, 1, 0}}};
  arm.pose.translation = {0, 0, 0.6};
  BodyShape bar{.shape = std::make_shared<Box>(Vec3{0.03, 0.03, 0.25})};
  bar.pose.translation = {0, 0, -0.25};
  arm.shapes = {bar};
  builder.addBody(arm);
  Body box;
  box.name = "box";
  box.shapes = {{.shape = std::make_shared<Box>(Vec3{0.1, 0.1, 0.1})}};
  box.pose.translation = {-0.3, 0, 0.1};
  builder.addBody(box);
  builder.addActuator(Actuator::motor("m", "h"));
  return builder.build();
}

std::vector<Real> controlsOf(int env, int steps) {
  std::vector<Real> out;
  for (int k = 0; k < steps; ++k) out.push_back(0.1 * env + (k % 50 < 25 ? 2 : -1));
  return out;
}

TEST(Batch, AnEnvironmentIsTheSameAloneAndAmongManyForAnyNumberOfThreads) {
  const Model model = swing();
  constexpr int kEnvs = 16, kSteps = 300;
  std::vector<Real> controls;
  for (int env = 0; env < kEnvs; ++env) {
    const std::vector<Real> one = controlsOf(env, kSteps);
    controls.insert(controls.end(), one.begin(), one.end());
  }
  std::vector<std::uint64_t> alone;
  for (int env = 0; env < kEnvs; ++env) {
    Simulator sim(model);
    for (const Real u : controlsOf(env, kSteps)) {
      sim.setControl(0, u);
      sim.step();
    }
    alone.push_back(sim.state().hash());
  }
  for (const int threads : {1, 2, 3, 8}) {
    BatchedSimulator batch(model, kEnvs, threads);
    std::vector<Real> q(static_cast<std::size_t>(kEnvs * kSteps * model.numPositions()));
    batch.rollout(kSteps, controls, q);
    for (int env = 0; env < kEnvs; ++env)
      EXPECT_EQ(batch.environment(env).state().hash(), alone[env]) << env << " " << threads;
    const State& last = batch.environment(kEnvs - 1).state();
    EXPECT_EQ(q.back(), last.q.back());
  }
  EXPECT_NE(alone[0], alone[1]);
}

/// A soft ball falls on a soft cube that a plane carries.
Model softPair() {
  ModelBuilder builder;
  SimulationOptions options;
  options.solver = SolverType::Sap;
  options.dt = 0.005;
  builder.setOptions(options);
  Body ground;
  ground.name = "ground";
  ground.type = BodyType::Fixed;
  ground.shapes = {{.shape = std::make_shared<Plane>()}};
  builder.addBody(ground);
  const auto add = [&](const char* name, const Shape& shape, Real height) {
    SoftBody soft;
    soft.name = name;
    soft.mesh = std::make_shared<TetMesh>(meshShape(shape, {.resolution = 0.04}));
    soft.pose.translation = {0.01, 0, height};
    builder.addSoftBody(soft);
  };
  add("cube", Box({0.05, 0.05, 0.05}), 0.05);
  add("ball", Sphere(0.05), 0.152);
  return builder.build();
}

TEST(Batch, EachOf256EnvironmentsIsTheOneThatRunsAlone) {
  const Model model = swing();
  constexpr int kEnvs = 256, kSteps = 60;
  BatchedSimulator batch(model, kEnvs, 3);
  for (int env = 0; env < kEnvs; ++env) batch.environment(env).setControl(0, 0.01 * env - 1);
  for (int k = 0; k < kSteps; k += 20) batch.step(20);
  for (int env = 0; env < kEnvs; ++env) {
    Simulator alone(model);
    alone.setControl(0, 0.01 * env - 1);
    alone.step(kSteps);
    ASSERT_EQ(batch.environment(env).state().hash(), alone.state().hash()) << env;
  }
  EXPECT_NE(batch.environment(0).state().hash(), batch.environment(1).state().hash());
}

TEST(Batch, SoftBodiesAreTheSameAloneAndTogether) {
  const Model model = softPair();
  constexpr int kSteps = 40;
  const auto push = [&](Simulator& sim, int env) { sim.applySoftForce(0, 0, {0.1 * env, 0, 0}); };
  BatchedSimulator batch(model, 3, 3);
  for (int env = 0; env < 3; ++env) push(batch.environment(env), env);
  batch.step(kSteps);
  for (int env = 0; env < 3; ++env) {
    Simulator alone(model);
    push(alone, env);
    alone.step(kSteps);
    EXPECT_GT(alone.report().numPressurePolygons, 0);
    EXPECT_EQ(batch.environment(env).state().hash(), alone.state().hash()) << env;
  }
  EXPECT_NE(batch.environment(0).state().hash(), batch.environment(1).state().hash());
}

TEST(Batch, AnObserverSeesEveryStepOfEveryEnvironmentInItsOrder) {
  const Model model = swing();
  constexpr int kEnvs = 5, kSteps = 7;
  BatchedSimulator batch(model, kEnvs, 3);
  std::vector<std::vector<std::uint64_t>> seen(kEnvs), expected(kEnvs);
  batch.step(kSteps, [&](int env, const Simulator& sim) {
    seen[static_cast<std::size_t>(env)].push_back(sim.state().step);
  });
  for (auto& steps : expected)
    for (std::uint64_t k = 1; k <= kSteps; ++k) steps.push_back(k);
  EXPECT_EQ(seen, expected);

  // One that fails is seen once more, with its state as it was.
  std::vector<Real> v = batch.environment(1).state().v;
  v[0] = 1e200;
  batch.environment(1).setVelocities(v);
  int numFailed = 0;
  batch.step(3, [&](int env, const Simulator& sim) {
    if (env == 1 && has(sim.report().status, StepStatus::StateNotFinite)) ++numFailed;
  });
  EXPECT_EQ(numFailed, 1);
  EXPECT_EQ(batch.environment(1).state().step, static_cast<std::uint64_t>(kSteps));
}

TEST(Batch, ResetTakesOnlyWhatTheMaskNames) {
  const Model model = swing();
  BatchedSimulator batch(model, 3, 2);
  batch.step(20);
  batch.reset(std::vector<std::uint8_t>{0, 1, 0});
  EXPECT_EQ(batch.environment(0).state().step, 20u);
  EXPECT_EQ(batch.environment(1).state().hash(), State(model).hash());
  EXPECT_EQ(batch.environment(2).state().step, 20u);
}

TEST(Batch, ParametersBelongToOneEnvironment) {
  const Model model = swing();
  BatchedSimulator batch(model, 2);
  batch.setParameters(1, {.masses = {{"arm", 2}}});
  for (int i = 0; i < 2; ++i) batch.environment(i).setControl(0, 5);
  batch.step(1);
  // At the start the arm hangs straight down: its acceleration is torque over inertia.
  EXPECT_NEAR(batch.environment(0).state().v[0], 2 * batch.environment(1).state().v[0], 1e-12);
  EXPECT_THROW(batch.setParameters(0, {.masses = {{"arn", 2}}}), InvalidInput);
  EXPECT_THROW(batch.setParameters(0, {.masses = {{"arm", 0}}}), InvalidInput);
}

TEST(Batch, OneThatBlowsUpStopsAndTheOthersGoOn) {
  const Model model = swing();
  BatchedSimulator batch(model, 3, 2);
  std::vector<Real> v = batch.environment(1).state().v;
  v[0] = 1e200;
  batch.environment(1).setVelocities(v);
  batch.step(10);
  EXPECT_FALSE(batch.isRunning(1));
  EXPECT_EQ(batch.numRunning(), 2);
  EXPECT_EQ(batch.environment(0).state().step, 10u);
  batch.reset();
  EXPECT_EQ(batch.numRunning(), 3);
}

TEST(Batch, SizesAreChecked) {
  const Model model = swing();
  EXPECT_THROW(BatchedSimulator(model, 0), InvalidInput);
  BatchedSimulator batch(model, 2);
  EXPECT_THROW(batch.rollout(3, std::vector<Real>(5)), InvalidInput);
  EXPECT_THROW(batch.reset(std::vector<std::uint8_t>{1}), InvalidInput);
  EXPECT_THROW((void)batch.environment(2), InvalidInput);
}

TEST(Batch, OneEnvironmentWithTooManyContactsStops) {
  SimulationOptions options = test::sapOptions(0.005);
  options.limits.ofKind[static_cast<std::size_t>(ContactKind::SoftSoft)] = 1;
  ModelBuilder builder;
  builder.setOptions(options);
  builder.addMaterial(test::rubber());
  const Box cube({0.05, 0.05, 0.05});
  builder.addSoftBody(test::softOf("lower", cube, 0.05, {}));
  builder.addSoftBody(test::softOf("upper", cube, 0.05, {0.01, 0, 0.0998}));
  BatchedSimulator batch(builder.build(), 2);
  std::vector<Vec3> away(batch.environment(0).softPositions(1).begin(),
                         batch.environment(0).softPositions(1).end());
  for (Vec3& x : away) x.x += 1;
  batch.environment(1).setSoftPositions(1, away);
  batch.step(3);
  EXPECT_FALSE(batch.isRunning(0));
  EXPECT_TRUE(batch.isRunning(1));
}

TEST(Batch, DrivenVerticesOutliveAChangeOfParameters) {
  ModelBuilder builder;
  builder.setOptions(test::sapOptions(0.005));
  builder.addMaterial(test::rubber());
  builder.addBody(test::floorBody());
  builder.addSoftBody(test::softOf("cube", Box({0.05, 0.05, 0.05}), 0.05, {0, 0, 1}));
  BatchedSimulator batch(builder.build(), 2);
  const Vec3 place = batch.environment(1).softPositions(0)[3];
  batch.environment(1).driveVertex(0, 3, place);
  batch.setParameters(1, {.frictions = {{.material = "rubber", .friction = 0.3}}});
  ASSERT_EQ(batch.environment(1).vertexTargets().size(), 1u);
  EXPECT_EQ(batch.environment(1).vertexTargets()[0].vertex, 3);
  batch.step(20);
  EXPECT_LT(norm(batch.environment(1).softPositions(0)[3] - place), 1e-12);
  EXPECT_TRUE(batch.environment(0).vertexTargets().empty());
}

}  // namespace
}  // namespace tangere
