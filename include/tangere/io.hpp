// SPDX-License-Identifier: Apache-2.0
//
// Readers of mesh files. A file that is not what it claims to be is refused with its name, the line
// or byte, what was found there and what is allowed; sizes are checked before memory is asked for.
#pragma once

#include <tangere/mesh.hpp>

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

/// Reads a .obj, .stl or .glb file, by its extension. Numbers are taken as metres.
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

}  // namespace tangere
