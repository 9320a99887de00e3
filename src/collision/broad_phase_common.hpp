// SPDX-License-Identifier: Apache-2.0
//
// What the three broad phases share, so that they cannot answer differently: the check of a box,
// the exact tests behind each query, the way from an id to a place in an array, and the order of
// pairs.
#pragma once

#include <tangere/broad_phase.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace tangere::collision {

/// Throws InvalidInput unless lower <= upper on every axis (infinite sides are allowed) and the id
/// is not the reserved one.
void requireBox(ObjectId id, const Aabb& box);
[[noreturn]] void throwTakenId(ObjectId id);
[[noreturn]] void throwUnknownId(ObjectId id);

/// From an id to the index of its slot. Open addressing that keeps neighbouring ids in neighbouring
/// entries: ids counted up from anywhere are found without a miss. It is never iterated, so its
/// layout reaches no result.
class IdSlotMap {
 public:
  static constexpr int kMissing = -1;

  [[nodiscard]] int find(ObjectId id) const {
    if (entries_.empty()) return kMissing;
    for (std::uint32_t at = home(id);; at = (at + 1) & mask_) {
      const Entry& entry = entries_[at];
      if (entry.slot == kMissing || entry.id == id) return entry.slot;
    }
  }
  /// The id must not be there yet.
  void insert(ObjectId id, int slot);
  /// The id must be there.
  void erase(ObjectId id);
  void clear();

 private:
  struct Entry {
    ObjectId id = kNoObject;
    int slot = kMissing;
  };

  // The low bits as they are, so that runs of ids stay runs; xor a hash of the others, so that ids
  // with a large stride do not pile up.
  [[nodiscard]] std::uint32_t home(ObjectId id) const {
    return (id ^ (((id >> bits_) * 0x9E3779B1u) >> (32 - bits_))) & mask_;
  }
  void grow();

  std::vector<Entry> entries_;
  std::uint32_t mask_ = 0;
  int bits_ = 0;
  int count_ = 0;
};

/// A pair as one number whose order is that of the pairs.
[[nodiscard]] inline std::uint64_t pairKey(ObjectId a, ObjectId b) {
  return a < b ? (std::uint64_t{a} << 32) | b : (std::uint64_t{b} << 32) | a;
}
[[nodiscard]] inline ObjectPair pairOfKey(std::uint64_t key) {
  return {static_cast<ObjectId>(key >> 32), static_cast<ObjectId>(key)};
}

/// Sorts distinct keys; `scratch` only lends its memory.
void sortPairKeys(std::vector<std::uint64_t>& keys, std::vector<std::uint64_t>& scratch);
/// Sorts the distinct ids from `begin` to the end.
void sortIds(std::vector<ObjectId>& ids, std::size_t begin);

/// A ray prepared for many boxes. Widening a box never turns a hit into a miss, rounding included
/// (every operation is monotone), so a tree may ask about the boxes of its nodes first.
class RayBoxTest {
 public:
  RayBoxTest(const Vec3& origin, const Vec3& direction);

  /// Whether origin + t direction meets the box for some t in [0, maxT]. Never if the ray is not
  /// finite. Rounding may let a ray pass that misses the box by some ulp, never the other way.
  [[nodiscard]] bool hits(const Vec3& lower, const Vec3& upper, Real maxT) const {
    Real enter = 0;
    Real leave = valid_ ? maxT : Real(-1);
    for (int k = 0; k < 3; ++k) {
      if (parallel_[k]) {
        if (!(lower[k] <= origin_[k] && origin_[k] <= upper[k])) return false;
        continue;
      }
      const Real a = (lower[k] - origin_[k]) * inverse_[k];
      const Real b = (upper[k] - origin_[k]) * inverse_[k];
      const Real first = inverse_[k] < 0 ? b : a;
      const Real last = (inverse_[k] < 0 ? a : b) * kOutward;
      enter = first > enter ? first : enter;
      leave = last < leave ? last : leave;
    }
    return enter <= leave;
  }

 private:
  // Three roundings on the way to t: without the factor a ray through an edge may slip between the
  // faces that meet there.
  static constexpr Real kOutward = 1 + 4 * std::numeric_limits<Real>::epsilon();

  Vec3 origin_;
  Vec3 inverse_;
  bool parallel_[3];
  bool valid_;
};

/// Distance of two boxes; 0 when they touch. Widening a box never makes it larger, rounding
/// included.
[[nodiscard]] inline Real boxDistance(const Vec3& lower1, const Vec3& upper1, const Vec3& lower2,
                                      const Vec3& upper2) {
  Real gap[3];
  Real largest = 0;
  for (int k = 0; k < 3; ++k) {
    const Real above = lower2[k] - upper1[k];
    const Real below = lower1[k] - upper2[k];
    gap[k] = above > 0 ? above : (below > 0 ? below : Real(0));
    largest = gap[k] > largest ? gap[k] : largest;
  }
  constexpr Real kHuge = 0x1p500;  // squares would overflow: scale by a power of two, exactly
  if (!(largest < kHuge)) {
    if (largest == std::numeric_limits<Real>::infinity()) return largest;
    constexpr Real kDown = 0x1p-600;
    const Real x = gap[0] * kDown, y = gap[1] * kDown, z = gap[2] * kDown;
    return std::sqrt(x * x + y * y + z * z) * 0x1p600;
  }
  return std::sqrt(gap[0] * gap[0] + gap[1] * gap[1] + gap[2] * gap[2]);
}

/// The bound a nearest query compares with: overlapping boxes are always of interest, however
/// negative the visitor's bound, and NaN excludes everything.
[[nodiscard]] inline Real nearestBound(Real bound) { return bound < 0 ? Real(0) : bound; }

/// Ids with their boxes in one dense array, and the queries by looking at each of them.
class BoxList {
 public:
  void add(ObjectId id, const Aabb& box);
  void remove(ObjectId id);
  void update(ObjectId id, const Aabb& box);
  void clear();
  [[nodiscard]] int size() const { return static_cast<int>(ids_.size()); }
  [[nodiscard]] const std::vector<ObjectId>& ids() const { return ids_; }
  [[nodiscard]] const std::vector<Aabb>& boxes() const { return boxes_; }

  void queryOverlap(const Aabb& box, std::vector<ObjectId>& out) const;
  void queryRay(const Vec3& origin, const Vec3& direction, Real maxT,
                const std::function<Real(ObjectId)>& visit) const;
  void queryNearest(const Aabb& box, Real maxDistance,
                    const std::function<Real(ObjectId)>& visit) const;

 private:
  IdSlotMap slots_;
  std::vector<ObjectId> ids_;
  std::vector<Aabb> boxes_;
};

}  // namespace tangere::collision
