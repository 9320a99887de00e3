// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tangere/state.hpp>

#include "math/quat.hpp"
#include "model/model_data.hpp"

namespace tangere::dynamics {

/// (m v^2 + w I w)/2 for a velocity and an angular velocity in the world [J]; zero for bodies that
/// forces do not move.
[[nodiscard]] inline Real kineticEnergy(const model::ModelBody& body, const Quat& orientation,
                                        const Vec3& velocity, const Vec3& angularVelocity) {
  if (body.type != BodyType::Dynamic) return 0;
  const Vec3 w_B = math::rotate(math::conjugate(orientation), angularVelocity);
  return Real(0.5) * (body.mass.mass * squaredNorm(velocity) + dot(w_B, body.mass.inertia * w_B));
}

[[nodiscard]] inline Real kineticEnergy(const model::ModelBody& body, const State& state,
                                        int index) {
  return kineticEnergy(body, state.orientation[index], state.velocity[index],
                       state.angularVelocity[index]);
}

}  // namespace tangere::dynamics
