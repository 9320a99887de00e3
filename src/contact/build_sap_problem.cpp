// SPDX-License-Identifier: Apache-2.0
#include "contact/build_sap_problem.hpp"

#include "contact/body_rows.hpp"
#include "contact/drive_rows.hpp"
#include "contact/equality_rows.hpp"
#include "contact/joint_rows.hpp"
#include "contact/joint_step.hpp"
#include "contact/pressure_rows.hpp"
#include "contact/recovery.hpp"
#include "contact/soft_rows.hpp"
#include "contact/tendon_rows.hpp"
#include "contact/user_rows.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace tangere::contact {

namespace {

void addCliques(const model::ModelData& model, const State& state, SapWorkspace& sap);
void fillFreeBody(const model::Tree& tree, const model::ModelData& model,
                  const model::Workspace& ws, int clique, SapWorkspace& sap);
void fillTree(int tree, const model::ModelData& model, const model::Control& control,
              const State& state, SapWorkspace& sap);
void addContacts(const model::ModelData& model, const State& state, model::Workspace& ws,
                 SapWorkspace& sap);

}  // namespace

void updateTrees(const model::ModelData& model, const State& state, SapWorkspace& sap) {
  if (sap.areTreesCurrent) return;
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    if (model.trees[t].isFreeBody) continue;
    dynamics::computeTreePositions(sap.trees, static_cast<int>(t), state.q);
    dynamics::computeTreeVelocities(sap.trees, static_cast<int>(t), state.v);
  }
  sap.areTreesCurrent = true;
}

void buildSapProblem(const model::ModelData& model, const model::Control& control,
                     const State& state, model::Workspace& ws, SapWorkspace& sap) {
  sap.problem.clear(model.options.dt);
  sap.owners.clear();
  sap.recovering.clear();
  addCliques(model, state, sap);
  measureTendons(model, state, sap);
  readDrives(model, control, state, sap);
  for (std::size_t c = 0; c < sap.treeOfClique.size(); ++c) {
    const model::Tree& tree = model.trees[sap.treeOfClique[c]];
    if (tree.isFreeBody)
      fillFreeBody(tree, model, ws, static_cast<int>(c), sap);
    else
      fillTree(sap.treeOfClique[c], model, control, state, sap);
  }
  addSoftCliques(model, control, state, ws, sap);
  addContacts(model, state, ws, sap);
  addPressureRows(model, state, sap);
  addAttachmentRows(model, state, sap);
  addJointRows(model, state, sap);
  addEqualityRows(model, state, sap);
  addTendonRows(model, sap);
  addDriveRows(model, sap);
  addUserRows(model, state, sap);
}

namespace {

/// One for each tree that is awake, with its velocities as they are.
void addCliques(const model::ModelData& model, const State& state, SapWorkspace& sap) {
  sap.cliqueOfTree.assign(model.trees.size(), -1);
  sap.hasMeanBias.assign(model.trees.size(), false);
  sap.cliqueOfBody.assign(model.bodies.size(), -1);
  sap.treeOfClique.clear();
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    const model::Tree& tree = model.trees[t];
    if (tree.numDofs == 0 || state.isAsleep[model.links[tree.firstLink].body] != 0) continue;
    const int clique = sap.problem.addClique(tree.numDofs);
    sap.cliqueOfTree[t] = clique;
    sap.treeOfClique.push_back(static_cast<int>(t));
    for (int l = tree.firstLink; l < tree.firstLink + tree.numLinks; ++l)
      sap.cliqueOfBody[model.links[l].body] = clique;
  }
  const auto n = static_cast<std::size_t>(sap.problem.numVelocities());
  for (std::vector<Real>* values : {&sap.v0, &sap.v1, &sap.bias, &sap.passive, &sap.applied,
                                    &sap.driveForce, &sap.stiffness, &sap.damping})
    values->assign(n, 0);
  sap.weights.assign(n, {});
  for (std::size_t c = 0; c < sap.treeOfClique.size(); ++c) {
    const model::Tree& tree = model.trees[sap.treeOfClique[c]];
    Real* v = sap.v0.data() + sap.problem.firstVelocity[c];
    if (tree.isFreeBody) {
      const int body = model.links[tree.firstLink].body;
      const Vec3 &linear = state.velocity[body], &angular = state.angularVelocity[body];
      v[0] = linear.x, v[1] = linear.y, v[2] = linear.z;
      v[3] = angular.x, v[4] = angular.y, v[5] = angular.z;
    } else {
      for (int k = 0; k < tree.numDofs; ++k) v[k] = state.v[model.dofs[tree.firstDof + k].v];
    }
  }
}

