// SPDX-License-Identifier: Apache-2.0
//
// The bodies of a model as an ordinary differential equation: y = (q, v, activations), in the order
// of the State, but with the angular velocities of free bodies in world axes: a body that rolls
// then has constant coordinates, and a Jacobian that does not turn with it. Forces of contacts are
// those of the entries of contactDict, which only events change.
//
// What holds: nothing here allocates once a contact has been seen, and nothing throws. Velocities
// "in tree order" follow ModelData::dofs.
#pragma once

#include <tangere/integrator.hpp>

#include "dynamics/tree_dynamics.hpp"
#include "integrator/contact_response.hpp"
#include "integrator/event_distance.hpp"
#include "integrator/event_drives.hpp"
#include "integrator/work_budget.hpp"
#include "model/workspace.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace tangere::integrator {

/// Key of contactDict: of two shapes, shape1 < shape2.
[[nodiscard]] constexpr std::uint64_t pairId(int shape1, int shape2) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(shape1)) << 32) |
         static_cast<std::uint32_t>(shape2);
}

/// What a pair in contact does to each other: sums over its points, and of the deepest one where it
/// is. Also their integrals.
struct ContactLoad {
  Vec3 force{};             ///< on 1 [N]
  Vec3 moment{};            ///< of forces and torques on 1 about the world's origin [N m]
  Real normalForce = 0;     ///< [N]
  Vec3 center{}, normal{};  ///< positions and normals times normal forces
  Vec3 position{}, axis{};  ///< of the deepest: its normal
  Real depth = 0;           ///< [m]

  void addPoint(const Vec3& p_W, const Vec3& n_W, const PointForce& f) {
    force += f.force;
    moment += cross(p_W, f.force) + f.torque;
    normalForce += f.normalForce;
    center += p_W * f.normalForce;
    normal += n_W * f.normalForce;
  }
  void add(const ContactLoad& other, Real scale) {
    force += other.force * scale;
    moment += other.moment * scale;
    normalForce += other.normalForce * scale;
    center += other.center * scale;
    normal += other.normal * scale;
  }
};

/// A point of a pair that touches: contacts of flat shapes begin point by point, each with its own
/// speed. It is known by its features; where these change (a corner that passes an edge) by its
/// place in one of the two shapes.
struct TouchingPoint {
  std::int32_t feature1 = -1, feature2 = -1;
  Vec3 p_1{}, p_2{};       ///< in the frames of the shapes
  Real approachSpeed = 0;  ///< when it began [m/s]
  /// How its law dissipates: as ContactLaw has them.
  Real damping = 0, hysteresis = 0, hysteresisSpeed = 0;

  void takeDamping(const ContactLaw& law) {
    damping = law.damping;
    hysteresis = law.hysteresis;
    hysteresisSpeed = law.hysteresisSpeed;
  }
  void giveDamping(ContactLaw* law) const {
    law->damping = damping;
    law->hysteresis = hysteresis;
    law->hysteresisSpeed = hysteresisSpeed;
  }
};

/// An entry of contactDict: a pair that touches, until an event says otherwise.
struct EventContact {
  std::uint64_t id = 0;
  int shape1 = 0, shape2 = 0;
  int body1 = 0, body2 = 0;
  int link1 = -1, link2 = -1;  ///< -1: not moved by forces
  ContactLaw law{};
  Real approachSpeed = 0;  ///< when it began [m/s]
  Real effectiveMass = 0;  ///< of the heavier side, along the normal when it began [kg]
  Real mobility = 0;       ///< along the tangents when it began; 0: nothing slides there [1/kg]
  Real overlap = 0;        ///< how deep it was at the start, where that was too deep [m]
  Real size = 0;           ///< smallerSize() [m]
  /// Its points begin each for itself: those that do not touch carry nothing. Of laws for which it
  /// matters how fast a contact begins.
  bool hasPoints = false;
  std::vector<TouchingPoint> touching{};  ///< of hasPoints
  bool wasHit = false;                    ///< by an impact, at the event that is being handled
  bool isNear = false;    ///< apart by rounding: here only for the impacts of this event
  bool isPulled = false;  ///< its force has vanished though it is deep: z[3] waits for its return
  // The signal of z[1] and how fast it grows: of the last evaluation, at the start of the step.
  Real signal = 0, signalRate = 0;
  Real startSignal = 0, startRate = 0;
  ContactLoad load{};  ///< of the last evaluation of root functions
  PairCache hint{};
  std::vector<collision::ContactPolygon> polygons{};  ///< of a foundation
};

