// SPDX-License-Identifier: Apache-2.0
//
// How velocities of a tree move the points of its links.
#pragma once

#include "dynamics/kernels/tree_view.hpp"

namespace tangere::kernel {

/// Velocity at `p` (from the reference point) at unit velocity k.
template <class S>
TANGERE_HD inline Vec3T<S> pointColumn(const TreeView<S>& tree, int k, const Vec3T<S>& p) {
  return math::velocityAt(tree.subspace[k], p);
}

/// Adds sign R^T J to three rows of `stride` entries: J is the velocity at the point p (from the
/// reference point) of the link, world axes, and R the axes it is wanted in. Only the velocities
/// from `lastDof` up to, and not with, `endDof` (an ancestor, or -1) are touched.
template <class S>
TANGERE_HD inline void addPointJacobian(const TreeView<S>& tree, int lastDof, int endDof,
                                        const Vec3T<S>& p, const Mat3T<S>& R, S sign, S* rows,
                                        int stride) {
  for (int k = lastDof; k != endDof; k = tree.dofs[k].parent) {
    const Vec3T<S> column = transposeTimes(R, pointColumn(tree, k, p)) * sign;
    rows[k] += column.x;
    rows[stride + k] += column.y;
    rows[2 * stride + k] += column.z;
  }
}

/// The same for several points at a time, `Pack` being one number of each: those of point i go to
/// rows[i].
template <class S, class Pack>
TANGERE_HD inline void addPointJacobians(const TreeView<S>& tree, int lastDof, const Pack& px,
                                         const Pack& py, const Pack& pz, const Mat3T<S>& R, S sign,
                                         S* const* rows, int stride) {
  constexpr int kCount = sizeof(Pack) / sizeof(S);
  for (int k = lastDof; k >= 0; k = tree.dofs[k].parent) {
    const Vec3T<S> w = tree.subspace[k].angular, v = tree.subspace[k].linear;
    const Pack x = v.x + (w.y * pz - w.z * py);
    const Pack y = v.y + (w.z * px - w.x * pz);
    const Pack z = v.z + (w.x * py - w.y * px);
    for (int r = 0; r < 3; ++r) {
      const Pack entry = (R.col[r].x * x + R.col[r].y * y + R.col[r].z * z) * sign;
      for (int i = 0; i < kCount; ++i) rows[i][r * stride + k] += entry[i];
    }
  }
}

/// addPointJacobian() for the angular velocity.
template <class S>
TANGERE_HD inline void addAngularJacobian(const TreeView<S>& tree, int lastDof, int endDof,
                                          const Mat3T<S>& R, S sign, S* rows, int stride) {
  for (int k = lastDof; k != endDof; k = tree.dofs[k].parent) {
    const Vec3T<S> column = transposeTimes(R, tree.subspace[k].angular) * sign;
    rows[k] += column.x;
    rows[stride + k] += column.y;
    rows[2 * stride + k] += column.z;
  }
}

/// The deepest velocity that moves both; -1: none. Velocities before it do not change the one link
/// as seen from the other.
template <class S>
TANGERE_HD inline int commonDof(const TreeView<S>& tree, int dof1, int dof2) {
  while (dof1 != dof2) {  // a parent has the smaller index
    if (dof1 > dof2) {
      dof1 = tree.dofs[dof1].parent;
    } else {
      dof2 = tree.dofs[dof2].parent;
    }
  }
  return dof1;
}

}  // namespace tangere::kernel
