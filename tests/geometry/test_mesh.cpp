// SPDX-License-Identifier: Apache-2.0
//
// The Mesh shape against brute force over its triangles.
#include <tangere/error.hpp>
#include <tangere/shape.hpp>

#include "geometry/kernels/triangle_point.hpp"
#include "geometry/mesh_data.hpp"
#include "geometry/mesh_samples.hpp"
#include "geometry/signed_distance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <thread>
#include <utility>

namespace tangere {
namespace {

using namespace test;

Real bruteDistance(const Mesh& mesh, const Vec3& p) {
  Real best = std::numeric_limits<Real>::infinity();
  for (const Triangle& t : mesh.triangles()) {
    const auto q = kernel::closestOnTriangle(p, mesh.vertices()[t[0]], mesh.vertices()[t[1]],
                                             mesh.vertices()[t[2]]);
    best = std::fmin(best, norm(p - q.point));
  }
  return best;
}

/// Vertices and faces of the hull that a mesh is; none where it is not convex.
std::pair<std::size_t, int> hullOf(const MeshInput& input) {
  const std::shared_ptr<const Mesh> mesh = input.build();
  const Convex* const hull = mesh->flat().mesh->asConvex();
  if (hull == nullptr) return {};
  return {hull->vertices().size(), hull->numFaces()};
}

TEST(Mesh, IsItsHullWhereItsSolidIsConvex) {
  using Counts = std::pair<std::size_t, int>;
  constexpr Counts kCube{8, 6}, kNone{0, 0};
  const MeshInput cube = boxMesh({1, 2, 3});
  EXPECT_EQ(hullOf(cube), kCube);
  EXPECT_NE(hullOf(bumpySphere(12, 1, 0)), kNone);

  // A vertex that no triangle uses is no part of it.
  MeshInput unused = cube;
  unused.vertices.push_back({9, 9, 9});
  EXPECT_EQ(hullOf(unused), kCube);

  EXPECT_EQ(hullOf(bumpySphere(12, 1, 0.3)), kNone);
  EXPECT_EQ(hullOf(torusMesh(8, 6, 1, 0.3)), kNone);
  EXPECT_EQ(hullOf(floorMesh(4, 1)), kNone);  // open
  // Two cubes apart have no valley, but are not their hull; a cube said twice is not one.
  for (const double apart : {8.0, 0.0}) {
    MeshInput two = cube;
    const int first = static_cast<int>(two.vertices.size());
    for (const Vec3& v : cube.vertices) two.vertices.push_back(v + Vec3{apart, 0, 0});
    for (const Triangle& t : cube.triangles)
      two.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
    EXPECT_EQ(hullOf(two), kNone) << apart;
  }
  // A vertex in the middle of a triangle is flat; pushed in by a millionth it makes a valley.
  MeshInput dented = cube;
  const Triangle face = dented.triangles[0];
  const Vec3 middle =
      (cube.vertices[face[0]] + cube.vertices[face[1]] + cube.vertices[face[2]]) / 3;
  for (const double factor : {1.0, 1 - 1e-6}) {
    dented = cube;
    const int added = static_cast<int>(dented.vertices.size());
    dented.vertices.push_back(middle * factor);
    dented.triangles[0] = {face[0], face[1], added};
    dented.triangles.push_back({face[1], face[2], added});
    dented.triangles.push_back({face[2], face[0], added});
    EXPECT_EQ(hullOf(dented), factor == 1.0 ? kCube : kNone);
  }
}

TEST(Mesh, RefusesWhatIsNoMesh) {
  const std::vector<Vec3> v{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  const std::vector<Triangle> none, outOfRange{{0, 1, 3}}, negative{{0, -1, 2}}, flat{{0, 1, 1}};
  EXPECT_THROW(Mesh(v, none), InvalidInput);
  EXPECT_THROW(Mesh(v, outOfRange), InvalidInput);
  EXPECT_THROW(Mesh(v, negative), InvalidInput);
  EXPECT_THROW(Mesh(v, flat), InvalidInput);
  std::vector<Vec3> bad = v;
  const std::vector<Triangle> good{{0, 1, 2}};
  bad[1].y = std::nan("");
  EXPECT_THROW(Mesh(bad, good), InvalidInput);
  bad[1].y = std::numeric_limits<Real>::infinity();
  EXPECT_THROW(Mesh(bad, good), InvalidInput);
}

TEST(Mesh, DropsAndCountsDegenerateTriangles) {
  MeshInput m = boxMesh({1, 1, 1});
  m.triangles.push_back({0, 0, 1});
  m.triangles.push_back({3, 3, 3});
  const auto mesh = m.build();
  EXPECT_EQ(mesh->numDroppedTriangles(), 2);
  EXPECT_EQ(mesh->triangles().size(), 12u);
  EXPECT_TRUE(mesh->isClosed());
}

TEST(Mesh, StaysClosedWhenASliverInItIsDropped) {
  // A vertex in the middle of the edge 0-1, joined by a triangle without area.
  MeshInput m = boxMesh({1, 1, 1});
  m.vertices.push_back({0, -1, -1});
  m.triangles[1] = {0, 3, 1};
  m.triangles.push_back({0, 1, 8});  // collinear
  m.triangles.erase(m.triangles.begin() + 4);
  m.triangles.push_back({0, 8, 5});
  m.triangles.push_back({8, 1, 5});
  const auto mesh = m.build();
  EXPECT_EQ(mesh->numDroppedTriangles(), 1);
  EXPECT_TRUE(mesh->isClosed());
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    const Vec3 p = random.inCube(1.5);
    const bool inside = std::fabs(p.x) < 1 && std::fabs(p.y) < 1 && std::fabs(p.z) < 1;
    EXPECT_EQ(mesh->signedDistance(p).distance < 0, inside) << i;
  }
}

TEST(Mesh, KnowsWhetherItIsClosed) {
  EXPECT_TRUE(boxMesh({1, 1, 1}).build()->isClosed());
  EXPECT_TRUE(torusMesh(12, 8, 1, 0.3).build()->isClosed());
  EXPECT_TRUE(bumpySphere(5, 1, 0.1).build()->isClosed());
  EXPECT_FALSE(floorMesh(3, 1).build()->isClosed());
  EXPECT_FALSE(soup(10, 1, 0.3, 1).build()->isClosed());
  MeshInput open = boxMesh({1, 1, 1});
  open.triangles.pop_back();
  EXPECT_FALSE(open.build()->isClosed());
  MeshInput twisted = boxMesh({1, 1, 1});  // one triangle faces the wrong way
  std::swap(twisted.triangles[3][0], twisted.triangles[3][1]);
  EXPECT_FALSE(twisted.build()->isClosed());
  MeshInput forked = boxMesh({1, 1, 1});  // a fin: an edge with three triangles
  forked.vertices.push_back({3, 3, 3});
  forked.triangles.push_back({0, 1, 8});
  EXPECT_FALSE(forked.build()->isClosed());
}

TEST(Mesh, TurnsAClosedMeshThatIsInsideOut) {
  MeshInput m = torusMesh(16, 10, 1, 0.3);
  for (Triangle& t : m.triangles) std::swap(t[1], t[2]);
  const auto mesh = m.build();
  EXPECT_TRUE(mesh->wasInsideOut());
  EXPECT_FALSE(torusMesh(16, 10, 1, 0.3).build()->wasInsideOut());
  EXPECT_LT(mesh->signedDistance({1, 0, 0}).distance, 0);
  EXPECT_GT(mesh->signedDistance({0, 0, 0}).distance, 0);
  EXPECT_GT(mesh->massProperties(1).mass, 0);
  // Neighbours were turned with it: walking round a vertex comes back.
  const geometry::MeshData& data = *mesh->flat().mesh;
  for (int h = 0; h < 3 * data.numTriangles(); ++h) {
    const int o = data.opposite[h];
    ASSERT_GE(o, 0);
    EXPECT_EQ(data.triangles[h / 3][h % 3], data.triangles[o / 3][(o % 3 + 1) % 3]);
    EXPECT_EQ(data.opposite[o], h);
  }
}

TEST(Mesh, HasTheMassOfItsSolid) {
  const auto box = boxMesh({0.5, 0.4, 0.3}).build();
  const MassProperties m = box->massProperties(1000);
  EXPECT_NEAR(m.mass, 1000 * 0.48, 1e-9);  // 1.0 * 0.8 * 0.6
  EXPECT_NEAR(norm(m.center), 0, 1e-15);
  EXPECT_NEAR(m.inertia(0, 0), m.mass * (0.64 + 0.36) / 12, 1e-9);
  EXPECT_NEAR(m.inertia(2, 2), m.mass * (1.0 + 0.64) / 12, 1e-9);
  EXPECT_THROW((void)floorMesh(2, 1).build()->massProperties(1), InvalidInput);
  EXPECT_THROW((void)box->massProperties(0), InvalidInput);
}

TEST(Mesh, SupportIsTheFarthestVertex) {
  Random random(11);
  for (const auto& [name, input] : sampleMeshes()) {
    const auto mesh = input.build();
    for (int i = 0; i < 100; ++i) {
      const Vec3 d = random.direction();
      Real best = -std::numeric_limits<Real>::infinity();
      for (const Triangle& t : mesh->triangles())
        for (const int v : t) best = std::fmax(best, dot(d, mesh->vertices()[v]));
      EXPECT_EQ(dot(d, mesh->support(d)), best) << name;
    }
    EXPECT_TRUE(mesh->localAabb().contains(mesh->support({})));
  }
}

TEST(Mesh, RayCastFindsTheFirstTriangle) {
  Random random(7);
  for (const auto& [name, input] : sampleMeshes()) {
    const auto mesh = input.build();
    const Real size = norm(mesh->localAabb().halfExtents());
    int hits = 0;
    for (int i = 0; i < 400; ++i) {
      const Vec3 target = mesh->localAabb().center() + random.inCube(0.6) * size;
      const Vec3 origin =
          mesh->localAabb().center() + random.direction() * (size * random.in(0, 4));
      const Ray ray{origin, (target - origin) * random.in(0.1, 3), 1e300};
      Real best = std::numeric_limits<Real>::infinity();
      for (const Triangle& t : mesh->triangles()) {
        // Plane first, then inside by areas: another way than the library's.
        const Vec3 &a = mesh->vertices()[t[0]], &b = mesh->vertices()[t[1]],
                   &c = mesh->vertices()[t[2]];
        const Vec3 n = cross(b - a, c - a);
        const Real speed = dot(n, ray.direction);
        if (speed == 0) continue;
        const Real s = dot(n, a - ray.origin) / speed;
        const Vec3 p = ray.origin + ray.direction * s;
        if (s < 0 || dot(cross(b - a, p - a), n) < 0 || dot(cross(c - b, p - b), n) < 0 ||
            dot(cross(a - c, p - c), n) < 0)
          continue;
        best = std::fmin(best, s);
      }
      const std::optional<RayHit> hit = mesh->rayCast(ray);
      ASSERT_EQ(hit.has_value(), std::isfinite(best)) << name << " " << i;
      if (!hit) continue;
      ++hits;
      EXPECT_NEAR(hit->t, best, 1e-9 * (1 + best)) << name;
      EXPECT_NEAR(norm(hit->position - (ray.origin + ray.direction * hit->t)), 0, 1e-9 * size);
      EXPECT_NEAR(norm(hit->normal), 1, 1e-12);
      EXPECT_LE(dot(hit->normal, ray.direction), 0);
      EXPECT_GE(hit->feature, 0);
      Ray shorter = ray;
      shorter.maxT = best * 0.999;
      EXPECT_FALSE(mesh->rayCast(shorter).has_value());
    }
    EXPECT_GT(hits, 20) << name;
  }
}

TEST(Mesh, NoRaySlipsThroughTheSeamsOfAClosedMesh) {
  const auto mesh = bumpySphere(6, 1, 0.1).build();
  // Straight at vertices and edge middles, from outside to the centre.
  for (const Triangle& t : mesh->triangles())
    for (int k = 0; k < 3; ++k) {
      const Vec3 a = mesh->vertices()[t[k]], b = mesh->vertices()[t[(k + 1) % 3]];
      for (const Vec3& p : {a, (a + b) * 0.5})
        EXPECT_TRUE(mesh->rayCast({p * 3.0, p * -3.0, 1}).has_value());
    }
}

TEST(Mesh, RayWithoutADirectionHitsNothing) {
  const auto mesh = boxMesh({1, 1, 1}).build();
  EXPECT_FALSE(mesh->rayCast({{0, 0, 3}, {0, 0, 0}, 1}).has_value());
  EXPECT_FALSE(mesh->rayCast({{0, 0, std::nan("")}, {0, 0, -1}, 10}).has_value());
}

TEST(Mesh, DistanceIsThatOfTheNearestTriangle) {
  Random random(13);
  for (const auto& [name, input] : sampleMeshes()) {
    const auto mesh = input.build();
    const Real size = norm(mesh->localAabb().halfExtents());
    for (int i = 0; i < 300; ++i) {
      const Vec3 p = mesh->localAabb().center() + random.inCube(1.5) * size;
      const SignedDistance d = mesh->signedDistance(p);
      EXPECT_NEAR(std::fabs(d.distance), bruteDistance(*mesh, p), 1e-13 * size) << name;
      EXPECT_NEAR(norm(d.closest - p), std::fabs(d.distance), 1e-12 * size);
      EXPECT_NEAR(norm(d.normal), 1, 1e-12);
      EXPECT_NEAR(norm(p - d.closest - d.normal * d.distance), 0, 1e-9 * size);
      EXPECT_NEAR(bruteDistance(*mesh, d.closest), 0, 1e-12 * size);
    }
  }
}

TEST(Mesh, SignAgreesWithTheWindingNumber) {
  Random random(17);
  for (const auto& [name, input] : sampleMeshes()) {
    const auto mesh = input.build();
    const Real size = norm(mesh->localAabb().halfExtents());
    const geometry::MeshData& data = *mesh->flat().mesh;
    int inside = 0;
    for (int i = 0; i < 300; ++i) {
      const Vec3 p = mesh->localAabb().center() + random.inCube(0.8) * size;
      const SignedDistance d = mesh->signedDistance(p);
      if (!mesh->isClosed()) {
        EXPECT_GE(d.distance, 0) << name;
        continue;
      }
      EXPECT_NEAR(geometry::windingNumber(data, p), d.distance < 0 ? 1 : 0, 1e-9) << name;
      inside += d.distance < 0 ? 1 : 0;
    }
    if (mesh->isClosed()) {
      EXPECT_GT(inside, 10) << name;
    }
  }
}

TEST(Mesh, SignIsRightNextToSharpVerticesAndEdges) {
  // The nearest features are vertices and edges here, where plain triangle normals fail.
  const MeshInput spike{{{0, 0, 5}, {1, 0, 0}, {-0.5, 0.8, 0}, {-0.5, -0.8, 0}},
                        {{0, 1, 2}, {0, 2, 3}, {0, 3, 1}, {1, 3, 2}}};
  const auto mesh = spike.build();
  ASSERT_TRUE(mesh->isClosed());
  Random random(19);
  const geometry::MeshData& data = *mesh->flat().mesh;
  for (const Vec3& v : mesh->vertices())
    for (int i = 0; i < 200; ++i) {
      const Vec3 p = v + random.inCube(0.3);
      EXPECT_EQ(mesh->signedDistance(p).distance<0, geometry::windingNumber(data, p)> 0.5);
    }
}

TEST(Mesh, PointsOnTheSurfaceHaveAnOutwardNormal) {
  const auto mesh = bumpySphere(5, 1, 0.05).build();
  for (const Triangle& t : mesh->triangles())
    for (int k = 0; k < 3; ++k) {
      const Vec3 v = mesh->vertices()[t[k]];
      const SignedDistance d = mesh->signedDistance(v);
      EXPECT_NEAR(d.distance, 0, 1e-15);
      EXPECT_NEAR(norm(d.normal), 1, 1e-12);
      EXPECT_GT(dot(d.normal, v), 0.5);
    }
}

TEST(Mesh, FarPointsAreAnswered) {
  const auto mesh = boxMesh({1, 1, 1}).build();
  const SignedDistance d = mesh->signedDistance({1e150, 0, 0});
  EXPECT_NEAR(d.distance / 1e150, 1, 1e-12);
  EXPECT_NEAR(d.normal.x, 1, 1e-9);
  EXPECT_NEAR(mesh->signedDistance({1e9, 0, 0}).distance, 1e9 - 1, 1e-6);
}

TEST(Mesh, SameInputGivesTheSameBits) {
  const MeshInput m = bumpySphere(9, 1, 0.2);
  const auto a = m.build(), b = m.build();
  const geometry::MeshData &x = *a->flat().mesh, &y = *b->flat().mesh;
  ASSERT_EQ(x.bvh.order, y.bvh.order);
  ASSERT_EQ(x.bvh.nodes.size(), y.bvh.nodes.size());
  EXPECT_EQ(std::memcmp(x.bvh.nodes.data(), y.bvh.nodes.data(),
                        x.bvh.nodes.size() * sizeof(geometry::BvhNode)),
            0);
  Random random(23);
  for (int i = 0; i < 100; ++i) {
    const Vec3 p = random.inCube(2);
    EXPECT_EQ(a->signedDistance(p).distance, b->signedDistance(p).distance);
  }
}

TEST(Mesh, MayBeAskedByManyThreads) {
  const auto mesh = torusMesh(20, 10, 1, 0.3).build();
  std::vector<Real> sums(4, 0);
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k)
    threads.emplace_back([&, k] {
      Random random(29);
      for (int i = 0; i < 500; ++i) sums[k] += mesh->signedDistance(random.inCube(2)).distance;
    });
  for (std::thread& t : threads) t.join();
  for (int k = 1; k < 4; ++k) EXPECT_EQ(sums[k], sums[0]);
}

}  // namespace
}  // namespace tangere
