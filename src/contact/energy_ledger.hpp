// SPDX-License-Identifier: Apache-2.0
//
// Where the energy of a step went. The kinetic energy changes by the work of impulses along the
// mean of the velocities before and after each of them: an identity, so the rows add up to
// rounding, and what does not add up is an error of the engine.
#pragma once

#include "model/workspace.hpp"

namespace tangere::contact {

/// Kinetic and potential energy before anything moves.
void openLedger(const model::ModelData& model, const State& state, model::Workspace& ws);

/// After the solve, with the state still at the start: work of forces and contacts, and the rows
/// that come from moving by the end velocity and from position correction.
void bookContactWork(const model::ModelData& model, const model::Control& control,
                     const State& state, model::Workspace& ws);

/// After the state has moved. Flags EnergyInjected when contacts did positive work.
void closeLedger(const model::ModelData& model, const State& state, model::Workspace& ws);

/// Instead of all of these: the energy of a state that no step has led to, and no work. After
/// measureTreeEnergy().
void readEnergy(const model::ModelData& model, const State& state, model::Workspace& ws);

}  // namespace tangere::contact
