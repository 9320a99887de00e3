// SPDX-License-Identifier: Apache-2.0
//
// Recursive Newton-Euler: the forces that make a tree move in a given way. Newton and Euler are
// written at the centre of each link, so that the square of its distance from the reference point
// is in no sum.
#pragma once

#include "dynamics/kernels/joint_motion.hpp"
#include "dynamics/kernels/tree_view.hpp"

namespace tangere::kernel {

template <class S>
TANGERE_HD inline math::SpatialT<S> linkForce(const TreeView<S>& tree, int link,
                                              const math::SpatialT<S>& motion,
                                              const Vec3T<S>& gravity);
template <class S>
TANGERE_HD inline void sumForces(const TreeView<S>& tree, S* tau);

/// tau = C(q, v) - gravity: what the velocities need so that they do not change. Fills force. After
/// computeTreeVelocities.
template <class S>
TANGERE_HD inline void computeTreeBias(const TreeView<S>& tree, const Vec3T<S>& gravity, S* tau) {
  for (int i = 0; i < tree.numLinks; ++i)
    tree.force[i] = linkForce(tree, i, tree.biasMotion[i], gravity);
  sumForces(tree, tau);
}

/// tau for the accelerations a; fills motion and force. The forces that act on links from outside
/// (about the reference point) are in `applied` or null.
template <class S>
TANGERE_HD inline void computeTreeInverseDynamics(const TreeView<S>& tree, const Vec3T<S>& gravity,
                                                  const S* a, const math::SpatialT<S>* applied,
                                                  S* tau) {
  for (int i = 0; i < tree.numLinks; ++i) {
    const LinkT<S>& link = tree.links[i];
    math::SpatialT<S> motion = tree.biasMotion[i];
    if (link.parent >= 0) motion += tree.motion[link.parent] - tree.biasMotion[link.parent];
    for (int k = link.firstDof; k < link.firstDof + link.numDofs; ++k)
      motion += tree.subspace[k] * a[k];
    tree.motion[i] = motion;
    tree.force[i] = linkForce(tree, i, motion, gravity);
    if (applied != nullptr) tree.force[i] -= applied[i];
  }
  sumForces(tree, tau);
  for (int k = 0; k < tree.numDofs; ++k) tau[k] += tree.dofs[k].armature * a[k];
}

/// The force on a link that moves so, less its weight, about the reference point.
template <class S>
TANGERE_HD inline math::SpatialT<S> linkForce(const TreeView<S>& tree, int i,
                                              const math::SpatialT<S>& motion,
                                              const Vec3T<S>& gravity) {
  const LinkT<S>& link = tree.links[i];
  const Vec3T<S>& c = tree.center[i];
  const Vec3T<S>& w = tree.velocity[i].angular;
  const Vec3T<S> velocity = math::velocityAt(tree.velocity[i], c);
  const Vec3T<S> acceleration = math::velocityAt(motion, c) + cross(w, velocity);
  const Vec3T<S> f = (acceleration - gravity * link.gravityScale) * link.mass;
  const math::Sym3T<S>& inertia = tree.inertia[i];
  return {inertia * motion.angular + cross(w, inertia * w) + cross(c, f), f};
}

/// From links to joints: sums over subtrees, and their share along each subspace.
template <class S>
TANGERE_HD inline void sumForces(const TreeView<S>& tree, S* tau) {
  for (int i = tree.numLinks - 1; i >= 0; --i) {
    const LinkT<S>& link = tree.links[i];
    const math::SpatialT<S>& force = tree.force[i];
    for (int k = link.firstDof; k < link.firstDof + link.numDofs; ++k)
      tau[k] = math::dot(tree.subspace[k], force);
    if (link.parent >= 0) tree.force[link.parent] += force;
  }
}

/// tau += the share of forces on links (about the reference point) along the velocities. Adds up
/// subtrees in `applied`.
template <class S>
TANGERE_HD inline void addAppliedForces(const TreeView<S>& tree, math::SpatialT<S>* applied,
                                        S* tau) {
  for (int i = tree.numLinks - 1; i >= 0; --i) {
    const LinkT<S>& link = tree.links[i];
    for (int k = link.firstDof; k < link.firstDof + link.numDofs; ++k)
      tau[k] += math::dot(tree.subspace[k], applied[i]);
    if (link.parent >= 0) applied[link.parent] += applied[i];
  }
}

/// tau += springs of joints; `q` of the whole model.
template <class S>
TANGERE_HD inline void addSpringForces(const TreeView<S>& tree, const S* q, S* tau) {
  for (int i = 0; i < tree.numLinks; ++i) {
    const LinkT<S>& link = tree.links[i];
    for (int j = link.firstJoint; j < link.firstJoint + link.numJoints; ++j) {
      const JointT<S>& joint = tree.joints[j];
      if (!(joint.stiffness > S(0))) continue;
      S force[6]{};
      springForce(joint, q + joint.q, force);
      const int count = joint.type == JointType::Free ? 6 : (joint.type == JointType::Ball ? 3 : 1);
      for (int k = 0; k < count; ++k) tau[joint.dof + k] += force[k];
    }
  }
}

/// tau -= damping of joints.
template <class S>
TANGERE_HD inline void addJointDamping(const TreeView<S>& tree, const S* v, S* tau) {
  for (int k = 0; k < tree.numDofs; ++k) tau[k] -= tree.dofs[k].damping * v[k];
}

}  // namespace tangere::kernel
