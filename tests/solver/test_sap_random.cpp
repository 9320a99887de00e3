// SPDX-License-Identifier: Apache-2.0
//
// Random problems of every kind and size: all must converge, and the certificate must hold against
// a far more accurate solve. TANGERE_RANDOM_SAP sets how many (default 300; the full set is 10000).
#include "solver/sap_scenes.hpp"
#include "solver/sap_solver.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

namespace tangere::solver {
namespace {

using test::randomUnit;
using test::randomVector;
using test::uniform;

constexpr Real kInfinity = std::numeric_limits<Real>::infinity();

int numRandomProblems() {
  const char* const text = std::getenv("TANGERE_RANDOM_SAP");
  return text != nullptr ? std::atoi(text) : 300;
}

Real powerOfTen(std::mt19937_64* random, Real low, Real high) {
  return std::pow(10.0, uniform(random, low, high));
}

/// A symmetric positive definite block of a tree.
void writeRandomBlock(std::mt19937_64* random, int n, Real mass, Real* a) {
  std::vector<Real> b(static_cast<std::size_t>(n) * n);
  for (Real& x : b) x = uniform(random, -1, 1);
  for (int r = 0; r < n; ++r) {
    for (int c = 0; c < n; ++c) {
      Real sum = r == c ? 0.05 : 0;
      for (int k = 0; k < n; ++k) sum += b[r * n + k] * b[c * n + k];
      a[r * n + c] = mass * sum;
    }
  }
}

void writeFreeBody(std::mt19937_64* random, Real mass, Real size, Real* a) {
  for (int k = 0; k < 3; ++k) {
    a[7 * k] = mass;
    a[7 * (k + 3)] = mass * size * size * uniform(random, 0.05, 0.4);
  }
}

Real randomFriction(std::mt19937_64* random) {
  switch ((*random)() % 6) {
    case 0:
      return 0;
    case 1:
      return powerOfTen(random, 0, 4);  // huge
    default:
      return uniform(random, 0.05, 1.2);
  }
}

Real randomStiffness(std::mt19937_64* random) {
  return (*random)() % 3 == 0 ? kInfinity : powerOfTen(random, 3, 12);
}

struct RandomProblem {
  SapProblem problem;
  std::vector<Vec3> positions;
  std::vector<Real> sizes;

  explicit RandomProblem(std::uint64_t seed) {
    std::mt19937_64 random(seed * 7919 + 13);
    problem.clear(powerOfTen(&random, -4, -1.5));
    const int numContacts = static_cast<int>(powerOfTen(&random, 0, 2.7));
    const int numBodies = 1 + static_cast<int>(random() % (2 + numContacts / 3));
    const Real massRange = seed % 2 == 0 ? 4 : 0.5;  // ratios to 1e8
    const Real speed = powerOfTen(&random, -3, 1);
    for (int i = 0; i < numBodies; ++i) {
      const bool isTree = random() % 5 == 0;
      const int n = isTree ? 1 + static_cast<int>(random() % 12) : 6;
      const int c = problem.addClique(n);
      const Real mass = powerOfTen(&random, -massRange, massRange);
      sizes.push_back(isTree ? 0 : powerOfTen(&random, -2, 0));
      positions.push_back(randomVector(&random, 1));
      if (isTree) {
        writeRandomBlock(&random, n, mass, problem.matrix(c));
      } else {
        writeFreeBody(&random, mass, sizes.back(), problem.matrix(c));
      }
      for (int k = 0; k < n; ++k) {
        problem.velocity(c)[k] = uniform(&random, -speed, speed);
        problem.freeVelocity(c)[k] =
            problem.velocity(c)[k] + problem.dt * uniform(&random, -10, 10);
      }
    }
    for (int i = 0; i < numContacts; ++i) addContact(&random);
    for (int i = 0; i < numBodies; ++i) addOthers(&random, i);
  }

  /// Rows of the velocity of a point, or of nothing in particular for a tree.
  void writeJacobian(std::mt19937_64* random, int clique, int numRows, Real sign,
                     const Vec3 frame[3], Real* jacobian) {
    const int n = problem.numVelocities(clique);
    // Degenerate: through the centre of mass, so that no rotation is felt.
    const Vec3 arm = (*random)() % 8 == 0 ? Vec3{} : randomVector(random, sizes[clique]);
    for (int k = 0; k < numRows; ++k) {
      if (sizes[clique] > 0 && k < 3) {
        test::writeRow(frame[k], arm, sign, jacobian + 6 * k);
      } else {
        for (int c = 0; c < n; ++c) jacobian[k * n + c] = uniform(random, -1, 1);
      }
    }
  }

