// SPDX-License-Identifier: Apache-2.0
//
// Rotation of a rigid body that no torque acts on. The implicit midpoint rule on the group keeps
// the angular momentum in the world and the kinetic energy, both to rounding, for any step: with
// L the momentum in the body and w = I^-1 (L + L')/2,
//
//   L' - L = -h w x (L + L')/2   and   q' = q (1, h w/2)/|.|
//
// so L'.w = L.w (energy) and R' L' = R L (momentum).
#pragma once

#include <tangere/types.hpp>

#include "math/quat.hpp"

namespace tangere::kernel {

template <class S>
struct RotationState {
  QuatT<S> orientation{};      ///< R_WB, unit
  Vec3T<S> angularVelocity{};  ///< world
};

/// One midpoint step of length h; the inverse inertia in the body frame. Second order.
template <class S>
TANGERE_HD inline void stepFreeRotation(const Mat3T<S>& inverseInertia, S h, QuatT<S>* q,
                                        Vec3T<S>* momentum_B) {
  using std::fabs;
  const Vec3T<S> start = *momentum_B;
  const S half = h * S(0.5);
  // Newton's method on m = (L + L')/2 = L + h/2 m x I^-1 m. Putting m back in would do for a body
  // whose moments are alike, and diverges for a needle.
  Vec3T<S> m = start;
  constexpr int kMaxRounds = 20;
  for (int round = 0; round < kMaxRounds; ++round) {
    const Vec3T<S> w = inverseInertia * m;
    const Vec3T<S> error = m - start - cross(m, w) * half;
    const Vec3T<S> a = Vec3T<S>{S(1), S(0), S(0)} -
                       (cross(m, inverseInertia.col[0]) + Vec3T<S>{S(0), -w.z, w.y}) * half;
    const Vec3T<S> b = Vec3T<S>{S(0), S(1), S(0)} -
                       (cross(m, inverseInertia.col[1]) + Vec3T<S>{w.z, S(0), -w.x}) * half;
    const Vec3T<S> c = Vec3T<S>{S(0), S(0), S(1)} -
                       (cross(m, inverseInertia.col[2]) + Vec3T<S>{-w.y, w.x, S(0)}) * half;
    const Vec3T<S> bc = cross(b, c);
    const S scale = S(1) / dot(a, bc);
    const Vec3T<S> change{dot(error, bc) * scale, dot(a, cross(error, c)) * scale,
                          dot(a, cross(b, error)) * scale};
    m = m - change;
    const S size = fabs(m.x) + fabs(m.y) + fabs(m.z);
    if (!(fabs(change.x) + fabs(change.y) + fabs(change.z) > size * S(1e-15))) break;
  }
  // The Cayley rotation of -h w applied to the start: it keeps the length whatever m is.
  const Vec3T<S> halfTurn = (inverseInertia * m) * half;
  const S scale = S(2) / (S(1) + squaredNorm(halfTurn));
  const Vec3T<S> turned = cross(start, halfTurn);
  *momentum_B = start + (turned + cross(turned, halfTurn)) * scale;
  const S length = S(1) / std::sqrt(S(1) + squaredNorm(halfTurn));
  const QuatT<S> turn{length, halfTurn.x * length, halfTurn.y * length, halfTurn.z * length};
  *q = math::normalized(*q * turn);
}

/// The free rotation over `duration` [s]: exact for a body whose moments are all equal, of fourth
/// order otherwise (three midpoint steps, Yoshida 1990), or of second where the turn is so small
/// that it makes no difference.
template <class S>
TANGERE_HD inline RotationState<S> freeRotation(const Mat3T<S>& inertia,
                                                const Mat3T<S>& inverseInertia, bool isIsotropic,
                                                const RotationState<S>& from, S duration) {
  RotationState<S> out = from;
  const S turn = math::scaledNorm(from.angularVelocity) * duration;
  if (!(turn > S(0))) return out;
  if (isIsotropic) {
    constexpr S kSeries = S(1e-2);  // the terms left out are below 1e-18
    if (turn < kSeries) {
      const Vec3T<S> half = from.angularVelocity * (duration * S(0.5));
      const S x = squaredNorm(half);
      const S cosine = S(1) - x * (S(1) / S(2) - x * (S(1) / S(24) - x * (S(1) / S(720))));
      const S sinc = S(1) - x * (S(1) / S(6) - x * (S(1) / S(120) - x * (S(1) / S(5040))));
      out.orientation = math::normalized(
          QuatT<S>{cosine, half.x * sinc, half.y * sinc, half.z * sinc} * from.orientation);
      return out;
    }
    out.orientation =
        math::normalized(math::quatExp(from.angularVelocity * duration) * from.orientation);
    return out;
  }
  const Mat3T<S> R = rotationMatrix(from.orientation);
  Vec3T<S> momentum = inertia * transposeTimes(R, from.angularVelocity);
  const Vec3T<S> momentum_W = R * momentum;
  constexpr S kSmallTurn = S(1e-4);  // the error of one midpoint step is below 1e-12 of a turn
  if (turn < kSmallTurn) {
    stepFreeRotation(inverseInertia, duration, &out.orientation, &momentum);
  } else {
    constexpr S kLargestTurn = S(0.05);
    constexpr int kMostSteps = 100000;  // beyond 5000 rad in a step accuracy is not to be had
    const S wanted = turn / kLargestTurn;
    const int steps = wanted < S(kMostSteps) ? 1 + static_cast<int>(wanted) : kMostSteps;
    const S h = duration / S(steps);
    // Yoshida's weights: w1 = 1/(2 - 2^(1/3)), w0 = 1 - 2 w1.
    const S outer = h * S(1.3512071919596578), inner = h * S(-1.7024143839193153);
    for (int i = 0; i < steps; ++i) {
      stepFreeRotation(inverseInertia, outer, &out.orientation, &momentum);
      stepFreeRotation(inverseInertia, inner, &out.orientation, &momentum);
      stepFreeRotation(inverseInertia, outer, &out.orientation, &momentum);
    }
  }
  const Mat3T<S> turned = rotationMatrix(out.orientation);
  out.angularVelocity = turned * (inverseInertia * momentum);
  // The next step computes its momentum from this rate. What rounding makes of it there is put
  // right here, so that the errors of steps cancel instead of adding up.
  const Vec3T<S> lost =
      momentum_W - turned * (inertia * transposeTimes(turned, out.angularVelocity));
  out.angularVelocity =
      out.angularVelocity + turned * (inverseInertia * transposeTimes(turned, lost));
  return out;
}

}  // namespace tangere::kernel
