// SPDX-License-Identifier: Apache-2.0
//
// Solves the convex problem of sap_problem.hpp, island by island: Newton with an exact line search.
//
// The result depends on the problem and the options alone: not on the number of threads, nor on
// what was solved before. Nothing is allocated once the memory of each worker has
// grown to the largest island.
#pragma once

#include <tangere/solver_options.hpp>

#include "core/parallel_for.hpp"
#include "core/stopwatch.hpp"
#include "solver/sap_problem.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace tangere::solver {

enum class SapStatus : std::uint8_t {
  Converged,      ///< the stop criterion holds
  Stalled,        ///< no further decrease at the precision of the machine: as good as converged
  MaxIterations,  ///< v is the best iterate
  NotPositive,    ///< some A is not positive definite: v = v* in its island
  NotFinite,  ///< NaN, infinity or nonsense in the input: v = v* in the island, 0 where v* is not
              ///< finite
};

[[nodiscard]] constexpr bool isSolved(SapStatus status) {
  return status == SapStatus::Converged || status == SapStatus::Stalled;
}

/// Where the time of a solve goes.
enum class SapPart : std::uint8_t {
  Setup,          ///< islands, regularization
  Gradients,      ///< impulses, cost and gradient at an iterate
  Factorization,  ///< H assembled and factored: Cholesky, or the preconditioner
  Cholesky,       ///< solutions by the factor
  ContactPcg,     ///< conjugate gradients of islands without soft bodies
  SoftPcg,        ///< of islands with soft bodies
  LineSearch,
};
inline constexpr int kNumSapParts = 7;
using SapClock = core::Stopwatch<SapPart, kNumSapParts>;

struct SapIslandReport {
  SapStatus status = SapStatus::Converged;
  std::int32_t firstClique = 0;  ///< the lowest of the island
  std::int32_t numCliques = 0;
  std::int32_t numConstraints = 0;
  std::int32_t worstConstraint = -1;  ///< where the gradient left is largest; not solved only
  int iterations = 0;                 ///< Newton steps taken
  int evaluations = 0;                ///< of the line search
  int factorizations = 0;
  int pcgIterations = 0;
  int mostPcgIterations = 0;         ///< for one Newton step
  std::int32_t worstClique = -1;     ///< whose input is not finite or not positive; -1: not known
  std::int32_t numSoftVertices = 0;  ///< of all sparse cliques
  /// What was used; Auto: there are no sparse cliques.
  SoftPreconditioner softPreconditioner = SoftPreconditioner::Auto;
  /// |D grad| / max(|D A v|, |D J^T gamma|), D = diag(A)^-1/2: what the tolerance bounds.
  Real residual = 0;
  int frictionUpdates = 0;    ///< times that the bounds of friction were set anew
  Real frictionResidual = 0;  ///< what these are off by, see SapOptions::frictionTolerance
  Real cost = 0;              ///< l(v)
  /// |v - v_opt|_A <= errorBound for certain, rounding included [sqrt(J)]; NaN or infinity never
  /// pass as a bound: it is infinity where nothing can be said.
  Real errorBound = 0;
};

/// Over all islands: the worst status, sums of counts and costs, the largest residual.
struct SapReport {
  SapStatus status = SapStatus::Converged;
  std::int32_t numIslands = 0;
  std::int32_t worstConstraint = -1;
  /// Of the island of `status`: the one whose input is bad, else the lowest; -1 when all are
  /// solved.
  std::int32_t worstClique = -1;
  int iterations = 0;  ///< of the island that took most
  int evaluations = 0, factorizations = 0, pcgIterations = 0;
  int mostPcgIterations = 0;  ///< for one Newton step
  /// Of the island with most vertices of sparse cliques; Auto: there is none.
  SoftPreconditioner softPreconditioner = SoftPreconditioner::Auto;
  Real residual = 0;
  int frictionUpdates = 0;    ///< of the island that took most
  Real frictionResidual = 0;  ///< the largest
  Real cost = 0;
  Real errorBound = 0;  ///< of the whole v: root of the sum of squares
};

class SapSolver {
 public:
  SapSolver();
  ~SapSolver();
  SapSolver(SapSolver&&) noexcept;
  SapSolver& operator=(SapSolver&&) noexcept;

  /// Writes v, impulse, rowVelocity and generalizedImpulse of `problem`. Cliques without constraint
  /// get v = v*. `pool` may be null. Never throws but for memory; bad input is reported.
  SapReport solve(const SapOptions& options, SapProblem* problem, core::ThreadPool* pool = nullptr);

  /// Off by default; on: clock() has the times of the last solve, of all threads together.
  void setProfiling(bool isOn);
  [[nodiscard]] const SapClock& clock() const;

  /// One for each island of the last solve, in order of their lowest clique.
  [[nodiscard]] std::span<const SapIslandReport> islands() const;

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

}  // namespace tangere::solver
