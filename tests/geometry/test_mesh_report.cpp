// SPDX-License-Identifier: Apache-2.0
//
// What inspectMesh() says about a cube, and about the same cube with one thing wrong.
#include <tangere/error.hpp>
#include <tangere/mesh.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace tangere {
namespace {

/// Corner i is at the bits of i: x + 2y + 4z. Side 1, outward.
TriangleMesh cube() {
  TriangleMesh mesh;
  for (int i = 0; i < 8; ++i) {
    mesh.vertices.push_back({Real(i & 1), Real((i >> 1) & 1), Real((i >> 2) & 1)});
  }
  mesh.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                    {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  return mesh;
}

/// Every triangle with vertices of its own.
TriangleMesh unwelded(const TriangleMesh& mesh) {
  TriangleMesh out;
  for (const Triangle& t : mesh.triangles) {
    const int first = static_cast<int>(out.vertices.size());
    for (const int v : t) out.vertices.push_back(mesh.vertices[static_cast<std::size_t>(v)]);
    out.triangles.push_back({first, first + 1, first + 2});
  }
  return out;
}

bool mentions(const MeshReport& report, const std::string& part) {
  for (const std::string& line : report.findings()) {
    if (line.find(part) != std::string::npos) return true;
  }
  return false;
}

TEST(InspectMesh, ACubeIsACleanSolid) {
  const MeshReport report = inspectMesh(cube());
  EXPECT_EQ(report.numVertices, 8);
  EXPECT_EQ(report.numTriangles, 12);
  EXPECT_TRUE(report.isWatertight());
  EXPECT_TRUE(report.isConsistentlyOriented());
  EXPECT_TRUE(report.isSolid());
  EXPECT_EQ(report.numComponents, 1);
  EXPECT_NEAR(report.volume, 1, 1e-15);
  EXPECT_NEAR(report.area, 6, 1e-15);
  EXPECT_EQ(report.bounds, (Aabb{{0, 0, 0}, {1, 1, 1}}));
  EXPECT_TRUE(report.findings().empty());
}

TEST(InspectMesh, AMissingTriangleLeavesThreeOpenEdges) {
  TriangleMesh mesh = cube();
  mesh.triangles.erase(mesh.triangles.begin());  // 0 2 3
  const MeshReport report = inspectMesh(mesh);
  EXPECT_FALSE(report.isWatertight());
  EXPECT_EQ(report.numOpenEdges, 3);
  ASSERT_TRUE(report.firstOpenEdge);
  EXPECT_EQ(report.firstOpenEdge->vertex0, 0);
  EXPECT_EQ(report.firstOpenEdge->vertex1, 2);
  EXPECT_EQ(report.firstOpenEdge->triangle, 8);  // 0 6 2, after the removal
  EXPECT_EQ(report.firstOpenEdge->midpoint, (Vec3{0, 0.5, 0}));
  EXPECT_FALSE(report.isSolid());
  EXPECT_FALSE(report.isInsideOut());
  EXPECT_TRUE(mentions(report, "not watertight: 3 open edges"));
}

TEST(InspectMesh, AnInsideOutCubeHasNegativeVolume) {
  TriangleMesh mesh = cube();
  for (Triangle& t : mesh.triangles) std::swap(t[1], t[2]);
  const MeshReport report = inspectMesh(mesh);
  EXPECT_TRUE(report.isWatertight());
  EXPECT_TRUE(report.isInsideOut());
  EXPECT_NEAR(report.volume, -1, 1e-15);
  EXPECT_TRUE(mentions(report, "inside out"));
}

TEST(InspectMesh, ATurnedTriangleIsInconsistent) {
  TriangleMesh mesh = cube();
  std::swap(mesh.triangles[3][1], mesh.triangles[3][2]);
  const MeshReport report = inspectMesh(mesh);
  EXPECT_TRUE(report.isWatertight());
  EXPECT_EQ(report.numInconsistentEdges, 3);
  EXPECT_FALSE(report.isSolid());
  EXPECT_TRUE(mentions(report, "face different ways across 3 edges"));
}

TEST(InspectMesh, AnExtraTriangleMakesNonManifoldEdgesAndADuplicate) {
  TriangleMesh mesh = cube();
  mesh.triangles.push_back({3, 0, 2});
  const MeshReport report = inspectMesh(mesh);
  EXPECT_EQ(report.numNonManifoldEdges, 3);
  EXPECT_EQ(report.numDuplicateTriangles, 1);
  EXPECT_EQ(report.firstDuplicateTriangle, 12);
  EXPECT_FALSE(report.isWatertight());
  EXPECT_TRUE(mentions(report, "shared by more than two triangles"));
}

TEST(InspectMesh, DegenerateTrianglesAreCountedAndDoNotOpenTheMesh) {
  TriangleMesh mesh = cube();
  mesh.triangles.push_back({5, 5, 2});
  EXPECT_EQ(inspectMesh(mesh).numDegenerateTriangles, 1);
  EXPECT_EQ(inspectMesh(mesh).firstDegenerateTriangle, 12);
  EXPECT_TRUE(inspectMesh(mesh).isWatertight());
  EXPECT_EQ(inspectMesh(mesh).numComponents, 1);

  TriangleMesh sliver;
  sliver.vertices = {{0, 0, 0}, {1, 0, 0}, {0.3, 0, 0}};
  sliver.triangles = {{0, 1, 2}};
  EXPECT_EQ(inspectMesh(sliver).numDegenerateTriangles, 1);
  EXPECT_TRUE(mentions(inspectMesh(sliver), "1 triangle has no area"));
}

TEST(InspectMesh, ComponentsAreConnectedOverEdgesNotVertices) {
  TriangleMesh mesh = cube();
  const TriangleMesh one = cube();
  // A second cube that shares the corner (1, 1, 1) with the first.
  for (const Vec3& v : one.vertices) mesh.vertices.push_back(v + Vec3{1, 1, 1});
  for (const Triangle& t : one.triangles) {
    Triangle moved;
    for (std::size_t k = 0; k < 3; ++k) moved[k] = t[k] == 0 ? 7 : t[k] + 8;
    mesh.triangles.push_back(moved);
  }
  const MeshReport report = inspectMesh(mesh);
  EXPECT_EQ(report.numComponents, 2);
  EXPECT_EQ(report.numUnusedVertices, 1);
  EXPECT_EQ(report.numDuplicateVertices, 1);
  EXPECT_TRUE(report.isSolid());
  EXPECT_NEAR(report.volume, 2, 1e-14);
}

TEST(InspectMesh, ASoupIsOpenButWouldCloseWhenWelded) {
  const MeshReport report = inspectMesh(unwelded(cube()));
  EXPECT_EQ(report.numOpenEdges, 36);
  EXPECT_EQ(report.numComponents, 12);
  EXPECT_EQ(report.numDuplicateVertices, 28);
  EXPECT_TRUE(report.wouldCloseWhenWelded);
  EXPECT_TRUE(mentions(report, "welding"));

  const TriangleMesh welded = weldVertices(unwelded(cube()));
  EXPECT_EQ(welded.vertices.size(), 8u);
  EXPECT_TRUE(inspectMesh(welded).isSolid());
}

TEST(WeldVertices, RefusesIndicesThatNameNoVertex) {
  for (const int index : {-1, 8, 99, 1 << 30, -(1 << 30)}) {
    for (std::size_t corner = 0; corner < 3; ++corner) {
      TriangleMesh mesh = cube();
      mesh.triangles[5][corner] = index;
      EXPECT_THROW((void)weldVertices(mesh), InvalidInput) << index;
    }
  }
  EXPECT_EQ(weldVertices(cube()), cube());
}

TEST(InspectMesh, VolumeKeepsItsDigitsFarFromTheOrigin) {
  TriangleMesh mesh = cube();
  for (Vec3& v : mesh.vertices) v += Vec3{1 << 20, 1 << 20, 1 << 20};
  EXPECT_NEAR(inspectMesh(mesh).volume, 1, 1e-14);
}

TEST(InspectMesh, SuspectsTheUnit) {
  TriangleMesh mesh = cube();
  for (Vec3& v : mesh.vertices) v *= 120;
  EXPECT_EQ(inspectMesh(mesh).scale, MeshScale::LikelyMillimetres);
  for (Vec3& v : mesh.vertices) v *= 1e-7;
  EXPECT_EQ(inspectMesh(mesh).scale, MeshScale::LikelyMetresTwice);
  EXPECT_TRUE(mentions(inspectMesh(mesh), "converted to metres twice"));
  EXPECT_EQ(inspectMesh(cube()).scale, MeshScale::Plausible);
}

TEST(InspectMesh, AnEmptyMeshIsAFinding) {
  const MeshReport report = inspectMesh({});
  EXPECT_FALSE(report.isWatertight());
  EXPECT_EQ(report.findings(), (std::vector<std::string>{"no triangles"}));
}

TEST(InspectMesh, RefusesIndicesOutOfRangeAndBadCoordinates) {
  TriangleMesh mesh = cube();
  mesh.triangles[3][1] = 8;
  EXPECT_THROW((void)inspectMesh(mesh), InvalidInput);
  mesh.triangles[3][1] = -1;
  EXPECT_THROW((void)inspectMesh(mesh), InvalidInput);
  mesh = cube();
  mesh.vertices[2].z = std::numeric_limits<Real>::quiet_NaN();
  EXPECT_THROW((void)inspectMesh(mesh), InvalidInput);
}

}  // namespace
}  // namespace tangere
