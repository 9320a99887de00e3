// SPDX-License-Identifier: Apache-2.0
#include "solver/sap_solver.hpp"

#include "solver/block_sparse.hpp"
#include "solver/sap_island_solve.hpp"
#include "solver/sap_islands.hpp"
#include "solver/sap_iterate.hpp"
#include "solver/sap_sparse_iterate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace tangere::solver {
namespace {

/// Islands of at least so many constraints use all threads, one island after the other.
constexpr std::size_t kLargeIsland = 384;
/// So do islands of at least so many vertices of soft bodies.
constexpr int kLargeSoft = 512;
/// Islands of at least so many cliques keep an order of elimination of their own.
constexpr std::size_t kKeptCliques = 8;

/// What one worker needs to solve an island.
struct Worker {
  SapIterate iterate;
  SapSparseIterate sparseIterate;
  BlockSparse factor;
  SapScratch scratch;
  SapClock clock;
};

}  // namespace

struct SapSolver::Data {
  SapIslands islands;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::unique_ptr<BlockSparse>> kept;  // by the lowest clique of an island
  std::vector<SapIslandReport> reports;
  SapClock clock;

  void solveIsland(const SapOptions& options, SapProblem* problem, int island, int worker,
                   core::ThreadPool* pool);
  BlockSparse* factorOf(const SapIsland& island, Worker* worker);
};

SapSolver::SapSolver() : data_(std::make_unique<Data>()) {}
SapSolver::~SapSolver() = default;
SapSolver::SapSolver(SapSolver&&) noexcept = default;
SapSolver& SapSolver::operator=(SapSolver&&) noexcept = default;

std::span<const SapIslandReport> SapSolver::islands() const { return data_->reports; }
void SapSolver::setProfiling(bool isOn) { data_->clock.set(isOn); }
const SapClock& SapSolver::clock() const { return data_->clock; }

namespace {

Real finiteOrZero(Real x) { return std::isfinite(x) ? x : 0; }

/// v = v* (of a sparse clique, that has none, the guess) and no impulse: what a step does when
/// nothing better can be said.
void leaveFree(SapProblem* problem, std::span<const std::int32_t> cliques,
               std::span<const std::int32_t> constraints) {
  for (const std::int32_t clique : cliques) {
    for (int k = problem->firstVelocity[clique]; k < problem->firstVelocity[clique + 1]; ++k) {
      problem->v[k] = finiteOrZero(problem->isSparse(clique) ? problem->v[k] : problem->vStar[k]);
      problem->generalizedImpulse[k] = 0;
    }
  }
  for (const std::int32_t c : constraints) {
    const SapConstraint& constraint = problem->constraints[c];
    for (int k = constraint.firstRow; k < constraint.firstRow + constraint.numRows; ++k) {
      problem->impulse[k] = problem->rowVelocity[k] = 0;
    }
  }
}

/// A clique that nothing touches has no report of its own, but its v* may be lost like any other.
bool hasFreeVelocity(const SapProblem& problem, std::int32_t clique) {
  if (problem.isSparse(clique)) return true;
  for (int k = problem.firstVelocity[clique]; k < problem.firstVelocity[clique + 1]; ++k) {
    if (!std::isfinite(problem.vStar[k])) return false;
  }
  return true;
}

int numSoftVertices(const SapProblem& problem, const SapIsland& island) {
  if (problem.sparseCliques.empty()) return 0;
  int count = 0;
  for (const std::int32_t clique : island.cliques) {
    if (problem.isSparse(clique)) count += problem.numVelocities(clique) / 3;
  }
  return count;
}

bool hasSparseClique(const SapProblem& problem, const SapIsland& island) {
  return !problem.sparseCliques.empty() &&
         std::any_of(island.cliques.begin(), island.cliques.end(),
                     [&](std::int32_t clique) { return problem.isSparse(clique); });
}

/// Takes the island in, solves it and writes the solution; false when there is none.
template <class Iterate>
bool solveWith(const SapOptions& options, const SapIsland& island, Iterate* iterate,
               BlockSparse* factor, Worker* worker, core::ThreadPool* pool, SapProblem* problem,
               SapIslandReport* report) {
  SapClock& clock = worker->clock;
  clock.begin();
  const SapInput input = iterate->bind(options, *problem, island.cliques, island.constraints, pool);
  clock.end(SapPart::Setup);
  if (input == SapInput::Good) {
    SapIslandSolve<Iterate>(options, iterate, factor, &worker->scratch, &clock, pool, report).run();
  } else {
    report->status = input == SapInput::NotPositive ? SapStatus::NotPositive : SapStatus::NotFinite;
    report->worstConstraint = iterate->badConstraint();
  }
  if (report->status == SapStatus::NotPositive || report->status == SapStatus::NotFinite) {
    return false;
  }
  iterate->write(problem);
  return true;
}

SapReport summarize(std::span<const SapIslandReport> islands) {
  SapReport total;
  total.numIslands = static_cast<std::int32_t>(islands.size());
  Real squares = 0;
  std::int32_t mostVertices = 0;
  for (const SapIslandReport& island : islands) {
    if (island.numSoftVertices > mostVertices) {
      mostVertices = island.numSoftVertices;
      total.softPreconditioner = island.softPreconditioner;
    }
    if (island.status > total.status) {
      total.status = island.status;
      total.worstConstraint = island.worstConstraint;
      total.worstClique = isSolved(island.status)   ? -1
                          : island.worstClique >= 0 ? island.worstClique
                                                    : island.firstClique;
    }
    total.iterations = std::max(total.iterations, island.iterations);
    total.evaluations += island.evaluations;
    total.factorizations += island.factorizations;
    total.pcgIterations += island.pcgIterations;
    total.mostPcgIterations = std::max(total.mostPcgIterations, island.mostPcgIterations);
    total.residual = std::max(total.residual, island.residual);
    total.frictionUpdates = std::max(total.frictionUpdates, island.frictionUpdates);
    total.frictionResidual = std::max(total.frictionResidual, island.frictionResidual);
    total.cost += island.cost;
    squares += island.errorBound * island.errorBound;
  }
  // Upwards: each square and sum may be half an ulp low.
  total.errorBound = std::sqrt(squares) * (1 + (static_cast<Real>(islands.size()) + 4) * 1.2e-16);
  return total;
}

}  // namespace

