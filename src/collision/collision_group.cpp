// SPDX-License-Identifier: Apache-2.0
//
// A set of objects asked as a whole: broad phase, filters, narrow phase. Pairs are tested in fixed
// chunks that write only what is theirs, and their findings are joined in the order of the pairs.
#include <tangere/collision.hpp>

#include "collision/broad_phase_common.hpp"
#include "collision/shape_cast.hpp"
#include "collision/time_of_impact.hpp"
#include "core/assert.hpp"
#include "core/parallel_for.hpp"
#include "geometry/limits.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

namespace tangere {

using namespace collision;

namespace {

constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
constexpr Real kEpsilon = std::numeric_limits<Real>::epsilon();

std::unique_ptr<BroadPhase> makeBroadPhase(BroadPhaseType type) {
  switch (type) {
    case BroadPhaseType::Sweep:
      return std::make_unique<SweepBroadPhase>();
    case BroadPhaseType::BruteForce:
      return std::make_unique<BruteForceBroadPhase>();
    case BroadPhaseType::Bvh:
      break;
  }
  return std::make_unique<BvhBroadPhase>();
}

void requirePose(ObjectId id, const Transform& pose) {
  const Vec3& p = pose.translation;
  TANGERE_REQUIRE(geometry::isPosition(p),
                  "the position of an object must be finite and within 1e30 m", id, p.x, p.y, p.z);
  const Mat3& R = pose.rotation;
  const Mat3 product = transposeTimes(R, R);
  Real error = 0;
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) {
      const Real off = std::fabs(product(i, k) - (i == k ? 1 : 0));
      error = off <= error ? error : off;  // keeps a NaN
    }
  const Real determinant = dot(R.col[0], cross(R.col[1], R.col[2]));
  constexpr Real kTolerance = 1e-6;
  TANGERE_REQUIRE(error <= kTolerance && determinant > 0,
                  "the pose of an object must be a rigid motion (|R^T R - 1| <= 1e-6, det R > 0)",
                  id, error, determinant);
}

// Larger than the shape's box by what rounding may have taken from it: two shapes that touch to the
// last digit must not be lost between their boxes.
Aabb boxOf(const CollisionObject& object) {
  Aabb box = object.shape->worldAabb(object.pose);
  for (int k = 0; k < 3; ++k) {
    const Real size = std::max(std::fabs(box.lower[k]), std::fabs(box.upper[k]));
    const Real pad = size < kInfinity ? 8 * kEpsilon * size : Real(0);
    box.lower[k] -= pad;
    box.upper[k] += pad;
  }
  return box;
}

std::optional<RayHit> rayCastObject(const CollisionObject& object, const Ray& ray, Real maxT) {
  const Transform& X = object.pose;
  std::optional<RayHit> hit =
      object.shape->rayCast({.origin = inverseTimes(X, ray.origin),
                             .direction = transposeTimes(X.rotation, ray.direction),
                             .maxT = maxT});
  if (!hit) return hit;
  hit->position = X * hit->position;
  hit->normal = X.rotation * hit->normal;
  return hit;
}

}  // namespace

struct CollisionGroup::Impl {
  explicit Impl(BroadPhaseType type) : broadPhase(makeBroadPhase(type)) {}

  /// What became of one pair.
  struct Outcome {
    int endManifold = 0;  ///< in the result of its chunk
    bool isColliding = false;
    QueryStatus worstStatus = QueryStatus::Ok;  ///< of the chunk up to this pair
  };

  /// What is kept of a pair from one query to the next.
  struct PairMemory {
    PairCache cache;
    bool wasApart = false;
  };
  struct FilterBits {
    std::uint32_t group = 0;
    std::uint32_t mask = 0;
  };
  /// Two slots that are to be tested; the first has the smaller id.
  struct SlotPair {
    int first, second;
  };

