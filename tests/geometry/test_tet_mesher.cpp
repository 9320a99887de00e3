// SPDX-License-Identifier: Apache-2.0
//
// Meshes of shapes: they are solids, they lie on the shape, their tetrahedra are well formed, they
// converge, and what they lose of the shape is said.
#include <tangere/error.hpp>
#include <tangere/tet_mesh.hpp>

#include "geometry/flat_shape.hpp"
#include "geometry/mesh_samples.hpp"
#include "geometry/shape_samples.hpp"
#include "geometry/tet_checks.hpp"
#include "geometry/tet_mesher.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace tangere {
namespace {

using test::eulerCharacteristic;
using test::expectSolid;
using test::hasSameBits;
using test::MeshInput;
using test::Random;

constexpr Real kDegree = 3.14159265358979323846 / 180;

Real volumeOf(const Shape& shape) { return shape.massProperties(1).mass; }

Real sizeOf(const Shape& shape) {
  const Vec3 half = shape.localAabb().halfExtents();
  return std::max({half.x, half.y, half.z});
}

Real farthestFromSurface(const TetMesh& mesh, const Shape& shape) {
  Real out = 0;
  for (std::size_t i = 0; i < mesh.vertices().size(); ++i) {
    if (mesh.isOnSurface()[i] == 0) continue;
    out = std::max(out, std::fabs(shape.signedDistance(mesh.vertices()[i]).distance));
  }
  return out;
}

std::string messageOf(const Shape& shape, const TetMeshOptions& options) {
  try {
    (void)meshShape(shape, options);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "accepted";
}

bool mentions(const TetMeshReport& report, const std::string& words) {
  return std::ranges::any_of(report.findings, [&](const std::string& finding) {
    return finding.find(words) != std::string::npos;
  });
}

/// Both meshes as one, vertices of the second behind those of the first.
MeshInput joined(MeshInput a, const MeshInput& b) {
  const int offset = static_cast<int>(a.vertices.size());
  a.vertices.insert(a.vertices.end(), b.vertices.begin(), b.vertices.end());
  for (const Triangle& t : b.triangles) {
    a.triangles.push_back({t[0] + offset, t[1] + offset, t[2] + offset});
  }
  return a;
}

MeshInput movedBy(MeshInput m, const Vec3& offset) {
  for (Vec3& v : m.vertices) v += offset;
  return m;
}

MeshInput turnedInward(MeshInput m) {
  for (Triangle& t : m.triangles) std::swap(t[1], t[2]);
  return m;
}

/// A cube with a thin fin that stands out of its top: one closed surface.
MeshInput cubeWithFin(Real half, Real finHeight, Real finThickness) {
  const Real h = half, f = finThickness / 2, top = half + finHeight;
  MeshInput m;
  // Outline in (y, z), extruded along x.
  const std::vector<std::array<Real, 2>> outline{{-h, -h}, {h, -h},   {h, h},  {f, h},
                                                 {f, top}, {-f, top}, {-f, h}, {-h, h}};
  for (const Real x : {-h, h}) {
    for (const auto& [y, z] : outline) m.vertices.push_back({x, y, z});
  }
  for (int k = 0; k < 8; ++k) {
    const int n = (k + 1) % 8;
    m.triangles.push_back({k, n, n + 8});
    m.triangles.push_back({k, n + 8, k + 8});
  }
  // The outline seen from +x runs counter-clockwise.
  for (const Triangle& t :
       std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}, {0, 3, 6}, {0, 6, 7}, {3, 4, 5}, {3, 5, 6}}) {
    m.triangles.push_back({t[0] + 8, t[1] + 8, t[2] + 8});
    m.triangles.push_back({t[0], t[2], t[1]});
  }
  return m;
}

struct Sample {
  const char* name;
  std::shared_ptr<const Shape> shape;
  Real leastDihedral;  ///< [degrees] at any resolution
};

std::vector<Sample> primitiveSamples() {
  return {{"sphere", std::make_shared<Sphere>(1), 38},
          {"box", std::make_shared<Box>(Vec3{1, 0.8, 0.6}), 45},
          {"capsule", std::make_shared<Capsule>(0.7, 0.6), 20},
          {"cylinder", std::make_shared<Cylinder>(0.8, 0.9), 30},
          {"cone", std::make_shared<Cone>(0.9, 0.8), 18},
          {"ellipsoid", std::make_shared<Ellipsoid>(Vec3{0.6, 0.8, 1.1}), 24}};
}

