// SPDX-License-Identifier: Apache-2.0
//
// Collects what there is to say about an input while it is read, so that the user sees the first
// twenty mistakes and not only one.
#pragma once

#include <tangere/model.hpp>
#include <tangere/scene.hpp>

#include "io/toml_document.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tangere::io {

/// Where things were named, by what they are and are called: "joint arm/elbow".
using NamedPlaces = std::map<std::string, Place>;

class ImportNotes {
 public:
  explicit ImportNotes(std::string file) : file_(std::move(file)) {}

  void add(ImportNote::Kind kind, Place place, const std::string& message);
  void error(Place place, const std::string& message) {
    add(ImportNote::Kind::Error, place, message);
  }
  void warning(Place place, const std::string& message) {
    add(ImportNote::Kind::Warning, place, message);
  }
  /// What the model as a whole was refused for, at the place of the first thing that it names:
  /// "joint 'arm/elbow' moves nothing that has a mass".
  void errorOfModel(const NamedPlaces& places, const std::string& message);
  /// Each joint that starts outside its limits: a warning where the file says where it starts.
  void noteStarts(const Model& model, const NamedPlaces& places);
  /// An error of size alone.
  void limit(Place place, const std::string& message);
  /// The same for a place in a file that was included.
  void addIn(const std::string& file, ImportNote::Kind kind, Place place,
             const std::string& message);
  void limitIn(const std::string& file, Place place, const std::string& message);

  /// What becomes of names that a format does not have and that resemble none of its own: errors,
  /// or, while this is on, one note for each with how often it was met.
  void passUnknown(bool isPassed);
  [[nodiscard]] bool passesUnknown() const { return passes_unknown_; }
  /// `what` is the name with its kind: "attribute 'K' of <dynamics>".
  void addUnknown(const std::string& file, Place place, const std::string& what);

  [[nodiscard]] bool hasErrors() const { return num_errors_ > 0; }
  [[nodiscard]] std::size_t numErrors() const { return num_errors_; }
  /// Throws SceneError when there are errors.
  void throwIfErrors() const;
  /// All notes, in the order of the file; those of included files after it, file by file.
  [[nodiscard]] ImportReport report() const;

 private:
  static constexpr std::size_t kMaxNotes = 1000;
  static constexpr std::size_t kMaxErrorsListed = 20;

  struct Unknown {
    std::string file{};
    Place place{};  ///< of the first
    int count = 0;
  };

  /// By file in order of their first note (the main one first), then by place.
  [[nodiscard]] std::vector<ImportNote> inOrder(std::vector<ImportNote> list) const;

  std::string file_;
  std::vector<ImportNote> notes_;
  std::vector<ImportNote> errors_;
  std::size_t num_notes_ = 0;
  std::size_t num_errors_ = 0;
  std::size_t num_limits_ = 0;
  bool passes_unknown_ = false;
  std::map<std::string, Unknown> unknown_;
};

}  // namespace tangere::io
