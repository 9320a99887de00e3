// SPDX-License-Identifier: Apache-2.0
//
// Plain small types shared by the public API and the kernels: vectors, rotations, poses, boxes.
// No alignment requirement and no third-party type, so the ABI does not depend on compiler flags;
// <tangere/eigen.hpp> converts to and from Eigen. Every operation has one fixed order of
// evaluation: results do not depend on the compiler.
#pragma once

#include <tangere/config.hpp>

#include <cmath>
#include <limits>

namespace tangere {

template <class S>
struct Vec3T {
  S x{}, y{}, z{};

  TANGERE_HD S& operator[](int i) { return (&x)[i]; }
  TANGERE_HD const S& operator[](int i) const { return (&x)[i]; }

  TANGERE_HD constexpr Vec3T& operator+=(const Vec3T& o) {
    x += o.x;
    y += o.y;
    z += o.z;
    return *this;
  }
  TANGERE_HD constexpr Vec3T& operator-=(const Vec3T& o) {
    x -= o.x;
    y -= o.y;
    z -= o.z;
    return *this;
  }
  TANGERE_HD constexpr Vec3T& operator*=(S s) {
    x *= s;
    y *= s;
    z *= s;
    return *this;
  }

  friend TANGERE_HD constexpr Vec3T operator+(const Vec3T& a, const Vec3T& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
  }
  friend TANGERE_HD constexpr Vec3T operator-(const Vec3T& a, const Vec3T& b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
  }
  friend TANGERE_HD constexpr Vec3T operator-(const Vec3T& a) { return {-a.x, -a.y, -a.z}; }
  friend TANGERE_HD constexpr Vec3T operator*(const Vec3T& a, S s) {
    return {a.x * s, a.y * s, a.z * s};
  }
  friend TANGERE_HD constexpr Vec3T operator*(S s, const Vec3T& a) { return a * s; }
  friend TANGERE_HD constexpr Vec3T operator/(const Vec3T& a, S s) {
    return {a.x / s, a.y / s, a.z / s};
  }
  friend TANGERE_HD constexpr bool operator==(const Vec3T& a, const Vec3T& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
  }
};

template <class S>
TANGERE_HD constexpr S dot(const Vec3T<S>& a, const Vec3T<S>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

template <class S>
TANGERE_HD constexpr Vec3T<S> cross(const Vec3T<S>& a, const Vec3T<S>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

template <class S>
TANGERE_HD constexpr S squaredNorm(const Vec3T<S>& a) {
  return dot(a, a);
}

template <class S>
TANGERE_HD S norm(const Vec3T<S>& a) {
  using std::sqrt;
  return sqrt(dot(a, a));
}

/// 3x3 matrix stored by columns: for a rotation R_WB, column k is the body axis k in world.
template <class S>
struct Mat3T {
  Vec3T<S> col[3];

  TANGERE_HD S& operator()(int row, int column) { return col[column][row]; }
  TANGERE_HD const S& operator()(int row, int column) const { return col[column][row]; }

  TANGERE_HD static constexpr Mat3T identity() {
    return {{{S(1), S(0), S(0)}, {S(0), S(1), S(0)}, {S(0), S(0), S(1)}}};
  }

  friend TANGERE_HD constexpr Vec3T<S> operator*(const Mat3T& m, const Vec3T<S>& v) {
    return {m.col[0].x * v.x + m.col[1].x * v.y + m.col[2].x * v.z,
            m.col[0].y * v.x + m.col[1].y * v.y + m.col[2].y * v.z,
            m.col[0].z * v.x + m.col[1].z * v.y + m.col[2].z * v.z};
  }
  friend TANGERE_HD constexpr Mat3T operator*(const Mat3T& a, const Mat3T& b) {
    return {{a * b.col[0], a * b.col[1], a * b.col[2]}};
  }
  friend TANGERE_HD constexpr bool operator==(const Mat3T& a, const Mat3T& b) {
    return a.col[0] == b.col[0] && a.col[1] == b.col[1] && a.col[2] == b.col[2];
  }
};

/// m^T v: for a rotation R_WB, takes a world vector to the body.
template <class S>
TANGERE_HD constexpr Vec3T<S> transposeTimes(const Mat3T<S>& m, const Vec3T<S>& v) {
  return {dot(m.col[0], v), dot(m.col[1], v), dot(m.col[2], v)};
}

/// a^T b.
template <class S>
TANGERE_HD constexpr Mat3T<S> transposeTimes(const Mat3T<S>& a, const Mat3T<S>& b) {
  return {{transposeTimes(a, b.col[0]), transposeTimes(a, b.col[1]), transposeTimes(a, b.col[2])}};
}

template <class S>
TANGERE_HD constexpr Mat3T<S> transpose(const Mat3T<S>& m) {
  return {{{m.col[0].x, m.col[1].x, m.col[2].x},
           {m.col[0].y, m.col[1].y, m.col[2].y},
           {m.col[0].z, m.col[1].z, m.col[2].z}}};
}

/// Quaternion w + xi + yj + zk; a rotation when its norm is one.
template <class S>
struct QuatT {
  S w{1}, x{}, y{}, z{};

  friend TANGERE_HD constexpr QuatT operator*(const QuatT& a, const QuatT& b) {
    return {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
            a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
            a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
            a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
  }
  friend TANGERE_HD constexpr bool operator==(const QuatT& a, const QuatT& b) {
    return a.w == b.w && a.x == b.x && a.y == b.y && a.z == b.z;
  }
};

/// q times a power of two such that |q|^2 neither overflows nor loses digits, whatever the size of
/// q. A power of two, because then q/|q| keeps its bits; the same q where nothing is in danger.
template <class S>
TANGERE_HD QuatT<S> scaledForSquares(const QuatT<S>& q) {
  constexpr bool isWide = std::numeric_limits<S>::max_exponent > 128;
  const S smallest = isWide ? S(0x1p-900) : S(0x1p-90), up = isWide ? S(0x1p600) : S(0x1p100);
  const S largest = isWide ? S(0x1p900) : S(0x1p90), down = isWide ? S(0x1p-600) : S(0x1p-70);
  const S square = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
  if (square >= smallest && square <= largest) return q;
  const S s = square < smallest ? up : down;
  return {q.w * s, q.x * s, q.y * s, q.z * s};
}

/// The rotation of q/|q|. A zero quaternion has no rotation: the result is then not finite.
template <class S>
TANGERE_HD Mat3T<S> rotationMatrix(const QuatT<S>& quat) {
  using std::sqrt;
  const QuatT<S> q = scaledForSquares(quat);
  const S s = S(1) / sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  const S w = q.w * s, x = q.x * s, y = q.y * s, z = q.z * s;
  return {{{S(1) - S(2) * (y * y + z * z), S(2) * (x * y + w * z), S(2) * (x * z - w * y)},
           {S(2) * (x * y - w * z), S(1) - S(2) * (x * x + z * z), S(2) * (y * z + w * x)},
           {S(2) * (x * z + w * y), S(2) * (y * z - w * x), S(1) - S(2) * (x * x + y * y)}}};
}

/// Rigid motion X_WB: p_W = rotation * p_B + translation.
template <class S>
struct TransformT {
  Mat3T<S> rotation = Mat3T<S>::identity();
  Vec3T<S> translation{};

  TANGERE_HD static constexpr TransformT identity() { return {}; }

  friend TANGERE_HD constexpr Vec3T<S> operator*(const TransformT& X, const Vec3T<S>& p) {
    return X.rotation * p + X.translation;
  }
  friend TANGERE_HD constexpr TransformT operator*(const TransformT& X, const TransformT& Y) {
    return {X.rotation * Y.rotation, X * Y.translation};
  }
  friend TANGERE_HD constexpr bool operator==(const TransformT& a, const TransformT& b) {
    return a.rotation == b.rotation && a.translation == b.translation;
  }
};

template <class S>
TANGERE_HD constexpr TransformT<S> inverse(const TransformT<S>& X) {
  return {transpose(X.rotation), -transposeTimes(X.rotation, X.translation)};
}

/// X^-1 Y: the pose of Y seen from X. Subtracts the origins first, so two bodies near each other
/// and far from the world's origin lose no digits.
template <class S>
TANGERE_HD constexpr TransformT<S> inverseTimes(const TransformT<S>& X, const TransformT<S>& Y) {
  return {transposeTimes(X.rotation, Y.rotation),
          transposeTimes(X.rotation, Y.translation - X.translation)};
}

/// X^-1 p.
template <class S>
TANGERE_HD constexpr Vec3T<S> inverseTimes(const TransformT<S>& X, const Vec3T<S>& p) {
  return transposeTimes(X.rotation, p - X.translation);
}

/// Closed axis-aligned box; touching boxes overlap. Empty when lower > upper on some axis.
template <class S>
struct AabbT {
  Vec3T<S> lower{};
  Vec3T<S> upper{};

  [[nodiscard]] TANGERE_HD constexpr bool overlaps(const AabbT& o) const {
    return lower.x <= o.upper.x && o.lower.x <= upper.x && lower.y <= o.upper.y &&
           o.lower.y <= upper.y && lower.z <= o.upper.z && o.lower.z <= upper.z;
  }
  [[nodiscard]] TANGERE_HD constexpr bool contains(const Vec3T<S>& p) const {
    return lower.x <= p.x && p.x <= upper.x && lower.y <= p.y && p.y <= upper.y && lower.z <= p.z &&
           p.z <= upper.z;
  }
  [[nodiscard]] TANGERE_HD constexpr bool contains(const AabbT& o) const {
    return contains(o.lower) && contains(o.upper);
  }
  [[nodiscard]] TANGERE_HD constexpr Vec3T<S> center() const { return (lower + upper) * S(0.5); }
  [[nodiscard]] TANGERE_HD constexpr Vec3T<S> halfExtents() const {
    return (upper - lower) * S(0.5);
  }
  [[nodiscard]] TANGERE_HD constexpr S volume() const {
    const Vec3T<S> d = upper - lower;
    return d.x * d.y * d.z;
  }
  /// Half the surface area: what tree builders compare.
  [[nodiscard]] TANGERE_HD constexpr S halfArea() const {
    const Vec3T<S> d = upper - lower;
    return d.x * d.y + d.y * d.z + d.z * d.x;
  }
  TANGERE_HD constexpr void merge(const AabbT& o) {
    lower = {lower.x < o.lower.x ? lower.x : o.lower.x, lower.y < o.lower.y ? lower.y : o.lower.y,
             lower.z < o.lower.z ? lower.z : o.lower.z};
    upper = {upper.x > o.upper.x ? upper.x : o.upper.x, upper.y > o.upper.y ? upper.y : o.upper.y,
             upper.z > o.upper.z ? upper.z : o.upper.z};
  }
  TANGERE_HD constexpr void merge(const Vec3T<S>& p) { merge(AabbT{p, p}); }
  TANGERE_HD constexpr void expand(S margin) {
    lower -= Vec3T<S>{margin, margin, margin};
    upper += Vec3T<S>{margin, margin, margin};
  }
  friend TANGERE_HD constexpr bool operator==(const AabbT& a, const AabbT& b) {
    return a.lower == b.lower && a.upper == b.upper;
  }
};

/// Box around a box that was moved by X.
template <class S>
TANGERE_HD AabbT<S> transformed(const AabbT<S>& local, const TransformT<S>& X) {
  using std::fabs;
  const Vec3T<S> c = X * local.center();
  const Vec3T<S> h = local.halfExtents();
  const Mat3T<S>& R = X.rotation;
  const Vec3T<S> r{fabs(R.col[0].x) * h.x + fabs(R.col[1].x) * h.y + fabs(R.col[2].x) * h.z,
                   fabs(R.col[0].y) * h.x + fabs(R.col[1].y) * h.y + fabs(R.col[2].y) * h.z,
                   fabs(R.col[0].z) * h.x + fabs(R.col[1].z) * h.y + fabs(R.col[2].z) * h.z};
  return {c - r, c + r};
}

using Vec3 = Vec3T<Real>;
using Mat3 = Mat3T<Real>;
using Quat = QuatT<Real>;
using Transform = TransformT<Real>;
using Aabb = AabbT<Real>;

}  // namespace tangere
