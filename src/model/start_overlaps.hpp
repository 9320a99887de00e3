// SPDX-License-Identifier: Apache-2.0
//
// Which shapes may touch, and which of them overlap before anything has moved.
#pragma once

#include "model/model_data.hpp"

namespace tangere::model {

/// Whether filters, bodies and rules let the two shapes touch.
[[nodiscard]] bool mayTouch(const ModelData& data, int shape1, int shape2);

/// Model::startOverlaps(), in order of shapes.
[[nodiscard]] std::vector<StartOverlap> findStartOverlaps(const ModelData& data);

/// Fills excludedShapes as the options say.
void excludeStartOverlaps(ModelData& data);

}  // namespace tangere::model