TEST(MeshPrimitive, IsASolidOfOnePartWithItsVerticesOnTheShapeAndGoodAngles) {
  for (const auto& [name, shape, leastDihedral] : primitiveSamples()) {
    for (const Real resolution : {0.5, 0.3, 0.2, 0.1}) {
      SCOPED_TRACE(::testing::Message() << name << " at " << resolution);
      TetMeshReport report;
      const TetMesh mesh = meshShape(*shape, {.resolution = resolution}, &report);
      expectSolid(mesh);
      EXPECT_EQ(eulerCharacteristic(mesh), 2);
      EXPECT_EQ(report.quality.numParts, 1);
      EXPECT_EQ(report.method, "structured");
      EXPECT_LE(farthestFromSurface(mesh, *shape), 1e-15 * sizeOf(*shape));
      EXPECT_GT(report.quality.minDihedral, leastDihedral * kDegree);
      EXPECT_LT(report.quality.longestEdge, 2.2 * resolution);
      EXPECT_LE(mesh.volume(), volumeOf(*shape) * (1 + 1e-12));  // of a convex shape
    }
  }
}

TEST(MeshPrimitive, VolumeConvergesWithTheSquareOfTheResolution) {
  // Sizes of which the resolutions cut whole numbers of pieces.
  const Real ball = 1 / 1.1;
  const std::vector<std::shared_ptr<const Shape>> shapes{
      std::make_shared<Sphere>(ball), std::make_shared<Capsule>(0.8, 0.6),
      std::make_shared<Cylinder>(0.8, 0.9), std::make_shared<Cone>(0.8, 0.8),
      std::make_shared<Ellipsoid>(Vec3{0.5, 0.7, ball})};
  for (const auto& shape : shapes) {
    const auto error = [&](Real resolution) {
      return 1 - meshShape(*shape, {.resolution = resolution}).volume() / volumeOf(*shape);
    };
    // A cone has a whole number of rings at each level, which adds a term of first order to that.
    const bool isCone = shape->type() == ShapeType::Cone;
    EXPECT_NEAR(error(0.2) / error(0.1), 4, isCone ? 0.6 : 0.2) << shapeTypeName(shape->type());
    EXPECT_NEAR(error(0.1) / error(0.05), 4, isCone ? 0.35 : 0.05) << shapeTypeName(shape->type());
    EXPECT_LT(error(0.05), 2.5e-3) << shapeTypeName(shape->type());
  }
}

TEST(MeshPrimitive, ABoxIsExact) {
  const Vec3 half{0.31, 0.17, 0.053};
  const TetMesh mesh = meshShape(Box(half), {.resolution = 0.04});
  EXPECT_NEAR(mesh.volume(), 8 * half.x * half.y * half.z, 1e-15);
  EXPECT_EQ(mesh.vertices().size(), 17u * 10 * 4);  // 16 x 9 x 3 cells
  EXPECT_EQ(mesh.tets().size(), 5u * 16 * 9 * 3);
  int corners = 0;
  for (const Vec3& v : mesh.vertices()) {
    corners += std::fabs(v.x) == half.x && std::fabs(v.y) == half.y && std::fabs(v.z) == half.z;
  }
  EXPECT_EQ(corners, 8);
}

TEST(MeshPrimitive, ASphereHasItsCentreAndTheExpectedSize) {
  const TetMesh mesh = meshShape(Sphere(0.02), {.resolution = 0.004});
  EXPECT_GE(mesh.vertices().size(), 700u);
  EXPECT_LE(mesh.vertices().size(), 1500u);
  EXPECT_NE(std::ranges::find(mesh.vertices(), Vec3{}), mesh.vertices().end());
}

