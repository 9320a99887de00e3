// SPDX-License-Identifier: Apache-2.0
#include "solver/sweep_solver.hpp"

#include "solver/point_target.hpp"
#include "solver/slot_velocity.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace tangere::solver {
namespace {

/// A depth this little beyond the slop, as a part of it, is no cause for a correction: each one
/// takes a part of what is left, and would never end. In a large heap each also opens gaps
/// elsewhere that bodies then fall into, which is how a heap keeps itself awake for ever.
constexpr Real kLeastExcess = 1e-3;
constexpr Real kLeastExcessOfLarge = 0.05;
/// Velocities at the points, as a part of what the free forces give in a sub-step, that hardly
/// change which points are closed: there is then time for many steps of conjugate gradients, each
/// of which saves sweeps in the steps that follow. (All measured on towers, pyramids and heaps of
/// 40 to 1000 blocks.)
constexpr Real kNearRest = 0.0005;
/// In a large island sweeps that still change velocities by this part of what gravity adds in the
/// step are those of bodies that move. Conjugate gradients serve rest: such an island gets sweeps
/// with momentum in their place.
constexpr Real kInMotion = 0.002;
constexpr int kMaxStepsNearRest = 600;
/// After so many steps, and each time that they have doubled, conjugate gradients look whether
/// impulses have left their cones. If so the points are not to stay as they were taken to be, and
/// more steps are of no use: where one point of a pyramid slid this was most of the time spent.
constexpr int kFirstLook = 16;
/// Velocities before the step that are left alone, as a multiple of the tolerance.
constexpr Real kCleanEnough = 3;
/// Conjugate gradients end at this part of what they started with.
constexpr Real kProjectionGoal = 1e-8;
/// Least curvature along a direction, against that of the diagonal blocks: below it the direction
/// is one that no block feels.
constexpr Real kLeastCurvature = 1e-6;

/// (Change of velocity over velocity)^2 below which nothing touched a block.
constexpr Real kRounding2 = 1e-26;

}  // namespace

void SweepSolver::solve(const ImpulseProblem& problem, const ImpulseOptions& options,
                        const SweepOptions& sweeps, Real dt,
                        std::span<const std::int32_t> slotOfBlock, Team* team,
                        ImpulseReport* report) {
  const TargetRule correction{.rate = options.correctionRate * inverseDuration(dt),
                              .slop = options.slop,
                              .maxSpeed = options.maxCorrectionSpeed};
  once(team, [&] {
    sweeps_ = sweeps;
    dt_ = dt;
    rule_ = options.correction == PositionCorrection::Baumgarte ? correction : TargetRule{};
    is_corrected_ = false;
  });
  fill(problem, slotOfBlock, team);

  report->iterations = 0;
  for (int substep = 0; substep < sweeps.numSubsteps; ++substep) {
    report->residual = solveSubstep(team, substep == 0, &report->iterations);
  }
  report->converged = report->residual <= sweeps.tolerance;
  if (options.correction == PositionCorrection::SplitImpulse) correctPositions(correction, team);
  summarize(team, report);
}

/// Sweeps, with conjugate gradients in between where they do not get there. Returns the largest
/// change of velocity by the last sweep.
Real SweepSolver::solveSubstep(Team* team, bool isFirst, int* iterations) {
  forBodies(team, [&](int first, int end) {
    for (int i = first; i < end; ++i) beginSubstep(i, sweeps_.isWarm && !isFirst);
  });
  if (isFirst && sweeps_.isWarm) {
    inOrder(team, [&](int first, int end) {
      functions_->warmStart(view_, first, end);
      return Real(0);
    });
  }
  const bool canClean =
      isFirst && sweeps_.isWarm && sweeps_.numProjections > 0 && !has_driven_ && isNearRest();
  // Attempts without projections are those after one that made energy. They have no momentum
  // either, so that every update takes some.
  const bool hasMomentum = has_momentum_ && sweeps_.numProjections > 0;
  Momentum momentum;
  Real residual = 0;
  const Real tolerance = toleranceOfCreep();
  for (int round = 0;; ++round) {
    for (int k = 0; k < sweeps_.numSweeps; ++k) {
      const bool isPlain = !hasMomentum || (round == 0 && k == 0);
      residual = std::sqrt(isPlain ? sweepOnce(team) : sweepOn(team, &momentum));
      ++*iterations;
      if (residual <= tolerance) break;
      if (round == 0 && k == 0 && canClean) *iterations += cleanVelocities(team);
    }
    if (residual <= tolerance || round >= sweeps_.numProjections) break;
    if (isLarge() && residual > kInMotion * largest_gain_) {
      if (!hasMomentum) break;
      continue;
    }
    *iterations += projectVelocities(team, tolerance);
    momentum = {};
  }
  forBodies(team, [&](int first, int end) {
    for (int i = first; i < end; ++i) endSubstep(i);
  });
  forPacks(team, [&](int first, int end) {
    functions_->finish(view_, first, end, rule_, sweeps_.isWarm);
  });
  return residual;
}

