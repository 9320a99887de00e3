// SPDX-License-Identifier: Apache-2.0
//
// Solids of tetrahedra from given vertices: what is refused, what is turned, surface and quality.
#include <tangere/error.hpp>
#include <tangere/tet_mesh.hpp>

#include "geometry/mesh_samples.hpp"
#include "geometry/tet_checks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace tangere {
namespace {

constexpr Real kDegree = 3.14159265358979323846 / 180;

const std::vector<Vec3> kCorner{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

std::string messageOf(const std::vector<Vec3>& vertices, const std::vector<Tet>& tets) {
  try {
    const TetMesh mesh(vertices, tets);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "accepted";
}

TEST(TetMesh, KeepsAPositiveTetrahedron) {
  const TetMesh mesh(kCorner, {{0, 1, 2, 3}});
  EXPECT_EQ(mesh.tets()[0], (Tet{0, 1, 2, 3}));
  EXPECT_DOUBLE_EQ(mesh.volume(), 1.0 / 6);
  EXPECT_EQ(mesh.surface().size(), 4u);
  EXPECT_EQ(test::eulerCharacteristic(mesh), 2);
  test::expectSolid(mesh);
}

TEST(TetMesh, TurnsANegativeTetrahedron) {
  const TetMesh mesh(kCorner, {{0, 2, 1, 3}});
  EXPECT_GT(test::volumeOfTet(mesh, mesh.tets()[0]), 0);
  test::expectSolid(mesh);
}

TEST(TetMesh, RefusesWhatIsNoSolid) {
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  EXPECT_NE(messageOf(kCorner, {}).find("at least one"), std::string::npos);
  EXPECT_NE(messageOf(kCorner, {{0, 1, 2, 4}}).find("out of range"), std::string::npos);
  EXPECT_NE(messageOf(kCorner, {{0, 1, 2, -1}}).find("out of range"), std::string::npos);
  EXPECT_NE(messageOf(kCorner, {{0, 1, 2, 2}}).find("twice"), std::string::npos);
  EXPECT_NE(messageOf({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, nan, 1}}, {{0, 1, 2, 3}})
                .find("must be finite"),
            std::string::npos);
  EXPECT_NE(
      messageOf({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 1e-12}}, {{0, 1, 2, 3}}).find("is flat"),
      std::string::npos);
  EXPECT_NE(messageOf({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {5, 5, 5}}, {{0, 1, 2, 3}})
                .find("no tetrahedron uses this vertex"),
            std::string::npos);
}

TEST(TetMesh, NamesTheTetrahedronAndTheVertexThatAreWrong) {
  const std::string message = messageOf(kCorner, {{0, 1, 2, 3}, {0, 1, 2, 7}});
  EXPECT_NE(message.find("= 1, 0, 1, 2, 7, 4"), std::string::npos) << message;
}

TEST(TetMesh, RefusesAFaceInThreeTetrahedra) {
  std::vector<Vec3> vertices = kCorner;
  vertices.push_back({0, 0, -1});
  vertices.push_back({0, 0, 2});
  EXPECT_NE(messageOf(vertices, {{0, 1, 2, 3}, {0, 1, 2, 4}, {0, 1, 2, 5}})
                .find("more than two tetrahedra"),
            std::string::npos);
}

TEST(TetMesh, TheSurfaceLeavesOutFacesBetweenTetrahedraAndNamesTheOneBehind) {
  std::vector<Vec3> vertices = kCorner;
  vertices.push_back({1, 1, 1});
  const TetMesh mesh(vertices, {{0, 1, 2, 3}, {1, 2, 3, 4}});
  EXPECT_EQ(mesh.surface().size(), 6u);
  EXPECT_EQ(test::eulerCharacteristic(mesh), 2);
  EXPECT_EQ(std::vector<int>(mesh.tetOfSurface().begin(), mesh.tetOfSurface().end()),
            (std::vector<int>{0, 0, 0, 1, 1, 1}));
  for (std::size_t i = 0; i < mesh.surface().size(); ++i) {
    for (const int v : mesh.surface()[i]) {
      const Tet& tet = mesh.tets()[mesh.tetOfSurface()[i]];
      EXPECT_NE(std::find(tet.begin(), tet.end(), v), tet.end());
    }
  }
  EXPECT_EQ(mesh.quality().numSurfaceTets, 2);
  test::expectSolid(mesh);
}

TEST(TetMesh, QualityOfARegularTetrahedron) {
  const TetMesh mesh({{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}}, {{0, 1, 2, 3}});
  const TetMeshQuality q = mesh.quality();
  EXPECT_NEAR(q.minDihedral, std::acos(1.0 / 3), 1e-15);
  EXPECT_NEAR(q.maxDihedral, std::acos(1.0 / 3), 1e-15);
  EXPECT_NEAR(q.maxAspect, std::sqrt(1.5), 1e-15);  // edge over height
  EXPECT_NEAR(q.shortestEdge, std::sqrt(8.0), 1e-15);
  EXPECT_NEAR(q.minVolume, 8.0 / 3, 1e-15);
  EXPECT_EQ(q.numParts, 1);
}

TEST(TetMesh, QualityOfACornerAndOfAFlatOne) {
  // Three right angles at the corner; 54.7 degrees at the sides of the face across from it.
  const TetMeshQuality corner = TetMesh(kCorner, {{0, 1, 2, 3}}).quality();
  EXPECT_NEAR(corner.minDihedral / kDegree, 54.735610317245346, 1e-12);
  EXPECT_NEAR(corner.maxDihedral / kDegree, 90, 1e-12);
  // A point at height 0.01 over the middle of a triangle: nearly 180 degrees at its edges.
  const TetMesh flat({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.3, 0.3, 0.01}}, {{0, 1, 2, 3}});
  EXPECT_LT(flat.quality().minDihedral, 3 * kDegree);
  EXPECT_GT(flat.quality().maxDihedral, 170 * kDegree);
}

TEST(TetMesh, CountsPartsOverFaces) {
  // Two that share an edge only, and one far away.
  std::vector<Vec3> vertices = kCorner;
  vertices.insert(vertices.end(), {{0, -1, 0}, {0, 0, -1}});
  for (const Vec3& v : kCorner) vertices.push_back(v + Vec3{9, 0, 0});
  const TetMesh mesh(vertices, {{0, 1, 2, 3}, {0, 1, 4, 5}, {6, 7, 8, 9}});
  EXPECT_EQ(mesh.quality().numParts, 3);
}

TEST(TetMesh, ATransformedOneIsTheSameSolidElsewhere) {
  const TetMesh mesh = meshShape(Sphere(0.5), {.resolution = 0.2});
  test::Random random(3);
  const Transform pose = random.pose(10);
  const TetMesh moved = mesh.transformed(pose);
  EXPECT_TRUE(std::ranges::equal(mesh.tets(), moved.tets()));
  EXPECT_EQ(moved.vertices()[5], pose * mesh.vertices()[5]);
  EXPECT_NEAR(moved.volume(), mesh.volume(), 1e-12);
  test::expectSolid(moved);
}

}  // namespace
}  // namespace tangere
