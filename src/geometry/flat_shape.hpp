// SPDX-License-Identifier: Apache-2.0
//
// A shape flattened to plain values and views: what the narrow phase reads. The owning arrays live
// in the structs that derive from it, next to the class that fills them.
#pragma once

#include <tangere/shape.hpp>

#include "geometry/kernels/convex_view.hpp"

#include <cstdint>

namespace tangere::geometry {

/// A number no other shape of this process has, nor had.
[[nodiscard]] std::uint64_t nextShapeId();

struct MeshData;
struct HeightFieldData;
struct PointCloudData;

struct FlatShape {
  ShapeType type = ShapeType::Sphere;
  /// Tells whether two queries were about the same shape; where it came from has no meaning.
  std::uint64_t id = nextShapeId();
  kernel::ConvexView<Real> convex;  ///< the convex shapes (Sphere .. Ellipsoid, Convex)
  const MeshData* mesh = nullptr;
  const HeightFieldData* heightField = nullptr;
  const PointCloudData* pointCloud = nullptr;
  std::span<const Compound::Child> children;  ///< Compound
};

}  // namespace tangere::geometry
