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

  /// With R held: R C R^T, C of linear elasticity. Positive semidefinite; it differs from the exact
  /// one in the spin alone, by the order of the strain.
  TANGERE_HD static PrincipalTangent<S> heldTangent(const LameT<S>& lame) {
    return LinearLaw<S>::tangent(lame);
  }

  /// What tension sets against the turning of the tetrahedron, which the held tangent lacks: the
  /// matrix with the eigenvalues `spin` of tangent() in the axes of U, as far as they are positive.
  /// A velocity gradient D (D = dF F^-1, or dF R^T) with the vector w of its antisymmetric part
  /// adds w^T spinStiffness w to the energy's second variation. Without it a body that is stretched
  /// at long steps flaps like a flag. No axes are needed: spin_k = 2 mu + turning / (tr S -
  /// sigma_k).
  TANGERE_HD static SymmetricT<S> spinStiffness(const LameT<S>& lame, const Mat3T<S>& f,
                                                const Mat3T<S>& r) {
    return positivePart(signedSpinStiffness(lame, f, r));
  }
  /// The same with what compression takes away.
  TANGERE_HD static SymmetricT<S> signedSpinStiffness(const LameT<S>& lame, const Mat3T<S>& f,
                                                      const Mat3T<S>& r) {
    const auto left = [&](int i, int j) {  // F R^T = U diag(sigma) U^T
      return f.col[0][i] * r.col[0][j] + f.col[1][i] * r.col[1][j] + f.col[2][i] * r.col[2][j];
    };
    const S xx = left(0, 0), yy = left(1, 1), zz = left(2, 2), tr = xx + yy + zz;
    const SymmetricT<S> d{tr - xx, -left(0, 1), -left(0, 2), tr - yy, -left(1, 2), tr - zz};
    const S turning = S(2) * lame.lambda * (tr - S(3)) - S(4) * lame.mu;
    const SymmetricT<S> cof = cofactorOf(d);
    const S det = d.xx * cof.xx + d.xy * cof.xy + d.xz * cof.xz;
    // Collapsed: sigma_i + sigma_j is next to nothing, and the quotient means nothing.
    if (!(det > S(1e-6) * tr * tr * tr)) return {};
    return shifted(S(2) * lame.mu, turning / det, cof);
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
