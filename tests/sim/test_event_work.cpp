// SPDX-License-Identifier: Apache-2.0
//
// What a call of the event solver may cost: steps of the integrator, memory, and how soon it ends
// when somebody wants it to.
#include <tangere/integrator.hpp>
#include <tangere/simulator.hpp>

#include "sim/event_samples.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

namespace tangere::test {
namespace {

/// Elastic balls at nearly one place: each touches each.
Model coincidentBalls(int count, Real maxMemory, int maxSteps = 1000) {
  SimulationOptions options;
  options.solver = SolverType::Event;
  options.dt = 1e-3;
  options.gravity = {};
  options.event.maxMemory = maxMemory;
  options.event.maxSteps = maxSteps;
  ModelBuilder builder;
  builder.setOptions(options);
  builder.addMaterial({.name = "m",
                       .density = 8000,
                       .friction = 0,
                       .restitution = 1,
                       .contact = ContactModel::Hertz,
                       .youngsModulus = 2e11,
                       .poissonRatio = 0.3});
  for (int i = 0; i < count; ++i) {
    const Real a = 2.4 * i, r = 1e-3 * std::sqrt(i);
    builder.addBody(makeBody(numbered("b", i), std::make_shared<Sphere>(0.01),
                             {r * std::cos(a), r * std::sin(a), 1e-4 * (i % 7)}));
  }
  return builder.build();
}

/// A box that bounces and slides, by rigid contacts.
Model bouncingBox(int maxSteps) {
  SimulationOptions options;
  options.solver = SolverType::Event;
  options.event.maxSteps = maxSteps;
  ModelBuilder builder;
  builder.setOptions(options);
  builder.addMaterial({.name = "m", .friction = 0.3, .restitution = 0.6});
  addGround(builder);
  Body body = makeBody("b", std::make_shared<Box>(Vec3{0.1, 0.2, 0.3}), {0, 0, 0.5});
  body.angularVelocity = {1, 2, 3};
  builder.addBody(body);
  return builder.build();
}

TEST(EventWork, ACallThatTakesTooManyStepsIsRefusedAndShorterOnesGoOn) {
  Simulator few(bouncingBox(60)), many(bouncingBox(100'000));
  ASSERT_EQ(many.advanceTo(0.5).status, StepStatus::Ok);
  EXPECT_GT(many.report().iterations, 100);
  const std::uint64_t before = few.state().hash();
  const StepReport report = few.advanceTo(0.5);
  EXPECT_EQ(report.status, StepStatus::TooMuchWork);
  EXPECT_TRUE(isRefused(report.status));
  EXPECT_EQ(few.state().hash(), before);
  EXPECT_EQ(report.memoryNeeded, 0);
  EXPECT_LE(report.iterations, 60);
  EXPECT_EQ(describe(report, few.model(), 1),
            "step 1: TooMuchWork of 'b': more than 60 steps of the integrator (event.max_steps)");
  while (few.state().time < 0.5 - 1e-9) ASSERT_EQ(few.step().status, StepStatus::Ok);
  EXPECT_LT(norm(few.body("b").pose.translation - many.body("b").pose.translation), 1e-9);
}

TEST(EventWork, TheSameCallIsRefusedAtTheSameCount) {
  // By bisection: the least bound that is enough; one less is not.
  int least = 1, enough = 100'000;
  while (enough - least > 1) {
    const int middle = (least + enough) / 2;
    Simulator sim(bouncingBox(middle));
    (isRefused(sim.advanceTo(0.3).status) ? least : enough) = middle;
  }
  Simulator sim(bouncingBox(enough));
  EXPECT_EQ(sim.advanceTo(0.3).status, StepStatus::Ok);
  EXPECT_GE(enough, sim.report().iterations);
}

TEST(EventWork, WhatNeedsTooMuchMemoryIsRefusedBeforeItIsMade) {
  // 60 balls: 1770 contacts, and a matrix without zeros, 60 x 60 x 36 numbers three times.
  Simulator large(coincidentBalls(60, 1e9, /*maxSteps=*/2));
  EXPECT_TRUE(has(large.step().status, StepStatus::TooMuchWork));
  EXPECT_EQ(large.report().memoryNeeded, 0) << "that of the steps";
  for (const Real most : {1e4, 1e5, 1e6, 3e6}) {
    Simulator small(coincidentBalls(60, most));
    const std::uint64_t before = small.state().hash();
    const StepReport report = small.step();
    EXPECT_EQ(report.status, StepStatus::TooMuchWork) << most;
    EXPECT_GT(report.memoryNeeded, most);
    EXPECT_LT(report.memoryNeeded, 1e7);
    EXPECT_EQ(small.state().hash(), before) << most;
    EXPECT_NE(describe(report, small.model(), 1).find("(event.max_memory)"), std::string::npos);
    EXPECT_TRUE(small.contacts().empty());
    EXPECT_EQ(small.step().status, StepStatus::TooMuchWork) << "and again";
  }
}

TEST(EventWork, AStepOfManyContactsEndsSoonAfterItIsInterrupted) {
  // 300 balls: 45,000 contacts; such a step takes minutes.
  Simulator sim(coincidentBalls(300, 1e12));
  std::atomic<bool> flag{false};
  sim.setInterrupt(&flag);
  const std::uint64_t before = sim.state().hash();
  std::chrono::steady_clock::time_point raised;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    raised = std::chrono::steady_clock::now();
    flag = true;
  });
  const StepStatus status = sim.step().status;
  const auto ended = std::chrono::steady_clock::now();
  other.join();
  EXPECT_EQ(status, StepStatus::Interrupted);
  EXPECT_EQ(sim.state().hash(), before);
  // A second is promised; a machine with much else to do gets more.
  EXPECT_LT(std::chrono::duration<double>(ended - raised).count(), 5);
  EXPECT_EQ(sim.step().status, StepStatus::Interrupted) << "as long as it is raised";
}

}  // namespace
}  // namespace tangere::test
