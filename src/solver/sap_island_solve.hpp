// SPDX-License-Identifier: Apache-2.0
//
// Solves one island of the convex solver: Newton's method, and the bounds of friction.
//
// Coulomb's law is tried first as what it is, one system of equations whose bounds follow the
// normal impulses, by Newton's method with its unsymmetric derivative. Where that does not end it
// is a series of convex problems with fixed bounds, each of which does.
#pragma once

#include <tangere/solver_options.hpp>

#include "core/parallel_for.hpp"
#include "solver/anderson_mixing.hpp"
#include "solver/block_sparse.hpp"
#include "solver/line_search.hpp"
#include "solver/pcg.hpp"
#include "solver/sap_coupled_step.hpp"
#include "solver/sap_iterate.hpp"
#include "solver/sap_solver.hpp"
#include "solver/sap_sparse_iterate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <vector>

namespace tangere::solver {

/// Kept from solve to solve.
struct SapScratch {
  PcgScratch pcg;
  AndersonMixing bounds;
  CoupledScratch coupled;
};

/// `Iterate` is SapIterate or SapSparseIterate, bound to the island.
template <class Iterate>
class SapIslandSolve {
 public:
  SapIslandSolve(const SapOptions& options, Iterate* iterate, BlockSparse* factor,
                 SapScratch* scratch, SapClock* clock, core::ThreadPool* pool,
                 SapIslandReport* report)
      : options_(options),
        iterate_(*iterate),
        factor_(*factor),
        pcg_(scratch->pcg),
        bounds_(scratch->bounds),
        coupled_(scratch->coupled),
        pool_(pool),
        clock_(*clock),
        report_(*report),
        tolerance_factor_(1 + options.toleranceGrowth *
                                  std::sqrt(static_cast<Real>(report->numConstraints))) {}

  void run() {
    if (!start()) return;
    if (!solveLaw()) {
      if (report_.status == SapStatus::NotPositive) return;
      do {
        while (!isFinished()) {
          if (!findDirection()) return;
          if (!searchAndMove()) break;
        }
      } while (updateFriction());
    }
    certify();
    clock_.end(SapPart::Gradients);
  }

 private:
  /// The first evaluation, from v* where the guess overflows.
  bool start() {
    if (!iterate_.isEvaluated()) iterate_.evaluate();
    predictBounds();
    if (!isFinite()) {
      iterate_.setFreeVelocity();
      iterate_.evaluate();
    }
    if (!isFinite()) {
      report_.status = SapStatus::NotFinite;
      return false;
    }
    uses_cholesky_ = chooseCholesky();
    beginAnew();
    clock_.end(SapPart::Gradients);
    return true;
  }

