// SPDX-License-Identifier: Apache-2.0
#include "sim/carry_softs.hpp"

#include "math/quat.hpp"
#include "math/transform.hpp"

#include <algorithm>

namespace tangere::sim {

namespace {

/// From where a body was to where it is.
Transform motionOf(int body, const BodyPlaces& before, const State& state) {
  if (body < 0) return Transform::identity();  // the world
  const Mat3 turn =
      rotationMatrix(state.orientation[body]) * transpose(rotationMatrix(before.orientation[body]));
  return {turn, state.center[body] - turn * before.center[body]};
}

bool isMoved(int body, const BodyPlaces& before, const State& state) {
  return body >= 0 && !(state.center[body] == before.center[body] &&
                        state.orientation[body] == before.orientation[body]);
}

/// The mean of the motions of the attachments, weighted by the inverse square of their distances.
void moveBetween(const model::ModelSoft& soft, const std::vector<Transform>& motions,
                 State& state) {
  const std::span<const Vec3> rest = soft.mesh.vertices();
  for (std::size_t i = 0; i < rest.size(); ++i) {
    Vec3& x = state.softPosition[soft.firstVertex + i];
    Vec3& v = state.softVelocity[soft.firstVertex + i];
    Vec3 place{}, velocity{};
    Real sum = 0;
    for (std::size_t k = 0; k < soft.attachments.size(); ++k) {
      const Real distance = squaredNorm(rest[i] - rest[soft.attachments[k].vertex]);
      if (!(distance > 0)) {  // itself
        place = motions[k] * x;
        velocity = motions[k].rotation * v;
        sum = 1;
        break;
      }
      place += (motions[k] * x) * (1 / distance);
      velocity += (motions[k].rotation * v) * (1 / distance);
      sum += 1 / distance;
    }
    x = place * (1 / sum);
    v = velocity * (1 / sum);
  }
}

}  // namespace

void carrySofts(const model::ModelData& model, const BodyPlaces& before, State& state) {
  for (const model::ModelSoft& soft : model.softs) {
    const std::vector<model::ModelAttachment>& attachments = soft.attachments;
    const bool isCarried =
        std::any_of(attachments.begin(), attachments.end(),
                    [&](const auto& held) { return isMoved(held.body, before, state); });
    if (!isCarried) continue;
    std::vector<Transform> motions;
    for (const model::ModelAttachment& held : attachments)
      motions.push_back(motionOf(held.body, before, state));
    const bool isOne = std::all_of(attachments.begin(), attachments.end(), [&](const auto& held) {
      return held.body == attachments.front().body;
    });
    if (!isOne) {
      moveBetween(soft, motions, state);
      continue;
    }
    for (std::size_t i = 0; i < soft.mesh.vertices().size(); ++i) {
      Vec3& x = state.softPosition[soft.firstVertex + i];
      Vec3& v = state.softVelocity[soft.firstVertex + i];
      x = motions.front() * x;
      v = motions.front().rotation * v;
    }
  }
}

}  // namespace tangere::sim
