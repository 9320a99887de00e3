// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/model_data.hpp"

namespace tangere::model {

/// Fills ModelShape::flushGroup and hasFlushGroups.
void groupFlushShapes(ModelData& data);

}  // namespace tangere::model
