// SPDX-License-Identifier: Apache-2.0
#include "solver/sweep_solver.hpp"

#include "solver/group_coloring.hpp"
#include "solver/point_target.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tangere::solver {
namespace {

/// What one item of a shared loop takes: some microseconds of work.
constexpr int kPacksPerItem = 8;
constexpr int kBodiesPerItem = 64;
/// Groups of a colour are packed by number of points, so that few rows are empty; all above this
/// count as one size.
constexpr int kMaxSizeClass = 8;

/// A depth this little beyond the slop, as a part of it, is no cause for a correction: each one
/// takes a part of what is left, and would never end.
constexpr Real kLeastExcess = 1e-3;
/// Velocities at the points, as a part of what the free forces give in a sub-step, that hardly
/// change which points are closed: there is then time for many steps of conjugate gradients, each
/// of which saves sweeps in the steps that follow. In a large heap something always moves: it gets
/// few steps, and from earlier on. (All measured on towers, pyramids and heaps of 40 to 1000
/// blocks.)
constexpr Real kNearRest = 0.0005;
constexpr Real kNearRestOfLarge = 0.005;
/// In a large island sweeps that still change velocities by this part of what gravity adds in the
/// step are those of bodies that move: conjugate gradients, which serve rest, are not worth their
/// time then.
constexpr Real kInMotion = 0.05;
constexpr int kMaxStepsNearRest = 200;
constexpr int kMaxBodiesNearRest = 256;
/// Velocities before the step that are left alone, as a multiple of the tolerance.
constexpr Real kCleanEnough = 3;
/// Conjugate gradients end at this part of what they started with.
constexpr Real kProjectionGoal = 1e-8;
/// Least curvature along a direction, against that of the diagonal blocks: below it the direction
/// is one that no block feels.
constexpr Real kLeastCurvature = 1e-6;
/// (Change of velocity over velocity)^2 below which nothing touched a block.
constexpr Real kRounding2 = 1e-26;

void set(Pack* packs, int index, int lane, Real value) {
  reinterpret_cast<double*>(packs + index)[lane] = value;
}
void set(Pack* packs, int lane, const Vec3& v) {
  set(packs, 0, lane, v.x);
  set(packs, 1, lane, v.y);
  set(packs, 2, lane, v.z);
}
void set(Pack* packs, int lane, const Sym3& s) {
  const Real entries[6] = {s.xx, s.yy, s.zz, s.xy, s.xz, s.yz};
  for (int i = 0; i < 6; ++i) set(packs, i, lane, entries[i]);
}
Real get(const Pack* packs, int index, int lane) {
  return reinterpret_cast<const double*>(packs + index)[lane];
}

Vec3 linear(const SlotVelocity& slot) { return {slot.linear[0], slot.linear[1], slot.linear[2]}; }
Vec3 angular(const SlotVelocity& slot) {
  return {slot.angular[0], slot.angular[1], slot.angular[2]};
}
void store(const Vec3& v, const Vec3& w, SlotVelocity* slot) {
  slot->linear[0] = v.x;
  slot->linear[1] = v.y;
  slot->linear[2] = v.z;
  slot->angular[0] = w.x;
  slot->angular[1] = w.y;
  slot->angular[2] = w.z;
}

/// a^-1 v for a symmetric positive definite a; zero where it has no inverse.
Vec3 solve(const Sym3& a, const Vec3& v) {
  const Real cxx = a.yy * a.zz - a.yz * a.yz, cxy = a.xz * a.yz - a.xy * a.zz;
  const Real cxz = a.xy * a.yz - a.xz * a.yy;
  const Real determinant = a.xx * cxx + a.xy * cxy + a.xz * cxz;
  if (!(determinant > 0)) return {};
  const Sym3 adjugate{.xx = cxx,
                      .yy = a.xx * a.zz - a.xz * a.xz,
                      .zz = a.xx * a.yy - a.xy * a.xy,
                      .xy = cxy,
                      .xz = cxz,
                      .yz = a.xy * a.xz - a.xx * a.yz};
  return (adjugate * v) / determinant;
}

bool sharesFrame(const ImpulsePoint& a, const ImpulsePoint& b) {
  return a.normal == b.normal && a.tangent1 == b.tangent1 && a.tangent2 == b.tangent2;
}

}  // namespace