SapReport SapSolver::solve(const SapOptions& options, SapProblem* problem, core::ThreadPool* pool) {
  Data& data = *data_;
  data.reports.clear();
  data.clock.set(data.clock.isOn());
  data.clock.begin();
  problem->generalizedImpulse.assign(static_cast<std::size_t>(problem->numVelocities()), 0);
  const bool isTimeGood = problem->dt > 0 && std::isfinite(problem->dt);
  const std::int32_t bad = data.islands.build(*problem);
  if (!isTimeGood || bad >= 0) {
    for (std::int32_t clique = 0; clique < problem->numCliques(); ++clique) {
      leaveFree(problem, {&clique, 1}, {});
    }
    std::fill(problem->impulse.begin(), problem->impulse.end(), Real(0));
    std::fill(problem->rowVelocity.begin(), problem->rowVelocity.end(), Real(0));
    SapReport report;
    report.status = SapStatus::NotFinite;
    report.worstConstraint = bad;
    report.errorBound = std::numeric_limits<Real>::infinity();
    return report;
  }

  const std::span<const SapIsland> islands = data.islands.islands();
  const auto numWorkers = static_cast<std::size_t>(pool != nullptr ? pool->numThreads() : 1);
  while (data.workers.size() < numWorkers) data.workers.push_back(std::make_unique<Worker>());
  for (const auto& worker : data.workers) worker->clock.set(data.clock.isOn());
  if (data.kept.size() < static_cast<std::size_t>(problem->numCliques())) {
    data.kept.resize(static_cast<std::size_t>(problem->numCliques()));
  }
  data.reports.resize(islands.size());
  std::size_t covered = 0;
  std::int32_t lost = -1;  // the first free clique without a v*
  for (const SapIsland& island : islands) covered += island.cliques.size();
  if (covered < static_cast<std::size_t>(problem->numCliques())) {
    data.islands.forEachFree([&](std::int32_t clique) {
      if (lost < 0 && !hasFreeVelocity(*problem, clique)) lost = clique;
      leaveFree(problem, {&clique, 1}, {});
    });
  }

  const auto isLarge = [&](const SapIsland& island) {
    return numWorkers > 1 && (island.constraints.size() >= kLargeIsland ||
                              numSoftVertices(*problem, island) >= kLargeSoft);
  };
  data.clock.end(SapPart::Setup);
  for (std::size_t i = 0; i < islands.size(); ++i) {
    if (!isLarge(islands[i])) continue;
    data.solveIsland(options, problem, static_cast<int>(i), 0, pool);
  }
  core::parallelForWorker(
      islands.size() > 1 ? pool : nullptr, static_cast<std::int64_t>(islands.size()), 1,
      [&](std::int64_t begin, std::int64_t end, int worker) {
        for (std::int64_t i = begin; i < end; ++i) {
          if (isLarge(islands[i])) continue;
          data.solveIsland(options, problem, static_cast<int>(i), worker, nullptr);
        }
      });
  for (const auto& worker : data.workers) data.clock.add(worker->clock);
  SapReport report = summarize(data.reports);
  if (lost >= 0 && report.status < SapStatus::NotFinite) {
    report.status = SapStatus::NotFinite;
    report.worstConstraint = -1;
    report.worstClique = lost;
  }
  return report;
}

void SapSolver::Data::solveIsland(const SapOptions& options, SapProblem* problem, int island,
                                  int workerIndex, core::ThreadPool* pool) {
  const SapIsland& own = islands.islands()[island];
  Worker& worker = *workers[workerIndex];
  SapIslandReport& report = reports[island];
  report = {};
  report.firstClique = own.cliques.front();
  report.numCliques = static_cast<std::int32_t>(own.cliques.size());
  report.numConstraints = static_cast<std::int32_t>(own.constraints.size());

  report.numSoftVertices = numSoftVertices(*problem, own);
  bool isWritten = false;
  if (hasSparseClique(*problem, own)) {
    SapSparseIterate& iterate = worker.sparseIterate;
    isWritten = solveWith(options, own, &iterate, &worker.factor, &worker, pool, problem, &report);
    report.cost += iterate.costOffset();
    report.softPreconditioner = iterate.preconditioner();
    report.worstClique = iterate.badClique();
  } else {
    isWritten = solveWith(options, own, &worker.iterate, factorOf(own, &worker), &worker, pool,
                          problem, &report);
  }
  if (!isWritten) {
    report.errorBound = std::numeric_limits<Real>::infinity();
    leaveFree(problem, own.cliques, own.constraints);
  }
}

BlockSparse* SapSolver::Data::factorOf(const SapIsland& island, Worker* worker) {
  if (island.cliques.size() < kKeptCliques) return &worker->factor;
  std::unique_ptr<BlockSparse>& mine = kept[island.cliques.front()];
  if (mine == nullptr) mine = std::make_unique<BlockSparse>();
  return mine.get();
}

}  // namespace tangere::solver
