// SPDX-License-Identifier: Apache-2.0
//
// Which raw contacts go to which kept patch: one entry for each patch of the next frame, in the
// order of their keys. The plan is a function of the set of raw contacts and of the kept patches,
// not of the order in which the contacts arrive.
#pragma once

#include <tangere/contact_patch_cache.hpp>

#include "core/stable_sort.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tangere::collision {

/// The contacts of one record of the input.
struct RawRecord {
  ObjectId object1 = kNoObject;
  ObjectId object2 = kNoObject;
  std::span<const ContactPoint> points;
  ContactType type = ContactType::Unknown;
};

/// Manifolds: each one is a region of contact of its own.
struct RawManifolds {
  static constexpr bool kJoinsRecords = false;
  std::span<const ContactManifold> records;

  [[nodiscard]] std::size_t size() const { return records.size(); }
  [[nodiscard]] RawRecord operator[](std::size_t i) const {
    const ContactManifold& manifold = records[i];
    return {manifold.object1, manifold.object2, manifold.contacts(), manifold.type};
  }
};

/// Single contacts: all of a pair are one region.
struct RawStream {
  static constexpr bool kJoinsRecords = true;
  std::span<const PairContact> records;

  [[nodiscard]] std::size_t size() const { return records.size(); }
  [[nodiscard]] RawRecord operator[](std::size_t i) const {
    const PairContact& contact = records[i];
    return {contact.object1, contact.object2, {&contact.contact, 1}, ContactType::Unknown};
  }
};

/// True of a contact worth keeping.
[[nodiscard]] inline bool isValidContact(const ContactPoint& contact,
                                         const ContactPatchCacheOptions& options) {
  const Real squaredLength = squaredNorm(contact.normal);
  const Real largest = std::numeric_limits<Real>::max();
  if (!(squaredLength >= 1e-12 && squaredLength <= largest)) return false;
  if (!(squaredNorm(contact.position) <= largest && contact.depth <= largest)) return false;
  return contact.depth >= 0 || (options.allowNegativeDepth && contact.depth >= -largest);
}

/// Patch `oldPatch` of the last frame, or -1 for a new one, gets the raw records
/// order[firstRecord, firstRecord + numRecords).
struct PlanEntry {
  std::int32_t oldPatch = -1;
  std::uint32_t manifold = 0;  ///< of the key
  std::uint32_t firstRecord = 0;
  std::uint32_t numRecords = 0;  ///< 0: not seen this frame
};

class ContactPatchPlan {
 public:
  /// `oldPatches` are sorted by key, none of them bypassed.
  template <class RawContacts>
  void build(const RawContacts& raw, std::span<const Transform> poseOf,
             std::span<const ContactPatch> oldPatches, const ContactPatchCacheOptions& options);

  [[nodiscard]] std::span<const PlanEntry> entries() const { return entries_; }
  /// Index of the input record at a place of the sorted order.
  [[nodiscard]] std::uint32_t record(std::uint32_t place) const { return order_[place].index; }
  [[nodiscard]] bool makesPatches() const { return makes_patches_; }
  /// Contacts left out because of their objects, or with their whole region.
  [[nodiscard]] int numRejectedContacts() const { return num_rejected_contacts_; }
  void reserve(std::size_t numPatches);

 private:
  /// A region of this frame while it looks for its patch.
  struct Region {
    Vec3 centroid{};
    Real radius = 0;
    std::uint32_t place = 0;
    std::int32_t oldPatch = -1;
  };

  template <class RawContacts>
  [[nodiscard]] bool planSteady(const RawContacts& raw, std::size_t numObjects,
                                std::span<const ContactPatch> oldPatches);
  template <class RawContacts>
  void sortRecords(const RawContacts& raw, std::size_t numObjects);
  void planUnseen(std::size_t firstOld, std::size_t endOld);
  void planRegions(const RawManifolds& raw, std::size_t firstPlace, std::size_t endPlace,
                   std::span<const ContactPatch> oldPatches, std::size_t firstOld,
                   std::size_t endOld, std::span<const Transform> poseOf,
                   const ContactPatchCacheOptions& options);
  void describeRegions(const RawManifolds& raw, std::size_t firstPlace, std::size_t endPlace,
                       const ContactPatchCacheOptions& options);
  void assignRegions(std::span<const ContactPatch> oldPatches, std::span<const Transform> poseOf,
                     Real gate);

  std::vector<PlanEntry> entries_;
  std::vector<core::KeyedIndex> order_;  // by pair of objects
  std::vector<core::KeyedIndex> order_scratch_;
  std::vector<Region> regions_;
  std::vector<core::KeyedIndex> distances_;
  std::vector<core::KeyedIndex> distances_scratch_;
  std::vector<bool> is_taken_;
  bool makes_patches_ = false;
  int num_rejected_contacts_ = 0;
};

/// The two objects of a key in one number of the same order.
[[nodiscard]] inline std::uint64_t pairCode(ObjectId object1, ObjectId object2) {
  return std::uint64_t{object1} << 32 | object2;
}

}  // namespace tangere::collision
