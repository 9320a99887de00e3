// SPDX-License-Identifier: Apache-2.0
#include "solver/contact_scenes.hpp"
#include "solver/group_coloring.hpp"
#include "solver/islands.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tangere::solver {
namespace {

/// `moving` says which blocks move; one group for each pair.
ImpulseProblem graph(const std::vector<bool>& moving,
                     const std::vector<std::pair<int, int>>& pairs) {
  ImpulseProblem problem;
  for (const bool moves : moving) {
    problem.blocks.push_back({.inverseMass = moves ? 1.0 : 0.0, .duration = test::kDt});
  }
  for (const auto& [block1, block2] : pairs) {
    problem.groups.push_back({.block1 = block1, .block2 = block2});
  }
  return problem;
}

std::vector<int> list(std::span<const std::int32_t> values) {
  return {values.begin(), values.end()};
}

TEST(Islands, FixedBlocksDoNotJoin) {
  // 0 is a floor; 1-2 and 3 stand on it; 4 touches nothing.
  const ImpulseProblem problem =
      graph({false, true, true, true, true}, {{3, 0}, {1, 0}, {2, 1}, {2, 0}});
  Islands islands;
  islands.build(problem.blocks, problem.groups);

  ASSERT_EQ(islands.islands().size(), 2u);
  EXPECT_EQ(list(islands.islands()[0].blocks), (std::vector<int>{1, 2}));
  EXPECT_EQ(list(islands.islands()[0].groups), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(list(islands.islands()[1].blocks), (std::vector<int>{3}));
  EXPECT_EQ(list(islands.islands()[1].groups), (std::vector<int>{0}));
  EXPECT_EQ(list(islands.islandOfBlock()), (std::vector<int>{-1, 0, 0, 1, -1}));
}

TEST(Islands, AreInOrderOfTheirLowestBlockWhateverTheOrderOfTheGroups) {
  Islands islands;
  const ImpulseProblem problem =
      graph({true, true, true, true, true, true}, {{5, 2}, {4, 1}, {3, 5}, {1, 0}});
  islands.build(problem.blocks, problem.groups);
  ASSERT_EQ(islands.islands().size(), 2u);
  EXPECT_EQ(list(islands.islands()[0].blocks), (std::vector<int>{0, 1, 4}));
  EXPECT_EQ(list(islands.islands()[1].blocks), (std::vector<int>{2, 3, 5}));

  const ImpulseProblem shuffled =
      graph({true, true, true, true, true, true}, {{1, 0}, {3, 5}, {4, 1}, {5, 2}});
  islands.build(shuffled.blocks, shuffled.groups);
  EXPECT_EQ(list(islands.islandOfBlock()), (std::vector<int>{0, 0, 1, 1, 0, 1}));
}

TEST(Islands, CoverEveryGroupAndBlockOnce) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 50; ++round) {
    std::vector<bool> moving(60);
    for (std::size_t i = 0; i < moving.size(); ++i) moving[i] = random() % 5 != 0;
    std::vector<std::pair<int, int>> pairs;
    for (int i = 0; i < 50; ++i) {
      const int a = static_cast<int>(random() % 60), b = static_cast<int>(random() % 60);
      if (a != b && (moving[a] || moving[b])) pairs.emplace_back(a, b);
    }
    const ImpulseProblem problem = graph(moving, pairs);
    Islands islands;
    islands.build(problem.blocks, problem.groups);
    std::set<int> groups, blocks;
    for (const ImpulseIsland& island : islands.islands()) {
      const std::set<int> own(island.blocks.begin(), island.blocks.end());
      for (const int block : island.blocks) ASSERT_TRUE(blocks.insert(block).second);
      for (const int group : island.groups) {
        ASSERT_TRUE(groups.insert(group).second);
        for (const int block : {pairs[group].first, pairs[group].second}) {
          ASSERT_TRUE(!moving[block] || own.count(block) == 1);
        }
      }
    }
    EXPECT_EQ(groups.size(), pairs.size());
  }
}

TEST(ColorGroups, AChainNeedsTwoColorsAndFixedBlocksCountForNothing) {
  const ImpulseProblem problem = graph({false, true, true, true}, {{1, 0}, {2, 1}, {3, 2}, {3, 0}});
  Islands islands;
  islands.build(problem.blocks, problem.groups);
  std::vector<std::uint64_t> used(problem.blocks.size());
  std::vector<std::uint8_t> colors;
  EXPECT_EQ(colorGroups(problem, islands.islands()[0], used, &colors), 2);
  EXPECT_EQ(colors, (std::vector<std::uint8_t>{0, 1, 0, 1}));
}

TEST(ColorGroups, GroupsOfOneColorShareNoMovingBlockAndTheRestOverflows) {
  std::vector<std::pair<int, int>> star;
  for (int i = 1; i <= 100; ++i) star.emplace_back(i, 0);
  const ImpulseProblem problem = graph(std::vector<bool>(101, true), star);
  Islands islands;
  islands.build(problem.blocks, problem.groups);
  std::vector<std::uint64_t> used(problem.blocks.size());
  std::vector<std::uint8_t> colors;
  EXPECT_EQ(colorGroups(problem, islands.islands()[0], used, &colors), kOverflowColor);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(colors[i], std::min(i, kOverflowColor));
}

}  // namespace
}  // namespace tangere::solver
