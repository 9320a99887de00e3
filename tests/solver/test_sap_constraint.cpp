// SPDX-License-Identifier: Apache-2.0
//
// Each kind of constraint against its definition: gamma is minus the slope of the cost and G the
// slope of minus gamma, in every region; the cone projection is the nearest point of the cone.
#include "solver/sap_constraint.hpp"

#include "solver/kernels/regularization.hpp"
#include "solver/sap_scenes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <set>
#include <string>

namespace tangere::solver {
namespace {

using test::uniform;

/// One constraint of the problem, with its rows weighing W = w times the identity.
struct Prepared {
  SapConstraints constraints;
  SapKind kind = SapKind::Contact;
  int numRows = 0;
  int parameters = -1;

  /// By default with the published constants.
  Prepared(const SapProblem& problem, Real w,
           const SapOptions& options = {.nearRigid = 1, .frictionRegularization = 1e-3}) {
    const SapConstraint& c = problem.constraints[0];
    kind = c.kind;
    numRows = c.numRows;
    std::vector<Real> delassus(static_cast<std::size_t>(numRows) * numRows, 0);
    for (int i = 0; i < numRows; ++i) delassus[i * numRows + i] = w;
    parameters = constraints.prepare(options, problem, 0, delassus.data());
  }

  Real evaluate(const Real* vc, Real* gamma, Real* full) const {
    Real packed[21];
    const Real cost = constraints.evaluate(kind, numRows, parameters, vc, gamma, packed);
    for (int i = 0; i < numRows; ++i) {
      for (int k = 0; k < numRows; ++k) {
        if (hessianOf(kind) == SapHessian::Diagonal) {
          full[i * numRows + k] = i == k ? packed[i] : 0;
        } else {
          full[i * numRows + k] =
              packed[std::max(i, k) * (std::max(i, k) + 1) / 2 + std::min(i, k)];
        }
      }
    }
    return cost;
  }
};

/// Central differences with a step h relative to `scale`; the corner of a region within the step
/// would spoil them: the point is then skipped and false is returned.
bool checkDerivatives(const Prepared& c, const Real* vc, Real scale) {
  const int m = c.numRows;
  Real gamma[6], g[36], plusGamma[6], minusGamma[6], plusG[36], minusG[36];
  static_cast<void>(c.evaluate(vc, gamma, g));
  const Real h = 1e-5 * scale;
  for (int i = 0; i < m; ++i) {
    Real plus[6], minus[6];
    for (int k = 0; k < m; ++k) plus[k] = minus[k] = vc[k];
    plus[i] += h;
    minus[i] -= h;
    const Real costPlus = c.evaluate(plus, plusGamma, plusG);
    const Real costMinus = c.evaluate(minus, minusGamma, minusG);
    for (int k = 0; k < m * m; ++k) {
      const Real size = std::abs(g[k]) + std::abs(plusG[k]) + std::abs(minusG[k]);
      if (std::abs(plusG[k] - minusG[k]) > 0.01 * size) return false;
    }
    const Real step = plus[i] - minus[i];
    Real impulse = 0, stiffness = 0;
    for (int k = 0; k < m; ++k) {
      impulse = std::max({impulse, std::abs(plusGamma[k]), std::abs(minusGamma[k])});
      for (int l = 0; l < m; ++l) stiffness = std::max(stiffness, std::abs(g[k * m + l]));
    }
    // Rounding of the cost over the step, and the third derivative.
    const Real costError = 1e-15 * (std::abs(costPlus) + std::abs(costMinus)) / step;
    EXPECT_NEAR((costPlus - costMinus) / step, -gamma[i],
                costError + 1e-6 * impulse + 1e-6 * stiffness * scale);
    for (int k = 0; k < m; ++k) {
      EXPECT_NEAR((plusGamma[k] - minusGamma[k]) / step, -g[k * m + i],
                  1e-5 * stiffness + 1e-14 * impulse / step);
      EXPECT_NEAR(g[k * m + i], g[i * m + k], 1e-12 * stiffness) << "not symmetric";
    }
  }
  // Positive semidefinite: along random directions.
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 10; ++trial) {
    Real x[6], size = 0, product = 0;
    for (int k = 0; k < m; ++k) x[k] = uniform(&random, -1, 1);
    for (int k = 0; k < m; ++k) {
      for (int l = 0; l < m; ++l) {
        product += x[k] * g[k * m + l] * x[l];
        size += std::abs(g[k * m + l]);
      }
    }
    EXPECT_GE(product, -1e-12 * size);
  }
  return true;
}

kernel::ConeRegion regionOf(const Prepared& c, const Real* vc, Real mu) {
  Real gamma[6], g[36];
  static_cast<void>(c.evaluate(vc, gamma, g));
  if (gamma[2] == 0 && gamma[0] == 0 && gamma[1] == 0) return kernel::ConeRegion::Open;
  const Real tangent = std::sqrt(gamma[0] * gamma[0] + gamma[1] * gamma[1]);
  return tangent < mu * gamma[2] * (1 - 1e-12) ? kernel::ConeRegion::Stick
                                               : kernel::ConeRegion::Slide;
}

TEST(SapContact, ImpulseAndHessianAreTheDerivativesOfTheCostInEveryRegion) {
  std::mt19937_64 random(1);
  std::array<int, 3> checked{};
  for (int round = 0; round < 3000; ++round) {
    const Real mu = round % 5 == 0 ? 5 : uniform(&random, 0.05, 1.5);
    SapProblem problem;
    problem.clear(0.002);
    problem.addClique(6);
    problem.addContact(0, -1,
                       {.friction = mu,
                        .stiffness = round % 3 == 0 ? 1e4 : 1e12,
                        .gap = uniform(&random, -1e-3, 1e-3),
                        .heldImpulse = {round % 7 == 0 ? 0.01 : 0, round % 5 == 0 ? -0.02 : 0}});
    const Prepared c(problem, uniform(&random, 0.1, 10), {.friction = SapFriction::Cone});
    // Friction is far stiffer than the normal: small tangents stick.
    const Real tangent = round % 2 == 0 ? 1e-4 : 1;
    const Real vc[3] = {uniform(&random, -tangent, tangent), uniform(&random, -tangent, tangent),
                        uniform(&random, -1, 0.5)};
    if (checkDerivatives(c, vc, 0.01 * tangent)) {
      ++checked[static_cast<std::size_t>(regionOf(c, vc, mu))];
    }
  }
  for (const int count : checked) EXPECT_GT(count, 100);
}

TEST(SapContact, WithABoundOfFrictionImpulseAndHessianAreTheDerivativesOfTheCostToo) {
  std::mt19937_64 random(2);
  int numHeld = 0, numSliding = 0, numParted = 0;
  for (int round = 0; round < 3000; ++round) {
    SapProblem problem;
    problem.clear(0.002);
    problem.addClique(6);
    problem.addContact(0, -1,
                       {.friction = uniform(&random, 0.05, 1.5),
                        .stiffness = round % 3 == 0 ? 1e4 : 1e12,
                        .gap = uniform(&random, -1e-3, 1e-3),
                        .heldImpulse = {round % 7 == 0 ? 0.01 : 0, round % 5 == 0 ? -0.02 : 0}});
    Prepared c(problem, uniform(&random, 0.1, 10), {.friction = SapFriction::Coulomb});
    const Real bound = round % 10 == 0 ? 0 : uniform(&random, 0, 0.5);
    c.constraints.setBound(c.parameters, bound);
    const Real tangent = round % 2 == 0 ? 1e-4 : 1;
    const Real vc[3] = {uniform(&random, -tangent, tangent), uniform(&random, -tangent, tangent),
                        uniform(&random, -1, 0.5)};
    if (!checkDerivatives(c, vc, 0.01 * tangent)) continue;
    Real gamma[3], g[9];
    static_cast<void>(c.evaluate(vc, gamma, g));
    const Real friction = std::sqrt(gamma[0] * gamma[0] + gamma[1] * gamma[1]);
    EXPECT_LE(friction, bound * (1 + 1e-14));
    EXPECT_GE(gamma[2], 0);
    const bool isSliding = c.constraints.isSliding(c.parameters, vc);
    if (isSliding) {
      EXPECT_NEAR(friction, bound, 1e-14);
    }
    numSliding += isSliding ? 1 : 0;
    numHeld += isSliding ? 0 : 1;
    numParted += gamma[2] == 0 ? 1 : 0;
  }
  EXPECT_GT(numHeld, 100);
  EXPECT_GT(numSliding, 100);
  EXPECT_GT(numParted, 100);
}

TEST(SapContact, WithoutFrictionOnlyTheNormalActs) {
  SapProblem problem;
  problem.clear(0.002);
  problem.addClique(6);
  problem.addContact(0, -1, {.friction = 0, .stiffness = 1e5, .gap = -1e-4});
  const Prepared c(problem, 1);
  for (const Real tangent : {0.0, 1e-9, 0.3}) {
    for (const Real normal : {-0.1, 0.0, 0.1}) {
      const Real vc[3] = {tangent, -tangent, normal};
      Real gamma[3], g[9];
      const Real cost = c.evaluate(vc, gamma, g);
      EXPECT_EQ(gamma[0], 0);
      EXPECT_EQ(gamma[1], 0);
      // 1/(dt k (dt + tau)) = 0.049 is above the near-rigid 0.0253.
      const Real regularization = 1 / (0.002 * 1e5 * 0.102);
      const Real expected = std::max(0.0, (1e-4 / 0.102 - normal) / regularization);
      EXPECT_NEAR(gamma[2], expected, 1e-12);
      EXPECT_NEAR(cost, 0.5 * regularization * expected * expected, 1e-12);
      EXPECT_TRUE(checkDerivatives(c, vc, 0.01));
    }
  }
}

TEST(SapContact, TheSoftNormKeepsCostImpulseAndHessianTogether) {
  std::mt19937_64 random(2);
  SapOptions options;
  options.frictionSoftness = 0.05;
  int numChecked = 0;
  for (int round = 0; round < 1000; ++round) {
    SapProblem problem;
    problem.clear(0.01);
    problem.addClique(6);
    problem.addContact(0, -1, {.friction = uniform(&random, 0, 1), .gap = -1e-3});
    const Prepared c(problem, 1, options);
    const Real vc[3] = {uniform(&random, -1e-3, 1e-3), uniform(&random, -1e-3, 1e-3),
                        uniform(&random, -0.02, 0.02)};
    numChecked += checkDerivatives(c, vc, 1e-4) ? 1 : 0;
  }
  EXPECT_GT(numChecked, 800);
}

TEST(SapContact, ProjectionIsTheNearestPointOfTheCone) {
  // gamma = argmin over the cone of 1/2 (gamma - y)^T R (gamma - y), found on a fine grid.
  std::mt19937_64 random(4);
  for (int round = 0; round < 200; ++round) {
    const Real mu = uniform(&random, 0, 2);
    const auto cone = kernel::makeFrictionCone<Real>(mu, uniform(&random, 0.01, 2),
                                                     uniform(&random, 0.01, 2), 0.1);
    const Real vc[3] = {uniform(&random, -1, 1), uniform(&random, -1, 1), uniform(&random, -1, 1)};
    const kernel::ConePoint<Real> point = kernel::projectImpulse(cone, vc, Real(0));
    const auto distance = [&](Real t1, Real t2, Real n) {
      const Real d1 = t1 - point.y[0], d2 = t2 - point.y[1], dn = n - point.y[2];
      return cone.regularizationT * (d1 * d1 + d2 * d2) + cone.regularizationN * dn * dn;
    };
    const Real found = distance(point.gamma[0], point.gamma[1], point.gamma[2]);
    EXPECT_LE(std::hypot(point.gamma[0], point.gamma[1]), mu * point.gamma[2] * (1 + 1e-14));
    const Real reach = 2 * (std::abs(point.y[2]) + std::hypot(point.y[0], point.y[1]) + 1);
    for (int i = 0; i <= 60; ++i) {
      for (int angle = 0; angle < 60; ++angle) {
        for (int k = 0; k <= 10; ++k) {
          const Real n = reach * i / 60, t = mu * n * k / 10;
          const Real a = angle * 2 * 3.14159265358979323846 / 60;
          ASSERT_GE(distance(t * std::cos(a), t * std::sin(a), n), found - 1e-12 * (1 + found));
        }
      }
    }
    // And the exact condition: y - gamma is normal to the cone there.
    Real slack = 0;
    for (int k = 0; k < 3; ++k) {
      const Real r = k == 2 ? cone.regularizationN : cone.regularizationT;
      slack += r * (point.y[k] - point.gamma[k]) * point.gamma[k];
    }
    EXPECT_NEAR(slack, 0, 1e-12 * (1 + found));
  }
}

TEST(SapContact, AGapNeitherPushesNorBrakesBeforeItIsClosed) {
  for (const Real stiffness : {1e3, 1e6, std::numeric_limits<Real>::infinity()}) {
    SapProblem problem;
    problem.clear(0.002);
    problem.addClique(6);
    problem.addContact(0, -1, {.friction = 0.5, .stiffness = stiffness, .gap = 1e-3});
    const Prepared c(problem, 1);
    Real gamma[3], g[9];
    // 1e-3 / 0.002 = 0.5 would just close it. (A sliding contact acts from v_n = mu |v_t| more:
    // what the cone of a convex cost does, see the README of the solver.)
    const Real closing[3] = {0, 0, -0.499};
    EXPECT_EQ(c.evaluate(closing, gamma, g), 0);
    EXPECT_EQ(gamma[2], 0);
    const Real beyond[3] = {0, 0, -0.501};
    EXPECT_GT(c.evaluate(beyond, gamma, g), 0);
    EXPECT_GT(gamma[2], 0);
  }
}

TEST(SapHuntCrossley, ImpulseAndHessianAreTheDerivativesOfTheCostInEveryRegion) {
  std::mt19937_64 random(5);
  for (const HuntCrossleyFriction model :
       {HuntCrossleyFriction::Lagged, HuntCrossleyFriction::Similar}) {
    int numPushing = 0, numOpen = 0;
    for (int round = 0; round < 2000; ++round) {
      SapProblem problem;
      problem.clear(0.005);
      problem.addClique(6);
      problem.addHuntCrossley(0, -1,
                              {.friction = uniform(&random, 0, 1),
                               .stiffness = round % 4 == 0 ? 1e3 : 1e5,
                               .dissipation = round % 3 == 0 ? 0 : uniform(&random, 0, 10),
                               .gap = uniform(&random, -2e-3, 5e-4),
                               .normalVelocity = uniform(&random, -0.1, 0.1),
                               .slipSpeed = 1e-2,
                               .model = model});
      const Prepared c(problem, 0.01);
      const Real vc[3] = {uniform(&random, -0.1, 0.1), uniform(&random, -0.1, 0.1),
                          uniform(&random, -0.5, 0.5)};
      if (!checkDerivatives(c, vc, 1e-3)) continue;
      Real gamma[3], g[9];
      static_cast<void>(c.evaluate(vc, gamma, g));
      ++(gamma[2] > 0 ? numPushing : numOpen);
    }
    EXPECT_GT(numPushing, 500);
    EXPECT_GT(numOpen, 300);
  }
}

TEST(SapHuntCrossley, TheForceIsThatOfTheLaw) {
  SapProblem problem;
  problem.clear(0.001);
  problem.addClique(6);
  problem.addHuntCrossley(0, -1,
                          {.friction = 0.4, .stiffness = 2e4, .dissipation = 2, .gap = -1e-3});
  const Prepared c(problem, 1e-3);
  const Real vc[3] = {0.5, 0, -0.05};
  Real gamma[3], g[9];
  static_cast<void>(c.evaluate(vc, gamma, g));
  // phi = -1e-3 - 0.001 * 0.05 = -1.05e-3: k 1.05e-3 (1 + 2 * 0.05) = 23.1 N.
  EXPECT_NEAR(gamma[2] / 0.001, 23.1, 1e-9);
  // Lagged: mu * 20 N, and the slip is far above the stiction tolerance.
  EXPECT_NEAR(gamma[0] / 0.001, -8.0, 1e-5);
}

TEST(SapRows, ImpulseAndHessianAreTheDerivativesOfTheCostInEveryRegion) {
  std::mt19937_64 random(6);
  for (const SapKind kind : {SapKind::Bilateral, SapKind::Limit, SapKind::Friction}) {
    int numActive = 0, numOther = 0;
    for (int round = 0; round < 500; ++round) {
      SapProblem problem;
      problem.clear(0.01);
      problem.addClique(6);
      const int numRows = 1 + round % 6;
      const SapCompliance compliance{
          .stiffness = round % 2 == 0 ? 1e3 : std::numeric_limits<Real>::infinity(),
          .dissipationTime = round % 3 == 0 ? 0 : 0.1};
      const int c = kind == SapKind::Bilateral ? problem.addBilateral(numRows, 0, -1, compliance)
                    : kind == SapKind::Limit   ? problem.addLimit(numRows, 0, -1, compliance)
                                               : problem.addFriction(numRows, 0, -1);
      for (int k = 0; k < numRows; ++k) {
        problem.target(c)[k] =
            kind == SapKind::Friction ? uniform(&random, 0, 5) : uniform(&random, -1e-2, 1e-2);
      }
      if (kind == SapKind::Friction && round % 3 == 0) problem.heldOf(c)[0] = 0.01;
      const Prepared prepared(problem, 1);
      const Real reach = kind == SapKind::Friction ? 1e-4 : 1;
      Real vc[6], gamma[6], g[36];
      for (Real& v : vc) v = uniform(&random, -reach, reach);
      static_cast<void>(prepared.evaluate(vc, gamma, g));
      if (!checkDerivatives(prepared, vc, 1e-3 * reach)) continue;
      ++(g[0] > 0 ? numActive : numOther);
      if (kind == SapKind::Limit) {
        EXPECT_GE(gamma[0], 0);
      }
      if (kind == SapKind::Friction) {
        EXPECT_LE(std::abs(gamma[0]), 0.01 * problem.target(c)[0]);
      }
    }
    EXPECT_GT(numActive, 80);
    if (kind != SapKind::Bilateral) {
      EXPECT_GT(numOther, 80);
    }
  }
}

TEST(SapDrive, ImpulseAndHessianAreTheDerivativesOfTheCostInEveryRegion) {
  std::mt19937_64 random(7);
  std::set<std::string> regions;
  for (int round = 0; round < 3000; ++round) {
    SapProblem problem;
    problem.clear(0.01);
    problem.addClique(6);
    const SapDrive drive{.kp = round % 4 == 0 ? 0 : uniform(&random, 0, 100),
                         .kd = round % 5 == 0 ? 0 : uniform(&random, 0, 10),
                         .position = uniform(&random, -1, 1),
                         .targetPosition = uniform(&random, -1, 1),
                         .targetVelocity = uniform(&random, -1, 1),
                         .feedForward = uniform(&random, -10, 10),
                         .minEffort = round % 7 == 0 ? uniform(&random, 1, 5) : -10,
                         .maxEffort = 10};
    problem.addDrive(0, -1, drive);
    const Prepared c(problem, 0.1);
    const Real vc[1] = {uniform(&random, -20, 20)};
    Real gamma[1], g[1];
    static_cast<void>(c.evaluate(vc, gamma, g));
    const Real wanted = -drive.kp * (drive.position + 0.01 * vc[0] - drive.targetPosition) -
                        drive.kd * (vc[0] - drive.targetVelocity) + drive.feedForward;
    ASSERT_NEAR(gamma[0] / 0.01, std::clamp(wanted, drive.minEffort, drive.maxEffort), 1e-9);
    if (checkDerivatives(c, vc, 0.01)) {
      const auto side = [&](Real y) {
        return y < drive.minEffort ? 0 : y > drive.maxEffort ? 2 : 1;
      };
      regions.insert(std::to_string(side(wanted)) + std::to_string(drive.kp + drive.kd > 0));
    }
  }
  EXPECT_GE(regions.size(), 4u);
}

TEST(SapDrive, TheCostAtRestIsZeroHoweverLargeTheError) {
  SapProblem problem;
  problem.clear(0.01);
  problem.addClique(6);
  problem.addDrive(0, -1, {.kp = 1e6, .kd = 10, .targetPosition = 1e3, .maxEffort = 5});
  const Prepared c(problem, 1e-6);
  Real gamma[1], g[1];
  const Real still[1] = {0}, moving[1] = {0.5};
  EXPECT_EQ(c.evaluate(still, gamma, g), 0);
  EXPECT_NEAR(gamma[0], 0.05, 1e-15);
  EXPECT_NEAR(c.evaluate(moving, gamma, g), -0.05 * 0.5, 1e-15);
}

TEST(SapRegularization, NearRigidRowsHaveThePeriodAsked) {
  // A mass 1/w on the spring 1/(dt^2 R) has the period 2 pi sqrt(dt^2 R / w) = beta dt.
  const Real dt = 0.004, beta = 0.3, w = 5;
  const Real r =
      kernel::rowRegularization<Real>(dt, std::numeric_limits<Real>::infinity(), 0.1, beta, w);
  EXPECT_NEAR(2 * 3.14159265358979323846 * std::sqrt(dt * dt * r / w), beta * dt, 1e-15);
  EXPECT_NEAR(kernel::rowRegularization<Real>(dt, 100, 0.1, beta, w), 1 / (dt * 100 * (dt + 0.1)),
              1e-12);
}

// What coupling() says is how friction changes with the normal velocity when its bound follows the
// normal impulse: by the bound, and by what is held where that is cut to the bound.
TEST(SapConstraint, CouplingIsTheDerivativeOfFrictionWhoseBoundFollows) {
  struct Case {
    Vec3 vc;
    Real held[2];
  };
  const Case cases[] = {
      {{0.3, -0.2, -0.1}, {0, 0}},         // slides
      {{1e-4, 2e-4, -0.1}, {3, 1}},        // held more than its bound, now sticks
      {{0.3, -0.2, -0.1}, {3, 1}},         // the same, slides
      {{1e-4, 2e-4, -0.1}, {0.01, 0.02}},  // sticks well inside
      {{0.3, -0.2, 0.5}, {3, 1}},          // is open
  };
  for (const Case& c : cases) {
    SapProblem problem;
    problem.clear(1e-2);
    problem.addClique(6);
    problem.addContact(0, -1, {.friction = 0.5, .stiffness = 1e3, .gap = -1e-3});
    problem.contacts[0].heldImpulse[0] = c.held[0];
    problem.contacts[0].heldImpulse[1] = c.held[1];
    Prepared prepared(problem, 1.0, {.frictionRegularization = 0.1});
    ASSERT_GE(prepared.parameters, 0);
    const auto frictionAt = [&](Real normal, Real* gamma) {
      const Real vc[3] = {c.vc.x, c.vc.y, normal};
      Real full[9];
      prepared.constraints.follow(prepared.parameters, vc);
      static_cast<void>(prepared.evaluate(vc, gamma, full));
    };
    const Real h = 1e-6;
    Real below[3], above[3], at[3], entries[2];
    frictionAt(c.vc.z - h, below);
    frictionAt(c.vc.z + h, above);
    frictionAt(c.vc.z, at);
    const Real vc[3] = {c.vc.x, c.vc.y, c.vc.z};
    prepared.constraints.coupling(prepared.parameters, vc, entries);
    for (int i = 0; i < 2; ++i) {
      EXPECT_NEAR(entries[i], -(above[i] - below[i]) / (2 * h), 1e-6) << c.vc.x << " " << c.held[0];
    }
  }
}

}  // namespace
}  // namespace tangere::solver
