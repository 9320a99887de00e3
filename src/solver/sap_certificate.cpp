// SPDX-License-Identifier: Apache-2.0
//
// How far an iterate can be from the solution. The cost is 1-strongly convex in the norm of A,
// hence
//
//   |v - v_opt|_A <= |grad l(v)|_{A^-1}
//
// for any v, converged or not. To be a bound for the numbers of a computer as well, what rounding
// may have done to the gradient and to the factors of A is estimated from above (Higham, Accuracy
// and Stability of Numerical Algorithms, chapters 3, 8 and 10) and added. The problem is the one
// with the regularization as prepared; its parameters are taken as exact.
#include "solver/sap_iterate.hpp"

#include <cmath>
#include <limits>

namespace tangere::solver {
namespace {

/// y += |A| |x|.
inline void addAbsolute(const Real* a, int rows, int columns, const Real* x, Real* y) {
  if (rows == 3) {
    Real sum0 = 0, sum1 = 0, sum2 = 0;
    for (int c = 0; c < columns; ++c) {
      sum0 += std::abs(a[c] * x[c]);
      sum1 += std::abs(a[columns + c] * x[c]);
      sum2 += std::abs(a[2 * columns + c] * x[c]);
    }
    y[0] += sum0;
    y[1] += sum1;
    y[2] += sum2;
    return;
  }
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) y[r] += std::abs(a[r * columns + c] * x[c]);
  }
}

/// y += |A|^T x, x >= 0.
inline void addAbsoluteTransposed(const Real* __restrict__ a, int rows, int columns,
                                  const Real* __restrict__ x, Real* __restrict__ y) {
  if (rows == 3) {
    const Real* __restrict__ const a1 = a + columns;
    const Real* __restrict__ const a2 = a1 + columns;
    const Real x0 = x[0], x1 = x[1], x2 = x[2];
    for (int c = 0; c < columns; ++c) {
      y[c] += std::abs(a[c]) * x0 + std::abs(a1[c]) * x1 + std::abs(a2[c]) * x2;
    }
    return;
  }
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) y[c] += std::abs(a[r * columns + c]) * x[r];
  }
}

constexpr Real kUnit = 1.2e-16;  // a little more than 2^-53
/// Roundings between v_c and gamma in any kind of constraint.
constexpr Real kKernelRoundings = 16;

}  // namespace

/// rounding_[k]: how much gradient_[k] may be wrong.
void SapIterate::boundRounding() {
  Real* const error = rounding_.data();
  for (int i = 0; i < numCliques(); ++i) {
    const int first = first_velocity_[i], n = sizes_[i];
    six_->multiplyAbsolute(a_[i], n, difference_.data() + first, error + first);
    for (int r = 0; r < n; ++r) error[first + r] *= (n + 3) * kUnit;
  }
  for (int i = 0; i < numConstraints(); ++i) {
    const Local& local = locals_[i];
    if (local.run > 0) {
      boundRoundingOfRun(local);
      i += local.run - 1;
    } else {
      withShape(local, [&](auto shape) { boundRoundingOf<shape>(local); });
    }
  }
  Real squares = 0;
  for (int k = 0; k < num_velocities_; ++k) {
    error[k] += kUnit * std::abs(gradient_[k]);
    squares += error[k] * scale_[k] * (error[k] * scale_[k]);
  }
  rounding_norm_ = std::sqrt(squares);
}

/// How much the impulses of one constraint may be wrong; `size` is the sum of the terms of each
/// row.
inline void SapIterate::boundImpulse(const Local& local, int numRows, const Real* size,
                                     Real* impulse) const {
  const Real* const vc = vc_.data() + local.row;
  const Real* const gamma = gamma_.data() + local.row;
  const int numTerms = local.size1 + local.size2 + 4;
  Real bound[kSapMaxRows], reach[kSapMaxRows];
  constraints_.lipschitz(local.kind, numRows, local.parameters, vc, hessian_.data() + local.hessian,
                         bound, reach);
  Real squares = 0;
  for (int k = 0; k < numRows; ++k) {
    const Real wrong =
        numTerms * kUnit * size[k] + kKernelRoundings * kUnit * (std::abs(vc[k]) + reach[k]);
    squares += bound[k] * wrong * (bound[k] * wrong);
  }
  const Real norm = std::sqrt(squares);
  // The last sum over constraints has as many terms as the clique has touches.
  const int touches =
      std::max(touch_begin_[local.clique1 + 1] - touch_begin_[local.clique1],
               local.size2 > 0 ? touch_begin_[local.clique2 + 1] - touch_begin_[local.clique2] : 0);
  for (int k = 0; k < numRows; ++k) {
    impulse[k] = bound[k] * norm + (kKernelRoundings + static_cast<Real>(numRows + touches + 2)) *
                                       kUnit * std::abs(gamma[k]);
  }
}

