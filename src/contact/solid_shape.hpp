// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "geometry/flat_shape.hpp"
#include "geometry/height_field_data.hpp"
#include "geometry/mesh_data.hpp"
#include "model/flush_groups.hpp"
#include "model/model_data.hpp"

namespace tangere::contact {

/// What a shape is in queries about contacts: a closed mesh or a terrain whose solid is convex is
/// its hull, so that a box of triangles meets others as a box does, with all corners that may land
/// within the step. A hull with many corners is slower than a mesh, whose tree finds few.
[[nodiscard]] inline const Shape& solidOf(const model::ModelShape& shape) {
  constexpr std::size_t kMostCorners = 64;
  const Convex* hull = nullptr;
  if (shape.shape->type() == ShapeType::Mesh &&
      shape.shape->flat().mesh->vertices.size() <= model::kMostHullVertices) {
    hull = shape.shape->flat().mesh->asConvex();
  }
  if (shape.shape->type() == ShapeType::HeightField)
    hull = shape.shape->flat().heightField->asConvex();
  return hull != nullptr && hull->vertices().size() <= kMostCorners ? *hull : *shape.shape;
}

}  // namespace tangere::contact
