// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contact/sap_workspace.hpp"

namespace tangere::integrator {

/// Writes the new velocities of the trees to sap.nextVelocities, in the State's order.
void gatherNextVelocities(const model::ModelData& model, const State& state,
                          contact::SapWorkspace& sap);

/// Where the new velocities take the jointed trees: to sap.nextPositions. Returns a body whose
/// coordinates would not be finite; -1: none.
[[nodiscard]] int planTrees(const model::ModelData& model, const State& state,
                            contact::SapWorkspace& sap);

/// Takes that over to the State; `sap.trees` shows it.
void moveTrees(const model::ModelData& model, State& state, contact::SapWorkspace& sap);

/// Coordinates of free bodies, from where integrateState() has put these.
void copyFreeBodies(const model::ModelData& model, State& state);

}  // namespace tangere::integrator
