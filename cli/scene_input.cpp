// SPDX-License-Identifier: Apache-2.0
#include "scene_input.hpp"

namespace tangere::cli {

namespace {

ExitCode codeFor(SceneError::Cause cause) {
  switch (cause) {
    case SceneError::Cause::Content:
      return kInputRejected;
    case SceneError::Cause::Limit:
      return kResourceLimit;
    case SceneError::Cause::File:
      return kInputOutput;
  }
  return kInputRejected;
}

}  // namespace

Scene loadSceneFor(const std::string& file, const CommonOptions& common,
                   const std::vector<std::string>& assetRoots) {
  SceneLimits limits;
  for (const std::string& root : assetRoots) limits.assetRoots.emplace_back(root);
  try {
    Scene scene = loadScene(file, limits);
    for (const ImportNote& note : scene.report.notes)
      if (note.kind == ImportNote::Kind::Warning) warn(common, describe(note));
    return scene;
  } catch (const SceneError& error) {
    std::vector<Diagnostic> diagnostics;
    for (const ImportNote& note : error.errors())
      diagnostics.push_back(
          {.file = note.file, .line = note.line, .column = note.column, .message = note.message});
    throw CommandError(codeFor(error.cause()), diagnostics, error.numErrors());
  }
}

std::vector<VisualShape> visualsFor(const Scene& scene, const CommonOptions& common) {
  std::vector<std::string> notes;
  std::vector<VisualShape> visuals = readVisuals(scene.visuals, &notes);
  for (const std::string& note : notes) warn(common, note);
  return visuals;
}

void addAssetRootOption(CLI::App& command, std::vector<std::string>& assetRoots) {
  command
      .add_option("--asset-root", assetRoots,
                  "Folder besides that of the file from which a robot file may take meshes,\n"
                  "included files and package:// names; may be given again")
      ->check(CLI::ExistingDirectory)
      ->allow_extra_args(false)
      ->type_name("DIR");
}

}  // namespace tangere::cli
