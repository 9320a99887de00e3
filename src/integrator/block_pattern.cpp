// SPDX-License-Identifier: Apache-2.0
#include "integrator/block_pattern.hpp"

#include "core/assert.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::integrator {

namespace {

/// LU with row pivoting in place; false when singular.
bool factorDense(int n, Real* a, int* pivots) {
  for (int k = 0; k < n; ++k) {
    int best = k;
    for (int i = k + 1; i < n; ++i) {
      if (std::fabs(a[i * n + k]) > std::fabs(a[best * n + k])) best = i;
    }
    pivots[k] = best;
    if (!(std::fabs(a[best * n + k]) > 0)) return false;
    if (best != k) std::swap_ranges(a + k * n, a + (k + 1) * n, a + best * n);
    const Real inverse = 1 / a[k * n + k];
    for (int i = k + 1; i < n; ++i) {
      Real* row = a + i * n;
      const Real factor = row[k] *= inverse;
      if (factor == 0) continue;
      const Real* top = a + k * n;
      for (int j = k + 1; j < n; ++j) row[j] -= factor * top[j];
    }
  }
  return true;
}

/// Of `count` columns, x row after row. The rows of L were exchanged with those of U: so all of x
/// are before the first of them is used.
void solveDense(int n, const Real* a, const int* pivots, Real* x, int count) {
  for (int k = 0; k < n; ++k) {
    if (pivots[k] != k) std::swap_ranges(x + k * count, x + (k + 1) * count, x + pivots[k] * count);
  }
  for (int k = 0; k < n; ++k) {
    for (int i = k + 1; i < n; ++i) {
      const Real factor = a[i * n + k];
      if (factor == 0) continue;
      for (int c = 0; c < count; ++c) x[i * count + c] -= factor * x[k * count + c];
    }
  }
  for (int k = n - 1; k >= 0; --k) {
    const Real inverse = 1 / a[k * n + k];
    for (int c = 0; c < count; ++c) x[k * count + c] *= inverse;
    for (int i = 0; i < k; ++i) {
      const Real factor = a[i * n + k];
      if (factor == 0) continue;
      for (int c = 0; c < count; ++c) x[i * count + c] -= factor * x[k * count + c];
    }
  }
}

/// c -= a b: a is rows x inner, b is inner x columns.
void subtractProduct(int rows, int inner, int columns, const Real* a, const Real* b, Real* c) {
  for (int i = 0; i < rows; ++i) {
    for (int k = 0; k < inner; ++k) {
      const Real factor = a[i * inner + k];
      if (factor == 0) continue;
      for (int j = 0; j < columns; ++j) c[i * columns + j] -= factor * b[k * columns + j];
    }
  }
}

bool mayGoOn(WorkBudget* budget) { return budget == nullptr || budget->mayGoOn(); }

void insertSorted(std::vector<int>* list, int value) {
  const auto at = std::lower_bound(list->begin(), list->end(), value);
  if (at == list->end() || *at != value) list->insert(at, value);
}

}  // namespace

bool BlockPattern::build(std::span<const int> sizes, std::span<const std::pair<int, int>> coupled,
                         WorkBudget* budget) {
  sizes_.assign(sizes.begin(), sizes.end());
  rows_.clear();
  int row = 0;
  for (const int size : sizes_) {
    rows_.push_back(row);
    row += size;
  }
  std::vector<std::vector<int>> adjacent(sizes_.size());
  for (const auto& [a, b] : coupled) {
    if (a == b) continue;
    insertSorted(&adjacent[static_cast<std::size_t>(a)], b);
    insertSorted(&adjacent[static_cast<std::size_t>(b)], a);
    if (!mayGoOn(budget)) return false;
  }
  return eliminate(std::move(adjacent), budget);
}

