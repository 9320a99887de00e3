// SPDX-License-Identifier: Apache-2.0
//
// One frame of one patch: the raw contacts of its pair are matched to its points, what is not found
// again ages, and the points to keep are chosen.
#pragma once

#include <tangere/contact_patch_cache.hpp>

#include "collision/contact_patch_packs.hpp"
#include "collision/contact_patch_plan.hpp"
#include "collision/kernels/patch_matching.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tangere::collision {

/// Where the point of an emitted contact came from; -1 for none.
struct RawSource {
  std::int32_t manifold = -1;
  std::int32_t point = -1;
};

/// Normals whose squared length is this near to one keep their bits.
inline constexpr Real kUnitTolerance = 1e-12;

/// Options in the form the inner loops use.
struct PatchRules {
  explicit PatchRules(const ContactPatchCacheOptions& options);

  kernel::PointThresholds<Real> samePoint;
  Real squaredWarmStartRadius;
  Real separation;
  Real squaredSeparation;
  Real depthEpsilon;
  int maxPoints;
  int maxSeparationFrames;
  bool allowNegativeDepth;
  AtRestLimits atRest;
  RewriteFour rewriteFourAtRest;
};

class ContactPatchUpdate {
 public:
  explicit ContactPatchUpdate(const ContactPatchCacheOptions& options) : rules_(options) {}

  /// Brings a kept patch up to date with what the plan has for it. False: it is to be dropped.
  template <class RawContacts>
  [[nodiscard]] bool update(const RawContacts& raw, const ContactPatchPlan& plan,
                            const PlanEntry& entry, const ContactPatchCacheOptions& options,
                            std::span<const Transform> poseOf, std::uint32_t frame,
                            ContactPatch& patch, std::uint64_t& nextId) {
    if (entry.numRecords == 1) {
      const std::uint32_t index = plan.record(entry.firstRecord);
      if (refreshAtRest(patch, raw[index], index, poseOf, frame)) return true;
    }
    return updateInMotion(raw, plan, entry, options, poseOf, frame, patch, nextId);
  }

  /// Reads the raw contacts of a pair: valid ones only, in the order of a patch, unique. Returns
  /// their number.
  template <class RawContacts>
  int gather(const RawContacts& raw, const ContactPatchPlan& plan, const PlanEntry& entry,
             const ContactPatchCacheOptions& options, std::span<const Transform> poseOf);

  /// Brings a kept patch up to date with what was gathered, at least one point.
  void refresh(ContactPatch& patch, std::uint32_t frame, std::uint64_t& nextId);
  /// Fills an empty patch with what was gathered.
  void create(ContactPatch& patch, std::uint32_t frame, std::uint64_t& nextId);
  /// The same for a patch beyond the cap: the first points, without ids.
  void bypass(ContactPatch& patch, std::uint32_t frame);
  /// A frame in which the pair was not seen. False: the patch is to be dropped.
  [[nodiscard]] bool age(ContactPatch& patch, std::span<const Transform> poseOf);

  /// Of the points of the patch that was last worked on.
  [[nodiscard]] const RawSource& source(int point) const { return sources_[point]; }
  /// Lists the `count` points of that patch, which is number `patch`.
  void emit(std::int32_t patch, int count, EmittedContact* out) const {
    for (int k = 0; k < count; ++k) {
      out[k] = {.patch = patch,
                .point = k,
                .rawManifold = sources_[k].manifold,
                .rawPoint = sources_[k].point};
    }
  }
  /// Of all patches since it was last set to zero.
  [[nodiscard]] PatchChurn& churn() { return churn_; }
  [[nodiscard]] int numRejectedContacts() const { return num_rejected_contacts_; }
  void resetRejectedContacts() { num_rejected_contacts_ = 0; }
  [[nodiscard]] PatchRules& rules() { return rules_; }

 private:
  static constexpr int kMaxPoints = ContactPatch::kMaxPoints;

