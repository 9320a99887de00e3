// SPDX-License-Identifier: Apache-2.0
//
// The convex solver on problems whose answer is known, and on inputs that have none.
#include "core/counted_allocations.hpp"
#include "solver/sap_solver.hpp"

#include "solver/sap_scenes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

namespace tangere::solver {
namespace {

using test::kSapGravity;
using test::SapWorld;

constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();

SapReport step(SapWorld* world, const SapOptions& options = {}) {
  SapProblem problem;
  SapSolver solver;
  world->fill(&problem);
  const SapReport report = solver.solve(options, &problem);
  world->take(problem);
  return report;
}

TEST(SapSolver, ABoxAtRestIsCarriedByItsWeight) {
  SapWorld world = test::cubeOnPlane(2, 0.2, {.friction = 0.5});
  SapProblem problem;
  SapSolver solver;
  for (int i = 0; i < 400; ++i) {
    world.fill(&problem);
    ASSERT_EQ(solver.solve({}, &problem).status, SapStatus::Converged);
    world.take(problem);
  }
  Real force = 0;
  for (int c = 0; c < 4; ++c) {
    force += problem.impulseOf(c)[2] / world.dt;
    EXPECT_NEAR(problem.impulseOf(c)[2] / world.dt, 2 * kSapGravity / 4, 1e-4);
    EXPECT_NEAR(problem.impulseOf(c)[0], 0, 1e-9);
  }
  EXPECT_NEAR(force, 2 * kSapGravity, 1e-4);
  EXPECT_LT(norm(world.bodies[0].velocity), 1e-6);
  EXPECT_NEAR(problem.generalizedImpulse[2] / world.dt, 2 * kSapGravity, 1e-4);
  // Near rigid: gap = -(dt + tau) R g m dt / 4 with R = w / (4 pi^2).
  EXPECT_GT(world.touches[0].contact.gap, -1e-4);
}

TEST(SapSolver, ABlockOnASlopeCreepsAsTheFormulaSaysAndSlidesWhenItMust) {
  const Real angle = 20 * 3.14159265358979323846 / 180;  // tan = 0.364
  for (const Real mu : {0.5, 0.3}) {
    // A point mass: one contact under its centre, w is known.
    SapWorld world;
    world.dt = 0.005;
    world.gravity = {kSapGravity * std::sin(angle), 0, -kSapGravity * std::cos(angle)};
    world.bodies.push_back({.mass = 3, .inertia = {1, 1, 1}});
    world.touches.push_back({.body1 = 0, .point = {0, 0, 0}, .contact = {.friction = mu}});
    const SapOptions options{.frictionRegularization = 1e-3};  // sigma
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(isSolved(step(&world, options).status));
    const Real speed = world.bodies[0].velocity.x;
    if (mu > std::tan(angle)) {
      // gamma_t = m g sin dt = v_t / R_t, R_t = sigma w, w = |W|_F / 3 = sqrt(3) / (3 m).
      const Real creep = 1e-3 * std::sqrt(3.0) / 3 * kSapGravity * std::sin(angle) * world.dt;
      EXPECT_NEAR(speed, creep, 1e-3 * creep);
      EXPECT_LT(speed, 1e-3 * kSapGravity * world.dt);
    } else {
      const Real slide = kSapGravity * (std::sin(angle) - mu * std::cos(angle)) * world.dt * 1000;
      EXPECT_NEAR(speed, slide, 0.01 * slide);
    }
  }
}

TEST(SapSolver, WhatFrictionHoldsAlreadyDoesNotCreep) {
  const Real angle = 20 * 3.14159265358979323846 / 180;
  SapWorld world;
  world.dt = 0.005;
  world.gravity = {kSapGravity * std::sin(angle), 0, -kSapGravity * std::cos(angle)};
  world.bodies.push_back({.mass = 3, .inertia = {1, 1, 1}});
  world.touches.push_back({.body1 = 0, .point = {0, 0, 0}, .contact = {.friction = 0.5}});
  SapProblem problem;
  SapSolver solver;
  for (int i = 0; i < 200; ++i) {
    world.fill(&problem);
    ASSERT_TRUE(isSolved(solver.solve({}, &problem).status));
    world.take(problem);
    for (int k = 0; k < 2; ++k) {
      world.touches[0].contact.heldImpulse[k] = problem.impulseOf(0)[k];
    }
  }
  // Without: 1e-3 sqrt(3)/3 g sin(20 deg) dt = 9.7e-6 m/s.
  EXPECT_LT(std::abs(world.bodies[0].velocity.x), 1e-10);
  EXPECT_NEAR(std::hypot(problem.impulseOf(0)[0], problem.impulseOf(0)[1]),
              3 * kSapGravity * std::sin(angle) * world.dt, 1e-9);
}

TEST(SapSolver, CliquesWithoutConstraintsMoveFreely) {
  SapWorld world = test::cubeOnPlane(1, 0.2, {.friction = 0.5});
  world.bodies.push_back({.mass = 2, .position = {1, 0, 3}, .velocity = {1, 2, 3}});
  SapProblem problem;
  SapSolver solver;
  world.fill(&problem);
  const SapReport report = solver.solve({}, &problem);
  EXPECT_EQ(report.numIslands, 1);
  EXPECT_EQ(problem.velocity(1)[0], 1);
  EXPECT_EQ(problem.velocity(1)[2], 3 - world.dt * kSapGravity);
  EXPECT_EQ(problem.generalizedImpulse[8], 0);
}

TEST(SapSolver, AnEmptyProblemIsSolved) {
  SapProblem problem;
  problem.clear(0.01);
  SapSolver solver;
  const SapReport report = solver.solve({}, &problem);
  EXPECT_EQ(report.status, SapStatus::Converged);
  EXPECT_EQ(report.numIslands, 0);
  EXPECT_EQ(report.errorBound, 0);
}

/// One velocity of mass 2 with a velocity that nothing changes but constraints.
SapProblem slider(Real velocity, Real dt) {
  SapProblem problem;
  problem.clear(dt);
  problem.addClique(1);
  problem.matrix(0)[0] = 2;
  problem.freeVelocity(0)[0] = problem.velocity(0)[0] = velocity;
  return problem;
}

TEST(SapSolver, AStiffDriveIsStableAndReachesItsTarget) {
  const Real dt = 0.01;
  for (const Real kp : {1e2, 1e5, 1e9, 1e14}) {
    Real q = 0, v = 0;
    SapSolver solver;
    const Real kd = 2 * std::sqrt(kp * 2);  // critically damped: w <= 7 / s and faster
    for (int i = 0; i < 300; ++i) {
      SapProblem problem = slider(v, dt);
      problem.addDriveOnVelocity(0, 0, 1, {.kp = kp, .kd = kd, .position = q, .targetPosition = 1});
      ASSERT_TRUE(isSolved(solver.solve({}, &problem).status));
      v = problem.velocity(0)[0];
      q += dt * v;
      ASSERT_LT(std::abs(q), 1.1) << kp;
    }
    EXPECT_NEAR(q, 1, 1e-3) << kp;
    EXPECT_NEAR(v, 0, 1e-2) << kp;
  }
}

TEST(SapSolver, ADriveNeverGivesMoreThanItsEffort) {
  SapSolver solver;
  for (const bool isDense : {false, true}) {
    SapProblem problem = slider(0, 0.01);
    const SapDrive drive{.kp = 1e8, .targetPosition = 1, .minEffort = -3, .maxEffort = 5};
    if (isDense) {
      problem.addDrive(0, -1, drive);
      problem.jacobian1(0)[0] = 1;
    } else {
      problem.addDriveOnVelocity(0, 0, 1, drive);
    }
    ASSERT_TRUE(isSolved(solver.solve({}, &problem).status));
    EXPECT_NEAR(problem.impulseOf(0)[0], 0.05, 1e-15);
    EXPECT_NEAR(problem.velocity(0)[0], 0.025, 1e-15);  // 5 N / 2 kg * 0.01 s
  }
  SapProblem back = slider(0, 0.01);
  back.addDriveOnVelocity(0, 0, 1, {.kp = 1e8, .position = 1, .minEffort = -3, .maxEffort = 5});
  ASSERT_TRUE(isSolved(solver.solve({}, &back).status));
  EXPECT_NEAR(back.velocity(0)[0], -0.015, 1e-15);
}

TEST(SapSolver, ALimitStopsWhatRunsIntoItAndOnlyThat) {
  SapSolver solver;
  // 1 mm left at 1 m/s, dt 10 ms: stops at the limit, v = -0.1 m/s for this step.
  SapProblem closing = slider(-1, 0.01);
  closing.addLimitOnVelocity(0, 0, 1, /*gap=*/1e-3, {});
  ASSERT_TRUE(isSolved(solver.solve({}, &closing).status));
  EXPECT_NEAR(closing.velocity(0)[0], -0.1, 1e-3);
  EXPECT_GT(closing.impulseOf(0)[0], 0);
  // The upper limit of the same: J = -1.
  SapProblem upper = slider(1, 0.01);
  upper.addLimitOnVelocity(0, 0, -1, 1e-3, {});
  ASSERT_TRUE(isSolved(solver.solve({}, &upper).status));
  EXPECT_NEAR(upper.velocity(0)[0], 0.1, 1e-3);
  SapProblem leaving = slider(1, 0.01);
  leaving.addLimitOnVelocity(0, 0, 1, 0, {});
  ASSERT_TRUE(isSolved(solver.solve({}, &leaving).status));
  EXPECT_EQ(leaving.velocity(0)[0], 1);
  EXPECT_EQ(leaving.impulseOf(0)[0], 0);
}

TEST(SapSolver, JointFrictionHoldsBelowItsForceAndBrakesAboveIt) {
  SapSolver solver;
  const SapOptions options{.frictionRegularization = 1e-3};
  // 4 N would move it: 2 kg * 0.02 m/s / 0.01 s.
  SapProblem held = slider(0.02, 0.01);
  held.addFrictionOnVelocity(0, 0, 5);
  ASSERT_TRUE(isSolved(solver.solve(options, &held).status));
  EXPECT_LT(std::abs(held.velocity(0)[0]), 1e-3 * 0.03);
  SapProblem braked = slider(0.02, 0.01);
  braked.addFrictionOnVelocity(0, 0, 3);
  ASSERT_TRUE(isSolved(solver.solve(options, &braked).status));
  EXPECT_NEAR(braked.velocity(0)[0], 0.02 - 3 * 0.01 / 2, 1e-15);
}

TEST(SapSolver, BilateralRowsCloseTheirError) {
  // Two bodies of three velocities tied together, 1 mm apart.
  SapProblem problem;
  problem.clear(0.01);
  for (const Real mass : {1.0, 3.0}) {
    const int c = problem.addClique(3);
    for (int k = 0; k < 3; ++k) problem.matrix(c)[4 * k] = mass;
  }
  problem.freeVelocity(0)[0] = 1;
  const int c = problem.addBilateral(3, 0, 1, {});
  for (int k = 0; k < 3; ++k) {
    problem.jacobian1(c)[4 * k] = 1;
    problem.jacobian2(c)[4 * k] = -1;
  }
  problem.target(c)[1] = 1e-3;
  SapSolver solver;
  ASSERT_TRUE(isSolved(solver.solve({}, &problem).status));
  // Momentum stays 1 kg m/s; the velocities agree up to the regularization 0.01/(4 pi^2).
  EXPECT_NEAR(problem.velocity(0)[0] + 3 * problem.velocity(1)[0], 1, 1e-12);
  EXPECT_NEAR(problem.velocity(0)[0], 0.25, 3e-4);
  EXPECT_NEAR(problem.velocity(0)[1] - problem.velocity(1)[1], -0.1, 1e-4);
  EXPECT_NEAR(problem.generalizedImpulse[0], problem.impulseOf(c)[0], 1e-15);
  EXPECT_NEAR(problem.generalizedImpulse[3], -problem.impulseOf(c)[0], 1e-15);
}

TEST(SapSolver, AUserConstraintIsSolvedLikeTheBuiltInOneItEquals) {
  /// Bilateral rows, by hand.
  class Rows final : public SapUserConstraint {
   public:
    void prepare(Real /*dt*/, int numRows, const Real* delassus) override {
      for (int i = 0; i < numRows; ++i) {
        inverse_[i] = 4 * 9.8696044010893586188 / (0.01 * delassus[i * numRows + i]);
      }
    }
    Real evaluate(int numRows, const Real* vc, Real* gamma, Real* hessian) const override {
      Real cost = 0;
      for (int i = 0; i < numRows; ++i) {
        gamma[i] = -inverse_[i] * vc[i];
        cost += 0.5 * inverse_[i] * vc[i] * vc[i];
        for (int k = 0; k < numRows; ++k) hessian[i * numRows + k] = i == k ? inverse_[i] : 0;
      }
      return cost;
    }

   private:
    Real inverse_[kSapMaxRows] = {};
  };
  Rows rows;
  std::vector<Real> found[2];
  for (const bool isUser : {false, true}) {
    SapWorld world = test::cubeOnPlane(1, 0.1, {.friction = 0.5});
    world.bodies.push_back({.mass = 2, .position = {0, 0, 0.3}, .velocity = {0.1, 0, -1}});
    SapProblem problem;
    world.fill(&problem);
    const int c = isUser ? problem.addUser(4, 0, 1, &rows) : problem.addBilateral(4, 0, 1, {});
    for (int k = 0; k < 4; ++k) {
      problem.jacobian1(c)[7 * k] = 1;
      problem.jacobian2(c)[7 * k] = -1;
    }
    SapSolver solver;
    SapOptions options;
    options.relativeTolerance = 1e-12;
    ASSERT_TRUE(isSolved(solver.solve(options, &problem).status));
    found[isUser ? 1 : 0] = problem.v;
  }
  for (std::size_t k = 0; k < found[0].size(); ++k) EXPECT_NEAR(found[0][k], found[1][k], 1e-11);
}

TEST(SapSolver, AHuntCrossleyContactCarriesAWeightAtTheDepthOfItsSpring) {
  for (const HuntCrossleyFriction model :
       {HuntCrossleyFriction::Lagged, HuntCrossleyFriction::Similar}) {
    Real gap = 0, v = 0;
    SapSolver solver;
    SapProblem problem;
    for (int i = 0; i < 4000; ++i) {
      problem.clear(0.002);
      problem.addClique(3);
      for (int k = 0; k < 3; ++k) problem.matrix(0)[4 * k] = 2;
      problem.freeVelocity(0)[2] = v - 0.002 * kSapGravity;
      problem.velocity(0)[2] = v;
      const int c = problem.addHuntCrossley(0, -1,
                                            {.friction = 0.5,
                                             .stiffness = 1e4,
                                             .dissipation = 5,
                                             .gap = gap,
                                             .normalVelocity = v,
                                             .model = model});
      for (int k = 0; k < 3; ++k) problem.jacobian1(c)[4 * k] = 1;
      ASSERT_TRUE(isSolved(solver.solve({}, &problem).status));
      v = problem.velocity(0)[2];
      gap += 0.002 * v;
    }
    EXPECT_NEAR(gap, -2 * kSapGravity / 1e4, 1e-6);
    EXPECT_NEAR(problem.impulseOf(0)[2] / 0.002, 2 * kSapGravity, 1e-3);
  }
}

/// The same heap on any number of threads, and whatever was solved before.
TEST(SapSolver, TheBitsDoNotDependOnTheNumberOfThreads) {
  // Threads that wait for a core of their own take minutes where sanitizers watch.
  const char* const most = std::getenv("TANGERE_MOST_THREADS");
  const int mostThreads = most != nullptr ? std::atoi(most) : 8;
  for (const SapLinearSolver linear :
       {SapLinearSolver::Cholesky, SapLinearSolver::ConjugateGradients}) {
    SapOptions options;
    options.linearSolver = linear;
    options.guess = SapGuess::Best;
    std::vector<Real> expected;
    SapReport first;
    for (const int numThreads : {0, 1, 2, 3, 5, 8}) {
      if (numThreads > mostThreads) break;
      // One heap of many contacts, and twelve small ones.
      SapWorld world = test::clutter(150, 7, {.friction = 0.6});
      for (int i = 0; i < 12; ++i) {
        const int body = static_cast<int>(world.bodies.size());
        SapWorld cube = test::cubeOnPlane(1 + i, 0.1, {.friction = 0.5, .gap = -1e-3 * i});
        cube.bodies[0].velocity = {0.1 * i, 0, -1};
        world.bodies.push_back(cube.bodies[0]);
        for (test::SapTouch touch : cube.touches) {
          touch.body1 = body;
          world.touches.push_back(touch);
        }
      }
      SapSolver solver;
      SapProblem problem;
      std::unique_ptr<core::ThreadPool> pool;
      if (numThreads > 0) pool = std::make_unique<core::ThreadPool>(numThreads);
      SapReport report;
      for (int i = 0; i < 3; ++i) {
        world.fill(&problem);
        report = solver.solve(options, &problem, pool.get());
        ASSERT_TRUE(isSolved(report.status));
        world.take(problem);
      }
      std::vector<Real> found = problem.v;
      found.insert(found.end(), problem.impulse.begin(), problem.impulse.end());
      found.insert(found.end(), {report.cost, report.residual, report.errorBound});
      if (numThreads == 0) {
        expected = found;
        first = report;
        EXPECT_GE(report.numIslands, 13);
        continue;
      }
      ASSERT_EQ(found.size(), expected.size());
      EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size() * sizeof(Real)), 0)
          << numThreads << " threads";
      EXPECT_EQ(report.iterations, first.iterations);
      EXPECT_EQ(report.evaluations, first.evaluations);
    }
  }
}

