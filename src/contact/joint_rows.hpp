// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contact/sap_workspace.hpp"

namespace tangere::contact {

/// Limits that a joint may reach within the step, and dry friction.
void addJointRows(const model::ModelData& model, const State& state, SapWorkspace& sap);

/// After the solve: what friction holds goes to the State.
void storeDryFriction(const model::ModelData& model, State& state, const SapWorkspace& sap);

/// How fast a limit or an equality that is violated is put right [s]: a joint that starts beyond
/// its limit is led back, not thrown.
[[nodiscard]] constexpr Real relaxationOf(Real dt) { return dt; }

}  // namespace tangere::contact
