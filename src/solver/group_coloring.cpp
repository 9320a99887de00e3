// SPDX-License-Identifier: Apache-2.0
#include "solver/group_coloring.hpp"

#include <algorithm>
#include <bit>

namespace tangere::solver {

int colorGroups(const ImpulseProblem& problem, const ImpulseIsland& island,
                std::span<std::uint64_t> usedColors, std::vector<std::uint8_t>* colors) {
  constexpr std::uint64_t kOverflowBit = std::uint64_t(1) << kOverflowColor;
  for (const std::int32_t block : island.blocks) usedColors[block] = 0;

  int numColors = 0;
  colors->resize(island.groups.size());
  for (std::size_t i = 0; i < island.groups.size(); ++i) {
    const ImpulseGroup& group = problem.groups[island.groups[i]];
    const bool moves1 = problem.blocks[group.block1].inverseMass > 0;
    const bool moves2 = problem.blocks[group.block2].inverseMass > 0;
    std::uint64_t used = kOverflowBit;
    if (moves1) used |= usedColors[group.block1];
    if (moves2) used |= usedColors[group.block2];
    const int color = std::min(std::countr_one(used), kOverflowColor);
    const std::uint64_t bit = std::uint64_t(1) << color;
    if (moves1) usedColors[group.block1] |= bit;
    if (moves2) usedColors[group.block2] |= bit;
    if (color < kOverflowColor) numColors = std::max(numColors, color + 1);
    (*colors)[i] = static_cast<std::uint8_t>(color);
  }
  return numColors;
}

}  // namespace tangere::solver
