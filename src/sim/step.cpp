// SPDX-License-Identifier: Apache-2.0
//
// The table of contents of a step: each line is one phase and one file.
#include "sim/step.hpp"

#include "contact/build_problem.hpp"
#include "contact/contact_forces.hpp"
#include "contact/energy_ledger.hpp"
#include "contact/find_contacts.hpp"
#include "contact/foresee_contacts.hpp"
#include "contact/impacts.hpp"
#include "contact/solve_contacts.hpp"
#include "contact/wake_bodies.hpp"
#include "dynamics/free_motion.hpp"
#include "dynamics/kinematics.hpp"
#include "integrator/integrate_state.hpp"

namespace tangere::sim {

void stepEnvironment(const model::ModelData& model, const model::Control& control, State& state,
                     model::Workspace& ws) {
  ws.report = {};
  ws.areContactsListed = false;
  dynamics::computeKinematics(model, control, state, ws);         // X_WB, X_WS, swept boxes
  contact::findPairs(model, state, ws);                           // broad phase
  contact::wakeBodies(model, state, ws);                          // who takes part
  contact::openLedger(model, state, ws);                          // energy before
  contact::findContacts(model, state, ws);                        // manifolds, speculative points
  state.patches.update(ws.manifolds, ws.shapePose);               // patches, warm start
  dynamics::computeFreeMotion(model, control, state, ws);         // M^-1, v0, a
  contact::buildContactProblem(model, state, ws);                 // points, groups
  contact::resolveImpacts(model, ws);                             // restitution, at its own time
  contact::solveContacts(model, ws);                              // v, displacement, push
  contact::holdFastBodies(model, state, ws);                      // what was turned aside
  contact::storeImpulses(state, ws);                              // to the patches
  contact::bookContactWork(model, control, state, ws);            // work, row by row
  const int lost = integrator::integrateState(model, state, ws);  // x, q, v
  if (lost >= 0) {
    ws.report.status = ws.report.status | StepStatus::StateNotFinite;
    ws.report.body1 = lost;
    ws.report.body2 = -1;
    state.patches.reset();  // they already belong to the step that was not taken
    ws.isLedgerCurrent = false;
    return;
  }
  ws.ledger.damping -= contact::putToSleep(model, state, ws);
  contact::closeLedger(model, state, ws);  // energy after, residual
}

}  // namespace tangere::sim
