// SPDX-License-Identifier: Apache-2.0
//
// VTK's legacy files with an unstructured grid, versions 1 to 5. Binary numbers have the most
// significant byte first. Cells are counted lists ("4 0 1 2 3") up to version 4, two arrays
// (OFFSETS, CONNECTIVITY) from version 5 on; which of them it is, is told by what follows CELLS.
#include <tangere/error.hpp>
#include <tangere/io.hpp>

#include "io/file_cursor.hpp"
#include "io/tet_elements.hpp"
#include "io/text.hpp"

#include <algorithm>

namespace tangere {

namespace {

using io::CellKind;

enum class Scalar : unsigned char { I8, U8, I16, U16, I32, U32, I64, U64, F32, F64 };

struct ScalarName {
  std::string_view name;
  Scalar scalar;
  std::size_t bytes;
};
constexpr auto kScalars = std::to_array<ScalarName>({
    {"char", Scalar::I8, 1},
    {"unsigned_char", Scalar::U8, 1},
    {"short", Scalar::I16, 2},
    {"unsigned_short", Scalar::U16, 2},
    {"int", Scalar::I32, 4},
    {"vtktypeint32", Scalar::I32, 4},
    {"unsigned_int", Scalar::U32, 4},
    {"vtktypeuint32", Scalar::U32, 4},
    {"long", Scalar::I64, 8},
    {"vtkidtype", Scalar::I32, 4},  // written as int, whatever it is in memory
    {"vtktypeint64", Scalar::I64, 8},
    {"unsigned_long", Scalar::U64, 8},
    {"vtktypeuint64", Scalar::U64, 8},
    {"float", Scalar::F32, 4},
    {"double", Scalar::F64, 8},
});

/// VTK's numbers of cell types.
CellKind kindOf(std::int64_t type) {
  switch (type) {
    case 1:
    case 2:
      return CellKind::Point;
    case 3:
    case 4:
    case 21:
    case 35:
    case 68:
      return CellKind::Line;
    case 5:
    case 6:
    case 22:
    case 34:
    case 69:
      return CellKind::Triangle;
    case 8:
    case 9:
    case 23:
    case 28:
    case 30:
    case 70:
      return CellKind::Quadrangle;
    case 10:
      return CellKind::Tet;
    case 24:
    case 71:
    case 78:
      return CellKind::HighOrderTet;
    case 11:
    case 12:
    case 25:
    case 29:
    case 33:
    case 72:
      return CellKind::Hexahedron;
    case 13:
    case 26:
    case 31:
    case 32:
    case 73:
      return CellKind::Prism;
    case 14:
    case 27:
    case 37:
    case 74:
      return CellKind::Pyramid;
    default:
      return CellKind::Other;
  }
}

std::string lower(std::string_view word) {
  std::string out(word);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

class VtkReader {
 public:
  VtkReader(std::string_view content, std::string_view name, const TetMeshReadLimits& limits)
      : cursor_(content, name), limits_(limits) {}

  TetMesh read(std::vector<std::string>* notes);

 private:
  void readHeader();
  void readSection(std::string_view line);
  void skipToSection();
  void readPoints(std::string_view words);
  void readCells(std::string_view words);
  void readCountedCells(std::size_t count, std::uint64_t size);
  void readOffsetCells(std::size_t numOffsets, std::uint64_t size);
  void readCellTypes(std::string_view words);
  void makeTets();

  const ScalarName& scalarOf(std::string_view word) const;
  ScalarName arrayHeader(std::string_view keyword);
  std::int64_t takeInteger(const ScalarName& type, const char* meaning);
  Real takeCoordinate(const ScalarName& type, const char* meaning);
  std::size_t bytesOf(const ScalarName& type) const { return cursor_.isBinary() ? type.bytes : 2; }

  io::FileCursor cursor_;
  const TetMeshReadLimits& limits_;
  bool has_points_ = false, has_cells_ = false, has_types_ = false;
  io::TetElements elements_{};
  std::vector<std::int64_t> connectivity_{};
  std::vector<std::size_t> offsets_{0};  // one more than there are cells
  std::vector<std::size_t> cell_places_{};
  std::vector<CellKind> kinds_{};
};

constexpr ScalarName kInt{"int", Scalar::I32, 4};

TetMesh VtkReader::read(std::vector<std::string>* notes) {
  readHeader();
  std::string_view line;
  while (!(has_points_ && has_cells_ && has_types_) && cursor_.nextFilledLine(&line))
    readSection(line);
  if (!has_points_) cursor_.fail("the file ends without POINTS");
  if (!has_cells_) cursor_.fail("the file ends without CELLS");
  if (!has_types_) cursor_.fail("the file ends without CELL_TYPES");
  makeTets();
  return io::makeTetMesh(std::move(elements_), cursor_, notes);
}

void VtkReader::readHeader() {
  std::string_view line;
  constexpr std::string_view kMagic = "# vtk datafile version ";
  const bool hasLine = cursor_.nextLine(&line);
  if (!hasLine || lower(line.substr(0, kMagic.size())) != kMagic)
    cursor_.fail("a legacy VTK file begins with '# vtk DataFile Version', this one with " +
                 io::quoted(hasLine ? line : ""));
  std::string_view version = line.substr(kMagic.size());
  version = io::takeWord(&version);
  const int major = cursor_.toInteger<int>(version.substr(0, version.find('.')), "the version");
  if (major < 1 || major > 5)
    cursor_.fail("version " + io::quoted(version) + " is not read, expected 1 to 5");
  if (!cursor_.nextLine(&line)) cursor_.fail("the file ends where its title is due");
  if (!cursor_.nextFilledLine(&line)) cursor_.fail("the file ends where ASCII or BINARY is due");
  const std::string encoding = lower(io::takeWord(&line));
  if (encoding != "ascii" && encoding != "binary")
    cursor_.fail("expected ASCII or BINARY, found " + io::quoted(encoding));
  if (encoding == "binary") cursor_.beginBinary(std::endian::big);
  if (!cursor_.nextFilledLine(&line)) cursor_.fail("the file ends where DATASET is due");
  const std::string_view keyword = io::takeWord(&line);
  const std::string_view dataset = io::takeWord(&line);
  if (lower(keyword) != "dataset")
    cursor_.fail("expected DATASET UNSTRUCTURED_GRID, found " + io::quoted(keyword));
  if (lower(dataset) != "unstructured_grid")
    cursor_.fail("dataset " + io::quoted(dataset) +
                 " has no tetrahedra, expected UNSTRUCTURED_GRID");
}

void VtkReader::readSection(std::string_view line) {
  const std::string_view word = io::takeWord(&line);
  const std::string keyword = lower(word);
  if (keyword == "points") {
    readPoints(line);
  } else if (keyword == "cells") {
    readCells(line);
  } else if (keyword == "cell_types") {
    readCellTypes(line);
  } else if (keyword == "field" || keyword == "metadata") {
    skipToSection();
  } else {
    cursor_.fail("expected POINTS, CELLS or CELL_TYPES, found " + io::quoted(word));
  }
}

/// Fields and metadata end where a section that matters begins.
void VtkReader::skipToSection() {
  std::size_t nearest = std::string_view::npos;
  for (const std::string_view keyword : {"\nPOINTS ", "\nCELLS ", "\nCELL_TYPES "})
    nearest = std::min(nearest, cursor_.rest().find(keyword));
  if (nearest == std::string_view::npos)
    cursor_.fail("no POINTS, CELLS or CELL_TYPES after this section");
  static_cast<void>(cursor_.skipPast(cursor_.rest().substr(0, nearest + 1)));
}

void VtkReader::readPoints(std::string_view words) {
  if (has_points_) cursor_.fail("a second section POINTS, expected one");
  has_points_ = true;
  const auto announced =
      cursor_.toInteger<std::uint64_t>(io::takeWord(&words), "the number of points");
  const ScalarName type = scalarOf(io::takeWord(&words));
  const std::size_t count = cursor_.checkedCount(announced, 3 * bytesOf(type), "points");
  elements_.vertices.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    Vec3 p;
    p.x = takeCoordinate(type, "x of the point");
    p.y = takeCoordinate(type, "y of the point");
    p.z = takeCoordinate(type, "z of the point");
    elements_.vertices.push_back(p);
  }
}

void VtkReader::readCells(std::string_view words) {
  if (has_cells_) cursor_.fail("a second section CELLS, expected one");
  has_cells_ = true;
  const auto count = cursor_.toInteger<std::uint64_t>(io::takeWord(&words), "the number of cells");
  const auto size = cursor_.toInteger<std::uint64_t>(io::takeWord(&words), "the number of indices");
  static_cast<void>(cursor_.checkedCount(count, bytesOf(kInt), "cells"));
  static_cast<void>(cursor_.checkedCount(size, bytesOf(kInt), "indices"));
  if (lower(cursor_.rest().substr(0, 7)) == "offsets")
    readOffsetCells(static_cast<std::size_t>(count), size);
  else
    readCountedCells(static_cast<std::size_t>(count), size);
}

void VtkReader::readCountedCells(std::size_t count, std::uint64_t size) {
  offsets_.reserve(count + 1);
  connectivity_.reserve(static_cast<std::size_t>(size));
  for (std::size_t cell = 0; cell < count; ++cell) {
    const std::int64_t numNodes = takeInteger(kInt, "the number of points of a cell");
    cell_places_.push_back(cursor_.place());
    const std::size_t used = connectivity_.size() + cell + 1;
    if (used > size || numNodes < 0 || static_cast<std::uint64_t>(numNodes) > size - used)
      cursor_.fail("a cell with " + std::to_string(numNodes) + " points, but only " +
                   std::to_string(used > size ? 0 : size - used) + " of the " +
                   std::to_string(size) + " numbers of CELLS are left");
    for (std::int64_t i = 0; i < numNodes; ++i)
      connectivity_.push_back(takeInteger(kInt, "a point of the cell"));
    offsets_.push_back(connectivity_.size());
  }
  if (connectivity_.size() + count != size)
    cursor_.fail("the cells have " + std::to_string(connectivity_.size() + count) +
                 " numbers, but " + std::to_string(size) + " were announced");
}

void VtkReader::readOffsetCells(std::size_t numOffsets, std::uint64_t size) {
  const ScalarName offsetType = arrayHeader("OFFSETS");
  static_cast<void>(cursor_.checkedCount(numOffsets, bytesOf(offsetType), "offsets"));
  offsets_.clear();
  offsets_.reserve(numOffsets);
  for (std::size_t i = 0; i < numOffsets; ++i) {
    const std::int64_t offset = takeInteger(offsetType, "an offset");
    const std::size_t least = i == 0 ? 0 : offsets_.back();
    const std::uint64_t most = i == 0 ? 0 : size;
    if (offset < 0 || static_cast<std::uint64_t>(offset) < least ||
        static_cast<std::uint64_t>(offset) > most)
      cursor_.fail("offset " + std::to_string(offset) + ", expected " + std::to_string(least) +
                   " to " + std::to_string(most));
    offsets_.push_back(static_cast<std::size_t>(offset));
  }
  if (offsets_.empty()) cursor_.fail("CELLS has no offsets, expected at least one");
  if (offsets_.back() != size)
    cursor_.fail("the last offset is " + std::to_string(offsets_.back()) + ", expected " +
                 std::to_string(size) + ", the number of indices");
  const ScalarName type = arrayHeader("CONNECTIVITY");
  const std::size_t count = cursor_.checkedCount(size, bytesOf(type), "indices");
  connectivity_.reserve(count);
  std::size_t cell = 0;
  for (std::size_t i = 0; i < count; ++i) {
    connectivity_.push_back(takeInteger(type, "a point of the cell"));
    for (; cell + 1 < offsets_.size() && offsets_[cell] <= i; ++cell)
      cell_places_.push_back(cursor_.place());
  }
  cell_places_.resize(offsets_.size() - 1, cursor_.place());
}

void VtkReader::readCellTypes(std::string_view words) {
  if (has_types_) cursor_.fail("a second section CELL_TYPES, expected one");
  has_types_ = true;
  const auto announced =
      cursor_.toInteger<std::uint64_t>(io::takeWord(&words), "the number of cell types");
  const std::size_t count = cursor_.checkedCount(announced, bytesOf(kInt), "cell types");
  kinds_.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    kinds_.push_back(kindOf(takeInteger(kInt, "the type of a cell")));
}

void VtkReader::makeTets() {
  const std::size_t numCells = offsets_.size() - 1;
  if (kinds_.size() != numCells)
    cursor_.fail(std::to_string(kinds_.size()) + " cell types for " + std::to_string(numCells) +
                 " cells, expected one each");
  const auto numPoints = static_cast<std::int64_t>(elements_.vertices.size());
  for (std::size_t cell = 0; cell < numCells; ++cell) {
    elements_.count(kinds_[cell]);
    if (!io::isTet(kinds_[cell])) continue;
    const std::size_t begin = offsets_[cell], numNodes = offsets_[cell + 1] - begin;
    const std::size_t place = cell_places_[cell];
    if (kinds_[cell] == CellKind::Tet ? numNodes != 4 : numNodes < 4)
      cursor_.failAt(place, "a tetrahedron with " + std::to_string(numNodes) +
                                " points, expected " +
                                (kinds_[cell] == CellKind::Tet ? "4" : "at least 4"));
    Tet tet;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::int64_t index = connectivity_[begin + i];
      if (index < 0 || index >= numPoints)
        cursor_.failAt(place, "the tetrahedron has point " + std::to_string(index) +
                                  ", expected 0 to " + std::to_string(numPoints - 1));
      tet[i] = static_cast<std::int32_t>(index);
    }
    io::requireTets(elements_.tets.size() + 1, cursor_.name(), limits_);
    elements_.tets.push_back(tet);
    elements_.places.push_back(place);
  }
}

const ScalarName& VtkReader::scalarOf(std::string_view word) const {
  const std::string name = lower(word);
  const auto* found = std::find_if(kScalars.begin(), kScalars.end(),
                                   [&](const ScalarName& s) { return s.name == name; });
  if (found == kScalars.end())
    cursor_.fail("expected a type of numbers such as float, double or vtktypeint64, found " +
                 io::quoted(word));
  return *found;
}

/// "OFFSETS vtktypeint64" and the like, on a line of its own.
ScalarName VtkReader::arrayHeader(std::string_view keyword) {
  std::string_view line;
  if (!cursor_.nextFilledLine(&line))
    cursor_.fail("the file ends where " + std::string(keyword) + " is due");
  const std::string_view word = io::takeWord(&line);
  if (lower(word) != lower(keyword))
    cursor_.fail("expected " + std::string(keyword) + ", found " + io::quoted(word));
  const ScalarName type = scalarOf(io::takeWord(&line));
  if (type.scalar == Scalar::F32 || type.scalar == Scalar::F64)
    cursor_.fail("expected a type of whole numbers, found " + io::quoted(type.name));
  return type;
}

std::int64_t VtkReader::takeInteger(const ScalarName& type, const char* meaning) {
  if (!cursor_.isBinary()) return cursor_.toInteger<std::int64_t>(cursor_.nextWord(), meaning);
  switch (type.scalar) {
    case Scalar::I8:
      return cursor_.take<std::int8_t>(meaning);
    case Scalar::U8:
      return cursor_.take<std::uint8_t>(meaning);
    case Scalar::I16:
      return cursor_.take<std::int16_t>(meaning);
    case Scalar::U16:
      return cursor_.take<std::uint16_t>(meaning);
    case Scalar::I32:
      return cursor_.take<std::int32_t>(meaning);
    case Scalar::U32:
      return cursor_.take<std::uint32_t>(meaning);
    case Scalar::U64:
    case Scalar::I64:
    default:  // beyond 2^63 it is negative, and refused as such
      return cursor_.take<std::int64_t>(meaning);
  }
}

Real VtkReader::takeCoordinate(const ScalarName& type, const char* meaning) {
  if (!cursor_.isBinary()) return cursor_.toCoordinate(cursor_.nextWord(), meaning);
  if (type.scalar == Scalar::F64)
    return cursor_.checkedCoordinate(cursor_.take<double>(meaning), meaning);
  if (type.scalar == Scalar::F32)
    return cursor_.checkedCoordinate(static_cast<Real>(cursor_.take<float>(meaning)), meaning);
  return cursor_.checkedCoordinate(static_cast<Real>(takeInteger(type, meaning)), meaning);
}

}  // namespace

TetMesh readVtk(std::span<const std::byte> bytes, std::string_view name,
                std::vector<std::string>* notes, const TetMeshReadLimits& limits) {
  io::requireBytes(bytes.size(), name, limits);
  const std::string_view content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return VtkReader(content, name, limits).read(notes);
}

}  // namespace tangere
