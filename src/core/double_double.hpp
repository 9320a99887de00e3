// SPDX-License-Identifier: Apache-2.0
//
// Unevaluated sums of two doubles (about 106 bits) from + - * alone, after Dekker (1971) and
// Knuth: exact error terms without fma, so that every compiler and device finds the same bits.
// Valid while no intermediate overflows: |a| < 2^996 for products. Results are exact unless said
// otherwise, as long as the error term does not underflow.
#pragma once

#include <tangere/config.hpp>

namespace tangere::core {

/// hi + lo, with |lo| at most half an ulp of hi once normalized.
struct DoubleDouble {
  double hi = 0.0;
  double lo = 0.0;
};

/// a + b, exactly; needs |a| >= |b| or a == 0.
[[nodiscard]] TANGERE_HD constexpr DoubleDouble fastTwoSum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

/// a + b, exactly.
[[nodiscard]] TANGERE_HD constexpr DoubleDouble twoSum(double a, double b) {
  const double sum = a + b;
  const double bPart = sum - a;
  return {sum, (a - (sum - bPart)) + (b - bPart)};
}

/// a as two halves of at most 26 bits each, so that products of halves are exact (Veltkamp).
[[nodiscard]] TANGERE_HD constexpr DoubleDouble splitHalves(double a) {
  const double scaled = 134217729.0 * a;  // 2^27 + 1
  const double hi = scaled - (scaled - a);
  return {hi, a - hi};
}

/// a * b, exactly.
[[nodiscard]] TANGERE_HD constexpr DoubleDouble twoProduct(double a, double b) {
  const double product = a * b;
  const DoubleDouble p = splitHalves(a);
  const DoubleDouble q = splitHalves(b);
  return {product, ((p.hi * q.hi - product) + p.hi * q.lo + p.lo * q.hi) + p.lo * q.lo};
}

/// a * a, exactly.
[[nodiscard]] TANGERE_HD constexpr DoubleDouble twoSquare(double a) {
  const double product = a * a;
  const DoubleDouble p = splitHalves(a);
  return {product, ((p.hi * p.hi - product) + 2.0 * (p.hi * p.lo)) + p.lo * p.lo};
}

/// a - b to about 2^-104 of max(|a|, |b|).
[[nodiscard]] TANGERE_HD constexpr DoubleDouble operator-(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble sum = twoSum(a.hi, -b.hi);
  return fastTwoSum(sum.hi, sum.lo + (a.lo - b.lo));
}

/// a * b to about 2^-102 of it.
[[nodiscard]] TANGERE_HD constexpr DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble product = twoProduct(a.hi, b.hi);
  return fastTwoSum(product.hi, product.lo + (a.hi * b.lo + a.lo * b.hi));
}

/// a / b to about 2^-100 of it.
[[nodiscard]] TANGERE_HD constexpr DoubleDouble operator/(DoubleDouble a, DoubleDouble b) {
  const double quotient = a.hi / b.hi;
  const DoubleDouble back = twoProduct(quotient, b.hi);
  const double rest = ((a.hi - back.hi) - back.lo) + (a.lo - quotient * b.lo);
  return fastTwoSum(quotient, rest / b.hi);
}

}  // namespace tangere::core
