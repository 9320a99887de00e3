// SPDX-License-Identifier: Apache-2.0
#include "contact/impacts.hpp"

#include "contact/impact_queue.hpp"
#include "core/stable_sort.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>

namespace tangere::contact {

namespace {

/// A closed point that moves by less than this part of what its forces would add is held.
constexpr Real kHeldPart = 0.05;

}  // namespace

void resolveImpacts(const model::ModelData& model, const State& state, model::Workspace& ws) {
  ws.impacts.clear();
  ws.early.clear();
  ws.report.numImpacts = 0;
  ImpactQueue(model, state, ws).run();
}

void ImpactQueue::run() {
  if (!findCandidates()) return;
  bool isAny = false;
  for (model::ImpactCandidate& candidate : candidates_) {
    setEvent(&candidate);
    isAny = isAny || candidate.time < kNever;
  }
  if (isAny) {
    findNeighbours();
    memory_.events.clear();
    for (int k = 0; k < static_cast<int>(candidates_.size()); ++k) push(k);
  }
  while (isAny) {
    const int next = pop(dt_);
    if (next < 0) break;
    model::ImpactCandidate& candidate = candidates_[next];
    if (!candidate.isImpact && hasLandedBefore(candidate)) {
      giveUpLanding(next);
      continue;
    }
    if (candidate.measuredAt != candidate.time) {
      measure(next);
      continue;
    }
    if (!candidate.isImpact) {
      candidate.hasHappened = land(candidate);
      giveUpLanding(next);
      continue;
    }
    if (ws_.report.numImpacts >= model_.options.maxImpactsPerStep) {
      ws_.report.status = ws_.report.status | StepStatus::ImpactsCut;
      break;
    }
    const Real time = candidate.time;
    gatherTogether(next, time);
    for (const std::uint64_t entry : memory_.together) candidates_[entry].hasHappened = true;
    resolveTogether(time);
  }
  if (isAny) placeRest();
  if (hasEarly_) bringAlong();
  keepFlights();
  if (hasEarly_) motion_.handOver();
  keepBounces();
  for (const int group : ws_.fastGroups) {
    for (solver::ImpulsePoint& point : pointsOf(ws_.problem.groups[group]))
      motion_.joinArms(&point);
  }
  if (!hasEarly_) ws_.early.clear();
  if (ws_.report.numImpacts == 0) ws_.impacts.clear();
}

/// Which bodies move fast enough to hit something; false: none.
bool ImpactQueue::findQuick() {
  memory_.isQuick.assign(model_.bodies.size(), 0);
  bool isAny = false;
  const Real least = landingSpeed_ / 2;
  for (const model::ModelShape& shape : model_.shapes) {
    const solver::ImpulseBlock& block = ws_.problem.blocks[shape.body];
    const Real squaredSpeed = squaredNorm(block.velocity - ws_.frameVelocity);
    const Real squaredTurn = squaredNorm(block.angularVelocity) * shape.reach * shape.reach;
    // (a + b)^2 <= 2 (a^2 + b^2)
    if (!(2 * (squaredSpeed + squaredTurn) > least * least)) continue;
    memory_.isQuick[shape.body] = 1;
    isAny = true;
  }
  return isAny;
}

bool ImpactQueue::findCandidates() {
  candidates_.clear();
  const bool isAnyQuick = findQuick();
  if (!model_.hasRestitution && ws_.fastGroups.empty() && !isAnyQuick) return false;
  const int numGroups = static_cast<int>(ws_.problem.groups.size());
  std::vector<std::uint8_t>& isBouncy = memory_.isBouncy;
  if (model_.hasRestitution) {
    isBouncy.assign(model_.bodies.size(), 0);
    for (int g = 0; g < numGroups; ++g) {
      const solver::ImpulseGroup& group = ws_.problem.groups[g];
      if (!(restitutionOf(model_, ws_, g) > 0)) continue;
      isBouncy[group.block1] = motion_.mayMove(group.block1);
      isBouncy[group.block2] = motion_.mayMove(group.block2);
    }
  }
  for (int g = 0; g < numGroups; ++g) {
    const solver::ImpulseGroup& group = ws_.problem.groups[g];
    const bool isFast = !ws_.fastGroups.empty() &&
                        std::binary_search(ws_.fastGroups.begin(), ws_.fastGroups.end(), g);
    const bool bounces = isFast || (model_.hasRestitution &&
                                    (isBouncy[group.block1] != 0 || isBouncy[group.block2] != 0));
    const bool isQuick = memory_.isQuick[group.block1] != 0 || memory_.isQuick[group.block2] != 0;
    const auto points = pointsOf(group);
    const bool isApart =
        isQuick && std::any_of(points.begin(), points.end(),
                               [&](const solver::ImpulsePoint& p) { return p.gap > closed_; });
    if (!bounces && !isApart) continue;
    candidates_.push_back({.group = g, .bounces = bounces, .isFast = isFast, .mayLand = isApart});
  }
  if (candidates_.empty()) return false;
  ws_.early.assign(ws_.problem.blocks.size(), {});
  memory_.start.resize(ws_.problem.points.size());
  for (const model::ImpactCandidate& candidate : candidates_) {
    const solver::ImpulseGroup& group = ws_.problem.groups[candidate.group];
    for (int i = group.first; i < group.first + group.count; ++i) {
      const solver::ImpulsePoint& point = ws_.problem.points[i];
      memory_.start[i] = {point.r1, point.r2, point.normal, point.gap};
    }
  }
  return true;
}

void ImpactQueue::findNeighbours() {
  const int numGroups = static_cast<int>(ws_.problem.groups.size());
  std::vector<int>& first = memory_.first;
  first.assign(ws_.problem.blocks.size() + 1, 0);
  memory_.isTouching.resize(ws_.problem.groups.size());
  memory_.candidateOf.assign(ws_.problem.groups.size(), -1);
  for (int g = 0; g < numGroups; ++g) {
    const solver::ImpulseGroup& group = ws_.problem.groups[g];
    ++first[group.block1 + 1];
    ++first[group.block2 + 1];
    const auto points = pointsOf(group);
    memory_.isTouching[g] =
        std::any_of(points.begin(), points.end(),
                    [&](const solver::ImpulsePoint& point) { return point.gap <= closed_; });
  }
  for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  memory_.list.resize(2 * ws_.problem.groups.size());
  memory_.fill.assign(first.begin(), first.end() - 1);
  for (int g = 0; g < numGroups; ++g) {
    memory_.list[memory_.fill[ws_.problem.groups[g].block1]++] = g;
    memory_.list[memory_.fill[ws_.problem.groups[g].block2]++] = g;
  }
  for (int k = 0; k < static_cast<int>(candidates_.size()); ++k)
    memory_.candidateOf[candidates_[k].group] = k;
  memory_.isInCluster.assign(ws_.problem.blocks.size(), 0);
  memory_.parent.assign(ws_.problem.blocks.size(), -1);
  memory_.slot.assign(ws_.problem.blocks.size(), -1);
}

/// A body that something carries does not fall within the step.
void ImpactQueue::findWhetherHeld(int block) {
  model::EarlyMotion& early = ws_.early[block];
  if (early.isHeldKnown || !motion_.mayMove(block)) return;
  early.isHeldKnown = true;
  if (ws_.problem.blocks[block].acceleration == Vec3{}) return;
  for (int k = memory_.first[block]; k < memory_.first[block + 1]; ++k) {
    if (memory_.isTouching[memory_.list[k]] == 0) continue;
    for (const solver::ImpulsePoint& point : pointsOf(ws_.problem.groups[memory_.list[k]]))
      early.isHeld = early.isHeld || isHeldBy(block, point);
  }
  if (early.isHeld) renew(block);
}

/// Its forces press it against the point, and it does not move there.
bool ImpactQueue::isHeldBy(int block, const solver::ImpulsePoint& point) const {
  if (point.gap > closed_) return false;
  const Real sign = point.block1 == block ? 1 : -1;
  const Real pressing = -sign * dot(point.normal, ws_.problem.blocks[block].acceleration);
  const Real speed = dot(point.normal, motion_.velocityAt(point));
  return std::fabs(speed) <= kHeldPart * pressing * dt_;
}

/// When the first point of the group closes fast enough to count.
void ImpactQueue::setEvent(model::ImpactCandidate* candidate) const {
  const solver::ImpulseGroup& group = ws_.problem.groups[candidate->group];
  const Real start = motion_.startOf(group);
  const Real left = dt_ - start;
  Real impact = kNever, landing = kNever;
  candidate->isImpact = false;
  candidate->time = kNever;
  if (!candidate->bounces && !candidate->mayLand) return;
  const PairMotion pair = motion_.pairAt(group.block1, group.block2, start);
  for (int i = group.first; i < group.first + group.count; ++i) {
    if (!candidate->bounces && !(memory_.start[i].gap > closed_)) continue;
    const GapMotion m = ImpactMotion::motionOf(ws_.problem.points[i], pair);
    Real wait = 0;
    // A point that is parting, as after its own impact, may come back within the step.
    if (m.gap > 0 || m.speed > 0) {
      // gap + speed t + acceleration t^2/2 = 0, first root, written so that nothing cancels.
      const Real discriminant = m.speed * m.speed - 2 * m.acceleration * m.gap;
      if (discriminant < 0) continue;
      const Real root = std::sqrt(discriminant);
      if (m.speed < 0) {
        wait = 2 * m.gap / (-m.speed + root);
      } else {
        if (!(m.acceleration < 0)) continue;
        wait = (m.speed + root) / -m.acceleration;
      }
      if (!(wait <= left)) continue;
    }
    const Real approach = -(m.speed + m.acceleration * wait);
    if (candidate->bounces && approach > bounceSpeed_) {
      impact = std::min(impact, start + wait);
    } else if (candidate->mayLand && approach > landingSpeed_ && memory_.start[i].gap > closed_) {
      landing = std::min(landing, start + wait);
    }
  }
  candidate->isImpact = impact < kNever && impact <= landing + kSameTime * dt_;
  candidate->time = candidate->isImpact ? impact : landing;
}

void ImpactQueue::push(int candidate) {
  model::ImpactCandidate& c = candidates_[candidate];
  if (!(c.time < kNever) || c.queuedAt == c.time) return;
  c.queuedAt = c.time;
  memory_.events.emplace_back(c.time, candidate);
  std::push_heap(memory_.events.begin(), memory_.events.end(), std::greater<>{});
}

/// The candidate of the next event up to `latest`; -1: none.
int ImpactQueue::pop(Real latest) {
  std::vector<std::pair<Real, int>>& events = memory_.events;
  while (!events.empty()) {
    const auto [time, candidate] = events.front();
    model::ImpactCandidate& c = candidates_[candidate];
    const bool isCurrent = c.time == time && c.queuedAt == time;
    if (isCurrent && time > latest) return -1;
    std::pop_heap(events.begin(), events.end(), std::greater<>{});
    events.pop_back();
    if (!isCurrent) continue;
    c.queuedAt = -1;
    return candidate;
  }
  return -1;
}

/// Time and place of the event by the shapes themselves; puts it back into the queue. The normal
/// turns while they come together, and with it the time at which they touch.
void ImpactQueue::measure(int index) {
  constexpr int kMaxMeasures = 12;
  model::ImpactCandidate& candidate = candidates_[index];
  const solver::ImpulseGroup& group = ws_.problem.groups[candidate.group];
  const Real planned = candidate.time;
  findWhetherHeld(group.block1);
  findWhetherHeld(group.block2);
  if (candidate.time != planned) return push(index);  // held: it closes at another time
  const bool wasApart = std::any_of(
      memory_.start.begin() + group.first, memory_.start.begin() + group.first + group.count,
      [&](const model::StartPoint& start) { return start.gap > closed_; });
  for (int round = 0; wasApart && round < kMaxMeasures; ++round) {
    const Real time = candidate.time;
    const Vec3 normal = ws_.problem.points[group.first].normal;
    if (!motion_.measure(candidate, time)) break;
    setEvent(&candidate);
    if (!(candidate.time < kNever)) break;
    // The time knows of an error of the normal by its square alone. What lands is closed within
    // a thousandth of a millimetre.
    const Real turned = norm(ws_.problem.points[group.first].normal - normal);
    const Real exactTime = candidate.isImpact ? 1e-10 : 1e-8,
               exactNormal = candidate.isImpact ? 1e-13 : 1e-10;
    if (std::fabs(candidate.time - time) <= exactTime * dt_ && turned <= exactNormal) break;
  }
  candidate.measuredAt = candidate.time;
  push(index);
}

/// All impacts of `time`.
void ImpactQueue::gatherTogether(int first, Real time) {
  memory_.together.assign(1, static_cast<std::uint64_t>(first));
  memory_.later.clear();
  while (true) {
    const int next = pop(time + kSameTime * dt_);
    if (next < 0) break;
    model::ImpactCandidate& candidate = candidates_[next];
    if (candidate.measuredAt != candidate.time) {
      measure(next);
    } else if (candidate.isImpact) {
      memory_.together.push_back(static_cast<std::uint64_t>(next));
    } else {
      memory_.later.push_back(next);
    }
  }
  for (const int candidate : memory_.later) push(candidate);
}

/// After the motion of a block has changed.
void ImpactQueue::renew(int block) {
  if (!motion_.mayMove(block)) return;
  for (int k = memory_.first[block]; k < memory_.first[block + 1]; ++k) {
    const int candidate = memory_.candidateOf[memory_.list[k]];
    if (candidate < 0) continue;
    setEvent(&candidates_[candidate]);
    push(candidate);
  }
}

bool ImpactQueue::hasLandedBefore(const model::ImpactCandidate& candidate) const {
  const solver::ImpulseGroup& group = ws_.problem.groups[candidate.group];
  const auto hasLanded = [&](int block) {
    return ws_.early[block].hasLanded && ws_.early[block].time < candidate.time - kSameTime * dt_;
  };
  return hasLanded(group.block1) || hasLanded(group.block2);
}

void ImpactQueue::giveUpLanding(int index) {
  candidates_[index].mayLand = false;
  setEvent(&candidates_[index]);
  push(index);
}

/// Moves the bodies to where they touch, with all that moves along with them. False where one of
/// them has landed before.
bool ImpactQueue::land(const model::ImpactCandidate& candidate) {
  const Real time = candidate.time;
  if (!findCluster(ws_.problem.groups[candidate.group], time)) return false;
  hasEarly_ = true;
  for (const int block : memory_.cluster) {
    findWhetherHeld(block);
    motion_.advance(block, time);
    ws_.early[block].hasLanded = true;
  }
  for (const int block : memory_.cluster) {
    for (int k = memory_.first[block]; k < memory_.first[block + 1]; ++k) {
      const int other = memory_.candidateOf[memory_.list[k]];
      if (other < 0) continue;
      model::ImpactCandidate& c = candidates_[other];
      if (!c.bounces && c.time > time + kSameTime * dt_) {
        c.mayLand = false;
        c.time = kNever;
      } else if (c.bounces) {
        setEvent(&c);
        push(other);
      }
    }
  }
  return true;
}

/// The quick blocks that touch each other, from those of the group on; false where one of them has
/// landed before: a block has one landing in a step, the rest is left to the contact problem.
bool ImpactQueue::findCluster(const solver::ImpulseGroup& group, Real time) {
  std::vector<int>& cluster = memory_.cluster;
  cluster.clear();
  const auto add = [&](int block) {
    if (!motion_.mayMove(block) || memory_.isInCluster[block] != 0) return;
    memory_.isInCluster[block] = 1;
    cluster.push_back(block);
  };
  for (const int block : {group.block1, group.block2}) {
    if (memory_.isQuick[block] != 0) add(block);
  }
  if (cluster.empty()) {
    add(group.block1);
    add(group.block2);
  }
  bool isFree = true;
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    const int block = cluster[i];
    const model::EarlyMotion& early = ws_.early[block];
    isFree = isFree && !(early.hasLanded && early.time < time - kSameTime * dt_);
    for (int k = memory_.first[block]; k < memory_.first[block + 1]; ++k) {
      const int g = memory_.list[k];
      if (memory_.isTouching[g] == 0) continue;
      const solver::ImpulseGroup& next = ws_.problem.groups[g];
      const int other = next.block1 == block ? next.block2 : next.block1;
      isFree = isFree && !isPressed(next);
      if (memory_.isQuick[other] != 0) add(other);
    }
  }
  for (const int block : cluster) memory_.isInCluster[block] = 0;
  return isFree;
}

