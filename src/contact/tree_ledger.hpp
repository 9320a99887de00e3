// SPDX-License-Identifier: Apache-2.0
//
// The rows of the energy ledger that belong to jointed trees. With v the mean of the velocities
// before and after the step, T(q0, v1) - T(q0, v0) = v . (all impulses), row by row; moving from q0
// to q1 changes the kinetic energy of the same velocities and the potential energy, which gravity,
// springs and the Coriolis forces paid for up to the error of the step: the integration row.
#pragma once

#include "contact/sap_workspace.hpp"

namespace tangere::contact {

/// Kinetic and potential energy of the jointed trees of the State, which `sap.trees` shows, to
/// ws.treeEnergy.
void measureTreeEnergy(const model::ModelData& model, const State& state, model::Workspace& ws,
                       SapWorkspace& sap);

/// After the solve, before anything moves.
void bookTreeWork(const model::ModelData& model, const model::Control& control, const State& state,
                  model::Workspace& ws, SapWorkspace& sap);

/// After the trees have moved; `before` is their energy before the step.
void closeTreeWork(const model::TreeEnergy& before, model::Workspace& ws, const SapWorkspace& sap);

}  // namespace tangere::contact
