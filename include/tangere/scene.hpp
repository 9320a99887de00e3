// SPDX-License-Identifier: Apache-2.0
//
// Scene files: what docs/scene_file.md describes, read into a Model, with a report of what was
// read, changed or ignored and where.
#pragma once

#include <tangere/error.hpp>
#include <tangere/io.hpp>
#include <tangere/model.hpp>
#include <tangere/visual.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tangere {

/// One thing said about an input. Lines and columns count from 1; 0 where there is none.
struct ImportNote {
  enum class Kind : std::uint8_t { Read, Changed, Ignored, Warning, Error };
  Kind kind = Kind::Read;
  std::string file{};
  int line = 0;
  int column = 0;
  std::string message{};
};

/// "read", "changed", "ignored", "warning", "error".
[[nodiscard]] std::string_view importNoteKindName(ImportNote::Kind kind);
/// "file:line:column: message", for people.
[[nodiscard]] std::string describe(const ImportNote& note);

/// What was read and what was made of it, in the order of the file. At most 1000 notes; the last
/// one then says how many were left out.
struct ImportReport {
  std::vector<ImportNote> notes;
};

/// A refused scene. what() has one line for each of errors().
class SceneError : public InvalidInput {
 public:
  enum class Cause : std::uint8_t {
    Content,  ///< the text says what cannot be simulated
    Limit,    ///< larger than SceneLimits allow, and nothing else is wrong
    File,     ///< the scene file itself cannot be read
  };

  SceneError(Cause cause, std::vector<ImportNote> errors, std::size_t numErrors);

  [[nodiscard]] Cause cause() const { return cause_; }
  /// The first 20.
  [[nodiscard]] std::span<const ImportNote> errors() const { return *errors_; }
  /// All that were found.
  [[nodiscard]] std::size_t numErrors() const { return num_errors_; }

 private:
  Cause cause_;
  std::shared_ptr<const std::vector<ImportNote>> errors_;  // shared: copying must not throw
  std::size_t num_errors_;
};

/// What a loader accepts. Checked before memory is taken.
struct SceneLimits {
  std::size_t maxBytes = std::size_t{64} << 20;
  int maxBodies = 1'000'000;
  int maxShapes = 4'000'000;
  int maxMeshFiles = 256;
  /// For each mesh file; maxTriangles also for all meshes of the scene together.
  MeshReadLimits mesh{};
  /// Robot files: folders besides that of the file from which meshes and included files may come,
  /// and where package:// names are looked for.
  std::vector<std::filesystem::path> assetRoots{};
  /// Inertias that no body has, but whose moments have a positive sum, get three equal moments of
  /// that sum, with a warning. Otherwise they are refused.
  bool mendsInertia = false;
};

struct Scene {
  Model model;
  ImportReport report{};
  std::string name{};  ///< of the file, without folder and extension
  /// Of robot files; bodies without any look as they collide. Their mesh files were not opened.
  std::vector<VisualShape> visuals{};
  /// Every file that was read for it, in that order: itself, what it includes, meshes. What a run
  /// writes must be none of these, nor a file of `visuals`.
  std::vector<std::filesystem::path> files{};
};

/// Reads a scene file: the native scene, MJCF, URDF or SDFormat; what it is, its content tells.
/// Mesh and included files are looked for in the folder of the scene and below it, and nowhere else
/// but in limits.assetRoots. Throws SceneError.
[[nodiscard]] Scene loadScene(const std::filesystem::path& path, const SceneLimits& limits = {});

/// The native scene. `name` is how messages call the text.
[[nodiscard]] Scene readSceneToml(std::string_view text, const std::filesystem::path& folder,
                                  std::string_view name = "scene.toml",
                                  const SceneLimits& limits = {});

/// A robot file (MJCF, URDF or SDFormat, told by its root element) as a scene under the SAP solver.
[[nodiscard]] Scene readSceneXml(std::string_view text, const std::filesystem::path& folder,
                                 std::string_view name = "scene.xml",
                                 const SceneLimits& limits = {});

}  // namespace tangere
