// SPDX-License-Identifier: Apache-2.0
//
// Files of surface and volume meshes. A file that is not what it claims to be is refused with its
// name, the line or byte, what was found there and what is allowed; sizes are checked before memory
// is asked for.
#pragma once

#include <tangere/mesh.hpp>
#include <tangere/tet_mesh.hpp>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tangere {

/// What a reader accepts; anything larger is refused.
struct MeshReadLimits {
  std::size_t maxBytes = std::size_t{64} << 20;
  std::size_t maxTriangles = 10'000'000;
};

/// Reads a .obj, .stl, .glb or .dae file, by its extension. Numbers are taken as metres.
/// Throws InvalidInput, also when the file cannot be read.
[[nodiscard]] TriangleMesh readMesh(const std::filesystem::path& path,
                                    const MeshReadLimits& limits = {});

/// Wavefront OBJ: v and f. All groups make one mesh; a polygon becomes a fan from its first vertex,
/// which is right for convex ones. Texture coordinates, normals, materials and free-form statements
/// are skipped. Vertices are kept as listed. `name` is used in messages.
[[nodiscard]] TriangleMesh readObj(std::string_view text, std::string_view name = "obj",
                                   const MeshReadLimits& limits = {});

/// STL, ASCII or binary, told apart by the size a binary file must have. Normals and attributes are
/// skipped; corners at one place become one vertex.
[[nodiscard]] TriangleMesh readStl(std::span<const std::byte> bytes, std::string_view name = "stl",
                                   const MeshReadLimits& limits = {});

/// Binary glTF 2.0: the triangles of all nodes of its scene as one mesh, placed by the nodes, with
/// corners at one place made one vertex. glTF has y up; the result has z up: (x, -z, y). Colours,
/// textures, skins and animations are passed over, and named in `ignored` where that is not null;
/// data outside the file is never looked for.
[[nodiscard]] TriangleMesh readGlb(std::span<const std::byte> bytes, std::string_view name = "glb",
                                   const MeshReadLimits& limits = {},
                                   std::vector<std::string>* ignored = nullptr);

/// COLLADA 1.4 and 1.5: the triangles and polygons of all nodes of its scene as one mesh, placed by
/// the nodes, in metres by the file's unit, with z up by its up_axis and corners at one place made
/// one vertex. A polygon becomes a fan from its first corner and loses its holes. Materials, skins
/// and animations are passed over; other files are never looked for.
[[nodiscard]] TriangleMesh readCollada(std::string_view text, std::string_view name = "dae",
                                       const MeshReadLimits& limits = {});

/// What a reader of volume files accepts; anything larger is refused.
struct TetMeshReadLimits {
  std::size_t maxBytes = std::size_t{512} << 20;
  std::size_t maxTets = 10'000'000;
};

/// Reads the tetrahedra of a .msh (Gmsh 2.0-2.2, 4.1), .vtk (legacy unstructured grid) or
/// .node/.ele pair (TetGen), by its extension; of the pair either name will do. Numbers are metres.
/// Vertices at one place become one; vertices without a tetrahedron, repeated tetrahedra, and cells
/// of other kinds are left out; of tetrahedra of higher order the corners are kept, and those of
/// negative volume are turned. Each of this is a sentence in `notes`, where that is not null.
/// Throws InvalidInput, also when the file cannot be read.
[[nodiscard]] TetMesh readTetMesh(const std::filesystem::path& path,
                                  std::vector<std::string>* notes = nullptr,
                                  const TetMeshReadLimits& limits = {});

/// Gmsh's format, ASCII or binary of either byte order. Tags need not be consecutive.
[[nodiscard]] TetMesh readMsh(std::span<const std::byte> bytes, std::string_view name = "msh",
                              std::vector<std::string>* notes = nullptr,
                              const TetMeshReadLimits& limits = {});

/// VTK's legacy format, ASCII or binary, with cells as counted lists or as offsets.
[[nodiscard]] TetMesh readVtk(std::span<const std::byte> bytes, std::string_view name = "vtk",
                              std::vector<std::string>* notes = nullptr,
                              const TetMeshReadLimits& limits = {});

/// TetGen's two files, counted from 0 or from 1. Attributes and markers are skipped.
[[nodiscard]] TetMesh readTetGen(std::string_view nodes, std::string_view elements,
                                 std::string_view nodeName = "node",
                                 std::string_view elementName = "ele",
                                 std::vector<std::string>* notes = nullptr,
                                 const TetMeshReadLimits& limits = {});

enum class MeshEncoding : unsigned char {
  Binary,  ///< read back to the same bits
  Ascii,   ///< seventeen digits: read back to the same bits too, by readers that round well
};

/// Writes MSH 4.1 (.msh) or legacy VTK (.vtk), by the extension. The file has its name only once it
/// is whole. Throws InvalidInput for another extension, FileError when it cannot be written.
void writeTetMesh(const std::filesystem::path& path, const TetMesh& mesh,
                  MeshEncoding encoding = MeshEncoding::Binary);

}  // namespace tangere
