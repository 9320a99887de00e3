// SPDX-License-Identifier: Apache-2.0
//
// The PointCloud shape and its data.
#include <tangere/shape.hpp>

#include "geometry/bvh_nearest.hpp"
#include "geometry/limits.hpp"
#include "geometry/mass_properties.hpp"
#include "geometry/point_cloud_data.hpp"
#include "geometry/query_helpers.hpp"

#include <cmath>

namespace tangere {

using geometry::Bvh;
using geometry::BvhNode;
using geometry::BvhRef;
using geometry::PointCloudData;

namespace {

const PointCloudData& dataOf(const PointCloud& cloud) { return *cloud.flat().pointCloud; }

/// Where the line o + t d is on the sphere of radius r about the origin; false when it passes by.
bool crossSphere(const Vec3& o, const Vec3& d, Real r, Real* t0, Real* t1) {
  const Real dd = squaredNorm(d);
  const Real middle = -dot(o, d) / dd;
  const Real rest2 = r * r - squaredNorm(o + d * middle);
  if (!(rest2 >= 0)) return false;
  const Real half = std::sqrt(rest2 / dd);
  *t0 = middle - half;
  *t1 = middle + half;
  return true;
}

}  // namespace

PointCloud::PointCloud(std::span<const Vec3> points, Real pointRadius)
    : PointCloud(std::make_shared<const PointCloudData>(points, pointRadius)) {}

PointCloud::PointCloud(const std::shared_ptr<const PointCloudData>& data)
    : Shape(ShapeType::PointCloud, data, data->bounds) {}

std::span<const Vec3> PointCloud::points() const { return dataOf(*this).points; }

Real PointCloud::pointRadius() const { return dataOf(*this).pointRadius; }

Vec3 PointCloud::support(const Vec3& direction) const {
  const PointCloudData& cloud = dataOf(*this);
  const Vec3 d = geometry::scaledDirection(direction);
  const Vec3* best = &cloud.points[0];
  for (const Vec3& p : cloud.points)
    if (dot(p, d) > dot(*best, d)) best = &p;
  const Real length = norm(d);
  return length > 0 ? *best + d * (cloud.pointRadius / length) : *best;
}

MassProperties PointCloud::massProperties(Real density) const {
  geometry::requireDensity(density);
  core::throwInvalidInput("a point cloud has no volume, and no mass properties", "");
}

std::optional<RayHit> PointCloud::rayCast(const Ray& ray) const {
  const PointCloudData& cloud = dataOf(*this);
  const Real r = cloud.pointRadius;
  const Vec3 direction = geometry::scaledDirection(ray.direction);
  if (direction == Vec3{} || !std::isfinite(geometry::maxAbs(ray.origin)) || !(r > 0))
    return std::nullopt;
  const Real scale = geometry::maxAbs(ray.direction);
  const kernel::LineT<Real> line = kernel::lineNearOrigin(ray.origin - cloud.center, direction);
  const Vec3 origin = cloud.center + line.origin;
  const Real first = -line.shift;
  Real last = ray.maxT * scale - line.shift;
  int hit = -1;
  const Bvh& bvh = cloud.bvh;
  const Real reach = r * (1 + Real(1e-6));
  BvhRef stack[Bvh::kStackSize];
  int size = 0;
  stack[size++] = {0, 0};
  while (size > 0) {
    const BvhRef ref = stack[--size];
    if (ref.count > 0) {
      for (int s = ref.child; s < ref.child + ref.count; ++s) {
        const Vec3 o = origin - cloud.slots[s];
        Real t0, t1;
        if (!crossSphere(o, direction, r, &t0, &t1)) continue;
        const Real t = t0 >= first ? t0 : t1;
        if (!(t >= first && t <= last)) continue;
        if (t == last && hit >= 0 && bvh.order[s] > hit) continue;
        last = t;
        hit = bvh.order[s];
      }
      continue;
    }
    const BvhNode& node = bvh.nodes[ref.child];
    for (int i = 0; i < 4; ++i) {
      if (node.count[i] < 0) continue;
      // The line passes the ball around the box, grown by the radius of the points.
      Vec3 c, h;
      for (int k = 0; k < 3; ++k) {
        c[k] = bvh.center[k] +
               bvh.scale * (Real(0.5) * (Real(node.lower[k][i]) + Real(node.upper[k][i])));
        h[k] = bvh.scale * (Real(0.5) * (Real(node.upper[k][i]) - Real(node.lower[k][i])));
      }
      const Real ball = norm(h) * (1 + Real(1e-6)) + reach;
      const Vec3 o = origin - c;
      Real t0, t1;
      if (!crossSphere(o, direction, ball, &t0, &t1)) continue;
      if (t1 < first || t0 > last) continue;
      stack[size++] = {node.child[i], node.count[i]};
    }
  }
  if (hit < 0) return std::nullopt;
  const Vec3 position = origin + direction * last;
  Vec3 normal = (position - cloud.points[hit]) / r;
  normal = normal / norm(normal);
  if (dot(normal, direction) > 0) normal = -normal;
  const Real t = (last + line.shift) / scale;
  return RayHit{.t = t > 0 ? t : 0, .position = position, .normal = normal, .feature = hit};
}

SignedDistance PointCloud::signedDistance(const Vec3& point) const {
  const PointCloudData& cloud = dataOf(*this);
  // The tree compares squares in single precision, in units of its own size.
  const Real limit = 1e12 / cloud.bvh.inverseScale;
  return geometry::signedDistanceAt(point, cloud.convex.center, limit, [&](const Vec3& p) {
    Real d2 = 0;
    const int nearest =
        geometry::nearestPoint(cloud, p, std::numeric_limits<Real>::infinity(), &d2);
    const Vec3& q = cloud.points[nearest];
    const Real length = std::sqrt(d2);
    const Vec3 normal = length > 0 ? (p - q) / length : Vec3{0, 0, 1};
    // No inside: a point within a ball is on the cloud.
    return SignedDistance{.distance = std::fmax(length - cloud.pointRadius, Real(0)),
                          .closest = q + normal * cloud.pointRadius,
                          .normal = normal};
  });
}

namespace geometry {

PointCloudData::PointCloudData(std::span<const Vec3> input, Real inputRadius)
    : points(input.begin(), input.end()), pointRadius(inputRadius) {
  TANGERE_REQUIRE(!input.empty(), "point cloud needs at least one point");
  TANGERE_REQUIRE(input.size() < (1u << 30), "point cloud has too many points", input.size());
  TANGERE_REQUIRE(inputRadius >= 0 && inputRadius <= kMaxSize,
                  "point radius must be within 0 to 1e12 m", inputRadius);
  for (std::size_t i = 0; i < input.size(); ++i)
    TANGERE_REQUIRE(isCoordinate(input[i]), "point must be finite and within 1e12 m", i, input[i].x,
                    input[i].y, input[i].z);
  bounds = {points[0], points[0]};
  for (const Vec3& p : points) bounds.merge(p);
  center = bounds.center();
  Real r2 = 0;
  for (const Vec3& p : points) r2 = std::fmax(r2, squaredNorm(p - center));
  radius = std::sqrt(r2) * (1 + Real(1e-15)) + pointRadius;

  bvh.setFrame(bounds);
  std::vector<BvhPrimitive> primitives(points.size());
  for (std::size_t i = 0; i < points.size(); ++i)
    primitives[i] = bvh.primitive(points[i], points[i], static_cast<int>(i));
  bvh.build(primitives);
  slots.resize(points.size());
  for (std::size_t s = 0; s < slots.size(); ++s) slots[s] = points[bvh.order[s]];
  bounds.expand(pointRadius);

  type = ShapeType::PointCloud;
  pointCloud = this;
  convex.center = center;
  convex.boundingRadius = radius;
}

int nearestPoint(const PointCloudData& cloud, const Vec3& p, Real maxDistance,
                 Real* squaredDistance) {
  const PointInTree point(cloud.bvh, p);
  int best = -1;
  Real best2 = maxDistance * maxDistance;
  visitNearestFirst(
      cloud.bvh, [&](const BvhNode& node) { return point.squaredDistances(node); },
      [&] { return point.reach(best2); },
      [&](int slot, int count) {
        for (int s = slot; s < slot + count; ++s) {
          const Real d2 = squaredNorm(p - cloud.slots[s]);
          const int i = cloud.bvh.order[s];
          if (d2 < best2 || (d2 == best2 && (best < 0 || i < best))) {
            best2 = d2;
            best = i;
          }
        }
        return false;
      });
  *squaredDistance = best2;
  return best;
}

}  // namespace geometry
}  // namespace tangere
