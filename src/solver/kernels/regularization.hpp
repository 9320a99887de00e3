// SPDX-License-Identifier: Apache-2.0
//
// From physical parameters to the regularization R and the target velocity v_hat of a row:
// gamma = (v_hat - v_c) / R is the implicit spring and damper, gamma/dt = -k g - k tau_d v at the
// end of the step. A row stiffer than the step can resolve is given the period beta dt instead
// (near rigid), which bounds the conditioning of the problem by beta alone.
#pragma once

#include <tangere/config.hpp>

#include <cmath>

namespace tangere::kernel {

/// R of the near-rigid limit for a row of inverse mass w: the period of w / R is beta dt.
template <class S>
TANGERE_HD inline S nearRigidRegularization(S beta, S w) {
  constexpr S kInverseFourPiSquared = S(0.025330295910584442861);
  return beta * beta * kInverseFourPiSquared * w;
}

/// R of a spring k with dissipation time tau_d; k may be infinite. Zero only when w is.
template <class S>
TANGERE_HD inline S rowRegularization(S dt, S stiffness, S dissipationTime, S beta, S w) {
  const S nearRigid = nearRigidRegularization(beta, w);
  const S compliant = S(1) / (dt * stiffness * (dt + dissipationTime));
  return compliant > nearRigid ? compliant : nearRigid;
}

/// v_hat of an error g. With the dissipation a row would brake before an open gap is closed: a gap
/// therefore counts without it, -g/dt being the speed that just closes it.
template <class S>
TANGERE_HD inline S rowTargetVelocity(S dt, S dissipationTime, S g, bool isOneSided) {
  return -g / (isOneSided && g > S(0) ? dt : dt + dissipationTime);
}

/// The inverse mass that stands for the 3x3 W of a contact: |W|_F / 3.
template <class S>
TANGERE_HD inline S delassusEstimate(const S* w) {
  using std::sqrt;
  S sum = S(0);
  for (int i = 0; i < 9; ++i) sum += w[i] * w[i];
  return sqrt(sum) / S(3);
}

}  // namespace tangere::kernel
