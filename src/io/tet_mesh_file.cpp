// SPDX-License-Identifier: Apache-2.0
//
// Volume files by extension: read whole once their size is known to be acceptable, written beside
// their name and renamed when they are complete.
#include <tangere/error.hpp>
#include <tangere/io.hpp>
#include <tangere/output_file.hpp>

#include "io/mesh_file.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cstring>

namespace tangere {

namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& message) {
  throw InvalidInput(path.string() + ": " + message);
}

std::string lowerExtension(const std::filesystem::path& path) {
  std::string out = path.extension().string();
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

/// The other file of TetGen's pair, in capitals where the given one is.
std::filesystem::path partner(const std::filesystem::path& path, std::string_view extension) {
  std::string out(extension);
  const std::string given = path.extension().string();
  const bool isUpper = given.size() > 1 && given[1] >= 'A' && given[1] <= 'Z';
  for (char& c : out)
    if (isUpper && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return std::filesystem::path(path).replace_extension(out);
}

TetMesh readTetGenPair(const std::filesystem::path& path, std::vector<std::string>* notes,
                       const TetMeshReadLimits& limits) {
  const bool isNode = lowerExtension(path) == ".node";
  const std::string nodePath = (isNode ? path : partner(path, ".node")).string();
  const std::string elementPath = (isNode ? partner(path, ".ele") : path).string();
  const std::string nodes = io::readRegularFile(nodePath, nodePath, limits.maxBytes);
  const std::string elements = io::readRegularFile(elementPath, elementPath, limits.maxBytes);
  return readTetGen(nodes, elements, nodePath, elementPath, notes, limits);
}

/// Text and binary numbers one after the other.
class MeshText {
 public:
  explicit MeshText(std::endian order) : order_(order) {}

  void add(std::string_view text) { text_ += text; }
  template <class T>
  void addNumber(T value) {
    std::array<char, 32> buffer;
    std::to_chars_result end{};
    if constexpr (std::is_floating_point_v<T>)
      end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                          std::chars_format::general, 17);
    else
      end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    text_.append(buffer.data(), static_cast<std::size_t>(end.ptr - buffer.data()));
  }
  /// The bytes of a number.
  template <class T>
  void addBytes(T value) {
    std::array<char, sizeof(T)> bytes;
    std::memcpy(bytes.data(), &value, sizeof(T));
    for (std::size_t i = 0; i < sizeof(T); ++i)
      text_ += bytes[order_ == std::endian::native ? i : sizeof(T) - 1 - i];
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::endian order_;
  std::string text_;
};

void addPosition(const Vec3& p, MeshEncoding encoding, MeshText* out) {
  if (encoding == MeshEncoding::Binary) {
    for (int axis = 0; axis < 3; ++axis) out->addBytes(p[axis]);
    return;
  }
  for (int axis = 0; axis < 3; ++axis) {
    out->addNumber(p[axis]);
    out->add(axis < 2 ? " " : "\n");
  }
}

/// A line of numbers, or their bytes as T.
template <class T>
void addRow(std::initializer_list<std::uint64_t> numbers, MeshEncoding encoding, MeshText* out) {
  const char* separator = "";
  for (const std::uint64_t number : numbers) {
    if (encoding == MeshEncoding::Binary) {
      out->addBytes(static_cast<T>(number));
    } else {
      out->add(separator);
      out->addNumber(number);
      separator = " ";
    }
  }
  if (encoding == MeshEncoding::Ascii) out->add("\n");
}

/// One block of nodes and one of elements, both of volume 1; tags count from 1.
std::string mshText(const TetMesh& mesh, MeshEncoding encoding) {
  const bool isBinary = encoding == MeshEncoding::Binary;
  const std::uint64_t numNodes = mesh.vertices().size(), numTets = mesh.tets().size();
  MeshText out(std::endian::little);
  out.add(isBinary ? "$MeshFormat\n4.1 1 8\n" : "$MeshFormat\n4.1 0 8\n");
  if (isBinary) {
    out.addBytes(std::int32_t{1});
    out.add("\n");
  }
  out.add("$EndMeshFormat\n$Nodes\n");
  const auto addBlock = [&](std::uint64_t type, std::uint64_t count) {
    if (isBinary) {
      addRow<std::int32_t>({3, 1, type}, encoding, &out);
      addRow<std::uint64_t>({count}, encoding, &out);
    } else {
      addRow<std::uint64_t>({3, 1, type, count}, encoding, &out);
    }
  };
  addRow<std::uint64_t>({1, numNodes, 1, numNodes}, encoding, &out);
  addBlock(0, numNodes);  // not parametric
  for (std::uint64_t i = 1; i <= numNodes; ++i) addRow<std::uint64_t>({i}, encoding, &out);
  for (const Vec3& p : mesh.vertices()) addPosition(p, encoding, &out);
  out.add(isBinary ? "\n$EndNodes\n$Elements\n" : "$EndNodes\n$Elements\n");
  addRow<std::uint64_t>({1, numTets, 1, numTets}, encoding, &out);
  addBlock(4, numTets);  // Gmsh's number of the tetrahedron
  std::uint64_t tag = 0;
  for (const Tet& tet : mesh.tets()) {
    const auto node = [&](std::size_t i) { return static_cast<std::uint64_t>(tet[i]) + 1; };
    addRow<std::uint64_t>({++tag, node(0), node(1), node(2), node(3)}, encoding, &out);
  }
  out.add(isBinary ? "\n$EndElements\n" : "$EndElements\n");
  return out.text();
}

/// Version 3, which every reader knows.
std::string vtkText(const TetMesh& mesh, MeshEncoding encoding) {
  const bool isBinary = encoding == MeshEncoding::Binary;
  MeshText out(std::endian::big);
  out.add("# vtk DataFile Version 3.0\ntetrahedra\n");
  out.add(isBinary ? "BINARY" : "ASCII");
  out.add("\nDATASET UNSTRUCTURED_GRID\nPOINTS ");
  out.addNumber(mesh.vertices().size());
  out.add(" double\n");
  for (const Vec3& p : mesh.vertices()) addPosition(p, encoding, &out);
  out.add(isBinary ? "\nCELLS " : "CELLS ");
  out.addNumber(mesh.tets().size());
  out.add(" ");
  out.addNumber(5 * mesh.tets().size());
  out.add("\n");
  for (const Tet& tet : mesh.tets()) {
    const auto node = [&](std::size_t i) { return static_cast<std::uint64_t>(tet[i]); };
    addRow<std::int32_t>({4, node(0), node(1), node(2), node(3)}, encoding, &out);
  }
  out.add(isBinary ? "\nCELL_TYPES " : "CELL_TYPES ");
  out.addNumber(mesh.tets().size());
  out.add("\n");
  for (std::size_t i = 0; i < mesh.tets().size(); ++i) addRow<std::int32_t>({10}, encoding, &out);
  if (isBinary) out.add("\n");
  return out.text();
}

}  // namespace

TetMesh readTetMesh(const std::filesystem::path& path, std::vector<std::string>* notes,
                    const TetMeshReadLimits& limits) {
  const std::string extension = lowerExtension(path);
  if (extension == ".node" || extension == ".ele") return readTetGenPair(path, notes, limits);
  if (extension == ".vtu")
    refuse(path, "VTK's XML format is not read: save it as legacy VTK (.vtk) or as .msh");
  if (extension != ".msh" && extension != ".vtk")
    refuse(path, "volume files end in .msh, .vtk, .node or .ele, not '" + extension + "'");
  const std::string content = io::readRegularFile(path, path.string(), limits.maxBytes);
  const auto bytes = std::as_bytes(std::span(content));
  return extension == ".msh" ? readMsh(bytes, path.string(), notes, limits)
                             : readVtk(bytes, path.string(), notes, limits);
}

void writeTetMesh(const std::filesystem::path& path, const TetMesh& mesh, MeshEncoding encoding) {
  const std::string extension = lowerExtension(path);
  if (extension != ".msh" && extension != ".vtk")
    refuse(path, "volume files are written as .msh or .vtk, not '" + extension + "'");
  OutputFile file(path);
  file.write(extension == ".msh" ? mshText(mesh, encoding) : vtkText(mesh, encoding));
  file.commit();
}

}  // namespace tangere
