// SPDX-License-Identifier: Apache-2.0
//
// Spatial vectors and inertias, all about one point and in one set of axes, so that nothing is ever
// transformed between links. The linear part of a motion is the velocity of the matter that passes
// the point; the angular part of a force is its moment about the point.
#pragma once

#include <tangere/types.hpp>

namespace tangere::math {

/// A symmetric 3x3 matrix.
template <class S>
struct Sym3T {
  S xx{}, yy{}, zz{}, xy{}, xz{}, yz{};

  TANGERE_HD constexpr Sym3T& operator+=(const Sym3T& o) {
    xx += o.xx;
    yy += o.yy;
    zz += o.zz;
    xy += o.xy;
    xz += o.xz;
    yz += o.yz;
    return *this;
  }
  friend TANGERE_HD constexpr Sym3T operator+(Sym3T a, const Sym3T& b) { return a += b; }
  friend TANGERE_HD constexpr Sym3T operator*(const Sym3T& a, S s) {
    return {a.xx * s, a.yy * s, a.zz * s, a.xy * s, a.xz * s, a.yz * s};
  }
  friend TANGERE_HD constexpr Vec3T<S> operator*(const Sym3T& a, const Vec3T<S>& v) {
    return {a.xx * v.x + a.xy * v.y + a.xz * v.z, a.xy * v.x + a.yy * v.y + a.yz * v.z,
            a.xz * v.x + a.yz * v.y + a.zz * v.z};
  }
};

/// The lower triangle of `m`, taken as symmetric.
template <class S>
[[nodiscard]] TANGERE_HD constexpr Sym3T<S> symmetricOf(const Mat3T<S>& m) {
  return {m.col[0].x, m.col[1].y, m.col[2].z, m.col[0].y, m.col[0].z, m.col[1].z};
}

/// R a R^T.
template <class S>
[[nodiscard]] TANGERE_HD constexpr Sym3T<S> rotated(const Mat3T<S>& R, const Sym3T<S>& a) {
  const Vec3T<S> c0 = R.col[0] * a.xx + R.col[1] * a.xy + R.col[2] * a.xz;
  const Vec3T<S> c1 = R.col[0] * a.xy + R.col[1] * a.yy + R.col[2] * a.yz;
  const Vec3T<S> c2 = R.col[0] * a.xz + R.col[1] * a.yz + R.col[2] * a.zz;
  return {c0.x * R.col[0].x + c1.x * R.col[1].x + c2.x * R.col[2].x,
          c0.y * R.col[0].y + c1.y * R.col[1].y + c2.y * R.col[2].y,
          c0.z * R.col[0].z + c1.z * R.col[1].z + c2.z * R.col[2].z,
          c0.x * R.col[0].y + c1.x * R.col[1].y + c2.x * R.col[2].y,
          c0.x * R.col[0].z + c1.x * R.col[1].z + c2.x * R.col[2].z,
          c0.y * R.col[0].z + c1.y * R.col[1].z + c2.y * R.col[2].z};
}

/// The same when nothing is off the diagonal of `a`.
template <class S>
[[nodiscard]] TANGERE_HD constexpr Sym3T<S> rotatedDiagonal(const Mat3T<S>& R, const Sym3T<S>& a) {
  const Vec3T<S> c0 = R.col[0] * a.xx, c1 = R.col[1] * a.yy, c2 = R.col[2] * a.zz;
  return {c0.x * R.col[0].x + c1.x * R.col[1].x + c2.x * R.col[2].x,
          c0.y * R.col[0].y + c1.y * R.col[1].y + c2.y * R.col[2].y,
          c0.z * R.col[0].z + c1.z * R.col[1].z + c2.z * R.col[2].z,
          c0.x * R.col[0].y + c1.x * R.col[1].y + c2.x * R.col[2].y,
          c0.x * R.col[0].z + c1.x * R.col[1].z + c2.x * R.col[2].z,
          c0.y * R.col[0].z + c1.y * R.col[1].z + c2.y * R.col[2].z};
}

/// mass (|c|^2 1 - c c^T): what a mass at c adds to the inertia about the origin.
template <class S>
[[nodiscard]] TANGERE_HD constexpr Sym3T<S> pointInertia(S mass, const Vec3T<S>& c) {
  const Vec3T<S> h = c * mass;
  const S xx = h.x * c.x, yy = h.y * c.y, zz = h.z * c.z;
  return {yy + zz, zz + xx, xx + yy, -(h.x * c.y), -(h.x * c.z), -(h.y * c.z)};
}

/// A motion (velocity, acceleration, motion subspace) or a force (force, momentum).
template <class S>
struct SpatialT {
  Vec3T<S> angular{};
  Vec3T<S> linear{};