/// It touches and approaches all the same: it lands as the step begins.
bool ImpactQueue::isPressed(const solver::ImpulseGroup& group) const {
  const auto points = pointsOf(group);
  return motion_.startOf(group) == 0 &&
         std::any_of(points.begin(), points.end(), [&](const solver::ImpulsePoint& point) {
           return point.gap <= closed_ &&
                  -dot(point.normal, motion_.velocityAt(point)) > landingSpeed_;
         });
}

int ImpactQueue::root(int block) const {
  while (memory_.parent[block] != block) block = memory_.parent[block];
  return block;
}

/// One round: what is connected is one problem.
void ImpactQueue::resolveTogether(Real time) {
  hasEarly_ = true;
  if (ws_.impacts.empty()) ws_.impacts.assign(ws_.problem.points.size(), {});
  std::vector<std::uint64_t>& together = memory_.together;
  const auto groupOf = [&](std::uint64_t entry) -> const solver::ImpulseGroup& {
    return ws_.problem.groups[candidates_[entry & 0xffffffffu].group];
  };
  std::vector<int>& parent = memory_.parent;
  for (const std::uint64_t entry : together) {
    const solver::ImpulseGroup& group = groupOf(entry);
    for (const int block : {group.block1, group.block2}) {
      if (!motion_.mayMove(block)) continue;
      motion_.advance(block, time);
      parent[block] = block;
    }
  }
  for (const std::uint64_t entry : together) {
    const solver::ImpulseGroup& group = groupOf(entry);
    if (!motion_.mayMove(group.block1) || !motion_.mayMove(group.block2)) continue;
    const int root1 = root(group.block1), root2 = root(group.block2);
    parent[std::max(root1, root2)] = std::min(root1, root2);
  }
  for (std::uint64_t& entry : together) {
    const solver::ImpulseGroup& group = groupOf(entry);
    const int block = motion_.mayMove(group.block1) ? group.block1 : group.block2;
    entry |= static_cast<std::uint64_t>(root(block)) << 32;
  }
  core::stableSortByKey(together, memory_.scratch, [](std::uint64_t entry) { return entry; });
  for (std::size_t begin = 0, end = 0; begin < together.size(); begin = end) {
    while (end < together.size() && together[end] >> 32 == together[begin] >> 32) ++end;
    round_.resolve(std::span(together).subspan(begin, end - begin), time);
  }
  ws_.report.numImpacts += static_cast<int>(together.size());
  for (const std::uint64_t entry : together) {
    renew(groupOf(entry).block1);
    renew(groupOf(entry).block2);
  }
}

}  // namespace tangere::contact
