// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/model_data.hpp"

namespace tangere::model {

/// Larger meshes are not looked at for being convex.
inline constexpr std::size_t kMostHullVertices = 512;

/// Fills ModelShape::flushGroup and hasFlushGroups.
void groupFlushShapes(ModelData& data);

}  // namespace tangere::model
