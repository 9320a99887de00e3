// SPDX-License-Identifier: Apache-2.0
//
// What bodies look like where that is not how they collide: the <visual> elements of URDF and
// SDFormat, the geoms of MJCF that touch nothing. For pictures alone: no result depends on them.
#pragma once

#include <tangere/io.hpp>
#include <tangere/mesh.hpp>
#include <tangere/shape.hpp>

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace tangere {

/// One of `shape`, `mesh` and `file`.
struct VisualShape {
  std::string body{};                           ///< name; empty: the world
  Transform pose{};                             ///< in the frame of the body, or of the world
  std::shared_ptr<const Shape> shape{};         ///< a solid
  std::shared_ptr<const TriangleMesh> mesh{};   ///< triangles that need not enclose anything
  std::filesystem::path file{};                 ///< a mesh that was not read yet
  Vec3 scale{1, 1, 1};                          ///< of the vertices of the file
  std::array<Real, 4> color{0.7, 0.7, 0.7, 1};  ///< red, green, blue (sRGB), opacity, from 0 to 1
};

/// The visuals with the meshes of their files, each read once. Those that cannot be read are left
/// out, each with a sentence in `notes` where that is not null: a picture is no reason to fail.
[[nodiscard]] std::vector<VisualShape> readVisuals(std::vector<VisualShape> visuals,
                                                   std::vector<std::string>* notes = nullptr,
                                                   const MeshReadLimits& limits = {});

}  // namespace tangere