TEST(SapSolver, WhatWasSolvedBeforeDoesNotMatter) {
  const SapWorld world = test::clutter(30, 3, {.friction = 0.6});
  const SapWorld other = test::clutter(20, 9, {.friction = 0.2});
  SapSolver fresh, used;
  SapProblem first, second;
  other.fill(&second);
  static_cast<void>(used.solve({}, &second));
  world.fill(&second);
  static_cast<void>(used.solve({}, &second));
  world.fill(&second);
  world.fill(&first);
  static_cast<void>(fresh.solve({}, &first));
  static_cast<void>(used.solve({}, &second));
  EXPECT_EQ(first.v, second.v);
  EXPECT_EQ(first.impulse, second.impulse);
}

TEST(SapSolver, AWarmSolverAsksForNoMemory) {
  for (const SapLinearSolver linear :
       {SapLinearSolver::Cholesky, SapLinearSolver::ConjugateGradients}) {
    SapOptions options{.relativeTolerance = 1e-6, .nearRigid = 1, .frictionRegularization = 1e-3};
    options.linearSolver = linear;
    options.guess = SapGuess::Best;
    SapWorld world = test::clutter(40, 7, {.friction = 0.6});
    SapSolver solver;
    SapProblem problem;
    long before = 0;
    for (int i = 0; i < 20; ++i) {
      if (i == 3) before = tangere::test::numAllocations.load();
      world.fill(&problem);
      static_cast<void>(solver.solve(options, &problem));
      world.take(problem);
    }
    EXPECT_EQ(tangere::test::numAllocations.load(), before);
  }
}

