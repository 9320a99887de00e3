// SPDX-License-Identifier: Apache-2.0
#include "solver/contact_scenes.hpp"
#include "solver/pack_layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace tangere::solver {
namespace {

struct LaidOut {
  ImpulseProblem problem;
  Islands islands;
  std::vector<std::int32_t> slotOfBlock;
  std::vector<std::uint64_t> usedColors;
  PackLayout layout;
};

/// The largest island of a random heap whose blocks lie anywhere in a box.
void layOut(std::uint64_t seed, int numBlocks, LaidOut* out) {
  std::mt19937_64 random(seed);
  out->problem = test::randomHeap(&random, numBlocks, 0);
  for (ImpulseBlock& block : out->problem.blocks) {
    for (int i = 0; i < 3; ++i) block.center[i] = static_cast<Real>(random() % 1000) * (i + 1);
  }
  out->islands.build(out->problem.blocks, out->problem.groups);
  out->slotOfBlock.resize(out->problem.blocks.size());
  out->usedColors.resize(out->problem.blocks.size());
  const auto islands = out->islands.islands();
  const auto largest = std::max_element(
      islands.begin(), islands.end(),
      [](const auto& a, const auto& b) { return a.blocks.size() < b.blocks.size(); });
  ASSERT_NE(largest, islands.end());
  out->layout.build(out->problem, *largest, out->slotOfBlock, out->usedColors);
  std::set<std::int32_t> blocks(out->layout.blocks().begin(), out->layout.blocks().end());
  EXPECT_EQ(blocks, std::set<std::int32_t>(largest->blocks.begin(), largest->blocks.end()));
}

/// The moving blocks of the groups in a range of packs, and how many groups.
std::set<std::int32_t> movingBlocks(const LaidOut& laidOut, IndexRange packs, int* numGroups) {
  std::set<std::int32_t> blocks;
  for (int p = packs.begin; p < packs.end; ++p) {
    std::set<std::int32_t> inPack;
    for (int lane = 0; lane < kLanes; ++lane) {
      const std::int32_t g = laidOut.layout.groupsOf(p)[lane];
      if (g < 0) continue;
      ++*numGroups;
      const ImpulseGroup& group = laidOut.problem.groups[g];
      EXPECT_LE(group.count, laidOut.layout.firstRow(p + 1) - laidOut.layout.firstRow(p));
      for (const std::int32_t b : {group.block1, group.block2}) {
        if (!(laidOut.problem.blocks[b].inverseMass > 0)) continue;
        EXPECT_TRUE(inPack.insert(b).second) << "a pack with one block twice";
        blocks.insert(b);
      }
    }
  }
  return blocks;
}

TEST(PackLayout, AnIslandOfFewBlocksHasOnePart) {
  LaidOut laidOut;
  layOut(1, kMinDividedBlocks / 2, &laidOut);
  EXPECT_EQ(laidOut.layout.numParts(), 1);
  EXPECT_EQ(laidOut.layout.numLevels(), 1);
  EXPECT_TRUE(std::is_sorted(laidOut.layout.blocks().begin(), laidOut.layout.blocks().end()));
}

TEST(PackLayout, PartsOfALevelShareNoMovingBlockAndEveryGroupIsInOnePack) {
  for (const int numBlocks : {250, 700, 1500}) {
    LaidOut laidOut;
    layOut(static_cast<std::uint64_t>(numBlocks), numBlocks, &laidOut);
    const PackLayout& layout = laidOut.layout;
    EXPECT_GT(layout.numParts(), 1);
    EXPECT_EQ(layout.numParts(), 1 << (layout.numLevels() - 1));

    int numGroups = 0;
    for (int level = 0; level < layout.numLevels(); ++level) {
      std::set<std::int32_t> blocksOfLevel;
      for (int i = 0; i < layout.numUnions(level); ++i) {
        for (const std::int32_t b : movingBlocks(laidOut, layout.packsOf(level, i), &numGroups)) {
          EXPECT_TRUE(blocksOfLevel.insert(b).second) << "block " << b << " at level " << level;
        }
      }
    }
    EXPECT_EQ(numGroups, static_cast<int>(laidOut.problem.groups.size()));

    int numPacks = 0;
    for (int part = 0; part < layout.numParts(); ++part) {
      for (const IndexRange packs : layout.packsOfPart(part)) numPacks += packs.end - packs.begin;
    }
    EXPECT_EQ(numPacks, layout.numPacks());
  }
}

TEST(PackLayout, APackThatIsApartFromTheNextSharesNoMovingBlockWithIt) {
  LaidOut laidOut;
  layOut(8, 400, &laidOut);
  int numApart = 0;
  for (int p = 0; p < laidOut.layout.numPacks(); ++p) {
    if (!laidOut.layout.isApartFromNext(p)) continue;
    ASSERT_LT(p + 1, laidOut.layout.numPacks());
    int numGroups = 0;
    const std::set<std::int32_t> next = movingBlocks(laidOut, {p + 1, p + 2}, &numGroups);
    for (const std::int32_t b : movingBlocks(laidOut, {p, p + 1}, &numGroups)) {
      EXPECT_EQ(next.count(b), 0u) << "packs " << p << " and " << p + 1;
    }
    ++numApart;
  }
  EXPECT_GT(numApart, laidOut.layout.numPacks() / 2);
}

TEST(PackLayout, HalvesLieOnTwoSidesOfTheLongestAxis) {
  LaidOut laidOut;
  layOut(5, kMinDividedBlocks + 50, &laidOut);
  ASSERT_EQ(laidOut.layout.numParts(), 2);
  Real highest = 0, lowest = 1e9;
  for (const int part : {0, 1}) {
    const IndexRange slots = laidOut.layout.blocksOfPart(part);
    for (int i = slots.begin; i < slots.end; ++i) {
      const Real z = laidOut.problem.blocks[laidOut.layout.blocks()[i]].center.z;
      if (part == 0) highest = std::max(highest, z);
      if (part == 1) lowest = std::min(lowest, z);
    }
  }
  EXPECT_LE(highest, lowest);
}

}  // namespace
}  // namespace tangere::solver