  [[nodiscard]] int slotOf(ObjectId id) const;
  [[nodiscard]] const CollisionObject& objectOf(ObjectId id) const {
    return objects[slots.find(id)];
  }
  [[nodiscard]] bool allows(const ObjectPair& pair, const SlotPair& slotPair) const;
  void prefetch(std::size_t pair) const;

  void updatePairs();
  void dropMemoriesOfRemoved();
  void carryMemories();
  bool collide(const CollisionOption& option, CollisionResult& result);
  void testChunk(const CollisionOption& option, std::size_t begin, std::size_t end);
  void testPair(const CollisionOption& option, std::size_t pair, CollisionResult& found,
                Outcome& outcome);
  [[nodiscard]] static bool collidePair(const CollisionObject& object1,
                                        const CollisionObject& object2,
                                        const CollisionOption& option, PairMemory& memory,
                                        CollisionResult& found);
  void append(const Outcome& outcome, int firstManifold, const CollisionResult& found, int& room,
              CollisionResult& result) const;
  [[nodiscard]] std::optional<DistanceResult> distance(const DistanceOption& option);
  static constexpr std::size_t kChunk = 32;           // pairs
  static constexpr std::size_t kFirstBatch = 256;     // pairs tested before looking at the results
  static constexpr std::size_t kLargestBatch = 2048;  // what they find stays in the cache

  std::unique_ptr<BroadPhase> broadPhase;
  IdSlotMap slots;
  std::deque<CollisionObject> objects;  // by slot; a deque, so that object() stays valid
  std::vector<FilterBits> filterBits;   // by slot, as in objects: all that most pairs need of them
  std::vector<int> freeSlots;
  int count = 0;
  ObjectId nextId = 0;

  std::vector<std::uint64_t> excluded;  // keys of pairs, sorted
  const CollisionFilter* filter = nullptr;
  std::unique_ptr<core::ThreadPool> pool;

  // Pairs that pass the filters, in order, and with each what the last query on it left behind.
  std::vector<ObjectPair> pairs, oldPairs;
  std::vector<SlotPair> slotPairs;
  std::vector<PairMemory> memories, oldMemories;
  std::vector<ObjectId> removedIds;  // since pairs was made
  // Of the present batch of pairs, which begins with pair batchBegin.
  std::size_t batchBegin = 0;
  std::vector<Outcome> outcomes;            // per pair
  std::vector<CollisionResult> chunkFound;  // per chunk
};

CollisionGroup::CollisionGroup(BroadPhaseType type) : impl_(std::make_unique<Impl>(type)) {}
CollisionGroup::~CollisionGroup() = default;
CollisionGroup::CollisionGroup(CollisionGroup&&) noexcept = default;
CollisionGroup& CollisionGroup::operator=(CollisionGroup&&) noexcept = default;

void CollisionGroup::add(const CollisionObject& object) {
  Impl& impl = *impl_;
  TANGERE_REQUIRE(object.shape != nullptr, "an object needs a shape", object.id);
  requirePose(object.id, object.pose);
  impl.broadPhase->add(object.id, boxOf(object));  // refuses ids that are taken or reserved
  int slot;
  if (impl.freeSlots.empty()) {
    slot = static_cast<int>(impl.objects.size());
    impl.objects.push_back(object);
    impl.filterBits.emplace_back();
  } else {
    slot = impl.freeSlots.back();
    impl.freeSlots.pop_back();
    impl.objects[slot] = object;
  }
  impl.filterBits[slot] = {object.group, object.mask};
  impl.slots.insert(object.id, slot);
  ++impl.count;
}

ObjectId CollisionGroup::add(std::shared_ptr<const Shape> shape, const Transform& pose) {
  Impl& impl = *impl_;
  while (impl.nextId == kNoObject || impl.slots.find(impl.nextId) != IdSlotMap::kMissing)
    ++impl.nextId;
  const ObjectId id = impl.nextId;
  add(CollisionObject{.id = id, .shape = std::move(shape), .pose = pose});
  ++impl.nextId;
  return id;
}

