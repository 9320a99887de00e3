// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tangere/state.hpp>

#include "model/model_data.hpp"

#include <vector>

namespace tangere::sim {

/// Where the bodies of a State are.
struct BodyPlaces {
  explicit BodyPlaces(const State& state) : center(state.center), orientation(state.orientation) {}
  std::vector<Vec3> center;
  std::vector<Quat> orientation;
};

/// After bodies were moved from outside: soft bodies go along with what they are attached to, one
/// that hangs on several between them (near to an attachment as this one moves). Their velocities
/// turn with them.
void carrySofts(const model::ModelData& model, const BodyPlaces& before, State& state);

}  // namespace tangere::sim
