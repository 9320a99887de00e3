// SPDX-License-Identifier: Apache-2.0
//
// GMRES for B x = b with B known by its products alone and not symmetric, preconditioned from the
// right: the residual that it makes least is that of the problem itself.
#pragma once

#include <tangere/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace tangere::solver {

struct GmresOptions {
  int maxIterations = 30;  ///< as many vectors are kept
  Real tolerance = 1e-3;   ///< on |b - B x| / |b|
};

struct GmresReport {
  int iterations = 0;
  bool converged = false;
};

/// Kept from solve to solve.
struct GmresScratch {
  std::vector<Real> basis, hessenberg, cosine, sine, rotated, z;
};

/// x <- B^-1 b. `op` provides multiply(x, y): y = B x; precondition(r, z): z = P^-1 r; and
/// dot(x, y), whose order of summation decides the bits.
template <class Operator>
GmresReport solveGmres(const GmresOptions& options, Operator* op, int size, const Real* b, Real* x,
                       GmresScratch* scratch) {
  const auto n = static_cast<std::size_t>(size);
  const auto most = static_cast<std::size_t>(options.maxIterations);
  scratch->basis.resize(std::max(scratch->basis.size(), n * (most + 1)));
  scratch->hessenberg.resize(std::max(scratch->hessenberg.size(), (most + 1) * most));
  for (std::vector<Real>* array : {&scratch->cosine, &scratch->sine, &scratch->rotated})
    array->resize(std::max(array->size(), most + 1));
  scratch->z.resize(std::max(scratch->z.size(), n));
  const auto vector = [&](int k) {
    return scratch->basis.data() + n * static_cast<std::size_t>(k);
  };
  const auto h = [&](int row, int column) -> Real& {
    return scratch
        ->hessenberg[static_cast<std::size_t>(column) * (most + 1) + static_cast<std::size_t>(row)];
  };
  Real* const c = scratch->cosine.data();
  Real* const s = scratch->sine.data();
  Real* const g = scratch->rotated.data();
  Real* const z = scratch->z.data();

  GmresReport report;
  std::fill_n(x, size, Real(0));
  const Real norm = std::sqrt(op->dot(b, b));
  if (!(norm > 0) || !std::isfinite(norm)) {
    report.converged = norm == 0;
    return report;
  }
  for (int i = 0; i < size; ++i) vector(0)[i] = b[i] / norm;
  g[0] = norm;
  int k = 0;
  for (; k < options.maxIterations && !report.converged; ++k) {
    Real* const w = vector(k + 1);
    op->precondition(vector(k), z);
    op->multiply(z, w);
    for (int j = 0; j <= k; ++j) {
      h(j, k) = op->dot(vector(j), w);
      const Real* const q = vector(j);
      for (int i = 0; i < size; ++i) w[i] -= h(j, k) * q[i];
    }
    const Real length = std::sqrt(op->dot(w, w));
    if (!std::isfinite(length)) break;
    for (int j = 0; j < k; ++j) {
      const Real upper = c[j] * h(j, k) + s[j] * h(j + 1, k);
      h(j + 1, k) = c[j] * h(j + 1, k) - s[j] * h(j, k);
      h(j, k) = upper;
    }
    const Real pivot = std::sqrt(h(k, k) * h(k, k) + length * length);
    if (!(pivot > 0)) break;
    c[k] = h(k, k) / pivot;
    s[k] = length / pivot;
    h(k, k) = pivot;
    g[k + 1] = -s[k] * g[k];
    g[k] *= c[k];
    ++report.iterations;
    report.converged = std::fabs(g[k + 1]) <= options.tolerance * norm;
    if (!(length > 0)) {
      ++k;
      break;
    }
    for (int i = 0; i < size; ++i) w[i] /= length;
  }
  for (int row = k - 1; row >= 0; --row) {
    for (int column = row + 1; column < k; ++column) g[row] -= h(row, column) * g[column];
    g[row] /= h(row, row);
  }
  std::fill_n(z, size, Real(0));
  for (int j = 0; j < k; ++j) {
    const Real* const q = vector(j);
    for (int i = 0; i < size; ++i) z[i] += g[j] * q[i];
  }
  op->precondition(z, x);
  return report;
}

}  // namespace tangere::solver
