// SPDX-License-Identifier: Apache-2.0
//
// Linear elasticity: psi = mu |e|^2 + lambda/2 tr(e)^2 with e = sym(F) - I. Small strains and small
// rotations only: a turned body resists.
#pragma once

#include "dynamics/kernels/elastic_tangent.hpp"

namespace tangere::kernel {

template <class S>
struct LinearLaw {
  /// [J/m^3], zero at rest.
  TANGERE_HD static S energy(const LameT<S>& lame, const Mat3T<S>& f) {
    const Mat3T<S> d = displacementGradient(f);
    const S tr = trace(d);
    // |sym d|^2 = (|d|^2 + d : d^T)/2
    const S square = S(0.5) * (math::doubleDot(d, d) + math::doubleDot(d, transpose(d)));
    return lame.mu * square + S(0.5) * lame.lambda * tr * tr;
  }

  /// First Piola stress [Pa].
  TANGERE_HD static Mat3T<S> stress(const LameT<S>& lame, const Mat3T<S>& f) {
    const Mat3T<S> d = displacementGradient(f);
    Mat3T<S> p = combined(d, lame.mu, transpose(d), lame.mu);
    const S pressure = lame.lambda * trace(d);
    for (int i = 0; i < 3; ++i) p(i, i) += pressure;
    return p;
  }

  /// In the axes of the world (U = V = I); exact, and positive semidefinite as it is.
  TANGERE_HD static PrincipalTangent<S> tangent(const LameT<S>& lame) {
    PrincipalTangent<S> out;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j)
        out.stretch[i][j] = i == j ? S(2) * lame.mu + lame.lambda : lame.lambda;
      out.shear[i] = S(2) * lame.mu;
    }
    return out;
  }
};

}  // namespace tangere::kernel
