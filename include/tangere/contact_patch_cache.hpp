// SPDX-License-Identifier: Apache-2.0
//
// Contact patches kept from step to step, for any stream of contacts; needs no dynamics.
//
// A pair of objects keeps at most four points. A point that is found again keeps its id and the
// impulses the solver stored in it; a point that is missed for a few frames goes on being emitted,
// with its depth computed anew from where its two witness points are now. Signs and frames are
// those of <tangere/contact.hpp>; the rules in full: docs/contact_patch_cache.md.
#pragma once

#include <tangere/contact.hpp>
#include <tangere/types.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tangere {

/// Names one patch: two objects, object1 < object2, and which of their separate regions of contact
/// it is (two feet of one mesh on the floor are regions 0 and 1).
struct PairKey {
  ObjectId object1 = kNoObject;
  ObjectId object2 = kNoObject;
  std::uint32_t manifold = 0;

  friend constexpr auto operator<=>(const PairKey&, const PairKey&) = default;
};

struct ContactPatchCacheOptions {
  bool enabled = false;
  int maxPointsPerPair = 4;     ///< clamped to 4; 0 is the same as not enabled
  int maxPairs = 0;             ///< patches kept at most; 0: no cap
  int maxSeparationFrames = 4;  ///< a patch or a point not found again lives this long
  /// Two points are one when they are this close [m] and their normals' dot product is as large.
  Real positionThreshold = 1e-4;
  Real normalThreshold = 0.99;
  Real depthEpsilon = 1e-6;  ///< depths this close count as equally deep [m]
  /// A point not found again is dropped when the gap along its normal, or the drift of its two
  /// witness points across it, exceeds this [m].
  Real separationThreshold = 1e-3;
  /// Points made by the same features are one point within this distance [m]; and a new point
  /// takes over the impulses of a point not found again within it.
  Real warmStartRadius = 1e-2;
  /// false: contacts with depth < 0 are refused, and a point not found again whose witness points
  /// have come apart has depth 0. true: depth is minus the gap, for speculative contacts.
  bool allowNegativeDepth = false;
};

/// One contact of a stream that does not come as manifolds.
struct PairContact {
  ObjectId object1 = kNoObject;
  ObjectId object2 = kNoObject;
  ContactPoint contact;
};

/// A contact point with its history.
struct ContactPatchPoint {
  ContactPoint contact;  ///< world, this frame, normal from key.object2 to key.object1
  Vec3 local1{};         ///< witness point on object 1, in its frame
  Vec3 local2{};         ///< witness point on object 2, in its frame
  /// What the solver stored: world, on object 1 [N s].
  Real normalImpulse = 0;
  Vec3 tangentImpulse{};
  std::uint64_t id = 0;  ///< from 1, the same for as long as the point lives; 0 in a bypassed patch
  std::uint8_t age = 0;  ///< frames since the point was last found, saturating
  std::uint8_t reserved[7] = {};
};
static_assert(sizeof(ContactPatchPoint) == 160);

/// How often what is emitted changes: the lower, the calmer the solver. `rawAdds` and `rawRemoves`
/// are what `adds` and `removes` would have been without a memory of missed points.
struct PatchChurn {
  std::uint64_t adds = 0;     ///< points that came
  std::uint64_t removes = 0;  ///< points that went
  std::uint64_t moved = 0;    ///< points found again farther than positionThreshold away
  std::uint64_t rawAdds = 0;
  std::uint64_t rawRemoves = 0;

  [[nodiscard]] std::uint64_t total() const { return adds + removes + moved; }
  [[nodiscard]] std::uint64_t rawTotal() const { return rawAdds + rawRemoves + moved; }
  friend bool operator==(const PatchChurn&, const PatchChurn&) = default;
};

/// The contacts of one region of one pair: unique by both thresholds, the deepest first, then by
/// position x, y, z and by normal x, y, z. Points beyond `count` are zero.
struct ContactPatch {
  static constexpr int kMaxPoints = 4;

  ContactPatchPoint points[kMaxPoints];
  PairKey key;
  std::uint32_t lastUpdateFrame = 0;  ///< frame() when the pair was last seen
  std::uint16_t framesSinceSeen = 0;  ///< saturating
  std::uint8_t count = 0;
  ContactType type = ContactType::Unknown;
  /// 1: over maxPairs, emitted this frame, forgotten by the next. (Not a bool: patches are read
  /// from files, and a bool has only two values.)
  std::uint8_t isBypassed = 0;
  std::uint8_t reserved[3] = {};
  PatchChurn churn;  ///< since the patch was made or since resetChurn()

  [[nodiscard]] std::span<const ContactPatchPoint> contacts() const { return {points, count}; }
  [[nodiscard]] std::span<ContactPatchPoint> contacts() { return {points, count}; }
};
static_assert(sizeof(ContactPatch) == 704);

/// One contact to build a constraint from: patches()[patch].points[point].
struct EmittedContact {
  std::int32_t patch = 0;
  std::int32_t point = 0;
  /// The raw contact it was made from: manifolds[rawManifold].points[rawPoint], or
  /// contacts[rawManifold] with rawPoint 0; both -1 for a point that was not found again.
  std::int32_t rawManifold = -1;
  std::int32_t rawPoint = -1;
};

