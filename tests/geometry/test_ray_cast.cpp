// SPDX-License-Identifier: Apache-2.0
//
// Rays against the solids: numbers worked out by hand, and marching along the ray with the signed
// distance, which must stop at the same place.
#include <tangere/shape.hpp>

#include "geometry/shape_samples.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace tangere {
namespace {

using testing::convexSamples;
using testing::Random;

constexpr Real kNaN = std::numeric_limits<Real>::quiet_NaN();
constexpr Real kInfinity = std::numeric_limits<Real>::infinity();

void expectHit(const std::optional<RayHit>& hit, Real t, const Vec3& position, const Vec3& normal,
               Real tolerance = 1e-14) {
  ASSERT_TRUE(hit.has_value());
  EXPECT_NEAR(hit->t, t, tolerance);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(hit->position[i], position[i], tolerance) << "position " << i;
    EXPECT_NEAR(hit->normal[i], normal[i], tolerance) << "normal " << i;
  }
  EXPECT_EQ(hit->feature, -1);
}

TEST(RayCast, OnASphere) {
  const Sphere sphere(5);
  expectHit(sphere.rayCast({{-10, 3, 0}, {1, 0, 0}}), 6, {-4, 3, 0}, {-0.8, 0.6, 0});
  expectHit(sphere.rayCast({{-10, 3, 0}, {2, 0, 0}}), 3, {-4, 3, 0}, {-0.8, 0.6, 0});
  EXPECT_FALSE(sphere.rayCast({{-10, 5.001, 0}, {1, 0, 0}}));
  EXPECT_FALSE(sphere.rayCast({{-10, 3, 0}, {-1, 0, 0}}));
}

TEST(RayCast, FromInsideGivesTheWayOutWithTheNormalAgainstTheRay) {
  expectHit(Sphere(5).rayCast({{0, 3, 0}, {1, 0, 0}}), 4, {4, 3, 0}, {-0.8, -0.6, 0});
  expectHit(Box({1, 2, 3}).rayCast({{0, 0, 0}, {0, 0, 2}}), 1.5, {0, 0, 3}, {0, 0, -1});
  expectHit(Plane().rayCast({{0, 0, -2}, {0, 0, 1}}), 2, {0, 0, 0}, {0, 0, -1});
  expectHit(Cone(3, 2).rayCast({{0, 0, -1}, {0, 0, 1}}), 3, {0, 0, 2}, {-0.8, 0, -0.6});
}

TEST(RayCast, OnABox) {
  const Box box({1, 2, 3});
  expectHit(box.rayCast({{0, 0, 10}, {0, 0, -1}}), 7, {0, 0, 3}, {0, 0, 1});
  expectHit(box.rayCast({{-3, 0, 0}, {1, 0.5, 0}}), 2, {-1, 1, 0}, {-1, 0, 0});
  EXPECT_FALSE(box.rayCast({{-3, 0, 0}, {1, 2, 0}}));
  // Parallel to a face, outside it.
  EXPECT_FALSE(box.rayCast({{-3, 2.5, 0}, {1, 0, 0}}));
}

TEST(RayCast, OnACapsule) {
  const Capsule capsule(1, 2);
  expectHit(capsule.rayCast({{5, 0, 1}, {-1, 0, 0}}), 4, {1, 0, 1}, {1, 0, 0});
  expectHit(capsule.rayCast({{0, 0, 9}, {0, 0, -1}}), 6, {0, 0, 3}, {0, 0, 1});
  expectHit(capsule.rayCast({{5, 0, 2.6}, {-1, 0, 0}}), 4.2, {0.8, 0, 2.6}, {0.8, 0, 0.6});
  expectHit(capsule.rayCast({{0.6, 0, -9}, {0, 0, 1}}), 6.2, {0.6, 0, -2.8}, {0.6, 0, -0.8});
}

TEST(RayCast, OnACylinder) {
  const Cylinder cylinder(1, 2);
  expectHit(cylinder.rayCast({{5, 0, 1}, {-1, 0, 0}}), 4, {1, 0, 1}, {1, 0, 0});
  expectHit(cylinder.rayCast({{0.5, 0, 9}, {0, 0, -1}}), 7, {0.5, 0, 2}, {0, 0, 1});
  EXPECT_FALSE(cylinder.rayCast({{1.001, 0, 9}, {0, 0, -1}}));
  EXPECT_FALSE(cylinder.rayCast({{5, 0, 2.001}, {-1, 0, 0}}));
}