TEST(SapSolver, TheGuessDoesNotChangeTheAnswer) {
  SapWorld world = test::clutter(25, 5, {.friction = 0.6});
  SapSolver solver;
  SapProblem problem;
  std::vector<Real> expected;
  SapOptions options;
  options.relativeTolerance = 1e-10;
  for (const SapGuess guess : {SapGuess::Velocity, SapGuess::Impulse, SapGuess::Best}) {
    options.guess = guess;
    world.fill(&problem);
    const SapReport report = solver.solve(options, &problem);
    ASSERT_TRUE(isSolved(report.status));
    if (expected.empty()) expected = problem.v;
    for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(problem.v[k], expected[k], 1e-7);
  }
}

TEST(SapSolver, AGoodImpulseGuessNeedsNoIteration) {
  SapWorld world = test::clutter(25, 5, {.friction = 0.6});
  SapSolver solver;
  SapProblem problem;
  world.fill(&problem);
  SapOptions options;
  options.relativeTolerance = 1e-10;
  ASSERT_TRUE(isSolved(solver.solve(options, &problem).status));
  const std::vector<Real> impulses = problem.impulse;
  world.fill(&problem);
  problem.impulse = impulses;
  options.guess = SapGuess::Impulse;
  options.relativeTolerance = 1e-6;
  EXPECT_EQ(solver.solve(options, &problem).iterations, 0);
}