/// Mass and inertia about the centre, in the world: no velocity moves the other.
void fillFreeBody(const model::Tree& tree, const model::ModelData& model,
                  const model::Workspace& ws, int clique, SapWorkspace& sap) {
  const int index = model.links[tree.firstLink].body;
  const model::ModelBody& body = model.bodies[index];
  const solver::ImpulseBlock& block = ws.problem.blocks[index];
  const Mat3& R = ws.bodyPose[index].rotation;
  const Mat3 RI = R * body.mass.inertia;
  Real* A = sap.problem.matrix(clique);
  for (int i = 0; i < 3; ++i) {
    A[7 * i] = body.mass.mass;
    for (int j = 0; j <= i; ++j) {
      const Real entry = RI(i, 0) * R(j, 0) + RI(i, 1) * R(j, 1) + RI(i, 2) * R(j, 2);
      A[6 * (3 + i) + 3 + j] = A[6 * (3 + j) + 3 + i] = entry;
    }
  }
  const Real dt = model.options.dt;
  const Vec3 linear = block.velocity + block.acceleration * dt;
  const Vec3 angular = block.angularVelocity + block.angularAcceleration * dt;
  Real* vStar = sap.problem.freeVelocity(clique);
  vStar[0] = linear.x, vStar[1] = linear.y, vStar[2] = linear.z;
  vStar[3] = angular.x, vStar[4] = angular.y, vStar[5] = angular.z;
}

void addAppliedForces(int treeIndex, const model::ModelData& model, const model::Control& control,
                      Real* applied, SapWorkspace& sap) {
  const model::Tree& tree = model.trees[treeIndex];
  sap.wrenches.assign(static_cast<std::size_t>(tree.numLinks), {});
  bool isAny = false;
  for (int l = 0; l < tree.numLinks; ++l) {
    const int body = model.links[tree.firstLink + l].body;
    sap.wrenches[l] = {control.force[body], control.torque[body]};
    isAny = isAny || !(control.force[body] == Vec3{} && control.torque[body] == Vec3{});
  }
  if (isAny) dynamics::addAppliedForce(sap.trees, treeIndex, sap.wrenches, applied);
  for (int k = 0; k < tree.numDofs; ++k)
    applied[k] += control.jointForce[model.dofs[tree.firstDof + k].v];
}

/// v* from the forces that `sap` holds; the matrix is factored.
void computeFreeVelocity(int treeIndex, const model::ModelData& model, SapWorkspace& sap) {
  const model::Tree& tree = model.trees[treeIndex];
  const int clique = sap.cliqueOfTree[treeIndex];
  const int first = sap.problem.firstVelocity[clique];
  const Real dt = model.options.dt;
  Real* vStar = sap.problem.freeVelocity(clique);
  for (int k = 0; k < tree.numDofs; ++k) {
    const int i = first + k;
    vStar[k] = dt * (sap.applied[i] - sap.bias[i] + sap.passive[i] + sap.driveForce[i] -
                     dt * (sap.weights[i].lead * sap.stiffness[i]) * sap.v0[i]);
  }
  dynamics::solveMassMatrix(sap.trees, treeIndex, vStar);
  for (int k = 0; k < tree.numDofs; ++k) vStar[k] += sap.v0[first + k];
}

