// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contact/sap_workspace.hpp"
#include "model/workspace.hpp"
#include "sim/step_phase.hpp"

namespace tangere::sim {

/// One step of one environment. The report is in ws.report; a state that would not be finite is
/// not taken over.
void stepEnvironment(const model::ModelData& model, const model::Control& control, State& state,
                     model::Workspace& ws, PhaseClock& clock);

/// The same with the convex solver: joints, drives and contacts together. Where
/// sap.pressure.mayDivide and numParts is above 1 afterwards, nothing was done.
void stepEnvironmentSap(const model::ModelData& model, const model::Control& control, State& state,
                        model::Workspace& ws, contact::SapWorkspace& sap, PhaseClock& clock);

/// Adds the rows; kinetic and potential energy are those of `part`.
/// What a schedule tells its actuator at a time.
[[nodiscard]] Real valueAt(const model::ModelSchedule& schedule, Real time);

void addLedger(const EnergyLedger& part, EnergyLedger* sum);

}  // namespace tangere::sim
