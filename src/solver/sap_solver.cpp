// SPDX-License-Identifier: Apache-2.0
#include "solver/sap_solver.hpp"

#include "solver/block_sparse.hpp"
#include "solver/line_search.hpp"
#include "solver/pcg.hpp"
#include "solver/sap_coupled_step.hpp"
#include "solver/sap_islands.hpp"
#include "solver/sap_iterate.hpp"
#include "solver/sap_sparse_iterate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <vector>

namespace tangere::solver {
namespace {

/// Islands of at least so many constraints use all threads, one island after the other.
constexpr std::size_t kLargeIsland = 384;
/// So do islands of at least so many vertices of soft bodies.
constexpr int kLargeSoft = 512;
/// Islands of at least so many cliques keep an order of elimination of their own.
constexpr std::size_t kKeptCliques = 8;
/// Beyond so many cliques the table of the ordering is too large for Cholesky.
constexpr int kMaxCholeskyCliques = 16384;

/// What one worker needs to solve an island.
struct Worker {
  SapIterate iterate;
  SapSparseIterate sparseIterate;
  BlockSparse factor;
  PcgScratch pcg;
  AndersonMixing bounds;
  CoupledScratch coupled;
  std::vector<Real> keptBounds;
  SapClock clock;
};

/// Newton's method on one island; `Iterate` is SapIterate or SapSparseIterate.
template <class Iterate>
class IslandSolve {
 public:
  IslandSolve(const SapOptions& options, Iterate* iterate, BlockSparse* factor, Worker* worker,
              core::ThreadPool* pool, SapIslandReport* report)
      : options_(options),
        iterate_(*iterate),
        factor_(*factor),
        pcg_(worker->pcg),
        bounds_(worker->bounds),
        coupled_(worker->coupled),
        kept_bounds_(worker->keptBounds),
        pool_(pool),
        clock_(worker->clock),
        report_(*report),
        tolerance_factor_(1 + options.toleranceGrowth *
                                  std::sqrt(static_cast<Real>(report->numConstraints))) {}

  void run() {
    if (!start()) return;
    do {
      while (!isFinished()) {
        if (!findDirection()) return;
        if (!searchAndMove()) break;
      }
    } while (updateFriction());
    certify();
    clock_.end(SapPart::Gradients);
  }

 private:
  /// The first evaluation, from v* where the guess overflows.
  bool start() {
    if (!iterate_.isEvaluated()) iterate_.evaluate();
    if (iterate_.hasBounds()) {
      iterate_.predictBounds();
      if (!iterate_.isEvaluated()) iterate_.evaluate();
    }
    if (!isFinite()) {
      iterate_.setFreeVelocity();
      iterate_.evaluate();
    }
    if (!isFinite()) {
      report_.status = SapStatus::NotFinite;
      return false;
    }
    uses_cholesky_ = chooseCholesky();
    iterate_.saveBest();
    best_norm_ = iterate_.gradientNorm();
    clock_.end(SapPart::Gradients);
    return true;
  }

  [[nodiscard]] bool isFinite() const {
    return std::isfinite(iterate_.cost()) && std::isfinite(iterate_.gradientNorm()) &&
           std::isfinite(iterate_.momentumNorm());
  }

  static constexpr bool kIsSparse = std::is_same_v<Iterate, SapSparseIterate>;

  bool chooseCholesky() {
    if constexpr (!kIsSparse) return chooseBlockCholesky();
    return false;
  }

  bool chooseBlockCholesky() {
    const bool fits = iterate_.numCliques() <= kMaxCholeskyCliques;
    if (options_.linearSolver == SapLinearSolver::ConjugateGradients || !fits) return false;
    factor_.setPattern(iterate_.sizes(), iterate_.edges());
    if (options_.linearSolver == SapLinearSolver::Cholesky) return true;
    // A few hundred products with H buy one solution by conjugate gradients; measured on piles.
    const double product = 80.0 * iterate_.numConstraints() + 12.0 * iterate_.numVelocities();
    return factor_.work() < 400 * product + 1e6;
  }

