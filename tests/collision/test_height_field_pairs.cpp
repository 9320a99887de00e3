// SPDX-License-Identifier: Apache-2.0
//
// Terrains against convex shapes, meshes and point clouds. The reference is the terrain's own solid
// as triangles, and the terrain's signed distance.
#include <tangere/collision.hpp>

#include "geometry/flat_shape.hpp"
#include "geometry/height_field_data.hpp"
#include "geometry/mesh_data.hpp"
#include "geometry/mesh_samples.hpp"
#include "surface_helpers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

namespace tangere {
namespace {

using geometry::HeightFieldData;
using test::convexShapes;
using test::Random;

HeightField hills(int n, double size) {
  std::vector<Real> heights;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const double x = size * (double(i) / (n - 1) - 0.5), y = size * (double(j) / (n - 1) - 0.5);
      heights.push_back(0.3 * std::sin(2 * x) * std::cos(1.7 * y) + 0.1 * std::sin(5 * x + y));
    }
  return HeightField(n, n, size, size, heights);
}

HeightField flat(int n, double size, double height) {
  return HeightField(n, n, size, size, std::vector<Real>(static_cast<std::size_t>(n * n), height));
}

/// Distance to the nearest triangle by GJK, 0 when one is touched.
Real bruteDistance(const Shape& body, const Transform& X_FB, const HeightFieldData& field) {
  const geometry::MeshData& solid = field.solidMesh();
  return test::nearestTriangleByGjk(body, inverse(X_FB), solid.numTriangles(),
                                    [&](int t, int k) { return solid.corner(t, k); });
}

TEST(HeightFieldPairs, FarAwayGivesFiniteNumbersOrAStatus) {
  const HeightField field = hills(9, 4);
  const auto isFinite = [](const Vec3& v) {
    return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
  };
  for (const auto& [name, shape] : convexShapes(1))
    for (const double far : {1e15, 1e19, 1e25, 9e29, 3e30, 1e100, 1e251, 1e308})
      for (const Vec3& direction : {Vec3{1, 0, 0}, Vec3{0, 0, 1}, Vec3{0, 0, -1}}) {
        SCOPED_TRACE(testing::Message() << name << " at " << far << ", z " << direction.z);
        const Transform there{Mat3::identity(), direction * far};
        for (const bool isApart : {false, true}) {
          const Transform X_W1 = isApart ? Transform{} : there;
          const bool isAnswered = far <= 1e30;
          CollisionResult result;
          collide(*shape, X_W1, field, there, CollisionOption::fullContacts(), result);
          EXPECT_EQ(result.status(), isAnswered ? QueryStatus::Ok : QueryStatus::InvalidPose);
          EXPECT_TRUE(isAnswered || !result.isCollision());
          for (int i = 0; i < result.numContacts(); ++i) {
            EXPECT_TRUE(isFinite(result.contact(i).position));
            EXPECT_TRUE(isFinite(result.contact(i).normal));
            EXPECT_TRUE(std::isfinite(result.contact(i).depth));
          }
          const DistanceResult d = distance(*shape, X_W1, field, there);
          EXPECT_EQ(d.status, isAnswered ? QueryStatus::Ok : QueryStatus::InvalidPose);
          EXPECT_TRUE(std::isfinite(d.distance) && isFinite(d.point1) && isFinite(d.point2));
          if (!isAnswered) continue;
          const double expected = isApart ? far : 0;
          EXPECT_NEAR(d.distance, expected, 1e-9 * std::fabs(expected) + 2);
        }
      }
}

TEST(HeightFieldPairs, BooleanAndDistanceAreThoseOfTheNearestTriangle) {
  Random random(1);
  const HeightField field = hills(17, 3);
  const HeightFieldData& data = *field.flat().heightField;
  for (const auto& [name, body] : convexShapes(1)) {
    int touching = 0, apart = 0;
    for (int i = 0; i < 60; ++i) {
      const Transform X_WF = random.pose(5);
      const Transform X_FB{random.rotation(),
                           {random.in(-2.2, 2.2), random.in(-2.2, 2.2), random.in(-0.8, 1.2)}};
      const Transform X_WB = X_WF * X_FB;
      const Real brute = bruteDistance(*body, X_FB, data);
      if (brute > 0 && brute < 1e-7) continue;  // too close to call
      const bool inside = geometry::isInside(data, X_FB * body->flat().convex.center);
      const bool expected = !(brute > 0) || inside;
      EXPECT_EQ(overlap(*body, X_WB, field, X_WF), expected) << name << " " << i;
      CollisionResult result;
      EXPECT_EQ(collide(field, X_WF, *body, X_WB, {}, result) > 0, expected) << name << " " << i;
      const DistanceResult d = distance(*body, X_WB, field, X_WF);
      EXPECT_NEAR(norm(d.point1 - d.point2 - d.normal * d.distance), 0, 1e-9);
      if (expected) {
        EXPECT_LE(d.distance, 0) << name << " " << i;
        ++touching;
      } else {
        EXPECT_NEAR(d.distance, brute, 1e-6) << name << " " << i;
        EXPECT_NEAR(field.signedDistance(inverseTimes(X_WF, d.point2)).distance, 0, 1e-9);
        ++apart;
      }
    }
    EXPECT_GT(touching, 8) << name;
    EXPECT_GT(apart, 8) << name;
  }
}

TEST(HeightFieldPairs, BodiesOnFlatGroundFeelOnlyTheGround) {
  Random random(2);
  const HeightField ground = flat(21, 4, 0.25);
  for (const auto& [name, body] : convexShapes(1)) {
    for (int i = 0; i < 100; ++i) {
      Transform X{i % 2 == 0 ? random.rotation() : Mat3::identity(), {}};
      const double angle = random.in(0, 6.28);
      X.rotation = rotationMatrix(Quat{std::cos(angle), 0, 0, std::sin(angle)}) * X.rotation;
      X.translation = {random.in(-1, 1), random.in(-1, 1), 0};
      const Real depth = random.in(0.0001, 0.02);
      X.translation.z = 0.25 - depth - body->worldAabb({X.rotation, {}}).lower.z;
      CollisionResult result;
      ASSERT_GT(collide(*body, X, ground, {}, {}, result), 0) << name << " " << i;
      Real deepest = 0;
      for (int k = 0; k < result.numContacts(); ++k) {
        EXPECT_GT(result.contact(k).normal.z, 1 - 1e-6) << name << " " << i;
        EXPECT_LT(result.contact(k).depth, depth + 1e-6) << name << " " << i;
        deepest = std::fmax(deepest, result.contact(k).depth);
      }
      EXPECT_NEAR(deepest, depth, 2e-6) << name << " " << i;
      EXPECT_EQ(result.numManifolds(), 1) << name << " " << i;
    }
  }
}

TEST(HeightFieldPairs, ABoxOnFlatGroundStandsOnItsCorners) {
  const HeightField ground = flat(33, 4, 0);
  const Box box({0.3, 0.2, 0.1});
  Random random(3);
  for (int i = 0; i < 50; ++i) {
    const double angle = random.in(0, 6.28);
    const Transform X{rotationMatrix(Quat{std::cos(angle), 0, 0, std::sin(angle)}),
                      {random.in(-1, 1), random.in(-1, 1), 0.1 - 0.002}};
    CollisionResult result;
    ASSERT_EQ(collide(box, X, ground, {}, {}, result), 4);
    EXPECT_EQ(result.manifolds()[0].type, ContactType::Face);
    for (int k = 0; k < 4; ++k) {
      const Vec3 local = inverseTimes(X, result.contact(k).position);
      EXPECT_NEAR(std::fabs(local.x), 0.3, 1e-9);
      EXPECT_NEAR(std::fabs(local.y), 0.2, 1e-9);
      EXPECT_NEAR(result.contact(k).depth, 0.002, 1e-12);
    }
  }
}

TEST(HeightFieldPairs, ASphereRollsOverTheGridWithoutNoticing) {
  const HeightField ground = flat(11, 2, 0);
  const Sphere sphere(0.3);
  for (int i = 0; i < 400; ++i) {
    const double s = -0.5 + i * 0.0025;
    for (const Vec3& p : {Vec3{s, 0, 0}, Vec3{s, s, 0}, Vec3{s, 0.137, 0}, Vec3{s, -s, 0}}) {
      CollisionResult result;
      ASSERT_EQ(collide(sphere, {Mat3::identity(), p + Vec3{0, 0, 0.29}}, ground, {}, {}, result),
                1);
      EXPECT_NEAR(result.contact(0).normal.z, 1, 1e-12);
      EXPECT_NEAR(result.contact(0).depth, 0.01, 1e-12);
    }
  }
}

TEST(HeightFieldPairs, ContactsOnHillsAgreeWithTheSignedDistance) {
  Random random(4);
  const HeightField field = hills(65, 4);
  for (const auto& [name, body] : convexShapes(0.5)) {
    for (int i = 0; i < 60; ++i) {
      Transform X{random.rotation(), {random.in(-1, 1), random.in(-1, 1), 1}};
      const DistanceResult gap = distance(*body, X, field, {});
      ASSERT_GT(gap.distance, 0);
      const Real depth = random.in(0.001, 0.005);
      X.translation -= gap.normal * (gap.distance + depth);
      CollisionResult result;
      ASSERT_GT(collide(*body, X, field, {}, {}, result), 0) << name << " " << i;
      for (int k = 0; k < result.numContacts(); ++k) {
        const ContactPoint& c = result.contact(k);
        EXPECT_GE(c.depth, 0);
        EXPECT_LT(c.depth, 3 * depth) << name << " " << i;
        EXPECT_GT(c.normal.z, 0) << name << " " << i;
        const Vec3 onBody = c.position - c.normal * (0.5 * c.depth);
        EXPECT_LT(field.signedDistance(onBody).distance, 0.5 * c.depth + 1e-6) << name << " " << i;
        EXPECT_GT(field.signedDistance(onBody).distance, -c.depth - 1e-6) << name << " " << i;
      }
      const DistanceResult deep = distance(*body, X, field, {});
      EXPECT_GT(-deep.distance, 0.5 * depth) << name << " " << i;
      EXPECT_LT(-deep.distance, 1.5 * depth) << name << " " << i;
      EXPECT_GT(dot(deep.normal, gap.normal), 0.7) << name << " " << i;
    }
  }
}

TEST(HeightFieldPairs, WhatIsUndergroundOverlaps) {
  const HeightField ground = flat(9, 4, 1);
  for (const auto& [name, body] : convexShapes(0.5)) {
    const Transform X{Mat3::identity(), {0.1, 0.2, 0.2}};
    EXPECT_TRUE(overlap(*body, X, ground, {})) << name;
    CollisionResult result;
    ASSERT_EQ(collide(*body, X, ground, {}, {}, result), 1) << name;
    EXPECT_NEAR(result.contact(0).normal.z, 1, 1e-9) << name;
    const Real reach = -body->worldAabb({}).lower.z;
    EXPECT_NEAR(result.contact(0).depth, 0.8 + reach, 1e-6) << name;
  }
  // Beyond the rim there is no ground.
  EXPECT_FALSE(overlap(Sphere(0.1), {Mat3::identity(), {2.5, 0, 0.2}}, ground, {}));
  EXPECT_NEAR(distance(Sphere(0.1), {Mat3::identity(), {2.5, 0, 1}}, ground, {}).distance, 0.4,
              1e-12);
}

// Walls at x = +-2, the floor 4 m below the ground: what all queries say is what the closed mesh of
// the same solid says.
TEST(HeightFieldPairs, WallsAndFloorAreThoseOfTheEqualMesh) {
  const auto field = std::make_shared<HeightField>(5, 5, 4, 4, std::vector<Real>(25, 0));
  const HeightField& ground = *field;
  const HeightFieldData& data = *ground.flat().heightField;
  const Mesh solid(data.solidMesh().vertices, data.solidMesh().triangles);
  const auto cube = std::make_shared<Box>(Vec3{0.2, 0.2, 0.2});
  const Box& box = *cube;
  for (const Vec3& p : {Vec3{2.3, 0, -1},
                        {2.19, 0, -1},
                        {2.01, 0.4, -1},
                        {2, 0, -1},
                        {1.9, 1.9, 0.1},
                        {0.3, 0.2, -4.1},
                        {0.3, 0.2, -5},
                        {0.3, 0.2, -20},
                        {0.3, 0.2, -3.9}}) {
    SCOPED_TRACE(testing::Message() << p.x << " " << p.y << " " << p.z);
    const Transform X{Mat3::identity(), p};
    EXPECT_EQ(overlap(box, X, ground, {}), overlap(box, X, solid, {}));
    CollisionResult result, expected;
    collide(box, X, ground, {}, {}, result);
    collide(box, X, solid, {}, {}, expected);
    ASSERT_EQ(result.numContacts(), expected.numContacts());
    for (int k = 0; k < result.numContacts(); ++k) {
      EXPECT_EQ(result.contact(k).depth, expected.contact(k).depth);
      EXPECT_EQ(result.contact(k).normal, expected.contact(k).normal);
    }
    EXPECT_EQ(distance(box, X, ground, {}).distance, distance(box, X, solid, {}).distance);
    CollisionGroup group;
    group.add(field, {});
    group.add(cube, X);
    CollisionResult together;
    EXPECT_EQ(group.collide({}, together), overlap(box, X, ground, {}));
    Motion up;
    up.start = X;
    up.displacement = {0, 0, 1};
    EXPECT_EQ(timeOfImpact(box, up, ground, {}).status == ImpactStatus::Overlapping,
              overlap(box, X, ground, {}));
  }
  const Transform besideWall{Mat3::identity(), {2.19, 0, -1}};
  EXPECT_NEAR(distance(box, besideWall, ground, {}).distance, -0.01, 1e-12);
  EXPECT_NEAR(norm(distance(box, besideWall, ground, {}).normal - Vec3{1, 0, 0}), 0, 1e-12);
  // A ball that flies at the wall meets it there.
  Motion flight;
  flight.start = {Mat3::identity(), {4, 0, -1}};
  flight.displacement = {-3, 0, 0};
  const ImpactResult impact = timeOfImpact(Sphere(0.2), flight, ground, {});
  EXPECT_EQ(impact.status, ImpactStatus::Hit);
  EXPECT_NEAR(impact.s, 0.6, 1e-6);
  EXPECT_LE(impact.distance, 1e-6);
}

TEST(HeightFieldPairs, AMeshRestsOnTheGround) {
  const HeightField ground = flat(15, 4, 0);
  const auto box = test::boxMesh({0.3, 0.2, 0.1}).build();
  const Transform X{Mat3::identity(), {0.07, -0.03, 0.098}};
  EXPECT_TRUE(overlap(*box, X, ground, {}));
  CollisionResult result;
  ASSERT_EQ(collide(*box, X, ground, {}, {}, result), 4);
  for (int k = 0; k < 4; ++k) {
    EXPECT_NEAR(result.contact(k).depth, 0.002, 1e-12);
    EXPECT_NEAR(result.contact(k).normal.z, 1, 1e-12);
  }
  EXPECT_NEAR(distance(*box, X, ground, {}).distance, -0.002, 1e-9);
  const Transform above{Mat3::identity(), {0.07, -0.03, 0.5}};
  EXPECT_FALSE(overlap(*box, above, ground, {}));
  EXPECT_NEAR(distance(*box, above, ground, {}).distance, 0.4, 1e-12);
  // Wholly under the surface.
  const Transform under{Mat3::identity(), {0, 0, -1}};
  EXPECT_TRUE(overlap(*box, under, ground, {}));
  result.clear();
  ASSERT_EQ(collide(*box, under, ground, {}, {}, result), 1);
  EXPECT_NEAR(result.contact(0).depth, 1.1, 1e-9);
  EXPECT_NEAR(result.contact(0).normal.z, 1, 1e-9);
}

TEST(HeightFieldPairs, UnboundedGroundIsRefused) {
  const HeightField ground = flat(3, 1, 0);
  CollisionResult result;
  EXPECT_EQ(collide(ground, {}, ground, {}, {}, result), 0);
  EXPECT_EQ(result.status(), QueryStatus::Unsupported);
  EXPECT_EQ(distance(Plane(), {}, ground, {}).status, QueryStatus::Unsupported);
  EXPECT_FALSE(pairSupport(ShapeType::HeightField, ShapeType::Plane).reason.empty());
  EXPECT_FALSE(pairSupport(ShapeType::PointCloud, ShapeType::PointCloud).reason.empty());
}

TEST(PointCloudPairs, EachBallIsAContact) {
  Random random(5);
  std::vector<Vec3> points;
  for (int i = 0; i < 300; ++i) points.push_back(random.inCube(0.6));
  const Real r = 0.02;
  const PointCloud cloud(points, r);
  auto others = convexShapes(1);
  others.push_back({"mesh", test::torusMesh(24, 12, 0.5, 0.2).build()});
  others.push_back({"open mesh", test::floorMesh(5, 1).build()});
  others.push_back({"plane", std::make_shared<Plane>()});
  others.push_back(
      {"terrain", std::make_shared<HeightField>(5, 5, 1.0, 1.0, std::vector<Real>(25, 0.1))});
  for (const auto& [name, shape] : others) {
    for (int i = 0; i < 10; ++i) {
      const Transform X_WP = random.pose(0.3), X_WS = random.pose(0.3);
      int touching = 0;
      Real nearest = std::numeric_limits<Real>::infinity();
      bool close = false;
      for (const Vec3& p : points) {
        const Real d = shape->signedDistance(inverseTimes(X_WS, X_WP * p)).distance - r;
        nearest = std::fmin(nearest, d);
        touching += d <= 0 ? 1 : 0;
        close = close || std::fabs(d) < 1e-7;
      }
      if (close) continue;
      EXPECT_EQ(overlap(cloud, X_WP, *shape, X_WS), touching > 0) << name;
      CollisionResult result;
      const int count = collide(cloud, X_WP, *shape, X_WS, {}, result);
      EXPECT_EQ(count > 0, touching > 0) << name;
      EXPECT_LE(count, touching) << name;
      const DistanceResult d = distance(cloud, X_WP, *shape, X_WS);
      EXPECT_NEAR(norm(d.point1 - d.point2 - d.normal * d.distance), 0, 1e-9);
      if (count == 0) {
        EXPECT_NEAR(d.distance, nearest, 1e-6) << name;
        continue;
      }
      // What frees the deepest ball need not free the others: the answer frees all.
      EXPECT_LE(d.distance, nearest + 1e-6) << name;
      Transform parted = X_WP;
      parted.translation += d.normal * (-d.distance * (1 + 1e-6) + 1e-12);
      EXPECT_FALSE(overlap(cloud, parted, *shape, X_WS)) << name;
      EXPECT_NEAR(result.contact(0).depth, -nearest, 1e-6) << name;
      for (int k = 0; k < count; ++k) {
        const ContactPoint& c = result.contact(k);
        ASSERT_GE(c.feature1, 0);
        const Vec3 p = X_WP * points[c.feature1];
        // The ball's own point is a radius away from its centre, against the normal.
        EXPECT_NEAR(norm(c.position - c.normal * (0.5 * c.depth) - (p - c.normal * r)), 0, 1e-9);
        EXPECT_NEAR(c.depth, r - shape->signedDistance(inverseTimes(X_WS, p)).distance, 1e-6);
      }
    }
  }
}

}  // namespace
}  // namespace tangere
