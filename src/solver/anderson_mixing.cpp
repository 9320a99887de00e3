// SPDX-License-Identifier: Apache-2.0
#include "solver/anderson_mixing.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tangere::solver {

namespace {

/// Where many numbers depend on each other, mixtures alone do best. Where only so many are wrong
/// their errors say where they belong.
constexpr int kFewWrong = 8;
/// Mixtures before the choice is kept between an x too small and one too large.
constexpr int kPatience = 24;
/// Plain steps in a row before they grow, and how long they become.
constexpr int kFewPlain = 2;
constexpr Real kLongest = 64;

}  // namespace

void AndersonMixing::reset(int count) {
  count_ = static_cast<std::size_t>(count);
  num_kept_ = num_plain_ = 0;
  length_ = 1;
  for (std::vector<Real>* array : {&used_, &following_, &weights_, &chosen_, &low_, &high_}) {
    if (array->size() < count_) array->resize(count_);
  }
  std::fill_n(low_.data(), count_, Real(0));
  std::fill_n(high_.data(), count_, kUnlimited);
}

namespace {

/// x of the symmetric positive definite G x = r, in place of r; false where G is none. Both are
/// overwritten.
template <int kMax>
bool solveSmall(int n, Real (*g)[kMax], Real* r) {
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) {
      const Real factor = g[i][k] / g[k][k];
      for (int j = k; j < n; ++j) g[i][j] -= factor * g[k][j];
      r[i] -= factor * r[k];
    }
    if (!(g[i][i] > 0)) return false;
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int j = i + 1; j < n; ++j) r[i] -= g[i][j] * r[j];
    r[i] /= g[i][i];
  }
  return true;
}

}  // namespace

std::span<const Real> AndersonMixing::choose() {
  has_few_wrong_ =
      std::count_if(weights_.begin(), weights_.begin() + static_cast<std::ptrdiff_t>(count_),
                    [](Real weight) { return weight > 0; }) <= kFewWrong;
  mix();
  if (has_few_wrong_ && num_kept_ > kPatience) keepWithin();
  return {chosen_.data(), count_};
}

void AndersonMixing::mix() {
  const std::size_t n = count_;
  if (num_kept_ == 0) {
    kept_used_.resize(std::max(kept_used_.size(), n * (kMemory + 1)));
    kept_error_.resize(std::max(kept_error_.size(), n * (kMemory + 1)));
  }
  ++num_kept_;
  Real* const x = memory(&kept_used_, 0);
  Real* const f = memory(&kept_error_, 0);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = used_[i];
    f[i] = following_[i] - used_[i];
  }
  std::copy_n(following_.data(), n, chosen_.data());
  const int depth = std::min(num_kept_ - 1, kMemory);
  if (depth == 0) return;

  // theta = argmin |f - sum_j theta_j (f - f_j)|, in the norm of the weights.
  Real gram[kMemory][kMemory] = {}, theta[kMemory] = {};
  for (int a = 0; a < depth; ++a) {
    const Real* const fa = memory(&kept_error_, a + 1);
    for (std::size_t i = 0; i < n; ++i) theta[a] += weights_[i] * (f[i] - fa[i]) * f[i];
    for (int b = 0; b <= a; ++b) {
      const Real* const fb = memory(&kept_error_, b + 1);
      Real sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += weights_[i] * (f[i] - fa[i]) * (f[i] - fb[i]);
      gram[a][b] = gram[b][a] = sum;
    }
  }
  Real trace = 0;
  for (int a = 0; a < depth; ++a) trace += gram[a][a];
  constexpr Real kRidge = 1e-14;  // of nearly parallel errors
  for (int a = 0; a < depth; ++a) gram[a][a] += kRidge * trace;
  if (!solveSmall(depth, gram, theta)) return;
  Real along = 0;  // of the step with the mixture and the plain one
  for (std::size_t i = 0; i < n; ++i) {
    if (!(weights_[i] > 0)) continue;
    Real step = 0;
    for (int a = 0; a < depth; ++a) {
      const Real then = memory(&kept_used_, a + 1)[i] + memory(&kept_error_, a + 1)[i];
      step += theta[a] * (following_[i] - then);
    }
    chosen_[i] = std::max<Real>(following_[i] - step, 0);
    along += weights_[i] * f[i] * (chosen_[i] - x[i]);
  }
  // A mixture against the plain step leads to a fixed point from which every plain step leads away:
  // of friction bounds the one of a body that jams. Its friction grows with the normal force and
  // that with friction, until it sticks. The step doubles as long as that goes on.
  if (along > 0) {
    num_plain_ = 0;
    length_ = 1;
    return;
  }
  ++num_plain_;
  if (has_few_wrong_ && num_plain_ > kFewPlain) length_ = std::min(2 * length_, kLongest);
  for (std::size_t i = 0; i < n; ++i) chosen_[i] = std::max<Real>(x[i] + length_ * f[i], 0);
}

void AndersonMixing::keepWithin() {
  constexpr Real kNarrow = 1e-3;
  for (std::size_t i = 0; i < count_; ++i) {
    if (!(weights_[i] > 0)) continue;
    const Real x = used_[i];
    (following_[i] > x ? low_[i] : high_[i]) = x;
    // The others have changed meanwhile: what was found then may not hold any more.
    if (!(high_[i] - low_[i] > kNarrow * high_[i])) {
      low_[i] = following_[i] > x ? x : 0;
      high_[i] = following_[i] > x ? kUnlimited : x;
    }
    const bool isWithin = chosen_[i] > low_[i] && chosen_[i] < high_[i];
    if (!isWithin && high_[i] < kUnlimited) chosen_[i] = Real(0.5) * (low_[i] + high_[i]);
  }
}

}  // namespace tangere::solver
