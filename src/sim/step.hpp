// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/workspace.hpp"
#include "sim/step_phase.hpp"

namespace tangere::sim {

/// One step of one environment. The report is in ws.report; a state that would not be finite is
/// not taken over.
void stepEnvironment(const model::ModelData& model, const model::Control& control, State& state,
                     model::Workspace& ws, PhaseClock& clock);

}  // namespace tangere::sim
