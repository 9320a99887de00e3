// SPDX-License-Identifier: Apache-2.0
//
// A shape flattened to plain values and views: what the narrow phase reads. The owning arrays live
// in the structs that derive from it, next to the class that fills them.
#pragma once

#include <tangere/shape.hpp>

#include "geometry/kernels/convex_view.hpp"

namespace tangere::geometry {

struct MeshData;
struct HeightFieldData;
struct PointCloudData;

struct FlatShape {
  ShapeType type = ShapeType::Sphere;
  kernel::ConvexView<Real> convex;  ///< the convex shapes (Sphere .. Ellipsoid, Convex)
  const MeshData* mesh = nullptr;
  const HeightFieldData* heightField = nullptr;
  const PointCloudData* pointCloud = nullptr;
  std::span<const Compound::Child> children;  ///< Compound
};

}  // namespace tangere::geometry
