// SPDX-License-Identifier: Apache-2.0
//
// What the readers of volume files have in common: the cells they come across, and the way from
// what a file lists to a mesh, with a note for everything that was left out or changed.
#pragma once

#include <tangere/io.hpp>
#include <tangere/tet_mesh.hpp>

#include "io/file_cursor.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tangere::io {

/// Cells of volume files, as far as a mesh of tetrahedra cares.
enum class CellKind : unsigned char {
  Tet,
  HighOrderTet,  ///< more nodes than its four corners, which come first
  Point,
  Line,
  Triangle,
  Quadrangle,
  Hexahedron,
  Prism,
  Pyramid,
  Other,
};
inline constexpr int kNumCellKinds = 10;

[[nodiscard]] inline bool isTet(CellKind kind) {
  return kind == CellKind::Tet || kind == CellKind::HighOrderTet;
}

/// What a file lists.
struct TetElements {
  std::vector<Vec3> vertices;
  std::vector<Tet> tets;
  std::vector<std::size_t> places;  ///< of the tetrahedra in the file, for FileCursor::failAt()
  std::array<std::size_t, kNumCellKinds> numCells{};

  void count(CellKind kind) { ++numCells[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] std::size_t numOf(CellKind kind) const {
    return numCells[static_cast<std::size_t>(kind)];
  }
};

/// The mesh: vertices at one place made one, unused ones and repeated tetrahedra left out. Indices
/// must be in range. Throws InvalidInput at the tetrahedron that has no volume. `cursor` is that of
/// the file that lists the tetrahedra.
[[nodiscard]] TetMesh makeTetMesh(TetElements elements, const FileCursor& cursor,
                                  std::vector<std::string>* notes);

/// Throws LimitExceeded when `count` tetrahedra are more than the reader accepts.
void requireTets(std::size_t count, std::string_view name, const TetMeshReadLimits& limits);

/// Throws LimitExceeded when the file is larger than the reader accepts.
void requireBytes(std::size_t count, std::string_view name, const TetMeshReadLimits& limits);

}  // namespace tangere::io
