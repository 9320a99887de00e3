// SPDX-License-Identifier: Apache-2.0
#include "solver/impulse_solver.hpp"

#include "solver/exact_contact.hpp"
#include "solver/impact_sweeps.hpp"
#include "solver/sweep_solver.hpp"

#include <algorithm>

namespace tangere::solver {
namespace {

/// Sweeps of a small island that Newton's method did not solve.
constexpr int kMaxFallbackSweeps = 2000;
constexpr Real kFallbackTolerance = 1e-13;
/// The tolerance is for islands that creep no faster than this; above, it grows with the speed
/// [m/s].
constexpr Real kCreep = 1e-3;
/// When an attempt would add energy: times the sweeps, and how often. The last
/// one starts from zero.
constexpr int kRetryFactor = 5;
constexpr int kRetryRounds = 3;
/// Points of one impact beyond which Newton's matrix costs more than sweeps.
constexpr int kMaxExactImpact = 24;
/// Energy made, against what there is, that rounding explains.
constexpr Real kEnergyRounding = 1e-12;

int numPointsOf(const ImpulseProblem& problem, const ImpulseIsland& island) {
  int sum = 0;
  for (const std::int32_t g : island.groups) sum += problem.groups[g].count;
  return sum;
}

bool hasSpin(const ImpulseProblem& problem, const ImpulseIsland& island) {
  for (const std::int32_t g : island.groups) {
    const ImpulseGroup& group = problem.groups[g];
    for (std::int32_t p = group.first; p < group.first + group.count; ++p) {
      const ImpulsePoint& point = problem.points[p];
      if (point.torsionalFriction > 0 || point.rollingFriction > 0) return true;
    }
  }
  return false;
}

SweepOptions sweepOptions(const ImpulseOptions& options) {
  return {.numSubsteps = std::max(options.numSubsteps, 1),
          .numSweeps = std::max(options.numSweeps, 1),
          .tolerance = options.tolerance,
          .partOfMotion = options.tolerance / kCreep,
          .numCorrectionSweeps = options.numCorrectionSweeps,
          .numProjections = options.numProjections,
          .numProjectionSteps = options.numProjectionSteps};
}

/// What a gain is measured by: kinetic energy and what the free forces could
/// add to it.
Real energyScale(const ImpulseProblem& problem, const ImpulseIsland& island) {
  Real sum = 0;
  for (const std::int32_t b : island.blocks) {
    const ImpulseBlock& block = problem.blocks[b];
    const Vec3 gain = block.duration * block.acceleration;
    sum += (squaredNorm(block.velocity) + squaredNorm(gain)) / block.inverseMass;
  }
  return Real(0.5) * sum;
}

}  // namespace

struct ImpulseSolver::Impl {
  struct Worker {
    ExactContactSolver exact;
    SweepSolver sweeps;
  };
  std::vector<Worker> workers;
  // One entry for each block: islands share none, so workers may write at the
  // same time.
  std::vector<std::int32_t> slotOfBlock;
  std::vector<std::uint64_t> usedColors;
  std::vector<std::int32_t> small;
  std::vector<std::int32_t> impactGroups, impactBlocks, impactSlots;

