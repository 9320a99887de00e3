// SPDX-License-Identifier: Apache-2.0
#include "geometry/linear_bvh.hpp"

#include "core/scene_random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tangere {
namespace {

using geometry::IndexPair;
using geometry::LinearBvh;
using geometry::LinearBvhNode;
using geometry::ValueRange;
using test::SceneRandom;

/// Lower corners in [0, 20)^3, sides in [0, 1).
std::vector<Aabb> randomBoxes(SceneRandom& random, int n) {
  std::vector<Aabb> boxes;
  for (int i = 0; i < n; ++i) {
    const Vec3 lower = random.vec(0, 20), size = random.vec(0, 1);
    boxes.push_back({lower, lower + size});
  }
  return boxes;
}

/// Order, links, and bounds that are the union of the children, to the last bit.
void expectValid(const LinearBvh& tree, const std::vector<Aabb>& boxes) {
  const int n = static_cast<int>(boxes.size());
  ASSERT_EQ(tree.size(), n);
  ASSERT_EQ(static_cast<int>(tree.nodes().size()), 2 * n - 1);
  for (int i = 1; i < n; ++i) {
    EXPECT_TRUE(tree.codes()[i - 1] < tree.codes()[i] ||
                (tree.codes()[i - 1] == tree.codes()[i] && tree.order()[i - 1] < tree.order()[i]));
  }
  std::vector<int> parents(tree.nodes().size(), 0), leaves(boxes.size(), 0);
  for (int k = 0; k < 2 * n - 1; ++k) {
    const LinearBvhNode& node = tree.nodes()[k];
    if (node.primitive >= 0) {
      EXPECT_EQ(node.skip, k + 1);
      EXPECT_EQ(node.box, boxes[node.primitive]);
      ++leaves[node.primitive];
      continue;
    }
    const int left = k + 1, right = tree.nodes()[left].skip;
    ASSERT_LT(right, 2 * n - 1);
    EXPECT_EQ(tree.nodes()[right].skip, node.skip);
    ++parents[left];
    ++parents[right];
    Aabb both = tree.nodes()[left].box;
    both.merge(tree.nodes()[right].box);
    EXPECT_EQ(node.box, both);
  }
  EXPECT_EQ(parents[0], 0);
  EXPECT_TRUE(std::all_of(parents.begin() + 1, parents.end(), [](int c) { return c == 1; }));
  EXPECT_TRUE(std::all_of(leaves.begin(), leaves.end(), [](int c) { return c == 1; }));
}

TEST(LinearBvh, CodesAreSortedLinksReachEveryBoxAndBoundsAreUnions) {
  SceneRandom random(1);
  for (const int n : {1, 2, 3, 5, 17, 500, 3000}) {
    const std::vector<Aabb> boxes = randomBoxes(random, n);
    LinearBvh tree;
    tree.build(boxes);
    expectValid(tree, boxes);
  }
}

TEST(LinearBvh, QueriesEqualBruteForceAndAreSymmetricAndReflexive) {
  SceneRandom random(2);
  for (int batch = 0; batch < 10; ++batch) {
    const std::vector<Aabb> boxes = randomBoxes(random, 500);
    LinearBvh tree;
    tree.build(boxes);
    std::vector<std::vector<std::int32_t>> found(boxes.size());
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      tree.query(boxes[i], &found[i]);
      std::vector<std::int32_t> expected;
      for (std::size_t j = 0; j < boxes.size(); ++j) {
        if (boxes[i].overlaps(boxes[j])) expected.push_back(static_cast<std::int32_t>(j));
      }
      ASSERT_EQ(found[i], expected);
      EXPECT_TRUE(std::binary_search(found[i].begin(), found[i].end(), static_cast<int>(i)));
    }
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      for (const std::int32_t j : found[i]) {
        EXPECT_TRUE(std::binary_search(found[j].begin(), found[j].end(), static_cast<int>(i)));
      }
    }
  }
}

TEST(LinearBvh, SelfPairsEqualBruteForce) {
  SceneRandom random(3);
  for (const int n : {0, 1, 2, 5, 500, 2000}) {
    const std::vector<Aabb> boxes = randomBoxes(random, n);
    LinearBvh tree;
    tree.build(boxes);
    std::vector<IndexPair> found, expected, even;
    tree.selfPairs(&found);
    for (int i = 0; i < n; ++i) {
      for (int j = i + 1; j < n; ++j) {
        if (boxes[i].overlaps(boxes[j])) expected.push_back({i, j});
      }
    }
    EXPECT_EQ(found, expected);
    tree.selfPairs([](std::int32_t i, std::int32_t j) { return (i + j) % 2 == 0; }, &even);
    std::erase_if(expected, [](const IndexPair& p) { return (p.first + p.second) % 2 != 0; });
    EXPECT_EQ(even, expected);
  }
}