void CollisionGroup::remove(ObjectId id) {
  Impl& impl = *impl_;
  const int slot = impl.slotOf(id);
  impl.broadPhase->remove(id);
  impl.slots.erase(id);
  impl.objects[slot] = {};
  impl.freeSlots.push_back(slot);
  --impl.count;
  impl.removedIds.push_back(id);
  if (impl.removedIds.size() > impl.pairs.size()) {  // then a fresh start costs least
    impl.pairs.clear();
    impl.memories.clear();
    impl.removedIds.clear();
  }
}

void CollisionGroup::setPose(ObjectId id, const Transform& pose) {
  CollisionObject& object = impl_->objects[impl_->slotOf(id)];
  requirePose(id, pose);
  object.pose = pose;
  impl_->broadPhase->update(id, boxOf(object));
}

const CollisionObject& CollisionGroup::object(ObjectId id) const {
  return impl_->objects[impl_->slotOf(id)];
}

int CollisionGroup::size() const { return impl_->count; }

void CollisionGroup::clear() {
  Impl& impl = *impl_;
  impl.broadPhase->clear();
  impl.slots.clear();
  impl.objects.clear();
  impl.filterBits.clear();
  impl.freeSlots.clear();
  impl.count = 0;
  impl.nextId = 0;
  impl.excluded.clear();
  impl.pairs.clear();
  impl.memories.clear();
  impl.removedIds.clear();
}

void CollisionGroup::excludePair(ObjectId id1, ObjectId id2) {
  TANGERE_REQUIRE(id1 != id2, "a pair has two different objects", id1, id2);
  std::vector<std::uint64_t>& excluded = impl_->excluded;
  const std::uint64_t key = pairKey(id1, id2);
  const auto at = std::lower_bound(excluded.begin(), excluded.end(), key);
  if (at == excluded.end() || *at != key) excluded.insert(at, key);
}

void CollisionGroup::includePair(ObjectId id1, ObjectId id2) {
  std::vector<std::uint64_t>& excluded = impl_->excluded;
  const std::uint64_t key = pairKey(id1, id2);
  const auto at = std::lower_bound(excluded.begin(), excluded.end(), key);
  if (at != excluded.end() && *at == key) excluded.erase(at);
}

void CollisionGroup::setFilter(const CollisionFilter* filter) { impl_->filter = filter; }

void CollisionGroup::setNumThreads(int numThreads) {
  TANGERE_REQUIRE(numThreads >= 1, "a group needs at least one thread", numThreads);
  const int present = impl_->pool ? impl_->pool->numThreads() : 1;
  if (numThreads == present) return;
  impl_->pool.reset();
  if (numThreads > 1) impl_->pool = std::make_unique<core::ThreadPool>(numThreads);
}

bool CollisionGroup::collide(const CollisionOption& option, CollisionResult& result) {
  return impl_->collide(option, result);
}

std::optional<DistanceResult> CollisionGroup::distance(const DistanceOption& option) {
  return impl_->distance(option);
}

std::optional<GroupRayHit> CollisionGroup::rayCast(const Ray& ray) const {
  const Impl& impl = *impl_;
  std::optional<GroupRayHit> best;
  impl.broadPhase->queryRay(ray.origin, ray.direction, ray.maxT, [&](ObjectId id) {
    // Slack for the rounding of t in boxes and shapes: of two hits at the same t the one with the
    // smaller id is to be found, in whatever order the boxes come.
    const Real bound = best ? std::min(ray.maxT, best->hit.t * (1 + 1e-9)) : ray.maxT;
    const std::optional<RayHit> hit = rayCastObject(impl.objects[impl.slotOf(id)], ray, ray.maxT);
    if (!hit) return bound;
    if (!best || hit->t < best->hit.t || (hit->t == best->hit.t && id < best->object))
      best = GroupRayHit{id, *hit};
    return std::min(ray.maxT, best->hit.t * (1 + 1e-9));
  });
  return best;
}

