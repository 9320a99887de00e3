// SPDX-License-Identifier: Apache-2.0
//
// Parts of a model by name or index.
#include "argument.hpp"
#include "frozen_model.hpp"

namespace tangere::python {

namespace {

/// A part given by its name or its index.
int findPart(nb::handle part, const char* what, int count, const NameOf& nameOf) {
  if (nb::isinstance<nb::int_>(part)) {
    int index = -1;
    if (nb::try_cast(part, index) && index >= 0 && index < count) return index;
    throw InvalidInput("there is no " + std::string(what) + " " + shownValue(part) +
                       ": the model has " + std::to_string(count));
  }
  if (!nb::isinstance<nb::str>(part))
    throw nb::type_error(
        ("a " + std::string(what) + " is given by its name or its index, found " + shownValue(part))
            .c_str());
  std::string name;
  if (!nb::try_cast(part, name))
    throw InvalidInput("no " + std::string(what) + " is called " + shownValue(part));
  std::vector<std::string> known;
  for (int i = 0; i < count; ++i) {
    known.push_back(nameOf(i));
    if (known.back() == name) return i;
  }
  throw InvalidInput("no " + std::string(what) + " is called '" + name + "'" +
                     nearNames(name, known));
}

}  // namespace

std::vector<std::string> namesOf(int count, const NameOf& nameOf) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(nameOf(i));
  return names;
}

NameOf bodyNames(const Model& model) {
  return [&model](int i) { return std::string(model.bodyName(i)); };
}
NameOf softNames(const Model& model) {
  return [&model](int i) { return std::string(model.softBodyName(i)); };
}
NameOf jointNames(const Model& model) {
  return [&model](int i) { return model.joint(i).name; };
}
NameOf actuatorNames(const Model& model) {
  return [&model](int i) { return model.actuator(i).name; };
}
NameOf sensorNames(const Model& model) {
  return [&model](int i) { return model.sensor(i).name; };
}
NameOf keyframeNames(const Model& model) {
  return [&model](int i) { return model.keyframes()[static_cast<std::size_t>(i)].name; };
}
int numKeyframes(const Model& model) { return static_cast<int>(model.keyframes().size()); }

int bodyIndex(const Model& model, nb::handle body) {
  std::string name;  // without a list of all names, where it exists
  if (nb::isinstance<nb::str>(body) && nb::try_cast(body, name)) {
    const int found = model.findBody(name);
    if (found >= 0) return found;
  }
  return findPart(body, "body", model.numBodies(), bodyNames(model));
}
int softIndex(const Model& model, nb::handle soft) {
  return findPart(soft, "soft body", model.numSoftBodies(), softNames(model));
}
int jointIndex(const Model& model, nb::handle joint) {
  return findPart(joint, "joint", model.numJoints(), jointNames(model));
}
int actuatorIndex(const Model& model, nb::handle actuator) {
  return findPart(actuator, "actuator", model.numActuators(), actuatorNames(model));
}
int sensorIndex(const Model& model, nb::handle sensor) {
  return findPart(sensor, "sensor", model.numSensors(), sensorNames(model));
}
int keyframeIndex(const Model& model, nb::handle keyframe) {
  return findPart(keyframe, "keyframe", numKeyframes(model), keyframeNames(model));
}

}  // namespace tangere::python
