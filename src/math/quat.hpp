// SPDX-License-Identifier: Apache-2.0
//
// Rotations as quaternions (w x y z), rotation vectors (axis times angle [rad]) and matrices.
// Everything deterministic: the elementary functions are those of core.
#pragma once

#include <tangere/types.hpp>

#include "core/elementary.hpp"
#include "math/limits.hpp"

namespace tangere::math {

/// |v| without overflow or underflow of the squares. Infinite or NaN components give such a norm.
template <class S>
[[nodiscard]] TANGERE_HD S scaledNorm(const Vec3T<S>& v) {
  using std::fabs;
  S largest = fabs(v.x);
  largest = fabs(v.y) > largest ? S(fabs(v.y)) : largest;
  largest = fabs(v.z) > largest ? S(fabs(v.z)) : largest;
  if (!(largest > S(0) && largest <= kLargest<S>)) return norm(v);
  return largest * norm(v / largest);
}

/// The rotation by `angle` [rad] about `axis`, which need not be unit; the identity for a zero
/// axis.
template <class S>
[[nodiscard]] TANGERE_HD QuatT<S> quatFromAxisAngle(const Vec3T<S>& axis, S angle) {
  const S length = scaledNorm(axis);
  if (!(length > S(0))) return {};
  const auto half = core::sinCos(angle * S(0.5));
  const Vec3T<S> v = (axis / length) * half.sin;
  return {half.cos, v.x, v.y, v.z};
}

/// exp of a rotation vector: the rotation by |w| [rad] about w, to rounding for any |w|.
template <class S>
[[nodiscard]] TANGERE_HD QuatT<S> quatExp(const Vec3T<S>& w) {
  return quatFromAxisAngle(w, scaledNorm(w));
}

/// exp of a rotation vector as a matrix: I + a [w] + b [w]^2 with a = sin(t)/t and
/// b = (1 - cos t)/t^2 = 2 (sin(t/2)/t)^2, t = |w|; written so that nothing cancels for small t.
template <class S>
[[nodiscard]] TANGERE_HD Mat3T<S> rotationExp(const Vec3T<S>& w) {
  const S t = scaledNorm(w);
  if (!(t > S(0))) return Mat3T<S>::identity();
  const Vec3T<S> u = w / t;
  const S sine = core::sin(t);
  const S halfSine = core::sin(t * S(0.5));
  const S versine = S(2) * halfSine * halfSine;  // 1 - cos t
  const Vec3T<S> au = u * sine;
  const S xx = u.x * u.x, yy = u.y * u.y, zz = u.z * u.z;
  const S xy = versine * (u.x * u.y), yz = versine * (u.y * u.z), zx = versine * (u.z * u.x);
  return {{{S(1) - versine * (yy + zz), xy + au.z, zx - au.y},
           {xy - au.z, S(1) - versine * (zz + xx), yz + au.x},
           {zx + au.y, yz - au.x, S(1) - versine * (xx + yy)}}};
}

template <class S>
[[nodiscard]] TANGERE_HD constexpr QuatT<S> conjugate(const QuatT<S>& q) {
  return {q.w, -q.x, -q.y, -q.z};
}

template <class S>
[[nodiscard]] TANGERE_HD S norm(const QuatT<S>& q) {
  using std::sqrt;
  return sqrt((q.w * q.w + q.x * q.x) + (q.y * q.y + q.z * q.z));
}

/// q/|q| for q of any size; not finite for a zero quaternion.
template <class S>
[[nodiscard]] TANGERE_HD QuatT<S> normalized(const QuatT<S>& quat) {
  const QuatT<S> q = scaledForSquares(quat);
  const S s = S(1) / norm(q);
  return {q.w * s, q.x * s, q.y * s, q.z * s};
}

/// The unit quaternion of a rotation matrix, w >= 0. The largest of the four components is found
/// first and the others are divided by it, so none is lost to cancellation (Shepperd 1978).
template <class S>
[[nodiscard]] TANGERE_HD QuatT<S> quatFromRotation(const Mat3T<S>& R) {
  const S trace = R(0, 0) + R(1, 1) + R(2, 2);
  QuatT<S> q;
  if (trace >= R(0, 0) && trace >= R(1, 1) && trace >= R(2, 2)) {
    q = {S(1) + trace, R(2, 1) - R(1, 2), R(0, 2) - R(2, 0), R(1, 0) - R(0, 1)};
  } else if (R(0, 0) >= R(1, 1) && R(0, 0) >= R(2, 2)) {
    q = {R(2, 1) - R(1, 2), S(1) + S(2) * R(0, 0) - trace, R(1, 0) + R(0, 1), R(0, 2) + R(2, 0)};
  } else if (R(1, 1) >= R(2, 2)) {
    q = {R(0, 2) - R(2, 0), R(1, 0) + R(0, 1), S(1) + S(2) * R(1, 1) - trace, R(2, 1) + R(1, 2)};
  } else {
    q = {R(1, 0) - R(0, 1), R(0, 2) + R(2, 0), R(2, 1) + R(1, 2), S(1) + S(2) * R(2, 2) - trace};
  }
  if (q.w < S(0)) q = {-q.w, -q.x, -q.y, -q.z};
  return normalized(q);
}

/// The rotation vector of q/|q|, of length at most pi.
template <class S>
[[nodiscard]] TANGERE_HD Vec3T<S> rotationVector(const QuatT<S>& q) {
  const Vec3T<S> v = q.w < S(0) ? Vec3T<S>{-q.x, -q.y, -q.z} : Vec3T<S>{q.x, q.y, q.z};
  const S w = q.w < S(0) ? -q.w : q.w;
  const S length = scaledNorm(v);
  if (!(length > S(0))) return {};
  return (v / length) * (S(2) * core::atan2(length, w));
}

/// q v q* for unit q.
template <class S>
[[nodiscard]] TANGERE_HD constexpr Vec3T<S> rotate(const QuatT<S>& q, const Vec3T<S>& v) {
  const Vec3T<S> u{q.x, q.y, q.z};
  const Vec3T<S> t = cross(u, v) * S(2);
  return v + (t * q.w + cross(u, t));
}

}  // namespace tangere::math
