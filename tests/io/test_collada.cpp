// SPDX-License-Identifier: Apache-2.0
//
// COLLADA meshes: where their triangles end up, and what is refused where.
#include <tangere/error.hpp>
#include <tangere/io.hpp>
#include <tangere/limit_exceeded.hpp>
#include <tangere/mesh.hpp>

#include <gtest/gtest.h>

#include <string>

namespace tangere {
namespace {

/// A tetrahedron of legs 1, 2, 3 along x, y, z; its volume is 1.
std::string geometry(const std::string& primitives) {
  return "<library_geometries><geometry id='g'><mesh>"
         "<source id='p'><float_array id='a' count='12'>0 0 0 1 0 0 0 2 0 0 0 3</float_array>"
         "<technique_common><accessor source='#a' count='4' stride='3'/></technique_common>"
         "</source><vertices id='v'><input semantic='POSITION' source='#p'/></vertices>" +
         primitives + "</mesh></geometry></library_geometries>";
}
const std::string kTriangles =
    "<triangles count='4'><input semantic='VERTEX' source='#v' offset='0'/>"
    "<p>0 2 1  0 1 3  0 3 2  1 2 3</p></triangles>";

std::string scene(const std::string& nodes, const std::string& up = "Z_UP",
                  const std::string& more = "") {
  return "<COLLADA><asset><up_axis>" + up + "</up_axis></asset>" + geometry(kTriangles) + more +
         "<library_visual_scenes><visual_scene id='s'>" + nodes +
         "</visual_scene></library_visual_scenes>"
         "<scene><instance_visual_scene url='#s'/></scene></COLLADA>";
}
const std::string kInstance = "<instance_geometry url='#g'/>";

Vec3 upperOf(const std::string& text) { return inspectMesh(readCollada(text)).bounds.upper; }
Vec3 lowerOf(const std::string& text) { return inspectMesh(readCollada(text)).bounds.lower; }

std::string errorOf(const std::string& text) {
  try {
    (void)readCollada(text, "m.dae", {.maxTriangles = 1000});
    return "accepted";
  } catch (const InvalidInput& error) {
    return error.what();
  }
}

TEST(Collada, AnIndexedTetrahedronIsClosedAndHasItsVolume) {
  const TriangleMesh mesh = readCollada(scene("<node>" + kInstance + "</node>"));
  EXPECT_EQ(mesh.vertices.size(), 4U);
  EXPECT_EQ(mesh.triangles.size(), 4U);
  const MeshReport report = inspectMesh(mesh);
  EXPECT_TRUE(report.isSolid());
  EXPECT_NEAR(report.volume, 1, 1e-15);
}

TEST(Collada, WithoutASceneTheGeometriesAreTakenAsTheyAre) {
  EXPECT_EQ(upperOf("<COLLADA><asset><up_axis>Z_UP</up_axis></asset>" + geometry(kTriangles) +
                    "</COLLADA>"),
            (Vec3{1, 2, 3}));
}

TEST(Collada, NodesPlaceWhatIsInThemInTheOrderOfTheirTransforms) {
  // First scaled, then turned by 90 degrees about z, then moved.
  const std::string nodes =
      "<node><translate>10 0 0</translate><node><rotate>0 0 1 90</rotate><scale>2 1 1</scale>" +
      kInstance + "</node></node>";
  const Vec3 upper = upperOf(scene(nodes)), lower = lowerOf(scene(nodes));
  EXPECT_NEAR(norm(upper - Vec3{10, 2, 3}), 0, 1e-15);  // x to y, doubled
  EXPECT_NEAR(norm(lower - Vec3{8, 0, 0}), 0, 1e-15);   // y to -x
  const std::string matrix =
      "<node><matrix>0 -1 0 10  2 0 0 0  0 0 1 0  0 0 0 1</matrix>" + kInstance + "</node>";
  EXPECT_NEAR(norm(upperOf(scene(matrix)) - Vec3{10, 2, 3}), 0, 1e-15);
}

TEST(Collada, AMirroredNodeKeepsItsOutsideOutside) {
  const MeshReport report =
      inspectMesh(readCollada(scene("<node><scale>-1 1 1</scale>" + kInstance + "</node>")));
  EXPECT_TRUE(report.isSolid());
  EXPECT_NEAR(report.volume, 1, 1e-15);
}

TEST(Collada, TheFileSaysWhereUpIsAndHowLongItsUnit) {
  const std::string node = "<node>" + kInstance + "</node>";
  EXPECT_EQ(upperOf(scene(node, "Y_UP")), (Vec3{1, 0, 2}));
  EXPECT_EQ(lowerOf(scene(node, "Y_UP")), (Vec3{0, -3, 0}));
  EXPECT_EQ(lowerOf(scene(node, "X_UP")), (Vec3{-2, -3, 0}));
  std::string inch = scene(node);
  inch.insert(inch.find("<up_axis>"), "<unit name='inch' meter='0.0254'/>");
  EXPECT_NEAR(upperOf(inch).z, 3 * 0.0254, 1e-16);
}

TEST(Collada, PolygonsFansAndStripsBecomeTriangles) {
  const auto areaOf = [](const std::string& primitive) {
    return inspectMesh(readCollada("<COLLADA><asset><up_axis>Z_UP</up_axis></asset>" +
                                   geometry(primitive) + "</COLLADA>"))
        .area;
  };
  const std::string input =
      "<input semantic='VERTEX' source='#v' offset='1'/><input semantic='NORMAL' source='#n' "
      "offset='0'/>";
  // The face of legs 1 and 2 has an area of 1, that of 1 and 3 has 1.5.
  EXPECT_NEAR(areaOf("<polylist>" + input +
                     "<vcount>3 3</vcount><p>9 0 9 1 9 2 9 0 9 1 9 3</p>"
                     "</polylist>"),
              2.5, 1e-15);
  EXPECT_NEAR(areaOf("<polygons>" + input + "<p>9 0 9 1 9 2</p><p>9 0 9 1 9 3</p></polygons>"), 2.5,
              1e-15);
  // 2 0 1 and 0 1 3 share the leg along x.
  EXPECT_NEAR(areaOf("<tristrips>" + input + "<p>9 2 9 0 9 1 9 3</p></tristrips>"), 2.5, 1e-15);
  EXPECT_NEAR(areaOf("<trifans>" + input + "<p>9 0 9 2 9 1 9 3</p></trifans>"), 2.5, 1e-15);
}

TEST(Collada, NodesOfALibraryAreCopiedAndCopiesOfThemselvesRefused) {
  const std::string library =
      "<library_nodes><node id='n'>" + kInstance + "</node></library_nodes>";
  const std::string two =
      "<node><instance_node url='#n'/></node>"
      "<node><translate>5 0 0</translate><instance_node url='#n'/></node>";
  EXPECT_EQ(readCollada(scene(two, "Z_UP", library)).triangles.size(), 8U);
  const std::string ring = "<library_nodes><node id='n'>" + kInstance +
                           "<instance_node url='#n'/></node></library_nodes>";
  EXPECT_NE(errorOf(scene(two, "Z_UP", ring)).find("copies of nodes within themselves"),
            std::string::npos);
  // Each doubles the next: 2^40 nodes.
  std::string bomb = "<library_nodes>";
  for (int i = 0; i < 40; ++i) {
    const std::string next = "<instance_node url='#b" + std::to_string(i + 1) + "'/>";
    bomb += "<node id='b" + std::to_string(i) + "'>" + next + next + "</node>";
  }
  const std::string text =
      scene("<instance_node url='#b0'/>", "Z_UP", bomb + "<node id='b40'/></library_nodes>");
  EXPECT_NE(errorOf(text).find("nodes, the limit"), std::string::npos);
}

TEST(Collada, WhatIsWrongIsRefusedWithItsPlace) {
  const auto with = [](const std::string& primitive) {
    return errorOf("<COLLADA>\n" + geometry("\n" + primitive) + "</COLLADA>");
  };
  const std::string input = "<input semantic='VERTEX' source='#v' offset='0'/>";
  EXPECT_NE(with("<triangles>" + input + "<p>0 1 4</p></triangles>")
                .find("m.dae:3:61: <p>: found the index 4, expected one from 0 to 4 exclusive"),
            std::string::npos);
  EXPECT_NE(with("<triangles>" + input + "<p>0 1 -1</p></triangles>").find("found the index -1"),
            std::string::npos);
  EXPECT_NE(with("<triangles>" + input + "<p>0 1 x</p></triangles>").find("found 'x', expected"),
            std::string::npos);
  EXPECT_NE(with("<polylist>" + input + "<vcount>4</vcount><p>0 1 2</p></polylist>")
                .find("fewer corners than its polygons have"),
            std::string::npos);
  EXPECT_NE(with("<polylist>" + input + "<p>0 1 2</p></polylist>").find("vcount is missing"),
            std::string::npos);
  EXPECT_NE(with("<triangles><input semantic='VERTEX' source='#w' offset='0'/><p>0 1 2</p>"
                 "</triangles>")
                .find("found no positions"),
            std::string::npos);
  EXPECT_NE(with("").find("no triangles in this COLLADA file"), std::string::npos);
  EXPECT_NE(errorOf("<robot/>").find("found <robot>, expected <COLLADA>"), std::string::npos);
  EXPECT_NE(errorOf("<COLLADA>").find("m.dae:1:"), std::string::npos);
  EXPECT_NE(errorOf("<COLLADA><asset><unit meter='0'/></asset></COLLADA>").find("above 0 [m]"),
            std::string::npos);
}

}  // namespace
}  // namespace tangere
