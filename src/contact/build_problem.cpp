// SPDX-License-Identifier: Apache-2.0
#include "contact/build_problem.hpp"

#include "contact/common_place.hpp"
#include "core/prefetch.hpp"
#include "math/contact_frame.hpp"

#include <cmath>

#include <algorithm>

namespace tangere::contact {

namespace {

/// A slip this slow has no direction worth turning the frame to [m/s].
constexpr Real kSlidingSpeed = 0.01;

/// Contacts of patches in one step that are not worth a message to another core.
constexpr std::size_t kMinSharedContacts = 256;

/// The points stay as the last step left them until addPoint() writes each: as many as there may
/// be. Clearing them first would take as long as writing them.
void sizePoints(std::size_t count, model::Workspace& ws) {
  ws.problem.points.resize(count);
  ws.pointSource.resize(count);
}

void sizeGroups(std::size_t count, model::Workspace& ws) {
  ws.problem.groups.resize(count);
  ws.groupShapes.resize(count);
}

const model::ContactMaterial* beginGroup(const model::ModelData& model, ObjectId shape1,
                                         ObjectId shape2, int group, int firstPoint,
                                         model::Workspace& ws) {
  ws.problem.groups[group] = {.block1 = model.shapes[shape1].body,
                              .block2 = model.shapes[shape2].body,
                              .first = firstPoint};
  ws.groupShapes[group] = {shape1, shape2};
  return &model.contactMaterial(model.shapes[shape1].material, model.shapes[shape2].material);
}

/// Patches live on for a few frames between bodies that fell asleep.
bool mayMove(const model::ModelData& model, const State& state, const PairKey& key) {
  const auto isAwake = [&](ObjectId shape) {
    const int body = model.shapes[shape].body;
    return model.bodies[body].type == BodyType::Dynamic && state.isAsleep[body] == 0;
  };
  return isAwake(key.object1) || isAwake(key.object2);
}

/// A point that was not found again bridges a flicker of the clipping of two flat faces. Where a
/// side is round the point has rolled or slid away: kept, it would brake a rolling ball.
bool isLeftBehind(const model::ModelData& model, const PairKey& key,
                  const ContactPatchPoint& point) {
  return point.age > 0 &&
         !(model.shapes[key.object1].isFlatFaced && model.shapes[key.object2].isFlatFaced);
}

solver::ImpulsePoint& addPoint(const State& state, const ContactPoint& contact,
                               const EmittedContact& source, const model::ContactMaterial& material,
                               solver::ImpulseGroup& group, model::Workspace& ws) {
  const std::int32_t index = group.first + group.count;
  solver::ImpulsePoint& point = ws.problem.points[index];
  constexpr std::ptrdiff_t kAhead = 8;
  core::takeOver(ws.problem.points.data() + index + kAhead, sizeof point);
  point.block1 = group.block1;
  point.block2 = group.block2;
  point.normal = contact.normal;
  point.r1 = contact.position - state.center[group.block1];
  point.r2 = contact.position - state.center[group.block2];
  point.gap = -contact.depth;
  point.friction = material.friction;
  point.torsionalFriction = material.torsionalFriction;
  point.rollingFriction = material.rollingFriction;
  point.normalImpulse = point.tangentImpulse[0] = point.tangentImpulse[1] = 0;
  point.torsionalImpulse = point.rollingImpulse[0] = point.rollingImpulse[1] = 0;
  point.correctionImpulse = point.normalWork = point.frictionWork = 0;
  const solver::ImpulsePoint* before = group.count > 0 ? &point - 1 : nullptr;
  if (before != nullptr && before->normal == point.normal) {
    point.tangent1 = before->tangent1;  // one frame for a flat patch
    point.tangent2 = before->tangent2;
  } else {
    setTangents(ws.problem.blocks[group.block1], ws.problem.blocks[group.block2], &point);
  }
  ws.pointSource[index] = source;
  ++group.count;
  return point;
}

/// What was foreseen of a manifold; null: it is one of shapes that touch.
const model::ForeseenManifold* findForeseen(int manifold, const model::Workspace& ws) {
  if (ws.foreseen.empty()) return nullptr;
  const auto found = std::lower_bound(
      ws.foreseen.begin(), ws.foreseen.end(), manifold,
      [](const model::ForeseenManifold& f, int value) { return f.manifold < value; });
  return found != ws.foreseen.end() && found->manifold == manifold ? &*found : nullptr;
}

/// The arms of a point whose bodies have yet to come together. A fast pair has them from where the
/// centres will be when it meets; where bodies move by their new velocity for the whole step (SAP)
/// an impulse keeps their angular momentum only where it acts at one place as they stand now.
void setForeseenArms(const model::ModelData& model, const State& state, int manifold, int index,
                     solver::ImpulsePoint* point, const model::Workspace& ws) {
  const model::ForeseenManifold* found = findForeseen(manifold, ws);
  if (found == nullptr) return;
  point->r1 = found->r1[index];
  point->r2 = found->r2[index];
  if (!found->isFast || model.options.solver == SolverType::Impulse) return;
  const Vec3 &center1 = state.center[point->block1], &center2 = state.center[point->block2];
  const Vec3 place =
      commonPlace(model, point->block1, center1 + point->r1, point->block2, center2 + point->r2);
  point->r1 = place - center1;
  point->r2 = place - center2;
}

/// manifoldOf(point) is what a point of the problem was made of.
template <class ManifoldOf>
void listFastGroups(const ManifoldOf& manifoldOf, model::Workspace& ws) {
  ws.fastGroups.clear();
  if (std::none_of(ws.foreseen.begin(), ws.foreseen.end(),
                   [](const model::ForeseenManifold& f) { return f.isFast; })) {
    return;
  }
  for (int g = 0; g < static_cast<int>(ws.problem.groups.size()); ++g) {
    const solver::ImpulseGroup& group = ws.problem.groups[g];
    for (int i = group.first; i < group.first + group.count; ++i) {
      const model::ForeseenManifold* found = findForeseen(manifoldOf(g, i), ws);
      if (found == nullptr || !found->isFast) continue;
      ws.fastGroups.push_back(g);
      break;
    }
  }
}

/// Pairs of shapes may have a friction of their own.
void applyShapePairs(const model::ModelData& model, model::Workspace& ws) {
  for (const model::ModelShapePair& rule : model.shapePairs) {
    if (rule.friction < 0) continue;
    for (std::size_t g = 0; g < ws.problem.groups.size(); ++g) {
      const auto& [shape1, shape2] = ws.groupShapes[g];
      if (static_cast<int>(shape1) != rule.shape1 || static_cast<int>(shape2) != rule.shape2)
        continue;
      const solver::ImpulseGroup& group = ws.problem.groups[g];
      for (int i = group.first; i < group.first + group.count; ++i)
        ws.problem.points[i].friction = rule.friction;
    }
  }
}

void collectPoints(const model::ModelData& model, const State& state, model::Workspace& ws);

}  // namespace

void buildContactProblem(const model::ModelData& model, const State& state, model::Workspace& ws) {
  collectPoints(model, state, ws);
  if (!model.shapePairs.empty()) applyShapePairs(model, ws);
}

/// Along the slip, so that a sliding contact is a problem of
/// one direction; any frame gives the same answer, the friction bound being a disk.
void setTangents(const solver::ImpulseBlock& block1, const solver::ImpulseBlock& block2,
                 solver::ImpulsePoint* point) {
  const Vec3 slip = block1.velocity + cross(block1.angularVelocity, point->r1) - block2.velocity -
                    cross(block2.angularVelocity, point->r2);
  const Vec3 sliding = slip - point->normal * dot(point->normal, slip);
  const Real squaredSpeed = squaredNorm(sliding);
  if (squaredSpeed > kSlidingSpeed * kSlidingSpeed) {
    point->tangent1 = sliding / std::sqrt(squaredSpeed);
    point->tangent2 = cross(point->normal, point->tangent1);
  } else {
    const Mat3 frame = math::contactFrame(point->normal);
    point->tangent1 = frame.col[0];
    point->tangent2 = frame.col[1];
  }
}

namespace {

void collectFromManifolds(const model::ModelData& model, const State& state, model::Workspace& ws) {
  std::size_t count = 0;
  for (const ContactManifold& manifold : ws.manifolds) count += manifold.contacts().size();
  sizePoints(count, ws);
  sizeGroups(ws.manifolds.size(), ws);
  int numPoints = 0;
  for (int m = 0; m < static_cast<int>(ws.manifolds.size()); ++m) {
    const ContactManifold& manifold = ws.manifolds[m];
    const model::ContactMaterial* material =
        beginGroup(model, manifold.object1, manifold.object2, m, numPoints, ws);
    for (int k = 0; k < manifold.count; ++k, ++numPoints) {
      solver::ImpulsePoint& point = addPoint(state, manifold.points[k], {.patch = -1, .point = -1},
                                             *material, ws.problem.groups[m], ws);
      setForeseenArms(model, state, m, k, &point, ws);
    }
  }
  listFastGroups([](int group, int) { return group; }, ws);
}

/// Contacts of whole patches that follow each other, and how much of the problem they are.
struct ContactRange {
  std::size_t begin = 0, end = 0;  // of the contacts of the patches
  int firstGroup = 0, firstPoint = 0;
  int numGroups = 0, numPoints = 0;
};

/// perPoint(key, emitted, point, isFirst) for those contacts of a range that may act; isFirst: of
/// their patch.
template <class PerPoint>
void forContacts(const model::ModelData& model, const State& state, const ContactRange& range,
                 const PerPoint& perPoint) {
  const std::span<const EmittedContact> contacts = state.patches.contacts();
  int lastPatch = -1;
  bool moves = false, isFirst = false;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const EmittedContact& emitted = contacts[i];
    const PairKey& key = state.patches.patches()[static_cast<std::size_t>(emitted.patch)].key;
    if (emitted.patch != lastPatch) {
      lastPatch = emitted.patch;
      moves = mayMove(model, state, key);
      isFirst = true;
    }
    const ContactPatchPoint& kept = state.patches.point(emitted);
    if (!moves || isLeftBehind(model, key, kept)) continue;
    perPoint(key, emitted, kept, isFirst);
    isFirst = false;
  }
}

void countContacts(const model::ModelData& model, const State& state, ContactRange* range) {
  int numGroups = 0, numPoints = 0;
  forContacts(model, state, *range,
              [&](const PairKey&, const EmittedContact&, const ContactPatchPoint&, bool isFirst) {
                numGroups += isFirst ? 1 : 0;
                ++numPoints;
              });
  range->numGroups = numGroups;
  range->numPoints = numPoints;
}

/// Into the groups and points of the problem from the first of the range on.
void collectContacts(const model::ModelData& model, const State& state, model::Workspace& ws,
                     ContactRange* range) {
  int group = range->firstGroup - 1, numPoints = 0;
  const model::ContactMaterial* material = nullptr;
  forContacts(model, state, *range,
              [&](const PairKey& key, const EmittedContact& emitted, const ContactPatchPoint& kept,
                  bool isFirst) {
                if (isFirst) {
                  material = beginGroup(model, key.object1, key.object2, ++group,
                                        range->firstPoint + numPoints, ws);
                }
                solver::ImpulsePoint& point =
                    addPoint(state, kept.contact, emitted, *material, ws.problem.groups[group], ws);
                setForeseenArms(model, state, emitted.rawManifold, emitted.rawPoint, &point, ws);
                point.normalImpulse = kept.normalImpulse;
                point.tangentImpulse[0] = dot(kept.tangentImpulse, point.tangent1);
                point.tangentImpulse[1] = dot(kept.tangentImpulse, point.tangent2);
                ++numPoints;
              });
  range->numGroups = group + 1 - range->firstGroup;
  range->numPoints = numPoints;
}

/// About equal numbers of contacts.
void divideContacts(std::span<const EmittedContact> contacts, std::span<ContactRange> ranges) {
  std::size_t begin = 0;
  for (std::size_t k = 0; k < ranges.size(); ++k) {
    std::size_t end = std::max(begin, contacts.size() * (k + 1) / ranges.size());
    while (end > 0 && end < contacts.size() && contacts[end].patch == contacts[end - 1].patch)
      ++end;
    ranges[k] = {.begin = begin, .end = end};
    begin = end;
  }
}

/// With one thread the arrays are made as long as they can become; with several each range is
/// counted first, so that all of them can be written at the same time.
void collectFromPatches(const model::ModelData& model, const State& state, model::Workspace& ws) {
  constexpr std::size_t kMaxRanges = 16;
  ContactRange memory[kMaxRanges];
  const std::span<const EmittedContact> contacts = state.patches.contacts();
  const bool isShared = ws.pool->numThreads() > 1 && contacts.size() >= kMinSharedContacts;
  const std::span<ContactRange> ranges(memory, isShared ? kMaxRanges : 1);
  core::ThreadPool* const pool = isShared ? ws.pool.get() : nullptr;
  divideContacts(contacts, ranges);
  std::size_t numGroups = state.patches.patches().size(), numPoints = contacts.size();
  if (isShared) {
    core::parallelFor(pool, kMaxRanges, 1, [&](std::int64_t k, std::int64_t) {
      countContacts(model, state, &ranges[static_cast<std::size_t>(k)]);
    });
    numGroups = numPoints = 0;
    for (ContactRange& range : ranges) {
      range.firstGroup = static_cast<int>(numGroups);
      range.firstPoint = static_cast<int>(numPoints);
      numGroups += static_cast<std::size_t>(range.numGroups);
      numPoints += static_cast<std::size_t>(range.numPoints);
    }
  }
  sizeGroups(numGroups, ws);
  sizePoints(numPoints, ws);
  core::parallelFor(pool, static_cast<std::int64_t>(ranges.size()), 1,
                    [&](std::int64_t k, std::int64_t) {
                      collectContacts(model, state, ws, &ranges[static_cast<std::size_t>(k)]);
                    });
  const ContactRange& last = ranges.back();
  sizeGroups(static_cast<std::size_t>(last.firstGroup + last.numGroups), ws);
  sizePoints(static_cast<std::size_t>(last.firstPoint + last.numPoints), ws);
  listFastGroups([&](int, int point) { return ws.pointSource[point].rawManifold; }, ws);
}

void collectPoints(const model::ModelData& model, const State& state, model::Workspace& ws) {
  if (state.patches.options().enabled) {
    collectFromPatches(model, state, ws);
  } else {
    collectFromManifolds(model, state, ws);
  }
}

}  // namespace

}  // namespace tangere::contact
