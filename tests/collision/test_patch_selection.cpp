// SPDX-License-Identifier: Apache-2.0
#include "collision/kernels/patch_selection.hpp"

#include "collision/box_pose_helpers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace tangere {
namespace {

struct Points {
  std::vector<double> x, y, z, depth;
  void add(double px, double py, double pz, double d) {
    x.push_back(px);
    y.push_back(py);
    z.push_back(pz);
    depth.push_back(d);
  }
  [[nodiscard]] std::vector<int> select(double size = 1) const {
    std::vector<double> nearest(x.size() + 1);
    std::vector<int> chosen(4, -1);
    chosen.resize(static_cast<std::size_t>(kernel::selectPatchPoints(
        x.data(), y.data(), z.data(), depth.data(), static_cast<int>(x.size()), size,
        nearest.data(), chosen.data())));
    return chosen;
  }
};

TEST(SelectPatchPoints, FourOrFewerAreAllKeptWithTheDeepestFirst) {
  Points p;
  EXPECT_TRUE(p.select().empty());
  p.add(0, 0, 0, 0.1);
  EXPECT_EQ(p.select(), (std::vector<int>{0}));
  p.add(1, 0, 0, 0.3);
  p.add(0, 1, 0, 0.2);
  EXPECT_EQ(p.select(), (std::vector<int>{1, 0, 2}));
}

TEST(SelectPatchPoints, OctagonOfEqualDepthGivesTheSquareFromItsFirstCorner) {
  Points p;
  for (int i = 0; i < 8; ++i) {
    const double a = i * 3.14159265358979323846 / 4;
    p.add(std::cos(a), std::sin(a), 0, 0.01);
  }
  EXPECT_EQ(p.select(), (std::vector<int>{0, 4, 2, 6}));
}

// Pentagon: corners 2 and 3 are equally far from corner 0, and 3 is deeper. It is taken whichever
// way round the corners are numbered, as in a mirror image.
TEST(SelectPatchPoints, OfEquallyFarPointsTheDeeperIsTaken) {
  const double depth[5] = {0.05, 0.01, 0.02, 0.03, 0.01};
  for (const bool isMirrored : {false, true}) {
    Points p;
    for (int i = 0; i < 5; ++i) {
      const int corner = isMirrored ? (5 - i) % 5 : i;
      const double a = corner * 2 * 3.14159265358979323846 / 5;
      p.add(std::cos(a), std::sin(a), 0, depth[corner]);
    }
    std::vector<int> corners;
    for (const int i : p.select()) corners.push_back(isMirrored ? (5 - i) % 5 : i);
    EXPECT_EQ(corners[0], 0) << isMirrored;
    EXPECT_EQ(corners[1], 3) << isMirrored;
  }
}

TEST(SelectPatchPoints, DeepestIsChosenThenTheFarthestFromThoseChosen) {
  Points p;
  p.add(0, 0, 0, 0.01);
  p.add(10, 0, 0, 0.02);
  p.add(0, 3, 0, 0.05);  // deepest
  p.add(0.1, 0, 0, 0.01);
  p.add(9.9, 0.1, 0, 0.01);
  p.add(5, 1, 0, 0.01);
  // From 2 the farthest is 1; then 5, at squared distances 26 and 29; then 3, at 9.01 from 2.
  EXPECT_EQ(p.select(), (std::vector<int>{2, 1, 5, 3}));
}

TEST(SelectPatchPoints, NoiseDoesNotChangeTheChoice) {
  test::Random random(3);
  Points p;
  for (int i = 0; i < 8; ++i) {
    const double a = i * 3.14159265358979323846 / 4;
    p.add(std::cos(a), std::sin(a), 0, 0.01);
  }
  const std::vector<int> expected = p.select();
  for (int trial = 0; trial < 200; ++trial) {
    Points q = p;
    for (std::size_t i = 0; i < q.x.size(); ++i) {
      q.x[i] += random.uniform(-1e-9, 1e-9);
      q.y[i] += random.uniform(-1e-9, 1e-9);
      q.depth[i] += random.uniform(-1e-9, 1e-9);
    }
    EXPECT_EQ(q.select(), expected);
  }
}

TEST(SelectPatchPoints, CopiesOfChosenPointsAreNotChosenAgain) {
  Points p;
  for (int i = 0; i < 7; ++i) p.add(i % 2, 0, 0, 0.01);
  EXPECT_EQ(p.select(), (std::vector<int>{0, 1}));
}

// Greedy farthest-point selection written the slow way.
TEST(SelectPatchPoints, AgreesWithTheDefinitionOnRandomPoints) {
  test::Random random(5);
  for (int trial = 0; trial < 500; ++trial) {
    Points p;
    const int n = 5 + static_cast<int>(random.next() % 100);
    for (int i = 0; i < n; ++i)
      p.add(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1),
            random.uniform(0, 1));
    std::vector<int> expected{
        static_cast<int>(std::max_element(p.depth.begin(), p.depth.end()) - p.depth.begin())};
    while (expected.size() < 4) {
      int best = -1;
      double bestDistance = -1;
      for (int i = 0; i < n; ++i) {
        double nearest = 1e300;
        for (const int c : expected)
          nearest = std::min(nearest,
                             squaredNorm(Vec3{p.x[i] - p.x[c], p.y[i] - p.y[c], p.z[i] - p.z[c]}));
        if (nearest > bestDistance) {
          bestDistance = nearest;
          best = i;
        }
      }
      expected.push_back(best);
    }
    EXPECT_EQ(p.select(), expected);
  }
}

}  // namespace
}  // namespace tangere
