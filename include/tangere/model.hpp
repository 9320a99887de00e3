// SPDX-License-Identifier: Apache-2.0
//
// The immutable description of what is simulated. A ModelBuilder collects bodies, materials and
// options, checks them, and makes a Model; a Model may be shared by any number of simulators and
// threads.
#pragma once

#include <tangere/articulation.hpp>
#include <tangere/contact_patch_cache.hpp>
#include <tangere/material.hpp>
#include <tangere/shape.hpp>
#include <tangere/soft_body.hpp>
#include <tangere/solver_options.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tangere {

namespace model {
struct ModelData;
}

enum class BodyType : std::uint8_t {
  Dynamic,    ///< moved by forces and contacts
  Fixed,      ///< never moves
  Kinematic,  ///< moves with its own velocity, whatever touches it
};

/// One collision shape of a body.
struct BodyShape {
  std::shared_ptr<const Shape> shape{};
  Transform pose{};                  ///< in the body's frame
  std::string material{};            ///< name of a material; empty: the default material
  std::uint32_t group = 1;           ///< bits this shape belongs to
  std::uint32_t mask = 0xffffffffu;  ///< bits it collides with; both sides must agree
  /// Where both shapes say so, it is enough that one side agrees.
  bool isOneSideEnough = false;
  std::string name{};  ///< for messages, sensors and pair rules; may be empty
};

/// A rigid body. Its name is its identity: the order in which bodies are added does not matter
/// (except to the order of the coordinates).
///
///   parent   joints   Dynamic                  Fixed, Kinematic
///   none     none     free                     stands, moves as told
///   none     some     moves against the world  refused
///   named    none     welded to the parent     refused
///   named    some     moves against it         refused
struct Body {
  std::string name;
  BodyType type = BodyType::Dynamic;
  std::string parent{};         ///< empty: the world
  std::vector<Joint> joints{};  ///< in order from the parent
  Transform pose{};        ///< X_WB at the start; with parent or joints X_PB at their references
  Vec3 linearVelocity{};   ///< of the body's origin at the start, world [m/s]
  Vec3 angularVelocity{};  ///< at the start, world [rad/s]
  std::vector<BodyShape> shapes{};
  /// Mass, centre and inertia about that centre in the body's frame. Without it: from the shapes
  /// and the densities of their materials.
  std::optional<MassProperties> massProperties{};
  Real linearDamping = 0;   ///< force per mass and speed [1/s]
  Real angularDamping = 0;  ///< torque per inertia and rate [1/s]
  Real gravityScale = 1;
  bool collidesWithParent = false;  ///< bodies of one weld never touch each other
};

/// Sleeping islands cost nothing and their bodies do not move at all; their contacts keep the
/// forces of the step in which they fell asleep.
struct SleepOptions {
  bool enabled = false;
  Real linearSpeed = 1e-3;   ///< below both for `duration` a whole island falls asleep [m/s]
  Real angularSpeed = 1e-2;  ///< [rad/s]
  Real duration = 0.5;       ///< [s]
};

/// What finds contacts.
enum class ContactKind : std::uint8_t {
  Points,      ///< of rigid shapes
  RigidRigid,  ///< pressure between rigid shapes, planes too
  SoftRigid,   ///< pressure between soft bodies and rigid shapes, planes too
  SoftSoft,    ///< between soft bodies
  SoftSelf,    ///< of soft bodies with themselves
};
inline constexpr int kNumContactKinds = 5;
/// "points", "rigid_rigid", "soft_rigid", "soft_soft", "soft_self".
[[nodiscard]] const char* contactKindName(ContactKind kind);

/// Most contacts of a step; 0: as many as there are. A step that needs more is not taken, and the
/// report says of which kind (StepStatus::TooManyContacts).
struct ContactLimits {
  std::array<int, kNumContactKinds> ofKind{};  ///< points or polygons, by ContactKind
  int all = 0;                                 ///< of all kinds together
};

/// What moves the bodies.
enum class SolverType : std::uint8_t {
  Impulse,  ///< free bodies; restitution
  Sap,      ///< the convex solver: joints, drives and contacts together
  Event,    ///< variable steps from event to event; dt only says when to look
};
/// "impulse", "sap", "event".
[[nodiscard]] const char* solverTypeName(SolverType type);

