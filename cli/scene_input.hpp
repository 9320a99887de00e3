// SPDX-License-Identifier: Apache-2.0
//
// Scene files as commands take them: what is wrong with one ends the command with the right code.
#pragma once

#include "console.hpp"
#include "output_file.hpp"

#include <tangere/scene.hpp>

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

namespace tangere::cli {

/// What the options of a command say about reading a scene.
struct LoadingOptions {
  std::vector<std::string> assetRoots{};  ///< --asset-root DIR
  std::vector<std::string> limits{};      ///< --limit NAME=VALUE
  bool fixesInertia = false;              ///< --fix-inertia
};

/// Reads a scene and passes its warnings on. Throws CommandError: kInputRejected for what the text
/// says, kResourceLimit for its size, kInputOutput for a file that cannot be read, kUsage for a
/// limit that does not exist.
[[nodiscard]] Scene loadSceneFor(const std::string& file, const CommonOptions& common,
                                 const LoadingOptions& loading = {});

/// All files of a scene: no output may be one of them.
[[nodiscard]] std::vector<NamedFile> inputsOf(const Scene& scene, const std::string& file);

/// What the options of a command change about a scene.
struct SceneChanges {
  std::string solver{};  ///< a name of solverTypeName(); empty: the scene's
  std::optional<Real> dt_s{}, accuracy{};
  bool excludeStartOverlaps = false;  ///< besides where the scene says so
};

/// The model with these changes; what its solver does not use is a warning. Throws CommandError
/// where it cannot be simulated so.
[[nodiscard]] Model modelFor(const Scene& scene, const std::string& file,
                             const SceneChanges& changes, const CommonOptions& common);

/// -1 without a name. Throws CommandError, with near names, when no keyframe has it.
[[nodiscard]] int keyframeNamed(const std::string& name, const Model& model,
                                const std::string& file);

/// How its bodies look, with the meshes read; what cannot be drawn is a warning.
[[nodiscard]] std::vector<VisualShape> visualsFor(const Scene& scene, const CommonOptions& common);

void addLoadingOptions(CLI::App& command, LoadingOptions& loading);

}  // namespace tangere::cli
