// SPDX-License-Identifier: Apache-2.0
//
// The articulated body algorithm as a solver of M x = b in O(n): every velocity is a link of its
// own, massless but for the last of a body, and all are written about one point, so the inertia of
// a subtree goes to its parent as it is. With b = tau - bias, x is the forward dynamics.
#pragma once

#include "dynamics/kernels/tree_view.hpp"

namespace tangere::kernel {

/// Fills articulated, reaction and inverseInertia; armature is in it. After computeTreePositions.
/// False when an inertia is not positive.
template <class S>
TANGERE_HD inline bool factorArticulatedInertia(const TreeView<S>& tree) {
  for (int i = 0; i < tree.numLinks; ++i) {
    tree.articulated[i] = {};
    tree.articulated[i] += math::rigidInertia(tree.links[i].mass, tree.center[i], tree.inertia[i]);
  }
  bool isPositive = true;
  for (int i = tree.numLinks - 1; i >= 0; --i) {
    const LinkT<S>& link = tree.links[i];
    math::ArticulatedInertiaT<S>& inertia = tree.articulated[i];
    for (int k = link.firstDof + link.numDofs - 1; k >= link.firstDof; --k) {
      const math::SpatialT<S> reaction = inertia * tree.subspace[k];
      const S apparent = math::dot(tree.subspace[k], reaction) + tree.dofs[k].armature;
      isPositive = isPositive && apparent > S(0);
      const S inverse = S(1) / apparent;
      tree.reaction[k] = reaction;
      tree.inverseInertia[k] = inverse;
      if (tree.dofs[k].parent >= 0) inertia.subtractOuter(reaction, inverse);
    }
    if (link.parent >= 0) tree.articulated[link.parent] += inertia;
  }
  return isPositive;
}

/// x = M^-1 x. After factorArticulatedInertia.
template <class S>
TANGERE_HD inline void solveArticulated(const TreeView<S>& tree, S* x) {
  for (int i = 0; i < tree.numLinks; ++i) tree.subtreeForce[i] = {};
  for (int i = tree.numLinks - 1; i >= 0; --i) {
    const LinkT<S>& link = tree.links[i];
    math::SpatialT<S> force = tree.subtreeForce[i];
    for (int k = link.firstDof + link.numDofs - 1; k >= link.firstDof; --k) {
      x[k] = (x[k] - math::dot(tree.subspace[k], force)) * tree.inverseInertia[k];
      force += tree.reaction[k] * x[k];
    }
    if (link.parent >= 0) tree.subtreeForce[link.parent] += force;
  }
  for (int i = 0; i < tree.numLinks; ++i) {
    const LinkT<S>& link = tree.links[i];
    math::SpatialT<S> motion;
    if (link.parent >= 0) motion = tree.subtreeForce[link.parent];
    for (int k = link.firstDof; k < link.firstDof + link.numDofs; ++k) {
      x[k] -= math::dot(tree.reaction[k], motion) * tree.inverseInertia[k];
      motion += tree.subspace[k] * x[k];
    }
    tree.subtreeForce[i] = motion;  // what the forces were is no longer needed
  }
}

}  // namespace tangere::kernel
