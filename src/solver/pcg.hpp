// SPDX-License-Identifier: Apache-2.0
//
// Preconditioned conjugate gradients for H x = b with H symmetric positive definite and known by
// its products alone.
#pragma once

#include <tangere/config.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

namespace tangere::solver {

struct PcgOptions {
  int maxIterations = 1000;
  Real tolerance = 1e-9;  ///< on |r| / |b| in the norm of the preconditioner
};

struct PcgReport {
  int iterations = 0;
  bool converged = false;
};

/// Kept from solve to solve.
struct PcgScratch {
  std::vector<Real> b, r, z, p, hp;
};

/// x <- H^-1 b. `op` provides multiply(x, y): y = H x; precondition(r, z): z = P^-1 r; and
/// dot(x, y), whose order of summation decides the bits. Every iterate is a direction of descent of
/// 1/2 x^T H x - b^T x, converged or not.
template <class Operator>
PcgReport solvePcg(const PcgOptions& options, Operator* op, int size, const Real* b, Real* x,
                   PcgScratch* scratch) {
  const auto count = static_cast<std::size_t>(size);
  for (std::vector<Real>* array : {&scratch->r, &scratch->z, &scratch->p, &scratch->hp}) {
    if (array->size() < count) array->resize(count);
  }
  Real* const r = scratch->r.data();
  Real* const z = scratch->z.data();
  Real* const p = scratch->p.data();
  Real* const hp = scratch->hp.data();
  for (int i = 0; i < size; ++i) {
    x[i] = 0;
    r[i] = b[i];
  }
  op->precondition(r, z);
  for (int i = 0; i < size; ++i) p[i] = z[i];
  Real rz = op->dot(r, z);
  const Real goal = options.tolerance * options.tolerance * rz;
  PcgReport report;
  report.converged = !(rz > 0);
  while (!report.converged && report.iterations < options.maxIterations) {
    op->multiply(p, hp);
    const Real curvature = op->dot(p, hp);
    if (!(curvature > 0) || !std::isfinite(curvature)) return report;
    const Real alpha = rz / curvature;
    for (int i = 0; i < size; ++i) {
      x[i] += alpha * p[i];
      r[i] -= alpha * hp[i];
    }
    ++report.iterations;
    op->precondition(r, z);
    const Real next = op->dot(r, z);
    report.converged = next <= goal;
    const Real beta = next / rz;
    for (int i = 0; i < size; ++i) p[i] = z[i] + beta * p[i];
    rz = next;
  }
  return report;
}

}  // namespace tangere::solver
