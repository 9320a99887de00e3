// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/model_data.hpp"

namespace tangere::dynamics {

/// A body after it has turned.
struct TurnedBody {
  Quat orientation{};
  Vec3 angularVelocity{};  ///< world
  Real work = 0;           ///< what turning the inertia has changed of the energy: rounding [J]
};

/// Turns a body of angular velocity w for the time `duration`, as one that is free: its angular
/// momentum stays. `rotation` is the integral of the rate over that time; where it is not
/// w * duration contacts or torques changed the rate on the way: then the orientation turns by the
/// mean rate, and the velocity stays as the body sees it, so that its energy does.
[[nodiscard]] TurnedBody turnBody(const model::ModelBody& body, const Quat& orientation,
                                  const Vec3& w, const Vec3& rotation, Real duration);

/// 1/2 w I w [J].
[[nodiscard]] Real rotationalEnergy(const model::ModelBody& body, const Quat& orientation,
                                    const Vec3& w);

/// Whether its moments of inertia are all the same.
[[nodiscard]] bool isIsotropic(const Mat3& inertia);

}  // namespace tangere::dynamics
