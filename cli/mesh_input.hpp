// SPDX-License-Identifier: Apache-2.0
//
// Mesh files as commands take them, and the report of a solid made of tetrahedra.
#pragma once

#include "console.hpp"

#include <tangere/tet_mesh.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace tangere::cli {

enum class MeshFileKind : unsigned char {
  None,
  Surface,  ///< .obj, .stl, .glb
  Volume,   ///< .msh, .vtk, .node, .ele
};

/// By the extension, also of formats that the readers know well enough to refuse with advice.
[[nodiscard]] MeshFileKind meshFileKind(const std::string& file);

/// Names, devices and sizes first: a reader is only ever given a regular file it may hold. Throws
/// CommandError with kInputOutput or kResourceLimit.
void requireReadable(const std::string& file, std::size_t maxBytes);

struct TetMeshSummary {
  std::string name;  ///< of what the mesh was made or read from
  TetMesh mesh;
  TetMeshReport report{};
  bool isRead = false;   ///< from a volume file: there is no surface to compare it with
  std::string output{};  ///< where it was written, if anywhere
  Real wall_s = 0;
};

/// A volume file with the reader's notes as findings.
[[nodiscard]] TetMeshSummary readVolume(const std::string& file);

[[nodiscard]] Json toJson(const TetMeshSummary& summary);
void print(const TetMeshSummary& summary);

}  // namespace tangere::cli
