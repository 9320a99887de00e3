// SPDX-License-Identifier: Apache-2.0
//
// Accuracy cases of deformable bodies: a cantilever, a column and the elastic laws.
#pragma once

#include "verify_families.hpp"

namespace tangere::cli {

[[nodiscard]] Measured femCantilever(const Json& parameters, const Lane& lane);
[[nodiscard]] Measured femColumn(const Json& parameters, const Lane& lane);
[[nodiscard]] Measured femPatch(const Json& parameters, const Lane& lane);
/// Quantities of fem_patch that no ElasticModel has, and why.
[[nodiscard]] std::map<std::string, std::string> lawsWithoutAModel();

}  // namespace tangere::cli
