// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/workspace.hpp"

namespace tangere::integrator {

/// Moves the bodies by what the solve found. Returns -1, or the index of the first body whose new
/// state would not be finite: then the state is the one before, untouched.
[[nodiscard]] int integrateState(const model::ModelData& model, State& state, model::Workspace& ws);

}  // namespace tangere::integrator
