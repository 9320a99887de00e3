// SPDX-License-Identifier: Apache-2.0
#include "geometry/signed_distance.hpp"

#include "core/elementary.hpp"
#include "geometry/bvh_nearest.hpp"
#include "geometry/query_helpers.hpp"

#include <cfloat>
#include <cmath>

namespace tangere::geometry {

using kernel::TriangleFeature;

MeshPoint closestOnMesh(const MeshData& mesh, const Vec3& p, Real maxDistance) {
  return closeOnMesh(mesh, p, maxDistance, 1);
}

MeshPoint closeOnMesh(const MeshData& mesh, const Vec3& p, Real maxDistance, Real share) {
  const PointInTree point(mesh.bvh, p);
  MeshPoint best;
  best.squaredDistance = maxDistance * maxDistance;
  float limit = point.reach(best.squaredDistance);
  visitNearestFirst(
      mesh.bvh, [&](const BvhNode& node) { return point.squaredDistances(node); },
      [&] { return limit; },
      [&](int slot, int count) {
        bool nearer = false;
        for (int s = slot; s < slot + count; ++s) {
          const Vec3* v = &mesh.corners[3 * s];
          const kernel::TrianglePoint<Real> q = kernel::closestOnTriangle(p, v[0], v[1], v[2]);
          const Real d2 = squaredNorm(p - q.point);
          const int t = mesh.bvh.order[s];
          if (d2 < best.squaredDistance || (d2 == best.squaredDistance && t < best.triangle)) {
            best = {d2, q.point, t, q.feature};
            nearer = true;
          }
        }
        if (nearer) limit = point.reach(best.squaredDistance * share);
        return false;
      });
  return best;
}

Vec3 pseudonormal(const MeshData& mesh, int triangle, TriangleFeature feature) {
  const Vec3& own = mesh.normals[triangle];
  if (feature == TriangleFeature::Face) return own;
  if (feature >= TriangleFeature::Edge0) {
    const int k = static_cast<int>(feature) - static_cast<int>(TriangleFeature::Edge0);
    const int half = mesh.opposite[3 * triangle + k];
    return half < 0 ? own : own + mesh.normals[half / 3];
  }
  Vec3 sum{};
  mesh.visitFan(triangle, static_cast<int>(feature), [&](int t, int k) {
    const Vec3& v = mesh.corner(t, k);
    const Vec3 a = mesh.corner(t, (k + 1) % 3) - v, b = mesh.corner(t, (k + 2) % 3) - v;
    sum += mesh.normals[t] * core::atan2(norm(cross(a, b)), dot(a, b));
    return true;
  });
  return sum;
}

Real windingNumber(const MeshData& mesh, const Vec3& p) {
  // Solid angle of a triangle (Van Oosterom, Strackee 1983).
  Real sum = 0;
  for (int t = 0; t < mesh.numTriangles(); ++t) {
    const Vec3 a = mesh.corner(t, 0) - p, b = mesh.corner(t, 1) - p, c = mesh.corner(t, 2) - p;
    const Real la = norm(a), lb = norm(b), lc = norm(c);
    const Real denominator = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb;
    sum += core::atan2(dot(a, cross(b, c)), denominator);
  }
  constexpr Real kTwoPi = 6.283185307179586476925286766559;
  return sum / kTwoPi;  // each term is half a solid angle, the whole is 4 pi
}

bool isInside(const MeshData& mesh, const Vec3& p, const MeshPoint& closest) {
  if (!mesh.closed) return false;
  if (!mesh.bounds.contains(p)) return false;
  if (!mesh.hasPseudonormals) return windingNumber(mesh, p) > Real(0.5);
  return dot(p - closest.point, pseudonormal(mesh, closest.triangle, closest.feature)) < 0;
}

SignedDistance signedDistanceToMesh(const MeshData& mesh, const Vec3& point) {
  // The tree compares squares in single precision, in units of its own size.
  const Real limit = 1e12 / mesh.bvh.inverseScale;
  return signedDistanceAt(point, mesh.bounds.center(), limit, [&](const Vec3& p) {
    const MeshPoint closest = closestOnMesh(mesh, p);
    const bool inside = isInside(mesh, p, closest);
    const Real length = std::sqrt(closest.squaredDistance);
    SignedDistance out{
        .distance = inside ? -length : length, .closest = closest.point, .normal = {}};
    // On the surface itself, and where the offset has no digits left, the surface gives the normal.
    if (length > Real(1e-12) * mesh.radius) {
      out.normal = (p - closest.point) / (inside ? -length : length);
    } else {
      const Vec3 n = pseudonormal(mesh, closest.triangle, closest.feature);
      const Real l = norm(n);
      out.normal = l > 0 ? n / l : mesh.normals[closest.triangle];
    }
    return out;
  });
}

std::optional<RayHit> rayCastMesh(const MeshData& mesh, const Ray& ray) {
  const Vec3 direction = scaledDirection(ray.direction);
  if (direction == Vec3{} || !std::isfinite(maxAbs(ray.origin))) return std::nullopt;
  const Real scale = maxAbs(ray.direction);
  // Measured from a point of the line near the mesh, where nothing is lost to cancellation.
  const kernel::LineT<Real> line = kernel::lineNearOrigin(ray.origin - mesh.center, direction);
  const Vec3 origin = mesh.center + line.origin;
  // t of the ray is (s + shift) / scale.
  const Real first = -line.shift;
  Real last = ray.maxT * scale - line.shift;
  if (!(last >= first)) return std::nullopt;

  const Bvh& bvh = mesh.bvh;
  const Vec3 unit = bvh.toUnit(origin);
  Float4 o[3], inverse[3];
  for (int k = 0; k < 3; ++k) {
    o[k] = splat(float(unit[k]));
    // A zero component gets a huge inverse: inside the slab the bounds are then -huge and +huge.
    const float d = float(direction[k]);
    inverse[k] = splat(std::fabs(d) > 1e-18f ? 1 / d : (d < 0 ? -1e18f : 1e18f));
  }
  const float slack = 4 * Bvh::kUnitSlack * (1 + float(maxAbs(unit)));

  const float start = float(std::fmax(first * bvh.inverseScale, Real(-1e30))) * 1.00001f - 1e-4f;
  const float least = start < 0 ? start : start * 0.9999f - 1e-4f;
  const auto entries = [&](const BvhNode& node) {
    Float4 enter = splat(-1e30f), exit = splat(1e30f);
    for (int k = 0; k < 3; ++k) {
      const Float4 a = (node.lower[k] - slack - o[k]) * inverse[k];
      const Float4 b = (node.upper[k] + slack - o[k]) * inverse[k];
      enter = max4(enter, min4(a, b));
      exit = min4(exit, max4(a, b));
    }
    enter = enter - abs4(enter) * 1e-5f;
    exit = exit + abs4(exit) * 1e-5f;
    const Int4 isMet = (enter <= exit) & (exit >= splat(least));
    return isMet ? enter : splat(FLT_MAX);
  };
  const auto limit = [&] {
    return float(std::fmin(last * bvh.inverseScale, Real(1e30))) * 1.00001f + 1e-4f;
  };
  int bestTriangle = -1;
  visitNearestFirst(bvh, entries, limit, [&](int slot, int count) {
    for (int i = slot; i < slot + count; ++i) {
      const Vec3* v = &mesh.corners[3 * i];
      Real s = 0;
      if (!kernel::intersectRayTriangle(origin, direction, v[0], v[1], v[2], &s)) continue;
      if (!(s >= first && s <= last)) continue;
      const int t = bvh.order[i];
      if (s == last && bestTriangle >= 0 && t > bestTriangle) continue;
      last = s;
      bestTriangle = t;
    }
    return false;
  });
  if (bestTriangle < 0) return std::nullopt;
  Vec3 normal = mesh.normals[bestTriangle];
  if (dot(normal, direction) > 0) normal = -normal;
  const Real t = (last + line.shift) / scale;
  return RayHit{.t = t > 0 ? t : 0,
                .position = origin + direction * last,
                .normal = normal,
                .feature = bestTriangle};
}

}  // namespace tangere::geometry
