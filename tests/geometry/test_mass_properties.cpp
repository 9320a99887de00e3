// SPDX-License-Identifier: Apache-2.0
//
// Mass, centre and inertia against numbers worked out by hand, against hulls that approach the
// curved solids, and against the laws they obey under motion and union.
#include <tangere/error.hpp>
#include <tangere/shape.hpp>

#include "geometry/shape_samples.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numbers>

namespace tangere {
namespace {

using testing::Random;

constexpr Real kPi = std::numbers::pi_v<Real>;

void expectInertia(const MassProperties& mass, const Vec3& diagonal, Real tolerance) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      EXPECT_NEAR(mass.inertia(i, j), i == j ? diagonal[i] : 0, tolerance) << i << "," << j;
    }
  }
}

void expectSame(const MassProperties& a, const MassProperties& b, Real relative) {
  EXPECT_NEAR(a.mass, b.mass, relative * a.mass);
  const Real length = std::sqrt(a.inertia(0, 0) / a.mass);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(a.center[i], b.center[i], relative * length);
    for (int j = 0; j < 3; ++j) {
      EXPECT_NEAR(a.inertia(i, j), b.inertia(i, j), relative * a.inertia(0, 0)) << i << "," << j;
    }
  }
}

TEST(MassProperties, OfASphere) {
  const MassProperties mass = Sphere(2).massProperties(3);
  EXPECT_NEAR(mass.mass, 32 * kPi, 1e-13);  // 4/3 pi 8 * 3
  EXPECT_EQ(mass.center, (Vec3{}));
  const Real i = 0.4 * 32 * kPi * 4;
  expectInertia(mass, {i, i, i}, 1e-13);
}

TEST(MassProperties, OfABox) {
  const MassProperties mass = Box({1, 2, 3}).massProperties(0.5);
  EXPECT_EQ(mass.mass, 24);
  expectInertia(mass, {8 * 13, 8 * 10, 8 * 5}, 1e-13);  // m/3 (y^2 + z^2), ...
}

TEST(MassProperties, OfACylinder) {
  const MassProperties mass = Cylinder(2, 3).massProperties(1);
  EXPECT_NEAR(mass.mass, 24 * kPi, 1e-13);
  expectInertia(mass, {24 * kPi * 4, 24 * kPi * 4, 24 * kPi * 2}, 1e-12);  // r^2/4 + h^2/3 = 4
}

TEST(MassProperties, OfACapsule) {
  const MassProperties mass = Capsule(1, 2).massProperties(1);
  EXPECT_NEAR(mass.mass, 4 * kPi + 4 * kPi / 3, 1e-14);
  // tube: 4 pi (1/4 + 4/3); balls: 4 pi/3 (2/5 + 4 + 3/4 * 2).
  const Real lateral = 4 * kPi * (0.25 + 4.0 / 3) + 4 * kPi / 3 * 5.9;
  const Real axial = 4 * kPi * 0.5 + 4 * kPi / 3 * 0.4;
  expectInertia(mass, {lateral, lateral, axial}, 1e-13);
}

TEST(MassProperties, OfACone) {
  const MassProperties mass = Cone(3, 2).massProperties(1);
  EXPECT_NEAR(mass.mass, 12 * kPi, 1e-13);
  EXPECT_EQ(mass.center, (Vec3{0, 0, -1}));  // a quarter of the height above the base
  // 3/20 r^2 + 3/80 H^2 = 1.35 + 0.6; 3/10 r^2 = 2.7.
  expectInertia(mass, {12 * kPi * 1.95, 12 * kPi * 1.95, 12 * kPi * 2.7}, 1e-12);
}

TEST(MassProperties, OfAnEllipsoid) {
  const MassProperties mass = Ellipsoid({1, 2, 3}).massProperties(1);
  EXPECT_NEAR(mass.mass, 8 * kPi, 1e-14);
  const Real k = 8 * kPi / 5;
  expectInertia(mass, {k * 13, k * 10, k * 5}, 1e-13);
}

TEST(MassProperties, OfATetrahedron) {
  const std::vector<Vec3> points{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const MassProperties mass = Convex(points).massProperties(1);
  EXPECT_NEAR(mass.mass, 1.0 / 6, 1e-16);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(mass.center[i], 0.25, 1e-16);
    // Second moments of the corner tetrahedron: x^2: 1/60, xy: 1/120; moved to the centroid.
    for (int j = 0; j < 3; ++j)
      EXPECT_NEAR(mass.inertia(i, j), i == j ? 1.0 / 80 : 1.0 / 480, 1e-17);
  }
}

TEST(MassProperties, OfABoxHullAreThoseOfTheBox) {
  const Vec3 h{0.3, 2, 7};
  expectSame(Convex(testing::boxCorners(h)).massProperties(2), Box(h).massProperties(2), 1e-15);
}

