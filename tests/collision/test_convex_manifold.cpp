// SPDX-License-Identifier: Apache-2.0
#include <tangere/shape.hpp>

#include "collision/box_pose_helpers.hpp"
#include "collision/kernels/box_box.hpp"
#include "collision/kernels/convex_distance.hpp"
#include "collision/kernels/convex_manifold.hpp"
#include "geometry/flat_shape.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>

namespace tangere {
namespace {

using test::rotationAbout;

const kernel::ConvexView<double>& viewOf(const Shape& shape) { return shape.flat().convex; }

struct Answer {
  kernel::ConvexContact<double> contact;
  ContactManifold manifold;  ///< in world
};

Answer collide(const kernel::ConvexView<double>& a, const Transform& X_WA,
               const kernel::ConvexView<double>& b, const Transform& X_WB) {
  Answer out;
  const Transform X_AB = inverseTimes(X_WA, X_WB);
  out.contact = kernel::convexDistance(a, b, X_AB, 1e300, true);
  kernel::buildConvexManifold(a, b, X_AB, out.contact, &out.manifold);
  kernel::transformManifold(X_WA, &out.manifold);
  return out;
}

Answer collide(const Shape& a, const Transform& X_WA, const Shape& b, const Transform& X_WB) {
  return collide(viewOf(a), X_WA, viewOf(b), X_WB);
}

std::unique_ptr<Convex> boxHull(const Vec3& half) {
  std::vector<Vec3> points;
  for (int i = 0; i < 8; ++i)
    points.push_back(
        {(i & 1) ? half.x : -half.x, (i & 2) ? half.y : -half.y, (i & 4) ? half.z : -half.z});
  return std::make_unique<Convex>(points);
}

/// Prism of n sides, circumradius r, half height h.
std::unique_ptr<Convex> prism(int n, double r, double h) {
  std::vector<Vec3> points;
  for (int i = 0; i < n; ++i) {
    const double t = 2 * 3.14159265358979323846 * i / n;
    for (const double z : {-h, h}) points.push_back({r * std::cos(t), r * std::sin(t), z});
  }
  return std::make_unique<Convex>(points);
}

/// Every set of four points, in any order.
void expectSamePoints(const ContactManifold& m, const ContactManifold& q, double tolerance) {
  ASSERT_EQ(m.count, q.count);
  EXPECT_EQ(m.type, q.type);
  for (const ContactPoint& p : m.contacts()) {
    bool found = false;
    for (const ContactPoint& o : q.contacts())
      found = found ||
              (norm(p.position - o.position) <= tolerance &&
               std::fabs(p.depth - o.depth) <= tolerance && norm(p.normal - o.normal) <= tolerance);
    EXPECT_TRUE(found) << p.position.x << " " << p.position.y << " " << p.position.z << " depth "
                       << p.depth;
  }
}

TEST(BuildConvexManifold, BoxesGiveTheKnownManifolds) {
  for (const test::KnownManifold& k : test::knownManifolds()) {
    SCOPED_TRACE(k.name);
    const ContactManifold m =
        collide(test::boxView(k.half1), k.X_W1, test::boxView(k.half2), k.X_W2).manifold;
    EXPECT_EQ(m.count, std::min(k.numVertices, 4));
    for (const ContactPoint& p : m.contacts()) {
      EXPECT_NEAR(p.normal.z, -1, 1e-12);
      const double top = test::envelope(k.half1, k.X_W1, p.position.x, p.position.y, true);
      const double bottom = test::envelope(k.half2, k.X_W2, p.position.x, p.position.y, false);
      EXPECT_NEAR(p.depth, top - bottom, 1e-11);
      EXPECT_LE(p.depth, k.depth + 1e-12);
    }
    EXPECT_NEAR(m.depth(), k.depth, 1e-12);
  }
}

TEST(BuildConvexManifold, ABoxAsAHullTouchesLikeABox) {
  for (const test::KnownManifold& k : test::knownManifolds()) {
    SCOPED_TRACE(k.name);
    const Box box1(k.half1), box2(k.half2);
    const auto hull1 = boxHull(k.half1), hull2 = boxHull(k.half2);
    const ContactManifold m = collide(box1, k.X_W1, box2, k.X_W2).manifold;
    if (k.numVertices <= 4) {
      expectSamePoints(collide(box1, k.X_W1, *hull2, k.X_W2).manifold, m, 1e-11);
      expectSamePoints(collide(*hull1, k.X_W1, box2, k.X_W2).manifold, m, 1e-11);
      expectSamePoints(collide(*hull1, k.X_W1, *hull2, k.X_W2).manifold, m, 1e-11);
    } else {
      EXPECT_EQ(collide(*hull1, k.X_W1, *hull2, k.X_W2).manifold.count, 4);
    }
  }
}

TEST(BuildConvexManifold, AgreesWithTheBoxKernelOnTheDeepestPoint) {
  test::Random random(31);
  const Vec3 half{0.5, 0.4, 0.3};
  int compared = 0;
  for (int i = 0; i < 3000; ++i) {
    const Transform X1{random.rotation(), {}}, X2{random.rotation(), random.inBall()};
    ContactManifold m;
    if (kernel::collideBoxBox(test::boxView(half), X1, test::boxView(half), X2, &m) == 0) continue;
    const ContactManifold q = collide(test::boxView(half), X1, test::boxView(half), X2).manifold;
    ASSERT_GE(q.count, 1);
    ASSERT_NEAR(q.depth(), m.depth(), 1e-9);
    ++compared;
  }
  EXPECT_GT(compared, 1000);
}

TEST(BuildConvexManifold, DepthsAreBoundedAndPointsLieInBothShapes) {
  test::Random random(32);
  std::vector<std::unique_ptr<Shape>> shapes;
  shapes.push_back(std::make_unique<Box>(Vec3{0.5, 0.4, 0.3}));
  shapes.push_back(std::make_unique<Cylinder>(0.4, 0.5));
  shapes.push_back(std::make_unique<Cone>(0.45, 0.5));
  shapes.push_back(std::make_unique<Ellipsoid>(Vec3{0.5, 0.4, 0.3}));
  shapes.push_back(std::make_unique<Capsule>(0.3, 0.4));
  shapes.push_back(prism(7, 0.5, 0.3));
  std::vector<Vec3> cloud;
  for (int i = 0; i < 40; ++i) cloud.push_back(random.direction() * 0.5);
  shapes.push_back(std::make_unique<Convex>(cloud));
  int points = 0;
  for (const auto& a : shapes) {
    for (const auto& b : shapes) {
      // The depth of curved shapes is found by iteration, to a millionth of their size.
      const bool flat = kernel::isPolytope(viewOf(*a).core) && kernel::isPolytope(viewOf(*b).core);
      const double tolerance = flat ? 1e-8 : 1e-6;
      for (int i = 0; i < 300; ++i) {
        const Transform X1{random.rotation(), random.inBall()},
            X2{random.rotation(), X1.translation + random.inBall() * 0.9};
        const Answer answer = collide(*a, X1, *b, X2);
        if (answer.contact.distance > 0) {
          EXPECT_EQ(answer.manifold.count, 0);
          continue;
        }
        const ContactManifold& m = answer.manifold;
        ASSERT_GE(m.count, 1);
        const double depth = -answer.contact.distance;
        double deepest = 0;
        for (const ContactPoint& p : m.contacts()) {
          ASSERT_GE(p.depth, 0);
          ASSERT_LE(p.depth, depth);
          deepest = std::max(deepest, p.depth);
          // Every point is between the two support planes along the normal.
          const Vec3 h = p.normal * (0.5 * p.depth);
          const double plane1 =
              dot(X1 * a->support(transposeTimes(X1.rotation, -p.normal)), -p.normal);
          const double plane2 =
              dot(X2 * b->support(transposeTimes(X2.rotation, p.normal)), p.normal);
          ASSERT_LE(dot(p.position - h, -p.normal), plane1 + tolerance);
          ASSERT_LE(dot(p.position + h, p.normal), plane2 + tolerance);
          ++points;
        }
        ASSERT_NEAR(deepest, depth, tolerance);
      }
    }
  }
  EXPECT_GT(points, 10000);
}

TEST(BuildConvexManifold, CylinderStandingOnABoxTouchesAtFourRimPoints) {
  const Cylinder cylinder(0.2, 0.3);
  const Box box(Vec3{0.5, 0.5, 0.5});
  const Transform X1{rotationAbout({0, 0, 1}, 17), {0.1, -0.05, 0.79}};
  const ContactManifold m = collide(cylinder, X1, box, {}).manifold;
  ASSERT_EQ(m.count, 4);
  EXPECT_EQ(m.type, ContactType::Face);
  for (const ContactPoint& p : m.contacts()) {
    EXPECT_NEAR(p.depth, 0.01, 1e-12);
    EXPECT_NEAR(p.normal.z, 1, 1e-12);
    const double dx = p.position.x - 0.1, dy = p.position.y + 0.05;
    EXPECT_NEAR(dx * dx + dy * dy, 0.04, 1e-12);
  }
  // Opposite points first, then across: the square of largest area.
  EXPECT_NEAR(norm(m.points[0].position - m.points[1].position), 0.4, 1e-12);
  EXPECT_NEAR(norm(m.points[2].position - m.points[3].position), 0.4, 1e-12);
}

TEST(BuildConvexManifold, CylinderTiltedOnItsRimHasItsLowestPointFirst) {
  const Cylinder cylinder(0.2, 0.3);
  const Box box(Vec3{0.5, 0.5, 0.5});
  for (const double degrees : {0.2, 1.0, 5.0, 20.0}) {
    Transform X1{rotationAbout({1, 0.3, 0}, degrees), {}};
    const Vec3 lowest = X1.rotation * cylinder.support(transposeTimes(X1.rotation, Vec3{0, 0, -1}));
    X1.translation = {0, 0, 0.5 - lowest.z - 0.01};
    const ContactManifold m = collide(cylinder, X1, box, {}).manifold;
    ASSERT_GE(m.count, 1);
    EXPECT_NEAR(m.points[0].depth, 0.01, 1e-9) << degrees;
    EXPECT_NEAR(m.points[0].position.x, lowest.x, 1e-6);
    EXPECT_NEAR(m.points[0].position.y, lowest.y, 1e-6);
    for (const ContactPoint& p : m.contacts()) EXPECT_LE(p.depth, 0.01 + 1e-9);
  }
}

TEST(BuildConvexManifold, CylinderAndCapsuleLyingOnABoxTouchAlongALine) {
  const Box box(Vec3{0.5, 0.5, 0.5});
  const Transform lying{rotationAbout({1, 0, 0}, 90), {0.1, 0, 0.69}};
  const Cylinder cylinder(0.2, 0.3);
  const Capsule capsule(0.2, 0.3);
  for (const Shape* shape :
       {static_cast<const Shape*>(&cylinder), static_cast<const Shape*>(&capsule)}) {
    const ContactManifold m = collide(*shape, lying, box, {}).manifold;
    ASSERT_EQ(m.count, 2);
    EXPECT_EQ(m.type, ContactType::Edge);
    EXPECT_NEAR(std::fabs(m.points[0].position.y - m.points[1].position.y), 0.6, 1e-12);
    for (const ContactPoint& p : m.contacts()) {
      EXPECT_NEAR(p.depth, 0.01, 1e-12);
      EXPECT_NEAR(p.position.x, 0.1, 1e-12);
      EXPECT_NEAR(p.position.z, 0.495, 1e-12);
    }
  }
}

TEST(BuildConvexManifold, LineOfAnOverhangingCylinderEndsAtTheEdgeOfTheBox) {
  const Box box(Vec3{0.5, 0.5, 0.5});
  const Cylinder cylinder(0.2, 0.3);
  const Transform lying{rotationAbout({1, 0, 0}, 90), {0, 0.4, 0.69}};  // from y = 0.1 to 0.7
  const ContactManifold m = collide(cylinder, lying, box, {}).manifold;
  ASSERT_EQ(m.count, 2);
  const double y0 = std::min(m.points[0].position.y, m.points[1].position.y);
  const double y1 = std::max(m.points[0].position.y, m.points[1].position.y);
  EXPECT_NEAR(y0, 0.1, 1e-12);
  EXPECT_NEAR(y1, 0.5, 1e-12);
}

TEST(BuildConvexManifold, ConeStandsOnItsBaseAndLiesOnItsSide) {
  const Cone cone(0.3, 0.4);
  const Box box(Vec3{1, 1, 0.5});
  const ContactManifold standing =
      collide(cone, {Mat3::identity(), {0, 0, 0.89}}, box, {}).manifold;
  ASSERT_EQ(standing.count, 4);
  EXPECT_EQ(standing.type, ContactType::Face);
  for (const ContactPoint& p : standing.contacts()) EXPECT_NEAR(p.depth, 0.01, 1e-12);

  // Turned so that a side line is level: the side normal (h, 0, r)/slant, h = 0.8, points down.
  const double slant = std::sqrt(0.64 + 0.09);
  const Mat3 R{{{0.3 / slant, 0, -0.8 / slant}, {0, -1, 0}, {-0.8 / slant, 0, -0.3 / slant}}};
  const Vec3 side = transposeTimes(R, Vec3{0, 0, -1});
  ASSERT_NEAR(side.x, 0.8 / slant, 1e-12);
  Transform X{R, {}};
  X.translation.z = 0.5 - (R * Vec3{0, 0, 0.4}).z - 0.005;
  const ContactManifold lying = collide(cone, X, box, {}).manifold;
  ASSERT_EQ(lying.count, 2);
  EXPECT_EQ(lying.type, ContactType::Edge);
  EXPECT_NEAR(norm(lying.points[0].position - lying.points[1].position), slant, 1e-7);
  for (const ContactPoint& p : lying.contacts()) EXPECT_NEAR(p.depth, 0.005, 1e-8);
}

TEST(BuildConvexManifold, RoundShapesTouchInOnePointWithoutFeatures) {
  const Ellipsoid ellipsoid(Vec3{0.5, 0.4, 0.3});
  const Box box(Vec3{0.5, 0.5, 0.5});
  const ContactManifold m =
      collide(ellipsoid, {Mat3::identity(), {0.1, 0.2, 0.79}}, box, {}).manifold;
  ASSERT_EQ(m.count, 1);
  EXPECT_EQ(m.type, ContactType::Point);
  EXPECT_EQ(m.points[0].feature1, -1);
  EXPECT_EQ(m.points[0].feature2, kernel::faceFeature(kernel::boxFace(2, true)));
}

TEST(BuildConvexManifold, TriangleUnderABoxGivesThePartUnderIt) {
  const Vec3 triangle[3] = {{-2, -2, 0}, {2, -2, 0}, {0, 3, 0}};
  kernel::ConvexView<double> view;
  view.core = kernel::CoreType::Triangle;
  view.triangle = triangle;
  view.center = {0, -1.0 / 3, 0};
  view.boundingRadius = 3.5;
  // Box above; the contact as a triangle query gives it: the box is pushed up.
  const kernel::ConvexView<double> box = test::boxView({0.5, 0.5, 0.5});
  kernel::ConvexContact<double> contact;
  contact.normal = {0, 0, 1};
  contact.distance = -0.01;
  contact.pointA = {0, 0, -0.5};
  contact.pointB = {0, 0, -0.49};
  ContactManifold m;
  ASSERT_EQ(kernel::buildConvexManifold(box, view, {Mat3::identity(), {0, 0, -0.49}}, contact, &m),
            4);
  std::set<std::int32_t> corners;
  for (const ContactPoint& p : m.contacts()) {
    EXPECT_NEAR(p.depth, 0.01, 1e-15);
    EXPECT_NEAR(std::fabs(p.position.x), 0.5, 1e-15);
    EXPECT_NEAR(std::fabs(p.position.y), 0.5, 1e-15);
    EXPECT_EQ(p.feature2, kernel::faceFeature(0));
    corners.insert(p.feature1);
  }
  EXPECT_EQ(corners, (std::set<std::int32_t>{0, 1, 2, 3}));  // the corners at z < 0
}

TEST(BuildConvexManifold, FacesOfManyVerticesAreThinnedNotCutShort) {
  const auto wheel = prism(200, 0.5, 0.1);
  const Box box(Vec3{1, 1, 0.5});
  const ContactManifold m = collide(*wheel, {Mat3::identity(), {0, 0, 0.59}}, box, {}).manifold;
  ASSERT_EQ(m.count, 4);
  // Spread round the whole rim: no two closer than a quarter turn less the spacing.
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(m.points[i].depth, 0.01, 1e-9);
    for (int j = 0; j < i; ++j) EXPECT_GT(norm(m.points[i].position - m.points[j].position), 0.6);
  }
  const ContactManifold two =
      collide(*wheel, {Mat3::identity(), {0.2, 0, 0.19}}, *wheel, {}).manifold;
  EXPECT_EQ(two.count, 4);
}

TEST(BuildConvexManifold, TouchingFacesOfDepthZeroAreStillAFace) {
  const kernel::ConvexView<double> cube = test::boxView({0.5, 0.5, 0.5});
  kernel::ConvexContact<double> contact;
  contact.normal = {0, 0, -1};
  contact.distance = 0;
  contact.pointA = contact.pointB = {0.1, 0.2, 0.5};
  ContactManifold m;
  ASSERT_EQ(
      kernel::buildConvexManifold(cube, cube, {Mat3::identity(), {0.25, 0.5, 1}}, contact, &m), 4);
  EXPECT_EQ(m.type, ContactType::Face);
  for (const ContactPoint& p : m.contacts()) EXPECT_EQ(p.depth, 0);
}

TEST(BuildConvexManifold, FeaturesStayUnderPerturbationOfHulls) {
  test::Random random(33);
  const auto hull = prism(6, 0.4, 0.2);
  const Box box(Vec3{0.5, 0.5, 0.5});
  const Transform X1{rotationAbout({0, 0, 1}, 10), {0.3, 0.2, 0.69}};
  const ContactManifold m = collide(*hull, X1, box, {}).manifold;
  ASSERT_EQ(m.count, 4);
  for (int trial = 0; trial < 100; ++trial) {
    Transform X = X1;
    const Vec3 w = random.inBall() * 1e-9;
    X.rotation = rotationMatrix(Quat{1, w.x / 2, w.y / 2, w.z / 2}) * X.rotation;
    X.translation += random.inBall() * 1e-9;
    const ContactManifold q = collide(*hull, X, box, {}).manifold;
    ASSERT_EQ(q.count, 4);
    for (int i = 0; i < 4; ++i) {
      ASSERT_EQ(q.points[i].feature1, m.points[i].feature1);
      ASSERT_EQ(q.points[i].feature2, m.points[i].feature2);
    }
  }
}

TEST(BuildConvexManifold, SwappingEqualShapesKeepsThePoints) {
  const auto hull = prism(8, 0.4, 0.2);
  const Transform X1{rotationAbout({0, 0, 1}, 10), {0.1, 0.2, 0.39}}, X2{};
  const ContactManifold m = collide(*hull, X1, *hull, X2).manifold;
  const ContactManifold q = collide(*hull, X2, *hull, X1).manifold;
  ASSERT_EQ(m.count, 4);
  ASSERT_EQ(q.count, 4);
  for (int i = 0; i < 4; ++i) {
    EXPECT_LE(norm(m.points[i].position - q.points[i].position), 1e-12);
    EXPECT_LE(norm(m.points[i].normal + q.points[i].normal), 1e-12);
    EXPECT_EQ(m.points[i].feature1, q.points[i].feature2);
  }
}

TEST(BuildConvexManifold, ScalesWithTheShapes) {
  const Cylinder cylinder(0.2, 0.3);
  for (const double scale : {1e-6, 1e-3, 1e3, 1e6}) {
    const Cylinder scaled(0.2 * scale, 0.3 * scale);
    const Box box(Vec3{0.5, 0.5, 0.5} * scale);
    const ContactManifold m =
        collide(scaled, {Mat3::identity(), Vec3{0.1, 0, 0.79} * scale}, box, {}).manifold;
    ASSERT_EQ(m.count, 4) << scale;
    for (const ContactPoint& p : m.contacts()) EXPECT_NEAR(p.depth / scale, 0.01, 1e-12);
  }
}

}  // namespace
}  // namespace tangere
