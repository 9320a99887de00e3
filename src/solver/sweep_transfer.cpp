// SPDX-License-Identifier: Apache-2.0
//
// Between the blocks and points of the problem and the packs of SweepSolver.
#include "core/prefetch.hpp"
#include "solver/point_target.hpp"
#include "solver/slot_velocity.hpp"
#include "solver/sweep_solver.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tangere::solver {
namespace {

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

/// Of a block that nothing has carried on yet. Its inertia is that of a ball which turns as easily,
/// on average.
SlotMomentum restingMomentum(const ImpulseBlock& block) {
  const Sym3& inverse = block.inverseInertia;
  const Real trace = inverse.xx + inverse.yy + inverse.zz;
  const Real mass = 1 / block.inverseMass, inertia = trace > 0 ? 3 / trace : 0;
  SlotMomentum momentum{};
  momentum.weight[0] = Pack{mass, mass, mass, 0};
  momentum.weight[1] = Pack{inertia, inertia, inertia, 0};
  return momentum;
}

/// Kinetic energy over half the mass, with the inertia of restingMomentum().
Real squaredSpeed(const ImpulseBlock& block) {
  const Sym3& inverse = block.inverseInertia;
  const Real trace = inverse.xx + inverse.yy + inverse.zz;
  const Real gyration2 = trace > 0 ? 3 * block.inverseMass / trace : 0;
  return squaredNorm(block.velocity) + gyration2 * squaredNorm(block.angularVelocity);
}

/// Bit for bit, without a branch: most points do.
bool sharesFrame(const ImpulsePoint& a, const ImpulsePoint& b) {
  std::uint64_t difference = 0;
  for (const Vec3 ImpulsePoint::*axis :
       {&ImpulsePoint::normal, &ImpulsePoint::tangent1, &ImpulsePoint::tangent2}) {
    for (int i = 0; i < 3; ++i) {
      difference |=
          std::bit_cast<std::uint64_t>((a.*axis)[i]) ^ std::bit_cast<std::uint64_t>((b.*axis)[i]);
    }
  }
  return difference == 0;
}

}  // namespace

void SweepSolver::layOut(const ImpulseProblem& problem, const ImpulseIsland& island,
                         const SweepOptions& sweeps, std::span<std::int32_t> slotOfBlock,
                         std::span<std::uint64_t> usedColors) {
  sweeps_ = sweeps;
  functions_ = &packFunctions();
  layout_.build(problem, island, slotOfBlock, usedColors);
  growArrays();
}

void SweepSolver::fill(const ImpulseProblem& problem, std::span<const std::int32_t> slotOfBlock,
                       Team* team) {
  forEach(team, layout_.numParts(), [&](int part) {
    PartContent content;
    const IndexRange blocks = layout_.blocksOfPart(part);
    for (int i = blocks.begin; i < blocks.end; ++i) {
      const ImpulseBlock& block = problem.blocks[layout_.blocks()[i]];
      fillBody(block, i);
      content.fastest2 = std::max(content.fastest2, squaredSpeed(block));
      content.largestGain = std::max(content.largestGain, norm(bodies_[i].gain));
    }
    contents_[part] = content;
  });
  forEach(team, layout_.numParts(), [&](int part) {
    PartContent& content = contents_[part];
    for (const IndexRange packs : layout_.packsOfPart(part)) {
      for (int p = packs.begin; p < packs.end; ++p) {
        if (team != nullptr && p + 1 < packs.end) takeOverPoints(p + 1, problem);
        fillPack(problem, slotOfBlock, p);
        content.hasSpin = content.hasSpin || groups_[p].firstSpin >= 0;
        content.hasDriven = content.hasDriven || hasDriven(problem, p);
      }
      functions_->prepare(view_, packs.begin, packs.end, rule_);
    }
  });
  once(team, [&] { joinContents(); });
}

void SweepSolver::joinContents() {
  PartContent all;
  for (const PartContent& content : contents_) {
    all.fastest2 = std::max(all.fastest2, content.fastest2);
    all.largestGain = std::max(all.largestGain, content.largestGain);
    all.hasSpin = all.hasSpin || content.hasSpin;
    all.hasDriven = all.hasDriven || content.hasDriven;
  }
  // Torsion and rolling have no momentum: what they did to a block would go on without them.
  has_momentum_ = mayHaveMomentum() && !all.hasSpin;
  has_driven_ = all.hasDriven;
  largest_gain_ = all.largestGain;
  fastest_ = std::sqrt(all.fastest2);
}

bool SweepSolver::hasDriven(const ImpulseProblem& problem, int pack) const {
  const auto isDriven = [&](std::int32_t b) {
    const ImpulseBlock& block = problem.blocks[b];
    return !(block.inverseMass > 0) &&
           !(block.velocity == Vec3{} && block.angularVelocity == Vec3{});
  };
  const std::int32_t* const groups = layout_.groupsOf(pack);
  return std::any_of(groups, groups + kLanes, [&](std::int32_t g) {
    return g >= 0 && (isDriven(problem.groups[g].block1) || isDriven(problem.groups[g].block2));
  });
}

