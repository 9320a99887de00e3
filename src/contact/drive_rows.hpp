// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contact/sap_workspace.hpp"

namespace tangere::contact {

/// What every actuator does at the start of the step. Those without a limit on their force go to
/// the force and the diagonal of A of their joint.
void readDrives(const model::ModelData& model, const model::Control& control, const State& state,
                SapWorkspace& sap);

/// A row for every other one.
void addDriveRows(const model::ModelData& model, SapWorkspace& sap);

/// After the solve: forces of the step.
void finishDrives(SapWorkspace& sap);

/// Activations at the end of the step.
void advanceActivations(const model::ModelData& model, const model::Control& control, State& state);

}  // namespace tangere::contact
