// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/workspace.hpp"

namespace tangere::dynamics {

/// The momentum block of every body: inverse inertia in the world, velocities at the start, and
/// the accelerations of gravity, applied forces and damping. Damping is implicit, -c v/(1 + c dt),
/// so that any coefficient is stable. Bodies that forces do not move get no inverse mass.
void computeFreeMotion(const model::ModelData& model, const model::Control& control,
                       const State& state, model::Workspace& ws);

/// Gravity of one body [m/s^2].
[[nodiscard]] inline Vec3 gravityOf(const model::ModelData& model, const model::ModelBody& body) {
  return model.options.gravity * body.gravityScale;
}

/// R a R^T for a symmetric a in the body frame.
[[nodiscard]] solver::Sym3 inWorld(const Mat3& R, const Mat3& a);

}  // namespace tangere::dynamics
