// SPDX-License-Identifier: Apache-2.0
#include "io/tet_elements.hpp"

#include "io/mesh_file.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

namespace tangere::io {

namespace {

/// A tetrahedron with less volume than this times its longest edge cubed has none.
constexpr Real kMinRelativeVolume = 1e-12;

std::string counted(std::size_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

struct KindName {
  CellKind kind;
  const char* one;
  const char* many;
};
constexpr std::array<KindName, 8> kLeftOut{{{CellKind::Point, "point", "points"},
                                            {CellKind::Line, "line", "lines"},
                                            {CellKind::Triangle, "triangle", "triangles"},
                                            {CellKind::Quadrangle, "quadrangle", "quadrangles"},
                                            {CellKind::Hexahedron, "hexahedron", "hexahedra"},
                                            {CellKind::Prism, "prism", "prisms"},
                                            {CellKind::Pyramid, "pyramid", "pyramids"},
                                            {CellKind::Other, "other cell", "other cells"}}};

/// "12 lines, 40 triangles", or nothing.
std::string otherCells(const TetElements& elements) {
  std::string text;
  for (const KindName& name : kLeftOut) {
    const std::size_t count = elements.numOf(name.kind);
    if (count == 0) continue;
    if (!text.empty()) text += ", ";
    text += counted(count, name.one, name.many);
  }
  return text;
}

/// Collects the sentences, in the order in which things were done.
class Notes {
 public:
  explicit Notes(std::vector<std::string>* list) : list_(list) {}
  void add(const std::string& sentence) {
    if (list_ != nullptr) list_->push_back(sentence);
  }

 private:
  std::vector<std::string>* list_;
};

void noteCells(const TetElements& elements, Notes* notes) {
  const std::string others = otherCells(elements);
  if (!others.empty()) notes->add(others + " left out: only tetrahedra are kept");
  const std::size_t solids = elements.numOf(CellKind::Hexahedron) +
                             elements.numOf(CellKind::Prism) + elements.numOf(CellKind::Pyramid);
  if (solids > 0)
    notes->add(counted(solids, "cell", "cells") +
               " of the solid left out with them: remesh it with tetrahedra alone");
  const std::size_t highOrder = elements.numOf(CellKind::HighOrderTet);
  if (highOrder > 0)
    notes->add(counted(highOrder, "tetrahedron", "tetrahedra") +
               " of higher order reduced to the four corners");
}

/// For each vertex in use the first in use at its place, for the others -1.
std::vector<std::int32_t> firstAtPlace(const TetElements& elements) {
  const std::size_t n = elements.vertices.size();
  std::vector<std::uint8_t> isUsed(n, 0);
  for (const Tet& tet : elements.tets)
    for (const std::int32_t v : tet) isUsed[static_cast<std::size_t>(v)] = 1;
  std::vector<std::int32_t> order;
  for (std::size_t v = 0; v < n; ++v)
    if (isUsed[v] != 0) order.push_back(static_cast<std::int32_t>(v));
  const auto at = [&](std::int32_t v) -> const Vec3& {
    return elements.vertices[static_cast<std::size_t>(v)];
  };
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return std::tie(at(a).x, at(a).y, at(a).z) < std::tie(at(b).x, at(b).y, at(b).z);
  });
  std::vector<std::int32_t> first(n, -1);
  for (std::size_t k = 0; k < order.size(); ++k) {
    const bool isSame = k > 0 && at(order[k]) == at(order[k - 1]);
    first[static_cast<std::size_t>(order[k])] =
        isSame ? first[static_cast<std::size_t>(order[k - 1])] : order[k];
  }
  return first;
}

/// Leaves vertices out and numbers the rest anew, in the order of the file.
void keepNeededVertices(TetElements* elements, Notes* notes) {
  const std::vector<std::int32_t> first = firstAtPlace(*elements);
  std::vector<std::int32_t> renumbered(first.size(), -1);
  std::vector<Vec3> kept;
  std::size_t unused = 0, duplicates = 0;
  for (std::size_t v = 0; v < first.size(); ++v) {
    if (first[v] < 0) {
      ++unused;
    } else if (first[v] != static_cast<std::int32_t>(v)) {
      ++duplicates;
      renumbered[v] = renumbered[static_cast<std::size_t>(first[v])];
    } else {
      renumbered[v] = static_cast<std::int32_t>(kept.size());
      kept.push_back(elements->vertices[v]);
    }
  }
  for (Tet& tet : elements->tets)
    for (std::int32_t& v : tet) v = renumbered[static_cast<std::size_t>(v)];
  elements->vertices = std::move(kept);
  if (duplicates > 0)
    notes->add(counted(duplicates, "vertex", "vertices") +
               " at the place of an earlier one merged with it");
  if (unused > 0) notes->add(counted(unused, "vertex", "vertices") + " of no tetrahedron left out");
}

void requireFourVertices(const TetElements& elements, const FileCursor& cursor) {
  for (std::size_t t = 0; t < elements.tets.size(); ++t) {
    const Tet& tet = elements.tets[t];
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t k = i + 1; k < 4; ++k)
        if (tet[i] == tet[k])
          cursor.failAt(elements.places[t], "corners " + std::to_string(i + 1) + " and " +
                                                std::to_string(k + 1) +
                                                " of the tetrahedron are at one place, expected "
                                                "four different ones");
  }
}

