// SPDX-License-Identifier: Apache-2.0
#include "contact/impacts.hpp"

#include "contact/impact_motion.hpp"
#include "core/stable_sort.hpp"
#include "math/share_without_gain.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>

namespace tangere::contact {

namespace {

constexpr Real kNever = std::numeric_limits<Real>::infinity();
constexpr Real kRounding = 1e-12;
/// Slower approaches are rounding, whatever the threshold [m/s].
constexpr Real kLeastApproach = 1e-9;
/// What closes within this part of a step belongs to one impact.
constexpr Real kSameTime = 1e-6;
/// Slower landings than what gravity adds in this many steps are left to the contact problem.
constexpr Real kLandingSteps = 4;
/// Impacts of one pair at one time; a pair that needs more is being squeezed.
constexpr int kMaxRounds = 200;
/// A closed point that moves by less than this part of what its forces would add is held.
constexpr Real kHeldPart = 0.05;

class ImpactQueue {
 public:
  ImpactQueue(const model::ModelData& model, const State& state, model::Workspace& ws)
      : model_(model), ws_(ws), motion_(model, state, ws) {}

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
  void land(const model::ImpactCandidate& candidate);
  [[nodiscard]] bool findCluster(const solver::ImpulseGroup& group, Real time);
  void resolveTogether(Real time);
  void resolveConnected(std::span<const std::uint64_t> set, Real time);
  void fillRound(std::span<const std::uint64_t> set, Real time);
  void addToRound(const solver::ImpulseGroup& group, Real restitution, Real time);
  [[nodiscard]] int slotOf(int block);
  [[nodiscard]] bool solveRound(Real mostRestitution);
  [[nodiscard]] bool easeFriction(Real mostRestitution);
  void takeOverRound();
  void giveUpJammed(std::span<const std::uint64_t> set, Real time);
  [[nodiscard]] bool isHeldBy(int block, const solver::ImpulsePoint& point) const;
  [[nodiscard]] int root(int block) const;
  void keepFlights();
  void keepBounces();

  [[nodiscard]] Real restitutionOf(int group) const {
    if (!model_.hasRestitution) return 0;
    const auto [shape1, shape2] = ws_.groupShapes[group];
    return model_.contactMaterial(model_.shapes[shape1].material, model_.shapes[shape2].material)
        .restitution;
  }
  [[nodiscard]] std::span<solver::ImpulsePoint> pointsOf(const solver::ImpulseGroup& group) const {
    return {ws_.problem.points.data() + group.first, static_cast<std::size_t>(group.count)};
  }

  const model::ModelData& model_;
  model::Workspace& ws_;
  ImpactMotion motion_;
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

}  // namespace

void resolveImpacts(const model::ModelData& model, const State& state, model::Workspace& ws) {
  ws.impacts.clear();
  ws.early.clear();
  ws.report.numImpacts = 0;
  ImpactQueue(model, state, ws).run();
}

namespace {

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
      land(candidate);
      giveUpLanding(next);
      continue;
    }
    if (ws_.report.numImpacts >= model_.options.maxImpactsPerStep) {
      ws_.report.status = ws_.report.status | StepStatus::ImpactsCut;
      break;
    }
    const Real time = candidate.time;
    gatherTogether(next, time);
    resolveTogether(time);
  }
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
    const Real squaredSpeed = squaredNorm(block.velocity);
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
      if (!(restitutionOf(g) > 0)) continue;
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
      memory_.start[i] = {point.r1, point.r2, point.gap};
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

/// Moves the bodies to where they touch, with all that moves along with them.
void ImpactQueue::land(const model::ImpactCandidate& candidate) {
  const Real time = candidate.time;
  if (!findCluster(ws_.problem.groups[candidate.group], time)) return;
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
      if (memory_.isQuick[other] != 0) add(other);
    }
  }
  for (const int block : cluster) memory_.isInCluster[block] = 0;
  return isFree;
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
    resolveConnected(std::span(together).subspan(begin, end - begin), time);
  }
  ws_.report.numImpacts += static_cast<int>(together.size());
  for (const std::uint64_t entry : together) {
    renew(groupOf(entry).block1);
    renew(groupOf(entry).block2);
  }
}

