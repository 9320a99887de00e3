// SPDX-License-Identifier: Apache-2.0
//
// Pressure fields: zero on the surface, one at the deepest points, and a gradient everywhere. That
// of a box is exact, that of a sphere along its rays.
#include <tangere/error.hpp>
#include <tangere/tet_mesh.hpp>

#include "geometry/mesh_samples.hpp"
#include "geometry/shape_samples.hpp"
#include "geometry/tet_checks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace tangere {
namespace {

using test::expectSolid;
using test::gradientIn;
using test::Random;

Real deepestOf(const PressureField& field) { return *std::ranges::max_element(field.extent); }

/// Least and greatest length of the gradient over the tetrahedra.
std::array<Real, 2> slopesOf(const PressureField& field) {
  std::array<Real, 2> out{std::numeric_limits<Real>::infinity(), 0};
  for (const Tet& tet : field.mesh.tets()) {
    const Real slope = norm(gradientIn(field.mesh, tet, field.extent));
    out = {std::min(out[0], slope), std::max(out[1], slope)};
  }
  return out;
}

/// Everything that holds for all fields without a margin.
void expectField(const PressureField& field) {
  expectSolid(field.mesh);
  ASSERT_EQ(field.extent.size(), field.mesh.vertices().size());
  for (std::size_t i = 0; i < field.extent.size(); ++i) {
    if (field.mesh.isOnSurface()[i] != 0) {
      EXPECT_EQ(field.extent[i], 0);
    } else {
      EXPECT_GT(field.extent[i], 0);
      EXPECT_LE(field.extent[i], 1);
    }
  }
  EXPECT_EQ(deepestOf(field), 1);
  EXPECT_EQ(field.mesh.quality().numSurfaceTets, 0);
}

/// A random point of a tetrahedron and the field there.
struct FieldPoint {
  Vec3 position{};
  Real extent = 0;
};

FieldPoint randomPoint(const PressureField& field, const Tet& tet, Random* random) {
  std::array<Real, 4> weight{};
  Real sum = 0;
  for (Real& w : weight) sum += w = random->unit() + 1e-3;
  FieldPoint out;
  for (int k = 0; k < 4; ++k) {
    out.position += field.mesh.vertices()[tet[k]] * (weight[k] / sum);
    out.extent += field.extent[tet[k]] * (weight[k] / sum);
  }
  return out;
}

TEST(BoxPressure, IsExactEverywhere) {
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    Vec3 half{random.in(0.2, 3), random.in(0.2, 3), random.in(0.2, 3)};
    if (i % 4 == 1) half.y = half.x;  // sides of equal length leave a segment or a point inside
    if (i % 4 == 2) half.z = half.y;
    if (i % 4 == 3) half = {half.x, half.x, half.x};
    const Real least = std::min({half.x, half.y, half.z});
    const Box box(half);
    const PressureField field = makePressureField(box, {});
    expectField(field);
    EXPECT_EQ(test::eulerCharacteristic(field.mesh), 2);
    EXPECT_LE(field.mesh.tets().size(), 24u);
    EXPECT_NEAR(field.mesh.volume(), box.massProperties(1).mass, 1e-12 * field.mesh.volume());
    for (const Tet& tet : field.mesh.tets()) {
      for (int k = 0; k < 10; ++k) {
        const FieldPoint p = randomPoint(field, tet, &random);
        EXPECT_NEAR(p.extent, -box.signedDistance(p.position).distance / least, 1e-13);
      }
    }
    const auto [low, high] = slopesOf(field);
    EXPECT_NEAR(low * least, 1, 1e-12);
    EXPECT_NEAR(high * least, 1, 1e-12);
  }
}

TEST(BoxPressure, ACubeNeedsTwelveTetrahedra) {
  const PressureField field = makePressureField(Box({1, 1, 1}), {});
  EXPECT_EQ(field.mesh.tets().size(), 12u);
  EXPECT_EQ(field.mesh.vertices().size(), 9u);
}

TEST(BoxPressure, NearlyEqualSidesAreNoProblem) {
  for (const Real excess : {1e-15, 1e-12, 1e-9, 1e-6, 1e-5, 1e-4}) {
    for (const Vec3& half : {Vec3{1, 1 + excess, 1 + 2 * excess}, Vec3{1, 1 + excess, 3}}) {
      const PressureField field = makePressureField(Box(half), {});
      expectField(field);
      EXPECT_NEAR(slopesOf(field)[0], 1, 2e-5) << excess;
    }
  }
}

TEST(BoxPressure, TheMarginMovesTheZeroInward) {
  const Box box({0.5, 0.4, 0.3});
  const PressureField field = makePressureField(box, {}, 0.05);
  Random random(2);
  for (const Tet& tet : field.mesh.tets()) {
    const FieldPoint p = randomPoint(field, tet, &random);
    const Real depth = -box.signedDistance(p.position).distance;
    EXPECT_NEAR(p.extent, (depth - 0.05) / 0.25, 1e-14);
  }
  EXPECT_EQ(deepestOf(field), 1);
}

