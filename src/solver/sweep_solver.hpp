// SPDX-License-Identifier: Apache-2.0
//
// Sub-steps with sweeps of block Gauss-Seidel over the points of one island.
#pragma once

#include "solver/contact_packs.hpp"
#include "solver/impulse_problem.hpp"
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
  int numCorrectionSweeps = 1;
  /// false: every sub-step starts from zero impulses.
  bool isWarm = true;
  /// Times that conjugate gradients follow the sweeps of a sub-step which is
  /// not converged, and their steps at most.
  int numProjections = 0;
  int numProjectionSteps = 0;
};

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
  /// Solves the island and writes the report; the problem is as it was until
  /// writeBack(). `team` (may be null) shares the loops; the bits do not depend
  /// on it. `slotOfBlock` and `usedColors` have one entry for each block of the
  /// problem; those of the island are overwritten.
  void solve(const ImpulseProblem& problem, const ImpulseIsland& island,
             const ImpulseOptions& options, const SweepOptions& sweeps, Real dt,
             std::span<std::int32_t> slotOfBlock, std::span<std::uint64_t> usedColors, Team* team,
             ImpulseReport* report);
  /// Writes what the last solve() found into the blocks and points of the same
  /// island.
  void writeBack(ImpulseProblem& problem, const ImpulseIsland& island, Team* team);

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

  template <class Range>
  void forPacks(Team* team, int begin, int end, const Range& range);
  template <class Range>
  Real worstOf(Team* team, const Range& range);
  template <class Range>
  void forAll(Team* team, const Range& range);
  template <class Range>
  void forBodies(Team* team, const Range& range);

  void layOut(const ImpulseProblem& problem, const ImpulseIsland& island,
              std::span<std::uint64_t> usedColors);
  void fillBody(const ImpulseBlock& block, int slot, int numSubsteps);
  void fillPack(const ImpulseProblem& problem, std::span<const std::int32_t> slotOfBlock, int pack);
  void fillSlot(const ImpulseBlock& block, Real h, int slot);
  void beginSubstep(int slot, bool keepsImpulses);
  void endSubstep(int slot);
  template <class Range>
  Real forColors(Team* team, const Range& range);
  struct Gradients {
    Real energy;  // there was to take, by the diagonal blocks
    int numSteps;
  };
  int projectVelocities(Team* team, Real tolerance);
  int cleanVelocities(Team* team);
  [[nodiscard]] Real beginGradients(const PackView& view, Team* team);
  Gradients findStep(const PackView& view, Team* team, Real tolerance, Real residual);
  void takeStep(Team* team, Real factor, bool isExtra);
  void clearPushes(Team* team);
  [[nodiscard]] Real sumOfPartials() const;
  void correctPositions(const ImpulseOptions& options, Team* team);
  void summarize(ImpulseReport* report) const;

  SweepOptions sweeps_;
  Real dt_ = 0;
  bool is_corrected_ = false;
  bool has_driven_ = false;  // a fixed block that moves
  Real largest_gain_ = 0;    // of velocity, by the free accelerations in one sub-step
  int num_bodies_ = 0, num_packs_ = 0;
  int num_free_colors_ = 0,
      num_colors_ = 0;  // without and with that of the overflow
  std::vector<std::uint8_t> colors_;
  std::vector<std::int32_t> order_;  // groups by colour and number of points
  std::vector<std::int32_t> bucket_;
  std::vector<std::int32_t> color_end_;    // packs of each colour; the last is the overflow
  std::vector<std::int32_t> pack_groups_;  // four for each pack, -1: none
  std::vector<std::int32_t> pack_rows_;    // first row of each pack, and the end
  ScratchArray<GroupPack> groups_;
  ScratchArray<RowPack> rows_;
  ScratchArray<RowRecord> records_;
  ScratchArray<FramePack> frames_;
  ScratchArray<SpinPack> spins_;
  ScratchArray<ProjectionPack> projections_;
  ScratchArray<SlotVelocity> velocities_, sums_, moves_, pushes_;
  ScratchArray<Body> bodies_;
  ScratchArray<Real> item_results_, partials_;
  PackView view_{};
  const PackFunctions* functions_ = nullptr;
};

}  // namespace tangere::solver
