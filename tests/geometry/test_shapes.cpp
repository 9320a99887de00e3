// SPDX-License-Identifier: Apache-2.0
//
// Construction: sizes come back as given, and sizes that make no solid are refused by name.
#include <tangere/error.hpp>
#include <tangere/shape.hpp>

#include "geometry/flat_shape.hpp"
#include "geometry/shape_samples.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

namespace tangere {
namespace {

constexpr Real kNaN = std::numeric_limits<Real>::quiet_NaN();
constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
constexpr Real kBadSizes[] = {0.0, -0.0, -1.0, kNaN, kInfinity, -kInfinity, 1e-13, 1e13, 1e-310};

void expectRefused(const std::function<void()>& make, const std::string& part) {
  try {
    make();
    FAIL() << "accepted, but expected: " << part;
  } catch (const InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(Shapes, GiveBackTheirSizes) {
  EXPECT_EQ(Sphere(2).radius(), 2);
  EXPECT_EQ(Box({1, 2, 3}).halfExtents(), (Vec3{1, 2, 3}));
  EXPECT_EQ(Capsule(1, 2).radius(), 1);
  EXPECT_EQ(Capsule(1, 2).halfLength(), 2);
  EXPECT_EQ(Cylinder(1, 2).radius(), 1);
  EXPECT_EQ(Cylinder(1, 2).halfLength(), 2);
  EXPECT_EQ(Cone(1, 2).radius(), 1);
  EXPECT_EQ(Cone(1, 2).halfHeight(), 2);
  EXPECT_EQ(Ellipsoid({1, 2, 3}).semiAxes(), (Vec3{1, 2, 3}));
  EXPECT_EQ(Plane().type(), ShapeType::Plane);
}

TEST(Shapes, RefuseSizesThatMakeNoSolid) {
  for (const Real bad : kBadSizes) {
    expectRefused([=] { Sphere shape(bad); }, "sphere radius");
    expectRefused([=] { Capsule shape(bad, 1); }, "capsule radius");
    expectRefused([=] { Capsule shape(1, bad); }, "capsule half length");
    expectRefused([=] { Cylinder shape(bad, 1); }, "cylinder radius");
    expectRefused([=] { Cylinder shape(1, bad); }, "cylinder half length");
    expectRefused([=] { Cone shape(bad, 1); }, "cone radius");
    expectRefused([=] { Cone shape(1, bad); }, "cone half height");
    for (int axis = 0; axis < 3; ++axis) {
      Vec3 size{1, 1, 1};
      size[axis] = bad;
      expectRefused([=] { Box shape(size); }, "box half extents");
      expectRefused([=] { Ellipsoid shape(size); }, "ellipsoid semi-axes");
    }
  }
  expectRefused([] { Sphere shape(-2.5); }, "-2.5");
}

TEST(Shapes, AcceptTheWholeRangeOfSizes) {
  for (const Real size : {1e-12, 1e-6, 1e6, 1e12}) {
    EXPECT_NO_THROW(Sphere shape(size));
    EXPECT_NO_THROW(Box shape({size, size, size}));
    EXPECT_NO_THROW(Capsule shape(size, size));
    EXPECT_NO_THROW(Cylinder shape(size, size));
    EXPECT_NO_THROW(Cone shape(size, size));
    EXPECT_NO_THROW(Ellipsoid shape({size, size, size}));
  }
}

TEST(Shapes, ExtremeAspectRatiosGiveFiniteAnswers) {
  testing::Random random(1);
  const std::vector<std::shared_ptr<const Shape>> shapes{
      std::make_shared<Box>(Vec3{1e-9, 1e9, 1}),
      std::make_shared<Capsule>(1e-9, 1e9),
      std::make_shared<Capsule>(1e9, 1e-9),
      std::make_shared<Cylinder>(1e-9, 1e9),
      std::make_shared<Cylinder>(1e9, 1e-9),
      std::make_shared<Cone>(1e-9, 1e9),
      std::make_shared<Cone>(1e9, 1e-9),
      std::make_shared<Ellipsoid>(Vec3{1e-9, 1, 1e9}),
      std::make_shared<Ellipsoid>(Vec3{1e9, 1e9, 1e-9})};
  for (const auto& shape : shapes) {
    for (int i = 0; i < 500; ++i) {
      const Vec3 half = shape->localAabb().halfExtents();
      Vec3 p = random.inBox(half * 2);
      if (i % 5 == 0) p[random.index(3)] = 0;
      const SignedDistance d = shape->signedDistance(p);
      ASSERT_TRUE(std::isfinite(d.distance)) << shapeTypeName(shape->type());
      ASSERT_NEAR(norm(d.normal), 1, 1e-14) << shapeTypeName(shape->type());
      ASSERT_LE(norm(d.closest + d.normal * d.distance - p), 1e-14 * norm(half) * 2);
      const Vec3 s = shape->support(random.direction());
      ASSERT_TRUE(std::isfinite(squaredNorm(s)));
      const std::optional<RayHit> hit = shape->rayCast({p, random.direction()});
      if (hit) {
        ASSERT_TRUE(std::isfinite(hit->t));
        ASSERT_NEAR(norm(hit->normal), 1, 1e-14) << shapeTypeName(shape->type());
      }
    }
  }
}

Compound::Child at(std::shared_ptr<const Shape> shape,
                   const Transform& pose = Transform::identity()) {
  return {std::move(shape), pose};
}

void makeCompound(std::vector<Compound::Child> children) { Compound shape(std::move(children)); }

TEST(Compound, RefusesBadChildren) {
  const auto ball = std::make_shared<Sphere>(1);
  expectRefused([] { makeCompound({}); }, "at least one child");
  expectRefused([] { makeCompound({at(nullptr)}); }, "no shape");
  const auto inner = std::make_shared<Compound>(std::vector<Compound::Child>{at(ball)});
  expectRefused([&] { makeCompound({at(ball), at(inner)}); }, "compound itself");
  Transform pose;
  pose.translation.y = kNaN;
  expectRefused([&] { makeCompound({at(ball, pose)}); }, "position");
  pose = Transform::identity();
  pose.rotation(0, 0) = 2;
  expectRefused([&] { makeCompound({at(ball, pose)}); }, "rotation");
  pose.rotation(0, 0) = -1;  // a mirror
  expectRefused([&] { makeCompound({at(ball, pose)}); }, "rotation");
  pose.rotation(0, 0) = kNaN;
  expectRefused([&] { makeCompound({at(ball, pose)}); }, "rotation");
}

TEST(Compound, AnswersAreThoseOfTheBestChild) {
  testing::Random random(2);
  std::vector<Compound::Child> children;
  for (const auto& [name, shape] : testing::convexSamples()) {
    children.push_back({shape, {random.rotation(), random.inBox({5, 5, 5})}});
  }
  const Compound compound(children);
  ASSERT_EQ(compound.children().size(), children.size());
  ASSERT_EQ(compound.flat().children.data(), compound.children().data());
  for (int i = 0; i < 500; ++i) {
    const Vec3 p = random.inBox({6, 6, 6}), d = random.direction();
    Real distance = kInfinity, reach = -kInfinity, t = kInfinity;
    int feature = -1;
    for (std::size_t k = 0; k < children.size(); ++k) {
      const auto& [shape, X] = children[k];
      distance = std::fmin(distance, shape->signedDistance(inverseTimes(X, p)).distance);
      reach = std::fmax(reach, dot(d, X * shape->support(transposeTimes(X.rotation, d))));
      const auto hit = shape->rayCast({inverseTimes(X, p), transposeTimes(X.rotation, d)});
      if (hit && hit->t < t) {
        t = hit->t;
        feature = static_cast<int>(k);
      }
    }
    const SignedDistance answer = compound.signedDistance(p);
    ASSERT_EQ(answer.distance, distance);
    ASSERT_LE(norm(answer.closest + answer.normal * answer.distance - p), 1e-14);
    ASSERT_NEAR(dot(d, compound.support(d)), reach, 1e-14);
    const std::optional<RayHit> hit = compound.rayCast({p, d});
    ASSERT_EQ(hit.has_value(), feature >= 0);
    if (hit) {
      ASSERT_EQ(hit->t, t);
      ASSERT_EQ(hit->feature, feature);
      ASSERT_LE(norm(p + d * t - hit->position), 1e-14);
    }
  }
}

TEST(Compound, BoxHoldsEveryChildAtEveryPose) {
  testing::Random random(3);
  const auto rod = std::make_shared<Capsule>(0.1, 2);
  const Transform turned{{{{0, 0, -1}, {0, 1, 0}, {1, 0, 0}}}, {}};
  const Compound cross({at(rod), at(rod, turned)});
  EXPECT_EQ(cross.localAabb().upper, (Vec3{2.1, 0.1, 2.1}));
  for (int i = 0; i < 100; ++i) {
    const Transform X{random.rotation(), random.inBox({3, 3, 3})};
    const Aabb box = cross.worldAabb(X);
    for (int axis = 0; axis < 3; ++axis) {
      Vec3 e{};
      e[axis] = 1;
      EXPECT_NEAR((X * cross.support(transposeTimes(X.rotation, e)))[axis], box.upper[axis], 1e-14);
    }
  }
}

TEST(Compound, WithAPlaneReachesToInfinity) {
  const Compound ground({at(std::make_shared<Sphere>(1)), at(std::make_shared<Plane>())});
  EXPECT_EQ(ground.support({0, 0, 1}), (Vec3{0, 0, 1}));
  EXPECT_EQ(ground.support({1, 0, 0}), (Vec3{kInfinity, 0, 0}));
  EXPECT_EQ(ground.worldAabb(Transform::identity()).upper, (Vec3{kInfinity, kInfinity, 1}));
}

}  // namespace
}  // namespace tangere
