// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "core_enums.hpp"
#include "frozen_model.hpp"
#include "struct_binding.hpp"

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

namespace tangere::python {

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
  nb::enum_<JointStep>(m, "JointStep", "How SAP takes springs, damping and drives over a step.")
      .value("MIDPOINT", JointStep::Midpoint, "of second order: springs keep their energy")
      .value("BACKWARD_EULER", JointStep::BackwardEuler, "of first order: springs lose energy");
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
                           field("enabled", &SleepOptions::enabled, "islands may fall asleep"),
                           field("linear_speed", &SleepOptions::linearSpeed, "[m/s]"),
                           field("angular_speed", &SleepOptions::angularSpeed, "[rad/s]"),
                           field("duration", &SleepOptions::duration, "[s]"));
  using Options = SimulationOptions;
  bindStruct<Options>(
      m, "SimulationOptions",
      "How a model is simulated.\n\n"
      ">>> import tangere\n"
      ">>> tangere.SimulationOptions(dt=0.001, solver='sap').solver.name\n"
      "'SAP'\n",
      field("dt", &Options::dt, "time step [s]"), field("gravity", &Options::gravity, "[m/s^2]"),
      field("solver", &Options::solver, "what moves the bodies"),
      field("impulse", &Options::impulse, "of the impulse solver"),
      field("sap", &Options::sap, "of the convex solver"),
      field("accuracy", &Options::accuracy,
            "SAP: > 0: steps are divided until none is off by more"),
      field("joint_step", &Options::jointStep, "SAP: how springs, damping and drives are taken"),
      field("exclude_start_overlaps", &Options::excludeStartOverlaps,
            "links that overlap their parent or their fixed base at the start never touch it"),
      field("event", &Options::event, "of the event solver"),
      field("limits", &Options::limits, "most contacts"),
      field("patch_cache", &Options::patchCache, "how contact points are kept"),
      field("sleep", &Options::sleep, "when islands fall asleep"),
      field("restitution_threshold", &Options::restitutionThreshold,
            "slower approach does not bounce [m/s]"),
      field("max_impacts_per_step", &Options::maxImpactsPerStep, "further ones are inelastic"));
}

void bindBodies(nb::module_& m) {
  bindStruct<BodyShape>(
      m, "BodyShape", "One collision shape of a body. A plain shape stands for one at the origin.",
      field("shape", &BodyShape::shape, "the shape"),
      field("pose", &BodyShape::pose, "in the body's frame"),
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
      field("shapes", &Body::shapes, "what collides"),
      field("mass_properties", &Body::massProperties, "without: from shapes and densities"),
      field("linear_damping", &Body::linearDamping, "[1/s]"),
      field("angular_damping", &Body::angularDamping, "[1/s]"),
      field("gravity_scale", &Body::gravityScale, "gravity times this acts on it"),
      field("collides_with_parent", &Body::collidesWithParent,
            "it may touch the body it is jointed to"));
  using Parameters = ModelParameters;
  bindStruct<Parameters::MassScale>(
      m, "MassScale", "A factor of the mass of a body.",
      field("body", &Parameters::MassScale::body, "name of the body"),
      field("factor", &Parameters::MassScale::factor, "of its mass and inertia"));
  bindStruct<Parameters::Friction>(
      m, "FrictionOf", "The friction of a material.",
      field("material", &Parameters::Friction::material, "name of the material"),
      field("friction", &Parameters::Friction::friction, "Coulomb, 0 to 1000"));
  bindStruct<Parameters::Gains>(
      m, "GainsOf", "Gains of an actuator.",
      field("actuator", &Parameters::Gains::actuator, "name of the actuator"),
      field("gain", &Parameters::Gains::gain, "three numbers, as of Actuator"),
      field("bias", &Parameters::Gains::bias, "three numbers, as of Actuator"));
  bindStruct<Parameters>(m, "ModelParameters", "What may differ between environments of one model.",
                         field("masses", &Parameters::masses, "factors of masses"),
                         field("frictions", &Parameters::frictions, "of materials"),
                         field("gains", &Parameters::gains, "of actuators"));
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
                            NameOf (*nameOf)(const Model&), const char* doc) {
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

void bindCounts(nb::class_<FrozenModel>& cls) {
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
}

void bindBodiesOf(nb::class_<FrozenModel>& cls) {
  cls.def(
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
          "Shapes of a body with their poses and names.");
}

void bindJointsOf(nb::class_<FrozenModel>& cls) {
  cls.def(
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
          "Where its readings are: sim.sensors()[:, model.sensor_slice('imu')].");
}

void bindSoftsOf(nb::class_<FrozenModel>& cls) {
  cls.def(
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
          "Mass of a soft body [kg].");
}

void bindWholeModel(nb::class_<FrozenModel>& cls) {
  cls.def_ro("name", &FrozenModel::name, "Of the file, without folder and extension.")
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
      .def(
          "start_overlaps",
          [](const FrozenModel& self) {
            std::vector<std::tuple<std::string, std::string, Real, bool>> out;
            const Model& model = self.model;
            const auto nameOf = [&](int shape) {
              return std::string(model.bodyName(model.bodyOfShape(shape)));
            };
            for (const StartOverlap& overlap : model.startOverlaps())
              out.emplace_back(nameOf(overlap.shape1), nameOf(overlap.shape2), overlap.depth,
                               overlap.isWithBase);
            return out;
          },
          "(body, body, depth [m], is with base) of shapes of jointed bodies that overlap at the "
          "start; those with their base are what exclude_start_overlaps excludes.")
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

void bindFrozenModel(nb::module_& m) {
  nb::class_<FrozenModel> cls(
      m, "Model",
      "What is simulated. Frozen: any number of simulators and threads may share it. Made by "
      "tangere.load() or by a ModelBuilder.");
  bindNames(cls);
  bindCounts(cls);
  bindBodiesOf(cls);
  bindJointsOf(cls);
  bindSoftsOf(cls);
  bindWholeModel(cls);
}

}  // namespace

void bindModel(nb::module_& m) {
  bindOptions(m);
  bindBodies(m);
  bindFrozenModel(m);
  bindModelBuilder(m);
}

}  // namespace tangere::python
