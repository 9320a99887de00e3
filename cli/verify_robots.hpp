// SPDX-License-Identifier: Apache-2.0
//
// Accuracy cases of spinning bodies and mechanisms.
#pragma once

#include "verify_families.hpp"

namespace tangere::cli {

[[nodiscard]] Measured dzhanibekov(const Json& parameters, const Lane& lane);
[[nodiscard]] Measured heavyTop(const Json& parameters, const Lane& lane);
[[nodiscard]] Measured tensionedRow(const Json& parameters, const Lane& lane);
[[nodiscard]] Measured fourbarSingular(const Json& parameters, const Lane& lane);

}  // namespace tangere::cli
