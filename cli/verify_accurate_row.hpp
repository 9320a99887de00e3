// SPDX-License-Identifier: Apache-2.0
//
// The accurate lane of a row of blocks that two plates hold by friction.
#pragma once

#include "verify_families.hpp"

namespace tangere::cli {

[[nodiscard]] Measured accurateTensionedRow(const Json& parameters);

}  // namespace tangere::cli
