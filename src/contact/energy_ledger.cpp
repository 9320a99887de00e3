// SPDX-License-Identifier: Apache-2.0
#include "contact/energy_ledger.hpp"

#include "dynamics/free_motion.hpp"
#include "dynamics/kinetic_energy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tangere::contact {

namespace {

struct Energy {
  Real kinetic = 0, potential = 0, scale = 0;
};

/// Jointed bodies are in the energy of their trees.
Energy energyOf(const model::ModelData& model, const State& state, const model::Workspace& ws) {
  Energy sum{ws.treeEnergy.kinetic, ws.treeEnergy.potential, ws.treeEnergy.scale};
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    const model::ModelBody& body = model.bodies[i];
    if (body.type != BodyType::Dynamic || body.isJointed) continue;
    const Real kinetic = dynamics::kineticEnergy(body, state, static_cast<int>(i));
    const Real potential = -body.mass.mass * dot(dynamics::gravityOf(model, body), state.center[i]);
    sum.kinetic += kinetic;
    sum.potential += potential;
    sum.scale += kinetic + std::fabs(potential);
  }
  return sum;
}

bool isKinematic(const model::ModelData& model, const solver::ImpulsePoint& point) {
  return model.bodies[point.block1].type == BodyType::Kinematic ||
         model.bodies[point.block2].type == BodyType::Kinematic;
}

/// Work of a kinematic body on the other side of a point: impulse on that side times its velocity.
Real kinematicWork(const model::ModelData& model, const model::Workspace& ws, std::size_t index) {
  const solver::ImpulsePoint& point = ws.problem.points[index];
  const Vec3 impulse = point.normal * point.normalImpulse +
                       point.tangent1 * point.tangentImpulse[0] +
                       point.tangent2 * point.tangentImpulse[1];
  const Vec3 angular = point.normal * point.torsionalImpulse +
                       point.tangent1 * point.rollingImpulse[0] +
                       point.tangent2 * point.rollingImpulse[1];
  const auto powerOf = [&](int index_, const Vec3& arm) {
    const solver::ImpulseBlock& block = ws.problem.blocks[index_];
    return dot(impulse, block.velocity + cross(block.angularVelocity, arm)) +
           dot(angular, block.angularVelocity);
  };
  Real work = 0;
  if (model.bodies[point.block1].type == BodyType::Kinematic)
    work -= powerOf(point.block1, point.r1);
  if (model.bodies[point.block2].type == BodyType::Kinematic)
    work += powerOf(point.block2, point.r2);
  return work;
}

/// Contacts may press a parting point back and so do positive work along the motion while they take
/// from what the free forces would have left: that, island by island, is what may not be positive.
void flagInjection(Real scale, model::Workspace& ws) {
  constexpr Real kRounding = 1e-10;
  const auto worst =
      std::max_element(ws.reports.begin(), ws.reports.end(),
                       [](const auto& a, const auto& b) { return a.contactWork < b.contactWork; });
  if (worst == ws.reports.end() || !(worst->contactWork > kRounding * scale)) return;

  ws.report.status = ws.report.status | StepStatus::EnergyInjected;
  const auto island = static_cast<std::size_t>(worst - ws.reports.begin());
  Real most = -std::numeric_limits<Real>::infinity();
  for (const std::int32_t g : ws.islands.islands()[island].groups) {
    const solver::ImpulseGroup& group = ws.problem.groups[g];
    for (int i = group.first; i < group.first + group.count; ++i) {
      const Real work = ws.problem.points[i].normalWork + ws.problem.points[i].frictionWork;
      if (!(work > most)) continue;
      most = work;
      ws.report.body1 = group.block1;
      ws.report.body2 = group.block2;
    }
  }
}

}  // namespace

void openLedger(const model::ModelData& model, const State& state, model::Workspace& ws) {
  ws.ledger = {};
  if (ws.isLedgerCurrent) return;  // nothing has changed since it was closed
  const Energy energy = energyOf(model, state, ws);
  ws.energyBefore = energy.kinetic + energy.potential;
  ws.energyScale = energy.scale;
}

void readEnergy(const model::ModelData& model, const State& state, model::Workspace& ws) {
  const Energy energy = energyOf(model, state, ws);
  ws.ledger = {.kinetic = energy.kinetic, .potential = energy.potential};
}

void bookContactWork(const model::ModelData& model, const model::Control& control,
                     const State& state, model::Workspace& ws) {
  EnergyLedger& ledger = ws.ledger;
  const Real dt = model.options.dt;
  bool hasKinematic = false;
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    const model::ModelBody& body = model.bodies[i];
    hasKinematic = hasKinematic || body.type == BodyType::Kinematic;
    if (body.type != BodyType::Dynamic || body.isJointed || state.isAsleep[i] != 0) continue;
    const solver::ImpulseBlock& block = ws.problem.blocks[i];
    Vec3 mean = block.meanDisplacement, moved = block.displacement;
    Vec3 meanTurn = block.meanRotation;
    if (!ws.early.empty()) {
      mean += ws.early[i].meanDisplacement;
      moved += ws.early[i].displacement;
      meanTurn += ws.early[i].meanRotation;
    }
    const Vec3 weight = dynamics::gravityOf(model, body) * body.mass.mass;
    ledger.external += dot(control.force[i], mean) + dot(control.torque[i], meanTurn);
    ledger.integration += dot(weight, mean - moved);
    ledger.correction -= dot(weight, block.pushDisplacement);
    if (body.linearDamping > 0 || body.angularDamping > 0) {
      const Mat3& R = ws.bodyPose[i].rotation;
      const Vec3 momentum = R * (body.mass.inertia * transposeTimes(R, state.angularVelocity[i]));
      ledger.damping -=
          dot(state.velocity[i], mean) *
              (body.mass.mass * body.linearDamping / (1 + body.linearDamping * dt)) +
          dot(momentum, meanTurn) * (body.angularDamping / (1 + body.angularDamping * dt));
    }
  }
  for (std::size_t i = 0; i < ws.problem.points.size(); ++i) {
    const solver::ImpulsePoint& point = ws.problem.points[i];
    ledger.contactNormal += point.normalWork;
    ledger.contactFriction += point.frictionWork;
    if (hasKinematic && isKinematic(model, point)) ledger.kinematic += kinematicWork(model, ws, i);
  }
  for (const model::ImpactImpulse& impact : ws.impacts) {
    ledger.contactNormal += impact.normalWork;
    ledger.contactFriction += impact.frictionWork;
    ledger.kinematic += impact.kinematicWork;
  }
}

void closeLedger(const model::ModelData& model, const State& state, model::Workspace& ws) {
  EnergyLedger& ledger = ws.ledger;
  const Energy energy = energyOf(model, state, ws);
  ledger.kinetic = energy.kinetic;
  ledger.potential = energy.potential;
  const Real explained = ledger.external + ledger.damping + ledger.contactNormal +
                         ledger.contactFriction + ledger.kinematic + ledger.correction +
                         ledger.integration + ledger.gyroscopic + ledger.constraint;
  ledger.residual = (energy.kinetic + energy.potential) - ws.energyBefore - explained;
  const Real scale = std::max(ws.energyScale, energy.scale);
  ws.energyBefore = energy.kinetic + energy.potential;
  ws.energyScale = energy.scale;
  ws.isLedgerCurrent = true;

  flagInjection(scale, ws);
}

}  // namespace tangere::contact
