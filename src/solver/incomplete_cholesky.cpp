// SPDX-License-Identifier: Apache-2.0
#include "solver/incomplete_cholesky.hpp"

#include "core/stable_sort.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <iterator>

namespace tangere::solver {
namespace {

/// A pivot that has lost more than this is mostly an error of the incompleteness.
constexpr Real kSmallestPivot = 1e-3;
/// Complete elimination ends where it would no longer be cheap: rows with more neighbours left, or
/// more blocks than so many times those of the pattern. A patch of contacts stays far below.
constexpr std::size_t kMaxNeighbours = 128, kMaxFill = 4;
constexpr Real kFirstShift = 0.01, kShiftGrowth = 2, kLargestShift = 2;

/// c -= a b^T.
inline void subtractProduct(const Real* __restrict__ a, const Real* __restrict__ b,
                            Real* __restrict__ c) {
  for (int r = 0; r < 3; ++r) {
    for (int k = 0; k < 3; ++k) {
      c[3 * r + k] -=
          a[3 * r] * b[3 * k] + a[3 * r + 1] * b[3 * k + 1] + a[3 * r + 2] * b[3 * k + 2];
    }
  }
}

/// c = a b.
inline void multiplyBlocks(const Real* __restrict__ a, const Real* __restrict__ b,
                           Real* __restrict__ c) {
  for (int r = 0; r < 3; ++r) {
    for (int k = 0; k < 3; ++k) {
      c[3 * r + k] = a[3 * r] * b[k] + a[3 * r + 1] * b[3 + k] + a[3 * r + 2] * b[6 + k];
    }
  }
}

}  // namespace

bool invertSymmetricBlock(const Real* d, Real smallest, Real* inverse) {
  constexpr Real kRounding = 1e-14;
  const Real p0 = d[0];
  if (!(p0 > smallest) || !(p0 > 0) || !(p0 < 1e300)) return false;
  const Real l10 = d[3] / p0, l20 = d[6] / p0;
  const Real p1 = d[4] - l10 * d[3];
  if (!(p1 > smallest) || !(p1 > kRounding * d[4]) || !(p1 < 1e300)) return false;
  const Real s21 = d[7] - l20 * d[3];
  const Real l21 = s21 / p1;
  const Real p2 = d[8] - l20 * d[6] - l21 * s21;
  if (!(p2 > smallest) || !(p2 > kRounding * d[8]) || !(p2 < 1e300)) return false;
  // L^-1 has the rows (1), (-l10, 1), (m, -l21, 1).
  const Real m = l10 * l21 - l20;
  const Real q0 = 1 / p0, q1 = 1 / p1, q2 = 1 / p2;
  inverse[0] = q0 + l10 * l10 * q1 + m * m * q2;
  inverse[1] = inverse[3] = -l10 * q1 - m * l21 * q2;
  inverse[2] = inverse[6] = m * q2;
  inverse[4] = q1 + l21 * l21 * q2;
  inverse[5] = inverse[7] = -l21 * q2;
  inverse[8] = q2;
  return true;
}

void IncompleteCholesky::setPattern(const math::BlockCsr& pattern,
                                    std::span<const std::uint8_t> isComplete) {
  const auto n = static_cast<std::size_t>(pattern.numRows());
  order_.clear();
  position_.assign(n, -1);
  fill_.clear();
  if (!isComplete.empty()) orderComplete(pattern, isComplete);
  num_complete_ = static_cast<int>(order_.size());
  for (std::size_t i = 0; i < n; ++i) {
    if (position_[i] >= 0) continue;
    position_[i] = static_cast<std::int32_t>(order_.size());
    order_.push_back(static_cast<std::int32_t>(i));
  }
  listRows(pattern);
  lower_.resize(column_.size() * 9);
  inverse_pivot_.resize(n * 9);
  stiffness_.resize(n);
  x_.resize(n * 3);
  place_.assign(n, -1);
  shift_ = 0;
}

/// Minimum degree among the complete rows, of equal ones the lowest first; fill_ gets the blocks of
/// L among them as (later position, earlier position).
void IncompleteCholesky::orderComplete(const math::BlockCsr& pattern,
                                       std::span<const std::uint8_t> isComplete) {
  if (neighbours_.size() < isComplete.size()) neighbours_.resize(isComplete.size());
  left_.clear();
  for (int i = 0; i < pattern.numRows(); ++i) {
    if (isComplete[i] == 0) continue;
    left_.push_back(i);
    neighbours_[i].clear();
    for (std::int32_t t = pattern.rowBegin[i]; t < pattern.rowBegin[i + 1]; ++t) {
      const std::int32_t j = pattern.column[t];
      if (j != i && isComplete[j] != 0) neighbours_[i].push_back(j);
    }
  }
  const std::size_t limit = kMaxFill * static_cast<std::size_t>(pattern.numBlocks());
  while (!left_.empty() && fill_.size() <= limit && eliminateNext()) continue;
  // Rows were noted; their positions are known now, but for those that were not eliminated.
  std::erase_if(fill_, [&](std::uint64_t key) { return position_[key >> 32] < 0; });
  for (std::uint64_t& key : fill_) {
    key = std::uint64_t(position_[key >> 32]) << 32 | std::uint64_t(position_[key & 0xffffffffu]);
  }
  core::stableSortByKey(fill_, fill_scratch_, [](std::uint64_t key) { return key; });
}

/// False when none is left that is cheap enough.
bool IncompleteCholesky::eliminateNext() {
  std::size_t best = 0;
  for (std::size_t t = 1; t < left_.size(); ++t) {
    if (neighbours_[left_[t]].size() < neighbours_[left_[best]].size()) best = t;
  }
  const std::int32_t own = left_[best];
  if (neighbours_[own].size() > kMaxNeighbours) return false;
  left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(best));
  position_[own] = static_cast<std::int32_t>(order_.size());
  order_.push_back(own);
  const std::vector<std::int32_t>& clique = neighbours_[own];
  for (const std::int32_t i : clique) {
    fill_.push_back(std::uint64_t(i) << 32 | std::uint64_t(own));
    std::vector<std::int32_t>& list = neighbours_[i];
    merged_.clear();
    std::set_union(list.begin(), list.end(), clique.begin(), clique.end(),
                   std::back_inserter(merged_));
    list.clear();
    for (const std::int32_t k : merged_) {
      if (k != i && k != own) list.push_back(k);
    }
  }
  return true;
}

