// SPDX-License-Identifier: Apache-2.0
//
// The energy of soft bodies in the ledger of a step.
//
//   M (v1 - v0) = dt (f + M g + f_int(x0)) - dt alpha M v1 - (dt^2 + dt beta) K (v1 - u) + impulses
//
// times the mean of v0 and v1 is the change of kinetic energy; elastic energy and that in gravity
// are measured, and what they change otherwise than by the work above is booked as integration.
#pragma once

#include "contact/sap_workspace.hpp"

namespace tangere::contact {

/// Kinetic, elastic and gravitational energy of the State, to ws.treeEnergy.
void addSoftEnergy(const model::ModelData& model, const State& state, model::Workspace& ws,
                   SapWorkspace& sap);

/// After the solve and bookPressureWork(), with the State still at the start.
void bookSoftWork(const model::ModelData& model, const model::Control& control, const State& state,
                  model::Workspace& ws, SapWorkspace& sap);

}  // namespace tangere::contact
