// SPDX-License-Identifier: Apache-2.0
#include "dynamics/tree_dynamics.hpp"

#include "dynamics/kernels/articulated_body.hpp"
#include "dynamics/kernels/bias_force.hpp"
#include "dynamics/kernels/composite_inertia.hpp"
#include "dynamics/kernels/point_jacobian.hpp"
#include "dynamics/tree_kinematics.hpp"
#include "dynamics/wide.hpp"

namespace tangere::dynamics {

namespace {

const TreeRange& rangeOf(const TreeWorkspace& ws, int tree) {
  return ws.trees[static_cast<std::size_t>(tree)];
}

/// Forces about the reference point, in the scratch of the workspace.
math::SpatialT<Real>* aboutReference(TreeWorkspace& ws, int tree,
                                     std::span<const LinkWrench> applied) {
  const TreeRange& range = rangeOf(ws, tree);
  math::SpatialT<Real>* out = ws.applied.data() + range.firstLink;
  const Vec3* center = ws.center.data() + range.firstLink;
  for (int i = 0; i < range.numLinks; ++i) {
    const LinkWrench& wrench = applied[static_cast<std::size_t>(i)];
    out[i] = {wrench.torque + cross(center[i], wrench.force), wrench.force};
  }
  return out;
}

TANGERE_WIDE void computeMatrixWide(const kernel::TreeView<Real>& tree, Real dampingTime) {
  kernel::computeTreeMatrix(tree, dampingTime);
}

TANGERE_WIDE void computeBiasWide(const kernel::TreeView<Real>& tree, const Vec3& gravity,
                                  Real* bias) {
  kernel::computeTreeBias(tree, gravity, bias);
}

TANGERE_WIDE bool factorMatrixWide(const kernel::TreeView<Real>& tree) {
  return kernel::factorTreeMatrix(tree);
}

/// A coordinate of four points.
typedef Real Four __attribute__((vector_size(4 * sizeof(Real))));
struct FourPoints {
  Four x, y, z;
};

TANGERE_WIDE void addPointJacobiansWide(const kernel::TreeView<Real>& tree, int lastDof,
                                        const FourPoints& p, const Mat3& R_WC, Real sign,
                                        Real* const* rows, int stride) {
  kernel::addPointJacobians(tree, lastDof, p.x, p.y, p.z, R_WC, sign, rows, stride);
}

}  // namespace

void addPointJacobians(TreeWorkspace& ws, int link, const Vec3 (&p_W)[4], const Mat3& R_WC,
                       Real sign, Real* const (&rows)[4], int stride) {
  const auto index = static_cast<std::size_t>(link);
  const kernel::TreeView<Real> view = ws.view(ws.treeOfLink[index]);
  const int lastDof = ws.links[index].lastDof;
  FourPoints points;
  for (int i = 0; i < 4; ++i) {
    const Vec3 p = p_W[i] - view.frame->center();
    points.x[i] = p.x, points.y[i] = p.y, points.z[i] = p.z;
  }
  Real* const* out = rows;
  if (hasWideRegisters()) {
    addPointJacobiansWide(view, lastDof, points, R_WC, sign, out, stride);
  } else {
    kernel::addPointJacobians(view, lastDof, points.x, points.y, points.z, R_WC, sign, out, stride);
  }
}

void computeMassMatrix(TreeWorkspace& ws, int tree, Real dampingTime) {
  if (hasWideRegisters()) {
    computeMatrixWide(ws.view(tree), dampingTime);
  } else {
    kernel::computeTreeMatrix(ws.view(tree), dampingTime);
  }
}

void copyMassMatrix(TreeWorkspace& ws, int tree, Real* out) {
  kernel::copyDenseMatrix(ws.view(tree), out);
}

void multiplyMassMatrix(TreeWorkspace& ws, int tree, const Real* x, Real* out) {
  kernel::multiplyTreeMatrix(ws.view(tree), x, out);
}

bool factorMassMatrix(TreeWorkspace& ws, int tree) {
  const kernel::TreeView<Real> view = ws.view(tree);
  return hasWideRegisters() ? factorMatrixWide(view) : kernel::factorTreeMatrix(view);
}

void solveMassMatrix(TreeWorkspace& ws, int tree, Real* x) {
  kernel::solveTreeMatrix(ws.view(tree), x);
}

void computeBiasForce(TreeWorkspace& ws, int tree, const Vec3& gravity, Real* bias) {
  if (hasWideRegisters()) {
    computeBiasWide(ws.view(tree), gravity, bias);
  } else {
    kernel::computeTreeBias(ws.view(tree), gravity, bias);
  }
}

void computeInverseDynamics(TreeWorkspace& ws, int tree, const Vec3& gravity, const Real* a,
                            std::span<const LinkWrench> applied, Real* tau) {
  const math::SpatialT<Real>* forces =
      applied.empty() ? nullptr : aboutReference(ws, tree, applied);
  kernel::computeTreeInverseDynamics(ws.view(tree), gravity, a, forces, tau);
}

bool factorArticulatedBodies(TreeWorkspace& ws, int tree) {
  return kernel::factorArticulatedInertia(ws.view(tree));
}

void solveArticulatedBodies(TreeWorkspace& ws, int tree, Real* x) {
  kernel::solveArticulated(ws.view(tree), x);
}

void addPassiveForce(TreeWorkspace& ws, int tree, std::span<const Real> q, Real* tau) {
  const TreeRange& range = rangeOf(ws, tree);
  const kernel::TreeView<Real> view = ws.view(tree);
  kernel::addSpringForces(view, q.data(), tau);
  kernel::addJointDamping(view, static_cast<const Real*>(ws.rate.data() + range.firstDof), tau);

  bool isAnyDamped = false;
  math::SpatialT<Real>* drag = ws.applied.data() + range.firstLink;
  for (int i = 0; i < range.numLinks; ++i) {
    const kernel::LinkT<Real>& link = view.links[i];
    drag[i] = {};
    if (link.linearDamping == 0 && link.angularDamping == 0) continue;
    isAnyDamped = true;
    const Vec3 force =
        math::velocityAt(view.velocity[i], view.center[i]) * (-link.linearDamping * link.mass);
    const Vec3 torque = (view.inertia[i] * view.velocity[i].angular) * (-link.angularDamping);
    drag[i] = {torque + cross(view.center[i], force), force};
  }
  if (isAnyDamped) kernel::addAppliedForces(view, drag, tau);
}

void addAppliedForce(TreeWorkspace& ws, int tree, std::span<const LinkWrench> applied, Real* tau) {
  kernel::addAppliedForces(ws.view(tree), aboutReference(ws, tree, applied), tau);
}

void addPointForce(TreeWorkspace& ws, int link, const Vec3& p_W, const Vec3& force, Real* tau) {
  const auto i = static_cast<std::size_t>(link);
  const kernel::TreeView<Real> view = ws.view(ws.treeOfLink[i]);
  const math::SpatialT<Real> wrench{cross(p_W - view.frame->center(), force), force};
  for (int k = ws.links[i].lastDof; k >= 0; k = view.dofs[k].parent)
    tau[k] += math::dot(view.subspace[k], wrench);
}

Real treeKineticEnergy(const TreeWorkspace& ws, int tree) {
  const TreeRange& range = rangeOf(ws, tree);
  Real twice = 0;
  for (int i = range.firstLink; i < range.firstLink + range.numLinks; ++i) {
    const auto l = static_cast<std::size_t>(i);
    const Vec3& w = ws.velocity[l].angular;
    twice += ws.links[l].mass * squaredNorm(linkVelocity(ws, i)) + dot(w, ws.inertia[l] * w);
  }
  for (int k = range.firstDof; k < range.firstDof + range.numDofs; ++k) {
    const auto d = static_cast<std::size_t>(k);
    twice += ws.dofs[d].armature * ws.rate[d] * ws.rate[d];
  }
  return Real(0.5) * twice;
}

Real treePotentialEnergy(const TreeWorkspace& ws, int tree, const Vec3& gravity,
                         std::span<const Real> q) {
  const TreeRange& range = rangeOf(ws, tree);
  Real energy = 0;
  for (int i = range.firstLink; i < range.firstLink + range.numLinks; ++i) {
    const kernel::LinkT<Real>& link = ws.links[static_cast<std::size_t>(i)];
    energy -= link.mass * link.gravityScale * dot(gravity, linkCenter(ws, i));
    for (int j = link.firstJoint; j < link.firstJoint + link.numJoints; ++j) {
      const auto& joint = ws.joints[static_cast<std::size_t>(range.firstJoint + j)];
      energy += kernel::springEnergy(joint, q.data() + joint.q);
    }
  }
  return energy;
}

math::SpatialT<Real> treeMomentum(const TreeWorkspace& ws, int tree) {
  const TreeRange& range = rangeOf(ws, tree);
  math::SpatialT<Real> sum;
  for (int i = range.firstLink; i < range.firstLink + range.numLinks; ++i) {
    const auto l = static_cast<std::size_t>(i);
    const Vec3 p = linkVelocity(ws, i) * ws.links[l].mass;
    sum.linear += p;
    sum.angular += ws.inertia[l] * ws.velocity[l].angular + cross(ws.center[l], p);
  }
  return sum;
}

Vec3 pointAcceleration(const TreeWorkspace& ws, int link, const Vec3& p_W) {
  const auto i = static_cast<std::size_t>(link);
  const Vec3 p = p_W - referencePoint(ws, link);
  return math::velocityAt(ws.motion[i], p) +
         cross(ws.velocity[i].angular, math::velocityAt(ws.velocity[i], p));
}

LinkWrench jointWrench(const TreeWorkspace& ws, int link, const Vec3& p_W) {
  const math::SpatialT<Real>& force = ws.force[static_cast<std::size_t>(link)];
  return {force.linear, force.angular - cross(p_W - referencePoint(ws, link), force.linear)};
}

}  // namespace tangere::dynamics
