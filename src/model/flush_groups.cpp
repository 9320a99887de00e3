// SPDX-License-Identifier: Apache-2.0
#include "model/flush_groups.hpp"

#include "geometry/flat_shape.hpp"
#include "geometry/height_field_data.hpp"
#include "geometry/mesh_data.hpp"

namespace tangere::model {

void groupFlushShapes(ModelData& data) {
  const auto numBodies = static_cast<int>(data.bodies.size());
  const auto groupOf = [&](const ModelShape& shape) {
    const bool isFixed = data.bodies[static_cast<std::size_t>(shape.body)].type == BodyType::Fixed;
    return isFixed ? numBodies : shape.body;
  };
  std::vector<int> count(static_cast<std::size_t>(numBodies) + 1, 0);
  for (const ModelShape& shape : data.shapes) ++count[static_cast<std::size_t>(groupOf(shape))];
  data.hasFlushGroups = false;
  for (const ModelShape& shape : data.shapes) {  // now, not in a step
    const geometry::FlatShape& flat = shape.shape->flat();
    if (flat.mesh != nullptr && flat.mesh->vertices.size() <= kMostHullVertices)
      (void)flat.mesh->asConvex();
    if (flat.heightField != nullptr) (void)flat.heightField->asConvex();
  }
  for (ModelShape& shape : data.shapes) {
    const int group = groupOf(shape);
    shape.flushGroup = count[static_cast<std::size_t>(group)] > 1 ? group : -1;
    data.hasFlushGroups = data.hasFlushGroups || shape.flushGroup >= 0;
  }
}

}  // namespace tangere::model
