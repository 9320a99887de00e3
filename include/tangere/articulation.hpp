// SPDX-License-Identifier: Apache-2.0
//
// What makes bodies a robot: joints, what drives and couples them, and what is measured. Everything
// is named; a ModelBuilder checks the names and lays the parts out.
//
// Coordinates, in order of creation:
//   joint       positions                                velocities
//   Free        origin of the body, quaternion wxyz      of the origin (world), angular (body axes)
//   Ball        quaternion wxyz                          angular (body axes)
//   Revolute    angle [rad]                              its rate
//   Prismatic   length [m]                               its rate
//   Screw       angle [rad]; pitch moves along the axis  its rate
//   Universal   angle about axis, angle about axis2      their rates
//   Planar      along axis2, along axis x axis2, angle   their rates
#pragma once

#include <tangere/types.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tangere {

enum class JointType : std::uint8_t { Free, Ball, Revolute, Prismatic, Screw, Universal, Planar };
/// "free", "ball" and so on.
[[nodiscard]] const char* jointTypeName(JointType type);
[[nodiscard]] int numJointPositions(JointType type);
[[nodiscard]] int numJointVelocities(JointType type);

/// How a body moves against its parent. The joints of a body act in their order, the first one
/// nearest to the parent; each is described in the frame of the body.
struct Joint {
  std::string name;
  JointType type = JointType::Revolute;
  Vec3 position{};      ///< a point of the axis, or the centre [m]
  Vec3 axis{0, 0, 1};   ///< any length; of Planar: the normal of the plane
  Vec3 axis2{1, 0, 0};  ///< Universal, Planar: perpendicular to `axis`
  Real pitch = 0;       ///< Screw: way along the axis per angle [m/rad]
  Real reference = 0;   ///< Revolute, Prismatic, Screw: coordinate at the body's `pose`, and start
  /// Of each coordinate [rad, m]. Ball: `upper` is the largest angle from the start. Not for Free.
  Real lower = -kUnlimited, upper = kUnlimited;
  Real armature = 0;         ///< inertia of the drive, on each velocity [kg m^2, kg]
  Real damping = 0;          ///< [N m s/rad, N s/m]
  Real frictionLoss = 0;     ///< dry friction [N m, N]
  Real stiffness = 0;        ///< of a spring [N m/rad, N/m]
  Real springReference = 0;  ///< where the spring rests; Ball, Free: the start
  /// What an actuator may do at this joint; each of several keeps to it by itself [N m, N].
  Real lowerActuatorForce = -kUnlimited, upperActuatorForce = kUnlimited;
};

/// A named frame of a body: where sensors sit, tendons pass and forces act.
struct Site {
  std::string name;
  std::string body;    ///< empty: the world
  Transform pose{};    ///< X_BS
  Vec3 halfSize{};     ///< of the ellipsoid in which a touch sensor feels [m]
  bool isBox = false;  ///< a box instead of the ellipsoid
};

/// A string through sites, or a weighted sum of joint coordinates.
struct Tendon {
  struct Term {
    std::string joint;
    Real coefficient = 1;
  };
  /// One element of the way of a spatial tendon.
  struct Via {
    enum class Kind : std::uint8_t { Site, Pulley };
    Kind kind = Kind::Site;
    std::string site{};
    Real divisor = 1;  ///< Pulley: what follows counts 1/divisor
  };
  std::string name;
  std::vector<Term> terms{};                     ///< a fixed tendon
  std::vector<Via> path{};                       ///< a spatial tendon
  Real lower = -kUnlimited, upper = kUnlimited;  ///< length [m]
  Real damping = 0;                              ///< [N s/m]
  Real frictionLoss = 0;                         ///< [N]
  Real stiffness = 0;                            ///< [N/m]
  /// The spring is at rest between these; both negative: at the length of the start.
  Real springLower = -1, springUpper = -1;
  Real armature = 0;
};

/// A drive. Its force is
///   (gain[0] + gain[1] length + gain[2] rate) u + bias[0] + bias[1] length + bias[2] rate
/// where u is the control, or the activation when there are dynamics, and length is that of the
/// joint or tendon times gear[0]. What depends on length and rate is implicit in the step, so stiff
/// drives stay stable.
struct Actuator {
  enum class Target : std::uint8_t { Joint, Tendon, Site };
  enum class Dynamics : std::uint8_t {
    None,
    Integrator,   ///< activation' = control
    Filter,       ///< activation' = (control - activation) / timeConstant, Euler
    FilterExact,  ///< the same, exact over a step
  };
  std::string name;
  Target target = Target::Joint;
  std::string targetName;
  /// Joint: the axis for Ball and Free; Site: force and torque in the frame of the site.
  std::array<Real, 6> gear{1, 0, 0, 0, 0, 0};
  std::array<Real, 3> gain{1, 0, 0};
  std::array<Real, 3> bias{0, 0, 0};
  Dynamics dynamics = Dynamics::None;
  Real timeConstant = 1;  ///< [s]
  Real lowerControl = -kUnlimited, upperControl = kUnlimited;
  Real lowerForce = -kUnlimited, upperForce = kUnlimited;
  Real lowerActivation = -kUnlimited, upperActivation = kUnlimited;

