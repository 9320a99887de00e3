// SPDX-License-Identifier: Apache-2.0
#include "contact/impacts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace tangere::contact {

namespace {

constexpr Real kNever = std::numeric_limits<Real>::infinity();
constexpr Real kRounding = 1e-12;
/// Slower approaches are rounding, whatever the threshold [m/s].
constexpr Real kLeastApproach = 1e-9;

class ImpactQueue {
 public:
  ImpactQueue(const model::ModelData& model, model::Workspace& ws) : model_(model), ws_(ws) {}

  void run();

 private:
  struct PointMotion {
    Real gap = 0, speed = 0, acceleration = 0;  ///< of the gap; speed < 0: closing
  };
  /// A point that takes part in an impact.
  struct Closed {
    const solver::ImpulsePoint* point = nullptr;
    model::ImpactImpulse* out = nullptr;
    Mat3 w{};
    Real target = 0;
    Real lambda[3] = {0, 0, 0};
  };

  [[nodiscard]] bool findCandidates();
  void findNeighbours();
  [[nodiscard]] Real nextTime(int group) const;
  [[nodiscard]] Real startOf(int group) const;
  [[nodiscard]] PointMotion motionAt(const solver::ImpulsePoint& point, Real time) const;
  [[nodiscard]] Vec3 pointVelocity(const solver::ImpulsePoint& point) const;
  void advance(int block, Real time);
  void resolve(int group, Real time);
  void keepFlights();
  [[nodiscard]] Real applyImpact(int group, Real restitution);
  [[nodiscard]] Real applyAll(const solver::ImpulseBlock& start1,
                              const solver::ImpulseBlock& start2, std::span<const Closed> closed,
                              const solver::ImpulseGroup& g);
  void finish();

  [[nodiscard]] Real restitutionOf(int group) const {
    const auto [shape1, shape2] = ws_.groupShapes[group];
    return model_.contactMaterial(model_.shapes[shape1].material, model_.shapes[shape2].material)
        .restitution;
  }
  [[nodiscard]] bool mayMove(int block) const { return ws_.problem.blocks[block].inverseMass > 0; }

  const model::ModelData& model_;
  model::Workspace& ws_;
  std::vector<int>& groups_ = ws_.impactMemory.groups;
  std::vector<Real>& times_ = ws_.impactMemory.times;
  std::vector<int>& first_ = ws_.impactMemory.first;
  std::vector<int>& list_ = ws_.impactMemory.list;
};

}  // namespace

void resolveImpacts(const model::ModelData& model, model::Workspace& ws) {
  ws.impacts.clear();
  ws.early.clear();
  ws.report.numImpacts = 0;
  if (!model.hasRestitution && ws.fastGroups.empty()) return;
  ImpactQueue(model, ws).run();
}

