// SPDX-License-Identifier: Apache-2.0
//
// Accuracy cases of pressure contact: spheres and boxes whose closed forms are known.
#pragma once

#include "verify_families.hpp"

namespace tangere::cli {

[[nodiscard]] Measured hydroSphere(const Json& parameters, const Lane& lane);
[[nodiscard]] Measured hydroBox(const Json& parameters, const Lane& lane);

}  // namespace tangere::cli