/// The bias of the mean of the velocities before and after the free motion. What spins feels its
/// own momentum: that of the start alone would add energy to a top in every step.
void turnBias(int treeIndex, const model::ModelData& model, const State& state, SapWorkspace& sap) {
  const model::Tree& tree = model.trees[treeIndex];
  const int clique = sap.cliqueOfTree[treeIndex];
  const int first = sap.problem.firstVelocity[clique];
  sap.nextVelocities.resize(state.v.size());
  for (int k = 0; k < tree.numDofs; ++k)
    sap.nextVelocities[model.dofs[tree.firstDof + k].v] =
        Real(0.5) * (sap.v0[first + k] + sap.problem.freeVelocity(clique)[k]);
  dynamics::computeTreeVelocities(sap.trees, treeIndex, sap.nextVelocities);
  dynamics::computeBiasForce(sap.trees, treeIndex, model.options.gravity, sap.bias.data() + first);
  dynamics::computeTreeVelocities(sap.trees, treeIndex, state.v);
}

/// Whether a velocity of a tree is in rad/s.
bool isAngle(const model::ModelData& model, const model::TreeDof& dof) {
  const model::ModelJoint& joint = model.joints[model.treeJoints[dof.joint].joint];
  constexpr int kAngleOfPlanar = 2;
  if (joint.joint.type == JointType::Planar) return dof.v - joint.v == kAngleOfPlanar;
  return joint.joint.type != JointType::Prismatic;
}

/// A part of a radian in one step: there the Coriolis forces of the start alone add energy, the
/// more the faster it turns, until nothing is left of the motion.
bool isTurningFar(int treeIndex, const model::ModelData& model, const SapWorkspace& sap) {
  constexpr Real kFar = 0.01;  // [rad]
  const model::Tree& tree = model.trees[treeIndex];
  const Real* v0 = sap.v0.data() + sap.problem.firstVelocity[sap.cliqueOfTree[treeIndex]];
  if (tree.numDofs < 2) return false;  // one coordinate alone has none that matter
  Real most = 0;
  for (int k = 0; k < tree.numDofs; ++k)
    if (isAngle(model, model.dofs[tree.firstDof + k])) most = std::max(most, std::fabs(v0[k]));
  return most * model.options.dt > kFar;
}

/// A = M + w_d dt D + w_k dt^2 K, and the velocity that
///   A (v - v0) = dt (tau - bias - K (q0 + w_l dt v0 - q_rest) - D v0)
/// gives: springs, damping and drives without limits are implicit. The weights are those of
/// joint_step.hpp; backward Euler has 1 for all.
void fillTree(int treeIndex, const model::ModelData& model, const model::Control& control,
              const State& state, SapWorkspace& sap) {
  const model::Tree& tree = model.trees[treeIndex];
  const int clique = sap.cliqueOfTree[treeIndex];
  const int first = sap.problem.firstVelocity[clique];
  const Real dt = model.options.dt;
  Real* applied = sap.applied.data() + first;
  Real* passive = sap.passive.data() + first;
  dynamics::computeBiasForce(sap.trees, treeIndex, model.options.gravity, sap.bias.data() + first);
  dynamics::addPassiveForce(sap.trees, treeIndex, state.q, passive);
  addAppliedForces(treeIndex, model, control, applied, sap);

  dynamics::computeMassMatrix(sap.trees, treeIndex, dt);
  const kernel::TreeView<Real> view = sap.trees.view(treeIndex);
  for (int k = 0; k < tree.numDofs; ++k) {
    const model::TreeDof& dof = model.dofs[tree.firstDof + k];
    sap.stiffness[first + k] += model.joints[model.treeJoints[dof.joint].joint].joint.stiffness;
    sap.damping[first + k] += dof.damping;
    const kernel::DofT<Real>& entry = view.dofs[k];
    Real& diagonal = view.matrix[entry.row + entry.depth];
    const Real stiffness = sap.stiffness[first + k], damping = sap.damping[first + k];
    if (stiffness == 0 && damping == 0) continue;
    const StepWeights w =
        weightsOf(model.options.jointStep, dt, stiffness, damping, diagonal > 0 ? 1 / diagonal : 0);
    sap.weights[first + k] = w;
    diagonal += dt * (w.damping * damping + dt * (w.stiffness * stiffness));
  }
  dynamics::copyMassMatrix(sap.trees, treeIndex, sap.problem.matrix(clique));
  (void)dynamics::factorMassMatrix(sap.trees, treeIndex);  // if it fails the solver says so
  computeFreeVelocity(treeIndex, model, sap);
  sap.hasMeanBias[treeIndex] = tree.hasBall || isTurningFar(treeIndex, model, sap);
  if (sap.hasMeanBias[treeIndex]) {
    turnBias(treeIndex, model, state, sap);
    computeFreeVelocity(treeIndex, model, sap);
  }
}

