// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/workspace.hpp"

namespace tangere::dynamics {

/// Poses of bodies and shapes, and the box that each shape sweeps over the next step: its box now
/// and moved, enlarged by what turning can add. Bodies that stay asleep cost nothing.
void computeKinematics(const model::ModelData& model, const model::Control& control,
                       const State& state, model::Workspace& ws);

/// A body whose way over the step is beyond all numbers; -1: none.
[[nodiscard]] int firstNotFinite(const model::Workspace& ws);

}  // namespace tangere::dynamics
