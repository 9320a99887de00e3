// SPDX-License-Identifier: Apache-2.0
#include "math/transform.hpp"

#include "math/random_rotation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tangere::math {
namespace {

constexpr double kEpsilon = 0x1p-52;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(IsFinite, FindsABadNumberInAnyPlace) {
  EXPECT_TRUE(isFinite(Transform{}));
  for (const double bad : {kNan, kInfinity, -kInfinity}) {
    for (int i = 0; i < 12; ++i) {
      Transform X;
      (i < 9 ? X.rotation.col[i / 3] : X.translation)[i % 3] = bad;
      EXPECT_FALSE(isFinite(X)) << i;
      EXPECT_FALSE(isRigid(X, 1e-9)) << i;
    }
    EXPECT_FALSE(isFinite(Quat{1, 0, bad, 0}));
  }
  EXPECT_TRUE(isFinite(std::numeric_limits<double>::max()));
}

TEST(IsRigid, AcceptsRotationsAndRefusesScalingShearAndReflection) {
  TestRandom random(1);
  for (int i = 0; i < 1000; ++i) {
    const Transform X{rotationMatrix(random.quat()), random.vector(1e6)};
    EXPECT_TRUE(isRigid(X, 1e-14));
    EXPECT_FALSE(
        isRigid(Transform{X.rotation * Mat3{{{1 + 1e-6, 0, 0}, {0, 1, 0}, {0, 0, 1}}}}, 1e-9));
    EXPECT_FALSE(isRigid(Transform{X.rotation * Mat3{{{1, 1e-6, 0}, {0, 1, 0}, {0, 0, 1}}}}, 1e-9));
    EXPECT_FALSE(isRigid(Transform{X.rotation * Mat3{{{-1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}}, 1e-9));
  }
  EXPECT_FALSE(isRigid(Transform{Mat3{}, {}}, 1e-9));
}

TEST(NearestRotation, KeepsARotation) {
  TestRandom random(2);
  for (int i = 0; i < 2000; ++i) {
    const Mat3 R = rotationMatrix(random.quat());
    EXPECT_LE(largestDifference(nearestRotation(R), R), 8 * kEpsilon);
    EXPECT_LE(largestDifference(nearestRotation(R * Mat3{{{2, 0, 0}, {0, 2, 0}, {0, 0, 2}}}), R),
              8 * kEpsilon);
  }
}

double squaredDistance(const Mat3& a, const Mat3& b) {
  double sum = 0.0;
  for (int k = 0; k < 3; ++k) sum += squaredNorm(a.col[k] - b.col[k]);
  return sum;
}

TEST(NearestRotation, NoRotationAroundItIsNearer) {
  TestRandom random(3);
  for (int i = 0; i < 500; ++i) {
    Mat3 m{{random.vector(1), random.vector(1), random.vector(1)}};  // half of them reflect
    if (i % 5 == 0) m.col[2] = m.col[0] + m.col[1];                  // singular
    const Mat3 R = nearestRotation(m);
    ASSERT_TRUE(isRotation(R, 16 * kEpsilon));
    const double here = squaredDistance(R, m);
    for (const double size : {1e-3, 0.1, 1.0, 3.0}) {
      for (int k = 0; k < 10; ++k) {
        const Mat3 other = rotationExp(random.unitVector() * size) * R;
        EXPECT_GE(squaredDistance(other, m), here - 1e-12);
      }
    }
  }
}

TEST(NearestRotation, OfTheZeroMatrixIsARotation) {
  EXPECT_TRUE(isRotation(nearestRotation(Mat3{}), kEpsilon));
}

}  // namespace
}  // namespace tangere::math
