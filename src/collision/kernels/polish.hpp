// SPDX-License-Identifier: Apache-2.0
//
// Newton's method for the contact direction of curved cores.
//
// Distance and penetration are one problem: minimise over unit m the support function
// h(m) = max over D = A - B of m.x; the signed distance is -h at the minimum (the only one for
// separated cores, a local one for overlapping cores). h is the maximum of smooth pieces, one for
// each pair of a smooth piece of A (vertex, rim, whole ellipsoid) and one of B. With the pieces
// that are active at the minimum known, its conditions are
//     p_1(m) = ... = p_k(m),   sum lambda_i s_i(m) parallel to m,   sum lambda_i = 1,
// where s_i(m) is the support point of piece i, the gradient of p_i. Newton's method on these two
// tangent unknowns squares the error at each step, where GJK and EPA gain a constant factor.
#pragma once

#include "collision/kernels/simplex.hpp"

namespace tangere::kernel {

/// k <= 3 pieces, the direction and the weights. `converged`: the conditions above hold to
/// rounding and lambda >= 0. Whether a piece outside the list reaches farther along m is not
/// checked here: compare with pair.support(m).
template <class S>
struct PolishResult {
  Vec3T<S> direction{};               ///< m, unit
  S value{};                          ///< m . s_i
  Vec3T<S> firstDirection{};          ///< m after the first step; zero when there was none
  Vec3T<S> pointA{};                  ///< sum lambda_i a_i
  Vec3T<S> pointD{};                  ///< sum lambda_i s_i
  int piece[3][2] = {};               ///< the active ones, ia and ib
  Unset<SimplexVertex<S>, 3> vertex;  ///< and their points s_i
  int numPieces = 0;
  bool converged = false;
  bool isAxis = false;  ///< m is the axis of a flat end, where h has a kink
};

namespace detail {

/// Support points and second derivatives of both pieces of a curved core along m. The derivatives
/// are in the tangent directions u and v (core frame).
template <class S>
struct CurvedSide {
  Vec3T<S> point[2];
  S uu[2], uv[2], vv[2];
};

template <class S>
TANGERE_HD inline void curvedSide(CoreType core, const ConvexView<S>& view, const Vec3T<S>& m,
                                  const Vec3T<S>& u, const Vec3T<S>& v, CurvedSide<S>& out) {
  using std::sqrt;
  const Vec3T<S>& s = view.size;
  if (core == CoreType::Ellipsoid) {
    // h = |S m|; gradient S^2 m / h; Hessian (S^2 - p p^T) / h.
    const Vec3T<S> q{s.x * m.x, s.y * m.y, s.z * m.z};
    const S k = S(1) / sqrt(squaredNorm(q));
    const Vec3T<S> p{s.x * q.x * k, s.y * q.y * k, s.z * q.z * k};
    const Vec3T<S> su{s.x * u.x, s.y * u.y, s.z * u.z}, sv{s.x * v.x, s.y * v.y, s.z * v.z};
    const S pu = dot(p, u), pv = dot(p, v);
    out.point[0] = out.point[1] = p;
    out.uu[0] = out.uu[1] = (squaredNorm(su) - pu * pu) * k;
    out.uv[0] = out.uv[1] = (dot(su, sv) - pu * pv) * k;
    out.vv[0] = out.vv[1] = (squaredNorm(sv) - pv * pv) * k;
    return;
  }
  // Rims: h = r |q| + z m_z with q = (m_x, m_y); Hessian r / |q| along the tangent of the circle.
  const S l2 = m.x * m.x + m.y * m.y;
  const S k = l2 > S(0) ? S(1) / sqrt(l2) : S(0);
  const S cx = m.x * k, cy = m.y * k;
  const S eu = (cx * u.y - cy * u.x), ev = (cx * v.y - cy * v.x);
  const S curvature = s.x * k;
  out.point[0] = {s.x * cx, s.x * cy, -s.z};
  out.uu[0] = curvature * eu * eu;
  out.uv[0] = curvature * eu * ev;
  out.vv[0] = curvature * ev * ev;
  if (core == CoreType::Cone) {
    out.point[1] = {S(0), S(0), s.z};
    out.uu[1] = out.uv[1] = out.vv[1] = S(0);
  } else {
    out.point[1] = {s.x * cx, s.x * cy, s.z};
    out.uu[1] = out.uu[0];
    out.uv[1] = out.uv[0];
    out.vv[1] = out.vv[0];
  }
}

/// One piece of D at the current m: its support point and derivatives in the tangent basis.
template <class S>
struct PolishPiece {
  Vec3T<S> a, w;
  S value;       ///< m . w
  S gu, gv;      ///< tangent components of w
  S uu, uv, vv;  ///< second derivatives, A and B together
};

/// Weights that make the sum of the tangent components vanish as far as k pieces can. False where
/// the pieces do not differ.
template <class S>
TANGERE_HD inline bool polishWeights(const PolishPiece<S>* p, int k, S size, S (&lambda)[3]) {
  using std::fabs;
  lambda[0] = S(1);
  if (k == 2) {
    const S eu = p[1].gu - p[0].gu, ev = p[1].gv - p[0].gv, ee = eu * eu + ev * ev;
    if (!(ee > S(1e-16) * size * size)) return false;
    lambda[1] = -(p[0].gu * eu + p[0].gv * ev) / ee;
    lambda[0] = S(1) - lambda[1];
  } else if (k == 3) {
    const S au = p[1].gu - p[0].gu, av = p[1].gv - p[0].gv;
    const S bu = p[2].gu - p[0].gu, bv = p[2].gv - p[0].gv;
    const S det = au * bv - av * bu;
    if (!(fabs(det) > S(1e-12) * size * size)) return false;
    const S scale = S(1) / det;
    lambda[1] = (p[0].gv * bu - p[0].gu * bv) * scale;
    lambda[2] = (p[0].gu * av - p[0].gv * au) * scale;
    lambda[0] = S(1) - lambda[1] - lambda[2];
  }
  return true;
}

/// Newton step (du, dv) in the tangent plane: the pieces meet, and where they leave a direction
/// free their weighted sum is stationary. False where that is not a minimum.
template <class S>
TANGERE_HD inline bool polishStep(const PolishPiece<S>* p, int k, S size, const S (&lambda)[3],
                                  S* du, S* dv) {
  using std::sqrt;
  if (k == 3) {
    const S au = p[1].gu - p[0].gu, av = p[1].gv - p[0].gv;
    const S bu = p[2].gu - p[0].gu, bv = p[2].gv - p[0].gv;
    const S scale = S(1) / (au * bv - av * bu);
    const S ca = p[0].value - p[1].value, cb = p[0].value - p[2].value;
    *du = (ca * bv - cb * av) * scale;
    *dv = (cb * au - ca * bu) * scale;
    return true;
  }
  S value = p[0].value, a = p[0].uu, b = p[0].uv, c = p[0].vv;
  if (k == 2) {
    const S l0 = lambda[0], l1 = lambda[1];
    value = l0 * p[0].value + l1 * p[1].value;
    a = l0 * p[0].uu + l1 * p[1].uu;
    b = l0 * p[0].uv + l1 * p[1].uv;
    c = l0 * p[0].vv + l1 * p[1].vv;
  }
  a -= value;
  c -= value;
  if (k == 2) {
    // Along e the pieces must meet; across it (f) the sum is stationary.
    const S eu = p[1].gu - p[0].gu, ev = p[1].gv - p[0].gv, ee = eu * eu + ev * ev;
    const S along = -(p[1].value - p[0].value) / ee;
    const S fu = -ev, fv = eu;
    const S gf = (lambda[0] * p[0].gu + lambda[1] * p[1].gu) * fu +
                 (lambda[0] * p[0].gv + lambda[1] * p[1].gv) * fv;
    const S mf = along * ((a * eu + b * ev) * fu + (b * eu + c * ev) * fv);
    const S ff = (a * fu + b * fv) * fu + (b * fu + c * fv) * fv;
    if (!(ff > S(-1e-9) * size * ee)) return false;
    const S across = -(gf + mf) / (ff > S(1e-7) * size * ee ? ff : S(1e-7) * size * ee);
    *du = along * eu + across * fu;
    *dv = along * ev + across * fv;
    return true;
  }
  S det = a * c - b * b;
  if (!(det > S(1e-7) * size * (a + c) && a > S(0))) {
    // Not a minimum of this piece, unless it is a valley without slope, as around a point on the
    // axis of a cylinder: then any place in it will do.
    const S least = S(0.5) * (a + c) - sqrt(S(0.25) * (a - c) * (a - c) + b * b);
    if (!(least > S(-1e-9) * size)) return false;
    const S shift = S(1e-7) * size - least;
    if (shift > S(0)) {
      a += shift;
      c += shift;
      det = a * c - b * b;
    }
  }
  const S scale = S(1) / det;
  *du = (b * p[0].gv - c * p[0].gu) * scale;
  *dv = (b * p[0].gu - a * p[0].gv) * scale;
  return true;
}

/// Which of the vertices stand for different pieces; 0 when one is not a support point.
template <class S>
TANGERE_HD inline int distinctPieces(const SimplexVertex<S>* vertex, int count, int (&piece)[4]) {
  int k = 0;
  for (int i = 0; i < count; ++i) {
    if (vertex[i].ia < 0) return 0;
    bool known = false;
    for (int j = 0; j < k; ++j)
      known = known || (vertex[piece[j]].ia == vertex[i].ia && vertex[piece[j]].ib == vertex[i].ib);
    if (!known) piece[k++] = i;
  }
  return k;
}

/// The pieces `piece[0 .. k)` at the direction m with tangents tu and tv.
template <class Pair, class S>
TANGERE_HD inline void evaluatePieces(const Pair& pair, const SimplexVertex<S>* vertex,
                                      const int* piece, int k, const Vec3T<S>& m,
                                      const Vec3T<S>& tu, const Vec3T<S>& tv, PolishPiece<S>* p) {
  const bool flatA = isPolytope(pair.coreA()), flatB = isPolytope(pair.coreB());
  CurvedSide<S> sideA, sideB;
  if (!flatA) curvedSide(pair.coreA(), pair.a, m, tu, tv, sideA);
  if (!flatB) {
    const Mat3T<S>& R = pair.X_AB.rotation;
    curvedSide(pair.coreB(), pair.b, -transposeTimes(R, m), transposeTimes(R, tu),
               transposeTimes(R, tv), sideB);
  }
  for (int i = 0; i < k; ++i) {
    const SimplexVertex<S>& x = vertex[piece[i]];
    PolishPiece<S>& q = p[i];
    q.a = x.a;
    q.uu = q.uv = q.vv = S(0);
    if (!flatA) {
      q.a = sideA.point[x.ia];
      q.uu = sideA.uu[x.ia];
      q.uv = sideA.uv[x.ia];
      q.vv = sideA.vv[x.ia];
    }
    Vec3T<S> b = x.a - x.w;
    if (!flatB) {
      b = pair.X_AB * sideB.point[x.ib];
      q.uu += sideB.uu[x.ib];
      q.uv += sideB.uv[x.ib];
      q.vv += sideB.vv[x.ib];
    }
    q.w = q.a - b;
    q.value = dot(m, q.w);
    q.gu = dot(tu, q.w);
    q.gv = dot(tv, q.w);
  }
}

}  // namespace detail

/// Starts at the unit direction m with the pieces that `vertex[0 .. count)` belong to (vertices of
/// one piece count once). Gives up early, without harm, where the pieces are not the right ones.
template <class Pair, class S>
TANGERE_FLATTEN TANGERE_HD inline PolishResult<S> polishDirection(const Pair& pair,
                                                                  const Vec3T<S>& start,
                                                                  const SimplexVertex<S>* vertex,
                                                                  int count, S size,
                                                                  bool firstStepOnly = false) {
  using std::copysign;
  using std::sqrt;
  constexpr int kMaxIterations = 9;
  PolishResult<S> out;
  int piece[4];
  int k = detail::distinctPieces(vertex, count, piece);
  if (k == 0 || k > 3) return out;
  const S smaller =
      pair.a.boundingRadius < pair.b.boundingRadius ? pair.a.boundingRadius : pair.b.boundingRadius;
  const S enough = S(2e-9) * smaller / size;
  Vec3T<S> m = start;
  Unset<detail::PolishPiece<S>, 3> room;
  detail::PolishPiece<S>* p = room.data();
  S lambda[3] = {S(1), S(0), S(0)};
  bool last = false, agreed = false;
  for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
    // Tangent basis (Duff et al. 2017).
    const S sign = copysign(S(1), m.z);
    const S ka = S(-1) / (sign + m.z), kb = m.x * m.y * ka;
    const Vec3T<S> tu{S(1) + sign * m.x * m.x * ka, sign * kb, -sign * m.x};
    const Vec3T<S> tv{kb, sign + m.y * m.y * ka, -m.y};
    detail::evaluatePieces(pair, vertex, piece, k, m, tu, tv, p);
    S du{}, dv{};
    if (!detail::polishWeights(p, k, size, lambda) ||
        !detail::polishStep(p, k, size, lambda, &du, &dv))
      return out;
    const S step2 = du * du + dv * dv;
    // A piece with a negative weight pulls the wrong way: it is not active.
    if (k > 1 && (step2 < S(0.01) || last)) {
      int worst = 0;
      for (int i = 1; i < k; ++i)
        if (lambda[i] < lambda[worst]) worst = i;
      if (lambda[worst] < S(-1e-9)) {
        for (int i = worst; i + 1 < k; ++i) piece[i] = piece[i + 1];
        --k;
        last = false;
        continue;
      }
    }
    if (last) {
      // Near the axis of a rim a step is small because the curvature is large, and a flat ellipsoid
      // turns its points quickly: the points of contact must agree as well.
      S ru{}, rv{};
      for (int i = 0; i < k; ++i) {
        ru += lambda[i] * p[i].gu;
        rv += lambda[i] * p[i].gv;
      }
      const S rest = ru * ru + rv * rv;
      agreed = rest <= (iteration + 1 < kMaxIterations ? S(1e-18) : S(1e-14)) * smaller * smaller;
      if (agreed) break;
    }
    if (!(step2 < S(0.25))) return out;
    m = m + tu * du + tv * dv;
    m = m * (S(1) / sqrt(squaredNorm(m)));
    // The error after this step is about the square of its length.
    last = last || step2 < enough;
    if (iteration == 0) out.firstDirection = m;
    if (firstStepOnly) return out;
  }
  // The points belong to the direction before the last step: without that check to another one.
  if (!agreed) return out;
  for (int i = 0; i < k; ++i) {
    const S l = lambda[i] > S(0) ? lambda[i] : S(0);
    out.pointA += p[i].a * l;
    out.pointD += p[i].w * l;
    out.piece[i][0] = vertex[piece[i]].ia;
    out.piece[i][1] = vertex[piece[i]].ib;
    out.vertex[i] = {p[i].w, p[i].a, out.piece[i][0], out.piece[i][1]};
  }
  out.numPieces = k;
  out.direction = m;
  out.value = dot(m, out.pointD);
  out.converged = true;
  return out;
}

}  // namespace tangere::kernel