/// Gmsh 2 lists an element once for each of its physical groups.
void dropRepeatedTets(TetElements* elements, Notes* notes) {
  const std::size_t n = elements->tets.size();
  std::vector<Tet> sorted = elements->tets;
  for (Tet& tet : sorted) std::stable_sort(tet.begin(), tet.end());
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return sorted[a] < sorted[b]; });
  std::vector<std::uint8_t> isRepeated(n, 0);
  for (std::size_t k = 1; k < n; ++k)
    isRepeated[order[k]] = sorted[order[k]] == sorted[order[k - 1]] ? 1 : 0;
  std::size_t kept = 0;
  for (std::size_t t = 0; t < n; ++t) {
    if (isRepeated[t] != 0) continue;
    elements->tets[kept] = elements->tets[t];
    elements->places[kept] = elements->places[t];
    ++kept;
  }
  if (kept < n)
    notes->add(counted(n - kept, "tetrahedron", "tetrahedra") + " listed more than once left out");
  elements->tets.resize(kept);
  elements->places.resize(kept);
}

/// Refuses tetrahedra without a volume; the others may face either way.
void requireVolumes(const TetElements& elements, const FileCursor& cursor, Notes* notes) {
  std::size_t numTurned = 0;
  for (std::size_t t = 0; t < elements.tets.size(); ++t) {
    std::array<Vec3, 4> x;
    for (std::size_t i = 0; i < 4; ++i)
      x[i] = elements.vertices[static_cast<std::size_t>(elements.tets[t][i])];
    Real longest = 0;
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t k = i + 1; k < 4; ++k) longest = std::max(longest, norm(x[k] - x[i]));
    const Real volume = dot(cross(x[1] - x[0], x[2] - x[0]), x[3] - x[0]) / 6;
    if (!(std::fabs(volume) > kMinRelativeVolume * longest * longest * longest))
      cursor.failAt(elements.places[t],
                    "the tetrahedron has no volume: its corners lie in one plane");
    if (volume < 0) ++numTurned;
  }
  if (numTurned == elements.tets.size())
    notes->add("all tetrahedra had a negative volume (another order of corners) and were turned");
  else if (numTurned > 0)
    notes->add(counted(numTurned, "tetrahedron", "tetrahedra") + " of negative volume turned");
}

void noteMesh(const TetMesh& mesh, Notes* notes) {
  const int numParts = mesh.quality().numParts;
  if (numParts > 1)
    notes->add(std::to_string(numParts) + " parts that no face connects: they move apart freely");
  Vec3 lower = mesh.vertices()[0], upper = lower;
  for (const Vec3& p : mesh.vertices()) {
    for (int axis = 0; axis < 3; ++axis) {
      lower[axis] = std::min(lower[axis], p[axis]);
      upper[axis] = std::max(upper[axis], p[axis]);
    }
  }
  const Vec3 size = upper - lower;
  const Real across = std::max(size.x, std::max(size.y, size.z));
  if (across > 50)
    notes->add("more than 50 m across: probably in millimetres, scale by 0.001");
  else if (across < 1e-4)
    notes->add("less than 0.1 mm across: probably converted to metres twice");
}

}  // namespace

TetMesh makeTetMesh(TetElements elements, const FileCursor& cursor,
                    std::vector<std::string>* notes) {
  if (elements.tets.empty()) {
    const std::string others = otherCells(elements);
    throw InvalidInput(std::string(cursor.name()) + ": no tetrahedra in this file" +
                       (others.empty() ? "" : ", but " + others) +
                       "; expected a volume mesh (tangere mesh makes one from a surface)");
  }
  if (elements.vertices.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw LimitExceeded(std::string(cursor.name()) + ": more than 2147483647 vertices");
  Notes list(notes);
  noteCells(elements, &list);
  keepNeededVertices(&elements, &list);
  requireFourVertices(elements, cursor);
  dropRepeatedTets(&elements, &list);
  requireVolumes(elements, cursor, &list);
  try {
    TetMesh mesh(std::move(elements.vertices), std::move(elements.tets));
    noteMesh(mesh, &list);
    return mesh;
  } catch (const InvalidInput& error) {
    throw InvalidInput(std::string(cursor.name()) + ": " + error.what());
  }
}

void requireTets(std::size_t count, std::string_view name, const TetMeshReadLimits& limits) {
  if (count > limits.maxTets)
    throw LimitExceeded(std::string(name) + ": " + std::to_string(count) +
                        " tetrahedra, more than the limit of " + std::to_string(limits.maxTets));
}

void requireBytes(std::size_t count, std::string_view name, const TetMeshReadLimits& limits) {
  if (count > limits.maxBytes)
    throw LimitExceeded(std::string(name) + ": " + std::to_string(count) +
                        " bytes, more than the limit of " + std::to_string(limits.maxBytes));
}

}  // namespace tangere::io