void SweepSolver::solve(const ImpulseProblem& problem, const ImpulseIsland& island,
                        const ImpulseOptions& options, const SweepOptions& sweeps, Real dt,
                        std::span<std::int32_t> slotOfBlock, std::span<std::uint64_t> usedColors,
                        Team* team, ImpulseReport* report) {
  sweeps_ = sweeps;
  dt_ = dt;
  is_corrected_ = false;
  functions_ = &packFunctions();
  layOut(problem, island, usedColors);
  for (int i = 0; i < num_bodies_; ++i) slotOfBlock[island.blocks[i]] = i;
  forBodies(team, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      fillBody(problem.blocks[island.blocks[i]], i, sweeps.numSubsteps);
    }
  });

  largest_gain_ = 0;
  for (int i = 0; i < num_bodies_; ++i) {
    largest_gain_ = std::max(largest_gain_, norm(bodies_[i].gain));
  }
  TargetRule rule;
  if (options.correction == PositionCorrection::Baumgarte) {
    rule.rate = options.correctionRate * inverseDuration(dt);
    rule.slop = options.slop;
    rule.maxSpeed = options.maxCorrectionSpeed;
  }
  forPacks(team, 0, num_packs_, [&](int begin, int end) {
    for (int p = begin; p < end; ++p) fillPack(problem, slotOfBlock, p);
    functions_->prepare(view_, begin, end, rule);
    return Real(0);
  });

  Real residual = 0;
  report->iterations = 0;
  for (int substep = 0; substep < sweeps.numSubsteps; ++substep) {
    const bool isFirst = substep == 0;
    forBodies(team, [&](int begin, int end) {
      for (int i = begin; i < end; ++i) beginSubstep(i, sweeps.isWarm && !isFirst);
    });
    if (isFirst && sweeps.isWarm) {
      forColors(team, [&](int begin, int end) {
        functions_->warmStart(view_, begin, end);
        return Real(0);
      });
    }
    const bool canClean = sweeps.isWarm && sweeps.numProjections > 0 && !has_driven_;
    for (int round = 0;; ++round) {
      for (int k = 0; k < sweeps.numSweeps; ++k) {
        const Real change2 = forColors(
            team, [&](int begin, int end) { return functions_->sweep(view_, begin, end); });
        residual = std::sqrt(change2);
        ++report->iterations;
        if (residual <= sweeps.tolerance) break;
        if (isFirst && round == 0 && k == 0 && canClean) {
          report->iterations += cleanVelocities(team);
        }
      }
      if (residual <= sweeps.tolerance || round >= sweeps.numProjections) break;
      if (num_bodies_ > kMaxBodiesNearRest && residual > kInMotion * largest_gain_) break;
      report->iterations += projectVelocities(team, sweeps.tolerance);
    }
    forBodies(team, [&](int begin, int end) {
      for (int i = begin; i < end; ++i) endSubstep(i);
    });
    forPacks(team, 0, num_packs_, [&](int begin, int end) {
      functions_->finish(view_, begin, end, rule, sweeps.isWarm);
      return Real(0);
    });
  }
  report->residual = residual;
  report->converged = residual <= sweeps.tolerance;

  if (options.correction == PositionCorrection::SplitImpulse) {
    correctPositions(options, team);
  }
  summarize(report);
}

/// range(begin, end) on packs that may be worked on at the same time; the
/// largest of what it returns.
template <class Range>
void SweepSolver::forPacks(Team* team, int begin, int end, const Range& range) {
  const int numItems = (end - begin + kPacksPerItem - 1) / kPacksPerItem;
  if (team == nullptr || numItems <= 1) {
    item_results_[0] = range(begin, end);
    for (int i = 1; i < numItems; ++i) item_results_[i] = 0;
    return;
  }
  team->forEach(numItems, [&](int item) {
    const int first = begin + item * kPacksPerItem;
    item_results_[item] = range(first, std::min(first + kPacksPerItem, end));
  });
}

