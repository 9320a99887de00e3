// SPDX-License-Identifier: Apache-2.0
//
// Contacts with the Hunt-Crossley normal force as convex costs (Castro, Han, Masterjohn 2023):
//
//   n(v) = dt (f_e - dt k v)_+ (1 - d v)_+,    f_e = -k gap,     N' = n
//   s = sqrt(|v_t|^2 + e_s^2) - e_s
//
//   lagged    l = -N(v_n) + mu n_0 s            friction bounded by the impulse n_0 of the last
//   state similar   l = -N(z),  z = v_n - mu s        friction bounded by this step's n(z)
#pragma once

#include <tangere/config.hpp>

#include <cmath>

namespace tangere::kernel {

/// What one contact keeps through a solve.
template <class S>
struct HuntCrossley {
  S dt{};
  S mu{};
  S stiffness{};      ///< k, finite
  S dissipation{};    ///< d
  S elasticForce{};   ///< f_e at the start of the step
  S laggedImpulse{};  ///< n_0
  S slip{};           ///< e_s, regularization of friction [m/s], positive
  bool isSimilar = false;
};

/// n(v), n'(v) and N(v).
template <class S>
struct HuntCrossleyNormal {
  S impulse{}, slope{}, potential{};
};

template <class S>
TANGERE_HD inline HuntCrossleyNormal<S> huntCrossleyNormal(const HuntCrossley<S>& c, S v) {
  HuntCrossleyNormal<S> normal;
  const S force = c.elasticForce - c.dt * c.stiffness * v;
  const S damping = S(1) - c.dissipation * v;
  // Beyond v_hat, where one of the factors vanishes, n = 0 and N stays what it is at v_hat.
  S w = v;
  if (force > S(0) && damping > S(0)) {
    normal.impulse = c.dt * force * damping;
    normal.slope = -c.dt * (c.stiffness * c.dt * damping + c.dissipation * force);
  } else {
    const S parting = c.elasticForce / (c.dt * c.stiffness);
    w = c.dissipation * parting > S(1) ? S(1) / c.dissipation : parting;
  }
  const S change = -c.dt * c.stiffness * w;
  normal.potential =
      c.dt * (w * (c.elasticForce + S(0.5) * change) -
              S(0.5) * c.dissipation * w * w * (c.elasticForce + S(2) / S(3) * change));
  return normal;
}

/// Cost, gamma[3] and the six of the lower triangle of G (row by row) at vc = (t1, t2, n).
template <class S>
TANGERE_HD inline S evaluateHuntCrossley(const HuntCrossley<S>& c, const S* vc, S* gamma, S* g) {
  using std::sqrt;
  const S root = sqrt(vc[0] * vc[0] + vc[1] * vc[1] + c.slip * c.slip);
  const S inverseRoot = S(1) / root;
  const S tx = vc[0] * inverseRoot, ty = vc[1] * inverseRoot;
  // s without cancellation: |v_t|^2 / (root + e_s).
  const S slide = (vc[0] * vc[0] + vc[1] * vc[1]) / (root + c.slip);
  const HuntCrossleyNormal<S> normal =
      huntCrossleyNormal(c, c.isSimilar ? vc[2] - c.mu * slide : vc[2]);

  const S bound = c.mu * (c.isSimilar ? normal.impulse : c.laggedImpulse);
  gamma[0] = -bound * tx;
  gamma[1] = -bound * ty;
  gamma[2] = normal.impulse;

  const S across = bound * inverseRoot;
  const S along = c.isSimilar ? -c.mu * c.mu * normal.slope : S(0);
  g[0] = across * (S(1) - tx * tx) + along * (tx * tx);
  g[1] = (along - across) * (tx * ty);
  g[2] = across * (S(1) - ty * ty) + along * (ty * ty);
  const S coupling = c.isSimilar ? c.mu * normal.slope : S(0);
  g[3] = coupling * tx;
  g[4] = coupling * ty;
  g[5] = -normal.slope;
  return c.isSimilar ? -normal.potential : bound * slide - normal.potential;
}

}  // namespace tangere::kernel
