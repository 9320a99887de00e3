// SPDX-License-Identifier: Apache-2.0
//
// The [[model]] tables of a native scene: robot files, placed and named.
#pragma once

#include <tangere/scene.hpp>

#include "io/import_notes.hpp"
#include "io/robot_import.hpp"
#include "io/scene_bodies.hpp"
#include "io/table_reader.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tangere::io {

class SceneModels {
 public:
  /// `bodies` has read its own ones already.
  SceneModels(const std::map<std::string, Material>& materials, std::filesystem::path folder,
              const SceneLimits& limits, ImportNotes& notes, ModelBuilder& builder,
              SceneBodies& bodies);

  /// Adds every model of the array to the builder, and its bodies to the places of `bodies`.
  /// Mistakes go to the notes.
  void read(const Value& models);
  /// How the bodies of all models look.
  [[nodiscard]] std::vector<VisualShape> takeVisuals() { return std::move(visuals_); }
  /// Of what their files name: where the scene places the model, or starts the joint.
  [[nodiscard]] NamedPlaces takePlaces() { return std::move(places_); }

 private:
  /// What a [[model]] table says.
  struct Entry {
    std::string prefix{};               ///< of all names of the file: "arm/"
    std::optional<std::string> file{};  ///< as the scene writes it
    Transform pose{};                   ///< X_WM
    bool isFixed = false;
    std::optional<Material> contactLaw{};
  };
  struct RobotFile {
    std::filesystem::path path;
    XmlElement root;
  };

  void readModel(const Value& value);
  [[nodiscard]] Entry readEntry(TableReader& table);
  [[nodiscard]] std::string readName(TableReader& table);
  void readPositions(TableReader& table, const std::string& prefix);
  /// Everything of the file whose names begin like this.
  void notePlaces(const std::string& prefix, Place place);
  /// Nothing after an error in the notes.
  [[nodiscard]] std::optional<RobotFile> readFile(TableReader& table, const std::string& name);
  /// Throws LimitExceeded when the files of all models are too long together.
  void countBytes(std::size_t numBytes);
  void importFile(TableReader& table, const Entry& entry, RobotFile file);
  /// Lets `bodies_` know the bodies whose names begin like this.
  void addBodyPlaces(const std::string& prefix, Place place);

  std::filesystem::path folder_;
  SceneLimits limits_;
  ImportNotes& notes_;
  ModelBuilder& builder_;
  SceneBodies& bodies_;
  std::map<std::string, Place> names_;  // of all kinds, as RobotImport::names
  std::map<std::string, Place> given_;  // names of models
  int num_bodies_ = 0, num_shapes_ = 0;
  std::size_t num_bytes_ = 0;  // of model files
  std::vector<VisualShape> visuals_;
  NamedPlaces places_;
};

}  // namespace tangere::io
