// SPDX-License-Identifier: Apache-2.0
#include "collision/box_pose_helpers.hpp"
#include "collision/kernels/box_box.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tangere {
namespace {

using test::boxView;
using test::rotationAbout;

const Vec3 kHalfCube{0.5, 0.5, 0.5};

ContactManifold collideCubes(const Transform& X_W1, const Transform& X_W2) {
  ContactManifold manifold;
  kernel::collideBoxBox(boxView(kHalfCube), X_W1, boxView(kHalfCube), X_W2, &manifold);
  return manifold;
}

Transform above(const Mat3& rotation, double depth, double x = 0, double y = 0) {
  Transform X{rotation, {}};
  const double lowest = -test::boxSupport(kHalfCube, X, {0, 0, -1});
  X.translation = {x, y, 0.5 - lowest - depth};
  return X;
}

TEST(ContactDepth, SinglePointHasTheWholePenetrationDepth) {
  // A cube standing on a corner: the space diagonal is vertical.
  const Mat3 onCorner =
      rotationAbout({1, -1, 0}, std::acos(1 / std::sqrt(3.0)) * 57.29577951308232);
  const ContactManifold m = collideCubes({}, above(onCorner, 0.02, 0.1, 0.05));
  ASSERT_EQ(m.count, 1);
  EXPECT_EQ(m.type, ContactType::Point);
  EXPECT_NEAR(m.points[0].depth, 0.02, 1e-12);
  EXPECT_NEAR(m.points[0].position.z, 0.49, 1e-12);  // half way between 0.5 and 0.48
  EXPECT_NEAR(m.points[0].position.x, 0.1, 1e-12);
  EXPECT_NEAR(m.points[0].position.y, 0.05, 1e-12);
}

TEST(ContactDepth, FlatContactHasEqualDepths) {
  const ContactManifold m = collideCubes({}, above(Mat3::identity(), 0.01, 0.2, 0.1));
  ASSERT_EQ(m.count, 4);
  EXPECT_EQ(m.type, ContactType::Face);
  for (const ContactPoint& p : m.contacts()) {
    EXPECT_NEAR(p.depth, 0.01, 1e-15);
    EXPECT_NEAR(p.position.z, 0.495, 1e-15);
    EXPECT_EQ(p.normal, (Vec3{0, 0, -1}));
  }
}

TEST(ContactDepth, TiltedContactIsDeeperOnTheLowSide) {
  const double degrees = 1.0, slope = std::sin(degrees * 3.14159265358979323846 / 180);
  const ContactManifold m = collideCubes({}, above(rotationAbout({1, 0, 0}, degrees), 0.03));
  ASSERT_EQ(m.count, 4);
  std::vector<double> depths;
  for (const ContactPoint& p : m.contacts()) depths.push_back(p.depth);
  std::sort(depths.begin(), depths.end());
  EXPECT_NEAR(depths[3], 0.03, 1e-14);
  EXPECT_NEAR(depths[2], 0.03, 1e-14);
  EXPECT_NEAR(depths[1], depths[0], 1e-14);
  // The high side is cut by the far edge of the face below, or ends before it: either way it is
  // less than a cube's width times the slope higher.
  EXPECT_LT(depths[0], 0.03 - 0.95 * slope);
  EXPECT_GE(depths[0], 0.03 - 1.05 * slope);
}

TEST(ContactDepth, GrazingContactKeepsItsTinyDepths) {
  for (const double depth : {1e-6, 1e-9, 1e-12}) {
    const ContactManifold m = collideCubes({}, above(Mat3::identity(), depth, 0.3, 0));
    ASSERT_EQ(m.count, 4) << depth;
    for (const ContactPoint& p : m.contacts()) EXPECT_NEAR(p.depth, depth, 1e-15);
  }
}

TEST(ContactDepth, NoDepthExceedsThePenetrationDepth) {
  test::Random random(7);
  for (int i = 0; i < 2000; ++i) {
    const Transform X1{random.rotation(), {}}, X2{random.rotation(), random.inBall() * 0.9};
    const ContactManifold m = collideCubes(X1, X2);
    const double depth = test::leastOverlap(kHalfCube, X1, kHalfCube, X2);
    for (const ContactPoint& p : m.contacts()) EXPECT_LE(p.depth, depth + 1e-12);
  }
}

TEST(ContactDepth, NoDepthIsNegative) {
  test::Random random(8);
  int points = 0;
  for (int i = 0; i < 2000; ++i) {
    const Transform X1{random.rotation(), {}}, X2{random.rotation(), random.inBall() * 1.6};
    const ContactManifold m = collideCubes(X1, X2);
    for (const ContactPoint& p : m.contacts()) {
      EXPECT_GE(p.depth, 0);
      ++points;
    }
  }
  EXPECT_GT(points, 1000);
}

// With depths measured against the reference face instead of along the normal, nearly every edge
// contact would break this bound, by up to 40 %.
TEST(ContactDepth, TenThousandCubePairsRespectTheBoundAndReachIt) {
  test::Random random(9);
  int edgeContacts = 0, pairs = 0;
  while (pairs < 10000) {
    const Transform X1{random.rotation(), random.inBall()},
        X2{random.rotation(), X1.translation + random.inBall() * 1.3};
    const double depth = test::leastOverlap(kHalfCube, X1, kHalfCube, X2);
    kernel::BoxPair<double> pair;
    kernel::makeBoxPair(boxView(kHalfCube), X1, boxView(kHalfCube), X2, &pair);
    kernel::BoxAxis<double> axis;
    const bool overlapping = kernel::findBoxAxis(pair, &axis);
    ASSERT_EQ(overlapping, depth >= 0);
    if (!overlapping) continue;
    ++pairs;
    ASSERT_NEAR(axis.overlap, depth, 1e-10);  // a face may win by the bias

    const ContactManifold m = collideCubes(X1, X2);
    ASSERT_GE(m.count, 1);
    double deepest = 0;
    for (const ContactPoint& p : m.contacts()) {
      ASSERT_LE(p.depth, axis.overlap + 1e-12);
      ASSERT_GE(p.depth, 0);
      deepest = std::max(deepest, p.depth);
      ASSERT_NEAR(norm(p.normal), 1, 1e-14);
      // The normal is that of the smallest translation.
      ASSERT_NEAR(test::overlapAlong(kHalfCube, X1, kHalfCube, X2, p.normal), depth, 2e-10);
    }
    ASSERT_NEAR(deepest, axis.overlap, 1e-8);  // equal depths are told apart from 1e-8 on
    if (axis.index >= 6) {
      ++edgeContacts;
      // The closest points of the two edges, with the full depth, are one of the points.
      ASSERT_NEAR(deepest, axis.overlap, 1e-12);
      bool found = false;
      for (const ContactPoint& p : m.contacts()) {
        const Vec3 half = p.normal * (0.5 * p.depth);
        found = found || (p.depth > axis.overlap - 1e-12 &&
                          test::outsideBox(kHalfCube, X1, p.position - half) < 1e-9 &&
                          test::outsideBox(kHalfCube, X2, p.position + half) < 1e-9);
      }
      ASSERT_TRUE(found);
    }
  }
  EXPECT_GT(edgeContacts, 3000);
}

}  // namespace
}  // namespace tangere
