// SPDX-License-Identifier: Apache-2.0
//
// Accuracy cases of single kernels: one step of the convex solver, and contact manifolds.
#pragma once

#include "verify_families.hpp"

namespace tangere::cli {

[[nodiscard]] Measured sapContact(const Json& parameters, const Lane& lane);
[[nodiscard]] Measured boxManifold(const Json& parameters, const Lane& lane);

}  // namespace tangere::cli
