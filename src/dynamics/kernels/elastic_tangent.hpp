// SPDX-License-Identifier: Apache-2.0
//
// What all isotropic elastic laws share. With F = U diag(sigma) V^T and psi a function of sigma,
// the stress is P = U diag(dpsi/dsigma) V^T, and dP/dF falls apart in the axes of U and V
// (Stomakhin et al. 2012; Smith, de Goes, Kim 2019): a 3x3 block of second derivatives for the
// stretches, and for each pair of axes one eigenvalue of the symmetric mode (shear) and one of the
// antisymmetric mode (spin),
//
//   shear_ij = (psi_i - psi_j) / (sigma_i - sigma_j),  spin_ij = (psi_i + psi_j) / (sigma_i +
//   sigma_j).
//
// Each law gives these in a form without the division wherever there is one. Projection to the
// nearest positive semidefinite matrix is then exact: eigenvalues below zero become zero.
#pragma once

#include <tangere/types.hpp>

#include "math/polar.hpp"
#include "math/symmetric_eigen.hpp"

namespace tangere::kernel {

template <class S>
struct LameT {
  S mu{};      ///< E / (2 (1 + nu)) [Pa]
  S lambda{};  ///< E nu / ((1 + nu) (1 - 2 nu)) [Pa]
};

template <class S>
[[nodiscard]] TANGERE_HD constexpr LameT<S> lameFromYoung(S young, S poisson) {
  return {young / (S(2) * (S(1) + poisson)),
          young * poisson / ((S(1) + poisson) * (S(1) - S(2) * poisson))};
}

/// dP/dF in the principal axes [Pa]. Pair k has the two axes that are not k.
template <class S>
struct PrincipalTangent {
  S stretch[3][3] = {};
  Vec3T<S> shear{};
  Vec3T<S> spin{};
};

template <class S>
TANGERE_HD constexpr Mat3T<S> combined(const Mat3T<S>& a, S byA, const Mat3T<S>& b, S byB) {
  return {{a.col[0] * byA + b.col[0] * byB, a.col[1] * byA + b.col[1] * byB,
           a.col[2] * byA + b.col[2] * byB}};
}

template <class S>
[[nodiscard]] TANGERE_HD constexpr S trace(const Mat3T<S>& m) {
  return m.col[0].x + m.col[1].y + m.col[2].z;
}

/// F - I.
template <class S>
[[nodiscard]] TANGERE_HD constexpr Mat3T<S> displacementGradient(const Mat3T<S>& f) {
  Mat3T<S> d = f;
  d.col[0].x -= S(1);
  d.col[1].y -= S(1);
  d.col[2].z -= S(1);
  return d;
}

/// The nearest positive semidefinite tangent.
template <class S>
TANGERE_HD inline void projectToSemidefinite(PrincipalTangent<S>* tangent) {
  for (int k = 0; k < 3; ++k) {
    if (!(tangent->shear[k] > S(0))) tangent->shear[k] = S(0);
    if (!(tangent->spin[k] > S(0))) tangent->spin[k] = S(0);
  }
  S(&a)[3][3] = tangent->stretch;
  const S minor = a[0][0] * a[1][1] - a[0][1] * a[0][1];
  const S det = a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[1][2]) -
                a[0][1] * (a[0][1] * a[2][2] - a[1][2] * a[0][2]) +
                a[0][2] * (a[0][1] * a[1][2] - a[1][1] * a[0][2]);
  if (a[0][0] > S(0) && minor > S(0) && det > S(0)) return;
  const math::SymmetricEigen<S, 3> eigen = math::symmetricEigen(a);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j <= i; ++j) {
      S sum = S(0);
      for (int k = 0; k < 3; ++k) {
        if (eigen.values[k] > S(0))
          sum += eigen.values[k] * eigen.vectors[i][k] * eigen.vectors[j][k];
      }
      a[i][j] = a[j][i] = sum;
    }
  }
}

/// A symmetric matrix.
template <class S>
struct SymmetricT {
  S xx{}, xy{}, xz{}, yy{}, yz{}, zz{};
};

template <class S>
TANGERE_HD constexpr SymmetricT<S> cofactorOf(const SymmetricT<S>& m) {
  return {m.yy * m.zz - m.yz * m.yz, m.xz * m.yz - m.xy * m.zz, m.xy * m.yz - m.xz * m.yy,
          m.xx * m.zz - m.xz * m.xz, m.xy * m.xz - m.xx * m.yz, m.xx * m.yy - m.xy * m.xy};
}

/// own I + by m.
template <class S>
TANGERE_HD constexpr SymmetricT<S> shifted(S own, S by, const SymmetricT<S>& m) {
  return {own + by * m.xx, by * m.xy, by * m.xz, own + by * m.yy, by * m.yz, own + by * m.zz};
}

/// The largest root of x^3 - tr x^2 + minors x - det, whose roots are real and at most `bound`:
/// Newton's method falls towards it without passing it.
template <class S>
[[nodiscard]] TANGERE_HD inline S largestRoot(S tr, S minors, S det, S bound) {
  constexpr int kMaxRounds = 60;
  S x = bound;
  for (int round = 0; round < kMaxRounds; ++round) {
    const S value = ((x - tr) * x + minors) * x - det;
    const S slope = (S(3) * x - S(2) * tr) * x + minors;
    if (!(slope > S(0)) || !(value > S(0))) break;
    const S way = value / slope;
    x -= way;
    if (way <= S(1e-9) * bound) break;  // the next one is its square
  }
  return x;
}

