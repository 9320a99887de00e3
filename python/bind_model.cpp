// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "core_enums.hpp"
#include "frozen_model.hpp"
#include "struct_binding.hpp"

#include <nanobind/stl/string_view.h>

#include <functional>

namespace tangere::python {

namespace {

/// A part given by its name or its index.
int findPart(nb::handle part, const char* what, int count,
             const std::function<std::string(int)>& nameOf) {
  if (nb::isinstance<nb::int_>(part)) {
    const int index = nb::cast<int>(part);
    if (index >= 0 && index < count) return index;
    throw InvalidInput("there is no " + std::string(what) + " " + std::to_string(index) +
                       ": the model has " + std::to_string(count));
  }
  if (!nb::isinstance<nb::str>(part))
    throw nb::type_error(("a " + std::string(what) + " is given by its name or its index").c_str());
  const auto name = nb::cast<std::string>(part);
  std::vector<std::string> known;
  for (int i = 0; i < count; ++i) {
    known.push_back(nameOf(i));
    if (known.back() == name) return i;
  }
  throw InvalidInput("no " + std::string(what) + " is called '" + name + "'" +
                     nearNames(name, known));
}

std::vector<std::string> namesOf(int count, const std::function<std::string(int)>& nameOf) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(nameOf(i));
  return names;
}

std::function<std::string(int)> bodyNames(const Model& model) {
  return [&model](int i) { return std::string(model.bodyName(i)); };
}
std::function<std::string(int)> softNames(const Model& model) {
  return [&model](int i) { return std::string(model.softBodyName(i)); };
}
std::function<std::string(int)> jointNames(const Model& model) {
  return [&model](int i) { return model.joint(i).name; };
}
std::function<std::string(int)> actuatorNames(const Model& model) {
  return [&model](int i) { return model.actuator(i).name; };
}
std::function<std::string(int)> sensorNames(const Model& model) {
  return [&model](int i) { return model.sensor(i).name; };
}
std::function<std::string(int)> keyframeNames(const Model& model) {
  return [&model](int i) { return model.keyframes()[static_cast<std::size_t>(i)].name; };
}
int numKeyframes(const Model& model) { return static_cast<int>(model.keyframes().size()); }

}  // namespace

