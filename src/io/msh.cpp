// SPDX-License-Identifier: Apache-2.0
//
// Gmsh's MSH files, versions 2.0 to 2.2 and 4.1. Sections may stand in any order, those that do not
// concern nodes and elements are skipped. Nodes are named by tags, which need not be consecutive:
// elements keep the tags until the whole file has been read.
#include <tangere/error.hpp>
#include <tangere/io.hpp>

#include "io/file_cursor.hpp"
#include "io/tet_elements.hpp"
#include "io/text.hpp"

#include <algorithm>

namespace tangere {

namespace {

using io::CellKind;

struct ElementType {
  int number;
  CellKind kind;
  int numNodes;
};

/// Gmsh's numbers of element types.
constexpr auto kElementTypes = std::to_array<ElementType>({
    {1, CellKind::Line, 2},           {2, CellKind::Triangle, 3},
    {3, CellKind::Quadrangle, 4},     {4, CellKind::Tet, 4},
    {5, CellKind::Hexahedron, 8},     {6, CellKind::Prism, 6},
    {7, CellKind::Pyramid, 5},        {8, CellKind::Line, 3},
    {9, CellKind::Triangle, 6},       {10, CellKind::Quadrangle, 9},
    {11, CellKind::HighOrderTet, 10}, {12, CellKind::Hexahedron, 27},
    {13, CellKind::Prism, 18},        {14, CellKind::Pyramid, 14},
    {15, CellKind::Point, 1},         {16, CellKind::Quadrangle, 8},
    {17, CellKind::Hexahedron, 20},   {18, CellKind::Prism, 15},
    {19, CellKind::Pyramid, 13},      {20, CellKind::Triangle, 9},
    {21, CellKind::Triangle, 10},     {22, CellKind::Triangle, 12},
    {23, CellKind::Triangle, 15},     {24, CellKind::Triangle, 15},
    {25, CellKind::Triangle, 21},     {26, CellKind::Line, 4},
    {27, CellKind::Line, 5},          {28, CellKind::Line, 6},
    {29, CellKind::HighOrderTet, 20}, {30, CellKind::HighOrderTet, 35},
    {31, CellKind::HighOrderTet, 56}, {36, CellKind::Quadrangle, 16},
    {37, CellKind::Quadrangle, 25},   {38, CellKind::Quadrangle, 36},
    {92, CellKind::Hexahedron, 64},   {93, CellKind::Hexahedron, 125},
});

class MshReader {
 public:
  MshReader(std::string_view content, std::string_view name, const TetMeshReadLimits& limits)
      : cursor_(content, name), limits_(limits) {}

  TetMesh read(std::vector<std::string>* notes);

 private:
  using TagTet = std::array<std::uint64_t, 4>;
  struct TaggedVertex {
    std::uint64_t tag;
    std::int32_t vertex;
  };

  void readFormat();
  void readSection(std::string_view header);
  void readNodes2(bool isParametric);
  void skipParameters2();
  void readElements2();
  void readNodes4();
  void readElements4();
  void readNodeBlock4();
  void readElementBlock4();
  void endSection(const std::string& name);

  // Numbers of one record: the words of a line, or the bytes that follow.
  void beginRecord(const char* meaning);
  int takeInt(const char* meaning);
  std::uint64_t takeTag(const char* meaning);
  Real takeCoordinate(const char* meaning);
  std::uint64_t countLine(const char* meaning);

  Vec3 takePosition();
  const ElementType& typeOf(int number) const;
  void takeElement(const ElementType& type);
  void addNode(std::uint64_t tag, std::size_t place);
  std::size_t bytesOf(std::size_t inText, std::size_t inBinary) const {
    return cursor_.isBinary() ? inBinary : inText;
  }

  void resolveTags();
  void sortTags();
  std::int32_t vertexOf(std::uint64_t tag, std::size_t place) const;

