// SPDX-License-Identifier: Apache-2.0
//
// The direction of Newton's method on Coulomb's law: (H + J^T C N) d = -F, where the bounds of
// friction follow the normal impulses. H is that of the convex problem with the bounds as they are;
// what friction adds has a column for each contact that slides (or holds less than it did), and
// only for its normal velocity.
//
// With the Cholesky factor of H only these normal velocities s are unknown:
//
//   (1 + N H^-1 J^T C) s = N d0,   d0 = -H^-1 F,   d = d0 - H^-1 J^T C s,
//
// solved by GMRES in a few solutions with the factor and without a product with H; it has as many
// unknowns as contacts slide. Without a factor (large graphs, soft bodies) the whole equation is
// solved, with the preconditioner of H.
#pragma once

#include "solver/block_sparse.hpp"
#include "solver/gmres.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tangere::solver {

/// Kept from solve to solve.
struct CoupledScratch {
  GmresScratch gmres;
  std::vector<Real> velocities, given, wanted;
};

/// With the factor of H: writes iterate->direction(). keepCoupling() was called.
template <class Iterate>
GmresReport solveCoupledByFactor(const BlockSparse& factor, Iterate* iterate,
                                 CoupledScratch* scratch) {
  struct Operator {
    const BlockSparse& factor;
    const Iterate& iterate;
    Real* velocities;
    void multiply(const Real* x, Real* y) const {
      std::fill_n(velocities, iterate.numVelocities(), Real(0));
      iterate.subtractCoupling(x, velocities);
      factor.solve(velocities);
      iterate.coupledVelocities(velocities, y);
      for (int i = 0; i < iterate.numCoupled(); ++i) y[i] = x[i] - y[i];
    }
    void precondition(const Real* r, Real* z) const { std::copy_n(r, iterate.numCoupled(), z); }
    [[nodiscard]] Real dot(const Real* x, const Real* y) const {
      Real sum = 0;
      for (int i = 0; i < iterate.numCoupled(); ++i) sum += x[i] * y[i];
      return sum;
    }
  };
  const int size = iterate->numVelocities(), count = iterate->numCoupled();
  Real* const d = iterate->direction();
  const auto setGradient = [&](Real* x) {
    for (int i = 0; i < size; ++i) x[i] = -iterate->gradient()[i];
  };
  setGradient(d);
  factor.solve(d);
  if (count == 0) return {.iterations = 0, .converged = true};

  const auto most = static_cast<std::size_t>(std::max(size, count));
  for (std::vector<Real>* array : {&scratch->velocities, &scratch->given, &scratch->wanted}) {
    if (array->size() < most) array->resize(most);
  }
  iterate->coupledVelocities(d, scratch->given.data());
  Operator op{factor, *iterate, scratch->velocities.data()};
  const GmresReport report =
      solveGmres({}, &op, count, scratch->given.data(), scratch->wanted.data(), &scratch->gmres);
  setGradient(d);
  iterate->subtractCoupling(scratch->wanted.data(), d);
  factor.solve(d);
  return report;
}

/// With the preconditioner of H; `tolerance` is on what is left of the equation, as a part of F.
template <class Iterate>
GmresReport solveCoupledByProducts(Real tolerance, Iterate* iterate, CoupledScratch* scratch) {
  struct Operator {
    Iterate& iterate;
    void multiply(const Real* x, Real* y) { iterate.multiplyCoupled(x, y); }
    void precondition(const Real* r, Real* z) { iterate.precondition(r, z); }
    Real dot(const Real* x, const Real* y) { return iterate.scaledDot(x, y); }
  };
  const int size = iterate->numVelocities();
  scratch->given.resize(std::max(scratch->given.size(), static_cast<std::size_t>(size)));
  for (int i = 0; i < size; ++i) scratch->given[i] = -iterate->gradient()[i];
  Operator op{*iterate};
  return solveGmres({.maxIterations = 40, .tolerance = tolerance}, &op, size, scratch->given.data(),
                    iterate->direction(), &scratch->gmres);
}

}  // namespace tangere::solver