void IncompleteCholesky::listRows(const math::BlockCsr& pattern) {
  row_begin_.assign(1, 0);
  column_.clear();
  source_.clear();
  diagonal_.clear();
  std::size_t next = 0, widest = 0;
  for (int p = 0; p < pattern.numRows(); ++p) {
    const int i = order_[p];
    const auto begin = static_cast<std::ptrdiff_t>(column_.size());
    if (p < num_complete_) {
      for (; next < fill_.size() && std::int32_t(fill_[next] >> 32) == p; ++next) {
        column_.push_back(std::int32_t(fill_[next] & 0xffffffffu));
      }
    } else {
      for (std::int32_t t = pattern.rowBegin[i]; t < pattern.rowBegin[i + 1]; ++t) {
        const std::int32_t column = position_[pattern.column[t]];
        if (column < p) column_.push_back(column);
      }
      std::sort(column_.begin() + begin, column_.end());
    }
    for (auto t = column_.begin() + begin; t != column_.end(); ++t) {
      source_.push_back(pattern.find(i, order_[*t]));
    }
    diagonal_.push_back(pattern.diagonal[i]);
    row_begin_.push_back(static_cast<std::int32_t>(column_.size()));
    widest = std::max(widest, column_.size() - static_cast<std::size_t>(begin));
  }
  product_.resize(std::max(product_.size(), widest * 9));
}

