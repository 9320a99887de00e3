// SPDX-License-Identifier: Apache-2.0
//
// The regularized friction cone: the impulse of a contact with linear compliance as the projection
// of y = R^-1 (v_hat - v_c) on a convex set in the norm of R = diag(R_t, R_t, R_n), and the convex
// cost whose negative gradient it is. The set is one of two:
//
//   the cone  |gamma_t| <= mu gamma_n, as published (Castro, Permenter, Han 2022). A contact that
//             slides is pushed apart at mu times its slip;
//   a bound   |gamma_t| <= b, gamma_n >= 0. Sliding has no effect on gamma_n. With b = mu gamma_n
//   of
//             the solution, which the solver finds by repetition, this is Coulomb's law.
#pragma once

#include <tangere/config.hpp>

#include <cmath>

namespace tangere::kernel {

enum class ConeRegion : unsigned char { Open, Stick, Slide };

/// What one contact keeps through a solve.
template <class S>
struct FrictionCone {
  S mu{};
  S muHat{};   ///< mu R_t / R_n
  S factor{};  ///< 1 / (1 + mu muHat)
  S regularizationT{}, regularizationN{};
  S inverseT{}, inverseN{};  ///< 1 / R
  S targetVelocity{};        ///< v_hat of the normal
  S held[2] = {};            ///< tangential impulse at no slip: what friction holds already
  S bound{};                 ///< b, where isBounded
  bool isBounded = false;    ///< the set is the bound, not the cone
};

template <class S>
TANGERE_HD inline FrictionCone<S> makeFrictionCone(S mu, S regularizationT, S regularizationN,
                                                   S targetVelocity) {
  FrictionCone<S> cone;
  cone.mu = mu;
  cone.muHat = mu * (regularizationT / regularizationN);
  cone.factor = S(1) / (S(1) + mu * cone.muHat);
  cone.regularizationT = regularizationT;
  cone.regularizationN = regularizationN;
  cone.inverseT = S(1) / regularizationT;
  cone.inverseN = S(1) / regularizationN;
  cone.targetVelocity = targetVelocity;
  return cone;
}

/// y and what the projection makes of it.
template <class S>
struct ConePoint {
  ConeRegion region = ConeRegion::Open;
  S y[3] = {};
  S norm{};  ///< |y_t|, softened
  S gamma[3] = {};
};

/// gamma_t = P(y_t) of friction with the bound b.
template <class S>
TANGERE_HD inline void projectOnBound(const FrictionCone<S>& cone, ConePoint<S>* point) {
  const S* const y = point->y;
  const bool isHeld = cone.bound > S(0) && point->norm <= cone.bound;
  point->region = isHeld ? ConeRegion::Stick : ConeRegion::Slide;
  const S scale = isHeld ? S(1) : cone.bound > S(0) ? cone.bound / point->norm : S(0);
  point->gamma[0] = scale * y[0];
  point->gamma[1] = scale * y[1];
  point->gamma[2] = y[2] > S(0) ? y[2] : S(0);
}

/// gamma = P(y) at the velocity vc = (t1, t2, n). `softness` [N s] rounds the norm of y_t; the cone
/// is smooth enough without: it slides only where y_t is not zero.
template <class S>
TANGERE_HD inline ConePoint<S> projectImpulse(const FrictionCone<S>& cone, const S* vc,
                                              S softness) {
  using std::sqrt;
  ConePoint<S> point;
  S* const y = point.y;
  y[0] = cone.held[0] - cone.inverseT * vc[0];
  y[1] = cone.held[1] - cone.inverseT * vc[1];
  y[2] = cone.inverseN * (cone.targetVelocity - vc[2]);
  point.norm = sqrt(y[0] * y[0] + y[1] * y[1] + softness * softness);
  if (cone.isBounded) {
    projectOnBound(cone, &point);
    return point;
  }
  // The order of the tests: with mu = 0 or |y_t| = 0 the regions meet, and "open" must win there.
  if (!(y[2] > -cone.muHat * point.norm)) return point;
  if (cone.mu == S(0)) {
    point.region = ConeRegion::Slide;
    point.gamma[2] = y[2];
  } else if (point.norm <= cone.mu * y[2]) {
    point.region = ConeRegion::Stick;
    for (int i = 0; i < 3; ++i) point.gamma[i] = y[i];
  } else {
    point.region = ConeRegion::Slide;
    point.gamma[2] = (y[2] + cone.muHat * point.norm) * cone.factor;
    const S scale = cone.mu * point.gamma[2] / point.norm;
    point.gamma[0] = scale * y[0];
    point.gamma[1] = scale * y[1];
  }
  return point;
}

/// The cost l. 1/2 gamma^T R gamma, with the softened norm in the place of |y_t|, so that the
/// regions join and -gamma is the gradient whatever the softness.
template <class S>
TANGERE_HD inline S coneCost(const FrictionCone<S>& cone, const ConePoint<S>& point) {
  const S half = S(0.5);
  if (point.region == ConeRegion::Open) return S(0);
  const S normal = cone.regularizationN * point.gamma[2] * point.gamma[2];
  if (cone.isBounded) {
    const S tangent = point.region == ConeRegion::Stick
                          ? half * point.norm * point.norm
                          : cone.bound * (point.norm - half * cone.bound);
    return half * normal + cone.regularizationT * tangent;
  }
  if (cone.mu == S(0)) return half * normal;
  if (point.region == ConeRegion::Stick) {
    return half * (normal + cone.regularizationT * point.norm * point.norm);
  }
  return half * normal / cone.factor;
}

/// G = d2l/dvc2, the six of the lower triangle row by row: (0,0) (1,0) (1,1) (2,0) (2,1) (2,2).
template <class S>
TANGERE_HD inline void coneHessian(const FrictionCone<S>& cone, const ConePoint<S>& point, S* g) {
  for (int i = 0; i < 6; ++i) g[i] = S(0);
  if (point.region == ConeRegion::Open) return;
  if (cone.isBounded) {
    g[5] = point.y[2] > S(0) ? cone.inverseN : S(0);
    if (point.region == ConeRegion::Stick) {
      g[0] = g[2] = cone.inverseT;
    } else if (cone.bound > S(0)) {
      const S inverseNorm = S(1) / point.norm;
      const S tx = point.y[0] * inverseNorm, ty = point.y[1] * inverseNorm;
      const S across = cone.bound * inverseNorm * cone.inverseT;
      g[0] = across * (S(1) - tx * tx);
      g[1] = -across * (tx * ty);
      g[2] = across * (S(1) - ty * ty);
    }
  } else if (cone.mu == S(0)) {
    g[5] = cone.inverseN;
  } else if (point.region == ConeRegion::Stick) {
    g[0] = g[2] = cone.inverseT;
    g[5] = cone.inverseN;
  } else {
    const S inverseNorm = S(1) / point.norm;
    const S tx = point.y[0] * inverseNorm, ty = point.y[1] * inverseNorm;
    const S across = cone.mu * point.gamma[2] * inverseNorm * cone.inverseT;
    const S along = cone.mu * cone.muHat * cone.factor * cone.inverseT;
    const S coupling = cone.mu * cone.factor * cone.inverseN;
    g[0] = across * (S(1) - tx * tx) + along * (tx * tx);
    g[1] = (along - across) * (tx * ty);
    g[2] = across * (S(1) - ty * ty) + along * (ty * ty);
    g[3] = coupling * tx;
    g[4] = coupling * ty;
    g[5] = cone.factor * cone.inverseN;
  }
}

}  // namespace tangere::kernel
