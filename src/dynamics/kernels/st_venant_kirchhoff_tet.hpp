// SPDX-License-Identifier: Apache-2.0
//
// St. Venant-Kirchhoff elasticity: psi = mu |G|^2 + lambda/2 tr(G)^2, G = (F^T F - I)/2. Any
// rotation, moderate strains; it gives way under strong compression (psi knows only F^T F, so a
// tetrahedron turned inside out may stay so).
#pragma once

#include "dynamics/kernels/elastic_tangent.hpp"

namespace tangere::kernel {

template <class S>
struct StVenantKirchhoffLaw {
  /// G = (D + D^T + D^T D)/2 with D = F - I, which keeps the digits of small strains.
  TANGERE_HD static Mat3T<S> strain(const Mat3T<S>& f) {
    const Mat3T<S> d = displacementGradient(f);
    const Mat3T<S> sum = combined(d, S(0.5), transpose(d), S(0.5));
    return combined(sum, S(1), transposeTimes(d, d), S(0.5));
  }

  /// [J/m^3], zero at rest.
  TANGERE_HD static S energy(const LameT<S>& lame, const Mat3T<S>& f) {
    const Mat3T<S> g = strain(f);
    const S tr = trace(g);
    return lame.mu * math::doubleDot(g, g) + S(0.5) * lame.lambda * tr * tr;
  }

  /// First Piola stress [Pa].
  TANGERE_HD static Mat3T<S> stress(const LameT<S>& lame, const Mat3T<S>& f) {
    const Mat3T<S> g = strain(f);
    return combined(f * g, S(2) * lame.mu, f, lame.lambda * trace(g));
  }

  /// Exact, in the principal axes.
  TANGERE_HD static PrincipalTangent<S> tangent(const LameT<S>& lame, const Vec3T<S>& sigma) {
    const Vec3T<S> square{sigma.x * sigma.x, sigma.y * sigma.y, sigma.z * sigma.z};
    const S tr = S(0.5) * ((square.x - S(1)) + (square.y - S(1)) + (square.z - S(1)));
    const S pressure = lame.lambda * tr - lame.mu;
    PrincipalTangent<S> out;
    for (int k = 0; k < 3; ++k) {
      out.stretch[k][k] = pressure + (S(3) * lame.mu + lame.lambda) * square[k];
      const int i = k == 0 ? 1 : 0, j = k == 2 ? 1 : 2;
      const S product = sigma[i] * sigma[j];
      out.stretch[i][j] = out.stretch[j][i] = lame.lambda * product;
      out.shear[k] = pressure + lame.mu * (square[i] + product + square[j]);
      out.spin[k] = pressure + lame.mu * (square[i] - product + square[j]);
    }
    return out;
  }
};

}  // namespace tangere::kernel