/// Newton's law with friction, or with different coefficients at several points, can add energy
/// (Kane's example). Without friction and with one coefficient it never does: so friction gives way
/// first, as far as it must, then coefficients above the least of them all.
void ImpactQueue::resolveConnected(std::span<const std::uint64_t> set, Real time) {
  fillRound(set, time);
  if (!memory_.round.points.empty()) {
    const std::vector<Real>& e = memory_.restitution;
    const Real least = *std::min_element(e.begin(), e.end());
    if (solveRound(1) || easeFriction(1) || solveRound(least) || easeFriction(least) ||
        solveRound(0)) {
      takeOverRound();
      giveUpJammed(set, time);
    }
  }
  for (const int block : memory_.roundBlock) memory_.slot[block] = -1;
}

void ImpactQueue::fillRound(std::span<const std::uint64_t> set, Real time) {
  constexpr std::size_t kUsual = 8;  // more than that take memory when they come
  memory_.round.points.reserve(kUsual);
  memory_.round.blocks.reserve(kUsual);
  memory_.round.groups.reserve(kUsual);
  memory_.roundBlock.reserve(kUsual);
  memory_.roundPoint.reserve(kUsual);
  memory_.approach.reserve(kUsual);
  memory_.restitution.reserve(kUsual);
  memory_.targets.reserve(kUsual);
  memory_.rough.reserve(kUsual);
  memory_.roughMotion.reserve(kUsual);
  memory_.round.blocks.clear();
  memory_.round.points.clear();
  memory_.round.groups.clear();
  memory_.roundBlock.clear();
  memory_.roundPoint.clear();
  memory_.approach.clear();
  memory_.restitution.clear();
  for (const std::uint64_t entry : set) {
    const int group = candidates_[entry & 0xffffffffu].group;
    addToRound(ws_.problem.groups[group], restitutionOf(group), time);
  }
}

/// The points of a group that are closed and approach.
void ImpactQueue::addToRound(const solver::ImpulseGroup& group, Real restitution, Real time) {
  solver::ImpulseProblem& round = memory_.round;
  solver::ImpulseGroup inRound{.block1 = slotOf(group.block1),
                               .block2 = slotOf(group.block2),
                               .first = static_cast<std::int32_t>(round.points.size())};
  for (int i = group.first; i < group.first + group.count; ++i) {
    solver::ImpulsePoint& point = ws_.problem.points[i];
    const Real gap = motion_.motionAt(point, time).gap;
    const Real approach = -dot(point.normal, motion_.velocityAt(point));
    if (gap > std::fabs(approach) * (2 * kSameTime * dt_) + 1e-12) continue;
    motion_.joinArms(&point);
    point.gap += gap - motion_.motionAt(point, time).gap;
    if (!(approach > kLeastApproach)) continue;
    round.points.push_back(point);
    round.points.back().block1 = inRound.block1;
    round.points.back().block2 = inRound.block2;
    memory_.roundPoint.push_back(i);
    memory_.approach.push_back(-dot(point.normal, motion_.velocityAt(point)));
    memory_.restitution.push_back(restitution);
    ++inRound.count;
  }
  if (inRound.count > 0) round.groups.push_back(inRound);
}

int ImpactQueue::slotOf(int block) {
  int& slot = memory_.slot[block];
  if (slot < 0) {
    slot = static_cast<int>(memory_.roundBlock.size());
    memory_.roundBlock.push_back(block);
    memory_.round.blocks.push_back(ws_.problem.blocks[block]);
    memory_.round.blocks.back().duration = 0;
  }
  return slot;
}