  TANGERE_HD constexpr SpatialT& operator+=(const SpatialT& o) {
    angular += o.angular;
    linear += o.linear;
    return *this;
  }
  TANGERE_HD constexpr SpatialT& operator-=(const SpatialT& o) {
    angular -= o.angular;
    linear -= o.linear;
    return *this;
  }
  friend TANGERE_HD constexpr SpatialT operator+(SpatialT a, const SpatialT& b) { return a += b; }
  friend TANGERE_HD constexpr SpatialT operator-(SpatialT a, const SpatialT& b) { return a -= b; }
  friend TANGERE_HD constexpr SpatialT operator*(const SpatialT& a, S s) {
    return {a.angular * s, a.linear * s};
  }
};

/// The power of a force on a motion.
template <class S>
[[nodiscard]] TANGERE_HD constexpr S dot(const SpatialT<S>& a, const SpatialT<S>& b) {
  return (a.angular.x * b.angular.x + a.angular.y * b.angular.y + a.angular.z * b.angular.z) +
         (a.linear.x * b.linear.x + a.linear.y * b.linear.y + a.linear.z * b.linear.z);
}

/// The rate of a motion vector m that is carried along with velocity v.
template <class S>
[[nodiscard]] TANGERE_HD constexpr SpatialT<S> crossMotion(const SpatialT<S>& v,
                                                           const SpatialT<S>& m) {
  return {cross(v.angular, m.angular), cross(v.angular, m.linear) + cross(v.linear, m.angular)};
}

/// The velocity at `p`, from the point that the motion is written about.
template <class S>
[[nodiscard]] TANGERE_HD constexpr Vec3T<S> velocityAt(const SpatialT<S>& v, const Vec3T<S>& p) {
  return v.linear + cross(v.angular, p);
}

/// Inertia of a rigid body, or of bodies that move as one.
template <class S>
struct RigidInertiaT {
  S mass{};
  Vec3T<S> moment{};    ///< mass times centre
  Sym3T<S> rotation{};  ///< about the point

  TANGERE_HD constexpr RigidInertiaT& operator+=(const RigidInertiaT& o) {
    mass += o.mass;
    moment += o.moment;
    rotation += o.rotation;
    return *this;
  }
  /// Momentum of a velocity, force of an acceleration.
  friend TANGERE_HD constexpr SpatialT<S> operator*(const RigidInertiaT& i, const SpatialT<S>& v) {
    return {i.rotation * v.angular + cross(i.moment, v.linear),
            v.linear * i.mass + cross(v.angular, i.moment)};
  }
};

/// A body of `mass` with its centre at c and `inertia` about that centre.
template <class S>
[[nodiscard]] TANGERE_HD constexpr RigidInertiaT<S> rigidInertia(S mass, const Vec3T<S>& c,
                                                                 const Sym3T<S>& inertia) {
  return {mass, c * mass, inertia + pointInertia(mass, c)};
}

/// Any symmetric map from motions to forces:  [rotation  coupling; coupling^T  translation].
template <class S>
struct ArticulatedInertiaT {
  Sym3T<S> rotation{};
  Mat3T<S> coupling{};
  Sym3T<S> translation{};

  TANGERE_HD constexpr ArticulatedInertiaT& operator+=(const ArticulatedInertiaT& o) {
    rotation += o.rotation;
    for (int k = 0; k < 3; ++k) coupling.col[k] += o.coupling.col[k];
    translation += o.translation;
    return *this;
  }
  TANGERE_HD constexpr ArticulatedInertiaT& operator+=(const RigidInertiaT<S>& o) {
    const Vec3T<S>& h = o.moment;
    rotation += o.rotation;
    coupling.col[0] += Vec3T<S>{S(0), h.z, -h.y};  // [h]x by columns
    coupling.col[1] += Vec3T<S>{-h.z, S(0), h.x};
    coupling.col[2] += Vec3T<S>{h.y, -h.x, S(0)};
    translation.xx += o.mass;
    translation.yy += o.mass;
    translation.zz += o.mass;
    return *this;
  }
  friend TANGERE_HD constexpr SpatialT<S> operator*(const ArticulatedInertiaT& i,
                                                    const SpatialT<S>& v) {
    return {i.rotation * v.angular + i.coupling * v.linear,
            transposeTimes(i.coupling, v.angular) + i.translation * v.linear};
  }
  /// Takes away s u u^T.
  TANGERE_HD constexpr void subtractOuter(const SpatialT<S>& u, S s) {
    const Vec3T<S>& a = u.angular;
    const Vec3T<S>& b = u.linear;
    const Vec3T<S> sa = a * s, sb = b * s;
    rotation.xx -= sa.x * a.x;
    rotation.yy -= sa.y * a.y;
    rotation.zz -= sa.z * a.z;
    rotation.xy -= sa.x * a.y;
    rotation.xz -= sa.x * a.z;
    rotation.yz -= sa.y * a.z;
    coupling.col[0] -= a * sb.x;
    coupling.col[1] -= a * sb.y;
    coupling.col[2] -= a * sb.z;
    translation.xx -= sb.x * b.x;
    translation.yy -= sb.y * b.y;
    translation.zz -= sb.z * b.z;
    translation.xy -= sb.x * b.y;
    translation.xz -= sb.x * b.z;
    translation.yz -= sb.y * b.z;
  }
};

}  // namespace tangere::math
