// SPDX-License-Identifier: Apache-2.0
//
// The cache as a whole: a plan of the frame, then one pass over the patches. Patches are rewritten
// where they lie as long as none is new; a new one makes the pass write into the spare array. With
// several threads contact_patch_shared.cpp has that pass.
#include <tangere/contact_patch_cache.hpp>

#include "collision/contact_patch_plan.hpp"
#include "collision/contact_patch_shared.hpp"
#include "collision/contact_patch_threads.hpp"
#include "collision/contact_patch_update.hpp"
#include "core/assert.hpp"
#include "core/stable_hash.hpp"

#include <algorithm>
#include <utility>

namespace tangere {
namespace {

void validate(const ContactPatchCacheOptions& options) {
  TANGERE_REQUIRE(options.maxPointsPerPair >= 0, "points per pair must not be negative",
                  options.maxPointsPerPair);
  TANGERE_REQUIRE(options.maxPairs >= 0, "the cap of pairs must not be negative", options.maxPairs);
  TANGERE_REQUIRE(options.maxSeparationFrames >= 0, "frames must not be negative",
                  options.maxSeparationFrames);
  TANGERE_REQUIRE(options.positionThreshold >= 0, "position threshold must not be negative [m]",
                  options.positionThreshold);
  TANGERE_REQUIRE(options.normalThreshold >= -1 && options.normalThreshold <= 1,
                  "normal threshold must be a dot product of unit vectors",
                  options.normalThreshold);
  TANGERE_REQUIRE(options.depthEpsilon >= 0, "depth epsilon must not be negative [m]",
                  options.depthEpsilon);
  TANGERE_REQUIRE(options.separationThreshold >= 0, "separation threshold must not be negative [m]",
                  options.separationThreshold);
  TANGERE_REQUIRE(options.warmStartRadius >= 0, "warm start radius must not be negative [m]",
                  options.warmStartRadius);
}

[[nodiscard]] bool isActive(const ContactPatchCacheOptions& options) {
  return options.enabled && options.maxPointsPerPair > 0;
}

/// The promises of ContactPatch; for assertions.
[[nodiscard, maybe_unused]] bool isWellFormed(const ContactPatch& patch,
                                              const collision::PatchRules& rules) {
  if (patch.count < 1 || patch.count > rules.maxPoints) return false;
  for (int i = 0; i < patch.count; ++i) {
    const ContactPoint& contact = patch.points[i].contact;
    if (!(contact.depth >= 0 || rules.allowNegativeDepth)) return false;
    if (i > 0 && kernel::comesBefore(contact, patch.points[i - 1].contact)) return false;
    for (int k = 0; k < i; ++k) {
      const ContactPoint& other = patch.points[k].contact;
      if (kernel::isSamePoint(contact.position, contact.normal, other.position, other.normal,
                              rules.samePoint))
        return false;
    }
  }
  return true;
}

}  // namespace

struct ContactPatchCache::Workspace {
  explicit Workspace(const ContactPatchCacheOptions& options) : update(options) {}