/// Sums in the order of the parts, whatever the threads.
template <class PerPart>
SweepSolver::Result SweepSolver::resultOf(Team* team, const PerPart& perPart) {
  PartResult* const results = resultsOfLoop(team);
  forEach(team, layout_.numParts(), [&](int part) { results[part].value = perPart(part); });
  Result all;
  for (int part = 0; part < layout_.numParts(); ++part) {
    const Result& one = results[part].value;
    all.sum += one.sum;
    if (one.worst > all.worst) {
      all.worst = one.worst;
      all.worstPoint = one.worstPoint;
    }
  }
  return all;
}

template <class Range>
SweepSolver::Result SweepSolver::worstOf(Team* team, const Range& range) {
  return resultOf(team, [&](int part) {
    Result result;
    for (const IndexRange packs : layout_.packsOfPart(part)) {
      result.worst = std::max(result.worst, range(packs.begin, packs.end));
    }
    return result;
  });
}

template <class Range>
SweepSolver::Result SweepSolver::sumsOf(Team* team, const Range& range) {
  return resultOf(team, [&](int part) {
    Result result;
    for (const IndexRange packs : layout_.packsOfPart(part)) {
      result.worst = std::max(result.worst, range(packs.begin, packs.end));
      for (int p = packs.begin; p < packs.end; ++p) result.sum += partials_[p];
    }
    return result;
  });
}

template <class Range>
Real SweepSolver::inOrder(Team* team, const Range& range) {
  if (team == nullptr) return range(0, layout_.numPacks());
  Real worst = 0;
  for (int level = 0; level < layout_.numLevels(); ++level) {
    PartResult* const results = resultsOfLoop(team);
    const int numUnions = layout_.numUnions(level);
    team->forEach(numUnions, [&](int i) {
      const IndexRange packs = layout_.packsOf(level, i);
      results[i].value.worst = range(packs.begin, packs.end);
    });
    for (int i = 0; i < numUnions; ++i) worst = std::max(worst, results[i].value.worst);
  }
  return worst;
}

Real SweepSolver::sweepOnce(Team* team) {
  return inOrder(team, [&](int first, int end) { return functions_->sweep(view_, first, end); });
}

Real SweepSolver::Momentum::next() {
  const Real before = t;
  t = Real(0.5) * (1 + std::sqrt(1 + 4 * t * t));
  return (before - 1) / t;
}

/// Contacts of a body that rolls are new in every step: there is then nothing to be found once and
/// for all.
bool SweepSolver::isNearRest() const { return !isLarge() && fastest_ <= kNearRest * largest_gain_; }

/// In an island where bodies creep, slower than one step of free fall, what is left of a velocity
/// counts against those that there are. (Faster ones are bodies that fall or hit: exactly, then.)
Real SweepSolver::toleranceOfCreep() const {
  if (fastest_ > largest_gain_) return sweeps_.tolerance;
  return std::max(sweeps_.tolerance, sweeps_.partOfMotion * fastest_);
}

/// As inOrder(): the blocks of a part are carried on by the thread that then sweeps the part. Where
/// they went against what they had been given the momentum begins anew, in the sweep after this
/// one: to know it before would cost a meeting of the threads.
Real SweepSolver::sweepOn(Team* team, Momentum* momentum) {
  const bool isFirst = std::exchange(momentum->isNew, false);
  const Real part = momentum->next();
  Result all;
  for (int level = 0; level < layout_.numLevels(); ++level) {
    PartResult* const results = resultsOfLoop(team);
    const int numUnions = layout_.numUnions(level);
    forEach(team, numUnions, [&](int i) {
      Result result;
      if (level == 0) {
        const IndexRange blocks = layout_.blocksOfPart(i);
        const Real along = functions_->carryOn(view_, blocks.begin, blocks.end, part);
        result.sum = isFirst ? 0 : along;  // nothing had been given
      }
      const IndexRange packs = layout_.packsOf(level, i);
      result.worst = functions_->sweepOn(view_, packs.begin, packs.end, part);
      results[i].value = result;
    });
    for (int i = 0; i < numUnions; ++i) {
      all.sum += results[i].value.sum;
      all.worst = std::max(all.worst, results[i].value.worst);
    }
  }
  if (all.sum < 0) momentum->t = 1;
  return all.worst;
}