  [[nodiscard]] Real goal() const {
    return tolerance_factor_ *
           (options_.absoluteTolerance + options_.relativeTolerance * iterate_.momentumNorm());
  }

  bool isFinished() {
    if (iterate_.gradientNorm() <= goal()) {
      report_.status = SapStatus::Converged;
      return true;
    }
    if (report_.iterations - last_update_ >= options_.maxIterations) {
      report_.status = SapStatus::MaxIterations;
      return true;
    }
    // What friction is off by hides the digits that another step would bring.
    return iterate_.hasBounds() && !are_bounds_final_ && report_.iterations > last_update_ &&
           iterate_.gradientNorm() <= frictionPart() * frictionError() &&
           report_.frictionResidual > options_.frictionTolerance;
  }

  /// What the bounds of friction are off by [sqrt(J)]; as a part of all impulses in the report.
  Real frictionError() {
    const FrictionError error = iterate_.measureBounds(nullptr);
    report_.frictionResidual = error.size > 0 ? std::sqrt(error.change / error.size) : 0;
    return std::sqrt(error.change);
  }

  /// The convex problem with other bounds of friction; false when they are right or cannot be made
  /// so. Newton's method on Coulomb's law itself ends quickly where it works; elsewhere the bounds
  /// are mixed from the last ones.
  bool updateFriction() {
    if (!iterate_.hasBounds() || report_.status == SapStatus::MaxIterations) return false;
    (void)frictionError();
    if (report_.frictionResidual <= options_.frictionTolerance) return false;
    if (are_bounds_final_) {
      if (report_.frictionResidual > kFrictionLimit) report_.status = SapStatus::MaxIterations;
      return false;
    }
    if (report_.frictionUpdates >= options_.maxFrictionUpdates ||
        report_.iterations >= 2 * options_.maxIterations) {
      are_bounds_final_ = true;
      beginAnew();
      return true;
    }
    if (report_.frictionUpdates == 0 || report_.frictionUpdates == kQuickUpdates) resetBounds();
    (void)iterate_.measureBounds(&bounds_);
    ++report_.frictionUpdates;
    if (!tryCoupled()) {
      iterate_.setBounds(bounds_.choose());
      iterate_.evaluate();
    }
    beginAnew();
    return true;
  }

  void resetBounds() {
    bounds_.reset(iterate_.numContacts());
    coupled_below_ = std::numeric_limits<Real>::infinity();
  }

  /// Nearly all bounds are found within a few updates, for which rough solutions do. The mixing of
  /// those that take more needs exact ones.
  [[nodiscard]] bool isQuick() const { return report_.frictionUpdates < kQuickUpdates; }
  [[nodiscard]] Real frictionPart() const { return isQuick() ? kQuickPart : kCarefulPart; }

  /// Where it failed it fails again, until the bounds are far better.
  bool tryCoupled() {
    const Real error = report_.frictionResidual;
    if (error > coupled_below_) return false;
    if (solveCoupled()) return true;
    if (isQuick()) coupled_below_ = kFarBetter * error;
    return false;
  }

  /// Newton's method on Coulomb's law: bounds follow the normal impulses. False, and all as before,
  /// when it does not reach the goal: on the way there the bounds may be anything.
  bool solveCoupled() {
    constexpr int kMaxSteps = 10;
    constexpr Real kLeastGain = 0.9;
    kept_bounds_.assign(bounds_.used().begin(), bounds_.used().end());
    iterate_.saveBest();
    iterate_.setFollowing(true);
    iterate_.evaluate();
    for (int step = 0; step < kMaxSteps && iterate_.gradientNorm() > goal(); ++step) {
      const Real before = iterate_.gradientNorm();
      if (!findCoupledDirection()) break;
      ++report_.iterations;
      iterate_.move(1);
      iterate_.evaluate();
      if (!(iterate_.gradientNorm() <= kLeastGain * before)) break;
    }
    iterate_.setFollowing(false);
    if (iterate_.gradientNorm() <= goal()) return true;
    iterate_.restoreBest();
    iterate_.setBounds(kept_bounds_);
    iterate_.evaluate();
    return false;
  }