void CollisionGroup::rayCastAll(const Ray& ray, std::vector<GroupRayHit>& out) const {
  const Impl& impl = *impl_;
  const std::size_t begin = out.size();
  impl.broadPhase->queryRay(ray.origin, ray.direction, ray.maxT, [&](ObjectId id) {
    if (const auto hit = rayCastObject(impl.objects[impl.slotOf(id)], ray, ray.maxT))
      out.push_back({id, *hit});
    return ray.maxT;
  });
  std::stable_sort(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(),
                   [](const GroupRayHit& a, const GroupRayHit& b) {
                     return a.hit.t != b.hit.t ? a.hit.t < b.hit.t : a.object < b.object;
                   });
}

std::optional<GroupCastHit> CollisionGroup::shapeCast(const Shape& shape, const Motion& motion,
                                                      const ImpactOption& option) const {
  const Impl& impl = *impl_;
  Aabb box = sweptAabb(shape, motion);
  box.expand(option.tolerance > 0 ? option.tolerance : 0);
  std::vector<ObjectId> candidates;
  impl.broadPhase->queryOverlap(box, candidates);

  std::optional<GroupCastHit> best;
  for (const ObjectId id : candidates) {
    const CollisionObject& object = impl.objects[impl.slotOf(id)];
    const Real horizon = best ? best->impact.s : Real(1);
    const ImpactResult impact = timeOfImpactUntil(shape, motion, *object.shape,
                                                  Motion{.start = object.pose}, option, horizon);
    if (impact.status == ImpactStatus::Miss) continue;
    // At the same time, an overlap is worse news than a touch.
    const bool isFirst = !best || impact.s < best->impact.s ||
                         (impact.status == ImpactStatus::Overlapping &&
                          best->impact.status != ImpactStatus::Overlapping);
    if (isFirst) best = GroupCastHit{id, impact};
    if (best->impact.status == ImpactStatus::Overlapping) break;
  }
  return best;
}

const BroadPhase& CollisionGroup::broadPhase() const { return *impl_->broadPhase; }

int CollisionGroup::Impl::slotOf(ObjectId id) const {
  const int slot = slots.find(id);
  if (slot == IdSlotMap::kMissing) throwUnknownId(id);
  return slot;
}

bool CollisionGroup::Impl::allows(const ObjectPair& pair, const SlotPair& slotPair) const {
  const FilterBits& bits1 = filterBits[slotPair.first];
  const FilterBits& bits2 = filterBits[slotPair.second];
  if ((bits1.group & bits2.mask) == 0 || (bits2.group & bits1.mask) == 0) return false;
  if (!excluded.empty() &&
      std::binary_search(excluded.begin(), excluded.end(), pairKey(pair.first, pair.second)))
    return false;
  return filter == nullptr || !filter->ignoresCollision(pair.first, pair.second);
}

void CollisionGroup::Impl::updatePairs() {
  if (!removedIds.empty()) dropMemoriesOfRemoved();
  pairs.swap(oldPairs);
  pairs.clear();
  slotPairs.clear();
  for (const ObjectPair& pair : broadPhase->computePotentialPairs()) {
    const SlotPair slotPair{slots.find(pair.first), slots.find(pair.second)};
    if (!allows(pair, slotPair)) continue;
    pairs.push_back(pair);
    slotPairs.push_back(slotPair);
  }
  if (pairs != oldPairs) carryMemories();
}

// An id that was removed and added again may name another shape, of which a memory knows nothing.
void CollisionGroup::Impl::dropMemoriesOfRemoved() {
  std::stable_sort(removedIds.begin(), removedIds.end());
  const auto isRemoved = [&](ObjectId id) {
    return std::binary_search(removedIds.begin(), removedIds.end(), id);
  };
  for (std::size_t i = 0; i < pairs.size(); ++i)
    if (isRemoved(pairs[i].first) || isRemoved(pairs[i].second)) memories[i] = {};
  removedIds.clear();
}

