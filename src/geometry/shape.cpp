// SPDX-License-Identifier: Apache-2.0
//
// What all shapes share: their names and the box of a moved box.
#include <tangere/shape.hpp>

#include "geometry/flat_shape.hpp"

#include <atomic>

namespace tangere {

std::uint64_t geometry::nextShapeId() {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

Shape::~Shape() = default;

Aabb Shape::worldAabb(const Transform& X_WS) const { return transformed(local_aabb_, X_WS); }

std::string_view shapeTypeName(ShapeType type) {
  switch (type) {
    case ShapeType::Sphere:
      return "sphere";
    case ShapeType::Box:
      return "box";
    case ShapeType::Capsule:
      return "capsule";
    case ShapeType::Cylinder:
      return "cylinder";
    case ShapeType::Cone:
      return "cone";
    case ShapeType::Ellipsoid:
      return "ellipsoid";
    case ShapeType::Plane:
      return "plane";
    case ShapeType::Convex:
      return "convex";
    case ShapeType::Mesh:
      return "mesh";
    case ShapeType::HeightField:
      return "height_field";
    case ShapeType::PointCloud:
      return "point_cloud";
    case ShapeType::Compound:
      return "compound";
  }
  return "unknown";
}

}  // namespace tangere
