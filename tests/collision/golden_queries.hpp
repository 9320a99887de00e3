// SPDX-License-Identifier: Apache-2.0
//
// The golden collision cases asked with the public shapes.
#pragma once

#include <tangere/collision.hpp>

#include "collision/golden_cases.hpp"

#include <memory>
#include <vector>

namespace tangere::test {

inline std::unique_ptr<Shape> makeShape(const GoldenShape& golden) {
  const kernel::ConvexView<double>& v = golden.view;
  switch (v.core) {
    case kernel::CoreType::Point:
      return std::make_unique<Sphere>(v.radius);
    case kernel::CoreType::Segment:
      return std::make_unique<Capsule>(v.radius, v.size.z);
    case kernel::CoreType::Box:
      return std::make_unique<Box>(v.size);
    case kernel::CoreType::Cylinder:
      return std::make_unique<Cylinder>(v.size.x, v.size.z);
    case kernel::CoreType::Cone:
      return std::make_unique<Cone>(v.size.x, v.size.z);
    case kernel::CoreType::Ellipsoid:
      return std::make_unique<Ellipsoid>(v.size);
    default: {
      std::vector<Vec3> points;
      for (int i = 0; i < v.hull->numVertices; ++i) points.push_back(v.hull->vertex(i));
      return std::make_unique<Convex>(points);
    }
  }
}

/// A world answer as judge() wants it: in the frame of shape 1.
inline kernel::ConvexContact<double> inFrame1(const GoldenCase& g, const DistanceResult& r) {
  kernel::ConvexContact<double> c;
  c.distance = r.distance;
  c.normal = transposeTimes(g.X_W1.rotation, r.normal);
  c.pointA = inverseTimes(g.X_W1, r.point1);
  c.pointB = inverseTimes(g.X_W1, r.point2);
  c.status = r.status;
  return c;
}

}  // namespace tangere::test