TEST(MeshPrimitive, RandomSizesAndProportionsAreMeshed) {
  Random random(11);
  for (int i = 0; i < 150; ++i) {
    const Real scale = std::pow(10, random.in(-3, 2));
    const auto size = [&] { return scale * std::pow(20, random.in(-0.5, 0.5)); };
    const Real a = size(), b = size(), c = size();
    std::shared_ptr<const Shape> shape;
    switch (i % 6) {
      case 0:
        shape = std::make_shared<Sphere>(a);
        break;
      case 1:
        shape = std::make_shared<Box>(Vec3{a, b, c});
        break;
      case 2:
        shape = std::make_shared<Capsule>(a, b);
        break;
      case 3:
        shape = std::make_shared<Cylinder>(a, b);
        break;
      case 4:
        shape = std::make_shared<Cone>(a, b);
        break;
      default:
        shape = std::make_shared<Ellipsoid>(Vec3{a, b, c});
    }
    const Vec3 half = shape->localAabb().halfExtents();
    const Real resolution = std::min({half.x, half.y, half.z}) * random.in(0.4, 2);
    SCOPED_TRACE(::testing::Message() << shapeTypeName(shape->type()) << " " << a << " " << b << " "
                                      << c << " at " << resolution);
    TetMeshReport report;
    const TetMesh mesh = meshShape(*shape, {.resolution = resolution}, &report);
    expectSolid(mesh);
    EXPECT_EQ(eulerCharacteristic(mesh), 2);
    EXPECT_EQ(report.quality.numParts, 1);
    EXPECT_LE(report.surfaceError, 1e-14 * sizeOf(*shape));
    EXPECT_LE(report.volumeError, 1e-12);
    EXPECT_GE(report.volumeError, -0.59);  // the coarsest cap is a pyramid over a hexagon
  }
}

TEST(MeshPrimitive, WithoutAResolutionHasAboutAThousandVertices) {
  for (const auto& [name, shape, unused] : primitiveSamples()) {
    TetMeshReport report;
    const TetMesh mesh = meshShape(*shape, {}, &report);
    EXPECT_GT(mesh.vertices().size(), 650u) << name;
    EXPECT_LT(mesh.vertices().size(), 1500u) << name;
    EXPECT_GT(report.resolution, 0) << name;
    EXPECT_TRUE(hasSameBits(mesh, meshShape(*shape, {.resolution = report.resolution}))) << name;
  }
}

TEST(MeshPrimitive, LongEllipsoidsKeepTheirAngles) {
  for (const Real aspect : {2.5, 5.0, 10.0, 20.0}) {
    for (const int axis : {0, 1, 2}) {
      Vec3 semiAxes{1, 1, 1};
      semiAxes[axis] = aspect;
      const Ellipsoid shape(semiAxes);
      TetMeshReport report;
      const TetMesh mesh = meshShape(shape, {.resolution = 0.8}, &report);
      expectSolid(mesh);
      EXPECT_EQ(eulerCharacteristic(mesh), 2);
      EXPECT_LE(report.surfaceError, 1e-15 * aspect);
      EXPECT_GT(report.quality.minDihedral, (aspect <= 5 ? 15 : 8) * kDegree) << aspect;
    }
  }
}

TEST(MeshConvex, RandomHullsAreMeshed) {
  Random random(5);
  for (int i = 0; i < 60; ++i) {
    std::vector<Vec3> points;
    const int count = 4 + random.below(60);
    const Real scale = std::pow(10, random.in(-3, 2));
    const Vec3 stretch{random.in(0.3, 1), random.in(0.3, 1), 1};
    for (int k = 0; k < count; ++k) {
      const Vec3 d = random.direction();
      points.push_back(Vec3{d.x * stretch.x, d.y * stretch.y, d.z * stretch.z} * scale);
    }
    const Convex hull(points);
    const Real resolution = scale * random.in(0.15, 0.5);
    SCOPED_TRACE(::testing::Message()
                 << "hull " << i << " of " << count << " points at " << resolution / scale);
    TetMeshReport report;
    const TetMesh mesh = meshShape(hull, {.resolution = resolution}, &report);
    expectSolid(mesh);
    EXPECT_EQ(eulerCharacteristic(mesh), 2);
    EXPECT_EQ(report.quality.numParts, 1);
    if (report.method == "layered") {
      EXPECT_NEAR(report.volumeError, 0, 1e-11);
      EXPECT_LE(report.lostFeature, 1e-14 * scale);
    } else {
      EXPECT_GT(report.quality.minDihedral, 10.7 * kDegree);
      EXPECT_GT(report.volumeError, -0.35);
      EXPECT_LT(report.volumeError, 1e-9);
    }
    EXPECT_LE(report.surfaceError, 1e-14 * scale);
  }
}

TEST(MeshConvex, ACubeIsLayeredAndExact) {
  const Convex cube(testing::boxCorners({0.5, 0.5, 0.5}));
  TetMeshReport report;
  const TetMesh mesh = meshShape(cube, {.resolution = 0.15}, &report);
  EXPECT_EQ(report.method, "layered");
  EXPECT_NEAR(mesh.volume(), 1, 1e-13);
  EXPECT_GT(report.quality.minDihedral, 20 * kDegree);
  EXPECT_EQ(report.lostFeature, 0);
}