/// The points of a pack, which another thread has made: they are written back by this one.
void SweepSolver::takeOverPoints(int pack, const ImpulseProblem& problem) const {
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::int32_t g = layout_.groupsOf(pack)[lane];
    if (g < 0) continue;
    const ImpulseGroup& group = problem.groups[g];
    core::takeOver(problem.points.data() + group.first,
                   sizeof(ImpulsePoint) * static_cast<std::size_t>(group.count));
  }
}

void SweepSolver::writeBack(ImpulseProblem& problem, Team* team) {
  forPacks(team, [&](int first, int end) {
    for (int p = first; p < end; ++p) writePoints(p, problem);
  });
  forBodies(team, [&](int first, int end) {
    for (int i = first; i < end; ++i) writeBlock(i, &problem.blocks[layout_.blocks()[i]]);
  });
}

void SweepSolver::growArrays() {
  const auto numPacks = static_cast<std::size_t>(layout_.numPacks());
  const auto numRows = static_cast<std::size_t>(layout_.numRows());
  const auto numBlocks = static_cast<std::size_t>(numBodies());
  // Every lane has a slot of its own for each side that no moving block takes.
  const std::size_t numSlots = numBlocks + 2 * kLanes * numPacks;
  groups_.grow(numPacks);
  rows_.grow(numRows);
  records_.grow(numRows);
  frames_.grow(numRows);
  spins_.grow(numRows);
  if (sweeps_.numProjections > 0) projections_.grow(numRows);
  if (mayHaveMomentum()) {
    row_momenta_.grow(numRows);
    slot_momenta_.grow(numBlocks);
  }
  partials_.grow(numPacks);
  velocities_.grow(numSlots);
  sums_.grow(numSlots);
  moves_.grow(numSlots);
  pushes_.grow(numSlots);
  bodies_.grow(numBlocks);
  results_.resize(2 * static_cast<std::size_t>(layout_.numParts()));
  contents_.resize(static_cast<std::size_t>(layout_.numParts()));
  view_ = {.groups = groups_.data(),
           .rows = rows_.data(),
           .records = records_.data(),
           .frames = frames_.data(),
           .spins = spins_.data(),
           .projections = projections_.data(),
           .rowMomenta = row_momenta_.data(),
           .slotMomenta = slot_momenta_.data(),
           .velocities = velocities_.data(),
           .sums = sums_.data(),
           .moves = moves_.data(),
           .pushes = pushes_.data(),
           .partials = partials_.data()};
}

void SweepSolver::fillBody(const ImpulseBlock& block, int slot) {
  Body& body = bodies_[slot];
  body.h = block.duration / sweeps_.numSubsteps;
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
  if (mayHaveMomentum()) slot_momenta_[slot] = restingMomentum(block);
}

void SweepSolver::fillSlot(const ImpulseBlock& block, Real h, int slot) {
  for (ScratchArray<SlotVelocity>* array : {&velocities_, &sums_, &moves_, &pushes_}) {
    (*array)[slot] = SlotVelocity{};
  }
  store(block.velocity, block.angularVelocity, &velocities_[slot]);
  store(Real(2) * block.velocity, Real(2) * block.angularVelocity, &sums_[slot]);
  store(h * block.velocity, h * block.angularVelocity, &moves_[slot]);
}

/// Frames, inertia, arms and impulses of four groups.
void SweepSolver::fillPack(const ImpulseProblem& problem, std::span<const std::int32_t> slotOfBlock,
                           int pack) {
  GroupPack& out = groups_[pack];
  const IndexRange rows{layout_.firstRow(pack), layout_.firstRow(pack + 1)};
  out.firstRow = out.firstFrame = rows.begin;
  out.numRows = rows.end - rows.begin;
  out.frameStride = 0;
  out.firstSpin = -1;
  out.isApartFromNext = layout_.isApartFromNext(pack) ? 1 : 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::int32_t g = layout_.groupsOf(pack)[lane];
    if (g < 0) continue;
    const ImpulseGroup& group = problem.groups[g];
    for (int k = 0; k < group.count; ++k) {
      const ImpulsePoint& point = problem.points[group.first + k];
      if (!sharesFrame(point, problem.points[group.first])) out.frameStride = 1;
      if (point.torsionalFriction > 0 || point.rollingFriction > 0) out.firstSpin = out.firstRow;
    }
  }
  for (int row = rows.begin; row < rows.end; ++row) {
    RowRecord& record = records_[row];
    for (int i = 0; i < 3; ++i) record.sum[i] = record.extra[i] = Pack{};
    record.normalWork = record.frictionWork = record.pushedWork = Pack{};
    record.correction = rows_[row].change = Pack{};
  }
  for (int lane = 0; lane < kLanes; ++lane) fillLane(problem, slotOfBlock, pack, lane);
}