TEST(SapSolver, TheToleranceMayGrowWithTheConstraintsOfAnIsland) {
  const SapWorld world = test::clutter(40, 2, {.friction = 0.6});
  SapSolver solver;
  SapProblem problem;
  SapOptions options;
  options.relativeTolerance = 1e-7;
  options.guess = SapGuess::Velocity;
  const auto solve = [&](Real growth) {
    options.toleranceGrowth = growth;
    world.fill(&problem);
    return solver.solve(options, &problem);
  };
  const SapReport sharp = solve(0);
  EXPECT_LE(sharp.residual, 1e-7);
  int most = 0;
  for (const SapIslandReport& island : solver.islands())
    most = std::max(most, static_cast<int>(island.numConstraints));
  ASSERT_GT(most, 10);
  const SapReport coarse = solve(1e4);
  EXPECT_EQ(coarse.status, SapStatus::Converged);
  EXPECT_LT(coarse.iterations, sharp.iterations);
  EXPECT_GT(coarse.residual, 1e-7);
  EXPECT_LE(coarse.residual, 1.0001e-7 * (1 + 1e4 * std::sqrt(static_cast<Real>(most))));
}

TEST(SapSolver, ProfilingChangesNoBitAndCountsItsParts) {
  const SapWorld world = test::clutter(40, 2, {.friction = 0.6});
  SapSolver solver;
  SapProblem problem;
  world.fill(&problem);
  (void)solver.solve({}, &problem);
  const std::vector<Real> expected = problem.v;
  EXPECT_EQ(solver.clock().spent_ns(SapPart::Gradients), 0);
  solver.setProfiling(true);
  world.fill(&problem);
  (void)solver.solve({}, &problem);
  EXPECT_EQ(problem.v, expected);
  EXPECT_GT(solver.clock().spent_ns(SapPart::Gradients), 0);
  EXPECT_GT(solver.clock().spent_ns(SapPart::LineSearch), 0);
}