TEST(MeshConvex, AHullOfThinTrianglesIsStuffed) {
  Random random(7);
  std::vector<Vec3> cloud;
  for (int i = 0; i < 200; ++i) cloud.push_back(random.inCube(1));
  TetMeshReport report;
  const TetMesh mesh = meshShape(Convex(cloud), {.resolution = 0.2}, &report);
  expectSolid(mesh);
  EXPECT_EQ(report.method, "stuffing");
  EXPECT_GT(report.quality.minDihedral, 10.7 * kDegree);
  EXPECT_TRUE(mentions(report, "meshed by stuffing instead"));
}

TEST(MeshClosedSurface, ATorusHasItsHole) {
  const auto torus = test::torusMesh(48, 24, 0.5, 0.2).build();
  for (const Real resolution : {0.15, 0.1, 0.05}) {
    TetMeshReport report;
    const TetMesh mesh = meshShape(*torus, {.resolution = resolution}, &report);
    expectSolid(mesh);
    EXPECT_EQ(eulerCharacteristic(mesh), 0);
    EXPECT_EQ(report.method, "stuffing");
    EXPECT_EQ(report.quality.numParts, 1);
    EXPECT_EQ(report.quality.numSurfaceTets, 0);
    EXPECT_LE(report.surfaceError, 1e-14);
    EXPECT_LT(report.lostFeature, 0.5 * resolution);
    EXPECT_LT(std::fabs(report.volumeError), 3 * resolution * resolution);
  }
}

TEST(MeshClosedSurface, DihedralAnglesKeepTheGuaranteedBounds) {
  // Labelle and Shewchuk prove 10.7 to 164.8 degrees for this lattice and these warps.
  Random random(23);
  for (int i = 0; i < 20; ++i) {
    const auto mesh = test::bumpySphere(10, 0.5, random.in(0, 0.3)).build();
    const Real resolution = random.in(0.07, 0.2);
    const TetMeshQuality q = meshShape(*mesh, {.resolution = resolution}).quality();
    EXPECT_GT(q.minDihedral, 10.7 * kDegree) << i;
    EXPECT_LT(q.maxDihedral, 164.8 * kDegree) << i;
  }
}

/// A ball full of holes about as wide as the lattice: waves whose slope is at most 1, so that the
/// value is never above the distance.
class Sponge final : public Shape {
 public:
  Sponge(Random* random, Real wavelength)
      : Shape(ShapeType::Sphere, std::make_shared<geometry::FlatShape>(),
              Aabb{{-1, -1, -1}, {1, 1, 1}}) {
    Real slope = 0;
    for (Wave& wave : waves_) {
      const Real number = 6.283 / wavelength * random->in(0.5, 1);
      wave.number = random->direction() * number;
      wave.phase = random->in(0, 6.283);
      wave.amplitude = random->in(0.2, 1);
      slope += wave.amplitude * number;
    }
    for (Wave& wave : waves_) wave.amplitude /= slope;
  }

  [[nodiscard]] Vec3 support(const Vec3&) const override { return {}; }
  [[nodiscard]] MassProperties massProperties(Real) const override { return {}; }
  [[nodiscard]] std::optional<RayHit> rayCast(const Ray&) const override { return std::nullopt; }
  [[nodiscard]] SignedDistance signedDistance(const Vec3& p) const override {
    Real sum = 0;
    for (const Wave& wave : waves_) {
      sum += wave.amplitude * std::sin(dot(wave.number, p) + wave.phase);
    }
    return {.distance = std::max(sum, norm(p) - 0.95), .closest = {}, .normal = {}};
  }

 private:
  struct Wave {
    Vec3 number{};
    Real phase = 0, amplitude = 0;
  };
  std::array<Wave, 6> waves_{};
};

TEST(MeshClosedSurface, DihedralAnglesKeepTheirBoundsWhereTheLatticeIsTooCoarse) {
  Random random(5);
  for (int i = 0; i < 12; ++i) {
    const Real spacing = 0.15;
    const Sponge sponge(&random, spacing * random.in(1.2, 6));
    geometry::TetPieces pieces = geometry::stuffShape(sponge, 2, spacing, 1000000);
    ASSERT_GT(pieces.tets.size(), 1000u);
    const TetMesh mesh(std::move(pieces.vertices), std::move(pieces.tets));
    expectSolid(mesh);
    const TetMeshQuality q = mesh.quality();
    EXPECT_GT(q.minDihedral, 10.7 * kDegree) << i;
    EXPECT_LT(q.maxDihedral, 164.8 * kDegree) << i;
    EXPECT_EQ(q.numSurfaceTets, 0) << i;
  }
}

