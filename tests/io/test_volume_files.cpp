// SPDX-License-Identifier: Apache-2.0
//
// Files of tetrahedra: every format and dialect gives the same two tetrahedra, what is left out is
// said, and what is wrong is refused with its line or byte.
#include <tangere/error.hpp>
#include <tangere/io.hpp>

#include "io/mesh_file.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace tangere {
namespace {

using Notes = std::vector<std::string>;

/// Two tetrahedra on either side of the triangle 1 2 3.
const std::vector<Vec3> kVertices{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
const std::vector<Tet> kTets{{0, 1, 2, 3}, {1, 2, 3, 4}};
/// 1/6 behind the triangle, 1/3 in front of it.
constexpr Real kVolume = 0.5;

std::span<const std::byte> bytesOf(const std::string& text) {
  return std::as_bytes(std::span(text));
}

TetMesh msh(const std::string& text, Notes* notes = nullptr, const TetMeshReadLimits& limits = {}) {
  return readMsh(bytesOf(text), "a.msh", notes, limits);
}

TetMesh vtk(const std::string& text, Notes* notes = nullptr, const TetMeshReadLimits& limits = {}) {
  return readVtk(bytesOf(text), "a.vtk", notes, limits);
}

TetMesh tetGen(const std::string& nodes, const std::string& elements, Notes* notes = nullptr) {
  return readTetGen(nodes, elements, "a.node", "a.ele", notes);
}

void expectTwoTets(const TetMesh& mesh) {
  ASSERT_EQ(mesh.vertices().size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(mesh.vertices()[i], kVertices[i]) << i;
  ASSERT_EQ(mesh.tets().size(), 2u);
  EXPECT_EQ(mesh.tets()[0], kTets[0]);
  EXPECT_EQ(mesh.tets()[1], kTets[1]);
  EXPECT_NEAR(mesh.volume(), kVolume, 1e-15);
}

/// The message holds `part`.
template <class Read>
void expectRefused(const Read& read, const std::string& part) {
  try {
    static_cast<void>(read());
    FAIL() << "accepted, but expected: " << part;
  } catch (const InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
        << error.what() << "\nexpected: " << part;
  }
}

void expectMshRefused(const std::string& text, const std::string& part) {
  expectRefused([&] { return msh(text); }, part);
}

void expectVtkRefused(const std::string& text, const std::string& part) {
  expectRefused([&] { return vtk(text); }, part);
}

/// The first `from` in the text made `to`.
std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

template <class T>
std::string raw(T value, std::endian order = std::endian::little) {
  std::string out(sizeof(T), '\0');
  std::memcpy(out.data(), &value, sizeof(T));
  if (order != std::endian::native) out = std::string(out.rbegin(), out.rend());
  return out;
}

const std::string kMsh22 =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
    "$PhysicalNames\n1\n3 7 \"rubber $Nodes\"\n$EndPhysicalNames\n"
    "$Nodes\n5\n10 0 0 0\n2 1 0 0\n7 0 1 0\n40 0 0 1\n3 1 1 1\n$EndNodes\n"
    "$Elements\n2\n1 4 2 7 1 10 2 7 40\n2 4 3 7 1 0 2 7 40 3\n$EndElements\n";

const std::string kMsh41 =
    "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
    "$Entities\n0 0 0 1\n1 0 0 0 1 1 1 0 0\n$EndEntities\n"
    "$Nodes\n2 5 2 40\n2 1 1 2\n10\n2\n0 0 0 0.1 0.2\n1 0 0 0.1 0.2\n"
    "3 1 0 3\n7\n40\n3\n0 1 0\n0 0 1\n1 1 1\n$EndNodes\n"
    "$Elements\n1 2 1 2\n3 1 4 2\n1 10 2 7 40\n2 2 7 40 3\n$EndElements\n";

std::string mshHeader(const std::string& version, std::endian order) {
  return "$MeshFormat\n" + version + " 1 8\n" + raw(std::int32_t{1}, order) + "\n$EndMeshFormat\n";
}

std::string binaryMsh22(std::endian order) {
  std::string out = mshHeader("2.2", order) + "$Nodes\n5\n";
  for (std::int32_t i = 0; i < 5; ++i) {
    out += raw(i + 1, order);
    for (int axis = 0; axis < 3; ++axis)
      out += raw(kVertices[static_cast<std::size_t>(i)][axis], order);
  }
  out += "\n$EndNodes\n$Elements\n3\n";
  for (const std::int32_t n : {2, 1, 2, 9, 7, 1, 1, 2, 3}) out += raw(n, order);  // a triangle
  for (const std::int32_t n : {4, 2, 2}) out += raw(n, order);
  for (std::int32_t t = 0; t < 2; ++t) {
    for (const std::int32_t n : {t + 1, 7, 1}) out += raw(n, order);
    for (const std::int32_t v : kTets[static_cast<std::size_t>(t)]) out += raw(v + 1, order);
  }
  return out + "\n$EndElements\n";
}

/// S: what the file calls size_t.
template <class S>
std::string binaryMsh41(std::endian order) {
  std::string out = mshHeader("4.1", order);
  if (sizeof(S) == 4) out = with(out, "4.1 1 8", "4.1 1 4");
  out += "$Nodes\n";
  const auto sizes = [&](std::initializer_list<S> numbers) {
    for (const S n : numbers) out += raw(n, order);
  };
  const auto ints = [&](std::initializer_list<std::int32_t> numbers) {
    for (const std::int32_t n : numbers) out += raw(n, order);
  };
  sizes({1, 5, 1, 5});
  ints({3, 1, 0});
  sizes({5, 1, 2, 3, 4, 5});
  for (const Vec3& p : kVertices)
    for (int axis = 0; axis < 3; ++axis) out += raw(p[axis], order);
  out += "\n$EndNodes\n$Elements\n";
  sizes({1, 2, 1, 2});
  ints({3, 1, 4});
  sizes({2, 1, 1, 2, 3, 4, 2, 2, 3, 4, 5});
  return out + "\n$EndElements\n";
}

const std::string kVtkPoints = "POINTS 5 float\n0 0 0 1 0 0 0 1 0\n0 0 1 1 1 1\n";
const std::string kVtk2 =
    "# vtk DataFile Version 2.0\na title\nASCII\nDATASET UNSTRUCTURED_GRID\n" + kVtkPoints +
    "CELLS 2 10\n4 0 1 2 3\n4 1 2 3 4\nCELL_TYPES 2\n10\n10\nPOINT_DATA 5\nSCALARS a float\n";
const std::string kVtk5 =
    "# vtk DataFile Version 5.1\nvtk output\nASCII\nDATASET UNSTRUCTURED_GRID\n"
    "FIELD FieldData 1\nTIME 1 1 double\n0.5\n" +
    kVtkPoints +
    "METADATA\nINFORMATION 0\n\n"
    "CELLS 3 8\nOFFSETS vtktypeint64\n0 4 8 \nCONNECTIVITY vtktypeint64\n0 1 2 3 1 2 3 4 \n"
    "CELL_TYPES 2\n10\n10\n\n";

std::string binaryVtk(bool hasOffsets) {
  constexpr std::endian kBig = std::endian::big;
  std::string out =
      "# vtk DataFile Version 4.2\nt\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n";
  for (const Vec3& p : kVertices)
    for (int axis = 0; axis < 3; ++axis) out += raw(p[axis], kBig);
  if (hasOffsets) {
    out += "\nCELLS 3 8\nOFFSETS vtktypeint64\n";
    for (const std::int64_t n : {0, 4, 8}) out += raw(n, kBig);
    out += "\nCONNECTIVITY vtktypeint32\n";
    for (const Tet& tet : kTets)
      for (const std::int32_t v : tet) out += raw(v, kBig);
  } else {
    out += "\nCELLS 2 10\n";
    for (const Tet& tet : kTets) {
      out += raw(std::int32_t{4}, kBig);
      for (const std::int32_t v : tet) out += raw(v, kBig);
    }
  }
  out += "\nCELL_TYPES 2\n" + raw(std::int32_t{10}, kBig) + raw(std::int32_t{10}, kBig) + "\n";
  return out;
}

const std::string kNodes =
    "# made by hand\n5 3 1 1\n1 0 0 0 9.5 1\n2 1 0 0 9.5 1\n3 0 1 0 9.5 0\n"
    "4 0 0 1 9.5 0\n\n5 1 1 1 9.5 2 # the last\n";
const std::string kElements = "2 4 1\n1 1 2 3 4 -7\n2 2 3 4 5 -7\n# end\n";

TEST(ReadMsh, Version22WithSparseTagsAnyNumberOfTagsAndOtherSections) {
  Notes notes;
  expectTwoTets(msh(kMsh22, &notes));
  EXPECT_TRUE(notes.empty());
  for (const char* version : {"2.1 0 8", "2 0 8"})
    expectTwoTets(msh(with(kMsh22, "2.2 0 8", version)));
}

TEST(ReadMsh, Version22WithElementsBeforeNodesWindowsLinesAndParametricNodes) {
  const std::size_t nodes = kMsh22.find("$Nodes\n"), elements = kMsh22.find("$Elements\n");
  expectTwoTets(msh(kMsh22.substr(0, nodes) + kMsh22.substr(elements) +
                    kMsh22.substr(nodes, elements - nodes)));
  std::string windows;
  for (const char c : kMsh22) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  expectTwoTets(msh(windows));
  std::string parametric = with(kMsh22, "$Nodes\n5", "$ParametricNodes\n5");
  parametric = with(parametric, "$EndNodes", "$EndParametricNodes");
  expectTwoTets(msh(with(parametric, "2 1 0 0", "2 1 0 0 2 1 0.5 0.5")));
}

TEST(ReadMsh, Version41WithSeveralBlocksAndParameters) { expectTwoTets(msh(kMsh41)); }

TEST(ReadMsh, BinaryOfEitherByteOrder) {
  for (const std::endian order : {std::endian::little, std::endian::big}) {
    Notes notes;
    expectTwoTets(msh(binaryMsh22(order), &notes));
    EXPECT_EQ(notes, (Notes{"1 triangle left out: only tetrahedra are kept"}));
    expectTwoTets(msh(binaryMsh41<std::uint64_t>(order)));
    expectTwoTets(msh(binaryMsh41<std::uint32_t>(order)));
  }
}

TEST(ReadMsh, CellsOfOtherKindsAreLeftOutWithANote) {
  Notes notes;
  expectTwoTets(msh(with(kMsh22, "$Elements\n2\n",
                         "$Elements\n6\n7 15 0 10\n8 1 0 10 2\n9 2 0 10 2 7\n9 2 0 2 7 3\n"),
                    &notes));
  EXPECT_EQ(notes, (Notes{"1 point, 1 line, 2 triangles left out: only tetrahedra are kept"}));
  notes.clear();
  expectTwoTets(msh(with(kMsh22, "$Elements\n2\n", "$Elements\n3\n7 7 0 10 2 7 40 3\n"), &notes));
  EXPECT_EQ(notes, (Notes{"1 pyramid left out: only tetrahedra are kept",
                          "1 cell of the solid left out with them: remesh it with tetrahedra "
                          "alone"}));
}

TEST(ReadMsh, TetrahedraOfSecondOrderKeepTheirCorners) {
  const std::string text = with(kMsh22, "1 4 2 7 1 10 2 7 40", "1 11 2 7 1 10 2 7 40 3 3 3 3 3 3");
  Notes notes;
  expectTwoTets(msh(text, &notes));
  EXPECT_EQ(notes, (Notes{"1 tetrahedron of higher order reduced to the four corners"}));
}

TEST(ReadMsh, RepeatedTetrahedraTurnedOnesAndUnusedAndDoubledVerticesAreMendedWithNotes) {
  std::string text = with(kMsh22, "$Nodes\n5\n", "$Nodes\n7\n90 5 5 5\n91 1 0 -0.0\n");
  text = with(text, "$Elements\n2\n", "$Elements\n3\n9 4 0 91 10 7 40\n");
  Notes notes;
  const TetMesh mesh = msh(text, &notes);
  EXPECT_EQ(mesh.vertices().size(), 5u);
  EXPECT_EQ(mesh.tets().size(), 2u);
  EXPECT_NEAR(mesh.volume(), kVolume, 1e-15);
  EXPECT_EQ(notes, (Notes{"1 vertex at the place of an earlier one merged with it",
                          "1 vertex of no tetrahedron left out",
                          "1 tetrahedron listed more than once left out",
                          "1 tetrahedron of negative volume turned"}));
}

TEST(ReadMsh, PartsAndSuspiciousSizesAreSaid) {
  const std::string apart =
      "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n8\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"
      "5 100 0 0\n6 101 0 0\n7 100 1 0\n8 100 0 1\n$EndNodes\n"
      "$Elements\n2\n1 4 0 1 2 3 4\n2 4 0 5 6 7 8\n$EndElements\n";
  Notes notes;
  EXPECT_EQ(msh(apart, &notes).tets().size(), 2u);
  EXPECT_EQ(notes, (Notes{"2 parts that no face connects: they move apart freely",
                          "more than 50 m across: probably in millimetres, scale by 0.001"}));
}

TEST(ReadMsh, RefusesBadTextWithTheLine) {
  expectMshRefused("", "a.msh:1: an empty file, expected $MeshFormat");
  expectMshRefused("hello\n", "a.msh:1: expected $MeshFormat, found 'hello'");
  expectMshRefused("$NOD\n4\n", "a.msh:1: expected $MeshFormat, found '$NOD'");
  expectMshRefused(with(kMsh22, "2.2 0", "4.0 0"), "a.msh:2: version '4.0' is not read");
  expectMshRefused(with(kMsh22, "2.2 0 8", "2.2 2 8"), "a.msh:2: the file type must be 0");
  expectMshRefused(with(kMsh22, "2.2 0 8", "2.2 0 4"), "a.msh:2: the data size must be 8");
  expectMshRefused(with(kMsh22, "2.2 0 8", "2.2 x 8"),
                   "a.msh:2: the file type must be a whole number, but is 'x'");
  expectMshRefused(with(kMsh22, "$EndMeshFormat", "$EndFormat"),
                   "a.msh:3: expected $EndMeshFormat, found '$EndFormat'");
  expectMshRefused(with(kMsh22, "$EndPhysicalNames", "$EndNames"),
                   "section '$PhysicalNames' has no end '$EndPhysicalNames'");
  expectMshRefused(
      with(kMsh22, "$Elements", "Elements"),
      "a.msh:16: expected the beginning of a section such as $Nodes, found 'Elements'");
  expectMshRefused(with(kMsh22, "7 0 1 0", "7 0 nan 0"),
                   "a.msh:12: y of the node must be finite, but is 'nan'");
  expectMshRefused(with(kMsh22, "7 0 1 0", "7 0 1e13 0"),
                   "a.msh:12: y of the node must be finite and at most 1e12 m");
  expectMshRefused(with(kMsh22, "7 0 1 0", "7 0 1"), "a.msh:12: z of the node is missing");
  expectMshRefused(with(kMsh22, "7 0 1 0", "-7 0 1 0"),
                   "a.msh:12: the number of the node must be positive");
  expectMshRefused(with(kMsh22, "7 0 1 0", "10 0 1 0"),
                   "a.msh:12: node 10 is listed a second time");
  expectMshRefused(with(kMsh22, "1 10 2 7 40", "1 10 2 7 41"),
                   "a.msh:18: the element has node 41, which is none of the 5 nodes with tags from "
                   "2 to 40");
  expectMshRefused(with(kMsh22, "1 10 2 7 40", "1 10 2 7 -1"), "a.msh:18: node -1 does not exist");
  expectMshRefused(with(kMsh22, "1 10 2 7 40", "1 10 2 7"),
                   "a.msh:18: a node of the element is missing");
  expectMshRefused(with(kMsh22, "1 4 2 7", "1 4000 2 7"),
                   "a.msh:18: element type 4000 is not known");
  expectMshRefused(with(kMsh22, "1 10 2 7 40", "1 10 2 7 7"),
                   "a.msh:18: corners 3 and 4 of the tetrahedron are at one place");
  expectMshRefused(with(kMsh22, "40 0 0 1", "40 0.3 0.3 1e-14"),
                   "a.msh:18: the tetrahedron has no volume");
  expectMshRefused(with(kMsh22, "$EndElements\n", ""), "expected $EndElements, but the file ends");
  expectMshRefused(kMsh22 + "$Nodes\n", "a second section $Nodes");
  expectMshRefused(kMsh22.substr(0, kMsh22.find("$Elements")),
                   "the file ends without a section $Elements");
  expectMshRefused(with(with(kMsh22, "1 4 2 7 1 10 2 7 40", "1 2 2 7 1 10 2 7"),
                        "2 4 3 7 1 0 2 7 40 3", "2 2 3 7 1 0 2 7 40"),
                   "a.msh: no tetrahedra in this file, but 2 triangles");
  expectMshRefused(with(kMsh41, "2 5 2 40", "2 6 2 40"),
                   "the blocks have 5 nodes, but 6 were announced");
  expectMshRefused(with(kMsh41, "1 2 1 2\n", "1 3 1 2\n"),
                   "the blocks have 2 elements, but 3 were announced");
  expectMshRefused(with(kMsh41, "2 1 1 2\n10", "7 1 1 2\n10"),
                   "a.msh:10: the dimension of the entity must be 0 to 3, but is 7");
}

TEST(ReadMsh, RefusesCountsThatTheFileCannotHoldBeforeTakingMemory) {
  expectMshRefused(with(kMsh22, "$Nodes\n5", "$Nodes\n4000000000"),
                   "a.msh:9: 4000000000 nodes announced, but only");
  expectMshRefused(with(kMsh22, "$Elements\n2", "$Elements\n18446744073709551615"),
                   "a.msh:17: 18446744073709551615 elements announced");
  expectMshRefused(with(kMsh22, "$Elements\n2", "$Elements\n18446744073709551616"),
                   "a.msh:17: the number of elements must be a count");
  expectMshRefused(with(kMsh22, "1 4 2 7", "1 4 2000000000 7"), "a.msh:18:");
  expectMshRefused(with(kMsh41, "2 5 2 40", "9000000000000000000 5 2 40"),
                   "9000000000000000000 blocks announced");
  expectMshRefused(with(kMsh41, "3 1 0 3\n", "3 1 0 3000000000000\n"),
                   "3000000000000 nodes announced");
  expectMshRefused(with(kMsh41, "3 1 4 2\n", "3 1 4 2000000000000\n"),
                   "2000000000000 elements announced");
}

TEST(ReadMsh, RefusesBadBinaryWithTheByte) {
  const std::string good = binaryMsh22(std::endian::little);
  const std::size_t nodes = good.find("$Nodes\n5\n") + 9;
  std::string bad = good;
  bad.replace(20, 4, raw(std::int32_t{77}));
  expectMshRefused(bad,
                   "a.msh: byte 20: the number that tells the byte order must be 1, but is 77");
  bad = good;
  bad.replace(nodes + 4, 8, raw(std::numeric_limits<double>::infinity()));
  expectMshRefused(bad, "a.msh: byte " + std::to_string(nodes + 4) + ": x of the node");
  expectMshRefused(good.substr(0, nodes + 40), "5 nodes announced, but only 40 bytes follow");
  bad = good;
  const std::size_t block = good.find("$Elements\n3\n") + 12;
  bad.replace(block + 4, 4, raw(std::int32_t{1000}));
  expectMshRefused(bad, "a block of 1000 elements, expected 1 to 3");
  bad.replace(block + 4, 8, raw(std::int32_t{1}) + raw(std::int32_t{-5}));
  expectMshRefused(bad, "an element with -5 tags");
  bad = good;
  bad.replace(good.size() - 15 - 4, 4, raw(std::int32_t{99}));  // "\n$EndElements\n" follows
  expectMshRefused(bad, "which is none of the 5 nodes");
  for (const std::string& whole :
       {good, binaryMsh41<std::uint64_t>(std::endian::big), kMsh22, kMsh41}) {
    for (std::size_t size = 0; size + 14 < whole.size(); ++size)
      EXPECT_THROW(static_cast<void>(msh(whole.substr(0, size))), InvalidInput) << size;
  }
}

TEST(ReadVtk, CountedCellsAndOffsetsInTextAndBinary) {
  expectTwoTets(vtk(kVtk2));
  expectTwoTets(vtk(kVtk5));
  expectTwoTets(vtk(binaryVtk(/*hasOffsets=*/false)));
  expectTwoTets(vtk(binaryVtk(/*hasOffsets=*/true)));
}

TEST(ReadVtk, KeywordsInAnyCaseNumbersOnAnyLine) {
  std::string text = with(kVtk2, "ASCII", "ascii");
  text = with(text, "0 0 0 1 0 0 0 1 0\n0 0 1", "0\n0\n0\n1 0 0 0 1 0 0 0 1");
  text = with(text, "4 0 1 2 3\n4 1", "4 0 1 2\n3 4\n1");
  expectTwoTets(vtk(with(text, "POINTS 5 float", "points 5 double")));
}

TEST(ReadVtk, OtherCellsAndSecondOrder) {
  std::string text = with(kVtk2, "CELLS 2 10\n", "CELLS 3 14\n3 0 1 2\n");
  text = with(text, "CELL_TYPES 2\n", "CELL_TYPES 3\n5\n");
  Notes notes;
  expectTwoTets(vtk(text, &notes));
  EXPECT_EQ(notes, (Notes{"1 triangle left out: only tetrahedra are kept"}));
  notes.clear();
  text = with(kVtk2, "CELLS 2 10\n4 0 1 2 3\n", "CELLS 2 16\n10 0 1 2 3 0 0 0 0 0 0\n");
  expectTwoTets(vtk(with(text, "CELL_TYPES 2\n10", "CELL_TYPES 2\n24"), &notes));
  EXPECT_EQ(notes, (Notes{"1 tetrahedron of higher order reduced to the four corners"}));
}

TEST(ReadVtk, RefusesBadFilesWithTheLineOrByte) {
  expectVtkRefused("", "a.vtk:1: a legacy VTK file begins with '# vtk DataFile Version'");
  expectVtkRefused("<VTKFile/>", "this one with '<VTKFile/>'");
  expectVtkRefused(with(kVtk2, "2.0", "9.0"), "a.vtk:1: version '9.0' is not read");
  expectVtkRefused(with(kVtk2, "ASCII", "TEXT"), "a.vtk:3: expected ASCII or BINARY, found 'text'");
  expectVtkRefused(with(kVtk2, "UNSTRUCTURED_GRID", "POLYDATA"),
                   "a.vtk:4: dataset 'POLYDATA' has no tetrahedra");
  expectVtkRefused(with(kVtk2, "5 float", "5 string"), "a.vtk:5: expected a type of numbers");
  expectVtkRefused(with(kVtk2, "0 0 1 1 1 1", "0 0 1 1 x 1"),
                   "a.vtk:7: y of the point must be a number, but is 'x'");
  expectVtkRefused(with(kVtk2, "0 0 1 1 1 1", "0 0 1 1 1 1 6"),
                   "a.vtk:7: expected POINTS, CELLS or CELL_TYPES, found '6'");
  expectVtkRefused(with(kVtk2, "POINTS 5", "POINTS 500000000000"),
                   "a.vtk:5: 500000000000 points announced");
  expectVtkRefused(with(kVtk2, "CELLS 2 10", "CELLS 2 9000000000000000000"),
                   "a.vtk:8: 9000000000000000000 indices announced");
  expectVtkRefused(with(kVtk2, "CELLS 2 10", "CELLS 2 11"),
                   "the cells have 10 numbers, but 11 were announced");
  expectVtkRefused(with(kVtk2, "4 1 2 3 4", "5 1 2 3 4"),
                   "a.vtk:10: a cell with 5 points, but only 4");
  expectVtkRefused(with(kVtk2, "4 1 2 3 4", "-1 1 2 3 4"), "a.vtk:10: a cell with -1 points");
  expectVtkRefused(with(kVtk2, "4 1 2 3 4", "4 1 2 3 5"),
                   "a.vtk:10: the tetrahedron has point 5, expected 0 to 4");
  expectVtkRefused(with(kVtk2, "4 1 2 3 4", "4 1 2 3 -2"),
                   "a.vtk:10: the tetrahedron has point -2");
  expectVtkRefused(with(kVtk2, "CELL_TYPES 2\n10\n10", "CELL_TYPES 1\n10"),
                   "1 cell types for 2 cells");
  expectVtkRefused(with(kVtk2, "CELLS 2 10\n4 0 1 2 3\n4 1 2 3 4\n", ""),
                   "expected POINTS, CELLS or CELL_TYPES, found 'POINT_DATA'");
  expectVtkRefused(with(kVtk5, "0 4 8 ", "0 5 8 "), "a tetrahedron with 5 points, expected 4");
  expectVtkRefused(with(kVtk5, "0 4 8 ", "0 9 8 "), "a.vtk:16: offset 9, expected 0 to 8");
  expectVtkRefused(with(kVtk5, "0 4 8 ", "0 4 7 "), "a.vtk:16: the last offset is 7, expected 8");
  expectVtkRefused(with(kVtk5, "0 4 8 ", "1 4 8 "), "a.vtk:16: offset 1, expected 0 to 0");
  expectVtkRefused(with(kVtk5, "CONNECTIVITY vtktypeint64", "CONNECTIVITY float"),
                   "a.vtk:17: expected a type of whole numbers, found 'float'");
  expectVtkRefused(with(kVtk5, "METADATA", "METADATAA"), "found 'METADATAA'");
  std::string bad = binaryVtk(false);
  const std::size_t points = bad.find("double\n") + 7;
  bad.replace(points + 8, 8, raw(std::nan(""), std::endian::big));
  expectVtkRefused(bad, "a.vtk: byte " + std::to_string(points + 8) + ": y of the point");
  for (const std::string& whole :
       {binaryVtk(false), binaryVtk(true), kVtk2.substr(0, 150), kVtk5}) {
    for (std::size_t size = 0; size + 10 < whole.size(); ++size)
      EXPECT_THROW(static_cast<void>(vtk(whole.substr(0, size))), InvalidInput) << size;
  }
}

TEST(ReadTetGen, CountedFromOneOrZeroWithAttributesMarkersAndComments) {
  Notes notes;
  expectTwoTets(tetGen(kNodes, kElements, &notes));
  EXPECT_TRUE(notes.empty());
  expectTwoTets(
      tetGen("5\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n4 1 1 1", "2\n0 0 1 2 3\n1 1 2 3 4"));
}

TEST(ReadTetGen, ItsOwnOrderOfCornersIsTurned) {
  Notes notes;
  const TetMesh mesh = tetGen(kNodes, "2 4 0\n1 2 1 3 4\n2 3 2 4 5\n", &notes);
  EXPECT_NEAR(mesh.volume(), kVolume, 1e-15);
  EXPECT_EQ(notes, (Notes{"all tetrahedra had a negative volume (another order of corners) and "
                          "were turned"}));
}

TEST(ReadTetGen, RefusesBadFilesWithTheLine) {
  const auto expectNodes = [](const std::string& nodes, const std::string& part) {
    expectRefused([&] { return tetGen(nodes, kElements); }, part);
  };
  const auto expectElements = [](const std::string& elements, const std::string& part) {
    expectRefused([&] { return tetGen(kNodes, elements); }, part);
  };
  expectNodes("", "a.node:1: the file ends where the number of points is due");
  expectNodes("5 2 0 0\n", "a.node:1: 5 points announced");
  expectNodes(with(kNodes, "5 3 1 1", "5 2 1 1"), "a.node:2: the dimension must be 3, but is '2'");
  expectNodes(with(kNodes, "\n1 0 0 0", "\n2 0 0 0"),
              "a.node:3: the number of the first point must be 0 or 1, but is 2");
  expectNodes(with(kNodes, "3 0 1 0", "4 0 1 0"),
              "a.node:5: the number of the point is 4, expected 3");
  expectNodes(with(kNodes, "5 3 1 1", "6 3 1 1"), "the file ends where a point is due");
  expectNodes(with(kNodes, "3 0 1 0 9.5 0", "3 0 1"), "a.node:5: z of the point is missing");
  expectElements(with(kElements, "2 4 1", "2 5 1"),
                 "a.ele:1: the number of points of a tetrahedron");
  expectElements(with(kElements, "2 4 1", "99999999999 4 1"),
                 "a.ele:1: 99999999999 tetrahedra announced");
  expectElements(with(kElements, "2 3 4 5 -7", "2 3 4 6 -7"),
                 "a.ele:3: the tetrahedron has point 6, expected 1 to 5");
  expectElements(with(kElements, "2 3 4 5 -7", "2 3 4 0 -7"),
                 "a.ele:3: the tetrahedron has point 0");
  expectElements(with(kElements, "2 3 4 5 -7", "2 3 4"),
                 "a.ele:3: a point of the tetrahedron is missing");
  expectElements("0 4 0\n", "a.ele: no tetrahedra in this file");
}

TEST(ReadVolume, LimitsAreChecked) {
  const TetMeshReadLimits oneTet{.maxTets = 1};
  EXPECT_THROW(static_cast<void>(msh(kMsh22, nullptr, oneTet)), io::LimitExceeded);
  EXPECT_THROW(static_cast<void>(vtk(kVtk2, nullptr, oneTet)), io::LimitExceeded);
  const TetMeshReadLimits small{.maxBytes = 100};
  EXPECT_THROW(static_cast<void>(msh(kMsh22, nullptr, small)), io::LimitExceeded);
  EXPECT_THROW(static_cast<void>(vtk(kVtk2, nullptr, small)), io::LimitExceeded);
  EXPECT_THROW(static_cast<void>(readTetGen(kNodes, kElements, "n", "e", nullptr, oneTet)),
               io::LimitExceeded);
}

TEST(ReadVolume, AFaceOfThreeTetrahedraIsRefusedWithTheFile) {
  std::string text = with(kMsh22, "$Nodes\n5\n", "$Nodes\n6\n90 2 2 2\n");
  text = with(text, "$Elements\n2\n", "$Elements\n3\n9 4 0 2 7 40 90\n");
  expectMshRefused(text, "a.msh: ");
}

class VolumeFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("tangere_volume_files_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }

  std::filesystem::path folder_;
};

TEST_F(VolumeFiles, AreToldApartByTheirExtension) {
  expectTwoTets(readTetMesh(write("a.MSH", kMsh41)));
  expectTwoTets(readTetMesh(write("a.vtk", kVtk5)));
  const auto nodes = write("b.1.node", kNodes);
  const auto elements = write("b.1.ele", kElements);
  expectTwoTets(readTetMesh(nodes));
  expectTwoTets(readTetMesh(elements));
  std::filesystem::remove(elements);
  expectRefused([&] { return readTetMesh(nodes); }, "b.1.ele: no such file");
  expectRefused([&] { return readTetMesh(write("a.vtu", "<VTKFile/>")); }, "save it as legacy VTK");
  expectRefused([&] { return readTetMesh(write("a.mesh", "")); },
                "volume files end in .msh, .vtk, .node or .ele, not '.mesh'");
  expectRefused([&] { return readTetMesh(folder_ / "absent.msh"); }, "absent.msh: no such file");
  std::filesystem::create_directory(folder_ / "dir.msh");
  expectRefused([&] { return readTetMesh(folder_ / "dir.msh"); }, "not a regular file");
}

/// Coordinates that seventeen digits are needed for, a denormal one and a negative zero.
TetMesh awkwardMesh() {
  return TetMesh(
      {{1.0 / 3, 0.1, 5e-324}, {100.0 / 7, -0.0, 0}, {0, 1.0 / 7, 1e-9}, {0, 0, 2.0 / 3}},
      {{0, 1, 2, 3}});
}

TEST_F(VolumeFiles, WhatIsWrittenIsReadBackToTheSameBits) {
  const TetMesh mesh = awkwardMesh();
  for (const char* name : {"a.msh", "a.vtk"}) {
    for (const MeshEncoding encoding : {MeshEncoding::Binary, MeshEncoding::Ascii}) {
      writeTetMesh(folder_ / name, mesh, encoding);
      EXPECT_FALSE(std::filesystem::exists(folder_ / (std::string(name) + ".partial")));
      const TetMesh back = readTetMesh(folder_ / name);
      ASSERT_EQ(back.vertices().size(), mesh.vertices().size());
      for (std::size_t i = 0; i < mesh.vertices().size(); ++i)
        for (int axis = 0; axis < 3; ++axis)
          EXPECT_EQ(std::bit_cast<std::uint64_t>(back.vertices()[i][axis]),
                    std::bit_cast<std::uint64_t>(mesh.vertices()[i][axis]))
              << name << " vertex " << i;
      ASSERT_EQ(back.tets().size(), 1u);
      EXPECT_EQ(back.tets()[0], mesh.tets()[0]);
    }
  }
}

TEST_F(VolumeFiles, WhatCannotBeWrittenLeavesTheOldFile) {
  const TetMesh mesh = awkwardMesh();
  EXPECT_THROW(writeTetMesh(folder_ / "a.node", mesh), InvalidInput);
  EXPECT_THROW(writeTetMesh(folder_ / "absent" / "a.msh", mesh), FileError);
  std::filesystem::create_directory(folder_ / "dir.msh");
  EXPECT_THROW(writeTetMesh(folder_ / "dir.msh", mesh), FileError);
}

}  // namespace
}  // namespace tangere