TEST(LinearBvh, PairsOfTwoTreesEqualBruteForceInAnyPose) {
  SceneRandom random(4);
  std::size_t numPairs = 0;
  for (int trial = 0; trial < 30; ++trial) {
    std::vector<Aabb> a = randomBoxes(random, 300), b = randomBoxes(random, 200);
    for (Aabb& box : a) box.expand(random.real(0, 1));
    std::vector<ValueRange> valuesA, valuesB;
    for (std::size_t i = 0; i < a.size(); ++i) valuesA.push_back({0.25 * random.below(4), 1});
    for (std::size_t i = 0; i < b.size(); ++i) valuesB.push_back({0, 0.25 * random.below(5)});
    LinearBvh treeA, treeB;
    treeA.build(a, valuesA);
    treeB.build(b, valuesB);
    const Mat3 R = trial == 0 ? Mat3::identity() : random.rotation();
    const Vec3 middle{10, 10, 10};
    const Vec3 shift = trial == 0 ? Vec3{} : random.vec(-5, 5);
    const Transform X{R, middle - R * middle + shift};
    const Real margin = trial % 3 == 0 ? 0 : 0.25;
    std::vector<IndexPair> found, expected;
    treeA.pairs(treeB, X, margin, &found);
    for (int i = 0; i < 300; ++i) {
      for (int j = 0; j < 200; ++j) {
        Aabb moved = transformed(b[j], X);
        moved.expand(margin);
        const bool isSameValue =
            valuesA[i].lower <= valuesB[j].upper && valuesB[j].lower <= valuesA[i].upper;
        if (isSameValue && a[i].overlaps(moved)) expected.push_back({i, j});
      }
    }
    EXPECT_EQ(found, expected) << trial;
    if (X == Transform::identity() && margin == 0) {
      std::vector<IndexPair> inOneFrame;
      treeA.pairs(treeB, &inOneFrame);
      EXPECT_EQ(inOneFrame, expected);
    }
    numPairs += found.size();
  }
  EXPECT_GT(numPairs, 500u);
}

TEST(LinearBvh, RefitKeepsTheTopologyAndTheAnswers) {
  SceneRandom random(5);
  std::vector<Aabb> boxes = randomBoxes(random, 400);
  LinearBvh tree;
  tree.build(boxes);
  const std::vector<std::int32_t> order(tree.order().begin(), tree.order().end());
  for (Aabb& box : boxes) {
    const Vec3 shift = random.vec(-0.2, 0.2);
    box.lower += shift;
    box.upper += shift;
  }
  EXPECT_FALSE(tree.update(boxes));
  EXPECT_TRUE(std::equal(order.begin(), order.end(), tree.order().begin()));
  LinearBvh fresh;
  fresh.build(boxes);
  std::vector<IndexPair> refitted, built;
  tree.selfPairs(&refitted);
  fresh.selfPairs(&built);
  EXPECT_EQ(refitted, built);
  for (std::size_t k = 0; k < tree.nodes().size(); ++k) {
    const LinearBvhNode& node = tree.nodes()[k];
    if (node.primitive >= 0) continue;
    EXPECT_TRUE(node.box.contains(tree.nodes()[k + 1].box));
  }
}

TEST(LinearBvh, RebuildsWhenTheBoxesHaveMixed) {
  SceneRandom random(6);
  std::vector<Aabb> boxes = randomBoxes(random, 400);
  std::vector<ValueRange> values(boxes.size(), ValueRange{1, 2});
  LinearBvh tree({.rebuildGrowth = 1.5});
  tree.build(boxes, values);
  const Real before = tree.quality();
  random.shuffle(boxes);
  EXPECT_TRUE(tree.update(boxes));
  expectValid(tree, boxes);
  EXPECT_LT(tree.quality(), 1.2 * before);
  EXPECT_EQ(tree.nodes()[0].valueLower, 1);  // values stay with their primitives
  EXPECT_EQ(tree.nodes()[0].valueUpper, 2);
}

TEST(LinearBvh, EqualBoxesAreKeptInOrderAndInABalancedTree) {
  const std::vector<Aabb> boxes(10000, Aabb{{1, 2, 3}, {2, 3, 4}});
  LinearBvh tree;
  tree.build(boxes);
  for (int i = 0; i < tree.size(); ++i) EXPECT_EQ(tree.order()[i], i);
  expectValid(tree, boxes);
  std::vector<std::int32_t> found;
  tree.query(boxes[0], &found);
  EXPECT_EQ(found.size(), boxes.size());
}

TEST(LinearBvh, BoxesThatAreNotFiniteDoNotDisturbTheOthers) {
  SceneRandom random(7);
  std::vector<Aabb> boxes = randomBoxes(random, 50);
  constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
  boxes[7] = {{-kInfinity, 0, 0}, {kInfinity, 1, 1}};
  boxes[20].lower.x = boxes[20].upper.x = std::nan("");
  LinearBvh tree;
  tree.build(boxes);
  std::vector<std::int32_t> found;
  for (int i = 0; i < 50; ++i) {
    if (i == 20) continue;
    tree.query(boxes[i], &found);
    EXPECT_TRUE(std::binary_search(found.begin(), found.end(), i)) << i;
    EXPECT_FALSE(std::binary_search(found.begin(), found.end(), 20)) << i;
  }
}

TEST(FindSplit, SplitsAtTheHighestBitAndHalvesEqualCodes) {
  const std::uint64_t codes[] = {1, 2, 3, 8, 9, 9, 9, 9};
  EXPECT_EQ(geometry::findSplit(codes, 0, 7), 2);  // 3 | 8
  EXPECT_EQ(geometry::findSplit(codes, 0, 2), 0);  // 01 | 10
  EXPECT_EQ(geometry::findSplit(codes, 3, 7), 3);
  EXPECT_EQ(geometry::findSplit(codes, 4, 7), 5);
}

TEST(MortonCode, InterleavesTheBitsOfTheThreeAxes) {
  EXPECT_EQ(geometry::mortonCode(1, 0, 0), 4u);
  EXPECT_EQ(geometry::mortonCode(0, 1, 0), 2u);
  EXPECT_EQ(geometry::mortonCode(0, 0, 1), 1u);
  EXPECT_EQ(geometry::mortonCode(2, 2, 3), 0b111001u);
  EXPECT_EQ(geometry::mortonCode(0x1fffff, 0x1fffff, 0x1fffff), 0x7fffffffffffffffu);
}

}  // namespace
}  // namespace tangere
