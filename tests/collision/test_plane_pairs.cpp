// SPDX-License-Identifier: Apache-2.0
#include "collision/plane_pairs.hpp"

#include "collision/kernels/hull_below.hpp"
#include "pair_query.hpp"

#include <set>

namespace tangere {
namespace {

using collision::planePairFunctions;
using test::at;
using test::PairUnderTest;
using test::turned;

constexpr Real kTight = 1e-15;
constexpr Real kHalfPi = M_PI / 2;
const Vec3 kX{1, 0, 0}, kY{0, 1, 0};
const Plane kFloor;

PairUnderTest onFloor(const Shape& shape, const Transform& X_W1, const Transform& X_W2 = {}) {
  return {planePairFunctions, shape, X_W1, kFloor, X_W2};
}

std::set<std::int32_t> features1(const ContactManifold& m) {
  std::set<std::int32_t> out;
  for (const ContactPoint& p : m.contacts()) out.insert(p.feature1);
  return out;
}

/// Area of the convex hull of up to four points that come in any order, seen from above.
Real footprint(const ContactManifold& m) {
  Real best = 0;
  for (int i = 0; i < m.count; ++i)
    for (int j = 0; j < m.count; ++j)
      for (int k = 0; k < m.count; ++k)
        for (int l = 0; l < m.count; ++l) {
          const Vec3 d1 = m.points[k].position - m.points[i].position;
          const Vec3 d2 = m.points[l].position - m.points[j].position;
          best = std::max(best, std::fabs(d1.x * d2.y - d1.y * d2.x) / 2);
        }
  return best;
}

TEST(PlanePairs, OwnTheSolidsThatAreNotRoundedCores) {
  for (int i = 0; i < kNumShapeTypes; ++i)
    for (int j = i; j < kNumShapeTypes; ++j) {
      const auto type1 = static_cast<ShapeType>(i), type2 = static_cast<ShapeType>(j);
      const bool owned = (type2 == ShapeType::Plane &&
                          (type1 == ShapeType::Box || type1 == ShapeType::Cylinder ||
                           type1 == ShapeType::Cone || type1 == ShapeType::Ellipsoid)) ||
                         (type1 == ShapeType::Plane && type2 == ShapeType::Convex);
      EXPECT_EQ(planePairFunctions(type1, type2).collide != nullptr, owned)
          << shapeTypeName(type1) << "-" << shapeTypeName(type2);
    }
}

TEST(PlanePairs, GoldenCasesAreExact) { test::expectGolden(planePairFunctions, 290); }

#ifdef TANGERE_SUPPORT_SSE2
TEST(PlanePairs, VerticesBelowAreTheSameInAnyNumberOfLanes) {
  test::Random random(11);
  for (const int numPoints : {4, 5, 30, 63, 64, 65, 66, 100, 127}) {
    std::vector<Vec3> points;
    for (int i = 0; i < numPoints; ++i) points.push_back(random.direction());
    const Convex hull(points);
    const kernel::HullView<Real>& view = *hull.flat().convex.hull;
    ASSERT_EQ(view.numVertices, numPoints);
    for (int repeat = 0; repeat < 50; ++repeat) {
      const Vec3 m = random.direction();
      // Often exactly the height of a vertex, and beyond all of them.
      const int tied = static_cast<int>(random.uniform(0, numPoints));
      const Real bound = repeat % 3 == 0   ? dot(view.vertex(tied), m)
                         : repeat % 3 == 1 ? random.uniform(-1, 1)
                                           : 2;
      std::vector<int> expected;
      for (int i = 0; i < numPoints; ++i)
        if (view.x[i] * m.x + view.y[i] * m.y + view.z[i] * m.z <= bound) expected.push_back(i);
      const auto check = [&](auto verticesBelow) {
        Real heights[kernel::kMaxStoredVertices];
        int below[kernel::kMaxStoredVertices];
        const int count = verticesBelow(view, m, bound, heights, below);
        EXPECT_EQ(std::vector<int>(below, below + count), expected);
        for (int i = 0; i < numPoints; ++i)
          EXPECT_EQ(heights[i], view.x[i] * m.x + view.y[i] * m.y + view.z[i] * m.z);
      };
      check(kernel::verticesBelowSse2);
      if (__builtin_cpu_supports("avx2")) check(kernel::verticesBelowAvx2);
    }
  }
}
#endif

TEST(PlanePairs, EveryAnswerIsProved) {
  for (const ShapeType type :
       {ShapeType::Box, ShapeType::Cylinder, ShapeType::Cone, ShapeType::Ellipsoid})
    test::expectProvenAnswers(planePairFunctions, type, ShapeType::Plane, 500);
  test::expectProvenAnswers(planePairFunctions, ShapeType::Plane, ShapeType::Convex, 500);
}

TEST(BoxPlane, RestingFlatHasItsFourLowerVertices) {
  const Box box({1, 2, 0.5});
  const ContactManifold m = onFloor(box, at(3, 4, 0.49)).collide();
  ASSERT_EQ(m.count, 4);
  EXPECT_EQ(m.type, ContactType::Face);
  EXPECT_EQ(features1(m), (std::set<std::int32_t>{0, 1, 2, 3}));
  EXPECT_NEAR(footprint(m), 8, 1e-14);
  for (const ContactPoint& p : m.contacts()) {
    EXPECT_NEAR(p.depth, 0.01, kTight);
    EXPECT_EQ(p.normal, (Vec3{0, 0, 1}));
    EXPECT_NEAR(p.position.z, -0.005, kTight);
    EXPECT_EQ(p.feature2, -1);
    // Bit 0 of the vertex is its side along x, bit 1 along y.
    EXPECT_NEAR(p.position.x, 3 + ((p.feature1 & 1) != 0 ? 1 : -1), kTight);
    EXPECT_NEAR(p.position.y, 4 + ((p.feature1 & 2) != 0 ? 2 : -2), kTight);
  }
}

TEST(BoxPlane, TiltedByHalfADegreeKeepsTheFourVerticesThatAreBelow) {
  const Box box({1, 1, 0.5});
  const Real tilt = 0.5 * M_PI / 180;
  // About y: the vertices at x = -+1 are sin(tilt) lower and higher.
  const ContactManifold m = onFloor(box, turned(kY, tilt, {0, 0, 0.48})).collide();
  ASSERT_EQ(m.count, 4);
  for (const ContactPoint& p : m.contacts()) {
    const Real side = (p.feature1 & 1) != 0 ? 1 : -1;
    EXPECT_NEAR(p.depth, 0.5 * std::cos(tilt) - 0.48 + side * std::sin(tilt), 1e-15);
  }
  // Higher by 0.015 the upper two are out.
  const ContactManifold edge = onFloor(box, turned(kY, tilt, {0, 0, 0.495})).collide();
  EXPECT_EQ(edge.count, 2);
  EXPECT_EQ(edge.type, ContactType::Edge);
  EXPECT_EQ(features1(edge), (std::set<std::int32_t>{1, 3}));
}

TEST(BoxPlane, OnAVertexIsOnePointAndDeeperAreTheFourDeepest) {
  const Box box({1, 1, 1});
  const Transform X{turned({1, 0, 0}, 0.6).rotation * turned({0, 1, 0}, 0.5).rotation, {0, 0, 1.6}};
  const ContactManifold m = onFloor(box, X).collide();
  ASSERT_EQ(m.count, 1);
  EXPECT_EQ(m.type, ContactType::Point);
  for (const Real z : {0.0, 0.5, 1.0}) {
    const Transform lower{X.rotation, {0, 0, z}};
    std::vector<Real> heights;
    for (int i = 0; i < 8; ++i)
      heights.push_back((lower * Vec3{(i & 1) != 0 ? 1.0 : -1.0, (i & 2) != 0 ? 1.0 : -1.0,
                                      (i & 4) != 0 ? 1.0 : -1.0})
                            .z);
    std::sort(heights.begin(), heights.end());
    const ContactManifold deep = onFloor(box, lower).collide();
    std::vector<Real> depths;
    for (const ContactPoint& p : deep.contacts()) depths.push_back(p.depth);
    const auto below = std::count_if(heights.begin(), heights.end(), [](Real h) { return h <= 0; });
    ASSERT_EQ(static_cast<long>(depths.size()), std::min<long>(4, below));
    for (std::size_t i = 0; i < depths.size(); ++i) EXPECT_NEAR(depths[i], -heights[i], 1e-15);
  }
}

TEST(BoxPlane, OneContactIsTheDeepest) {
  const Box box({1, 1, 0.5});
  const ContactManifold m =
      onFloor(box, turned(kY, 0.001, {0, 0, 0.4})).collide({.maxNumContacts = 1});
  ASSERT_EQ(m.count, 1);
  EXPECT_NEAR(m.points[0].depth, 0.5 * std::cos(0.001) + std::sin(0.001) - 0.4, 1e-15);
}

TEST(CylinderPlane, StandingHasFourSpreadPointsOfItsRim) {
  const Cylinder cylinder(2, 1);
  const ContactManifold m = onFloor(cylinder, at(0, 0, 0.9)).collide();
  ASSERT_EQ(m.count, 4);
  EXPECT_EQ(m.type, ContactType::Face);
  EXPECT_NEAR(footprint(m), 8, 1e-14);  // the square in a circle of radius 2
  for (const ContactPoint& p : m.contacts()) EXPECT_NEAR(p.depth, 0.1, 4 * kTight);
  EXPECT_EQ(features1(m), (std::set<std::int32_t>{0, 1, 2, 3}));
  const ContactManifold upsideDown = onFloor(cylinder, turned(kX, M_PI, {0, 0, 0.9})).collide();
  EXPECT_EQ(features1(upsideDown), (std::set<std::int32_t>{4, 5, 6, 7}));
}

TEST(CylinderPlane, SlightlyTiltedIncludesTheLowestRimPoint) {
  const Cylinder cylinder(2, 1);
  for (const Real turn : {0.0, 0.3, 0.9, 2.0, 4.0}) {
    const Real tilt = 0.01;
    const Transform X = turned(kY, tilt, {0, 0, 0.95}) * turned({0, 0, 1}, turn);
    const ContactManifold m = onFloor(cylinder, X).collide();
    ASSERT_EQ(m.count, 4) << turn;
    EXPECT_NEAR(m.points[0].depth, std::cos(tilt) + 2 * std::sin(tilt) - 0.95, 1e-15);
    EXPECT_EQ(features1(m), (std::set<std::int32_t>{0, 1, 2, 3}));
    EXPECT_GE(footprint(m), 6);  // of 8 at best
    for (const ContactPoint& p : m.contacts()) {
      const Vec3 onBody = inverseTimes(X, p.position - p.normal * (p.depth / 2));
      EXPECT_NEAR(std::hypot(onBody.x, onBody.y), 2, 1e-14);
      EXPECT_NEAR(onBody.z, -1, 1e-14);
    }
  }
}

TEST(CylinderPlane, RimNumbersStayWhileTheBodyTurns) {
  const Cylinder cylinder(2, 1);
  std::map<std::int32_t, Vec3> last;
  for (int i = 0; i < 400; ++i) {
    const Transform X = turned({0, 0, 1}, 0.02 * i, {0, 0, 0.9});
    const ContactManifold m = onFloor(cylinder, X).collide();
    ASSERT_EQ(m.count, 4);
    for (const ContactPoint& p : m.contacts()) {
      if (i > 0) {
        ASSERT_TRUE(last.count(p.feature1));
        ASSERT_LE(norm(p.position - last[p.feature1]), 0.05);  // 2 * 0.02 rad
      }
      last[p.feature1] = p.position;
    }
  }
}

TEST(CylinderPlane, LyingTouchesAlongALineAndLeaningAtAPoint) {
  const Cylinder cylinder(0.5, 1);
  const ContactManifold line = onFloor(cylinder, turned(kY, kHalfPi, {0, 0, 0.4})).collide();
  ASSERT_EQ(line.count, 2);
  EXPECT_EQ(line.type, ContactType::Edge);
  EXPECT_NEAR(std::fabs(line.points[0].position.x - line.points[1].position.x), 2, 1e-14);
  for (const ContactPoint& p : line.contacts()) EXPECT_NEAR(p.depth, 0.1, 4 * kTight);
  const Real lean = 0.9;
  const ContactManifold point =
      onFloor(cylinder, turned(kY, lean, {0, 0, std::cos(lean) + 0.5 * std::sin(lean) - 0.01}))
          .collide();
  ASSERT_EQ(point.count, 1);
  EXPECT_EQ(point.type, ContactType::Point);
  EXPECT_NEAR(point.points[0].depth, 0.01, 1e-15);
}

TEST(ConePlane, BaseSideAndApex) {
  const Cone cone(3, 2);  // height 4, side 5
  const ContactManifold base = onFloor(cone, at(0, 0, 1.9)).collide();
  EXPECT_EQ(base.count, 4);
  EXPECT_EQ(base.type, ContactType::Face);
  EXPECT_NEAR(footprint(base), 18, 1e-13);
  const ContactManifold apex = onFloor(cone, turned(kX, M_PI, {0, 0, 1.9})).collide();
  ASSERT_EQ(apex.count, 1);
  EXPECT_NEAR(apex.points[0].depth, 0.1, 1e-15);
  EXPECT_EQ(apex.points[0].feature1, 5);
  // Lying on its side: the outward normal of the side, (4, 0, 3) / 5, points down. The axis then
  // is at height 2 * 3/5 above the apex line.
  const Real angle = std::acos(-0.6);
  const ContactManifold side = onFloor(cone, turned(kY, angle, {0, 0, 1.2 - 0.05})).collide();
  ASSERT_EQ(side.count, 2);
  EXPECT_EQ(side.type, ContactType::Edge);
  for (const ContactPoint& p : side.contacts()) EXPECT_NEAR(p.depth, 0.05, 1e-14);
  EXPECT_NEAR(norm(side.points[0].position - side.points[1].position), 5, 1e-14);
}

TEST(EllipsoidPlane, LowestPointIsWhereTheNormalIsVertical) {
  const Ellipsoid ellipsoid({1, 2, 3});
  const ContactManifold m = onFloor(ellipsoid, at(0, 0, 2.9)).collide();
  ASSERT_EQ(m.count, 1);
  EXPECT_NEAR(m.points[0].depth, 0.1, 1e-15);
  // Turned by t about y the height is sqrt(sin^2 + 9 cos^2).
  const Real t = 0.7;
  const Real height = std::sqrt(std::pow(std::sin(t), 2) + 9 * std::pow(std::cos(t), 2));
  EXPECT_NEAR(onFloor(ellipsoid, turned(kY, t, {0, 0, 5})).distance().distance, 5 - height, 1e-15);
}

TEST(PlaneConvex, TheNormalPointsFromTheHullToThePlane) {
  const std::vector<Vec3> tetrahedron = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  const Convex hull(tetrahedron);
  const PairUnderTest pair{planePairFunctions, kFloor, {}, hull, at(0, 0, 0.9)};
  const ContactManifold m = pair.collide();
  ASSERT_EQ(m.count, 2);  // the lower edge
  EXPECT_EQ(m.type, ContactType::Edge);
  for (const ContactPoint& p : m.contacts()) {
    EXPECT_EQ(p.normal, (Vec3{0, 0, -1}));
    EXPECT_NEAR(p.depth, 0.1, 4 * kTight);
    EXPECT_EQ(p.feature1, -1);
  }
  EXPECT_NEAR(pair.distance().distance, -0.1, 4 * kTight);
}

TEST(PlaneConvex, APrismOfManySidesKeepsFourSpreadPoints) {
  for (const int sides : {5, 8, 12, 40, 300}) {
    std::vector<Vec3> points;
    for (int i = 0; i < sides; ++i)
      for (const Real z : {-0.5, 0.5})
        points.push_back({std::cos(2 * M_PI * i / sides), std::sin(2 * M_PI * i / sides), z});
    const Convex prism(points);
    const PairUnderTest pair{planePairFunctions, kFloor, {}, prism, at(0, 0, 0.49)};
    const ContactManifold m = pair.collide();
    ASSERT_EQ(m.count, 4) << sides;
    EXPECT_EQ(m.type, ContactType::Face);
    std::set<std::int32_t> different;
    for (const ContactPoint& p : m.contacts()) {
      different.insert(p.feature2);
      EXPECT_NEAR(p.depth, 0.01, 1e-14);
    }
    EXPECT_EQ(different.size(), 4u);
    EXPECT_GE(footprint(m), sides == 5 ? 1.6 : 1.7) << sides;  // 2 is the best of a circle
  }
}

TEST(PlaneConvex, TiltedHullsHaveTheDeepestVertexFirstAndTrueDepths) {
  test::Random random(21);
  std::vector<Vec3> points;
  for (int i = 0; i < 60; ++i) points.push_back(random.direction());
  const Convex hull(points);
  for (int i = 0; i < 500; ++i) {
    const Transform X{random.rotation(), {0, 0, random.uniform(-0.5, 1.0)}};
    const ContactManifold m = PairUnderTest{planePairFunctions, kFloor, {}, hull, X}.collide();
    Real lowest = 1e300;
    for (const Vec3& v : hull.vertices()) lowest = std::min(lowest, (X * v).z);
    ASSERT_EQ(m.count > 0, lowest <= 0);
    if (m.count == 0) continue;
    ASSERT_NEAR(m.points[0].depth, -lowest, 1e-15);
    for (const ContactPoint& p : m.contacts()) {
      const Vec3 v = X * hull.vertices()[static_cast<std::size_t>(p.feature2)];
      ASSERT_NEAR(p.depth, -v.z, 1e-15);
      ASSERT_NEAR(p.position.x, v.x, 1e-15);
      ASSERT_NEAR(p.position.y, v.y, 1e-15);
    }
  }
}

TEST(PlanePairs, FarFromTheOriginDepthsKeepTheirDigits) {
  const Box box({1, 1, 0.5});
  const Vec3 far{1e4, -2e4, 1.5e4};
  const Transform X_W1{Mat3::identity(), far + Vec3{0.3, 0.2, 0.5 - 1.0 / 1024}};
  const ContactManifold m = onFloor(box, X_W1, {Mat3::identity(), far}).collide();
  ASSERT_EQ(m.count, 4);
  for (const ContactPoint& p : m.contacts()) EXPECT_EQ(p.depth, 1.0 / 1024);
}

}  // namespace
}  // namespace tangere
