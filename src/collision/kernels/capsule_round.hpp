// SPDX-License-Identifier: Apache-2.0
//
// A segment against a cylinder or a cone, in the frame of the solid (axis z).
//
// Apart: the distance from a point of the segment is that to a polygon in the (radius, z) half
// plane, and convex along the segment: Newton on the slope of half its square, inside a bracket.
//
// Crossing: the depth is the minimum over unit n of h(n) - min n.p(t), with h the support function
// of the solid. Its local minima are at the normals of the solid below an end of the segment and at
// directions across the segment; the latter are a problem in the plane across it, where the solid
// throws a shadow made of a half ellipse and straight lines. All candidates are found in closed
// form or by a Newton iteration that cannot miss, and the best is exact.
#pragma once

#include "collision/kernels/segment_contact.hpp"
#include "geometry/kernels/convex_view.hpp"
#include "geometry/kernels/point_distance.hpp"

namespace tangere::kernel {

/// What of a round solid is nearest.
enum class MeridianRegion : unsigned char { Cap, Side, Rim, Apex };

/// Distance from a round solid in the half plane (rho, z): value, unit gradient, and the nearest
/// feature.
template <class S>
struct MeridianDistance {
  S distance{};  ///< positive outside; inside it is negative, or zero where the sign is all we need
  S radial{};
  S axial{};
  MeridianRegion region = MeridianRegion::Side;

