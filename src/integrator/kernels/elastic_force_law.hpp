// SPDX-License-Identifier: Apache-2.0
//
// Forces of contacts that yield: from depth, its rate and the relative motion to force and torque,
// with derivatives. Normal forces never pull; each comes with a signal that falls through zero
// where it would begin to.
#pragma once

#include <tangere/types.hpp>

#include "core/elementary.hpp"

#include <cmath>

namespace tangere::kernel {

/// A size that is never zero: `size` from `small` on, below it a cubic down to small/3, with two
/// continuous derivatives.
template <class S>
TANGERE_HD inline S regularizedSize(S size, S small) {
  if (size >= small) return size;
  const S ratio = size / small;
  return size * ratio * (S(1) - ratio / S(3)) + small / S(3);
}

/// Its derivative over `size`, which has a limit where the size is zero.
template <class S>
TANGERE_HD inline S regularizedSlopeOverSize(S size, S small) {
  if (size >= small) return S(1) / size;
  return (S(2) - size / small) / small;
}

/// v / regularizedSize(|v|): of length one from `small` on, zero where v is.
template <class S>
TANGERE_HD inline Vec3T<S> regularizedDirection(const Vec3T<S>& v, S small) {
  return v / regularizedSize(norm(v), small);
}

/// Of regularizedDirection() by v: I/r - v v^T r'/(|v| r^2).
template <class S>
TANGERE_HD inline Mat3T<S> regularizedDirectionSlope(const Vec3T<S>& v, S small) {
  const S size = norm(v);
  const S r = regularizedSize(size, small);
  const S bend = regularizedSlopeOverSize(size, small) / (r * r);
  Mat3T<S> out;
  for (int column = 0; column < 3; ++column) {
    for (int row = 0; row < 3; ++row)
      out(row, column) = (row == column ? S(1) / r : S(0)) - v[row] * v[column] * bend;
  }
  return out;
}

/// The part of v that is orthogonal to the unit vector n.
template <class S>
TANGERE_HD inline Vec3T<S> tangentialPart(const Vec3T<S>& v, const Vec3T<S>& n) {
  return v - n * dot(v, n);
}

/// (x - log(1 + x)) / x^2, for x > -1: 1/2 at zero and falling.
template <class S>
TANGERE_HD inline S logarithmExcess(S x) {
  using std::fabs;
  constexpr int kNumTerms = 24;  // of a series in powers of 1/8 that ends below rounding
  if (fabs(x) > S(0.125)) return (x - core::log(S(1) + x)) / (x * x);
  S sum = S(0);
  for (int i = kNumTerms; i >= 2; --i) sum = S(1) / S(i) - x * sum;
  return sum;
}

/// Of logarithmExcess() by x.
template <class S>
TANGERE_HD inline S logarithmExcessSlope(S x) {
  using std::fabs;
  constexpr int kNumTerms = 24;
  if (fabs(x) > S(0.125)) return (S(1) / (S(1) + x) - S(2) * logarithmExcess(x)) / x;
  S sum = S(0);
  for (int i = kNumTerms; i >= 3; --i) sum = S(i - 2) / S(i) - x * sum;
  return -sum;
}

/// The product D of damping and approach speed for which a force f(x) (1 + d x'), whatever f,
/// throws two free bodies back with the share e of that speed: the root of
/// D (1 + e) = log((1 + D) / (1 - D e)) in (0, 1/e). For 0 < e < 1; 0 from 1 on.
template <class S>
TANGERE_HD inline S exactDampingNumber(S e) {
  if (!(e < S(1))) return S(0);
  // Over D^2, where both sides meet in zero: excess(D) - e^2 excess(-D e), which falls from
  // (1 - e^2)/2.
  S lower = S(0), upper = S(1) / e;
  S D = S(1.5) * (S(1) - e * e) / (S(1) + e * e * e);
  constexpr int kMaxIterations = 200;
  for (int i = 0; i < kMaxIterations; ++i) {
    if (!(D > lower && D < upper)) D = lower + S(0.5) * (upper - lower);
    if (!(D > lower && D < upper)) return D;  // no number is between them
    const S value = logarithmExcess(D) - e * e * logarithmExcess(-D * e);
    if (value == S(0)) return D;
    (value > S(0) ? lower : upper) = D;
    const S slope = logarithmExcessSlope(D) + e * e * e * logarithmExcessSlope(-D * e);
    const S next = D - value / slope;
    if (next == D) return D;
    D = next;
  }
  return D;
}

/// The d of a contact that begins with the approach speed v > 0 and shall bounce with e.
template <class S>
TANGERE_HD inline S exactDamping(S e, S v, S maxDamping) {
  if (!(e > S(0)) || !(v > S(0))) return maxDamping;
  const S d = exactDampingNumber(e) / v;
  return d < maxDamping ? d : maxDamping;
}

/// The same by Flores and others.
template <class S>
TANGERE_HD inline S floresDamping(S e, S v, S maxDamping) {
  if (!(e > S(0)) || !(v > S(0))) return maxDamping;
  const S d = S(8) * (S(1) - e) / (S(5) * e * v);
  return d < maxDamping ? d : maxDamping;
}

/// The part H of the elastic force that is added when a contact deepens and taken when it opens, at
/// any speed, so that two free bodies part with the share e of the speed they met with: the work of
/// opening, 1 - H, is e^2 times that of deepening, 1 + H. 1 where nothing bounces, 0 from e = 1 on.
template <class S>
TANGERE_HD inline S hysteresisNumber(S e) {
  if (!(e < S(1))) return S(0);
  return e > S(0) ? (S(1) - e * e) / (S(1) + e * e) : S(1);
}

/// A normal force and its derivatives.
template <class S>
struct NormalForce {
  S force{};    ///< not negative
  S byDepth{};  ///< of the force; zero where that is
  S byRate{};
  S tension{};  ///< positive where it pushes (or would, were there a depth), else not
};

/// elastic (1 + damping rate), where that pushes.
template <class S>
TANGERE_HD inline NormalForce<S> dampedForce(S elastic, S elasticSlope, S damping, S rate) {
  NormalForce<S> out;
  out.tension = S(1) + damping * rate;
  if (!(out.tension > S(0))) return out;
  out.force = elastic * out.tension;
  out.byDepth = elasticSlope * out.tension;
  out.byRate = elastic * damping;
  return out;
}

/// stiffness depth^(3/2) (1 + damping rate).
template <class S>
TANGERE_HD inline NormalForce<S> hertzForce(S stiffness, S damping, S depth, S rate) {
  using std::sqrt;
  if (!(depth > S(0))) return dampedForce(S(0), S(0), damping, rate);
  const S slope = stiffness * sqrt(depth);
  return dampedForce(slope * depth, S(1.5) * slope, damping, rate);
}

/// stiffness depth^(3/2) (1 + hysteresis times the direction of the rate), the direction falling
/// to zero below `small`. Pushes as long as there is a depth: its tension never vanishes.
template <class S>
TANGERE_HD inline NormalForce<S> hystereticHertzForce(S stiffness, S hysteresis, S small, S depth,
                                                      S rate) {
  using std::fabs;
  using std::sqrt;
  NormalForce<S> out;
  out.tension = S(1);
  if (!(depth > S(0))) return out;
  const S slope = stiffness * sqrt(depth), size = fabs(rate);
  const S r = regularizedSize(size, small);
  const S factor = S(1) + hysteresis * rate / r;
  if (!(factor > S(0))) return out;
  out.force = slope * depth * factor;
  out.byDepth = S(1.5) * slope * factor;
  out.byRate = slope * depth * hysteresis *
               (S(1) / r - size * size * regularizedSlopeOverSize(size, small) / (r * r));
  return out;
}

/// stiffness depth (1 + damping rate).
template <class S>
TANGERE_HD inline NormalForce<S> huntCrossleyForce(S stiffness, S damping, S depth, S rate) {
  if (!(depth > S(0))) return dampedForce(S(0), S(0), damping, rate);
  return dampedForce(stiffness * depth, stiffness, damping, rate);
}

/// stiffness (depth + relaxationTime rate).
template <class S>
TANGERE_HD inline NormalForce<S> relaxingForce(S stiffness, S relaxationTime, S depth, S rate) {
  NormalForce<S> out;
  out.tension = depth + relaxationTime * rate;
  if (!(out.tension > S(0))) return out;
  out.force = stiffness * out.tension;
  out.byDepth = stiffness;
  out.byRate = stiffness * relaxationTime;
  return out;
}

/// A critically damped spring that swings with `frequency` [rad/s] under `mass`. Where it is so
/// deep that it would throw the mass out faster than `maxSpeed`, its damping grows with the depth:
/// what is deep in something is led out, and held all the same.
template <class S>
TANGERE_HD inline NormalForce<S> restForce(S mass, S frequency, S maxSpeed, S depth, S rate) {
  const S stiffness = mass * frequency * frequency;
  const S critical = S(2) / frequency;
  const bool isDeep = depth > critical * maxSpeed;
  NormalForce<S> out = relaxingForce(stiffness, isDeep ? depth / maxSpeed : critical, depth, rate);
  if (isDeep && out.force > S(0)) out.byDepth = stiffness * (S(1) + rate / maxSpeed);
  return out;
}

}  // namespace tangere::kernel
