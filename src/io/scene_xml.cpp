// SPDX-License-Identifier: Apache-2.0
//
// Robot files as scenes: one file, under the SAP solver, with the time step and gravity it gives.
#include <tangere/error.hpp>
#include <tangere/scene.hpp>
#include <tangere/simulator.hpp>

#include "io/import_notes.hpp"
#include "io/robot_import.hpp"
#include "io/text.hpp"

#include <cmath>
#include <utility>

namespace tangere {

namespace {

using io::ImportNotes;
using io::XmlElement;

/// One warning when the numbers look like millimetres or grams.
void warnAboutUnits(const Model& model, const io::NamedPlaces& places, ImportNotes& notes) {
  constexpr Real kMuchGravity = 1000, kFewKilograms = 1e-9, kManyMetres = 1000;
  std::string found;
  io::Place place{};
  const auto suspect = [&](int body, const std::string& what) {
    const std::string name = body < 0 ? "" : std::string(model.bodyName(body));
    const auto known = places.find("body " + name);
    if (found.empty() && known != places.end()) place = known->second;
    found +=
        (found.empty() ? "" : ", ") + (body < 0 ? "" : "body " + io::quoted(name) + " ") + what;
  };
  if (norm(model.options().gravity) >= kMuchGravity) suspect(-1, "gravity of more than 1000 m/s^2");
  for (int i = 0; i < model.numBodies(); ++i) {
    const Real mass = model.massProperties(i).mass;
    if (model.bodyType(i) != BodyType::Dynamic || !(mass > 0 && mass <= kFewKilograms)) continue;
    suspect(i, "of at most 1e-9 kg");
    break;
  }
  for (int i = 0; i < model.numShapes(); ++i) {
    const int body = model.bodyOfShape(i);
    if (body < 0 || model.bodyType(body) != BodyType::Dynamic) continue;
    const Aabb box = model.shape(i)->localAabb();
    const Vec3 size = box.upper - box.lower;
    if (!(std::fmax(size.x, std::fmax(size.y, size.z)) >= kManyMetres)) continue;
    suspect(body, "of 1000 m or more");
    break;
  }
  if (!found.empty())
    notes.warning(
        place, "found " + found + ": is the file in millimetres or grams? Units are m, kg and s");
}

}  // namespace

void io::importRobot(XmlElement root, RobotImport& import) {
  const std::string name = root.name;
  if (name == "mujoco") {
    importMjcf(std::move(root), import);
  } else if (name == "robot") {
    importUrdf(root, import);
  } else if (name == "sdf" || name == "world" || name == "model") {
    importSdformat(root, import);
  } else {
    import.notes.addIn(*root.file, ImportNote::Kind::Error, root.place,
                       "found the element " + io::quoted(name) +
                           ", expected <mujoco> (MJCF), <robot> (URDF) or <sdf> (SDFormat)");
  }
}

Scene readSceneXml(std::string_view text, const std::filesystem::path& folder,
                   std::string_view name, const SceneLimits& limits) {
  const std::string file(name);
  ImportNotes notes(file);
  std::optional<XmlElement> root = io::parseRobotXml(text, file, limits, notes);
  notes.throwIfErrors();
  ModelBuilder builder;
  io::ModelFiles files(folder, limits);
  io::RobotImport import(builder, notes, files, limits);
  io::importRobot(std::move(*root), import);
  if (!notes.hasErrors() && import.numBodies == 0 && import.numShapes == 0)
    notes.error({}, "no scene: found no body, expected at least one");
  notes.throwIfErrors();
  // The names know no file: of an included one they would be at a wrong place.
  const io::NamedPlaces places = files.numTexts() == 0 ? import.names : io::NamedPlaces{};
  try {
    import.options.solver = SolverType::Sap;
    builder.setOptions(import.options);
    Model model = builder.build();
    requireSimulatable(model);
    warnAboutUnits(model, places, notes);
    notes.noteStarts(model, places);
    return {std::move(model), notes.report(), std::filesystem::path(file).stem().string(),
            std::move(import.visuals)};
  } catch (const InvalidInput& error) {
    notes.errorOfModel(places, error.what());
  }
  notes.throwIfErrors();
  throw InvalidInput(file);  // not reached: there is an error
}

}  // namespace tangere