/// a times the projection to the axis of the eigenvalue a, which is positive and single.
template <class S>
[[nodiscard]] TANGERE_HD inline SymmetricT<S> partOfEigenvalue(const SymmetricT<S>& m, S a, S tr,
                                                               S minors) {
  const S others = tr - a, product = minors - a * others;  // b + c, b c of the other two
  const S scale = a / ((a - others) * a + product);        // a / ((a - b) (a - c))
  // M^2 - (b + c) M + b c
  return {scale * (m.xx * m.xx + m.xy * m.xy + m.xz * m.xz - others * m.xx + product),
          scale * (m.xx * m.xy + m.xy * m.yy + m.xz * m.yz - others * m.xy),
          scale * (m.xx * m.xz + m.xy * m.yz + m.xz * m.zz - others * m.xz),
          scale * (m.xy * m.xy + m.yy * m.yy + m.yz * m.yz - others * m.yy + product),
          scale * (m.xy * m.xz + m.yy * m.yz + m.yz * m.zz - others * m.yz),
          scale * (m.xz * m.xz + m.yz * m.yz + m.zz * m.zz - others * m.zz + product)};
}

/// Of a symmetric matrix what its positive eigenvalues make: the nearest semidefinite one. Which
/// signs they have is seen from the invariants, and at most one eigenvalue is computed. To
/// rounding; where two eigenvalues vanish together, to its root.
template <class S>
[[nodiscard]] TANGERE_HD inline SymmetricT<S> positivePart(const SymmetricT<S>& m) {
  using std::sqrt;
  const S tr = m.xx + m.yy + m.zz;
  const SymmetricT<S> cof = cofactorOf(m);
  const S minors = cof.xx + cof.yy + cof.zz;
  const S det = m.xx * cof.xx + m.xy * cof.xy + m.xz * cof.xz;
  if (tr >= S(0) && minors >= S(0) && det >= S(0)) return m;
  if (tr <= S(0) && minors >= S(0) && det <= S(0)) return {};
  const S bound = sqrt(m.xx * m.xx + m.yy * m.yy + m.zz * m.zz +
                       S(2) * (m.xy * m.xy + m.xz * m.xz + m.yz * m.yz));
  if (det > S(0)) {  // one is positive
    const S a = largestRoot(tr, minors, det, bound);
    return a > S(0) ? partOfEigenvalue(m, a, tr, minors) : SymmetricT<S>{};
  }
  const S c = largestRoot(-tr, minors, -det, bound);  // one is negative, -c
  if (!(c > S(0))) return m;
  const SymmetricT<S> part = partOfEigenvalue(shifted(S(0), S(-1), m), c, -tr, minors);
  return {m.xx + part.xx, m.xy + part.xy, m.xz + part.xz,
          m.yy + part.yy, m.yz + part.yz, m.zz + part.zz};
}

/// K_ab with f_a = -P g_a, in the axes of U: entry (i, j) = sum_kl H_ik,jl gA_k gB_l, where gA and
/// gB are gradients of the shape functions in the axes of V.
template <class S>
[[nodiscard]] TANGERE_HD inline Mat3T<S> principalBlock(const PrincipalTangent<S>& tangent,
                                                        const Vec3T<S>& gA, const Vec3T<S>& gB) {
  const S product[3] = {gA.x * gB.x, gA.y * gB.y, gA.z * gB.z};
  Mat3T<S> out;
  for (int i = 0; i < 3; ++i) out(i, i) = tangent.stretch[i][i] * product[i];
  for (int k = 0; k < 3; ++k) {
    const int i = k == 0 ? 1 : 0, j = k == 2 ? 1 : 2;
    const S same = S(0.5) * (tangent.shear[k] + tangent.spin[k]);
    const S mixed = S(0.5) * (tangent.shear[k] - tangent.spin[k]);
    out(i, i) += same * product[j];
    out(j, j) += same * product[i];
    out(i, j) = tangent.stretch[i][j] * (gA[i] * gB[j]) + mixed * (gA[j] * gB[i]);
    out(j, i) = tangent.stretch[i][j] * (gA[j] * gB[i]) + mixed * (gA[i] * gB[j]);
  }
  return out;
}

/// dP/dF as a matrix: entry of row 3 i + j and column 3 k + l is dP_ij / dF_kl.
template <class S>
TANGERE_HD inline void tangentMatrix(const math::SignedSvd<S>& svd,
                                     const PrincipalTangent<S>& tangent, S (*out)[9]) {
  for (int l = 0; l < 3; ++l) {
    for (int j = 0; j < 3; ++j) {
      const Vec3T<S> gA{svd.v(j, 0), svd.v(j, 1), svd.v(j, 2)};
      const Vec3T<S> gB{svd.v(l, 0), svd.v(l, 1), svd.v(l, 2)};
      const Mat3T<S> block = math::timesTranspose(svd.u * principalBlock(tangent, gA, gB), svd.u);
      for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) out[3 * i + j][3 * k + l] = block(i, k);
      }
    }
  }
}

}  // namespace tangere::kernel
