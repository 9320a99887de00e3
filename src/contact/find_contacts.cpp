// SPDX-License-Identifier: Apache-2.0
#include "contact/find_contacts.hpp"

#include "collision/narrow_phase.hpp"
#include "contact/flush_contacts.hpp"
#include "contact/foresee_contacts.hpp"
#include "contact/solid_shape.hpp"
#include "model/soft_bodies.hpp"
#include "model/start_overlaps.hpp"

#include <algorithm>
#include <utility>

namespace tangere::contact {

namespace {

/// Pairs are tested in chunks of this many; each chunk has its own result, so threads share none.
constexpr std::int64_t kPairsPerChunk = 32;
/// Shapes apart that come no closer than this part of the slop within the step are not asked how
/// far apart: in a pile at rest these are most of the pairs.
constexpr Real kStillPart = 1e-3;

void collidePair(const model::ModelData& model, const State& state, const model::Workspace& ws,
                 model::ShapePair& pair, CollisionResult& result,
                 std::vector<model::ForeseenManifold>& foreseen);
void gatherManifolds(model::Workspace& ws, std::size_t numChunks);
void takeOverHints(std::int64_t begin, std::int64_t end, model::Workspace& ws);
void findLastNormals(std::span<const ContactPatch> patches, std::span<model::ShapePair> pairs);

}  // namespace

void findContacts(const model::ModelData& model, const State& state, model::Workspace& ws) {
  const auto numPairs = static_cast<std::int64_t>(ws.pairs.size());
  const auto numChunks = static_cast<std::size_t>((numPairs + kPairsPerChunk - 1) / kPairsPerChunk);
  if (ws.chunkResults.size() < numChunks) ws.chunkResults.resize(numChunks);
  if (ws.chunkForeseen.size() < numChunks) ws.chunkForeseen.resize(numChunks);
  core::parallelFor(
      ws.pool.get(), numPairs, kPairsPerChunk, [&](std::int64_t begin, std::int64_t end) {
        const auto chunk = static_cast<std::size_t>(begin / kPairsPerChunk);
        CollisionResult& result = ws.chunkResults[chunk];
        std::vector<model::ForeseenManifold>& foreseen = ws.chunkForeseen[chunk];
        result.clear();
        foreseen.clear();
        for (std::int64_t i = begin; i < end; ++i) {
          collidePair(model, state, ws, ws.pairs[static_cast<std::size_t>(i)], result, foreseen);
        }
      });
  gatherManifolds(ws, numChunks);
  levelFlushContacts(model, state, ws);
}

void findPairs(const model::ModelData& model, const State& state, model::Workspace& ws) {
  if (!ws.isBroadPhaseFilled) {
    std::vector<ObjectId> ids(model.shapes.size());
    for (std::size_t s = 0; s < ids.size(); ++s) ids[s] = static_cast<ObjectId>(s);
    ws.broadPhase.clear();
    ws.broadPhase.addBulk(ids, ws.sweptBox);
    ws.isBroadPhaseFilled = true;
  } else {
    for (std::size_t s = 0; s < model.shapes.size(); ++s) {
      if (ws.poseAge[static_cast<std::size_t>(model.shapes[s].body)] > 1) continue;
      ws.broadPhase.update(static_cast<ObjectId>(s), ws.sweptBox[s]);
    }
  }

  ws.pairKeys.clear();
  ws.pressurePairs.clear();
  for (const ObjectPair& pair : ws.broadPhase.computePotentialPairs()) {
    if (!mayTouch(model, pair)) continue;
    const bool isPressed = model.hasPressure && model::isPressurePair(model, pair);
    (isPressed ? ws.pressurePairs : ws.pairKeys).push_back(pair);
  }
  const auto isSame = [](const ObjectPair& key, const model::ShapePair& pair) {
    return key.first == pair.shape1 && key.second == pair.shape2;
  };
  const bool isChanged =
      !std::equal(ws.pairKeys.begin(), ws.pairKeys.end(), ws.pairs.begin(), ws.pairs.end(), isSame);
  if (isChanged) {
    std::swap(ws.pairs, ws.lastPairs);
    ws.pairs.resize(ws.pairKeys.size());
  }
  // By the threads that will test them: a hint stays where it is used.
  core::parallelFor(ws.pool.get(), static_cast<std::int64_t>(ws.pairs.size()), kPairsPerChunk,
                    [&](std::int64_t begin, std::int64_t end) {
                      if (isChanged) takeOverHints(begin, end, ws);
                      findLastNormals(
                          state.patches.patches(),
                          {ws.pairs.data() + begin, static_cast<std::size_t>(end - begin)});
                    });
}

bool mayTouch(const model::ModelData& model, const ObjectPair& pair) {
  return model::mayTouch(model, static_cast<int>(pair.first), static_cast<int>(pair.second));
}

namespace {

/// The pairs [begin, end) of ws.pairKeys with what the last step knew of each: both lists are
/// sorted.
void takeOverHints(std::int64_t begin, std::int64_t end, model::Workspace& ws) {
  const auto keyOf = [](const model::ShapePair& pair) {
    return ObjectPair{pair.shape1, pair.shape2};
  };
  auto last = std::lower_bound(
      ws.lastPairs.begin(), ws.lastPairs.end(), ws.pairKeys[static_cast<std::size_t>(begin)],
      [&](const model::ShapePair& pair, const ObjectPair& key) { return keyOf(pair) < key; });
  for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
    const ObjectPair& key = ws.pairKeys[i];
    while (last != ws.lastPairs.end() && keyOf(*last) < key) ++last;
    const bool isKnown = last != ws.lastPairs.end() && keyOf(*last) == key;
    ws.pairs[i] = isKnown ? *last : model::ShapePair{.shape1 = key.first, .shape2 = key.second};
  }
}

/// Of sorted pairs, at least one.
void findLastNormals(std::span<const ContactPatch> patches, std::span<model::ShapePair> pairs) {
  const auto keyOf = [](const ContactPatch& patch) {
    return ObjectPair{patch.key.object1, patch.key.object2};
  };
  auto patch = std::lower_bound(
      patches.begin(), patches.end(), ObjectPair{pairs.front().shape1, pairs.front().shape2},
      [&](const ContactPatch& a, const ObjectPair& key) { return keyOf(a) < key; });
  for (model::ShapePair& pair : pairs) {
    const ObjectPair key{pair.shape1, pair.shape2};
    while (patch != patches.end() && keyOf(*patch) < key) ++patch;
    const bool isKnown = patch != patches.end() && keyOf(*patch) == key && patch->count > 0;
    pair.lastNormal = isKnown ? patch->points[0].contact.normal : Vec3{};
  }
}

/// Contacts of the shapes up to `margin` apart along `normal`; with no normal, of the shapes as
/// they are. Returns whether there are any.
bool collideWithin(Real margin, const Vec3& normal, const model::ModelData& model,
                   const model::Workspace& ws, model::ShapePair& pair, CollisionResult& result) {
  const model::ModelShape& shape1 = model.shapes[pair.shape1];
  const model::ModelShape& shape2 = model.shapes[pair.shape2];
  const Vec3 push = normal * margin;
  Transform X_W1 = ws.shapePose[pair.shape1];
  X_W1.translation -= push;
  const int first = result.numManifolds();
  if (collide(solidOf(shape1), X_W1, solidOf(shape2), ws.shapePose[pair.shape2], {}, result,
              shape1.mayWarmStart && shape2.mayWarmStart ? &pair.hint : nullptr) == 0) {
    return false;
  }
  for (ContactManifold& manifold : result.manifolds().subspan(static_cast<std::size_t>(first)))
    moveBack(push, &manifold);
  return true;
}

/// Shapes that were not in touch.
void collideApart(const model::ModelData& model, const State& state, const model::Workspace& ws,
                  model::ShapePair& pair, CollisionResult& result,
                  std::vector<model::ForeseenManifold>& foreseen) {
  const Real closing = closingReach(model, ws, pair);
  const Real margin = model.options.impulse.slop;
  if (closing <= kStillPart * margin) return;
  const Real reach = std::max(closing, margin);
  const Shape& shape1 = solidOf(model.shapes[pair.shape1]);
  const Shape& shape2 = solidOf(model.shapes[pair.shape2]);
  const Transform& X_W1 = ws.shapePose[pair.shape1];
  const Transform& X_W2 = ws.shapePose[pair.shape2];
  if (collision::areProvenApart(pair.hint, shape1, X_W1, shape2, X_W2, reach)) return;
  const DistanceResult nearest =
      distance(shape1, X_W1, shape2, X_W2, {.upperBound = reach, .enableSigned = false});
  result.raiseStatus(nearest.status);
  if (nearest.status > QueryStatus::NotConverged) return;
  // Just touching, seen by one query and not by the other: there is no direction yet.
  if (nearest.normal == Vec3{}) return;
  if (nearest.distance <= margin && collideWithin(margin, nearest.normal, model, ws, pair, result))
    return;
  if (nearest.distance <= closing) foreseePair(model, state, ws, pair, nearest, result, foreseen);
}

void collidePair(const model::ModelData& model, const State& state, const model::Workspace& ws,
                 model::ShapePair& pair, CollisionResult& result,
                 std::vector<model::ForeseenManifold>& foreseen) {
  const int first = result.numManifolds();
  if (!collideWithin(model.options.impulse.slop, pair.lastNormal, model, ws, pair, result)) {
    collideApart(model, state, ws, pair, result, foreseen);
  } else if (model.hasRestitution && model.options.solver == SolverType::Impulse &&
             result.numManifolds() == first + 1) {
    foreseeBeside(model, state, ws, pair, first, result, foreseen);
  }
  for (ContactManifold& manifold : result.manifolds().subspan(static_cast<std::size_t>(first))) {
    manifold.object1 = pair.shape1;
    manifold.object2 = pair.shape2;
  }
}

/// In the order of the chunks, which is the order of the pairs. Where each block of chunks begins
/// is counted first, so that threads copy side by side what they found.
void gatherManifolds(model::Workspace& ws, std::size_t numChunks) {
  constexpr std::size_t kMaxBlocks = 16, kMinShared = 256;
  const std::size_t chunksPerBlock = numChunks / kMaxBlocks + 1;
  std::size_t firstOfBlock[kMaxBlocks];
  std::size_t total = 0;
  ws.foreseen.clear();
  for (std::size_t chunk = 0; chunk < numChunks; ++chunk) {
    const CollisionResult& result = ws.chunkResults[chunk];
    if (result.status() == QueryStatus::NotConverged)
      ws.report.status = ws.report.status | StepStatus::QueryNotConverged;
    for (model::ForeseenManifold point : ws.chunkForeseen[chunk]) {
      point.manifold += static_cast<int>(total);
      ws.foreseen.push_back(point);
    }
    if (chunk % chunksPerBlock == 0) firstOfBlock[chunk / chunksPerBlock] = total;
    total += static_cast<std::size_t>(result.numManifolds());
  }
  ws.manifolds.resize(total);
  core::parallelFor(
      total >= kMinShared ? ws.pool.get() : nullptr, static_cast<std::int64_t>(numChunks),
      static_cast<std::int64_t>(chunksPerBlock), [&](std::int64_t begin, std::int64_t end) {
        const auto first = static_cast<std::size_t>(begin);
        auto out = ws.manifolds.begin() +
                   static_cast<std::ptrdiff_t>(firstOfBlock[first / chunksPerBlock]);
        for (std::size_t chunk = first; chunk < static_cast<std::size_t>(end); ++chunk) {
          const std::span<const ContactManifold> found =
              std::as_const(ws.chunkResults[chunk]).manifolds();
          out = std::copy(found.begin(), found.end(), out);
        }
      });
}

}  // namespace

}  // namespace tangere::contact
