// SPDX-License-Identifier: Apache-2.0
//
// The plan of a frame. One linear merge of the sorted raw records with the sorted patches; only
// pairs with several regions need more: their regions find last frame's patches by distance.
#include "collision/contact_patch_plan.hpp"

#include "collision/kernels/patch_matching.hpp"

#include <algorithm>

namespace tangere::collision {
namespace {

/// Mean of the points and the radius of a ball about it that holds them.
struct Extent {
  Vec3 centroid{};
  Real radius = 0;
};

Extent extentOf(std::span<const Vec3> points) {
  Extent extent;
  for (const Vec3& point : points) extent.centroid += point;
  extent.centroid = extent.centroid / static_cast<Real>(points.size());
  Real squaredRadius = 0;
  for (const Vec3& point : points)
    squaredRadius = std::max(squaredRadius, squaredNorm(point - extent.centroid));
  extent.radius = std::sqrt(squaredRadius);
  return extent;
}

/// Where the points of a patch are now.
Extent extentOf(const ContactPatch& patch, std::span<const Transform> poseOf) {
  Vec3 points[ContactPatch::kMaxPoints];
  for (int i = 0; i < patch.count; ++i) {
    const ContactPatchPoint& point = patch.points[i];
    points[i] = kernel::moveContact(point.local1, point.local2, point.contact.normal,
                                    poseOf[patch.key.object1], poseOf[patch.key.object2])
                    .position;
  }
  return extentOf(std::span<const Vec3>(points, patch.count));
}

/// A total order of manifolds by content, so that equals are interchangeable.
bool comesBefore(const ContactManifold& a, const ContactManifold& b) {
  if (a.count != b.count) return a.count < b.count;
  for (int i = 0; i < a.count; ++i) {
    const ContactPoint& p = a.points[i];
    const ContactPoint& q = b.points[i];
    if (kernel::comesBefore(p, q)) return true;
    if (kernel::comesBefore(q, p)) return false;
    if (p.feature1 != q.feature1) return p.feature1 < q.feature1;
    if (p.feature2 != q.feature2) return p.feature2 < q.feature2;
  }
  if (a.type != b.type) return a.type < b.type;
  return a.object1 < b.object1;
}

}  // namespace

template <class RawContacts>
void ContactPatchPlan::build(const RawContacts& raw, std::span<const Transform> poseOf,
                             std::span<const ContactPatch> oldPatches,
                             const ContactPatchCacheOptions& options) {
  makes_patches_ = false;
  if (planSteady(raw, poseOf.size(), oldPatches)) return;
  entries_.clear();
  sortRecords(raw, poseOf.size());

  std::size_t old = 0;
  const auto codeOf = [&](std::size_t i) {
    return pairCode(oldPatches[i].key.object1, oldPatches[i].key.object2);
  };
  const std::size_t numPlaces = order_.size();
  for (std::size_t place = 0; place < numPlaces;) {
    const std::uint64_t code = order_[place].key;
    for (; old < oldPatches.size() && codeOf(old) < code; ++old) planUnseen(old, old + 1);
    std::size_t endPlace = place + 1;
    while (endPlace < numPlaces && order_[endPlace].key == code) ++endPlace;
    const std::size_t firstOld = old;
    while (old < oldPatches.size() && codeOf(old) == code) ++old;
    const std::size_t endOld = old;

    const std::size_t numRecords = RawContacts::kJoinsRecords ? 1 : endPlace - place;
    if (numRecords == 1 && endOld - firstOld <= 1) {
      const bool isNew = endOld == firstOld;
      makes_patches_ = makes_patches_ || isNew;
      entries_.push_back({.oldPatch = isNew ? -1 : static_cast<std::int32_t>(firstOld),
                          .manifold = isNew ? 0 : oldPatches[firstOld].key.manifold,
                          .firstRecord = static_cast<std::uint32_t>(place),
                          .numRecords = static_cast<std::uint32_t>(endPlace - place)});
    } else if constexpr (RawContacts::kJoinsRecords) {
      // Patches left by manifolds: the stream knows one region only.
      entries_.push_back({.oldPatch = static_cast<std::int32_t>(firstOld),
                          .manifold = oldPatches[firstOld].key.manifold,
                          .firstRecord = static_cast<std::uint32_t>(place),
                          .numRecords = static_cast<std::uint32_t>(endPlace - place)});
      planUnseen(firstOld + 1, endOld);
    } else {
      planRegions(raw, place, endPlace, oldPatches, firstOld, endOld, poseOf, options);
    }
    place = endPlace;
  }
  planUnseen(old, oldPatches.size());
}

template void ContactPatchPlan::build(const RawManifolds&, std::span<const Transform>,
                                      std::span<const ContactPatch>,
                                      const ContactPatchCacheOptions&);
template void ContactPatchPlan::build(const RawStream&, std::span<const Transform>,
                                      std::span<const ContactPatch>,
                                      const ContactPatchCacheOptions&);

/// One record for each patch, in the order of their keys, is what a scene at rest gives in every
/// frame. False, with entries of no meaning, where it is not so.
template <class RawContacts>
bool ContactPatchPlan::planSteady(const RawContacts& raw, std::size_t numObjects,
                                  std::span<const ContactPatch> oldPatches) {
  const std::size_t count = raw.size();
  if (count != oldPatches.size()) return false;
  num_rejected_contacts_ = 0;
  order_.resize(count);
  entries_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const RawRecord record = raw[i];
    const PairKey& key = oldPatches[i].key;
    const std::uint64_t code = pairCode(record.object1, record.object2);
    if (record.object1 != key.object1 || record.object2 != key.object2 ||
        record.object2 >= numObjects || (i > 0 && code <= order_[i - 1].key))
      return false;
    order_[i] = {.key = code, .index = static_cast<std::uint32_t>(i)};
    entries_[i] = {.oldPatch = static_cast<std::int32_t>(i),
                   .manifold = key.manifold,
                   .firstRecord = static_cast<std::uint32_t>(i),
                   .numRecords = 1};
  }
  return true;
}

