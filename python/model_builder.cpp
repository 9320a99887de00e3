// SPDX-License-Identifier: Apache-2.0
//
// The class ModelBuilder of Python: it remembers what it was given, so that the models it makes can
// be pickled.
#include "bindings.hpp"
#include "core_enums.hpp"
#include "frozen_model.hpp"
#include "struct_binding.hpp"

namespace tangere::python {

namespace {

/// A builder that remembers what it was given.
struct Builder {
  ModelBuilder builder;
  nb::list parts;  ///< pairs of a method and its argument

  template <class Part>
  void add(const char* method, const Part& part, void (ModelBuilder::*function)(const Part&)) {
    (builder.*function)(part);
    parts.append(nb::make_tuple(method, nb::cast(part, nb::rv_policy::copy)));
  }
};

template <class Part>
auto adder(const char* method, void (ModelBuilder::*add)(const Part&)) {
  return [method, add](Builder& self, const Part& part) { self.add(method, part, add); };
}

FrozenModel build(const Builder& self, const std::string& name) {
  Model model = self.builder.build();
  nb::object recipe = nb::make_tuple(
      "build", name, nb::cast(self.builder.options(), nb::rv_policy::copy), nb::tuple(self.parts));
  return {std::move(model), name, {}, std::move(recipe)};
}

void setOptions(Builder& self, std::optional<SimulationOptions> options, const nb::kwargs& fields) {
  const nb::object changed =
      nb::cast(options ? *options : self.builder.options(), nb::rv_policy::copy);
  for (const auto& [key, value] : fields) {
    const auto name = nb::cast<std::string>(key);
    if (!nb::hasattr(changed, key) || name.starts_with("_")) {
      std::vector<std::string> known;
      for (const nb::handle known_name : changed.attr("__dir__")())
        if (auto text = nb::cast<std::string>(known_name); !text.starts_with("_"))
          known.push_back(std::move(text));
      throw InvalidInput("SimulationOptions has no '" + name + "'" + nearNames(name, known));
    }
    changed.attr(key) = value;
  }
  self.builder.setOptions(nb::cast<SimulationOptions>(changed));
}

}  // namespace

void bindModelBuilder(nb::module_& m) {
  nb::class_<Builder>(
      m, "ModelBuilder",
      "Collects bodies, materials and options, checks them, and makes a Model. What cannot be "
      "simulated is refused at once, and the builder stays as it was.\n\n"
      ">>> import tangere\n"
      ">>> builder = tangere.ModelBuilder()\n"
      ">>> builder.set_options(solver='sap', dt=0.005)\n"
      ">>> builder.add_body(tangere.Body('floor', type='fixed', shapes=[tangere.Plane()]))\n"
      ">>> builder.add_body(tangere.Body('box', shapes=[tangere.Box([0.1, 0.1, 0.1])], "
      "pose=[0, 0, 0.1]))\n"
      ">>> model = builder.build()\n"
      ">>> model.body_names\n"
      "['box', 'floor']\n")
      .def(nb::init<>())
      .def("set_options", &setOptions, nb::arg("options") = nb::none(), nb::arg("fields"),
           nb::sig("def set_options(self, options: SimulationOptions | None = None, "
                   "**fields: typing.Any) -> None"),
           "Sets all options, or those that are named.")
      .def(
          "options", [](const Builder& self) { return SimulationOptions(self.builder.options()); },
          "A copy of the options.")
      .def("add_material", adder("add_material", &ModelBuilder::addMaterial), nb::arg("material"),
           "One without a name is the material of shapes that name none.")
      .def("add_pair", adder("add_pair", &ModelBuilder::addPair), nb::arg("pair"),
           "What a pair of materials does.")
      .def("add_body", adder("add_body", &ModelBuilder::addBody), nb::arg("body"), "A rigid body.")
      .def("add_soft_body", adder("add_soft_body", &ModelBuilder::addSoftBody), nb::arg("soft"),
           "A soft body (the SAP solver).")
      .def(
          "exclude_pair",
          [](Builder& self, const std::string& body1, const std::string& body2) {
            self.builder.excludePair(body1, body2);
            self.parts.append(nb::make_tuple("exclude_pair", nb::make_tuple(body1, body2)));
          },
          nb::arg("body1"), nb::arg("body2"), "The two never touch.")
      .def("add_shape_pair", adder("add_shape_pair", &ModelBuilder::addShapePair), nb::arg("rule"),
           "Two shapes touch whatever filters say.")
      .def("add_site", adder("add_site", &ModelBuilder::addSite), nb::arg("site"), "A named frame.")
      .def("add_tendon", adder("add_tendon", &ModelBuilder::addTendon), nb::arg("tendon"),
           "A tendon.")
      .def("add_actuator", adder("add_actuator", &ModelBuilder::addActuator), nb::arg("actuator"),
           "A drive.")
      .def("add_equality", adder("add_equality", &ModelBuilder::addEquality), nb::arg("equality"),
           "What always holds.")
      .def("add_sensor", adder("add_sensor", &ModelBuilder::addSensor), nb::arg("sensor"),
           "A sensor.")
      .def("add_keyframe", adder("add_keyframe", &ModelBuilder::addKeyframe), nb::arg("keyframe"),
           "A configuration to start from.")
      .def("add_schedule", adder("add_schedule", &ModelBuilder::addSchedule), nb::arg("schedule"),
           "What an actuator is told over time.")
      .def("add_start_position", adder("add_start_position", &ModelBuilder::addStartPosition),
           nb::arg("start"), "Where a joint stands at the start.")
      .def("build", &build, nb::arg("name") = "", "Makes the model.");
}

}  // namespace tangere::python
