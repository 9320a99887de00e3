// SPDX-License-Identifier: Apache-2.0
//
// Writes the answers of the closed-form pairs. Two surfaces are given by a core point of shape 1 in
// world (centre of a sphere, point of a capsule's axis), the unit normal from shape 2 to shape 1,
// the radius of shape 1 around its core and the gap between the core and the surface of shape 2,
// negative inside: the surface points are core1 - radius1 normal and core1 - gap normal.
//
// The values go straight to where they belong: passing them through a struct in memory costs as
// much as a sphere-sphere query (the wide loads of the copy stall on the narrow stores before
// them).
#pragma once

#include "collision/narrow_phase.hpp"

namespace tangere::collision {

[[gnu::always_inline]] inline void writePoint(const Vec3& core1, const Vec3& normal, Real radius1,
                                              Real gap, std::int32_t feature1,
                                              std::int32_t feature2, ContactPoint& out) {
  const Real depth = radius1 - gap;
  const Real middle = Real(0.5) * (radius1 + gap);
  out.position.x = core1.x - normal.x * middle;
  out.position.y = core1.y - normal.y * middle;
  out.position.z = core1.z - normal.z * middle;
  out.normal.x = normal.x;
  out.normal.y = normal.y;
  out.normal.z = normal.z;
  out.depth = depth > 0 ? depth : 0;  // the test that let it through may have rounded otherwise
  out.feature1 = feature1;
  out.feature2 = feature2;
}

/// The manifold of one point.
[[gnu::always_inline]] inline int addPoint(const Vec3& core1, const Vec3& normal, Real radius1,
                                           Real gap, std::int32_t feature1, std::int32_t feature2,
                                           CollisionResult& result) {
  ContactManifold& manifold = result.beginManifold();
  writePoint(core1, normal, radius1, gap, feature1, feature2, manifold.points[0]);
  manifold.count = 1;
  manifold.type = ContactType::Point;
  result.commitManifold();
  return 1;
}

[[gnu::always_inline]] inline void writeDistance(const Vec3& core1, const Vec3& normal,
                                                 Real radius1, Real gap, std::int32_t feature1,
                                                 std::int32_t feature2,
                                                 const DistanceOption& option,
                                                 DistanceResult& out) {
  out.distance = gap - radius1;
  if (out.distance < 0 && !option.enableSigned) {
    out.distance = 0;
    radius1 = gap = Real(0.5) * (radius1 + gap);
  }
  out.normal.x = normal.x;
  out.normal.y = normal.y;
  out.normal.z = normal.z;
  out.point1.x = core1.x - normal.x * radius1;
  out.point1.y = core1.y - normal.y * radius1;
  out.point1.z = core1.z - normal.z * radius1;
  out.point2.x = core1.x - normal.x * gap;
  out.point2.y = core1.y - normal.y * gap;
  out.point2.z = core1.z - normal.z * gap;
  out.feature1 = feature1;
  out.feature2 = feature2;
}

}  // namespace tangere::collision
