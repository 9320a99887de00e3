// SPDX-License-Identifier: Apache-2.0
//
// What the contact problem takes over after impacts and landings: where pairs that did neither are,
// which bodies come along with those that moved on, and gaps that must not be closed.
#include "contact/impact_queue.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tangere::contact {

/// What was asked where it is at a time at which it then neither bounced nor landed goes back to
/// where the contact problem takes it over, if it counts as much nearer than it is: a gap that
/// would be closed there need not be here.
void ImpactQueue::placeRest() {
  for (model::ImpactCandidate& candidate : candidates_) {
    if (candidate.measuredAt < 0 || candidate.hasHappened) continue;
    const solver::ImpulseGroup& group = ws_.problem.groups[candidate.group];
    const Real start = motion_.startOf(group);
    if (isNearerThanForeseen(group, start)) {
      motion_.placeAsForeseen(group);
      if (start > 0) motion_.measure(candidate, start);
    }
    for (solver::ImpulsePoint& point : pointsOf(group)) motion_.joinArms(&point);
  }
}

bool ImpactQueue::isNearerThanForeseen(const solver::ImpulseGroup& group, Real time) const {
  constexpr Real kMuch = 0.5;
  const PairMotion pair = motion_.pairAt(group.block1, group.block2, time);
  for (int i = group.first; i < group.first + group.count; ++i) {
    const model::StartPoint& start = memory_.start[i];
    solver::ImpulsePoint foreseen = ws_.problem.points[i];
    foreseen.normal = start.normal;
    foreseen.r1 = start.r1;
    foreseen.r2 = start.r2;
    foreseen.gap = start.gap;
    const Real gap = ImpactMotion::motionOf(foreseen, pair).gap;
    if (gap > closed_ && ImpactMotion::motionOf(ws_.problem.points[i], pair).gap < kMuch * gap)
      return true;
  }
  return false;
}

/// Over what is left of the step the contact problem moves each body by its velocity at the end.
/// One that is pushed by another which is farther on would be pushed at the time of that one and
/// moved as if it had been pushed at its own. So it comes along, and so does what it may push, each
/// body as far as nothing is in its way.
void ImpactQueue::bringAlong() {
  std::vector<int>& level = memory_.stack;
  std::vector<int>& next = memory_.cluster;
  memory_.comesTo.assign(ws_.problem.blocks.size(), 0);
  level.clear();
  for (int block = 0; block < static_cast<int>(ws_.early.size()); ++block)
    if (ws_.early[block].time > 0) level.push_back(block);
  while (!level.empty()) {
    next.clear();
    for (const int block : level) findFollowers(block);
    for (const int block : next) {
      memory_.isInCluster[block] = 0;
      findWhetherHeld(block);
    }
    for (const int block : next)
      memory_.comesTo[block] = std::min(memory_.comesTo[block], freeUntil(block));
    for (const int block : next) motion_.advance(block, memory_.comesTo[block]);
    std::swap(level, next);
  }
}

/// Bodies that are behind and may be pushed by this one, each once: to `cluster` and `comesTo`.
void ImpactQueue::findFollowers(int block) {
  const Real time = ws_.early[block].time;
  for (int k = memory_.first[block]; k < memory_.first[block + 1]; ++k) {
    const int g = memory_.list[k];
    const solver::ImpulseGroup& group = ws_.problem.groups[g];
    const int other = group.block1 == block ? group.block2 : group.block1;
    if (!motion_.mayMove(other) || ws_.early[other].hasLanded || !(time > ws_.early[other].time))
      continue;
    const int candidate = memory_.candidateOf[g];
    const bool hasMet = candidate >= 0 && candidates_[candidate].hasHappened;
    if (memory_.isTouching[g] == 0 && memory_.isQuick[other] == 0 && !hasMet) continue;
    if (memory_.isInCluster[other] == 0) {
      if (memory_.comesTo[other] > 0) continue;
      memory_.isInCluster[other] = 1;
      memory_.cluster.push_back(other);
    }
    memory_.comesTo[other] = std::max(memory_.comesTo[other], time);
  }
}

/// When the first gap of the group that is still open closes, however slowly.
Real ImpactQueue::closingTime(const solver::ImpulseGroup& group) const {
  const Real start = motion_.startOf(group);
  const PairMotion pair = motion_.pairAt(group.block1, group.block2, start);
  Real first = kNever;
  for (const solver::ImpulsePoint& point : pointsOf(group)) {
    const GapMotion m = ImpactMotion::motionOf(point, pair);
    if (!(m.gap > closed_)) continue;
    const Real discriminant = m.speed * m.speed - 2 * m.acceleration * m.gap;
    const Real root = std::sqrt(std::max<Real>(discriminant, 0));
    if (discriminant >= 0 && root - m.speed > 0)
      first = std::min(first, start + 2 * m.gap / (root - m.speed));
  }
  return first;
}

Real ImpactQueue::freeUntil(int block) const {
  Real time = dt_;
  for (int k = memory_.first[block]; k < memory_.first[block + 1]; ++k)
    time = std::min(time, closingTime(ws_.problem.groups[memory_.list[k]]));
  return time;
}

/// The contact problem moves a body by its velocity at the end of the step and so would stop one
/// that flies over the step without touching: what gravity has not yet done counts as gap.
void ImpactQueue::keepFlights() {
  for (const model::ImpactCandidate& candidate : candidates_) {
    const solver::ImpulseGroup& group = ws_.problem.groups[candidate.group];
    const Real start = motion_.startOf(group);
    const Real left = dt_ - start;
    const solver::ImpulseBlock& block1 = ws_.problem.blocks[group.block1];
    const solver::ImpulseBlock& block2 = ws_.problem.blocks[group.block2];
    // Most fall side by side.
    if (block1.acceleration == block2.acceleration &&
        block1.angularAcceleration == block2.angularAcceleration) {
      continue;
    }
    const PairMotion pair = motion_.pairAt(group.block1, group.block2, start);
    for (solver::ImpulsePoint& point : pointsOf(group)) {
      if (!(point.gap > 0)) continue;
      const GapMotion m = ImpactMotion::motionOf(point, pair);
      const Real fall = Real(-0.5) * m.acceleration * left * left;
      if (fall > 0 && m.gap + m.speed * left >= fall) point.gap += fall;
    }
  }
}

/// What will bounce in the next step is not yet closed: the contact problem would stop it without.
void ImpactQueue::keepBounces() {
  for (const model::ImpactCandidate& candidate : candidates_) {
    if (!candidate.bounces || !(restitutionOf(model_, ws_, candidate.group) > 0)) continue;
    const solver::ImpulseGroup& group = ws_.problem.groups[candidate.group];
    const Real left = dt_ - motion_.startOf(group);
    for (solver::ImpulsePoint& point : pointsOf(group)) {
      if (!(point.gap > 0 && point.gap < closed_)) continue;
      const Real approach = -dot(point.normal, motion_.velocityAt(point));
      if (approach > bounceSpeed_ && point.gap >= approach * left) point.gap = closed_;
    }
  }
}

}  // namespace tangere::contact
