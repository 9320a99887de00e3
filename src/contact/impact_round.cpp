// SPDX-License-Identifier: Apache-2.0
#include "contact/impact_round.hpp"

#include "math/share_without_gain.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tangere::contact {

namespace {

constexpr Real kRounding = 1e-12;
/// Impacts of one pair at one time; a pair that needs more is being squeezed.
constexpr int kMaxRounds = 200;

}  // namespace

/// Newton's law with friction, or with different coefficients at several points, can add energy
/// (Kane's example). Without friction and with one coefficient it never does: so friction gives way
/// first, as far as it must, then coefficients above the least of them all.
void ImpactRound::resolve(std::span<const std::uint64_t> set, Real time) {
  fill(set, time);
  if (!memory_.round.points.empty()) {
    const std::vector<Real>& e = memory_.restitution;
    const Real least = *std::min_element(e.begin(), e.end());
    if (solve(1) || easeFriction(1) || solve(least) || easeFriction(least) || solve(0)) {
      takeOver();
      giveUpJammed(set, time);
    }
  }
  for (const int block : memory_.roundBlock) memory_.slot[block] = -1;
}

void ImpactRound::fill(std::span<const std::uint64_t> set, Real time) {
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
    add(ws_.problem.groups[group], restitutionOf(model_, ws_, group), time);
  }
}

/// The points of a group that are closed and approach.
void ImpactRound::add(const solver::ImpulseGroup& group, Real restitution, Real time) {
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

int ImpactRound::slotOf(int block) {
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
bool ImpactRound::solve(Real mostRestitution) {
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

/// After a solve() that would add energy: on the way from the impulses without friction to
/// those, as far as it goes without. Both are in the friction cones and reach the targets, and so
/// is and does all between them. False where those without friction add energy too.
bool ImpactRound::easeFriction(Real mostRestitution) {
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
  const bool isSmoothPossible = solve(mostRestitution);
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

void ImpactRound::takeOver() {
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
    const Vec3 normalPart = point.normal * point.normalImpulse;
    const Vec3 impulse = normalPart + point.tangent1 * point.tangentImpulse[0] +
                         point.tangent2 * point.tangentImpulse[1];
    const solver::ImpulseBlock& block1 = round.blocks[point.block1];
    const solver::ImpulseBlock& block2 = round.blocks[point.block2];
    out.impulse += impulse;
    out.normalPart += normalPart;
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
void ImpactRound::giveUpJammed(std::span<const std::uint64_t> set, Real time) {
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

}  // namespace tangere::contact
