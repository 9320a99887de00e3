// SPDX-License-Identifier: Apache-2.0
#include "dynamics/free_motion.hpp"

#include "core/prefetch.hpp"

namespace tangere::dynamics {

namespace {

constexpr std::int64_t kGrain = 64, kMinShared = 256;  // fewer are not worth a message

}  // namespace

solver::Sym3 inWorld(const Mat3& R, const Mat3& a) {
  const Mat3 m = R * a;
  const auto entry = [&](int i, int j) {
    return m(i, 0) * R(j, 0) + m(i, 1) * R(j, 1) + m(i, 2) * R(j, 2);
  };
  return {.xx = entry(0, 0),
          .yy = entry(1, 1),
          .zz = entry(2, 2),
          .xy = entry(0, 1),
          .xz = entry(0, 2),
          .yz = entry(1, 2)};
}

void computeFreeMotion(const model::ModelData& model, const model::Control& control,
                       const State& state, model::Workspace& ws) {
  const Real dt = model.options.dt;
  ws.problem.blocks.resize(model.bodies.size());
  const auto begin = [&](std::size_t i) {
    const model::ModelBody& body = model.bodies[i];
    if (body.isJointed && body.numShapes == 0) return;  // nobody asks for it
    solver::ImpulseBlock& block = ws.problem.blocks[i];
    constexpr std::ptrdiff_t kAhead = 4;
    core::takeOver(&block + kAhead, sizeof block);
    block = {};
    block.duration = dt;
    block.center = state.center[i];
    if (state.isAsleep[i] != 0) return;
    block.velocity = state.velocity[i];
    block.angularVelocity = state.angularVelocity[i];
    if (body.type != BodyType::Dynamic || body.isJointed) return;  // a tree has its own motion

    block.inverseMass = body.inverseMass;
    block.inverseInertia = inWorld(ws.bodyPose[i].rotation, body.inverseInertia);
    block.acceleration = gravityOf(model, body) + control.force[i] * body.inverseMass -
                         block.velocity * (body.linearDamping / (1 + body.linearDamping * dt));
    block.angularAcceleration =
        block.inverseInertia * control.torque[i] -
        block.angularVelocity * (body.angularDamping / (1 + body.angularDamping * dt));
  };
  const auto count = static_cast<std::int64_t>(model.bodies.size());
  core::parallelFor(count >= kMinShared ? ws.pool.get() : nullptr, count, kGrain,
                    [&](std::int64_t first, std::int64_t end) {
                      for (std::int64_t i = first; i < end; ++i) begin(static_cast<std::size_t>(i));
                    });
}

}  // namespace tangere::dynamics
