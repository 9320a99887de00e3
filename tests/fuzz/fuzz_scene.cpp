// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a native scene: refused with at most twenty errors that name a place, or a model
// whose bodies have finite poses and masses. Nothing outside the text is opened: the folder of the
// scene does not exist.
#include <tangere/scene.hpp>
#include <tangere/state.hpp>

#include "fuzz/mesh_checks.hpp"

namespace {

using tangere::fuzz::require;

bool isFinite(const tangere::Vec3& v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

void checkScene(const tangere::Scene& scene, int maxBodies) {
  const tangere::Model& model = scene.model;
  require(model.numBodies() >= 1 && model.numBodies() <= maxBodies, "bodies within the limit");
  require(model.options().dt > 0 && model.options().dt <= 1, "the time step is in its range");
  require(isFinite(model.options().gravity), "gravity is finite");
  const tangere::State state(model);
  for (int i = 0; i < model.numBodies(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    require(model.findBody(model.bodyName(i)) == i, "names are unique");
    require(isFinite(state.center[at]) && isFinite(state.velocity[at]), "poses are finite");
    if (model.bodyType(i) == tangere::BodyType::Dynamic) {
      const tangere::MassProperties& mass = model.massProperties(i);
      require(mass.mass > 0 && std::isfinite(mass.mass), "dynamic bodies have mass");
      for (int k = 0; k < 3; ++k) require(mass.inertia(k, k) > 0, "and inertia");
    }
  }
  for (const tangere::ImportNote& note : scene.report.notes)
    require(note.kind != tangere::ImportNote::Kind::Error, "errors are thrown");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr int kMaxBodies = 1000;
  try {
    checkScene(tangere::readSceneToml(text, "no/such/folder", "input.toml",
                                      {.maxBytes = 1 << 20,
                                       .maxBodies = kMaxBodies,
                                       .maxShapes = 4 * kMaxBodies,
                                       .mesh = {.maxTriangles = 1000}}),
               kMaxBodies);
  } catch (const tangere::SceneError& error) {
    require(!error.errors().empty() && error.errors().size() <= 20, "one to twenty errors");
    require(error.numErrors() >= error.errors().size(), "all errors are counted");
    for (const tangere::ImportNote& note : error.errors()) {
      require(!note.message.empty() && note.message.size() < 2000, "messages are readable");
      for (const char c : note.message)
        require(static_cast<unsigned char>(c) >= ' ', "messages are one line");
    }
  }
  return 0;
}
