// SPDX-License-Identifier: Apache-2.0
//
// The [[soft]] tables of a native scene: a shape that is meshed or a volume file, what it is made
// of, and what holds it.
#pragma once

#include "io/scene_bodies.hpp"

#include <map>
#include <string>

namespace tangere::io {

class SceneSofts {
 public:
  SceneSofts(ImportNotes& notes, ModelBuilder& builder, SceneBodies& bodies)
      : notes_(notes), builder_(builder), bodies_(bodies) {}

  /// Adds every soft body of the array to the builder; after the bodies. Mistakes go to the notes.
  void read(const Value& softs);
  [[nodiscard]] bool isEmpty() const { return places_.empty(); }
  /// Of each soft body, by name.
  [[nodiscard]] const std::map<std::string, Place>& places() const { return places_; }
  /// Vertices of the mesh that each was given, by name.
  [[nodiscard]] const std::map<std::string, std::size_t>& numVertices() const {
    return given_vertices_;
  }
  /// Says how many there are, if any.
  void summarize();

 private:
  void readSoft(const Value& value);
  [[nodiscard]] std::shared_ptr<const TetMesh> readMesh(TableReader& table);
  [[nodiscard]] std::shared_ptr<const TetMesh> meshOfShape(TableReader& table, const Value& shape);
  [[nodiscard]] std::shared_ptr<const TetMesh> meshOfFile(TableReader& table);
  [[nodiscard]] Elasticity readElasticity(TableReader& table);
  void readAttachments(TableReader& table, SoftBody* soft);
  void readAttachment(TableReader& table, SoftBody* soft);

  ImportNotes& notes_;
  ModelBuilder& builder_;
  SceneBodies& bodies_;
  std::map<std::string, Place> places_;
  std::map<std::string, std::size_t> given_vertices_;
  std::size_t num_vertices_ = 0, num_tets_ = 0;
};

}  // namespace tangere::io