/// With no restitution above `mostRestitution`. False where the impulses would add energy.
bool ImpactQueue::solveRound(Real mostRestitution) {
  solver::ImpulseProblem& round = memory_.round;
  memory_.targets.clear();
  Real fastest = 0;
  for (std::size_t i = 0; i < round.points.size(); ++i) {
    memory_.targets.push_back(std::min(memory_.restitution[i], mostRestitution) *
                              memory_.approach[i]);
    fastest =
        std::max(fastest, norm(motion_.velocityAt(ws_.problem.points[memory_.roundPoint[i]])));
  }
  for (std::size_t b = 0; b < round.blocks.size(); ++b) {
    round.blocks[b].velocity = ws_.problem.blocks[memory_.roundBlock[b]].velocity;
    round.blocks[b].angularVelocity = ws_.problem.blocks[memory_.roundBlock[b]].angularVelocity;
  }
  ws_.solver.solveImpact(round, memory_.targets);
  Real work = 0,
       exchanged = 0;  // what the rounding of the work is measured against: e = 1 does none
  for (const solver::ImpulsePoint& point : round.points) {
    work += point.normalWork + point.frictionWork;
    exchanged += point.normalImpulse * fastest;
  }
  return work <= kRounding * exchanged || mostRestitution == 0;
}

/// After a solveRound() that would add energy: on the way from the impulses without friction to
/// those, as far as it goes without. Both are in the friction cones and reach the targets, and so
/// is and does all between them. False where those without friction add energy too.
bool ImpactQueue::easeFriction(Real mostRestitution) {
  solver::ImpulseProblem& round = memory_.round;
  const auto impulseOf = [](const solver::ImpulsePoint& p) {
    return Vec3{p.tangentImpulse[0], p.tangentImpulse[1], p.normalImpulse};
  };
  const auto velocityOf = [&](const solver::ImpulsePoint& p) {
    const solver::ImpulseBlock &block1 = round.blocks[p.block1], &block2 = round.blocks[p.block2];
    const Vec3 v = block1.velocity + cross(block1.angularVelocity, p.r1) - block2.velocity -
                   cross(block2.angularVelocity, p.r2);
    return Vec3{dot(p.tangent1, v), dot(p.tangent2, v), dot(p.normal, v)};
  };
  std::vector<model::RoughImpact>& rough = memory_.rough;
  std::vector<std::pair<Vec3, Vec3>>& motion = memory_.roughMotion;
  rough.clear();
  motion.clear();
  for (solver::ImpulsePoint& point : round.points) {
    rough.push_back({impulseOf(point), velocityOf(point), point.friction});
    point.friction = 0;
  }
  for (const solver::ImpulseBlock& block : round.blocks)
    motion.emplace_back(block.velocity, block.angularVelocity);
  const bool isSmoothPossible = solveRound(mostRestitution);
  for (std::size_t i = 0; i < rough.size(); ++i) round.points[i].friction = rough[i].friction;
  if (!isSmoothPossible) return false;

  // With the impulses p + s d the work is w + s b + s^2 c.
  Real w = 0, b = 0, c = 0;
  for (std::size_t i = 0; i < rough.size(); ++i) {
    const solver::ImpulsePoint& point = round.points[i];
    const Vec3 d = rough[i].impulse - impulseOf(point), after = velocityOf(point);
    w += point.normalWork + point.frictionWork;
    b += dot(d, after);
    c += dot(d, rough[i].velocity - after) / 2;
  }
  const Real share = shareWithoutGain(w, b, c);
  for (std::size_t k = 0; k < motion.size(); ++k) {
    solver::ImpulseBlock& block = round.blocks[k];
    block.velocity += (motion[k].first - block.velocity) * share;
    block.angularVelocity += (motion[k].second - block.angularVelocity) * share;
  }
  for (std::size_t i = 0; i < rough.size(); ++i) {
    solver::ImpulsePoint& point = round.points[i];
    const Vec3 smooth = impulseOf(point);
    const Vec3 impulse = smooth + (rough[i].impulse - smooth) * share;
    const Vec3 v = motion_.velocityAt(ws_.problem.points[memory_.roundPoint[i]]);
    const Vec3 before{dot(point.tangent1, v), dot(point.tangent2, v), dot(point.normal, v)};
    const Vec3 mean = (before + velocityOf(point)) * Real(0.5);
    point.tangentImpulse[0] = impulse.x;
    point.tangentImpulse[1] = impulse.y;
    point.normalImpulse = impulse.z;
    point.normalWork = impulse.z * mean.z;
    point.frictionWork = impulse.x * mean.x + impulse.y * mean.y;
  }
  return true;
}

