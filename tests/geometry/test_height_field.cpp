// SPDX-License-Identifier: Apache-2.0
//
// The HeightField shape against brute force over its triangles.
#include <tangere/error.hpp>
#include <tangere/shape.hpp>

#include "geometry/height_field_data.hpp"
#include "geometry/mesh_data.hpp"
#include "geometry/mesh_samples.hpp"
#include "geometry/signed_distance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>
#include <utility>

namespace tangere {
namespace {

using geometry::HeightFieldData;
using test::Random;

HeightField hills(int nx, int ny, double scale = 1) {
  std::vector<Real> heights;
  for (int j = 0; j < ny; ++j)
    for (int i = 0; i < nx; ++i)
      heights.push_back(scale * (0.3 * std::sin(0.9 * i) * std::cos(0.7 * j) + 0.02 * i));
  return HeightField(nx, ny, 3 * scale, 2 * scale, heights);
}

const HeightFieldData& dataOf(const HeightField& field) { return *field.flat().heightField; }

/// The nearest of all triangles of the solid.
Real bruteDistance(const HeightFieldData& d, const Vec3& p) {
  const geometry::MeshData& solid = d.solidMesh();
  Real best = std::numeric_limits<Real>::infinity();
  for (int t = 0; t < solid.numTriangles(); ++t)
    best =
        std::fmin(best, norm(p - kernel::closestOnTriangle(p, solid.corner(t, 0),
                                                           solid.corner(t, 1), solid.corner(t, 2))
                                     .point));
  return best;
}

TEST(HeightField, RefusesWhatIsNoTerrain) {
  const std::vector<Real> four{0, 0, 0, 0}, three{0, 0, 0}, bad{0, std::nan(""), 0, 0};
  EXPECT_THROW(HeightField(1, 4, 1, 1, four), InvalidInput);
  EXPECT_THROW(HeightField(2, 2, 1, 1, three), InvalidInput);
  EXPECT_THROW(HeightField(2, 2, 0, 1, four), InvalidInput);
  EXPECT_THROW(HeightField(2, 2, 1, std::nan(""), four), InvalidInput);
  EXPECT_THROW(HeightField(2, 2, 1, 1, bad), InvalidInput);
  EXPECT_NO_THROW(HeightField(2, 2, 1, 1, four));
}

TEST(HeightField, PlacesItsHeightsOnTheGridAndSplitsCellsAlongTheRisingDiagonal) {
  const std::vector<Real> heights{0, 1, 2, 3, 4, 9};  // 3 x 2
  const HeightField field(3, 2, 4, 2, heights);
  const HeightFieldData& d = dataOf(field);
  EXPECT_EQ(d.vertex(0, 0), (Vec3{-2, -1, 0}));
  EXPECT_EQ(d.vertex(2, 1), (Vec3{2, 1, 9}));
  // Both triangles of cell (0, 0) share the diagonal (0, 0) - (1, 1).
  EXPECT_EQ(d.corner(0, 0), d.corner(1, 0));
  EXPECT_EQ(d.corner(0, 2), d.corner(1, 1));
  Real h;
  ASSERT_TRUE(d.heightAt(-1.5, -0.5, &h));  // middle of the lower right triangle's side
  EXPECT_NEAR(h, 0 + 0.25 * (1 - 0) + 0.25 * (4 - 1), 1e-15);
  EXPECT_FALSE(d.heightAt(2.001, 0, &h));
  EXPECT_TRUE(d.heightAt(2, 1, &h));
  EXPECT_EQ(h, 9);
}

TEST(HeightField, NeighboursShareTheirEdges) {
  const HeightField field = hills(5, 4);
  const HeightFieldData& d = dataOf(field);
  for (int t = 0; t < d.numSurfaceTriangles(); ++t)
    for (int k = 0; k < 3; ++k) {
      const int s = d.across(t, k);
      if (s < 0) continue;
      bool found = false;
      for (int j = 0; j < 3; ++j)
        found = found || (d.across(s, j) == t && d.corner(s, j) == d.corner(t, (k + 1) % 3) &&
                          d.corner(s, (j + 1) % 3) == d.corner(t, k));
      EXPECT_TRUE(found) << t << " " << k;
    }
}

TEST(HeightField, DistanceIsThatOfTheNearestTriangleNegativeInside) {
  Random random(3);
  for (const double scale : {1.0, 1e-4, 1e4}) {
    const HeightField field = hills(17, 12, scale);
    const HeightFieldData& d = dataOf(field);
    int inside = 0, onWalls = 0;
    for (int i = 0; i < 600; ++i) {
      const Vec3 p{random.in(-2, 2) * scale, random.in(-1.5, 1.5) * scale,
                   random.in(-4, 1.2) * scale};
      const SignedDistance s = field.signedDistance(p);
      EXPECT_NEAR(std::fabs(s.distance), bruteDistance(d, p), 1e-13 * scale);
      const bool isInside = geometry::windingNumber(d.solidMesh(), p) > 0.5;
      EXPECT_EQ(s.distance < 0, isInside);
      inside += isInside ? 1 : 0;
      onWalls += std::fabs(s.normal.z) < 1e-9 ? 1 : 0;
      EXPECT_NEAR(norm(s.normal), 1, 1e-12);
      EXPECT_NEAR(norm(p - s.closest - s.normal * s.distance), 0, 1e-9 * scale);
    }
    EXPECT_GT(inside, 100);
    EXPECT_GT(onWalls, 50);
  }
}

// The rim is where the size says, whatever rounding makes of sizes and steps.
TEST(HeightField, WallsStandAtTheRimForEverySize) {
  Random random(11);
  for (int i = 0; i < 300; ++i) {
    const int n = 2 + i % 9;
    const Real size = random.in(0.1, 20);
    const HeightField field(n, n, size, size, std::vector<Real>(static_cast<std::size_t>(n * n)));
    for (const Vec3& way : {Vec3{1, 0, 0}, Vec3{-1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, -1, 0}}) {
      const Vec3 p = way * (0.7 * size) + Vec3{0, 0, -0.3 * size};
      EXPECT_NEAR(field.signedDistance(p).distance, 0.2 * size, 1e-12 * size) << size;
      EXPECT_EQ(field.rayCast({p, -way, 10 * size}).has_value(), true) << size;
      EXPECT_NEAR(field.rayCast({p, -way, 10 * size})->t, 0.2 * size, 1e-12 * size) << size;
    }
  }
}

TEST(HeightField, DistanceHasANormalOnWallsFloorAndTheirEdges) {
  const HeightField field = hills(6, 5);
  const HeightFieldData& d = dataOf(field);
  const Real x = 1.5, y = 1, z = d.floor;
  for (const auto& [p, n] : {std::pair<Vec3, Vec3>{{x, 0.3, -1}, {1, 0, 0}},
                             {{0.3, -y, -1}, {0, -1, 0}},
                             {{0.2, 0.3, z}, {0, 0, -1}},
                             {{-x, y, -1}, Vec3{-1, 1, 0} / std::sqrt(2.0)},
                             {{-x, 0.2, z}, Vec3{-1, 0, -1} / std::sqrt(2.0)},
                             {{x, -y, z}, Vec3{1, -1, -1} / std::sqrt(3.0)}}) {
    EXPECT_NEAR(field.signedDistance(p).distance, 0, 1e-12);
    EXPECT_NEAR(norm(field.signedDistance(p).normal - n), 0, 1e-12);
  }
}

TEST(HeightField, RayCastFindsTheFirstTriangleOfTheSolid) {
  Random random(5);
  const HeightField field = hills(30, 21);
  const HeightFieldData& d = dataOf(field);
  const Mesh solid(d.solidMesh().vertices, d.solidMesh().triangles);
  int hits = 0, belowSurface = 0;
  for (int i = 0; i < 1200; ++i) {
    const Vec3 origin{random.in(-3, 3), random.in(-3, 3), random.in(-5, 3)};
    const Vec3 target{random.in(-1.6, 1.6), random.in(-1.1, 1.1), random.in(-4, 0.8)};
    const Ray ray{origin, (target - origin) * random.in(0.2, 2), random.in(0.5, 8)};
    const std::optional<RayHit> hit = field.rayCast(ray), expected = solid.rayCast(ray);
    ASSERT_EQ(hit.has_value(), expected.has_value()) << i;
    if (!hit) continue;
    ++hits;
    EXPECT_NEAR(hit->t, expected->t, 1e-9);
    EXPECT_NEAR(norm(hit->normal - expected->normal), 0, 1e-9);
    EXPECT_LE(dot(hit->normal, ray.direction), 0);
    belowSurface += hit->feature >= d.numSurfaceTriangles() ? 1 : 0;
    ASSERT_LT(hit->feature, d.solidMesh().numTriangles());
    EXPECT_NEAR(dot(d.solidMesh().normals[hit->feature],
                    hit->position - d.solidMesh().corner(hit->feature, 0)),
                0, 1e-9);
  }
  EXPECT_GT(hits, 300);
  EXPECT_GT(belowSurface, 100);
  // Straight down on a grid point, and along an axis.
  EXPECT_TRUE(field.rayCast({{0, 0, 9}, {0, 0, -1}, 100}).has_value());
  EXPECT_TRUE(field.rayCast({{-9, 0.01, 0.2}, {1, 0, 0}, 100}).has_value());
}

TEST(HeightField, SupportIsTheFarthestVertexOfTheSolid) {
  Random random(7);
  const HeightField field = hills(9, 14);
  const HeightFieldData& d = dataOf(field);
  for (int i = 0; i < 200; ++i) {
    const Vec3 n = random.direction();
    Real best = -std::numeric_limits<Real>::infinity();
    for (const Vec3& v : d.solidMesh().vertices) best = std::fmax(best, dot(n, v));
    EXPECT_EQ(dot(n, field.support(n)), best);
  }
}

TEST(HeightField, HasNoMassAndABoxAroundItsSolid) {
  const HeightField field = hills(6, 6);
  EXPECT_THROW((void)field.massProperties(1), InvalidInput);
  const HeightFieldData& d = dataOf(field);
  for (int t = 0; t < d.numSurfaceTriangles(); ++t)
    for (int k = 0; k < 3; ++k) EXPECT_TRUE(field.localAabb().contains(d.corner(t, k)));
  EXPECT_EQ(field.localAabb().upper.z, d.extent.upper);
  EXPECT_EQ(field.localAabb().lower.z, d.floor);
  EXPECT_EQ(d.floor, d.extent.lower - 3);  // by the larger of both sizes
}

TEST(HeightField, SolidMeshHasTheSameTrianglesWhoeverAsksFirst) {
  const HeightField field = hills(8, 5);
  const HeightFieldData& d = dataOf(field);
  const geometry::MeshData* seen[4];
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) threads.emplace_back([&, k] { seen[k] = &d.solidMesh(); });
  for (std::thread& t : threads) t.join();
  for (int k = 1; k < 4; ++k) EXPECT_EQ(seen[k], seen[0]);
  EXPECT_TRUE(seen[0]->closed);
  EXPECT_TRUE(seen[0]->hasPseudonormals);
  EXPECT_FALSE(seen[0]->flipped);
  EXPECT_EQ(seen[0]->numDropped, 0);
  ASSERT_EQ(seen[0]->numTriangles(), d.numSurfaceTriangles() + 3 * d.numRimCells());
  for (int t = 0; t < d.numSurfaceTriangles(); ++t)
    for (int k = 0; k < 3; ++k) EXPECT_EQ(seen[0]->corner(t, k), d.corner(t, k));
}

TEST(PointCloud, AnswersLikeItsBalls) {
  Random random(9);
  std::vector<Vec3> points;
  for (int i = 0; i < 500; ++i) points.push_back(random.inCube(1));
  const PointCloud cloud(points, 0.02);
  for (int i = 0; i < 300; ++i) {
    const Vec3 p = random.inCube(1.5);
    Real best = std::numeric_limits<Real>::infinity();
    for (const Vec3& q : points) best = std::fmin(best, norm(p - q) - 0.02);
    EXPECT_NEAR(cloud.signedDistance(p).distance, std::fmax(best, 0), 1e-14);
    const Ray ray{p, random.direction(), 3};
    Real first = std::numeric_limits<Real>::infinity();
    for (const Vec3& q : points) {
      const Real b = dot(p - q, ray.direction), c = squaredNorm(p - q) - 0.0004;
      if (b * b < c) continue;
      const Real near = -b - std::sqrt(b * b - c), far = -b + std::sqrt(b * b - c);
      const Real t = near >= 0 ? near : far;
      if (t >= 0 && t <= 3) first = std::fmin(first, t);
    }
    const std::optional<RayHit> hit = cloud.rayCast(ray);
    ASSERT_EQ(hit.has_value(), std::isfinite(first));
    if (hit) {
      EXPECT_NEAR(hit->t, first, 1e-9);
    }
    const Vec3 d = random.direction();
    Real reach = -10;
    for (const Vec3& q : points) reach = std::fmax(reach, dot(d, q) + 0.02);
    EXPECT_NEAR(dot(d, cloud.support(d)), reach, 1e-14);
  }
  EXPECT_THROW(PointCloud(std::vector<Vec3>{}, 0.1), InvalidInput);
  EXPECT_THROW(PointCloud(points, -0.1), InvalidInput);
  EXPECT_THROW((void)cloud.massProperties(1), InvalidInput);
}

}  // namespace
}  // namespace tangere
