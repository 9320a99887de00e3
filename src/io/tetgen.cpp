// SPDX-License-Identifier: Apache-2.0
//
// TetGen's files: NAME.node lists points, NAME.ele the tetrahedra between them. Everything is
// counted from the number of the first point, 0 or 1.
#include <tangere/error.hpp>
#include <tangere/io.hpp>

#include "io/file_cursor.hpp"
#include "io/tet_elements.hpp"
#include "io/text.hpp"

namespace tangere {

namespace {

using io::CellKind;

struct NodeList {
  std::vector<Vec3> points;
  std::int64_t first = 0;  // number of the first point
};

/// The next line with something beside a comment.
std::string_view nextRecord(io::FileCursor* cursor, const char* meaning) {
  std::string_view line;
  while (cursor->nextFilledLine(&line)) {
    line = line.substr(0, line.find('#'));
    std::string_view words = line;
    if (!io::takeWord(&words).empty()) return line;
  }
  cursor->fail(std::string("the file ends where ") + meaning + " is due");
}

/// The number a line begins with; lines are numbered one after the other.
void takeNumber(std::string_view* words, std::int64_t expected, const char* meaning,
                const io::FileCursor& cursor) {
  const auto number = cursor.toInteger<std::int64_t>(io::takeWord(words), meaning);
  if (number != expected)
    cursor.fail(std::string(meaning) + " is " + std::to_string(number) + ", expected " +
                std::to_string(expected));
}

NodeList readNodes(std::string_view text, std::string_view name) {
  io::FileCursor cursor(text, name);
  std::string_view words = nextRecord(&cursor, "the number of points");
  const auto announced =
      cursor.toInteger<std::uint64_t>(io::takeWord(&words), "the number of points");
  const std::size_t count = cursor.checkedCount(announced, 7, "points");  // "1 0 0 0", no line end
  // "4" alone stands for "4 3 0 0".
  if (const std::string_view dimension = io::takeWord(&words);
      !dimension.empty() && cursor.toInteger<int>(dimension, "the dimension") != 3)
    cursor.fail("the dimension must be 3, but is " + io::quoted(dimension));
  NodeList nodes;
  nodes.points.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    words = nextRecord(&cursor, "a point");
    if (i == 0) {
      std::string_view copy = words;
      nodes.first = cursor.toInteger<std::int64_t>(io::takeWord(&copy), "the number of the point");
      if (nodes.first != 0 && nodes.first != 1)
        cursor.fail("the number of the first point must be 0 or 1, but is " +
                    std::to_string(nodes.first));
    }
    takeNumber(&words, nodes.first + static_cast<std::int64_t>(i), "the number of the point",
               cursor);
    Vec3 p;
    p.x = cursor.toCoordinate(io::takeWord(&words), "x of the point");
    p.y = cursor.toCoordinate(io::takeWord(&words), "y of the point");
    p.z = cursor.toCoordinate(io::takeWord(&words), "z of the point");
    nodes.points.push_back(p);
  }
  return nodes;
}

/// Adds the tetrahedra to the points, which are there already.
void readTets(std::int64_t first, const TetMeshReadLimits& limits, io::FileCursor* cursor,
              io::TetElements* elements) {
  std::string_view words = nextRecord(cursor, "the number of tetrahedra");
  const auto announced =
      cursor->toInteger<std::uint64_t>(io::takeWord(&words), "the number of tetrahedra");
  const std::size_t count = cursor->checkedCount(announced, 9, "tetrahedra");  // "1 1 2 3 4"
  io::requireTets(count, cursor->name(), limits);
  const std::string_view perTet = io::takeWord(&words);
  const int numNodes =
      perTet.empty() ? 4 : cursor->toInteger<int>(perTet, "the number of points of a tetrahedron");
  if (numNodes != 4 && numNodes != 10)
    cursor->fail("the number of points of a tetrahedron must be 4 or 10, but is " +
                 std::to_string(numNodes));
  const auto numPoints = static_cast<std::int64_t>(elements->vertices.size());
  elements->tets.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    words = nextRecord(cursor, "a tetrahedron");
    takeNumber(&words, first + static_cast<std::int64_t>(i), "the number of the tetrahedron",
               *cursor);
    Tet tet{};
    for (int corner = 0; corner < numNodes; ++corner) {
      const auto point =
          cursor->toInteger<std::int64_t>(io::takeWord(&words), "a point of the tetrahedron");
      if (point < first || point >= first + numPoints)
        cursor->fail("the tetrahedron has point " + std::to_string(point) + ", expected " +
                     std::to_string(first) + " to " + std::to_string(first + numPoints - 1));
      if (corner < 4)
        tet[static_cast<std::size_t>(corner)] = static_cast<std::int32_t>(point - first);
    }
    elements->tets.push_back(tet);
    elements->places.push_back(cursor->place());
    elements->count(numNodes == 4 ? CellKind::Tet : CellKind::HighOrderTet);
  }
}

}  // namespace

TetMesh readTetGen(std::string_view nodes, std::string_view elements, std::string_view nodeName,
                   std::string_view elementName, std::vector<std::string>* notes,
                   const TetMeshReadLimits& limits) {
  io::requireBytes(nodes.size(), nodeName, limits);
  io::requireBytes(elements.size(), elementName, limits);
  NodeList list = readNodes(nodes, nodeName);
  io::TetElements out;
  out.vertices = std::move(list.points);
  io::FileCursor cursor(elements, elementName);
  readTets(list.first, limits, &cursor, &out);
  return io::makeTetMesh(std::move(out), cursor, notes);
}

}  // namespace tangere
