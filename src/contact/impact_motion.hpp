// SPDX-License-Identifier: Apache-2.0
//
// How bodies move within a step until they hit something, and where their shapes touch then.
#pragma once

#include "model/workspace.hpp"

namespace tangere::contact {

/// Motion of the gap of a point.
struct GapMotion {
  Real gap = 0, speed = 0, acceleration = 0;  ///< speed < 0: closing
};

/// How two blocks move at some time: block 1 at index 0.
struct PairMotion {
  Vec3 displacement[2], rotation[2];  ///< since the start of the step
  Vec3 velocity[2], angularVelocity[2];
  Vec3 acceleration[2], angularAcceleration[2];
};

/// A block at some time of the step.
struct PlacedBlock {
  Vec3 center{}, velocity{}, angularVelocity{};
  Vec3 displacement{}, rotation{};  ///< since its early time
  Quat orientation{};
  Real work = 0;  ///< of turning its inertia [J]
};

/// Blocks each have a time of their own (EarlyMotion::time); from there on they move freely, a
/// block that is held as if no force acted on it.
class ImpactMotion {
 public:
  ImpactMotion(const model::ModelData& model, const State& state, model::Workspace& ws)
      : model_(model), state_(state), ws_(ws) {}

  [[nodiscard]] bool mayMove(int block) const { return ws_.problem.blocks[block].inverseMass > 0; }
  /// The later of the two blocks' own times: both are known up to there.
  [[nodiscard]] Real startOf(const solver::ImpulseGroup& group) const;
  [[nodiscard]] PlacedBlock placeAt(int block, Real time) const;
  [[nodiscard]] PairMotion pairAt(int block1, int block2, Real time) const;
  /// By the normal and the arms that the point has.
  [[nodiscard]] static GapMotion motionOf(const solver::ImpulsePoint& point,
                                          const PairMotion& pair);
  [[nodiscard]] GapMotion motionAt(const solver::ImpulsePoint& point, Real time) const {
    return motionOf(point, pairAt(point.block1, point.block2, time));
  }
  [[nodiscard]] Vec3 velocityAt(const solver::ImpulsePoint& point) const;

  /// Moves a block on to `time`; not one that nothing moves.
  void advance(int block, Real time);
  /// Puts normals, arms and gaps of the group where the shapes are at `time`. False where they
  /// cannot be asked, or where it has as many faces as points: it then stays as it was foreseen.
  bool measure(const model::ImpactCandidate& candidate, Real time);
  /// Back to normals, arms and gaps of the start of the step.
  void placeAsForeseen(const solver::ImpulseGroup& group);
  /// One place for both arms of a point, with the blocks where they are by their own times.
  void joinArms(solver::ImpulsePoint* point) const;
  /// The contact problem goes on from where each block is now: durations, velocities of what was
  /// held, gaps and arms.
  void handOver();

 private:
  [[nodiscard]] Transform shapePoseAt(ObjectId shape, const PlacedBlock& placed) const;

  const model::ModelData& model_;
  const State& state_;
  model::Workspace& ws_;
};

}  // namespace tangere::contact