void ContactPatchPlan::reserve(std::size_t numPatches) {
  entries_.reserve(numPatches);
  order_.reserve(numPatches);
  order_scratch_.reserve(numPatches);
}

template <class RawContacts>
void ContactPatchPlan::sortRecords(const RawContacts& raw, std::size_t numObjects) {
  order_.clear();
  num_rejected_contacts_ = 0;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const RawRecord record = raw[i];
    const auto [first, second] = std::minmax(record.object1, record.object2);
    if (first == second || second >= numObjects) {  // kNoObject is beyond any number of objects
      num_rejected_contacts_ += static_cast<int>(record.points.size());
      continue;
    }
    order_.push_back({.key = pairCode(first, second), .index = static_cast<std::uint32_t>(i)});
  }
  core::stableSortByKey(order_, order_scratch_,
                        [](const core::KeyedIndex& record) { return record.key; });
}

void ContactPatchPlan::planUnseen(std::size_t firstOld, std::size_t endOld) {
  for (std::size_t old = firstOld; old < endOld; ++old)
    entries_.push_back({.oldPatch = static_cast<std::int32_t>(old)});
}

void ContactPatchPlan::planRegions(const RawManifolds& raw, std::size_t firstPlace,
                                   std::size_t endPlace, std::span<const ContactPatch> oldPatches,
                                   std::size_t firstOld, std::size_t endOld,
                                   std::span<const Transform> poseOf,
                                   const ContactPatchCacheOptions& options) {
  describeRegions(raw, firstPlace, endPlace, options);
  const std::span<const ContactPatch> ours = oldPatches.subspan(firstOld, endOld - firstOld);
  if (!ours.empty()) assignRegions(ours, poseOf, options.warmStartRadius);

  const std::size_t firstEntry = entries_.size();
  for (std::size_t i = 0; i < ours.size(); ++i)
    entries_.push_back({.oldPatch = static_cast<std::int32_t>(firstOld + i),
                        .manifold = ours[i].key.manifold,
                        .firstRecord = 0,
                        .numRecords = 0});
  std::uint32_t freeNumber = 0;
  std::size_t nextOld = 0;
  for (const Region& region : regions_) {
    if (region.oldPatch >= 0) {
      PlanEntry& entry = entries_[firstEntry + static_cast<std::size_t>(region.oldPatch)];
      entry.firstRecord = region.place;
      entry.numRecords = 1;
      continue;
    }
    for (; nextOld < ours.size() && ours[nextOld].key.manifold == freeNumber; ++nextOld)
      ++freeNumber;
    entries_.push_back(
        {.oldPatch = -1, .manifold = freeNumber++, .firstRecord = region.place, .numRecords = 1});
    makes_patches_ = true;
  }
  // The old entries and the new ones are each sorted: merged by moving each new one into place.
  for (std::size_t i = firstEntry + ours.size(); i < entries_.size(); ++i) {
    const PlanEntry entry = entries_[i];
    std::size_t k = i;
    for (; k > firstEntry && entry.manifold < entries_[k - 1].manifold; --k)
      entries_[k] = entries_[k - 1];
    entries_[k] = entry;
  }
}

