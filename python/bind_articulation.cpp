// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "core_enums.hpp"
#include "struct_binding.hpp"

#include <tangere/articulation.hpp>

namespace tangere::python {

namespace {

void bindEnums(nb::module_& m) {
  nb::enum_<JointType>(m, "JointType", "How a body moves against its parent.")
      .value("FREE", JointType::Free)
      .value("BALL", JointType::Ball)
      .value("REVOLUTE", JointType::Revolute)
      .value("PRISMATIC", JointType::Prismatic)
      .value("SCREW", JointType::Screw)
      .value("UNIVERSAL", JointType::Universal)
      .value("PLANAR", JointType::Planar);
  nb::enum_<Actuator::Target>(m, "ActuatorTarget", "What an actuator drives.")
      .value("JOINT", Actuator::Target::Joint)
      .value("TENDON", Actuator::Target::Tendon)
      .value("SITE", Actuator::Target::Site);
  nb::enum_<Actuator::Dynamics>(m, "ActuatorDynamics", "How its activation follows its control.")
      .value("NONE", Actuator::Dynamics::None)
      .value("INTEGRATOR", Actuator::Dynamics::Integrator)
      .value("FILTER", Actuator::Dynamics::Filter)
      .value("FILTER_EXACT", Actuator::Dynamics::FilterExact);
  nb::enum_<Tendon::Via::Kind>(m, "ViaKind", "An element of the way of a tendon.")
      .value("SITE", Tendon::Via::Kind::Site)
      .value("PULLEY", Tendon::Via::Kind::Pulley);
  nb::enum_<Equality::Type>(m, "EqualityType", "What an equality holds.")
      .value("CONNECT", Equality::Type::Connect)
      .value("WELD", Equality::Type::Weld)
      .value("JOINT", Equality::Type::Joint)
      .value("TENDON", Equality::Type::Tendon)
      .value("DISTANCE", Equality::Type::Distance);
  nb::enum_<Sensor::Frame>(m, "SensorFrame", "Which frame of a body a sensor means.")
      .value("BODY", Sensor::Frame::Body)
      .value("INERTIA_FRAME", Sensor::Frame::InertiaFrame)
      .value("SITE", Sensor::Frame::Site);
  nb::enum_<SensorType>(m, "SensorType", "What a sensor measures.")
      .value("JOINT_POSITION", SensorType::JointPosition)
      .value("JOINT_VELOCITY", SensorType::JointVelocity)
      .value("BALL_QUATERNION", SensorType::BallQuaternion)
      .value("BALL_ANGULAR_VELOCITY", SensorType::BallAngularVelocity)
      .value("JOINT_LIMIT_FORCE", SensorType::JointLimitForce)
      .value("TENDON_POSITION", SensorType::TendonPosition)
      .value("TENDON_VELOCITY", SensorType::TendonVelocity)
      .value("ACTUATOR_POSITION", SensorType::ActuatorPosition)
      .value("ACTUATOR_VELOCITY", SensorType::ActuatorVelocity)
      .value("ACTUATOR_FORCE", SensorType::ActuatorForce)
      .value("JOINT_ACTUATOR_FORCE", SensorType::JointActuatorForce)
      .value("ACCELEROMETER", SensorType::Accelerometer)
      .value("GYRO", SensorType::Gyro)
      .value("VELOCIMETER", SensorType::Velocimeter)
      .value("MAGNETOMETER", SensorType::Magnetometer)
      .value("FORCE", SensorType::Force)
      .value("TORQUE", SensorType::Torque)
      .value("TOUCH", SensorType::Touch)
      .value("CONTACT_FORCE", SensorType::ContactForce)
      .value("FRAME_POSITION", SensorType::FramePosition)
      .value("FRAME_QUATERNION", SensorType::FrameQuaternion)
      .value("FRAME_X_AXIS", SensorType::FrameXAxis)
      .value("FRAME_Y_AXIS", SensorType::FrameYAxis)
      .value("FRAME_Z_AXIS", SensorType::FrameZAxis)
      .value("FRAME_LINEAR_VELOCITY", SensorType::FrameLinearVelocity)
      .value("FRAME_ANGULAR_VELOCITY", SensorType::FrameAngularVelocity)
      .value("FRAME_LINEAR_ACCELERATION", SensorType::FrameLinearAcceleration)
      .value("FRAME_ANGULAR_ACCELERATION", SensorType::FrameAngularAcceleration)
      .value("SUBTREE_CENTER", SensorType::SubtreeCenter)
      .value("SUBTREE_LINEAR_VELOCITY", SensorType::SubtreeLinearVelocity)
      .value("SUBTREE_ANGULAR_MOMENTUM", SensorType::SubtreeAngularMomentum)
      .value("CLOCK", SensorType::Clock);
}

void bindDrives(nb::module_& m) {
  bindStruct<Actuator>(
      m, "Actuator",
      "A drive of force (gain[0] + gain[1] length + gain[2] rate) u + bias[0] + bias[1] length + "
      "bias[2] rate.\n\n"
      ">>> import tangere\n"
      ">>> tangere.Actuator.position('servo', 'hinge', kp=100, kd=10).gain\n"
      "[100.0, 0.0, 0.0]\n",
      field("name", &Actuator::name, "its name"),
      field("target", &Actuator::target, "what it drives"),
      field("target_name", &Actuator::targetName, "of the joint, tendon or site"),
      field("gear", &Actuator::gear, "six numbers"),
      field("gain", &Actuator::gain, "three numbers, times the control"),
      field("bias", &Actuator::bias, "three numbers, whatever the control"),
      field("dynamics", &Actuator::dynamics, "how the activation follows the control"),
      field("time_constant", &Actuator::timeConstant, "[s]"),
      field("lower_control", &Actuator::lowerControl, "controls are held at or above"),
      field("upper_control", &Actuator::upperControl, "controls are held at or below"),
      field("lower_force", &Actuator::lowerForce, "forces are held at or above [N, N m]"),
      field("upper_force", &Actuator::upperForce, "forces are held at or below [N, N m]"),
      field("lower_activation", &Actuator::lowerActivation, "activations are held at or above"),
      field("upper_activation", &Actuator::upperActivation, "activations are held at or below"))
      .def_static("motor", &Actuator::motor, nb::arg("name"), nb::arg("joint"),
                  nb::arg("gear") = 1.0, "A force at a joint.")
      .def_static("position", &Actuator::position, nb::arg("name"), nb::arg("joint"), nb::arg("kp"),
                  nb::arg("kd"), "Force kp (control - position) - kd rate.")
      .def_static("velocity", &Actuator::velocity, nb::arg("name"), nb::arg("joint"), nb::arg("kd"),
                  "Force kd (control - rate).");
  bindStruct<ControlSchedule>(
      m, "ControlSchedule",
      "What an actuator is told over time: straight lines between points. It wins over controls.",
      field("actuator", &ControlSchedule::actuator, "name of the actuator"),
      field("times", &ControlSchedule::times, "[s], ascending"),
      field("values", &ControlSchedule::values, "one for each time"));
}

void bindTendons(nb::module_& m) {
  bindStruct<Tendon::Term>(
      m, "TendonTerm", "A joint of a fixed tendon.",
      field("joint", &Tendon::Term::joint, "name of the joint"),
      field("coefficient", &Tendon::Term::coefficient, "its weight in the sum"));
  bindStruct<Tendon::Via>(m, "TendonVia", "An element of the way of a spatial tendon.",
                          field("kind", &Tendon::Via::kind, "a site or a pulley"),
                          field("site", &Tendon::Via::site, "name of the site"),
                          field("divisor", &Tendon::Via::divisor, "of a pulley"));
  bindStruct<Tendon>(
      m, "Tendon", "A string through sites, or a weighted sum of joints.",
      field("name", &Tendon::name, "its name"), field("terms", &Tendon::terms, "fixed"),
      field("path", &Tendon::path, "spatial"), field("lower", &Tendon::lower, "length [m]"),
      field("upper", &Tendon::upper, "length [m]"), field("damping", &Tendon::damping, "[N s/m]"),
      field("friction_loss", &Tendon::frictionLoss, "[N]"),
      field("stiffness", &Tendon::stiffness, "[N/m]"),
      field("spring_lower", &Tendon::springLower, "at rest from [m]"),
      field("spring_upper", &Tendon::springUpper, "at rest to [m]"),
      field("armature", &Tendon::armature, "inertia along its length [kg]"));
}

}  // namespace

void bindArticulation(nb::module_& m) {
  bindEnums(m);
  bindStruct<Joint>(
      m, "Joint", "How a body moves against its parent, in the frame of the body.",
      field("name", &Joint::name, "its name"), field("type", &Joint::type, "how the body moves"),
      field("position", &Joint::position, "a point of the axis, or the centre [m]"),
      field("axis", &Joint::axis, "any length; of PLANAR: the normal"),
      field("axis2", &Joint::axis2, "UNIVERSAL, PLANAR: perpendicular to axis"),
      field("pitch", &Joint::pitch, "SCREW [m/rad]"),
      field("reference", &Joint::reference, "coordinate at the body's pose, and start"),
      field("lower", &Joint::lower, "[rad, m]"), field("upper", &Joint::upper, "[rad, m]"),
      field("armature", &Joint::armature, "inertia of the drive"),
      field("damping", &Joint::damping, "[N m s/rad, N s/m]"),
      field("friction_loss", &Joint::frictionLoss, "dry friction [N m, N]"),
      field("stiffness", &Joint::stiffness, "of a spring [N m/rad, N/m]"),
      field("spring_reference", &Joint::springReference, "where it rests"),
      field("lower_actuator_force", &Joint::lowerActuatorForce,
            "all actuators together push no less [N, N m]"),
      field("upper_actuator_force", &Joint::upperActuatorForce,
            "all actuators together push no more [N, N m]"));
  bindStruct<Site>(m, "Site", "A named frame of a body.", field("name", &Site::name, "its name"),
                   field("body", &Site::body, "empty: the world"),
                   field("pose", &Site::pose, "in the frame of the body"),
                   field("half_size", &Site::halfSize, "in which a touch sensor feels [m]"),
                   field("is_box", &Site::isBox, "a box instead of an ellipsoid"));
  bindTendons(m);
  bindDrives(m);
  bindStruct<Equality>(
      m, "Equality", "What always holds between two bodies, joints or tendons.",
      field("name", &Equality::name, "its name"), field("type", &Equality::type, "what it holds"),
      field("first", &Equality::first, "name of the first body, joint or tendon"),
      field("second", &Equality::second, "name of the second; empty: the world, or a constant"),
      field("anchor", &Equality::anchor, "in the frame of body 1"),
      field("anchor2", &Equality::anchor2, "in the frame of body 2"),
      field("relative_pose", &Equality::relativePose, "of a weld"),
      field("has_relative_pose", &Equality::hasRelativePose, "otherwise the start decides"),
      field("distance", &Equality::distance, "[m]"),
      field("polynomial", &Equality::polynomial, "five coefficients"),
      field("is_active", &Equality::isActive, "it acts"));
  bindStruct<Sensor>(
      m, "Sensor", "A sensor.", field("name", &Sensor::name, "its name"),
      field("type", &Sensor::type, "what it measures"),
      field("object", &Sensor::object, "what it is about, as the type says"),
      field("object_frame", &Sensor::objectFrame, "which frame of the object"),
      field("reference", &Sensor::reference, "seen from here; empty: the world"),
      field("reference_frame", &Sensor::referenceFrame, "which frame of the reference"),
      field("cutoff", &Sensor::cutoff, "> 0: readings stay within"));
  bindStruct<Keyframe>(
      m, "Keyframe", "A configuration to start from.", field("name", &Keyframe::name, "its name"),
      field("time", &Keyframe::time, "[s]"),
      field("q", &Keyframe::q, "all coordinates; empty: the start"),
      field("v", &Keyframe::v, "all velocities; empty: zero"),
      field("activation", &Keyframe::activation, "of actuators with dynamics; empty: zero"),
      field("control", &Keyframe::control, "of all actuators; empty: zero"));
  bindStruct<StartPosition>(m, "StartPosition", "Where a joint stands at the start.",
                            field("joint", &StartPosition::joint, "name of the joint"),
                            field("position", &StartPosition::position, "[m, rad]"));
  bindStruct<ShapePairRule>(
      m, "ShapePairRule", "Two shapes that touch whatever filters say.",
      field("shape1", &ShapePairRule::shape1, "name of a shape"),
      field("shape2", &ShapePairRule::shape2, "name of another"),
      field("friction", &ShapePairRule::friction, "negative: that of the materials"));
}

}  // namespace tangere::python
