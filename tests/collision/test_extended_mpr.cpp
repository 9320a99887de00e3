// SPDX-License-Identifier: Apache-2.0
#include "collision/extended_mpr.hpp"

#include <tangere/collision.hpp>

#include "collision/golden_cases.hpp"
#include "collision/random_shapes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tangere {
namespace {

using test::Random;

TEST(ExtendedMpr, AnswersEveryGoldenCaseToRounding) {
  const test::GoldenCases golden(TANGERE_TEST_DATA "/golden/collision");
  for (const test::GoldenCase& g : golden.cases()) {
    const kernel::ConvexContact<Real> contact =
        collision::extendedDistance(g.shape1.view, g.shape2.view, g.relativePose());
    EXPECT_EQ(contact.status, QueryStatus::Ok) << g.id << " " << g.category << " " << g.pair();
    EXPECT_LE(test::judge(g, contact).worst(), 1e-13)
        << g.id << " " << g.category << " " << g.pair();
  }
  EXPECT_EQ(golden.cases().size(), 1624u);
}

// Ellipsoids that touch at a point of one of them, by construction: B is laid with the opposite
// normal at the point of A where the normal is m.
TEST(ExtendedMpr, FindsTheNormalOfEllipsoidsThatTouch) {
  Random random(3);
  DistanceOption option;
  option.algorithm = ConvexAlgorithm::MprExtended;
  for (int i = 0; i < 100; ++i) {
    const auto length = [&] { return random.uniform(0.2, 1); };
    const Ellipsoid a({length(), length(), length()}), b({length(), length(), length()});
    const Vec3 m = random.direction();
    const Mat3 R = random.rotation();
    const Vec3 pointA = a.support(m), pointB = R * b.support(transposeTimes(R, -m));
    for (const Real gap : {1e-12, 0.0, -1e-12}) {
      const Transform X_W2{R, pointA - pointB + m * gap};
      const DistanceResult d = distance(a, {}, b, X_W2, option);
      EXPECT_EQ(d.status, QueryStatus::Ok);
      // The scene itself is rounded: points of up to 1 m, turned and added.
      EXPECT_NEAR(d.distance, gap, 2e-15);
      EXPECT_LE(norm(d.normal + m), 3e-14);
    }
  }
}

TEST(ExtendedMpr, AnswersCoincidentCentresAndUnsignedQuestions) {
  const Cylinder cylinder(0.5, 1);
  const Cone cone(0.4, 0.3);
  DistanceOption option;
  option.algorithm = ConvexAlgorithm::MprExtended;
  const DistanceResult deep = distance(cylinder, {}, cone, {}, option);
  EXPECT_EQ(deep.status, QueryStatus::Ok);
  EXPECT_LT(deep.distance, -0.5);
  EXPECT_NEAR(norm(deep.normal), 1, 1e-15);
  option.enableSigned = false;
  const DistanceResult touching = distance(cylinder, {}, cone, {}, option);
  EXPECT_EQ(touching.distance, 0);
  EXPECT_EQ(touching.point1, touching.point2);
}

}  // namespace
}  // namespace tangere
