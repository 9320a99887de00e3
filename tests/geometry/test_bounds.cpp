// SPDX-License-Identifier: Apache-2.0
//
// Support points, boxes and bounding spheres: they hold every point of the shape and touch it.
#include <tangere/shape.hpp>

#include "geometry/flat_shape.hpp"
#include "geometry/shape_samples.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace tangere {
namespace {

using testing::convexSamples;
using testing::NamedShape;
using testing::Random;

constexpr Real kInfinity = std::numeric_limits<Real>::infinity();

Mat3 turnAboutX90() { return {{{1, 0, 0}, {0, 0, 1}, {0, -1, 0}}}; }

/// 3-4-5 turn about x: the z axis becomes (0, -0.8, 0.6).
Mat3 turnAboutX345() { return {{{1, 0, 0}, {0, 0.6, 0.8}, {0, -0.8, 0.6}}}; }

void expectNear(const Vec3& a, const Vec3& b, Real tolerance) {
  EXPECT_NEAR(a.x, b.x, tolerance);
  EXPECT_NEAR(a.y, b.y, tolerance);
  EXPECT_NEAR(a.z, b.z, tolerance);
}

TEST(ShapeTypeName, EveryTypeHasItsOwnName) {
  std::set<std::string_view> names;
  for (int i = 0; i < kNumShapeTypes; ++i) names.insert(shapeTypeName(static_cast<ShapeType>(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kNumShapeTypes));
  EXPECT_EQ(shapeTypeName(ShapeType::HeightField), "height_field");
}

TEST(Support, NoPointOfTheShapeIsBeyondIt) {
  Random random(1);
  for (const auto& [name, shape] : convexSamples()) {
    const Aabb& box = shape->localAabb();
    std::vector<Vec3> inside;
    for (int i = 0; i < 20000 && inside.size() < 500; ++i) {
      const Vec3 p = box.center() + random.inBox(box.halfExtents());
      if (shape->signedDistance(p).distance <= 0) inside.push_back(p);
    }
    ASSERT_GT(inside.size(), 100u) << name;
    for (int i = 0; i < 200; ++i) {
      const Vec3 d = random.direction();
      const Real reach = dot(d, shape->support(d));
      for (const Vec3& p : inside) ASSERT_LE(dot(d, p), reach + 1e-14) << name;
    }
  }
}

TEST(Support, IsOnTheSurface) {
  Random random(2);
  for (const auto& [name, shape] : convexSamples()) {
    for (int i = 0; i < 500; ++i) {
      const SignedDistance d = shape->signedDistance(shape->support(random.direction()));
      ASSERT_NEAR(d.distance, 0, 2e-15) << name;
    }
  }
}

TEST(Support, LengthOfTheDirectionDoesNotMatter) {
  Random random(3);
  for (const auto& [name, shape] : convexSamples()) {
    for (int i = 0; i < 50; ++i) {
      const Vec3 d = random.direction();
      // Powers of two, so that the direction itself is the same to the last bit.
      for (const Real factor : {0x1p-900, 0x1p-30, 0x1p40, 0x1p1000}) {
        ASSERT_EQ(shape->support(d), shape->support(d * factor)) << name << " " << factor;
      }
    }
  }
}

TEST(Support, ZeroDirectionGivesSomePointOfTheShape) {
  for (const auto& [name, shape] : convexSamples()) {
    EXPECT_LE(shape->signedDistance(shape->support({0, 0, 0})).distance, 2e-15) << name;
  }
}

TEST(Support, OfAHullIsTheLargestOverItsVertices) {
  Random random(4);
  const Convex hull(testing::spherePoints(300));
  for (int i = 0; i < 2000; ++i) {
    const Vec3 d = random.direction();
    Real best = -kInfinity;
    for (const Vec3& v : hull.vertices()) best = std::fmax(best, dot(d, v));
    ASSERT_NEAR(dot(d, hull.support(d)), best, 4e-16);
  }
}

TEST(Support, OfAPlaneIsAtInfinityExceptAlongItsNormal) {
  const Plane plane;
  EXPECT_EQ(plane.support({0, 0, 2}), (Vec3{0, 0, 0}));
  EXPECT_EQ(plane.support({0, 0, -1}), (Vec3{0, 0, -kInfinity}));
  EXPECT_EQ(plane.support({-1, 0, 1}), (Vec3{-kInfinity, 0, 0}));
}

TEST(LocalAabb, IsTheWorldBoxWithoutMotion) {
  for (const auto& [name, shape] : convexSamples()) {
    const Aabb box = shape->worldAabb(Transform::identity());
    expectNear(box.lower, shape->localAabb().lower, 1e-15);
    expectNear(box.upper, shape->localAabb().upper, 1e-15);
  }
}

TEST(WorldAabb, EveryFaceIsTouchedAndNothingIsOutside) {
  Random random(5);
  for (const auto& [name, shape] : convexSamples()) {
    for (int i = 0; i < 100; ++i) {
      const Transform X{random.rotation(), random.inBox({10, 10, 10})};
      const Aabb box = shape->worldAabb(X);
      for (int axis = 0; axis < 3; ++axis) {
        Vec3 e{};
        e[axis] = 1;
        const Vec3 top = X * shape->support(transposeTimes(X.rotation, e));
        const Vec3 bottom = X * shape->support(transposeTimes(X.rotation, -e));
        ASSERT_NEAR(box.upper[axis], top[axis], 1e-14) << name;
        ASSERT_NEAR(box.lower[axis], bottom[axis], 1e-14) << name;
      }
    }
  }
}

TEST(WorldAabb, OfACylinderOnItsSide) {
  const Aabb box = Cylinder(2, 5).worldAabb({turnAboutX90(), {1, 1, 1}});
  expectNear(box.lower, {-1, -4, -1}, 1e-15);
  expectNear(box.upper, {3, 6, 3}, 1e-15);
}

TEST(WorldAabb, OfATiltedCone) {
  // The apex goes to (0, -4, 3); the base disc of radius 2 is centred at (0, 4, -3) and spans
  // 0.6 * 2 along y and 0.8 * 2 along z.
  const Aabb box = Cone(2, 5).worldAabb({turnAboutX345(), {}});
  expectNear(box.lower, {-2, -4, -4.6}, 1e-14);
  expectNear(box.upper, {2, 5.2, 3}, 1e-14);
}

TEST(WorldAabb, OfATiltedEllipsoid) {
  const Aabb box = Ellipsoid({1, 2, 3}).worldAabb({turnAboutX345(), {}});
  // sqrt((0.6 * 2)^2 + (0.8 * 3)^2) and sqrt((0.8 * 2)^2 + (0.6 * 3)^2).
  expectNear(box.upper, {1, std::sqrt(7.2), std::sqrt(5.8)}, 1e-14);
  expectNear(box.lower, -box.upper, 1e-14);
}

TEST(WorldAabb, OfAPlaneIsBoundedOnlyAlongAnAxis) {
  const Plane plane;
  EXPECT_EQ(plane.localAabb().upper, (Vec3{kInfinity, kInfinity, 0}));
  EXPECT_EQ(plane.localAabb().lower, (Vec3{-kInfinity, -kInfinity, -kInfinity}));

  const Aabb floor = plane.worldAabb({Mat3::identity(), {1, 2, 3}});
  EXPECT_EQ(floor.upper, (Vec3{kInfinity, kInfinity, 3}));

  // Turned by 90 degrees about x, the normal is -y and the solid is y >= 2.
  const Aabb wall = plane.worldAabb({turnAboutX90(), {1, 2, 3}});
  EXPECT_EQ(wall.lower, (Vec3{-kInfinity, 2, -kInfinity}));
  EXPECT_EQ(wall.upper, (Vec3{kInfinity, kInfinity, kInfinity}));

  const Aabb slope = plane.worldAabb({turnAboutX345(), {}});
  EXPECT_EQ(slope.upper, (Vec3{kInfinity, kInfinity, kInfinity}));
  EXPECT_TRUE(slope.contains(Vec3{1e300, -1e300, 1e300}));
}

TEST(FlatShape, BoundingSphereHoldsTheShapeAndTouchesIt) {
  Random random(6);
  for (const auto& [name, shape] : convexSamples()) {
    const kernel::ConvexView<Real>& view = shape->flat().convex;
    EXPECT_EQ(shape->flat().type, shape->type());
    EXPECT_LT(shape->signedDistance(view.center).distance, 0) << name;
    Real farthest = 0;
    for (int i = 0; i < 20000; ++i) {
      farthest = std::fmax(farthest, norm(shape->support(random.direction()) - view.center));
    }
    farthest = std::fmax(farthest, norm(shape->support({0, 0, 1}) - view.center));
    EXPECT_LE(farthest, view.boundingRadius * (1 + 1e-15)) << name;
    EXPECT_GE(farthest, view.boundingRadius * (1 - 1e-3)) << name;
  }
}

TEST(FlatShape, CentreIsTheCentroid) {
  for (const auto& [name, shape] : convexSamples()) {
    expectNear(shape->flat().convex.center, shape->massProperties(1).center, 1e-15);
  }
}

TEST(Bounds, ScaleWithTheShape) {
  Random random(8);
  const std::vector<NamedShape> unit = convexSamples();
  for (const Real scale : {0x1p-20, 0x1p20}) {  // about 1e-6 and 1e6, without rounding
    const std::vector<NamedShape> other = convexSamples(scale);
    for (std::size_t k = 0; k < unit.size(); ++k) {
      for (int i = 0; i < 50; ++i) {
        const Vec3 d = random.direction();
        expectNear(other[k].shape->support(d) / scale, unit[k].shape->support(d), 1e-15);
        const Transform X{random.rotation(), {}};
        expectNear(other[k].shape->worldAabb(X).upper / scale, unit[k].shape->worldAabb(X).upper,
                   1e-15);
      }
    }
  }
}

}  // namespace
}  // namespace tangere