bool BlockPattern::eliminate(std::vector<std::vector<int>> adjacent, WorkBudget* budget) {
  const int n = numBlocks();
  const auto of = [](int i) { return static_cast<std::size_t>(i); };
  order_.clear();
  rank_.assign(sizes_.size(), -1);
  by_block_.assign(sizes_.size(), {});
  neighbours_.assign(sizes_.size(), {});
  num_entries_ = 0;
  const auto reserve = [&](int i, int j) {
    const std::size_t start = num_entries_;
    num_entries_ += of(size(i)) * of(size(j));
    return start;
  };
  std::size_t numTargets = 0;
  for (int step = 0; step < n; ++step) {
    int next = -1;
    for (int i = 0; i < n; ++i) {
      if (rank_[of(i)] < 0 && (next < 0 || adjacent[of(i)].size() < adjacent[of(next)].size()))
        next = i;
    }
    rank_[of(next)] = step;
    order_.push_back(next);
    Row& row = by_block_[of(next)];
    row.diagonal = reserve(next, next);
    const std::size_t degree = adjacent[of(next)].size();
    numTargets += degree * degree;
    if (budget != nullptr) budget->hold(WorkBudget::Part::Matrices, bytesOf(numTargets));
    for (const int other : adjacent[of(next)]) {
      if (!mayGoOn(budget)) return false;
      const std::size_t upper = reserve(next, other);
      row.later.push_back({other, upper, reserve(other, next)});
      insertSorted(&neighbours_[of(next)], other);
      insertSorted(&neighbours_[of(other)], next);
      std::vector<int>& others = adjacent[of(other)];
      others.erase(std::lower_bound(others.begin(), others.end(), next));
      for (const int also : adjacent[of(next)]) {
        if (also != other) insertSorted(&others, also);
      }
    }
  }
  for (Row& row : by_block_) {
    for (const Later& i : row.later) {
      for (const Later& j : row.later) row.targets.push_back(at(i.block, j.block));
      if (!mayGoOn(budget)) return false;
    }
  }
  return true;
}

Real BlockPattern::bytesOf(std::size_t numTargets) const {
  constexpr Real kMatrices = 3;  // J by velocities and by positions, and what is factored
  return kMatrices * sizeof(Real) * static_cast<Real>(num_entries_) +
         static_cast<Real>(sizeof(std::size_t)) * static_cast<Real>(numTargets);
}

const BlockPattern::Later* BlockPattern::findLater(int of, int block) const {
  const std::vector<Later>& later = by_block_[static_cast<std::size_t>(of)].later;
  const auto at = std::lower_bound(later.begin(), later.end(), block,
                                   [](const Later& l, int value) { return l.block < value; });
  TANGERE_ASSERT(at != later.end() && at->block == block);
  return &*at;
}

std::size_t BlockPattern::at(int i, int j) const {
  if (i == j) return by_block_[static_cast<std::size_t>(i)].diagonal;
  const bool isUpper = rank_[static_cast<std::size_t>(i)] < rank_[static_cast<std::size_t>(j)];
  return isUpper ? findLater(i, j)->upper : findLater(j, i)->lower;
}

std::span<const int> BlockPattern::neighbours(int i) const {
  return neighbours_[static_cast<std::size_t>(i)];
}

void BlockPattern::addProduct(const Real* a, const Real* x, Real* sum) const {
  const auto add = [&](int i, int j, const Real* block) {
    const int rows = size(i), columns = size(j);
    const Real* from = x + firstRow(j);
    Real* to = sum + firstRow(i);
    for (int r = 0; r < rows; ++r) {
      Real s = 0;
      for (int c = 0; c < columns; ++c) s += block[r * columns + c] * from[c];
      to[r] += s;
    }
  };
  for (int i = 0; i < numBlocks(); ++i) {
    const Row& row = by_block_[static_cast<std::size_t>(i)];
    add(i, i, a + row.diagonal);
    for (const Later& j : row.later) {
      add(i, j.block, a + j.upper);
      add(j.block, i, a + j.lower);
    }
  }
}

bool BlockPattern::factor(Real* a, int* pivots, WorkBudget* budget) const {
  for (const int k : order_) {
    const Row& row = by_block_[static_cast<std::size_t>(k)];
    const int n = size(k);
    if (!factorDense(n, a + row.diagonal, pivots + firstRow(k))) return false;
    std::size_t target = 0;
    for (const Later& j : row.later)
      solveDense(n, a + row.diagonal, pivots + firstRow(k), a + j.upper, size(j.block));
    for (const Later& i : row.later) {
      if (!mayGoOn(budget)) return false;
      for (const Later& j : row.later)
        subtractProduct(size(i.block), n, size(j.block), a + i.lower, a + j.upper,
                        a + row.targets[target++]);
    }
  }
  return true;
}

void BlockPattern::solve(const Real* a, const int* pivots, Real* x) const {
  for (const int k : order_) {
    const Row& row = by_block_[static_cast<std::size_t>(k)];
    solveDense(size(k), a + row.diagonal, pivots + firstRow(k), x + firstRow(k), 1);
    for (const Later& i : row.later)
      subtractProduct(size(i.block), size(k), 1, a + i.lower, x + firstRow(k),
                      x + firstRow(i.block));
  }
  for (std::size_t step = order_.size(); step-- > 0;) {
    const int k = order_[step];
    for (const Later& j : by_block_[static_cast<std::size_t>(k)].later)
      subtractProduct(size(k), size(j.block), 1, a + j.upper, x + firstRow(j.block),
                      x + firstRow(k));
  }
}

}  // namespace tangere::integrator