/// Stretches a fine hull of the unit sphere, so that the error is the sphere's.
TEST(MassProperties, OfCurvedSolidsAreApproachedByHulls) {
  std::vector<Vec3> ellipsoid = testing::spherePoints(4000);
  for (Vec3& p : ellipsoid) p = {p.x * 1, p.y * 2, p.z * 3};
  expectSame(Ellipsoid({1, 2, 3}).massProperties(1), Convex(ellipsoid).massProperties(1), 4e-3);

  std::vector<Vec3> capsule, cylinder, cone{{0, 0, 1.5}};
  for (const Vec3& p : testing::spherePoints(4000)) {
    capsule.push_back(p + Vec3{0, 0, p.z > 0 ? 1.5 : -1.5});
  }
  for (int i = 0; i < 1000; ++i) {
    const Real angle = 2 * kPi * i / 1000;
    const Vec3 rim{core::cos(angle), core::sin(angle), 0};
    cylinder.push_back(rim + Vec3{0, 0, 1.5});
    cylinder.push_back(rim - Vec3{0, 0, 1.5});
    cone.push_back(rim - Vec3{0, 0, 1.5});
  }
  expectSame(Capsule(1, 1.5).massProperties(1), Convex(capsule).massProperties(1), 4e-3);
  // A polygon of n sides lacks 2 pi^2 / (3 n^2) of the disc: 7e-6 here.
  expectSame(Cylinder(1, 1.5).massProperties(1), Convex(cylinder).massProperties(1), 2e-5);
  expectSame(Cone(1, 1.5).massProperties(1), Convex(cone).massProperties(1), 2e-5);
}

TEST(MassProperties, TurnWithTheHull) {
  Random random(1);
  std::vector<Vec3> points;
  for (int i = 0; i < 40; ++i) points.push_back(random.inBox({1, 2, 3}));
  const MassProperties mass = Convex(points).massProperties(1);
  for (int k = 0; k < 20; ++k) {
    const Transform X{random.rotation(), random.inBox({5, 5, 5})};
    const MassProperties turned = Convex(testing::moved(points, X)).massProperties(1);
    MassProperties expected{.mass = mass.mass, .center = X * mass.center};
    expected.inertia = X.rotation * mass.inertia * transpose(X.rotation);
    expectSame(expected, turned, 1e-13);
  }
}

TEST(MassProperties, KeepTheirDigitsFarFromTheOrigin) {
  const std::vector<Vec3> points =
      testing::moved(testing::boxCorners({1, 2, 3}), {Mat3::identity(), {16384, -16384, 16384}});
  const MassProperties mass = Convex(points).massProperties(1);
  EXPECT_NEAR(mass.mass, 48, 1e-12);
  expectInertia(mass, {16 * 13, 16 * 10, 16 * 5}, 1e-11);
}

TEST(MassProperties, OfTwoHalvesAreThoseOfTheWhole) {
  const auto half = std::make_shared<Box>(Vec3{1, 1, 1});
  const Compound both(
      {{half, {Mat3::identity(), {-1, 0, 0}}}, {half, {Mat3::identity(), {1, 0, 0}}}});
  expectSame(Box({2, 1, 1}).massProperties(2), both.massProperties(2), 1e-15);
}

TEST(MassProperties, OfAMovedChildFollowTheParallelAxisTheorem) {
  Random random(2);
  for (const auto& [name, shape] : testing::convexSamples()) {
    const Transform X{random.rotation(), random.inBox({3, 3, 3})};
    const MassProperties alone = shape->massProperties(5);
    const MassProperties moved = Compound({{shape, X}}).massProperties(5);
    MassProperties expected{.mass = alone.mass, .center = X * alone.center};
    expected.inertia = X.rotation * alone.inertia * transpose(X.rotation);
    expectSame(expected, moved, 1e-13);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < i; ++j) EXPECT_EQ(moved.inertia(i, j), moved.inertia(j, i)) << name;
    }
  }
  // Two unit-mass balls 2 apart: 2 * 2/5 r^2 about the line, + 2 * 1 across it.
  const auto ball = std::make_shared<Sphere>(0.5);
  const Compound dumbbell(
      {{ball, {Mat3::identity(), {0, 0, 1}}}, {ball, {Mat3::identity(), {0, 0, -1}}}});
  const MassProperties mass = dumbbell.massProperties(6 / kPi);
  EXPECT_NEAR(mass.mass, 2, 1e-15);
  expectInertia(mass, {2.2, 2.2, 0.2}, 1e-15);
}

TEST(MassProperties, ScaleWithTheFifthPower) {
  const auto unit = testing::convexSamples();
  for (const Real scale : {0x1p-20, 0x1p20}) {
    const auto other = testing::convexSamples(scale);
    for (std::size_t k = 0; k < unit.size(); ++k) {
      MassProperties mass = other[k].shape->massProperties(1);
      mass.mass /= scale * scale * scale;
      mass.center = mass.center / scale;
      for (int i = 0; i < 3; ++i) {
        mass.inertia.col[i] = mass.inertia.col[i] / (scale * scale * scale * scale * scale);
      }
      expectSame(unit[k].shape->massProperties(1), mass, 1e-13);
    }
  }
}

TEST(MassProperties, RefuseBadDensities) {
  for (const auto& [name, shape] : testing::convexSamples()) {
    for (const Real density : {0.0, -1.0, std::numeric_limits<Real>::quiet_NaN(),
                               std::numeric_limits<Real>::infinity()}) {
      EXPECT_THROW((void)shape->massProperties(density), InvalidInput) << name;
    }
  }
}

TEST(MassProperties, RefuseAPlane) {
  EXPECT_THROW((void)Plane().massProperties(1), InvalidInput);
  const Compound withPlane({{std::make_shared<Plane>(), {}}});
  EXPECT_THROW((void)withPlane.massProperties(1), InvalidInput);
}

}  // namespace
}  // namespace tangere