  bool findCoupledDirection() {
    const bool hasNewHessian = iterate_.hasNewHessian();
    iterate_.useHessian(false);
    if (hasNewHessian) ++report_.factorizations;
    if constexpr (kIsSparse) {
      if (hasNewHessian && !iterate_.factorDiagonal()) return false;
    } else if (!uses_cholesky_) {
      iterate_.factorDiagonal();
    } else if (hasNewHessian) {
      factorHessian();
    }
    clock_.end(SapPart::Factorization);
    iterate_.keepCoupling();
    const GmresReport gmres = solveCoupledEquation();
    report_.pcgIterations += gmres.iterations;
    clock_.end(kIsSparse ? SapPart::SoftPcg : SapPart::ContactPcg);
    return gmres.converged;
  }

  GmresReport solveCoupledEquation() {
    if constexpr (!kIsSparse) {
      if (uses_cholesky_) return solveCoupledByFactor(factor_, &iterate_, &coupled_);
    }
    return solveCoupledByProducts(&iterate_, &coupled_);
  }

  /// The convex problem is another one now.
  void beginAnew() {
    iterate_.saveBest();
    best_norm_ = iterate_.gradientNorm();
    num_flat_ = 0;
    last_update_ = report_.iterations;
  }

  /// H d = -grad; false when H is found not to be positive definite.
  bool findDirection() {
    const bool hasNewHessian = iterate_.hasNewHessian();
    if (hasNewHessian) {
      iterate_.useHessian(report_.iterations >= kManyIterations && num_short_ >= kManyShort);
    }
    if (hasNewHessian) ++report_.factorizations;
    if constexpr (kIsSparse) {
      if (hasNewHessian && !iterate_.factorDiagonal()) return refuse();
      clock_.end(SapPart::Factorization);
      return solveByPcg() || refuse();
    } else {
      if (uses_cholesky_) {
        solveByCholesky(hasNewHessian);
        return true;
      }
      if (hasNewHessian) iterate_.factorDiagonal();
      clock_.end(SapPart::Factorization);
      solveByPcg();
      return true;
    }
  }

  bool refuse() {
    report_.status = SapStatus::NotPositive;
    return false;
  }

  void factorHessian() {
    iterate_.assemble(&factor_);
    factor_.factor(pool_);
  }

  void solveByCholesky(bool hasNewHessian) {
    const int size = iterate_.numVelocities();
    Real* const d = iterate_.direction();
    const Real* const gradient = iterate_.gradient();
    if (hasNewHessian) factorHessian();
    clock_.end(SapPart::Factorization);
    for (int i = 0; i < size; ++i) d[i] = -gradient[i];
    factor_.solve(d);
    clock_.end(SapPart::Cholesky);
  }

  /// False when not even the first step was possible.
  bool solveByPcg() {
    const int size = iterate_.numVelocities();
    Real* const d = iterate_.direction();
    const Real* const gradient = iterate_.gradient();
    // Early directions need no digits that the next change of regions would throw away; the last
    // one needs those of the goal.
    const Real progress = std::sqrt(iterate_.gradientNorm() /
                                    std::max(iterate_.momentumNorm(), iterate_.gradientNorm()));
    const Real needed = Real(0.1) * goal() / iterate_.gradientNorm();
    const PcgOptions options{
        .maxIterations = options_.maxPcgIterations,
        .tolerance = std::max(options_.pcgTolerance,
                              std::min(Real(0.1), std::max(needed, Real(0.1) * progress)))};
    pcg_.b.resize(static_cast<std::size_t>(size));
    for (int i = 0; i < size; ++i) pcg_.b[i] = -gradient[i];
    const PcgReport pcg = solvePcg(options, &iterate_, size, pcg_.b.data(), d, &pcg_);
    report_.pcgIterations += pcg.iterations;
    report_.mostPcgIterations = std::max(report_.mostPcgIterations, pcg.iterations);
    clock_.end(kIsSparse ? SapPart::SoftPcg : SapPart::ContactPcg);
    return pcg.iterations > 0 || pcg.converged;
  }

