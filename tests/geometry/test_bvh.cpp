// SPDX-License-Identifier: Apache-2.0
#include "geometry/bvh.hpp"

#include "geometry/mesh_samples.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace tangere::geometry {
namespace {

struct Boxes {
  std::vector<Aabb> boxes;
  Bvh bvh;

  void build() {
    Aabb all = boxes[0];
    for (const Aabb& b : boxes) all.merge(b);
    bvh.setFrame(all);
    std::vector<BvhPrimitive> primitives;
    for (std::size_t i = 0; i < boxes.size(); ++i)
      primitives.push_back(bvh.primitive(boxes[i].lower, boxes[i].upper, static_cast<int>(i)));
    bvh.build(primitives);
  }
};

/// Every primitive is in exactly one leaf and every box on the way holds it; returns the depth.
int checkTree(const Boxes& input) {
  const Bvh& bvh = input.bvh;
  std::vector<int> seen(input.boxes.size(), 0);
  int deepest = 0;
  const std::function<void(int, int, const Aabb&)> visit = [&](int index, int depth,
                                                               const Aabb& outer) {
    deepest = std::max(deepest, depth);
    const BvhNode& node = bvh.nodes[index];
    for (int i = 0; i < 4; ++i) {
      if (node.count[i] < 0) continue;
      Aabb box;
      for (int k = 0; k < 3; ++k) {
        box.lower[k] = node.lower[k][i];
        box.upper[k] = node.upper[k][i];
      }
      EXPECT_TRUE(outer.contains(box));
      if (node.count[i] == 0) {
        visit(node.child[i], depth + 1, box);
        continue;
      }
      EXPECT_LE(node.count[i], Bvh::kLeafSize);
      for (int s = node.child[i]; s < node.child[i] + node.count[i]; ++s) {
        const int p = bvh.order[s];
        ++seen[p];
        EXPECT_TRUE(box.contains(bvh.toUnit(input.boxes[p].lower)));
        EXPECT_TRUE(box.contains(bvh.toUnit(input.boxes[p].upper)));
      }
    }
  };
  visit(0, 0, {{-2, -2, -2}, {2, 2, 2}});
  for (const int count : seen) EXPECT_EQ(count, 1);
  return deepest;
}

TEST(Bvh, HoldsEveryPrimitiveOnceInsideAllBoxesAboveIt) {
  test::Random random(1);
  for (const int n : {1, 2, 3, 4, 5, 7, 16, 17, 33, 100, 1000}) {
    for (const double offset : {0.0, 1e6}) {
      Boxes input;
      for (int i = 0; i < n; ++i) {
        const Vec3 c = random.inCube(3) + Vec3{offset, -offset, 0};
        input.boxes.push_back({c - Vec3{0.1, 0.2, 0.05}, c + Vec3{0.1, 0.2, 0.05}});
      }
      input.build();
      EXPECT_LE(checkTree(input), 12) << n;
    }
  }
}

TEST(Bvh, StaysShallowWhereAllPrimitivesCoincide) {
  Boxes input;
  for (int i = 0; i < 5000; ++i) input.boxes.push_back({{1, 1, 1}, {1, 1, 1}});
  input.build();
  EXPECT_LE(checkTree(input), 14);
}

TEST(Bvh, StaysWithinItsDepthOnPointsThatClusterGeometrically) {
  // Each point half as far from the origin as the last: splits by area peel off a few at a time.
  Boxes input;
  double x = 1;
  for (int i = 0; i < 3000; ++i) {
    input.boxes.push_back({{x, 0, 0}, {x, 0, 0}});
    x *= 0.97;
  }
  input.build();
  EXPECT_LT(checkTree(input), Bvh::kMaxDepth);
}

TEST(Bvh, TellsPrimitivesApartInAClusterFarSmallerThanTheWhole) {
  // The whole is 2 across and the cluster 1e-5, less than one cell of the builder's first grid.
  constexpr double kCluster = 1e-5;
  test::Random random(3);
  Boxes input;
  input.boxes.push_back({{-1, -1, -1}, {-1, -1, -1}});
  for (int i = 0; i < 2000; ++i) {
    const Vec3 c = Vec3{0.9, 0.9, 0.9} + random.inCube(kCluster / 2);
    input.boxes.push_back({c, c});
  }
  input.build();
  EXPECT_LE(checkTree(input), 12);
  double sum = 0;
  int numLeaves = 0;
  for (const BvhNode& node : input.bvh.nodes)
    for (int i = 0; i < 4; ++i) {
      if (node.count[i] < 2 || node.lower[0][i] < 0) continue;
      for (int k = 0; k < 3; ++k)
        sum += double(node.upper[k][i] - node.lower[k][i]) * input.bvh.scale / (3 * kCluster);
      ++numLeaves;
    }
  // Up to four of 2000 points in a cube fill a tenth of its width or so; four taken at random fill
  // six tenths on average.
  ASSERT_GT(numLeaves, 0);
  EXPECT_LT(sum / numLeaves, 0.25);
}

TEST(Bvh, KeepsItsPrecisionAtEveryScale) {
  for (const double scale : {1e-9, 1e-3, 1.0, 1e6, 1e11}) {
    test::Random random(2);
    Boxes input;
    for (int i = 0; i < 200; ++i) {
      const Vec3 c = random.inCube(scale);
      input.boxes.push_back({c, c + Vec3{0.01, 0.01, 0.01} * scale});
    }
    input.build();
    EXPECT_LE(checkTree(input), 8) << scale;
  }
}

}  // namespace
}  // namespace tangere::geometry