/// Bodies that start deep in each other are led apart, not thrown. A stiffness that was given is a
/// law and stays one.
Real gapToClose(const solver::ImpulsePoint& point, const model::ContactMaterial& material,
                Real dt) {
  if (material.stiffness < kUnlimited) return point.gap;
  return std::max(point.gap, -kMaxRecoverySpeed * (dt + material.relaxationTime));
}

/// A constraint for each point, with the law of the contact and no Jacobian yet; the first one.
int addPoints(const model::ModelData& model, const State& state,
              std::span<const solver::ImpulsePoint> points, const model::ContactMaterial& material,
              const CliquePair& cliques, SapWorkspace& sap) {
  const Real dt = sap.problem.dt;
  if (model.options.sap.contact == SapContactModel::HuntCrossley) {
    const int first = sap.problem.numConstraints();
    for (const solver::ImpulsePoint& point : points)
      sap.problem.addHuntCrossley(
          cliques.first, cliques.second,
          {.friction = point.friction,
           .stiffness = material.stiffness,
           .dissipation = material.dissipation,
           .gap = gapToClose(point, material, dt),
           .normalVelocity = dot(relativeVelocity(state, point), point.normal),
           .slipSpeed = model.options.sap.slipSpeed});
    return first;
  }
  const int first = sap.problem.addContacts(
      static_cast<int>(points.size()), cliques.first, cliques.second,
      {.stiffness = material.stiffness, .dissipationTime = material.relaxationTime});
  solver::SapContact* contact = sap.problem.contacts.data() +
                                static_cast<std::ptrdiff_t>(sap.problem.contacts.size()) -
                                static_cast<std::ptrdiff_t>(points.size());
  const Real scale = impulseScale(state, dt);
  for (const solver::ImpulsePoint& point : points) {
    contact->friction = point.friction;
    contact->gap = gapToClose(point, material, dt);
    contact->heldImpulse[0] = scale * point.tangentImpulse[0];
    contact->heldImpulse[1] = scale * point.tangentImpulse[1];
    ++contact;
  }
  return first;
}

void addContacts(const model::ModelData& model, const State& state, model::Workspace& ws,
                 SapWorkspace& sap) {
  sap.constraintOfPoint.assign(ws.problem.points.size(), -1);
  const Real scale = impulseScale(state, sap.problem.dt);
  for (std::size_t g = 0; g < ws.problem.groups.size(); ++g) {
    const solver::ImpulseGroup& group = ws.problem.groups[g];
    const CliquePair cliques = cliquesOf(sap, group.block1, group.block2);
    if (cliques.first < 0 || group.count == 0) continue;
    const auto [shape1, shape2] = ws.groupShapes[g];
    const model::ContactMaterial& material =
        model.contactMaterial(model.shapes[shape1].material, model.shapes[shape2].material);
    const std::span<const solver::ImpulsePoint> points(ws.problem.points.data() + group.first,
                                                       static_cast<std::size_t>(group.count));
    const int first = addPoints(model, state, points, material, cliques, sap);
    writeContactRows(model, state, first, group.block1, group.block2, points, sap);
    const bool isLimited =
        !(material.stiffness < kUnlimited) &&
        (isTree(model, sap, cliques.first) || isTree(model, sap, cliques.second));
    for (int i = 0; i < group.count; ++i) {
      const solver::ImpulsePoint& point = points[static_cast<std::size_t>(i)];
      if (isLimited)
        limitContactRecovery(model, first + i, -point.gap, material.relaxationTime,
                             gapOf(first + i, sap.problem), sap);
      Real* impulse = sap.problem.impulseOf(first + i);
      impulse[0] = scale * point.tangentImpulse[0];
      impulse[1] = scale * point.tangentImpulse[1];
      impulse[2] = scale * point.normalImpulse;
      sap.constraintOfPoint[group.first + i] = first + i;
    }
  }
}

}  // namespace

}  // namespace tangere::contact
