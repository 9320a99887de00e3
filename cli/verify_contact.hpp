// SPDX-License-Identifier: Apache-2.0
//
// Accuracy cases of contact laws: friction of a patch that slides and spins, and a compliant
// normal force.
#pragma once

#include "verify_families.hpp"

namespace tangere::cli {

[[nodiscard]] Measured spinningDisc(const Json& parameters, const Lane& lane);
[[nodiscard]] Measured huntCrossley(const Json& parameters, const Lane& lane);

}  // namespace tangere::cli
