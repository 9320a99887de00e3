// SPDX-License-Identifier: Apache-2.0
//
// For tests of robot files: what was made of a text, and what was refused where.
#pragma once

#include <tangere/model.hpp>
#include <tangere/state.hpp>

#include "io/scene_text.hpp"

#include <string>
#include <vector>

namespace tangere::test {

/// "line:column: message" of every error; empty when the text is accepted.
inline std::vector<std::string> robotErrorsOf(const std::string& text,
                                              const std::filesystem::path& folder = {},
                                              const SceneLimits& limits = {}) {
  try {
    (void)readSceneXml(text, folder, "r.xml", limits);
    return {};
  } catch (const SceneError& error) {
    std::vector<std::string> out;
    for (const ImportNote& note : error.errors()) {
      EXPECT_EQ(note.kind, ImportNote::Kind::Error);
      EXPECT_FALSE(note.file.empty());
      out.push_back((note.file == "r.xml" ? "" : note.file + ":") + std::to_string(note.line) +
                    ":" + std::to_string(note.column) + ": " + note.message);
    }
    return out;
  }
}

/// The one error of a text, or what is wrong with that.
inline std::string robotErrorOf(const std::string& text, const std::filesystem::path& folder = {},
                                const SceneLimits& limits = {}) {
  const std::vector<std::string> errors = robotErrorsOf(text, folder, limits);
  if (errors.empty()) return "accepted";
  return errors.size() == 1 ? errors[0] : errors[0] + " | " + errors[1];
}

/// "line: message" of the notes of a kind, as one text to look into.
inline std::string allNotesOf(const Scene& scene, ImportNote::Kind kind) {
  std::string out;
  for (const std::string& note : notesOf(scene, kind)) out += note + "\n";
  return out;
}

/// Centre of mass of a body at the start, world.
inline Vec3 centerOf(const Model& model, const std::string& body) {
  const int index = model.findBody(body);
  if (index < 0) {
    ADD_FAILURE() << "no body " << body;
    return {};
  }
  return State(model).center[static_cast<std::size_t>(index)];
}

inline Mat3 rotationOf(const Model& model, const std::string& body) {
  const int index = model.findBody(body);
  if (index < 0) {
    ADD_FAILURE() << "no body " << body;
    return {};
  }
  return rotationMatrix(State(model).orientation[static_cast<std::size_t>(index)]);
}

inline std::string parentNameOf(const Model& model, const std::string& body) {
  const int parent = model.parentOf(model.findBody(body));
  return parent < 0 ? "" : std::string(model.bodyName(parent));
}

/// A copy: tests ask models that live for one line.
inline Joint jointOf(const Model& model, const std::string& name) {
  const int index = model.findJoint(name);
  if (index < 0) {
    ADD_FAILURE() << "no joint " << name;
    return {};
  }
  return model.joint(index);
}

#define EXPECT_VEC_NEAR(found, expected, tolerance) \
  EXPECT_LE(norm((found) - (expected)), tolerance)  \
      << (found).x << " " << (found).y << " " << (found).z

}  // namespace tangere::test
