// SPDX-License-Identifier: Apache-2.0
//
// Meshes where corners, edges and faces of both bodies meet, by numbers that can be checked by
// hand.
#include <tangere/collision.hpp>

#include "geometry/mesh_samples.hpp"
#include "mesh_reference/generated_shapes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

namespace tangere {
namespace {

Transform at(const Vec3& p) { return {Mat3::identity(), p}; }

std::shared_ptr<const Mesh> cube(Real half) { return test::boxMesh({half, half, half}).build(); }

std::shared_ptr<const Mesh> sheet(Real half) {
  const std::vector<Vec3> corners{
      {-half, -half, 0}, {half, -half, 0}, {half, half, 0}, {-half, half, 0}};
  const std::vector<Triangle> triangles{{0, 1, 2}, {0, 2, 3}};
  return std::make_shared<Mesh>(corners, triangles);
}

TEST(MeshFeatures, ACubeOnASheetIsAsDeepAsItWentThrough) {
  const auto body = cube(0.3), floor = sheet(3);
  for (const Real depth : {1e-4, 1e-3, 0.02}) {
    CollisionResult result;
    ASSERT_EQ(collide(*body, at({0.1, 0.2, 0.3 - depth}), *floor, {}, {}, result), 4);
    for (int k = 0; k < 4; ++k) {
      EXPECT_NEAR(result.contact(k).depth, depth, 1e-12);
      // The direction of a way 1e-4 m long between points of the order of 1 m.
      EXPECT_NEAR(norm(result.contact(k).normal - Vec3{0, 0, 1}), 0, 1e-11);
    }
    EXPECT_NEAR(distance(*body, at({0.1, 0.2, 0.3 - depth}), *floor, {}).distance, -depth, 1e-9);
  }
}

TEST(MeshFeatures, ARidgeUnderTheRimOfACubeIsFound) {
  // Two peaks, 0.1 m and 0.2 m high: the ridge between them comes in over the rim of the cube, and
  // no vertex of the ridge's deep part is inside.
  std::vector<Real> h(25, 0);
  h[12] = 0.1;
  h[17] = 0.2;
  const HeightField field(5, 5, 1.4, 1.4, h);
  const auto mesh = cube(0.3);
  const Box box({0.3, 0.3, 0.3});
  CollisionResult ofMesh, ofBox;
  collide(*mesh, at({0, 0, 0.39}), field, {}, {}, ofMesh);
  collide(box, at({0, 0, 0.39}), field, {}, {}, ofBox);
  Real deepest = 0, expected = 0;
  for (int k = 0; k < ofMesh.numContacts(); ++k)
    deepest = std::fmax(deepest, ofMesh.contact(k).depth);
  for (int k = 0; k < ofBox.numContacts(); ++k)
    expected = std::fmax(expected, ofBox.contact(k).depth);
  EXPECT_GT(deepest, 0.7 * expected);
  const DistanceResult d = distance(*mesh, at({0, 0, 0.39}), field, {});
  EXPECT_FALSE(overlap(*mesh, at(Vec3{0, 0, 0.39} + d.normal * (-d.distance * 1.001)), field, {}));
}

TEST(MeshFeatures, TwoEdgesThatCrossAreAContact) {
  // Wedges with edges along x and y, 0.02 m deep.
  const std::vector<Vec3> vertices{{-1, 0, 0},  {1, 0, 0},   {-1, -1, -1},
                                   {1, -1, -1}, {-1, 1, -1}, {1, 1, -1}};
  const std::vector<Triangle> triangles{{0, 2, 3}, {0, 3, 1}, {0, 1, 5}, {0, 5, 4},
                                        {0, 4, 2}, {1, 3, 5}, {2, 4, 5}, {2, 5, 3}};
  const Mesh wedge(vertices, triangles);
  ASSERT_TRUE(wedge.isClosed());
  Transform above;
  above.rotation.col[0] = {0, 1, 0};
  above.rotation.col[1] = {1, 0, 0};
  above.rotation.col[2] = {0, 0, -1};
  above.translation = {0.1, 0.2, -0.02};
  CollisionResult result;
  ASSERT_EQ(collide(wedge, above, wedge, {}, {}, result), 1);
  EXPECT_NEAR(result.contact(0).depth, 0.02, 1e-12);
  EXPECT_NEAR(norm(result.contact(0).normal - Vec3{0, 0, 1}), 0, 1e-12);
  EXPECT_NEAR(norm(result.contact(0).position - Vec3{0.1, 0, -0.01}), 0, 1e-12);
}

TEST(MeshFeatures, IcospheresPushEachOtherApart) {
  const reference::SurfaceParts s = reference::icosphere(2, [](int) { return 1.0; });
  const Mesh ball(s.vertices, s.triangles);
  Transform X;
  X.rotation.col[0] = {-0.7723251988135169, -0.6187051701726104, 0.14393644319400775};
  X.rotation.col[1] = {-0.268887262295164, 0.5237059934328131, 0.8083512062327624};
  X.rotation.col[2] = cross(X.rotation.col[0], X.rotation.col[1]);
  X.translation = {-1.290622133730438, 1.4051485569931073, 0.3530520533217406};
  const Vec3 apart = X.translation / norm(X.translation);
  CollisionResult result;
  ASSERT_GT(collide(ball, X, ball, {}, {}, result), 0);
  for (int k = 0; k < result.numContacts(); ++k)
    EXPECT_GT(dot(result.contact(k).normal, apart), 0.5);
}

TEST(MeshFeatures, ACapsuleThatTouchesASpikeIsNotPulledThroughIt) {
  const std::vector<Vec3> v{{-0.158, 0.255, 0.0},  {0.158, 0.255, 0.0},   {-0.158, -0.255, 0.0},
                            {0.158, -0.255, 0.0},  {0.0, -0.158, 0.255},  {0.0, 0.526, 0.851},
                            {0.0, -0.526, -0.851}, {0.0, 0.158, -0.255},  {0.851, 0.0, -0.526},
                            {0.851, 0.0, 0.526},   {-0.851, 0.0, -0.526}, {-0.255, 0.0, 0.158}};
  const std::vector<Triangle> f{{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
  const Mesh spiky(v, f);
  const Real s = 0.7809994449862886;
  const Transform X{rotationMatrix(Quat{-0.08020126360769972, 0.38533895404075424,
                                        -0.5100767893260427, 0.764789720645709}),
                    {0.6501388453745491, 0.4242110148315515, 0.08265614223392405}};
  const Capsule capsule(0.2 * s, 0.5 * s);
  const Real gap = distance(capsule, X, spiky, {}).distance;
  CollisionResult result;
  collide(capsule, X, spiky, {}, {}, result);
  for (int k = 0; k < result.numContacts(); ++k)
    EXPECT_LT(result.contact(k).depth, std::fmax(-gap, 0) * 1.05 + 1e-9);
  EXPECT_GT(gap, -1e-3);
}

TEST(MeshFeatures, AFlatMeshOnAWiderBoxBearsAtAllItsCorners) {
  const auto body = cube(0.1);
  const Box table({1, 1, 0.5});
  CollisionResult result;
  ASSERT_EQ(collide(*body, at({0.2, 0.3, 0.599}), table, {}, {}, result), 4);
  for (int k = 0; k < 4; ++k) {
    EXPECT_NEAR(result.contact(k).depth, 0.001, 1e-12);
    EXPECT_NEAR(std::fabs(result.contact(k).position.x - 0.2), 0.1, 1e-9);
    EXPECT_NEAR(std::fabs(result.contact(k).position.y - 0.3), 0.1, 1e-9);
  }
}

TEST(MeshFeatures, ABoxOnTwoBumpsBearsOnBoth) {
  std::vector<Real> h(169, 0);
  h[6 * 13 + 4] = h[6 * 13 + 8] = 0.1;
  CollisionResult result;
  collide(Box({0.3, 0.3, 0.3}), at({0, 0, 0.39}), HeightField(13, 13, 1.2, 1.2, h), {}, {}, result);
  bool bears[2] = {false, false};
  for (int k = 0; k < result.numContacts(); ++k) {
    const ContactPoint& c = result.contact(k);
    EXPECT_NEAR(c.depth, 0.01, 1e-12);
    bears[c.position.x > 0 ? 1 : 0] = true;
  }
  EXPECT_TRUE(bears[0] && bears[1]);
}

TEST(MeshFeatures, WhatIsInsideIsFoundWhateverTheBound) {
  const auto solid = cube(5);
  const auto ball = std::make_shared<Sphere>(0.1);
  for (const Real bound : {0.0, 0.5, 100.0}) {
    DistanceOption option;
    option.upperBound = bound;
    EXPECT_NEAR(distance(*ball, at({0, 0, 1}), *solid, {}, option).distance, -4.1, 1e-9) << bound;
    CollisionGroup group;
    group.add(solid, {});
    group.add(ball, at({0, 0, 1}));
    const auto inGroup = group.distance(option);
    ASSERT_TRUE(inGroup.has_value()) << bound;
    EXPECT_NEAR(inGroup->distance, -4.1, 1e-9) << bound;
  }
  const auto small = std::make_shared<Box>(Vec3{0.1, 0.1, 0.1});
  const Compound::Child near{small, at({5.2, 0, 0})}, inside{small, {}};
  for (const auto& children : {std::vector{near, inside}, std::vector{inside, near}})
    EXPECT_LE(distance(Compound(children), {}, *solid, {}).distance, -5.1 + 1e-9);
}

TEST(MeshFeatures, AnInnerCornerIsLeftBothWaysAtOnce) {
  // A cube 0.01 m deep in the floor and in the wall of an L: the way out is 0.01 sqrt 2 long.
  reference::Dice dice(1);
  const auto shape = reference::meshOf(
      "L",
      reference::extruded(
          {{-0.4, -0.4}, {0.4, -0.4}, {0.4, -0.1}, {-0.1, -0.1}, {-0.1, 0.4}, {-0.4, 0.4}},
          {{0, 1, 3}, {1, 2, 3}, {0, 3, 5}, {3, 4, 5}}, 0.4),
      1, false);
  const Box box({0.1, 0.1, 0.1});
  const auto mesh = cube(0.1);
  const Transform X = at({-0.01, 0, -0.01});
  for (const Shape* body :
       {static_cast<const Shape*>(&box), static_cast<const Shape*>(mesh.get())}) {
    const DistanceResult d = distance(*body, X, *shape.shape, {});
    EXPECT_NEAR(d.distance, -0.01 * std::sqrt(2.0), 1e-6);
    Transform moved = X;
    moved.translation += d.normal * (-d.distance * 1.001);
    EXPECT_FALSE(overlap(*body, moved, *shape.shape, {}));
  }
}

}  // namespace
}  // namespace tangere
