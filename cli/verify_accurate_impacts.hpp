// SPDX-License-Identifier: Apache-2.0
//
// The accurate lane of families in which bodies meet: rigid impacts, elastic contacts of some
// duration, and oscillations on them.
#pragma once

#include "verify_families.hpp"

namespace tangere::cli {

[[nodiscard]] Measured accurateBounceZeno(const Json& parameters);
[[nodiscard]] Measured accurateHuntCrossley(const Json& parameters);
[[nodiscard]] Measured accurateModiaBounce(const Json& parameters);
[[nodiscard]] Measured accurateHertz(const Json& parameters);
[[nodiscard]] Measured accurateCradle(const Json& parameters);
[[nodiscard]] Measured accurateSimbenchBouncing(const Json& parameters);
[[nodiscard]] Measured accurateHydroBox(const Json& parameters);

}  // namespace tangere::cli