template <class Range>
void SweepSolver::forBodies(Team* team, const Range& range) {
  const int numItems = (num_bodies_ + kBodiesPerItem - 1) / kBodiesPerItem;
  if (team == nullptr || numItems <= 1) return range(0, num_bodies_);
  team->forEach(numItems, [&](int item) {
    const int first = item * kBodiesPerItem;
    range(first, std::min(first + kBodiesPerItem, num_bodies_));
  });
}

/// Colours the groups and makes packs of them; what the arrays hold comes
/// later.
void SweepSolver::layOut(const ImpulseProblem& problem, const ImpulseIsland& island,
                         std::span<std::uint64_t> usedColors) {
  num_bodies_ = static_cast<int>(island.blocks.size());
  has_driven_ = false;
  for (const std::int32_t g : island.groups) {
    for (const std::int32_t b : {problem.groups[g].block1, problem.groups[g].block2}) {
      const ImpulseBlock& block = problem.blocks[b];
      has_driven_ = has_driven_ || (!(block.inverseMass > 0) &&
                                    !(block.velocity == Vec3{} && block.angularVelocity == Vec3{}));
    }
  }
  const int numColors = colorGroups(problem, island, usedColors, &colors_);
  const bool overflows = std::find(colors_.begin(), colors_.end(), kOverflowColor) != colors_.end();
  num_free_colors_ = numColors;
  num_colors_ = numColors + (overflows ? 1 : 0);

  // Counting sort by colour, larger groups first.
  const auto bucketOf = [&](std::size_t i) {
    const int color = std::min<int>(colors_[i], numColors);
    const int size = std::min(problem.groups[island.groups[i]].count, kMaxSizeClass);
    return color * (kMaxSizeClass + 1) + (kMaxSizeClass - size);
  };
  bucket_.assign(static_cast<std::size_t>(num_colors_ * (kMaxSizeClass + 1) + 1), 0);
  for (std::size_t i = 0; i < island.groups.size(); ++i) ++bucket_[bucketOf(i) + 1];
  for (std::size_t i = 1; i < bucket_.size(); ++i) bucket_[i] += bucket_[i - 1];
  order_.resize(island.groups.size());
  for (std::size_t i = 0; i < island.groups.size(); ++i) {
    order_[bucket_[bucketOf(i)]++] = static_cast<std::int32_t>(i);
  }

  // bucket_[b] is now the end of bucket b, so a colour ends where its last
  // bucket does.
  color_end_.clear();
  pack_groups_.clear();
  int row = 0, next = 0;
  for (int color = 0; color < num_colors_; ++color) {
    const int end = bucket_[color * (kMaxSizeClass + 1) + kMaxSizeClass];
    const int lanes = color < numColors ? kLanes : 1;
    while (next < end) {
      const auto pack = pack_groups_.size() / kLanes;
      int numRows = 0;
      for (int lane = 0; lane < kLanes; ++lane) {
        const bool isUsed = lane < lanes && next < end;
        const std::int32_t group = isUsed ? island.groups[order_[next++]] : -1;
        pack_groups_.push_back(group);
        if (isUsed) numRows = std::max(numRows, problem.groups[group].count);
      }
      pack_rows_.resize(pack + 1);
      pack_rows_[pack] = row;
      row += numRows;
    }
    color_end_.push_back(static_cast<std::int32_t>(pack_groups_.size() / kLanes));
  }
  num_packs_ = static_cast<int>(pack_groups_.size() / kLanes);
  pack_rows_.resize(static_cast<std::size_t>(num_packs_) + 1);
  pack_rows_[num_packs_] = row;

  // Every lane has a slot of its own for each side that no moving block takes.
  const std::size_t numSlots = static_cast<std::size_t>(num_bodies_ + 2 * kLanes * num_packs_);
  const auto numRows = static_cast<std::size_t>(row);
  groups_.grow(static_cast<std::size_t>(num_packs_));
  rows_.grow(numRows);
  records_.grow(numRows);
  frames_.grow(numRows);
  spins_.grow(numRows);
  if (sweeps_.numProjections > 0) projections_.grow(numRows);
  partials_.grow(static_cast<std::size_t>(num_packs_));
  velocities_.grow(numSlots);
  sums_.grow(numSlots);
  moves_.grow(numSlots);
  pushes_.grow(numSlots);
  bodies_.grow(static_cast<std::size_t>(num_bodies_));
  item_results_.grow(static_cast<std::size_t>(num_packs_) + 1);
  view_ = {.groups = groups_.data(),
           .rows = rows_.data(),
           .records = records_.data(),
           .frames = frames_.data(),
           .spins = spins_.data(),
           .projections = projections_.data(),
           .velocities = velocities_.data(),
           .sums = sums_.data(),
           .moves = moves_.data(),
           .pushes = pushes_.data(),
           .partials = partials_.data()};
}

