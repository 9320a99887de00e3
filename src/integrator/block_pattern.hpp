// SPDX-License-Identifier: Apache-2.0
//
// Square matrices of blocks, few of which are not zero: one row and column of blocks for each tree,
// and a block where two trees act on each other. The pattern is symmetric and has room for what
// elimination fills in; the numbers are in arrays of the callers, several of one pattern.
//
// Elimination goes by least degree (of equal ones the first), so it is the same in every run.
// Pivots are exchanged within the diagonal blocks alone: the matrices are inertia plus forces that
// resist, and need no more.
#pragma once

#include <tangere/types.hpp>

#include "integrator/work_budget.hpp"

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace tangere::integrator {

class BlockPattern {
 public:
  /// Blocks of these sizes; `coupled`: which act on each other, in any order and often. False:
  /// `budget` does not allow as much, and nothing but build() may be asked. Null: whatever it
  /// costs.
  [[nodiscard]] bool build(std::span<const int> sizes, std::span<const std::pair<int, int>> coupled,
                           WorkBudget* budget = nullptr);

  [[nodiscard]] int numBlocks() const { return static_cast<int>(sizes_.size()); }
  [[nodiscard]] int size(int block) const { return sizes_[static_cast<std::size_t>(block)]; }
  /// Where the rows of a block start in a vector.
  [[nodiscard]] int firstRow(int block) const { return rows_[static_cast<std::size_t>(block)]; }
  /// Numbers that a matrix has.
  [[nodiscard]] std::size_t numEntries() const { return num_entries_; }
  /// Where block (i, j) starts in a matrix, size(i) x size(j), row after row. It must exist.
  [[nodiscard]] std::size_t at(int i, int j) const;
  /// The columns of row i but its own that are not zero; what fills in may be among them.
  [[nodiscard]] std::span<const int> neighbours(int i) const;

  /// sum += a x.
  void addProduct(const Real* a, const Real* x, Real* sum) const;
  /// In place; `pivots` as long as a vector. False: a diagonal block is singular, or `budget` does
  /// not allow to go on.
  [[nodiscard]] bool factor(Real* a, int* pivots, WorkBudget* budget = nullptr) const;
  /// x = a^-1 x of a factored matrix.
  void solve(const Real* a, const int* pivots, Real* x) const;

 private:
  /// A coupling of a block with one that is eliminated later.
  struct Later {
    int block = 0;
    std::size_t upper = 0, lower = 0;  // (this, block) and (block, this)
  };
  struct Row {
    std::size_t diagonal = 0;
    std::vector<Later> later;          // by block
    std::vector<std::size_t> targets;  // of the product of each two of them: what it changes
  };

  [[nodiscard]] bool eliminate(std::vector<std::vector<int>> adjacent, WorkBudget* budget);
  /// Of the matrices of this pattern so far, and of its targets.
  [[nodiscard]] Real bytesOf(std::size_t numTargets) const;
  [[nodiscard]] const Later* findLater(int of, int block) const;

  std::vector<int> sizes_, rows_;
  std::vector<int> order_, rank_;
  std::vector<Row> by_block_;
  std::vector<std::vector<int>> neighbours_;
  std::size_t num_entries_ = 0;
};

}  // namespace tangere::integrator
