// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/workspace.hpp"

namespace tangere::contact {

/// Keeps the impulses for the warm start of the next step.
void storeImpulses(State& state, model::Workspace& ws);

/// The contact points of the last step with their forces: ws.contacts. Made on request only.
void listContactForces(const model::ModelData& model, const State& state, model::Workspace& ws);

}  // namespace tangere::contact
