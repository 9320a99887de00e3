// SPDX-License-Identifier: Apache-2.0
//
// The table of contents of a step: each line is one phase and one file.
#include "sim/step.hpp"

#include "collision/contact_patch_threads.hpp"
#include "contact/build_problem.hpp"
#include "contact/build_sap_problem.hpp"
#include "contact/contact_forces.hpp"
#include "contact/contact_limits.hpp"
#include "contact/drive_rows.hpp"
#include "contact/energy_ledger.hpp"
#include "contact/find_contacts.hpp"
#include "contact/find_pressure_contacts.hpp"
#include "contact/foresee_contacts.hpp"
#include "contact/impacts.hpp"
#include "contact/joint_rows.hpp"
#include "contact/pressure_crossings.hpp"
#include "contact/pressure_rows.hpp"
#include "contact/settle_softs.hpp"
#include "contact/solve_contacts.hpp"
#include "contact/solve_sap.hpp"
#include "contact/tree_ledger.hpp"
#include "contact/user_rows.hpp"
#include "contact/wake_bodies.hpp"
#include "dynamics/free_motion.hpp"
#include "dynamics/kinematics.hpp"
#include "integrator/integrate_softs.hpp"
#include "integrator/integrate_state.hpp"
#include "integrator/integrate_trees.hpp"

#include <algorithm>

namespace tangere::sim {

namespace {

/// The state stays as it was.
void refuse(int body, model::Workspace& ws, StepStatus why = StepStatus::StateNotFinite) {
  ws.report.status = ws.report.status | why;
  ws.report.body1 = body;
  ws.report.body2 = -1;
  ws.isLedgerCurrent = false;
}

/// Who sleeps, to be given back when the step is refused: waking up is the one thing that happens
/// before contacts are known.
class Sleepers {
 public:
  Sleepers(const model::ModelData& model, const State& state)
      : is_kept_(model.options.sleep.enabled && contact::hasLimits(model.options.limits)) {
    if (!is_kept_) return;
    is_asleep_ = state.isAsleep;
    still_time_ = state.stillTime;
  }
  void giveBack(State& state) const {
    if (!is_kept_) return;
    state.isAsleep = is_asleep_;
    state.stillTime = still_time_;
  }

 private:
  bool is_kept_;
  decltype(State::isAsleep) is_asleep_;
  decltype(State::stillTime) still_time_;
};

void updatePatches(State& state, model::Workspace& ws) {
  const collision::ContactPatchThreads threads(ws.pool.get());
  state.patches.update(ws.manifolds, ws.shapePose);
}

/// The same once patches and friction belong to the step that is not taken.
void refuseSap(int body, State& state, model::Workspace& ws, contact::SapWorkspace& sap,
               StepStatus why = StepStatus::StateNotFinite) {
  sap.areTreesCurrent = false;
  state.patches.reset();
  state.heldFriction.clear();
  refuse(body, ws, why);
}

/// Parts of phases that the layers below have timed.
void addParts(const contact::SapWorkspace& sap, PhaseClock& clock) {
  using contact::PressurePart;
  using solver::SapPart;
  constexpr std::pair<PressurePart, StepPart> kPressure[] = {
      {PressurePart::Gradients, StepPart::PressureGradients},
      {PressurePart::Trees, StepPart::TetTrees},
      {PressurePart::Polygons, StepPart::Polygons},
      {PressurePart::Patches, StepPart::ReducePatches},
      {PressurePart::SoftAssembly, StepPart::SoftAssembly},
      {PressurePart::Rows, StepPart::PolygonRows}};
  constexpr std::pair<SapPart, StepPart> kSolver[] = {
      {SapPart::Setup, StepPart::SolverSetup},           {SapPart::Gradients, StepPart::Gradients},
      {SapPart::Factorization, StepPart::Factorization}, {SapPart::Cholesky, StepPart::Cholesky},
      {SapPart::ContactPcg, StepPart::ContactPcg},       {SapPart::SoftPcg, StepPart::SoftPcg},
      {SapPart::LineSearch, StepPart::LineSearch}};
  for (const auto& [from, to] : kPressure) clock.addPart(to, sap.pressure.clock.spent_ns(from));
  for (const auto& [from, to] : kSolver) clock.addPart(to, sap.solver.clock().spent_ns(from));
}

/// After the problem was built, which leaves the velocities of the Coriolis forces of trees that
/// turn far in sap.nextVelocities.
void keepStart(const model::ModelData& model, const model::Control& control, const State& state,
               contact::SapWorkspace& sap) {
  sap.start.q = state.q;
  sap.start.v = state.v;
  sap.start.biasVelocity = state.v;
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    const model::Tree& tree = model.trees[t];
    if (tree.isFreeBody || !sap.hasMeanBias[t]) continue;
    for (int k = tree.firstDof; k < tree.firstDof + tree.numDofs; ++k) {
      const int v = model.dofs[k].v;
      sap.start.biasVelocity[v] = sap.nextVelocities[v];
    }
  }
  sap.start.velocity = state.velocity;
  sap.start.angularVelocity = state.angularVelocity;
  sap.start.force = control.force;
  sap.start.torque = control.torque;
}

}  // namespace