void ImpactQueue::takeOverRound() {
  const solver::ImpulseProblem& round = memory_.round;
  for (std::size_t b = 0; b < round.blocks.size(); ++b) {
    if (!(round.blocks[b].inverseMass > 0)) continue;
    solver::ImpulseBlock& block = ws_.problem.blocks[memory_.roundBlock[b]];
    block.velocity = round.blocks[b].velocity;
    block.angularVelocity = round.blocks[b].angularVelocity;
  }
  for (std::size_t i = 0; i < round.points.size(); ++i) {
    const solver::ImpulsePoint& point = round.points[i];
    model::ImpactImpulse& out = ws_.impacts[memory_.roundPoint[i]];
    const Vec3 impulse = point.normal * point.normalImpulse +
                         point.tangent1 * point.tangentImpulse[0] +
                         point.tangent2 * point.tangentImpulse[1];
    const solver::ImpulseBlock& block1 = round.blocks[point.block1];
    const solver::ImpulseBlock& block2 = round.blocks[point.block2];
    out.impulse += impulse;
    out.normalWork += point.normalWork;
    out.frictionWork += point.frictionWork;
    if (!(block1.inverseMass > 0))
      out.kinematicWork -= dot(impulse, block1.velocity + cross(block1.angularVelocity, point.r1));
    if (!(block2.inverseMass > 0))
      out.kinematicWork += dot(impulse, block2.velocity + cross(block2.angularVelocity, point.r2));
  }
}

/// What is pressed between things that do not yield has no impulses that part it from all of them,
/// or would be thrown from one to the other for ever. It is left to the contact problem.
void ImpactQueue::giveUpJammed(std::span<const std::uint64_t> set, Real time) {
  constexpr Real kMissed = 1e-6;  // of the speed of approach
  for (const std::uint64_t entry : set) {
    model::ImpactCandidate& candidate = candidates_[entry & 0xffffffffu];
    const bool isAgain = time <= candidate.roundsAt + kSameTime * dt_;
    candidate.numRounds = isAgain ? candidate.numRounds + 1 : 1;
    if (!isAgain) candidate.roundsAt = time;
    if (candidate.numRounds > kMaxRounds) candidate.bounces = candidate.mayLand = false;
  }
  for (std::size_t i = 0; i < memory_.roundPoint.size(); ++i) {
    const solver::ImpulsePoint& point = ws_.problem.points[memory_.roundPoint[i]];
    const Real missed = memory_.targets[i] - dot(point.normal, motion_.velocityAt(point));
    if (!(missed > kMissed * memory_.approach[i])) continue;
    for (const std::uint64_t entry : set) {
      model::ImpactCandidate& candidate = candidates_[entry & 0xffffffffu];
      const solver::ImpulseGroup& group = ws_.problem.groups[candidate.group];
      const int first = memory_.roundPoint[i] - group.first;
      if (first >= 0 && first < group.count) candidate.bounces = candidate.mayLand = false;
    }
  }
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
    if (!candidate.bounces || !(restitutionOf(candidate.group) > 0)) continue;
    const solver::ImpulseGroup& group = ws_.problem.groups[candidate.group];
    const Real left = dt_ - motion_.startOf(group);
    for (solver::ImpulsePoint& point : pointsOf(group)) {
      if (!(point.gap > 0 && point.gap < closed_)) continue;
      const Real approach = -dot(point.normal, motion_.velocityAt(point));
      if (approach > bounceSpeed_ && point.gap >= approach * left) point.gap = closed_;
    }
  }
}

}  // namespace

}  // namespace tangere::contact
