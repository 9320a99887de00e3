// SPDX-License-Identifier: Apache-2.0
//
// The accurate lane of families in which bodies stay in contact: sliding, sticking, rolling,
// tipping and jamming.
#pragma once

#include "verify_families.hpp"

namespace tangere::cli {

[[nodiscard]] Measured accurateInclineBlock(const Json& parameters);
[[nodiscard]] Measured accurateSlideToRoll(const Json& parameters);
[[nodiscard]] Measured accurateInclineRoll(const Json& parameters);
[[nodiscard]] Measured accurateSpinningDisc(const Json& parameters);
[[nodiscard]] Measured accurateBoxTipping(const Json& parameters);
[[nodiscard]] Measured accuratePainleveRod(const Json& parameters);
[[nodiscard]] Measured accurateMovableWedge(const Json& parameters);
[[nodiscard]] Measured accurateSimbenchRolling(const Json& parameters);

}  // namespace tangere::cli