/// A point of a contact at an instant.
struct ContactSample {
  EventPoint point{};
  PointMotion motion{};
  PointForce force{};
};

/// Rows of the energy ledger that are integrated.
enum class PowerRow : std::uint8_t {
  ContactNormal,
  ContactFriction,
  External,
  Damping,
  Kinematic,
  Constraint,
};
inline constexpr int kNumPowerRows = 6;
/// Of a model without damping, drives and bodies that are told to move: the first ones.
inline constexpr int kNumPlainRows = 3;
using Powers = std::array<Real, kNumPowerRows>;
inline Real& row(Powers& powers, PowerRow which) { return powers[static_cast<std::size_t>(which)]; }

class EventState {
 public:
  EventState(const model::ModelData& model, const model::Control& control);

  [[nodiscard]] int size() const { return num_q_ + num_v_ + num_activations_; }
  [[nodiscard]] int numPositions() const { return num_q_; }
  [[nodiscard]] int numVelocities() const { return num_v_; }

  /// Bodies that move as told are where the State says at its time.
  void setOrigin(const State& state);
  /// Time passes; y is where it was.
  void writeTo(const Real* y, State& state);
  void readFrom(const State& state, Real* y) const;
  void normalize(Real* y) const;

  /// Poses, and with them velocities, of all bodies at y.
  void setPositions(Real t, const Real* y);
  void setMotion(Real t, const Real* y);
  /// Of one tree alone.
  void setTreeMotion(int tree, const Real* y);
  /// Until useAllTrees(): motion and accelerations of these trees alone.
  void useTrees(std::span<const int> which) {
    forgetMotion();
    used_.assign(which.begin(), which.end());
  }
  void useAllTrees();

  /// False: not finite, or the budget is spent.
  [[nodiscard]] bool derivative(Real t, const Real* y, Real* yDot);
  /// Rates of the velocities in tree order (angular ones of free bodies in body axes), right after
  /// derivative().
  [[nodiscard]] std::span<const Real> accelerations() const {
    return {scratch_.data(), trees_.dofs.size()};
  }
  /// Of the last derivative().
  [[nodiscard]] const Powers& powers() const { return powers_; }
  void setPowers(const Powers& powers) { powers_ = powers; }
  /// Those that may change.
  [[nodiscard]] int numPowerRows() const {
    const bool isPlain = !has_damping_ && drives_.isEmpty() && told_.empty();
    return isPlain ? kNumPlainRows : kNumPowerRows;
  }
  /// tau (in tree order) += forces of the contacts, at the motion that was set.
  void addContactForces(Real* tau);

