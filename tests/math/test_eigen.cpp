// SPDX-License-Identifier: Apache-2.0
#include <tangere/eigen.hpp>

#include "math/random_rotation.hpp"

#include <gtest/gtest.h>

#include <type_traits>

namespace tangere {
namespace {

static_assert(std::is_same_v<decltype(toEigen(Vec3{})), Eigen::Vector3d>);
static_assert(std::is_same_v<decltype(toEigen(Mat3{})), Eigen::Matrix3d>);
static_assert(std::is_same_v<decltype(toEigen(Quat{})), Eigen::Quaterniond>);
static_assert(std::is_same_v<decltype(toEigen(Transform{})), Eigen::Isometry3d>);
static_assert(std::is_same_v<decltype(toEigen(Vec3T<float>{})), Eigen::Vector3f>);

TEST(EigenConversion, ThereAndBackIsTheSameValue) {
  math::TestRandom random(1);
  for (int i = 0; i < 100; ++i) {
    const Quat q = random.quat();
    const Transform X{rotationMatrix(q), random.vector(10)};
    const Aabb box{random.vector(1), random.vector(1)};
    EXPECT_EQ(toVec3(toEigen(X.translation)), X.translation);
    EXPECT_EQ(toMat3(toEigen(X.rotation)), X.rotation);
    EXPECT_EQ(toQuat(toEigen(q)), q);
    EXPECT_EQ(toTransform(toEigen(X)), X);
    EXPECT_EQ(toAabb(toEigen(box)), box);
  }
}

TEST(EigenConversion, RowsAndColumnsAndComponentsKeepTheirPlace) {
  const Mat3 m{{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}};  // columns
  EXPECT_EQ(toEigen(m)(2, 0), 3.0);
  EXPECT_EQ(toEigen(m)(0, 2), 7.0);
  const Eigen::Quaterniond q = toEigen(Quat{1, 2, 3, 4});
  EXPECT_EQ(q.w(), 1.0);
  EXPECT_EQ(q.z(), 4.0);
}

TEST(EigenConversion, BothSidesMeanTheSameMotion) {
  math::TestRandom random(2);
  for (int i = 0; i < 100; ++i) {
    const Quat q = random.quat();
    const Transform X{rotationMatrix(q), random.vector(10)};
    const Vec3 p = random.vector(10);
    EXPECT_LE((toEigen(X) * toEigen(p) - toEigen(X * p)).norm(), 1e-13);
    EXPECT_LE((toEigen(q).toRotationMatrix() - toEigen(X.rotation)).norm(), 1e-14);
    EXPECT_LE((toEigen(X).inverse() * toEigen(p) - toEigen(inverseTimes(X, p))).norm(), 1e-13);
  }
}

TEST(EigenConversion, TakesExpressionsMapsAndBlocks) {
  const double data[3] = {1, 2, 3};
  EXPECT_EQ(toVec3(Eigen::Map<const Eigen::Vector3d>(data) * 2), (Vec3{2, 4, 6}));
  const Eigen::Matrix4d wide = Eigen::Matrix4d::Identity();
  EXPECT_EQ((toMat3(wide.topLeftCorner<3, 3>())), Mat3::identity());
  EXPECT_EQ((toMat3(wide.block(0, 0, 3, 3))), Mat3::identity());
}

}  // namespace
}  // namespace tangere
