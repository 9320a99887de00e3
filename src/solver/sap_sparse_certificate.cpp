// SPDX-License-Identifier: Apache-2.0
//
// How far an iterate with soft bodies can be from the solution, as sap_certificate.cpp says it for
// dense cliques. A sparse A has no factors; as A >= M = diag(mass), |grad|_{A^-1} <= |grad|_{M^-1}.
#include "solver/sap_sparse_iterate.hpp"
#include "solver/small_dense.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tangere::solver {
namespace {

constexpr Real kUnit = 1.2e-16;  // a little more than 2^-53
/// Roundings between v_c and gamma in any kind of constraint.
constexpr Real kKernelRoundings = 16;

/// y += |A| |x|.
void addAbsolute(const Real* a, int rows, int columns, const Real* x, Real* y) {
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) y[r] += std::abs(a[r * columns + c] * x[c]);
  }
}

/// y += |A|^T x, x >= 0.
void addAbsoluteTransposed(const Real* a, int rows, int columns, const Real* x, Real* y) {
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) y[c] += std::abs(a[r * columns + c]) * x[r];
  }
}

}  // namespace

/// rounding_[k]: how much gradient_[k] may be wrong.
void SapSparseIterate::boundRounding() {
  Real* const error = rounding_.data();
  for (const DenseClique& clique : dense_) {
    const int first = clique.first, n = clique.size;
    for (int r = 0; r < n; ++r) {
      Real sum = 0;
      for (int c = 0; c < n; ++c) sum += std::abs(clique.a[r * n + c] * difference_[first + c]);
      error[first + r] = (n + 3) * kUnit * sum;
    }
  }
  for (const Soft& soft : soft_) {
    const math::BlockCsr& a = *soft.data->a;
    const int first = num_dense_ + 3 * soft.firstRow;
    for (int i = 0; i < a.numRows(); ++i) {
      Real sums[3];
      for (int r = 0; r < 3; ++r) sums[r] = std::abs(soft.data->momentum[3 * i + r]);
      for (std::int32_t t = a.rowBegin[i]; t < a.rowBegin[i + 1]; ++t) {
        const Real* const block = a.block(t);
        for (int c = 0; c < 3; ++c) {
          const int k = first + 3 * a.column[t] + c;
          const Real size = std::abs(reference_[k]) + std::abs(difference_[k]);
          for (int r = 0; r < 3; ++r) sums[r] += std::abs(block[3 * r + c]) * size;
        }
      }
      const auto numTerms = static_cast<Real>(3 * (a.rowBegin[i + 1] - a.rowBegin[i]) + 6);
      for (int r = 0; r < 3; ++r) error[first + 3 * i + r] = numTerms * kUnit * sums[r];
    }
    boundRoundingOf(soft);
  }
  for (const SparseLocal& local : locals_) boundRoundingOf(local);
  for (int k = 0; k < num_velocities_; ++k) error[k] += kUnit * std::abs(gradient_[k]);
}

/// What the turning of a body as a whole adds to rounding_.
void SapSparseIterate::boundRoundingOf(const Soft& soft) {
  if (soft.data->turning == nullptr) return;
  const SapTurning& turning = *soft.data->turning;
  const int first = num_dense_ + 3 * soft.firstRow, size = 3 * soft.data->a->numRows();
  Real byP[3] = {}, byQ[3] = {};
  for (int i = 0; i < size; ++i) {
    const Real x = std::abs(reference_[first + i]) + std::abs(difference_[first + i]);
    for (int k = 0; k < 3; ++k) {
      byP[k] += std::abs(turning.p[3 * i + k]) * x;
      byQ[k] += std::abs(turning.q[3 * i + k]) * x;
    }
  }
  for (int k = 0; k < 3; ++k) {
    for (int l = 0; l < 3; ++l) byP[k] += std::abs(turning.c[3 * k + l]) * byQ[l];
  }
  const Real unit = (size + 16) * kUnit;
  for (int i = 0; i < size; ++i) {
    for (int k = 0; k < 3; ++k) {
      rounding_[first + i] += unit * (std::abs(turning.p[3 * i + k]) * byQ[k] +
                                      std::abs(turning.q[3 * i + k]) * byP[k]);
    }
  }
}

