// SPDX-License-Identifier: Apache-2.0
//
// A number of about 31 digits for the kernels that are templates on their scalar: an unevaluated
// sum of two doubles with the operations of one. From + - * / and one square root, so that every
// compiler finds the same bits. Errors are below 2^-98 of the result; products must stay between
// 2^-900 and 2^990.
#pragma once

#include "core/double_double.hpp"

#include <cmath>

namespace tangere::core {

struct Extended {
  double hi = 0.0;
  double lo = 0.0;

  constexpr Extended() = default;
  TANGERE_HD constexpr explicit Extended(double x) : hi(x) {}
  TANGERE_HD constexpr Extended(DoubleDouble x) : hi(x.hi), lo(x.lo) {}
  [[nodiscard]] TANGERE_HD constexpr DoubleDouble pair() const { return {hi, lo}; }
  TANGERE_HD constexpr explicit operator double() const { return hi + lo; }

  friend TANGERE_HD constexpr Extended operator-(Extended a) { return DoubleDouble{-a.hi, -a.lo}; }
  friend TANGERE_HD constexpr Extended operator+(Extended a, Extended b) {
    const DoubleDouble high = twoSum(a.hi, b.hi), low = twoSum(a.lo, b.lo);
    const DoubleDouble sum = fastTwoSum(high.hi, high.lo + low.hi);
    return fastTwoSum(sum.hi, sum.lo + low.lo);
  }
  friend TANGERE_HD constexpr Extended operator-(Extended a, Extended b) { return a + (-b); }
  friend TANGERE_HD constexpr Extended operator*(Extended a, Extended b) {
    return a.pair() * b.pair();
  }
  friend TANGERE_HD constexpr Extended operator/(Extended a, Extended b) {
    // The quotient of two doubles, and what is left of it, twice.
    const Extended first(a.hi / b.hi);
    Extended rest = a - first * b;
    const Extended second(rest.hi / b.hi);
    rest = rest - second * b;
    return first + (second + Extended(rest.hi / b.hi));
  }
  TANGERE_HD constexpr Extended& operator+=(Extended b) { return *this = *this + b; }
  TANGERE_HD constexpr Extended& operator-=(Extended b) { return *this = *this - b; }
  TANGERE_HD constexpr Extended& operator*=(Extended b) { return *this = *this * b; }
  TANGERE_HD constexpr Extended& operator/=(Extended b) { return *this = *this / b; }

  friend TANGERE_HD constexpr bool operator<(Extended a, Extended b) {
    return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo);
  }
  friend TANGERE_HD constexpr bool operator>(Extended a, Extended b) { return b < a; }
  friend TANGERE_HD constexpr bool operator<=(Extended a, Extended b) {
    return a.hi < b.hi || (a.hi == b.hi && a.lo <= b.lo);
  }
  friend TANGERE_HD constexpr bool operator>=(Extended a, Extended b) { return b <= a; }
  friend TANGERE_HD constexpr bool operator==(Extended a, Extended b) {
    return a.hi == b.hi && a.lo == b.lo;
  }

  friend TANGERE_HD bool signbit(Extended a) { return std::signbit(a.hi); }
  friend TANGERE_HD Extended fabs(Extended a) { return signbit(a) ? -a : a; }
  friend TANGERE_HD Extended copysign(Extended a, Extended sign) {
    return signbit(a) == signbit(sign) ? a : -a;
  }
  /// Of a number that is not negative.
  friend TANGERE_HD Extended sqrt(Extended a) {
    if (!(a.hi > 0.0)) return {};
    // One step of Newton's method from the root of the leading part doubles its digits.
    const double root = std::sqrt(a.hi);
    const Extended rest = a - Extended(twoSquare(root));
    return fastTwoSum(root, rest.hi / (2.0 * root));
  }
};

/// Of Extended: relative, with room for a few operations.
inline constexpr double kExtendedEpsilon = 0x1p-98;

}  // namespace tangere::core
