// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contact/sap_workspace.hpp"

namespace tangere::integrator {

/// The first soft body that the new velocities would take to places or speeds that are not finite;
/// -1: none.
[[nodiscard]] int firstLostSoft(const model::ModelData& model, const State& state,
                                const contact::SapWorkspace& sap);

/// x + dt v and v of the soft bodies to the State.
void moveSofts(const model::ModelData& model, State& state, const contact::SapWorkspace& sap);

}  // namespace tangere::integrator
