// SPDX-License-Identifier: Apache-2.0
//
// Meshes against convex shapes, planes and each other: booleans and distances against brute force
// over the triangles, contacts against the signed distance of their points.
#include <tangere/collision.hpp>

#include "collision/kernels/triangle_triangle.hpp"
#include "collision/mesh_nearest.hpp"
#include "geometry/flat_shape.hpp"
#include "geometry/mesh_data.hpp"
#include "geometry/mesh_samples.hpp"
#include "geometry/signed_distance.hpp"
#include "surface_helpers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tangere {
namespace {

using namespace test;

/// Distance to the nearest triangle by GJK, 0 when one is touched.
Real bruteDistance(const Shape& body, const Transform& X_WB, const Mesh& mesh,
                   const Transform& X_WM) {
  return nearestTriangleByGjk(
      body, inverseTimes(X_WB, X_WM), static_cast<int>(mesh.triangles().size()),
      [&](int t, int k) { return mesh.vertices()[mesh.triangles()[t][k]]; });
}

TEST(MeshPairs, BooleanAndDistanceOfConvexShapesAreThoseOfTheNearestTriangle) {
  Random random(1);
  for (const auto& [meshName, input] : sampleMeshes()) {
    const auto mesh = input.build();
    const Real size = norm(mesh->localAabb().halfExtents());
    for (const auto& [name, body] : convexShapes(size)) {
      int touching = 0, apart = 0;
      for (int i = 0; i < 40; ++i) {
        const Transform X_WM = random.pose(2 * size);
        Transform X_WB = random.pose(0);
        X_WB.translation = X_WM * (mesh->localAabb().center() + random.inCube(1) * size);
        const Real brute = bruteDistance(*body, X_WB, *mesh, X_WM);
        const Vec3 center = inverseTimes(X_WM, X_WB * body->flat().convex.center);
        const bool inside = mesh->isClosed() && mesh->signedDistance(center).distance < 0;
        if (brute > 0 && brute < 1e-7 * size) continue;  // too close to call
        const bool expected = brute <= 0 || inside;
        EXPECT_EQ(overlap(*body, X_WB, *mesh, X_WM), expected)
            << meshName << " " << name << " " << i << " brute " << brute;
        EXPECT_EQ(overlap(*mesh, X_WM, *body, X_WB), expected);
        CollisionResult result;
        const int count = collide(*body, X_WB, *mesh, X_WM, {}, result);
        EXPECT_EQ(count > 0, expected) << meshName << " " << name << " " << i;
        EXPECT_EQ(result.numContacts(), count);

        const DistanceResult d = distance(*body, X_WB, *mesh, X_WM);
        EXPECT_NEAR(norm(d.normal), 1, 1e-9);
        EXPECT_NEAR(norm(d.point1 - d.point2 - d.normal * d.distance), 0, 1e-9 * size);
        if (expected) {
          EXPECT_LE(d.distance, 0) << meshName << " " << name;
          ++touching;
          continue;
        }
        ++apart;
        EXPECT_NEAR(d.distance, brute, 1e-6 * size) << meshName << " " << name << " " << i;
        // The witness points are on the two surfaces.
        EXPECT_NEAR(mesh->signedDistance(inverseTimes(X_WM, d.point2)).distance, 0, 1e-9 * size)
            << meshName << " " << name << " " << i;
        EXPECT_NEAR(body->signedDistance(inverseTimes(X_WB, d.point1)).distance, 0, 1e-6 * size);
        DistanceOption near;
        near.upperBound = 0.5 * d.distance;
        EXPECT_GT(distance(*body, X_WB, *mesh, X_WM, near).distance, near.upperBound);
        EXPECT_LE(distance(*body, X_WB, *mesh, X_WM, near).distance, d.distance);
      }
      EXPECT_GT(touching + apart, 30);
    }
  }
}

/// How much longer than the shortest way out of a box the one found may be, as a ratio.
Real mostAtEdges(ShapeType type) {
  switch (type) {
    case ShapeType::Cone:
      return 1.4;
    case ShapeType::Cylinder:
      return 1.15;
    case ShapeType::Box:
    case ShapeType::Convex:
      return 1.03;
    default:
      return 1 + 1e-6;  // round bodies have no other way nearby
  }
}

TEST(MeshPairs, EveryContactIsInBothBodiesAndPushesThemApart) {
  Random random(2);
  for (const auto& [meshName, input] : {std::pair{"bumpy sphere", bumpySphere(10, 0.5, 0.1)},
                                        std::pair{"torus", torusMesh(32, 16, 0.5, 0.2)},
                                        std::pair{"box", boxMesh({0.5, 0.4, 0.3})}}) {
    const auto mesh = input.build();
    const Box box({0.5, 0.4, 0.3});
    const bool isBox = mesh->triangles().size() == 12;
    for (const auto& [name, shape] : convexShapes(1)) {
      const Shape* const body = shape.get();
      for (int i = 0; i < 60; ++i) {
        const Transform X_WM = random.pose(1);
        Transform X_WB = random.pose(0);
        // Come in from outside until the overlap is shallow.
        const Vec3 d = random.direction();
        X_WB.translation = X_WM.translation + d * 2.0;
        const DistanceResult gap = distance(*body, X_WB, *mesh, X_WM);
        ASSERT_GT(gap.distance, 0);
        const Real depth = random.in(0.001, 0.01);
        X_WB.translation -= gap.normal * (gap.distance + depth);
        CollisionResult result;
        ASSERT_GT(collide(*body, X_WB, *mesh, X_WM, {}, result), 0) << meshName << " " << name;
        for (int k = 0; k < result.numContacts(); ++k) {
          const ContactPoint& c = result.contact(k);
          EXPECT_NEAR(norm(c.normal), 1, 1e-9);
          EXPECT_GE(c.depth, 0);
          EXPECT_LT(c.depth, 4 * depth + 1e-9) << meshName << " " << name << " " << i;
          // One of the two points is on its own surface and inside the other body; the other one
          // is on the plane against which the depth is measured.
          const Vec3 onBody = c.position - c.normal * (0.5 * c.depth);
          const Vec3 onMesh = c.position + c.normal * (0.5 * c.depth);
          const auto toMesh = [&](const Vec3& p) {
            return mesh->signedDistance(inverseTimes(X_WM, p)).distance;
          };
          const auto toBody = [&](const Vec3& p) {
            return body->signedDistance(inverseTimes(X_WB, p)).distance;
          };
          // Where a line of a capsule or of the side of a cone is cut short, its ends are not quite
          // on the surface.
          const Real share =
              body->type() == ShapeType::Capsule || body->type() == ShapeType::Cone ? 1e-3 : 0;
          const Real kTolerance = 2e-6 + share * c.depth;
          const bool bodyPoint =
              std::fabs(toBody(onBody)) < kTolerance && toMesh(onBody) < kTolerance;
          const bool meshPoint =
              std::fabs(toMesh(onMesh)) < kTolerance && toBody(onMesh) < kTolerance;
          EXPECT_TRUE(bodyPoint || meshPoint) << meshName << " " << name << " " << i;
        }
        const DistanceResult deep = distance(*body, X_WB, *mesh, X_WM);
        EXPECT_NEAR(norm(deep.point1 - deep.point2 - deep.normal * deep.distance), 0, 1e-12);
        // The way out is one: the bodies are apart behind it.
        Transform moved = X_WB;
        moved.translation -= deep.normal * (deep.distance * (1 + 1e-5));
        EXPECT_FALSE(overlap(*body, moved, *mesh, X_WM)) << meshName << " " << name << " " << i;
        if (isBox) {
          // A box of triangles is as deep as the box, unless another way out is the locally
          // shortest one at the edges of the two.
          const DistanceResult exact = distance(*body, X_WB, box, X_WM);
          EXPECT_GT(deep.distance / exact.distance, 0.99) << name << " " << i;
          EXPECT_LT(deep.distance / exact.distance, mostAtEdges(body->type())) << name << " " << i;
          continue;
        }
        // The body came that deep along one direction: the shortest way out is not longer, but for
        // what a dent of the surface adds.
        EXPECT_LT(-deep.distance, 1.02 * depth) << meshName << " " << name << " " << i;
        EXPECT_GT(dot(deep.normal, gap.normal), 0.7) << meshName << " " << name << " " << i;
      }
    }
  }
}

TEST(MeshPairs, BodiesOnAFlatFloorFeelOnlyTheFloor) {
  // Wherever a body stands on the triangles, the seams must not show.
  Random random(3);
  for (const bool closed : {false, true}) {
    const auto floor = closed ? boxMesh({2, 2, 0.5}).build() : floorMesh(8, 4).build();
    const Real top = closed ? 0.5 : 0;
    for (const auto& [name, body] : convexShapes(1)) {
      for (int i = 0; i < 100; ++i) {
        // Flat on a face or an edge of the body, turned about the vertical, or just any way.
        Transform X{i % 2 == 0 ? random.rotation() : Mat3::identity(), {}};
        const double angle = random.in(0, 6.28);
        X.rotation = rotationMatrix(Quat{std::cos(angle), 0, 0, std::sin(angle)}) * X.rotation;
        if (i % 4 == 2)
          X.rotation = X.rotation * rotationMatrix(Quat{std::sqrt(0.5), std::sqrt(0.5), 0, 0});
        X.translation = {random.in(-1, 1), random.in(-1, 1), 0};
        const Real depth = random.in(0.0001, 0.02);
        X.translation.z = top - depth - body->worldAabb({X.rotation, {}}).lower.z;
        CollisionResult result;
        ASSERT_GT(collide(*body, X, *floor, {}, {}, result), 0) << name << " " << i;
        Real deepest = 0;
        for (int k = 0; k < result.numContacts(); ++k) {
          const ContactPoint& c = result.contact(k);
          EXPECT_GT(c.normal.z, 1 - 1e-6) << name << " " << i << " closed " << closed;
          EXPECT_LT(c.depth, depth + 1e-6);
          deepest = std::fmax(deepest, c.depth);
        }
        EXPECT_NEAR(deepest, depth, 2e-6) << name << " " << i << " closed " << closed;
        EXPECT_EQ(result.numManifolds(), 1) << name << " " << i << " closed " << closed;
      }
    }
  }
}

TEST(MeshPairs, ABoxFlatOnAFloorKeepsItsFourCorners) {
  const auto floor = floorMesh(8, 4).build();
  const Box box({0.3, 0.2, 0.1});
  Random random(4);
  for (int i = 0; i < 50; ++i) {
    const double angle = random.in(0, 6.28);
    const Transform X{rotationMatrix(Quat{std::cos(angle), 0, 0, std::sin(angle)}),
                      {random.in(-1, 1), random.in(-1, 1), 0.1 - 0.003}};
    CollisionResult result;
    ASSERT_EQ(collide(box, X, *floor, {}, {}, result), 4);
    EXPECT_EQ(result.manifolds()[0].type, ContactType::Face);
    EXPECT_EQ(result.manifolds()[0].sharedNormal(), result.contact(0).normal);
    Real area = 0;
    for (int k = 0; k < 4; ++k) {
      EXPECT_NEAR(result.contact(k).depth, 0.003, 1e-12);
      const Vec3 local = inverseTimes(X, result.contact(k).position);
      area += std::fabs(local.x * local.y);
    }
    EXPECT_NEAR(area, 4 * 0.06, 1e-9);  // all four corners at (0.3, 0.2)
  }
}

TEST(MeshPairs, ASphereRollingOverSeamsHasOneUprightContact) {
  const auto floor = floorMesh(10, 2).build();
  const Sphere sphere(0.3);
  for (int i = 0; i < 400; ++i) {
    // Along grid lines, diagonals and across vertices.
    const double s = -0.5 + i * 0.0025;
    for (const Vec3& p : {Vec3{s, 0, 0}, Vec3{s, s, 0}, Vec3{s, 0.137, 0}, Vec3{0.2, s, 0}}) {
      CollisionResult result;
      ASSERT_EQ(collide(sphere, {Mat3::identity(), p + Vec3{0, 0, 0.29}}, *floor, {}, {}, result),
                1);
      EXPECT_NEAR(result.contact(0).normal.z, 1, 1e-12);
      EXPECT_NEAR(result.contact(0).depth, 0.01, 1e-12);
      EXPECT_NEAR(norm(result.contact(0).position - (p + Vec3{0, 0, -0.005})), 0, 1e-12);
    }
  }
}

TEST(MeshPairs, ASphereInACornerTouchesBothWalls) {
  // The inside of a box: a room whose triangles face inward (an open-topped one).
  MeshInput room = boxMesh({1, 1, 1});
  room.triangles.erase(room.triangles.begin() + 2, room.triangles.begin() + 4);
  for (Triangle& t : room.triangles) std::swap(t[1], t[2]);
  const auto mesh = room.build();
  ASSERT_FALSE(mesh->isClosed());
  CollisionResult result;
  const Sphere sphere(0.2);
  ASSERT_EQ(collide(sphere, {Mat3::identity(), {0.81, 0.3, -0.805}}, *mesh, {}, {}, result), 2);
  EXPECT_NEAR(result.contact(0).depth, 0.01, 1e-12);
  EXPECT_NEAR(result.contact(0).normal.x, -1, 1e-12);
  EXPECT_NEAR(result.contact(1).depth, 0.005, 1e-12);
  EXPECT_NEAR(result.contact(1).normal.z, 1, 1e-12);
}

TEST(MeshPairs, CrossingEdgesTouchAlongTheirCommonNormal) {
  // Two cubes on their edges, one across the other.
  const auto cube = boxMesh({0.5, 0.5, 0.5}).build();
  const Box box({0.5, 0.5, 0.5});
  const double h = std::sqrt(0.5);
  const double c = std::cos(0.39269908169872414), s = std::sin(0.39269908169872414);
  const Transform lower{rotationMatrix(Quat{c, s, 0, 0}), {0, 0, 0}};
  const Transform upper{rotationMatrix(Quat{c, 0, s, 0}), {0.02, 0.03, 2 * h - 0.01}};
  CollisionResult result;
  ASSERT_GE(collide(box, upper, *cube, lower, {}, result), 1);
  EXPECT_NEAR(result.contact(0).depth, 0.01, 1e-9);
  EXPECT_NEAR(result.contact(0).normal.z, 1, 1e-9);
  EXPECT_NEAR(result.contact(0).position.x, 0.02, 1e-9);
  EXPECT_NEAR(result.contact(0).position.y, 0.0, 0.031);
  const auto cube2 = boxMesh({0.5, 0.5, 0.5}).build();
  CollisionResult both;
  ASSERT_GE(collide(*cube2, upper, *cube, lower, {}, both), 1);
  EXPECT_GT(std::fabs(both.contact(0).normal.z), 0.99);
}

TEST(MeshPairs, WhatIsInsideAClosedMeshOverlapsIt) {
  const auto mesh = boxMesh({1, 1, 1}).build();
  for (const auto& [name, body] : convexShapes(1)) {
    const Transform X{Mat3::identity(), {0.1, 0.2, 0.4}};
    EXPECT_TRUE(overlap(*body, X, *mesh, {})) << name;
    CollisionResult result;
    ASSERT_EQ(collide(*body, X, *mesh, {}, {}, result), 1) << name;
    EXPECT_NEAR(result.contact(0).normal.z, 1, 1e-9) << name;
    // Up by what is left to the lid and by the body's own reach below its origin.
    const Real reach = -body->worldAabb({}).lower.z;
    EXPECT_NEAR(result.contact(0).depth, 0.6 + reach, 1e-6) << name;
    EXPECT_NEAR(distance(*body, X, *mesh, {}).distance, -(0.6 + reach), 1e-6) << name;
  }
  // A hollow: outside for an open mesh.
  MeshInput open = boxMesh({1, 1, 1});
  open.triangles.pop_back();
  EXPECT_FALSE(overlap(Sphere(0.1), {}, *open.build(), {}));
  EXPECT_NEAR(distance(Sphere(0.1), {}, *open.build(), {}).distance, 0.9, 1e-12);
}

TEST(MeshPairs, ASphereWithItsCentreInsideIsPushedOutTheShortWay) {
  const auto mesh = boxMesh({1, 1, 1}).build();
  CollisionResult result;
  ASSERT_EQ(collide(Sphere(0.3), {Mat3::identity(), {0.1, 0.2, 0.9}}, *mesh, {}, {}, result), 1);
  EXPECT_NEAR(result.contact(0).depth, 0.4, 1e-12);
  EXPECT_NEAR(result.contact(0).normal.z, 1, 1e-12);
}

TEST(MeshPairs, PlaneTouchesTheLowestVertices) {
  Random random(5);
  const Plane plane;
  for (const auto& [name, input] : sampleMeshes()) {
    const auto mesh = input.build();
    const Real size = norm(mesh->localAabb().halfExtents());
    for (int i = 0; i < 50; ++i) {
      const Transform X_WP = random.pose(size), X_WM = random.pose(size);
      Real lowest = std::numeric_limits<Real>::infinity();
      for (const Triangle& t : mesh->triangles())
        for (const int v : t)
          lowest = std::fmin(lowest, inverseTimes(X_WP, X_WM * mesh->vertices()[v]).z);
      EXPECT_EQ(overlap(plane, X_WP, *mesh, X_WM), lowest <= 0) << name;
      const DistanceResult d = distance(*mesh, X_WM, plane, X_WP);
      EXPECT_NEAR(d.distance, lowest, 1e-12 * size);
      EXPECT_NEAR(norm(d.normal - X_WP.rotation.col[2]), 0, 1e-12);
      CollisionResult result;
      const int count = collide(*mesh, X_WM, plane, X_WP, {}, result);
      EXPECT_EQ(count > 0, lowest <= 0);
      if (count == 0) continue;
      EXPECT_NEAR(result.contact(0).depth, -lowest, 1e-12 * size);
      for (int k = 0; k < count; ++k)
        EXPECT_NEAR(norm(result.contact(k).normal - X_WP.rotation.col[2]), 0, 1e-12);
    }
  }
  // A box mesh flat on the plane stands on four corners.
  CollisionResult result;
  ASSERT_EQ(collide(*boxMesh({0.5, 0.4, 0.3}).build(), {Mat3::identity(), {0, 0, 0.299}}, plane, {},
                    {}, result),
            4);
  EXPECT_EQ(result.manifolds()[0].type, ContactType::Face);
}

Real bruteMeshDistance(const Mesh& a, const Transform& X_WA, const Mesh& b, const Transform& X_WB) {
  const Transform X_AB = inverseTimes(X_WA, X_WB);
  Real best = std::numeric_limits<Real>::infinity();
  for (const Triangle& s : a.triangles())
    for (const Triangle& t : b.triangles()) {
      const Vec3 u[3] = {a.vertices()[s[0]], a.vertices()[s[1]], a.vertices()[s[2]]};
      const Vec3 v[3] = {X_AB * b.vertices()[t[0]], X_AB * b.vertices()[t[1]],
                         X_AB * b.vertices()[t[2]]};
      // An edge through a triangle: by the signs of volumes.
      for (int side = 0; side < 2; ++side)
        for (int k = 0; k < 3; ++k) {
          const Vec3* p = side == 0 ? u : v;
          const Vec3* q = side == 0 ? v : u;
          const Vec3 o = p[k], e = p[(k + 1) % 3];
          Real w;
          if (kernel::intersectRayTriangle(o, e - o, q[0], q[1], q[2], &w) && w >= 0 && w <= 1)
            return 0;
        }
      Vec3 x, y;
      best = std::fmin(best, kernel::squaredDistanceTriangles(
                                 u, v, std::numeric_limits<Real>::infinity(), &x, &y));
    }
  return std::sqrt(best);
}

TEST(MeshPairs, TwoMeshesAreAsFarApartAsTheirNearestTriangles) {
  Random random(6);
  const std::vector<std::pair<const char*, MeshInput>> meshes{
      {"box", boxMesh({0.5, 0.4, 0.3})},
      {"bumpy sphere", bumpySphere(4, 0.5, 0.15)},
      {"torus", torusMesh(14, 8, 0.5, 0.2)},
      {"soup", soup(60, 0.4, 0.2, 6)},
      {"triangle", {{{0, 0, 0}, {0.7, 0.1, 0}, {0.1, 0.8, 0.2}}, {{0, 1, 2}}}}};
  int touching = 0, apart = 0;
  for (const auto& [nameA, inputA] : meshes)
    for (const auto& [nameB, inputB] : meshes) {
      const auto a = inputA.build(), b = inputB.build();
      for (int i = 0; i < 12; ++i) {
        const Transform X_WA = random.pose(1);
        Transform X_WB = random.pose(0);
        X_WB.translation = X_WA.translation + random.direction() * random.in(0, 2);
        const Real brute = bruteMeshDistance(*a, X_WA, *b, X_WB);
        const auto holds = [](const Mesh& outer, const Transform& X_WO, const Mesh& inner,
                              const Transform& X_WI) {
          const Vec3 v = inner.vertices()[inner.triangles()[0][0]];
          return outer.isClosed() &&
                 outer.signedDistance(inverseTimes(X_WO, X_WI * v)).distance < 0;
        };
        const bool expected =
            !(brute > 0) || holds(*a, X_WA, *b, X_WB) || holds(*b, X_WB, *a, X_WA);
        EXPECT_EQ(overlap(*a, X_WA, *b, X_WB), expected) << nameA << " " << nameB << " " << i;
        CollisionResult result;
        EXPECT_EQ(collide(*a, X_WA, *b, X_WB, {}, result) > 0, expected)
            << nameA << " " << nameB << " " << i;
        const DistanceResult d = distance(*a, X_WA, *b, X_WB);
        EXPECT_NEAR(norm(d.point1 - d.point2 - d.normal * d.distance), 0, 1e-9);
        EXPECT_NEAR(norm(d.normal), 1, 1e-9);
        if (expected) {
          EXPECT_LE(d.distance, 0) << nameA << " " << nameB << " " << i;
          ++touching;
        } else {
          EXPECT_NEAR(d.distance, brute, 1e-9) << nameA << " " << nameB << " " << i;
          EXPECT_NEAR(a->signedDistance(inverseTimes(X_WA, d.point1)).distance, 0, 1e-9);
          EXPECT_NEAR(b->signedDistance(inverseTimes(X_WB, d.point2)).distance, 0, 1e-9);
          ++apart;
        }
      }
    }
  EXPECT_GT(touching, 50);
  EXPECT_GT(apart, 50);
}

TEST(MeshPairs, TheSearchThroughBothTreesNeedsNoGuess) {
  Random random(16);
  const std::vector<std::pair<const char*, MeshInput>> meshes{
      {"bumpy sphere", bumpySphere(8, 0.5, 0.15)},
      {"torus", torusMesh(24, 12, 0.5, 0.2)},
      {"floor", floorMesh(6, 1)},  // has a rim
      {"soup", soup(80, 0.4, 0.2, 6)}};
  int searched = 0;
  for (const auto& [nameA, inputA] : meshes)
    for (const auto& [nameB, inputB] : meshes)
      for (int i = 0; i < 8; ++i) {
        const auto a = inputA.build(), b = inputB.build();
        const Transform X_WA = random.pose(1);
        Transform X_WB = random.pose(0);
        X_WB.translation = X_WA.translation + random.direction() * random.in(0.5, 2);
        const Real brute = bruteMeshDistance(*a, X_WA, *b, X_WB);
        if (!(brute > 0)) continue;
        collision::NearestPair best{std::numeric_limits<Real>::infinity()};
        collision::searchNearest(*a->flat().mesh, *b->flat().mesh, inverseTimes(X_WA, X_WB), best);
        EXPECT_NEAR(best.distance, brute, 1e-12) << nameA << " " << nameB << " " << i;
        EXPECT_NEAR(norm(best.onA - best.onB), best.distance, 1e-12);
        ++searched;
      }
  EXPECT_GT(searched, 50);
}

TEST(MeshPairs, ContactsOfTwoMeshesAreAsDeepAsTheirVertices) {
  Random random(7);
  for (const auto& [name, input] : {std::pair{"bumpy sphere", bumpySphere(12, 0.5, 0.1)},
                                    std::pair{"torus", torusMesh(32, 16, 0.5, 0.2)}}) {
    const auto a = input.build();
    const auto b = bumpySphere(12, 0.4, 0.1).build();
    for (int i = 0; i < 60; ++i) {
      const Transform X_WA = random.pose(1);
      Transform X_WB = random.pose(0);
      X_WB.translation = X_WA.translation + random.direction() * 2.0;
      const DistanceResult gap = distance(*a, X_WA, *b, X_WB);
      const Real depth = random.in(0.002, 0.02);
      X_WB.translation += gap.normal * (gap.distance + depth);
      CollisionResult result;
      ASSERT_GT(collide(*a, X_WA, *b, X_WB, {}, result), 0);
      for (int k = 0; k < result.numContacts(); ++k) {
        const ContactPoint& c = result.contact(k);
        EXPECT_LE(c.depth, depth * 1.0001) << name << " " << i;
        EXPECT_GE(c.depth, 0);
        const Vec3 onA = c.position - c.normal * (0.5 * c.depth);
        const Vec3 onB = c.position + c.normal * (0.5 * c.depth);
        EXPECT_LE(a->signedDistance(inverseTimes(X_WA, onB)).distance, 1e-9);
        EXPECT_LE(b->signedDistance(inverseTimes(X_WB, onA)).distance, 1e-9);
      }
      const DistanceResult deep = distance(*a, X_WA, *b, X_WB);
      EXPECT_LT(deep.distance, 0);
      EXPECT_GT(dot(deep.normal, gap.normal), 0.7) << name << " " << i;
      // Swapping the meshes turns the answer round.
      CollisionResult swapped;
      collide(*b, X_WB, *a, X_WA, {}, swapped);
      ASSERT_EQ(swapped.numContacts(), result.numContacts());
      for (int k = 0; k < result.numContacts(); ++k) {
        EXPECT_EQ(swapped.contact(k).position, result.contact(k).position);
        EXPECT_EQ(swapped.contact(k).normal, -result.contact(k).normal);
        EXPECT_EQ(swapped.contact(k).feature1, result.contact(k).feature2);
      }
      EXPECT_EQ(distance(*b, X_WB, *a, X_WA).distance, deep.distance);
    }
  }
}

TEST(MeshPairs, CubesOfTrianglesFaceToFaceKeepAFlatPatch) {
  const auto lower = boxMesh({0.5, 0.5, 0.5}).build();
  const auto smaller = boxMesh({0.3, 0.2, 0.2}).build();
  CollisionResult result;
  ASSERT_EQ(collide(*smaller, {Mat3::identity(), {0.05, 0.02, 0.695}}, *lower, {}, {}, result), 4);
  for (int k = 0; k < 4; ++k) {
    EXPECT_NEAR(result.contact(k).depth, 0.005, 1e-12);
    EXPECT_NEAR(result.contact(k).normal.z, 1, 1e-12);
  }
  // Equal cubes at 45 degrees: no corner of either is inside the other.
  const double c = std::cos(0.39269908169872414), s = std::sin(0.39269908169872414);
  result.clear();
  ASSERT_GE(collide(*boxMesh({0.5, 0.5, 0.5}).build(),
                    {rotationMatrix(Quat{c, 0, 0, s}), {0, 0, 0.995}}, *lower, {}, {}, result),
            3);
  for (int k = 0; k < result.numContacts(); ++k) {
    EXPECT_NEAR(result.contact(k).depth, 0.005, 1e-9);
    EXPECT_NEAR(result.contact(k).normal.z, 1, 1e-9);
  }
}

TEST(MeshPairs, AMeshInsideAnotherOverlapsIt) {
  const auto outer = boxMesh({1, 1, 1}).build();
  const auto inner = torusMesh(12, 8, 0.3, 0.1).build();
  const Transform X{Mat3::identity(), {0, 0, 0.5}};
  EXPECT_TRUE(overlap(*outer, {}, *inner, X));
  EXPECT_TRUE(overlap(*inner, X, *outer, {}));
  CollisionResult result;
  ASSERT_EQ(collide(*inner, X, *outer, {}, {}, result), 1);
  EXPECT_NEAR(result.contact(0).normal.z, 1, 1e-9);
  EXPECT_NEAR(result.contact(0).depth, 0.6, 1e-9);  // 0.5 to the lid and 0.1 of the torus
  EXPECT_NEAR(distance(*outer, {}, *inner, X).distance, -0.6, 1e-9);
  // In the hole of a ring nothing is inside.
  const auto ring = torusMesh(24, 12, 1, 0.3).build();
  EXPECT_FALSE(overlap(*ring, {}, Sphere(0.2), {}));
  EXPECT_FALSE(overlap(*ring, {}, *boxMesh({0.1, 0.1, 0.1}).build(), {}));
}

TEST(MeshPairs, ContactsAreLimitedToTheDeepest) {
  const auto mesh = bumpySphere(16, 0.5, 0.1).build();
  const Box box({0.4, 0.4, 0.4});
  const Transform X{Mat3::identity(), {0.6, 0.3, 0.2}};
  CollisionResult all, one, three, none;
  const int count = collide(box, X, *mesh, {}, {}, all);
  ASSERT_GT(count, 3);
  EXPECT_EQ(collide(box, X, *mesh, {}, CollisionOption::fullContacts(1), one), 1);
  EXPECT_EQ(one.contact(0).depth, all.contact(0).depth);
  EXPECT_EQ(collide(box, X, *mesh, {}, CollisionOption::fullContacts(3), three), 3);
  EXPECT_EQ(collide(box, X, *mesh, {}, CollisionOption::fullContacts(0), none), 0);
  EXPECT_FALSE(none.isCollision());
  CollisionResult yes;
  EXPECT_EQ(collide(box, X, *mesh, {}, CollisionOption::binaryCheck(), yes), 1);
  EXPECT_TRUE(yes.isCollision());
  EXPECT_EQ(yes.numContacts(), 0);
}

TEST(MeshPairs, SameQueryGivesTheSameBits) {
  const auto a = bumpySphere(12, 0.5, 0.1).build(), b = torusMesh(20, 10, 0.4, 0.2).build();
  const Box box({0.3, 0.3, 0.3});
  Random random(8);
  for (int i = 0; i < 50; ++i) {
    const Transform X1 = random.pose(0.5), X2 = random.pose(0.5);
    for (const Shape* other :
         {static_cast<const Shape*>(b.get()), static_cast<const Shape*>(&box)}) {
      CollisionResult first, second;
      collide(*a, X1, *other, X2, {}, first);
      collide(*a, X2, *other, X1, {}, second);  // leaves other scratch behind
      second.clear();
      collide(*a, X1, *other, X2, {}, second);
      ASSERT_EQ(first.numContacts(), second.numContacts());
      for (int k = 0; k < first.numContacts(); ++k) {
        EXPECT_EQ(first.contact(k).position, second.contact(k).position);
        EXPECT_EQ(first.contact(k).depth, second.contact(k).depth);
      }
    }
  }
}

}  // namespace
}  // namespace tangere
