// SPDX-License-Identifier: Apache-2.0
//
// A compound answers as the union of its children.
#include <tangere/collision.hpp>

#include "geometry/mesh_samples.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tangere {
namespace {

using test::Random;

std::vector<Compound::Child> dumbbell() {
  const Transform left{Mat3::identity(), {-0.5, 0, 0}}, right{Mat3::identity(), {0.5, 0, 0}};
  const Transform lying{rotationMatrix(Quat{std::sqrt(0.5), 0, std::sqrt(0.5), 0}), {}};
  return {{std::make_shared<Sphere>(0.25), left},
          {std::make_shared<Capsule>(0.08, 0.4), lying},
          {test::boxMesh({0.2, 0.2, 0.2}).build(), right}};
}

std::vector<std::pair<const char*, std::shared_ptr<const Shape>>> others() {
  std::vector<Vec3> points;
  Random random(41);
  for (int i = 0; i < 20; ++i) points.push_back(random.direction() * 0.3);
  return {{"sphere", std::make_shared<Sphere>(0.2)},
          {"box", std::make_shared<Box>(Vec3{0.3, 0.2, 0.15})},
          {"cylinder", std::make_shared<Cylinder>(0.2, 0.2)},
          {"plane", std::make_shared<Plane>()},
          {"hull", std::make_shared<Convex>(points)},
          {"mesh", test::torusMesh(16, 8, 0.3, 0.1).build()},
          {"terrain", std::make_shared<HeightField>(5, 5, 2.0, 2.0, std::vector<Real>(25, 0.1))},
          {"cloud", std::make_shared<PointCloud>(points, 0.02)}};
}

TEST(CompoundPairs, AnswersAsTheUnionOfItsChildren) {
  const std::vector<Compound::Child> children = dumbbell();
  const Compound compound(children);
  Random random(1);
  for (const auto& [name, other] : others()) {
    int touching = 0;
    for (int i = 0; i < 40; ++i) {
      const Transform X_WC = random.pose(0.5), X_WO = random.pose(0.5);
      bool any = false;
      int contacts = 0;
      Real nearest = std::numeric_limits<Real>::infinity();
      for (const Compound::Child& child : children) {
        const Transform X = X_WC * child.pose;
        any = any || overlap(*child.shape, X, *other, X_WO);
        CollisionResult part;
        contacts += collide(*child.shape, X, *other, X_WO, {}, part);
        nearest = std::fmin(nearest, distance(*child.shape, X, *other, X_WO).distance);
      }
      touching += any ? 1 : 0;
      EXPECT_EQ(overlap(compound, X_WC, *other, X_WO), any) << name;
      EXPECT_EQ(overlap(*other, X_WO, compound, X_WC), any) << name;
      CollisionResult result, swapped, one;
      EXPECT_EQ(collide(compound, X_WC, *other, X_WO, {}, result), contacts) << name;
      EXPECT_EQ(result.numContacts(), contacts);
      EXPECT_EQ(collide(*other, X_WO, compound, X_WC, {}, swapped), contacts) << name;
      Real deepest = 0;
      for (int k = 0; k < contacts; ++k) {
        EXPECT_EQ(result.contact(k).position, swapped.contact(k).position);
        EXPECT_EQ(result.contact(k).normal, -swapped.contact(k).normal);
        EXPECT_EQ(result.contact(k).feature1, swapped.contact(k).feature2);
        deepest = std::fmax(deepest, result.contact(k).depth);
      }
      EXPECT_EQ(collide(compound, X_WC, *other, X_WO, CollisionOption::fullContacts(1), one),
                contacts > 0 ? 1 : 0);
      if (contacts > 0) {
        EXPECT_EQ(one.contact(0).depth, deepest) << name;
      }
      const DistanceResult d = distance(compound, X_WC, *other, X_WO);
      if (nearest > 0) {
        EXPECT_NEAR(d.distance, nearest, 1e-9) << name;
      } else {
        // What parts the deepest child need not part the others: the answer parts all of them.
        EXPECT_LE(d.distance, 0) << name;
        Transform parted = X_WC;
        parted.translation += d.normal * (-d.distance * (1 + 1e-6));
        EXPECT_FALSE(overlap(compound, parted, *other, X_WO)) << name;
      }
      EXPECT_NEAR(norm(d.point1 - d.point2 - d.normal * d.distance), 0, 1e-9) << name;
    }
    EXPECT_GT(touching, 3) << name;
  }
}

TEST(CompoundPairs, TwoCompoundsTouchWhereTheirChildrenDo) {
  const std::vector<Compound::Child> children = dumbbell();
  const Compound compound(children);
  Random random(2);
  int touching = 0, apart = 0;
  for (int i = 0; i < 60; ++i) {
    const Transform X1 = random.pose(0.5), X2 = random.pose(0.5);
    bool any = false;
    Real nearest = std::numeric_limits<Real>::infinity();
    for (const Compound::Child& a : children)
      for (const Compound::Child& b : children) {
        any = any || overlap(*a.shape, X1 * a.pose, *b.shape, X2 * b.pose);
        nearest =
            std::fmin(nearest, distance(*a.shape, X1 * a.pose, *b.shape, X2 * b.pose).distance);
      }
    EXPECT_EQ(overlap(compound, X1, compound, X2), any);
    CollisionResult result;
    EXPECT_EQ(collide(compound, X1, compound, X2, {}, result) > 0, any);
    const DistanceResult d = distance(compound, X1, compound, X2);
    if (any) {
      EXPECT_LE(d.distance, nearest + 1e-9);
      Transform parted = X1;
      parted.translation += d.normal * (-d.distance * (1 + 1e-6));
      EXPECT_FALSE(overlap(compound, parted, compound, X2));
    } else {
      EXPECT_NEAR(d.distance, nearest, 1e-9);
    }
    ++(any ? touching : apart);
  }
  EXPECT_GT(touching, 5);
  EXPECT_GT(apart, 5);
}

TEST(CompoundPairs, ContactsAreLimited) {
  const Compound table({{std::make_shared<Box>(Vec3{1, 1, 0.1}), {}},
                        {std::make_shared<Box>(Vec3{1, 1, 0.1}), {Mat3::identity(), {2.5, 0, 0}}}});
  const Box plank({2, 0.2, 0.1});
  const Transform X{Mat3::identity(), {1.2, 0, 0.195}};
  CollisionResult all, few;
  EXPECT_EQ(collide(plank, X, table, {}, {}, all), 8);
  EXPECT_EQ(all.numManifolds(), 2);
  EXPECT_LE(collide(plank, X, table, {}, CollisionOption::fullContacts(5), few), 5);
}

TEST(CompoundPairs, AChildThatCannotBeAskedIsReported) {
  const Compound ground({{std::make_shared<Plane>(), {}}});
  CollisionResult result;
  EXPECT_EQ(collide(ground, {}, Plane(), {}, {}, result), 0);
  EXPECT_EQ(result.status(), QueryStatus::Unsupported);
  EXPECT_EQ(distance(ground, {}, Plane(), {}).status, QueryStatus::Unsupported);
}

}  // namespace
}  // namespace tangere