/// Contact patches kept between steps: at most ContactPatch::kMaxPoints points per region of
/// contact. Order is that of PairKey and does not depend on the order of the input. update()
/// allocates nothing once its capacity is reached. Not for use by two threads at once; copies are
/// independent.
class ContactPatchCache {
 public:
  /// Throws InvalidInput on a negative count, frame or length, on NaN, and on a normalThreshold
  /// outside [-1, 1].
  explicit ContactPatchCache(const ContactPatchCacheOptions& options = {});
  ~ContactPatchCache();
  ContactPatchCache(const ContactPatchCache& other);
  ContactPatchCache& operator=(const ContactPatchCache& other);
  ContactPatchCache(ContactPatchCache&&) noexcept;
  ContactPatchCache& operator=(ContactPatchCache&&) noexcept;

  /// One frame. Matches `manifolds`, in any order, to the patches, ages what is not found again and
  /// drops what is too old or apart. poseOf[id] is X_W of object id. Contacts that cannot be kept
  /// (no object, an id beyond poseOf, zero normal, negative depth, not finite) are left out and
  /// counted. Never throws but for memory. When not enabled: reset().
  void update(std::span<const ContactManifold> manifolds, std::span<const Transform> poseOf);
  /// The same for single contacts; all contacts of a pair are one region.
  void update(std::span<const PairContact> contacts, std::span<const Transform> poseOf);

  /// What was kept and what bypassed the cache this frame, sorted by key.
  [[nodiscard]] std::span<const ContactPatch> patches() const { return {patches_.data(), count_}; }
  /// To write impulses back; keys, counts and positions are not the caller's to change.
  [[nodiscard]] std::span<ContactPatch> patches() { return {patches_.data(), count_}; }
  /// The contacts to use for constraints this frame, flat, in the order of patches(). Valid, with
  /// the patches it refers to, until the next call that is not const.
  [[nodiscard]] std::span<const EmittedContact> contacts() const { return contacts_; }
  [[nodiscard]] const ContactPatchPoint& point(const EmittedContact& contact) const {
    return patches_[static_cast<std::size_t>(contact.patch)].points[contact.point];
  }
  void storeImpulse(const EmittedContact& contact, Real normalImpulse, const Vec3& tangentImpulse) {
    ContactPatchPoint& stored =
        patches_[static_cast<std::size_t>(contact.patch)].points[contact.point];
    stored.normalImpulse = normalImpulse;
    stored.tangentImpulse = tangentImpulse;
  }
  /// By binary search; null where there is none.
  [[nodiscard]] const ContactPatch* find(const PairKey& key) const;

  /// Forgets every patch of one object: after its shape changed or it was moved by hand.
  void invalidateObject(ObjectId object);
  /// Forgets every patch of an object with alive[id] == 0 or an id beyond `alive`.
  void purge(std::span<const std::uint8_t> alive);
  /// As newly made: no patches, frame 0, ids from 1, no churn. Keeps the memory.
  void reset();
  /// Throws like the constructor. A change of enabled, maxPointsPerPair, maxPairs or
  /// allowNegativeDepth resets; a change of a threshold does not.
  void setOptions(const ContactPatchCacheOptions& options);
  [[nodiscard]] const ContactPatchCacheOptions& options() const { return options_; }
  /// Memory for this many patches, so that update() does not have to ask for it.
  void reserve(int numPatches);

  /// Patches kept, without those that bypassed.
  [[nodiscard]] int numManifolds() const { return num_manifolds_; }
  /// Points kept, without those of patches that bypassed.
  [[nodiscard]] int numPersistentContacts() const { return num_persistent_contacts_; }
  /// Contacts of the last update that were left out.
  [[nodiscard]] int numRejectedContacts() const { return num_rejected_contacts_; }
  /// Updates since the last reset.
  [[nodiscard]] std::uint32_t frame() const { return frame_; }
  /// All pairs, those no longer kept as well, since the last reset() or resetChurn().
  [[nodiscard]] const PatchChurn& churn() const { return churn_; }
  /// The same of one patch that is kept now; zero where there is none.
  [[nodiscard]] PatchChurn churnOf(const PairKey& key) const;
  void resetChurn();

  /// Everything that the next update depends on; plain values, no addresses.
  struct Snapshot {
    std::vector<ContactPatch> patches;
    std::uint32_t frame = 0;
    std::uint64_t nextId = 1;
    PatchChurn churn;
  };
  void save(Snapshot& snapshot) const;
  /// Continues with the same bits as the cache that was saved, given the same options. Throws
  /// InvalidInput where the content cannot be that of a cache, and keeps the old content.
  void load(const Snapshot& snapshot);
  /// Hash of what the next update depends on; churn is not part of it. Throws InvalidInput on NaN.
  [[nodiscard]] std::uint64_t stateHash() const;

 private:
  struct Workspace;

  template <class RawContacts>
  void updateFrom(const RawContacts& raw, std::span<const Transform> poseOf);
  template <class Predicate>
  void forgetWhere(const Predicate& isForgotten);
  void listContacts();

  ContactPatchCacheOptions options_;
  std::vector<ContactPatch> patches_;  // sorted by key; those beyond count_ are spare memory
  std::size_t count_ = 0;
  std::vector<EmittedContact> contacts_;
  std::uint64_t next_id_ = 1;
  std::uint32_t frame_ = 0;
  int num_manifolds_ = 0;
  int num_persistent_contacts_ = 0;
  int num_rejected_contacts_ = 0;
  PatchChurn churn_;
  std::unique_ptr<Workspace> workspace_;  // nothing in it outlives an update but its memory
};

}  // namespace tangere
