// SPDX-License-Identifier: Apache-2.0
//
// sin cos tan atan atan2 asin acos exp log cbrt whose bits depend on nothing but the argument:
// only + - * / sqrt and integer operations, each correctly rounded by IEEE 754, in a fixed order.
// (libm differs between versions and between host and device.) Errors stay below 0.53 ulp over the
// whole range of double, huge arguments of sin and cos included; tests/core/test_elementary.cpp
// measures them against MPFR. Signed zeros, infinities and NaN behave as in C (annex F); errno
// and the floating-point flags are not part of the contract. The float overloads round the double
// result once more.
//
// The plan is the same everywhere: reduce the argument exactly or to ~100 bits, look up the
// nearest tabulated point in double-double, and add a short series whose terms are small enough
// for double arithmetic.
#pragma once

#include <tangere/config.hpp>

#include "core/double_double.hpp"
#include "core/elementary_tables.hpp"

#include <cmath>
#include <cstdint>

namespace tangere::core {

struct SinCos {
  double sin = 0.0;
  double cos = 1.0;
};

struct SinCosFloat {
  float sin = 0.0f;
  float cos = 1.0f;
};

[[nodiscard]] TANGERE_HD inline double sin(double x);
[[nodiscard]] TANGERE_HD inline double cos(double x);
/// Both at the price of little more than one; the same bits as sin(x) and cos(x).
[[nodiscard]] TANGERE_HD inline SinCos sinCos(double x);
[[nodiscard]] TANGERE_HD inline double tan(double x);
[[nodiscard]] TANGERE_HD inline double atan(double x);
[[nodiscard]] TANGERE_HD inline double atan2(double y, double x);
[[nodiscard]] TANGERE_HD inline double asin(double x);
[[nodiscard]] TANGERE_HD inline double acos(double x);
[[nodiscard]] TANGERE_HD inline double exp(double x);
[[nodiscard]] TANGERE_HD inline double log(double x);
[[nodiscard]] TANGERE_HD inline double cbrt(double x);

// --- bits ---------------------------------------------------------------------------------------

[[nodiscard]] TANGERE_HD inline std::uint64_t bitsOf(double x) {
  return __builtin_bit_cast(std::uint64_t, x);
}

[[nodiscard]] TANGERE_HD inline double doubleFromBits(std::uint64_t bits) {
  return __builtin_bit_cast(double, bits);
}

/// 2^e for e in [-1022, 1023].
[[nodiscard]] TANGERE_HD inline double powerOfTwo(int e) {
  return doubleFromBits(static_cast<std::uint64_t>(e + 1023) << 52);
}

[[nodiscard]] TANGERE_HD inline double magnitude(double x) {
  return doubleFromBits(bitsOf(x) & 0x7fffffffffffffffu);
}

[[nodiscard]] TANGERE_HD inline bool isNegative(double x) { return (bitsOf(x) >> 63) != 0; }

[[nodiscard]] TANGERE_HD inline double withSignOf(double x, double sign) {
  return doubleFromBits((bitsOf(x) & 0x7fffffffffffffffu) | (bitsOf(sign) & 0x8000000000000000u));
}

[[nodiscard]] TANGERE_HD inline double quietNan() { return doubleFromBits(0x7ff8000000000000u); }
[[nodiscard]] TANGERE_HD inline double infinity() { return doubleFromBits(0x7ff0000000000000u); }
[[nodiscard]] TANGERE_HD inline bool isNan(double x) { return x != x; }
[[nodiscard]] TANGERE_HD inline bool isFinite(double x) {
  return (bitsOf(x) & 0x7ff0000000000000u) != 0x7ff0000000000000u;
}

/// x = fraction * 2^exponent with fraction in [1, 2).
struct NormalizedDouble {
  double fraction = 1.0;
  int exponent = 0;
};

/// For finite x > 0, subnormals included.
[[nodiscard]] TANGERE_HD inline NormalizedDouble normalized(double x) {
  int exponent = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    exponent = -54;
  }
  const std::uint64_t bits = bitsOf(x);
  exponent += static_cast<int>(bits >> 52) - 1023;
  return {doubleFromBits((bits & 0x000fffffffffffffu) | 0x3ff0000000000000u), exponent};
}

