// SPDX-License-Identifier: Apache-2.0
#include "core/reduce.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace tangere::core {
namespace {

std::string treeOf(int count) {
  return treeReduce(
      count, std::string("empty"), [](std::int64_t i) { return std::to_string(i); },
      [](const std::string& a, const std::string& b) { return "(" + a + " " + b + ")"; });
}

/// The tree as a device builds it: level by level, neighbours, the odd one moves up.
std::string treeByLevels(int count) {
  std::vector<std::string> level;
  for (int i = 0; i < count; ++i) level.push_back(std::to_string(i));
  while (level.size() > 1) {
    std::vector<std::string> next;
    for (std::size_t i = 0; i + 1 < level.size(); i += 2) {
      next.push_back("(" + level[i] + " " + level[i + 1] + ")");
    }
    if (level.size() % 2 != 0) next.push_back(level.back());
    level = next;
  }
  return level.front();
}

TEST(TreeReduce, CombinesNeighboursLevelByLevel) {
  EXPECT_EQ(treeOf(0), "empty");
  EXPECT_EQ(treeOf(1), "0");
  EXPECT_EQ(treeOf(5), "(((0 1) (2 3)) 4)");
  EXPECT_EQ(treeOf(7), "(((0 1) (2 3)) ((4 5) 6))");
  for (int count = 1; count < 200; ++count) EXPECT_EQ(treeOf(count), treeByLevels(count));
}

TEST(TreeSum, IsExactWhereALoopLosesEverything) {
  // A loop from the left adds each 2^-53 to one and rounds it away.
  std::vector<double> values(1 << 16, 0x1p-53);
  values[0] = 1.0;
  const double sum = treeSum(std::span<const double>(values));
  const double exact = 1.0 + 0x1p-53 * ((1 << 16) - 1);
  EXPECT_NEAR(sum, exact, 0x1p-52);
  double loop = 0.0;
  for (const double x : values) loop += x;
  EXPECT_EQ(loop, 1.0);
}

TEST(TreeSum, OfNothingIsZero) { EXPECT_EQ(treeSum(std::span<const float>()), 0.0f); }

TEST(TreeMinMax, FindTheExtremesAndKeepTheFirstOfEqual) {
  const std::vector<double> values{3, -1, 7, 7, -1, 2};
  EXPECT_EQ(treeMin(std::span<const double>(values), 99.0), -1);
  EXPECT_EQ(treeMax(std::span<const double>(values), 99.0), 7);
  EXPECT_EQ(treeMin(std::span<const double>(), 99.0), 99.0);
  EXPECT_EQ(treeMax(std::span<const double>(), -99.0), -99.0);
  const std::vector<double> zeros{0.0, -0.0};
  EXPECT_FALSE(std::signbit(treeMin(std::span<const double>(zeros), 1.0)));
  EXPECT_FALSE(std::signbit(treeMax(std::span<const double>(zeros), 1.0)));
}

}  // namespace
}  // namespace tangere::core