/// What one constraint adds to rounding_.
void SapSparseIterate::boundRoundingOf(const SparseLocal& local) {
  const int m = local.numRows, columns = 3 * local.group.count;
  const Real* const vc = vc_.data() + local.row;
  const Real* const gamma = gamma_.data() + local.row;
  const std::int32_t* const vertices = vertices_.data() + local.group.first;
  Real bound[kSapMaxRows], reach[kSapMaxRows], impulse[kSapMaxRows], size[kSapMaxRows];
  constraints_.lipschitz(local.kind, m, local.parameters, vc, hessian_.data() + local.hessian,
                         bound, reach);
  int numTerms = columns + 4;
  for (int k = 0; k < m; ++k) size[k] = std::abs(bias_[local.row + k]);
  for (int d = 0; d < local.numDense; ++d) {
    const SparseLocal::Dense& side = local.dense[d];
    addAbsolute(side.jacobian, m, side.columns, v_.data() + side.velocity, size);
    numTerms += side.columns;
  }
  Real nodes[3 * kMaxGroupVertices];
  for (int k = 0; k < columns; ++k) nodes[k] = v_[num_dense_ + 3 * vertices[k / 3] + k % 3];
  addAbsolute(local.softJacobian, m, columns, nodes, size);
  Real squares = 0;
  for (int k = 0; k < m; ++k) {
    const Real wrong =
        numTerms * kUnit * size[k] + kKernelRoundings * kUnit * (std::abs(vc[k]) + reach[k]);
    squares += bound[k] * wrong * (bound[k] * wrong);
  }
  const Real norm = std::sqrt(squares);
  // The last sum over constraints has no more terms than there are constraints.
  const auto numLast = static_cast<Real>(m + numConstraints() + 2);
  for (int k = 0; k < m; ++k) {
    impulse[k] = bound[k] * norm + (kKernelRoundings + numLast) * kUnit * std::abs(gamma[k]);
  }
  for (int d = 0; d < local.numDense; ++d) {
    const SparseLocal::Dense& side = local.dense[d];
    addAbsoluteTransposed(side.jacobian, m, side.columns, impulse,
                          rounding_.data() + side.velocity);
  }
  std::fill_n(nodes, columns, Real(0));
  addAbsoluteTransposed(local.softJacobian, m, columns, impulse, nodes);
  for (int k = 0; k < columns; ++k) {
    rounding_[num_dense_ + 3 * vertices[k / 3] + k % 3] += nodes[k];
  }
}

Real SapSparseIterate::errorBound() {
  boundRounding();
  constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
  Real squares = 0;
  for (std::size_t i = 0; i < dense_.size(); ++i) {
    const int first = dense_[i].first, n = dense_[i].size;
    const Real* const diagonal = inverse_diagonal_.data() + first;
    Real condition = 0, rounding = 0;
    for (int k = 0; k < n; ++k) {
      condition += dense_[i].a[k * n + k] * diagonal[k];
      rounding += rounding_[first + k] * std::sqrt(diagonal[k]);
    }
    // As in SapIterate::errorBound().
    const Real backward = 4 * static_cast<Real>(n * (n + 2)) * kUnit * condition;
    if (!(backward < 0.1)) return kInfinity;
    Real* const x = scratch_.data() + first;
    multiplyLower(inverse_factor_.data() + first_entry_[i], n, gradient_.data() + first, x);
    Real norm = 0;
    for (int k = 0; k < n; ++k) norm += x[k] * x[k];
    const Real bound = (std::sqrt(norm) + rounding) * (1 + backward);
    squares += bound * bound;
  }
  for (int i = 0; i < num_vertices_; ++i) {
    const int first = num_dense_ + 3 * i;
    Real norm = 0;
    for (int k = first; k < first + 3; ++k) {
      const Real size = std::abs(gradient_[k]) + rounding_[k];
      norm += size * size;
    }
    squares += norm / mass_[i];
  }
  const Real bound =
      std::sqrt(squares) * (1 + (static_cast<Real>(dense_.size()) + num_vertices_ + 16) * kUnit);
  return bound < kInfinity ? bound : kInfinity;
}

}  // namespace tangere::solver