  void writeJacobians(std::mt19937_64* random, int c) {
    const SapConstraint& constraint = problem.constraints[c];
    const Vec3 normal = randomUnit(random);
    const Vec3 across = cross(normal, std::abs(normal.x) < 0.6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0});
    const Vec3 t1 = across / norm(across);
    const Vec3 frame[3] = {t1, cross(normal, t1), normal};
    writeJacobian(random, constraint.clique1, constraint.numRows, 1, frame, problem.jacobian1(c));
    if (constraint.clique2 >= 0) {
      writeJacobian(random, constraint.clique2, constraint.numRows, -1, frame,
                    problem.jacobian2(c));
    }
  }

  int otherThan(std::mt19937_64* random, int clique) {
    const int other = static_cast<int>((*random)() % problem.numCliques());
    return other == clique || (*random)() % 3 == 0 ? -1 : other;
  }

  void addContact(std::mt19937_64* random) {
    const int clique1 = static_cast<int>((*random)() % problem.numCliques());
    const int clique2 = otherThan(random, clique1);
    const Real gap = uniform(random, -1e-3, 5e-4);
    int c = -1;
    if ((*random)() % 8 == 0) {
      c = problem.addHuntCrossley(clique1, clique2,
                                  {.friction = std::min(randomFriction(random), 10.0),
                                   .stiffness = randomStiffness(random),
                                   .dissipation = uniform(random, 0, 20),
                                   .gap = gap,
                                   .model = (*random)() % 2 == 0 ? HuntCrossleyFriction::Lagged
                                                                 : HuntCrossleyFriction::Similar});
    } else {
      c = problem.addContact(clique1, clique2,
                             {.friction = randomFriction(random),
                              .stiffness = randomStiffness(random),
                              .dissipationTime = (*random)() % 3 == 0 ? 0 : uniform(random, 0, 0.5),
                              .gap = gap});
      if ((*random)() % 3 == 0) {
        problem.contacts.back().heldImpulse[0] = uniform(random, -0.1, 0.1);
      }
    }
    writeJacobians(random, c);
    if ((*random)() % 10 == 0) problem.biasOf(c)[0] = uniform(random, -1, 1);
    if ((*random)() % 4 != 0 || problem.constraints[c].kind != SapKind::Contact) return;
    // Redundant: the same contact again.
    const int copy = problem.addContact(clique1, clique2, problem.contacts.back());
    const int n = 3 * problem.numVelocities(clique1);
    std::copy_n(problem.jacobian1(c), n, problem.jacobian1(copy));
    if (clique2 >= 0) {
      std::copy_n(problem.jacobian2(c), 3 * problem.numVelocities(clique2),
                  problem.jacobian2(copy));
    }
  }

