// SPDX-License-Identifier: Apache-2.0
//
// Equilibrium of a soft body under dead loads by Newton's method with a sparse factorisation: for
// tests against closed forms.
#pragma once

#include "dynamics/fem_assembly.hpp"

#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>

#include <cmath>
#include <cstdint>
#include <vector>

namespace tangere::test {

struct StaticProblem {
  const model::SoftMesh* mesh = nullptr;
  std::vector<std::uint8_t> isHeld;  ///< three for each vertex: this coordinate does not move
  std::vector<Vec3> load;            ///< [N]

  explicit StaticProblem(const model::SoftMesh& softMesh)
      : mesh(&softMesh),
        isHeld(3 * static_cast<std::size_t>(softMesh.numVertices), 0),
        load(static_cast<std::size_t>(softMesh.numVertices)) {}
  void hold(int vertex) {
    for (int i = 0; i < 3; ++i) isHeld[3 * vertex + i] = 1;
  }
};

struct StaticResult {
  std::vector<Vec3> x;
  Real residual = 0;  ///< of the free coordinates, over the loads
  int iterations = 0;
};

/// The free coordinates of K, numbered in order.
inline Eigen::SparseMatrix<double> freeStiffness(const StaticProblem& problem,
                                                 const dynamics::SoftAssembly& assembly,
                                                 const std::vector<int>& number, int numFree) {
  std::vector<Eigen::Triplet<double>> entries;
  const math::BlockCsr& pattern = problem.mesh->pattern;
  for (int i = 0; i < problem.mesh->numVertices; ++i) {
    for (int k = pattern.rowBegin[i]; k < pattern.rowBegin[i + 1]; ++k) {
      for (int rc = 0; rc < 9; ++rc) {
        const int row = number[3 * i + rc / 3], column = number[3 * pattern.column[k] + rc % 3];
        if (row >= 0 && column >= 0)
          entries.emplace_back(row, column, assembly.stiffness[std::size_t{9} * k + rc]);
      }
    }
  }
  Eigen::SparseMatrix<double> K(numFree, numFree);
  K.setFromTriplets(entries.begin(), entries.end());
  return K;
}

/// From the rest shape; steps that raise the total energy are halved.
inline StaticResult solveStatics(const StaticProblem& problem, Real tolerance,
                                 int maxIterations = 200) {
  const model::SoftMesh& mesh = *problem.mesh;
  std::vector<int> number(problem.isHeld.size(), -1);
  int numFree = 0;
  for (std::size_t d = 0; d < number.size(); ++d) {
    if (!problem.isHeld[d]) number[d] = numFree++;
  }
  Real loadSize = 0;
  for (const Vec3& f : problem.load) loadSize += squaredNorm(f);
  loadSize = std::sqrt(loadSize);

  StaticResult result{.x = mesh.rest};
  dynamics::SoftAssembly assembly = dynamics::makeSoftAssembly(mesh);
  const std::vector<Vec3> still(mesh.rest.size());
  std::vector<Real> partials;
  const auto potential = [&](const std::vector<Vec3>& x) {
    Real work = 0;
    for (std::size_t i = 0; i < x.size(); ++i) work += dot(problem.load[i], x[i] - mesh.rest[i]);
    return dynamics::elasticEnergy(mesh, x.data(), nullptr, &partials) - work;
  };
  Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> solver;
  for (result.iterations = 0; result.iterations < maxIterations; ++result.iterations) {
    dynamics::assembleSoft(mesh, result.x.data(), still.data(), 0.01, {}, nullptr, nullptr,
                           &assembly);
    Eigen::VectorXd rest(numFree);
    for (std::size_t d = 0; d < number.size(); ++d) {
      if (number[d] >= 0)
        rest[number[d]] = assembly.force[d / 3][static_cast<int>(d % 3)] +
                          problem.load[d / 3][static_cast<int>(d % 3)];
    }
    result.residual = rest.norm() / loadSize;
    if (result.residual < tolerance) return result;
    const Eigen::SparseMatrix<double> K = freeStiffness(problem, assembly, number, numFree);
    if (result.iterations == 0) solver.analyzePattern(K);
    solver.factorize(K);
    const Eigen::VectorXd step = solver.solve(rest);
    const Real before = potential(result.x);
    const auto moved = [&](Real size) {
      std::vector<Vec3> x = result.x;
      for (std::size_t d = 0; d < number.size(); ++d) {
        if (number[d] >= 0) x[d / 3][static_cast<int>(d % 3)] += size * step[number[d]];
      }
      return x;
    };
    Real size = 1;
    std::vector<Vec3> next = moved(size);
    // Below rounding of the energy the full step is the right one.
    while (size > 1e-6 && potential(next) > before + 1e-12 * std::fabs(before))
      next = moved(size *= 0.5);
    result.x = next;
  }
  return result;
}

}  // namespace tangere::test
