// SPDX-License-Identifier: Apache-2.0
#include "dynamics/free_motion.hpp"

namespace tangere::dynamics {

namespace {

/// R a R^T for a symmetric a in the body frame.
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

}  // namespace

void computeFreeMotion(const model::ModelData& model, const model::Control& control,
                       const State& state, model::Workspace& ws) {
  const Real dt = model.options.dt;
  ws.problem.blocks.resize(model.bodies.size());
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    const model::ModelBody& body = model.bodies[i];
    solver::ImpulseBlock& block = ws.problem.blocks[i];
    block = {};
    block.duration = dt;
    if (state.isAsleep[i] != 0) continue;
    block.velocity = state.velocity[i];
    block.angularVelocity = state.angularVelocity[i];
    if (body.type != BodyType::Dynamic) continue;

    block.inverseMass = body.inverseMass;
    block.inverseInertia = inWorld(ws.bodyPose[i].rotation, body.inverseInertia);
    block.acceleration = gravityOf(model, body) + control.force[i] * body.inverseMass -
                         block.velocity * (body.linearDamping / (1 + body.linearDamping * dt));
    block.angularAcceleration =
        block.inverseInertia * control.torque[i] -
        block.angularVelocity * (body.angularDamping / (1 + body.angularDamping * dt));
  }
}

}  // namespace tangere::dynamics