void stepEnvironment(const model::ModelData& model, const model::Control& control, State& state,
                     model::Workspace& ws, PhaseClock& clock) {
  ws.report = {};
  ws.areContactsListed = false;
  clock.begin();
  dynamics::computeKinematics(model, control, state, ws);  // X_WB, X_WS, swept boxes
  clock.end(StepPhase::Kinematics);
  if (const int lost = dynamics::firstNotFinite(ws); lost >= 0) return refuse(lost, ws);
  const Sleepers sleepers(model, state);
  contact::findPairs(model, state, ws);   // broad phase
  contact::wakeBodies(model, state, ws);  // who takes part
  clock.end(StepPhase::BroadPhase);
  contact::openLedger(model, state, ws);  // energy before
  clock.end(StepPhase::Ledger);
  contact::findContacts(model, state, ws);  // manifolds, speculative points
  clock.end(StepPhase::NarrowPhase);
  if (contact::exceedsLimits(model, nullptr, ws)) return sleepers.giveBack(state);
  updatePatches(state, ws);  // patches, warm start
  clock.end(StepPhase::Patches);
  dynamics::computeFreeMotion(model, control, state, ws);  // M^-1, v0, a
  contact::buildContactProblem(model, state, ws);          // points, groups
  clock.end(StepPhase::BuildProblem);
  contact::resolveImpacts(model, state, ws);  // at their own times
  clock.end(StepPhase::Impacts);
  contact::solveContacts(model, ws);          // v, displacement, push
  contact::holdFastBodies(model, state, ws);  // what was turned aside
  contact::storeImpulses(state, ws);          // to the patches
  clock.end(StepPhase::Solve);
  contact::bookContactWork(model, control, state, ws);  // work, row by row
  clock.end(StepPhase::Ledger);
  const int lost = integrator::integrateState(model, state, ws);  // x, q, v
  clock.end(StepPhase::Integrate);
  if (lost >= 0) {
    state.patches.reset();  // they already belong to the step that was not taken
    return refuse(lost, ws);
  }
  ws.ledger.damping -= contact::putToSleep(model, state, ws);
  contact::closeLedger(model, state, ws);  // energy after, residual
  clock.end(StepPhase::Ledger);
}