namespace {

void ImpactQueue::run() {
  if (!findCandidates()) return keepFlights();
  ws_.impacts.assign(ws_.problem.points.size(), {});
  ws_.early.assign(ws_.problem.blocks.size(), {});
  findNeighbours();
  while (true) {
    // Ties go to the lowest group: the order of pairs, not of memory.
    const auto next = std::min_element(times_.begin(), times_.end());
    if (!(*next < kNever)) break;
    if (ws_.report.numImpacts == model_.options.maxImpactsPerStep) {
      ws_.report.status = ws_.report.status | StepStatus::ImpactsCut;
      break;
    }
    const int group = groups_[static_cast<std::size_t>(next - times_.begin())];
    resolve(group, *next);
    ++ws_.report.numImpacts;
    for (const int block : {ws_.problem.groups[group].block1, ws_.problem.groups[group].block2}) {
      if (!mayMove(block)) continue;
      for (int k = first_[block]; k < first_[block + 1]; ++k)
        times_[list_[k]] = nextTime(groups_[list_[k]]);
    }
  }
  keepFlights();
  finish();
}

/// The contact problem moves a body by its velocity at the end of the step and so would stop one
/// that flies over the step without touching: what gravity has not yet done counts as gap.
void ImpactQueue::keepFlights() {
  for (const int group : groups_) {
    const solver::ImpulseGroup& g = ws_.problem.groups[group];
    const Real start = startOf(group);
    const Real left = model_.options.dt - start;
    for (int i = g.first; i < g.first + g.count; ++i) {
      solver::ImpulsePoint& point = ws_.problem.points[i];
      const PointMotion m = motionAt(point, start);
      const Real fall = Real(-0.5) * m.acceleration * left * left;
      if (fall > 0 && m.gap + m.speed * left >= fall) point.gap += fall;
    }
  }
}

bool ImpactQueue::findCandidates() {
  ws_.early.assign(ws_.problem.blocks.size(), {});
  groups_.clear();
  times_.clear();
  bool isAny = false;
  for (int group = 0; group < static_cast<int>(ws_.problem.groups.size()); ++group) {
    // A fast body that does not bounce is stopped at its own time too: by its velocity at the end
    // of the step it would be somewhere else.
    if (!(restitutionOf(group) > 0) &&
        !std::binary_search(ws_.fastGroups.begin(), ws_.fastGroups.end(), group)) {
      continue;
    }
    groups_.push_back(group);
    times_.push_back(nextTime(group));
    isAny = isAny || times_.back() < kNever;
  }
  return isAny;
}

void ImpactQueue::findNeighbours() {
  first_.assign(ws_.problem.blocks.size() + 1, 0);
  for (const int group : groups_) {
    ++first_[ws_.problem.groups[group].block1 + 1];
    ++first_[ws_.problem.groups[group].block2 + 1];
  }
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  list_.resize(2 * groups_.size());
  std::vector<int>& fill = ws_.impactMemory.fill;
  fill.assign(first_.begin(), first_.end() - 1);
  for (int k = 0; k < static_cast<int>(groups_.size()); ++k) {
    list_[fill[ws_.problem.groups[groups_[k]].block1]++] = k;
    list_[fill[ws_.problem.groups[groups_[k]].block2]++] = k;
  }
}

/// The later of the two blocks' own times: both are known up to there.
Real ImpactQueue::startOf(int group) const {
  const solver::ImpulseGroup& g = ws_.problem.groups[group];
  return std::max(ws_.early[g.block1].time, ws_.early[g.block2].time);
}

/// When the first point of the group closes fast enough to bounce; kNever within this step if none.
Real ImpactQueue::nextTime(int group) const {
  const solver::ImpulseGroup& g = ws_.problem.groups[group];
  const Real start = startOf(group);
  const Real left = model_.options.dt - start;
  const Real threshold = std::max(model_.options.restitutionThreshold, kLeastApproach);
  Real earliest = kNever;
  for (int i = g.first; i < g.first + g.count; ++i) {
    const PointMotion m = motionAt(ws_.problem.points[i], start);
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
    if (-(m.speed + m.acceleration * wait) > threshold) earliest = std::min(earliest, start + wait);
  }
  return earliest;
}

/// The gap of a point at `time`, when both blocks move freely from their own times on.
ImpactQueue::PointMotion ImpactQueue::motionAt(const solver::ImpulsePoint& point, Real time) const {
  PointMotion m{.gap = point.gap};
  const auto add = [&](int index, const Vec3& arm, Real sign) {
    const solver::ImpulseBlock& block = ws_.problem.blocks[index];
    const model::EarlyMotion& early = ws_.early[index];
    const Real t = time - early.time;
    const Vec3 v = block.velocity + block.acceleration * t;
    const Vec3 w = block.angularVelocity + block.angularAcceleration * t;
    const Vec3 d = early.displacement + (block.velocity + v) * (Real(0.5) * t);
    const Vec3 turn = early.rotation + (block.angularVelocity + w) * (Real(0.5) * t);
    m.gap += sign * dot(point.normal, d + cross(turn, arm));
    m.speed += sign * dot(point.normal, v + cross(w, arm));
    m.acceleration +=
        sign * dot(point.normal, block.acceleration + cross(block.angularAcceleration, arm));
  };
  add(point.block1, point.r1, 1);
  add(point.block2, point.r2, -1);
  return m;
}

Vec3 ImpactQueue::pointVelocity(const solver::ImpulsePoint& point) const {
  const solver::ImpulseBlock& block1 = ws_.problem.blocks[point.block1];
  const solver::ImpulseBlock& block2 = ws_.problem.blocks[point.block2];
  return block1.velocity + cross(block1.angularVelocity, point.r1) - block2.velocity -
         cross(block2.angularVelocity, point.r2);
}

/// Free motion of a block up to `time`.
void ImpactQueue::advance(int index, Real time) {
  solver::ImpulseBlock& block = ws_.problem.blocks[index];
  model::EarlyMotion& early = ws_.early[index];
  const Real t = time - early.time;
  const Vec3 v = block.velocity + block.acceleration * t;
  const Vec3 w = block.angularVelocity + block.angularAcceleration * t;
  early.displacement += (block.velocity + v) * (Real(0.5) * t);
  early.rotation += (block.angularVelocity + w) * (Real(0.5) * t);
  early.time = time;
  block.velocity = v;
  block.angularVelocity = w;
}

void ImpactQueue::resolve(int group, Real time) {
  const solver::ImpulseGroup& g = ws_.problem.groups[group];
  if (mayMove(g.block1)) advance(g.block1, time);
  if (mayMove(g.block2)) advance(g.block2, time);
  // Newton's law at several points with friction can add energy (Kane's example): then the pair
  // does not bounce this time.
  const solver::ImpulseBlock before1 = ws_.problem.blocks[g.block1];
  const solver::ImpulseBlock before2 = ws_.problem.blocks[g.block2];
  std::vector<model::ImpactImpulse>& kept = ws_.impactMemory.kept;
  kept.assign(ws_.impacts.begin() + g.first, ws_.impacts.begin() + g.first + g.count);
  Real fastest = 0;
  for (int i = g.first; i < g.first + g.count; ++i)
    fastest = std::max(fastest, norm(pointVelocity(ws_.problem.points[i])));
  const Real work = applyImpact(group, restitutionOf(group));
  Real exchanged = 0;  // what the rounding of the work is measured against: e = 1 does none
  for (int i = 0; i < g.count; ++i)
    exchanged += (ws_.impacts[g.first + i].normal - kept[i].normal) * fastest;
  if (work > kRounding * exchanged) {
    ws_.problem.blocks[g.block1] = before1;
    ws_.problem.blocks[g.block2] = before2;
    std::copy(kept.begin(), kept.end(), ws_.impacts.begin() + g.first);
    (void)applyImpact(group, 0);
  }
}

/// R^T W R of a point, W = J M^-1 J^T, for its frame (t1, t2, n).
Mat3 delassus(const solver::ImpulsePoint& point, const solver::ImpulseBlock& block1,
              const solver::ImpulseBlock& block2) {
  const Vec3 axes[3] = {point.tangent1, point.tangent2, point.normal};
  Mat3 w{};
  for (int j = 0; j < 3; ++j) {
    const Vec3 turn1 = block1.inverseInertia * cross(point.r1, axes[j]);
    const Vec3 turn2 = block2.inverseInertia * cross(point.r2, axes[j]);
    const Vec3 response = axes[j] * (block1.inverseMass + block2.inverseMass) +
                          cross(turn1, point.r1) + cross(turn2, point.r2);
    for (int i = 0; i < 3; ++i) w(i, j) = dot(axes[i], response);
  }
  return w;
}

void applyTo(solver::ImpulseBlock& block1, solver::ImpulseBlock& block2,
             const solver::ImpulsePoint& point, const Vec3& impulse) {
  block1.velocity += impulse * block1.inverseMass;
  block1.angularVelocity += block1.inverseInertia * cross(point.r1, impulse);
  block2.velocity -= impulse * block2.inverseMass;
  block2.angularVelocity -= block2.inverseInertia * cross(point.r2, impulse);
}

/// The friction impulse nearest to the one that stops the slip, within the disk.
void projectToDisk(Real radius, Real* t1, Real* t2) {
  const Real length = std::sqrt(*t1 * *t1 + *t2 * *t2);
  if (length > radius) {
    const Real scale = length > 0 ? radius / length : 0;
    *t1 *= scale;
    *t2 *= scale;
  }
}

/// Impulses at the points of the group that are closed: Gauss-Seidel to rounding, at most four
/// points. Returns their work [J].
Real ImpactQueue::applyImpact(int group, Real restitution) {
  const solver::ImpulseGroup& g = ws_.problem.groups[group];
  solver::ImpulseBlock& block1 = ws_.problem.blocks[g.block1];
  solver::ImpulseBlock& block2 = ws_.problem.blocks[g.block2];

  constexpr int kMaxPoints = ContactPatch::kMaxPoints;
  Closed closed[kMaxPoints];
  int count = 0;
  Real fastest = 0;
  const Real time = startOf(group);
  for (int i = g.first; i < g.first + g.count && count < kMaxPoints; ++i) {
    const solver::ImpulsePoint& point = ws_.problem.points[i];
    const Real approach = -dot(point.normal, pointVelocity(point));
    // What closes within a nanosecond of the first belongs to the same impact.
    const Real reach = std::fabs(approach) * 1e-9 + 1e-12;
    if (motionAt(point, time).gap > reach) continue;
    closed[count++] = {.point = &point,
                       .out = &ws_.impacts[i],
                       .w = delassus(point, block1, block2),
                       .target = approach > 0 ? restitution * approach : 0};
    fastest = std::max(fastest, std::fabs(approach));
  }

  const solver::ImpulseBlock start1 = block1, start2 = block2;
  constexpr int kMaxSweeps = 1000;
  for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
    Real change = 0;
    for (int k = 0; k < count; ++k) {
      Closed& c = closed[k];
      const Real vn = dot(c.point->normal, pointVelocity(*c.point));
      const Real normal = std::max<Real>(c.lambda[2] + (c.target - vn) / c.w(2, 2), 0);
      change = std::max(change, std::fabs(normal - c.lambda[2]) * c.w(2, 2));
      const Real dn = normal - c.lambda[2];
      c.lambda[2] = normal;
      applyTo(block1, block2, *c.point, c.point->normal * dn);

      if (!(c.point->friction > 0)) continue;
      const Vec3 v = pointVelocity(*c.point);
      const Real v1 = dot(c.point->tangent1, v), v2 = dot(c.point->tangent2, v);
      const Real a = c.w(0, 0), b = c.w(0, 1), d = c.w(1, 1);
      const Real det = a * d - b * b;
      Real t1 = c.lambda[0] - (d * v1 - b * v2) / det;
      Real t2 = c.lambda[1] - (a * v2 - b * v1) / det;
      projectToDisk(c.point->friction * c.lambda[2], &t1, &t2);
      const Real d1 = t1 - c.lambda[0], d2 = t2 - c.lambda[1];
      change = std::max({change, std::fabs(d1) * a, std::fabs(d2) * d});
      c.lambda[0] = t1;
      c.lambda[1] = t2;
      applyTo(block1, block2, *c.point, c.point->tangent1 * d1 + c.point->tangent2 * d2);
    }
    if (change <= 1e-15 * fastest) break;
  }
  return applyAll(start1, start2, std::span(closed, static_cast<std::size_t>(count)), g);
}