void SweepSolver::fillBody(const ImpulseBlock& block, int slot, int numSubsteps) {
  Body& body = bodies_[slot];
  body.h = block.duration / numSubsteps;
  body.gain = body.h * block.acceleration;
  body.gainTurn = body.h * block.angularAcceleration;
  body.weight = body.gain / block.inverseMass;
  body.weightTurn = body.gainTurn == Vec3{}
                        ? Vec3{}
                        : tangere::solver::solve(block.inverseInertia, body.gainTurn);
  body.delta = body.deltaTurn = Vec3{};
  body.displacement = body.rotation = body.mean = body.meanTurn = Vec3{};
  body.offset = 0;
  body.isTouched = false;
  velocities_[slot].inverseMass = block.inverseMass;
  velocities_[slot].unused = 0;
  store(block.velocity, block.angularVelocity, &velocities_[slot]);
}

void SweepSolver::fillSlot(const ImpulseBlock& block, Real h, int slot) {
  for (ScratchArray<SlotVelocity>* array : {&velocities_, &sums_, &moves_, &pushes_}) {
    (*array)[slot] = SlotVelocity{};
  }
  store(block.velocity, block.angularVelocity, &velocities_[slot]);
  store(Real(2) * block.velocity, Real(2) * block.angularVelocity, &sums_[slot]);
  store(h * block.velocity, h * block.angularVelocity, &moves_[slot]);
}

