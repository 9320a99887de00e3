// SPDX-License-Identifier: Apache-2.0
//
// Positions and velocities of a tree: poses of links, motion subspaces, velocities, and the
// accelerations that are there when no velocity changes.
#pragma once

#include "dynamics/kernels/joint_motion.hpp"
#include "dynamics/kernels/tree_view.hpp"

namespace tangere::kernel {

template <class S>
TANGERE_HD inline void computeFreeBodyPositions(const TreeView<S>& tree, const S* q);
template <class S>
TANGERE_HD inline void placeLinks(const TreeView<S>& tree, const S* q);
template <class S>
TANGERE_HD inline void moveByOtherJoint(const TreeView<S>& tree, int i, int j, const S* q,
                                        JointFrame<S>* frame);
template <class S>
TANGERE_HD inline void moveToReference(const TreeView<S>& tree);

/// Fills frame, pose, origin, center, inertia and subspace from the coordinates of the model.
template <class S>
TANGERE_HD inline void computeTreePositions(const TreeView<S>& tree, const S* q) {
  if (tree.isRootFree && tree.numDofs == 6 && tree.numLinks == 1) {
    computeFreeBodyPositions(tree, q);
    return;
  }
  placeLinks(tree, q);
  moveToReference(tree);
}

/// The common case: a body alone, whose centre is the reference point.
template <class S>
TANGERE_HD inline void computeFreeBodyPositions(const TreeView<S>& tree, const S* q) {
  const LinkT<S>& link = tree.links[0];
  q += tree.joints[0].q;
  const Mat3T<S> R = rotationMatrix(QuatT<S>{q[3], q[4], q[5], q[6]});
  const Vec3T<S> arm = R * link.center;
  tree.frame->base = {q[0], q[1], q[2]};
  tree.frame->reference = arm;
  tree.frame->mass = link.mass;
  tree.pose[0] = {R, tree.frame->base};
  tree.origin[0] = -arm;
  tree.center[0] = {};
  tree.inertia[0] = link.isInertiaDiagonal ? math::rotatedDiagonal(R, link.inertia)
                                           : math::rotated(R, link.inertia);
  const Mat3T<S> world = Mat3T<S>::identity();
  for (int k = 0; k < 3; ++k) {
    tree.subspace[k] = {{}, world.col[k]};
    tree.subspace[3 + k] = {R.col[k], cross(R.col[k], arm)};
  }
}

/// Poses relative to the origin of the root link; subspaces hold axes and points.
template <class S>
TANGERE_HD inline void placeLinks(const TreeView<S>& tree, const S* q) {
  for (int t = 0; t < tree.numTurns; ++t)
    tree.sine[t] = q[tree.turns[t].q] - tree.turns[t].reference;
  math::turnSinCosOfAll(tree.sine, tree.cosine, tree.numTurns);
  S mass{};
  Vec3T<S> moment{};
  for (int i = 0; i < tree.numLinks; ++i) {
    const LinkT<S>& link = tree.links[i];
    JointFrame<S> frame;
    if (link.parent >= 0) {
      const TransformT<S>& parent = tree.pose[link.parent];
      frame.R = link.isPoseTurned ? parent.rotation * link.pose.rotation : parent.rotation;
      frame.origin = parent.translation + parent.rotation * link.pose.translation;
    } else if (i == 0) {
      tree.frame->base = link.pose.translation;
      frame.R = link.pose.rotation;
    } else {
      frame = {link.pose.rotation, link.pose.translation - tree.frame->base};
    }
    for (int j = link.firstJoint; j < link.firstJoint + link.numJoints; ++j) {
      const JointT<S>& joint = tree.joints[j];
      math::SpatialT<S>* axes = tree.subspace + joint.dof;
      if (joint.type == JointType::Revolute) {
        turnByJoint(joint, S(0), tree.sine[joint.turn], tree.cosine[joint.turn], &frame, axes);
      } else {
        moveByOtherJoint(tree, i, j, q, &frame);
      }
    }
    tree.pose[i] = {frame.R, frame.origin};
    tree.center[i] = frame.origin + frame.R * link.center;
    mass += link.mass;
    moment += tree.center[i] * link.mass;
  }
  tree.frame->mass = mass;
  tree.frame->reference = mass > S(0) ? moment / mass : Vec3T<S>{};
}

/// A joint that is not revolute. The way of the root goes to the base, so that what is in the tree
/// stays near zero.
template <class S>
TANGERE_HD inline void moveByOtherJoint(const TreeView<S>& tree, int i, int j, const S* q,
                                        JointFrame<S>* frame) {
  const LinkT<S>& link = tree.links[i];
  const JointT<S>& joint = tree.joints[j];
  const bool isScrew = joint.type == JointType::Screw;
  moveByJoint(joint, q + joint.q, isScrew ? tree.sine[joint.turn] : S(0),
              isScrew ? tree.cosine[joint.turn] : S(1), frame, tree.subspace + joint.dof);
  if (i != 0) return;
  const Vec3T<S> shift = frame->origin;
  if (joint.type == JointType::Free) {
    tree.frame->base = shift;
    for (int k = 0; k < 3; ++k) tree.subspace[joint.dof + 3 + k].linear = {};
    frame->origin = {};
  } else if (joint.type == JointType::Prismatic) {
    tree.frame->base += shift;
    for (int earlier = link.firstJoint; earlier < j; ++earlier) {
      const JointT<S>& other = tree.joints[earlier];
      if (other.type == JointType::Prismatic) continue;
      const int count = other.type == JointType::Ball ? 3 : 1;
      for (int k = 0; k < count; ++k) tree.subspace[other.dof + k].linear -= shift;
    }
    frame->origin = {};
  }
}

/// From the origin of the root to the reference point; poses to the world.
template <class S>
TANGERE_HD inline void moveToReference(const TreeView<S>& tree) {
  const Vec3T<S> reference = tree.frame->reference;
  const Vec3T<S> base = tree.frame->base;
  for (int i = 0; i < tree.numLinks; ++i) {
    const LinkT<S>& link = tree.links[i];
    TransformT<S>& pose = tree.pose[i];
    tree.origin[i] = pose.translation - reference;
    pose.translation += base;
    tree.center[i] -= reference;
    tree.inertia[i] = link.isInertiaDiagonal ? math::rotatedDiagonal(pose.rotation, link.inertia)
                                             : math::rotated(pose.rotation, link.inertia);
    for (int j = link.firstJoint; j < link.firstJoint + link.numJoints; ++j) {
      const JointT<S>& joint = tree.joints[j];
      if (joint.type == JointType::Prismatic) continue;
      const bool isFree = joint.type == JointType::Free;
      const int first = joint.dof + (isFree ? 3 : 0);
      const int count = isFree || joint.type == JointType::Ball ? 3 : 1;
      for (int k = first; k < first + count; ++k) {
        math::SpatialT<S>& axis = tree.subspace[k];
        axis.linear = cross(axis.linear - reference, axis.angular);
        if (joint.type == JointType::Screw) axis.linear += axis.angular * joint.pitch;
      }
    }
  }
}

/// Fills velocity and biasMotion; v is in the order of the tree. After computeTreePositions.
template <class S>
TANGERE_HD inline void computeTreeVelocities(const TreeView<S>& tree, const S* v) {
  for (int i = 0; i < tree.numLinks; ++i) {
    const LinkT<S>& link = tree.links[i];
    math::SpatialT<S> velocity, bias;
    if (link.parent >= 0) {
      velocity = tree.velocity[link.parent];
      bias = tree.biasMotion[link.parent];
    }
    for (int j = link.firstJoint; j < link.firstJoint + link.numJoints; ++j) {
      const JointT<S>& joint = tree.joints[j];
      const math::SpatialT<S>* subspace = tree.subspace + joint.dof;
      const S* rate = v + joint.dof;
      if (joint.type == JointType::Prismatic) {
        const Vec3T<S> change = subspace[0].linear * rate[0];
        bias.linear += cross(velocity.angular, change);
        velocity.linear += change;
        continue;
      }
      if (joint.type == JointType::Free) {  // the axes of the first three stand still
        velocity.linear += Vec3T<S>{rate[0], rate[1], rate[2]};
        subspace += 3;
        rate += 3;
      }
      math::SpatialT<S> change = subspace[0] * rate[0];
      if (joint.type == JointType::Ball || joint.type == JointType::Free) {
        change += subspace[1] * rate[1];
        change += subspace[2] * rate[2];
      }
      // The axes move with the link after the joint; change x change = 0, so before will do.
      bias += math::crossMotion(velocity, change);
      velocity += change;
    }
    tree.velocity[i] = velocity;
    tree.biasMotion[i] = bias;
  }
}

/// Fills velocity alone, with the numbers of computeTreeVelocities.
template <class S>
TANGERE_HD inline void computeLinkVelocities(const TreeView<S>& tree, const S* v) {
  for (int i = 0; i < tree.numLinks; ++i) {
    const LinkT<S>& link = tree.links[i];
    math::SpatialT<S> velocity;
    if (link.parent >= 0) velocity = tree.velocity[link.parent];
    for (int j = link.firstJoint; j < link.firstJoint + link.numJoints; ++j) {
      const JointT<S>& joint = tree.joints[j];
      const math::SpatialT<S>* subspace = tree.subspace + joint.dof;
      const S* rate = v + joint.dof;
      if (joint.type == JointType::Prismatic) {
        velocity.linear += subspace[0].linear * rate[0];
        continue;
      }
      if (joint.type == JointType::Free) {
        velocity.linear += Vec3T<S>{rate[0], rate[1], rate[2]};
        subspace += 3;
        rate += 3;
      }
      math::SpatialT<S> change = subspace[0] * rate[0];
      if (joint.type == JointType::Ball || joint.type == JointType::Free) {
        change += subspace[1] * rate[1];
        change += subspace[2] * rate[2];
      }
      velocity += change;
    }
    tree.velocity[i] = velocity;
  }
}

/// The rate of each subspace, for a reference point at rest. After computeTreeVelocities.
template <class S>
TANGERE_HD inline void computeSubspaceRates(const TreeView<S>& tree, const S* v,
                                            math::SpatialT<S>* rates) {
  for (int i = 0; i < tree.numLinks; ++i) {
    const LinkT<S>& link = tree.links[i];
    math::SpatialT<S> velocity;
    if (link.parent >= 0) velocity = tree.velocity[link.parent];
    for (int j = link.firstJoint; j < link.firstJoint + link.numJoints; ++j) {
      const JointT<S>& joint = tree.joints[j];
      const bool isFree = joint.type == JointType::Free;
      const int count = isFree ? 6 : (joint.type == JointType::Ball ? 3 : 1);
      for (int k = joint.dof; k < joint.dof + count; ++k) velocity += tree.subspace[k] * v[k];
      for (int k = joint.dof; k < joint.dof + count; ++k) {
        const bool isAxisFixed = isFree && k < joint.dof + 3;
        rates[k] =
            isAxisFixed ? math::SpatialT<S>{} : math::crossMotion(velocity, tree.subspace[k]);
      }
    }
  }
}

}  // namespace tangere::kernel
