// SPDX-License-Identifier: Apache-2.0
//
// The part of a line inside a convex primitive, in the frame of the solid: an interval of t with
// the outward unit normal at both ends. Interval arithmetic instead of "is the root on this part of
// the surface" tests, so that no ray slips through the seam between two parts.
#pragma once

#include "geometry/kernels/point_distance.hpp"

namespace tangere::kernel {

template <class S>
struct RayInterval {
  S enter{}, exit{};  ///< empty when !(enter <= exit)
  Vec3T<S> enterNormal{}, exitNormal{};
};

/// The line origin + t direction. Its origin is moved next to the solid (shift is the t of the new
/// origin), so that rays from far away lose no digits to cancellation.
template <class S>
struct LineT {
  Vec3T<S> origin{};
  Vec3T<S> direction{};
  S shift{};
};

/// Beyond every t of a usable ray.
template <class S>
TANGERE_HD constexpr S rayInfinity() {
  return sizeof(S) == 4 ? S(1e38) : S(1e300);
}

template <class S>
TANGERE_HD inline LineT<S> lineNearOrigin(const Vec3T<S>& origin, const Vec3T<S>& direction) {
  const S t = -dot(origin, direction) / squaredNorm(direction);
  return {origin + direction * t, direction, t};
}

template <class S>
TANGERE_HD inline RayInterval<S> emptyRayInterval() {
  return {rayInfinity<S>(), -rayInfinity<S>(), {}, {}};
}

/// Cuts the interval to the half space normal . x <= offset (normal outward, unit).
template <class S>
TANGERE_HD inline void clipRayInterval(const LineT<S>& line, const Vec3T<S>& normal, S offset,
                                       RayInterval<S>* io) {
  const S speed = dot(normal, line.direction);
  const S gap = offset - dot(normal, line.origin);
  if (speed == S(0)) {
    if (gap < S(0)) *io = emptyRayInterval<S>();
    return;
  }
  const S t = gap / speed;
  if (speed < S(0)) {
    if (t > io->enter) {
      io->enter = t;
      io->enterNormal = normal;
    }
  } else if (t < io->exit) {
    io->exit = t;
    io->exitNormal = normal;
  }
}

template <class S>
TANGERE_HD inline RayInterval<S> wholeLine() {
  return {-rayInfinity<S>(), rayInfinity<S>(), {}, {}};
}

template <class S>
TANGERE_HD inline RayInterval<S> rayIntervalSphere(S radius, const Vec3T<S>& center,
                                                   const LineT<S>& line) {
  using std::sqrt;
  // From the point of the line nearest to the centre: a discriminant would lose the digits of a
  // small ball far along the line.
  const Vec3T<S>& d = line.direction;
  const Vec3T<S> o = line.origin - center;
  const S dd = squaredNorm(d);
  const S middle = -dot(o, d) / dd;
  const Vec3T<S> nearest = o + d * middle;
  const S chord2 = (radius * radius - squaredNorm(nearest)) / dd;
  if (!(chord2 >= S(0))) return emptyRayInterval<S>();
  const S half = sqrt(chord2);
  return {middle - half, middle + half, (nearest - d * half) / radius,
          (nearest + d * half) / radius};
}

template <class S>
TANGERE_HD inline RayInterval<S> rayIntervalBox(const Vec3T<S>& size, const LineT<S>& line) {
  RayInterval<S> out = wholeLine<S>();
  for (int i = 0; i < 3; ++i) {
    Vec3T<S> normal{};
    normal[i] = S(1);
    clipRayInterval(line, normal, size[i], &out);
    clipRayInterval(line, -normal, size[i], &out);
  }
  return out;
}

/// Infinite cylinder about z.
template <class S>
TANGERE_HD inline RayInterval<S> rayIntervalTube(S radius, const LineT<S>& line) {
  using std::sqrt;
  const Vec3T<S>&o = line.origin, &d = line.direction;
  const S r2 = radius * radius;
  const S dd = d.x * d.x + d.y * d.y;
  if (!(dd > S(0))) {
    return o.x * o.x + o.y * o.y <= r2 ? wholeLine<S>() : emptyRayInterval<S>();
  }
  const S middle = -(o.x * d.x + o.y * d.y) / dd;
  const S x = o.x + d.x * middle, y = o.y + d.y * middle;
  const S chord2 = (r2 - (x * x + y * y)) / dd;
  if (!(chord2 >= S(0))) return emptyRayInterval<S>();
  const S half = sqrt(chord2);
  return {middle - half, middle + half, Vec3T<S>{x - half * d.x, y - half * d.y, S(0)} / radius,
          Vec3T<S>{x + half * d.x, y + half * d.y, S(0)} / radius};
}

template <class S>
TANGERE_HD inline RayInterval<S> rayIntervalCylinder(const Vec3T<S>& size, const LineT<S>& line) {
  RayInterval<S> out = rayIntervalTube(size.x, line);
  clipRayInterval(line, {S(0), S(0), S(1)}, size.z, &out);
  clipRayInterval(line, {S(0), S(0), S(-1)}, size.z, &out);
  return out;
}

template <class S>
TANGERE_HD inline void mergeRayInterval(const RayInterval<S>& o, RayInterval<S>* io) {
  if (!(o.enter <= o.exit)) return;
  if (o.enter < io->enter) {
    io->enter = o.enter;
    io->enterNormal = o.enterNormal;
  }
  if (o.exit > io->exit) {
    io->exit = o.exit;
    io->exitNormal = o.exitNormal;
  }
}

/// A capsule is the union of a cylinder and two balls, and convex: its interval is their hull.
template <class S>
TANGERE_HD inline RayInterval<S> rayIntervalCapsule(S radius, S halfLength, const LineT<S>& line) {
  RayInterval<S> out = emptyRayInterval<S>();
  mergeRayInterval(rayIntervalSphere(radius, {S(0), S(0), -halfLength}, line), &out);
  mergeRayInterval(rayIntervalSphere(radius, {S(0), S(0), halfLength}, line), &out);
  mergeRayInterval(rayIntervalCylinder({radius, radius, halfLength}, line), &out);
  // A ray along the axis leaves the flat cap of the cylinder inside a ball, so the ends above are
  // always on the capsule; the normal is that of the nearest point of the segment.
  const Vec3T<S> first = line.origin + line.direction * out.enter;
  const Vec3T<S> last = line.origin + line.direction * out.exit;
  if (out.enter <= out.exit) {
    out.enterNormal = pointDistanceSegment(halfLength, first).normal;
    out.exitNormal = pointDistanceSegment(halfLength, last).normal;
  }
  return out;
}

/// Outward normal of the slanted side at a point of it; +x is the radial direction of the apex.
template <class S>
TANGERE_HD inline Vec3T<S> coneSideNormal(S radius, S height, const Vec3T<S>& p) {
  const S l = length2(radius, height);
  const S rho = length2(p.x, p.y);
  const S k = height / l;
  if (!(rho > S(0))) return {k, S(0), radius / l};
  return {p.x / rho * k, p.y / rho * k, radius / l};
}

/// Newton's correction of a crossing of the slanted side: the roots of the quadratic lose the
/// digits of a thin cone, the distance from its axis does not.
template <class S>
TANGERE_HD inline S polishedConeRoot(S slope, S halfHeight, const LineT<S>& line, S t) {
  for (int i = 0; i < 2; ++i) {
    const Vec3T<S> p = line.origin + line.direction * t;
    const S rho = length2(p.x, p.y);
    if (!(rho > S(0))) return t;
    const S gap = rho - slope * (halfHeight - p.z);
    const S speed =
        (p.x * line.direction.x + p.y * line.direction.y) / rho + slope * line.direction.z;
    const S step = gap / speed;
    // Grazing, or a root of the other nappe: the correction would not be one.
    if (!(step * step < S(1e-12) * (t * t + halfHeight * halfHeight))) return t;
    t -= step;
  }
  return t;
}

template <class S>
TANGERE_HD inline RayInterval<S> rayIntervalCone(const Vec3T<S>& size, const LineT<S>& line) {
  using std::sqrt;
  const S R = size.x, h = size.z, H = S(2) * size.z;
  const Vec3T<S>&o = line.origin, &d = line.direction;
  const S k = R / H;  // radius per height below the apex
  const S w = h - o.z;
  // Inside the double cone: x^2 + y^2 <= (k (h - z))^2.
  const S dd = d.x * d.x + d.y * d.y - k * k * d.z * d.z;
  const S od = o.x * d.x + o.y * d.y + k * k * w * d.z;
  const S oo = o.x * o.x + o.y * o.y - k * k * w * w;
  RayInterval<S> out = wholeLine<S>();
  const S disc = od * od - dd * oo;
  bool hasEnter = false, hasExit = false;
  if (disc >= S(0)) {
    const S root = sqrt(disc);
    const S q = od > S(0) ? -(od + root) : root - od;
    // Either root may be at infinity; dd > 0: between the roots, dd < 0: outside them.
    const S ta = dd != S(0) ? q / dd : (q > S(0) ? rayInfinity<S>() : -rayInfinity<S>());
    const S tb = q != S(0) ? oo / q : (dd != S(0) ? ta : S(0));
    if (dd > S(0)) {
      out.enter = ta < tb ? ta : tb;
      out.exit = ta < tb ? tb : ta;
      hasEnter = hasExit = true;
    } else if (dd < S(0)) {
      // One ray of the line in each nappe: the lower one is where z goes to minus infinity.
      if (d.z < S(0)) {
        out.enter = ta < tb ? tb : ta;
        hasEnter = true;
      } else {
        out.exit = ta < tb ? ta : tb;
        hasExit = true;
      }
    } else if (od != S(0)) {
      // Parallel to a line of the cone: 2 od t + oo <= 0.
      const S t = -oo / (S(2) * od);
      if (od < S(0)) {
        out.enter = t;
        hasEnter = true;
      } else {
        out.exit = t;
        hasExit = true;
      }
    } else if (oo > S(0)) {
      return emptyRayInterval<S>();
    }
  } else if (dd > S(0)) {
    return emptyRayInterval<S>();
  }
  if (hasEnter) {
    out.enter = polishedConeRoot(k, h, line, out.enter);
    out.enterNormal = coneSideNormal(R, H, line.origin + line.direction * out.enter);
  }
  if (hasExit) {
    out.exit = polishedConeRoot(k, h, line, out.exit);
    out.exitNormal = coneSideNormal(R, H, line.origin + line.direction * out.exit);
  }
  clipRayInterval(line, {S(0), S(0), S(-1)}, h, &out);
  clipRayInterval(line, {S(0), S(0), S(1)}, h, &out);
  return out;
}

/// Normal of the ellipsoid at the image of the point u of the unit ball.
template <class S>
TANGERE_HD inline Vec3T<S> normalFromUnitBall(const Vec3T<S>& size, const Vec3T<S>& u) {
  const Vec3T<S> gradient{u.x / size.x, u.y / size.y, u.z / size.z};
  return gradient / length3(gradient);
}

template <class S>
TANGERE_HD inline RayInterval<S> rayIntervalEllipsoid(const Vec3T<S>& size, const LineT<S>& line) {
  const Vec3T<S> d{line.direction.x / size.x, line.direction.y / size.y, line.direction.z / size.z};
  const Vec3T<S> o{line.origin.x / size.x, line.origin.y / size.y, line.origin.z / size.z};
  // Recentred in the scaled space too: that is where the roots are taken.
  const LineT<S> scaled = lineNearOrigin(o, d);
  RayInterval<S> out = rayIntervalSphere(S(1), {}, scaled);
  if (!(out.enter <= out.exit)) return out;
  out.enter += scaled.shift;
  out.exit += scaled.shift;
  out.enterNormal = normalFromUnitBall(size, out.enterNormal);
  out.exitNormal = normalFromUnitBall(size, out.exitNormal);
  return out;
}

}  // namespace tangere::kernel