/// How the SAP solver takes the springs, damping and drives of joints and tendons over a step.
enum class JointStep : std::uint8_t {
  /// Of second order: springs without damping keep their amplitude. What is too stiff for the step
  /// (its period is less than six steps) goes over to BackwardEuler, joint by joint.
  Midpoint,
  /// Of first order: springs lose energy, the more the stiffer they are and the longer the step.
  BackwardEuler,
};

struct SimulationOptions {
  Real dt = 0.002;  ///< [s]
  Vec3 gravity{0, 0, -9.81};
  SolverType solver = SolverType::Impulse;
  ImpulseOptions impulse{};
  SapOptions sap{};
  /// SAP: > 0: a step is divided until halving its parts changes no coordinate by more than this
  /// [m, rad]; 0: one solve a step.
  Real accuracy = 0;
  JointStep jointStep = JointStep::Midpoint;
  /// Shapes of jointed bodies that overlap those of their parent, or the fixed base that their
  /// robot stands on, with all joints at their references never touch: see Model::startOverlaps().
  bool excludeStartOverlaps = false;
  EventOptions event{};
  ContactLimits limits{};
  ContactPatchCacheOptions patchCache{.enabled = true, .allowNegativeDepth = true};
  SleepOptions sleep{};
  /// Approach below this speed does not bounce [m/s].
  Real restitutionThreshold = 0.5;
  /// Impacts resolved one after another in one step before the rest count as inelastic.
  int maxImpactsPerStep = 10000;
};

/// What may differ between environments that share a model: for randomization and fits.
struct ModelParameters {
  struct MassScale {
    std::string body;
    Real factor = 1;  ///< of mass and inertia
  };
  struct Friction {
    std::string material;
    Real friction = 0;  ///< combined with others as Material says, pairs that are given stay
  };
  struct Gains {
    std::string actuator;
    std::array<Real, 3> gain{}, bias{};  ///< as in Actuator
  };
  std::vector<MassScale> masses{};
  std::vector<Friction> frictions{};
  std::vector<Gains> gains{};
};

/// Two shapes that overlap before anything has moved, by more than a hundredth of the thickness of
/// the thinner one, though filters let them touch: their joints may not be able to part them.
struct StartOverlap {
  int shape1 = -1, shape2 = -1;  ///< the first one belongs to a jointed body
  Real depth = 0;                ///< [m]
  /// The second one is of the parent, or of the fixed base that the robot stands on: fixed and
  /// overlapped by the first link too, or what that link is jointed to.
  bool isWithBase = false;
};

class Model {
 public:
  [[nodiscard]] int numBodies() const;
  [[nodiscard]] std::string_view bodyName(int body) const;
  /// Index of the body, in order of names; -1 when there is none.
  [[nodiscard]] int findBody(std::string_view name) const;
  [[nodiscard]] BodyType bodyType(int body) const;
  [[nodiscard]] const MassProperties& massProperties(int body) const;
  [[nodiscard]] int numShapes() const;
  [[nodiscard]] int bodyOfShape(int shape) const;
  [[nodiscard]] const std::shared_ptr<const Shape>& shape(int shape) const;
  /// X_BS.
  [[nodiscard]] const Transform& shapePose(int shape) const;
  [[nodiscard]] std::string_view shapeName(int shape) const;
  /// The body it is jointed or welded to; -1: the world.
  [[nodiscard]] int parentOf(int body) const;

