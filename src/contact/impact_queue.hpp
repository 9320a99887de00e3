// SPDX-License-Identifier: Apache-2.0
//
// Impacts and landings of one step in the order of their times, and what the contact problem takes
// over after the last (impact_handover.cpp).
#pragma once

#include "contact/impact_motion.hpp"
#include "contact/impact_round.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tangere::contact {

inline constexpr Real kNever = std::numeric_limits<Real>::infinity();
/// Slower landings than what gravity adds in this many steps are left to the contact problem.
inline constexpr Real kLandingSteps = 4;

class ImpactQueue {
 public:
  ImpactQueue(const model::ModelData& model, const State& state, model::Workspace& ws)
      : model_(model), ws_(ws), motion_(model, state, ws), round_(model, motion_, ws) {}

  void run();

 private:
  [[nodiscard]] bool findQuick();
  [[nodiscard]] bool findCandidates();
  void findNeighbours();
  void findWhetherHeld(int block);
  void setEvent(model::ImpactCandidate* candidate) const;
  void push(int candidate);
  [[nodiscard]] int pop(Real latest);
  void measure(int index);
  void gatherTogether(int first, Real time);
  void renew(int block);
  [[nodiscard]] bool hasLandedBefore(const model::ImpactCandidate& candidate) const;
  void giveUpLanding(int index);
  bool land(const model::ImpactCandidate& candidate);
  [[nodiscard]] bool findCluster(const solver::ImpulseGroup& group, Real time);
  [[nodiscard]] bool isPressed(const solver::ImpulseGroup& group) const;
  void resolveTogether(Real time);
  [[nodiscard]] bool isHeldBy(int block, const solver::ImpulsePoint& point) const;
  [[nodiscard]] int root(int block) const;
  void placeRest();
  [[nodiscard]] bool isNearerThanForeseen(const solver::ImpulseGroup& group, Real time) const;
  void bringAlong();
  void findFollowers(int block);
  [[nodiscard]] Real closingTime(const solver::ImpulseGroup& group) const;
  [[nodiscard]] Real freeUntil(int block) const;
  void keepFlights();
  void keepBounces();

  [[nodiscard]] std::span<solver::ImpulsePoint> pointsOf(const solver::ImpulseGroup& group) const {
    return {ws_.problem.points.data() + group.first, static_cast<std::size_t>(group.count)};
  }

  const model::ModelData& model_;
  model::Workspace& ws_;
  ImpactMotion motion_;
  ImpactRound round_;
  model::ImpactMemory& memory_ = ws_.impactMemory;
  std::vector<model::ImpactCandidate>& candidates_ = memory_.candidates;
  const Real dt_ = model_.options.dt;
  const Real bounceSpeed_ = std::max(model_.options.restitutionThreshold, kLeastApproach);
  const Real landingSpeed_ =
      std::max(kLandingSteps * norm(model_.options.gravity) * dt_, kLeastApproach);
  /// A gap that counts as closed (solve_contacts.cpp) [m].
  const Real closed_ = Real(0.01) * model_.options.impulse.slop;
  bool hasEarly_ = false;
};

}  // namespace tangere::contact