/// The nearest integer, for |x| < 2^51, ties to even: the sum has no room for a fraction.
[[nodiscard]] TANGERE_HD inline double nearestInteger(double x) {
  return (x + 0x1.8p52) - 0x1.8p52;
}

[[nodiscard]] TANGERE_HD inline DoubleDouble halfPi() {
  return {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
}
[[nodiscard]] TANGERE_HD inline DoubleDouble wholePi() {
  return {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};
}

// --- sin cos tan --------------------------------------------------------------------------------

/// x = (quadrant + 4k) pi/2 + angle, |angle| <= pi/4 (1 + 2^-20), angle to 2^-68 of itself at
/// worst.
struct ReducedAngle {
  DoubleDouble angle;
  int quadrant = 0;
};

/// Cody and Waite: pi/2 in three parts of 33 bits and a tail, so that n times each part is exact
/// for n < 2^20.
[[nodiscard]] TANGERE_HD inline ReducedAngle reduceMediumAngle(double x) {
  const double n = nearestInteger(x * 0x1.45f306dc9c883p-1);  // 2/pi
  const double rest = x - n * 0x1.921fb544p+0;                // exact: both on the grid of ulp(x)
  const DoubleDouble sum1 = twoSum(rest, -(n * 0x1.0b4611a6p-34));
  const DoubleDouble sum2 = twoSum(sum1.hi, -(n * 0x1.3198a2ep-69));
  const DoubleDouble low = twoSum(sum1.lo, sum2.lo);
  const DoubleDouble high = twoSum(sum2.hi, low.hi);
  return {fastTwoSum(high.hi, high.lo + (low.lo - n * 0x1.b839a252049c1p-104)),
          static_cast<int>(n) & 3};
}

/// Payne and Hanek: x 2/pi modulo 4 in integers. The bits of 2/pi that contribute multiples of 4
/// are skipped; 224 bits of the product leave 169 right ones after the point, and no double comes
/// nearer to a multiple of pi/2 than 2^-61.
[[nodiscard]] TANGERE_HD inline ReducedAngle reduceHugeAngle(double x) {
  constexpr int kLimbs = 7;
  const std::uint64_t bits = bitsOf(x);
  const int exponent = static_cast<int>(bits >> 52) - 1075;  // x = mantissa 2^exponent
  const std::uint64_t mantissa = (bits & 0x000fffffffffffffu) | 0x0010000000000000u;
  const int firstBit = exponent + 62;  // the table starts 64 bits before the point
  const int firstLimb = firstBit >> 5;
  const int shift = firstBit & 31;

  // product = mantissa * window mod 2^224; limb 0 is the least significant.
  std::uint32_t product[kLimbs];
  const std::uint64_t low = mantissa & 0xffffffffu;
  const std::uint64_t high = mantissa >> 32;
  std::uint64_t carry = 0;
  std::uint64_t previous = 0;  // the window's limb below the present one
  for (int i = 0; i < kLimbs; ++i) {
    const int at = firstLimb + kLimbs - 1 - i;
    const std::uint64_t pair =
        (static_cast<std::uint64_t>(twoOverPiLimb(at)) << 32) | twoOverPiLimb(at + 1);
    const std::uint64_t window = (pair >> (32 - shift)) & 0xffffffffu;
    // high < 2^21 and low < 2^32: add the halves apart, or the sum could pass 2^64.
    const std::uint64_t byLow = low * window;
    const std::uint64_t byHigh = high * previous;
    const std::uint64_t sum =
        (byLow & 0xffffffffu) + (byHigh & 0xffffffffu) + (carry & 0xffffffffu);
    product[i] = static_cast<std::uint32_t>(sum);
    carry = (byLow >> 32) + (byHigh >> 32) + (carry >> 32) + (sum >> 32);
    previous = window;
  }

  int quadrant = static_cast<int>(product[kLimbs - 1] >> 30);
  product[kLimbs - 1] &= 0x3fffffffu;
  const bool isUpperHalf = (product[kLimbs - 1] & 0x20000000u) != 0;
  if (isUpperHalf) {  // fraction - 1 is nearer to zero: negate modulo 2^222
    ++quadrant;
    std::uint64_t one = 1;
    for (int i = 0; i < kLimbs; ++i) {
      const std::uint64_t limb = static_cast<std::uint64_t>(~product[i]) + one;
      product[i] = static_cast<std::uint32_t>(limb);
      one = limb >> 32;
    }
    product[kLimbs - 1] &= 0x3fffffffu;
  }

  DoubleDouble fraction;
  double weight = 0x1p-222;
  for (int i = 0; i < kLimbs; ++i) {
    const DoubleDouble sum = twoSum(static_cast<double>(product[i]) * weight, fraction.hi);
    fraction = fastTwoSum(sum.hi, sum.lo + fraction.lo);
    weight *= 0x1p32;
  }
  DoubleDouble angle = fraction * halfPi();
  if (isUpperHalf) angle = {-angle.hi, -angle.lo};
  return {angle, quadrant & 3};
}

/// For finite x >= 0.
[[nodiscard]] TANGERE_HD inline ReducedAngle reduceAngle(double x) {
  if (x <= 0x1.921fb54442d18p-1) return {{x, 0.0}, 0};
  if (x < 1.6e6) return reduceMediumAngle(x);
  return reduceHugeAngle(x);
}

/// sin(r) = r + r z (-1/6 + z (1/120 - ...)), z = r^2: up to z the product is kept in
/// double-double, the remaining terms are below 1/300 of r. Relative error below 2^-60.
[[nodiscard]] TANGERE_HD inline DoubleDouble sinSeries(DoubleDouble r, DoubleDouble z) {
  const double t = z.hi;
  const double tail =
      t *
      (1.0 / 120 +
       t * (-1.0 / 5040 +
            t * (1.0 / 362880 + t * (-1.0 / 39916800 +
                                     t * (1.0 / 6227020800 + t * (-1.0 / 1307674368000 +
                                                                  t * (1.0 / 355687428096000)))))));
  const DoubleDouble sum = fastTwoSum(-0x1.5555555555555p-3, tail);
  const DoubleDouble factor{sum.hi, sum.lo - 0x1.5555555555555p-57};  // -1/6 = hi + lo
  const DoubleDouble cubic = r * (z * factor);
  const DoubleDouble result = fastTwoSum(r.hi, cubic.hi);
  return fastTwoSum(result.hi, result.lo + (r.lo + cubic.lo));
}

/// cos(r) = (1 - z/2) + z^2 (1/24 - z/720 ...), in the same way: only the terms from z^3 on, below
/// 1/3000, are plain doubles. Relative error below 2^-62.
[[nodiscard]] TANGERE_HD inline DoubleDouble cosSeries(DoubleDouble z) {
  const double t = z.hi;
  const double tail =
      t * (-1.0 / 720 +
           t * (1.0 / 40320 +
                t * (-1.0 / 3628800 +
                     t * (1.0 / 479001600 +
                          t * (-1.0 / 87178291200 +
                               t * (1.0 / 20922789888000 + t * (-1.0 / 6402373705728000)))))));
  const DoubleDouble sum = fastTwoSum(0x1.5555555555555p-5, tail);
  const DoubleDouble factor{sum.hi, sum.lo + 0x1.5555555555555p-59};  // 1/24 = hi + lo
  const DoubleDouble quartic = (z * z) * factor;
  const DoubleDouble result = fastTwoSum(1.0, -0.5 * z.hi);
  const DoubleDouble whole = fastTwoSum(result.hi, quartic.hi);
  return fastTwoSum(whole.hi, whole.lo + ((result.lo - 0.5 * z.lo) + quartic.lo));
}

[[nodiscard]] TANGERE_HD inline DoubleDouble squareOf(DoubleDouble r) {
  const DoubleDouble square = twoSquare(r.hi);
  return {square.hi, square.lo + 2.0 * (r.hi * r.lo)};
}

TANGERE_HD inline double sin(double x) {
  const double ax = magnitude(x);
  if (ax < 0x1p-26) return x;  // x^3/6 is less than half an ulp
  if (!isFinite(x)) return quietNan();
  const ReducedAngle reduced = reduceAngle(ax);
  const DoubleDouble z = squareOf(reduced.angle);
  double result = (reduced.quadrant & 1) != 0 ? cosSeries(z).hi : sinSeries(reduced.angle, z).hi;
  if ((reduced.quadrant & 2) != 0) result = -result;
  return isNegative(x) ? -result : result;
}

TANGERE_HD inline double cos(double x) {
  if (!isFinite(x)) return quietNan();
  const ReducedAngle reduced = reduceAngle(magnitude(x));
  const DoubleDouble z = squareOf(reduced.angle);
  const double result =
      (reduced.quadrant & 1) != 0 ? sinSeries(reduced.angle, z).hi : cosSeries(z).hi;
  const bool isNegated = reduced.quadrant == 1 || reduced.quadrant == 2;
  return isNegated ? -result : result;
}

TANGERE_HD inline SinCos sinCos(double x) {
  const double ax = magnitude(x);
  if (!isFinite(x)) return {quietNan(), quietNan()};
  const ReducedAngle reduced = reduceAngle(ax);
  const DoubleDouble z = squareOf(reduced.angle);
  const double s = sinSeries(reduced.angle, z).hi;
  const double c = cosSeries(z).hi;
  SinCos result = (reduced.quadrant & 1) != 0 ? SinCos{c, s} : SinCos{s, c};
  if ((reduced.quadrant & 2) != 0) result.sin = -result.sin;
  if (reduced.quadrant == 1 || reduced.quadrant == 2) result.cos = -result.cos;
  if (isNegative(x)) result.sin = -result.sin;
  if (ax < 0x1p-26) result.sin = x;
  return result;
}

TANGERE_HD inline double tan(double x) {
  const double ax = magnitude(x);
  if (ax < 0x1p-27) return x;
  if (!isFinite(x)) return quietNan();
  const ReducedAngle reduced = reduceAngle(ax);
  const DoubleDouble z = squareOf(reduced.angle);
  const DoubleDouble s = sinSeries(reduced.angle, z);
  const DoubleDouble c = cosSeries(z);
  const double result = (reduced.quadrant & 1) != 0 ? -(c / s).hi : (s / c).hi;
  return isNegative(x) ? -result : result;
}

// --- atan atan2 asin acos -----------------------------------------------------------------------

/// atan(a/b) for 0 <= a <= b, b in [2^-60, 2^70]: the tabulated angle of c = i/64 nearest to a/b,
/// plus atan((a - c b)/(b + c a)), at most 1/127.
[[nodiscard]] TANGERE_HD inline DoubleDouble angleOfRatio(DoubleDouble a, DoubleDouble b) {
  const int i = static_cast<int>((a.hi / b.hi) * 64.0 + 0.5);
  const double c = static_cast<double>(i) * 0.015625;
  const DoubleDouble cb = twoProduct(c, b.hi);
  const DoubleDouble ca = twoProduct(c, a.hi);
  const DoubleDouble over = a - DoubleDouble{cb.hi, cb.lo + c * b.lo};
  const DoubleDouble sum = twoSum(b.hi, ca.hi);
  const DoubleDouble under = fastTwoSum(sum.hi, sum.lo + (b.lo + (ca.lo + c * a.lo)));
  const DoubleDouble q = over / under;

  const double z = q.hi * q.hi;
  const double tail =
      q.hi * z * (-1.0 / 3 + z * (1.0 / 5 + z * (-1.0 / 7 + z * (1.0 / 9 + z * (-1.0 / 11)))));
  const DoubleDouble nearest = atanTable(i);
  const DoubleDouble result = fastTwoSum(nearest.hi, q.hi);
  return fastTwoSum(result.hi, result.lo + (nearest.lo + (q.lo + tail)));
}

/// The angle of the point (x, y), x, y >= 0 and not both zero, in [0, pi/2].
[[nodiscard]] TANGERE_HD inline DoubleDouble angleOfPoint(DoubleDouble y, DoubleDouble x) {
  if (y.hi <= x.hi) return angleOfRatio(y, x);
  return halfPi() - angleOfRatio(x, y);
}

TANGERE_HD inline double atan(double x) {
  const double ax = magnitude(x);
  if (!(ax >= 0x1p-27)) return x;  // x^3/3 is less than half an ulp; NaN stays
  if (ax > 0x1p64) return withSignOf(halfPi().hi, x);
  return withSignOf(angleOfPoint({ax, 0.0}, {1.0, 0.0}).hi, x);
}

TANGERE_HD inline double atan2(double y, double x) {
  if (isNan(x) || isNan(y)) return quietNan();
  const double ay = magnitude(y);
  const double ax = magnitude(x);
  const bool isBehind = isNegative(x);
  if (ay == 0.0) return isBehind ? withSignOf(wholePi().hi, y) : y;
  if (ax == 0.0) return withSignOf(halfPi().hi, y);
  if (!isFinite(ay)) {
    if (isFinite(ax)) return withSignOf(halfPi().hi, y);
    return withSignOf(isBehind ? 0x1.2d97c7f3321d2p+1 : 0x1.921fb54442d18p-1, y);  // 3pi/4, pi/4
  }
  if (!isFinite(ax)) return withSignOf(isBehind ? wholePi().hi : 0.0, y);

  const NormalizedDouble ny = normalized(ay);
  const NormalizedDouble nx = normalized(ax);
  const int difference = ny.exponent - nx.exponent;
  if (difference > 64) return withSignOf(halfPi().hi, y);
  if (difference < -64) return isBehind ? withSignOf(wholePi().hi, y) : y / x;
  const double scaledY = ny.fraction * powerOfTwo(difference);
  DoubleDouble angle = angleOfPoint({scaledY, 0.0}, {nx.fraction, 0.0});
  if (isBehind) angle = wholePi() - angle;
  return withSignOf(angle.hi, y);
}

/// sqrt(1 - x^2) for |x| < 1.
[[nodiscard]] TANGERE_HD inline DoubleDouble complementOf(double x) {
  const DoubleDouble square = twoSquare(x);
  const DoubleDouble rest = DoubleDouble{1.0, 0.0} - square;
  const double root = std::sqrt(rest.hi);
  const DoubleDouble back = twoSquare(root);
  return fastTwoSum(root, (((rest.hi - back.hi) - back.lo) + rest.lo) / (2.0 * root));
}

TANGERE_HD inline double asin(double x) {
  const double ax = magnitude(x);
  if (ax < 0x1p-27) return x;
  if (!(ax < 1.0)) return ax == 1.0 ? withSignOf(halfPi().hi, x) : quietNan();
  return withSignOf(angleOfPoint({ax, 0.0}, complementOf(ax)).hi, x);
}

TANGERE_HD inline double acos(double x) {
  const double ax = magnitude(x);
  if (!(ax < 1.0)) {
    if (ax != 1.0) return quietNan();
    return isNegative(x) ? wholePi().hi : 0.0;
  }
  const DoubleDouble angle = angleOfPoint(complementOf(ax), {ax, 0.0});
  return isNegative(x) ? (wholePi() - angle).hi : angle.hi;
}

// --- exp log cbrt -------------------------------------------------------------------------------

/// x = (32 e + j) ln2/32 + r: exp(x) = 2^e 2^(j/32) (1 + r + r^2/2 + ...), |r| < 0.0109.
TANGERE_HD inline double exp(double x) {
  if (isNan(x)) return quietNan();
  if (x > 710.0) return infinity();
  if (x < -746.0) return 0.0;
  const double n = nearestInteger(x * 0x1.71547652b82fep+5);  // 32/ln2
  // n times the first part of ln2/32 (36 bits) is exact, and so is the difference.
  const DoubleDouble r = twoSum(x - n * 0x1.62e42fefap-6, -(n * 0x1.cf79abc9e3b3ap-45));
  const double t = r.hi;
  const double series =
      t + (r.lo +
           (t * t) * (1.0 / 2 +
                      t * (1.0 / 6 +
                           t * (1.0 / 24 + t * (1.0 / 120 + t * (1.0 / 720 + t * (1.0 / 5040)))))));
  const int k = static_cast<int>(n);
  const DoubleDouble base = exp2Table(k & 31);
  const DoubleDouble result = fastTwoSum(base.hi, base.lo + base.hi * series);
  const int e = (k - (k & 31)) / 32;
  if (e > 1023) return result.hi * 0x1p1023 * 2.0;
  if (e > -1022 || (e == -1022 && result.hi >= 1.0)) return result.hi * powerOfTwo(e);

  // Subnormal: round once, at the last bit that will be left, by adding a number whose ulp is it.
  const double grid = powerOfTwo(-1022 - e);
  const double rounded = grid + result.hi;
  const double rest = (result.hi - (rounded - grid)) + result.lo;
  return ((rounded + rest) - grid) * powerOfTwo(e + 600) * 0x1p-600;
}

/// x = 2^k m, m/c = 1 + r with c from the table: log(x) = k ln2 + log(c) + (r - r^2/2 + ...).
TANGERE_HD inline double log(double x) {
  if (!(x > 0.0)) return x == 0.0 ? -infinity() : quietNan();
  if (!isFinite(x)) return x;
  const NormalizedDouble nx = normalized(x);
  const int i = static_cast<int>((bitsOf(nx.fraction) >> 45) & 127);
  const double k = static_cast<double>(i < 53 ? nx.exponent : nx.exponent + 1);
  const double inverse = logInverseTable(i);
  const double upper = doubleFromBits(bitsOf(nx.fraction) & 0xfffffffff8000000u);
  const DoubleDouble r = twoSum(upper * inverse - 1.0, (nx.fraction - upper) * inverse);
  const double t = r.hi;
  const double series =
      (t * t) *
      (-1.0 / 2 +
       t * (1.0 / 3 +
            t * (-1.0 / 4 +
                 t * (1.0 / 5 + t * (-1.0 / 6 + t * (1.0 / 7 + t * (-1.0 / 8 + t * (1.0 / 9))))))));
  const DoubleDouble c = logTable(i);
  const DoubleDouble sum1 = twoSum(k * 0x1.62e42fefa4p-1, c.hi);  // 41 bits of ln2: exact
  const DoubleDouble sum2 = twoSum(sum1.hi, r.hi);
  const double low = (c.lo + k * -0x1.8432a1b0e2634p-43) + (sum1.lo + sum2.lo);
  return sum2.hi + ((low + r.lo) + series);
}

/// x = 2^(3k) m, m in [1, 8): two Halley steps from a guess of 5 bits, and a Newton step whose
/// residual is taken in double-double.
TANGERE_HD inline double cbrt(double x) {
  const double ax = magnitude(x);
  if (ax == 0.0 || !isFinite(x)) return x;
  const NormalizedDouble nx = normalized(ax);
  const int k = (nx.exponent + 1200) / 3 - 400;  // floor(exponent / 3)
  const double m = nx.fraction * powerOfTwo(nx.exponent - 3 * k);
  // A third of the exponent and mantissa read as one integer: linear between powers of eight.
  double t = doubleFromBits(bitsOf(m) / 3 + 0x2a9f7893782da1ceu);
  for (int i = 0; i < 2; ++i) {
    const double cube = t * t * t;
    t *= (cube + (m + m)) / ((cube + cube) + m);
  }
  const DoubleDouble square = twoSquare(t);
  const DoubleDouble cube = square * DoubleDouble{t, 0.0};
  t += ((m - cube.hi) - cube.lo) / (3.0 * square.hi);
  return withSignOf(t * powerOfTwo(k), x);
}

// --- float --------------------------------------------------------------------------------------

[[nodiscard]] TANGERE_HD inline float sin(float x) {
  return static_cast<float>(sin(static_cast<double>(x)));
}
[[nodiscard]] TANGERE_HD inline float cos(float x) {
  return static_cast<float>(cos(static_cast<double>(x)));
}
[[nodiscard]] TANGERE_HD inline SinCosFloat sinCos(float x) {
  const SinCos both = sinCos(static_cast<double>(x));
  return {static_cast<float>(both.sin), static_cast<float>(both.cos)};
}
[[nodiscard]] TANGERE_HD inline float tan(float x) {
  return static_cast<float>(tan(static_cast<double>(x)));
}
[[nodiscard]] TANGERE_HD inline float atan(float x) {
  return static_cast<float>(atan(static_cast<double>(x)));
}
[[nodiscard]] TANGERE_HD inline float atan2(float y, float x) {
  return static_cast<float>(atan2(static_cast<double>(y), static_cast<double>(x)));
}
[[nodiscard]] TANGERE_HD inline float asin(float x) {
  return static_cast<float>(asin(static_cast<double>(x)));
}
[[nodiscard]] TANGERE_HD inline float acos(float x) {
  return static_cast<float>(acos(static_cast<double>(x)));
}
[[nodiscard]] TANGERE_HD inline float exp(float x) {
  return static_cast<float>(exp(static_cast<double>(x)));
}
[[nodiscard]] TANGERE_HD inline float log(float x) {
  return static_cast<float>(log(static_cast<double>(x)));
}
[[nodiscard]] TANGERE_HD inline float cbrt(float x) {
  return static_cast<float>(cbrt(static_cast<double>(x)));
}

}  // namespace tangere::core
