// SPDX-License-Identifier: Apache-2.0
//
// Sine and cosine of an angle of rotation, with errors below one ulp and the same bits everywhere:
// + - * alone, in a fixed order. Four times as fast as those of core, which round to the nearest
// but for a few cases in a hundred.
#pragma once

#include <tangere/config.hpp>

#include "core/elementary.hpp"

#include <cstdint>

namespace tangere::math {

/// sin and cos of x [rad], |x| <= kLargestTurn. No branches and 64-bit integers alone, so that a
/// loop over many angles is made of vector instructions.
inline constexpr double kLargestTurn = 1e5;
[[nodiscard]] TANGERE_HD inline core::SinCos reducedSinCos(double x) {
  // x = n pi/2 + r + low. The first two parts of pi/2 have 33 bits, so n times them is exact; the
  // rest is what they leave out.
  constexpr double kRounder = 0x1.8p52;  // a sum with it has no room for a fraction
  const double shifted = x * 0x1.45f306dc9c883p-1 + kRounder;  // 2/pi
  const double n = shifted - kRounder;
  const double a = x - n * 0x1.921fb544p+0;
  const double b = n * 0x1.0b4611a6p-34;
  const double c = a - b;
  const double lost = ((a - c) - b) - n * 0x1.3198a2e037073p-69;
  const double r = c + lost;
  const double low = (c - r) + lost;

  // Taylor's series with the last terms adjusted to |r| <= pi/4 (the coefficients of fdlibm).
  const double z = r * r;
  const double w = z * z;
  const double sinTail = (8.33333333332248946124e-03 + z * -1.98412698298579493134e-04) +
                         w * ((2.75573137070700676789e-06 + z * -2.50507602534068634195e-08) +
                              w * 1.58969099521155010221e-10);
  const double zr = z * r;
  const double s = r - ((z * (0.5 * low - zr * sinTail) - low) - zr * -1.66666666666666324348e-01);
  const double cosTail =
      z * (4.16666666666666019037e-02 + z * -1.38888888888741095749e-03) +
      (w * z) * ((2.48015872894767294178e-05 + z * -2.75573143513906633035e-07) +
                 w * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11));
  const double half = 0.5 * z;
  const double one = 1.0 - half;
  const double cosine = one + (((1.0 - one) - half) + (z * cosTail - r * low));

  // The lowest bits of `shifted` are those of n.
  const std::uint64_t quadrant = core::bitsOf(shifted);
  const std::uint64_t swap = 0 - (quadrant & 1);
  const std::uint64_t sineBits = core::bitsOf(s), cosineBits = core::bitsOf(cosine);
  const std::uint64_t change = (sineBits ^ cosineBits) & swap;
  return {core::doubleFromBits((sineBits ^ change) ^ ((quadrant & 2) << 62)),
          core::doubleFromBits((cosineBits ^ change) ^ (((quadrant + 1) & 2) << 62))};
}

/// sin and cos of x [rad], of any size.
[[nodiscard]] TANGERE_HD inline core::SinCos turnSinCos(double x) {
  if (x <= kLargestTurn && x >= -kLargestTurn) return reducedSinCos(x);
  return core::sinCos(x);
}

/// Rounded from double.
[[nodiscard]] TANGERE_HD inline core::SinCosFloat turnSinCos(float x) {
  const core::SinCos at = turnSinCos(static_cast<double>(x));
  return {static_cast<float>(at.sin), static_cast<float>(at.cos)};
}

/// Of `count` angles, which their sines replace.
template <class S>
TANGERE_HD inline void turnSinCosOfAll(S* angles, S* cosines, int count) {
  for (int i = 0; i < count; ++i) {
    const auto at = turnSinCos(angles[i]);
    angles[i] = S(at.sin);
    cosines[i] = S(at.cos);
  }
}

/// The same bits, several at a time.
TANGERE_HD inline void turnSinCosOfAll(double* __restrict angles, double* __restrict cosines,
                                       int count) {
  bool isAnyLarge = false;
  for (int i = 0; i < count; ++i)
    isAnyLarge = isAnyLarge || !(angles[i] <= kLargestTurn && angles[i] >= -kLargestTurn);
  if (isAnyLarge) {
    turnSinCosOfAll<double>(angles, cosines, count);
    return;
  }
  for (int i = 0; i < count; ++i) {
    const core::SinCos at = reducedSinCos(angles[i]);
    angles[i] = at.sin;
    cosines[i] = at.cos;
  }
}

}  // namespace tangere::math