  [[nodiscard]] static Actuator motor(std::string name, std::string joint, Real gear = 1);
  /// Force kp (control - position) - kd rate.
  [[nodiscard]] static Actuator position(std::string name, std::string joint, Real kp, Real kd);
  /// Force kd (control - rate).
  [[nodiscard]] static Actuator velocity(std::string name, std::string joint, Real kd);
};

/// What always holds between two bodies, joints or tendons.
struct Equality {
  enum class Type : std::uint8_t {
    Connect,   ///< a point of body 1 is a point of body 2
    Weld,      ///< body 2 keeps its pose in body 1
    Joint,     ///< coordinate 1 = polynomial(coordinate 2), both from their references
    Tendon,    ///< the same for lengths, from those of the start
    Distance,  ///< two points keep their distance
  };
  std::string name;
  Type type = Type::Connect;
  /// Names of bodies, joints or tendons. Empty second: the world, or the constant polynomial[0].
  std::string first, second;
  Vec3 anchor{};   ///< Connect, Weld, Distance: in the frame of body 1
  Vec3 anchor2{};  ///< in the frame of body 2; used when hasRelativePose is set
  /// Weld: X_12; Connect, Distance: `anchor2` is given. Otherwise the start decides.
  Transform relativePose{};
  bool hasRelativePose = false;
  Real distance = 0;                              ///< Distance [m]
  std::array<Real, 5> polynomial{0, 1, 0, 0, 0};  ///< Joint, Tendon: c0 + c1 x + ... + c4 x^4
  bool isActive = true;
};

enum class SensorType : std::uint8_t {
  JointPosition,
  JointVelocity,
  BallQuaternion,
  BallAngularVelocity,
  JointLimitForce,
  TendonPosition,
  TendonVelocity,
  ActuatorPosition,
  ActuatorVelocity,
  ActuatorForce,
  JointActuatorForce,
  Accelerometer,  ///< at a site, in its frame; feels gravity
  Gyro,
  Velocimeter,
  Magnetometer,
  Force,  ///< through the joint of the site's body, by the parent on the child, in the site's frame
  Torque,
  Touch,         ///< sum of normal forces inside the site
  ContactForce,  ///< sum of contact forces on a body, world
  FramePosition,
  FrameQuaternion,
  FrameXAxis,
  FrameYAxis,
  FrameZAxis,
  FrameLinearVelocity,
  FrameAngularVelocity,
  FrameLinearAcceleration,
  FrameAngularAcceleration,
  SubtreeCenter,
  SubtreeLinearVelocity,
  SubtreeAngularMomentum,
  Clock,
};
/// Numbers that a sensor gives.
[[nodiscard]] int sensorSize(SensorType type);

struct Sensor {
  enum class Frame : std::uint8_t {
    Body,          ///< frame of the body
    InertiaFrame,  ///< at the centre of mass, along the axes of the body
    Site,
  };
  std::string name;
  SensorType type = SensorType::JointPosition;
  std::string object;               ///< joint, tendon, actuator, site or body, as the type says
  Frame objectFrame = Frame::Site;  ///< Frame sensors: what `object` names
  std::string reference{};          ///< Frame sensors: seen from here; empty: the world
  Frame referenceFrame = Frame::Site;
  Real cutoff = 0;  ///< > 0: readings stay within +-cutoff; not for quaternions and axes
};

/// A configuration to start from.
struct Keyframe {
  std::string name;
  Real time = 0;
  std::vector<Real> q{}, v{};  ///< all coordinates in their order; empty: the start
  std::vector<Real> activation{}, control{};
};

/// What an actuator is told over time: straight lines between points, the first value before and
/// the last one after them. It wins over Simulator::setControl().
struct ControlSchedule {
  std::string actuator;
  std::vector<Real> times{};  ///< [s], ascending
  std::vector<Real> values{};
};

/// Where a joint of one coordinate stands at the start, instead of at its reference.
struct StartPosition {
  std::string joint;
  Real position = 0;  ///< [m, rad]
};

/// Two shapes that touch whatever the filters say, with parameters of their own.
struct ShapePairRule {
  std::string shape1, shape2;  ///< names of shapes
  Real friction = -1;          ///< negative: that of the materials
};

}  // namespace tangere
