// SPDX-License-Identifier: Apache-2.0
#include <tangere/error.hpp>
#include <tangere/io.hpp>

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

namespace tangere {
namespace {

TriangleMesh read(const std::string& text, const MeshReadLimits& limits = {}) {
  return readStl(std::as_bytes(std::span(text)), "part.stl", limits);
}

void expectRefused(const std::string& text, const std::string& part,
                   const MeshReadLimits& limits = {}) {
  try {
    (void)read(text, limits);
    FAIL() << "accepted, but expected: " << part;
  } catch (const InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).substr(0, 8), "part.stl") << error.what();
  }
}

void append(std::string* out, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) *out += static_cast<char>((value >> (8 * i)) & 0xff);
}

using FloatTriangle = std::array<std::array<float, 3>, 3>;

std::string binaryStl(const std::vector<FloatTriangle>& triangles, std::string header = "binary") {
  header.resize(80, ' ');
  append(&header, static_cast<std::uint32_t>(triangles.size()));
  for (const FloatTriangle& triangle : triangles) {
    for (int i = 0; i < 3; ++i) append(&header, 0);
    for (const auto& corner : triangle) {
      for (const float c : corner) append(&header, std::bit_cast<std::uint32_t>(c));
    }
    header += std::string(2, '\0');
  }
  return header;
}

const std::vector<FloatTriangle> kTwo{{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}},
                                      {{{1, 0, 0}, {1, 1, 0}, {0, 1, -0.0f}}}};

const std::string kFacet =
    "facet normal 0 0 1\n outer loop\n  vertex 0 0 0\n  vertex 1 0 0\n  vertex 0 0.1 0\n"
    " endloop\nendfacet\n";

TEST(ReadStl, BinaryCornersAtOnePlaceBecomeOneVertex) {
  const TriangleMesh mesh = read(binaryStl(kTwo));
  EXPECT_EQ(mesh.vertices, (std::vector<Vec3>{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}));
  EXPECT_EQ(mesh.triangles, (std::vector<Triangle>{{0, 1, 2}, {1, 3, 2}}));
}

TEST(ReadStl, BinaryThatBeginsWithSolidIsToldBySize) {
  EXPECT_EQ(read(binaryStl(kTwo, "solid exported by something")), read(binaryStl(kTwo)));
}

TEST(ReadStl, Ascii) {
  const TriangleMesh mesh = read("solid a name with words\n" + kFacet + kFacet + "endsolid a\n");
  EXPECT_EQ(mesh.vertices, (std::vector<Vec3>{{0, 0, 0}, {1, 0, 0}, {0, 0.1, 0}}));
  EXPECT_EQ(mesh.triangles, (std::vector<Triangle>{{0, 1, 2}, {0, 1, 2}}));
}

TEST(ReadStl, AsciiInAnyCaseWithWindowsLinesAndSeveralSolids) {
  const TriangleMesh mesh = read(
      "  SOLID\r\nFacet Normal nan nan nan\r\nOUTER LOOP\r\nVERTEX 0 0 0\r\nVERTEX 1 0 0\r\n"
      "VERTEX 0 1 0\r\nENDLOOP\r\nENDFACET\r\nENDSOLID\r\nsolid two\n" +
      kFacet + "endsolid");
  EXPECT_EQ(mesh.triangles.size(), 2u);
}

TEST(ReadStl, RefusesBadAsciiWithTheLine) {
  expectRefused("solid a\n" + kFacet, "the file ends inside a solid");
  expectRefused("solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0\nvertex 1 0 0\n",
                ":5: coordinate of the vertex must be a number, but is 'vertex'");
  expectRefused("solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 nan\n",
                ":4: coordinate of the vertex must be finite");
  expectRefused("solid a\nfacet normal 0 0 1\nvertex 0 0 0\n",
                ":3: expected 'outer', found 'vertex'");
  expectRefused("solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 0 0 0\nendloop\n",
                ":6: expected 'vertex', found 'endloop'");
  expectRefused("solid a\nfacet normal 0 0 1\nouter loop\nvertex 0",
                "coordinate of the vertex is missing");
  expectRefused("solid a\nendsolid\n", "no triangles");
  expectRefused("solid a\nendsolid\nfoo", "expected 'solid', found 'foo'");
  expectRefused("solid a\ncolor 1 1 1\n", "expected 'facet' or 'endsolid', found 'color'");
}

TEST(ReadStl, RefusesBinaryOfTheWrongSizeBeforeUsingItsCount) {
  std::string text = binaryStl(kTwo);
  expectRefused(text.substr(0, text.size() - 1), "must have 184 bytes, but has 183");
  expectRefused(text + "x", "must have 184 bytes, but has 185");
  for (int i = 80; i < 84; ++i) text[static_cast<std::size_t>(i)] = '\xff';
  expectRefused(text, "binary STL with 4294967295 triangles (byte 80)");
  expectRefused(binaryStl({}), "no triangles");
  expectRefused("", "nor a binary one (0 bytes");
  expectRefused("hello", "neither an ASCII STL file");
}

TEST(ReadStl, RefusesBinaryCoordinatesThatAreNotFiniteWithTheByte) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<FloatTriangle> triangles = kTwo;
    triangles[1][2][1] = bad;
    // 84 + 50 + 12 (normal) + 24 (two corners) + 4.
    expectRefused(binaryStl(triangles), "coordinate at byte 174 (triangle 1) is not finite");
  }
}

TEST(ReadStl, RefusesMoreThanItsLimits) {
  expectRefused(binaryStl(kTwo), "more than the limit of 100", {.maxBytes = 100});
  expectRefused(binaryStl(kTwo), "2 triangles, more than the limit of 1", {.maxTriangles = 1});
  expectRefused("solid\n" + kFacet + kFacet + "endsolid\n", "more than 1 triangles",
                {.maxTriangles = 1});
}

class ReadMesh : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ =
        std::filesystem::path(::testing::TempDir()) / (std::string("tangere_") + test->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path write(const std::string& name, const std::string& content) {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return folder_ / name;
  }
  void expectRefusedFile(const std::filesystem::path& path, const std::string& part,
                         const MeshReadLimits& limits = {}) {
    try {
      (void)readMesh(path, limits);
      FAIL() << "accepted, but expected: " << part;
    } catch (const InvalidInput& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
      EXPECT_EQ(std::string(error.what()).find(path.string()), 0u) << error.what();
    }
  }
  std::filesystem::path folder_;
};

TEST_F(ReadMesh, ReadsByExtension) {
  EXPECT_EQ(readMesh(write("a.STL", binaryStl(kTwo))).triangles.size(), 2u);
  EXPECT_EQ(readMesh(write("b.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3")).triangles.size(), 1u);
}

TEST_F(ReadMesh, NamesTheFileAndTheLine) {
  expectRefusedFile(write("b.obj", "v 0 0 0\nv 1 0\n"), "b.obj:2: z of the vertex is missing");
}

TEST_F(ReadMesh, RefusesWhatItCannotRead) {
  expectRefusedFile(folder_ / "none.obj", "no such file");
  expectRefusedFile(write("a.ply", "ply"), "end in .obj, .stl, .glb or .dae, not '.ply'");
  expectRefusedFile(write("noextension", "x"), "not ''");
  std::filesystem::create_directories(folder_ / "folder.stl");
  expectRefusedFile(folder_ / "folder.stl", "not a regular file");
  expectRefusedFile(write("big.stl", std::string(2000, 'x')),
                    "2000 bytes, more than the limit of 1000", {.maxBytes = 1000});
}

}  // namespace
}  // namespace tangere