TEST(SapSolver, WhatIsNotConvergedIsReportedWithItsWorstConstraint) {
  SapWorld world = test::clutter(40, 2, {.friction = 0.6});
  SapOptions options;
  options.maxIterations = 1;
  SapSolver solver;
  SapProblem problem;
  world.fill(&problem);
  const SapReport report = solver.solve(options, &problem);
  EXPECT_EQ(report.status, SapStatus::MaxIterations);
  EXPECT_GE(report.worstConstraint, 0);
  EXPECT_LT(report.worstConstraint, problem.numConstraints());
  EXPECT_GT(report.residual, options.relativeTolerance);
  EXPECT_TRUE(std::isfinite(report.errorBound));
  for (const Real v : problem.v) EXPECT_TRUE(std::isfinite(v));
}

void expectFreeAndFinite(const SapProblem& problem) {
  for (const Real v : problem.v) EXPECT_TRUE(std::isfinite(v));
  for (const Real gamma : problem.impulse) EXPECT_TRUE(std::isfinite(gamma));
  for (const Real v : problem.rowVelocity) EXPECT_TRUE(std::isfinite(v));
}

TEST(SapSolver, BadNumbersAreReportedAndDoNotSpread) {
  // Two cubes, two islands; the second is spoilt in turn everywhere.
  const auto make = [](SapProblem* problem) {
    SapWorld world = test::cubeOnPlane(1, 0.1, {.friction = 0.5});
    const SapWorld second = test::cubeOnPlane(2, 0.1, {.friction = 0.5});
    world.bodies.push_back(second.bodies[0]);
    for (test::SapTouch touch : second.touches) {
      touch.body1 = 1;
      world.touches.push_back(touch);
    }
    world.fill(problem);
    const int limit = problem->addLimitOnVelocity(1, 2, 1, 0, {});
    EXPECT_EQ(limit, 8);
    problem->addDriveOnVelocity(1, 3, 1, {.kp = 10});
  };
  SapSolver solver;
  SapProblem good;
  make(&good);
  ASSERT_EQ(solver.solve({}, &good).status, SapStatus::Converged);

  const std::vector<void (*)(SapProblem*)> faults = {
      [](SapProblem* p) { p->matrix(1)[7] = kNan; },
      [](SapProblem* p) { p->matrix(1)[1] = kNan; },
      [](SapProblem* p) { p->matrix(1)[0] = kInfinity; },
      [](SapProblem* p) { p->matrix(1)[0] = 0; },
      [](SapProblem* p) { p->matrix(1)[14] = -1; },
      [](SapProblem* p) { p->freeVelocity(1)[3] = kNan; },
      [](SapProblem* p) { p->jacobian1(5)[4] = kNan; },
      [](SapProblem* p) { p->jacobian1(5)[4] = 1e200; },
      [](SapProblem* p) { p->biasOf(6)[0] = kNan; },
      [](SapProblem* p) { p->target(8)[0] = kNan; },
      [](SapProblem* p) { p->contacts[5].friction = kNan; },
      [](SapProblem* p) { p->contacts[5].friction = -1; },
      [](SapProblem* p) { p->contacts[5].stiffness = 0; },
      [](SapProblem* p) { p->contacts[5].gap = kInfinity; },
      [](SapProblem* p) { p->compliances[0].stiffness = kNan; },
      [](SapProblem* p) { p->drives[0].kp = -1; },
      [](SapProblem* p) { p->drives[0].minEffort = kNan; },
  };
  for (std::size_t i = 0; i < faults.size(); ++i) {
    SapProblem problem;
    make(&problem);
    faults[i](&problem);
    const SapReport report = solver.solve({}, &problem);
    EXPECT_FALSE(isSolved(report.status)) << "fault " << i;
    EXPECT_EQ(report.worstClique, 1) << "fault " << i;
    EXPECT_EQ(report.errorBound, kInfinity) << "fault " << i;
    expectFreeAndFinite(problem);
    for (int k = 0; k < 6; ++k) EXPECT_EQ(problem.velocity(0)[k], good.velocity(0)[k]);
  }
}

