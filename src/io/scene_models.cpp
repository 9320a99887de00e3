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
  const Entry entry = readEntry(table);
  if (!entry.file) return;
  std::optional<RobotFile> file = readFile(table, *entry.file);
  if (!file) return;
  if (entry.isFixed && file->root.name == "mujoco") {
    table.error(table.placeOf("fixed"),
                "found fixed = true for an MJCF file, expected none: bodies float there only where "
                "the file has a <freejoint>");
    return;
  }
  importFile(table, entry, std::move(*file));
}

SceneModels::Entry SceneModels::readEntry(TableReader& table) {
  Entry entry;
  const std::string name = readName(table);
  if (!name.empty()) entry.prefix = name + "/";
  entry.file = table.string("file");
  if (!table.has("file"))
    table.error(table.place(),
                "file is missing, expected the name of an MJCF, URDF or SDFormat file");
  entry.pose = bodies_.readPose(table);
  entry.isFixed = table.boolean("fixed").value_or(false);
  readPositions(table, entry.prefix);
  Material law;
  if (readContactLaw(table, &law)) entry.contactLaw = law;
  table.finish();
  return entry;
}

/// Empty when there is none. From here on messages call the model by it.
std::string SceneModels::readName(TableReader& table) {
  const std::string name = table.string("name").value_or("");
  if (!name.empty()) table.setWho("model " + io::quoted(name));
  constexpr std::size_t kMaxName = 256;
  if (table.has("name") &&
      (name.empty() || name.size() > kMaxName || name.find('/') != std::string::npos)) {
    table.error(table.placeOf("name"), "name: found " + io::quoted(name) +
                                           ", expected a name of at most 256 bytes without '/'");
  }
  if (name.empty()) return name;
  const auto [other, isNew] = given_.emplace(name, table.placeOf("name"));
  if (!isNew) {
    table.error(table.placeOf("name"), "found the name twice, expected another than at " +
                                           std::to_string(other->second.line) + ":" +
                                           std::to_string(other->second.column));
  }
  return name;
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
    places_.emplace("joint " + prefix + member.key, joints.placeOf(member.key));
  }
}

std::optional<SceneModels::RobotFile> SceneModels::readFile(TableReader& table,
                                                            const std::string& name) {
  const ModelFiles files(folder_, limits_);
  try {
    const std::filesystem::path path = files.resolve(name);
    const std::string text = readRegularFile(path, name, limits_.maxBytes);
    countBytes(text.size());
    const std::size_t begin = text.find_first_not_of("\xef\xbb\xbf \t\r\n");
    if (begin == std::string::npos || text[begin] != '<') {
      table.error(table.placeOf("file"), "found " + io::quoted(name) +
                                             ", which is no XML, expected MJCF, URDF or SDFormat");
      return std::nullopt;
    }
    if (std::optional<XmlElement> root = parseRobotXml(text, name, limits_, notes_))
      return RobotFile{path, std::move(*root)};
  } catch (const LimitExceeded& error) {
    notes_.limit(table.placeOf("file"), table.who() + ": " + error.what());
  } catch (const InvalidInput& error) {
    table.error(table.placeOf("file"), error.what());
  }
  return std::nullopt;
}

void SceneModels::countBytes(std::size_t numBytes) {
  num_bytes_ += numBytes;
  if (num_bytes_ > limits_.maxBytes) {
    throw LimitExceeded("the models of the scene have more than " +
                        std::to_string(limits_.maxBytes) + " bytes together, the limit");
  }
}

void SceneModels::importFile(TableReader& table, const Entry& entry, RobotFile file) {
  // Names in the file are seen from its own folder.
  ModelFiles files(file.path.parent_path(), limits_);
  RobotImport import(builder_, notes_, files, limits_);
  import.prefix = entry.prefix;
  import.pose = entry.pose;
  import.isWholeScene = false;
  import.isFixed = entry.isFixed;
  import.contactLaw = entry.contactLaw;
  import.numBodies = num_bodies_;
  import.numShapes = num_shapes_;
  import.names = std::move(names_);
  const SimulationOptions before = import.options;
  importRobot(std::move(file.root), import);
  names_ = std::move(import.names);
  num_bodies_ = import.numBodies;
  num_shapes_ = import.numShapes;
  for (VisualShape& visual : import.visuals) visuals_.push_back(std::move(visual));
  if (import.options.dt != before.dt || !(import.options.gravity == before.gravity)) {
    notes_.add(ImportNote::Kind::Ignored, table.placeOf("file"),
               table.who() + ": the time step and gravity of the file: [simulation] decides");
  }
  addBodyPlaces(import.prefix, table.place());
  notePlaces(import.prefix, table.place());
}

void SceneModels::notePlaces(const std::string& prefix, Place place) {
  for (const char* kind : {"body ", "joint ", "actuator ", "tendon ", "sensor ", "site "}) {
    const std::string begin = kind + prefix;
    for (auto at = names_.lower_bound(begin);
         at != names_.end() && at->first.compare(0, begin.size(), begin) == 0; ++at)
      places_.emplace(at->first, place);
  }
}

void SceneModels::addBodyPlaces(const std::string& prefix, Place place) {
  const std::string begin = "body " + prefix;
  constexpr std::size_t kKind = 5;  // of "body "
  for (auto at = names_.lower_bound(begin);
       at != names_.end() && at->first.compare(0, begin.size(), begin) == 0; ++at)
    bodies_.addPlace(at->first.substr(kKind), place);
}

}  // namespace tangere::io
