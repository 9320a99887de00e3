// SPDX-License-Identifier: Apache-2.0
//
// Impacts at the same time, by sweeps over their points: for those that are too many or too awkward
// for the exact solve.
#pragma once

#include "solver/impulse_problem.hpp"

#include <span>

namespace tangere::solver {

/// Impulses at all points such that the normal velocity after is at least targets[point], and
/// friction is within its disk and opposes the slip after. In: velocities before. Out: velocities
/// after, impulses and their work at the points. Durations and accelerations do not count.
void sweepImpact(ImpulseProblem& problem, std::span<const Real> targets);

}  // namespace tangere::solver