TEST(RayCast, OnACone) {
  const Cone cone(3, 2);
  expectHit(cone.rayCast({{9, 0, 0}, {-1, 0, 0}}), 7.5, {1.5, 0, 0}, {0.8, 0, 0.6});
  expectHit(cone.rayCast({{1, 0, -9}, {0, 0, 1}}), 7, {1, 0, -2}, {0, 0, -1});
  expectHit(cone.rayCast({{1.5, 0, 9}, {0, 0, -1}}), 9, {1.5, 0, 0}, {0.8, 0, 0.6});
  // Along the mirror image of the cone above the apex nothing is hit.
  EXPECT_FALSE(cone.rayCast({{9, 0, 4}, {-1, 0, 0}}));
  // Parallel to the side: the quadratic degenerates.
  expectHit(cone.rayCast({{-3, 0, 2}, {0.75, 0, -1}}), 2, {-1.5, 0, 0}, {-0.8, 0, 0.6});
}

TEST(RayCast, OnAnEllipsoid) {
  const Ellipsoid ellipsoid({1, 2, 3});
  expectHit(ellipsoid.rayCast({{0, 0, 9}, {0, 0, -1}}), 6, {0, 0, 3}, {0, 0, 1});
  const Vec3 normal = Vec3{0.6, 0.4, 0} / norm(Vec3{0.6, 0.4, 0});
  expectHit(ellipsoid.rayCast({{5, 1.6, 0}, {-1, 0, 0}}), 4.4, {0.6, 1.6, 0}, normal);
}

TEST(RayCast, OnAPlane) {
  expectHit(Plane().rayCast({{0, 0, 3}, {1, 0, -1}}), 3, {3, 0, 0}, {0, 0, 1});
  EXPECT_FALSE(Plane().rayCast({{0, 0, 3}, {1, 0, 0}}));
  EXPECT_FALSE(Plane().rayCast({{0, 0, -3}, {1, 0, 0}}));
  EXPECT_FALSE(Plane().rayCast({{0, 0, 3}, {0, 0, 1}}));
}

TEST(RayCast, OnAHull) {
  const Convex hull(testing::boxCorners({1, 2, 3}));
  expectHit(hull.rayCast({{-3, 0, 0}, {1, 0.5, 0}}), 2, {-1, 1, 0}, {-1, 0, 0});
}

TEST(RayCast, EndsAtMaxT) {
  EXPECT_FALSE(Sphere(1).rayCast({{-5, 0, 0}, {1, 0, 0}, 3.999}));
  EXPECT_TRUE(Sphere(1).rayCast({{-5, 0, 0}, {1, 0, 0}, 4}));
}

TEST(RayCast, RaysThatAreNoneHitNothing) {
  for (const auto& [name, shape] : convexSamples()) {
    EXPECT_FALSE(shape->rayCast({{0, 0, 0}, {0, 0, 0}})) << name;
    EXPECT_FALSE(shape->rayCast({{-5, 0, 0}, {kNaN, 0, 0}})) << name;
    EXPECT_FALSE(shape->rayCast({{kNaN, 0, 0}, {1, 0, 0}})) << name;
    EXPECT_FALSE(shape->rayCast({{kInfinity, 0, 0}, {-1, 0, 0}})) << name;
    EXPECT_FALSE(shape->rayCast({{-5, 0, 0}, {kInfinity, 0, 0}})) << name;
  }
}

/// Sphere tracing: steps of the signed distance can never pass the surface.
TEST(RayCast, StopsWhereMarchingWithTheSignedDistanceStops) {
  Random random(1);
  for (const auto& [name, shape] : convexSamples()) {
    int hits = 0;
    const Vec3 middle = shape->localAabb().center();
    for (int i = 0; i < 1500; ++i) {
      const Vec3 origin = middle + random.inBox({2, 2, 2});
      const Vec3 target =
          shape->localAabb().center() + random.inBox(shape->localAabb().halfExtents());
      const Vec3 direction = (target - origin) / norm(target - origin);
      const std::optional<RayHit> hit = shape->rayCast({origin, direction});
      const Real sign = shape->signedDistance(origin).distance < 0 ? -1 : 1;
      Real t = 0, gap = 1;
      for (int step = 0; step < 400 && t < 20; ++step) {
        gap = sign * shape->signedDistance(origin + direction * t).distance;
        if (gap < 1e-13) break;
        t += gap;
      }
      if (hit) {
        ++hits;
        ASSERT_NEAR(shape->signedDistance(hit->position).distance, 0, 1e-14) << name;
        ASSERT_LE(norm(origin + direction * hit->t - hit->position), 1e-14) << name;
        ASSERT_NEAR(norm(hit->normal), 1, 1e-15) << name;
        ASSERT_LE(dot(hit->normal, direction), 0) << name;
        // Where the ray grazes the surface, marching creeps and the comparison says nothing.
        if (dot(hit->normal, direction) < -0.05 && gap < 1e-13) {
          ASSERT_NEAR(hit->t, t, 1e-11) << name;
        }
        ASSERT_LE(t, hit->t + 1e-11) << name;
      } else {
        ASSERT_EQ(sign, 1) << name << ": a ray from inside must leave";
        ASSERT_GT(gap, -1e-13) << name;
      }
    }
    EXPECT_GT(hits, 300) << name;
  }
}