  // Coordinates; free bodies have some under the SAP solver alone.
  [[nodiscard]] int numPositions() const;
  [[nodiscard]] int numVelocities() const;
  [[nodiscard]] int numActivations() const;
  /// In order of creation. A free body has a joint of its own name.
  [[nodiscard]] int numJoints() const;
  [[nodiscard]] const Joint& joint(int joint) const;
  [[nodiscard]] int bodyOfJoint(int joint) const;
  /// Where its coordinates start.
  [[nodiscard]] int positionOfJoint(int joint) const;
  [[nodiscard]] int velocityOfJoint(int joint) const;
  /// -1 when there is none.
  [[nodiscard]] int findJoint(std::string_view name) const;
  [[nodiscard]] int numActuators() const;
  [[nodiscard]] const Actuator& actuator(int actuator) const;
  [[nodiscard]] int findActuator(std::string_view name) const;
  [[nodiscard]] int numTendons() const;
  [[nodiscard]] const Tendon& tendon(int tendon) const;
  [[nodiscard]] int numSites() const;
  [[nodiscard]] const Site& site(int site) const;
  [[nodiscard]] int numEqualities() const;
  [[nodiscard]] const Equality& equality(int equality) const;
  [[nodiscard]] int numSensors() const;
  [[nodiscard]] const Sensor& sensor(int sensor) const;
  /// Where the readings of a sensor start, and of all of them the number.
  [[nodiscard]] int startOfSensor(int sensor) const;
  [[nodiscard]] int numSensorValues() const;
  [[nodiscard]] std::span<const Keyframe> keyframes() const;

  // Soft bodies, in order of names (the SAP solver).
  [[nodiscard]] int numSoftBodies() const;
  [[nodiscard]] std::string_view softBodyName(int soft) const;
  /// -1 when there is none.
  [[nodiscard]] int findSoftBody(std::string_view name) const;
  /// As it starts, in the world. It may have a few vertices more than the mesh that was given:
  /// tetrahedra with all vertices on the surface are split.
  [[nodiscard]] const TetMesh& softMesh(int soft) const;
  /// Where its vertices start among those of all soft bodies.
  [[nodiscard]] int firstVertexOf(int soft) const;
  [[nodiscard]] int numSoftVertices() const;
  /// [kg]
  [[nodiscard]] Real softMass(int soft) const;

  [[nodiscard]] const SimulationOptions& options() const;
  /// The same bodies under other options. Throws InvalidInput.
  [[nodiscard]] Model withOptions(const SimulationOptions& options) const;
  /// The same bodies with other parameters. Throws InvalidInput with near names.
  [[nodiscard]] Model withParameters(const ModelParameters& parameters) const;
  /// Of jointed bodies with others of their robot and with fixed ones, with all joints at their
  /// references. Those with their base are what SimulationOptions::excludeStartOverlaps excludes
  /// (and are then no longer listed). Computed by every call.
  [[nodiscard]] std::vector<StartOverlap> startOverlaps() const;
  /// What the model has and its solver does not use, one sentence each: nothing is ignored in
  /// silence.
  [[nodiscard]] std::vector<std::string> unused() const;
  /// Hash of everything that decides a motion: a checkpoint fits one model alone.
  [[nodiscard]] std::uint64_t hash() const;

  [[nodiscard]] const model::ModelData& data() const { return *data_; }

 private:
  friend class ModelBuilder;
  explicit Model(std::shared_ptr<const model::ModelData> data) : data_(std::move(data)) {}
  std::shared_ptr<const model::ModelData> data_;
};

/// Collects and checks. Every function throws InvalidInput on what cannot be simulated, and leaves
/// the builder as it was.
class ModelBuilder {
 public:
  ModelBuilder();
  ~ModelBuilder();
  ModelBuilder(ModelBuilder&&) noexcept;
  ModelBuilder& operator=(ModelBuilder&&) noexcept;

  void setOptions(const SimulationOptions& options);
  [[nodiscard]] const SimulationOptions& options() const;
  /// The material of shapes that name none; "default" otherwise.
  void addMaterial(const Material& material);
  void addPair(const MaterialPair& pair);
  void addBody(const Body& body);
  void addSoftBody(const SoftBody& soft);
  /// The two bodies, soft ones too, never touch.
  void excludePair(std::string_view body1, std::string_view body2);
  /// The two shapes touch whatever filters say.
  void addShapePair(const ShapePairRule& rule);
  void addSite(const Site& site);
  void addTendon(const Tendon& tendon);
  void addActuator(const Actuator& actuator);
  void addEquality(const Equality& equality);
  void addSensor(const Sensor& sensor);
  void addKeyframe(const Keyframe& keyframe);
  void addSchedule(const ControlSchedule& schedule);
  void addStartPosition(const StartPosition& start);

  /// Throws InvalidInput when a material or body that is referred to does not exist.
  [[nodiscard]] Model build() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tangere