  TANGERE_HD bool isCorner() const { return region >= MeridianRegion::Rim; }
};

template <CoreType kCore, class S>
TANGERE_HD inline MeridianDistance<S> meridianDistance(const Vec3T<S>& size, S rho, S z) {
  using std::fabs;
  using std::sqrt;
  if constexpr (kCore == CoreType::Cylinder) {
    const S dr = rho - size.x, dz = fabs(z) - size.z;
    const S sign = z >= S(0) ? S(1) : S(-1);
    if (dr > S(0) && dz > S(0)) {
      const S d = sqrt(dr * dr + dz * dz);
      if (d > S(0)) {
        const S k = S(1) / d;
        return {d, dr * k, sign * (dz * k), MeridianRegion::Rim};
      }
    }
    if (dr > dz) return {dr, S(1), S(0), MeridianRegion::Side};
    return {dz, S(0), sign, MeridianRegion::Cap};
  } else {
    const S R = size.x, h = size.z, H = S(2) * size.z;
    const S below = -h - z, fromApex = z - h;
    if (below > S(0) && rho <= R) return {below, S(0), S(-1), MeridianRegion::Cap};
    const S l2 = R * R + H * H;
    const S inverse = S(1) / sqrt(l2);
    const S slant = (rho * H + fromApex * R) * inverse;
    if (below > S(0) || slant > S(0)) {
      const S along = rho * R - fromApex * H;  // 0 at the apex, l2 at the rim
      if (along <= S(0) || along >= l2) {
        const S dr = along <= S(0) ? rho : rho - R;
        const S dz = along <= S(0) ? fromApex : z + h;
        const S d = sqrt(dr * dr + dz * dz);
        if (d > S(0)) {
          const S k = S(1) / d;
          return {d, dr * k, dz * k, along <= S(0) ? MeridianRegion::Apex : MeridianRegion::Rim};
        }
      }
    } else if (below >= slant) {
      return {below, S(0), S(-1), MeridianRegion::Cap};
    }
    return {slant, H * inverse, R * inverse, MeridianRegion::Side};
  }
}

/// Support function of the solid.
template <CoreType kCore, class S>
TANGERE_HD inline S roundExtent(const Vec3T<S>& size, const Vec3T<S>& n) {
  using std::fabs;
  using std::sqrt;
  const S rho = sqrt(n.x * n.x + n.y * n.y);
  if constexpr (kCore == CoreType::Cylinder) {
    return size.x * rho + size.z * fabs(n.z);
  } else {
    const S apex = size.z * n.z, rim = size.x * rho - size.z * n.z;
    return apex > rim ? apex : rim;
  }
}

/// Root tau > 0, the largest, of kappa + a tau - b tau / sqrt(1 + k tau^2) with a, b, k >= 0:
/// convex, so that Newton from beyond it falls onto it. -1 where there is none.
template <class S>
TANGERE_HD inline S shadowTangent(S kappa, S a, S b, S k) {
  using std::sqrt;
  if (!(a > S(0)) || !(k > S(0)) || !(b > S(0))) return S(-1);
  S tau = (b / sqrt(k) - kappa) / a;
  if (!(tau > S(0)) || !(tau < S(1e100))) return S(-1);
  for (int iteration = 0; iteration < 60; ++iteration) {
    const S w = S(1) / sqrt(S(1) + k * tau * tau);
    const S value = kappa + a * tau - b * tau * w;
    const S slope = a - b * w * w * w;
    if (!(slope > S(0))) return S(-1);  // past the bottom: no root
    const S next = tau - value / slope;
    if (!(next > S(0))) return S(-1);
    const bool done = !(next < tau * (S(1) - S(1e-15)));
    tau = next;
    if (done) break;
  }
  return tau;
}

/// The part of the segment above the disc of `radius` about the axis; false if there is none.
template <class S>
TANGERE_HD inline bool clipToDisc(const SegmentT<S>& segment, S radius, S* low, S* high) {
  using std::sqrt;
  const Vec3T<S>& c = segment.center;
  const Vec3T<S>& u = segment.axis;
  const S a = u.x * u.x + u.y * u.y;
  const S b = c.x * u.x + c.y * u.y;
  const S across = c.x * u.y - c.y * u.x;
  // a t^2 + 2 b t + |c|^2 - radius^2 <= 0; its discriminant as a difference of squares.
  const S discriminant = a * radius * radius - across * across;
  if (!(a > S(0)) || !(discriminant >= S(0))) return false;
  const S root = sqrt(discriminant);
  const S t0 = (-b - root) / a, t1 = (-b + root) / a;
  if (t0 > *low) *low = t0;
  if (t1 < *high) *high = t1;
  return *low <= *high;
}

/// The deepest point along the normal n of a segment that crosses the solid, of those whose foot
/// (`depth` up along n) is on the feature that n belongs to.
template <CoreType kCore, class S>
TANGERE_HD inline S deepestPoint(const Vec3T<S>& size, const SegmentT<S>& segment,
                                 const Vec3T<S>& n, S depth) {
  using std::fabs;
  using std::sqrt;
  const Vec3T<S>& c = segment.center;
  const Vec3T<S>& u = segment.axis;
  const S h = segment.halfLength;
  const S slope = dot(n, u);
  const S rho = sqrt(n.x * n.x + n.y * n.y);
  S low = -h, high = h;
  const auto deepest = [&] {
    return fabs(slope) <= S(1e-12) ? S(0.5) * (low + high) : (slope > S(0) ? low : high);
  };
  if (rho <= S(1e-12)) {  // a flat end
    if (!clipToDisc(segment, size.x, &low, &high)) {
      low = -h;
      high = h;
    }
    return deepest();
  }
  if (fabs(slope) * h > S(1e-10) * (size.x + size.z)) return deepest();
  // (Almost) across the segment: where it passes over the line of the side below n, or over the rim
  // point.
  const Vec3T<S> e{-n.y / rho, n.x / rho, S(0)};
  const S sideways = dot(u, e);
  S sideAxial = S(0);
  if constexpr (kCore == CoreType::Cone)
    sideAxial = size.x / sqrt(size.x * size.x + S(4) * size.z * size.z);
  if (fabs(n.z - sideAxial) <= S(1e-9)) {
    if (!clipToSlab(c.z + depth * n.z, u.z, size.z, &low, &high)) {
      low = -h;
      high = h;
    }
    if (sideways == S(0)) return deepest();
    const S t = -dot(c, e) / sideways;
    return t < low ? low : (t > high ? high : t);
  }
  const bool top = kCore == CoreType::Cylinder && n.z > S(0);
  const Vec3T<S> foot{n.x / rho * size.x, n.y / rho * size.x, top ? size.z : -size.z};
  return clampMagnitude(dot(u, foot - c), h);
}

/// Smallest translation that separates a segment that crosses (or touches) the solid; `touching` is
/// a point of it in the solid.
template <CoreType kCore, class S>
TANGERE_HD inline void segmentInRound(const Vec3T<S>& size, const SegmentT<S>& segment, S touching,
                                      SegmentContact<S>* out) {
  using std::fabs;
  using std::sqrt;
  const Vec3T<S>& c = segment.center;
  const Vec3T<S>& u = segment.axis;
  const S h = segment.halfLength;
  Vec3T<S> best{};
  S depth{};
  bool first = true;
  const auto consider = [&](const Vec3T<S>& n) {
    const S d = roundExtent<kCore>(size, n) - dot(n, c) + h * fabs(dot(n, u));
    if (first || d < depth) {
      depth = d;
      best = n;
      first = false;
    }
  };

  // Flat ends.
  consider({S(0), S(0), S(-1)});
  if constexpr (kCore == CoreType::Cylinder) consider({S(0), S(0), S(1)});
  // The side, below either end of the segment.
  S sideRadial = S(1), sideAxial = S(0);
  if constexpr (kCore == CoreType::Cone) {
    const S k = S(1) / sqrt(size.x * size.x + S(4) * size.z * size.z);
    sideRadial = S(2) * size.z * k;
    sideAxial = size.x * k;
  }
  for (int end = -1; end <= 1; end += 2) {
    const Vec3T<S> p = segment.at(S(end) * h);
    const S rho = sqrt(p.x * p.x + p.y * p.y);
    const S x = rho > leastLength<S>() ? p.x / rho : S(1),
            y = rho > leastLength<S>() ? p.y / rho : S(0);
    consider({sideRadial * x, sideRadial * y, sideAxial});
  }
  // Across the segment: e1 is horizontal, e2 as steep as it gets (its z is w).
  const S w = sqrt(u.x * u.x + u.y * u.y);
  if (!(w > S(1e-12))) {
    // Along the axis: all horizontal directions are across it, and the radial one is the best.
    const S rho = sqrt(c.x * c.x + c.y * c.y);
    consider(rho > leastLength<S>() ? Vec3T<S>{c.x / rho, c.y / rho, S(0)}
                                    : Vec3T<S>{S(1), S(0), S(0)});
  } else {
    Vec3T<S> e1{-u.y / w, u.x / w, S(0)};
    const Vec3T<S> e2{-u.x * u.z / w, -u.y * u.z / w, w};
    S c1 = dot(c, e1);
    if (c1 < S(0)) {
      e1 = -e1;
      c1 = -c1;
    }
    const S c2 = dot(c, e2);
    consider(e1);
    consider(e2);
    consider(-e2);
    // The half ellipses of the shadow: centre at z = -size.z (lower), and z = size.z for the upper
    // rim of a cylinder; normals on the outer side, and for a cone's base on both.
    const S b = size.x * w * w, k = u.z * u.z;
    const auto considerEllipse = [&](S kappa, S sign) {
      const S tau = shadowTangent(kappa, c1, b, k);
      if (!(tau > S(0))) return;
      const S cosine = S(1) / sqrt(S(1) + tau * tau);
      consider(e1 * cosine + e2 * (sign * tau * cosine));
    };
    if constexpr (kCore == CoreType::Cylinder) {
      considerEllipse(size.z * w - c2, S(1));
      considerEllipse(size.z * w + c2, S(-1));
    } else {
      considerEllipse(-size.z * w - c2, S(1));
      considerEllipse(size.z * w + c2, S(-1));
      // The lines from the ellipse to the apex.
      const S sine = sideAxial / w;
      if (sine <= S(1)) {
        const S cosine = sqrt(S(1) - sine * sine);
        consider(e1 * cosine + e2 * sine);
        consider(e1 * -cosine + e2 * sine);
      }
    }
  }
  out->distance = -depth;
  out->normal = best;

  // Where they only touch, every normal of the touching point is as good, and its foot may be far:
  // the point is known.
  if (depth > S(1e-9) * (size.x + size.z + h))
    out->t = deepestPoint<kCore>(size, segment, best, depth);
  else
    out->t = touching;
}

template <CoreType kCore, class S>
TANGERE_HD inline bool segmentToRound(const Vec3T<S>& size, const SegmentT<S>& segment, S limit,
                                      SegmentContact<S>* out) {
  using std::fabs;
  using std::sqrt;
  const Vec3T<S>& c = segment.center;
  const Vec3T<S>& u = segment.axis;
  const S h = segment.halfLength;
  const S scale = size.x + size.z + h;
  SlopeBracket<S> bracket(h);
  S t = clampMagnitude(-dot(c, u), h);
  MeridianDistance<S> d;
  Vec3T<S> p;
  S rho, radialSlope;
  bool settled = false;
  MeridianRegion region = MeridianRegion::Side;
  for (int iteration = 0;; ++iteration) {
    p = segment.at(t);
    rho = sqrt(p.x * p.x + p.y * p.y);
    const S inverse = rho > S(1e-14) * scale ? S(1) / rho : S(0);
    radialSlope = (p.x * u.x + p.y * u.y) * inverse;
    d = meridianDistance<kCore>(size, rho, p.z);
    if (!(d.distance > S(0)) || (settled && d.region == region) || iteration == 40) break;
    region = d.region;
    const S slope = d.radial * radialSlope + d.axial * u.z;  // of the distance
    // The tangent plane here bounds the whole segment: it is beyond the limit for good.
    if (d.distance - limit > (slope > S(0) ? slope * (t + h) : slope * (t - h))) return false;
    if (slope == S(0)) break;
    const S curl = (u.x * u.x + u.y * u.y - radialSlope * radialSlope) * inverse;
    const S flat = d.isCorner() ? radialSlope * radialSlope + u.z * u.z : slope * slope;
    const S curvature = flat + d.distance * d.radial * (curl > S(0) ? curl : S(0));
    const S next = bracket.next(t, d.distance * slope, curvature);
    if (next == t) break;
    // Quadratic convergence: the next one is at rounding, if it stays in its region.
    settled = bracket.fromNewton && fabs(next - t) <= S(1e-9) * scale;
    t = next;
  }
  if (d.distance > limit) return false;
  if (!(d.distance > S(1e-14) * scale)) {
    segmentInRound<kCore>(size, segment, t, out);
    return true;
  }
  if (d.isCorner() && S(1e-4) * scale > d.distance && t > -h && t < h) {
    // So near, the rounding of t tilts the normal: take the direction in the half plane that is
    // across the segment.
    const S l = sqrt(u.z * u.z + radialSlope * radialSlope);
    if (l * scale > d.distance) {
      const S sign = u.z * d.radial - radialSlope * d.axial >= S(0) ? S(1) : S(-1);
      d.radial = sign * u.z / l;
      d.axial = -sign * radialSlope / l;
    }
  }
  const S k = rho > leastLength<S>() ? d.radial / rho : S(0);
  out->distance = d.distance;
  out->normal = {p.x * k, p.y * k, d.axial};
  out->t = t;
  return true;
}

}  // namespace tangere::kernel
