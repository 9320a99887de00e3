// SPDX-License-Identifier: Apache-2.0
#include "math/symmetric_eigen.hpp"

#include "math/random_rotation.hpp"
#include "math/transform.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tangere::math {
namespace {

constexpr double kEpsilon = 0x1p-52;

Mat3 compose(const Mat3& R, const Vec3& values) {
  return R * Mat3{{{values.x, 0, 0}, {0, values.y, 0}, {0, 0, values.z}}} * transpose(R);
}

TEST(PrincipalAxes, RecoverMomentsAndAxesOverAllScales) {
  TestRandom random(1);
  for (int i = 0; i < 3000; ++i) {
    const double scale = random.powerOfTen(-200, 200);
    const Vec3 moments{random.between(0.1, 1), random.between(1, 2), random.between(2, 3)};
    const Mat3 inertia = compose(rotationMatrix(random.quat()), moments * scale);
    const PrincipalAxes<double> found = principalAxes(inertia);
    EXPECT_NEAR(found.moments.x / scale, moments.x, 32 * kEpsilon);
    EXPECT_NEAR(found.moments.y / scale, moments.y, 32 * kEpsilon);
    EXPECT_NEAR(found.moments.z / scale, moments.z, 32 * kEpsilon);
    EXPECT_TRUE(isRotation(found.axes, 16 * kEpsilon));
    EXPECT_LE(largestDifference(compose(found.axes, found.moments), inertia),
              64 * kEpsilon * scale);
  }
}

TEST(PrincipalAxes, DiagonalMatricesAreExactAndSorted) {
  const PrincipalAxes<double> found = principalAxes(Mat3{{{3, 0, 0}, {0, 1, 0}, {0, 0, 2}}});
  EXPECT_EQ(found.moments, (Vec3{1, 2, 3}));
  EXPECT_EQ(found.axes, (Mat3{{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}}));
}

TEST(PrincipalAxes, EqualMomentsKeepTheGivenAxes) {
  EXPECT_EQ(principalAxes(Mat3::identity()).axes, Mat3::identity());
  const PrincipalAxes<double> zero = principalAxes(Mat3{});
  EXPECT_EQ(zero.axes, Mat3::identity());
  EXPECT_EQ(zero.moments, (Vec3{0, 0, 0}));
}

TEST(PrincipalAxes, NearlyEqualMomentsStillGiveARotation) {
  TestRandom random(2);
  for (int i = 0; i < 2000; ++i) {
    const double gap = random.powerOfTen(-18, -6);
    const Mat3 inertia = compose(rotationMatrix(random.quat()), {1, 1 + gap, 1 + 2 * gap});
    const PrincipalAxes<double> found = principalAxes(inertia);
    EXPECT_TRUE(isRotation(found.axes, 16 * kEpsilon));
    EXPECT_LE(largestDifference(compose(found.axes, found.moments), inertia), 32 * kEpsilon);
  }
}

TEST(SymmetricEigen, SmallEigenvaluesOfGradedMatricesAreFound) {
  const double a[3][3] = {{1e20, 1e10, 1}, {1e10, 2, 0.5}, {1, 0.5, 3}};
  const SymmetricEigen<double, 3> eigen = symmetricEigen(a);
  // The large pair decouples: what remains is [[2 - 1, 0.5], [0.5, 3]] up to 1e-10.
  const double root = std::sqrt(1.0 + 0.25);
  EXPECT_NEAR(eigen.values[0], 2 - root, 1e-8);
  EXPECT_NEAR(eigen.values[1], 2 + root, 1e-8);
  EXPECT_NEAR(eigen.values[2] / 1e20, 1.0, 4 * kEpsilon);
}

}  // namespace
}  // namespace tangere::math
