// SPDX-License-Identifier: Apache-2.0
//
// What drives and couples the joints of a model, as forces that depend on position and velocity:
// actuators and their activations, tendons, limits, dry friction, and equalities as multipliers.
//
// What holds: vectors are in tree order (ModelData::dofs), velocities in the axes of the State.
// Limits are springs of the period of resting contacts, critically damped; they act while
// `isLimitActive`, which only events change. Equalities hold at the level of accelerations, and
// what is left of an error decays within milliseconds.
#pragma once

#include "dynamics/tree_dynamics.hpp"
#include "model/workspace.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tangere::integrator {

class EventState;

/// Entries of a row over the velocities, in tree order.
struct SparseRow {
  std::vector<int> dof;
  std::vector<Real> entry;
  void clear() {
    dof.clear();
    entry.clear();
  }
  void add(int k, Real value) {
    dof.push_back(k);
    entry.push_back(value);
  }
};

/// One side of a joint or tendon that goes only so far.
struct MotionLimit {
  int joint = -1;   ///< ModelData::treeJoints; -1: a tendon
  int tendon = -1;  ///< ModelData::tendons
  bool isUpper = false;
  Real bound = 0;
};

/// A scalar force along a row, and how it changes.
struct StiffForce {
  Real force = 0, byPosition = 0, byVelocity = 0;
};

/// Work per time [W].
struct DrivePowers {
  Real external = 0, damping = 0, constraint = 0;
};

class EventDrives {
 public:
  EventDrives(const model::ModelData& model, const model::Control& control);

  /// Nothing drives or couples anything.
  [[nodiscard]] bool isEmpty() const { return is_empty_; }
  [[nodiscard]] bool hasEqualities() const { return num_rows_ > 0; }

  /// Once, at the motion of the state: what slips where friction is dry.
  void measureMobility(EventState& state);
  /// Tendons at the motion of the state; first of all.
  void measure(const EventState& state);
  /// tau += actuators, springs and damping of tendons.
  void addSmoothForces(Real t, const EventState& state, const Real* activation, Real* tau,
                       DrivePowers* powers);
  /// tau += limits that are active, and dry friction.
  void addStiffForces(const EventState& state, Real* tau, DrivePowers* powers);
  void activationRates(Real t, const Real* activation, Real* rate) const;
  /// Of each activation: what an implicit step divides by, less one, over gamma.
  [[nodiscard]] std::span<const Real> activationDecay() const { return decay_; }

  /// Dry friction is as steep as that of contacts.
  struct DryFriction {
    int dof = 0;  ///< -1: of a tendon
    int tendon = -1;
    Real size = 0;
    Real mobility = 0;  ///< at the start of the model
  };
  [[nodiscard]] std::span<const DryFriction> dryFrictions() const { return dry_; }
  [[nodiscard]] Real slipOf(const DryFriction& dry, const EventState& state) const;
  [[nodiscard]] StiffForce dryForce(const DryFriction& dry, Real slip) const;
  /// About what slips there [1/kg, 1/(kg m^2)].
  [[nodiscard]] Real mobilityOf(const DryFriction& dry) const { return dry.mobility; }
  /// The row of a dry friction or limit, at the motion that was measured.
  void rowOf(const DryFriction& dry, SparseRow* row) const;
  void rowOf(std::size_t limit, const EventState& state, SparseRow* row) const;

  // Limits.
  [[nodiscard]] Real gapOf(std::size_t limit, const EventState& state) const;
  [[nodiscard]] StiffForce limitForce(std::size_t limit, Real gap, Real rate) const;
  std::vector<MotionLimit> limits;
  std::vector<std::uint8_t> isLimitActive;
  std::vector<Real> limitMass;  ///< when it became active [kg, kg m^2]

  /// Rows of the equalities at the motion of the state; masses are factored.
  void prepareEqualities(EventState& state);
  /// The acceleration M^-1 tau becomes one that the equalities allow.
  void constrain(const EventState& state, Real* acceleration, DrivePowers* powers);
  /// Removes from M^-1 f what the equalities do not allow.
  void project(Real* x);
  /// Largest error [m, rad], of the last prepareEqualities().
  [[nodiscard]] Real equalityError() const;

  /// The first time after t at which a schedule has a kink.
  [[nodiscard]] Real nextKink(Real t) const;
  [[nodiscard]] std::span<const Real> actuatorForces() const { return actuator_force_; }
  /// Of all actuators on each velocity, in tree order.
  [[nodiscard]] std::span<const Real> actuatorTau() const { return actuator_tau_; }
  /// Pairs of trees that are coupled by something else than contacts.
  [[nodiscard]] std::span<const std::pair<int, int>> coupledTrees() const { return coupled_; }

 private:
  [[nodiscard]] Real inputOf(std::size_t actuator, Real t, const Real* activation) const;
  [[nodiscard]] Real controlOf(std::size_t actuator, Real t) const;
  [[nodiscard]] Real measureActuator(std::size_t actuator, const EventState& state, Real* rate);
  [[nodiscard]] Vec3 sitePosition(const EventState& state, int site) const;
  void addBodyRow(const EventState& state, int body, const Vec3& p, const Vec3& direction,
                  const Vec3& axis, Real weight, SparseRow* row) const;
  [[nodiscard]] Real rateOf(const SparseRow& row, const EventState& state) const;
  [[nodiscard]] int dofOfJoint(int joint) const;
  void listLimits();
  void listCouplings();
  void addEquality(EventState& state, const model::ModelEquality& equality, int* row);
  void setRow(int row, const SparseRow& entries, Real error, Real rate, Real bias);
  void solveMultipliers(const Real* right);

  const model::ModelData& model_;
  const model::Control& control_;
  bool is_empty_ = true;
  Real frequency_ = 0;   // of limits [rad/s]
  Real slip_speed_ = 0;  // of dry friction
  std::vector<int> schedule_of_;
  std::vector<Real> decay_;
  std::vector<Real> tendon_length_, tendon_rate_, tendon_bias_, tendon_start_;
  std::vector<SparseRow> tendon_row_;
  std::vector<Real> actuator_force_, actuator_tau_;
  std::vector<DryFriction> dry_;
  SparseRow row_;
  std::vector<std::pair<int, int>> coupled_;
  int num_rows_ = 0;                     // of equalities
  std::vector<Real> jacobian_, solved_;  // num_rows_ x n: J, M^-1 J^T
  std::vector<Real> error_, rate_, bias_, factor_, right_;
  std::vector<int> order_;  // rows in the order of the pivots
  int rank_ = 0;
};

}  // namespace tangere::integrator
