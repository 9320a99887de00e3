// SPDX-License-Identifier: Apache-2.0
//
// The accurate lane of families without contact: spinning bodies, pendulums and mechanisms.
#pragma once

#include "verify_families.hpp"

namespace tangere::cli {

[[nodiscard]] Measured accurateDzhanibekov(const Json& parameters);
[[nodiscard]] Measured accurateHeavyTop(const Json& parameters);
[[nodiscard]] Measured accurateDoublePendulum(const Json& parameters);
[[nodiscard]] Measured accurateFourbarSingular(const Json& parameters);
[[nodiscard]] Measured accurateAndrews(const Json& parameters);

}  // namespace tangere::cli