/// What one constraint adds to rounding_.
template <SapIterate::Shape kShape>
void SapIterate::boundRoundingOf(const Local& local) {
  Real* const error = rounding_.data();
  const Sizes<kShape> sizes(local);
  const int m = sizes.numRows;
  Real size[kSapMaxRows], impulse[kSapMaxRows];
  for (int k = 0; k < m; ++k) size[k] = std::abs(bias_[local.row + k]);
  addAbsolute(local.jacobian1, m, sizes.size1, v_.data() + local.velocity1, size);
  if (sizes.size2 > 0) {
    addAbsolute(local.jacobian2, m, sizes.size2, v_.data() + local.velocity2, size);
  }
  boundImpulse(local, m, size, impulse);
  addAbsoluteTransposed(local.jacobian1, m, sizes.size1, impulse, error + local.velocity1);
  if (sizes.size2 > 0) {
    addAbsoluteTransposed(local.jacobian2, m, sizes.size2, impulse, error + local.velocity2);
  }
}

/// The same for the contacts of a run.
void SapIterate::boundRoundingOfRun(const Local& local) {
  Real* const rows = row_scratch_.data() + local.row;
  for (int k = 0; k < 3 * local.run; ++k) rows[k] = std::abs(bias_[local.row + k]);
  six_->addAbsolute(side1(local), v_.data() + local.velocity1, rows);
  if (local.size2 > 0) six_->addAbsolute(side2(local), v_.data() + local.velocity2, rows);
  for (int i = 0; i < local.run; ++i) {
    Real impulse[3];
    boundImpulse((&local)[i], 3, rows + 3 * i, impulse);
    for (int k = 0; k < 3; ++k) rows[3 * i + k] = impulse[k];
  }
  six_->addAbsoluteTransposed(side1(local), rows, rounding_.data() + local.velocity1);
  if (local.size2 > 0) {
    six_->addAbsoluteTransposed(side2(local), rows, rounding_.data() + local.velocity2);
  }
}

Real SapIterate::errorBound() {
  boundRounding();
  constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
  // Everything here is a sum of positive terms: a factor covers its own rounding.
  Real squares = 0;
  for (int i = 0; i < numCliques(); ++i) {
    const int first = first_velocity_[i], n = sizes_[i];
    Real* const x = scratch_.data() + first;
    const Real* const diagonal = inverse_diagonal_.data() + first;
    Real condition = 0, rounding = 0;
    for (int k = 0; k < n; ++k) {
      condition += a_[i][k * n + k] * diagonal[k];
      rounding += rounding_[first + k] * std::sqrt(diagonal[k]);
    }
    // L L^T = A + E with |D E D| <= this, so that norms of A^-1 and (L L^T)^-1 differ by its root;
    // and |x| with the inverse of L that was found differs from |L^-1 grad| by less.
    const Real backward = 4 * static_cast<Real>(n * (n + 2)) * kUnit * condition;
    if (!(backward < 0.1)) return kInfinity;
    multiplyLower(inverse_factor_.data() + first_entry_[i], n, gradient_.data() + first, x);
    Real norm = 0;
    for (int k = 0; k < n; ++k) norm += x[k] * x[k];
    const Real bound = (std::sqrt(norm) + rounding) * (1 + backward);
    squares += bound * bound;
  }
  const Real bound = std::sqrt(squares) * (1 + (numCliques() + 16) * kUnit);
  return bound < kInfinity ? bound : kInfinity;
}

}  // namespace tangere::solver
