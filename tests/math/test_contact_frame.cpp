// SPDX-License-Identifier: Apache-2.0
#include "math/contact_frame.hpp"

#include "math/random_rotation.hpp"
#include "math/transform.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tangere::math {
namespace {

constexpr double kEpsilon = 0x1p-52;

TEST(ContactFrame, IsARotationWithTheNormalAsThirdAxis) {
  TestRandom random(1);
  for (int i = 0; i < 10000; ++i) {
    const Vec3 normal = random.unitVector();
    const Mat3 R = contactFrame(normal);
    EXPECT_EQ(R.col[2], normal);
    EXPECT_TRUE(isRotation(R, 12 * kEpsilon));
  }
}

TEST(ContactFrame, AxisNormalsGiveExactFrames) {
  EXPECT_EQ(contactFrame(Vec3{0, 0, 1}), Mat3::identity());
  for (const Vec3& normal : {Vec3{1, 0, 0}, Vec3{-1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, -1, 0},
                             Vec3{0, 0, 1}, Vec3{0, 0, -1}}) {
    EXPECT_TRUE(isRotation(contactFrame(normal), 0.0));
  }
}

TEST(ContactFrame, TurnsSmoothlyAroundFloorsWallsAndCeilings) {
  TestRandom random(2);
  int numTested = 0;
  for (int i = 0; i < 10000; ++i) {
    const Vec3 normal = random.unitVector();
    const Vec3 moved = rotationExp(random.vector(1e-6)) * normal;
    if ((normal.z > -0.5) != (moved.z > -0.5) || std::fabs(normal.z + 0.5) < 1e-5) continue;
    ++numTested;
    // Nowhere is the frame turned by more than three times the normal's own turn.
    EXPECT_LE(largestDifference(contactFrame(normal), contactFrame(moved)),
              3 * tangere::norm(moved - normal) + 1e-15);
  }
  EXPECT_GT(numTested, 9000);
}

}  // namespace
}  // namespace tangere::math
