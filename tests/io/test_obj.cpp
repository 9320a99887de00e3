// SPDX-License-Identifier: Apache-2.0
#include <tangere/error.hpp>
#include <tangere/io.hpp>

#include <gtest/gtest.h>

#include <locale>
#include <string>

namespace tangere {
namespace {

void expectRefused(const std::string& text, const std::string& part,
                   const MeshReadLimits& limits = {}) {
  try {
    (void)readObj(text, "part.obj", limits);
    FAIL() << "accepted, but expected: " << part;
  } catch (const InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).substr(0, 8), "part.obj") << error.what();
  }
}

TEST(ReadObj, VerticesAndFaces) {
  const TriangleMesh mesh = readObj("v 0 0 0\nv 1.5 0 0\nv 0 -2e-1 0\nf 1 2 3\n");
  EXPECT_EQ(mesh.vertices, (std::vector<Vec3>{{0, 0, 0}, {1.5, 0, 0}, {0, -0.2, 0}}));
  EXPECT_EQ(mesh.triangles, (std::vector<Triangle>{{0, 1, 2}}));
}

TEST(ReadObj, NegativeReferencesCountBackFromTheLastVertex) {
  const TriangleMesh mesh = readObj("v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\nv 5 5 5\nf -1 1 2\n");
  EXPECT_EQ(mesh.triangles, (std::vector<Triangle>{{0, 1, 2}, {3, 0, 1}}));
}

TEST(ReadObj, PolygonsBecomeFans) {
  const TriangleMesh mesh = readObj("v 0 0 0\nv 1 0 0\nv 2 1 0\nv 1 2 0\nv 0 1 0\nf 1 2 3 4 5\n");
  EXPECT_EQ(mesh.triangles, (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}, {0, 3, 4}}));
}

TEST(ReadObj, TextureAndNormalReferencesAreSkipped) {
  const TriangleMesh mesh = readObj(
      "v 0 0 0 1.0\nv 1 0 0 0.5 0.5 0.5\nv 0 1 0\nvt 0 0\nvn 0 0 1\n"
      "f 1/1/1 2//1 3/1\n");
  EXPECT_EQ(mesh.triangles, (std::vector<Triangle>{{0, 1, 2}}));
}

TEST(ReadObj, GroupsMaterialsAndOtherStatementsAreSkipped) {
  const TriangleMesh mesh = readObj(
      "# a comment\nmtllib a.mtl\no thing\nv 0 0 0\nv 1 0 0 # inline\nv 0 1 0\ng one\nusemtl red\n"
      "s off\nf 1 2 3\ng two\nl 1 2\ncstype bezier\nf 3 2 1\n\n\n");
  EXPECT_EQ(mesh.triangles, (std::vector<Triangle>{{0, 1, 2}, {2, 1, 0}}));
}

TEST(ReadObj, WindowsLinesTabsContinuationsAndAMissingLastNewline) {
  const TriangleMesh mesh =
      readObj("v\t0 0 0\r\nv 1 \\\r\n 0 \\\r\n0\r\nv 0 +1 0\r\n  f 1 2 \\\r\n3");
  EXPECT_EQ(mesh.vertices[1], (Vec3{1, 0, 0}));
  EXPECT_EQ(mesh.vertices[2], (Vec3{0, 1, 0}));
  EXPECT_EQ(mesh.triangles.size(), 1u);
}

// A locale with a decimal comma that every machine has: a stream that uses it reads 1.5 as 1.
struct DecimalComma : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
};

TEST(ReadObj, DoesNotDependOnTheLocale) {
  const std::locale before =
      std::locale::global(std::locale(std::locale::classic(), new DecimalComma));
  const TriangleMesh mesh = readObj("v 1.5 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  std::locale::global(before);
  EXPECT_EQ(mesh.vertices[0].x, 1.5);
}

TEST(ReadObj, KeepsEveryDigit) {
  const TriangleMesh mesh =
      readObj("v 0.1 0.30000000000000004 5e-324\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  EXPECT_EQ(mesh.vertices[0], (Vec3{0.1, 0.1 + 0.2, 5e-324}));
}

TEST(ReadObj, RefusesBadNumbersWithTheLine) {
  const std::string good = "v 0 0 0\nv 1 0 0\n";
  expectRefused(good + "v 1 2\nf 1 2 3\n", ":3: z of the vertex is missing");
  expectRefused(good + "v 1 x 3\nf 1 2 3\n", ":3: y of the vertex must be a number, but is 'x'");
  expectRefused(good + "v 1 1,5 3\n", "'1,5'");
  expectRefused(good + "v nan 0 0\n", ":3: x of the vertex must be finite");
  expectRefused(good + "v 0 -inf 0\n", "must be finite, but is '-inf'");
  expectRefused(good + "v 0 0 1e999\n", "out of the range of a double");
  expectRefused(good + "v 0 0 0x10\n", "'0x10'");
  expectRefused(good + "v 0 0 +-1\n", "'+-1'");
}

TEST(ReadObj, RefusesBadReferencesWithTheLine) {
  const std::string good = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
  expectRefused(good + "f 0 1 2\n", ":4: vertex reference '0' is out of range: 3 vertices so far");
  expectRefused(good + "f 1 2 4\n", "'4' is out of range");
  expectRefused(good + "f 1 2 -4\n", "'-4' is out of range");
  expectRefused("f 1 2 3\n" + good, ":1: vertex reference '1' is out of range: 0 vertices so far");
  expectRefused(good + "f 1 2 99999999999999999999\n", "out of range");
  expectRefused(good + "f 1 2 1.5\n", "expected a vertex reference");
  expectRefused(good + "f 1 2 /3\n", "expected a vertex reference");
  expectRefused(good + "f 1 2 3/a\n", "expected a vertex reference");
  expectRefused(good + "f 1 2\n", ":4: a face needs at least 3 vertices, found 2");
  expectRefused(good + "f\n", "found 0");
  expectRefused(good + "\\\n\nf 1 2 9\n", ":6: ");  // the continuation is one statement
}

TEST(ReadObj, RefusesWhatIsNoObj) {
  expectRefused("", "no faces");
  expectRefused("v 0 0 0\n", "no faces ('f') in this OBJ file, 1 vertices");
  expectRefused(std::string("\x7f"
                            "ELF\x02\x01\x00",
                            7),
                "found '?ELF");
  expectRefused("{\"a\": 1}\n", "expected a statement");
}

TEST(ReadObj, RefusesMoreThanItsLimits) {
  const std::string text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3 4\n";
  expectRefused(text, "more than the limit of 10", {.maxBytes = 10});
  expectRefused(text, ":5: more than 1 triangles", {.maxTriangles = 1});
  EXPECT_EQ(readObj(text, "part.obj", {.maxTriangles = 2}).triangles.size(), 2u);
}

}  // namespace
}  // namespace tangere
