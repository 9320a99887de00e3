// SPDX-License-Identifier: Apache-2.0
//
// Contact impulses of one island (see impulse_problem.hpp for the problem).
//
// Small islands: normals by an active set on the dense matrix, friction and
// normals in turn until both hold, so the answer is exact to rounding. Large
// ones: sub-steps with sweeps of block Gauss-Seidel (the three rows of a point
// together), in an order that is a fixed colouring of the groups: groups of one
// colour share no moving block, so any number of threads gives the same bits.
//
// No energy is made: started from zero impulses every update lowers the kinetic
// energy; a warm start that ends with more than it began with is thrown away
// and the island solved from zero.
#pragma once

#include "core/parallel_for.hpp"
#include "solver/impulse_problem.hpp"

#include <memory>
#include <span>

namespace tangere::solver {

class ImpulseSolver {
 public:
  ImpulseSolver();
  ~ImpulseSolver();
  ImpulseSolver(ImpulseSolver&&) noexcept;
  ImpulseSolver& operator=(ImpulseSolver&&) noexcept;

  /// Solves the islands, which share no moving block, on `pool` (may be null),
  /// writing blocks and points of `problem`; `reports` has one entry for each
  /// island. Small islands run side by side, a large one uses the whole pool.
  /// Never throws but for memory.
  void solve(ImpulseProblem& problem, std::span<const ImpulseIsland> islands,
             const ImpulseOptions& options, Real dt, core::ThreadPool* pool,
             std::span<ImpulseReport> reports);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tangere::solver
