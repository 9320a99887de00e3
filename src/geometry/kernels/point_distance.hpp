// SPDX-License-Identifier: Apache-2.0
//
// Signed distance of a point to the primitive solids, in the frame of the solid: negative inside,
// with the nearest surface point and the outward unit normal there. Where several surface points
// are nearest (centre of a ball, axis of a cylinder) one is chosen by a fixed rule, so the answer
// is always defined and always the same. Closed forms, except the ellipsoid.
#pragma once

#include <tangere/types.hpp>

namespace tangere::kernel {

template <class S>
struct PointDistance {
  S distance{};        ///< negative inside
  Vec3T<S> closest{};  ///< on the surface
  Vec3T<S> normal{};   ///< unit, outward, at `closest`
};

/// Ball of `radius` about the origin. At the centre the normal is +z.
template <class S>
TANGERE_HD inline PointDistance<S> pointDistanceSphere(S radius, const Vec3T<S>& p);

/// Segment from (0, 0, -halfLength) to (0, 0, halfLength), never negative. On it the normal is +x.
template <class S>
TANGERE_HD inline PointDistance<S> pointDistanceSegment(S halfLength, const Vec3T<S>& p);

/// Box of half extents `size`.
template <class S>
TANGERE_HD inline PointDistance<S> pointDistanceBox(const Vec3T<S>& size, const Vec3T<S>& p);

/// Cylinder about z, radius size.x, half length size.z.
template <class S>
TANGERE_HD inline PointDistance<S> pointDistanceCylinder(const Vec3T<S>& size, const Vec3T<S>& p);

/// Cone about z, base radius size.x at z = -size.z, apex at z = size.z.
template <class S>
TANGERE_HD inline PointDistance<S> pointDistanceCone(const Vec3T<S>& size, const Vec3T<S>& p);

/// Ellipsoid of semi-axes `size`.
template <class S>
TANGERE_HD inline PointDistance<S> pointDistanceEllipsoid(const Vec3T<S>& size, const Vec3T<S>& p);

/// Below this a length has lost digits to underflow and counts as zero.
template <class S>
TANGERE_HD constexpr S tinyLength() {
  return sizeof(S) == 4 ? S(1e-30) : S(1e-290);
}

/// Length of (x, y) that keeps its digits where the squares would underflow.
template <class S>
TANGERE_HD inline S length2(S x, S y) {
  using std::fabs;
  using std::sqrt;
  const S l2 = x * x + y * y;
  if (l2 > S(1e-30)) return sqrt(l2);
  const S ax = fabs(x), ay = fabs(y);
  const S m = ax > ay ? ax : ay;
  if (!(m > tinyLength<S>())) return S(0);
  const S u = x / m, v = y / m;
  return m * sqrt(u * u + v * v);
}

/// Length of v that keeps its digits where the squares would underflow.
template <class S>
TANGERE_HD inline S length3(const Vec3T<S>& v) {
  using std::fabs;
  using std::sqrt;
  const S l2 = squaredNorm(v);
  if (l2 > S(1e-30)) return sqrt(l2);
  const S ax = fabs(v.x), ay = fabs(v.y), az = fabs(v.z);
  S m = ax > ay ? ax : ay;
  if (az > m) m = az;
  if (!(m > tinyLength<S>())) return S(0);
  const S x = v.x / m, y = v.y / m, z = v.z / m;
  return m * sqrt(x * x + y * y + z * z);
}

template <class S>
TANGERE_HD inline PointDistance<S> pointDistanceSphere(S radius, const Vec3T<S>& p) {
  const S l = length3(p);
  const Vec3T<S> n = l > S(0) ? p / l : Vec3T<S>{S(0), S(0), S(1)};
  return {l - radius, n * radius, n};
}

template <class S>
TANGERE_HD inline PointDistance<S> pointDistanceSegment(S halfLength, const Vec3T<S>& p) {
  const S z = p.z > halfLength ? halfLength : (p.z < -halfLength ? -halfLength : p.z);
  const Vec3T<S> offset{p.x, p.y, p.z - z};
  const S l = length3(offset);
  const Vec3T<S> n = l > S(0) ? offset / l : Vec3T<S>{S(1), S(0), S(0)};
  return {l, {S(0), S(0), z}, n};
}

template <class S>
TANGERE_HD inline PointDistance<S> pointDistanceBox(const Vec3T<S>& size, const Vec3T<S>& p) {
  using std::fabs;
  const Vec3T<S> c{p.x > size.x ? size.x : (p.x < -size.x ? -size.x : p.x),
                   p.y > size.y ? size.y : (p.y < -size.y ? -size.y : p.y),
                   p.z > size.z ? size.z : (p.z < -size.z ? -size.z : p.z)};
  const Vec3T<S> offset = p - c;
  const S l = length3(offset);
  if (l > S(0)) return {l, c, offset / l};

  // Inside: the nearest face, the lowest axis of those that tie.
  const S dx = size.x - fabs(p.x), dy = size.y - fabs(p.y), dz = size.z - fabs(p.z);
  PointDistance<S> out{S(0), p, {}};
  if (dx <= dy && dx <= dz) {
    const S s = p.x < S(0) ? S(-1) : S(1);
    out.distance = -dx;
    out.closest.x = s * size.x;
    out.normal.x = s;
  } else if (dy <= dz) {
    const S s = p.y < S(0) ? S(-1) : S(1);
    out.distance = -dy;
    out.closest.y = s * size.y;
    out.normal.y = s;
  } else {
    const S s = p.z < S(0) ? S(-1) : S(1);
    out.distance = -dz;
    out.closest.z = s * size.z;
    out.normal.z = s;
  }
  return out;
}

template <class S>
TANGERE_HD inline PointDistance<S> pointDistanceCylinder(const Vec3T<S>& size, const Vec3T<S>& p) {
  using std::fabs;
  const S rho = length2(p.x, p.y);
  // Unit radial direction; on the axis all are equal and +x is taken.
  const S ux = rho > S(0) ? p.x / rho : S(1);
  const S uy = rho > S(0) ? p.y / rho : S(0);
  const S sz = p.z < S(0) ? S(-1) : S(1);
  const S dr = rho - size.x;
  const S dz = fabs(p.z) - size.z;
  const Vec3T<S> wall{ux * size.x, uy * size.x, p.z};
  const Vec3T<S> cap{p.x, p.y, sz * size.z};
  if (dr > S(0) && dz > S(0)) {
    const S l = length2(dr, dz);
    const S nr = dr / l;
    return {l, {wall.x, wall.y, cap.z}, {ux * nr, uy * nr, sz * (dz / l)}};
  }
  if (dr > dz) return {dr, wall, {ux, uy, S(0)}};
  return {dz, cap, {S(0), S(0), sz}};
}

template <class S>
TANGERE_HD inline PointDistance<S> pointDistanceCone(const Vec3T<S>& size, const Vec3T<S>& p) {
  using std::sqrt;
  const S R = size.x, h = size.z, H = S(2) * size.z;
  const S rho = length2(p.x, p.y);
  const S ux = rho > S(0) ? p.x / rho : S(1);
  const S uy = rho > S(0) ? p.y / rho : S(0);
  const S below = -h - p.z;  // > 0 below the base
  const S fromApex = p.z - h;
  const S l2 = R * R + H * H;
  const S invL = S(1) / sqrt(l2);
  // In the (rho, z) half plane: distance from the slanted line and position along it, 0 at the
  // apex and 1 at the rim.
  const S slant = (rho * H + fromApex * R) * invL;
  const S t = (rho * R - fromApex * H) / l2;

  if (below > S(0) && rho <= R) return {below, {p.x, p.y, -h}, {S(0), S(0), S(-1)}};
  if (below > S(0) || slant > S(0)) {
    if (t <= S(0)) {
      const Vec3T<S> offset{p.x, p.y, fromApex};
      const S l = length3(offset);
      const Vec3T<S> n = l > S(0) ? offset / l : Vec3T<S>{S(0), S(0), S(1)};
      return {l, {S(0), S(0), h}, n};
    }
    if (t >= S(1)) {
      const S dr = rho - R, dz = p.z + h;
      const S l = length2(dr, dz);
      const Vec3T<S> rim{ux * R, uy * R, -h};
      // So near that the offset is rounding: any normal between the base and the side will do.
      if (!(l > (sizeof(S) == 4 ? S(1e-6) : S(1e-15)) * (R + h))) {
        return {l, rim, {S(0), S(0), S(-1)}};
      }
      return {l, rim, {ux * (dr / l), uy * (dr / l), dz / l}};
    }
  } else if (below >= slant) {
    return {below, {p.x, p.y, -h}, {S(0), S(0), S(-1)}};
  }
  // The slanted side, from outside or inside. Inside, the foot cannot leave the side: if it did,
  // the base would be nearer.
  const S r = t * R;
  return {slant, {ux * r, uy * r, h - t * H}, {ux * (H * invL), uy * (H * invL), R * invL}};
}

/// The nearest point x satisfies p - x = t grad: x_i = e_i^2 p_i / (e_i^2 + t), with t the largest
/// root of S(t) = sum (e_i p_i / (e_i^2 + t))^2 = 1. It is sought on 1/sqrt(S), which is concave
/// and almost linear (the secular equation of trust regions): Newton rises to the root from any
/// start on its left, and Halley, one order better, takes two or three steps. The unknown is tau =
/// t + e_min^2: the pole is then at 0 and points near the middle plane keep their digits.
template <class S>
TANGERE_HD inline PointDistance<S> pointDistanceEllipsoid(const Vec3T<S>& size, const Vec3T<S>& p) {
  using std::fabs;
  using std::sqrt;
  // Axis 2 of (a, b, c) is a smallest one; the order of the others does not matter.
  const int k = size.x <= size.y ? (size.x <= size.z ? 0 : 2) : (size.y <= size.z ? 1 : 2);
  const int i = k == 0 ? 1 : 0;
  const int j = k == 2 ? 1 : 2;
  const S a = size[i], b = size[j], c = size[k];
  // So near a plane of symmetry that 1/tau^4 could overflow is on it.
  const S tiny = (sizeof(S) == 4 ? S(1e-10) : S(1e-100)) * c;
  const S pa = fabs(p[i]) > tiny ? fabs(p[i]) : S(0);
  const S pb = fabs(p[j]) > tiny ? fabs(p[j]) : S(0);
  const S pc = fabs(p[k]) > tiny ? fabs(p[k]) : S(0);
  const S da = (a - c) * (a + c), db = (b - c) * (b + c), c2 = c * c;
  const S ga = a * pa, gb = b * pb, gc = c * pc;

  // Each term alone bounds the root from below.
  S tau = gc;
  if (ga - da > tau) tau = ga - da;
  if (gb - db > tau) tau = gb - db;

  S va, vb, vc;  // the gradient p_i / (e_i^2 + t)
  bool onMiddlePlane = false;
  if (!(tau > S(0))) {
    // The point is on the plane of the two longer axes and inside the curve of their centres of
    // curvature, or the root is at a positive tau below every single bound.
    tau = S(0);
    const S sa = da > S(0) ? ga / da : S(0);
    const S sb = db > S(0) ? gb / db : S(0);
    const S rest = S(1) - (sa * sa + sb * sb);
    onMiddlePlane = rest >= S(0);
    if (onMiddlePlane) {
      va = da > S(0) ? pa / da : S(0);
      vb = db > S(0) ? pb / db : S(0);
      vc = sqrt(rest) / c;
    }
  }
  if (!onMiddlePlane) {
    // Far away the terms act as one; near the surface t = 0 is the best start, on either side.
    const S far = sqrt(ga * ga + gb * gb + gc * gc) - (da > db ? da : db);
    if (far > tau) tau = far;
    S lower = tau;
    if (c2 > tau) tau = c2;
    for (int iteration = 0; iteration < 100; ++iteration) {
      const S ia = S(1) / (tau + da), ib = S(1) / (tau + db), ic = gc > S(0) ? S(1) / tau : S(0);
      const S sa = ga * ia, sb = gb * ib, sc = gc * ic;
      const S qa = sa * ia, qb = sb * ib, qc = sc * ic;
      const S s = sa * sa + sb * sb + sc * sc;
      const S q = sa * qa + sb * qb + sc * qc;
      const S r = qa * qa + qb * qb + qc * qc;
      const S root = sqrt(s);
      const S excess = s * (root - S(1));
      // Halley's step; Newton's where the correction is not small, since that one cannot overshoot.
      const S newton = q * q;
      const S halley = newton * (S(1.5) * root - S(0.5)) - S(1.5) * excess * r;
      const bool useHalley = halley > S(0.5) * newton;
      const S step = useHalley ? excess * q / halley : excess / q;
      if (s >= S(1)) lower = tau;
      const S next = tau + step;
      // From the right of the root a step can pass the poles: stay above what is known.
      if (next >= lower) {
        tau = next;
      } else {
        if (!(tau - lower > (sizeof(S) == 4 ? S(1e-6) : S(1e-15)) * tau)) break;
        tau = S(0.5) * (lower + tau);
        continue;
      }
      // The next step would be below rounding: errors shrink with the third (second) power.
      const S small =
          useHalley ? (sizeof(S) == 4 ? S(2e-3) : S(4e-6)) : (sizeof(S) == 4 ? S(1e-4) : S(2e-9));
      if (fabs(step) <= small * tau) break;
    }
    va = pa / (tau + da);
    vb = pb / (tau + db);
    vc = gc > S(0) ? pc / tau : S(0);
  }

  const S l = sqrt(va * va + vb * vb + vc * vc);
  const S t = tau - c2;
  PointDistance<S> out;
  out.distance = t * l;
  const S inv = S(1) / l;
  const S na = p[i] < S(0) ? -va : va, nb = p[j] < S(0) ? -vb : vb, nc = p[k] < S(0) ? -vc : vc;
  out.closest[i] = a * a * na;
  out.closest[j] = b * b * nb;
  out.closest[k] = c2 * nc;
  out.normal[i] = na * inv;
  out.normal[j] = nb * inv;
  out.normal[k] = nc * inv;
  return out;
}

}  // namespace tangere::kernel
