// SPDX-License-Identifier: Apache-2.0
#include "scene_input.hpp"

#include <tangere/simulator.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>

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

/// "bodies=2000000" into the limit of that name.
void setLimit(const std::string& text, SceneLimits* limits) {
  const std::vector<std::string> names{"bytes",      "bodies",     "shapes",
                                       "mesh_files", "mesh_bytes", "triangles"};
  const std::size_t equal = text.find('=');
  const std::string name = text.substr(0, equal);
  const auto known = std::find(names.begin(), names.end(), name);
  if (known == names.end())
    throw CommandError(kUsage, join("--limit: there is no limit '", name,
                                    "', expected bytes, bodies, shapes, mesh_files, mesh_bytes "
                                    "or triangles"));
  const std::string value = equal == std::string::npos ? "" : text.substr(equal + 1);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool isCount = name == "bodies" || name == "shapes" || name == "mesh_files";
  const std::uint64_t most = isCount ? std::uint64_t{1} << 30 : std::uint64_t{1} << 40;
  if (error != std::errc() || end != value.data() + value.size() || number == 0 || number > most)
    throw CommandError(kUsage, join("--limit ", name, ": found '", value,
                                    "', expected a whole number from 1 to ", std::to_string(most)));
  if (name == "bytes") limits->maxBytes = number;
  if (name == "bodies") limits->maxBodies = static_cast<int>(number);
  if (name == "shapes") limits->maxShapes = static_cast<int>(number);
  if (name == "mesh_files") limits->maxMeshFiles = static_cast<int>(number);
  if (name == "mesh_bytes") limits->mesh.maxBytes = number;
  if (name == "triangles") limits->mesh.maxTriangles = number;
}

}  // namespace

Scene loadSceneFor(const std::string& file, const CommonOptions& common,
                   const LoadingOptions& loading) {
  SceneLimits limits;
  for (const std::string& root : loading.assetRoots) limits.assetRoots.emplace_back(root);
  for (const std::string& text : loading.limits) setLimit(text, &limits);
  limits.mendsInertia = loading.fixesInertia;
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

void addLoadingOptions(CLI::App& command, LoadingOptions& loading) {
  command
      .add_option("--limit", loading.limits,
                  "Raise or lower a limit of what is read: bytes, bodies, shapes, mesh_files,\n"
                  "mesh_bytes, triangles; may be given again")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  command.add_flag("--fix-inertia", loading.fixesInertia,
                   "Inertias that no body has get three equal moments, with a warning");
  command
      .add_option("--asset-root", loading.assetRoots,
                  "Folder besides that of the file from which a robot file may take meshes,\n"
                  "included files and package:// names; may be given again")
      ->check(CLI::ExistingDirectory)
      ->allow_extra_args(false)
      ->type_name("DIR");
}

}  // namespace tangere::cli
