// SPDX-License-Identifier: Apache-2.0
//
// A Model as Python holds it: with its name, what was said when it was read, and the recipe by
// which another process makes the same one (pickles hold the recipe).
#pragma once

#include <tangere/model.hpp>
#include <tangere/scene.hpp>

#include <nanobind/nanobind.h>

#include <functional>
#include <string>
#include <vector>

namespace tangere::python {

struct FrozenModel {
  Model model;
  std::string name;
  std::vector<ImportNote> notes;
  nanobind::object recipe;  ///< a tuple of picklable things: see tangere/_recipe.py
};

/// Names of parts by their indices; `model` must live as long.
using NameOf = std::function<std::string(int)>;
[[nodiscard]] NameOf bodyNames(const Model& model);
[[nodiscard]] NameOf softNames(const Model& model);
[[nodiscard]] NameOf jointNames(const Model& model);
[[nodiscard]] NameOf actuatorNames(const Model& model);
[[nodiscard]] NameOf sensorNames(const Model& model);
[[nodiscard]] NameOf keyframeNames(const Model& model);
[[nodiscard]] int numKeyframes(const Model& model);
[[nodiscard]] std::vector<std::string> namesOf(int count, const NameOf& nameOf);

/// Index of a body given by name or index. Throws InvalidInput with near names.
[[nodiscard]] int bodyIndex(const Model& model, nanobind::handle body);
[[nodiscard]] int softIndex(const Model& model, nanobind::handle soft);
[[nodiscard]] int jointIndex(const Model& model, nanobind::handle joint);
[[nodiscard]] int actuatorIndex(const Model& model, nanobind::handle actuator);
[[nodiscard]] int sensorIndex(const Model& model, nanobind::handle sensor);
[[nodiscard]] int keyframeIndex(const Model& model, nanobind::handle keyframe);

}  // namespace tangere::python
