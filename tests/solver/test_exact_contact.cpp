// SPDX-License-Identifier: Apache-2.0
//
// Islands of a few points, solved to rounding: numbers that can be checked by hand.
#include "solver/contact_scenes.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tangere::solver {
namespace {

using test::kDt;
using test::kGravity;

TEST(ExactContact, ACubeAtRestHasAQuarterOfItsWeightOnEachPoint) {
  ImpulseProblem problem = test::restingBox(2, 0.5, 0.5, 0, 1);
  const ImpulseReport report = test::solveAll(&problem, {})[0];
  EXPECT_TRUE(report.converged);
  for (const ImpulsePoint& point : problem.points) {
    EXPECT_NEAR(point.normalImpulse, 2 * kGravity * kDt / 4, 1e-9);
    EXPECT_NEAR(point.tangentImpulse[0], 0, 1e-12);
    EXPECT_NEAR(point.normalWork, 0, 1e-16);
  }
  EXPECT_LT(norm(problem.blocks[1].velocity), 1e-14);
  EXPECT_LT(norm(problem.blocks[1].displacement), 1e-16);
  EXPECT_TRUE(problem.blocks[1].isTouched);

  // The next step starts from the answer and has nothing to do.
  const ImpulseReport again = test::solveAll(&problem, {})[0];
  EXPECT_EQ(again.iterations, 0);
  EXPECT_LT(norm(problem.blocks[1].velocity), 1e-14);
}

TEST(ExactContact, ABlockOnASlopeSticksBelowTheAngleOfFriction) {
  // tan = 0.364 < 0.5.
  const Real angle = 20 * 3.14159265358979323846 / 180;
  ImpulseProblem problem = test::restingBox(1, 0.5, 0.5, std::sin(angle), std::cos(angle));
  EXPECT_TRUE(test::solveAll(&problem, {})[0].converged);
  Real normal = 0, tangent = 0;
  for (const ImpulsePoint& point : problem.points) {
    normal += point.normalImpulse;
    tangent += point.tangentImpulse[0];
  }
  EXPECT_NEAR(normal, kGravity * std::cos(angle) * kDt, 1e-15);
  EXPECT_NEAR(tangent, -kGravity * std::sin(angle) * kDt, 1e-15);
  EXPECT_LT(norm(problem.blocks[1].velocity), 1e-14);
}

TEST(ExactContact, ABlockOnASteepSlopeSlidesWithTheLawOfCoulomb) {
  const Real angle = 20 * 3.14159265358979323846 / 180;
  ImpulseProblem problem = test::restingBox(1, 0.5, 0.2, std::sin(angle), std::cos(angle));
  problem.blocks[1].velocity = {0.3, 0.4, 0};  // any direction on the slope
  EXPECT_TRUE(test::solveAll(&problem, {})[0].converged);
  // Friction opposes the velocity at the end of the step.
  const Vec3 v = problem.blocks[1].velocity;
  const Real normal = kGravity * std::cos(angle) * kDt;
  const Vec3 direction = v / norm(v);
  EXPECT_NEAR(v.x, 0.3 + kGravity * std::sin(angle) * kDt - 0.2 * normal * direction.x, 1e-12);
  EXPECT_NEAR(v.y, 0.4 - 0.2 * normal * direction.y, 1e-12);
  EXPECT_NEAR(v.z, 0, 1e-14);
  for (const ImpulsePoint& point : problem.points) {
    const Real tangent = std::hypot(point.tangentImpulse[0], point.tangentImpulse[1]);
    EXPECT_LE(tangent, 0.2 * point.normalImpulse * (1 + 4e-16));
  }
}

TEST(ExactContact, AGapIsUsedUpAndNotMore) {
  ImpulseProblem problem = test::restingBox(1, 0.5, 0, 0, 1);
  for (ImpulsePoint& point : problem.points) point.gap = 1e-3;
  problem.blocks[1].velocity = {0, 0, -10};
  test::solveAll(&problem, {});
  EXPECT_NEAR(problem.blocks[1].velocity.z, -1e-3 / kDt, 1e-12);
  EXPECT_NEAR(problem.blocks[1].displacement.z, -1e-3, 1e-15);

  // Too slow to get there: nothing happens, and the path is exact for the acceleration.
  problem = test::restingBox(1, 0.5, 0, 0, 1);
  for (ImpulsePoint& point : problem.points) point.gap = 1;
  test::solveAll(&problem, {});
  EXPECT_FALSE(problem.blocks[1].isTouched);
  EXPECT_NEAR(problem.blocks[1].displacement.z, -kGravity * kDt * kDt / 2, 1e-18);
}

TEST(ExactContact, AConveyorCarriesItsLoad) {
  ImpulseProblem problem = test::restingBox(1, 0.5, 0.5, 0, 1);
  problem.blocks[0].velocity = {1, 0, 0};
  test::solveAll(&problem, {});
  // Sliding at first: v = mu g dt.
  EXPECT_NEAR(problem.blocks[1].velocity.x, 0.5 * kGravity * kDt, 1e-12);
  EXPECT_EQ(problem.blocks[0].velocity.x, 1);
}

/// A thin rod at 45 degrees that touches the floor with its lower end while sliding in x; block 1
/// is the rod. `direction`: +1 the end leads (digs in), -1 it trails.
ImpulseProblem slidingRod(Real friction, Real speed, Real direction) {
  ImpulseProblem problem;
  const Real length = 1, mass = 1, inertia = mass * length * length / 12;
  ImpulseBlock rod{.inverseMass = 1 / mass,
                   .inverseInertia = {.xx = 1 / inertia, .yy = 1 / inertia, .zz = 1 / inertia},
                   .acceleration = {0, 0, -kGravity},
                   .duration = kDt};
  rod.velocity = {speed, 0, 0};
  problem.blocks = {test::fixedBlock(), rod};
  const Real half = length / 2 * std::sqrt(0.5);
  const Vec3 center{-direction * half, 0, half};
  test::addGroup(&problem, 1, 0, center, {}, {0, 0, 1}, {{0, 0, 0}}, 0, friction);
  return problem;
}

// v_n = -g dt + W_nn l + W_nt lambda_t, lambda_t = -mu l. With arm r = (c, 0, -c), c = 1/sqrt(8):
// W_nn = 1/m + c^2/I, W_nt = +c^2/I (end ahead), so l = g dt / (W_nn - mu c^2/I).
TEST(ExactContact, ASlidingRodGetsTheNormalForceThatItsFrictionBringsAbout) {
  const Real c2 = 1.0 / 8, inertia = 1.0 / 12, mu = 0.4;
  for (const Real direction : {1.0, -1.0}) {
    ImpulseProblem problem = slidingRod(mu, 5, direction);
    ASSERT_TRUE(test::solveAll(&problem, {})[0].converged);
    const Real expected = kGravity * kDt / (1 + c2 / inertia - direction * mu * c2 / inertia);
    EXPECT_NEAR(problem.points[0].normalImpulse, expected, 1e-12 * expected) << direction;
    EXPECT_NEAR(
        std::hypot(problem.points[0].tangentImpulse[0], problem.points[0].tangentImpulse[1]),
        mu * expected, 1e-12 * expected);
  }
}

// Painleve: for mu > (1/m + c^2/I) / (c^2/I) = 5/3 no sliding motion exists. The end stops at once.
TEST(ExactContact, ARodThatCannotSlideJams) {
  ImpulseProblem problem = slidingRod(2, 1, 1);
  ASSERT_TRUE(test::solveAll(&problem, {})[0].converged);
  EXPECT_LT(norm(test::pointVelocity(problem, problem.points[0])), 1e-12);
  EXPECT_GT(problem.points[0].normalImpulse, 0.1);  // an impulse, not a weight over a step
  EXPECT_LT(test::kineticEnergy(problem), 0.5);     // of 1/2 m v^2
}

TEST(ExactContact, LightUnderAMillionTimesHeavierStaysPut) {
  for (const Real ratio : {1e3, 1e6}) {
    ImpulseProblem problem = test::tower({1, ratio}, 0.5);
    const ImpulseReport report = test::solveAll(&problem, {})[0];
    EXPECT_TRUE(report.converged) << ratio;
    Real lower = 0, upper = 0;
    for (int i = 0; i < 4; ++i) {
      lower += problem.points[i].normalImpulse;
      upper += problem.points[4 + i].normalImpulse;
    }
    EXPECT_NEAR(lower / ((1 + ratio) * kGravity * kDt), 1, 1e-9);
    EXPECT_NEAR(upper / (ratio * kGravity * kDt), 1, 1e-9);
    EXPECT_LT(norm(problem.blocks[1].velocity), 1e-9);
    EXPECT_LT(norm(problem.blocks[2].velocity), 1e-9);
  }
}

/// Largest violation of the conditions at the head of impulse_problem.hpp, without gaps [m/s].
Real violation(const ImpulseProblem& problem) {
  Real worst = 0;
  for (const ImpulsePoint& point : problem.points) {
    const Vec3 v = test::pointVelocity(problem, point);
    const Real target = point.gap > 0 ? -point.gap / kDt : 0;
    const Real vn = dot(point.normal, v) - target;
    worst = std::max(worst, -vn);
    const Real t1 = dot(point.tangent1, v), t2 = dot(point.tangent2, v);
    const Real l1 = point.tangentImpulse[0], l2 = point.tangentImpulse[1];
    const Real limit = point.friction * point.normalImpulse;
    const Real mass = 0.1;  // makes a velocity of an impulse: the least mass of the heaps
    worst = std::max(worst, std::min(point.normalImpulse / mass, std::fabs(vn)));
    worst = std::max(worst, (std::hypot(l1, l2) - limit) / mass);
    // Sliding only at the limit, and against the velocity.
    const Real speed = std::hypot(t1, t2);
    if (speed > 0) {
      const Real off = std::hypot(l1 + limit * t1 / speed, l2 + limit * t2 / speed) / mass;
      worst = std::max(worst, std::min(speed, off));
    }
  }
  return worst;
}

TEST(ExactContact, RandomSmallHeapsAreSolvedToRounding) {
  std::mt19937_64 random(5);
  int numConverged = 0, numTotal = 0, numSharp = 0;
  for (int round = 0; round < 400; ++round) {
    ImpulseProblem problem = test::randomHeap(&random, 1 + round % 3, round % 2 == 0 ? 0 : 0.5);
    const Real before = test::kineticEnergy(problem);
    const ImpulseOptions options{.maxExactPoints = 24};
    const std::vector<ImpulseReport> reports = test::solveAll(&problem, options);
    bool isExact = true;
    for (const ImpulseReport& report : reports) {
      ++numTotal;
      numConverged += report.converged ? 1 : 0;
      isExact = isExact && report.converged;
      EXPECT_LE(report.contactWork, 1e-12 * (before + 1));
    }
    if (isExact) {
      // Near a jam the impulses are large and so is what rounding makes of them. One heap is solved
      // by sweeps alone, which stop a little further off.
      Real largest = 0;
      for (const ImpulsePoint& point : problem.points) {
        largest = std::max(largest, point.normalImpulse / 0.1);
      }
      const Real off = violation(problem) / (1 + largest);
      EXPECT_LT(off, 5e-9) << round;
      numSharp += off < 1e-10 ? 1 : 0;
    }
    const Real gained = test::kineticEnergy(problem) - before;
    EXPECT_NEAR(gained, test::contactWork(problem) + test::freeWork(problem),
                1e-12 * (before + std::fabs(gained) + 1))
        << round;
  }
  EXPECT_EQ(numConverged, numTotal);
  EXPECT_GE(numSharp, 399);  // of 400
}

TEST(ExactContact, DepthBeyondTheSlopIsPushedOutWithoutVelocity) {
  ImpulseProblem problem = test::restingBox(1, 0.5, 0.5, 0, 1);
  for (ImpulsePoint& point : problem.points) point.gap = -1.1e-3;
  const ImpulseOptions options{.correctionRate = 0.2, .slop = 1e-4};
  test::solveAll(&problem, options);
  EXPECT_NEAR(problem.blocks[1].pushDisplacement.z, 0.2e-3, 1e-12);
  EXPECT_NEAR(norm(problem.blocks[1].pushRotation), 0, 1e-12);
  EXPECT_LT(norm(problem.blocks[1].velocity), 1e-14);
  EXPECT_EQ(norm(problem.blocks[0].pushDisplacement), 0);
  for (const ImpulsePoint& point : problem.points) EXPECT_GT(point.correctionImpulse, 0);

  // Within the slop nothing is pushed; far beyond it the speed is limited.
  for (ImpulsePoint& point : problem.points) point.gap = -0.9e-4;
  test::solveAll(&problem, options);
  EXPECT_EQ(norm(problem.blocks[1].pushDisplacement), 0);
  for (ImpulsePoint& point : problem.points) point.gap = -1;
  test::solveAll(&problem, options);
  EXPECT_NEAR(problem.blocks[1].pushDisplacement.z, options.maxCorrectionSpeed * kDt, 1e-9);
}

// The bias is a velocity: rate / dt (depth - slop).
TEST(ExactContact, BaumgarteTurnsDepthIntoVelocity) {
  ImpulseProblem problem = test::restingBox(1, 0.5, 0.5, 0, 1);
  for (ImpulsePoint& point : problem.points) point.gap = -1.1e-3;
  test::solveAll(&problem, {.correction = PositionCorrection::Baumgarte, .slop = 1e-4});
  EXPECT_NEAR(problem.blocks[1].velocity.z, 0.2 / kDt * 1e-3, 1e-12);
  EXPECT_EQ(norm(problem.blocks[1].pushDisplacement), 0);

  problem = test::restingBox(1, 0.5, 0.5, 0, 1);
  for (ImpulsePoint& point : problem.points) point.gap = -1.1e-3;
  test::solveAll(&problem, {.correction = PositionCorrection::None, .slop = 1e-4});
  EXPECT_NEAR(problem.blocks[1].velocity.z, 0, 1e-14);
  EXPECT_EQ(norm(problem.blocks[1].pushDisplacement), 0);
}

}  // namespace
}  // namespace tangere::solver
