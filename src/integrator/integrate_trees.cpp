// SPDX-License-Identifier: Apache-2.0
#include "integrator/integrate_trees.hpp"

#include "math/transform.hpp"
#include "model/motion_limits.hpp"

namespace tangere::integrator {

void gatherNextVelocities(const model::ModelData& model, const State& state,
                          contact::SapWorkspace& sap) {
  sap.nextVelocities.assign(state.v.begin(), state.v.end());
  for (std::size_t c = 0; c < sap.treeOfClique.size(); ++c) {
    const model::Tree& tree = model.trees[sap.treeOfClique[c]];
    if (tree.isFreeBody) continue;  // its clique has other coordinates
    const Real* v = sap.v1.data() + sap.problem.firstVelocity[c];
    for (int k = 0; k < tree.numDofs; ++k)
      sap.nextVelocities[model.dofs[tree.firstDof + k].v] = v[k];
  }
}

int planTrees(const model::ModelData& model, const State& state, contact::SapWorkspace& sap) {
  sap.nextPositions.resize(state.q.size());
  dynamics::integratePositions(sap.trees, state.q, sap.nextVelocities, model.options.dt,
                               sap.nextPositions);
  for (const model::TreeJoint& part : model.treeJoints) {
    if (!model.bodies[part.body].isJointed) continue;
    for (int k = 0; k < numJointPositions(part.type); ++k) {
      if (!math::isFinite(sap.nextPositions[part.q + k])) return part.body;
    }
    for (int k = 0; k < numJointVelocities(part.type); ++k) {
      if (!model::isSpeed(sap.nextVelocities[part.v + k])) return part.body;
    }
  }
  return -1;
}

void moveTrees(const model::ModelData& model, State& state, contact::SapWorkspace& sap) {
  sap.velocityChange.resize(state.v.size());
  for (std::size_t i = 0; i < state.v.size(); ++i)
    sap.velocityChange[i] = sap.nextVelocities[i] - state.v[i];
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    const model::Tree& tree = model.trees[t];
    if (tree.isFreeBody) continue;
    for (int l = tree.firstLink; l < tree.firstLink + tree.numLinks; ++l) {
      const model::TreeLink& link = model.links[l];
      for (int j = link.firstJoint; j < link.firstJoint + link.numJoints; ++j) {
        const model::TreeJoint& part = model.treeJoints[j];
        for (int k = 0; k < numJointPositions(part.type); ++k)
          state.q[part.q + k] = sap.nextPositions[part.q + k];
        for (int k = 0; k < numJointVelocities(part.type); ++k)
          state.v[part.v + k] = sap.nextVelocities[part.v + k];
      }
    }
    dynamics::computeTreePositions(sap.trees, static_cast<int>(t), state.q);
    dynamics::computeTreeVelocities(sap.trees, static_cast<int>(t), state.v);
    dynamics::copyLinksToState(model, sap.trees, static_cast<int>(t), state);
  }
}

void copyFreeBodies(const model::ModelData& model, State& state) {
  for (const model::Tree& tree : model.trees) {
    if (!tree.isFreeBody) continue;
    const model::TreeLink& link = model.links[tree.firstLink];
    const model::TreeJoint& part = model.treeJoints[link.firstJoint];
    const int i = link.body;
    const Quat& r = state.orientation[i];
    const Mat3 R = rotationMatrix(r);
    const Vec3 arm = R * model.bodies[i].mass.center;
    const Vec3 origin = state.center[i] - arm;
    const Vec3 linear = state.velocity[i] - cross(state.angularVelocity[i], arm);
    const Vec3 angular = transposeTimes(R, state.angularVelocity[i]);
    Real* q = state.q.data() + part.q;
    Real* v = state.v.data() + part.v;
    q[0] = origin.x, q[1] = origin.y, q[2] = origin.z;
    q[3] = r.w, q[4] = r.x, q[5] = r.y, q[6] = r.z;
    v[0] = linear.x, v[1] = linear.y, v[2] = linear.z;
    v[3] = angular.x, v[4] = angular.y, v[5] = angular.z;
  }
}

}  // namespace tangere::integrator