  // After setMotion().
  /// Good until the next motion.
  [[nodiscard]] const Transform& shapePose(int shape) const;
  [[nodiscard]] const Transform& bodyPose(int body) const;
  [[nodiscard]] Vec3 pointVelocity(int body, const Vec3& p_W) const;
  [[nodiscard]] Vec3 angularVelocity(int body) const;
  // The same with -1 for the world, and accelerations when no velocity changes.
  [[nodiscard]] Vec3 velocityAt(int body, const Vec3& p_W) const {
    return body < 0 ? Vec3{} : pointVelocity(body, p_W);
  }
  [[nodiscard]] Vec3 spinOf(int body) const { return body < 0 ? Vec3{} : angularVelocity(body); }
  [[nodiscard]] Vec3 biasAccelerationAt(int body, const Vec3& p_W) const;
  [[nodiscard]] Vec3 biasSpinOf(int body) const;
  /// Of a tendon at the start of the model.
  [[nodiscard]] Real startLengthOf(int tendon) const;
  /// Signed distance of a pair less nothing: distanceOrg, and its points.
  void locate(EventContact& contact, PairDistance* out, Real* eps);
  /// Whether a point of a contact that was located carries force.
  [[nodiscard]] bool isPressed(const EventContact& contact, const EventPoint& point,
                               Real eps) const {
    return forceDistance(point.distance, eps) < 0 && (!contact.hasPoints || point.touching >= 0);
  }
  /// With the damping of this point.
  [[nodiscard]] static ContactLaw lawAt(const EventContact& contact, const EventPoint& point);
  /// Force of one point of a contact.
  [[nodiscard]] ContactSample sample(const EventContact& contact, const EventPoint& point,
                                     Real eps) const;
  /// Force and place of a contact whose points were located; `deepest`: points[0].
  void measureLoad(const PairDistance& at, Real eps, const ContactSample& deepest,
                   EventContact* contact) const;
  /// PointForce::tensionSignal of a contact whose points were located: that of the point that
  /// pushes most, since points have damping of their own; `deepest`: points[0].
  [[nodiscard]] Real tensionOf(const EventContact& contact, const PairDistance& at, Real eps,
                               const ContactSample& deepest) const;
  /// Of a contact whose law is a foundation.
  [[nodiscard]] FoundationForce foundation(EventContact& contact) const;
  [[nodiscard]] ContactSample sampleOf(const EventContact& contact,
                                       const FoundationForce& force) const;
  /// n^T J M^-1 J^T n at a point of two bodies [1/kg]; factors the masses.
  [[nodiscard]] Real mobility(const EventContact& contact, const Vec3& p_W, const Vec3& direction);
  /// n^T of the relative acceleration of two bodies at a point, when velocities change by yDot and
  /// nothing turns [m/s^2].
  [[nodiscard]] Real accelerationAlong(const EventContact& contact, const Vec3& p_W,
                                       const Vec3& direction, const Real* yDot);
  /// How fast friction grows with the slip at each point that carries force [N s/m], of the last
  /// addContactForces(); and what slips there [1/kg].
  struct FrictionSlope {
    Real slope = 0, mobility = 0;
    Vec3 slip{};             ///< [m/s]
    bool isSliding = false;  ///< with full friction
    int contact = -1;        ///< into contacts, of a point that has a force of its own
    Vec3 position{};
  };
  [[nodiscard]] std::span<const FrictionSlope> frictionSlopes() const { return slopes_; }
  /// Shift from distanceOrg to the distance that forces are made of, by the policy.
  [[nodiscard]] Real forceDistance(Real distanceOrg, Real eps) const {
    return is_penetrating_ ? distanceOrg + eps : distanceOrg - eps;
  }
  [[nodiscard]] bool isPenetrating() const { return is_penetrating_; }

  /// tau (in tree order) += J^T of force and torque on a link.
  void addWrench(int link, const Vec3& p_W, const Vec3& force, const Vec3& torque, Real* tau);
  /// Accelerations of smooth forces and of `frozen` (in tree order), of the motion that was set.
  void smoothAccelerations(Real t, const Real* y, const Real* frozen, Real* acceleration);
  void factorMasses();
  /// x = M^-1 x in tree order, tree by tree.
  void applyTreeInverses(Real* x);
  /// x = K x in tree order: M^-1, or what equalities leave of it.
  void applyInverseMass(Real* x);

  std::vector<EventContact> contacts;  ///< contactDict, sorted by id

