// SPDX-License-Identifier: Apache-2.0
//
// The mesh files of a scene: found in its folder and nowhere else, each read once, turned into
// shapes with a note for everything that was changed on the way.
#pragma once

#include <tangere/mesh.hpp>
#include <tangere/scene.hpp>

#include "io/import_notes.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace tangere::io {

enum class MeshRepresentation : unsigned char {
  Bvh,     ///< the triangles as they are
  Convex,  ///< their convex hull
};

/// How a scene uses a mesh file.
struct MeshUse {
  std::string file{};
  Vec3 scale{1, 1, 1};
  MeshRepresentation representation = MeshRepresentation::Bvh;
};

struct MeshAsset {
  std::shared_ptr<const Shape> shape{};
  MeshReport report{};  ///< of the mesh that became the shape
};

class MeshAssets {
 public:
  MeshAssets(std::filesystem::path folder, const SceneLimits& limits, ImportNotes& notes)
      : folder_(std::move(folder)), limits_(limits), notes_(notes) {}

  /// The same asset for the same use; null after an error, which is in the notes at `place`.
  [[nodiscard]] const MeshAsset* load(const MeshUse& use, Place place, const std::string& who);
  /// Where a file of the scene is. Throws InvalidInput when that is outside its folder.
  [[nodiscard]] std::filesystem::path resolve(const std::string& file) const;

 private:
  using Key = std::tuple<std::string, Real, Real, Real, MeshRepresentation>;

  [[nodiscard]] const TriangleMesh& read(const std::string& file, Place place);
  [[nodiscard]] MeshAsset build(const MeshUse& use, Place place);
  void say(ImportNote::Kind kind, Place place, const std::string& file, const std::string& message);

  std::filesystem::path folder_;
  SceneLimits limits_;
  ImportNotes& notes_;
  std::map<std::string, TriangleMesh> meshes_;
  std::map<Key, MeshAsset> assets_;
  std::map<std::string, std::string> failures_;  // of files, with the reason
  std::size_t num_triangles_ = 0;
};

/// "3 open edges, the first at (0.1, 0, 0.5) m" and the like: why a mesh encloses no volume.
[[nodiscard]] std::string whyNotSolid(const MeshReport& report);

}  // namespace tangere::io