TEST(SapSolver, AGuessThatIsNotFiniteIsLeftOut) {
  for (const SapGuess guess : {SapGuess::Velocity, SapGuess::Impulse, SapGuess::Best}) {
    SapWorld world = test::cubeOnPlane(1, 0.1, {.friction = 0.5});
    SapProblem problem;
    SapSolver solver;
    SapOptions options;
    options.guess = guess;
    world.fill(&problem);
    ASSERT_TRUE(isSolved(solver.solve(options, &problem).status));
    const Real expected = problem.velocity(0)[2];
    world.fill(&problem);
    problem.velocity(0)[3] = kInfinity;
    problem.impulseOf(1)[2] = kNan;
    EXPECT_TRUE(isSolved(solver.solve(options, &problem).status));
    EXPECT_NEAR(problem.velocity(0)[2], expected, 1e-6);
  }
}

TEST(SapSolver, ConstraintsThatMakeNoSenseAreRefused) {
  const std::vector<void (*)(SapConstraint*)> faults = {
      [](SapConstraint* c) { c->clique1 = -1; }, [](SapConstraint* c) { c->clique1 = 7; },
      [](SapConstraint* c) { c->clique2 = 7; },  [](SapConstraint* c) { c->clique2 = 0; },
      [](SapConstraint* c) { c->numRows = 0; },  [](SapConstraint* c) { c->numRows = 7; },
      [](SapConstraint* c) { c->dof1 = 6; },
  };
  SapSolver solver;
  for (const auto& fault : faults) {
    SapWorld world = test::cubeOnPlane(1, 0.1, {});
    SapProblem problem;
    world.fill(&problem);
    fault(&problem.constraints[2]);
    const SapReport report = solver.solve({}, &problem);
    EXPECT_EQ(report.status, SapStatus::NotFinite);
    EXPECT_EQ(report.worstConstraint, 2);
    expectFreeAndFinite(problem);
  }
  for (const Real dt : {0.0, -1.0, kNan, kInfinity}) {
    SapWorld world = test::cubeOnPlane(1, 0.1, {});
    SapProblem problem;
    world.fill(&problem);
    problem.dt = dt;
    EXPECT_EQ(solver.solve({}, &problem).status, SapStatus::NotFinite);
  }
}

TEST(SapSolver, RowsThatMoveNothingAreHarmless) {
  SapWorld world = test::cubeOnPlane(1, 0.1, {.friction = 0.5});
  SapProblem with, without;
  world.fill(&without);
  world.fill(&with);
  with.addContact(0, -1, {.friction = 1, .gap = -1});
  const int rows = with.addBilateral(6, 0, -1, {});
  with.target(rows)[3] = 1;
  const int limit = with.addLimitOnVelocity(0, 2, 0, -1, {});
  with.addFrictionOnVelocity(0, 1, 0);
  SapSolver solver;
  ASSERT_TRUE(isSolved(solver.solve({}, &without).status));
  ASSERT_TRUE(isSolved(solver.solve({}, &with).status));
  for (int k = 0; k < 6; ++k) EXPECT_NEAR(with.velocity(0)[k], without.velocity(0)[k], 1e-12);
  EXPECT_EQ(with.impulseOf(rows)[3], 0);
  EXPECT_EQ(with.impulseOf(limit)[0], 0);
}

}  // namespace
}  // namespace tangere::solver