  /// The short way for a pair at rest: each raw contact lies within the position threshold of one
  /// point of the patch, on both bodies, and no features say otherwise. Then it does what gather()
  /// and refresh() would have done, to the bit; otherwise it returns false and has done nothing.
  /// Here, in the header, because a call for each patch is a tenth of its time.
  [[nodiscard]] bool refreshAtRest(ContactPatch& patch, const RawRecord& record,
                                   std::uint32_t index, std::span<const Transform> poseOf,
                                   std::uint32_t frame) {
    if (record.points.size() != patch.count || record.object1 > record.object2) return false;
    const Transform& X_W1 = poseOf[record.object1];
    const Transform& X_W2 = poseOf[record.object2];
    const ContactPoint* const raw = record.points.data();
    const auto manifold = static_cast<std::int32_t>(index);
    int place[kMaxPoints];
    if (patch.count == kMaxPoints &&
        rules_.rewriteFourAtRest(raw, X_W1, X_W2, rules_.atRest, patch, place)) {
      for (int i = 0; i < kMaxPoints; ++i) sources_[place[i]] = {.manifold = manifold, .point = i};
    } else {
      if (!rewriteAnyAtRest(raw, X_W1, X_W2, patch, place)) return false;
      for (int i = 0; i < patch.count; ++i) sources_[place[i]] = {.manifold = manifold, .point = i};
    }
    patch.framesSinceSeen = 0;
    patch.lastUpdateFrame = frame;
    patch.type = record.type;
    return true;
  }
  [[nodiscard]] bool rewriteAnyAtRest(const ContactPoint* raw, const Transform& X_W1,
                                      const Transform& X_W2, ContactPatch& patch, int* place) const;
  template <class RawContacts>
  [[nodiscard]] bool updateInMotion(const RawContacts& raw, const ContactPatchPlan& plan,
                                    const PlanEntry& entry, const ContactPatchCacheOptions& options,
                                    std::span<const Transform> poseOf, std::uint32_t frame,
                                    ContactPatch& patch, std::uint64_t& nextId);

  /// A raw contact of this frame on its way into the patch.
  struct FreshPoint {
    ContactPoint contact;
    Vec3 local1{}, local2{};
    RawSource source;
    int match = -1;  ///< point of the patch that it is
    bool moved = false;
    Real normalImpulse = 0;
    Vec3 tangentImpulse{};
  };

  void addFresh(const ContactPoint& contact, const RawSource& source);
  template <class RawContacts>
  void gatherMany(const RawContacts& raw, const ContactPatchPlan& plan, const PlanEntry& entry,
                  const ContactPatchCacheOptions& options);
  void matchByFeature(const ContactPatch& patch);
  void matchByPosition(const ContactPatch& patch);
  void inheritImpulses(ContactPatch& patch);
  void replaceAll(ContactPatch& patch);
  void rebuild(ContactPatch& patch, std::uint64_t& nextId);
  int collectStale(const ContactPatch& patch, ContactPatchPoint* stale) const;
  [[nodiscard]] bool ageStale(ContactPatchPoint& point,
                              const kernel::MovedContact<Real>& moved) const;
  [[nodiscard]] int choosePoints(const ContactPatch& patch,
                                 std::span<const ContactPatchPoint> stale, int* chosen);
  [[nodiscard]] int seedPoint(const ContactPatch& patch) const;
  void countRebuild(const ContactPatch& old, std::span<const ContactPatchPoint> points,
                    PatchChurn& delta) const;
  void countFor(ContactPatch& patch, const PatchChurn& delta);
  [[nodiscard]] std::span<FreshPoint> fresh() {
    return {fresh_.data(), static_cast<std::size_t>(num_fresh_)};
  }

  PatchRules rules_;
  const Transform* pose1_ = nullptr;
  const Transform* pose2_ = nullptr;
  std::vector<FreshPoint> fresh_;
  int num_fresh_ = 0;
  int num_matched_ = 0;
  unsigned matched_ = 0;                            // bit k: point k of the patch was found again
  unsigned succeeded_ = 0;                          // bit k: a new point took the place of point k
  kernel::MovedContact<Real> moved_[kMaxPoints]{};  // of the points that were not
  RawSource sources_[kMaxPoints];
  ContactType type_ = ContactType::Unknown;
  PatchChurn churn_;
  int num_rejected_contacts_ = 0;

  // Only for pairs with more contacts than a patch holds.
  std::vector<ContactPoint> many_;
  std::vector<RawSource> many_sources_;
  std::vector<std::uint32_t> many_order_;
  std::vector<std::uint32_t> many_scratch_;
  std::vector<Vec3> pool_;
  std::vector<int> pool_index_;
  std::vector<Real> nearest_;
};

}  // namespace tangere::collision
