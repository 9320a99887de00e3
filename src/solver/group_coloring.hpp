// SPDX-License-Identifier: Apache-2.0
//
// Colours of contact groups: two groups of one colour share no moving block.
#pragma once

#include "solver/impulse_problem.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tangere::solver {

/// The last colour takes the groups for which no other is free; its groups may
/// share blocks and are solved one after the other.
inline constexpr int kOverflowColor = 63;

/// Writes the colour of each group of the island (in its order) and returns the
/// number of colours below kOverflowColor. Greedy in that order, so the result
/// depends on the problem alone. `usedColors` has one entry for each block of
/// the problem; those of the island are overwritten.
int colorGroups(const ImpulseProblem& problem, const ImpulseIsland& island,
                std::span<std::uint64_t> usedColors, std::vector<std::uint8_t>* colors);

}  // namespace tangere::solver
