// SPDX-License-Identifier: Apache-2.0
//
// Points with a common radius and a tree over them.
#pragma once

#include "geometry/bvh.hpp"
#include "geometry/flat_shape.hpp"

#include <limits>
#include <span>
#include <vector>

namespace tangere::geometry {

struct PointCloudData : FlatShape {
  std::vector<Vec3> points;
  Real pointRadius = 0;
  std::vector<Vec3> slots;  ///< the points in the order of the tree
  Bvh bvh;                  ///< of the bare points
  Aabb bounds;              ///< of the balls
  Vec3 center{};
  Real radius = 0;  ///< of the ball about `center` around all balls

  /// Throws InvalidInput without points, on a coordinate that is not a usable number, and on a
  /// radius that is negative or too large.
  PointCloudData(std::span<const Vec3> points, Real pointRadius);
};

/// Index of the point nearest to p (the lowest of those that tie), -1 when none is within
/// `maxDistance`; `squaredDistance` is that of the bare point.
[[nodiscard]] int nearestPoint(const PointCloudData& cloud, const Vec3& p, Real maxDistance,
                               Real* squaredDistance);

}  // namespace tangere::geometry
