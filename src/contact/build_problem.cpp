// SPDX-License-Identifier: Apache-2.0
#include "contact/build_problem.hpp"

#include "math/contact_frame.hpp"

#include <cmath>

#include <algorithm>

namespace tangere::contact {

namespace {

/// A slip this slow has no direction worth turning the frame to [m/s].
constexpr Real kSlidingSpeed = 0.01;

/// How many points the groups have.
std::int32_t numPointsOf(const std::vector<solver::ImpulseGroup>& groups) {
  return groups.empty() ? 0 : groups.back().first + groups.back().count;
}

/// The points stay as the last step left them until addPoint() writes each: as many as there may
/// be. Clearing them first would take as long as writing them.
void sizePoints(std::size_t count, model::Workspace& ws) {
  ws.problem.points.resize(count);
  ws.pointSource.resize(count);
}

const model::ContactMaterial* beginGroup(const model::ModelData& model, ObjectId shape1,
                                         ObjectId shape2, model::Workspace& ws) {
  ws.problem.groups.push_back({.block1 = model.shapes[shape1].body,
                               .block2 = model.shapes[shape2].body,
                               .first = numPointsOf(ws.problem.groups)});
  ws.groupShapes.emplace_back(shape1, shape2);
  return &model.contactMaterial(model.shapes[shape1].material, model.shapes[shape2].material);
}

/// The first tangent along the slip where there is one, so that a sliding contact is a problem of
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
                               model::Workspace& ws) {
  solver::ImpulseGroup& group = ws.problem.groups.back();
  const std::int32_t index = group.first + group.count;
  solver::ImpulsePoint& point = ws.problem.points[index];
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

/// The arms of a point whose bodies have yet to come together.
void setForeseenArms(int manifold, int index, solver::ImpulsePoint* point, model::Workspace& ws) {
  if (ws.foreseen.empty()) return;
  const auto found = std::lower_bound(
      ws.foreseen.begin(), ws.foreseen.end(), manifold,
      [](const model::ForeseenManifold& f, int value) { return f.manifold < value; });
  if (found == ws.foreseen.end() || found->manifold != manifold) return;
  point->r1 = found->r1[index];
  point->r2 = found->r2[index];
  const int group = static_cast<int>(ws.problem.groups.size()) - 1;
  if (found->isFast && (ws.fastGroups.empty() || ws.fastGroups.back() != group))
    ws.fastGroups.push_back(group);
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

namespace {

void collectFromManifolds(const model::ModelData& model, const State& state, model::Workspace& ws) {
  std::size_t count = 0;
  for (const ContactManifold& manifold : ws.manifolds) count += manifold.contacts().size();
  sizePoints(count, ws);
  for (int m = 0; m < static_cast<int>(ws.manifolds.size()); ++m) {
    const ContactManifold& manifold = ws.manifolds[m];
    const model::ContactMaterial* material =
        beginGroup(model, manifold.object1, manifold.object2, ws);
    for (int k = 0; k < manifold.count; ++k) {
      solver::ImpulsePoint& point =
          addPoint(state, manifold.points[k], {.patch = -1, .point = -1}, *material, ws);
      setForeseenArms(m, k, &point, ws);
    }
  }
}

void collectFromPatches(const model::ModelData& model, const State& state, model::Workspace& ws) {
  sizePoints(state.patches.contacts().size(), ws);
  int lastPatch = -1;
  bool moves = false;
  const model::ContactMaterial* material = nullptr;
  for (const EmittedContact& emitted : state.patches.contacts()) {
    const PairKey& key = state.patches.patches()[static_cast<std::size_t>(emitted.patch)].key;
    if (emitted.patch != lastPatch) {
      lastPatch = emitted.patch;
      moves = mayMove(model, state, key);
      material = nullptr;
    }
    const ContactPatchPoint& kept = state.patches.point(emitted);
    if (!moves || isLeftBehind(model, key, kept)) continue;
    if (material == nullptr) material = beginGroup(model, key.object1, key.object2, ws);
    solver::ImpulsePoint& point = addPoint(state, kept.contact, emitted, *material, ws);
    setForeseenArms(emitted.rawManifold, emitted.rawPoint, &point, ws);
    point.normalImpulse = kept.normalImpulse;
    point.tangentImpulse[0] = dot(kept.tangentImpulse, point.tangent1);
    point.tangentImpulse[1] = dot(kept.tangentImpulse, point.tangent2);
  }
}

void collectPoints(const model::ModelData& model, const State& state, model::Workspace& ws) {
  ws.problem.groups.clear();
  ws.groupShapes.clear();
  ws.fastGroups.clear();
  if (state.patches.options().enabled) {
    collectFromPatches(model, state, ws);
  } else {
    collectFromManifolds(model, state, ws);
  }
  sizePoints(static_cast<std::size_t>(numPointsOf(ws.problem.groups)), ws);
}

}  // namespace

}  // namespace tangere::contact
