// SPDX-License-Identifier: Apache-2.0
//
// Shapes that a few lengths describe, for tests that draw or read those.
#pragma once

#include <tangere/shape.hpp>

#include <memory>

namespace tangere::test {

/// With half sizes or half axes a, b, c, or radius a and half length b [m]; a plane needs none.
/// Null where lengths do not make the shape.
inline std::unique_ptr<Shape> shapeOfLengths(ShapeType type, Real a, Real b, Real c) {
  switch (type) {
    case ShapeType::Sphere:
      return std::make_unique<Sphere>(a);
    case ShapeType::Box:
      return std::make_unique<Box>(Vec3{a, b, c});
    case ShapeType::Capsule:
      return std::make_unique<Capsule>(a, b);
    case ShapeType::Cylinder:
      return std::make_unique<Cylinder>(a, b);
    case ShapeType::Cone:
      return std::make_unique<Cone>(a, b);
    case ShapeType::Ellipsoid:
      return std::make_unique<Ellipsoid>(Vec3{a, b, c});
    case ShapeType::Plane:
      return std::make_unique<Plane>();
    default:
      return nullptr;
  }
}

}  // namespace tangere::test
