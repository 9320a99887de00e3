// SPDX-License-Identifier: Apache-2.0
//
// Stable neo-Hookean elasticity (Smith, de Goes, Kim 2018), finite for every F:
//
//   psi = mu/2 (I_C - 3) + lambda/2 (J - a)^2 - mu/2 ln(I_C + 1),  a = 1 + 3 mu / (4 lambda),
//
// with I_C = |F|^2 and J = det F. lambda (J - a) = lambda (J - 1) - 3 mu / 4 has no division, so
// lambda may be zero. At small strains the law is softer than Hooke's with the same mu and lambda;
// neoHookeanFromHooke gives those that match.
#pragma once

#include "core/elementary.hpp"
#include "dynamics/kernels/elastic_tangent.hpp"

namespace tangere::kernel {

/// The mu and lambda with which this law has the stiffness of Hooke's at rest: the second
/// derivative there is that of linear elasticity with 3/4 mu and lambda - 5/8 mu. Without them a
/// body of Poisson's ratio below 1/18 would have a negative bulk modulus and fall apart.
template <class S>
[[nodiscard]] TANGERE_HD constexpr LameT<S> neoHookeanFromHooke(const LameT<S>& hooke) {
  return {S(4) / S(3) * hooke.mu, hooke.lambda + S(5) / S(6) * hooke.mu};
}

/// x - ln(1 + x) for x > -1, to rounding near zero too.
template <class S>
[[nodiscard]] TANGERE_HD inline S excessOfLog(S x) {
  using core::log;
  using std::fabs;
  if (fabs(x) > S(0.05)) return x - log(S(1) + x);
  S sum = S(0);
  for (int n = 15; n >= 2; --n) sum = S(1) / S(n) - x * sum;  // x^2 (1/2 - x (1/3 - x (...)))
  return x * x * sum;
}

template <class S>
struct NeoHookeanLaw {
  /// psi(F) - psi(I) [J/m^3]: zero at rest. In terms of D = F - I, or the linear terms, which
  /// cancel, would take the digits of small strains with them.
  TANGERE_HD static S energy(const LameT<S>& lame, const Mat3T<S>& f) {
    const Mat3T<S> d = displacementGradient(f);
    const S tr = trace(d);
    const S square = math::doubleDot(d, d);
    const S second = S(0.5) * (tr * tr - math::doubleDot(d, transpose(d)));
    const S higher = second + math::determinant(d);  // J - 1 - tr D
    const S growth = tr + higher;                    // J - 1
    const S x = S(0.25) * (S(2) * tr + square);      // (I_C - 3) / 4
    return lame.mu * (S(0.375) * square - S(0.75) * higher + S(0.5) * excessOfLog(x)) +
           S(0.5) * lame.lambda * growth * growth;
  }

  /// psi(I); lambda above zero.
  TANGERE_HD static S restEnergy(const LameT<S>& lame) {
    using core::log;
    return S(9) / S(32) * lame.mu * lame.mu / lame.lambda - S(0.5) * lame.mu * log(S(4));
  }

  /// First Piola stress [Pa].
  TANGERE_HD static Mat3T<S> stress(const LameT<S>& lame, const Mat3T<S>& f) {
    const Mat3T<S> cof = math::cofactor(f);
    const S growth = dot(f.col[0], cof.col[0]) - S(1);
    const S own = lame.mu * (S(1) - S(1) / (math::doubleDot(f, f) + S(1)));
    return combined(f, own, cof, lame.lambda * growth - S(0.75) * lame.mu);
  }

  /// Exact, in the principal axes.
  TANGERE_HD static PrincipalTangent<S> tangent(const LameT<S>& lame, const Vec3T<S>& sigma) {
    const S inverse = S(1) / (squaredNorm(sigma) + S(1));
    const S own = lame.mu * (S(1) - inverse);
    const S along = S(2) * lame.mu * inverse * inverse;
    const S pressure = lame.lambda * (sigma.x * sigma.y * sigma.z - S(1)) - S(0.75) * lame.mu;
    const Vec3T<S> cof{sigma.y * sigma.z, sigma.x * sigma.z, sigma.x * sigma.y};
    PrincipalTangent<S> out;
    for (int k = 0; k < 3; ++k) {
      out.stretch[k][k] = own + along * sigma[k] * sigma[k] + lame.lambda * cof[k] * cof[k];
      const int i = k == 0 ? 1 : 0, j = k == 2 ? 1 : 2;
      out.stretch[i][j] = out.stretch[j][i] =
          along * sigma[i] * sigma[j] + lame.lambda * cof[i] * cof[j] + pressure * sigma[k];
      out.shear[k] = own - pressure * sigma[k];
      out.spin[k] = own + pressure * sigma[k];
    }
    return out;
  }
};

/// The classic one, for J > 0 only: psi = mu/2 (I_C - 3) - mu ln J + lambda/2 ln^2 J.
template <class S>
struct LogNeoHookeanLaw {
  TANGERE_HD static S energy(const LameT<S>& lame, const Mat3T<S>& f) {
    using core::log;
    const S logJ = log(math::determinant(f));
    return S(0.5) * lame.mu * (math::doubleDot(f, f) - S(3)) - lame.mu * logJ +
           S(0.5) * lame.lambda * logJ * logJ;
  }
  TANGERE_HD static Mat3T<S> stress(const LameT<S>& lame, const Mat3T<S>& f) {
    using core::log;
    const S det = math::determinant(f);
    return combined(f, lame.mu, math::cofactor(f), (lame.lambda * log(det) - lame.mu) / det);
  }
};

}  // namespace tangere::kernel