/// A thread that is already in the next loop writes to other ones than those that another still
/// reads.
SweepSolver::PartResult* SweepSolver::resultsOfLoop(Team* team) {
  const bool isOdd = team != nullptr && team->numLoops() % 2 != 0;
  return results_.data() + (isOdd ? layout_.numParts() : 0);
}

/// Free acceleration; with the impulses of the sub-step before, whose effect on
/// the block is known, so that the points need not be visited.
void SweepSolver::beginSubstep(int slot, bool keepsImpulses) {
  Body& body = bodies_[slot];
  SlotVelocity& velocity = velocities_[slot];
  body.before = linear(velocity);
  body.beforeTurn = angular(velocity);
  body.start = body.before + body.gain;
  body.startTurn = body.beforeTurn + body.gainTurn;
  if (keepsImpulses) {
    store(body.start + body.delta, body.startTurn + body.deltaTurn, &velocity);
  } else {
    store(body.start, body.startTurn, &velocity);
  }
}

void SweepSolver::endSubstep(int slot) {
  Body& body = bodies_[slot];
  const Vec3 v = linear(velocities_[slot]), w = angular(velocities_[slot]);
  body.delta = v - body.start;
  body.deltaTurn = w - body.startTurn;
  // An impulse that was given and taken back leaves its rounding.
  const bool isTouched =
      squaredNorm(body.delta) > kRounding2 * (squaredNorm(body.start) + squaredNorm(body.gain)) ||
      squaredNorm(body.deltaTurn) > kRounding2 * squaredNorm(body.startTurn);
  body.isTouched = body.isTouched || isTouched;

  const Vec3 sum = body.before + v, sumTurn = body.beforeTurn + w;
  const Vec3 mean = (Real(0.5) * body.h) * sum, meanTurn = (Real(0.5) * body.h) * sumTurn;
  const Vec3 move = isTouched ? body.h * v : mean;
  const Vec3 moveTurn = isTouched ? body.h * w : meanTurn;
  body.mean += mean;
  body.meanTurn += meanTurn;
  body.displacement += move;
  body.rotation += moveTurn;
  body.offset += Real(0.5) * (dot(body.delta, body.weight) + dot(body.deltaTurn, body.weightTurn));
  store(sum, sumTurn, &sums_[slot]);
  store(move, moveTurn, &moves_[slot]);
}

/// Sweeps hardly move what many blocks do together: a tower of ten that sways
/// loses 2e-4 of it in each. Here the closed points are taken to stay closed
/// and the sticking ones to stick, and their velocities are brought towards
/// zero by conjugate gradients; the sweeps that follow mend what left its cone.
/// Returns the number of steps.
int SweepSolver::projectVelocities(Team* team, Real tolerance) {
  const Gradients found = findStep(view_, team, tolerance, beginGradients(view_, team));
  const auto workOfStep = [&](int first, int end) {
    functions_->workOfStep(view_, first, end);
    return Real(0);
  };
  forPacks(team, [&](int first, int end) { functions_->limitStep(view_, first, end); });
  const Real slope = sumsOf(team, workOfStep).sum;
  takeStep(team, 1, false);
  const Real endSlope = sumsOf(team, workOfStep).sum;
  // Cutting may raise the energy: the sweeps bring it down again, and the points that changed sides
  // are then known. But not by more than there was to take.
  if (!(Real(0.5) * (slope + endSlope) <= found.energy)) {
    takeStep(team, slope < 0 ? -slope / (endSlope - slope) - 1 : Real(-1), false);
  }
  return found.numSteps;
}

/// Near rest the velocities before the step are an error of the steps before.
/// What stops them acts once, unlike what carries the weight: left in the
/// impulses it would act again in the next step and the island would swing for
/// ever. So it is found apart, and does not start the next step.
int SweepSolver::cleanVelocities(Team* team) {
  PackView before = view_;
  before.velocities = sums_.data();
  forBodies(team, [&](int first, int end) {
    for (int i = first; i < end; ++i) store(bodies_[i].before, bodies_[i].beforeTurn, &sums_[i]);
  });
  const Result start = beginGradients(before, team);
  const Real tolerance = sweeps_.tolerance;
  if (start.worst <= kCleanEnough * tolerance || start.worst > kNearRest * largest_gain_) return 0;
  const Gradients found = findStep(before, team, tolerance, start);
  forPacks(team, [&](int first, int end) { functions_->limitStep(view_, first, end); });
  takeStep(team, 1, true);
  return found.numSteps;
}

