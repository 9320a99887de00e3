// SPDX-License-Identifier: Apache-2.0
#include "contact/tree_ledger.hpp"

#include "contact/body_rows.hpp"
#include "contact/joint_step.hpp"
#include "contact/pressure_rows.hpp"
#include "contact/soft_ledger.hpp"
#include "contact/tendon_rows.hpp"

#include <cmath>

namespace tangere::contact {

namespace {

Real kineticAfterSolve(const model::ModelData& model, SapWorkspace& sap);

/// Power of the damping of a body that moves with v and w along other velocities.
Real dampingPower(const model::ModelBody& body, const Mat3& R, const Vec3& v, const Vec3& w,
                  const Vec3& alongV, const Vec3& alongW) {
  const Vec3 momentum = R * (body.mass.inertia * transposeTimes(R, w));
  return -(body.linearDamping * body.mass.mass * dot(v, alongV) +
           body.angularDamping * dot(momentum, alongW));
}

/// Work of the damping of jointed bodies: as it is (implicit), and as it would be with the
/// velocities of the start.
struct BodyDamping {
  Real work = 0, workAtStart = 0;
};
BodyDamping bodyDamping(const model::ModelData& model, const State& state,
                        const model::Workspace& ws, const SapWorkspace& sap) {
  BodyDamping out;
  const Real dt = model.options.dt;
  for (std::size_t l = 0; l < model.links.size(); ++l) {
    const int i = model.links[l].body;
    const model::ModelBody& body = model.bodies[i];
    if (!body.isJointed || (body.linearDamping == 0 && body.angularDamping == 0)) continue;
    const Vec3 v = dynamics::linkVelocity(sap.trees, static_cast<int>(l));
    const Vec3 w = dynamics::linkAngularVelocity(sap.trees, static_cast<int>(l));
    const Vec3 alongV = (state.velocity[i] + v) * Real(0.5);
    const Vec3 alongW = (state.angularVelocity[i] + w) * Real(0.5);
    const Mat3& R = ws.bodyPose[i].rotation;
    out.work += dt * dampingPower(body, R, v, w, alongV, alongW);
    out.workAtStart +=
        dt * dampingPower(body, R, state.velocity[i], state.angularVelocity[i], alongV, alongW);
  }
  return out;
}

Real workOf(int c, const SapWorkspace& sap) {
  Real before[solver::kSapMaxRows];
  velocityOfRows(c, sap.v0.data(), sap, before);
  const Real* after = sap.problem.velocityOf(c);
  const Real* impulse = sap.problem.impulseOf(c);
  Real work = 0;
  for (int row = 0; row < sap.problem.constraints[c].numRows; ++row)
    work += Real(0.5) * impulse[row] * (before[row] + after[row]);
  return work;
}

void bookConstraints(model::Workspace& ws, const SapWorkspace& sap) {
  for (int c = 0; c < sap.problem.numConstraints(); ++c) {
    switch (sap.problem.constraints[c].kind) {
      case solver::SapKind::Contact:
      case solver::SapKind::HuntCrossley:
        break;  // booked point by point
      case solver::SapKind::Friction:
        ws.ledger.damping += workOf(c, sap);
        break;
      case solver::SapKind::Drive:
        ws.ledger.external += workOf(c, sap);
        break;
      case solver::SapKind::Bilateral:
      case solver::SapKind::Limit:
      case solver::SapKind::User:
        ws.ledger.constraint += workOf(c, sap);
        break;
    }
  }
}

/// Armature and springs of tendons keep energy of their own: what their rows did is not external.
void bookTendons(const model::ModelData& model, model::Workspace& ws, SapWorkspace& sap) {
  const Real dt = sap.problem.dt;
  for (const RowOwner& owner : sap.owners) {
    const bool isArmature = owner.kind == RowOwner::Kind::TendonArmature;
    if (!isArmature && owner.kind != RowOwner::Kind::TendonSpring) continue;
    const Tendon& tendon = model.tendons[owner.index].tendon;
    const TendonState& at = sap.tendons[owner.index];
    const Real work = workOf(owner.constraint, sap);
    const Real before = at.rate, after = sap.problem.velocityOf(owner.constraint)[0];
    ws.ledger.external -= work;
    if (isArmature) {
      sap.kineticAtStart += Real(0.5) * tendon.armature * after * after;
      sap.freeWork += work + Real(0.5) * tendon.armature * (after * after - before * before);
      continue;
    }
    const Real damping =
        tendon.damping * (before + at.weights.damping * (after - before));  // of the force
    const Real force = sap.problem.impulseOf(owner.constraint)[0] / dt;
    const Real whole = -at.springForce + damping +
                       forceChange(at.weights, dt, at.springStiffness, 0, before, after);
    // The solver may have lowered both gains.
    const Real part = whole != 0 ? -force / whole : 0;
    const Real damped = -part * damping * dt * Real(0.5) * (before + after);
    ws.ledger.damping += damped;
    sap.freeWork += work - damped;
  }
}

}  // namespace

void measureTreeEnergy(const model::ModelData& model, const State& state, model::Workspace& ws,
                       SapWorkspace& sap) {
  ws.treeEnergy = {};
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    if (model.trees[t].isFreeBody) continue;
    const int tree = static_cast<int>(t);
    const Real kinetic = dynamics::treeKineticEnergy(sap.trees, tree);
    const Real potential =
        dynamics::treePotentialEnergy(sap.trees, tree, model.options.gravity, state.q);
    ws.treeEnergy.kinetic += kinetic;
    ws.treeEnergy.potential += potential;
    ws.treeEnergy.scale += kinetic + std::fabs(potential);
  }
  if (!model.tendons.empty()) {
    const TendonEnergy tendons = tendonEnergy(model, state, sap);
    ws.treeEnergy.kinetic += tendons.kinetic;
    ws.treeEnergy.potential += tendons.potential;
    ws.treeEnergy.scale += tendons.kinetic + tendons.potential;
  }
  addSoftEnergy(model, state, ws, sap);
}

