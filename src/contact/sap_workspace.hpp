// SPDX-License-Identifier: Apache-2.0
//
// What the phases of a SAP step hand to each other, besides the Workspace. Rebuilt from the Model
// and the State in every step; the vectors keep their memory.
#pragma once

#include <tangere/contact_handler.hpp>

#include "contact/pressure_workspace.hpp"
#include "dynamics/tree_dynamics.hpp"
#include "dynamics/tree_kinematics.hpp"
#include "model/workspace.hpp"
#include "solver/sap_problem.hpp"
#include "solver/sap_solver.hpp"

#include <memory>
#include <vector>

namespace tangere::contact {

/// A row over the velocities of at most two cliques.
struct CliqueRow {
  int clique1 = -1, clique2 = -1;
  std::vector<Real> row1, row2;
  Real bias = 0;  ///< what bodies that are driven along add
};

/// See joint_step.hpp.
struct StepWeights {
  Real lead = 1, stiffness = 1, damping = 1;
};

/// Where an actuator stands: its force falls from force0 by forceChange() to that of the new rate,
/// within the limits.
struct DriveState {
  Real input = 0;   ///< control or activation, clamped
  Real length = 0;  ///< at the start of the step
  Real rate = 0;    ///< at the start
  Real kp = 0, kd = 0;
  Real force0 = 0;  ///< at the start, not limited
  Real lowerForce = -kUnlimited, upperForce = kUnlimited;
  bool isInMatrix = false;    ///< part of A and of the free motion
  int constraint = -1;        ///< its row in the problem otherwise; -1: it moves nothing
  int clique = -1, dof = -1;  ///< the one velocity it acts on; -1: its row says
  Real gear = 1;
  Real force = 0;  ///< of the step: mean over it
};

struct TendonState {
  Real length = 0;
  Real startLength = 0;      ///< at the start of the model
  Real rate = 0;             ///< at the start of the step
  Real biasRate = 0;         ///< how the rate changes when no velocity does: J-dot v [m/s^2]
  Real springForce = 0;      ///< at the start of the step [N]
  Real springStiffness = 0;  ///< in the step: none where it is slack [N/m]
  StepWeights weights;       ///< of spring and damping
  CliqueRow row;             ///< d length / d v
};

/// What a row that is neither contact nor drive belongs to.
struct RowOwner {
  enum class Kind : std::uint8_t {
    Limit,
    Friction,
    Equality,
    TendonLimit,
    TendonFriction,
    TendonSpring,
    TendonArmature,
  };
  Kind kind = Kind::Limit;
  int index = 0;  ///< joint, equality or tendon
  int constraint = 0;
  Real sign = 1;  ///< of a tendon: the row is this times what changes its length
};

/// A constraint of a contact handler, as the solver knows it.
class HandledConstraint final : public solver::SapUserConstraint {
 public:
  HandledConstraint(ContactHandler* owner, int ownerIndex, int which, const ConstraintRows& given)
      : handler(owner), handlerIndex(ownerIndex), index(which), rows(given) {}
  void prepare(Real dt, int numRows, const Real* delassus) override {
    handler->prepare(index, dt, numRows, delassus);
  }
  [[nodiscard]] Real evaluate(int, const Real* vc, Real* gamma, Real* hessian) const override {
    return handler->evaluate(index, vc, gamma, hessian);
  }

  ContactHandler* handler = nullptr;
  int handlerIndex = 0;
  int index = 0;  ///< as the handler counts
  ConstraintRows rows{};
  int constraint = -1;  ///< in the problem; -1: it moves nothing
};

/// The start of the last step, for sensors of forces and accelerations.
struct StepStart {
  std::vector<Real> q, v;
  std::vector<Real> biasVelocity;               ///< that the Coriolis forces were taken from
  std::vector<Vec3> velocity, angularVelocity;  ///< of bodies
  std::vector<Vec3> force, torque;              ///< applied to bodies
};

/// What impulses of the last step are in one of length dt, for the same forces.
[[nodiscard]] inline Real impulseScale(const State& state, Real dt) {
  return state.frictionStep > 0 ? dt / state.frictionStep : 1;
}

struct SapWorkspace {
  explicit SapWorkspace(const model::ModelData& model)
      : trees(model), keepsStart(!model.sensors.empty()) {
    pressure.softs.resize(model.softs.size());
    for (std::size_t s = 0; s < model.softs.size(); ++s)
      pressure.softs[s].assembly = dynamics::makeSoftAssembly(model.softs[s].elastic);
  }

  dynamics::TreeWorkspace trees;
  bool areTreesCurrent = false;  ///< `trees` holds the poses and velocities of the State as it is

  solver::SapProblem problem;
  solver::SapSolver solver;
  solver::SapReport report;

  std::vector<int> cliqueOfTree;  ///< -1: asleep
  std::vector<int> treeOfClique;
  std::vector<int> cliqueOfBody;       ///< -1: not moved by the solve
  std::vector<int> constraintOfPoint;  ///< of each contact point; -1: none
  std::vector<DriveState> drives;
  std::vector<CliqueRow> driveRows;
  std::vector<TendonState> tendons;
  std::vector<RowOwner> owners;
  std::vector<std::shared_ptr<ContactHandler>> handlers;
  std::vector<HandledConstraint> handled;
  bool isHandlerRefused = false;  ///< one gave rows that cannot be

  PressureWorkspace pressure;

  bool keepsStart = false;
  StepStart start;

  // By velocity, in the order of cliques; all but the first two for trees alone.
  std::vector<Real> v0, v1;              ///< before and after
  std::vector<Real> bias;                ///< Coriolis and centrifugal less gravity
  std::vector<Real> passive;             ///< of springs and damping at the start
  std::vector<Real> applied;             ///< of applied forces and torques
  std::vector<Real> driveForce;          ///< at the start, of actuators that are part of A
  std::vector<Real> stiffness, damping;  ///< of springs, joints and drives: on the diagonal of A
  std::vector<StepWeights> weights;      ///< with which these two are
  std::vector<Real> scratch;
  std::vector<Real> recoveryRow1, recoveryRow2;
  Real weight = 0;              ///< of all bodies together; only where there are equalities [N]
  std::vector<int> recovering;  ///< contacts on trees that part faster than a little
  std::vector<dynamics::LinkWrench> wrenches;
  std::vector<Real> nextPositions;
  std::vector<Real> velocityChange;     ///< of the last step, in the State's order; for sensors
  std::vector<std::uint8_t> isTouched;  ///< of each clique: some constraint gave it an impulse
  std::vector<Real> nextVelocities;     ///< v at the end of the step, in the State's order
  std::vector<bool> hasMeanBias;        ///< of each tree: Coriolis forces of the mean velocity

  // Of the jointed trees [J].
  Real kineticAtStart = 0;  ///< of the new velocities in the old positions
  Real freeWork = 0;        ///< of gravity, springs and what the motion itself exerts
};

}  // namespace tangere::contact
