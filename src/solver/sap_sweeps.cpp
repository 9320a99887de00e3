// SPDX-License-Identifier: Apache-2.0
//
// A first guess of the convex solver where that of the last step is far off, after impacts above
// all: sweeps over the contacts, each solved by Coulomb's law as if nothing else changed. A sweep
// costs a twentieth of a Newton step; a few dozen find which contacts push, slide and stick, which
// is what Newton's method needs most of its steps for when it starts from v*.
//
// Coulomb's law may have several solutions, and sweeps end at one that their order chooses. Where
// an island is its own mirror image, as a rack of balls that is hit on its axis, there is a
// solution that is so too. Sweeps, which always relax one of two contacts that mirror each other
// first, may lose it, and the motion then depends on names. Newton's method treats all contacts at
// once and keeps it. Such islands are therefore not swept.
//
// Where friction is large each contact, solved alone, answers what the last one did: sweeps go to
// and fro and end nowhere. Half of each change, many times, ends where the whole does not.
#include "solver/sap_iterate.hpp"
#include "solver/sap_iterate_common.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tangere::solver {
namespace {

constexpr int kWholeSweeps = 4;

/// The two sums += x . y, of the numbers at even and at odd places.
inline void addDot(const Real* x, const Real* y, int n, Real* sum) {
  int k = 0;
  for (; k + 1 < n; k += 2) {
    sum[0] += x[k] * y[k];
    sum[1] += x[k + 1] * y[k + 1];
  }
  if (k < n) sum[0] += x[k] * y[k];
}

/// Contacts are alike whose efforts differ by no more than this part: the two sides of a scene that
/// moves symmetrically differ by the tolerance of the last steps.
constexpr Real kAlike = 1e-9;
/// An island is taken for its own mirror image where at least one in so many contacts is like
/// another. In a rack all are but those on its axis, one half at least; among bodies in a bin a few
/// are, corners of boxes that lie flat.
constexpr int kMirrored = 3;

}  // namespace

bool SapIterate::canSweep() {
  return std::all_of(locals_.begin(), locals_.end(),
                     [](const Local& local) { return local.kind == SapKind::Contact; }) &&
         !isMirrored();
}

/// May the island be its own mirror image, as far as one number for each contact tells: its inverse
/// mass times the square of the velocity that it is to change?
bool SapIterate::isMirrored() {
  const int count = numConstraints();
  growTo(&efforts_, locals_.size());
  for (int i = 0; i < count; ++i) {
    const Local& local = locals_[i];
    const Real* const vc = vc_.data() + local.row;
    const Real missing = constraints_.missingVelocity(local.parameters, vc[2]);
    efforts_[i] = delassus_[i * std::size_t{kDelassusStride} + 8] *
                  (missing * missing + vc[0] * vc[0] + vc[1] * vc[1]);
    if (!std::isfinite(efforts_[i])) return false;
  }
  std::sort(efforts_.begin(), efforts_.begin() + count);
  const auto isLikeNext = [&](int i) {
    return efforts_[i + 1] - efforts_[i] <= kAlike * efforts_[i + 1];
  };
  int numAlike = 0;
  for (int i = 0; i < count; ++i) {
    const bool isLikeLast = i > 0 && isLikeNext(i - 1);
    if (isLikeLast || (i + 1 < count && isLikeNext(i))) ++numAlike;
  }
  return numAlike > 0 && kMirrored * numAlike >= count;
}

void SapIterate::sweep() {
  findResponses();
  if (has_impulse_guess_) {
    std::copy_n(impulse_guess_.data(), num_rows_, gamma_.data());
  } else {
    std::fill_n(gamma_.data(), num_rows_, Real(0));
    std::copy_n(v_star_.data(), num_velocities_, v_.data());
  }
  sweepUntil(kQuick);
}

void SapIterate::sweepOn() {
  std::copy_n(swept_impulse_.data(), num_rows_, gamma_.data());
  std::copy_n(swept_v_.data(), num_velocities_, v_.data());
  sweepUntil(kCareful);
}