  void addOthers(std::mt19937_64* random, int clique) {
    const int dof = static_cast<int>((*random)() % problem.numVelocities(clique));
    const SapCompliance compliance{.stiffness = randomStiffness(random),
                                   .dissipationTime = (*random)() % 2 == 0 ? 0 : 0.1};
    switch ((*random)() % 12) {
      case 0: {
        const int numRows = 1 + static_cast<int>((*random)() % 6);
        const int other = otherThan(random, clique);
        const int c = problem.addBilateral(numRows, clique, other, compliance);
        writeJacobians(random, c);
        for (int k = 0; k < problem.constraints[c].numRows; ++k) {
          problem.target(c)[k] = uniform(random, -1e-3, 1e-3);
        }
        return;
      }
      case 1: {
        const Real sign = (*random)() % 2 == 0 ? 1 : -1;
        const Real gap = uniform(random, -1e-3, 1e-3);
        problem.addLimitOnVelocity(clique, dof, sign, gap, compliance);
        return;
      }
      case 2:
        problem.addDriveOnVelocity(clique, dof, 1,
                                   {.kp = powerOfTen(random, 0, 8),
                                    .kd = powerOfTen(random, -2, 4),
                                    .targetPosition = uniform(random, -1, 1),
                                    .minEffort = -powerOfTen(random, 0, 3),
                                    .maxEffort = powerOfTen(random, 0, 3)});
        return;
      case 3:
        problem.heldOf(problem.addFrictionOnVelocity(clique, dof, powerOfTen(random, -3, 2)))[0] =
            uniform(random, -0.01, 0.01);
        return;
      default:
        return;
    }
  }
};

/// |x - y|_A.
Real distanceInA(const SapProblem& problem, const std::vector<Real>& x,
                 const std::vector<Real>& y) {
  Real sum = 0;
  for (int c = 0; c < problem.numCliques(); ++c) {
    const int first = problem.firstVelocity[c], n = problem.numVelocities(c);
    const Real* const a = problem.matrix(c);
    for (int r = 0; r < n; ++r) {
      for (int k = 0; k < n; ++k) {
        sum += (x[first + r] - y[first + r]) * a[r * n + k] * (x[first + k] - y[first + k]);
      }
    }
  }
  return std::sqrt(std::max(sum, 0.0));
}

/// Solves all problems by the published law with these constants and checks them.
void expectAllConverge(SapOptions plain) {
  plain.friction = SapFriction::Cone;
  SapSolver solver;
  int numConstraints = 0, numStalled = 0, most = 0, numSharp = 0;
  Real worstResidual = 0;
  double totalIterations = 0;
  for (int i = 0; i < numRandomProblems(); ++i) {
    RandomProblem random(static_cast<std::uint64_t>(i));
    SapProblem& problem = random.problem;
    const std::vector<Real> guess = problem.v;
    const SapReport report = solver.solve(plain, &problem);
    ASSERT_TRUE(isSolved(report.status))
        << "problem " << i << ": status " << static_cast<int>(report.status) << ", residual "
        << report.residual << ", worst constraint " << report.worstConstraint;
    const std::vector<Real> found = problem.v;
    numConstraints += problem.numConstraints();
    numStalled += report.status == SapStatus::Stalled ? 1 : 0;
    most = std::max(most, report.iterations);
    totalIterations += report.iterations;
    worstResidual = std::max(worstResidual, report.residual);

    // Momentum and energy: A (v - v*) = J^T gamma, and the work of J^T gamma along the mean
    // velocity is the kinetic energy gained, both up to the gradient that is left.
    Real gained = 0, work = 0, scale = 0;
    for (int c = 0; c < problem.numCliques(); ++c) {
      const int first = problem.firstVelocity[c], n = problem.numVelocities(c);
      for (int r = 0; r < n; ++r) {
        const Real mean = 0.5 * (found[first + r] + problem.vStar[first + r]);
        work += mean * problem.generalizedImpulse[first + r];
        for (int k = 0; k < n; ++k) {
          gained +=
              mean * problem.matrix(c)[r * n + k] * (found[first + k] - problem.vStar[first + k]);
          scale += mean * problem.matrix(c)[r * n + k] * 0.5 *
                   (found[first + k] + problem.vStar[first + k]);
        }
      }
    }
    ASSERT_NEAR(gained, work, std::sqrt(scale) * report.errorBound + 1e-13 * scale)
        << "problem " << i;

    SapOptions sharp = plain;
    sharp.relativeTolerance = 1e-14;
    const SapReport reference = solver.solve(sharp, &problem);
    ASSERT_TRUE(isSolved(reference.status)) << "problem " << i << " at 1e-14";
    const Real distance = distanceInA(problem, found, problem.v);
    ASSERT_LE(distance, (report.errorBound + reference.errorBound) * (1 + 1e-10))
        << "problem " << i << ": bounds " << report.errorBound << ", " << reference.errorBound;
    if (distance > reference.errorBound) ++numSharp;

    // From elsewhere the same answer.
    if (i % 10 == 0) {
      problem.v = problem.vStar;
      SapOptions pcg = plain;
      pcg.linearSolver = SapLinearSolver::ConjugateGradients;
      const SapReport other = solver.solve(pcg, &problem);
      ASSERT_TRUE(isSolved(other.status)) << "problem " << i << " by conjugate gradients";
      ASSERT_LE(distanceInA(problem, found, problem.v),
                (report.errorBound + other.errorBound) * (1 + 1e-10));
    }
    problem.v = guess;
  }
  testing::Test::RecordProperty("constraints", numConstraints);
  std::printf(
      "%d constraints; Newton steps mean %.1f, most %d; stalled %d; largest residual %.1e; "
      "reference "
      "sharper than the distance in %d\n",
      numConstraints, totalIterations / numRandomProblems(), most, numStalled, worstResidual,
      numSharp);
}

// Among these is number 149: a contact with a coefficient of 10, as stiff as the step allows, whose
// cost is a steep valley that turns. By line searches alone it took more than 200 steps.
TEST(SapRandom, AllProblemsConvergeAndTheCertificateHolds) { expectAllConverge(SapOptions()); }

TEST(SapRandom, AllProblemsConvergeWithThePublishedConstantsToo) {
  expectAllConverge({.relativeTolerance = 1e-6, .nearRigid = 1, .frictionRegularization = 1e-3});
}

}  // namespace
}  // namespace tangere::solver