/// From the start once more, by the sums: the rounding of all the sweeps is left behind, so that
/// the work is the change of energy.
Real ImpactQueue::applyAll(const solver::ImpulseBlock& start1, const solver::ImpulseBlock& start2,
                           std::span<const Closed> closed, const solver::ImpulseGroup& g) {
  solver::ImpulseBlock& block1 = ws_.problem.blocks[g.block1];
  solver::ImpulseBlock& block2 = ws_.problem.blocks[g.block2];
  block1 = start1;
  block2 = start2;
  Vec3 before[ContactPatch::kMaxPoints];
  for (std::size_t k = 0; k < closed.size(); ++k) before[k] = pointVelocity(*closed[k].point);
  const auto tangentOf = [](const Closed& c) {
    return c.point->tangent1 * c.lambda[0] + c.point->tangent2 * c.lambda[1];
  };
  for (const Closed& c : closed)
    applyTo(block1, block2, *c.point, c.point->normal * c.lambda[2] + tangentOf(c));
  Real total = 0;
  for (std::size_t k = 0; k < closed.size(); ++k) {
    const Closed& c = closed[k];
    const Vec3 mean = (before[k] + pointVelocity(*c.point)) * Real(0.5);
    const Real normalWork = c.lambda[2] * dot(c.point->normal, mean);
    const Real frictionWork = dot(tangentOf(c), mean);
    c.out->normal += c.lambda[2];
    c.out->tangent += tangentOf(c);
    c.out->normalWork += normalWork;
    c.out->frictionWork += frictionWork;
    total += normalWork + frictionWork;
  }
  return total;
}

/// The contact problem goes on from where each body is now.
void ImpactQueue::finish() {
  if (ws_.report.numImpacts == 0) {
    ws_.impacts.clear();
    return;
  }
  for (std::size_t i = 0; i < ws_.early.size(); ++i)
    ws_.problem.blocks[i].duration = model_.options.dt - ws_.early[i].time;
  for (solver::ImpulsePoint& point : ws_.problem.points) {
    const model::EarlyMotion& early1 = ws_.early[point.block1];
    const model::EarlyMotion& early2 = ws_.early[point.block2];
    point.gap += dot(point.normal, early1.displacement + cross(early1.rotation, point.r1) -
                                       early2.displacement - cross(early2.rotation, point.r2));
  }
}

}  // namespace

}  // namespace tangere::contact
