// SPDX-License-Identifier: Apache-2.0
//
// Coulomb's law from convex problems with bounds of friction: the law of every contact, how the
// bounds are found, and what is said where they are not. TANGERE_RANDOM_COULOMB sets how many
// random worlds are tried (default 60; the full set is 2000).
#include "solver/anderson_mixing.hpp"
#include "solver/sap_scenes.hpp"
#include "solver/sap_solver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

namespace tangere::solver {
namespace {

using test::randomVector;
using test::SapWorld;
using test::uniform;

/// Runs x <- choose(map(x)) from x = start; the number of steps to |map(x) - x| <= 1e-12, at
/// most 60.
template <class Map>
int stepsToFixedPoint(std::vector<Real> x, const Map& map, std::vector<Real>* end) {
  AndersonMixing bounds;
  bounds.reset(static_cast<int>(x.size()));
  for (int step = 0; step < 60; ++step) {
    const std::vector<Real> next = map(x);
    Real error = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      bounds.used()[i] = x[i];
      bounds.following()[i] = next[i];
      bounds.weights()[i] = 1;
      error = std::max(error, std::abs(next[i] - x[i]));
    }
    *end = x;
    if (error <= 1e-12) return step;
    const std::span<const Real> chosen = bounds.choose();
    x.assign(chosen.begin(), chosen.end());
  }
  return 60;
}

// x = 1 - 2.5 (x - 1) swings wider with every plain step; two steps show the slope.
TEST(AndersonMixing, ASwingThatGrowsIsStopped) {
  std::vector<Real> end;
  const int steps = stepsToFixedPoint(
      {0.0}, [](const std::vector<Real>& x) { return std::vector<Real>{1 - 2.5 * (x[0] - 1)}; },
      &end);
  EXPECT_LE(steps, 3);
  EXPECT_NEAR(end[0], 1, 1e-12);
}

TEST(AndersonMixing, SeveralSlopesTakeOneStepEach) {
  std::vector<Real> end;
  const Real slopes[4] = {-3, -0.5, 0.4, 0.9};
  const int steps = stepsToFixedPoint(
      {0, 0, 0, 0},
      [&](const std::vector<Real>& x) {
        std::vector<Real> y(4);
        for (std::size_t i = 0; i < 4; ++i) y[i] = 2 + slopes[i] * (x[i] - 2);
        return y;
      },
      &end);
  EXPECT_LE(steps, 8);
  for (const Real x : end) EXPECT_NEAR(x, 2, 1e-10);
}

// Friction raises the normal force by a little more than itself until the body sticks at 50:
// x = 1 + 1.05 x has a solution at -20, which is none, and the mixture of two steps points there.
// Plain steps take 26.
TEST(AndersonMixing, WhatJamsGrowsUntilItSticks) {
  std::vector<Real> end;
  const int steps = stepsToFixedPoint(
      {0.0},
      [](const std::vector<Real>& x) { return std::vector<Real>{std::min(50.0, 1 + 1.05 * x[0])}; },
      &end);
  EXPECT_LE(steps, 26);
  EXPECT_NEAR(end[0], 50, 1e-12);
}

// Friction opens the contact that it follows from: x = 8 - 100 x, but never below 0. Steps that
// know of the slope of one side only go to and fro between the two.
TEST(AndersonMixing, AContactThatItsOwnFrictionOpensIsFoundBetweenTheTwo) {
  std::vector<Real> end;
  const int steps = stepsToFixedPoint(
      {5.0},
      [](const std::vector<Real>& x) { return std::vector<Real>{std::max(0.0, 8 - 100 * x[0])}; },
      &end);
  EXPECT_LT(steps, 60);
  EXPECT_NEAR(end[0], 8.0 / 101, 1e-12);
}

/// gamma_n = (v_hat - v_n)_+/R_n is what the solver makes; here: the disk, and friction against
/// slip.
void expectCoulomb(const SapProblem& problem, Real slack, int seed) {
  for (int c = 0; c < problem.numConstraints(); ++c) {
    const Real* const gamma = problem.impulseOf(c);
    const Real* const v = problem.velocityOf(c);
    const Real mu = problem.contacts[static_cast<std::size_t>(c)].friction;
    const Real friction = std::hypot(gamma[0], gamma[1]), slip = std::hypot(v[0], v[1]);
    ASSERT_GE(gamma[2], 0) << seed;
    ASSERT_LE(friction, mu * gamma[2] + slack) << seed;
    ASSERT_LE(gamma[0] * v[0] + gamma[1] * v[1], 1e-12 * friction * slip) << seed;
    if (mu > 0 && friction > 0 && friction >= mu * gamma[2] - slack && slip > 1e-3) {
      ASSERT_NEAR(friction, mu * gamma[2], slack) << seed;
      ASSERT_NEAR(gamma[0] * v[0] + gamma[1] * v[1], -friction * slip, 1e-9 * friction * slip);
    }
  }
}

/// The published constants. Those of a scene, SapOptions(), make normals a hundred times stiffer
/// and friction a hundred times softer, and the same law harder to find.
constexpr SapOptions kPublished{
    .relativeTolerance = 1e-6, .nearRigid = 1, .frictionRegularization = 1e-3};

int numWorlds() {
  const char* const text = std::getenv("TANGERE_RANDOM_COULOMB");
  return text != nullptr ? std::atoi(text) : 60;
}

/// Solves random heaps in violent motion with these constants and checks the law at every contact.
void expectTheLawInRandomHeaps(const SapOptions& plain) {
  int totalUpdates = 0, mostUpdates = 0, totalSteps = 0, coneSteps = 0, numUnsolved = 0;
  int numExact = 0;
  SapSolver solver;
  for (int seed = 0; seed < numWorlds(); ++seed) {
    std::mt19937_64 random(static_cast<std::uint64_t>(seed) * 977 + 5);
    const SapContact contact{
        .friction = seed % 5 == 0 ? uniform(&random, 1, 3) : uniform(&random, 0.05, 1),
        .stiffness = seed % 2 == 0 ? 1e5 : 1e12,
        .dissipationTime = 0.01};
    SapWorld world = test::clutter(1 + static_cast<int>(random() % 40),
                                   static_cast<std::uint64_t>(seed), contact);
    const Real speed = std::pow(10.0, uniform(&random, -2, 1));
    for (test::SapBody& body : world.bodies) {
      body.velocity = randomVector(&random, speed);
      body.angularVelocity = randomVector(&random, speed / 0.05);
    }
    SapProblem problem;
    world.fill(&problem);
    SapOptions options = plain;
    options.friction = SapFriction::Cone;
    const SapReport cone = solver.solve(options, &problem);
    world.fill(&problem);
    const SapReport report = solver.solve(plain, &problem);
    if (!isSolved(report.status)) {
      // Bodies that jam among others with mu beyond 1: what is not found is said.
      EXPECT_GT(contact.friction, 1) << seed << ": friction off by " << report.frictionResidual;
      ++numUnsolved;
      continue;
    }
    ASSERT_LE(report.frictionResidual, 1e-2) << seed;
    if (report.frictionResidual > 1e-8) continue;
    ++numExact;
    Real size = 0;
    for (const Real x : problem.impulse) size = std::max(size, std::abs(x));
    expectCoulomb(problem, 1e-6 * size, seed);
    totalUpdates += report.frictionUpdates;
    mostUpdates = std::max(mostUpdates, report.frictionUpdates);
    totalSteps += report.iterations;
    coneSteps += cone.iterations;
  }
  EXPECT_LE(numUnsolved, 1 + numWorlds() / 50);
  EXPECT_GE(numExact, numWorlds() * 97 / 100);
  // The law has no cost to go down on, and one that is not convex; it may not take longer for that.
  EXPECT_LE(totalSteps, coneSteps);
  std::printf(
      "updates of the bounds: mean %.2f, most %d; Newton steps mean %.1f, of the cone %.1f\n"
      "%d of %d to the tolerance, %d not solved\n",
      static_cast<Real>(totalUpdates) / numExact, mostUpdates,
      static_cast<Real>(totalSteps) / numExact, static_cast<Real>(coneSteps) / numExact, numExact,
      numWorlds(), numUnsolved);
}

TEST(SapCoulomb, RandomHeapsThatSlideAndFallKeepTheLawAtEveryPoint) {
  expectTheLawInRandomHeaps(SapOptions());
}

TEST(SapCoulomb, RandomHeapsKeepTheLawWithThePublishedConstantsToo) {
  expectTheLawInRandomHeaps(kPublished);
}

TEST(SapCoulomb, BoundsThatMayNotChangeAreReportedAsWrong) {
  SapWorld world = test::cubeOnPlane(1, 0.2, {.friction = 3, .gap = -1e-9});
  world.bodies[0].velocity = {1, 0, 0};
  SapProblem problem;
  world.fill(&problem);
  SapSolver solver;
  const SapReport report = solver.solve({.maxFrictionUpdates = 0}, &problem);
  EXPECT_EQ(report.status, SapStatus::MaxIterations);
  EXPECT_GT(report.frictionResidual, 1e-3);
  EXPECT_GE(report.worstConstraint, 0);
}

}  // namespace
}  // namespace tangere::solver
