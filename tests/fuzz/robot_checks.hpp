// SPDX-License-Identifier: Apache-2.0
//
// What must hold for any bytes read as a robot file.
#pragma once

#include <tangere/scene.hpp>
#include <tangere/state.hpp>

#include "fuzz/mesh_checks.hpp"

#include <cmath>
#include <string_view>

namespace tangere::fuzz {

inline bool isFinite(const Vec3& v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

inline void checkRobot(const Scene& scene, int maxBodies) {
  const Model& model = scene.model;
  require(model.numBodies() <= maxBodies, "bodies within the limit");
  require(model.options().solver == SolverType::Sap, "robots run under SAP");
  require(model.options().dt > 0 && model.options().dt <= 1, "the time step is in its range");
  require(isFinite(model.options().gravity), "gravity is finite");
  const State state(model);
  for (const Real q : state.q) require(std::isfinite(q), "coordinates are finite");
  for (int i = 0; i < model.numBodies(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    require(model.findBody(model.bodyName(i)) == i, "names are unique");
    require(isFinite(state.center[at]), "poses are finite");
    const MassProperties& mass = model.massProperties(i);
    require(mass.mass >= 0 && std::isfinite(mass.mass), "masses are finite");
    require(model.parentOf(i) != i, "no body is its own parent");
  }
  for (int i = 0; i < model.numJoints(); ++i) {
    const Joint& joint = model.joint(i);
    require(!joint.name.empty() && isFinite(joint.axis), "joints are complete");
    require(joint.lower <= joint.upper, "limits are a range");
  }
  for (const ImportNote& note : scene.report.notes)
    require(note.kind != ImportNote::Kind::Error, "errors are thrown");
}

/// Reads the bytes as a robot file in a folder that does not exist: nothing outside is opened.
inline void readAnyRobot(std::string_view text) {
  constexpr int kMaxBodies = 1000;
  try {
    checkRobot(readSceneXml(text, "no/such/folder", "input.xml",
                            {.maxBytes = 1 << 20,
                             .maxBodies = kMaxBodies,
                             .maxShapes = 4 * kMaxBodies,
                             .mesh = {.maxTriangles = 1000}}),
               kMaxBodies);
  } catch (const SceneError& error) {
    require(!error.errors().empty() && error.errors().size() <= 20, "one to twenty errors");
    require(error.numErrors() >= error.errors().size(), "all errors are counted");
    for (const ImportNote& note : error.errors()) {
      require(!note.message.empty() && note.message.size() < 2000, "messages are readable");
      for (const char c : note.message)
        require(static_cast<unsigned char>(c) >= ' ', "messages are one line");
    }
  }
}

}  // namespace tangere::fuzz
