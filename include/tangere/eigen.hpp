// SPDX-License-Identifier: Apache-2.0
//
// Conversions between the plain types of the API and Eigen 3.4. Values are copied unchanged: no
// normalization, no conversion of the scalar. The rest of the API does not need this header.
#pragma once

#include <tangere/types.hpp>

#include <Eigen/Core>
#include <Eigen/Geometry>

namespace tangere {

template <class S>
[[nodiscard]] Eigen::Matrix<S, 3, 1> toEigen(const Vec3T<S>& v) {
  return {v.x, v.y, v.z};
}

template <class S>
[[nodiscard]] Eigen::Matrix<S, 3, 3> toEigen(const Mat3T<S>& m) {
  Eigen::Matrix<S, 3, 3> result;
  for (int k = 0; k < 3; ++k) result.col(k) = toEigen(m.col[k]);
  return result;
}

/// Both are w x y z in the constructor; Eigen stores x y z w.
template <class S>
[[nodiscard]] Eigen::Quaternion<S> toEigen(const QuatT<S>& q) {
  return {q.w, q.x, q.y, q.z};
}

template <class S>
[[nodiscard]] Eigen::Transform<S, 3, Eigen::Isometry> toEigen(const TransformT<S>& X) {
  Eigen::Transform<S, 3, Eigen::Isometry> result =
      Eigen::Transform<S, 3, Eigen::Isometry>::Identity();
  result.linear() = toEigen(X.rotation);
  result.translation() = toEigen(X.translation);
  return result;
}

template <class S>
[[nodiscard]] Eigen::AlignedBox<S, 3> toEigen(const AabbT<S>& box) {
  return {toEigen(box.lower), toEigen(box.upper)};
}

/// Any column of three, expressions included.
template <class Derived>
[[nodiscard]] Vec3T<typename Derived::Scalar> toVec3(const Eigen::MatrixBase<Derived>& v) {
  const Eigen::Matrix<typename Derived::Scalar, 3, 1> value = v;
  return {value.x(), value.y(), value.z()};
}

/// Any 3x3 matrix, expressions included.
template <class Derived>
[[nodiscard]] Mat3T<typename Derived::Scalar> toMat3(const Eigen::MatrixBase<Derived>& m) {
  const Eigen::Matrix<typename Derived::Scalar, 3, 3> value = m;
  return {{toVec3(value.col(0)), toVec3(value.col(1)), toVec3(value.col(2))}};
}

template <class Derived>
[[nodiscard]] QuatT<typename Derived::Scalar> toQuat(const Eigen::QuaternionBase<Derived>& q) {
  return {q.w(), q.x(), q.y(), q.z()};
}

/// Only isometries: a general affine map is not a rigid motion, and Eigen's own conversion says
/// what it loses.
template <class S, int Options>
[[nodiscard]] TransformT<S> toTransform(const Eigen::Transform<S, 3, Eigen::Isometry, Options>& X) {
  return {toMat3(X.linear()), toVec3(X.translation())};
}

template <class S>
[[nodiscard]] AabbT<S> toAabb(const Eigen::AlignedBox<S, 3>& box) {
  return {toVec3(box.min()), toVec3(box.max())};
}

}  // namespace tangere
