// SPDX-License-Identifier: Apache-2.0
#include "collision/sphere_pairs.hpp"

#include "collision/kernels/contact_features.hpp"
#include "pair_query.hpp"

namespace tangere {
namespace {

using collision::spherePairFunctions;
using test::at;
using test::PairUnderTest;

constexpr Real kTight = 1e-15;

PairUnderTest sphereAgainst(const Sphere& sphere, const Vec3& center, const Shape& shape,
                            const Transform& X_W2 = {}) {
  return {spherePairFunctions, sphere, {Mat3::identity(), center}, shape, X_W2};
}

std::vector<Vec3> cubeCorners(Real h) {
  std::vector<Vec3> corners;
  for (int i = 0; i < 8; ++i)
    corners.push_back({(i & 1) != 0 ? h : -h, (i & 2) != 0 ? h : -h, (i & 4) != 0 ? h : -h});
  return corners;
}

TEST(SpherePairs, AreOwnedForConvexShapesAndThePlaneOnly) {
  for (int i = 0; i < kNumShapeTypes; ++i) {
    const auto type = static_cast<ShapeType>(i);
    const collision::PairFunctions f = spherePairFunctions(ShapeType::Sphere, type);
    const bool owned = type <= ShapeType::Convex;
    EXPECT_EQ(f.collide != nullptr, owned) << shapeTypeName(type);
    EXPECT_EQ(f.overlap != nullptr, owned);
    EXPECT_EQ(f.distance != nullptr, owned);
  }
  EXPECT_EQ(spherePairFunctions(ShapeType::Box, ShapeType::Box).collide, nullptr);
}

TEST(SpherePairs, GoldenCasesAreExact) { test::expectGolden(spherePairFunctions, 464); }

TEST(SpherePairs, EveryAnswerIsProved) {
  for (int i = 0; i <= static_cast<int>(ShapeType::Convex); ++i) {
    SCOPED_TRACE(i);
    test::expectProvenAnswers(spherePairFunctions, ShapeType::Sphere, static_cast<ShapeType>(i),
                              500);
  }
}

TEST(SphereSphere, OverlapGivesDepthAndNormalFromSecondToFirst) {
  const Sphere ball(0.5);
  const ContactManifold m = sphereAgainst(ball, {0, 0, 0.9}, ball).collide();
  ASSERT_EQ(m.count, 1);
  EXPECT_EQ(m.type, ContactType::Point);
  EXPECT_NEAR(m.points[0].depth, 0.1, kTight);  // 0.5 + 0.5 - 0.9
  EXPECT_EQ(m.points[0].normal, (Vec3{0, 0, 1}));
  EXPECT_NEAR(m.points[0].position.z, 0.45, kTight);  // middle of the overlap
  EXPECT_EQ(m.points[0].feature1, -1);
  EXPECT_EQ(m.points[0].feature2, -1);
}

TEST(SphereSphere, ExactTouchingIsAContactOfNoDepth) {
  const Sphere ball(0.5);
  const PairUnderTest pair = sphereAgainst(ball, {1, 0, 0}, ball);
  EXPECT_TRUE(pair.overlap());
  const ContactManifold m = pair.collide();
  ASSERT_EQ(m.count, 1);
  EXPECT_EQ(m.points[0].depth, 0);
  EXPECT_EQ(pair.distance().distance, 0);
  EXPECT_FALSE(sphereAgainst(ball, {std::nextafter(1.0, 2.0), 0, 0}, ball).overlap());
}

TEST(SphereSphere, CoincidentCentresHaveADefinedNormal) {
  const Sphere small(0.25), large(0.5);
  for (const Real offset : {0.0, 1e-200, 1e-160}) {
    const DistanceResult d = sphereAgainst(small, {offset, 0, 0}, large).distance();
    EXPECT_EQ(d.distance, -0.75);
    EXPECT_NEAR(norm(d.normal), 1, kTight);
  }
}

TEST(SphereSphere, UnsignedDistanceIsZeroWhenOverlappingAndThePointsCoincide) {
  const Sphere ball(0.5);
  const DistanceResult d = sphereAgainst(ball, {0.8, 0, 0}, ball).distance({.enableSigned = false});
  EXPECT_EQ(d.distance, 0);
  EXPECT_EQ(d.point1, d.point2);
  EXPECT_NEAR(d.point1.x, 0.4, kTight);
}

TEST(SphereBox, FaceEdgeAndVertexRegionsAreMeasuredToTheirFeature) {
  const Sphere ball(1);
  const Box box({1, 2, 3});
  EXPECT_NEAR(sphereAgainst(ball, {4, 0, 0}, box).distance().distance, 2, kTight);
  EXPECT_NEAR(sphereAgainst(ball, {4, 6, 0}, box).distance().distance, 4, kTight);  // 3-4-5
  EXPECT_NEAR(sphereAgainst(ball, {2, 4, 5}, box).distance().distance, 2, kTight);  // 1-2-2
  EXPECT_EQ(sphereAgainst(ball, {4, 0, 0}, box).distance().feature2,
            kernel::faceFeature(kernel::boxFace(0, true)));
  EXPECT_EQ(sphereAgainst(ball, {4, 6, 0}, box).distance().feature2, kernel::edgeFeature(3, 7));
  EXPECT_EQ(sphereAgainst(ball, {2, 4, 5}, box).distance().feature2, kernel::vertexFeature(7));
  EXPECT_EQ(sphereAgainst(ball, {2, -4, 5}, box).distance().feature2, kernel::vertexFeature(5));
}

TEST(SphereBox, CentreInsideLeavesByTheNearestFace) {
  const Sphere ball(0.5);
  const Box box({1, 1, 1});
  const ContactManifold m = sphereAgainst(ball, {0.2, -0.7, 0.1}, box).collide();
  ASSERT_EQ(m.count, 1);
  EXPECT_EQ(m.points[0].normal, (Vec3{0, -1, 0}));
  EXPECT_NEAR(m.points[0].depth, 0.8, kTight);        // 0.3 to the face, 0.5 the radius
  EXPECT_NEAR(m.points[0].position.y, -0.6, kTight);  // between y = -0.2 and y = -1
  EXPECT_EQ(m.points[0].feature2, kernel::faceFeature(kernel::boxFace(1, false)));
}

TEST(SphereBox, CentreOnTheSurfaceHasTheFaceNormal) {
  const Sphere ball(0.5);
  const Box box({1, 1, 1});
  const DistanceResult d = sphereAgainst(ball, {1, 0.25, 0}, box).distance();
  EXPECT_EQ(d.distance, -0.5);
  EXPECT_EQ(d.normal, (Vec3{1, 0, 0}));
}

TEST(SphereCapsule, SideAndEndAreRoundAboutTheSegment) {
  const Sphere ball(0.5);
  const Capsule capsule(0.25, 1);
  EXPECT_NEAR(sphereAgainst(ball, {2, 0, 0.5}, capsule).distance().distance, 1.25, kTight);
  EXPECT_NEAR(sphereAgainst(ball, {3, 0, 5}, capsule).distance().distance, 4.25, kTight);  // 3-4-5
  EXPECT_EQ(sphereAgainst(ball, {2, 0, 0.5}, capsule).distance().feature2,
            kernel::edgeFeature(0, 1));
  EXPECT_EQ(sphereAgainst(ball, {3, 0, -5}, capsule).distance().feature2, 0);
}

TEST(SphereCapsule, CentreOnTheAxisLeavesAcrossIt) {
  const Sphere ball(0.5);
  const Capsule capsule(0.25, 1);
  for (const Real z : {-1.0, -0.5, 0.0, 1.0}) {
    const DistanceResult d = sphereAgainst(ball, {0, 0, z}, capsule).distance();
    EXPECT_EQ(d.distance, -0.75);
    EXPECT_EQ(d.normal.z, 0);
    EXPECT_NEAR(norm(d.normal), 1, kTight);
  }
}

TEST(SphereCapsule, TinyOffsetsFromTheAxisKeepTheNormalAcrossIt) {
  const Sphere ball(0.5);
  const Capsule capsule(0.25, 1);
  for (const Real offset : {1e-8, 1e-12, 1e-15}) {
    const Transform tilted = test::turned({0.6, 0, 0.8}, 0.7);
    const Vec3 center = tilted.rotation * Vec3{offset, 0, 0.3};
    const PairUnderTest pair = sphereAgainst(ball, center, capsule, tilted);
    EXPECT_LE(test::proofError(pair, pair.distance(), 1), 1e-14) << offset;
  }
}

TEST(SphereCylinder, WallCapAndRimOutside) {
  const Sphere ball(1);
  const Cylinder cylinder(2, 3);
  EXPECT_NEAR(sphereAgainst(ball, {0, 5, 1}, cylinder).distance().distance, 2, kTight);
  EXPECT_NEAR(sphereAgainst(ball, {1, 1, 5}, cylinder).distance().distance, 1, kTight);
  EXPECT_NEAR(sphereAgainst(ball, {5, 0, -7}, cylinder).distance().distance, 4, kTight);  // 3-4-5
}

TEST(SphereCylinder, CentreInsideLeavesByTheNearerOfWallAndCap) {
  const Sphere ball(0.5);
  const Cylinder cylinder(2, 3);
  const DistanceResult wall = sphereAgainst(ball, {1.5, 0, 0}, cylinder).distance();
  EXPECT_NEAR(wall.distance, -1.0, kTight);
  EXPECT_EQ(wall.normal, (Vec3{1, 0, 0}));
  const DistanceResult cap = sphereAgainst(ball, {0.1, 0, -2.75}, cylinder).distance();
  EXPECT_NEAR(cap.distance, -0.75, kTight);
  EXPECT_EQ(cap.normal, (Vec3{0, 0, -1}));
}

TEST(SphereCone, ApexSideRimAndBase) {
  const Sphere ball(1);
  const Cone cone(3, 2);  // height 4: the side makes a 3-4-5 triangle
  EXPECT_NEAR(sphereAgainst(ball, {0, 0, 5}, cone).distance().distance, 2, kTight);
  EXPECT_NEAR(sphereAgainst(ball, {0, 0, -5}, cone).distance().distance, 2, kTight);
  EXPECT_NEAR(sphereAgainst(ball, {6, 0, -6}, cone).distance().distance, 4, kTight);  // rim, 3-4-5
  // From the middle of the side (1.5, 0, 0) outward along (4, 0, 3) / 5.
  const DistanceResult side = sphereAgainst(ball, {1.5 + 4, 0, 3}, cone).distance();
  EXPECT_NEAR(side.distance, 4, 4 * kTight);
  EXPECT_NEAR(side.normal.x, 0.8, kTight);
  EXPECT_NEAR(side.normal.z, 0.6, kTight);
}

TEST(SphereCone, CentreInsideLeavesByTheSideOrTheBase) {
  const Sphere ball(1);
  const Cone cone(3, 2);
  const DistanceResult base = sphereAgainst(ball, {0, 0, -1.5}, cone).distance();
  EXPECT_NEAR(base.distance, -1.5, kTight);
  EXPECT_EQ(base.normal, (Vec3{0, 0, -1}));
  const DistanceResult side = sphereAgainst(ball, {1.5 - 0.4, 0, -0.3}, cone).distance();
  EXPECT_NEAR(side.distance, -1.5, 4 * kTight);  // 0.5 to the side
  EXPECT_NEAR(side.normal.x, 0.8, kTight);
}

TEST(SphereEllipsoid, AxesGiveTheSemiAxes) {
  const Sphere ball(1);
  const Ellipsoid ellipsoid({1, 2, 3});
  EXPECT_NEAR(sphereAgainst(ball, {4, 0, 0}, ellipsoid).distance().distance, 2, 4 * kTight);
  EXPECT_NEAR(sphereAgainst(ball, {0, 5, 0}, ellipsoid).distance().distance, 2, 4 * kTight);
  EXPECT_NEAR(sphereAgainst(ball, {0, 0, 6}, ellipsoid).distance().distance, 2, 4 * kTight);
  const DistanceResult inside = sphereAgainst(ball, {0, 0, 0}, ellipsoid).distance();
  EXPECT_NEAR(inside.distance, -2, 4 * kTight);  // out along the shortest axis
  EXPECT_NEAR(std::fabs(inside.normal.x), 1, kTight);
}

TEST(SpherePlane, HeightIsMeasuredAlongThePlanesNormal) {
  const Sphere ball(0.5);
  const Plane plane;
  const Transform wall = test::turned({0, 1, 0}, M_PI / 2, {2, 0, 0});  // normal along +x
  const ContactManifold m = sphereAgainst(ball, {2.3, 7, -5}, plane, wall).collide();
  ASSERT_EQ(m.count, 1);
  EXPECT_NEAR(m.points[0].depth, 0.2, 4 * kTight);
  EXPECT_NEAR(m.points[0].normal.x, 1, kTight);
  EXPECT_NEAR(m.points[0].position.x, 1.9, 4 * kTight);  // between x = 1.8 and x = 2
  EXPECT_NEAR(sphereAgainst(ball, {-5, 0, 0}, plane, wall).distance().distance, -7.5, 1e-14);
}

TEST(SphereConvex, CubeAgreesWithTheBoxInEveryRegion) {
  const Sphere ball(0.3);
  const Box box({1, 1, 1});
  const Convex cube(cubeCorners(1));
  test::Random random(7);
  for (int i = 0; i < 5000; ++i) {
    const Vec3 center = random.direction() * random.uniform(0, 3);
    const DistanceResult hull = sphereAgainst(ball, center, cube).distance();
    const DistanceResult exact = sphereAgainst(ball, center, box).distance();
    ASSERT_NEAR(hull.distance, exact.distance, 1e-14);
    // Near a diagonal of the inside two faces are equally near.
    if (exact.distance > -0.3) {
      ASSERT_LE(norm(hull.normal - exact.normal), 1e-12);
    }
  }
}

TEST(SphereConvex, HullsOfManyFacesAreExact) {
  test::Random random(11);
  std::vector<Vec3> points;
  for (int i = 0; i < 300; ++i) points.push_back(random.direction());
  const Convex hull(points);
  const Sphere ball(0.2);
  for (int i = 0; i < 500; ++i) {
    const PairUnderTest pair =
        sphereAgainst(ball, random.direction() * random.uniform(0.5, 1.5), hull);
    ASSERT_LE(test::proofError(pair, pair.distance(), 1), 1e-13) << i;
  }
}

}  // namespace
}  // namespace tangere
