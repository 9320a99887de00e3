// SPDX-License-Identifier: Apache-2.0
#include "solver/islands.hpp"

#include <cstddef>
#include <utility>

namespace tangere::solver {
namespace {

std::int32_t findRoot(std::vector<std::int32_t>* parent, std::int32_t block) {
  std::vector<std::int32_t>& up = *parent;
  while (up[block] != block) {
    up[block] = up[up[block]];
    block = up[block];
  }
  return block;
}

}  // namespace

void Islands::build(std::span<const ImpulseBlock> blocks, std::span<const ImpulseGroup> groups) {
  const auto numBlocks = static_cast<std::int32_t>(blocks.size());
  const auto isMoving = [&](std::int32_t block) { return blocks[block].inverseMass > 0; };

  // The lower root wins: a root is then the lowest block of its island,
  // whatever the order.
  parent_.resize(blocks.size());
  island_of_block_.assign(blocks.size(), -1);
  for (std::int32_t b = 0; b < numBlocks; ++b) parent_[b] = b;
  for (const ImpulseGroup& group : groups) {
    if (!isMoving(group.block1) || !isMoving(group.block2)) continue;
    std::int32_t root1 = findRoot(&parent_, group.block1);
    std::int32_t root2 = findRoot(&parent_, group.block2);
    if (root1 == root2) continue;
    if (root2 < root1) std::swap(root1, root2);
    parent_[root2] = root1;
  }

  // Counts first, then the two lists by one pass each, which keeps them
  // ascending.
  const auto islandRoot = [&](const ImpulseGroup& group) {
    return findRoot(&parent_, isMoving(group.block1) ? group.block1 : group.block2);
  };
  num_blocks_.assign(blocks.size(), 0);
  num_groups_.assign(blocks.size(), 0);
  for (const ImpulseGroup& group : groups) {
    if (isMoving(group.block1) || isMoving(group.block2)) ++num_groups_[islandRoot(group)];
  }
  std::int32_t numIslands = 0;
  for (std::int32_t b = 0; b < numBlocks; ++b) {
    if (!isMoving(b)) continue;
    const std::int32_t root = findRoot(&parent_, b);
    if (num_groups_[root] == 0) continue;
    island_of_block_[b] = root == b ? numIslands++ : island_of_block_[root];
    ++num_blocks_[root];
  }

  block_end_.resize(static_cast<std::size_t>(numIslands));
  group_end_.resize(static_cast<std::size_t>(numIslands));
  islands_.resize(static_cast<std::size_t>(numIslands));
  std::int32_t totalBlocks = 0, totalGroups = 0;
  for (std::int32_t b = 0; b < numBlocks; ++b) {
    if (parent_[b] != b || island_of_block_[b] < 0) continue;
    block_end_[island_of_block_[b]] = totalBlocks;
    group_end_[island_of_block_[b]] = totalGroups;
    totalBlocks += num_blocks_[b];
    totalGroups += num_groups_[b];
  }
  block_list_.resize(static_cast<std::size_t>(totalBlocks));
  group_list_.resize(static_cast<std::size_t>(totalGroups));
  for (std::int32_t b = 0; b < numBlocks; ++b) {
    if (island_of_block_[b] >= 0) block_list_[block_end_[island_of_block_[b]]++] = b;
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const ImpulseGroup& group = groups[g];
    if (!isMoving(group.block1) && !isMoving(group.block2)) continue;
    group_list_[group_end_[island_of_block_[islandRoot(group)]]++] = static_cast<std::int32_t>(g);
  }

  std::int32_t firstBlock = 0, firstGroup = 0;
  for (std::int32_t i = 0; i < numIslands; ++i) {
    islands_[i] = {.groups = {group_list_.data() + firstGroup, group_list_.data() + group_end_[i]},
                   .blocks = {block_list_.data() + firstBlock, block_list_.data() + block_end_[i]}};
    firstBlock = block_end_[i];
    firstGroup = group_end_[i];
  }
}

}  // namespace tangere::solver