  /// False when no step leads further down at the precision of the machine.
  bool searchAndMove() {
    const Real slope = iterate_.setDirection();
    const Real cost = iterate_.cost();
    if (!(slope < 0)) return stall();
    ++report_.iterations;

    Real alpha = 1;
    // Below this the cost cannot tell the steps apart, and slopes along the line are rounding.
    if (-slope > kCostRounding * iterate_.costScale()) {
      const LineSearchResult line =
          searchLine({.maxStep = options_.maxStep,
                      .tolerance = options_.lineSearchTolerance,
                      .maxEvaluations = options_.maxLineSearchEvaluations},
                     slope, [&](Real a) { return iterate_.evaluateLine(a); });
      report_.evaluations += line.evaluations;
      alpha = line.alpha;
    }
    num_short_ = alpha < kShortStep ? num_short_ + 1 : alpha > kLongStep ? 0 : num_short_;
    clock_.end(SapPart::LineSearch);
    iterate_.move(alpha);
    iterate_.evaluate();
    clock_.end(SapPart::Gradients);
    if (!isFinite()) return stall();

    // What the step promised or what it did is not above the rounding of the cost.
    const bool isFlat = -slope <= kCostRounding * iterate_.costScale() ||
                        std::abs(cost - iterate_.cost()) <= kCostRounding * iterate_.costScale();
    const bool isBetter = iterate_.gradientNorm() < Real(0.5) * best_norm_;
    if (iterate_.gradientNorm() < best_norm_) {
      best_norm_ = iterate_.gradientNorm();
      iterate_.saveBest();
    }
    num_flat_ = isBetter ? 0 : num_flat_ + (isFlat ? 1 : 0);
    return num_flat_ < kMaxFlat || stall();
  }

  bool stall() {
    report_.status = SapStatus::Stalled;
    iterate_.restoreBest();
    iterate_.evaluate();
    if (iterate_.gradientNorm() <= goal()) report_.status = SapStatus::Converged;
    return false;
  }

  void certify() {
    report_.cost = iterate_.cost();
    report_.errorBound = iterate_.errorBound();
    const Real scale = options_.absoluteTolerance + iterate_.momentumNorm();
    report_.residual = scale > 0 ? iterate_.gradientNorm() / scale : 0;
    if (report_.status == SapStatus::MaxIterations) {
      report_.worstConstraint = iterate_.worstConstraint();
    }
  }

  /// A convex problem is solved to this part of what its bounds are off by.
  static constexpr Real kQuickPart = 0.3, kCarefulPart = 0.1;
  static constexpr int kQuickUpdates = 8;
  static constexpr Real kFarBetter = 0.2;
  /// Friction that is off by more than this part of the impulses is not solved.
  static constexpr Real kFrictionLimit = 1e-2;
  static constexpr Real kCostRounding = 1e-15;
  static constexpr int kMaxFlat = 3;
  /// A step so much shorter than Newton's met an edge of the cost.
  static constexpr Real kShortStep = 0.3, kLongStep = 0.8;
  static constexpr int kManyShort = 2;
  static constexpr int kManyIterations = 40;

  const SapOptions& options_;
  Iterate& iterate_;
  BlockSparse& factor_;
  PcgScratch& pcg_;
  AndersonMixing& bounds_;
  CoupledScratch& coupled_;
  std::vector<Real>& kept_bounds_;
  core::ThreadPool* pool_;
  SapClock& clock_;
  SapIslandReport& report_;
  Real tolerance_factor_ = 1;
  Real best_norm_ = 0;
  int num_flat_ = 0, num_short_ = 0;
  int last_update_ = 0;  // of the bounds of friction, as a number of Newton steps
  bool are_bounds_final_ = false;
  Real coupled_below_ = std::numeric_limits<Real>::infinity();  // error of friction
  bool uses_cholesky_ = true;
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
    IslandSolve<Iterate>(options, iterate, factor, worker, pool, report).run();
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
