// SPDX-License-Identifier: Apache-2.0
#include "solver/pack_layout.hpp"

#include "solver/group_coloring.hpp"

#include <algorithm>
#include <bit>

namespace tangere::solver {
namespace {

constexpr int kMaxParts = 128;
/// Groups of a colour are packed by number of points, so that few rows are
/// empty; all above this count as one size.
constexpr int kMaxSizeClass = 8;

/// The axis along which the centres of the blocks reach farthest.
template <class Places>
int longestAxis(const ImpulseProblem& problem, const Places& places) {
  Vec3 low = problem.blocks[places[0].block].center, high = low;
  for (const auto& place : places) {
    const Vec3& center = problem.blocks[place.block].center;
    for (int i = 0; i < 3; ++i) {
      low[i] = std::min(low[i], center[i]);
      high[i] = std::max(high[i], center[i]);
    }
  }
  const Vec3 extent = high - low;
  if (extent.x >= extent.y && extent.x >= extent.z) return 0;
  return extent.y >= extent.z ? 1 : 2;
}

}  // namespace

void PackLayout::build(const ImpulseProblem& problem, const ImpulseIsland& island,
                       std::span<std::int32_t> slotOfBlock, std::span<std::uint64_t> usedColors) {
  divide(problem, island, slotOfBlock);
  sortByLevel(problem, island, slotOfBlock);
  pack_groups_.clear();
  is_apart_from_next_.clear();
  row_begin_.assign(1, 0);
  pack_begin_.assign(1, 0);
  for (int level = 0; level < num_levels_; ++level) {
    const ImpulseIsland groups{.groups = {by_level_.data() + level_begin_[level],
                                          by_level_.data() + level_begin_[level + 1]},
                               .blocks = island.blocks};
    packLevel(problem, groups, slotOfBlock, usedColors, level);
  }
}

/// Halves of equal numbers of blocks along the longest axis, again and again.
void PackLayout::divide(const ImpulseProblem& problem, const ImpulseIsland& island,
                        std::span<std::int32_t> slotOfBlock) {
  const auto numBlocks = static_cast<int>(island.blocks.size());
  num_parts_ = num_levels_ = 1;
  while (num_parts_ < kMaxParts && numBlocks >= num_parts_ * kMinDividedBlocks) {
    num_parts_ *= 2;
    ++num_levels_;
  }
  part_begin_.assign(static_cast<std::size_t>(num_parts_) + 1, 0);
  part_begin_.back() = numBlocks;
  places_.resize(island.blocks.size());
  for (int i = 0; i < numBlocks; ++i) places_[i].block = island.blocks[i];
  halve(problem, 0, numBlocks, 0, num_parts_);

  for (int part = 0; part < num_parts_; ++part) {
    for (int i = part_begin_[part]; i < part_begin_[part + 1]; ++i) {
      slotOfBlock[places_[i].block] = part;
    }
  }
  blocks_.resize(island.blocks.size());
  part_of_slot_.resize(island.blocks.size());
  fill_.assign(part_begin_.begin(), part_begin_.end());
  for (const std::int32_t block : island.blocks) {
    const std::int32_t part = slotOfBlock[block];
    const std::int32_t slot = fill_[part]++;
    blocks_[slot] = block;
    part_of_slot_[slot] = static_cast<std::uint8_t>(part);
    slotOfBlock[block] = slot;
  }
}

void PackLayout::halve(const ImpulseProblem& problem, int begin, int end, int firstPart,
                       int numParts) {
  part_begin_[firstPart] = begin;
  if (numParts == 1) return;
  const std::span<Place> places(places_.data() + begin, places_.data() + end);
  const int axis = longestAxis(problem, places);
  for (Place& place : places) place.along = problem.blocks[place.block].center[axis];
  const int middle = (end - begin) / 2;
  // No two are equal: which blocks are in the first half is not left to the library.
  std::nth_element(places.begin(), places.begin() + middle, places.end(),
                   [](const Place& a, const Place& b) {
                     return a.along != b.along ? a.along < b.along : a.block < b.block;
                   });
  halve(problem, begin, begin + middle, firstPart, numParts / 2);
  halve(problem, begin + middle, end, firstPart + numParts / 2, numParts / 2);
}

std::pair<unsigned, unsigned> PackLayout::partsOf(const ImpulseProblem& problem,
                                                  const ImpulseGroup& group,
                                                  std::span<const std::int32_t> slotOfBlock) const {
  const bool moves1 = problem.blocks[group.block1].inverseMass > 0;
  const bool moves2 = problem.blocks[group.block2].inverseMass > 0;
  const std::int32_t block1 = moves1 ? group.block1 : group.block2;
  const std::int32_t block2 = moves2 ? group.block2 : group.block1;
  return {part_of_slot_[slotOfBlock[block1]], part_of_slot_[slotOfBlock[block2]]};
}

void PackLayout::sortByLevel(const ImpulseProblem& problem, const ImpulseIsland& island,
                             std::span<const std::int32_t> slotOfBlock) {
  levels_.resize(island.groups.size());
  level_begin_.assign(static_cast<std::size_t>(num_levels_) + 1, 0);
  for (std::size_t i = 0; i < island.groups.size(); ++i) {
    const auto [part1, part2] = partsOf(problem, problem.groups[island.groups[i]], slotOfBlock);
    levels_[i] = static_cast<std::uint8_t>(std::bit_width(part1 ^ part2));
    ++level_begin_[levels_[i] + 1];
  }
  for (int level = 0; level < num_levels_; ++level) level_begin_[level + 1] += level_begin_[level];
  by_level_.resize(island.groups.size());
  fill_.assign(level_begin_.begin(), level_begin_.end());
  for (std::size_t i = 0; i < island.groups.size(); ++i) {
    by_level_[fill_[levels_[i]]++] = island.groups[i];
  }
}

/// A counting sort by union, colour and size, larger groups first, and packs of what is side by
/// side.
void PackLayout::packLevel(const ImpulseProblem& problem, const ImpulseIsland& groupsOfLevel,
                           std::span<const std::int32_t> slotOfBlock,
                           std::span<std::uint64_t> usedColors, int level) {
  const std::span<const std::int32_t> groups = groupsOfLevel.groups;
  const int numColors = colorGroups(problem, groupsOfLevel, usedColors, &colors_);
  constexpr int kNumSizes = kMaxSizeClass + 1;
  const auto bucketOf = [&](std::size_t i) {
    const ImpulseGroup& group = problem.groups[groups[i]];
    const int unionOfLevel = static_cast<int>(partsOf(problem, group, slotOfBlock).first >> level);
    const int color = std::min<int>(colors_[i], numColors);  // the last is the overflow
    const int size = std::min(group.count, kMaxSizeClass);
    return (unionOfLevel * (numColors + 1) + color) * kNumSizes + (kMaxSizeClass - size);
  };
  bucket_.assign(static_cast<std::size_t>(numUnions(level) * (numColors + 1) * kNumSizes + 1), 0);
  for (std::size_t i = 0; i < groups.size(); ++i) ++bucket_[bucketOf(i) + 1];
  for (std::size_t i = 1; i < bucket_.size(); ++i) bucket_[i] += bucket_[i - 1];
  order_.resize(groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i) order_[bucket_[bucketOf(i)]++] = groups[i];

  // bucket_[b] is now the end of bucket b, so a colour ends where its last bucket does.
  int begin = 0;
  for (int unionOfLevel = 0; unionOfLevel < numUnions(level); ++unionOfLevel) {
    for (int color = 0; color <= numColors; ++color) {
      const int end = bucket_[(unionOfLevel * (numColors + 1) + color) * kNumSizes + kMaxSizeClass];
      addPacks(problem, {order_.data() + begin, order_.data() + end},
               color < numColors ? kLanes : 1);
      begin = end;
    }
    pack_begin_.push_back(numPacks());
  }
}

void PackLayout::addPacks(const ImpulseProblem& problem, std::span<const std::int32_t> groups,
                          int lanes) {
  for (std::size_t next = 0; next < groups.size();) {
    int numRows = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
      const bool isUsed = lane < lanes && next < groups.size();
      const std::int32_t group = isUsed ? groups[next++] : -1;
      pack_groups_.push_back(group);
      if (isUsed) numRows = std::max(numRows, problem.groups[group].count);
    }
    row_begin_.push_back(row_begin_.back() + numRows);
    is_apart_from_next_.push_back(lanes > 1 && next < groups.size() ? 1 : 0);  // of one colour
  }
}

}  // namespace tangere::solver
