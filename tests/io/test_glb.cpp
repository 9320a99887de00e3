// SPDX-License-Identifier: Apache-2.0
#include <tangere/error.hpp>
#include <tangere/io.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace tangere {
namespace {

void append(std::string* out, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) *out += static_cast<char>((value >> (8 * i)) & 0xff);
}

std::string floats(const std::vector<float>& values) {
  std::string out;
  for (const float v : values) append(&out, std::bit_cast<std::uint32_t>(v));
  return out;
}

std::string glb(std::string json, std::string binary = "") {
  while (json.size() % 4 != 0) json += ' ';
  while (binary.size() % 4 != 0) binary += '\0';
  std::string out = "glTF";
  append(&out, 2);
  append(&out,
         static_cast<std::uint32_t>(20 + json.size() + (binary.empty() ? 0 : 8 + binary.size())));
  append(&out, static_cast<std::uint32_t>(json.size()));
  out += "JSON" + json;
  if (!binary.empty()) {
    append(&out, static_cast<std::uint32_t>(binary.size()));
    out += std::string("BIN\0", 4) + binary;
  }
  return out;
}

TriangleMesh read(const std::string& bytes, const MeshReadLimits& limits = {},
                  std::vector<std::string>* ignored = nullptr) {
  return readGlb(std::as_bytes(std::span(bytes)), "part.glb", limits, ignored);
}

std::string errorOf(const std::string& bytes, const MeshReadLimits& limits = {}) {
  try {
    (void)read(bytes, limits);
    return "accepted";
  } catch (const InvalidInput& error) {
    return error.what();
  }
}
#define EXPECT_HAS(text, part) EXPECT_NE(std::string(text).find(part), std::string::npos) << (text)

// A tetrahedron as glTF has it, y up, and its indices as bytes.
const std::string kPoints = floats({0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1});
const std::string kIndices("\0\2\1\0\1\3\0\3\2\1\2\3", 12);
const std::string kViews =
    R"("buffers":[{"byteLength":60}],"bufferViews":[{"buffer":0,"byteLength":48},)"
    R"({"buffer":0,"byteOffset":48,"byteLength":12}])";
const std::string kAccessors =
    R"("accessors":[{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"},)"
    R"({"bufferView":1,"componentType":5121,"count":12,"type":"SCALAR"}])";
const std::string kMeshes =
    R"("meshes":[{"primitives":[{"attributes":{"POSITION":0},"indices":1}]}])";
const std::string kAsset = R"("asset":{"version":"2.0"})";

std::string document(const std::string& nodes, const std::string& meshes = kMeshes,
                     const std::string& accessors = kAccessors, const std::string& views = kViews) {
  return "{" + kAsset + "," + nodes + "," + meshes + "," + accessors + "," + views + "}";
}
const std::string kOneNode = R"("scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}])";

std::string tetrahedron(const std::string& nodes = kOneNode) {
  return glb(document(nodes), kPoints + kIndices);
}

