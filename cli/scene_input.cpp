// SPDX-License-Identifier: Apache-2.0
#include "scene_input.hpp"

#include <tangere/simulator.hpp>

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
  const EndsAtOnce endsAtOnce(common, join(file, " was read"));
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

std::vector<NamedFile> inputsOf(const Scene& scene, const std::string& file) {
  std::vector<NamedFile> inputs{{"the scene", file}};
  for (const std::filesystem::path& path : scene.files)
    inputs.push_back({join(path.string(), ", which the scene reads"), path.string()});
  for (const VisualShape& visual : scene.visuals)
    if (!visual.file.empty())
      inputs.push_back(
          {join(visual.file.string(), ", which the scene reads"), visual.file.string()});
  return inputs;
}

Model modelFor(const Scene& scene, const std::string& file, const SceneChanges& changes,
               const CommonOptions& common) {
  SimulationOptions changed = scene.model.options();
  for (const SolverType type : {SolverType::Impulse, SolverType::Sap, SolverType::Event})
    if (changes.solver == solverTypeName(type)) changed.solver = type;
  if (changes.dt_s) changed.dt = *changes.dt_s;
  if (changes.accuracy) changed.accuracy = *changes.accuracy;
  if (changes.excludeStartOverlaps) changed.excludeStartOverlaps = true;
  const EndsAtOnce endsAtOnce(common, join(file, " was read"));
  try {
    Model model = scene.model.withOptions(changed);
    if (changed.solver != scene.model.options().solver) requireSimulatable(model);
    for (const std::string& sentence : model.unused()) warn(common, join(file, ": ", sentence));
    return model;
  } catch (const InvalidInput& error) {
    throw CommandError(kInputRejected, {{.file = file, .message = error.what()}});
  }
}

int keyframeNamed(const std::string& name, const Model& model, const std::string& file) {
  if (name.empty()) return -1;
  std::vector<std::string> known;
  for (const Keyframe& keyframe : model.keyframes()) {
    if (keyframe.name == name) return static_cast<int>(known.size());
    known.push_back(keyframe.name);
  }
  throw CommandError(
      kInputRejected,
      {{.file = file,
        .message = join("no keyframe is called '", name, "'", nearNames(name, known))}});
}

std::vector<VisualShape> visualsFor(const Scene& scene, const CommonOptions& common) {
  const EndsAtOnce endsAtOnce(common, join(scene.name, " was read"));
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
