// SPDX-License-Identifier: Apache-2.0
#include "collision/kernels/epa.hpp"

#include "collision/golden_cases.hpp"
#include "collision/kernels/convex_distance.hpp"
#include "collision/random_shapes.hpp"

#include <gtest/gtest.h>

namespace tangere::kernel {
namespace {

using test::HullPoints;
using test::makeView;
using test::Random;

using View = ConvexView<double>;

constexpr double kFar = 1e300;

Transform at(const Vec3& translation) { return {Mat3::identity(), translation}; }

void expectSound(const View& a, const View& b, const Transform& X, const ConvexContact<double>& c) {
  const double size = a.boundingRadius + b.boundingRadius;
  ASSERT_TRUE(std::isfinite(c.distance));
  ASSERT_NEAR(norm(c.normal), 1, 1e-12);
  ASSERT_TRUE(std::isfinite(squaredNorm(c.pointA) + squaredNorm(c.pointB)));
  // Moving A by the depth along the normal just separates them.
  ASSERT_NEAR(test::gapAlong(a, b, X, c.normal), c.distance, 1e-9 * size);
}

TEST(PenetrationDepth, OfBoxesIsTheSmallestOverlapOfTheirFaces) {
  const View a = makeView(CoreType::Box, {1, 2, 3}), b = makeView(CoreType::Box, {0.5, 0.5, 0.5});
  const ConvexContact<double> c = convexDistance(a, b, at({1.25, 0.3, -0.4}), kFar, true);
  EXPECT_NEAR(c.distance, -0.25, 1e-15);  // 1 + 0.5 - 1.25
  EXPECT_EQ(c.normal, (Vec3{-1, 0, 0}));  // B is on the right: A is pushed to the left
  EXPECT_NEAR(c.pointA.x, 1, 1e-15);
  EXPECT_NEAR(c.pointB.x, 0.75, 1e-15);
}

TEST(PenetrationDepth, OfConcentricShapesIsTheirSmallestWidth) {
  const Transform I = Transform::identity();
  const View box = makeView(CoreType::Box, {0.3, 0.2, 0.5});
  const View cylinder = makeView(CoreType::Cylinder, {0.4, 0.4, 1});
  const View ellipsoid = makeView(CoreType::Ellipsoid, {0.6, 0.3, 0.2});
  const View sphere = makeView(CoreType::Point, {}, 0.25);
  EXPECT_NEAR(convexDistance(box, box, I, kFar, true).distance, -0.4, 1e-15);
  EXPECT_NEAR(convexDistance(ellipsoid, ellipsoid, I, kFar, true).distance, -0.4, 1e-12);
  EXPECT_NEAR(convexDistance(cylinder, cylinder, I, kFar, true).distance, -0.8, 1e-12);
  // A whole ring of equally good directions.
  EXPECT_NEAR(convexDistance(cylinder, sphere, I, kFar, true).distance, -0.65, 1e-9);
  EXPECT_NEAR(convexDistance(sphere, sphere, I, kFar, true).distance, -0.5, 1e-15);
}

TEST(PenetrationDepth, OfTouchingShapesIsZeroWithTheContactNormal) {
  const View box = makeView(CoreType::Box, {1, 1, 1}),
             ellipsoid = makeView(CoreType::Ellipsoid, {1, 1, 0.5});
  const View cone = makeView(CoreType::Cone, {0.5, 0.5, 0.75});
  for (const View& other : {box, ellipsoid, cone}) {
    const ConvexContact<double> c =
        convexDistance(box, other, at({0, 0, 1 + other.size.z}), kFar, true);
    EXPECT_NEAR(c.distance, 0, 1e-12);
    EXPECT_NEAR(c.normal.z, -1, 1e-7);
    EXPECT_NEAR(c.pointA.z, 1, 1e-12);
    EXPECT_TRUE(convexOverlap(box, other, at({0, 0, 1 + other.size.z})));
  }
}

TEST(PenetrationDepth, OfCrossedSegmentsIsTheSumOfTheirRadii) {
  // Two flat cores that cross: the difference has no inside.
  const View capsule = makeView(CoreType::Segment, {0, 0, 1}, 0.25);
  const Mat3 lying{{{0, 0, -1}, {0, 1, 0}, {1, 0, 0}}};
  const ConvexContact<double> c =
      convexDistance(capsule, capsule, {lying, {0.2, 0, 0.1}}, kFar, true);
  EXPECT_NEAR(c.distance, -0.5, 1e-14);
  EXPECT_NEAR(std::fabs(c.normal.y), 1, 1e-12);
  const View point = makeView(CoreType::Point, {}, 0.5);
  EXPECT_NEAR(convexDistance(point, point, Transform::identity(), kFar, true).distance, -1, 1e-15);
}

TEST(PenetrationDepth, IsNeverMoreThanAlongAnyOtherDirection) {
  Random random(1);
  const CoreType cores[] = {CoreType::Box, CoreType::Cylinder, CoreType::Cone, CoreType::Ellipsoid,
                            CoreType::Hull};
  int worse = 0;
  for (int k = 0; k < 20000; ++k) {
    std::vector<std::unique_ptr<HullPoints>> hulls;
    const double aspect = k % 3 == 0 ? 100 : 1;
    const View a = randomView(random, cores[random.below(5)], 1, aspect, hulls);
    const View b = randomView(random, cores[random.below(5)], k % 7 == 0 ? 0.01 : 1, aspect, hulls);
    const Transform X{
        random.rotation(),
        random.direction() * (random.uniform(0, 1) * (a.boundingRadius + b.boundingRadius))};
    const ConvexContact<double> c = convexDistance(a, b, X, kFar, true);
    if (c.distance >= 0) continue;
    expectSound(a, b, X, c);
    const double scale = std::min(a.boundingRadius, b.boundingRadius);
    for (int i = 0; i < 200; ++i)
      if (test::gapAlong(a, b, X, random.direction()) > c.distance + 1e-6 * scale) ++worse;
  }
  EXPECT_EQ(worse, 0);
}

TEST(PenetrationDepth, StaysFiniteOnDegenerateInput) {
  Random random(2);
  const CoreType cores[] = {CoreType::Point,    CoreType::Segment, CoreType::Box,
                            CoreType::Cylinder, CoreType::Cone,    CoreType::Ellipsoid};
  for (const CoreType coreA : cores) {
    for (const CoreType coreB : cores) {
      for (const double size : {1e-6, 1.0, 1e6}) {
        for (const double aspect : {1.0, 1000.0}) {
          std::vector<std::unique_ptr<HullPoints>> hulls;
          const View a = randomView(random, coreA, size, aspect, hulls);
          const View b = randomView(random, coreB, size, aspect, hulls);
          for (const double offset : {0.0, 1e-300, 1e-16, 1e-9, 0.1}) {
            const Transform X = at(Vec3{offset, offset * (coreA == coreB ? 0 : 1), 0} * size);
            expectSound(a, b, X, convexDistance(a, b, X, kFar, true));
          }
        }
      }
    }
  }
}

TEST(EpaPolytope, StaysClosedAndConvexWhileItGrows) {
  Random random(3);
  EpaPolytope<double> polytope;
  const auto point = [](const Vec3& w) { return SimplexVertex<double>{w, w, 0, 0}; };
  polytope.start(point({1, 1, 1}), point({-1, -1, 1}), point({-1, 1, -1}), point({1, -1, -1}));
  for (int k = 0; k < 200; ++k) {
    const int f = polytope.nearestFace();
    // The farthest point of a ball: always beyond the nearest face.
    ASSERT_TRUE(
        polytope.expand(f, point(polytope.normal(f) * 2.0 + random.direction() * 1e-3), 1e-14));
    int alive = 0;
    for (int i = 0; i < polytope.numFaces; ++i) {
      if (polytope.offset[i] >= EpaPolytope<double>::infinite()) continue;
      ++alive;
      const auto& face = polytope.face[i];
      for (int e = 0; e < 3; ++e) {
        const auto& other = polytope.face[face.neighbor[e]];
        int back = 0;
        while (back < 3 && other.neighbor[back] != i) ++back;
        ASSERT_LT(back, 3);
        ASSERT_EQ(other.vertex[back], face.vertex[(e + 1) % 3]);
      }
    }
    ASSERT_EQ(alive % 2, 0);
  }
  for (int i = 0; i < polytope.numFaces; ++i) {
    if (polytope.offset[i] >= EpaPolytope<double>::infinite()) continue;
    for (int v = 0; v < polytope.numVertices; ++v)
      ASSERT_LE(dot(polytope.normal(i), polytope.point(v)), polytope.offset[i] + 1e-12);
  }
}

}  // namespace
}  // namespace tangere::kernel
