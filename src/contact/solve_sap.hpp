// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contact/sap_workspace.hpp"

namespace tangere::contact {

/// Solves the problem of the step. Impulses go to the contact points, velocities of free bodies to
/// their blocks (integrateState() moves them), those of trees stay in `sap`.
void solveSap(const model::ModelData& model, const State& state, model::Workspace& ws,
              SapWorkspace& sap);

}  // namespace tangere::contact