int bodyIndex(const Model& model, nb::handle body) {
  if (nb::isinstance<nb::str>(body)) {  // without a list of all names, where it exists
    const int found = model.findBody(nb::cast<std::string>(body));
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

namespace {

void bindOptions(nb::module_& m) {
  nb::enum_<BodyType>(m, "BodyType", "What moves a body.")
      .value("DYNAMIC", BodyType::Dynamic, "forces and contacts")
      .value("FIXED", BodyType::Fixed, "nothing")
      .value("KINEMATIC", BodyType::Kinematic, "its own velocity, whatever touches it");
  nb::enum_<SolverType>(m, "SolverType", "What moves the bodies of a model.")
      .value("IMPULSE", SolverType::Impulse, "free bodies; restitution")
      .value("SAP", SolverType::Sap, "the convex solver: joints, drives, soft bodies, contacts")
      .value("EVENT", SolverType::Event, "variable steps from event to event");
  nb::enum_<ContactKind>(m, "ContactKind", "What finds contacts.")
      .value("POINTS", ContactKind::Points)
      .value("RIGID_RIGID", ContactKind::RigidRigid)
      .value("SOFT_RIGID", ContactKind::SoftRigid)
      .value("SOFT_SOFT", ContactKind::SoftSoft)
      .value("SOFT_SELF", ContactKind::SoftSelf);
  bindStruct<ContactLimits>(
      m, "ContactLimits", "Most contacts of a step; 0: as many as there are.",
      field("of_kind", &ContactLimits::ofKind, "by ContactKind, in its order"),
      field("all", &ContactLimits::all, "of all kinds together"));
  bindStruct<SleepOptions>(m, "SleepOptions", "When islands fall asleep.",
                           field("enabled", &SleepOptions::enabled, ""),
                           field("linear_speed", &SleepOptions::linearSpeed, "[m/s]"),
                           field("angular_speed", &SleepOptions::angularSpeed, "[rad/s]"),
                           field("duration", &SleepOptions::duration, "[s]"));
  using Options = SimulationOptions;
  bindStruct<Options>(m, "SimulationOptions",
                      "How a model is simulated.\n\n"
                      ">>> import tangere\n"
                      ">>> tangere.SimulationOptions(dt=0.001, solver='sap').solver.name\n"
                      "'SAP'\n",
                      field("dt", &Options::dt, "time step [s]"),
                      field("gravity", &Options::gravity, "[m/s^2]"),
                      field("solver", &Options::solver, "what moves the bodies"),
                      field("impulse", &Options::impulse, "of the impulse solver"),
                      field("sap", &Options::sap, "of the convex solver"),
                      field("accuracy", &Options::accuracy,
                            "SAP: > 0: steps are divided until none is off by more"),
                      field("event", &Options::event, "of the event solver"),
                      field("limits", &Options::limits, "most contacts"),
                      field("patch_cache", &Options::patchCache, "how contact points are kept"),
                      field("sleep", &Options::sleep, "when islands fall asleep"),
                      field("restitution_threshold", &Options::restitutionThreshold,
                            "slower approach does not bounce [m/s]"),
                      field("max_impacts_per_step", &Options::maxImpactsPerStep, ""));
}

void bindBodies(nb::module_& m) {
  bindStruct<BodyShape>(
      m, "BodyShape", "One collision shape of a body. A plain shape stands for one at the origin.",
      field("shape", &BodyShape::shape, ""), field("pose", &BodyShape::pose, "in the body's frame"),
      field("material", &BodyShape::material, "name of a material; empty: the default one"),
      field("group", &BodyShape::group, "bits this shape belongs to"),
      field("mask", &BodyShape::mask, "bits it collides with"),
      field("is_one_side_enough", &BodyShape::isOneSideEnough, "one of both may agree"),
      field("name", &BodyShape::name, "for messages, sensors and pair rules"));
  nb::implicitly_convertible<Shape, BodyShape>();
  bindStruct<Body>(
      m, "Body",
      "A rigid body.\n\n"
      ">>> import tangere\n"
      ">>> tangere.Body('ball', shapes=[tangere.Sphere(0.1)], pose=[0, 0, 1]).name\n"
      "'ball'\n",
      field("name", &Body::name, "its identity"), field("type", &Body::type, "what moves it"),
      field("parent", &Body::parent, "name of a body; empty: the world"),
      field("joints", &Body::joints, "in order from the parent"),
      field("pose", &Body::pose, "at the start, in the world or in the parent"),
      field("linear_velocity", &Body::linearVelocity, "at the start, world [m/s]"),
      field("angular_velocity", &Body::angularVelocity, "at the start, world [rad/s]"),
      field("shapes", &Body::shapes, ""),
      field("mass_properties", &Body::massProperties, "without: from shapes and densities"),
      field("linear_damping", &Body::linearDamping, "[1/s]"),
      field("angular_damping", &Body::angularDamping, "[1/s]"),
      field("gravity_scale", &Body::gravityScale, ""),
      field("collides_with_parent", &Body::collidesWithParent, ""));
  using Parameters = ModelParameters;
  bindStruct<Parameters::MassScale>(m, "MassScale", "A factor of the mass of a body.",
                                    field("body", &Parameters::MassScale::body, ""),
                                    field("factor", &Parameters::MassScale::factor, ""));
  bindStruct<Parameters::Friction>(m, "FrictionOf", "The friction of a material.",
                                   field("material", &Parameters::Friction::material, ""),
                                   field("friction", &Parameters::Friction::friction, ""));
  bindStruct<Parameters::Gains>(
      m, "GainsOf", "Gains of an actuator.", field("actuator", &Parameters::Gains::actuator, ""),
      field("gain", &Parameters::Gains::gain, ""), field("bias", &Parameters::Gains::bias, ""));
  bindStruct<Parameters>(m, "ModelParameters", "What may differ between environments of one model.",
                         field("masses", &Parameters::masses, ""),
                         field("frictions", &Parameters::frictions, ""),
                         field("gains", &Parameters::gains, ""));
}

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

void bindBuilder(nb::module_& m) {
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

FrozenModel withOptions(const FrozenModel& self, const SimulationOptions& options) {
  return {self.model.withOptions(options), self.name, self.notes,
          nb::make_tuple("options", self.recipe, nb::cast(options, nb::rv_policy::copy))};
}

FrozenModel withParameters(const FrozenModel& self, const ModelParameters& parameters) {
  return {self.model.withParameters(parameters), self.name, self.notes,
          nb::make_tuple("parameters", self.recipe, nb::cast(parameters, nb::rv_policy::copy))};
}

/// Where the coordinates of a joint are: (first, count).
std::tuple<int, int> positionsOf(const FrozenModel& self, nb::handle joint) {
  const int index = jointIndex(self.model, joint);
  return {self.model.positionOfJoint(index), numJointPositions(self.model.joint(index).type)};
}
std::tuple<int, int> velocitiesOf(const FrozenModel& self, nb::handle joint) {
  const int index = jointIndex(self.model, joint);
  return {self.model.velocityOfJoint(index), numJointVelocities(self.model.joint(index).type)};
}

nb::object sliceOf(const std::tuple<int, int>& range) {
  const auto [first, count] = range;
  return nb::module_::import_("builtins").attr("slice")(first, first + count);
}

void bindNames(nb::class_<FrozenModel>& cls) {
  const auto names = [&cls](const char* property, int (Model::*count)() const,
                            std::function<std::string(int)> (*nameOf)(const Model&),
                            const char* doc) {
    cls.def_prop_ro(
        property,
        [count, nameOf](const FrozenModel& self) {
          return namesOf((self.model.*count)(), nameOf(self.model));
        },
        doc);
  };
  names("body_names", &Model::numBodies, &bodyNames, "Names of the bodies, sorted.");
  names("joint_names", &Model::numJoints, &jointNames,
        "Names of the joints, in order of their coordinates.");
  names("actuator_names", &Model::numActuators, &actuatorNames, "In order of the controls.");
  names("sensor_names", &Model::numSensors, &sensorNames, "In order of the readings.");
  names("soft_body_names", &Model::numSoftBodies, &softNames, "Names of the soft bodies, sorted.");
  cls.def_prop_ro(
      "keyframe_names",
      [](const FrozenModel& self) {
        return namesOf(numKeyframes(self.model), keyframeNames(self.model));
      },
      "Names of the keyframes.");
}

void bindFrozenModel(nb::module_& m) {
  nb::class_<FrozenModel> cls(
      m, "Model",
      "What is simulated. Frozen: any number of simulators and threads may share it. Made by "
      "tangere.load() or by a ModelBuilder.");
  bindNames(cls);
  const auto number = [&cls](const char* property, int (Model::*count)() const, const char* doc) {
    cls.def_prop_ro(
        property, [count](const FrozenModel& self) { return (self.model.*count)(); }, doc);
  };
  number("num_bodies", &Model::numBodies, "Rigid bodies.");
  number("num_shapes", &Model::numShapes, "Collision shapes.");
  number("num_positions", &Model::numPositions, "Coordinates: columns of Simulator.q.");
  number("num_velocities", &Model::numVelocities, "Columns of Simulator.v.");
  number("num_activations", &Model::numActivations, "Of actuators with dynamics.");
  number("num_joints", &Model::numJoints, "Joints; a free body has one of its own name.");
  number("num_actuators", &Model::numActuators, "Columns of Simulator.controls.");
  number("num_sensors", &Model::numSensors, "Sensors.");
  number("num_sensor_values", &Model::numSensorValues, "Columns of Simulator.sensors().");
  number("num_soft_bodies", &Model::numSoftBodies, "Soft bodies.");
  number("num_soft_vertices", &Model::numSoftVertices, "Vertices of all soft bodies.");
  cls.def_ro("name", &FrozenModel::name, "Of the file, without folder and extension.")
      .def(
          "body_index",
          [](const FrozenModel& self, const nb::str& name) { return bodyIndex(self.model, name); },
          nb::arg("name"), "Index of a body; near names in the error.")
      .def(
          "body_type",
          [](const FrozenModel& self, nb::handle body) {
            return self.model.bodyType(bodyIndex(self.model, body));
          },
          nb::arg("body"), nb::sig("def body_type(self, body: str | int) -> BodyType"),
          "What moves a body.")
      .def(
          "body_parent",
          [](const FrozenModel& self, nb::handle body) -> std::optional<std::string> {
            const int parent = self.model.parentOf(bodyIndex(self.model, body));
            if (parent < 0) return std::nullopt;
            return std::string(self.model.bodyName(parent));
          },
          nb::arg("body"), nb::sig("def body_parent(self, body: str | int) -> str | None"),
          "The body it is jointed or welded to; None: the world.")
      .def(
          "mass_properties",
          [](const FrozenModel& self, nb::handle body) {
            return MassProperties(self.model.massProperties(bodyIndex(self.model, body)));
          },
          nb::arg("body"),
          nb::sig(
              "def mass_properties(self, body: str | int) -> tangere._collision.MassProperties"),
          "Mass, centre and inertia of a body, in its frame.")
      .def(
          "shapes",
          [](const FrozenModel& self, nb::handle body) {
            const int index = bodyIndex(self.model, body);
            std::vector<BodyShape> shapes;
            for (int i = 0; i < self.model.numShapes(); ++i) {
              if (self.model.bodyOfShape(i) != index) continue;
              shapes.push_back({.shape = self.model.shape(i),
                                .pose = self.model.shapePose(i),
                                .name = std::string(self.model.shapeName(i))});
            }
            return shapes;
          },
          nb::arg("body"), nb::sig("def shapes(self, body: str | int) -> list[BodyShape]"),
          "Shapes of a body with their poses and names.")
      .def(
          "joint",
          [](const FrozenModel& self, nb::handle joint) {
            return Joint(self.model.joint(jointIndex(self.model, joint)));
          },
          nb::arg("joint"), nb::sig("def joint(self, joint: str | int) -> Joint"),
          "A copy of what a joint is.")
      .def(
          "joint_body",
          [](const FrozenModel& self, nb::handle joint) {
            return std::string(
                self.model.bodyName(self.model.bodyOfJoint(jointIndex(self.model, joint))));
          },
          nb::arg("joint"), nb::sig("def joint_body(self, joint: str | int) -> str"),
          "The body that a joint moves.")
      .def(
          "q_slice",
          [](const FrozenModel& self, nb::handle joint) {
            return sliceOf(positionsOf(self, joint));
          },
          nb::arg("joint"), nb::sig("def q_slice(self, joint: str | int) -> slice"),
          "Where the coordinates of a joint are: q[:, model.q_slice('elbow')].")
      .def(
          "v_slice",
          [](const FrozenModel& self, nb::handle joint) {
            return sliceOf(velocitiesOf(self, joint));
          },
          nb::arg("joint"), nb::sig("def v_slice(self, joint: str | int) -> slice"),
          "Where its velocities are.")
      .def(
          "actuator",
          [](const FrozenModel& self, nb::handle actuator) {
            return Actuator(self.model.actuator(actuatorIndex(self.model, actuator)));
          },
          nb::arg("actuator"), nb::sig("def actuator(self, actuator: str | int) -> Actuator"),
          "A copy of what an actuator is.")
      .def(
          "sensor",
          [](const FrozenModel& self, nb::handle sensor) {
            return Sensor(self.model.sensor(sensorIndex(self.model, sensor)));
          },
          nb::arg("sensor"), nb::sig("def sensor(self, sensor: str | int) -> Sensor"),
          "A copy of what a sensor is.")
      .def(
          "sensor_slice",
          [](const FrozenModel& self, nb::handle sensor) {
            const int index = sensorIndex(self.model, sensor);
            return sliceOf(
                {self.model.startOfSensor(index), sensorSize(self.model.sensor(index).type)});
          },
          nb::arg("sensor"), nb::sig("def sensor_slice(self, sensor: str | int) -> slice"),
          "Where its readings are: sim.sensors()[:, model.sensor_slice('imu')].")
      .def(
          "soft_mesh",
          [](const FrozenModel& self, nb::handle soft) {
            return TetMesh(self.model.softMesh(softIndex(self.model, soft)));
          },
          nb::arg("soft"),
          nb::sig("def soft_mesh(self, soft: str | int) -> tangere._collision.TetMesh"),
          "Tetrahedra of a soft body as it starts.")
      .def(
          "soft_mass",
          [](const FrozenModel& self, nb::handle soft) {
            return self.model.softMass(softIndex(self.model, soft));
          },
          nb::arg("soft"), nb::sig("def soft_mass(self, soft: str | int) -> float"),
          "Mass of a soft body [kg].")
      .def(
          "options",
          [](const FrozenModel& self) { return SimulationOptions(self.model.options()); },
          "A copy of its options.")
      .def("with_options", &withOptions, nb::arg("options"), "The same bodies, other options.")
      .def("with_parameters", &withParameters, nb::arg("parameters"),
           "The same bodies with other masses, frictions or gains.")
      .def(
          "unused", [](const FrozenModel& self) { return self.model.unused(); },
          "What the model has and its solver does not use, one sentence each.")
      .def_prop_ro(
          "notes", [](const FrozenModel& self) { return self.notes; },
          "What the loader read, changed, ignored or doubted.")
      .def_prop_ro(
          "hash", [](const FrozenModel& self) { return self.model.hash(); },
          "Hash of everything that decides a motion.")
      .def_prop_ro(
          "_recipe", [](const FrozenModel& self) { return self.recipe; }, "What a pickle holds.")
      .def("__reduce__",
           [](const FrozenModel& self) {
             const nb::object make = nb::module_::import_("tangere._recipe").attr("make");
             return nb::make_tuple(make, nb::make_tuple(self.recipe, self.model.hash()));
           })
      .def("__repr__", [](const FrozenModel& self) {
        return nb::str("<tangere.Model '{}': {} bodies, {} coordinates, solver '{}'>")
            .attr("format")(self.name, self.model.numBodies(), self.model.numPositions(),
                            solverTypeName(self.model.options().solver));
      });
}

}  // namespace

void bindModel(nb::module_& m) {
  bindOptions(m);
  bindBodies(m);
  bindFrozenModel(m);
  bindBuilder(m);
}

}  // namespace tangere::python
