// SPDX-License-Identifier: Apache-2.0
#include "dynamics/tree_kinematics.hpp"

#include "dynamics/kernels/tree_motion.hpp"
#include "dynamics/wide.hpp"
#include "math/quat.hpp"

namespace tangere::dynamics {

namespace {

TANGERE_WIDE void computePositionsWide(const kernel::TreeView<Real>& tree, const Real* q) {
  kernel::computeTreePositions(tree, q);
}

TANGERE_WIDE void computeVelocitiesWide(const kernel::TreeView<Real>& tree, const Real* rate) {
  kernel::computeTreeVelocities(tree, rate);
}

}  // namespace

void computeTreePositions(TreeWorkspace& ws, int tree, std::span<const Real> q) {
  if (hasWideRegisters()) {
    computePositionsWide(ws.view(tree), q.data());
  } else {
    kernel::computeTreePositions(ws.view(tree), q.data());
  }
}

void computeTreePositions(TreeWorkspace& ws, std::span<const Real> q) {
  for (int t = 0; t < ws.numTrees(); ++t) computeTreePositions(ws, t, q);
}

namespace {

/// The velocities of a tree in its own order, kept in the workspace.
const Real* gatherRates(TreeWorkspace& ws, int tree, std::span<const Real> v) {
  const TreeRange& range = ws.trees[static_cast<std::size_t>(tree)];
  Real* rate = ws.rate.data() + range.firstDof;
  const kernel::DofT<Real>* dofs = ws.dofs.data() + range.firstDof;
  for (int k = 0; k < range.numDofs; ++k) rate[k] = v[static_cast<std::size_t>(dofs[k].v)];
  return rate;
}

}  // namespace

void computeLinkVelocities(TreeWorkspace& ws, int tree, std::span<const Real> v) {
  kernel::computeLinkVelocities(ws.view(tree), gatherRates(ws, tree, v));
}

void computeTreeVelocities(TreeWorkspace& ws, int tree, std::span<const Real> v) {
  const kernel::TreeView<Real> view = ws.view(tree);
  const Real* rate = gatherRates(ws, tree, v);
  if (hasWideRegisters()) {
    computeVelocitiesWide(view, rate);
  } else {
    kernel::computeTreeVelocities(view, rate);
  }
}

void computeTreeVelocities(TreeWorkspace& ws, std::span<const Real> v) {
  for (int t = 0; t < ws.numTrees(); ++t) computeTreeVelocities(ws, t, v);
}

void copyLinksToState(const model::ModelData& model, const TreeWorkspace& ws, State& state) {
  for (int tree = 0; tree < static_cast<int>(model.trees.size()); ++tree)
    copyLinksToState(model, ws, tree, state);
}

void copyLinksToState(const model::ModelData& model, const TreeWorkspace& ws, int tree,
                      State& state) {
  const model::Tree& range = model.trees[static_cast<std::size_t>(tree)];
  for (int i = range.firstLink; i < range.firstLink + range.numLinks; ++i) {
    const auto link = static_cast<std::size_t>(i);
    const auto body = static_cast<std::size_t>(model.links[link].body);
    state.center[body] = linkCenter(ws, i);
    const kernel::LinkT<Real>& constants = ws.links[link];
    const bool isFree =
        constants.parent < 0 && constants.numJoints == 1 &&
        model.treeJoints[static_cast<std::size_t>(model.links[link].firstJoint)].type ==
            JointType::Free;
    if (isFree) {  // its quaternion as it is, sign included
      const Real* q = state.q.data() +
                      model.treeJoints[static_cast<std::size_t>(model.links[link].firstJoint)].q;
      state.orientation[body] = math::normalized(Quat{q[3], q[4], q[5], q[6]});
    } else {
      state.orientation[body] = math::quatFromRotation(ws.pose[link].rotation);
    }
    state.velocity[body] = linkVelocity(ws, i);
    state.angularVelocity[body] = linkAngularVelocity(ws, i);
  }
}

void gatherVelocities(const TreeWorkspace& ws, std::span<const Real> v, std::span<Real> inTrees) {
  for (std::size_t k = 0; k < ws.dofs.size(); ++k)
    inTrees[k] = v[static_cast<std::size_t>(ws.dofs[k].v)];
}

void scatterVelocities(const TreeWorkspace& ws, std::span<const Real> inTrees, std::span<Real> v) {
  for (std::size_t k = 0; k < ws.dofs.size(); ++k)
    v[static_cast<std::size_t>(ws.dofs[k].v)] = inTrees[k];
}

namespace {

/// Calls f(type, where the coordinates start, where the velocities start) for every joint.
template <class F>
void forEachJoint(const TreeWorkspace& ws, const F& f) {
  for (const TreeRange& range : ws.trees) {
    for (int i = range.firstLink; i < range.firstLink + range.numLinks; ++i) {
      const kernel::LinkT<Real>& link = ws.links[static_cast<std::size_t>(i)];
      for (int j = link.firstJoint; j < link.firstJoint + link.numJoints; ++j) {
        const auto& joint = ws.joints[static_cast<std::size_t>(range.firstJoint + j)];
        const auto& dof = ws.dofs[static_cast<std::size_t>(range.firstDof + joint.dof)];
        f(joint.type, joint.q, dof.v);
      }
    }
  }
}

}  // namespace

void integratePositions(const TreeWorkspace& ws, std::span<const Real> q, std::span<const Real> v,
                        Real dt, std::span<Real> out) {
  forEachJoint(ws, [&](JointType type, int firstQ, int firstV) {
    kernel::integrateJoint(type, q.data() + firstQ, v.data() + firstV, dt, out.data() + firstQ);
  });
}

void differentiatePositions(const TreeWorkspace& ws, std::span<const Real> q1,
                            std::span<const Real> q2, std::span<Real> v) {
  forEachJoint(ws, [&](JointType type, int firstQ, int firstV) {
    kernel::differenceOfJoint(type, q1.data() + firstQ, q2.data() + firstQ, v.data() + firstV);
  });
}

namespace {

/// The tree of a link, and the last velocity that moves it.
struct LinkInTree {
  kernel::TreeView<Real> view;
  int lastDof = -1;
};

LinkInTree linkInTree(TreeWorkspace& ws, int link) {
  const auto i = static_cast<std::size_t>(link);
  return {ws.view(ws.treeOfLink[i]), ws.links[i].lastDof};
}

}  // namespace

void addPointJacobian(TreeWorkspace& ws, int link, const Vec3& p_W, const Mat3& R_WC, Real sign,
                      Real* rows, int stride) {
  const LinkInTree at = linkInTree(ws, link);
  kernel::addPointJacobian(at.view, at.lastDof, -1, p_W - at.view.frame->center(), R_WC, sign, rows,
                           stride);
}

void addAngularJacobian(TreeWorkspace& ws, int link, const Mat3& R_WC, Real sign, Real* rows,
                        int stride) {
  const LinkInTree at = linkInTree(ws, link);
  kernel::addAngularJacobian(at.view, at.lastDof, -1, R_WC, sign, rows, stride);
}

void addRelativePointJacobian(TreeWorkspace& ws, int link1, int link2, const Vec3& p_W,
                              const Mat3& R_WC, Real* rows, int stride) {
  const LinkInTree at = linkInTree(ws, link1);
  const int lastDof2 = ws.links[static_cast<std::size_t>(link2)].lastDof;
  const int common = kernel::commonDof(at.view, at.lastDof, lastDof2);
  const Vec3 p = p_W - at.view.frame->center();
  kernel::addPointJacobian(at.view, at.lastDof, common, p, R_WC, Real(1), rows, stride);
  kernel::addPointJacobian(at.view, lastDof2, common, p, R_WC, Real(-1), rows, stride);
}

void addRelativeAngularJacobian(TreeWorkspace& ws, int link1, int link2, const Mat3& R_WC,
                                Real* rows, int stride) {
  const LinkInTree at = linkInTree(ws, link1);
  const int lastDof2 = ws.links[static_cast<std::size_t>(link2)].lastDof;
  const int common = kernel::commonDof(at.view, at.lastDof, lastDof2);
  kernel::addAngularJacobian(at.view, at.lastDof, common, R_WC, Real(1), rows, stride);
  kernel::addAngularJacobian(at.view, lastDof2, common, R_WC, Real(-1), rows, stride);
}

}  // namespace tangere::dynamics
