// SPDX-License-Identifier: Apache-2.0
//
// Checks and repair of poses that come from outside.
#pragma once

#include <tangere/types.hpp>

#include "math/symmetric_eigen.hpp"

namespace tangere::math {

template <class S>
[[nodiscard]] TANGERE_HD constexpr bool isFinite(S x) {
  return x * S(0) == S(0);  // infinities and NaN give NaN
}

template <class S>
[[nodiscard]] TANGERE_HD constexpr bool isFinite(const Vec3T<S>& v) {
  return isFinite(v.x) && isFinite(v.y) && isFinite(v.z);
}

template <class S>
[[nodiscard]] TANGERE_HD constexpr bool isFinite(const Mat3T<S>& m) {
  return isFinite(m.col[0]) && isFinite(m.col[1]) && isFinite(m.col[2]);
}

template <class S>
[[nodiscard]] TANGERE_HD constexpr bool isFinite(const QuatT<S>& q) {
  return isFinite(q.w) && isFinite(q.x) && isFinite(q.y) && isFinite(q.z);
}

template <class S>
[[nodiscard]] TANGERE_HD constexpr bool isFinite(const TransformT<S>& X) {
  return isFinite(X.rotation) && isFinite(X.translation);
}

template <class S>
[[nodiscard]] TANGERE_HD constexpr S determinant(const Mat3T<S>& m) {
  return dot(m.col[0], cross(m.col[1], m.col[2]));
}

/// Whether R^T R is the identity within `tolerance` in every entry and R is not a reflection.
/// False for NaN.
template <class S>
[[nodiscard]] TANGERE_HD bool isRotation(const Mat3T<S>& R, S tolerance) {
  using std::fabs;
  const Mat3T<S> product = transposeTimes(R, R);
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column <= row; ++column) {
      const S expected = row == column ? S(1) : S(0);
      if (!(fabs(product(row, column) - expected) <= tolerance)) return false;
    }
  }
  return determinant(R) > S(0);
}

/// A finite pose whose rotation is one within `tolerance`.
template <class S>
[[nodiscard]] TANGERE_HD bool isRigid(const TransformT<S>& X, S tolerance) {
  return isFinite(X) && isRotation(X.rotation, tolerance);
}

/// The rotation that is nearest to `m` entry by entry (least squares), also when m is singular or
/// a reflection; where several are equally near, one of them, always the same. `m` is finite.
///
/// It maximizes trace(R^T m), a quadratic form of the quaternion: the eigenvector of the largest
/// eigenvalue of Davenport's matrix. No iteration on R, no division by a determinant.
template <class S>
[[nodiscard]] TANGERE_HD Mat3T<S> nearestRotation(const Mat3T<S>& m) {
  const S xx = m(0, 0), yy = m(1, 1), zz = m(2, 2);
  const S wx = m(2, 1) - m(1, 2), wy = m(0, 2) - m(2, 0), wz = m(1, 0) - m(0, 1);
  const S xy = m(0, 1) + m(1, 0), yz = m(1, 2) + m(2, 1), zx = m(2, 0) + m(0, 2);
  const S form[4][4] = {{xx + yy + zz, wx, wy, wz},
                        {wx, xx - yy - zz, xy, zx},
                        {wy, xy, yy - zz - xx, yz},
                        {wz, zx, yz, zz - xx - yy}};
  const SymmetricEigen<S, 4> eigen = symmetricEigen(form);
  return rotationMatrix(
      QuatT<S>{eigen.vectors[0][3], eigen.vectors[1][3], eigen.vectors[2][3], eigen.vectors[3][3]});
}

}  // namespace tangere::math
