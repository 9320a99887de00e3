// SPDX-License-Identifier: Apache-2.0
//
// Islands solved by sweeps, and what holds for all: ledger, threads, cold restart.
#include "solver/contact_scenes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace tangere::solver {
namespace {

using test::kDt;
using test::kGravity;

/// Never the exact path.
ImpulseOptions sweeping() { return {.maxExactPoints = 0}; }

TEST(ImpulseSolver, ATowerOfTenComesToRest) {
  ImpulseProblem problem = test::tower(std::vector<Real>(10, 1.0), 0.5);
  for (int step = 0; step < 500; ++step) test::solveAll(&problem, sweeping());
  for (const ImpulseBlock& block : problem.blocks) {
    EXPECT_LT(norm(block.velocity), 1e-6);
    EXPECT_LT(norm(block.angularVelocity), 1e-5);
  }
  // The lowest four points carry ten weights.
  Real sum = 0;
  for (int i = 0; i < 4; ++i) sum += problem.points[i].normalImpulse;
  EXPECT_NEAR(sum, 10 * kGravity * kDt, 1e-5);
}

TEST(ImpulseSolver, AlmostConvergedSweepsAgreeWithTheExactSolution) {
  std::mt19937_64 random(17);
  int numSharp = 0;
  for (int round = 0; round < 50; ++round) {
    ImpulseProblem exact = test::randomHeap(&random, 2, 0);
    for (ImpulsePoint& point : exact.points) point.friction *= 0.2;  // so that one solution exists
    ImpulseProblem swept = exact;
    for (const ImpulseReport& report : test::solveAll(&exact, {.maxExactPoints = 30})) {
      ASSERT_TRUE(report.converged);
    }
    test::solveAll(&swept,
                   {.maxExactPoints = 0, .numSubsteps = 1, .numSweeps = 20000, .tolerance = 1e-14});
    Real off = 0;
    for (std::size_t b = 0; b < exact.blocks.size(); ++b) {
      off = std::max(off, norm(exact.blocks[b].velocity - swept.blocks[b].velocity));
      off = std::max(off, norm(exact.blocks[b].displacement - swept.blocks[b].displacement) / kDt);
    }
    // One heap is nearly singular: the sweeps are that far off when they come to a stop.
    EXPECT_LT(off, 2e-5) << round;
    numSharp += off < 1e-7 ? 1 : 0;
  }
  EXPECT_GE(numSharp, 49);  // of 50
}

TEST(ImpulseSolver, EnergyGainedIsTheWorkThatWasBooked) {
  std::mt19937_64 random(23);
  for (int round = 0; round < 100; ++round) {
    ImpulseProblem problem = test::randomHeap(&random, 1 + round % 40, round % 2 == 0 ? 0 : 0.05);
    for (ImpulseBlock& block : problem.blocks) {
      if (block.inverseMass > 0) block.angularAcceleration = {1, -2, 3};
    }
    const Real before = test::kineticEnergy(problem);
    test::solveAll(&problem, sweeping());
    const Real gained = test::kineticEnergy(problem) - before;
    EXPECT_NEAR(gained, test::contactWork(problem) + test::freeWork(problem), 1e-12 * before)
        << round;
  }
}

TEST(ImpulseSolver, RandomWarmStartsNeverAddEnergy) {
  std::mt19937_64 random(29);
  int numRestarts = 0;
  for (int round = 0; round < 400; ++round) {
    const Real warmSize = round % 4 == 0 ? 0 : std::pow(10.0, round % 4 - 2);
    ImpulseProblem problem = test::randomHeap(&random, 1 + round % 20, warmSize);
    // Without free forces all of the change is the contacts'.
    for (ImpulseBlock& block : problem.blocks) block.acceleration = {};
    const Real before = test::kineticEnergy(problem);
    for (const ImpulseReport& report : test::solveAll(&problem, sweeping())) {
      EXPECT_LE(report.contactWork, 1e-12 * before);
      numRestarts += report.restartedCold ? 1 : 0;
      if (report.restartedCold) {
        EXPECT_GT(report.warmWork, 0);
      }
    }
    EXPECT_LE(test::kineticEnergy(problem), before * (1 + 1e-12)) << round;
  }
  EXPECT_GT(numRestarts, 10);
}

TEST(ImpulseSolver, FrictionStaysOnItsDisk) {
  std::mt19937_64 random(31);
  for (int round = 0; round < 50; ++round) {
    ImpulseProblem problem = test::randomHeap(&random, 20, 0);
    test::solveAll(&problem, {.maxExactPoints = 0, .numSubsteps = 1});
    for (const ImpulsePoint& point : problem.points) {
      EXPECT_GE(point.normalImpulse, 0);
      EXPECT_LE(std::hypot(point.tangentImpulse[0], point.tangentImpulse[1]),
                point.friction * point.normalImpulse * (1 + 1e-15));
    }
  }
}

std::vector<unsigned char> bitsOf(const ImpulseProblem& problem) {
  std::vector<unsigned char> bytes;
  const auto add = [&](const void* data, std::size_t size) {
    const auto* first = static_cast<const unsigned char*>(data);
    bytes.insert(bytes.end(), first, first + size);
  };
  for (const ImpulseBlock& block : problem.blocks) {
    add(&block.velocity, sizeof(Vec3));
    add(&block.angularVelocity, sizeof(Vec3));
    add(&block.displacement, sizeof(Vec3));
    add(&block.rotation, sizeof(Vec3));
    add(&block.pushDisplacement, sizeof(Vec3));
    add(&block.meanDisplacement, sizeof(Vec3));
  }
  for (const ImpulsePoint& point : problem.points) {
    add(&point.normalImpulse, sizeof(Real));
    add(point.tangentImpulse, 2 * sizeof(Real));
    add(&point.normalWork, sizeof(Real));
    add(&point.frictionWork, sizeof(Real));
    add(&point.correctionImpulse, sizeof(Real));
  }
  return bytes;
}

TEST(ImpulseSolver, AnyNumberOfThreadsGivesTheSameBits) {
  std::mt19937_64 random(37);
  // One large island, several small ones of both kinds in one problem.
  ImpulseProblem start = test::randomHeap(&random, 800, 0.01);
  for (const int size : {1, 2, 5, 30, 80}) {
    const ImpulseProblem other = test::randomHeap(&random, size, 0);
    const auto offset = static_cast<std::int32_t>(start.blocks.size());
    const auto first = static_cast<std::int32_t>(start.points.size());
    start.blocks.insert(start.blocks.end(), other.blocks.begin(), other.blocks.end());
    for (ImpulsePoint point : other.points) {
      point.block1 += offset;
      point.block2 += offset;
      start.points.push_back(point);
    }
    for (ImpulseGroup group : other.groups) {
      group.block1 += offset;
      group.block2 += offset;
      group.first += first;
      start.groups.push_back(group);
    }
  }
  ImpulseProblem alone = start;
  const std::vector<ImpulseReport> expected = test::solveAll(&alone, {});
  for (const int numThreads : {1, 2, 4, 8}) {
    core::ThreadPool pool(numThreads);
    for (int repeat = 0; repeat < 3; ++repeat) {
      ImpulseProblem problem = start;
      const std::vector<ImpulseReport> reports = test::solveAll(&problem, {}, &pool);
      EXPECT_EQ(bitsOf(problem), bitsOf(alone)) << numThreads;
      for (std::size_t i = 0; i < reports.size(); ++i) {
        EXPECT_EQ(reports[i].residual, expected[i].residual);
        EXPECT_EQ(reports[i].worstPoint, expected[i].worstPoint);
        EXPECT_EQ(reports[i].contactWork, expected[i].contactWork);
      }
    }
  }
}

// A hub with more neighbours than there are colours.
TEST(ImpulseSolver, GroupsBeyondTheColorsAreSolvedToo) {
  ImpulseProblem problem;
  problem.blocks = {test::boxBlock(1000, {1, 1, 1}, {})};
  for (int i = 1; i <= 80; ++i) {
    problem.blocks.push_back(test::boxBlock(1, {0.1, 0.1, 0.1}, {0, 0, -kGravity}));
    const Vec3 center{0.02 * i - 0.8, 0, 1.1};
    test::addGroup(&problem, i, 0, center, {}, {0, 0, 1}, {{center.x, 0, 1}}, 0, 0.5);
  }
  test::solveAll(&problem, {.maxExactPoints = 0, .numSweeps = 50});
  for (const ImpulsePoint& point : problem.points) {
    EXPECT_GT(dot(point.normal, test::pointVelocity(problem, point)), -1e-6);
    EXPECT_GT(point.normalImpulse, 0);
  }
}

// A sphere rolling without slip; rolling friction b gives the torque limit b m g.
TEST(ImpulseSolver, RollingAndTorsionalFrictionSlowARollingAndASpinningBall) {
  const Real radius = 0.1, mass = 2, inertia = 0.4 * mass * radius * radius;
  ImpulseProblem problem;
  ImpulseBlock ball{.inverseMass = 1 / mass,
                    .inverseInertia = {.xx = 1 / inertia, .yy = 1 / inertia, .zz = 1 / inertia},
                    .acceleration = {0, 0, -kGravity},
                    .duration = kDt};
  ball.velocity = {1, 0, 0};
  ball.angularVelocity = {0, 10, 5};
  problem.blocks = {test::fixedBlock(), ball};
  test::addGroup(&problem, 1, 0, {0, 0, radius}, {}, {0, 0, 1}, {{0, 0, 0}}, 0, 0.8);
  problem.points[0].rollingFriction = 0.01;
  problem.points[0].torsionalFriction = 0.002;
  const Real before = test::kineticEnergy(problem);
  const ImpulseReport report = test::solveAll(&problem, {})[0];
  EXPECT_TRUE(report.converged);

  const Real normal = mass * kGravity * kDt;
  EXPECT_NEAR(problem.points[0].normalImpulse, normal, 1e-12);
  EXPECT_NEAR(problem.points[0].torsionalImpulse, -0.002 * normal, 1e-12);
  EXPECT_NEAR(problem.blocks[1].angularVelocity.z, 5 - 0.002 * normal / inertia, 1e-10);
  // Torque -b N about y on the roll: still v = w r, so w' (I + m r^2) = -b N.
  const Real rate = -0.01 * normal / (inertia + mass * radius * radius);
  EXPECT_NEAR(problem.blocks[1].angularVelocity.y, 10 + rate, 1e-9);
  EXPECT_NEAR(problem.blocks[1].velocity.x, 1 + rate * radius, 1e-10);
  EXPECT_NEAR(test::kineticEnergy(problem) - before,
              test::contactWork(problem) + test::freeWork(problem), 1e-12 * before);

  // Spinning slowly it stops and stays.
  problem.blocks[1].velocity = problem.blocks[1].angularVelocity = {};
  problem.blocks[1].angularVelocity.z = 1e-3;
  test::solveAll(&problem, {});
  EXPECT_NEAR(problem.blocks[1].angularVelocity.z, 0, 1e-12);
}

TEST(ImpulseSolver, AFallingBlockThatNothingReachesMovesExactly) {
  ImpulseProblem problem = test::restingBox(1, 0.5, 0, 0, 1);
  for (ImpulsePoint& point : problem.points) point.gap = 1;
  test::solveAll(&problem, sweeping());
  EXPECT_FALSE(problem.blocks[1].isTouched);
  EXPECT_NEAR(problem.blocks[1].displacement.z, -kGravity * kDt * kDt / 2, 1e-18);
  EXPECT_EQ(problem.blocks[1].displacement.z, problem.blocks[1].meanDisplacement.z);
}

TEST(ImpulseSolver, SubstepsUseUpAGapAndNotMore) {
  ImpulseProblem problem = test::restingBox(1, 0.5, 0, 0, 1);
  for (ImpulsePoint& point : problem.points) point.gap = 1e-3;
  problem.blocks[1].velocity = {0, 0, -2};
  ImpulseOptions options = sweeping();
  options.numSubsteps = 4;
  options.numSweeps = 100;
  test::solveAll(&problem, options);
  EXPECT_NEAR(problem.blocks[1].displacement.z, -1e-3, 1e-9);
  EXPECT_NEAR(problem.blocks[1].velocity.z, 0, 1e-9);
}

TEST(ImpulseSolver, SweepsPushOutDepthBeyondTheSlop) {
  ImpulseProblem problem = test::tower(std::vector<Real>(4, 1.0), 0.5);
  for (ImpulsePoint& point : problem.points) point.gap = -1.1e-3;
  ImpulseOptions options = sweeping();
  options.numCorrectionSweeps = 1000;
  for (int step = 0; step < 300; ++step) test::solveAll(&problem, options);
  // Each block by the sum of the pushes below it.
  for (int i = 1; i <= 4; ++i) {
    EXPECT_NEAR(problem.blocks[i].pushDisplacement.z, i * 0.2e-3, 1e-8);
    EXPECT_LT(norm(problem.blocks[i].velocity), 1e-6);
  }
}

// Twice the mass and twice the impulses: nothing else may change.
TEST(ImpulseSolver, ScalesWithTheMass) {
  std::mt19937_64 random(41);
  ImpulseProblem light = test::randomHeap(&random, 20, 0);
  ImpulseProblem heavy = light;
  for (ImpulseBlock& block : heavy.blocks) {
    block.inverseMass /= 4;
    Sym3& s = block.inverseInertia;
    for (Real* entry : {&s.xx, &s.yy, &s.zz, &s.xy, &s.xz, &s.yz}) *entry /= 4;
  }
  test::solveAll(&light, sweeping());
  test::solveAll(&heavy, sweeping());
  for (std::size_t i = 0; i < light.blocks.size(); ++i) {
    EXPECT_LT(norm(light.blocks[i].velocity - heavy.blocks[i].velocity), 1e-12);
  }
  for (std::size_t i = 0; i < light.points.size(); ++i) {
    EXPECT_NEAR(heavy.points[i].normalImpulse, 4 * light.points[i].normalImpulse, 1e-11);
  }
}

}  // namespace
}  // namespace tangere::solver
