// SPDX-License-Identifier: Apache-2.0
#include "io/scene_models.hpp"

#include <tangere/error.hpp>

#include "io/contact_law.hpp"
#include "io/mesh_file.hpp"
#include "io/text.hpp"

#include <optional>
#include <utility>

namespace tangere::io {

SceneModels::SceneModels(const std::map<std::string, Material>& materials,
                         std::filesystem::path folder, const SceneLimits& limits,
                         ImportNotes& notes, ModelBuilder& builder, SceneBodies& bodies)
    : folder_(std::move(folder)),
      limits_(limits),
      notes_(notes),
      builder_(builder),
      bodies_(bodies) {
  for (const auto& [name, place] : bodies.places()) names_.emplace("body " + name, place);
  // What importers call their materials must not be what the scene calls its own.
  for (const auto& [name, material] : materials) {
    for (const char* kind : {"surface ", "material "}) names_.emplace(kind + name, Place{});
  }
  num_bodies_ = static_cast<int>(bodies.places().size());
  // Files of a model may come from anywhere in the tree of the scene.
  limits_.assetRoots.push_back(folder_.empty() ? std::filesystem::path(".") : folder_);
}

void SceneModels::read(const Value& models) {
  const Value::Array* items = models.array();
  if (items == nullptr) {
    notes_.error(models.place,
                 "model: found " + describe(models) + ", expected tables headed [[model]]");
    return;
  }
  for (const Value& item : *items) readModel(item);
}

void SceneModels::readModel(const Value& value) {
  TableReader table(notes_, value, "model");
  if (value.table() == nullptr) return;
  const std::string name = table.string("name").value_or("");
  if (!name.empty()) table.setWho("model " + io::quoted(name));
  constexpr std::size_t kMaxName = 256;
  if (table.has("name") &&
      (name.empty() || name.size() > kMaxName || name.find('/') != std::string::npos)) {
    table.error(table.placeOf("name"), "name: found " + io::quoted(name) +
                                           ", expected a name of at most 256 bytes without '/'");
  }
  if (!name.empty()) {
    const auto [other, isNew] = given_.emplace(name, table.placeOf("name"));
    if (!isNew) {
      table.error(table.placeOf("name"), "found the name twice, expected another than at " +
                                             std::to_string(other->second.line) + ":" +
                                             std::to_string(other->second.column));
    }
  }
  const std::optional<std::string> file = table.string("file");
  if (!table.has("file"))
    table.error(table.place(),
                "file is missing, expected the name of an MJCF, URDF or SDFormat file");
  const Transform pose = bodies_.readPose(table);
  const bool isFixed = table.boolean("fixed").value_or(false);
  readPositions(table, name.empty() ? "" : name + "/");
  Material law;
  const bool hasLaw = readContactLaw(table, &law);
  table.finish();
  if (!file) return;

  std::optional<std::filesystem::path> path;
  std::optional<XmlElement> root;
  ModelFiles ownFiles(folder_, limits_);
  try {
    path = ownFiles.resolve(*file);
    const std::string text = readRegularFile(*path, *file, limits_.maxBytes);
    num_bytes_ += text.size();
    if (num_bytes_ > limits_.maxBytes) {
      throw LimitExceeded("the models of the scene have more than " +
                          std::to_string(limits_.maxBytes) + " bytes together, the limit");
    }
    const std::size_t begin = text.find_first_not_of("\xef\xbb\xbf \t\r\n");
    if (begin == std::string::npos || text[begin] != '<') {
      table.error(table.placeOf("file"), "found " + io::quoted(*file) +
                                             ", which is no XML, expected MJCF, URDF or SDFormat");
      return;
    }
    root = parseRobotXml(text, *file, limits_, notes_);
  } catch (const LimitExceeded& error) {
    notes_.limit(table.placeOf("file"), table.who() + ": " + error.what());
  } catch (const InvalidInput& error) {
    table.error(table.placeOf("file"), error.what());
  }
  if (!root) return;
  if (isFixed && root->name == "mujoco") {
    table.error(table.placeOf("fixed"),
                "found fixed = true for an MJCF file, expected none: bodies float there only where "
                "the file has a <freejoint>");
    return;
  }

  // Names in the file are seen from its own folder.
  ModelFiles files(path->parent_path(), limits_);
  RobotImport import(builder_, notes_, files, limits_);
  import.prefix = name.empty() ? "" : name + "/";
  import.pose = pose;
  import.isWholeScene = false;
  import.isFixed = isFixed;
  if (hasLaw) import.contactLaw = law;
  import.numBodies = num_bodies_;
  import.numShapes = num_shapes_;
  import.names = std::move(names_);
  const SimulationOptions before = import.options;
  importRobot(std::move(*root), import);
  names_ = std::move(import.names);
  num_bodies_ = import.numBodies;
  num_shapes_ = import.numShapes;
  if (import.options.dt != before.dt || !(import.options.gravity == before.gravity)) {
    notes_.add(ImportNote::Kind::Ignored, table.placeOf("file"),
               table.who() + ": the time step and gravity of the file: [simulation] decides");
  }
  const std::string begin = "body " + import.prefix;
  constexpr std::size_t kKind = 5;  // of "body "
  for (auto at = names_.lower_bound(begin);
       at != names_.end() && at->first.compare(0, begin.size(), begin) == 0; ++at)
    bodies_.addPlace(at->first.substr(kKind), table.place());
}

/// positions = { elbow = 0.5 }: where joints start.
void SceneModels::readPositions(TableReader& table, const std::string& prefix) {
  const Value* const value = table.find("positions");
  if (value == nullptr) return;
  if (value->table() == nullptr) {
    table.errorFound("positions", *value, "a table of joints, such as { elbow = 0.5 }");
    return;
  }
  TableReader joints(notes_, *value, table.who() + ": positions");
  constexpr NumberRule kFinite{-1e9, 1e9, "a position within 1e9 [m, rad]"};
  for (const Member& member : *value->table()) {
    if (const auto position = joints.number(member.key, kFinite))
      builder_.addStartPosition({.joint = prefix + member.key, .position = *position});
  }
}

}  // namespace tangere::io
