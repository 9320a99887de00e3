// SPDX-License-Identifier: Apache-2.0
//
// The rotation nearest to a 3x3 matrix, and its singular values with signs: F = U diag(sigma) V^T
// where U and V are proper rotations, sigma1 >= sigma2 >= |sigma3| (to rounding) and sigma3 has
// the sign of det F. Both are defined and finite for every finite F, collapsed and turned inside
// out included; a fixed sequence of + - * / sqrt, accurate to rounding of the problem's own
// condition.
#pragma once

#include <tangere/types.hpp>

#include "math/limits.hpp"
#include "math/transform.hpp"

namespace tangere::math {

template <class S>
struct SignedSvd {
  Mat3T<S> u = Mat3T<S>::identity();
  Mat3T<S> v = Mat3T<S>::identity();
  Vec3T<S> sigma{};
};

/// det(m) m^-T, defined for singular m too: the derivative of the determinant.
template <class S>
[[nodiscard]] TANGERE_HD constexpr Mat3T<S> cofactor(const Mat3T<S>& m) {
  return {{cross(m.col[1], m.col[2]), cross(m.col[2], m.col[0]), cross(m.col[0], m.col[1])}};
}

/// Sum of the products of the entries: tr(a^T b).
template <class S>
[[nodiscard]] TANGERE_HD constexpr S doubleDot(const Mat3T<S>& a, const Mat3T<S>& b) {
  return dot(a.col[0], b.col[0]) + dot(a.col[1], b.col[1]) + dot(a.col[2], b.col[2]);
}

/// A unit vector at a right angle to the unit vector `a`.
template <class S>
[[nodiscard]] TANGERE_HD Vec3T<S> anyPerpendicular(const Vec3T<S>& a) {
  using std::fabs;
  Vec3T<S> axis{S(0), S(0), S(0)};
  const int least =
      fabs(a.x) <= fabs(a.y) ? (fabs(a.x) <= fabs(a.z) ? 0 : 2) : (fabs(a.y) <= fabs(a.z) ? 1 : 2);
  axis[least] = S(1);
  const Vec3T<S> across = cross(a, axis);
  return across / norm(across);
}

/// One-sided Jacobi rotations (Hestenes 1958): they turn the columns of F until these are at right
/// angles. F^T F is never formed, so small singular values keep their digits.
template <class S>
[[nodiscard]] TANGERE_HD SignedSvd<S> signedSvd(const Mat3T<S>& f) {
  using std::fabs;
  using std::sqrt;
  SignedSvd<S> result;
  S largest = S(0);
  for (int k = 0; k < 3; ++k) {
    for (int i = 0; i < 3; ++i) {
      if (fabs(f.col[k][i]) > largest) largest = fabs(f.col[k][i]);
    }
  }
  if (!(largest > S(0))) return result;
  Mat3T<S> b{{f.col[0] / largest, f.col[1] / largest, f.col[2] / largest}};
  Mat3T<S>& v = result.v;

  // Convergence is quadratic: four sweeps are usual, the bound is never reached with finite input.
  constexpr int kMaxSweeps = 30;
  for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
    bool areOrthogonal = true;
    for (int pair = 0; pair < 3; ++pair) {
      const int p = pair == 2 ? 1 : 0, q = pair == 0 ? 1 : 2;
      const S alpha = squaredNorm(b.col[p]), beta = squaredNorm(b.col[q]);
      const S gamma = dot(b.col[p], b.col[q]);
      if (!(gamma * gamma > kEpsilon<S> * kEpsilon<S> * alpha * beta)) continue;
      areOrthogonal = false;
      const S zeta = (beta - alpha) / (S(2) * gamma);
      const S size = S(1) / (fabs(zeta) + sqrt(zeta * zeta + S(1)));
      const S t = zeta < S(0) ? -size : size;  // tangent of the rotation
      const S c = S(1) / sqrt(t * t + S(1));
      const S s = t * c;
      const Vec3T<S> bp = b.col[p], vp = v.col[p];
      b.col[p] = bp * c - b.col[q] * s;
      b.col[q] = bp * s + b.col[q] * c;
      v.col[p] = vp * c - v.col[q] * s;
      v.col[q] = vp * s + v.col[q] * c;
    }
    if (areOrthogonal) break;
  }

  const auto order = [&b, &v](int p, int q) {  // a turn by 90 degrees: v stays a rotation
    if (!(squaredNorm(b.col[p]) < squaredNorm(b.col[q]))) return;
    const Vec3T<S> bp = b.col[p], vp = v.col[p];
    b.col[p] = b.col[q];
    v.col[p] = v.col[q];
    b.col[q] = -bp;
    v.col[q] = -vp;
  };
  order(0, 1);
  order(1, 2);
  order(0, 1);

  Mat3T<S>& u = result.u;
  const S length0 = norm(b.col[0]);
  u.col[0] = b.col[0] / length0;
  const Vec3T<S> across = b.col[1] - u.col[0] * dot(u.col[0], b.col[1]);
  const S length1 = norm(across);
  u.col[1] = length1 > S(0) ? across / length1 : anyPerpendicular(u.col[0]);
  u.col[2] = cross(u.col[0], u.col[1]);
  result.sigma = {length0 * largest, dot(u.col[1], b.col[1]) * largest,
                  dot(u.col[2], b.col[2]) * largest};
  return result;
}

/// a b^T.
template <class S>
[[nodiscard]] TANGERE_HD constexpr Mat3T<S> timesTranspose(const Mat3T<S>& a, const Mat3T<S>& b) {
  return a * transpose(b);
}

/// nearestRotation(f), to rounding, and quick for the deformations that bodies usually have, those
/// of positive determinant and moderate condition: Newton's iteration X <- (X + X^-T)/2 (Higham
/// 1986) needs two to six rounds.
template <class S>
[[nodiscard]] TANGERE_HD Mat3T<S> polarRotation(const Mat3T<S>& f) {
  using std::sqrt;
  const S size = doubleDot(f, f) / S(3);  // one for a rotation
  const S det = determinant(f);
  if (det > S(0) && det * det > S(1e-4) * size * size * size) {
    Mat3T<S> x = f;
    constexpr int kMaxRounds = 12;
    for (int round = 0; round < kMaxRounds; ++round) {
      const Mat3T<S> cof = cofactor(x);
      const S detX = dot(x.col[0], cof.col[0]);
      const S square = doubleDot(x, x);
      S own = S(0.5), other = S(0.5) / detX;
      if (!(square > S(2.5) && square < S(3.5))) {  // far away: scaled, or each round only halves
        const S scale = sqrt(sqrt(doubleDot(cof, cof) / (detX * detX * square)));
        own = own * scale;
        other = other / scale;
      }
      const Mat3T<S> next{{x.col[0] * own + cof.col[0] * other, x.col[1] * own + cof.col[1] * other,
                           x.col[2] * own + cof.col[2] * other}};
      const S change = squaredNorm(next.col[0] - x.col[0]) + squaredNorm(next.col[1] - x.col[1]) +
                       squaredNorm(next.col[2] - x.col[2]);
      x = next;
      if (change <= kEpsilon<S>) return x;  // the next change is its square
    }
  }
  return nearestRotation(f);
}

}  // namespace tangere::math