TEST(SpherePressure, IsExactAlongTheRaysOfTheVertices) {
  const PressureField field = makePressureField(Sphere(0.02), {.resolution = 0.008});
  expectField(field);
  const Vec3 center = field.mesh.vertices().back();
  EXPECT_EQ(center, Vec3{});
  EXPECT_EQ(field.extent.back(), 1);
  for (const Tet& tet : field.mesh.tets()) {
    // Three vertices on the surface and the centre: between them the field falls linearly.
    int inside = 0;
    for (const int v : tet) {
      inside += field.mesh.isOnSurface()[v] == 0;
      if (field.mesh.isOnSurface()[v] != 0) {
        EXPECT_NEAR(norm(field.mesh.vertices()[v]), 0.02, 1e-17);
      }
    }
    EXPECT_EQ(inside, 1);
  }
  const auto [low, high] = slopesOf(field);
  EXPECT_GE(low * 0.02, 1);
  EXPECT_LT(high * 0.02, 1.05);  // the planes of the triangles are nearer to the centre
}

TEST(SpherePressure, TheMarginMovesTheZeroInward) {
  const PressureField field = makePressureField(Sphere(1), {}, 0.1);
  EXPECT_NEAR(field.extent[0], -0.1 / 0.9, 1e-15);
  EXPECT_EQ(field.extent.back(), 1);
}

TEST(PressureField, EveryShapeHasAGradientInEveryTetrahedron) {
  std::vector<testing::NamedShape> shapes = testing::convexSamples();
  shapes.push_back({"torus", test::torusMesh(24, 12, 0.5, 0.2).build()});
  shapes.push_back({"bumpy sphere", test::bumpySphere(8, 0.5, 0.15).build()});
  for (const auto& [name, shape] : shapes) {
    SCOPED_TRACE(name);
    const PressureField field = makePressureField(*shape, {});
    expectField(field);
    // The true slope is one over the greatest depth, which is at most half the least width. In
    // what is a thousand times longer than thin, interpolation along it leaves less.
    const Vec3 half = shape->localAabb().halfExtents();
    const Real least = std::min({half.x, half.y, half.z});
    const bool isThin = least < 0.01 * std::max({half.x, half.y, half.z});
    EXPECT_GT(slopesOf(field)[0] * least, isThin ? 1e-4 : 0.1);
  }
}

TEST(PressureField, OfConvexShapesIsTheirDepthAtTheVertices) {
  const Capsule capsule(0.3, 0.5);
  const PressureField field = makePressureField(capsule, {.resolution = 0.1});
  for (std::size_t i = 0; i < field.extent.size(); ++i) {
    const Real depth = -capsule.signedDistance(field.mesh.vertices()[i]).distance;
    EXPECT_NEAR(field.extent[i], depth / 0.3, 1e-14);  // the axis has vertices
  }
}

TEST(PressureField, SplitsTetrahedraWithAllVerticesOnTheSurface) {
  // One cell between its corners: nothing inside at all.
  const TetMesh cell = meshShape(Box({0.5, 0.5, 0.5}), {.resolution = 1});
  ASSERT_EQ(cell.vertices().size(), 8u);
  ASSERT_EQ(cell.quality().numSurfaceTets, 5);
  const PressureField field = makePressureField(cell);
  expectField(field);
  EXPECT_EQ(field.mesh.vertices().size(), 8u + 5);
  EXPECT_EQ(field.mesh.tets().size(), 20u);
  EXPECT_NEAR(field.mesh.volume(), 1, 1e-14);
  EXPECT_EQ(field.mesh.surface().size(), cell.surface().size());
  EXPECT_GT(slopesOf(field)[0], 0.5);
}

TEST(PressureField, SplitsTetrahedraBetweenEqualDepths) {
  // Three layers of cells: the vertices of the one in the middle are all equally deep.
  const TetMesh slab = meshShape(Box({1, 1, 0.3}), {.resolution = 0.2});
  const PressureField field = makePressureField(slab);
  expectField(field);
  EXPECT_GT(field.mesh.tets().size(), slab.tets().size());
  EXPECT_NEAR(field.mesh.volume(), slab.volume(), 1e-13);
  EXPECT_GT(slopesOf(field)[0] * 0.3, 0.1);
}

TEST(PressureField, RefusesAMarginThatLeavesNothing) {
  for (const Real margin : {-0.1, 0.3, 1.0, std::numeric_limits<Real>::quiet_NaN()}) {
    EXPECT_THROW((void)makePressureField(Box({0.5, 0.4, 0.3}), {}, margin), InvalidInput);
  }
  EXPECT_THROW((void)makePressureField(Plane(), {}), InvalidInput);
  EXPECT_THROW((void)makePressureField(Box({1, 1, 1}), {.resolution = -1}), InvalidInput);
  EXPECT_THROW((void)makePressureField(Sphere(1), {.resolution = 1e-9}), InvalidInput);
}

TEST(PressureField, GivesTheSameBitsTwice) {
  const Cylinder cylinder(0.4, 0.3);
  const PressureField a = makePressureField(cylinder, {}), b = makePressureField(cylinder, {});
  EXPECT_TRUE(test::hasSameBits(a.mesh, b.mesh));
  EXPECT_EQ(a.extent, b.extent);
}

}  // namespace
}  // namespace tangere