  [[nodiscard]] const model::ModelData& model() const { return model_; }
  /// Of the advance() that is under way; all that belongs to this State shares it.
  [[nodiscard]] WorkBudget& budget() { return budget_; }
  [[nodiscard]] dynamics::TreeWorkspace& trees() { return trees_; }
  [[nodiscard]] const dynamics::TreeWorkspace& trees() const { return trees_; }
  /// Where velocities of free joints turn: their first angular one in v and in tree order, and the
  /// body.
  struct FreeTurn {
    int q = 0, v = 0, dof = 0, tree = 0;
  };
  [[nodiscard]] std::span<const FreeTurn> freeTurns() const { return free_turns_; }
  /// R_WB of a free turn, of the last setPositions().
  [[nodiscard]] Mat3 rotationOf(const FreeTurn& turn) const;
  /// Velocities of y += x in tree order (body axes).
  void addVelocities(const Real* x, Real* y) const;
  /// Poses and velocities were changed otherwise than by the functions above.
  void forgetMotion() {
    has_positions_ = has_velocities_ = false;
    ++num_motions_;
  }
  /// y with unit quaternions, of the last setPositions().
  [[nodiscard]] std::span<const Real> positions() const { return {q_.data(), q_.size()}; }
  [[nodiscard]] const model::Control& control() const { return control_; }
  [[nodiscard]] EventDrives& drives() { return drives_; }
  [[nodiscard]] const EventDrives& drives() const { return drives_; }
  /// Trees whose mass matrix never changes.
  [[nodiscard]] bool hasConstantMass(int tree) const { return is_mass_constant_[tree]; }
  [[nodiscard]] bool hasAppliedForce() const { return has_applied_; }
  /// Looks at the control again.
  void readControl();

 private:
  struct ToldMotion {
    int body = 0;
    Vec3 center{};
    Quat orientation{};
    Vec3 velocity{}, angularVelocity{};
  };
  /// One joint of the coordinates.
  struct Coordinate {
    JointType type = JointType::Revolute;
    int q = 0, v = 0;
  };

  /// Trees that need no recursion: a body that slides along fixed lines (nothing changes but its
  /// place), and a free body about its centre.
  enum class TreeKind : std::uint8_t { General, Slider, FreeBody };
  [[nodiscard]] static TreeKind kindOf(const model::ModelData& model, const model::Tree& tree);
  void placeTree(int tree);
  void moveTree(int tree);
  void subtractBias(int tree, Real* force);
  void applyTreeInverse(int tree, Real* x);

  void addPower(const EventContact& contact, const ContactSample& sample);
  void addAppliedForces(Real* tau);
  [[nodiscard]] Real dampingPower();
  void addDrivePowers(const DrivePowers& powers);

  const model::ModelData& model_;
  const model::Control& control_;
  WorkBudget budget_;
  dynamics::TreeWorkspace trees_;
  EventDrives drives_;
  int num_q_ = 0, num_v_ = 0, num_activations_ = 0;
  bool is_penetrating_ = true;
  bool has_quaternions_ = false;
  bool has_applied_ = false;
  bool has_damping_ = false;
  std::vector<Coordinate> coordinates_;
  std::vector<int> quaternions_;  // where they start in q
  std::vector<int> used_;         // trees
  std::vector<FreeTurn> free_turns_;
  std::vector<Real> v_;  // with body axes, of the last setMotion()
  std::vector<std::uint8_t> is_mass_constant_, is_mass_known_;
  std::vector<TreeKind> tree_kind_;
  std::vector<std::uint8_t> is_tree_placed_,
      is_passive_;  // by the kernels once; no spring, damping
  std::vector<Real> bias_;
  // Poses of shapes that are not those of their bodies, and when they were computed.
  std::uint64_t num_motions_ = 1, num_origins_ = 1;
  std::vector<std::uint8_t> is_shape_at_body_;
  mutable std::vector<Transform> shape_pose_;
  mutable std::vector<std::uint64_t> shape_pose_time_;
  // What the trees show, so that nothing is computed twice.
  bool has_positions_ = false, has_velocities_ = false;
  Real shown_time_ = 0;
  std::vector<Real> q_;
  std::vector<Real> tau_;
  std::vector<Real> shown_;
  std::vector<Transform> told_pose_;  // of each body; of those that links do not move
  std::vector<ToldMotion> told_;      // kinematic bodies
  Real told_time_ = 0;
  std::vector<dynamics::LinkWrench> wrenches_;
  std::vector<Real> scratch_;
  PairDistance distance_;
  std::vector<FrictionSlope> slopes_;
  Powers powers_{};
};

}  // namespace tangere::integrator
