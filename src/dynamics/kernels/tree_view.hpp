// SPDX-License-Identifier: Apache-2.0
//
// One tree of links as the kernels see it: constants of the model, and arrays that the kernels
// fill. Indices are within the tree; a parent comes before its children.
//
// Spatial quantities are in world axes about the tree's centre of mass, taken as a point at rest.
// About that point the sum of mass times squared distance is smallest, and with it what cancels
// when the inertia of a subtree meets the motion of a joint far from the point. Positions inside
// the tree are kept relative to it and never pass through world coordinates, so a tree loses
// nothing by standing far from the world's origin.
#pragma once

#include <tangere/articulation.hpp>
#include <tangere/types.hpp>

#include "math/spatial.hpp"

namespace tangere::kernel {

/// A body of a tree.
template <class S>
struct LinkT {
  int parent = -1;  ///< -1: the world
  int firstJoint = 0, numJoints = 0;
  int firstDof = 0, numDofs = 0;
  int lastDof = -1;           ///< the last velocity that moves it
  bool isPoseTurned = false;  ///< the rotation of `pose` is not the identity
  bool isInertiaDiagonal = false;
  TransformT<S> pose{};  ///< X_PB with the joints at their references
  S mass{};
  Vec3T<S> center{};         ///< body frame
  math::Sym3T<S> inertia{};  ///< about the centre, body frame
  S gravityScale{1};
  S linearDamping{}, angularDamping{};  ///< force per mass and speed, torque per inertia and rate
};

/// What the axis of a joint is, because turning about a coordinate axis costs a quarter.
enum class AxisKind : signed char { General, X, Y, Z };

/// Free, Ball, Revolute, Prismatic or Screw.
template <class S>
struct JointT {
  JointType type = JointType::Revolute;
  AxisKind axisKind = AxisKind::General;  ///< the axis, or its opposite
  bool isOffset = false;                  ///< `position` is not zero
  int q = 0;                              ///< in the coordinates of the whole model
  int dof = 0;
  int turn = -1;                ///< Revolute, Screw: in `sine` and `cosine`
  Vec3T<S> position{}, axis{};  ///< body frame
  S pitch{};
  S reference{};
  S stiffness{};
  S springReference{};     ///< Revolute, Prismatic, Screw
  Vec3T<S> springPoint{};  ///< Free
  QuatT<S> springTurn{};   ///< Free, Ball
};

/// One velocity.
template <class S>
struct DofT {
  int link = 0;
  int parent = -1;  ///< the velocity before it on the way to the world
  int v = 0;        ///< in the velocities of the whole model
  int depth = 0;    ///< velocities before it
  int row = 0;      ///< where its row starts in `ancestors`, `matrix` and `factor`
  S armature{}, damping{};
};

/// The angle of a Revolute or Screw joint: a coordinate of the model less its reference.
template <class S>
struct TurnT {
  int q = 0;
  S reference{};
};

/// Up to three velocities each of which is the parent of the next, and has no other child: their
/// rows are alike but for the length.
struct DofRun {
  static constexpr int kLongest = 3;
  int first = 0, last = 0;
};

/// What is the same for all links of a tree.
template <class S>
struct TreeFrameT {
  Vec3T<S> base{};       ///< origin of the root link, world
  Vec3T<S> reference{};  ///< centre of mass, relative to `base`
  S mass{};

  [[nodiscard]] TANGERE_HD Vec3T<S> center() const { return base + reference; }
};

/// Rows of `ancestors`, `matrix` and `factor` belong to a velocity k and hold one entry for each
/// velocity on the way from the world to k, k included, in that order. So the row of an ancestor
/// is as long as the beginning of the row of k that it changes. Rows are filled up to an even
/// length, so that loops go by pairs; what is in the filling means nothing.
template <class S>
struct TreeView {
  int numLinks = 0, numDofs = 0, numTurns = 0, numRuns = 0;
  bool isRootFree = false;  ///< the first joint is Free
  const LinkT<S>* links = nullptr;
  const JointT<S>* joints = nullptr;
  const DofT<S>* dofs = nullptr;
  const int* ancestors = nullptr;
  const TurnT<S>* turns = nullptr;
  const DofRun* runs = nullptr;

  TreeFrameT<S>* frame = nullptr;
  // Of each link.
  TransformT<S>* pose = nullptr;                ///< X_WB
  Vec3T<S>* origin = nullptr;                   ///< relative to the reference point
  Vec3T<S>* center = nullptr;                   ///< relative to the reference point
  math::Sym3T<S>* inertia = nullptr;            ///< about the centre
  math::SpatialT<S>* velocity = nullptr;        ///< of the link
  math::SpatialT<S>* biasMotion = nullptr;      ///< its acceleration when no velocity changes
  math::SpatialT<S>* motion = nullptr;          ///< its acceleration
  math::SpatialT<S>* force = nullptr;           ///< through its joints, from the parent
  math::RigidInertiaT<S>* composite = nullptr;  ///< of its subtree
  S* sine = nullptr;                            ///< of each turn
  S* cosine = nullptr;
  // Of each velocity.
  math::SpatialT<S>* subspace = nullptr;  ///< motion of the link at unit velocity
  S* matrix = nullptr;                    ///< rows of the mass matrix
  S* factor = nullptr;                    ///< rows of L, unit diagonal, in M = L^T D L
  S* inverseDiagonal = nullptr;           ///< of D
  math::ArticulatedInertiaT<S>* articulated = nullptr;
  math::SpatialT<S>* reaction = nullptr;      ///< articulated inertia times subspace
  math::SpatialT<S>* subtreeForce = nullptr;  ///< of a solve
  S* inverseInertia = nullptr;                ///< 1/(subspace . reaction + armature)
};

}  // namespace tangere::kernel