/// Which points are closed and stick, the largest velocity there is to take from them, and the
/// energy.
SweepSolver::Result SweepSolver::beginGradients(const PackView& view, Team* team) {
  return sumsOf(team,
                [&](int first, int end) { return functions_->beginProjection(view, first, end); });
}

/// Preconditioned conjugate gradients on J M^-1 J^T for the points as they are.
SweepSolver::Gradients SweepSolver::findStep(const PackView& view, Team* team, Real tolerance,
                                             const Result& start) {
  Real residual = start.worst, energy = start.sum, beta = 0;
  Gradients found{.energy = energy, .numSteps = 0};
  Real size = energy;  // direction . (diagonal blocks) . direction
  // More points than freedoms make the matrix singular: what is left beyond
  // rounding is not in its range, and steps towards it would have no bound.
  const Real goal = std::max(Real(0.1) * tolerance, kProjectionGoal * residual);
  const Real leastEnergy = kProjectionGoal * kProjectionGoal * energy;
  // There are no more steps than freedoms.
  int maxSteps = sweeps_.numProjectionSteps;
  if (isNearRest() && residual < kNearRest * largest_gain_) {
    maxSteps = std::max(maxSteps, std::min(6 * numBodies(), kMaxStepsNearRest));
  }
  for (; found.numSteps < maxSteps && residual > goal && energy > leastEnergy; ++found.numSteps) {
    forBodies(team, [&](int first, int end) { clearPushes(first, end); });
    inOrder(team, [&](int first, int end) {
      functions_->spreadDirection(view, first, end, beta);
      return Real(0);
    });
    const Real curvature = sumsOf(team, [&](int first, int end) {
                             functions_->imageOfDirection(view, first, end);
                             return Real(0);
                           }).sum;
    if (!(curvature > kLeastCurvature * size)) break;
    if (found.numSteps >= kFirstLook && std::has_single_bit(unsigned(found.numSteps)) &&
        leavesCones(team)) {
      break;
    }
    const Real alpha = energy / curvature;
    const Result advanced = sumsOf(team, [&](int first, int end) {
      return functions_->advanceProjection(view, first, end, alpha);
    });
    residual = advanced.worst;
    const Real next = advanced.sum;
    beta = next / energy;
    energy = next;
    size = energy + beta * beta * size;
  }
  return found;
}

bool SweepSolver::leavesCones(Team* team) {
  return worstOf(team, [&](int first, int end) {
           return functions_->leavesCones(view_, first, end);
         }).worst > 0;
}

void SweepSolver::takeStep(Team* team, Real factor, bool isExtra) {
  inOrder(team, [&](int first, int end) {
    functions_->applyStep(view_, first, end, factor, isExtra);
    return Real(0);
  });
}

void SweepSolver::clearPushes(int first, int end) {
  for (int i = first; i < end; ++i) {
    pushes_[i] = SlotVelocity{};
    pushes_[i].inverseMass = velocities_[i].inverseMass;
  }
}

void SweepSolver::correctPositions(const TargetRule& rule, Team* team) {
  const Real deepest =
      worstOf(team, [&](int first, int end) {
        return functions_->beginCorrection(view_, first, end, rule, inverseDuration(dt_));
      }).worst;
  if (deepest <= (isLarge() ? kLeastExcessOfLarge : kLeastExcess) * rule.slop) return;

  if (team == nullptr || team->isLeader()) is_corrected_ = true;
  forBodies(team, [&](int first, int end) { clearPushes(first, end); });
  for (int k = 0; k < sweeps_.numCorrectionSweeps; ++k) {
    const Real change = inOrder(
        team, [&](int first, int end) { return functions_->correctionSweep(view_, first, end); });
    if (change <= sweeps_.tolerance) break;
  }
}

void SweepSolver::summarize(Team* team, ImpulseReport* report) {
  const Result result = resultOf(team, [&](int part) { return summaryOf(part); });
  report->worstPoint = result.worstPoint;
  report->contactWork = result.sum;
}

}  // namespace tangere::solver
