// SPDX-License-Identifier: Apache-2.0
//
// From the rows of contact handlers to constraints of the problem.
#pragma once

#include "contact/sap_workspace.hpp"

namespace tangere::contact {

/// Asks every handler what acts in this step. Rows that cannot be (a body that does not exist, a
/// number that is not finite) are left out, and sap.isHandlerRefused is set.
void addUserRows(const model::ModelData& model, const State& state, SapWorkspace& sap);

/// Bodies that a handler acts on do not fall asleep, and wake when one begins to.
void keepHandledAwake(const model::ModelData& model, State& state, model::Workspace& ws,
                      const SapWorkspace& sap);

/// What the constraints of one handler did, after a step.
void listHandlerForces(int handler, const SapWorkspace& sap, std::vector<HandlerForce>* out);

}  // namespace tangere::contact
