// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/model_data.hpp"

namespace tangere::model {

/// Of everything that decides a motion.
[[nodiscard]] std::uint64_t hashOf(const ModelData& data);

}  // namespace tangere::model