  collision::ContactPatchPlan plan;
  collision::ContactPatchUpdate update;
  collision::SharedPatchUpdate shared;
  std::vector<ContactPatch> spare;
};

namespace collision {
namespace {
thread_local core::ThreadPool* tPool = nullptr;
}

ContactPatchThreads::ContactPatchThreads(core::ThreadPool* pool)
    : outer_(std::exchange(tPool, pool)) {}
ContactPatchThreads::~ContactPatchThreads() { tPool = outer_; }
core::ThreadPool* ContactPatchThreads::pool() { return tPool; }
}  // namespace collision

ContactPatchCache::ContactPatchCache(const ContactPatchCacheOptions& options) : options_(options) {
  validate(options);
  options_.maxPointsPerPair = std::min(options.maxPointsPerPair, ContactPatch::kMaxPoints);
  workspace_ = std::make_unique<Workspace>(options_);
}

ContactPatchCache::~ContactPatchCache() = default;
ContactPatchCache::ContactPatchCache(ContactPatchCache&&) noexcept = default;
ContactPatchCache& ContactPatchCache::operator=(ContactPatchCache&&) noexcept = default;

ContactPatchCache::ContactPatchCache(const ContactPatchCache& other)
    : ContactPatchCache(other.options_) {
  *this = other;
}

ContactPatchCache& ContactPatchCache::operator=(const ContactPatchCache& other) {
  if (this == &other) return *this;
  if (patches_.size() < other.count_) patches_.resize(other.count_);
  std::copy_n(other.patches_.begin(), other.count_, patches_.begin());
  count_ = other.count_;
  contacts_ = other.contacts_;
  options_ = other.options_;
  next_id_ = other.next_id_;
  frame_ = other.frame_;
  num_manifolds_ = other.num_manifolds_;
  num_persistent_contacts_ = other.num_persistent_contacts_;
  num_rejected_contacts_ = other.num_rejected_contacts_;
  churn_ = other.churn_;
  if (!workspace_) workspace_ = std::make_unique<Workspace>(options_);  // we were moved from
  workspace_->update.rules() = collision::PatchRules(options_);
  return *this;
}

void ContactPatchCache::update(std::span<const ContactManifold> manifolds,
                               std::span<const Transform> poseOf) {
  updateFrom(collision::RawManifolds{manifolds}, poseOf);
}

void ContactPatchCache::update(std::span<const PairContact> contacts,
                               std::span<const Transform> poseOf) {
  updateFrom(collision::RawStream{contacts}, poseOf);
}

template <class RawContacts>
void ContactPatchCache::updateFrom(const RawContacts& raw, std::span<const Transform> poseOf) {
  if (!isActive(options_)) return reset();
  if (num_manifolds_ != static_cast<int>(count_)) {
    const std::span<ContactPatch> old = patches();
    const auto end = std::remove_if(
        old.begin(), old.end(), [](const ContactPatch& patch) { return patch.isBypassed != 0; });
    count_ = static_cast<std::size_t>(end - old.begin());
  }
  ++frame_;
  collision::ContactPatchPlan& plan = workspace_->plan;
  collision::ContactPatchUpdate& update = workspace_->update;
  plan.build(raw, poseOf, patches(), options_);
  const std::span<const collision::PlanEntry> entries = plan.entries();
  std::vector<ContactPatch>& target = plan.makesPatches() ? workspace_->spare : patches_;
  if (target.size() < entries.size()) target.resize(entries.size());
  contacts_.reserve(entries.size() * ContactPatch::kMaxPoints);

  core::ThreadPool* const pool = collision::ContactPatchThreads::pool();
  if (pool != nullptr && pool->numThreads() > 1 && options_.maxPairs == 0 &&
      entries.size() >= collision::kMinSharedPatches) {
    const collision::SharedPatchUpdate::Result result =
        workspace_->shared.update(raw,
                                  {.plan = &plan,
                                   .options = &options_,
                                   .poseOf = poseOf,
                                   .old = patches(),
                                   .target = {target.data(), entries.size()},
                                   .frame = frame_},
                                  pool, next_id_, contacts_);
    if (plan.makesPatches()) std::swap(patches_, workspace_->spare);
    count_ = result.numPatches;
    num_manifolds_ = static_cast<int>(count_);
    num_persistent_contacts_ = static_cast<int>(contacts_.size());
    num_rejected_contacts_ = plan.numRejectedContacts() + result.numRejectedContacts;
    for (const auto count : {&PatchChurn::adds, &PatchChurn::removes, &PatchChurn::moved,
                             &PatchChurn::rawAdds, &PatchChurn::rawRemoves})
      churn_.*count += result.churn.*count;
    return;
  }

  update.churn() = churn_;
  update.resetRejectedContacts();
  int room = options_.maxPairs > 0 ? options_.maxPairs - static_cast<int>(count_)
                                   : std::numeric_limits<int>::max();
  std::size_t numPatches = 0, numContacts = 0;
  num_manifolds_ = 0;
  num_persistent_contacts_ = 0;
  for (const collision::PlanEntry& entry : entries) {
    ContactPatch& patch = target[numPatches];
    if (entry.oldPatch >= 0) {
      const ContactPatch& old = patches_[static_cast<std::size_t>(entry.oldPatch)];
      if (&patch != &old) patch = old;
      if (!update.update(raw, plan, entry, options_, poseOf, frame_, patch, next_id_)) continue;
    } else {
      if (update.gather(raw, plan, entry, options_, poseOf) == 0) continue;
      const collision::RawRecord record = raw[plan.record(entry.firstRecord)];
      patch = {};
      patch.key = {std::min(record.object1, record.object2),
                   std::max(record.object1, record.object2), entry.manifold};
      if (room > 0) {
        --room;
        update.create(patch, frame_, next_id_);
      } else {
        update.bypass(patch, frame_);
      }
    }
    TANGERE_ASSERT(isWellFormed(patch, update.rules()));
    if (patch.isBypassed == 0) {
      ++num_manifolds_;
      num_persistent_contacts_ += patch.count;
    }
    // Over those of the last frame: at rest there are as many.
    const std::size_t endContacts = numContacts + patch.count;
    if (contacts_.size() < endContacts) contacts_.resize(endContacts);
    update.emit(static_cast<std::int32_t>(numPatches), patch.count, &contacts_[numContacts]);
    numContacts = endContacts;
    ++numPatches;
  }
  contacts_.resize(numContacts);
  if (plan.makesPatches()) std::swap(patches_, workspace_->spare);
  count_ = numPatches;
  churn_ = update.churn();
  num_rejected_contacts_ = plan.numRejectedContacts() + update.numRejectedContacts();
}

const ContactPatch* ContactPatchCache::find(const PairKey& key) const {
  const std::span<const ContactPatch> all = patches();
  const auto found =
      std::lower_bound(all.begin(), all.end(), key,
                       [](const ContactPatch& patch, const PairKey& k) { return patch.key < k; });
  return found != all.end() && found->key == key ? &*found : nullptr;
}

void ContactPatchCache::invalidateObject(ObjectId object) {
  forgetWhere([&](const ContactPatch& patch) {
    return patch.key.object1 == object || patch.key.object2 == object;
  });
}

void ContactPatchCache::purge(std::span<const std::uint8_t> alive) {
  const auto isGone = [&](ObjectId object) { return object >= alive.size() || alive[object] == 0; };
  forgetWhere([&](const ContactPatch& patch) {
    return isGone(patch.key.object1) || isGone(patch.key.object2);
  });
}

template <class Predicate>
void ContactPatchCache::forgetWhere(const Predicate& isForgotten) {
  const std::span<ContactPatch> all = patches();
  const auto end = std::remove_if(all.begin(), all.end(), [&](const ContactPatch& patch) {
    if (!isForgotten(patch)) return false;
    if (patch.isBypassed == 0) churn_.removes += patch.count;
    return true;
  });
  if (end == all.end()) return;
  count_ = static_cast<std::size_t>(end - all.begin());
  listContacts();
}

void ContactPatchCache::reset() {
  count_ = 0;
  contacts_.clear();
  next_id_ = 1;
  frame_ = 0;
  num_manifolds_ = 0;
  num_persistent_contacts_ = 0;
  num_rejected_contacts_ = 0;
  churn_ = {};
}

void ContactPatchCache::setOptions(const ContactPatchCacheOptions& options) {
  validate(options);
  const ContactPatchCacheOptions old = std::exchange(options_, options);
  options_.maxPointsPerPair = std::min(options.maxPointsPerPair, ContactPatch::kMaxPoints);
  workspace_->update.rules() = collision::PatchRules(options_);
  if (old.enabled != options_.enabled || old.maxPointsPerPair != options_.maxPointsPerPair ||
      old.maxPairs != options_.maxPairs || old.allowNegativeDepth != options_.allowNegativeDepth)
    reset();
}

void ContactPatchCache::reserve(int numPatches) {
  const std::size_t size = static_cast<std::size_t>(std::max(numPatches, 0));
  if (patches_.size() < size) patches_.resize(size);
  if (workspace_->spare.size() < size) workspace_->spare.resize(size);
  contacts_.reserve(size * ContactPatch::kMaxPoints);
  workspace_->plan.reserve(size);
}

PatchChurn ContactPatchCache::churnOf(const PairKey& key) const {
  const ContactPatch* patch = find(key);
  return patch ? patch->churn : PatchChurn{};
}

void ContactPatchCache::resetChurn() {
  churn_ = {};
  for (ContactPatch& patch : patches()) patch.churn = {};
}

void ContactPatchCache::save(Snapshot& snapshot) const {
  snapshot.patches.assign(patches().begin(), patches().end());
  snapshot.frame = frame_;
  snapshot.nextId = next_id_;
  snapshot.churn = churn_;
}

void ContactPatchCache::load(const Snapshot& snapshot) {
  for (std::size_t i = 0; i < snapshot.patches.size(); ++i) {
    const ContactPatch& patch = snapshot.patches[i];
    TANGERE_REQUIRE(patch.count >= 1 && patch.count <= ContactPatch::kMaxPoints,
                    "saved patch with an impossible number of points", i, int{patch.count});
    TANGERE_REQUIRE(patch.key.object1 < patch.key.object2 && patch.key.object2 != kNoObject,
                    "saved patch without two objects", i, patch.key.object1, patch.key.object2);
    TANGERE_REQUIRE(i == 0 || snapshot.patches[i - 1].key < patch.key,
                    "saved patches are not sorted", i);
    TANGERE_REQUIRE(patch.isBypassed <= 1, "saved patch with an impossible flag", i,
                    int{patch.isBypassed});
  }
  if (patches_.size() < snapshot.patches.size()) patches_.resize(snapshot.patches.size());
  std::copy(snapshot.patches.begin(), snapshot.patches.end(), patches_.begin());
  count_ = snapshot.patches.size();
  frame_ = snapshot.frame;
  next_id_ = snapshot.nextId;
  churn_ = snapshot.churn;
  num_rejected_contacts_ = 0;
  listContacts();
}

std::uint64_t ContactPatchCache::stateHash() const {
  core::StableHash hash;
  hash.add(frame_);
  hash.add(next_id_);
  hash.add(count_);
  for (const ContactPatch& patch : patches()) {
    hash.add(patch.key.object1);
    hash.add(patch.key.object2);
    hash.add(patch.key.manifold);
    hash.add(patch.lastUpdateFrame);
    hash.add(patch.framesSinceSeen);
    hash.add(patch.count);
    hash.add(patch.type);
    hash.add(patch.isBypassed);
    for (const ContactPatchPoint& point : patch.contacts()) {
      hash.add(point.contact.position);
      hash.add(point.contact.normal);
      hash.add(point.contact.depth);
      hash.add(point.contact.feature1);
      hash.add(point.contact.feature2);
      hash.add(point.local1);
      hash.add(point.local2);
      hash.add(point.normalImpulse);
      hash.add(point.tangentImpulse);
      hash.add(point.id);
      hash.add(point.age);
    }
  }
  return hash.value();
}

/// Lists the patches as they are; where they came from is not known any more.
void ContactPatchCache::listContacts() {
  contacts_.clear();
  num_manifolds_ = 0;
  num_persistent_contacts_ = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    const ContactPatch& patch = patches_[i];
    if (patch.isBypassed == 0) {
      ++num_manifolds_;
      num_persistent_contacts_ += patch.count;
    }
    for (int k = 0; k < patch.count; ++k)
      contacts_.push_back({.patch = static_cast<std::int32_t>(i), .point = k});
  }
}

}  // namespace tangere
