// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contact/sap_workspace.hpp"

namespace tangere::contact {

/// Limits that a joint may reach within the step, and dry friction.
void addJointRows(const model::ModelData& model, const State& state, SapWorkspace& sap);

/// After the solve: what friction holds goes to the State.
void storeDryFriction(const model::ModelData& model, State& state, const SapWorkspace& sap);

/// How fast an equality that is violated is put right [s].
[[nodiscard]] constexpr Real relaxationOf(Real dt) { return dt; }
/// And a limit [s]: a joint that starts beyond it is led back, not thrown.
inline constexpr Real kLimitRelaxation = 0.02;

}  // namespace tangere::contact
