// SPDX-License-Identifier: Apache-2.0
//
// The mass matrix of a tree by composite bodies, and its factors. A velocity meets only those on
// its way to the world, so a row has as many entries as the velocity is deep, and M = L^T D L
// (leaves first) fills in nothing: O(n depth) entries, O(n depth^2) operations.
#pragma once

#include "dynamics/kernels/tree_view.hpp"

namespace tangere::kernel {

template <class S>
TANGERE_HD inline void computeFreeBodyMatrix(const TreeView<S>& tree, S dampingTime);

/// Fills composite and matrix, armature included. After computeTreePositions. With a
/// `dampingTime` [s] the damping of bodies (not of joints) times that is in it: the matrix of an
/// implicit step.
template <class S>
TANGERE_HD inline void computeTreeMatrix(const TreeView<S>& tree, S dampingTime) {
  if (tree.isRootFree && tree.numDofs == 6 && tree.numLinks == 1) {
    computeFreeBodyMatrix(tree, dampingTime);
    return;
  }
  if (dampingTime > S(0)) {
    for (int i = 0; i < tree.numLinks; ++i) {
      const LinkT<S>& link = tree.links[i];
      const S linear = S(1) + dampingTime * link.linearDamping;
      const S angular = S(1) + dampingTime * link.angularDamping;
      tree.composite[i] =
          math::rigidInertia(link.mass * linear, tree.center[i], tree.inertia[i] * angular);
    }
  } else {
    for (int i = 0; i < tree.numLinks; ++i)
      tree.composite[i] = math::rigidInertia(tree.links[i].mass, tree.center[i], tree.inertia[i]);
  }
  for (int i = tree.numLinks - 1; i >= 0; --i) {
    const LinkT<S>& link = tree.links[i];
    const math::RigidInertiaT<S>& composite = tree.composite[i];
    if (link.parent >= 0) tree.composite[link.parent] += composite;
    for (int k = link.firstDof; k < link.firstDof + link.numDofs; ++k) {
      const DofT<S>& dof = tree.dofs[k];
      const math::SpatialT<S> force = composite * tree.subspace[k];
      S* row = tree.matrix + dof.row;
      const int* ancestors = tree.ancestors + dof.row;
      int d = 0;
      if (tree.isRootFree && dof.depth >= 6) {  // of the root: the force and its moment, turned
        const Vec3T<S> moment = transposeTimes(tree.pose[0].rotation,
                                               force.angular - cross(tree.origin[0], force.linear));
        row[0] = force.linear.x;
        row[1] = force.linear.y;
        row[2] = force.linear.z;
        row[3] = moment.x;
        row[4] = moment.y;
        row[5] = moment.z;
        d = 6;
      }
      for (; d < dof.depth; ++d) row[d] = math::dot(tree.subspace[ancestors[d]], force);
      row[dof.depth] = math::dot(tree.subspace[k], force) + dof.armature;
    }
  }
}

/// A body alone: mass, first moment and inertia about its origin, with no sums over anything.
template <class S>
TANGERE_HD inline void computeFreeBodyMatrix(const TreeView<S>& tree, S dampingTime) {
  const LinkT<S>& link = tree.links[0];
  const S mass = link.mass * (S(1) + dampingTime * link.linearDamping);
  const S angular = S(1) + dampingTime * link.angularDamping;
  const Mat3T<S>& R = tree.pose[0].rotation;
  // Turning about body axis k moves the centre by R (e_k x c).
  const Vec3T<S> h = link.center * mass;
  const Vec3T<S> p0 = R.col[2] * h.y - R.col[1] * h.z;
  const Vec3T<S> p1 = R.col[0] * h.z - R.col[2] * h.x;
  const Vec3T<S> p2 = R.col[1] * h.x - R.col[0] * h.y;
  const math::Sym3T<S> inertia = link.inertia * angular + math::pointInertia(mass, link.center);
  const DofT<S>* dofs = tree.dofs;
  const S linear[3] = {mass + dofs[0].armature, mass + dofs[1].armature, mass + dofs[2].armature};
  for (int k = 0; k < 3; ++k) {
    S* row = tree.matrix + dofs[k].row;
    for (int d = 0; d < k; ++d) row[d] = S(0);
    row[k] = linear[k];
  }
  S* row = tree.matrix + dofs[3].row;
  row[0] = p0.x;
  row[1] = p0.y;
  row[2] = p0.z;
  row[3] = inertia.xx + dofs[3].armature;
  row = tree.matrix + dofs[4].row;
  row[0] = p1.x;
  row[1] = p1.y;
  row[2] = p1.z;
  row[3] = inertia.xy;
  row[4] = inertia.yy + dofs[4].armature;
  row = tree.matrix + dofs[5].row;
  row[0] = p2.x;
  row[1] = p2.y;
  row[2] = p2.z;
  row[3] = inertia.xz;
  row[4] = inertia.yz;
  row[5] = inertia.zz + dofs[5].armature;
  tree.composite[0] = math::rigidInertia(mass, tree.center[0], tree.inertia[0] * angular);
}

/// The matrix as numDofs rows of numDofs entries, both triangles.
template <class S>
TANGERE_HD inline void copyDenseMatrix(const TreeView<S>& tree, S* out) {
  const int n = tree.numDofs;
  for (int i = 0; i < n * n; ++i) out[i] = S(0);
  for (int k = 0; k < n; ++k) {
    const DofT<S>& dof = tree.dofs[k];
    const S* row = tree.matrix + dof.row;
    const int* ancestors = tree.ancestors + dof.row;
    for (int d = 0; d <= dof.depth; ++d) {
      out[k * n + ancestors[d]] = row[d];
      out[ancestors[d] * n + k] = row[d];
    }
  }
}

/// out = M x.
template <class S>
TANGERE_HD inline void multiplyTreeMatrix(const TreeView<S>& tree, const S* x, S* out) {
  for (int k = 0; k < tree.numDofs; ++k) out[k] = S(0);
  for (int k = 0; k < tree.numDofs; ++k) {
    const DofT<S>& dof = tree.dofs[k];
    const S* row = tree.matrix + dof.row;
    const int* ancestors = tree.ancestors + dof.row;
    S sum = row[dof.depth] * x[k];
    for (int d = 0; d < dof.depth; ++d) {
      sum += row[d] * x[ancestors[d]];
      out[ancestors[d]] += row[d] * x[k];
    }
    out[k] += sum;
  }
}

template <class S>
TANGERE_HD inline void subtractOne(const S* r0, S l0, int depth, S* __restrict row);
template <class S>
TANGERE_HD inline void subtractTwo(const S* r0, S l0, const S* r1, S l1, int depth,
                                   S* __restrict row);
template <class S>
TANGERE_HD inline void subtractThree(const S* r0, S l0, const S* r1, S l1, const S* r2, S l2,
                                     int depth, S* __restrict row);
template <class S>
TANGERE_HD inline void subtractThreeFromTwo(const S* const* rows, const S* inverses, int depth,
                                            S* __restrict lower, S* __restrict upper);
template <class S>
TANGERE_HD inline void scaleRow(S inverse, int length, S* row);

/// Fills factor and inverseDiagonal from matrix. False when a pivot is not positive.
///
/// Goes from leaves to the root by runs. The pivots of a run, each of which waits for a division by
/// the one before, come from the few numbers where its rows and columns meet; then every row above
/// takes what all velocities of the run do to it at once. The rows of a run hold D L until nothing
/// is to be taken from them.
template <class S>
TANGERE_HD inline bool factorTreeMatrix(const TreeView<S>& tree) {
  const DofT<S>* dofs = tree.dofs;
  const DofT<S>& end = dofs[tree.numDofs - 1];
  const int size = end.row + end.depth + 1;
  S* factor = tree.factor;
  for (int i = 0; i < size; ++i) factor[i] = tree.matrix[i];
  bool isPositive = true;
  for (int r = tree.numRuns - 1; r >= 0; --r) {
    const DofRun run = tree.runs[r];
    const int depth = dofs[run.first].depth;
    const int* ancestors = tree.ancestors + dofs[run.first].row;
    const int count = run.last - run.first + 1;
    S* row0 = factor + dofs[run.last].row;  // from the last up
    if (count == 1) {
      const S inverse = S(1) / row0[depth];
      isPositive = isPositive && row0[depth] > S(0);
      for (int d = depth - 1; d >= 0; --d)
        subtractOne(row0, row0[d] * inverse, d, factor + dofs[ancestors[d]].row);
      tree.inverseDiagonal[run.last] = inverse;
      scaleRow(inverse, depth, row0);
      continue;
    }
    S* row1 = factor + dofs[run.last - 1].row;
    if (count == 2) {
      const S a10 = row0[depth];
      const S inverse0 = S(1) / row0[depth + 1];
      const S l10 = a10 * inverse0;
      const S pivot1 = row1[depth] - l10 * a10;
      const S inverse1 = S(1) / pivot1;
      isPositive = isPositive && row0[depth + 1] > S(0) && pivot1 > S(0);
      subtractOne(row0, l10, depth, row1);
      for (int d = depth - 1; d >= 0; --d)
        subtractTwo(row0, row0[d] * inverse0, row1, row1[d] * inverse1, d,
                    factor + dofs[ancestors[d]].row);
      tree.inverseDiagonal[run.last] = inverse0;
      tree.inverseDiagonal[run.first] = inverse1;
      scaleRow(inverse0, depth + 1, row0);
      scaleRow(inverse1, depth, row1);
      continue;
    }
    S* row2 = factor + dofs[run.first].row;
    const S a20 = row0[depth], a10 = row0[depth + 1];
    const S inverse0 = S(1) / row0[depth + 2];
    const S l10 = a10 * inverse0, l20 = a20 * inverse0;
    const S pivot1 = row1[depth + 1] - l10 * a10;
    const S a21 = row1[depth] - l10 * a20;
    const S inverse1 = S(1) / pivot1;
    const S l21 = a21 * inverse1;
    const S pivot2 = (row2[depth] - l20 * a20) - l21 * a21;
    isPositive = isPositive && row0[depth + 2] > S(0) && pivot1 > S(0) && pivot2 > S(0);
    const S inverses[3] = {inverse0, inverse1, S(1) / pivot2};
    for (int e = 0; e <= depth; e += 2) {
      const S even0 = row0[e], odd0 = row0[e + 1];
      const S even1 = row1[e] - l10 * even0, odd1 = row1[e + 1] - l10 * odd0;
      const S even2 = (row2[e] - l20 * even0) - l21 * even1;
      const S odd2 = (row2[e + 1] - l20 * odd0) - l21 * odd1;
      row1[e] = even1;
      row1[e + 1] = odd1;
      row2[e] = even2;
      row2[e + 1] = odd2;
    }
    const S* const rows[3] = {row0, row1, row2};
    int d = depth - 1;
    for (; d >= 1; d -= 2)
      subtractThreeFromTwo(rows, inverses, d, factor + dofs[ancestors[d]].row,
                           factor + dofs[ancestors[d - 1]].row);
    if (d == 0)
      subtractThree(row0, row0[0] * inverses[0], row1, row1[0] * inverses[1], row2,
                    row2[0] * inverses[2], 0, factor + dofs[ancestors[0]].row);
    for (int i = 0; i < 3; ++i) tree.inverseDiagonal[run.last - i] = inverses[i];
    scaleRow(inverses[0], depth + 2, row0);
    scaleRow(inverses[1], depth + 1, row1);
    scaleRow(inverses[2], depth, row2);
  }
  return isPositive;
}

/// The first `length` entries times `inverse`, by pairs.
template <class S>
TANGERE_HD inline void scaleRow(S inverse, int length, S* row) {
  for (int e = 0; e < length; e += 2) {
    row[e] *= inverse;
    row[e + 1] *= inverse;
  }
}

/// row -= l0 r0, up to `depth`, by pairs.
template <class S>
TANGERE_HD inline void subtractOne(const S* r0, S l0, int depth, S* __restrict row) {
  for (int e = 0; e <= depth; e += 2) {
    const S even = row[e] - l0 * r0[e];
    const S odd = row[e + 1] - l0 * r0[e + 1];
    row[e] = even;
    row[e + 1] = odd;
  }
}

template <class S>
TANGERE_HD inline void subtractTwo(const S* r0, S l0, const S* r1, S l1, int depth,
                                   S* __restrict row) {
  for (int e = 0; e <= depth; e += 2) {
    const S even = (row[e] - l0 * r0[e]) - l1 * r1[e];
    const S odd = (row[e + 1] - l0 * r0[e + 1]) - l1 * r1[e + 1];
    row[e] = even;
    row[e + 1] = odd;
  }
}

template <class S>
TANGERE_HD inline void subtractThree(const S* r0, S l0, const S* r1, S l1, const S* r2, S l2,
                                     int depth, S* __restrict row) {
  for (int e = 0; e <= depth; e += 2) {
    const S even = ((row[e] - l0 * r0[e]) - l1 * r1[e]) - l2 * r2[e];
    const S odd = ((row[e + 1] - l0 * r0[e + 1]) - l1 * r1[e + 1]) - l2 * r2[e + 1];
    row[e] = even;
    row[e + 1] = odd;
  }
}

/// Three rows from those of the velocities at `depth` (lower) and above it (upper).
template <class S>
TANGERE_HD inline void subtractThreeFromTwo(const S* const* rows, const S* inverses, int depth,
                                            S* __restrict lower, S* __restrict upper) {
  const S *r0 = rows[0], *r1 = rows[1], *r2 = rows[2];
  const S l0 = r0[depth] * inverses[0], u0 = r0[depth - 1] * inverses[0];
  const S l1 = r1[depth] * inverses[1], u1 = r1[depth - 1] * inverses[1];
  const S l2 = r2[depth] * inverses[2], u2 = r2[depth - 1] * inverses[2];
  int e = 0;
  for (; e < depth; e += 2) {
    const S a0 = r0[e], a1 = r1[e], a2 = r2[e];
    const S b0 = r0[e + 1], b1 = r1[e + 1], b2 = r2[e + 1];
    const S lowerEven = ((lower[e] - l0 * a0) - l1 * a1) - l2 * a2;
    const S lowerOdd = ((lower[e + 1] - l0 * b0) - l1 * b1) - l2 * b2;
    const S upperEven = ((upper[e] - u0 * a0) - u1 * a1) - u2 * a2;
    const S upperOdd = ((upper[e + 1] - u0 * b0) - u1 * b1) - u2 * b2;
    lower[e] = lowerEven;
    lower[e + 1] = lowerOdd;
    upper[e] = upperEven;
    upper[e + 1] = upperOdd;
  }
  if (e == depth) {  // the pair as well, because half of it would be slow to read
    const S even = ((lower[e] - l0 * r0[e]) - l1 * r1[e]) - l2 * r2[e];
    const S odd = ((lower[e + 1] - l0 * r0[e + 1]) - l1 * r1[e + 1]) - l2 * r2[e + 1];
    lower[e] = even;
    lower[e + 1] = odd;
  }
}

/// x = M^-1 x. After factorTreeMatrix.
template <class S>
TANGERE_HD inline void solveTreeMatrix(const TreeView<S>& tree, S* x) {
  const DofT<S>* dofs = tree.dofs;
  for (int r = tree.numRuns - 1; r >= 0; --r) {  // x = D^-1 L^-T x
    const DofRun run = tree.runs[r];
    const int* ancestors = tree.ancestors + dofs[run.first].row;
    const int depth = dofs[run.first].depth;
    const S* row0 = tree.factor + dofs[run.first].row;
    S x0 = x[run.first];
    if (run.last == run.first) {
      for (int d = 0; d < depth; ++d) x[ancestors[d]] -= row0[d] * x0;
    } else {
      const S* row1 = tree.factor + dofs[run.first + 1].row;
      S x1 = x[run.first + 1];
      if (run.last == run.first + 1) {
        x0 -= row1[depth] * x1;
        for (int d = 0; d < depth; ++d)
          x[ancestors[d]] = (x[ancestors[d]] - row1[d] * x1) - row0[d] * x0;
      } else {
        const S* row2 = tree.factor + dofs[run.last].row;
        const S x2 = x[run.last];
        x1 -= row2[depth + 1] * x2;
        x0 = (x0 - row2[depth] * x2) - row1[depth] * x1;
        for (int d = 0; d < depth; ++d)
          x[ancestors[d]] = ((x[ancestors[d]] - row2[d] * x2) - row1[d] * x1) - row0[d] * x0;
        x[run.last] = x2 * tree.inverseDiagonal[run.last];
      }
      x[run.first + 1] = x1 * tree.inverseDiagonal[run.first + 1];
    }
    x[run.first] = x0 * tree.inverseDiagonal[run.first];
  }
  for (int r = 0; r < tree.numRuns; ++r) {  // x = L^-1 x
    const DofRun run = tree.runs[r];
    const int* ancestors = tree.ancestors + dofs[run.first].row;
    const int depth = dofs[run.first].depth;
    const S* row0 = tree.factor + dofs[run.first].row;
    S x0 = x[run.first];
    if (run.last == run.first) {
      for (int d = 0; d < depth; ++d) x0 -= row0[d] * x[ancestors[d]];
    } else {
      const S* row1 = tree.factor + dofs[run.first + 1].row;
      S x1 = x[run.first + 1];
      if (run.last == run.first + 1) {
        for (int d = 0; d < depth; ++d) {
          const S above = x[ancestors[d]];
          x0 -= row0[d] * above;
          x1 -= row1[d] * above;
        }
        x1 -= row1[depth] * x0;
      } else {
        const S* row2 = tree.factor + dofs[run.last].row;
        S x2 = x[run.last];
        for (int d = 0; d < depth; ++d) {
          const S above = x[ancestors[d]];
          x0 -= row0[d] * above;
          x1 -= row1[d] * above;
          x2 -= row2[d] * above;
        }
        x1 -= row1[depth] * x0;
        x2 = (x2 - row2[depth] * x0) - row2[depth + 1] * x1;
        x[run.last] = x2;
      }
      x[run.first + 1] = x1;
    }
    x[run.first] = x0;
  }
}

}  // namespace tangere::kernel