bool IncompleteCholesky::factor(const math::BlockCsr& a, const Real* stiffness) {
  for (int p = 0; p < a.numRows(); ++p) {
    const Real* const own = a.block(diagonal_[p]);
    stiffness_[p] = stiffness != nullptr ? stiffness[order_[p]] : (own[0] + own[4] + own[8]) / 3;
  }
  while (shift_ <= kLargestShift) {
    if (tryFactor(a, shift_)) return true;
    shift_ = std::max(kFirstShift, kShiftGrowth * shift_);
  }
  return useDiagonal(a);
}

/// Row by row: with W = L D, W_ik = A_ik - sum_j W_ij L_kj^T over the columns j < k that both rows
/// have, L_ik = W_ik D_k^-1, D_i = A_ii - sum_j W_ij L_ij^T.
bool IncompleteCholesky::tryFactor(const math::BlockCsr& a, Real shift) {
  const int n = a.numRows();
  bool isGood = true;
  for (int i = 0; i < n && isGood; ++i) {
    const std::int32_t begin = row_begin_[i], count = row_begin_[i + 1] - begin;
    Real* const w = product_.data();
    for (std::int32_t t = 0; t < count; ++t) {
      const std::int32_t source = source_[begin + t];
      if (source >= 0) {
        std::copy_n(a.block(source), 9, w + 9 * t);
      } else {
        std::fill_n(w + 9 * t, 9, Real(0));
      }
      place_[column_[begin + t]] = t;
    }
    Real pivot[9];
    const Real* const own = a.block(diagonal_[i]);
    for (int e = 0; e < 9; ++e) pivot[e] = own[e] + (e % 4 == 0 ? shift * stiffness_[i] : 0);
    for (std::int32_t t = 0; t < count; ++t) {
      const std::int32_t k = column_[begin + t];
      Real* const wk = w + 9 * t;
      for (std::int32_t s = row_begin_[k]; s < row_begin_[k + 1]; ++s) {
        const std::int32_t place = place_[column_[s]];
        if (place >= 0) subtractProduct(w + 9 * place, lower_.data() + std::size_t{9} * s, wk);
      }
      Real* const l = lower_.data() + std::size_t{9} * (begin + t);
      multiplyBlocks(wk, inverse_pivot_.data() + std::size_t{9} * k, l);
      subtractProduct(wk, l, pivot);
    }
    for (std::int32_t t = 0; t < count; ++t) place_[column_[begin + t]] = -1;
    isGood = invertSymmetricBlock(pivot, kSmallestPivot * stiffness_[i],
                                  inverse_pivot_.data() + std::size_t{9} * i);
  }
  return isGood;
}

bool IncompleteCholesky::useDiagonal(const math::BlockCsr& a) {
  for (int i = 0; i < a.numRows(); ++i) {
    if (!invertSymmetricBlock(a.block(diagonal_[i]), 0,
                              inverse_pivot_.data() + std::size_t{9} * i)) {
      return false;
    }
    for (std::int32_t t = row_begin_[i]; t < row_begin_[i + 1]; ++t) {
      Real* const l = lower_.data() + std::size_t{9} * t;
      if (source_[t] < 0) {
        std::fill_n(l, 9, Real(0));
        continue;
      }
      multiplyBlocks(a.block(source_[t]), inverse_pivot_.data() + std::size_t{9} * column_[t], l);
    }
  }
  return true;
}

namespace {

/// One number of each of four vectors.
using Four = Real __attribute__((vector_size(4 * sizeof(Real))));

inline Four load(const Real* from) {
  Four x;
  std::memcpy(&x, from, sizeof x);
  return x;
}
inline void store(const Four& x, Real* to) { std::memcpy(to, &x, sizeof x); }

}  // namespace