void stepEnvironmentSap(const model::ModelData& model, const model::Control& control, State& state,
                        model::Workspace& ws, contact::SapWorkspace& sap, PhaseClock& clock) {
  ws.report = {};
  ws.areContactsListed = false;
  clock.begin();
  contact::updateTrees(model, state, sap);                 // links from coordinates
  dynamics::computeKinematics(model, control, state, ws);  // X_WB, X_WS, swept boxes
  clock.end(StepPhase::Kinematics);
  if (const int lost = dynamics::firstNotFinite(ws); lost >= 0) return refuse(lost, ws);
  const Sleepers sleepers(model, state);
  contact::findPairs(model, state, ws);   // broad phase
  contact::wakeBodies(model, state, ws);  // who takes part
  clock.end(StepPhase::BroadPhase);
  if (!ws.isLedgerCurrent) contact::measureTreeEnergy(model, state, ws, sap);
  contact::openLedger(model, state, ws);  // energy before
  clock.end(StepPhase::Ledger);
  contact::findContacts(model, state, ws);  // manifolds, speculative points
  clock.endPart(StepPart::PointContacts);
  contact::findPressureContacts(model, state, ws, sap);  // polygons
  clock.end(StepPhase::NarrowPhase);
  if (contact::exceedsLimits(model, &sap.pressure, ws)) return sleepers.giveBack(state);
  if (sap.pressure.numParts > 1 && sap.pressure.mayDivide) return;
  updatePatches(state, ws);  // patches, warm start
  clock.end(StepPhase::Patches);
  dynamics::computeFreeMotion(model, control, state, ws);     // free bodies
  contact::buildContactProblem(model, state, ws);             // points, groups
  contact::buildSapProblem(model, control, state, ws, sap);   // A, v*, J, limits, drives
  if (sap.keepsStart) keepStart(model, control, state, sap);  // for sensors
  clock.end(StepPhase::BuildProblem);
  contact::solveSap(model, state, ws, sap);  // v, impulses
  if (clock.isOn) addParts(sap, clock);
  if (sap.report.status == solver::SapStatus::NotFinite)
    return refuseSap(ws.report.body1, state, ws, sap);
  if (const int soft = contact::firstGaining(sap); soft >= 0) {
    ws.report.soft = soft;
    return refuseSap(-1, state, ws, sap, StepStatus::EnergyInjected | StepStatus::EnergyRefused);
  }
  contact::holdFastBodies(model, state, ws);  // what was turned aside
  contact::storeImpulses(state, ws);          // to the patches
  contact::storeHeldFriction(sap, state);     // of polygons
  clock.end(StepPhase::Solve);
  integrator::gatherNextVelocities(model, state, sap);
  contact::bookContactWork(model, control, state, ws);  // work, row by row
  contact::bookTreeWork(model, control, state, ws, sap);
  clock.end(StepPhase::Ledger);
  const model::TreeEnergy before = ws.treeEnergy;
  if (const int soft = integrator::firstLostSoft(model, state, sap); soft >= 0) {
    ws.report.soft = soft;
    return refuseSap(-1, state, ws, sap);
  }
  int lost = integrator::planTrees(model, state, sap);
  if (lost < 0) lost = integrator::integrateState(model, state, ws);  // free bodies, time
  if (lost >= 0) return refuseSap(lost, state, ws, sap);
  integrator::moveTrees(model, state, sap);            // q, v of trees
  integrator::moveSofts(model, state, sap);            // x, v of soft bodies
  if (contact::findCrossing(model, state, ws, sap)) {  // what presses was passed
    ws.report.status = ws.report.status | StepStatus::MayHaveCrossed;
    ws.isLedgerCurrent = false;
    return;
  }
  contact::storeDryFriction(model, state, sap);        // of their joints
  contact::advanceActivations(model, control, state);  // of actuators
  state.frictionStep = model.options.dt;
  clock.end(StepPhase::Integrate);
  contact::keepHandledAwake(model, state, ws, sap);
  if (model.options.sleep.enabled) ws.islands.build(ws.problem.blocks, ws.problem.groups);
  ws.ledger.damping -= contact::putToSleep(model, state, ws);
  integrator::copyFreeBodies(model, state);  // their coordinates
  contact::measureTreeEnergy(model, state, ws, sap);
  contact::closeTreeWork(before, ws, sap);
  contact::closeLedger(model, state, ws);  // energy after, residual
  clock.end(StepPhase::Ledger);
}

Real valueAt(const model::ModelSchedule& schedule, Real time) {
  const std::vector<Real>& times = schedule.times;
  const auto next = std::upper_bound(times.begin(), times.end(), time);
  if (next == times.begin()) return schedule.values.front();
  if (next == times.end()) return schedule.values.back();
  const auto k = static_cast<std::size_t>(next - times.begin());
  const Real part = (time - times[k - 1]) / (times[k] - times[k - 1]);
  return schedule.values[k - 1] + part * (schedule.values[k] - schedule.values[k - 1]);
}

void addLedger(const EnergyLedger& part, EnergyLedger* sum) {
  sum->kinetic = part.kinetic;
  sum->potential = part.potential;
  sum->external += part.external;
  sum->damping += part.damping;
  sum->contactNormal += part.contactNormal;
  sum->contactFriction += part.contactFriction;
  sum->kinematic += part.kinematic;
  sum->constraint += part.constraint;
  sum->correction += part.correction;
  sum->integration += part.integration;
  sum->gyroscopic += part.gyroscopic;
  sum->residual += part.residual;
}

}  // namespace tangere::sim
