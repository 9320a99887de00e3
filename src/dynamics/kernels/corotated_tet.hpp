// SPDX-License-Identifier: Apache-2.0
//
// Corotated linear elasticity: psi = mu |F - R|^2 + lambda/2 tr(R^T F - I)^2, R the nearest proper
// rotation, so a tetrahedron turned inside out is pushed back through its thinnest direction.
#pragma once

#include "dynamics/kernels/elastic_tangent.hpp"
#include "dynamics/kernels/linear_tet.hpp"

namespace tangere::kernel {

template <class S>
struct CorotatedLaw {
  /// [J/m^3], zero at rest. `r`: polarRotation(f).
  TANGERE_HD static S energy(const LameT<S>& lame, const Mat3T<S>& f, const Mat3T<S>& r) {
    const Mat3T<S> d = combined(f, S(1), r, S(-1));
    const S tr = math::doubleDot(r, d);
    return lame.mu * math::doubleDot(d, d) + S(0.5) * lame.lambda * tr * tr;
  }
  TANGERE_HD static S energy(const LameT<S>& lame, const Mat3T<S>& f) {
    return energy(lame, f, math::polarRotation(f));
  }

  /// First Piola stress [Pa].
  TANGERE_HD static Mat3T<S> stress(const LameT<S>& lame, const Mat3T<S>& f, const Mat3T<S>& r) {
    const Mat3T<S> d = combined(f, S(1), r, S(-1));
    return combined(d, S(2) * lame.mu, r, lame.lambda * math::doubleDot(r, d));
  }
  TANGERE_HD static Mat3T<S> stress(const LameT<S>& lame, const Mat3T<S>& f) {
    return stress(lame, f, math::polarRotation(f));
  }

  /// Exact, in the principal axes; not finite where two singular values cancel.
  TANGERE_HD static PrincipalTangent<S> tangent(const LameT<S>& lame, const Vec3T<S>& sigma) {
    PrincipalTangent<S> out = LinearLaw<S>::tangent(lame);
    const S tr = (sigma.x - S(1)) + (sigma.y - S(1)) + (sigma.z - S(1));
    const S turning = S(2) * lame.lambda * tr - S(4) * lame.mu;
    out.spin = {S(2) * lame.mu + turning / (sigma.y + sigma.z),
                S(2) * lame.mu + turning / (sigma.x + sigma.z),
                S(2) * lame.mu + turning / (sigma.x + sigma.y)};
    return out;
  }

  /// With R held: R C R^T, C of linear elasticity. Positive semidefinite, and what the assembly
  /// uses: it differs from the exact one in the spin alone, by the order of the strain.
  TANGERE_HD static PrincipalTangent<S> heldTangent(const LameT<S>& lame) {
    return LinearLaw<S>::tangent(lame);
  }
};

/// Fixed corotated (Stomakhin et al. 2012): psi = mu |F - R|^2 + lambda/2 (J - 1)^2.
template <class S>
struct FixedCorotatedLaw {
  TANGERE_HD static S energy(const LameT<S>& lame, const Mat3T<S>& f) {
    const Mat3T<S> d = combined(f, S(1), math::polarRotation(f), S(-1));
    const S growth = math::determinant(f) - S(1);
    return lame.mu * math::doubleDot(d, d) + S(0.5) * lame.lambda * growth * growth;
  }
  TANGERE_HD static Mat3T<S> stress(const LameT<S>& lame, const Mat3T<S>& f) {
    const Mat3T<S> d = combined(f, S(1), math::polarRotation(f), S(-1));
    return combined(d, S(2) * lame.mu, math::cofactor(f),
                    lame.lambda * (math::determinant(f) - S(1)));
  }
};

}  // namespace tangere::kernel