TEST(MeshClosedSurface, VolumeOfAStuffedSphereConvergesWithTheSquareOfTheResolution) {
  const auto ball = test::bumpySphere(24, 1, 0).build();
  const auto error = [&](Real resolution) {
    return 1 - meshShape(*ball, {.resolution = resolution}).volume() / volumeOf(*ball);
  };
  const Real ratio = error(0.4) / error(0.1);
  EXPECT_GT(ratio, 16 * 0.6);
  EXPECT_LT(ratio, 16 * 1.6);
}

TEST(MeshClosedSurface, AThinFinIsLostWithAWordAndKeptAtTheResolutionThatIsNamed) {
  const auto shape = cubeWithFin(0.5, 0.6, 0.09).build();
  ASSERT_TRUE(shape->isClosed());
  ASSERT_FALSE(shape->wasInsideOut());
  TetMeshReport coarse;
  const TetMesh without = meshShape(*shape, {.resolution = 0.25}, &coarse);
  expectSolid(without);
  EXPECT_GT(coarse.lostFeature, 0.4);
  // 0.6 of the fin's thickness.
  ASSERT_TRUE(mentions(coarse, "a resolution of 0.054 m would keep them"));

  TetMeshReport fine;
  const TetMesh with = meshShape(*shape, {.resolution = 0.054}, &fine);
  expectSolid(with);
  EXPECT_EQ(eulerCharacteristic(with), 2);
  EXPECT_EQ(fine.quality.numParts, 1);
  EXPECT_LT(fine.lostFeature, 0.054);
  EXPECT_FALSE(mentions(fine, "lost"));
}

TEST(MeshClosedSurface, WithoutAResolutionAFinIsKept) {
  TetMeshReport report;
  const auto shape = cubeWithFin(0.5, 0.5, 0.12).build();
  const TetMesh mesh = meshShape(*shape, {}, &report);
  expectSolid(mesh);
  EXPECT_LT(report.lostFeature, report.resolution);
  EXPECT_EQ(report.quality.numParts, 1);
}

TEST(MeshClosedSurface, TwoSpheresInOneMeshAreTwoParts) {
  const MeshInput ball = test::bumpySphere(12, 0.5, 0);
  const auto both = joined(ball, movedBy(ball, {1.5, 0.1, 0.2})).build();
  TetMeshReport report;
  const TetMesh mesh = meshShape(*both, {.resolution = 0.12}, &report);
  expectSolid(mesh);
  EXPECT_EQ(report.quality.numParts, 2);
  EXPECT_EQ(eulerCharacteristic(mesh), 4);
  EXPECT_TRUE(mentions(report, "2 parts"));
}

TEST(MeshClosedSurface, ACavityStaysEmpty) {
  const auto shell =
      joined(test::bumpySphere(20, 1, 0), turnedInward(test::bumpySphere(12, 0.5, 0))).build();
  ASSERT_TRUE(shell->isClosed());
  TetMeshReport report;
  const TetMesh mesh = meshShape(*shell, {.resolution = 0.12}, &report);
  expectSolid(mesh);
  EXPECT_EQ(report.quality.numParts, 1);
  EXPECT_EQ(eulerCharacteristic(mesh), 4);  // two spheres bound it
  EXPECT_LT(std::fabs(report.volumeError), 0.03);
  for (const Vec3& v : mesh.vertices()) EXPECT_GT(norm(v), 0.48);
}

Compound dumbbell() {
  std::vector<Compound::Child> children(3);
  children[0] = {std::make_shared<Sphere>(0.3), {Mat3::identity(), {0, 0, -0.6}}};
  children[1] = {std::make_shared<Sphere>(0.3), {Mat3::identity(), {0, 0, 0.6}}};
  children[2] = {std::make_shared<Cylinder>(0.15, 0.5), Transform::identity()};
  return Compound(children);
}

