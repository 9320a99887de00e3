// SPDX-License-Identifier: Apache-2.0
//
// Dual numbers: a value and its derivative along one direction. A kernel that is run with them
// gives exact derivatives of what it computes.
#pragma once

#include <tangere/config.hpp>

#include "core/elementary.hpp"

#include <cmath>
#include <limits>

namespace tangere::math {

struct Dual {
  Real value = 0;
  Real rate = 0;

  TANGERE_HD constexpr Dual() = default;
  TANGERE_HD constexpr Dual(Real v) : value(v) {}  // NOLINT: numbers are constants
  TANGERE_HD constexpr Dual(Real v, Real r) : value(v), rate(r) {}

  TANGERE_HD constexpr Dual& operator+=(const Dual& o) { return *this = *this + o; }
  TANGERE_HD constexpr Dual& operator-=(const Dual& o) { return *this = *this - o; }
  TANGERE_HD constexpr Dual& operator*=(const Dual& o) { return *this = *this * o; }
  TANGERE_HD constexpr Dual& operator/=(const Dual& o) { return *this = *this / o; }

  friend TANGERE_HD constexpr Dual operator-(const Dual& a) { return {-a.value, -a.rate}; }
  friend TANGERE_HD constexpr Dual operator+(const Dual& a, const Dual& b) {
    return {a.value + b.value, a.rate + b.rate};
  }
  friend TANGERE_HD constexpr Dual operator-(const Dual& a, const Dual& b) {
    return {a.value - b.value, a.rate - b.rate};
  }
  friend TANGERE_HD constexpr Dual operator*(const Dual& a, const Dual& b) {
    return {a.value * b.value, a.rate * b.value + a.value * b.rate};
  }
  friend TANGERE_HD constexpr Dual operator/(const Dual& a, const Dual& b) {
    const Real ratio = a.value / b.value;
    return {ratio, (a.rate - ratio * b.rate) / b.value};
  }
  friend TANGERE_HD constexpr bool operator==(const Dual& a, const Dual& b) {
    return a.value == b.value;
  }
  friend TANGERE_HD constexpr bool operator<(const Dual& a, const Dual& b) {
    return a.value < b.value;
  }
  friend TANGERE_HD constexpr bool operator>(const Dual& a, const Dual& b) {
    return a.value > b.value;
  }
  friend TANGERE_HD constexpr bool operator<=(const Dual& a, const Dual& b) {
    return a.value <= b.value;
  }
  friend TANGERE_HD constexpr bool operator>=(const Dual& a, const Dual& b) {
    return a.value >= b.value;
  }
};

[[nodiscard]] TANGERE_HD inline Dual sqrt(const Dual& a) {
  const Real root = std::sqrt(a.value);
  return {root, a.rate / (2 * root)};
}

[[nodiscard]] TANGERE_HD inline Dual fabs(const Dual& a) { return a.value < 0 ? -a : a; }

struct SinCosDual {
  Dual sin, cos;
};

[[nodiscard]] TANGERE_HD inline SinCosDual sinCos(const Dual& a) {
  const core::SinCos at = core::sinCos(a.value);
  return {{at.sin, at.cos * a.rate}, {at.cos, -(at.sin * a.rate)}};
}

[[nodiscard]] TANGERE_HD inline SinCosDual turnSinCos(const Dual& a) { return sinCos(a); }

[[nodiscard]] TANGERE_HD inline Dual atan2(const Dual& y, const Dual& x) {
  const Real square = y.value * y.value + x.value * x.value;
  return {core::atan2(y.value, x.value), (x.value * y.rate - y.value * x.rate) / square};
}

}  // namespace tangere::math

template <>
struct std::numeric_limits<tangere::math::Dual> : std::numeric_limits<tangere::Real> {};