  void solveSmall(ImpulseProblem& problem, const ImpulseIsland& island,
                  const ImpulseOptions& options, Real dt, Worker* worker, ImpulseReport* report);
  /// `allowed`: work of the contacts that rounding explains. With a team all
  /// its threads call this.
  void solveLaidOut(ImpulseProblem& problem, const ImpulseOptions& options,
                    const SweepOptions& sweeps, Real dt, Real allowed, Team* team, Worker* worker,
                    ImpulseReport* report);
};

ImpulseSolver::ImpulseSolver() : impl_(std::make_unique<Impl>()) {}
ImpulseSolver::~ImpulseSolver() = default;
ImpulseSolver::ImpulseSolver(ImpulseSolver&&) noexcept = default;
ImpulseSolver& ImpulseSolver::operator=(ImpulseSolver&&) noexcept = default;

void ImpulseSolver::solve(ImpulseProblem& problem, std::span<const ImpulseIsland> islands,
                          const ImpulseOptions& options, Real dt, core::ThreadPool* pool,
                          std::span<ImpulseReport> reports) {
  Impl& impl = *impl_;
  const int numThreads = pool != nullptr ? pool->numThreads() : 1;
  if (static_cast<int>(impl.workers.size()) < numThreads) impl.workers.resize(numThreads);
  impl.slotOfBlock.resize(problem.blocks.size());
  impl.usedColors.resize(problem.blocks.size());
  const SweepOptions sweeps = sweepOptions(options);

  impl.small.clear();
  for (std::size_t i = 0; i < islands.size(); ++i) {
    reports[i] = {};
    // An island of several parts gets all threads; the others run side by side.
    if (numThreads == 1 || islands[i].blocks.size() < kMinDividedBlocks ||
        numPointsOf(problem, islands[i]) <= options.maxExactPoints) {
      impl.small.push_back(static_cast<std::int32_t>(i));
      continue;
    }
    const Real allowed = kEnergyRounding * energyScale(problem, islands[i]);
    Impl::Worker& worker = impl.workers[0];
    Team::run(
        pool,
        [&] {
          worker.sweeps.layOut(problem, islands[i], sweeps, impl.slotOfBlock, impl.usedColors);
        },
        [&](Team* team) {
          ImpulseReport report;  // every thread finds the same
          impl.solveLaidOut(problem, options, sweeps, dt, allowed, team, &worker, &report);
          if (team->isLeader()) reports[i] = report;
        });
  }
  const auto numSmall = static_cast<std::int64_t>(impl.small.size());
  core::parallelForWorker(numSmall > 1 ? pool : nullptr, numSmall, 1,
                          [&](std::int64_t begin, std::int64_t end, int worker) {
                            for (std::int64_t k = begin; k < end; ++k) {
                              const std::int32_t i = impl.small[k];
                              impl.solveSmall(problem, islands[i], options, dt,
                                              &impl.workers[worker], &reports[i]);
                            }
                          });
}

void ImpulseSolver::solveImpact(ImpulseProblem& problem, std::span<const Real> targets) {
  Impl& impl = *impl_;
  if (impl.workers.empty()) impl.workers.resize(1);
  impl.impactGroups.clear();
  impl.impactBlocks.clear();
  for (std::size_t g = 0; g < problem.groups.size(); ++g)
    impl.impactGroups.push_back(static_cast<std::int32_t>(g));
  for (std::size_t b = 0; b < problem.blocks.size(); ++b) {
    if (problem.blocks[b].inverseMass > 0)
      impl.impactBlocks.push_back(static_cast<std::int32_t>(b));
  }
  impl.impactSlots.resize(problem.blocks.size());
  if (static_cast<int>(problem.points.size()) > kMaxExactImpact ||
      !impl.workers[0].exact.solveImpact(problem, {impl.impactGroups, impl.impactBlocks}, targets,
                                         impl.impactSlots)) {
    sweepImpact(problem, targets);
  }
}

void ImpulseSolver::Impl::solveSmall(ImpulseProblem& problem, const ImpulseIsland& island,
                                     const ImpulseOptions& options, Real dt, Worker* worker,
                                     ImpulseReport* report) {
  SweepOptions sweeps = sweepOptions(options);
  if (numPointsOf(problem, island) <= options.maxExactPoints) {
    if (!hasSpin(problem, island) &&
        worker->exact.solve(problem, island, options, dt, slotOfBlock, report)) {
      return;
    }
    sweeps.numSubsteps = 1;
    sweeps.numSweeps = kMaxFallbackSweeps;
    sweeps.tolerance = kFallbackTolerance;
    sweeps.partOfMotion = 0;
    sweeps.numCorrectionSweeps = kMaxFallbackSweeps;
  }
  const Real allowed = kEnergyRounding * energyScale(problem, island);
  worker->sweeps.layOut(problem, island, sweeps, slotOfBlock, usedColors);
  solveLaidOut(problem, options, sweeps, dt, allowed, nullptr, worker, report);
}

void ImpulseSolver::Impl::solveLaidOut(ImpulseProblem& problem, const ImpulseOptions& options,
                                       const SweepOptions& sweeps, Real dt, Real allowed,
                                       Team* team, Worker* worker, ImpulseReport* report) {
  worker->sweeps.solve(problem, options, sweeps, dt, slotOfBlock, team, report);
  if (report->contactWork <= allowed) return worker->sweeps.writeBack(problem, team);

  // The impulses of the last step overshoot. The closer to the solution, the
  // less they do; where the warm start was for another state altogether it is
  // dropped: from zero every update takes energy.
  const Real warmWork = report->contactWork;
  SweepOptions more = sweeps;
  for (int round = 0; round < kRetryRounds; ++round) {
    more.numSweeps *= kRetryFactor;
    more.numProjections = 0;
    more.partOfMotion = 0;
    more.isWarm = round + 1 < kRetryRounds;
    worker->sweeps.solve(problem, options, more, dt, slotOfBlock, team, report);
    if (report->contactWork <= allowed) break;
  }
  worker->sweeps.writeBack(problem, team);
  if (more.isWarm) return;
  report->restartedCold = true;
  report->warmWork = warmWork;
}

}  // namespace tangere::solver
