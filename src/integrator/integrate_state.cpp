// SPDX-License-Identifier: Apache-2.0
#include "integrator/integrate_state.hpp"

#include "dynamics/turn_body.hpp"
#include "math/quat.hpp"
#include "math/transform.hpp"
#include "model/motion_limits.hpp"

#include <atomic>

namespace tangere::integrator {

namespace {

model::BodyMotion moveBody(const model::ModelData& model, const State& state,
                           const model::Workspace& ws, std::size_t index);

/// What a tree moves is left to the tree.
bool isMoved(const model::ModelData& model, std::size_t index) {
  return !model.bodies[index].isJointed;
}

bool isMotion(const model::BodyMotion& motion) {
  return math::isFinite(motion.center) && math::isFinite(motion.orientation) &&
         model::isSpeed(motion.velocity) && model::isSpeed(motion.angularVelocity);
}

int firstLost(const model::ModelData& model, const model::Workspace& ws) {
  std::size_t i = 0;
  while (!isMoved(model, i) || isMotion(ws.next[i])) ++i;
  return static_cast<int>(i);
}

}  // namespace

int integrateState(const model::ModelData& model, State& state, model::Workspace& ws) {
  const std::size_t numBodies = model.bodies.size();
  ws.next.resize(numBodies);
  constexpr std::int64_t kGrain = 64, kMinShared = 256;  // fewer are not worth a message
  const auto count = static_cast<std::int64_t>(numBodies);
  core::ThreadPool* const pool = count >= kMinShared ? ws.pool.get() : nullptr;
  std::atomic<bool> isAnyLost{false};
  core::parallelFor(pool, count, kGrain, [&](std::int64_t begin, std::int64_t end) {
    bool isLost = false;
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      if (!isMoved(model, i)) continue;
      ws.next[i] = moveBody(model, state, ws, i);
      isLost = isLost || !isMotion(ws.next[i]);
    }
    if (isLost) isAnyLost.store(true, std::memory_order_relaxed);
  });
  if (isAnyLost.load(std::memory_order_relaxed)) return firstLost(model, ws);
  // By the threads that will pose them in the next step.
  core::parallelFor(pool, count, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      if (!isMoved(model, i)) continue;
      const model::BodyMotion& next = ws.next[i];
      state.center[i] = next.center;
      state.orientation[i] = next.orientation;
      state.velocity[i] = next.velocity;
      state.angularVelocity[i] = next.angularVelocity;
    }
  });
  for (std::size_t i = 0; i < numBodies; ++i) {
    if (!isMoved(model, i)) continue;
    ws.ledger.gyroscopic += ws.next[i].gyroscopicWork;
    ws.ledger.correction += ws.next[i].correctionWork;
  }
  state.time += model.options.dt;
  ++state.step;
  return -1;
}

namespace {

model::BodyMotion moveBody(const model::ModelData& model, const State& state,
                           const model::Workspace& ws, std::size_t index) {
  const model::ModelBody& body = model.bodies[index];
  model::BodyMotion out{.center = state.center[index],
                        .orientation = state.orientation[index],
                        .velocity = state.velocity[index],
                        .angularVelocity = state.angularVelocity[index]};
  if (body.type == BodyType::Fixed || state.isAsleep[index] != 0) return out;

  const Real dt = model.options.dt;
  if (body.type == BodyType::Kinematic) {
    out.center += out.velocity * dt;
    out.orientation = math::normalized(math::quatExp(out.angularVelocity * dt) * out.orientation);
    return out;
  }

  const solver::ImpulseBlock& block = ws.problem.blocks[index];
  out.center += block.displacement + block.pushDisplacement;
  out.velocity = block.velocity;
  Quat from = state.orientation[index];
  if (!ws.early.empty() && ws.early[index].time > 0) {
    out.center += ws.early[index].displacement;
    from = ws.early[index].orientation;
  }
  const dynamics::TurnedBody turned =
      dynamics::turnBody(body, from, block.angularVelocity, block.rotation, block.duration);
  out.orientation = turned.orientation;
  out.angularVelocity = turned.angularVelocity;
  out.gyroscopicWork = turned.work;
  // The push out of an overlap changes the inertia seen by a velocity that it leaves alone.
  if (!(block.pushRotation == Vec3{})) {
    const Quat before = out.orientation;
    out.orientation = math::normalized(math::quatExp(block.pushRotation) * out.orientation);
    if (!dynamics::isIsotropic(body.mass.inertia)) {
      out.correctionWork = dynamics::rotationalEnergy(body, out.orientation, out.angularVelocity) -
                           dynamics::rotationalEnergy(body, before, out.angularVelocity);
    }
  }
  return out;
}

}  // namespace

}  // namespace tangere::integrator
