// SPDX-License-Identifier: Apache-2.0
//
// Islands: blocks connected by contact groups. Fixed blocks connect nothing.
#pragma once

#include "solver/impulse_problem.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tangere::solver {

/// The connected parts of a graph of blocks and groups, in order of their
/// lowest block; what each contains ascends. The result depends on the graph
/// alone.
class Islands {
 public:
  /// `isMoving(block)` is blocks[block].inverseMass > 0; a group needs one
  /// moving block at least.
  void build(std::span<const ImpulseBlock> blocks, std::span<const ImpulseGroup> groups);

  [[nodiscard]] std::span<const ImpulseIsland> islands() const { return islands_; }
  /// Island of each block; -1 for blocks that are fixed or touch nothing.
  [[nodiscard]] std::span<const std::int32_t> islandOfBlock() const { return island_of_block_; }

 private:
  std::vector<std::int32_t> parent_, island_of_block_, block_list_, group_list_;
  std::vector<std::int32_t> num_blocks_,
      num_groups_;  // of the island of each root
  std::vector<std::int32_t> block_end_,
      group_end_;  // of each island, in the lists
  std::vector<ImpulseIsland> islands_;
};

}  // namespace tangere::solver
