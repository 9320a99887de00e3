// SPDX-License-Identifier: Apache-2.0
//
// One round of impacts: points of connected bodies that close at the same time, as one problem.
#pragma once

#include "contact/impact_motion.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

namespace tangere::contact {

/// Slower approaches are rounding, whatever the threshold [m/s].
inline constexpr Real kLeastApproach = 1e-9;
/// What closes within this part of a step belongs to one impact.
inline constexpr Real kSameTime = 1e-6;

/// Of the two materials of a group.
[[nodiscard]] inline Real restitutionOf(const model::ModelData& model, const model::Workspace& ws,
                                        int group) {
  if (!model.hasRestitution) return 0;
  const auto [shape1, shape2] = ws.groupShapes[group];
  return model.contactMaterial(model.shapes[shape1].material, model.shapes[shape2].material)
      .restitution;
}

/// Its memory is that of the workspace.
class ImpactRound {
 public:
  ImpactRound(const model::ModelData& model, ImpactMotion& motion, model::Workspace& ws)
      : model_(model), ws_(ws), motion_(motion) {}

  /// Resolves the impacts of `set`, entries that have a candidate in their lower half, and gives
  /// the blocks the velocities after. What is squeezed bounces no more.
  void resolve(std::span<const std::uint64_t> set, Real time);

 private:
  void fill(std::span<const std::uint64_t> set, Real time);
  void add(const solver::ImpulseGroup& group, Real restitution, Real time);
  [[nodiscard]] int slotOf(int block);
  [[nodiscard]] bool solve(Real mostRestitution);
  [[nodiscard]] bool easeFriction(Real mostRestitution);
  void takeOver();
  void giveUpJammed(std::span<const std::uint64_t> set, Real time);

  const model::ModelData& model_;
  model::Workspace& ws_;
  ImpactMotion& motion_;
  model::ImpactMemory& memory_ = ws_.impactMemory;
  std::vector<model::ImpactCandidate>& candidates_ = memory_.candidates;
  const Real dt_ = model_.options.dt;
};

}  // namespace tangere::contact
