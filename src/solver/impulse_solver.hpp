// SPDX-License-Identifier: Apache-2.0
//
// Contact impulses of one island (see impulse_problem.hpp for the problem).
//
// Small islands are solved to rounding (exact_contact.hpp). Large ones: sweeps of block
// Gauss-Seidel (the three rows of a point together) and conjugate gradients where those do not get
// there, in an order that is a fixed colouring of the groups: groups of one colour share no moving
// block, so any number of threads gives the same bits.
//
// No energy is made: an attempt whose contacts do positive work is repeated with more sweeps, and
// at last from zero impulses, from which every update lowers the kinetic energy.
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

  /// Impacts of one connected set of points, all at the same time and without duration: impulses
  /// after which the normal velocity of each point is at least targets[point] (restitution times
  /// the speed of approach), with Coulomb's law across. In: velocities before, durations of zero.
  /// Out: velocities after, impulses and their work at the points. The answer does not depend on
  /// the order of blocks and points but for rounding.
  void solveImpact(ImpulseProblem& problem, std::span<const Real> targets);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tangere::solver
