// SPDX-License-Identifier: Apache-2.0
//
// The families of accuracy cases: each builds its scene from the parameters of a case and measures
// the quantities that have a reference.
#pragma once

#include "console.hpp"

#include <map>
#include <string>
#include <vector>

namespace tangere::cli {

/// Measured values by quantity; a scalar is a vector of one.
using Measured = std::map<std::string, std::vector<double>>;

/// Runs one family at the step `dt` [s]. Throws InvalidInput on parameters that make no scene.
using FamilyFunction = Measured (*)(const Json& parameters, double dt);

/// The impulse solver's families by name.
[[nodiscard]] const std::map<std::string, FamilyFunction>& impulseFamilies();

}  // namespace tangere::cli
