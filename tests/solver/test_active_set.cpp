// SPDX-License-Identifier: Apache-2.0
#include "solver/active_set.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <random>

namespace tangere::solver {
namespace {

Real uniform(std::mt19937_64* random, Real low, Real high) {
  return low + (high - low) * (static_cast<Real>((*random)() >> 11) * 0x1p-53);
}

/// The one subset of unknowns whose solution is feasible (A positive definite: there is one).
Eigen::VectorXd enumerate(const Eigen::MatrixXd& a, const Eigen::VectorXd& b) {
  const int n = static_cast<int>(b.size());
  Eigen::VectorXd best = Eigen::VectorXd::Zero(n);
  Real bestViolation = std::numeric_limits<Real>::infinity();
  for (int mask = 0; mask < 1 << n; ++mask) {
    std::vector<int> set;
    for (int i = 0; i < n; ++i) {
      if (mask >> i & 1) set.push_back(i);
    }
    const int m = static_cast<int>(set.size());
    Eigen::MatrixXd block(m, m);
    Eigen::VectorXd right(m);
    for (int i = 0; i < m; ++i) {
      right[i] = b[set[i]];
      for (int j = 0; j < m; ++j) block(i, j) = a(set[i], set[j]);
    }
    Eigen::VectorXd x = Eigen::VectorXd::Zero(n);
    if (m > 0) {
      const Eigen::VectorXd part = block.fullPivLu().solve(right);
      for (int i = 0; i < m; ++i) x[set[i]] = part[i];
    }
    const Eigen::VectorXd w = a * x - b;
    const Real violation = std::max(-x.minCoeff(), -w.minCoeff());
    if (violation < bestViolation) {
      bestViolation = violation;
      best = x;
    }
  }
  return best;
}

TEST(ActiveSetSolver, FindsTheSolutionThatEnumerationFinds) {
  std::mt19937_64 random(7);
  ActiveSetSolver solver;
  for (int round = 0; round < 300; ++round) {
    const int n = 1 + static_cast<int>(uniform(&random, 0, 8));
    Eigen::MatrixXd j(n, n + 2);
    for (int r = 0; r < n; ++r) {
      for (int c = 0; c < n + 2; ++c) j(r, c) = uniform(&random, -1, 1);
    }
    const Eigen::MatrixXd a = j * j.transpose();
    Eigen::VectorXd b(n), x(n);
    for (int i = 0; i < n; ++i) {
      b[i] = uniform(&random, -1, 1);
      x[i] = round % 2 == 0 ? 0 : uniform(&random, -1, 1);  // a start of any kind
    }
    const ActiveSetReport report = solver.solve(a, b, x);
    const Eigen::VectorXd expected = enumerate(a, b);

    ASSERT_TRUE(report.converged) << "round " << round;
    for (int i = 0; i < n; ++i) {
      ASSERT_NEAR(x[i], expected[i], 1e-8 * (1 + expected.cwiseAbs().maxCoeff()))
          << "round " << round << " unknown " << i;
      ASSERT_GE(x[i], 0);
    }
  }
}

TEST(ActiveSetSolver, NothingIsPushedWhenNothingApproaches) {
  ActiveSetSolver solver;
  Eigen::VectorXd x = Eigen::VectorXd::Constant(3, 2.0);
  const ActiveSetReport report =
      solver.solve(Eigen::MatrixXd::Identity(3, 3), Eigen::VectorXd::Constant(3, -1.0), x);
  EXPECT_TRUE(report.converged);
  EXPECT_EQ(x.norm(), 0);
}

// Four corners, three freedoms: A is singular. The load is shared equally by symmetry.
TEST(ActiveSetSolver, FourPointsOfABoxCarryAQuarterEach) {
  Eigen::MatrixXd j(4, 3);
  j << 1, -1, -1, 1, 1, -1, 1, 1, 1, 1, -1, 1;
  const Eigen::MatrixXd a = j * j.transpose();
  const Eigen::VectorXd b = Eigen::VectorXd::Ones(4);
  Eigen::VectorXd x = Eigen::VectorXd::Zero(4);
  ActiveSetSolver solver;
  ASSERT_TRUE(solver.solve(a, b, x).converged);
  EXPECT_LT((a * x - b).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_NEAR(x.sum(), 1, 1e-12);

  // From the right set the symmetric answer comes out.
  x.setConstant(1e-3);
  ASSERT_TRUE(solver.solve(a, b, x).converged);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(x[i], 0.25, 1e-8);
}

// A light body under a heavy one: m2 carries m1 and itself. By hand, with v_n = 0 at both points:
// lower impulse (m1 + m2) g dt, upper m1 g dt.
TEST(ActiveSetSolver, MassRatiosOfAMillionKeepTenDigits) {
  for (const Real ratio : {1e3, 1e6, 1e-6}) {
    const Real heavy = ratio, light = 1;
    Eigen::MatrixXd a(2, 2);
    a << 1 / light, -1 / light, -1 / light, 1 / light + 1 / heavy;
    Eigen::VectorXd b(2), x = Eigen::VectorXd::Zero(2);
    b << 1, 0;  // g dt = 1: the lower point stops it, between the two nothing changes
    ActiveSetSolver solver;
    ASSERT_TRUE(solver.solve(a, b, x).converged);
    EXPECT_NEAR(x[0] / (heavy + light), 1, 1e-9) << ratio;
    EXPECT_NEAR(x[1] / heavy, 1, 1e-9) << ratio;
  }
}

// Both unknowns are violated alike; only one may stay since they oppose each other.
TEST(ActiveSetSolver, OfEqualViolationsTheLowerIndexGoesFirst) {
  Eigen::MatrixXd a(2, 2);
  a << 1, 1, 1, 1;
  Eigen::VectorXd x = Eigen::VectorXd::Zero(2);
  ActiveSetSolver solver;
  ASSERT_TRUE(solver.solve(a, Eigen::VectorXd::Ones(2), x).converged);
  EXPECT_NEAR(x[0], 1, 1e-12);
  EXPECT_EQ(x[1], 0);
}

TEST(ActiveSetSolver, StopsAtItsCapAndSaysSo) {
  Eigen::VectorXd x = Eigen::VectorXd::Zero(4);
  ActiveSetSolver solver;
  const ActiveSetReport report = solver.solve(Eigen::MatrixXd::Identity(4, 4),
                                              Eigen::VectorXd::Ones(4), x, {.maxIterations = 2});
  EXPECT_FALSE(report.converged);
  EXPECT_GE(x.minCoeff(), 0);
}

TEST(ActiveSetSolver, NotANumberIsReportedAndLeavesZero) {
  Eigen::VectorXd x = Eigen::VectorXd::Ones(1);
  ActiveSetSolver solver;
  EXPECT_FALSE(
      solver.solve(Eigen::MatrixXd::Identity(1, 1), Eigen::VectorXd::Constant(1, std::nan("")), x)
          .converged);
  EXPECT_EQ(x[0], 0);
}

}  // namespace
}  // namespace tangere::solver