void IncompleteCholesky::solveFour(const Real* r, Real* z) {
  const int n = static_cast<int>(order_.size());
  x_.resize(std::max(x_.size(), static_cast<std::size_t>(n) * 12));
  Real* const x = x_.data();
  for (int i = 0; i < n; ++i) {
    const Real* const from = r + 12 * order_[i];
    Four s0 = load(from), s1 = load(from + 4), s2 = load(from + 8);
    for (std::int32_t t = row_begin_[i]; t < row_begin_[i + 1]; ++t) {
      const Real* const l = lower_.data() + std::size_t{9} * t;
      const Real* const y = x + 12 * column_[t];
      const Four y0 = load(y), y1 = load(y + 4), y2 = load(y + 8);
      s0 -= l[0] * y0 + l[1] * y1 + l[2] * y2;
      s1 -= l[3] * y0 + l[4] * y1 + l[5] * y2;
      s2 -= l[6] * y0 + l[7] * y1 + l[8] * y2;
    }
    store(s0, x + 12 * i);
    store(s1, x + 12 * i + 4);
    store(s2, x + 12 * i + 8);
  }
  for (int i = 0; i < n; ++i) {
    const Real* const d = inverse_pivot_.data() + std::size_t{9} * i;
    Real* const own = x + 12 * i;
    const Four x0 = load(own), x1 = load(own + 4), x2 = load(own + 8);
    for (int k = 0; k < 3; ++k) {
      store(d[3 * k] * x0 + d[3 * k + 1] * x1 + d[3 * k + 2] * x2, own + 4 * k);
    }
  }
  for (int i = n - 1; i >= 0; --i) {
    const Real* const own = x + 12 * i;
    const Four x0 = load(own), x1 = load(own + 4), x2 = load(own + 8);
    for (std::int32_t t = row_begin_[i]; t < row_begin_[i + 1]; ++t) {
      const Real* const l = lower_.data() + std::size_t{9} * t;
      Real* const y = x + 12 * column_[t];
      store(load(y) - (l[0] * x0 + l[3] * x1 + l[6] * x2), y);
      store(load(y + 4) - (l[1] * x0 + l[4] * x1 + l[7] * x2), y + 4);
      store(load(y + 8) - (l[2] * x0 + l[5] * x1 + l[8] * x2), y + 8);
    }
    Real* const to = z + 12 * order_[i];
    store(x0, to);
    store(x1, to + 4);
    store(x2, to + 8);
  }
}

void IncompleteCholesky::solve(const Real* r, Real* z) {
  const int n = static_cast<int>(order_.size());
  Real* const x = x_.data();
  for (int i = 0; i < n; ++i) {
    const Real* const from = r + 3 * order_[i];
    Real s0 = from[0], s1 = from[1], s2 = from[2];
    for (std::int32_t t = row_begin_[i]; t < row_begin_[i + 1]; ++t) {
      const Real* const l = lower_.data() + std::size_t{9} * t;
      const Real* const y = x + 3 * column_[t];
      s0 -= l[0] * y[0] + l[1] * y[1] + l[2] * y[2];
      s1 -= l[3] * y[0] + l[4] * y[1] + l[5] * y[2];
      s2 -= l[6] * y[0] + l[7] * y[1] + l[8] * y[2];
    }
    x[3 * i] = s0;
    x[3 * i + 1] = s1;
    x[3 * i + 2] = s2;
  }
  for (int i = 0; i < n; ++i) {
    const Real* const d = inverse_pivot_.data() + std::size_t{9} * i;
    Real* const own = x + 3 * i;
    const Real x0 = own[0], x1 = own[1], x2 = own[2];
    for (int k = 0; k < 3; ++k) own[k] = d[3 * k] * x0 + d[3 * k + 1] * x1 + d[3 * k + 2] * x2;
  }
  for (int i = n - 1; i >= 0; --i) {
    const Real x0 = x[3 * i], x1 = x[3 * i + 1], x2 = x[3 * i + 2];
    for (std::int32_t t = row_begin_[i]; t < row_begin_[i + 1]; ++t) {
      const Real* const l = lower_.data() + std::size_t{9} * t;
      Real* const y = x + 3 * column_[t];
      y[0] -= l[0] * x0 + l[3] * x1 + l[6] * x2;
      y[1] -= l[1] * x0 + l[4] * x1 + l[7] * x2;
      y[2] -= l[2] * x0 + l[5] * x1 + l[8] * x2;
    }
    Real* const to = z + 3 * order_[i];
    to[0] = x0;
    to[1] = x1;
    to[2] = x2;
  }
}

}  // namespace tangere::solver
