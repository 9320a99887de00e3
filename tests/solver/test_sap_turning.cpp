// SPDX-License-Identifier: Apache-2.0
//
// A soft body whose matrix is a sparse one and three terms beside it (SapTurning) moves as one with
// the whole matrix does, and its certificate covers the error.
#include "solver/sap_solver.hpp"
#include "solver/soft_scenes.hpp"

#include <Eigen/Dense>

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace tangere::solver {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A stiff box, and three directions that are taken out of its stiffness: random ones, so that
/// much of it goes.
struct World {
  test::SoftMesh mesh = test::gridMesh(3, 2, 2, 0.1);
  math::BlockCsr sparse;
  RowMajor whole, p, q;
  SapTurning turning;
  Eigen::VectorXd momentum;

  explicit World(std::uint64_t seed) {
    constexpr Real kDt = 0.01;
    mesh.addElasticity({.young = 1e6});
    sparse = mesh.matrix(kDt);
    std::mt19937_64 random(seed);
    const int n = 3 * mesh.numVertices();
    Eigen::MatrixXd a = Eigen::MatrixXd::Zero(n, n), N(n, 3);
    Eigen::VectorXd mass(n);
    momentum.resize(n);
    for (int i = 0; i < mesh.numVertices(); ++i) {
      for (int k = sparse.rowBegin[i]; k < sparse.rowBegin[i + 1]; ++k) {
        for (int rc = 0; rc < 9; ++rc)
          a(3 * i + rc / 3, 3 * sparse.column[k] + rc % 3) = sparse.block(k)[rc];
      }
    }
    for (int i = 0; i < n; ++i) {
      mass[i] = mesh.mass[i / 3];
      momentum[i] = mass[i] * test::uniform(&random, -1, 1);
      for (int k = 0; k < 3; ++k) N(i, k) = test::uniform(&random, -1, 1);
    }
    const Eigen::MatrixXd M = mass.asDiagonal();
    const Eigen::Matrix3d L = Eigen::Matrix3d(N.transpose() * M * N).llt().matrixL();
    N = L.triangularView<Eigen::Lower>().solve(N.transpose()).transpose();
    const Eigen::MatrixXd K = a - M;
    const Eigen::MatrixXd T = Eigen::MatrixXd::Identity(n, n) - N * N.transpose() * M;
    whole = M + T.transpose() * K * T;
    p = K * N;
    q = M * N;
    turning.p = p.data();
    turning.q = q.data();
    const Eigen::Matrix3d C = N.transpose() * K * N;
    for (int k = 0; k < 9; ++k) turning.c[k] = C(k / 3, k % 3);
  }

  void fill(bool isSparse, bool hasContacts, SapProblem* problem) const {
    const int n = 3 * mesh.numVertices();
    problem->clear(0.01);
    if (isSparse) {
      problem->addSparseClique(&sparse, momentum.data(), mesh.mass.data(), mesh.vertices.data(),
                               &turning);
    } else {
      problem->addClique(n);
      std::copy_n(whole.data(), n * n, problem->matrix(0));
      const Eigen::VectorXd vStar = whole.ldlt().solve(momentum);
      std::copy_n(vStar.data(), n, problem->freeVelocity(0));
    }
    for (std::int32_t i = 0; hasContacts && i < mesh.numVertices(); ++i) {
      if (mesh.vertices[i].z > 0.01) continue;
      // Nothing in its law is a multiple of the inverse mass, which a sparse clique estimates.
      const SapContact contact{.friction = 0, .stiffness = 1e3, .gap = -1e-3};
      const int c = isSparse ? problem->addContact(0, -1, contact, {&i, 1})
                             : problem->addContact(0, -1, contact);
      for (int r = 0; r < 3; ++r)
        problem->jacobian1(c)[isSparse ? 3 * r + r : n * r + 3 * i + r] = 1;
    }
  }
};

SapOptions tight() {
  SapOptions options;
  options.relativeTolerance = 1e-13;
  options.pcgTolerance = 1e-14;
  options.guess = SapGuess::Velocity;
  options.nearRigid = 1e-3;
  options.friction = SapFriction::Cone;
  return options;
}

TEST(SapTurning, ACliqueWithTheThreeTermsMovesAsTheWholeMatrixDoes) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const World world(seed);
    for (const bool hasContacts : {false, true}) {
      SapProblem sparse, dense;
      SapSolver solver;
      world.fill(true, hasContacts, &sparse);
      world.fill(false, hasContacts, &dense);
      ASSERT_TRUE(isSolved(solver.solve(tight(), &dense).status));
      ASSERT_TRUE(isSolved(solver.solve(tight(), &sparse).status));
      Real error = 0, size = 0;
      for (std::size_t k = 0; k < dense.v.size(); ++k) {
        error = std::max(error, std::fabs(sparse.v[k] - dense.v[k]));
        size = std::max(size, std::fabs(dense.v[k]));
      }
      EXPECT_LT(error, 1e-9 * size) << seed << " " << hasContacts;
    }
  }
}

TEST(SapTurning, TheCertificateCoversTheError) {
  for (std::uint64_t seed = 11; seed <= 20; ++seed) {
    const World world(seed);
    for (const Real tolerance : {1e-3, 1e-6, 1e-14}) {
      SapProblem problem;
      SapSolver solver;
      world.fill(true, false, &problem);
      SapOptions options = tight();
      options.relativeTolerance = tolerance;
      const SapReport report = solver.solve(options, &problem);
      const Eigen::VectorXd exact = world.whole.ldlt().solve(world.momentum);
      const Eigen::VectorXd error =
          Eigen::Map<const Eigen::VectorXd>(problem.v.data(), exact.size()) - exact;
      EXPECT_LE(std::sqrt(error.dot(world.whole * error)), report.errorBound) << seed;
      EXPECT_LT(report.errorBound, 1);
    }
  }
}

TEST(SapTurning, TermsThatAreNotFiniteAreRefused) {
  World world(21);
  world.p(4, 1) = std::nan("");
  SapProblem problem;
  SapSolver solver;
  world.fill(true, true, &problem);
  EXPECT_EQ(solver.solve(tight(), &problem).status, SapStatus::NotFinite);
}

}  // namespace
}  // namespace tangere::solver
