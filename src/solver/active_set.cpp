// SPDX-License-Identifier: Apache-2.0
#include "solver/active_set.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

namespace tangere::solver {
namespace {

/// Rounds of refinement at most: each gains a factor of regularization /
/// eigenvalue, so mass ratios of 1e6 need six.
constexpr int kMaxRefinements = 12;

}  // namespace

ActiveSetReport ActiveSetSolver::solve(const Eigen::Ref<const Eigen::MatrixXd>& a,
                                       const Eigen::Ref<const Eigen::VectorXd>& b,
                                       Eigen::Ref<Eigen::VectorXd> x,
                                       const ActiveSetOptions& options) {
  const int n = static_cast<int>(b.size());
  ActiveSetReport report;
  regularization_ = options.regularization;

  // Unit diagonal: unknowns y = x / scale, A and b times scale.
  scale_.resize(n);
  for (int i = 0; i < n; ++i) scale_[i] = a(i, i) > 0 ? 1 / std::sqrt(a(i, i)) : 0;
  scaled_.resize(n, n);
  for (int j = 0; j < n; ++j) {
    for (int i = j; i < n; ++i) {
      scaled_(i, j) = a(i, j) * scale_[i] * scale_[j];
      scaled_(j, i) = scaled_(i, j);
    }
  }
  b_ = b.cwiseProduct(scale_);
  if (!b_.allFinite() || !scaled_.allFinite()) {
    x.setZero();
    report.converged = n == 0;
    return report;
  }
  const Real largest = n > 0 ? b_.cwiseAbs().maxCoeff() : 0;

  x_.resize(n);
  is_in_set_.assign(static_cast<std::size_t>(n), 0);
  for (int i = 0; i < n; ++i) {
    const bool starts = x[i] > 0 && scale_[i] > 0 && std::isfinite(x[i]);
    x_[i] = starts ? x[i] / scale_[i] : 0;
    is_in_set_[i] = starts;
  }

  const Real tolerance = options.tolerance * largest;
  for (;;) {
    // The minimum over the set; where it leaves x >= 0, as far towards it as x
    // stays there, and without those that stopped it.
    for (;;) {
      solveForSet();
      Real reach = 1;
      for (const int i : set_) {
        if (trial_[i] < 0) reach = std::min(reach, x_[i] / (x_[i] - trial_[i]));
      }
      bool dropped = false;
      for (const int i : set_) {
        const bool stops = trial_[i] < 0 && x_[i] / (x_[i] - trial_[i]) <= reach;
        x_[i] = stops ? 0 : std::max(x_[i] + reach * (trial_[i] - x_[i]), Real(0));
        if (stops) {
          is_in_set_[i] = 0;
          dropped = true;
        }
      }
      if (!dropped) break;
      if (++report.iterations > options.maxIterations) break;
    }

    w_.noalias() = scaled_ * x_;
    w_ -= b_;
    int worst = -1;
    Real lowest = -tolerance;
    report.residual = 0;
    for (int i = 0; i < n; ++i) {
      const Real violation = is_in_set_[i] ? std::fabs(w_[i]) : -w_[i];
      report.residual = std::max(report.residual, violation);
      if (!is_in_set_[i] && scale_[i] > 0 && w_[i] < lowest) {
        lowest = w_[i];
        worst = i;
      }
    }
    if (worst < 0) break;
    if (++report.iterations > options.maxIterations) {
      report.converged = false;
      break;
    }
    is_in_set_[worst] = 1;
  }
  if (report.iterations > options.maxIterations) report.converged = false;
  x = x_.cwiseProduct(scale_);
  return report;
}

/// trial_ = the solution of A y = b within the set. The refinement starts from
/// x_, so of several solutions it finds the one nearest to x_.
void ActiveSetSolver::solveForSet() {
  const int n = static_cast<int>(b_.size());
  set_.clear();
  for (int i = 0; i < n; ++i) {
    if (is_in_set_[i]) set_.push_back(i);
  }
  const int m = static_cast<int>(set_.size());
  trial_.setZero(n);
  if (m == 0) return;

  factor_.resize(m, m);
  for (int j = 0; j < m; ++j) {
    for (int i = j; i < m; ++i) factor_(i, j) = scaled_(set_[i], set_[j]);
    factor_(j, j) += regularization_;
  }
  Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> factorization(factor_);
  step_.resize(m);
  rest_.resize(m);
  for (const int i : set_) trial_[i] = x_[i];
  Real before = std::numeric_limits<Real>::infinity();
  for (int round = 0; round < kMaxRefinements; ++round) {
    for (int i = 0; i < m; ++i) {
      Real sum = b_[set_[i]];
      for (int j = 0; j < m; ++j) sum -= scaled_(set_[i], set_[j]) * trial_[set_[j]];
      rest_[i] = sum;
    }
    const Real rest = rest_.cwiseAbs().maxCoeff();
    if (rest == 0 || !(rest < before * Real(0.5))) break;
    before = rest;
    step_ = factorization.solve(rest_);
    for (int i = 0; i < m; ++i) trial_[set_[i]] += step_[i];
  }
}

}  // namespace tangere::solver