TEST(ReadGlb, TurnsYUpIntoZUp) {
  const TriangleMesh mesh = read(tetrahedron());
  EXPECT_EQ(mesh.vertices, (std::vector<Vec3>{{0, 0, 0}, {1, 0, 0}, {0, 0, 1}, {0, -1, 0}}));
  EXPECT_EQ(mesh.triangles, (std::vector<Triangle>{{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}));
  EXPECT_TRUE(inspectMesh(mesh).isSolid());
}

TEST(ReadGlb, PlacesMeshesByTheirNodesAndKeepsThemFacingOutward) {
  // A parent that mirrors x, a child that moves; the same mesh again by a matrix.
  const TriangleMesh mesh =
      read(tetrahedron(R"("scenes":[{"nodes":[0,2]}],"nodes":[{"children":[1],"scale":[-2,2,2]},)"
                       R"({"mesh":0,"translation":[1,0,0]},)"
                       R"({"mesh":0,"matrix":[1,0,0,0, 0,1,0,0, 0,0,1,0, 10,0,0,1]}])"));
  EXPECT_EQ(mesh.triangles.size(), 8u);
  const MeshReport report = inspectMesh(mesh);
  EXPECT_TRUE(report.isSolid());
  EXPECT_EQ(report.numComponents, 2);
  EXPECT_NEAR(report.volume, 9.0 / 6, 1e-12);
  EXPECT_EQ(report.bounds.lower, (Vec3{-4, -2, 0}));
  EXPECT_EQ(report.bounds.upper, (Vec3{11, 0, 2}));
}

TEST(ReadGlb, RotatesByQuaternionsInTheOrderOfGltf) {
  const TriangleMesh mesh = read(tetrahedron(
      R"("scenes":[{"nodes":[0]}],"nodes":[{"mesh":0,"rotation":[0,0,1,0]}])"));  // pi about z
  EXPECT_NEAR(norm(mesh.vertices[1] - Vec3{-1, 0, 0}), 0, 1e-15);
  EXPECT_NEAR(norm(mesh.vertices[2] - Vec3{0, 0, -1}), 0, 1e-15);
}

TEST(ReadGlb, ReadsTrianglesWithoutIndicesStripsFansAndStrides) {
  const std::string square = floats({0, 0, 0, 9, 1, 0, 0, 9, 0, 1, 0, 9, 1, 1, 0, 9});
  const auto with = [&](const std::string& mode, int count) {
    return glb(
        document(
            kOneNode,
            R"("meshes":[{"primitives":[{"mode":)" + mode + R"(,"attributes":{"POSITION":0}}]}])",
            R"("accessors":[{"bufferView":0,"componentType":5126,"count":)" +
                std::to_string(count) + R"(,"type":"VEC3"}])",
            R"("buffers":[{"byteLength":64}],"bufferViews":[{"buffer":0,"byteLength":64,"byteStride":16}])"),
        square);
  };
  EXPECT_EQ(read(with("4", 3)).triangles, (std::vector<Triangle>{{0, 1, 2}}));
  EXPECT_EQ(read(with("5", 4)).triangles, (std::vector<Triangle>{{0, 1, 2}, {1, 3, 2}}));
  EXPECT_EQ(read(with("6", 4)).triangles, (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}}));
  EXPECT_EQ(read(with("5", 4)).vertices[3], (Vec3{1, 0, 1}));
  EXPECT_HAS(errorOf(with("4", 4)), "4 corners do not make triangles");
  EXPECT_HAS(errorOf(with("1", 4)), "no triangles");
  EXPECT_HAS(errorOf(with("4", 5)), "need more bytes than the file has");
}