void SapIterate::sweepUntil(const SweepLimits& limits) {
  is_evaluated_ = false;
  is_swept_ = true;
  // Most contacts that are open stay so: they are looked at in every fourth sweep, and in the last.
  bool isWhole = true;
  for (int sweep = 0; sweep < limits.maxSweeps; ++sweep) {
    SweepSums sums;
    const Real* response = responses_.data();
    const Real* w = delassus_.data();
    for (const Local& local : locals_) {
      if (isWhole || gamma_[local.row + 2] != 0) {
        withShape(local, [&](auto shape) { relax<shape>(local, response, w, limits.part, &sums); });
      }
      response += 3 * (local.size1 + local.size2);
      w += kDelassusStride;
    }
    const Real least = limits.tolerance * limits.tolerance * sums.size;
    const bool isEnd = numConstraints() * sums.change <= least;
    if (isEnd && isWhole) break;
    isWhole = isEnd || sweep % kWholeSweeps == 0;
  }
  swept_impulse_.assign(gamma_.begin(), gamma_.begin() + num_rows_);
  swept_v_.assign(v_.begin(), v_.begin() + num_velocities_);
}

/// A^-1 J^T of each side of each contact: three columns, one after the other.
void SapIterate::findResponses() {
  std::size_t size = 0;
  for (const Local& local : locals_)
    size += 3 * static_cast<std::size_t>(local.size1 + local.size2);
  growTo(&responses_, size);
  Real* response = responses_.data();
  const auto addSide = [&](const Real* jacobian, int n, int clique) {
    const Real* const inverse = inverse_factor_.data() + first_entry_[clique];
    for (int r = 0; r < 3; ++r) {
      six_->multiplyInverse(inverse, n, jacobian + r * n, scratch_.data(), response);
      response += n;
    }
  };
  for (const Local& local : locals_) {
    addSide(local.jacobian1, local.size1, local.clique1);
    if (local.size2 > 0) addSide(local.jacobian2, local.size2, local.clique2);
  }
}

/// One contact of a sweep: gamma_ of its rows and v_ of its cliques change by `part` of what the
/// contact asks for.
template <SapIterate::Shape kShape>
void SapIterate::relax(const Local& local, const Real* response, const Real* delassus, Real part,
                       SweepSums* sums) {
  const Sizes<kShape> sizes(local);
  const int n1 = sizes.size1, n2 = sizes.size2;
  Real* const gamma = gamma_.data() + local.row;
  Real* const v1 = v_.data() + local.velocity1;
  Real* const v2 = v_.data() + local.velocity2;
  const auto velocityOf = [&](int row) {
    Real sum[2] = {bias_[local.row + row], 0};  // two side by side
    addDot(local.jacobian1 + row * n1, v1, n1, sum);
    addDot(local.jacobian2 + row * n2, v2, n2, sum);
    return sum[0] + sum[1];
  };
  Real vc[3] = {0, 0, velocityOf(2)};
  if (gamma[2] == 0 && constraints_.isOpen(local.parameters, vc[2])) return;
  for (int row = 0; row < 2; ++row) vc[row] = velocityOf(row);
  const Real before[3] = {gamma[0], gamma[1], gamma[2]};
  constraints_.relax(local.parameters, delassus, vc, gamma);
  if (part < 1) {
    for (int k = 0; k < 3; ++k) gamma[k] = before[k] + part * (gamma[k] - before[k]);
  }
  const Real change[3] = {gamma[0] - before[0], gamma[1] - before[1], gamma[2] - before[2]};
  const auto add = [&](const Real* columns, int n, Real* __restrict v) {
    const Real c0 = change[0], c1 = change[1], c2 = change[2];
    for (int k = 0; k < n; ++k) {
      v[k] += columns[k] * c0 + columns[n + k] * c1 + columns[2 * n + k] * c2;
    }
  };
  add(response, n1, v1);
  add(response + 3 * n1, n2, v2);
  const auto square = [](const Real* x) { return x[0] * x[0] + x[1] * x[1] + x[2] * x[2]; };
  sums->change += delassus[8] * square(change);
  sums->size += delassus[8] * square(gamma);
}

}  // namespace tangere::solver