  io::FileCursor cursor_;
  const TetMeshReadLimits& limits_;
  int version_ = 0;             // 2 or 4
  std::size_t size_bytes_ = 0;  // of what version 4 calls size_t
  std::string_view record_{};   // what is left of the line
  bool has_nodes_ = false, has_elements_ = false;
  io::TetElements elements_{};
  std::vector<std::uint64_t> tags_{};  // of the nodes
  std::vector<std::size_t> node_places_{};
  std::vector<TagTet> tag_tets_{};
  std::vector<TaggedVertex> vertex_of_tag_{};  // sorted by tag
};

TetMesh MshReader::read(std::vector<std::string>* notes) {
  readFormat();
  std::string_view line;
  while (cursor_.nextFilledLine(&line)) readSection(line);
  if (!has_nodes_) cursor_.fail("the file ends without a section $Nodes");
  if (!has_elements_) cursor_.fail("the file ends without a section $Elements");
  resolveTags();
  return io::makeTetMesh(std::move(elements_), cursor_, notes);
}

void MshReader::readFormat() {
  std::string_view line;
  if (!cursor_.nextFilledLine(&line)) cursor_.fail("an empty file, expected $MeshFormat");
  if (const std::string_view word = io::takeWord(&line); word != "$MeshFormat")
    cursor_.fail("expected $MeshFormat, found " + io::quoted(word) +
                 " (files of version 1 begin with $NOD: save them as version 2.2 or 4.1)");
  if (!cursor_.nextFilledLine(&line)) cursor_.fail("the file ends where its version is due");
  const std::string_view version = io::takeWord(&line);
  if (version == "2" || version == "2.0" || version == "2.1" || version == "2.2") {
    version_ = 2;
  } else if (version == "4.1") {
    version_ = 4;
  } else {
    cursor_.fail("version " + io::quoted(version) +
                 " is not read, expected 2.2 or 4.1 (gmsh -save -format msh41)");
  }
  const int isBinary = cursor_.toInteger<int>(io::takeWord(&line), "the file type");
  size_bytes_ = cursor_.toInteger<std::size_t>(io::takeWord(&line), "the data size");
  if (isBinary != 0 && isBinary != 1)
    cursor_.fail("the file type must be 0 (ASCII) or 1 (binary), but is " +
                 std::to_string(isBinary));
  if (size_bytes_ != 8 && !(version_ == 4 && size_bytes_ == 4))
    cursor_.fail("the data size must be 8, but is " + std::to_string(size_bytes_));
  if (isBinary == 1) {
    cursor_.beginBinary(std::endian::little);
    const std::int32_t one = cursor_.take<std::int32_t>("the number 1 that tells the byte order");
    if (one == 0x01000000)
      cursor_.beginBinary(std::endian::big);
    else if (one != 1)
      cursor_.fail("the number that tells the byte order must be 1, but is " + std::to_string(one));
  }
  endSection("MeshFormat");
}

void MshReader::readSection(std::string_view header) {
  const std::string_view word = io::takeWord(&header);
  if (word.size() < 2 || word[0] != '$' || word.substr(0, 4) == "$End")
    cursor_.fail("expected the beginning of a section such as $Nodes, found " + io::quoted(word));
  const bool isParametric = word == "$ParametricNodes" && version_ == 2;
  if (word == "$Nodes" || isParametric) {
    if (has_nodes_) cursor_.fail("a second section $Nodes, expected one");
    has_nodes_ = true;
    version_ == 2 ? readNodes2(isParametric) : readNodes4();
    endSection(std::string(word.substr(1)));
  } else if (word == "$Elements") {
    if (has_elements_) cursor_.fail("a second section $Elements, expected one");
    has_elements_ = true;
    version_ == 2 ? readElements2() : readElements4();
    endSection("Elements");
  } else {
    const std::string end = "$End" + std::string(word.substr(1));
    if (!cursor_.skipPast(end))
      cursor_.fail("section " + io::quoted(word) + " has no end " + io::quoted(end));
  }
}

void MshReader::readNodes2(bool isParametric) {
  const std::size_t count =
      cursor_.checkedCount(countLine("the number of nodes"), bytesOf(8, 4 + 3 * 8), "nodes");
  elements_.vertices.reserve(count);
  tags_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    beginRecord("a node");
    const std::size_t place = cursor_.place();
    const int tag = takeInt("the number of the node");
    if (tag < 0) cursor_.fail("the number of the node must be positive, but is negative");
    addNode(static_cast<std::uint64_t>(tag), place);
    elements_.vertices.push_back(takePosition());
    if (isParametric && cursor_.isBinary()) skipParameters2();
  }
}

/// The entity a node is on and its parameters there, on curves and surfaces.
void MshReader::skipParameters2() {
  const int dimension = takeInt("the dimension of the entity");
  static_cast<void>(takeInt("the tag of the entity"));
  const std::size_t numParameters = dimension == 1 ? 1 : dimension == 2 ? 2 : 0;
  cursor_.skipBytes(8 * numParameters, "a parameter of the node");
}

void MshReader::readElements2() {
  const std::size_t count =
      cursor_.checkedCount(countLine("the number of elements"), bytesOf(7, 4 + 4), "elements");
  for (std::size_t i = 0; i < count;) {
    beginRecord("an element");
    if (!cursor_.isBinary()) static_cast<void>(takeInt("the number of the element"));
    const ElementType& type = typeOf(takeInt("the type of the element"));
    const int numInBlock = cursor_.isBinary() ? takeInt("the number of elements of one kind") : 1;
    const int numTags = takeInt("the number of tags");
    if (numInBlock < 1 || static_cast<std::size_t>(numInBlock) > count - i)
      cursor_.fail("a block of " + std::to_string(numInBlock) + " elements, expected 1 to " +
                   std::to_string(count - i));
    if (numTags < 0 || static_cast<std::size_t>(numTags) > cursor_.bytesLeft() + record_.size())
      cursor_.fail("an element with " + std::to_string(numTags) + " tags");
    for (int k = 0; k < numInBlock; ++k, ++i) {
      if (cursor_.isBinary()) static_cast<void>(takeInt("the number of the element"));
      for (int tag = 0; tag < numTags; ++tag) static_cast<void>(takeInt("a tag of the element"));
      takeElement(type);
    }
  }
}

void MshReader::readNodes4() {
  beginRecord("the counts of the nodes");
  const std::uint64_t numBlocks = takeTag("the number of blocks");
  const std::uint64_t count = takeTag("the number of nodes");
  for (const char* bound : {"the least tag", "the greatest tag"}) static_cast<void>(takeTag(bound));
  static_cast<void>(cursor_.checkedCount(numBlocks, bytesOf(8, 12 + size_bytes_), "blocks"));
  const std::size_t numNodes =
      cursor_.checkedCount(count, bytesOf(8, size_bytes_ + 3 * 8), "nodes");
  elements_.vertices.reserve(numNodes);
  tags_.reserve(numNodes);
  for (std::uint64_t block = 0; block < numBlocks; ++block) readNodeBlock4();
  if (tags_.size() != count)
    cursor_.fail("the blocks have " + std::to_string(tags_.size()) + " nodes, but " +
                 std::to_string(count) + " were announced");
}

void MshReader::readNodeBlock4() {
  beginRecord("a block of nodes");
  const int dimension = takeInt("the dimension of the entity");
  static_cast<void>(takeInt("the tag of the entity"));
  const int isParametric = takeInt("the parametric flag");
  const std::uint64_t announced = takeTag("the number of nodes in the block");
  if (dimension < 0 || dimension > 3)
    cursor_.fail("the dimension of the entity must be 0 to 3, but is " + std::to_string(dimension));
  const int numParameters = isParametric != 0 ? dimension : 0;
  const std::size_t count =
      cursor_.checkedCount(announced, bytesOf(8, size_bytes_ + 3 * 8), "nodes");
  for (std::size_t i = 0; i < count; ++i) {
    beginRecord("the tag of a node");
    const std::size_t place = cursor_.place();
    addNode(takeTag("the tag of a node"), place);
  }
  for (std::size_t i = 0; i < count; ++i) {
    beginRecord("the coordinates of a node");
    elements_.vertices.push_back(takePosition());
    if (cursor_.isBinary())
      cursor_.skipBytes(8 * static_cast<std::size_t>(numParameters), "a parameter of the node");
  }
}

void MshReader::readElements4() {
  beginRecord("the counts of the elements");
  const std::uint64_t numBlocks = takeTag("the number of blocks");
  const std::uint64_t count = takeTag("the number of elements");
  for (const char* bound : {"the least tag", "the greatest tag"}) static_cast<void>(takeTag(bound));
  static_cast<void>(cursor_.checkedCount(numBlocks, bytesOf(8, 12 + size_bytes_), "blocks"));
  static_cast<void>(cursor_.checkedCount(count, bytesOf(4, 2 * size_bytes_), "elements"));
  for (std::uint64_t block = 0; block < numBlocks; ++block) readElementBlock4();
  std::size_t found = 0;
  for (const std::size_t n : elements_.numCells) found += n;
  if (found != count)
    cursor_.fail("the blocks have " + std::to_string(found) + " elements, but " +
                 std::to_string(count) + " were announced");
}

void MshReader::readElementBlock4() {
  beginRecord("a block of elements");
  static_cast<void>(takeInt("the dimension of the entity"));
  static_cast<void>(takeInt("the tag of the entity"));
  const ElementType& type = typeOf(takeInt("the type of the elements"));
  const std::uint64_t announced = takeTag("the number of elements in the block");
  const std::size_t count =
      cursor_.checkedCount(announced, bytesOf(4, 2 * size_bytes_), "elements");
  for (std::size_t i = 0; i < count; ++i) {
    beginRecord("an element");
    static_cast<void>(takeTag("the tag of the element"));
    takeElement(type);
  }
}

/// $EndNAME; in binary files a line end may stand before it.
void MshReader::endSection(const std::string& name) {
  const std::string_view found = cursor_.nextWord();
  if (found != "$End" + name)
    cursor_.fail("expected $End" + name + ", " +
                 (found.empty() ? "but the file ends" : "found " + io::quoted(found)));
  std::string_view rest;
  static_cast<void>(cursor_.nextLine(&rest));
}

void MshReader::beginRecord(const char* meaning) {
  if (cursor_.isBinary()) return;
  if (!cursor_.nextFilledLine(&record_))
    cursor_.fail(std::string("the file ends where ") + meaning + " is due");
}

int MshReader::takeInt(const char* meaning) {
  if (cursor_.isBinary()) return cursor_.take<std::int32_t>(meaning);
  return cursor_.toInteger<int>(io::takeWord(&record_), meaning);
}

std::uint64_t MshReader::takeTag(const char* meaning) {
  if (!cursor_.isBinary()) return cursor_.toInteger<std::uint64_t>(io::takeWord(&record_), meaning);
  if (size_bytes_ == 4) return cursor_.take<std::uint32_t>(meaning);
  return cursor_.take<std::uint64_t>(meaning);
}

Real MshReader::takeCoordinate(const char* meaning) {
  if (cursor_.isBinary()) return cursor_.checkedCoordinate(cursor_.take<double>(meaning), meaning);
  return cursor_.toCoordinate(io::takeWord(&record_), meaning);
}

/// A count on a line of its own, which version 2 writes as text also in binary files.
std::uint64_t MshReader::countLine(const char* meaning) {
  std::string_view line;
  if (!cursor_.nextFilledLine(&line))
    cursor_.fail(std::string("the file ends where ") + meaning + " is due");
  return cursor_.toInteger<std::uint64_t>(io::takeWord(&line), meaning);
}

Vec3 MshReader::takePosition() {
  Vec3 p;
  p.x = takeCoordinate("x of the node");
  p.y = takeCoordinate("y of the node");
  p.z = takeCoordinate("z of the node");
  return p;
}

const ElementType& MshReader::typeOf(int number) const {
  const auto* found = std::find_if(kElementTypes.begin(), kElementTypes.end(),
                                   [&](const ElementType& t) { return t.number == number; });
  if (found == kElementTypes.end())
    cursor_.fail("element type " + std::to_string(number) +
                 " is not known, expected one of Gmsh's up to order 5 such as 4 (tetrahedron)");
  return *found;
}

void MshReader::takeElement(const ElementType& type) {
  const std::size_t place = cursor_.place();
  elements_.count(type.kind);
  TagTet tet{};
  for (int i = 0; i < type.numNodes; ++i) {
    // Version 2 has numbers where version 4 has tags.
    std::uint64_t tag = 0;
    if (version_ == 2) {
      const int number = takeInt("a node of the element");
      if (number < 0) cursor_.fail("node " + std::to_string(number) + " does not exist");
      tag = static_cast<std::uint64_t>(number);
    } else {
      tag = takeTag("a node of the element");
    }
    if (i < 4) tet[static_cast<std::size_t>(i)] = tag;
  }
  if (!io::isTet(type.kind)) return;
  io::requireTets(tag_tets_.size() + 1, cursor_.name(), limits_);
  tag_tets_.push_back(tet);
  elements_.places.push_back(place);
}

void MshReader::addNode(std::uint64_t tag, std::size_t place) {
  tags_.push_back(tag);
  node_places_.push_back(place);
}

void MshReader::resolveTags() {
  sortTags();
  elements_.tets.reserve(tag_tets_.size());
  for (std::size_t t = 0; t < tag_tets_.size(); ++t) {
    Tet tet;
    for (std::size_t i = 0; i < 4; ++i) tet[i] = vertexOf(tag_tets_[t][i], elements_.places[t]);
    elements_.tets.push_back(tet);
  }
}

void MshReader::sortTags() {
  vertex_of_tag_.reserve(tags_.size());
  for (std::size_t i = 0; i < tags_.size(); ++i)
    vertex_of_tag_.push_back({tags_[i], static_cast<std::int32_t>(i)});
  const auto isBefore = [](const TaggedVertex& a, const TaggedVertex& b) { return a.tag < b.tag; };
  if (!std::is_sorted(vertex_of_tag_.begin(), vertex_of_tag_.end(), isBefore))
    std::stable_sort(vertex_of_tag_.begin(), vertex_of_tag_.end(), isBefore);
  for (std::size_t i = 1; i < vertex_of_tag_.size(); ++i) {
    if (vertex_of_tag_[i].tag == vertex_of_tag_[i - 1].tag)
      cursor_.failAt(node_places_[static_cast<std::size_t>(vertex_of_tag_[i].vertex)],
                     "node " + std::to_string(vertex_of_tag_[i].tag) +
                         " is listed a second time, expected different tags");
  }
}

std::int32_t MshReader::vertexOf(std::uint64_t tag, std::size_t place) const {
  const std::size_t n = vertex_of_tag_.size();
  // Most files count without gaps.
  const std::uint64_t guess = n == 0 ? 0 : tag - vertex_of_tag_[0].tag;
  if (guess < n && vertex_of_tag_[guess].tag == tag) return vertex_of_tag_[guess].vertex;
  const auto found = std::lower_bound(
      vertex_of_tag_.begin(), vertex_of_tag_.end(), tag,
      [](const TaggedVertex& entry, std::uint64_t value) { return entry.tag < value; });
  if (found == vertex_of_tag_.end() || found->tag != tag)
    cursor_.failAt(place, "the element has node " + std::to_string(tag) +
                              ", which is none of the " + std::to_string(n) + " nodes" +
                              (n == 0 ? ""
                                      : " with tags from " + std::to_string(vertex_of_tag_[0].tag) +
                                            " to " + std::to_string(vertex_of_tag_[n - 1].tag)));
  return found->vertex;
}

}  // namespace

TetMesh readMsh(std::span<const std::byte> bytes, std::string_view name,
                std::vector<std::string>* notes, const TetMeshReadLimits& limits) {
  io::requireBytes(bytes.size(), name, limits);
  const std::string_view content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return MshReader(content, name, limits).read(notes);
}

}  // namespace tangere
