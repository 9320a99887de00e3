// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a robot file (MJCF, and URDF or SDFormat where the bytes say so): refused with at
// most twenty errors, or a model whose bodies and joints are finite. Nothing outside the text is
// opened: the folder does not exist.
#include <tangere/scene.hpp>

#include "fuzz/mesh_checks.hpp"
#include "model/model_data.hpp"

#include <cmath>

namespace {

using tangere::fuzz::require;

bool isFinite(const tangere::Vec3& v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

void checkScene(const tangere::Scene& scene, int maxBodies) {
  const tangere::Model& model = scene.model;
  require(model.numBodies() <= maxBodies + 1, "bodies within the limit");
  require(model.options().dt > 0 && model.options().dt <= 1, "the time step is in its range");
  require(isFinite(model.options().gravity), "gravity is finite");
  for (int i = 0; i < model.numBodies(); ++i) {
    require(model.findBody(model.bodyName(i)) == i, "names are unique");
    const auto& body = model.data().bodies[static_cast<std::size_t>(i)];
    require(isFinite(body.startPose.translation), "poses are finite");
    require(body.mass.mass >= 0 && std::isfinite(body.mass.mass), "masses are finite");
  }
  for (int i = 0; i < model.numJoints(); ++i) {
    const tangere::Joint& joint = model.joint(i);
    require(!joint.name.empty() && isFinite(joint.axis), "joints are complete");
    require(joint.lower <= joint.upper, "limits are in order");
  }
  for (const tangere::ImportNote& note : scene.report.notes)
    require(note.kind != tangere::ImportNote::Kind::Error, "errors are thrown");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr int kMaxBodies = 200;
  try {
    tangere::SceneLimits limits;
    limits.maxBytes = 1 << 16;
    limits.maxBodies = kMaxBodies;
    limits.maxShapes = 4 * kMaxBodies;
    limits.mesh.maxTriangles = 1000;
    checkScene(tangere::readSceneXml(text, "no/such/folder", "input.xml", limits), kMaxBodies);
  } catch (const tangere::SceneError& error) {
    require(!error.errors().empty() && error.errors().size() <= 20, "one to twenty errors");
    require(error.numErrors() >= error.errors().size(), "all errors are counted");
    for (const tangere::ImportNote& note : error.errors()) {
      require(!note.message.empty() && note.message.size() < 4000, "messages are readable");
      for (const char c : note.message)
        require(static_cast<unsigned char>(c) >= ' ', "messages are one line");
    }
  }
  return 0;
}
