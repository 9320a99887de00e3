// SPDX-License-Identifier: Apache-2.0
//
// Steps a model through time. step() never throws and never hangs: what went wrong is in the
// report, with the name of the body or pair.
#pragma once

#include <tangere/integrator.hpp>
#include <tangere/model.hpp>
#include <tangere/state.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tangere {

class ContactHandler;
struct HandlerForce;

/// What happened in a step, as bits.
enum class StepStatus : std::uint32_t {
  Ok = 0,
  SolverNotConverged = 1u << 0,  ///< An island was left with over 1 % of what gravity adds.
  StateNotFinite = 1u << 1,  ///< NaN, Inf, or faster than 1e20 m/s or rad/s: the state is the one
                             ///< before this step; contacts may have lost their memory.
  EnergyInjected = 1u << 2,  ///< Contacts did positive work beyond rounding; of the event solver:
                             ///< will do, bodies overlap at the start.
  QueryNotConverged = 1u << 3,  ///< A collision query used its best answer.
  ImpactsCut = 1u << 4,         ///< More impacts than maxImpactsPerStep: the rest were inelastic.
  HandlerRefused = 1u << 5,     ///< A contact handler gave rows that cannot be: they were left out.
  ElementsInverted = 1u << 6,   ///< Tetrahedra of a soft body are inside out; they push back.
  StepDivided = 1u << 7,        ///< Taken in parts: it failed whole, or would have led past a thin
                                ///< body.
  IntegratorFailed = 1u << 8,   ///< The event solver could go no further: the state is that before
                                ///< this step.
  TooManyContacts = 1u << 9,    ///< More than options().limits: the state is that before this step.
  MayHaveCrossed = 1u << 10,  ///< Bodies that press on each other would have passed each other, in
                              ///< however many parts: the state is that before this step.
  Interrupted = 1u << 11,     ///< setInterrupt() said so: the state is that before this step.
  OverlapNotResolved = 1u << 12,  ///< Jointed bodies overlap deeply and nothing parts them: where
                                  ///< joints give no way to, they do not push either.
  TooMuchWork = 1u << 13,    ///< More than EventOptions::maxSteps or maxMemory: the state is that
                             ///< before this step.
  EnergyRefused = 1u << 14,  ///< A soft body would have gained energy, with EnergyInjected: the
                             ///< state is that before this step.
};
[[nodiscard]] constexpr StepStatus operator|(StepStatus a, StepStatus b) {
  return static_cast<StepStatus>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
[[nodiscard]] constexpr bool has(StepStatus status, StepStatus bit) {
  return (static_cast<std::uint32_t>(status) & static_cast<std::uint32_t>(bit)) != 0;
}
/// Whether the step was not taken: the state is the one before it.
[[nodiscard]] constexpr bool isRefused(StepStatus status) {
  return has(status, StepStatus::StateNotFinite | StepStatus::IntegratorFailed |
                         StepStatus::TooManyContacts | StepStatus::MayHaveCrossed |
                         StepStatus::Interrupted | StepStatus::TooMuchWork |
                         StepStatus::EnergyRefused);
}
/// "SolverNotConverged" and so on, for one bit.
[[nodiscard]] std::string_view stepStatusName(StepStatus bit);

/// Where the energy of a step went [J]. The rows add up: what is left is `residual`, rounding.
///   kinetic + potential = before + external + damping + contactNormal + contactFriction
///                         + kinematic + constraint + correction + integration + gyroscopic
///                         + residual
struct EnergyLedger {
  Real kinetic = 0;    ///< at the end
  Real potential = 0;  ///< at the end; zero at the world's origin; elastic energy included
  Real external = 0;   ///< work of applied forces and drives
  Real damping = 0;    ///< of damping and dry friction of joints and tendons, and of falling asleep
  Real contactNormal = 0;    ///< work of normal impulses, impacts included
  Real contactFriction = 0;  ///< negative: heat
  Real kinematic = 0;        ///< work of kinematic bodies on those they touch
  Real constraint = 0;       ///< work of joint limits and equalities
  Real correction = 0;       ///< potential energy given by moving bodies out of each other; of the
                             ///< event solver: what overlaps held at the start
  Real integration = 0;      ///< potential energy of x += dt v against the mean velocity
  Real gyroscopic = 0;       ///< of turning the inertia; rounding for free bodies
  Real residual = 0;
};

/// One contact point of the last step. The force is that of this step, in newtons.
struct ContactForce {
  int body1 = -1, body2 = -1;
  int shape1 = -1, shape2 = -1;
  std::uint64_t id = 0;  ///< the same for as long as the point lives
  Vec3 position{};       ///< world
  Vec3 normal{};         ///< from body 2 to body 1
  Real depth = 0;        ///< > 0: overlap, at the start of the step or at a landing within it [m]
  Vec3 force{};          ///< on body 1; body 2 feels the opposite [N]
  Vec3 torque{};         ///< torsional and rolling, on body 1 [N m]
  Real normalWork = 0, frictionWork = 0;  ///< [J]
};

/// One side of a pressure contact: a shape of a body, or a soft body.
struct PressureSide {
  int body = -1, shape = -1;  ///< -1: a soft body
  int soft = -1;              ///< -1: a shape
  int element = -1;           ///< tetrahedron or triangle; -1: a half space
};

/// A piece of the surface at which two bodies press on each other with equal pressure.
struct PressurePolygon {
  static constexpr int kMaxVertices = 8;
  PressureSide side1{}, side2{};
  int numVertices = 0;                         ///< 1: a vertex on a plane (PlaneContact::Vertices)
  std::array<Vec3, kMaxVertices> vertices{};   ///< world, counter-clockwise about the normal
  std::array<Real, kMaxVertices> pressures{};  ///< at the start of the step [Pa]
  Vec3 centroid{};
  Vec3 normal{};                          ///< from side 2 to side 1
  Real area = 0;                          ///< [m^2]
  Real pressure = 0;                      ///< at the centroid, at the start of the step [Pa]
  Vec3 force{};                           ///< on side 1, this step's; side 2 feels the opposite [N]
  Real normalWork = 0, frictionWork = 0;  ///< [J]
  /// Not in touch when the step began, so that its pressures are zero: it lies where the bodies
  /// would be after the step.
  bool isForeseen = false;
};

/// Where a vertex of a soft body is driven to.
struct VertexTarget {
  int soft = -1, vertex = -1;
  Vec3 target{};
};

struct StepReport {
  StepStatus status = StepStatus::Ok;
  int numContacts = 0;          ///< points
  int numPressurePolygons = 0;  ///< of pressure contacts
  int numIslands = 0;
  int iterations = 0;  ///< largest over the islands
  int numImpacts = 0;
  Real residual = 0;  ///< largest velocity error left by the solver [m/s]
  Real maxDepth = 0;  ///< [m]
  /// SAP: the velocities are no farther than this from those that solve the step exactly, for
  /// certain, measured by their kinetic energy: sqrt((v - v_exact)^T M (v - v_exact)) [sqrt(J)].
  Real errorBound = 0;
  /// SAP: times that the bounds of friction were set anew, and what is left between them and mu
  /// times the normal impulses, as a part of the impulses (SapOptions::frictionTolerance).
  int frictionUpdates = 0;
  Real frictionResidual = 0;
  /// Pressure contacts of rigid bodies act at a few points of each patch: what these miss of the
  /// force and the moment of its polygons, as a part of the force. The largest of all patches.
  Real patchError = 0;
  /// Whom the status is about: a body, or two bodies in contact; -1: nobody.
  int body1 = -1, body2 = -1;
  int soft = -1, soft2 = -1;  ///< the same for soft bodies
  int numInverted = 0;        ///< tetrahedra inside out, at the start of the step
  int linearIterations = 0;   ///< of conjugate gradients, all islands together
  /// TooManyContacts: of which kind, how many may be and how many there are.
  ContactKind contactKind = ContactKind::Points;
  int contactLimit = 0, contactsNeeded = 0;
  bool isLimitOfAll = false;  ///< they are of all kinds together, most of them of that kind
  /// TooMuchWork: the memory that a part of the step asked for; 0: it was the number of steps of
  /// the integrator [bytes].
  Real memoryNeeded = 0;
};

/// "step 12: SolverNotConverged between 'a' and 'b'": for people. Empty for Ok.
[[nodiscard]] std::string describe(const StepReport& report, const Model& model,
                                   std::uint64_t step);

struct BodyState {
  Transform pose{};  ///< X_WB
  Quat orientation{};
  Vec3 linearVelocity{};  ///< of the body's origin, world
  Vec3 angularVelocity{};
};

/// Time of one phase of the step, in the order in which phases run.
struct PhaseTime {
  std::string_view name;
  Real total_s = 0;           ///< since profiling was switched on
  Real last_s = 0;            ///< of the last step
  std::string_view parent{};  ///< the phase it is a part of; empty: it is none. Parts come after it
};

/// Throws InvalidInput for a model that a Simulator refuses: a joint that moves nothing with a
/// mass, a mass matrix that is not positive definite, what the event solver does not take.
void requireSimulatable(const Model& model);

class Simulator {
 public:
  explicit Simulator(Model model, int numThreads = 1);
  ~Simulator();
  Simulator(Simulator&&) noexcept;
  Simulator& operator=(Simulator&&) noexcept;

  [[nodiscard]] const Model& model() const;

  /// One step of options().dt. Applied forces are used up.
  const StepReport& step();
  /// Up to `count` steps; stops early when the state would not be finite.
  const StepReport& step(int count);
  /// Steps until the time is at least `time` [s]; the event solver stops exactly there.
  const StepReport& advanceTo(Real time);
  /// Of the last step, also after the state was changed from outside.
  [[nodiscard]] const StepReport& report() const;
  /// Of the last step. Before the first one and after the state was changed from outside: the
  /// kinetic and potential energy of the state as it is, and no work.
  [[nodiscard]] const EnergyLedger& energy() const;
  /// Summed since construction or setState().
  [[nodiscard]] const EnergyLedger& energySum() const;
  /// In order of pairs; valid until the next step. Those of the last step: none before the first
  /// one, and after setState(), reset(), setPose() or setPositions(), whose state no step has seen.
  /// The event solver's are those of the state as it is.
  [[nodiscard]] std::span<const ContactForce> contacts() const;

  /// A step that takes long (the event solver's may) ends within a second after `flag` becomes
  /// true, from another thread or a signal handler, and has not been taken. As long as it is true
  /// no contacts are found for contacts() of a state that no step has led to. The flag must outlive
  /// the simulator or the next call; null: none.
  void setInterrupt(const std::atomic<bool>* flag);

  /// Off by default. Times are for people: they never reach a result.
  void setProfiling(bool isOn);
  [[nodiscard]] std::span<const PhaseTime> profile() const;

  [[nodiscard]] const State& state() const;
  /// Throws InvalidInput when the sizes do not fit the model or a number is not finite.
  void setState(const State& state);
  void reset();

  [[nodiscard]] BodyState body(int index) const;
  /// By name; throws InvalidInput with near names.
  [[nodiscard]] BodyState body(std::string_view name) const;
  /// Throw InvalidInput on numbers that are not finite; wake the body.
  void setPose(int body, const Transform& pose);
  void setVelocity(int body, const Vec3& linear, const Vec3& angular);
  /// At the centre of mass, world, for the next step only.
  void applyForce(int body, const Vec3& force, const Vec3& torque = {});

  // Robots (the SAP solver). Coordinates are in the order of Model::joint().
  /// Throw InvalidInput when the sizes do not fit or a number is not finite; quaternions are made
  /// unit. Soft bodies go along with what they are attached to.
  void setPositions(std::span<const Real> q);
  void setVelocities(std::span<const Real> v);
  /// What an actuator is told; stays until it is changed.
  void setControl(int actuator, Real value);
  void setControls(std::span<const Real> values);
  [[nodiscard]] std::span<const Real> controls() const;
  /// On each velocity, for the next step only [N, N m].
  void applyJointForces(std::span<const Real> force);
  /// Of each actuator in the last step [N, N m]; zero before the first one and after setState(),
  /// reset(), setPose() or setPositions(). The event solver's are those of the state as it is.
  [[nodiscard]] std::span<const Real> actuatorForces() const;
  /// Readings of all sensors; those of one start at Model::startOfSensor(). Positions and
  /// velocities are those of the state, forces and accelerations means over the last step (zero
  /// before the first one and where contacts() has none for the same reason). Made on request; good
  /// until the next change.
  [[nodiscard]] std::span<const Real> sensors() const;

  /// Constraints of your own (contact_handler.hpp); returns its index. A handler belongs to one
  /// simulator. Throws InvalidInput for another solver than SAP.
  int addContactHandler(std::shared_ptr<ContactHandler> handler);
  [[nodiscard]] int numContactHandlers() const;
  /// What the constraints of a handler did in the last step, in its order; good until the next
  /// call.
  [[nodiscard]] std::span<const HandlerForce> handlerForces(int handler) const;
  /// Positions, velocities, activations, controls and time of a keyframe of the model.
  void resetToKeyframe(int keyframe);

  // Soft bodies, by their index in the Model.
  [[nodiscard]] std::span<const Vec3> softPositions(int soft) const;
  [[nodiscard]] std::span<const Vec3> softVelocities(int soft) const;
  /// Throw InvalidInput when the sizes do not fit or a number is not finite.
  void setSoftPositions(int soft, std::span<const Vec3> positions);
  void setSoftVelocities(int soft, std::span<const Vec3> velocities);
  /// The vertex goes to `target` within each step, whatever pulls; until it is released.
  void driveVertex(int soft, int vertex, const Vec3& target);
  void releaseVertex(int soft, int vertex);
  /// All that are driven, by soft body and vertex.
  [[nodiscard]] std::vector<VertexTarget> vertexTargets() const;
  /// On one vertex, world, for the next step only [N].
  void applySoftForce(int soft, int vertex, const Vec3& force);
  /// Cauchy stress of each tetrahedron as it is now [Pa].
  [[nodiscard]] std::vector<Mat3> softStress(int soft) const;
  /// Polygons of the pressure contacts of the last step; valid until the next one.
  [[nodiscard]] std::span<const PressurePolygon> pressureContacts() const;

  // The event solver; all empty for the others.
  /// What happened within the last step (or advanceTo()), in order of time.
  [[nodiscard]] std::span<const EventRecord> events() const;
  /// Contacts as they are now, with their rates; seen from a body, or the world (-1).
  [[nodiscard]] std::vector<ContactResult> contactResults(int frameBody = -1) const;
  /// Since construction or setState().
  [[nodiscard]] const EventStatistics& eventStatistics() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tangere
