// SPDX-License-Identifier: Apache-2.0
//
// Which bodies take part in a step. An island whose bodies have all been slow for a while falls
// asleep; it wakes as a whole when something that moves comes near.
#pragma once

#include "model/workspace.hpp"

namespace tangere::contact {

/// Wakes bodies that a moving one may touch in this step, and all that they rest on, before the
/// narrow phase: a body never wakes without its supports. Then drops the pairs between bodies that
/// do not move.
void wakeBodies(const model::ModelData& model, State& state, model::Workspace& ws);

/// After the step: lets islands fall asleep that have been slow for long enough. Returns the
/// kinetic energy they had left [J].
Real putToSleep(const model::ModelData& model, State& state, model::Workspace& ws);

}  // namespace tangere::contact
