// SPDX-License-Identifier: Apache-2.0
//
// Broad phase on a BoxTree. Changes are only noted when they come; the tree is brought up to date
// by the next question, one item at a time or, when much moved, as a whole. The sorted pairs of the
// last question are kept: then only what changed is looked up again.
#include <tangere/broad_phase.hpp>

#include "collision/broad_phase_common.hpp"
#include "collision/bvh_broad_phase_tree.hpp"
#include "core/assert.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

namespace tangere {

using namespace collision;

struct BvhBroadPhase::Impl {
  /// What is still to be done about a slot.
  enum Flag : std::uint8_t {
    kInTree = 1,    ///< place or box in the tree is out of date
    kInPairs = 2,   ///< pairs_ may be wrong about it
    kReported = 4,  ///< counts as moved for computeMovedPairs()
    kOccupied = 8,
  };

  /// When more than one box in so many is stale, all are looked at again: with a fifth of 10,000
  /// boxes moving both ways cost the same.
  static constexpr int kWholeShare = 5;
  /// A refitted tree this much larger than a new one is built anew. From 1.05 to 1.3 the time of a
  /// step, builds included, is the same within noise.
  static constexpr float kRebuildGrowth = 1.15f;

  void add(ObjectId id, const Aabb& box);
  void remove(ObjectId id);
  void update(ObjectId id, const Aabb& box);
  void clear();

  std::span<const ObjectPair> computePotentialPairs();
  std::span<const ObjectPair> computeMovedPairs();

  /// Safe to call from several readers at once: the first one does the work.
  void bringTreeUpToDate();

  void mark(int slot, unsigned what);
  void note(std::vector<int>& list, int slot, Flag flag);
  void dropRepeated(std::vector<int>& list, Flag flag);
  void updateTree();
  void buildTree();
  void findAllPairs();
  void findPairsOf(std::vector<int>& stale, Flag flag);
  void replaceStalePairs();
  [[nodiscard]] bool isStale(ObjectId id) const;
  void setStaleBit(ObjectId id);

  IdSlotMap slots;
  std::vector<Aabb> boxes;          // per slot, exact
  std::vector<ObjectId> ids;        // per slot
  std::vector<std::uint8_t> flags;  // per slot
  std::vector<int> freeSlots;
  int count = 0;

  BoxTree tree;
  std::vector<int> loose;  // slots whose boxes do not fit the tree (planes)
  // Slots by what is to be done; a slot counts only while its flag is set.
  std::vector<int> staleInTree, staleInPairs, moved;
  std::vector<ObjectId> removedIds;  // since pairs were computed
  bool pairsAreLost = false;         // so much changed that all of them are to be found again
  std::atomic<bool> treeIsStale{false};
  std::mutex treeMutex;