void bookTreeWork(const model::ModelData& model, const model::Control& control, const State& state,
                  model::Workspace& ws, SapWorkspace& sap) {
  bookConstraints(ws, sap);
  const Real dt = model.options.dt;
  sap.kineticAtStart = kineticAfterSolve(model, sap);
  const BodyDamping bodies = bodyDamping(model, state, ws, sap);
  Real applied = 0, damping = bodies.work, free = -bodies.workAtStart;
  for (std::size_t c = 0; c < sap.treeOfClique.size(); ++c) {
    const model::Tree& tree = model.trees[sap.treeOfClique[c]];
    if (tree.isFreeBody) continue;
    for (int k = 0; k < tree.numDofs; ++k) {
      const model::TreeDof& dof = model.dofs[tree.firstDof + k];
      const Real stiffness = model.joints[model.treeJoints[dof.joint].joint].joint.stiffness;
      const int i = sap.problem.firstVelocity[c] + k;
      const Real way = dt * Real(0.5) * (sap.v0[i] + sap.v1[i]);
      applied += way * sap.applied[i];
      const StepWeights& w = sap.weights[i];
      damping -= way * dof.damping * (sap.v0[i] + w.damping * (sap.v1[i] - sap.v0[i]));
      // `passive` is springs and damping at the start.
      free += way * (sap.passive[i] + dof.damping * sap.v0[i] -
                     forceChange(w, dt, stiffness, 0, sap.v0[i], sap.v1[i]) - sap.bias[i]);
    }
  }
  for (const DriveState& drive : sap.drives) {
    if (!drive.isInMatrix) continue;
    const int i = sap.problem.firstVelocity[drive.clique] + drive.dof;
    applied += dt * Real(0.5) * (sap.v0[i] + sap.v1[i]) * drive.gear * drive.force;
  }
  ws.ledger.external += applied;
  ws.ledger.damping += damping;
  sap.freeWork = free;
  bookTendons(model, ws, sap);
  bookPressureWork(model, state, ws, sap);
  bookSoftWork(model, control, state, ws, sap);
}

void closeTreeWork(const model::TreeEnergy& before, model::Workspace& ws, const SapWorkspace& sap) {
  ws.ledger.integration += (ws.treeEnergy.kinetic - sap.kineticAtStart) + sap.freeWork +
                           (ws.treeEnergy.potential - before.potential);
}

namespace {

/// Of the new velocities in the positions of the start.
Real kineticAfterSolve(const model::ModelData& model, SapWorkspace& sap) {
  Real sum = 0;
  for (std::size_t c = 0; c < sap.treeOfClique.size(); ++c) {
    const int tree = sap.treeOfClique[c];
    if (model.trees[tree].isFreeBody) continue;
    dynamics::computeLinkVelocities(sap.trees, tree, sap.nextVelocities);
    sum += dynamics::treeKineticEnergy(sap.trees, tree);
  }
  return sum;
}

}  // namespace

}  // namespace tangere::contact
