// SPDX-License-Identifier: Apache-2.0
#include "collision/capsule_pairs.hpp"

#include "collision/kernels/contact_features.hpp"
#include "pair_query.hpp"

namespace tangere {
namespace {

using collision::capsulePairFunctions;
using test::at;
using test::PairUnderTest;
using test::turned;

constexpr Real kTight = 1e-15;
constexpr Real kHalfPi = M_PI / 2;
const Vec3 kX{1, 0, 0}, kY{0, 1, 0};

std::vector<Vec3> boxCorners(const Vec3& h) {
  std::vector<Vec3> corners;
  for (int i = 0; i < 8; ++i)
    corners.push_back(
        {(i & 1) != 0 ? h.x : -h.x, (i & 2) != 0 ? h.y : -h.y, (i & 4) != 0 ? h.z : -h.z});
  return corners;
}

/// Lying along x.
Transform alongX(const Vec3& translation) { return turned(kY, kHalfPi, translation); }

TEST(CapsulePairs, AreOwnedForConvexShapesAndThePlaneOnly) {
  EXPECT_NE(capsulePairFunctions(ShapeType::Box, ShapeType::Capsule).collide, nullptr);
  EXPECT_EQ(capsulePairFunctions(ShapeType::Sphere, ShapeType::Capsule).collide, nullptr);
  for (int i = 0; i < kNumShapeTypes; ++i) {
    const auto type = static_cast<ShapeType>(i);
    const bool owned = type >= ShapeType::Capsule && type <= ShapeType::Convex;
    EXPECT_EQ(capsulePairFunctions(ShapeType::Capsule, type).collide != nullptr, owned)
        << shapeTypeName(type);
  }
}

TEST(CapsulePairs, GoldenCasesAreExact) { test::expectGolden(capsulePairFunctions, 406); }

TEST(CapsulePairs, EveryAnswerIsProved) {
  test::expectProvenAnswers(capsulePairFunctions, ShapeType::Box, ShapeType::Capsule, 1000);
  for (int i = static_cast<int>(ShapeType::Capsule); i <= static_cast<int>(ShapeType::Convex);
       ++i) {
    SCOPED_TRACE(i);
    test::expectProvenAnswers(capsulePairFunctions, ShapeType::Capsule, static_cast<ShapeType>(i),
                              1000);
  }
}

// ---------------------------------------------------------------- capsule, capsule

PairUnderTest capsules(const Capsule& capsule1, const Transform& X_W1, const Capsule& capsule2,
                       const Transform& X_W2) {
  return {capsulePairFunctions, capsule1, X_W1, capsule2, X_W2};
}

TEST(CapsuleCapsule, CrossedOneAboveTheOtherTouchInOnePoint) {
  const Capsule capsule(0.25, 1);
  const ContactManifold m =
      capsules(capsule, alongX({0, 0, 0.4}), capsule, turned(kX, kHalfPi)).collide();
  ASSERT_EQ(m.count, 1);
  EXPECT_EQ(m.type, ContactType::Point);
  EXPECT_NEAR(m.points[0].depth, 0.1, 4 * kTight);
  EXPECT_NEAR(m.points[0].normal.z, 1, kTight);
  EXPECT_NEAR(m.points[0].position.z, 0.2, kTight);
}

TEST(CapsuleCapsule, ParallelSideBySideTouchAlongTheCommonStretch) {
  const Capsule capsule(0.25, 1);
  // Axes along x from -1 to 1 and from -0.5 to 1.5: in common -0.5 to 1.
  const ContactManifold m =
      capsules(capsule, alongX({0, 0, 0.4}), capsule, alongX({0.5, 0, 0})).collide();
  ASSERT_EQ(m.count, 2);
  EXPECT_EQ(m.type, ContactType::Edge);
  const Real left = std::min(m.points[0].position.x, m.points[1].position.x);
  const Real right = std::max(m.points[0].position.x, m.points[1].position.x);
  EXPECT_NEAR(left, -0.5, 4 * kTight);
  EXPECT_NEAR(right, 1.0, 4 * kTight);
  for (const ContactPoint& p : m.contacts()) {
    EXPECT_NEAR(p.depth, 0.1, 4 * kTight);
    EXPECT_NEAR(p.normal.z, 1, kTight);
    EXPECT_NEAR(p.position.z, 0.2, 4 * kTight);
  }
}

TEST(CapsuleCapsule, SlightlyTiltedOnesHaveTheDepthOfEachEnd) {
  const Capsule capsule(0.25, 1);
  const Real tilt = 0.02;  // about y: the ends are at z = 0.45 -+ sin 0.02
  const ContactManifold m =
      capsules(capsule, turned(kY, kHalfPi + tilt, {0, 0, 0.45}), capsule, alongX({})).collide();
  ASSERT_EQ(m.count, 2);
  EXPECT_NEAR(m.points[0].depth, 0.05 + std::sin(tilt), 1e-12);
  EXPECT_NEAR(m.points[1].depth, 0.05 - std::sin(tilt), 1e-12);
}

TEST(CapsuleCapsule, CrossingAtASmallAngleKeepsTheDeepestPointBetweenTheEnds) {
  const Capsule capsule(0.25, 1);
  const Transform X_W2 = alongX({});
  const Transform X_W1 = turned({0, 0, 1}, 0.0015) * alongX({0, 0, 0});
  const ContactManifold m =
      capsules(capsule, {X_W1.rotation, {0, 0, 0.45}}, capsule, X_W2).collide();
  ASSERT_EQ(m.count, 3);
  EXPECT_EQ(m.type, ContactType::Edge);
  EXPECT_NEAR(m.points[0].depth, 0.05, 1e-12);
  // An end is sin 0.0015 beside the other axis and 0.45 above it.
  EXPECT_NEAR(m.points[1].depth, 0.5 - std::hypot(0.45, std::sin(0.0015)), 1e-12);
  EXPECT_NEAR(m.points[2].depth, m.points[1].depth, 1e-12);
}

TEST(CapsuleCapsule, EndToEndIsOnePoint) {
  const Capsule capsule(0.25, 1);
  const ContactManifold m = capsules(capsule, at(0, 0, 2.4), capsule, at(0, 0, 0)).collide();
  ASSERT_EQ(m.count, 1);
  EXPECT_NEAR(m.points[0].depth, 0.1, 4 * kTight);
  EXPECT_EQ(m.points[0].normal, (Vec3{0, 0, 1}));
  EXPECT_EQ(m.points[0].feature1, 0);
  EXPECT_EQ(m.points[0].feature2, 1);
}

TEST(CapsuleCapsule, CrossingAxesLeaveAcrossBoth) {
  const Capsule capsule(0.25, 1);
  const DistanceResult d =
      capsules(capsule, alongX({0.3, 0, 0}), capsule, turned(kX, kHalfPi, {0, 0.2, 0})).distance();
  EXPECT_NEAR(d.distance, -0.5, kTight);
  EXPECT_NEAR(std::fabs(d.normal.z), 1, kTight);
}

TEST(CapsuleCapsule, CoincidentAxesLeaveSideways) {
  const Capsule capsule(0.25, 1);
  const DistanceResult d = capsules(capsule, {}, capsule, {}).distance();
  EXPECT_NEAR(d.distance, -0.5, kTight);
  EXPECT_EQ(d.normal.z, 0);
  EXPECT_NEAR(norm(d.normal), 1, kTight);
}

TEST(CapsuleCapsule, AlmostParallelAndAlmostCrossingStaysExact) {
  const Capsule capsule(0.25, 1);
  for (const Real angle : {1e-3, 1e-6, 1e-9, 1e-12})
    for (const Real gap : {0.1, 1e-4, 1e-8, 1e-12, 0.0}) {
      const PairUnderTest pair = capsules(capsule, turned(kX, angle, {0, gap / 3, gap}), capsule,
                                          turned(kY, 1e-2 * angle));
      EXPECT_LE(test::proofError(pair, pair.distance(), 1), 1e-13) << angle << " " << gap;
    }
}

// ---------------------------------------------------------------- box, capsule

PairUnderTest boxAndCapsule(const Box& box, const Transform& X_W1, const Capsule& capsule,
                            const Transform& X_W2) {
  return {capsulePairFunctions, box, X_W1, capsule, X_W2};
}

TEST(BoxCapsule, LyingOnAFaceGivesItsTwoEnds) {
  const Box box({1, 1, 0.5});
  const Capsule capsule(0.25, 0.75);
  const ContactManifold m = boxAndCapsule(box, {}, capsule, alongX({0, 0, 0.7})).collide();
  ASSERT_EQ(m.count, 2);
  EXPECT_EQ(m.type, ContactType::Edge);
  for (const ContactPoint& p : m.contacts()) {
    EXPECT_NEAR(p.depth, 0.05, 4 * kTight);  // 0.5 + 0.25 - 0.7
    EXPECT_EQ(p.normal, (Vec3{0, 0, -1}));   // from the capsule to the box
    EXPECT_NEAR(std::fabs(p.position.x), 0.75, kTight);
    EXPECT_NEAR(p.position.z, 0.475, kTight);
    EXPECT_EQ(p.feature1, kernel::faceFeature(kernel::boxFace(2, true)));
  }
  EXPECT_NE(m.points[0].feature2, m.points[1].feature2);
}

TEST(BoxCapsule, OverhangingTheFaceIsClippedAtItsEdge) {
  const Box box({1, 1, 0.5});
  const Capsule capsule(0.25, 2);
  const ContactManifold m = boxAndCapsule(box, {}, capsule, alongX({0.5, 0, 0.7})).collide();
  ASSERT_EQ(m.count, 2);
  EXPECT_NEAR(std::fabs(m.points[0].position.x), 1, 4 * kTight);
  EXPECT_NEAR(m.points[0].position.x, -m.points[1].position.x, 4 * kTight);
  // The edges of the top face at x = +-1 run along y.
  const std::int32_t right = kernel::edgeFeature(1 | 4, 1 | 2 | 4);
  const std::int32_t left = kernel::edgeFeature(4, 2 | 4);
  for (const ContactPoint& p : m.contacts()) EXPECT_EQ(p.feature1, p.position.x > 0 ? right : left);
}

TEST(BoxCapsule, TiltedOnAFaceHasTheDepthOfEachEnd) {
  const Box box({2, 2, 0.5});
  const Capsule capsule(0.25, 1);
  const Real tilt = 0.02;
  const ContactManifold m =
      boxAndCapsule(box, {}, capsule, turned(kY, kHalfPi + tilt, {0, 0, 0.72})).collide();
  ASSERT_EQ(m.count, 2);
  EXPECT_NEAR(m.points[0].depth, 0.03 + std::sin(tilt), 1e-14);
  EXPECT_NEAR(m.points[1].depth, 0.03 - std::sin(tilt), 1e-14);
}

TEST(BoxCapsule, StandingOnAFaceIsOnePoint) {
  const Box box({1, 1, 0.5});
  const Capsule capsule(0.25, 1);
  const ContactManifold m = boxAndCapsule(box, {}, capsule, at(0.3, 0.2, 1.7)).collide();
  ASSERT_EQ(m.count, 1);
  EXPECT_EQ(m.type, ContactType::Point);
  EXPECT_NEAR(m.points[0].depth, 0.05, 4 * kTight);
  EXPECT_EQ(m.points[0].feature2, 0);
}

TEST(BoxCapsule, AlongAnEdgeTouchesAtTwoPoints) {
  const Box box({1, 1, 1});
  const Capsule capsule(0.5, 0.75);
  // The axis runs along x beside the edge y = z = 1, 0.3 and 0.4 away.
  const ContactManifold m = boxAndCapsule(box, {}, capsule, alongX({0, 1.24, 1.32})).collide();
  ASSERT_EQ(m.count, 2);
  EXPECT_EQ(m.type, ContactType::Edge);
  for (const ContactPoint& p : m.contacts()) {
    EXPECT_NEAR(p.depth, 0.1, 4 * kTight);  // 0.5 - |(0.24, 0.32)|
    EXPECT_NEAR(p.normal.y, -0.6, 4 * kTight);
    EXPECT_NEAR(p.normal.z, -0.8, 4 * kTight);
    EXPECT_EQ(p.feature1, kernel::edgeFeature(6, 7));
  }
}

TEST(BoxCapsule, AxisInsideLeavesByTheShortestWay) {
  const Box box({1, 2, 3});
  const Capsule capsule(0.1, 0.5);
  const DistanceResult d = boxAndCapsule(box, {}, capsule, at(0.6, 0, 0)).distance();
  EXPECT_NEAR(d.distance, -0.5, 4 * kTight);  // 0.4 to the face and the radius
  EXPECT_EQ(d.normal, (Vec3{-1, 0, 0}));
  // Along x it has to move by its half length more: y is shorter.
  const DistanceResult e = boxAndCapsule(box, {}, capsule, alongX({0, 1.2, 0})).distance();
  EXPECT_NEAR(e.distance, -0.9, 4 * kTight);
  EXPECT_NEAR(e.normal.y, -1, kTight);
}

TEST(BoxCapsule, AxisThroughAnEdgeLeavesAcrossTheEdge) {
  const Box box({1, 1, 1});
  const Capsule capsule(0.1, 2);
  // In the plane z = 0.3, direction (1, -1, 0), through (0.9, 0.9): it cuts the vertical edge off.
  const Real r = std::sqrt(0.5);
  Transform X_W2 = at(0.9, 0.9, 0.3);
  X_W2.rotation = {{{r, r, 0}, {0, 0, 1}, {r, -r, 0}}};
  const DistanceResult d = boxAndCapsule(box, {}, capsule, X_W2).distance();
  EXPECT_NEAR(d.distance, -(0.1 * std::sqrt(2.0) + 0.1), 1e-15);
  EXPECT_NEAR(d.normal.x, -r, 1e-15);
  EXPECT_NEAR(d.normal.y, -r, 1e-15);
  EXPECT_NEAR(d.point1.x, 1, 1e-15);
  EXPECT_NEAR(d.point1.y, 1, 1e-15);
}

TEST(BoxCapsule, ExactTouchingIsAContactOfNoDepth) {
  const Box box({1, 1, 1});
  const Capsule capsule(0.5, 1);
  const PairUnderTest pair = boxAndCapsule(box, {}, capsule, at(1.5, 0, 0));
  EXPECT_TRUE(pair.overlap());
  EXPECT_EQ(pair.collide().points[0].depth, 0);
  EXPECT_FALSE(boxAndCapsule(box, {}, capsule, at(1.5 + 1e-12, 0, 0)).overlap());
}

TEST(BoxCapsule, AxisAlmostTouchingAnEdgeOrAVertexKeepsAnExactNormal) {
  const Box box({1, 1, 1});
  const Capsule capsule(0.5, 1);
  test::Random random(3);
  for (const Real gap : {1e-3, 1e-6, 1e-9, 1e-12, 1e-15})
    for (int i = 0; i < 200; ++i) {
      // Through a point `gap` off the edge (or the vertex), across the way out.
      const Real onEdge = i % 2 == 0 ? random.uniform(-0.9, 0.9) : 1.0;
      Vec3 out{1, 1, i % 2 == 0 ? 0.0 : 1.0};
      out = out / norm(out);
      Vec3 axis = cross(out, random.direction());
      axis = axis / norm(axis);
      const Vec3 side = cross(out, axis);
      const Vec3 through = Vec3{1, 1, onEdge} + out * gap;
      const PairUnderTest pair = boxAndCapsule(
          box, {}, capsule,
          {{{side, cross(axis, side), axis}}, through + axis * random.uniform(-0.5, 0.5)});
      ASSERT_LE(test::proofError(pair, pair.distance(), 1), 1e-12) << gap << " " << i;
    }
}

// ---------------------------------------------------------------- capsule, round solids

TEST(CapsuleCylinder, ParallelBesideItTouchesAlongALine) {
  const Capsule capsule(0.25, 0.5);
  const Cylinder cylinder(1, 2);
  const PairUnderTest pair{capsulePairFunctions, capsule, at(1.2, 0, 0.5), cylinder, {}};
  const ContactManifold m = pair.collide();
  ASSERT_EQ(m.count, 2);
  EXPECT_EQ(m.type, ContactType::Edge);
  for (const ContactPoint& p : m.contacts()) {
    EXPECT_NEAR(p.depth, 0.05, 4 * kTight);
    EXPECT_EQ(p.normal, (Vec3{1, 0, 0}));
    EXPECT_NEAR(std::fabs(p.position.z - 0.5), 0.5, 4 * kTight);
  }
}

TEST(CapsuleCylinder, LyingOnTheCapIsClippedAtTheRim) {
  const Capsule capsule(0.25, 3);
  const Cylinder cylinder(1, 0.5);
  const PairUnderTest pair{capsulePairFunctions, capsule, alongX({0, 0.6, 0.7}), cylinder, {}};
  const ContactManifold m = pair.collide();
  ASSERT_EQ(m.count, 2);
  for (const ContactPoint& p : m.contacts()) {
    EXPECT_NEAR(p.depth, 0.05, 4 * kTight);
    EXPECT_NEAR(std::fabs(p.position.x), 0.8, 1e-14);  // the chord at y = 0.6
    EXPECT_NEAR(p.normal.z, 1, kTight);
  }
}

TEST(CapsuleCylinder, OnTheAxisLeavesSidewaysOrByTheCap) {
  const Capsule capsule(0.1, 0.5);
  const Cylinder wide(2, 1), tall(0.5, 3);
  const PairUnderTest byCap{capsulePairFunctions, capsule, at(0, 0, 0.25), wide, {}};
  EXPECT_NEAR(byCap.distance().distance, -(1 - 0.25 + 0.5 + 0.1), 4 * kTight);
  EXPECT_EQ(byCap.distance().normal, (Vec3{0, 0, 1}));
  const PairUnderTest sideways{capsulePairFunctions, capsule, at(0, 0, 0.25), tall, {}};
  EXPECT_NEAR(sideways.distance().distance, -0.6, 4 * kTight);
  EXPECT_EQ(sideways.distance().normal.z, 0);
}

TEST(CapsuleCone, AlongTheSideTouchesAtTwoPoints) {
  const Capsule capsule(0.5, 1);
  const Cone cone(3, 2);  // side direction (3, 0, -4) / 5, normal (4, 0, 3) / 5
  const Vec3 middle = Vec3{1.5, 0, 0} + Vec3{0.8, 0, 0.6} * 0.4;
  const Transform X_W1{{{{0.8, 0, 0.6}, {0, 1, 0}, {-0.6, 0, 0.8}}}, middle};
  const PairUnderTest pair{capsulePairFunctions, capsule, X_W1, cone, {}};
  const ContactManifold m = pair.collide();
  ASSERT_EQ(m.count, 2);
  EXPECT_EQ(m.type, ContactType::Edge);
  for (const ContactPoint& p : m.contacts()) {
    EXPECT_NEAR(p.depth, 0.1, 1e-14);
    EXPECT_NEAR(p.normal.x, 0.8, 1e-14);
    EXPECT_NEAR(p.normal.z, 0.6, 1e-14);
  }
}

TEST(CapsuleCone, StandingInsideAlongTheAxisLeavesByTheBase) {
  const Capsule capsule(0.1, 0.2);
  const Cone cone(3, 2);
  const PairUnderTest pair{capsulePairFunctions, capsule, at(0, 0, -1.5), cone, {}};
  const DistanceResult d = pair.distance();
  EXPECT_NEAR(d.distance, -(0.5 + 0.2 + 0.1), 4 * kTight);
  EXPECT_EQ(d.normal, (Vec3{0, 0, -1}));
}

TEST(CapsuleEllipsoid, ThroughTheMiddleLeavesAcrossTheAxis) {
  const Capsule capsule(0.1, 5);
  const Ellipsoid ellipsoid({1, 2, 3});
  const PairUnderTest pair{capsulePairFunctions, capsule, {}, ellipsoid, {}};
  const DistanceResult d = pair.distance();
  EXPECT_NEAR(d.distance, -1.1, 4 * kTight);  // the shadow along z is an ellipse of 1 and 2
  EXPECT_NEAR(std::fabs(d.normal.x), 1, kTight);
}

TEST(CapsuleEllipsoid, AShortOneAcrossAFlatBodyLeavesByTheFarSideOfItsLowerEnd) {
  // Each end is nearest to its own side of the disc, but pushing it out there drags the other end
  // through: the answer is a minimum of one end's depth that is not its smallest.
  const Capsule capsule(0.1, 0.05);
  const Ellipsoid disc({5, 4, 0.5});
  const PairUnderTest pair{capsulePairFunctions, capsule, {}, disc, {}};
  const DistanceResult d = pair.distance();
  EXPECT_NEAR(d.distance, -(0.5 + 0.05 + 0.1), 4 * kTight);
  EXPECT_NEAR(std::fabs(d.normal.z), 1, kTight);
}

// ---------------------------------------------------------------- capsule, plane

TEST(CapsulePlane, LyingHasTwoPointsAndStandingOne) {
  const Capsule capsule(0.25, 1);
  const Plane plane;
  const PairUnderTest lying{capsulePairFunctions, capsule, alongX({0, 0, 0.2}), plane, {}};
  const ContactManifold m = lying.collide();
  ASSERT_EQ(m.count, 2);
  EXPECT_EQ(m.type, ContactType::Edge);
  for (const ContactPoint& p : m.contacts()) {
    EXPECT_NEAR(p.depth, 0.05, 4 * kTight);
    EXPECT_EQ(p.normal, (Vec3{0, 0, 1}));
    EXPECT_NEAR(std::fabs(p.position.x), 1, kTight);
    EXPECT_NEAR(p.position.z, -0.025, 4 * kTight);
  }
  const PairUnderTest standing{capsulePairFunctions, capsule, at(0, 0, 1.2), plane, {}};
  const ContactManifold one = standing.collide();
  ASSERT_EQ(one.count, 1);
  EXPECT_EQ(one.type, ContactType::Point);
  EXPECT_EQ(one.points[0].feature1, 0);
}

// ---------------------------------------------------------------- capsule, hull

TEST(CapsuleConvex, CubeAgreesWithTheBox) {
  const Capsule capsule(0.3, 0.6);
  const Vec3 half{0.8, 0.5, 0.4};
  const Box box(half);
  const Convex hull(boxCorners(half));
  test::Random random(5);
  for (int i = 0; i < 3000; ++i) {
    const Transform X_WC{random.rotation(), random.direction() * random.uniform(0, 2)};
    const DistanceResult viaHull =
        PairUnderTest{capsulePairFunctions, capsule, X_WC, hull, {}}.distance();
    const DistanceResult viaBox = boxAndCapsule(box, {}, capsule, X_WC).distance();
    ASSERT_NEAR(viaHull.distance, viaBox.distance, 1e-12) << i;
  }
}

TEST(CapsuleConvex, LyingOnAFaceGivesItsTwoEndsLikeOnABox) {
  const Capsule capsule(0.25, 0.75);
  const Convex hull(boxCorners({1, 1, 0.5}));
  const PairUnderTest pair{capsulePairFunctions, capsule, alongX({0.5, 0, 0.7}), hull, {}};
  const ContactManifold m = pair.collide();
  ASSERT_EQ(m.count, 2);
  EXPECT_EQ(m.type, ContactType::Edge);
  const Real left = std::min(m.points[0].position.x, m.points[1].position.x);
  const Real right = std::max(m.points[0].position.x, m.points[1].position.x);
  EXPECT_NEAR(left, -0.25, 1e-12);
  EXPECT_NEAR(right, 1.0, 1e-12);  // clipped at the edge of the face
  for (const ContactPoint& p : m.contacts()) {
    EXPECT_NEAR(p.depth, 0.05, 1e-12);
    EXPECT_NEAR(p.normal.z, 1, 1e-12);
  }
}

// ---------------------------------------------------------------- all

TEST(CapsulePairs, FeaturesStayTheSameUnderSmallMotions) {
  const Capsule capsule(0.25, 2);
  const Box box({1, 1, 0.5});
  std::vector<std::pair<std::int32_t, std::int32_t>> first;
  for (int i = 0; i < 50; ++i) {
    const Transform X_W2 = turned({0, 0, 1}, 0.3 + 0.002 * i) * alongX({0.2, 0.1, 0.7});
    const ContactManifold m = boxAndCapsule(box, {}, capsule, X_W2).collide();
    std::vector<std::pair<std::int32_t, std::int32_t>> features;
    for (const ContactPoint& p : m.contacts()) features.emplace_back(p.feature1, p.feature2);
    std::sort(features.begin(), features.end());
    ASSERT_EQ(features.size(), 2u);
    ASSERT_NE(features[0], features[1]);
    if (i == 0) first = features;
    ASSERT_EQ(features, first) << i;
  }
}

TEST(CapsulePairs, SwappingTwoCapsulesTurnsTheAnswerRound) {
  test::Random random(9);
  const Capsule capsule1(0.3, 0.8), capsule2(0.2, 0.5);
  for (int i = 0; i < 2000; ++i) {
    const Transform X_W1{random.rotation(), random.direction()};
    const Transform X_W2{random.rotation(), random.direction() * 0.3};
    const DistanceResult d = capsules(capsule1, X_W1, capsule2, X_W2).distance();
    const DistanceResult e = capsules(capsule2, X_W2, capsule1, X_W1).distance();
    ASSERT_NEAR(d.distance, e.distance, 1e-14);
    ASSERT_LE(norm(d.normal + e.normal), 1e-9);
  }
}

}  // namespace
}  // namespace tangere