TEST(RayCast, NormalIsThatOfTheSurface) {
  Random random(2);
  for (const auto& [name, shape] : convexSamples()) {
    int compared = 0;
    const Aabb& box = shape->localAabb();
    for (int i = 0; i < 1000; ++i) {
      const Vec3 origin = box.center() + random.direction() * 4;
      const Vec3 target = box.center() + random.inBox(box.halfExtents());
      const std::optional<RayHit> hit = shape->rayCast({origin, target - origin});
      if (!hit) continue;
      // Just outside, the nearest point is next to the hit, off the edges.
      const SignedDistance d = shape->signedDistance(hit->position + hit->normal * 1e-6);
      if (norm(d.closest - hit->position) > 1e-9) continue;
      ++compared;
      ASSERT_GT(dot(d.normal, hit->normal), 1 - 1e-9) << name;
    }
    EXPECT_GT(compared, 100) << name;
  }
}

TEST(RayCast, ThroughTheCentreAlwaysHits) {
  Random random(3);
  for (const auto& [name, shape] : convexSamples()) {
    const Vec3 center = shape->massProperties(1).center;
    for (int i = 0; i < 500; ++i) {
      const Vec3 d =
          i < 3 ? Vec3{i == 0 ? 1. : 0., i == 1 ? 1. : 0., i == 2 ? 1. : 0.} : random.direction();
      const std::optional<RayHit> in = shape->rayCast({center - d * 10, d});
      const std::optional<RayHit> out = shape->rayCast({center, d});
      ASSERT_TRUE(in && out) << name;
      ASSERT_LT(in->t, 10) << name;
      ASSERT_NEAR(shape->signedDistance(out->position).distance, 0, 1e-15) << name;
    }
  }
}

TEST(RayCast, FromFarAwayKeepsTheDigitsOfTheShape) {
  // The origin is rounded to 1e-10; the hit is on the surface all the same.
  Random random(4);
  for (const auto& [name, shape] : convexSamples()) {
    const Vec3 center = shape->massProperties(1).center;
    for (int i = 0; i < 200; ++i) {
      const Vec3 d = random.direction();
      const std::optional<RayHit> hit = shape->rayCast({center - d * 1e6, d});
      if (shape->signedDistance(center).distance > -1e-2) continue;  // too thin to aim at
      ASSERT_TRUE(hit) << name;
      ASSERT_NEAR(shape->signedDistance(hit->position).distance, 0, 1e-14) << name;
    }
  }
}

TEST(RayCast, LengthOfTheDirectionOnlyScalesT) {
  for (const auto& [name, shape] : convexSamples()) {
    const Vec3 center = shape->massProperties(1).center;
    const Ray ray{center - Vec3{3, 4, 5}, {3, 4, 5}};
    const std::optional<RayHit> hit = shape->rayCast(ray);
    ASSERT_TRUE(hit) << name;
    for (const Real factor : {0x1p-900, 0x1p-300, 0x1p300, 0x1p1000}) {
      const std::optional<RayHit> other = shape->rayCast({ray.origin, ray.direction * factor});
      ASSERT_TRUE(other) << name << " " << factor;
      EXPECT_EQ(other->t, hit->t / factor) << name;
      EXPECT_EQ(other->position, hit->position) << name;
    }
  }
}

TEST(RayCast, ScalesWithTheShape) {
  Random random(5);
  const auto unit = convexSamples();
  for (const Real scale : {0x1p-20, 0x1p20}) {
    const auto other = convexSamples(scale);
    for (std::size_t k = 0; k < unit.size(); ++k) {
      for (int i = 0; i < 200; ++i) {
        const Vec3 origin = random.direction() * 4, direction = random.inBox({1, 1, 1}) - origin;
        const std::optional<RayHit> a = unit[k].shape->rayCast({origin, direction});
        const std::optional<RayHit> b =
            other[k].shape->rayCast({origin * scale, direction * scale});
        ASSERT_EQ(a.has_value(), b.has_value()) << unit[k].name;
        if (!a) continue;
        ASSERT_NEAR(a->t, b->t, 1e-13) << unit[k].name;
      }
    }
  }
}

}  // namespace
}  // namespace tangere