TEST(MeshCompound, IsTheUnionOfItsChildren) {
  const Compound shape = dumbbell();
  TetMeshReport report;
  const TetMesh mesh = meshShape(shape, {.resolution = 0.06}, &report);
  expectSolid(mesh);
  EXPECT_EQ(eulerCharacteristic(mesh), 2);
  EXPECT_EQ(report.quality.numParts, 1);
  EXPECT_LT(report.lostFeature, 0.06);
  EXPECT_LT(std::fabs(report.volumeError), 0.03);
  // Two balls and the rod between them, less the caps of the balls that the rod fills: r = 0.15
  // cuts a ball of 0.3 at 0.26 from its centre, so it is covered from z = 0.34 to 0.5.
  const Real cap =
      3.14159265358979 * 0.040192378864668 * 0.040192378864668 * (0.3 - 0.040192378864668 / 3);
  const Real rod = 3.14159265358979 * 0.15 * 0.15 * 2 * 0.340192378864668;
  const Real whole = 2 * 4.1887902047863905 * 0.027 + rod - 2 * cap;
  EXPECT_NEAR(mesh.volume(), whole, 0.03 * whole);
}

TEST(MeshShape, GivesTheSameBitsTwice) {
  for (const auto& [name, shape, unused] : primitiveSamples()) {
    EXPECT_TRUE(hasSameBits(meshShape(*shape, {}), meshShape(*shape, {}))) << name;
  }
  const auto torus = test::torusMesh(32, 16, 0.5, 0.2).build();
  const auto sameTorus = test::torusMesh(32, 16, 0.5, 0.2).build();
  EXPECT_TRUE(hasSameBits(meshShape(*torus, {}), meshShape(*sameTorus, {})));
  const Convex hull(testing::spherePoints(40));
  EXPECT_TRUE(hasSameBits(meshShape(hull, {}), meshShape(hull, {})));
}

TEST(MeshShape, RefusesShapesWithoutAnInside) {
  EXPECT_NE(messageOf(Plane(), {}).find("plane"), std::string::npos);
  EXPECT_NE(messageOf(*test::floorMesh(3, 1).build(), {}).find("open mesh"), std::string::npos);
  const std::vector<Vec3> points{{0, 0, 0}, {1, 0, 0}};
  EXPECT_NE(messageOf(PointCloud(points, 0.1), {}).find("no inside"), std::string::npos);
  const std::vector<Real> heights(9, 0.1);
  EXPECT_NE(messageOf(HeightField(3, 3, 1, 1, heights), {}).find("no inside"), std::string::npos);
  std::vector<Compound::Child> children(2);
  children[0] = {std::make_shared<Sphere>(1), Transform::identity()};
  children[1] = {std::make_shared<Plane>(), Transform::identity()};
  EXPECT_NE(messageOf(Compound(children), {}).find("child, type = 1, plane"), std::string::npos)
      << messageOf(Compound(children), {});
}

TEST(MeshShape, RefusesResolutionsThatMakeNoSense) {
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  const Real infinity = std::numeric_limits<Real>::infinity();
  for (const Real resolution : {nan, infinity, -1.0}) {
    EXPECT_NE(messageOf(Sphere(1), {.resolution = resolution}).find("must be positive"),
              std::string::npos);
  }
  EXPECT_NE(messageOf(Sphere(1), {.maxTets = 0}).find("maxTets"), std::string::npos);
}

TEST(MeshShape, RefusesMoreTetrahedraThanAllowedBeforeMakingThem) {
  const auto torus = test::torusMesh(32, 16, 0.5, 0.2).build();
  std::vector<std::shared_ptr<const Shape>> shapes{
      torus, std::make_shared<Convex>(testing::spherePoints(40)),
      std::make_shared<Compound>(std::vector<Compound::Child>{
          Compound::Child{std::make_shared<Sphere>(1), Transform::identity()}})};
  for (const Sample& sample : primitiveSamples()) shapes.push_back(sample.shape);
  for (const auto& shape : shapes) {
    // At 1e-9 of a metre 1e27 tetrahedra: no machine could make them first.
    for (const Real resolution : {1e-9, 1e-300}) {
      EXPECT_NE(messageOf(*shape, {.resolution = resolution}).find("more tetrahedra than maxTets"),
                std::string::npos)
          << shapeTypeName(shape->type());
    }
    EXPECT_NE(messageOf(*shape, {.resolution = 0.1, .maxTets = 50}).find("numTets"),
              std::string::npos);
  }
}

TEST(MeshShape, CountsStructuredTetrahedraExactly) {
  for (const auto& [name, shape, unused] : primitiveSamples()) {
    const int count = static_cast<int>(meshShape(*shape, {.resolution = 0.25}).tets().size());
    EXPECT_EQ(messageOf(*shape, {.resolution = 0.25, .maxTets = count}), "accepted") << name;
    EXPECT_NE(messageOf(*shape, {.resolution = 0.25, .maxTets = count - 1}), "accepted") << name;
  }
}

}  // namespace
}  // namespace tangere
