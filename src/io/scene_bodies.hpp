// SPDX-License-Identifier: Apache-2.0
//
// The [[body]] tables of a native scene: poses, shapes, mass, and copies on a grid.
#pragma once

#include <tangere/material.hpp>
#include <tangere/scene.hpp>

#include "io/import_notes.hpp"
#include "io/mesh_assets.hpp"
#include "io/table_reader.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tangere::io {

class SceneBodies {
 public:
  /// `materials` by name, the default one included.
  SceneBodies(const std::map<std::string, Material>& materials, std::filesystem::path folder,
              const SceneLimits& limits, ImportNotes& notes, ModelBuilder& builder)
      : materials_(materials),
        limits_(limits),
        notes_(notes),
        builder_(builder),
        assets_(std::move(folder), limits, notes) {}

  /// Adds every body of the array to the builder. Mistakes go to the notes.
  void read(const Value& bodies);

  /// Where each body was defined, copies included.
  [[nodiscard]] const std::map<std::string, Place>& places() const { return places_; }
  /// A body that something else has added.
  void addPlace(const std::string& body, Place place) { places_.emplace(body, place); }
  /// position and quaternion, rpy or axis_angle of a table.
  [[nodiscard]] Transform readPose(TableReader& table);
  [[nodiscard]] std::string readName(TableReader& table);
  /// The name of a material that exists.
  [[nodiscard]] std::optional<std::string> readMaterial(TableReader& table);
  /// The one shape a table names; null after an error. Nothing else may be left in the table.
  [[nodiscard]] std::shared_ptr<const Shape> readGeometry(TableReader& table);
  /// Where a file of the scene is. Throws InvalidInput when that is outside its folder.
  [[nodiscard]] std::filesystem::path resolve(const std::string& file) const {
    return assets_.resolve(file);
  }
  /// Warnings about the scene as a whole: units that look like millimetres, masses that differ by
  /// more than a solver can balance.
  void warnAboutSizes(const Vec3& gravity, Place gravityPlace);
  /// Says how many bodies there are, if any.
  void summarize();

 private:
  void readBody(const Value& value);
  [[nodiscard]] BodyType readType(TableReader& table);
  [[nodiscard]] std::vector<BodyShape> readShapes(TableReader& table, BodyType type);
  [[nodiscard]] std::optional<BodyShape> readShape(const Value& value, const std::string& who,
                                                   const std::string& bodyMaterial);
  [[nodiscard]] std::shared_ptr<const Shape> readConvex(TableReader& table, const Value& value);
  [[nodiscard]] std::shared_ptr<const Shape> readMesh(TableReader& table, const std::string& key,
                                                      MeshRepresentation representation);
  [[nodiscard]] std::shared_ptr<const Shape> readHeightField(TableReader& table,
                                                             const Value& value);
  [[nodiscard]] std::optional<MassProperties> readMass(TableReader& table, const Body& body);
  [[nodiscard]] std::optional<MassProperties> massOfShapes(TableReader& table, const Body& body);
  /// With `isValid` false only the names are taken note of.
  void addCopies(TableReader& table, const Body& body, bool isValid);
  bool addOne(const Body& body, TableReader& table, bool isValid);
  void rememberSizes(const Body& body, Place place);

  const std::map<std::string, Material>& materials_;
  SceneLimits limits_;
  ImportNotes& notes_;
  ModelBuilder& builder_;
  MeshAssets assets_;
  std::map<const Shape*, const MeshAsset*> asset_of_;
  std::map<std::string, Place> places_;
  int num_bodies_ = 0, num_dynamic_ = 0, num_fixed_ = 0, num_kinematic_ = 0;
  std::int64_t num_shapes_ = 0;

  struct Extreme {
    Real value = 0;
    std::string body{};
    Place place{};
  };
  std::optional<Extreme> heaviest_, lightest_, largest_;
};

}  // namespace tangere::io