void SweepSolver::fillLane(const ImpulseProblem& problem, std::span<const std::int32_t> slotOfBlock,
                           int pack, int lane) {
  static const ImpulseBlock kNoBlock{};
  static const ImpulsePoint kNoPoint{};
  GroupPack& out = groups_[pack];
  const std::int32_t g = layout_.groupsOf(pack)[lane];
  const ImpulseGroup group = g >= 0 ? problem.groups[g] : ImpulseGroup{};
  const ImpulseBlock& block1 = g >= 0 ? problem.blocks[group.block1] : kNoBlock;
  const ImpulseBlock& block2 = g >= 0 ? problem.blocks[group.block2] : kNoBlock;
  const bool moves1 = block1.inverseMass > 0, moves2 = block2.inverseMass > 0;
  const Real duration = pointDuration(block1, block2);
  const Real h = duration / sweeps_.numSubsteps;
  const int ownSlot = numBodies() + 2 * (kLanes * pack + lane);
  out.slot1[lane] = moves1 ? slotOfBlock[group.block1] : ownSlot;
  out.slot2[lane] = moves2 ? slotOfBlock[group.block2] : ownSlot + 1;
  if (!moves1) fillSlot(block1, h, ownSlot);
  if (!moves2) fillSlot(block2, h, ownSlot + 1);
  set(out.inverseInertia1, lane, moves1 ? block1.inverseInertia : Sym3{});
  set(out.inverseInertia2, lane, moves2 ? block2.inverseInertia : Sym3{});
  set(&out.inverseH, 0, lane, inverseDuration(h));

  // Of the whole step, however little of it is left: what a force has done to a velocity until then
  // the contact has yet to undo.
  const Real warmScale = sweeps_.isWarm ? Real(1) / sweeps_.numSubsteps : 0;
  for (int k = 0; k < out.numRows; ++k) {
    const bool isUsed = k < group.count;
    const ImpulsePoint& point = isUsed ? problem.points[group.first + k] : kNoPoint;
    RowPack& row = rows_[out.firstRow + k];
    RowRecord& record = records_[out.firstRow + k];
    record.point[lane] = isUsed ? group.first + k : -1;
    set(&record.gap, 0, lane, commonGap(point, block1, block2, duration, dt_));
    set(row.r1, lane, point.r1);
    set(row.r2, lane, point.r2);
    set(&row.friction, 0, lane, point.friction);
    set(row.impulse, 0, lane, point.tangentImpulse[0] * warmScale);
    set(row.impulse, 1, lane, point.tangentImpulse[1] * warmScale);
    set(row.impulse, 2, lane, point.normalImpulse * warmScale);
    if (k == 0 || out.frameStride == 1) {
      FramePack& frame = frames_[out.firstFrame + k];
      set(frame.tangent1, lane, point.tangent1);
      set(frame.tangent2, lane, point.tangent2);
      set(frame.normal, lane, point.normal);
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

/// Sums in the order of the rows and of the blocks.
SweepSolver::Result SweepSolver::summaryOf(int part) const {
  Result result;
  for (const IndexRange packs : layout_.packsOfPart(part)) {
    for (int row = layout_.firstRow(packs.begin); row < layout_.firstRow(packs.end); ++row) {
      const RowRecord& record = records_[row];
      for (int lane = 0; lane < kLanes; ++lane) {
        result.sum += get(&record.normalWork, 0, lane) + get(&record.frictionWork, 0, lane) -
                      get(&record.pushedWork, 0, lane);
        if (record.point[lane] >= 0 && get(&rows_[row].change, 0, lane) > result.worst) {
          result.worst = get(&rows_[row].change, 0, lane);
          result.worstPoint = record.point[lane];
        }
      }
    }
  }
  const IndexRange blocks = layout_.blocksOfPart(part);
  for (int i = blocks.begin; i < blocks.end; ++i) result.sum += bodies_[i].offset;
  return result;
}

void SweepSolver::writePoints(int pack, ImpulseProblem& problem) const {
  const GroupPack& group = groups_[pack];
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
      if (group.firstSpin < 0) continue;
      const SpinPack& spin = spins_[group.firstSpin + k];
      point.rollingImpulse[0] = get(spin.sum, 0, lane);
      point.rollingImpulse[1] = get(spin.sum, 1, lane);
      point.torsionalImpulse = get(spin.sum, 2, lane);
    }
  }
}

void SweepSolver::writeBlock(int slot, ImpulseBlock* block) const {
  const Body& body = bodies_[slot];
  block->velocity = linear(velocities_[slot]);
  block->angularVelocity = angular(velocities_[slot]);
  block->displacement = body.displacement;
  block->rotation = body.rotation;
  block->meanDisplacement = body.mean;
  block->meanRotation = body.meanTurn;
  block->pushDisplacement = is_corrected_ ? dt_ * linear(pushes_[slot]) : Vec3{};
  block->pushRotation = is_corrected_ ? dt_ * angular(pushes_[slot]) : Vec3{};
  block->isTouched = body.isTouched;
}

}  // namespace tangere::solver