void SweepSolver::fillPack(const ImpulseProblem& problem, std::span<const std::int32_t> slotOfBlock,
                           int pack) {
  GroupPack& out = groups_[pack];
  out.firstRow = out.firstFrame = pack_rows_[pack];
  out.numRows = pack_rows_[pack + 1] - pack_rows_[pack];
  out.frameStride = 0;
  out.firstSpin = -1;
  RowPack* const rows = &rows_[out.firstRow];
  RowRecord* const records = &records_[out.firstRow];
  FramePack* const frames = &frames_[out.firstFrame];

  for (int lane = 0; lane < kLanes && out.frameStride == 0; ++lane) {
    const std::int32_t g = pack_groups_[kLanes * pack + lane];
    if (g < 0) continue;
    const ImpulseGroup& group = problem.groups[g];
    for (int k = 0; k < group.count; ++k) {
      const ImpulsePoint& point = problem.points[group.first + k];
      if (!sharesFrame(point, problem.points[group.first])) out.frameStride = 1;
      if (point.torsionalFriction > 0 || point.rollingFriction > 0) out.firstSpin = out.firstRow;
    }
  }
  for (int k = 0; k < out.numRows; ++k) {
    for (int i = 0; i < 3; ++i) records[k].sum[i] = records[k].extra[i] = Pack{};
    records[k].normalWork = records[k].frictionWork = records[k].pushedWork = Pack{};
    records[k].change = records[k].correction = Pack{};
  }

  static const ImpulseBlock kNoBlock{};
  static const ImpulsePoint kNoPoint{};
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::int32_t g = pack_groups_[kLanes * pack + lane];
    const ImpulseGroup group = g >= 0 ? problem.groups[g] : ImpulseGroup{};
    const ImpulseBlock& block1 = g >= 0 ? problem.blocks[group.block1] : kNoBlock;
    const ImpulseBlock& block2 = g >= 0 ? problem.blocks[group.block2] : kNoBlock;
    const Real duration = pointDuration(block1, block2);
    const Real h = duration / sweeps_.numSubsteps;
    const int ownSlot = num_bodies_ + 2 * (kLanes * pack + lane);
    out.slot1[lane] = block1.inverseMass > 0 ? slotOfBlock[group.block1] : ownSlot;
    out.slot2[lane] = block2.inverseMass > 0 ? slotOfBlock[group.block2] : ownSlot + 1;
    if (!(block1.inverseMass > 0)) fillSlot(block1, h, ownSlot);
    if (!(block2.inverseMass > 0)) fillSlot(block2, h, ownSlot + 1);
    set(out.inverseInertia1, lane, block1.inverseMass > 0 ? block1.inverseInertia : Sym3{});
    set(out.inverseInertia2, lane, block2.inverseMass > 0 ? block2.inverseInertia : Sym3{});
    set(&out.inverseH, 0, lane, inverseDuration(h));

    const Real warmScale = sweeps_.isWarm && dt_ > 0 ? h / dt_ : 0;
    for (int k = 0; k < out.numRows; ++k) {
      const bool isUsed = k < group.count;
      const ImpulsePoint& point = isUsed ? problem.points[group.first + k] : kNoPoint;
      RowPack& row = rows[k];
      records[k].point[lane] = isUsed ? group.first + k : -1;
      set(&records[k].gap, 0, lane, commonGap(point, block1, block2, duration, dt_));
      set(row.r1, lane, point.r1);
      set(row.r2, lane, point.r2);
      set(&row.friction, 0, lane, point.friction);
      set(row.impulse, 0, lane, point.tangentImpulse[0] * warmScale);
      set(row.impulse, 1, lane, point.tangentImpulse[1] * warmScale);
      set(row.impulse, 2, lane, point.normalImpulse * warmScale);
      if (k == 0 || out.frameStride == 1) {
        set(frames[k].tangent1, lane, point.tangent1);
        set(frames[k].tangent2, lane, point.tangent2);
        set(frames[k].normal, lane, point.normal);
      }
      if (out.firstSpin >= 0) {
        SpinPack& spin = spins_[out.firstSpin + k];
        set(&spin.torsionalFriction, 0, lane, point.torsionalFriction);
        set(&spin.rollingFriction, 0, lane, point.rollingFriction);
        set(spin.impulse, 0, lane, point.rollingImpulse[0] * warmScale);
        set(spin.impulse, 1, lane, point.rollingImpulse[1] * warmScale);
        set(spin.impulse, 2, lane, point.torsionalImpulse * warmScale);
        for (int i = 0; i < 3; ++i) set(spin.sum, i, lane, 0);
      }
    }
  }
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

/// One pass over all colours in their order. Returns the largest result.
template <class Range>
Real SweepSolver::forColors(Team* team, const Range& range) {
  Real worst = 0;
  int begin = 0;
  for (int color = 0; color < num_colors_; ++color) {
    const int end = color_end_[color];
    const bool isOverflow = color >= num_free_colors_;
    forPacks(isOverflow ? nullptr : team, begin, end, range);
    const int numItems = (end - begin + kPacksPerItem - 1) / kPacksPerItem;
    for (int i = 0; i < numItems; ++i) worst = std::max(worst, item_results_[i]);
    begin = end;
  }
  return worst;
}