// Both lists are sorted: one walk along them finds the pairs that persist.
void CollisionGroup::Impl::carryMemories() {
  memories.swap(oldMemories);
  memories.resize(pairs.size());
  std::size_t old = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    while (old < oldPairs.size() && oldPairs[old] < pairs[i]) ++old;
    memories[i] =
        old < oldPairs.size() && oldPairs[old] == pairs[i] ? oldMemories[old] : PairMemory{};
  }
}

bool CollisionGroup::Impl::collide(const CollisionOption& option, CollisionResult& result) {
  if (option.maxNumContacts <= 0) return false;
  updatePairs();
  int room = option.enableContact ? option.maxNumContacts : 1;
  bool isColliding = false;
  // In batches: a search for the first contact should not test a hundred thousand pairs beyond it.
  std::size_t batchSize = kFirstBatch;
  for (batchBegin = 0; batchBegin < pairs.size() && room > 0; batchBegin += outcomes.size()) {
    outcomes.assign(std::min(batchSize, pairs.size() - batchBegin), {});
    batchSize = std::min(2 * batchSize, kLargestBatch);
    const std::size_t numChunks = (outcomes.size() + kChunk - 1) / kChunk;
    if (chunkFound.size() < numChunks) chunkFound.resize(numChunks);
    core::parallelFor(pool.get(), static_cast<std::int64_t>(outcomes.size()), kChunk,
                      [&](std::int64_t begin, std::int64_t end) {
                        testChunk(option, static_cast<std::size_t>(begin),
                                  static_cast<std::size_t>(end));
                      });
    for (std::size_t i = 0; i < outcomes.size() && room > 0; ++i) {
      const int firstManifold = i % kChunk == 0 ? 0 : outcomes[i - 1].endManifold;
      append(outcomes[i], firstManifold, chunkFound[i / kChunk], room, result);
      isColliding |= outcomes[i].isColliding;
    }
  }
  return isColliding;
}

void CollisionGroup::Impl::testChunk(const CollisionOption& option, std::size_t begin,
                                     std::size_t end) {
  CollisionResult& found = chunkFound[begin / kChunk];
  found.clear();
  for (std::size_t i = begin; i < end; ++i) {
    prefetch(batchBegin + i);
    testPair(option, batchBegin + i, found, outcomes[i]);
    // What comes after is not asked for, whatever the chunks before this one find.
    const bool isFull = option.enableContact ? found.numContacts() >= option.maxNumContacts
                                             : outcomes[i].isColliding;
    if (isFull) break;
  }
}

// Pairs come in order of their first object; the second may be anywhere. What will be read of it is
// called for in steps, each of which needs the one before.
void CollisionGroup::Impl::prefetch(std::size_t pair) const {
  constexpr std::size_t kPose = 12, kShape = 8, kFlat = 4;  // pairs ahead
  if (pair + kPose >= slotPairs.size()) return;
  const CollisionObject& object = objects[slotPairs[pair + kPose].second];
  __builtin_prefetch(&object);
  __builtin_prefetch(&object.pose.translation);
  __builtin_prefetch(objects[slotPairs[pair + kShape].second].shape.get());
  __builtin_prefetch(&objects[slotPairs[pair + kFlat].second].shape->flat());
}

void CollisionGroup::Impl::testPair(const CollisionOption& option, std::size_t pair,
                                    CollisionResult& found, Outcome& outcome) {
  const CollisionObject& object1 = objects[slotPairs[pair].first];
  const CollisionObject& object2 = objects[slotPairs[pair].second];
  const int firstManifold = found.numManifolds();
  outcome.isColliding = collidePair(object1, object2, option, memories[pair], found);
  for (ContactManifold& manifold : found.manifolds().subspan(firstManifold)) {
    manifold.object1 = object1.id;
    manifold.object2 = object2.id;
  }
  outcome.endManifold = found.numManifolds();
  outcome.worstStatus = found.status();
}