  std::vector<ObjectPair> pairs, mergedPairs, movedPairs;
  std::vector<std::uint64_t> keys, keyScratch;
  std::vector<std::uint64_t> staleBits;  // by the low bits of the id: unset means not stale
  std::vector<int> buildSlots;
};

BvhBroadPhase::BvhBroadPhase() : impl_(std::make_unique<Impl>()) {}
BvhBroadPhase::~BvhBroadPhase() = default;
void BvhBroadPhase::add(ObjectId id, const Aabb& box) { impl_->add(id, box); }
void BvhBroadPhase::remove(ObjectId id) { impl_->remove(id); }
void BvhBroadPhase::update(ObjectId id, const Aabb& box) { impl_->update(id, box); }
void BvhBroadPhase::clear() { impl_->clear(); }
int BvhBroadPhase::size() const { return impl_->count; }

std::span<const ObjectPair> BvhBroadPhase::computePotentialPairs() {
  return impl_->computePotentialPairs();
}
std::span<const ObjectPair> BvhBroadPhase::computeMovedPairs() {
  return impl_->computeMovedPairs();
}

void BvhBroadPhase::addBulk(std::span<const ObjectId> ids, std::span<const Aabb> boxes) {
  TANGERE_REQUIRE(ids.size() == boxes.size(), "as many ids as boxes are needed", ids.size(),
                  boxes.size());
  // All or nothing: a bad entry in the middle must not leave half of them behind.
  for (std::size_t i = 0; i < ids.size(); ++i) {
    requireBox(ids[i], boxes[i]);
    if (impl_->slots.find(ids[i]) != IdSlotMap::kMissing) throwTakenId(ids[i]);
  }
  std::size_t done = 0;
  try {
    for (; done < ids.size(); ++done) impl_->add(ids[done], boxes[done]);
  } catch (...) {  // an id that comes twice
    while (done > 0) impl_->remove(ids[--done]);
    throw;
  }
}

void BvhBroadPhase::queryOverlap(const Aabb& box, std::vector<ObjectId>& out) const {
  Impl& impl = *impl_;
  impl.bringTreeUpToDate();
  const std::size_t begin = out.size();
  impl.tree.query(outwardQueryBox(box), [&](int slot, bool sure) {
    if (sure || impl.boxes[slot].overlaps(box)) out.push_back(impl.ids[slot]);
  });
  for (const int slot : impl.loose)
    if (impl.boxes[slot].overlaps(box)) out.push_back(impl.ids[slot]);
  sortIds(out, begin);
}

void BvhBroadPhase::queryRay(const Vec3& origin, const Vec3& direction, Real maxT,
                             const std::function<Real(ObjectId)>& visit) const {
  Impl& impl = *impl_;
  impl.bringTreeUpToDate();
  const RayBoxTest test(origin, direction);
  for (const int slot : impl.loose)
    if (test.hits(impl.boxes[slot].lower, impl.boxes[slot].upper, maxT))
      maxT = visit(impl.ids[slot]);
  impl.tree.traverse(
      [&](const TreeNode& node) {
        unsigned mask = 0;
        for (int i = 0; i < node.count; ++i) {
          const Vec3 lower{node.lower[0][i], node.lower[1][i], node.lower[2][i]};
          const Vec3 upper{node.upper[0][i], node.upper[1][i], node.upper[2][i]};
          mask |= static_cast<unsigned>(test.hits(lower, upper, maxT)) << i;
        }
        return mask;
      },
      [&](int slot) {
        if (test.hits(impl.boxes[slot].lower, impl.boxes[slot].upper, maxT))
          maxT = visit(impl.ids[slot]);
      });
}

void BvhBroadPhase::queryNearest(const Aabb& box, Real maxDistance,
                                 const std::function<Real(ObjectId)>& visit) const {
  Impl& impl = *impl_;
  impl.bringTreeUpToDate();
  Real bound = maxDistance;
  const auto tryItem = [&](int slot) {
    const Aabb& other = impl.boxes[slot];
    if (boxDistance(box.lower, box.upper, other.lower, other.upper) <= nearestBound(bound))
      bound = visit(impl.ids[slot]);
  };
  for (const int slot : impl.loose) tryItem(slot);
  if (impl.tree.root() == BoxTree::kNone) return;

  // Depth first, the nearest child of each node first, so that the bound falls early.
  struct Entry {
    Real distance;
    int node;
  };
  Entry stack[kMaxHeight * kTreeWidth];
  int size = 0;
  stack[size++] = {0, impl.tree.root()};
  while (size > 0) {
    const Entry top = stack[--size];
    if (!(top.distance <= nearestBound(bound))) continue;
    const TreeNode& node = impl.tree.node(top.node);
    Entry children[kTreeWidth];
    int numChildren = 0;
    for (int i = 0; i < node.count; ++i) {
      const Vec3 lower{node.lower[0][i], node.lower[1][i], node.lower[2][i]};
      const Vec3 upper{node.upper[0][i], node.upper[1][i], node.upper[2][i]};
      const Entry child{boxDistance(box.lower, box.upper, lower, upper), node.child[i]};
      if (!(child.distance <= nearestBound(bound))) continue;
      int at = numChildren++;
      for (; at > 0 && children[at - 1].distance > child.distance; --at)
        children[at] = children[at - 1];
      children[at] = child;
    }
    if (node.isLeaf()) {
      for (int i = 0; i < numChildren; ++i) tryItem(children[i].node);
    } else {
      while (numChildren > 0) stack[size++] = children[--numChildren];
    }
  }
}

void BvhBroadPhase::Impl::add(ObjectId id, const Aabb& box) {
  requireBox(id, box);
  if (slots.find(id) != IdSlotMap::kMissing) throwTakenId(id);
  int slot;
  if (freeSlots.empty()) {
    slot = static_cast<int>(boxes.size());
    boxes.emplace_back();
    ids.push_back(kNoObject);
    flags.push_back(0);
    tree.reserveSlots(slot + 1);
  } else {
    slot = freeSlots.back();
    freeSlots.pop_back();
  }
  slots.insert(id, slot);
  boxes[slot] = box;
  ids[slot] = id;
  flags[slot] = kOccupied;
  ++count;
  mark(slot, kInTree | kInPairs | kReported);
}

void BvhBroadPhase::Impl::remove(ObjectId id) {
  const int slot = slots.find(id);
  if (slot == IdSlotMap::kMissing) throwUnknownId(id);
  if (tree.contains(slot)) tree.remove(slot);
  std::erase(loose, slot);
  slots.erase(id);
  flags[slot] = 0;
  freeSlots.push_back(slot);
  --count;
  // A set that comes and goes while nobody asks for pairs must not fill the memory.
  if (removedIds.size() > 2 * pairs.size()) pairsAreLost = true;
  if (pairsAreLost)
    removedIds.clear();
  else
    removedIds.push_back(id);
}

void BvhBroadPhase::Impl::update(ObjectId id, const Aabb& box) {
  requireBox(id, box);
  const int slot = slots.find(id);
  if (slot == IdSlotMap::kMissing) throwUnknownId(id);
  // A box that did not change counts as moved, but there is nothing to find out about it.
  const bool same = boxes[slot] == box;
  boxes[slot] = box;
  mark(slot, same ? kReported : kInTree | kInPairs | kReported);
}

void BvhBroadPhase::Impl::clear() {
  slots.clear();
  boxes.clear();
  ids.clear();
  flags.clear();
  freeSlots.clear();
  count = 0;
  tree.clear();
  loose.clear();
  staleInTree.clear();
  staleInPairs.clear();
  moved.clear();
  removedIds.clear();
  treeIsStale.store(false, std::memory_order_release);
  pairs.clear();
  pairsAreLost = false;
}

void BvhBroadPhase::Impl::mark(int slot, unsigned what) {
  const unsigned fresh = what & ~static_cast<unsigned>(flags[slot]);
  flags[slot] = static_cast<std::uint8_t>(flags[slot] | what);
  if ((fresh & kReported) != 0) note(moved, slot, kReported);
  if ((fresh & kInPairs) != 0) note(staleInPairs, slot, kInPairs);
  if ((fresh & kInTree) != 0) {
    note(staleInTree, slot, kInTree);
    treeIsStale.store(true, std::memory_order_relaxed);
  }
}

void BvhBroadPhase::Impl::note(std::vector<int>& list, int slot, Flag flag) {
  list.push_back(slot);
  if (list.size() > 2 * boxes.size() + 1) dropRepeated(list, flag);
}

// A slot that was freed and taken again is in its list twice, one that was only freed is there
// without its flag: keeps one of each that counts.
void BvhBroadPhase::Impl::dropRepeated(std::vector<int>& list, Flag flag) {
  std::erase_if(list, [&](int slot) {
    const bool counts = (flags[slot] & flag) != 0;
    flags[slot] = static_cast<std::uint8_t>(flags[slot] & ~flag);
    return !counts;
  });
  for (const int slot : list) flags[slot] = static_cast<std::uint8_t>(flags[slot] | flag);
}

void BvhBroadPhase::Impl::bringTreeUpToDate() {
  if (!treeIsStale.load(std::memory_order_acquire)) return;
  const std::lock_guard<std::mutex> lock(treeMutex);
  if (!treeIsStale.load(std::memory_order_relaxed)) return;
  updateTree();
  treeIsStale.store(false, std::memory_order_release);
}

void BvhBroadPhase::Impl::updateTree() {
  // Which structure holds a box may change with the box.
  int numNew = 0, numStale = 0;
  for (const int slot : staleInTree) {
    if ((flags[slot] & kInTree) == 0) continue;
    ++numStale;
    const bool fits = fitsTree(boxes[slot]);
    if (tree.contains(slot) && !fits) {
      tree.remove(slot);
      loose.push_back(slot);
    } else if (!tree.contains(slot)) {
      const auto at = std::find(loose.begin(), loose.end(), slot);
      if (fits && at != loose.end()) loose.erase(at);
      if (!fits && at == loose.end()) loose.push_back(slot);
      if (fits) ++numNew;
    }
  }

  const bool build = 2 * numNew > tree.size() || tree.numInsertions() > tree.size();
  if (build) {
    buildTree();
  } else {
    const bool whole = kWholeShare * static_cast<std::int64_t>(numStale) > count;
    for (const int slot : staleInTree) {
      if ((flags[slot] & kInTree) == 0 || !fitsTree(boxes[slot])) continue;
      if (!tree.contains(slot))
        tree.insert(slot, outwardBox(boxes[slot]));
      else if (!whole)
        tree.move(slot, outwardBox(boxes[slot]));
    }
    if (whole && tree.refit(boxes) > kRebuildGrowth) buildTree();
  }
  for (const int slot : staleInTree)
    flags[slot] = static_cast<std::uint8_t>(flags[slot] & ~kInTree);
  staleInTree.clear();
}

void BvhBroadPhase::Impl::buildTree() {
  buildSlots.clear();
  for (int slot = 0; slot < static_cast<int>(boxes.size()); ++slot)
    if ((flags[slot] & kOccupied) != 0 && fitsTree(boxes[slot])) buildSlots.push_back(slot);
  tree.build(buildSlots, boxes);
}

std::span<const ObjectPair> BvhBroadPhase::Impl::computePotentialPairs() {
  bringTreeUpToDate();
  if (pairsAreLost || kWholeShare * static_cast<std::int64_t>(staleInPairs.size()) > count) {
    findAllPairs();
  } else if (!staleInPairs.empty() || !removedIds.empty()) {
    findPairsOf(staleInPairs, kInPairs);
    replaceStalePairs();
  }
  for (const int slot : staleInPairs)
    flags[slot] = static_cast<std::uint8_t>(flags[slot] & ~kInPairs);
  for (const int slot : moved) flags[slot] = static_cast<std::uint8_t>(flags[slot] & ~kReported);
  staleInPairs.clear();
  moved.clear();
  removedIds.clear();
  pairsAreLost = false;
  return pairs;
}

std::span<const ObjectPair> BvhBroadPhase::Impl::computeMovedPairs() {
  bringTreeUpToDate();
  findPairsOf(moved, kReported);
  movedPairs.resize(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) movedPairs[i] = pairOfKey(keys[i]);
  for (const int slot : moved) flags[slot] = static_cast<std::uint8_t>(flags[slot] & ~kReported);
  moved.clear();
  return movedPairs;
}

void BvhBroadPhase::Impl::findAllPairs() {
  keys.clear();
  tree.forEachPair([&](int slot1, int slot2, bool sure) {
    if (sure || boxes[slot1].overlaps(boxes[slot2]))
      keys.push_back(pairKey(ids[slot1], ids[slot2]));
  });
  for (std::size_t i = 0; i < loose.size(); ++i) {
    const int own = loose[i];
    const Aabb& box = boxes[own];
    tree.query(outwardQueryBox(box), [&](int slot, bool sure) {
      if (sure || boxes[slot].overlaps(box)) keys.push_back(pairKey(ids[own], ids[slot]));
    });
    for (std::size_t j = i + 1; j < loose.size(); ++j)
      if (boxes[loose[j]].overlaps(box)) keys.push_back(pairKey(ids[own], ids[loose[j]]));
  }
  sortPairKeys(keys, keyScratch);
  pairs.resize(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) pairs[i] = pairOfKey(keys[i]);
}

// Sorted keys of all pairs with at least one of the slots that carry the flag.
void BvhBroadPhase::Impl::findPairsOf(std::vector<int>& stale, Flag flag) {
  dropRepeated(stale, flag);
  keys.clear();
  for (const int own : stale) {
    const Aabb& box = boxes[own];
    const ObjectId id = ids[own];
    const auto report = [&](int slot, bool sure) {
      // Of two that both carry the flag, the one with the smaller id reports.
      if (slot == own || ((flags[slot] & flag) != 0 && ids[slot] < id)) return;
      if (sure || boxes[slot].overlaps(box)) keys.push_back(pairKey(id, ids[slot]));
    };
    tree.query(outwardQueryBox(box), report);
    for (const int slot : loose) report(slot, false);
  }
  sortPairKeys(keys, keyScratch);
}

// Takes the pairs of stale and removed objects out of pairs, and `keys` in.
void BvhBroadPhase::Impl::replaceStalePairs() {
  std::size_t numWords = staleBits.empty() ? 16 : staleBits.size();
  while (64 * numWords < 4 * static_cast<std::size_t>(count)) numWords *= 2;
  staleBits.resize(numWords, 0);
  for (const int slot : staleInPairs)
    if ((flags[slot] & kInPairs) != 0) setStaleBit(ids[slot]);
  for (const ObjectId id : removedIds) setStaleBit(id);

  const std::uint64_t* bits = staleBits.data();
  const std::uint32_t mask = static_cast<std::uint32_t>(64 * numWords - 1);
  const auto mayBeStale = [bits, mask](ObjectId id) {
    return (bits[(id & mask) >> 6] >> (id & 63)) & 1u;
  };
  mergedPairs.resize(pairs.size() + keys.size());
  ObjectPair* out = mergedPairs.data();
  std::size_t next = 0;
  std::uint64_t nextKey = keys.empty() ? ~std::uint64_t{0} : keys[0];
  for (const ObjectPair& pair : pairs) {
    if ((mayBeStale(pair.first) | mayBeStale(pair.second)) != 0 &&
        (isStale(pair.first) || isStale(pair.second)))
      continue;
    const std::uint64_t key = (std::uint64_t{pair.first} << 32) | pair.second;
    while (nextKey < key) {
      *out++ = pairOfKey(nextKey);
      ++next;
      nextKey = next < keys.size() ? keys[next] : ~std::uint64_t{0};
    }
    *out++ = pair;
  }
  for (; next < keys.size(); ++next) *out++ = pairOfKey(keys[next]);
  mergedPairs.resize(static_cast<std::size_t>(out - mergedPairs.data()));
  pairs.swap(mergedPairs);
  for (const int slot : staleInPairs) staleBits[(ids[slot] & mask) >> 6] = 0;
  for (const ObjectId id : removedIds) staleBits[(id & mask) >> 6] = 0;
}

bool BvhBroadPhase::Impl::isStale(ObjectId id) const {
  const int slot = slots.find(id);
  return slot == IdSlotMap::kMissing || (flags[slot] & kInPairs) != 0;
}

void BvhBroadPhase::Impl::setStaleBit(ObjectId id) {
  const std::uint32_t bit = id & static_cast<std::uint32_t>(64 * staleBits.size() - 1);
  staleBits[bit >> 6] |= std::uint64_t{1} << (bit & 63);
}

}  // namespace tangere