/// Sweeps hardly move what many blocks do together: a tower of ten that sways
/// loses 2e-4 of it in each. Here the closed points are taken to stay closed
/// and the sticking ones to stick, and their velocities are brought towards
/// zero by conjugate gradients; the sweeps that follow mend what left its cone.
/// Returns the number of steps.
int SweepSolver::projectVelocities(Team* team, Real tolerance) {
  const Real residual = beginGradients(view_, team);
  const Gradients found = findStep(view_, team, tolerance, residual);
  forAll(team, [&](int begin, int end) { functions_->limitStep(view_, begin, end); });
  forAll(team, [&](int begin, int end) { functions_->workOfStep(view_, begin, end); });
  const Real slope = sumOfPartials();
  takeStep(team, 1, false);
  forAll(team, [&](int begin, int end) { functions_->workOfStep(view_, begin, end); });
  const Real endSlope = sumOfPartials();
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
  for (int i = 0; i < num_bodies_; ++i) store(bodies_[i].before, bodies_[i].beforeTurn, &sums_[i]);
  const Real residual = beginGradients(before, team);
  const Real tolerance = sweeps_.tolerance;
  const Real near = num_bodies_ <= kMaxBodiesNearRest ? kNearRest : kNearRestOfLarge;
  if (residual <= kCleanEnough * tolerance || residual > near * largest_gain_) return 0;
  const Gradients found = findStep(before, team, tolerance, residual);
  forAll(team, [&](int begin, int end) { functions_->limitStep(view_, begin, end); });
  takeStep(team, 1, true);
  return found.numSteps;
}

/// Which points are closed and stick, and the largest velocity there is to take from them.
Real SweepSolver::beginGradients(const PackView& view, Team* team) {
  return worstOf(team,
                 [&](int begin, int end) { return functions_->beginProjection(view, begin, end); });
}

/// Preconditioned conjugate gradients on J M^-1 J^T for the points as they are.
SweepSolver::Gradients SweepSolver::findStep(const PackView& view, Team* team, Real tolerance,
                                             Real residual) {
  Real energy = sumOfPartials(), beta = 0;
  Gradients found{.energy = energy, .numSteps = 0};
  Real size = energy;  // direction . (diagonal blocks) . direction
  // More points than freedoms make the matrix singular: what is left beyond
  // rounding is not in its range, and steps towards it would have no bound.
  const Real goal = std::max(Real(0.1) * tolerance, kProjectionGoal * residual);
  const Real leastEnergy = kProjectionGoal * kProjectionGoal * energy;
  // There are no more steps than freedoms.
  int maxSteps = sweeps_.numProjectionSteps;
  if (num_bodies_ <= kMaxBodiesNearRest && residual < kNearRest * largest_gain_) {
    maxSteps = std::max(maxSteps, std::min(6 * num_bodies_, kMaxStepsNearRest));
  }
  for (; found.numSteps < maxSteps && residual > goal && energy > leastEnergy; ++found.numSteps) {
    clearPushes(team);
    forColors(team, [&](int begin, int end) {
      functions_->spreadDirection(view, begin, end, beta);
      return Real(0);
    });
    forAll(team, [&](int begin, int end) { functions_->imageOfDirection(view, begin, end); });
    const Real curvature = sumOfPartials();
    if (!(curvature > kLeastCurvature * size)) break;
    const Real alpha = energy / curvature;
    residual = worstOf(team, [&](int begin, int end) {
      return functions_->advanceProjection(view, begin, end, alpha);
    });
    const Real next = sumOfPartials();
    beta = next / energy;
    energy = next;
    size = energy + beta * beta * size;
  }
  return found;
}

void SweepSolver::takeStep(Team* team, Real factor, bool isExtra) {
  forColors(team, [&](int begin, int end) {
    functions_->applyStep(view_, begin, end, factor, isExtra);
    return Real(0);
  });
}

/// The largest result of range(begin, end) over all packs.
template <class Range>
Real SweepSolver::worstOf(Team* team, const Range& range) {
  forPacks(team, 0, num_packs_, range);
  const int numItems = (num_packs_ + kPacksPerItem - 1) / kPacksPerItem;
  Real worst = 0;
  for (int i = 0; i < numItems; ++i) worst = std::max(worst, item_results_[i]);
  return worst;
}

template <class Range>
void SweepSolver::forAll(Team* team, const Range& range) {
  forPacks(team, 0, num_packs_, [&](int begin, int end) {
    range(begin, end);
    return Real(0);
  });
}

