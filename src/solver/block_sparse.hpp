// SPDX-License-Identifier: Apache-2.0
//
// Cholesky factorization H = U^T U of a symmetric positive definite matrix of dense blocks.
//
// Blocks are eliminated in the order of minimum degree (degrees counted in scalars, of equal ones
// the lowest block first), which is a function of the pattern alone. Block j and all blocks right
// of it in its row of U lie side by side in one row-major panel, so that every inner loop runs
// along a row. The order, the panels and the tables of the updates are kept while the pattern stays
// the same.
#pragma once

#include <tangere/config.hpp>

#include "core/parallel_for.hpp"
#include "solver/six_blocks.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tangere::solver {

/// Where a block of H lies: entry (r, c) at panel()[offset + r * stride + c]; `isTransposed`: it is
/// the block (second, first) that is kept.
struct BlockPlace {
  std::int64_t offset = 0;
  std::int32_t stride = 0;
  bool isTransposed = false;
};

class BlockSparse {
 public:
  /// The key of an edge between blocks i < j.
  [[nodiscard]] static constexpr std::uint64_t edgeKey(std::int32_t i, std::int32_t j) {
    return static_cast<std::uint64_t>(i) << 32 | static_cast<std::uint32_t>(j);
  }

  /// Sizes of the diagonal blocks, and which pairs of blocks are not zero: ascending keys, each
  /// once. Costs a comparison when both are what they were.
  void setPattern(std::span<const std::int32_t> sizes, std::span<const std::uint64_t> edges);

  [[nodiscard]] std::int32_t numBlocks() const { return static_cast<std::int32_t>(sizes_.size()); }
  [[nodiscard]] std::span<const std::uint64_t> edges() const { return edges_; }
  /// Of the upper triangle of a diagonal block; the lower one is never read.
  [[nodiscard]] BlockPlace diagonalPlace(std::int32_t block) const {
    return {panel_begin_[position_[block]], panel_width_[position_[block]], false};
  }
  [[nodiscard]] const BlockPlace& edgePlace(std::int32_t edge) const { return edge_place_[edge]; }
  [[nodiscard]] Real* values() { return values_.data(); }
  void setZero();

  /// Factors in place. Where a pivot is not positive at the precision of the machine it is raised,
  /// so that U^T U is positive definite for any input that is finite; the number of such pivots.
  /// The bits do not depend on the pool, which may be null.
  int factor(core::ThreadPool* pool = nullptr);

  /// x <- H^-1 x, x in the order of the blocks as given.
  void solve(Real* x) const;

  [[nodiscard]] std::int64_t numEntries() const {
    return panel_begin_.empty() ? 0 : panel_begin_.back();
  }
  /// Multiplications of one factorization, about.
  [[nodiscard]] double work() const { return work_; }

 private:
  /// The rows of panel `panel` that block `source` (column of the updating panel) updates.
  struct Update {
    std::int32_t from = 0;   // the updating panel
    std::int32_t panel = 0;  // the updated one
    std::int32_t source = 0;
    std::int32_t firstRun = 0, endRun = 0;
  };

  void orderByMinimumDegree();
  void buildPanels();
  void buildUpdates();
  int factorPanel(std::int32_t j);
  void applyUpdate(const Update& update);
  void buildLevels();

  std::vector<std::int32_t> sizes_;
  std::vector<std::uint64_t> edges_;
  std::vector<BlockPlace> edge_place_;

  // Order: block_[position], position_[block], and the neighbours left at its elimination.
  std::vector<std::int32_t> block_, position_, neighbour_begin_, neighbours_;
  std::vector<std::int32_t> first_;  // scalar of each block, in the order as given
  // Panels, by position.
  std::vector<std::int64_t> panel_begin_;
  std::vector<std::int32_t> panel_width_;
  std::vector<std::int32_t> neighbour_column_;  // where each neighbour begins in the panel
  std::vector<std::int32_t> update_begin_;
  std::vector<Update> updates_;
  // For several threads: the panels by their height in the tree of elimination (those of one height
  // need nothing of each other), and the updates of each panel in the order of the updating ones.
  std::vector<std::int32_t> level_begin_, level_panels_, height_;
  std::vector<std::int32_t> incoming_begin_, incoming_;
  std::vector<BlockRun> runs_;
  std::vector<std::uint8_t> is_six_;           // all blocks of the panel are six wide
  std::vector<std::int32_t> neighbour_first_;  // where each neighbour begins in a vector

  std::vector<Real> values_, inverse_diagonal_, original_diagonal_;
  double work_ = 0;

  // Of the ordering.
  std::vector<std::uint64_t> adjacency_;
  std::vector<std::int32_t> degree_, alive_;
};

}  // namespace tangere::solver