void ContactPatchPlan::describeRegions(const RawManifolds& raw, std::size_t firstPlace,
                                       std::size_t endPlace,
                                       const ContactPatchCacheOptions& options) {
  regions_.clear();
  for (std::size_t place = firstPlace; place < endPlace; ++place) {
    const ContactManifold& manifold = raw.records[order_[place].index];
    Vec3 points[ContactManifold::kMaxPoints];
    std::size_t count = 0;
    for (const ContactPoint& contact : manifold.contacts())
      if (isValidContact(contact, options)) points[count++] = contact.position;
    if (count == 0) {
      num_rejected_contacts_ += manifold.count;
      continue;
    }
    const Extent extent = extentOf(std::span<const Vec3>(points, count));
    regions_.push_back({.centroid = extent.centroid,
                        .radius = extent.radius,
                        .place = static_cast<std::uint32_t>(place),
                        .oldPatch = -1});
  }
  const auto isBefore = [&](const Region& a, const Region& b) {
    if (a.centroid.x != b.centroid.x) return a.centroid.x < b.centroid.x;
    if (a.centroid.y != b.centroid.y) return a.centroid.y < b.centroid.y;
    if (a.centroid.z != b.centroid.z) return a.centroid.z < b.centroid.z;
    return comesBefore(raw.records[order_[a.place].index], raw.records[order_[b.place].index]);
  };
  for (std::size_t i = 1; i < regions_.size(); ++i) {
    const Region region = regions_[i];
    std::size_t k = i;
    for (; k > 0 && isBefore(region, regions_[k - 1]); --k) regions_[k] = regions_[k - 1];
    regions_[k] = region;
  }
}

void ContactPatchPlan::assignRegions(std::span<const ContactPatch> oldPatches,
                                     std::span<const Transform> poseOf, Real gate) {
  distances_.clear();
  for (std::size_t k = 0; k < oldPatches.size(); ++k) {
    const Extent old = extentOf(oldPatches[k], poseOf);
    for (std::size_t i = 0; i < regions_.size(); ++i) {
      const Real reach = old.radius + regions_[i].radius + gate;
      const Real squaredDistance = squaredNorm(regions_[i].centroid - old.centroid);
      if (!(squaredDistance <= reach * reach)) continue;
      distances_.push_back({.key = core::orderedKey(squaredDistance),
                            .index = static_cast<std::uint32_t>(k * regions_.size() + i)});
    }
  }
  core::stableSortByKey(distances_, distances_scratch_,
                        [](const core::KeyedIndex& record) { return record.key; });
  is_taken_.assign(oldPatches.size(), false);
  for (const core::KeyedIndex& distance : distances_) {
    const std::size_t k = distance.index / regions_.size();
    Region& region = regions_[distance.index % regions_.size()];
    if (is_taken_[k] || region.oldPatch >= 0) continue;
    is_taken_[k] = true;
    region.oldPatch = static_cast<std::int32_t>(k);
  }
}

}  // namespace tangere::collision
