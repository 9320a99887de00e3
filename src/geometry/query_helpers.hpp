// SPDX-License-Identifier: Apache-2.0
//
// What every solid's support, ray cast and signed distance share: scaling of the caller's vectors,
// so that directions and points of any finite magnitude are answered, and the choice of the hit.
#pragma once

#include <tangere/shape.hpp>

#include "geometry/kernels/ray_interval.hpp"

#include <cmath>
#include <limits>
#include <optional>

namespace tangere::geometry {

[[nodiscard]] inline Real maxAbs(const Vec3& v) {
  return std::fmax(std::fabs(v.x), std::fmax(std::fabs(v.y), std::fabs(v.z)));
}

/// The direction with its largest component at +-1; zero where it has none or is not finite.
[[nodiscard]] inline Vec3 scaledDirection(const Vec3& direction) {
  const Real m = maxAbs(direction);
  if (!(m > 0) || !std::isfinite(m)) return {};
  // Divided, not multiplied by 1/m: that overflows for the smallest doubles.
  return {direction.x / m, direction.y / m, direction.z / m};
}

/// The hit of `ray` on a convex solid whose part inside is intervalOf(line), the line given
/// relative to `center`. The first crossing of the surface at t >= 0: the way in, or the way out
/// for a ray that starts inside.
template <class IntervalOf>
[[nodiscard]] std::optional<RayHit> firstHit(const Ray& ray, const Vec3& center,
                                             const IntervalOf& intervalOf) {
  const Vec3 direction = scaledDirection(ray.direction);
  if (direction == Vec3{} || !std::isfinite(maxAbs(ray.origin))) return std::nullopt;
  const Real scale = maxAbs(ray.direction);
  const kernel::LineT<Real> line = kernel::lineNearOrigin(ray.origin - center, direction);
  const kernel::RayInterval<Real> inside = intervalOf(line);
  if (!(inside.enter <= inside.exit)) return std::nullopt;

  const bool entering = inside.enter + line.shift >= 0;
  const Real s = entering ? inside.enter : inside.exit;
  if (!(std::fabs(s) < kernel::rayInfinity<Real>())) return std::nullopt;
  const Real t = (s + line.shift) / scale;
  if (!(t >= 0 && t <= ray.maxT) || !std::isfinite(t)) return std::nullopt;

  Vec3 normal = entering ? inside.enterNormal : inside.exitNormal;
  normal = normal / norm(normal);
  if (dot(normal, direction) > 0) normal = -normal;
  return RayHit{.t = t, .position = center + line.origin + direction * s, .normal = normal};
}

/// Calls distanceOf(point). A point farther than `limit` from `center` is first drawn nearer on the
/// line to it: at that range the solid is a point, and only the distance has to be mended.
template <class DistanceOf>
[[nodiscard]] SignedDistance signedDistanceAt(const Vec3& point, const Vec3& center, Real limit,
                                              const DistanceOf& distanceOf) {
  const Vec3 offset = point - center;
  const Real m = maxAbs(offset);
  if (!(m > limit)) return distanceOf(point);
  SignedDistance out = distanceOf(center + scaledDirection(offset) * limit);
  const Vec3 gap = point - out.closest;
  const Real length = maxAbs(gap) * norm(scaledDirection(gap));
  out.distance = std::isfinite(length) ? length : std::numeric_limits<Real>::max();
  return out;
}

/// The same for a solid about the origin whose nearest point is exact at any distance: the limit is
/// where squares overflow.
template <class DistanceOf>
[[nodiscard]] SignedDistance signedDistanceAt(const Vec3& point, const DistanceOf& distanceOf) {
  return signedDistanceAt(point, Vec3{}, Real(1e60), distanceOf);
}

}  // namespace tangere::geometry
