// SPDX-License-Identifier: Apache-2.0
//
// Sub-steps with sweeps of block Gauss-Seidel over the points of one island.
#pragma once

#include "solver/contact_packs.hpp"
#include "solver/impulse_problem.hpp"
#include "solver/pack_layout.hpp"
#include "solver/team.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tangere::solver {

struct SweepOptions {
  int numSubsteps = 1;
  int numSweeps = 1;
  Real tolerance = 0;
  /// A tolerance as a part of the speed of the fastest block, where that is larger and nothing
  /// falls.
  Real partOfMotion = 0;
  int numCorrectionSweeps = 1;
  /// false: every sub-step starts from zero impulses.
  bool isWarm = true;
  /// Times that conjugate gradients follow the sweeps of a sub-step which is
  /// not converged, and their steps at most.
  int numProjections = 0;
  int numProjectionSteps = 0;
};

/// Islands of more moving blocks are large: something always moves in them.
inline constexpr int kMaxBodiesNearRest = 256;

/// An array that grows without keeping or clearing what it held: memory that a
/// problem does not use is never touched.
template <class T>
class ScratchArray {
 public:
  void grow(std::size_t size) {
    if (size <= capacity_) return;
    capacity_ = size + size / 2;
    data_ = std::make_unique_for_overwrite<T[]>(capacity_);
  }
  [[nodiscard]] T* data() const { return data_.get(); }
  T& operator[](std::size_t i) const { return data_[i]; }

 private:
  std::unique_ptr<T[]> data_;
  std::size_t capacity_ = 0;
};

/// Keeps its memory between solves. One at a time may use it.
class SweepSolver {
 public:
  /// Makes packs of the island. `slotOfBlock` and `usedColors` have one entry for
  /// each block of the problem; those of the island are overwritten.
  void layOut(const ImpulseProblem& problem, const ImpulseIsland& island,
              const SweepOptions& sweeps, std::span<std::int32_t> slotOfBlock,
              std::span<std::uint64_t> usedColors);
  /// Solves that island and writes the report; the problem is as it was until
  /// writeBack(). It may be repeated with other sweeps, but not more sub-steps
  /// or projections than it was laid out for. With a `team` (may be null) all
  /// its threads call this, and share the loops; the bits do not depend on it.
  void solve(const ImpulseProblem& problem, const ImpulseOptions& options,
             const SweepOptions& sweeps, Real dt, std::span<const std::int32_t> slotOfBlock,
             Team* team, ImpulseReport* report);
  /// Writes what the last solve() found into the blocks and points of the same
  /// island.
  void writeBack(ImpulseProblem& problem, Team* team);

 private:
  /// A moving block.
  struct Body {
    Vec3 before, beforeTurn;  // at the start of the sub-step
    Vec3 start, startTurn;    // after the free acceleration
    Vec3 gain, gainTurn;      // of the free acceleration, in one sub-step
    Vec3 weight, weightTurn;  // the same as momentum
    Vec3 delta, deltaTurn;    // of the contacts, in the last sub-step
    Vec3 displacement, rotation, mean, meanTurn;
    Real h;
    Real offset;  // contact work upon the free motion, less that of the mean
                  // motion
    bool isTouched;
  };

  struct Result {
    Real worst = 0;  // the largest
    Real sum = 0;    // of the partials, where there are any
    std::int32_t worstPoint = -1;
  };
  struct alignas(64) PartResult {
    Result value;
  };
  /// What decides how an island is solved.
  struct alignas(64) PartContent {
    Real fastest2 = 0;  // of blocks, see fastest_
    Real largestGain = 0;
    bool hasSpin = false, hasDriven = false;
  };

  /// Nesterov's sequence: each sweep starts from where the last two were heading, and the more so
  /// the longer that went well.
  struct Momentum {
    Real t = 1;
    bool isNew = true;

    /// For the next sweep, as a part of what the last one did.
    [[nodiscard]] Real next();
  };

  [[nodiscard]] int numBodies() const { return static_cast<int>(layout_.blocks().size()); }
  [[nodiscard]] bool isLarge() const { return numBodies() > kMaxBodiesNearRest; }

  template <class Function>
  void once(Team* team, const Function& function);
  template <class PerItem>
  void forEach(Team* team, int count, const PerItem& perItem);
  /// range(begin, end) on blocks, or on all packs, in no order.
  template <class Range>
  void forBodies(Team* team, const Range& range);
  template <class Range>
  void forPacks(Team* team, const Range& range);
  /// What perPart(part) returns, together.
  template <class PerPart>
  [[nodiscard]] Result resultOf(Team* team, const PerPart& perPart);
  /// As forPacks: the largest result, and with it the sum of the partials.
  template <class Range>
  [[nodiscard]] Result worstOf(Team* team, const Range& range);
  template <class Range>
  [[nodiscard]] Result sumsOf(Team* team, const Range& range);
  /// range(begin, end) on all packs, parts first and then union after union: it
  /// may change the blocks. Returns the largest result.
  template <class Range>
  Real inOrder(Team* team, const Range& range);
  /// The square of the largest change of velocity by a sweep, with or without momentum.
  [[nodiscard]] Real sweepOnce(Team* team);
  [[nodiscard]] Real sweepOn(Team* team, Momentum* momentum);
  [[nodiscard]] PartResult* resultsOfLoop(Team* team);

