// SPDX-License-Identifier: Apache-2.0
//
// Eigenvalues and eigenvectors of small symmetric matrices by cyclic Jacobi rotations: a fixed
// sequence of operations, accurate to rounding for any scale, and it cannot fail. For principal
// axes of inertia and the nearest rotation.
#pragma once

#include <tangere/types.hpp>

namespace tangere::math {

/// A = V diag(values) V^T; column k of V, vectors[.][k], belongs to values[k]; values ascend.
template <class S, int N>
struct SymmetricEigen {
  S values[N];
  S vectors[N][N];
};

/// Only the lower triangle of `a` is read; its entries must be finite.
template <class S, int N>
[[nodiscard]] TANGERE_HD SymmetricEigen<S, N> symmetricEigen(const S (&a)[N][N]) {
  using std::fabs;
  using std::sqrt;
  SymmetricEigen<S, N> result;
  S largest = S(0);
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j <= i; ++j) largest = fabs(a[i][j]) > largest ? S(fabs(a[i][j])) : largest;
  }
  const S scale = largest > S(0) ? largest : S(1);
  S m[N][N];
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j <= i; ++j) m[i][j] = m[j][i] = a[i][j] / scale;
    for (int j = 0; j < N; ++j) result.vectors[i][j] = i == j ? S(1) : S(0);
  }

  // Quadratic convergence: six sweeps are usual, the bound is never reached with finite input.
  constexpr int kMaxSweeps = 40;
  for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
    bool isDiagonal = true;
    for (int p = 0; p < N - 1; ++p) {
      for (int q = p + 1; q < N; ++q) {
        const S off = m[p][q];
        const S size = fabs(m[p][p]) + fabs(m[q][q]);
        if (size + fabs(off) == size) {  // too small to change either eigenvalue
          m[p][q] = m[q][p] = S(0);
          continue;
        }
        isDiagonal = false;
        const S theta = (m[q][q] - m[p][p]) / (S(2) * off);
        const S magnitude = S(1) / (fabs(theta) + sqrt(theta * theta + S(1)));
        const S t = theta < S(0) ? -magnitude : magnitude;  // tangent of the rotation
        const S c = S(1) / sqrt(t * t + S(1));
        const S s = t * c;
        m[p][p] -= t * off;
        m[q][q] += t * off;
        m[p][q] = m[q][p] = S(0);
        for (int k = 0; k < N; ++k) {
          if (k != p && k != q) {
            const S kp = m[k][p], kq = m[k][q];
            m[k][p] = m[p][k] = c * kp - s * kq;
            m[k][q] = m[q][k] = s * kp + c * kq;
          }
          const S vp = result.vectors[k][p], vq = result.vectors[k][q];
          result.vectors[k][p] = c * vp - s * vq;
          result.vectors[k][q] = s * vp + c * vq;
        }
      }
    }
    if (isDiagonal) break;
  }

  for (int i = 0; i < N; ++i) result.values[i] = m[i][i] * scale;
  for (int i = 1; i < N; ++i) {  // insertion sort: equal values keep their order
    for (int k = i; k > 0 && result.values[k] < result.values[k - 1]; --k) {
      const S value = result.values[k];
      result.values[k] = result.values[k - 1];
      result.values[k - 1] = value;
      for (int row = 0; row < N; ++row) {
        const S entry = result.vectors[row][k];
        result.vectors[row][k] = result.vectors[row][k - 1];
        result.vectors[row][k - 1] = entry;
      }
    }
  }
  return result;
}

/// Principal moments, ascending, and axes: `inertia` = axes diag(moments) axes^T with `axes` a
/// rotation. Each of the first two axes has its largest component (the first of equal ones)
/// positive.
template <class S>
struct PrincipalAxes {
  Vec3T<S> moments;
  Mat3T<S> axes = Mat3T<S>::identity();
};

template <class S>
[[nodiscard]] TANGERE_HD PrincipalAxes<S> principalAxes(const Mat3T<S>& inertia) {
  using std::fabs;
  const S a[3][3] = {{inertia(0, 0), inertia(0, 1), inertia(0, 2)},
                     {inertia(1, 0), inertia(1, 1), inertia(1, 2)},
                     {inertia(2, 0), inertia(2, 1), inertia(2, 2)}};
  const SymmetricEigen<S, 3> eigen = symmetricEigen(a);
  PrincipalAxes<S> result;
  result.moments = {eigen.values[0], eigen.values[1], eigen.values[2]};
  for (int k = 0; k < 2; ++k) {
    Vec3T<S> axis{eigen.vectors[0][k], eigen.vectors[1][k], eigen.vectors[2][k]};
    int largest = 0;
    for (int i = 1; i < 3; ++i) {
      if (fabs(axis[i]) > fabs(axis[largest])) largest = i;
    }
    result.axes.col[k] = axis[largest] < S(0) ? -axis : axis;
  }
  result.axes.col[2] = cross(result.axes.col[0], result.axes.col[1]);
  return result;
}

}  // namespace tangere::math
