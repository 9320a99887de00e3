// SPDX-License-Identifier: Apache-2.0
//
// Where each group of an island stands in the packs, and which packs may be
// worked on at the same time.
//
// A large island is divided by place into parts, 2^n of them by its size alone.
// The groups within a part belong to that part; those between two parts to the
// smallest union of parts, in halves of halves, that holds both. A sweep then
// takes the parts, which share no moving block, then their unions in pairs, and
// at last what joins the two halves of the island. Within a part, or a union,
// packs follow each other: so the bits depend on the division and not on the
// threads, and a thread finds its part of the island in its cache.
#pragma once

#include "solver/contact_packs.hpp"
#include "solver/impulse_problem.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tangere::solver {

/// Islands of fewer moving blocks have one part.
inline constexpr int kMinDividedBlocks = 192;

struct IndexRange {
  int begin = 0, end = 0;
};

/// Keeps its memory from island to island.
class PackLayout {
 public:
  /// `slotOfBlock` and `usedColors` have one entry for each block of the
  /// problem; those of the island are overwritten, the first with the place of
  /// each block in blocks().
  void build(const ImpulseProblem& problem, const ImpulseIsland& island,
             std::span<std::int32_t> slotOfBlock, std::span<std::uint64_t> usedColors);

  /// The moving blocks, part by part, ascending in each.
  [[nodiscard]] std::span<const std::int32_t> blocks() const { return blocks_; }
  [[nodiscard]] int numParts() const { return num_parts_; }
  [[nodiscard]] IndexRange blocksOfPart(int part) const {
    return {part_begin_[part], part_begin_[part + 1]};
  }

  /// Level 0 are the parts, level 1 pairs of them, and so on.
  [[nodiscard]] int numLevels() const { return num_levels_; }
  [[nodiscard]] int numUnions(int level) const { return num_parts_ >> level; }
  /// The packs of the groups that belong to one union.
  [[nodiscard]] IndexRange packsOf(int level, int unionOfLevel) const {
    const int node = nodeOf(level, unionOfLevel);
    return {pack_begin_[node], pack_begin_[node + 1]};
  }
  /// The packs of a part, and its share of those between parts: all packs are
  /// in one of these.
  [[nodiscard]] std::array<IndexRange, 2> packsOfPart(int part) const {
    const int first = pack_begin_[num_parts_];
    const int count = numPacks() - first;
    return {packsOf(0, part),
            IndexRange{first + count * part / num_parts_, first + count * (part + 1) / num_parts_}};
  }

  [[nodiscard]] int numPacks() const { return static_cast<int>(row_begin_.size()) - 1; }
  [[nodiscard]] int numRows() const { return row_begin_.back(); }
  [[nodiscard]] int firstRow(int pack) const { return row_begin_[pack]; }
  /// Whether a pack shares no moving block with the next one.
  [[nodiscard]] bool isApartFromNext(int pack) const { return is_apart_from_next_[pack] != 0; }
  /// kLanes groups of the problem, -1: none.
  [[nodiscard]] const std::int32_t* groupsOf(int pack) const {
    return &pack_groups_[kLanes * pack];
  }

 private:
  struct Place {
    Real along;
    std::int32_t block;
  };

  /// Unions are numbered level by level.
  [[nodiscard]] int nodeOf(int level, int unionOfLevel) const {
    return 2 * num_parts_ - (2 * num_parts_ >> level) + unionOfLevel;
  }

  void divide(const ImpulseProblem& problem, const ImpulseIsland& island,
              std::span<std::int32_t> slotOfBlock);
  void halve(const ImpulseProblem& problem, int begin, int end, int firstPart, int numParts);
  void sortByLevel(const ImpulseProblem& problem, const ImpulseIsland& island,
                   std::span<const std::int32_t> slotOfBlock);
  void packLevel(const ImpulseProblem& problem, const ImpulseIsland& groupsOfLevel,
                 std::span<const std::int32_t> slotOfBlock, std::span<std::uint64_t> usedColors,
                 int level);
  void addPacks(const ImpulseProblem& problem, std::span<const std::int32_t> groups, int lanes);
  /// The two parts that a group joins, or twice the same.
  [[nodiscard]] std::pair<unsigned, unsigned> partsOf(
      const ImpulseProblem& problem, const ImpulseGroup& group,
      std::span<const std::int32_t> slotOfBlock) const;

  int num_parts_ = 1, num_levels_ = 1;
  std::vector<Place> places_;
  std::vector<std::int32_t> blocks_;
  std::vector<std::int32_t> part_begin_;
  std::vector<std::uint8_t> part_of_slot_;
  std::vector<std::int32_t> fill_;
  std::vector<std::int32_t> by_level_, level_begin_;  // groups
  std::vector<std::uint8_t> levels_;
  std::vector<std::uint8_t> colors_;
  std::vector<std::int32_t> bucket_, order_;
  std::vector<std::int32_t> pack_begin_;   // of each union, and the end
  std::vector<std::int32_t> row_begin_;    // of each pack, and the end
  std::vector<std::int32_t> pack_groups_;  // four for each pack, -1: none
  std::vector<std::uint8_t> is_apart_from_next_;
};

}  // namespace tangere::solver