  void predictBounds() {
    if (!iterate_.hasBounds()) return;
    iterate_.predictBounds();
    if (!iterate_.isEvaluated()) iterate_.evaluate();
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
    // Beyond so many cliques the table of the ordering is too large.
    constexpr int kMaxCholeskyCliques = 16384;
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

  /// Coulomb's law by Newton's method from the guess. False where there is nothing to it (friction
  /// that sticks with the bounds of the last step is that of the convex problem), or where it does
  /// not reach the goal: then the first convex problem is ready, from the best velocity.
  bool solveLaw() {
    if (!iterate_.hasBounds() || iterate_.gradientNorm() <= goal()) return false;
    if (options_.maxFrictionUpdates <= 0 || !iterate_.isBoundWrong()) return false;
    const bool isFar = iterate_.gradientNorm() > kFarGuess * iterate_.momentumNorm();
    iterate_.setFollowing(true);
    if (!(isFar && sweep())) iterate_.evaluate();
    do {
      beginAnew();
      if (followLaw(std::min(kMaxLawSteps, options_.maxIterations))) {
        report_.status = SapStatus::Converged;
        return true;
      }
    } while (sweepOn());
    iterate_.setFollowing(false);
    iterate_.restoreBest();
    iterate_.setStartBounds();
    iterate_.evaluate();
    predictBounds();
    beginAnew();
    return false;
  }

  /// A better guess by sweeps over the contacts, evaluated; false, and the guess as it was, where
  /// there is none.
  bool sweep() {
    if constexpr (kIsSparse) {
      return false;
    } else {
      if (!iterate_.canSweep()) return false;
      iterate_.sweep();
      iterate_.evaluate();
      if (isFinite()) return true;
      iterate_.restoreBest();
      return false;
    }
  }

  /// A better one still, where sweeps were made and Newton's method does not end from there; false
  /// after a few.
  bool sweepOn() {
    if constexpr (kIsSparse) {
      return false;
    } else {
      if (!iterate_.isSwept() || num_sweeps_on_ == kMaxSweepsOn) return false;
      ++num_sweeps_on_;
      iterate_.sweepOn();
      iterate_.evaluate();
      return isFinite();
    }
  }

  /// Newton's method on Coulomb's law: bounds follow the normal impulses. Each step ends where the
  /// gradient has nothing along its direction any more. True at the goal, with the bounds of the
  /// solution; false when it makes no progress.
  bool followLaw(int maxSteps) {
    Real last = iterate_.gradientNorm();
    int numSlow = 0;
    for (int step = 0; iterate_.gradientNorm() > goal(); ++step) {
      if (step == maxSteps || numSlow == kPatience || num_flat_ == kMaxFlat) return false;
      const Real slope = findLawDirection();
      if (!(slope < 0)) return false;
      moveAlong(slope);
      if (!isFinite()) return false;
      keepBest(isRounding(slope));
      const bool isFaster = best_norm_ < kLeastGain * last;
      if (isFaster) last = best_norm_;
      numSlow = isFaster ? 0 : numSlow + 1;
    }
    iterate_.setFollowing(false);
    report_.frictionResidual = 0;  // every bound is the one that follows
    return true;
  }

  /// Newton's, or where that leads nowhere that of the problem with the bounds as they are; returns
  /// the slope.
  Real findLawDirection() {
    if (!findCoupledDirection()) return 0;
    const Real slope = iterate_.setDirection();
    if (slope < 0) return slope;
    return findDirection() ? iterate_.setDirection() : 0;
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

  /// Newton's method on Coulomb's law from a solution of the convex problem. Where it failed it
  /// fails again, until the bounds are far better.
  bool tryCoupled() {
    const Real error = report_.frictionResidual;
    if (error > coupled_below_) return false;
    iterate_.setFollowing(true);
    iterate_.evaluate();
    beginAnew();
    if (followLaw(std::min(kMaxCoupledSteps, options_.maxIterations))) return true;
    iterate_.setFollowing(false);
    iterate_.restoreBest();
    if (isQuick()) coupled_below_ = kFarBetter * error;
    return false;
  }

  /// False when H is found not to be positive definite.
  bool findCoupledDirection() {
    const bool hasNewHessian = iterate_.hasNewHessian();
    iterate_.useHessian(false);
    if (hasNewHessian) ++report_.factorizations;
    if constexpr (kIsSparse) {
      if (hasNewHessian && !iterate_.factorDiagonal()) return refuse();
    } else if (!uses_cholesky_) {
      iterate_.factorDiagonal();
    } else if (hasNewHessian) {
      factorHessian();
    }
    clock_.end(SapPart::Factorization);
    iterate_.keepCoupling();
    if constexpr (kIsSparse) {
      if (!iterate_.hasCoupling()) {
        return solveByPcg(lawTolerance(std::min(kSymmetricTolerance, foreseenPart())));
      }
    }
    const GmresReport gmres = solveCoupledEquation();
    report_.pcgIterations += gmres.iterations;
    clock_.end(kIsSparse ? SapPart::SoftPcg : SapPart::ContactPcg);
    if constexpr (kIsSparse) {
      if (gmres.iterations > kManyCoupled) iterate_.forgetPreconditioner();
    }
    return true;
  }

  GmresReport solveCoupledEquation() {
    if constexpr (!kIsSparse) {
      if (uses_cholesky_) return solveCoupledByFactor(factor_, &iterate_, &coupled_);
    }
    return solveCoupledByProducts(lawTolerance(GmresOptions{}.tolerance), &iterate_, &coupled_);
  }

  /// Without a factor digits are dear, and those below the goal are not needed. Those of early
  /// steps are, up to `usual`: contacts change sides that would not.
  [[nodiscard]] Real lawTolerance(Real usual) const {
    constexpr Real kPart = 0.3, kMost = 0.1;
    const Real needed = kPart * goal() / iterate_.gradientNorm();
    return std::clamp(needed, usual, kMost);
  }

  /// The part of the gradient that the next step leaves if it gains as many digits more as the last
  /// one did. Conjugate gradients to these digits end where several solutions with fewer would; not
  /// where contacts slide, whose steps are seldom as good as foreseen.
  [[nodiscard]] Real foreseenPart() const {
    constexpr Real kLeast = 1e-6;
    const Real last = last_norm_ > 0 ? iterate_.gradientNorm() / last_norm_ : 1;
    return std::max(last * last, kLeast);
  }

  /// The problem is another one now, or the velocity it begins with.
  void beginAnew() {
    iterate_.saveBest();
    best_norm_ = iterate_.gradientNorm();
    last_norm_ = 0;
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

  /// H d = -grad with the H of the last direction.
  bool solveAgain() {
    if constexpr (!kIsSparse) {
      if (uses_cholesky_) {
        solveByCholesky(false);
        return true;
      }
    }
    return solveByPcg();
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

  bool solveByPcg() {
    // Early directions need no digits that the next change of regions would throw away; the last
    // one needs those of the goal.
    const Real progress = std::sqrt(iterate_.gradientNorm() /
                                    std::max(iterate_.momentumNorm(), iterate_.gradientNorm()));
    const Real needed = Real(0.1) * goal() / iterate_.gradientNorm();
    const Real usual = std::min(Real(0.1) * progress, foreseenPart());
    return solveByPcg(
        std::max(options_.pcgTolerance, std::min(Real(0.1), std::max(needed, usual))));
  }

  /// False when not even the first step was possible.
  bool solveByPcg(Real tolerance) {
    const int size = iterate_.numVelocities();
    Real* const d = iterate_.direction();
    const Real* const gradient = iterate_.gradient();
    const PcgOptions options{.maxIterations = options_.maxPcgIterations, .tolerance = tolerance};
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
    const int slow = uses_cholesky_ ? kSlowSteps : kManyIterations;
    const bool isSlow = report_.iterations - last_update_ >= slow && !isRounding(slope);
    if (!(isSlow && moveAlongValley(slope))) moveAlong(slope);
    if (!isFinite()) return stall();
    // What the step promised or what it did is not above the rounding of the cost.
    keepBest(isRounding(slope) ||
             std::abs(cost - iterate_.cost()) <= kCostRounding * iterate_.costScale());
    return num_flat_ < kMaxFlat || stall();
  }

  /// Is this slope one that the cost cannot tell from zero?
  [[nodiscard]] bool isRounding(Real slope) const {
    return -slope <= kCostRounding * iterate_.costScale();
  }

  /// A Newton step along the direction.
  void moveAlong(Real slope) {
    ++report_.iterations;
    Real alpha = 1;
    // Where the cost cannot tell steps apart slopes along the line are rounding.
    if (!isRounding(slope)) alpha = lengthOnLine(slope);
    num_short_ = alpha < kShortStep ? num_short_ + 1 : alpha > kLongStep ? 0 : num_short_;
    clock_.end(SapPart::LineSearch);
    moveBy(alpha);
  }

  /// A full Newton step, and further ones with the same H; false, and nothing moved, where they do
  /// not lead down. The cost may have a steep valley that turns, as that of friction with large
  /// coefficients and stiff normals does. The minimum along a line then lies at its wall, not far
  /// from the start, and steps go to and fro between two walls. The further steps lead from the
  /// end of the full one, which may be higher up, to the floor.
  bool moveAlongValley(Real slope) {
    const Real cost = iterate_.cost();
    iterate_.savePlace();
    moveBy(1);
    for (int step = 0; step < kMaxValleySteps && isFinite(); ++step) {
      if (!solveAgain()) break;
      const Real rest = iterate_.setDirection();
      if (!(rest < 0) || isRounding(rest)) break;
      moveBy(lengthOnLine(rest));
      if (rest > kLeastRest * slope) break;
    }
    if (iterate_.cost() <= cost + kLeastDescent * slope) {
      ++report_.iterations;
      num_short_ = 0;
      return true;
    }
    iterate_.restorePlace();
    iterate_.evaluate();
    (void)solveAgain();
    (void)iterate_.setDirection();
    return false;
  }

  /// Where the line has its minimum.
  Real lengthOnLine(Real slope) {
    const LineSearchResult line =
        searchLine({.maxStep = options_.maxStep,
                    .tolerance = options_.lineSearchTolerance,
                    .maxEvaluations = options_.maxLineSearchEvaluations},
                   slope, [&](Real a) { return iterate_.evaluateLine(a); });
    report_.evaluations += line.evaluations;
    clock_.end(SapPart::LineSearch);
    return line.alpha;
  }

  void moveBy(Real alpha) {
    last_norm_ = iterate_.gradientNorm();
    iterate_.move(alpha);
    iterate_.evaluate();
    clock_.end(SapPart::Gradients);
  }

  void keepBest(bool isFlat) {
    const bool isBetter = iterate_.gradientNorm() < Real(0.5) * best_norm_;
    if (iterate_.gradientNorm() < best_norm_) {
      best_norm_ = iterate_.gradientNorm();
      iterate_.saveBest();
    }
    num_flat_ = isBetter ? 0 : num_flat_ + (isFlat ? 1 : 0);
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

  /// A guess is far off whose gradient is this part of the momentum.
  static constexpr Real kFarGuess = 0.1;
  /// Newton's method on Coulomb's law: from the guess, from a convex solution, and how many steps
  /// in a row may gain less than this.
  static constexpr int kMaxLawSteps = 30, kMaxCoupledSteps = 10, kPatience = 10;
  static constexpr Real kLeastGain = 0.9;
  static constexpr int kMaxSweepsOn = 3;
  /// Of the law where no contact slides: its equation is that of the convex problem.
  static constexpr Real kSymmetricTolerance = 1e-2;
  /// Steps of GMRES after which a preconditioner is too old.
  static constexpr int kManyCoupled = 20;
  /// A convex problem is solved to this part of what its bounds are off by.
  static constexpr Real kQuickPart = 0.3, kCarefulPart = 0.1;
  static constexpr int kQuickUpdates = 8;
  static constexpr Real kFarBetter = 0.2;
  /// Friction that is off by more than this part of the impulses is not solved.
  static constexpr Real kFrictionLimit = 1e-2;
  /// Steps after which a convex problem may have a valley (later without a factor of H, where a
  /// further step costs as much as a first one); the most further steps with one H; the
  /// part of the slope that all of them gain at least, and that with which a further one ends them.
  static constexpr int kSlowSteps = 10, kMaxValleySteps = 10;
  static constexpr Real kLeastDescent = 0.3, kLeastRest = 0.01;
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
  core::ThreadPool* pool_;
  SapClock& clock_;
  SapIslandReport& report_;
  Real tolerance_factor_ = 1;
  Real best_norm_ = 0;
  Real last_norm_ = 0;  // of the gradient before the last step; 0: there was none
  int num_flat_ = 0, num_short_ = 0, num_sweeps_on_ = 0;
  int last_update_ = 0;  // of the bounds of friction, as a number of Newton steps
  bool are_bounds_final_ = false;
  Real coupled_below_ = std::numeric_limits<Real>::infinity();  // error of friction
  bool uses_cholesky_ = true;
};

}  // namespace tangere::solver
