// SPDX-License-Identifier: Apache-2.0
#include "collision/broad_phase_common.hpp"

#include "core/assert.hpp"
#include "core/stable_sort.hpp"

#include <cmath>

namespace tangere::collision {

void requireBox(ObjectId id, const Aabb& box) {
  const Vec3& lower = box.lower;
  const Vec3& upper = box.upper;
  TANGERE_REQUIRE(id != kNoObject, "this object id is reserved", id);
  // Written so that a NaN fails it.
  TANGERE_REQUIRE(lower.x <= upper.x && lower.y <= upper.y && lower.z <= upper.z,
                  "a box needs lower <= upper on every axis [m]", id, lower.x, lower.y, lower.z,
                  upper.x, upper.y, upper.z);
}

void throwTakenId(ObjectId id) {
  core::throwInvalidInput("an object with this id is already in the set", "id", id);
}

void throwUnknownId(ObjectId id) {
  core::throwInvalidInput("no object with this id is in the set", "id", id);
}

void IdSlotMap::insert(ObjectId id, int slot) {
  if (2 * static_cast<std::size_t>(count_ + 1) > entries_.size()) grow();
  std::uint32_t at = home(id);
  while (entries_[at].slot != kMissing) at = (at + 1) & mask_;
  entries_[at] = {id, slot};
  ++count_;
}

void IdSlotMap::erase(ObjectId id) {
  std::uint32_t hole = home(id);
  while (entries_[hole].id != id) hole = (hole + 1) & mask_;
  // Close the gap: whatever probed past the hole moves back into it.
  for (std::uint32_t at = (hole + 1) & mask_; entries_[at].slot != kMissing;
       at = (at + 1) & mask_) {
    const std::uint32_t wanted = home(entries_[at].id);
    if (((at - wanted) & mask_) < ((at - hole) & mask_)) continue;
    entries_[hole] = entries_[at];
    hole = at;
  }
  entries_[hole] = {};
  --count_;
}

void IdSlotMap::clear() {
  std::fill(entries_.begin(), entries_.end(), Entry{});
  count_ = 0;
}

void IdSlotMap::grow() {
  std::vector<Entry> old = std::move(entries_);
  bits_ = old.empty() ? 6 : bits_ + 1;
  entries_.assign(std::size_t{1} << bits_, Entry{});
  mask_ = static_cast<std::uint32_t>(entries_.size() - 1);
  count_ = 0;
  for (const Entry& entry : old)
    if (entry.slot != kMissing) insert(entry.id, entry.slot);
}

void sortPairKeys(std::vector<std::uint64_t>& keys, std::vector<std::uint64_t>& scratch) {
  // A box meets few others, so the runs of one first id are short, and two radix passes and an
  // insertion sort per run do. Where one is long (a floor under everything) all bits are sorted.
  constexpr std::size_t kShortRun = 32;
  core::stableSortByKey(keys, scratch, [](std::uint64_t key) { return key >> 32; });
  const std::span<std::uint64_t> all(keys);
  std::size_t begin = 0;
  for (std::size_t i = 1; i <= keys.size(); ++i) {
    if (i < keys.size() && (keys[i] >> 32) == (keys[begin] >> 32)) continue;
    if (i - begin > kShortRun) {
      core::stableSortByKey(keys, scratch, [](std::uint64_t key) { return key; });
      return;
    }
    core::insertionSortByKey(all.subspan(begin, i - begin), [](std::uint64_t key) { return key; });
    begin = i;
  }
}

void sortIds(std::vector<ObjectId>& ids, std::size_t begin) {
  // Distinct numbers: every sort gives the same order.
  std::stable_sort(ids.begin() + static_cast<std::ptrdiff_t>(begin), ids.end());
}

void BoxList::add(ObjectId id, const Aabb& box) {
  requireBox(id, box);
  if (slots_.find(id) != IdSlotMap::kMissing) throwTakenId(id);
  slots_.insert(id, size());
  ids_.push_back(id);
  boxes_.push_back(box);
}

void BoxList::remove(ObjectId id) {
  const int slot = slots_.find(id);
  if (slot == IdSlotMap::kMissing) throwUnknownId(id);
  slots_.erase(id);
  const int last = size() - 1;
  if (slot != last) {
    ids_[slot] = ids_[last];
    boxes_[slot] = boxes_[last];
    slots_.erase(ids_[slot]);
    slots_.insert(ids_[slot], slot);
  }
  ids_.pop_back();
  boxes_.pop_back();
}

void BoxList::update(ObjectId id, const Aabb& box) {
  requireBox(id, box);
  const int slot = slots_.find(id);
  if (slot == IdSlotMap::kMissing) throwUnknownId(id);
  boxes_[slot] = box;
}

void BoxList::clear() {
  slots_.clear();
  ids_.clear();
  boxes_.clear();
}

void BoxList::queryOverlap(const Aabb& box, std::vector<ObjectId>& out) const {
  const std::size_t begin = out.size();
  for (int slot = 0; slot < size(); ++slot)
    if (boxes_[slot].overlaps(box)) out.push_back(ids_[slot]);
  sortIds(out, begin);
}

void BoxList::queryRay(const Vec3& origin, const Vec3& direction, Real maxT,
                       const std::function<Real(ObjectId)>& visit) const {
  const RayBoxTest test(origin, direction);
  for (int slot = 0; slot < size(); ++slot)
    if (test.hits(boxes_[slot].lower, boxes_[slot].upper, maxT)) maxT = visit(ids_[slot]);
}

void BoxList::queryNearest(const Aabb& box, Real maxDistance,
                           const std::function<Real(ObjectId)>& visit) const {
  Real bound = maxDistance;
  for (int slot = 0; slot < size(); ++slot) {
    const Aabb& other = boxes_[slot];
    if (boxDistance(box.lower, box.upper, other.lower, other.upper) <= nearestBound(bound))
      bound = visit(ids_[slot]);
  }
}

RayBoxTest::RayBoxTest(const Vec3& origin, const Vec3& direction) : origin_(origin) {
  valid_ = true;
  for (int k = 0; k < 3; ++k) {
    valid_ = valid_ && std::isfinite(origin[k]) && std::isfinite(direction[k]);
    parallel_[k] = direction[k] == 0;
    // Finite, so that a ray that starts on a face has t = 0 there and not 0 * inf.
    constexpr Real kLargest = std::numeric_limits<Real>::max();
    inverse_[k] = parallel_[k] ? Real(0) : std::clamp(1 / direction[k], -kLargest, kLargest);
  }
}

}  // namespace tangere::collision
