// SPDX-License-Identifier: Apache-2.0
//
// Signed distance of points: numbers worked out by hand, the conditions a nearest point obeys, and
// a search over the surface that finds nothing nearer.
#include <tangere/shape.hpp>

#include "geometry/kernels/point_distance.hpp"
#include "geometry/shape_samples.hpp"

#include <gtest/gtest.h>

namespace tangere {
namespace {

using testing::convexSamples;
using testing::Random;

void expectAnswer(const SignedDistance& d, Real distance, const Vec3& closest, const Vec3& normal,
                  Real tolerance = 1e-15) {
  EXPECT_NEAR(d.distance, distance, tolerance);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(d.closest[i], closest[i], tolerance) << "closest " << i;
    EXPECT_NEAR(d.normal[i], normal[i], tolerance) << "normal " << i;
  }
}

TEST(SignedDistance, OfASphere) {
  expectAnswer(Sphere(2).signedDistance({3, 4, 0}), 3, {1.2, 1.6, 0}, {0.6, 0.8, 0});
  expectAnswer(Sphere(2).signedDistance({0, 0.5, 0}), -1.5, {0, 2, 0}, {0, 1, 0});
  expectAnswer(Sphere(2).signedDistance({0, 0, 0}), -2, {0, 0, 2}, {0, 0, 1});
}

TEST(SignedDistance, OfABox) {
  const Box box({1, 2, 3});
  expectAnswer(box.signedDistance({1.3, 2.4, 0}), 0.5, {1, 2, 0}, {0.6, 0.8, 0});
  expectAnswer(box.signedDistance({0, -5, 1}), 3, {0, -2, 1}, {0, -1, 0});
  expectAnswer(box.signedDistance({-0.75, 0, 0}), -0.25, {-1, 0, 0}, {-1, 0, 0});
  expectAnswer(box.signedDistance({0, 0, 0}), -1, {1, 0, 0}, {1, 0, 0});
  expectAnswer(box.signedDistance({0, 2, 3}), 0, {0, 2, 3}, {0, 1, 0});
}

TEST(SignedDistance, OfACapsule) {
  const Capsule capsule(0.5, 2);
  expectAnswer(capsule.signedDistance({3, 4, 1}), 4.5, {0.3, 0.4, 1}, {0.6, 0.8, 0});
  expectAnswer(capsule.signedDistance({0, 3, 6}), 4.5, {0, 0.3, 2.4}, {0, 0.6, 0.8});
  expectAnswer(capsule.signedDistance({0, 0, 1}), -0.5, {0.5, 0, 1}, {1, 0, 0});
}

TEST(SignedDistance, OfACylinder) {
  const Cylinder cylinder(1, 2);
  expectAnswer(cylinder.signedDistance({3, 4, 1}), 4, {0.6, 0.8, 1}, {0.6, 0.8, 0});
  expectAnswer(cylinder.signedDistance({4, 0, 6}), 5, {1, 0, 2}, {0.6, 0, 0.8});
  expectAnswer(cylinder.signedDistance({0.5, 0, -3}), 1, {0.5, 0, -2}, {0, 0, -1});
  expectAnswer(cylinder.signedDistance({0, 0, 0}), -1, {1, 0, 0}, {1, 0, 0});
  expectAnswer(cylinder.signedDistance({0, 0, 1.5}), -0.5, {0, 0, 2}, {0, 0, 1});
}

TEST(SignedDistance, OfACone) {
  // Radius 3 and height 4: the side is 5 long and its normal is (4, 3) / 5.
  const Cone cone(3, 2);
  expectAnswer(cone.signedDistance({0, 0, 5}), 3, {0, 0, 2}, {0, 0, 1});
  expectAnswer(cone.signedDistance({1.5 + 0.8, 0, 0.6}), 1, {1.5, 0, 0}, {0.8, 0, 0.6});
  expectAnswer(cone.signedDistance({6, 0, -6}), 5, {3, 0, -2}, {0.6, 0, -0.8});
  expectAnswer(cone.signedDistance({1, 1, -3}), 1, {1, 1, -2}, {0, 0, -1});
  expectAnswer(cone.signedDistance({0.5, 0, -1.75}), -0.25, {0.5, 0, -2}, {0, 0, -1});
  // On the axis, 1 below the apex: 3/5 from the side.
  expectAnswer(cone.signedDistance({0, 0, 1}), -0.6, {0.48, 0, 1.36}, {0.8, 0, 0.6});
  expectAnswer(cone.signedDistance({0, 0, 2}), 0, {0, 0, 2}, {0.8, 0, 0.6});
}

TEST(SignedDistance, OfAnEllipsoid) {
  const Ellipsoid ellipsoid({1, 2, 3});
  expectAnswer(ellipsoid.signedDistance({5, 0, 0}), 4, {1, 0, 0}, {1, 0, 0});
  expectAnswer(ellipsoid.signedDistance({0, 0, -4}), 1, {0, 0, -3}, {0, 0, -1});
  expectAnswer(ellipsoid.signedDistance({0, 0, 0}), -1, {1, 0, 0}, {1, 0, 0});
  // On the long axis, inside the centre of curvature at 3 - 1/3: the nearest point is off the axis,
  // z = 9 * 1 / (9 - 1) and x from the surface.
  const Real x = std::sqrt(1 - 9.0 / 64);
  const Real distance = std::sqrt(x * x + 1.0 / 64);
  const Vec3 normal = Vec3{x, 0, 1.0 / 8} / distance;
  expectAnswer(ellipsoid.signedDistance({0, 0, 1}), -distance, {x, 0, 9.0 / 8}, normal);
  // At 45 degrees of the parametrisation, 0.5 along the normal.
  const Vec3 foot{1 / std::sqrt(3), 2 / std::sqrt(3), 3 / std::sqrt(3)};
  const Vec3 gradient{foot.x, foot.y / 4, foot.z / 9};
  const Vec3 n = gradient / norm(gradient);
  expectAnswer(ellipsoid.signedDistance(foot + n * 0.5), 0.5, foot, n);
  expectAnswer(ellipsoid.signedDistance(foot - n * 0.125), -0.125, foot, n);
}

TEST(SignedDistance, OfAPlane) {
  expectAnswer(Plane().signedDistance({1, 2, 3}), 3, {1, 2, 0}, {0, 0, 1});
  expectAnswer(Plane().signedDistance({1, 2, -3}), -3, {1, 2, 0}, {0, 0, 1});
}

TEST(SignedDistance, OfABoxHullIsThatOfTheBox) {
  const Vec3 h{1, 2, 3};
  const Box box(h);
  const Convex hull(testing::boxCorners(h));
  Random random(1);
  for (int i = 0; i < 5000; ++i) {
    const Vec3 p = random.inBox({3, 4, 5});
    const SignedDistance a = box.signedDistance(p), b = hull.signedDistance(p);
    // The direction to an edge is a difference of rounded points: worse the nearer they are.
    EXPECT_NEAR(a.distance, b.distance, 4e-15);
    EXPECT_LE(norm(a.closest - b.closest), 4e-15);
    EXPECT_LE(norm(a.normal - b.normal), 4e-15 + 2e-15 / std::fabs(a.distance));
  }
}

/// The answer is consistent: closest is on the surface, and the point is on the normal there.
TEST(SignedDistance, PointIsAtTheDistanceAlongTheNormal) {
  Random random(2);
  for (const auto& [name, shape] : convexSamples()) {
    const Vec3 middle = shape->localAabb().center();
    for (int i = 0; i < 3000; ++i) {
      const Vec3 p = middle + random.inBox({2, 2, 2});
      const SignedDistance d = shape->signedDistance(p);
      ASSERT_NEAR(norm(d.normal), 1, 1e-15) << name;
      ASSERT_LE(norm(d.closest + d.normal * d.distance - p), 4e-15) << name;
      ASSERT_NEAR(shape->signedDistance(d.closest).distance, 0, 2e-15) << name;
    }
  }
}

/// Outside, the plane through closest and across the normal supports the shape: that makes closest
/// the nearest point of a convex shape. Inside, no tangent plane is nearer than the distance.
TEST(SignedDistance, NothingIsNearer) {
  Random random(3);
  for (const auto& [name, shape] : convexSamples()) {
    const Vec3 middle = shape->localAabb().center();
    const Aabb box = shape->localAabb();
    for (int i = 0; i < 1500; ++i) {
      const Vec3 p =
          i % 2 == 0 ? middle + random.inBox({2, 2, 2}) : middle + random.inBox(box.halfExtents());
      const SignedDistance d = shape->signedDistance(p);
      if (d.distance >= 0) {
        // The direction to an edge is a difference of rounded points: worse the nearer they are.
        ASSERT_LE(dot(d.normal, shape->support(d.normal) - d.closest), 4e-15 + 2e-15 / d.distance)
            << name;
      } else {
        for (int k = 0; k < 20; ++k) {
          const Vec3 n = random.direction();
          ASSERT_GE(dot(n, shape->support(n) - p), -d.distance - 4e-15) << name;
        }
        ASSERT_NEAR(dot(d.normal, shape->support(d.normal) - p), -d.distance, 4e-15) << name;
      }
    }
  }
}

TEST(SignedDistance, IsDefinedOnEveryAxisAndPlaneOfSymmetry) {
  for (const auto& [name, shape] : convexSamples()) {
    for (int pattern = 0; pattern < 8; ++pattern) {
      for (const Real offset : {0.0, 1e-320, 1e-200, 1e-30, 1e-16, 0.3, 1.0, 1e100, 1e308}) {
        const Vec3 p{(pattern & 1) != 0 ? offset : 0, (pattern & 2) != 0 ? offset : 0,
                     (pattern & 4) != 0 ? -offset : 0};
        const SignedDistance d = shape->signedDistance(p);
        ASSERT_TRUE(std::isfinite(d.distance)) << name << " " << offset;
        ASSERT_NEAR(norm(d.normal), 1, 1e-15) << name << " " << offset;
        ASSERT_NEAR(shape->signedDistance(d.closest).distance, 0, 2e-15) << name << " " << offset;
      }
    }
  }
}

TEST(SignedDistance, OfAnEllipsoidIsContinuousAcrossItsMiddlePlane) {
  // Either side of the plane the nearest point jumps, the distance does not; nor does it on the
  // curve of centres of curvature, where the search is hardest.
  const Ellipsoid ellipsoid({3, 2, 1});
  Random random(4);
  for (int i = 0; i < 2000; ++i) {
    const Real angle = random.uniform(-3.14, 3.14);
    const Real radius = i % 2 == 0 ? random.uniform(0, 1) : 1 + random.uniform(-1e-9, 1e-9);
    const Vec3 p{8.0 / 3 * core::cos(angle) * radius, 1.5 * core::sin(angle) * radius, 0};
    const Real on = ellipsoid.signedDistance(p).distance;
    for (const Real z : {1e-14, 1e-200, 1e-300}) {
      const Real above = ellipsoid.signedDistance({p.x, p.y, z}).distance;
      const Real below = ellipsoid.signedDistance({p.x, p.y, -z}).distance;
      ASSERT_NEAR(above, on, 2e-14);
      ASSERT_EQ(above, below);
    }
  }
}

TEST(SignedDistance, ScalesWithTheShape) {
  Random random(5);
  const auto unit = convexSamples();
  for (const Real scale : {0x1p-20, 0x1p20}) {
    const auto other = convexSamples(scale);
    for (std::size_t k = 0; k < unit.size(); ++k) {
      for (int i = 0; i < 300; ++i) {
        const Vec3 p = random.inBox({2, 2, 2});
        ASSERT_NEAR(other[k].shape->signedDistance(p * scale).distance / scale,
                    unit[k].shape->signedDistance(p).distance, 1e-15)
            << unit[k].name;
      }
    }
  }
}

TEST(SignedDistance, KernelsWorkInSinglePrecision) {
  Random random(6);
  for (int i = 0; i < 2000; ++i) {
    const Vec3 e{random.uniform(0.2, 2), random.uniform(0.2, 2), random.uniform(0.2, 2)};
    const Vec3 p = random.inBox({3, 3, 3});
    const auto single = [](const Vec3& v) {
      return Vec3T<float>{static_cast<float>(v.x), static_cast<float>(v.y),
                          static_cast<float>(v.z)};
    };
    ASSERT_NEAR(kernel::pointDistanceEllipsoid(single(e), single(p)).distance,
                kernel::pointDistanceEllipsoid(e, p).distance, 4e-6);
    ASSERT_NEAR(kernel::pointDistanceCone(single(e), single(p)).distance,
                kernel::pointDistanceCone(e, p).distance, 4e-6);
    ASSERT_NEAR(kernel::pointDistanceCylinder(single(e), single(p)).distance,
                kernel::pointDistanceCylinder(e, p).distance, 4e-6);
    ASSERT_NEAR(kernel::pointDistanceBox(single(e), single(p)).distance,
                kernel::pointDistanceBox(e, p).distance, 4e-6);
  }
}

}  // namespace
}  // namespace tangere