  void takeOverPoints(int pack, const ImpulseProblem& problem) const;
  [[nodiscard]] bool mayHaveMomentum() const { return isLarge() && sweeps_.numProjections > 0; }
  /// Bodies, packs, and what there is among them.
  void fill(const ImpulseProblem& problem, std::span<const std::int32_t> slotOfBlock, Team* team);
  void joinContents();
  [[nodiscard]] bool hasDriven(const ImpulseProblem& problem, int pack) const;
  void growArrays();
  void fillBody(const ImpulseBlock& block, int slot);
  void fillPack(const ImpulseProblem& problem, std::span<const std::int32_t> slotOfBlock, int pack);
  void fillLane(const ImpulseProblem& problem, std::span<const std::int32_t> slotOfBlock, int pack,
                int lane);
  void fillSlot(const ImpulseBlock& block, Real h, int slot);
  [[nodiscard]] Real solveSubstep(Team* team, bool isFirst, int* iterations);
  void beginSubstep(int slot, bool keepsImpulses);
  void endSubstep(int slot);
  struct Gradients {
    Real energy;  // there was to take, by the diagonal blocks
    int numSteps;
  };
  int projectVelocities(Team* team, Real tolerance);
  int cleanVelocities(Team* team);
  [[nodiscard]] bool isNearRest() const;
  [[nodiscard]] Real toleranceOfCreep() const;
  [[nodiscard]] bool leavesCones(Team* team);
  [[nodiscard]] Result beginGradients(const PackView& view, Team* team);
  Gradients findStep(const PackView& view, Team* team, Real tolerance, const Result& start);
  void takeStep(Team* team, Real factor, bool isExtra);
  void clearPushes(int begin, int end);
  void correctPositions(const TargetRule& rule, Team* team);
  void summarize(Team* team, ImpulseReport* report);
  [[nodiscard]] Result summaryOf(int part) const;
  void writePoints(int pack, ImpulseProblem& problem) const;
  void writeBlock(int slot, ImpulseBlock* block) const;

  SweepOptions sweeps_;
  Real dt_ = 0;
  bool is_corrected_ = false;
  bool has_momentum_ = false;
  bool has_driven_ = false;  // a fixed block that moves
  Real largest_gain_ = 0;    // of velocity, by the free accelerations in one sub-step
  Real fastest_ = 0;         // block, before the step: root of its kinetic energy per half mass
  TargetRule rule_;          // of overlapping points
  PackLayout layout_;
  ScratchArray<GroupPack> groups_;
  ScratchArray<RowPack> rows_;
  ScratchArray<RowRecord> records_;
  ScratchArray<FramePack> frames_;
  ScratchArray<SpinPack> spins_;
  ScratchArray<ProjectionPack> projections_;
  ScratchArray<RowMomentum> row_momenta_;
  ScratchArray<SlotMomentum> slot_momenta_;
  ScratchArray<SlotVelocity> velocities_, sums_, moves_, pushes_;
  ScratchArray<Body> bodies_;
  ScratchArray<Real> partials_;
  std::vector<PartResult> results_;    // of each part or union, of the last two loops
  std::vector<PartContent> contents_;  // of each part
  PackView view_{};
  const PackFunctions* functions_ = nullptr;
};

template <class Function>
void SweepSolver::once(Team* team, const Function& function) {
  if (team != nullptr) return team->once(function);
  function();
}

template <class PerItem>
void SweepSolver::forEach(Team* team, int count, const PerItem& perItem) {
  if (team != nullptr) return team->forEach(count, perItem);
  for (int i = 0; i < count; ++i) perItem(i);
}

template <class Range>
void SweepSolver::forBodies(Team* team, const Range& range) {
  forEach(team, layout_.numParts(), [&](int part) {
    const IndexRange blocks = layout_.blocksOfPart(part);
    range(blocks.begin, blocks.end);
  });
}

template <class Range>
void SweepSolver::forPacks(Team* team, const Range& range) {
  forEach(team, layout_.numParts(), [&](int part) {
    for (const IndexRange packs : layout_.packsOfPart(part)) range(packs.begin, packs.end);
  });
}

}  // namespace tangere::solver