TEST(ReadGlb, SaysWhatItPassedOver) {
  std::vector<std::string> ignored;
  (void)read(
      glb(document(R"("materials":[{},{}],"images":[{"uri":"http://host/a.png"}],)" + kOneNode),
          kPoints + kIndices),
      {}, &ignored);
  EXPECT_EQ(ignored, (std::vector<std::string>{"2 materials", "1 images"}));
}

TEST(ReadGlb, AFileCutAnywhereIsRefused) {
  const std::string whole = tetrahedron();
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(errorOf(whole.substr(0, size)), "accepted") << size;
}

TEST(ReadGlb, HeadersThatLieAreRefusedBeforeMemoryIsTaken) {
  std::string huge = tetrahedron();
  huge.replace(12, 4, "\xff\xff\xff\xff");
  EXPECT_HAS(errorOf(huge), "the chunk at byte 12 has 4294967295 bytes");
  std::string version = tetrahedron();
  version[4] = 1;
  EXPECT_HAS(errorOf(version), "glTF version 1");
  EXPECT_HAS(errorOf("solid"), "does not begin with 'glTF'");
  const auto withCount = [](const std::string& count) {
    return glb(
        document(
            kOneNode, kMeshes,
            R"("accessors":[{"bufferView":0,"componentType":5126,"count":)" + count +
                R"(,"type":"VEC3"},{"bufferView":1,"componentType":5121,"count":12,"type":"SCALAR"}])"),
        kPoints + kIndices);
  };
  EXPECT_HAS(errorOf(withCount("5")), "need more bytes than the file has");
  EXPECT_HAS(errorOf(withCount("2147483647")), "need more bytes than the file has");
  for (const std::string count :
       {"4294967296", "18446744073709551615", "-1", "1.5", "\"4\"", "null"})
    EXPECT_HAS(errorOf(withCount(count)), "'count' must be an integer");
  EXPECT_EQ(errorOf(withCount("4")), "accepted");
  EXPECT_HAS(errorOf(withCount("3")), "index 3 is out of range: the primitive has 3 vertices");
}

TEST(ReadGlb, ReferencesToWhatIsNotThereAreRefused) {
  EXPECT_HAS(errorOf(tetrahedron(R"("scenes":[{"nodes":[7]}],"nodes":[{"mesh":0}])")), "entry 7");
  EXPECT_HAS(errorOf(tetrahedron(R"("scenes":[{"nodes":[0]}],"nodes":[{"mesh":3}])")), "entry 3");
  EXPECT_HAS(errorOf(tetrahedron(R"("scene":4,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}])")),
             "entry 4");
  EXPECT_HAS(errorOf(tetrahedron(R"("scenes":[{}],"nodes":[{"mesh":0}])")), "no triangles");
  EXPECT_HAS(errorOf(tetrahedron(R"("scenes":{"nodes":[0]},"nodes":[{"mesh":0}])")),
             "must be an array");
}

TEST(ReadGlb, NodesInACircleAreRefused) {
  EXPECT_HAS(
      errorOf(tetrahedron(R"("scenes":[{"nodes":[0]}],"nodes":[{"mesh":0,"children":[0]}])")),
      "node 0 is a child twice");
  EXPECT_HAS(
      errorOf(tetrahedron(
          R"("scenes":[{"nodes":[0]}],"nodes":[{"children":[1]},{"children":[2]},{"children":[1]}])")),
      "node 1 is a child twice");
}

TEST(ReadGlb, JsonThatIsNotPlainIsRefused) {
  EXPECT_HAS(errorOf(glb(R"({"a":1,"a":2})")), "the key 'a' is in one JSON object twice");
  EXPECT_HAS(errorOf(glb(R"({"a":1,})")), "JSON: parse error at line 1");
  EXPECT_HAS(errorOf(glb("{/* c */}")), "JSON: parse error");
  EXPECT_HAS(errorOf(glb(std::string(1'000'000, '['))), "nested deeper than 128");
  EXPECT_HAS(errorOf(glb("[]")), "must be an object");
  EXPECT_HAS(errorOf(glb("{}")), "no triangles");
}

TEST(ReadGlb, DataThatIsElsewhereOrCompressedIsRefused) {
  EXPECT_HAS(
      errorOf(glb(
          document(kOneNode, kMeshes, kAccessors,
                   R"("buffers":[{"byteLength":60,"uri":"http://host/a.bin"}],)"
                   R"("bufferViews":[{"buffer":0,"byteLength":48},{"buffer":0,"byteLength":12}])"),
          kPoints + kIndices)),
      "its data is outside this file");
  EXPECT_HAS(
      errorOf(glb(document(R"("extensionsRequired":["KHR_draco_mesh_compression"],)" + kOneNode),
                  kPoints + kIndices)),
      "needs the extension 'KHR_draco_mesh_compression'");
  EXPECT_EQ(errorOf(glb(document(R"("extensionsRequired":["KHR_materials_unlit"],)" + kOneNode),
                        kPoints + kIndices)),
            "accepted");
}

TEST(ReadGlb, PositionsThatAreNotFiniteAreRefused) {
  std::string points = kPoints;
  points.replace(4, 4, floats({std::numeric_limits<float>::quiet_NaN()}));
  EXPECT_HAS(errorOf(glb(document(kOneNode), points + kIndices)),
             "at byte 0 of the binary chunk is not finite");
  EXPECT_HAS(
      errorOf(tetrahedron(R"("scenes":[{"nodes":[0]}],"nodes":[{"mesh":0,"rotation":[0,0,0,0]}])")),
      "rotation of a node is zero");
  EXPECT_HAS(errorOf(tetrahedron(R"("scenes":[{"nodes":[0]}],"nodes":[{"children":[1],)"
                                 R"("scale":[1e200,1,1]},{"mesh":0,"scale":[1e200,1,1]}])")),
             "is not finite");
}

TEST(ReadGlb, LimitsHoldAlsoWhenNodesRepeatAMesh) {
  std::string nodes = R"("scenes":[{"nodes":[0)", list = R"("nodes":[{"mesh":0})";
  for (int i = 1; i < 100; ++i) {
    nodes.append(",").append(std::to_string(i));
    list += R"(,{"mesh":0})";
  }
  const std::string many = glb(document(nodes + "]}]," + list + "]"), kPoints + kIndices);
  EXPECT_EQ(read(many).triangles.size(), 400u);
  EXPECT_HAS(errorOf(many, {.maxTriangles = 399}), "more than 399 triangles");
  EXPECT_HAS(errorOf(many, {.maxBytes = 100}), "more than the limit of 100");
}

}  // namespace
}  // namespace tangere