// A separating axis that still separates is the fastest no there is, and no more than that:
// contacts always come from a query without a hint, because the last digits of an iteration may
// depend on where it began. So what a group did before does not show in its answers.
bool CollisionGroup::Impl::collidePair(const CollisionObject& object1,
                                       const CollisionObject& object2,
                                       const CollisionOption& option, PairMemory& memory,
                                       CollisionResult& found) {
  const Shape& shape1 = *object1.shape;
  const Shape& shape2 = *object2.shape;
  if (!option.enableContact)
    return tangere::collide(shape1, object1.pose, shape2, object2.pose, option, found,
                            &memory.cache) > 0;
  const bool mayAsk = memory.wasApart && option.algorithm == ConvexAlgorithm::Auto;
  if (mayAsk && !overlap(shape1, object1.pose, shape2, object2.pose, &memory.cache)) return false;
  const bool isColliding =
      tangere::collide(shape1, object1.pose, shape2, object2.pose, option, found) > 0;
  // A pair that is refused is to say so every time.
  memory.wasApart = !isColliding && pairSupport(shape1.type(), shape2.type()).collide;
  return isColliding;
}

// Joins what one pair found to the result, as far as there is room.
void CollisionGroup::Impl::append(const Outcome& outcome, int firstManifold,
                                  const CollisionResult& found, int& room,
                                  CollisionResult& result) const {
  result.raiseStatus(outcome.worstStatus);
  if (!outcome.isColliding) return;
  result.markColliding();
  if (firstManifold == outcome.endManifold) {  // a plain yes
    --room;
    return;
  }
  for (int i = firstManifold; i < outcome.endManifold && room > 0; ++i) {
    const ContactManifold& manifold = found.manifolds()[i];
    ContactManifold& copy = result.beginManifold();
    copy = manifold;
    copy.count = std::min(copy.count, room);
    room -= copy.count;
    result.commitManifold();
  }
}

std::optional<DistanceResult> CollisionGroup::Impl::distance(const DistanceOption& option) {
  std::optional<DistanceResult> best;
  Real bound = option.upperBound;  // somewhat above the best distance, see below
  const auto measure = [&](const ObjectPair& pair, Real upperBound) {
    const CollisionObject& object1 = objectOf(pair.first);
    const CollisionObject& object2 = objectOf(pair.second);
    DistanceOption limited = option;
    limited.upperBound = std::max(upperBound, Real(0));  // depths are wanted whole
    DistanceResult found =
        tangere::distance(*object1.shape, object1.pose, *object2.shape, object2.pose, limited);
    found.object1 = pair.first;
    found.object2 = pair.second;
    return found;
  };
  const auto consider = [&](const ObjectPair& pair) {
    if (!allows(pair, {slots.find(pair.first), slots.find(pair.second)})) return;
    const DistanceResult found = measure(pair, bound);
    if (found.status == QueryStatus::Unsupported || !(found.distance <= option.upperBound)) return;
    const bool isBetter =
        !best || found.distance < best->distance ||
        (found.distance == best->distance && pair < ObjectPair{best->object1, best->object2});
    if (!isBetter) return;
    best = found;
    // The slack covers the rounding of distances and boxes, so that which of several equally near
    // pairs is found does not depend on which is looked at first.
    const Real size = norm(found.point1) + norm(found.point2);
    bound = std::min(option.upperBound,
                     found.distance + 1e-9 * std::fabs(found.distance) + 1e-13 * size);
  };

  for (const ObjectPair& pair : broadPhase->computePotentialPairs()) consider(pair);
  // Boxes that overlap are done. If some pair overlaps, nothing else can be as near.
  if (!best || best->distance > 0) {
    for (const CollisionObject& object : objects) {
      if (!object.shape) continue;  // a free slot
      const Aabb box = boxOf(object);
      broadPhase->queryNearest(box, bound, [&](ObjectId id) {
        if (id > object.id && !box.overlaps(boxOf(objectOf(id)))) consider({object.id, id});
        return bound;
      });
    }
  }
  // Once more without the bound that happened to hold: the digits are those of this pair alone.
  if (best) best = measure({best->object1, best->object2}, option.upperBound);
  return best;
}

}  // namespace tangere
