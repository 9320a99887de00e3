// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contact/sap_workspace.hpp"

namespace tangere::contact {

/// Poses and velocities of the jointed trees for the State as it is, unless they are there already.
void updateTrees(const model::ModelData& model, const State& state, SapWorkspace& sap);

/// The convex problem of the step: a clique for every tree that is awake, with its inertia and its
/// free motion, and a constraint for every contact point, limit, drive, equality and dry friction.
/// After buildContactProblem(), whose points it takes.
void buildSapProblem(const model::ModelData& model, const model::Control& control,
                     const State& state, model::Workspace& ws, SapWorkspace& sap);

}  // namespace tangere::contact