void SweepSolver::clearPushes(Team* team) {
  forBodies(team, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      pushes_[i] = SlotVelocity{};
      pushes_[i].inverseMass = velocities_[i].inverseMass;
    }
  });
}

/// In the order of the packs, whatever the threads.
Real SweepSolver::sumOfPartials() const {
  Real sum = 0;
  for (int p = 0; p < num_packs_; ++p) sum += partials_[p];
  return sum;
}

void SweepSolver::correctPositions(const ImpulseOptions& options, Team* team) {
  const TargetRule rule{.rate = options.correctionRate * inverseDuration(dt_),
                        .slop = options.slop,
                        .maxSpeed = options.maxCorrectionSpeed};
  const Real deepest = worstOf(team, [&](int begin, int end) {
    return functions_->beginCorrection(view_, begin, end, rule, inverseDuration(dt_));
  });
  if (deepest <= kLeastExcess * options.slop) return;

  is_corrected_ = true;
  clearPushes(team);
  for (int k = 0; k < sweeps_.numCorrectionSweeps; ++k) {
    const Real change = forColors(
        team, [&](int begin, int end) { return functions_->correctionSweep(view_, begin, end); });
    if (change <= sweeps_.tolerance) break;
  }
}

/// Sums in the order of the rows and of the blocks, whatever the threads.
void SweepSolver::summarize(ImpulseReport* report) const {
  Real work = 0, worst = -1;
  for (int row = 0; row < pack_rows_[num_packs_]; ++row) {
    const RowRecord& record = records_[row];
    for (int lane = 0; lane < kLanes; ++lane) {
      work += get(&record.normalWork, 0, lane) + get(&record.frictionWork, 0, lane) -
              get(&record.pushedWork, 0, lane);
      if (record.point[lane] >= 0 && get(&record.change, 0, lane) > worst) {
        worst = get(&record.change, 0, lane);
        report->worstPoint = record.point[lane];
      }
    }
  }
  for (int i = 0; i < num_bodies_; ++i) work += bodies_[i].offset;
  report->contactWork = work;
}

void SweepSolver::writeBack(ImpulseProblem& problem, const ImpulseIsland& island, Team* team) {
  forPacks(team, 0, num_packs_, [&](int begin, int end) {
    for (int p = begin; p < end; ++p) {
      const GroupPack& group = groups_[p];
      for (int k = 0; k < group.numRows; ++k) {
        const RowRecord& record = records_[group.firstRow + k];
        for (int lane = 0; lane < kLanes; ++lane) {
          if (record.point[lane] < 0) continue;
          ImpulsePoint& point = problem.points[record.point[lane]];
          point.tangentImpulse[0] = get(record.sum, 0, lane);
          point.tangentImpulse[1] = get(record.sum, 1, lane);
          point.normalImpulse = get(record.sum, 2, lane);
          point.normalWork = get(&record.normalWork, 0, lane);
          point.frictionWork = get(&record.frictionWork, 0, lane);
          point.correctionImpulse = get(&record.correction, 0, lane);
          if (group.firstSpin >= 0) {
            const SpinPack& spin = spins_[group.firstSpin + k];
            point.rollingImpulse[0] = get(spin.sum, 0, lane);
            point.rollingImpulse[1] = get(spin.sum, 1, lane);
            point.torsionalImpulse = get(spin.sum, 2, lane);
          }
        }
      }
    }
    return Real(0);
  });

  for (int i = 0; i < num_bodies_; ++i) {
    const Body& body = bodies_[i];
    ImpulseBlock& block = problem.blocks[island.blocks[i]];
    block.velocity = linear(velocities_[i]);
    block.angularVelocity = angular(velocities_[i]);
    block.displacement = body.displacement;
    block.rotation = body.rotation;
    block.meanDisplacement = body.mean;
    block.meanRotation = body.meanTurn;
    block.pushDisplacement = is_corrected_ ? dt_ * linear(pushes_[i]) : Vec3{};
    block.pushRotation = is_corrected_ ? dt_ * angular(pushes_[i]) : Vec3{};
    block.isTouched = body.isTouched;
  }
}

}  // namespace tangere::solver
