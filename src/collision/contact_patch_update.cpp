// SPDX-License-Identifier: Apache-2.0
//
// A pair at rest takes the short way, refreshAtRest. Otherwise the raw contacts are gathered and
// matched; where all points are found again they are rewritten in place (replaceAll), and where
// some are lost, new or too many the patch is chosen anew (rebuild).
#include "collision/contact_patch_update.hpp"

#include "collision/contact_patch_at_rest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tangere::collision {
namespace {

Real square(Real x) { return x * x; }

/// The same contact seen with its two objects exchanged.
ContactPoint exchanged(const ContactPoint& contact) {
  ContactPoint other = contact;
  other.normal = -contact.normal;
  std::swap(other.feature1, other.feature2);
  return other;
}

template <class T>
T incrementSaturating(T value) {
  return value == std::numeric_limits<T>::max() ? value : static_cast<T>(value + 1);
}

/// Stable merge sort of `items` without memory of its own; `scratch` is as long.
template <class Less>
void mergeSort(std::span<std::uint32_t> items, std::span<std::uint32_t> scratch, const Less& less) {
  std::span<std::uint32_t> from = items, to = scratch.first(items.size());
  for (std::size_t width = 1; width < items.size(); width *= 2) {
    for (std::size_t begin = 0; begin < items.size(); begin += 2 * width) {
      const std::size_t middle = std::min(begin + width, items.size());
      const std::size_t end = std::min(begin + 2 * width, items.size());
      std::size_t left = begin, right = middle;
      for (std::size_t k = begin; k < end; ++k) {
        const bool takesRight = left == middle || (right < end && less(from[right], from[left]));
        to[k] = takesRight ? from[right++] : from[left++];
      }
    }
    std::swap(from, to);
  }
  if (from.data() != items.data()) std::copy(from.begin(), from.end(), items.begin());
}

void sortPoints(std::span<ContactPatchPoint> points, RawSource* sources) {
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (!kernel::comesBefore(points[i].contact, points[i - 1].contact)) continue;
    const ContactPatchPoint point = points[i];
    const RawSource source = sources[i];
    std::size_t k = i;
    for (; k > 0 && kernel::comesBefore(point.contact, points[k - 1].contact); --k) {
      points[k] = points[k - 1];
      sources[k] = sources[k - 1];
    }
    points[k] = point;
    sources[k] = source;
  }
}

void writePoints(ContactPatch& patch, std::span<const ContactPatchPoint> points) {
  std::copy(points.begin(), points.end(), patch.points);
  std::fill(patch.points + points.size(), patch.points + ContactPatch::kMaxPoints,
            ContactPatchPoint{});
  patch.count = static_cast<std::uint8_t>(points.size());
}

}  // namespace

PatchRules::PatchRules(const ContactPatchCacheOptions& options)
    : samePoint{square(options.positionThreshold), options.normalThreshold},
      squaredWarmStartRadius(square(options.warmStartRadius)),
      separation(options.separationThreshold),
      squaredSeparation(square(options.separationThreshold)),
      depthEpsilon(options.depthEpsilon),
      maxPoints(std::min(options.maxPointsPerPair, ContactPatch::kMaxPoints)),
      maxSeparationFrames(options.maxSeparationFrames),
      allowNegativeDepth(options.allowNegativeDepth),
      atRest{.squaredApart = 5 * samePoint.squaredPosition,
             .squaredNear = std::min(samePoint.squaredPosition, squaredWarmStartRadius),
             .normalDot = samePoint.normalDot,
             .unitTolerance = kUnitTolerance,
             .allowNegativeDepth = allowNegativeDepth},
      rewriteFourAtRest(rewriteFour()) {}

template <class RawContacts>
bool ContactPatchUpdate::updateInMotion(const RawContacts& raw, const ContactPatchPlan& plan,
                                        const PlanEntry& entry,
                                        const ContactPatchCacheOptions& options,
                                        std::span<const Transform> poseOf, std::uint32_t frame,
                                        ContactPatch& patch, std::uint64_t& nextId) {
  if (entry.numRecords == 0 || gather(raw, plan, entry, options, poseOf) == 0)
    return age(patch, poseOf);
  refresh(patch, frame, nextId);
  return true;
}

template bool ContactPatchUpdate::updateInMotion(const RawManifolds&, const ContactPatchPlan&,
                                                 const PlanEntry&, const ContactPatchCacheOptions&,
                                                 std::span<const Transform>, std::uint32_t,
                                                 ContactPatch&, std::uint64_t&);
template bool ContactPatchUpdate::updateInMotion(const RawStream&, const ContactPatchPlan&,
                                                 const PlanEntry&, const ContactPatchCacheOptions&,
                                                 std::span<const Transform>, std::uint32_t,
                                                 ContactPatch&, std::uint64_t&);

bool ContactPatchUpdate::rewriteAnyAtRest(const ContactPoint* raw, const Transform& X_W1,
                                          const Transform& X_W2, ContactPatch& patch,
                                          int* place) const {
  return rewriteAtRest(raw, X_W1, X_W2, rules_, patch, place);
}

template <class RawContacts>
int ContactPatchUpdate::gather(const RawContacts& raw, const ContactPatchPlan& plan,
                               const PlanEntry& entry, const ContactPatchCacheOptions& options,
                               std::span<const Transform> poseOf) {
  num_fresh_ = 0;
  if (fresh_.size() < kMaxPoints) fresh_.resize(kMaxPoints);
  const std::uint32_t index = plan.record(entry.firstRecord);
  const RawRecord record = raw[index];
  type_ = record.type;
  const bool isExchanged = record.object1 > record.object2;
  pose1_ = &poseOf[isExchanged ? record.object2 : record.object1];
  pose2_ = &poseOf[isExchanged ? record.object1 : record.object2];
  if (entry.numRecords > 1 || record.points.size() > kMaxPoints || isExchanged) {
    gatherMany(raw, plan, entry, options);
    return num_fresh_;
  }

  int order[kMaxPoints];
  int count = 0;
  for (int i = 0; i < static_cast<int>(record.points.size()); ++i) {
    const ContactPoint& contact = record.points[static_cast<std::size_t>(i)];
    if (!isValidContact(contact, options)) {
      ++num_rejected_contacts_;
      continue;
    }
    int k = count++;
    for (; k > 0; --k) {
      if (!kernel::comesBefore(contact, record.points[static_cast<std::size_t>(order[k - 1])]))
        break;
      order[k] = order[k - 1];
    }
    order[k] = i;
  }
  for (int k = 0; k < count; ++k)
    addFresh(record.points[static_cast<std::size_t>(order[k])],
             {.manifold = static_cast<std::int32_t>(index), .point = order[k]});
  return num_fresh_;
}

template int ContactPatchUpdate::gather(const RawManifolds&, const ContactPatchPlan&,
                                        const PlanEntry&, const ContactPatchCacheOptions&,
                                        std::span<const Transform>);
template int ContactPatchUpdate::gather(const RawStream&, const ContactPatchPlan&, const PlanEntry&,
                                        const ContactPatchCacheOptions&,
                                        std::span<const Transform>);

void ContactPatchUpdate::refresh(ContactPatch& patch, std::uint32_t frame, std::uint64_t& nextId) {
  patch.framesSinceSeen = 0;
  patch.lastUpdateFrame = frame;
  patch.type = type_;
  matched_ = 0;
  num_matched_ = 0;
  matchByFeature(patch);
  if (num_matched_ < patch.count) {
    for (int k = 0; k < patch.count; ++k) {
      const ContactPatchPoint& point = patch.points[k];
      if ((matched_ >> k & 1u) == 0)
        moved_[k] =
            kernel::moveContact(point.local1, point.local2, point.contact.normal, *pose1_, *pose2_);
    }
    if (num_matched_ < num_fresh_) matchByPosition(patch);
  }
  if (num_matched_ == num_fresh_ && num_matched_ == patch.count) {
    replaceAll(patch);
  } else {
    rebuild(patch, nextId);
  }
}

void ContactPatchUpdate::create(ContactPatch& patch, std::uint32_t frame, std::uint64_t& nextId) {
  patch.lastUpdateFrame = frame;
  patch.type = type_;
  matched_ = 0;
  num_matched_ = 0;
  rebuild(patch, nextId);
}

void ContactPatchUpdate::bypass(ContactPatch& patch, std::uint32_t frame) {
  patch.lastUpdateFrame = frame;
  patch.type = type_;
  patch.isBypassed = 1;
  patch.count = static_cast<std::uint8_t>(std::min(num_fresh_, rules_.maxPoints));
  for (int i = 0; i < patch.count; ++i) {
    const FreshPoint& fresh = fresh_[static_cast<std::size_t>(i)];
    patch.points[i] = {.contact = fresh.contact, .local1 = fresh.local1, .local2 = fresh.local2};
    sources_[i] = fresh.source;
  }
}

bool ContactPatchUpdate::age(ContactPatch& patch, std::span<const Transform> poseOf) {
  PatchChurn delta;
  for (const ContactPatchPoint& point : patch.contacts()) delta.rawRemoves += point.age == 0;
  patch.framesSinceSeen = incrementSaturating(patch.framesSinceSeen);
  ContactPatchPoint kept[kMaxPoints];
  int numKept = 0;
  // key.object2 is the larger of the two.
  if (patch.framesSinceSeen <= rules_.maxSeparationFrames && patch.key.object2 < poseOf.size()) {
    for (int k = 0; k < patch.count; ++k) {
      const ContactPatchPoint& point = patch.points[k];
      moved_[k] = kernel::moveContact(point.local1, point.local2, point.contact.normal,
                                      poseOf[patch.key.object1], poseOf[patch.key.object2]);
    }
    num_fresh_ = 0;
    matched_ = succeeded_ = 0;
    numKept = collectStale(patch, kept);
  }
  delta.removes += static_cast<std::uint64_t>(patch.count - numKept);
  countFor(patch, delta);
  for (RawSource& source : sources_) source = {};
  const std::span<ContactPatchPoint> points(kept, static_cast<std::size_t>(numKept));
  sortPoints(points, sources_);
  writePoints(patch, points);
  return numKept > 0;
}

void ContactPatchUpdate::addFresh(const ContactPoint& contact, const RawSource& source) {
  FreshPoint& fresh = fresh_[static_cast<std::size_t>(num_fresh_)];
  fresh.contact = contact;
  // Normals of any other length are taken for directions.
  const Real squaredLength = squaredNorm(contact.normal);
  if (std::fabs(squaredLength - 1) > kUnitTolerance)
    fresh.contact.normal = contact.normal / std::sqrt(squaredLength);
  const kernel::WitnessPoints<Real> witness = kernel::witnessPoints(fresh.contact);
  fresh.local1 = inverseTimes(*pose1_, witness.point1);
  fresh.local2 = inverseTimes(*pose2_, witness.point2);
  // Both bodies' poses are in these two: one test for all that may not be finite.
  if (!(squaredNorm(fresh.local1) + squaredNorm(fresh.local2) <=
        std::numeric_limits<Real>::max())) {
    ++num_rejected_contacts_;
    return;
  }
  for (int i = 0; i < num_fresh_; ++i) {
    const ContactPoint& other = fresh_[static_cast<std::size_t>(i)].contact;
    if (kernel::isSamePoint(fresh.contact.position, fresh.contact.normal, other.position,
                            other.normal, rules_.samePoint))
      return;
  }
  fresh.source = source;
  fresh.match = -1;
  fresh.moved = false;
  ++num_fresh_;
}

template <class RawContacts>
void ContactPatchUpdate::gatherMany(const RawContacts& raw, const ContactPatchPlan& plan,
                                    const PlanEntry& entry,
                                    const ContactPatchCacheOptions& options) {
  many_.clear();
  many_sources_.clear();
  many_order_.clear();
  for (std::uint32_t k = 0; k < entry.numRecords; ++k) {
    const std::uint32_t index = plan.record(entry.firstRecord + k);
    const RawRecord record = raw[index];
    for (std::size_t i = 0; i < record.points.size(); ++i) {
      if (!isValidContact(record.points[i], options)) {
        ++num_rejected_contacts_;
        continue;
      }
      const bool isExchanged = record.object1 > record.object2;
      many_order_.push_back(static_cast<std::uint32_t>(many_.size()));
      many_.push_back(isExchanged ? exchanged(record.points[i]) : record.points[i]);
      many_sources_.push_back(
          {.manifold = static_cast<std::int32_t>(index), .point = static_cast<std::int32_t>(i)});
    }
  }
  if (fresh_.size() < many_.size()) fresh_.resize(many_.size());
  if (many_scratch_.size() < many_.size()) many_scratch_.resize(many_.size());
  const auto isBefore = [&](std::uint32_t a, std::uint32_t b) {
    if (kernel::comesBefore(many_[a], many_[b])) return true;
    if (kernel::comesBefore(many_[b], many_[a])) return false;
    if (many_[a].feature1 != many_[b].feature1) return many_[a].feature1 < many_[b].feature1;
    return many_[a].feature2 < many_[b].feature2;
  };
  mergeSort(many_order_, many_scratch_, isBefore);
  for (const std::uint32_t i : many_order_) addFresh(many_[i], many_sources_[i]);
}

void ContactPatchUpdate::matchByFeature(const ContactPatch& patch) {
  for (FreshPoint& fresh : fresh()) {
    // A plane has one face, which needs no name: the corner on it has.
    if (fresh.contact.feature1 < 0 && fresh.contact.feature2 < 0) continue;
    Real nearest = rules_.squaredWarmStartRadius;
    for (int k = 0; k < patch.count; ++k) {
      const ContactPatchPoint& point = patch.points[k];
      if (point.contact.feature1 != fresh.contact.feature1 ||
          point.contact.feature2 != fresh.contact.feature2 || (matched_ >> k & 1u) != 0)
        continue;
      if (!(dot(point.contact.normal, fresh.contact.normal) >= rules_.samePoint.normalDot))
        continue;
      // A corner that slides stays where it is on one of the two bodies.
      const Real distance = std::min(squaredNorm(point.local1 - fresh.local1),
                                     squaredNorm(point.local2 - fresh.local2));
      if (!(distance <= nearest)) continue;
      nearest = distance;
      fresh.match = k;
    }
    if (fresh.match < 0) continue;
    fresh.moved = nearest > rules_.samePoint.squaredPosition;
    matched_ |= 1u << fresh.match;
    ++num_matched_;
  }
}

void ContactPatchUpdate::matchByPosition(const ContactPatch& patch) {
  for (FreshPoint& fresh : fresh()) {
    if (fresh.match >= 0) continue;
    Real nearest = rules_.samePoint.squaredPosition;
    for (int k = 0; k < patch.count; ++k) {
      if ((matched_ >> k & 1u) != 0) continue;
      const Real distance = squaredNorm(moved_[k].position - fresh.contact.position);
      if (!(distance <= nearest)) continue;
      if (!(dot(patch.points[k].contact.normal, fresh.contact.normal) >=
            rules_.samePoint.normalDot))
        continue;
      nearest = distance;
      fresh.match = k;
    }
    if (fresh.match < 0) continue;
    matched_ |= 1u << fresh.match;
    ++num_matched_;
  }
}

void ContactPatchUpdate::replaceAll(ContactPatch& patch) {
  struct Kept {
    Real normalImpulse;
    Vec3 tangentImpulse;
    std::uint64_t id;
    std::uint8_t age;
  };
  Kept kept[kMaxPoints];
  for (int k = 0; k < patch.count; ++k) {
    const ContactPatchPoint& point = patch.points[k];
    kept[k] = {point.normalImpulse, point.tangentImpulse, point.id, point.age};
  }
  PatchChurn delta;
  for (int i = 0; i < num_fresh_; ++i) {
    const FreshPoint& fresh = fresh_[static_cast<std::size_t>(i)];
    const Kept& old = kept[fresh.match];
    ContactPatchPoint& point = patch.points[i];
    point.contact = fresh.contact;
    point.local1 = fresh.local1;
    point.local2 = fresh.local2;
    point.normalImpulse = old.normalImpulse;
    point.tangentImpulse = old.tangentImpulse;
    point.id = old.id;
    point.age = 0;
    sources_[i] = fresh.source;
    delta.moved += fresh.moved;
    delta.rawAdds += old.age > 0;
  }
  if (delta.rawTotal() > 0) countFor(patch, delta);
}

void ContactPatchUpdate::rebuild(ContactPatch& patch, std::uint64_t& nextId) {
  for (FreshPoint& fresh : fresh()) {
    const ContactPatchPoint* old = fresh.match >= 0 ? &patch.points[fresh.match] : nullptr;
    fresh.normalImpulse = old ? old->normalImpulse : 0;
    fresh.tangentImpulse = old ? old->tangentImpulse : Vec3{};
  }
  succeeded_ = 0;
  if (num_matched_ < patch.count) inheritImpulses(patch);

  ContactPatchPoint stale[kMaxPoints];
  const int numStale = collectStale(patch, stale);
  int chosen[kMaxPoints];
  const int count = choosePoints(patch, {stale, static_cast<std::size_t>(numStale)}, chosen);

  ContactPatchPoint points[kMaxPoints];
  PatchChurn delta;
  for (int i = 0; i < count; ++i) {
    if (chosen[i] >= num_fresh_) {
      points[i] = stale[chosen[i] - num_fresh_];
      sources_[i] = {};
      continue;
    }
    const FreshPoint& fresh = fresh_[static_cast<std::size_t>(chosen[i])];
    const ContactPatchPoint* old = fresh.match >= 0 ? &patch.points[fresh.match] : nullptr;
    points[i] = {.contact = fresh.contact,
                 .local1 = fresh.local1,
                 .local2 = fresh.local2,
                 .normalImpulse = fresh.normalImpulse,
                 .tangentImpulse = fresh.tangentImpulse,
                 .id = old ? old->id : 0};
    sources_[i] = fresh.source;
    delta.adds += old == nullptr;
    delta.rawAdds += old == nullptr || old->age > 0;
    delta.moved += fresh.moved;
  }
  const std::span<ContactPatchPoint> kept(points, static_cast<std::size_t>(count));
  sortPoints(kept, sources_);
  countRebuild(patch, kept, delta);
  for (ContactPatchPoint& point : kept)
    if (point.id == 0) point.id = nextId++;
  countFor(patch, delta);
  writePoints(patch, kept);
}

/// A rolling ball touches at a new point in every frame, but the force goes on. A point not found
/// again hands its impulses over to the nearest new one and ends there: kept beside its successor
/// it would carry the same load once more.
void ContactPatchUpdate::inheritImpulses(ContactPatch& patch) {
  for (FreshPoint& fresh : fresh()) {
    if (fresh.match >= 0) continue;
    Real nearest = rules_.squaredWarmStartRadius;
    int donor = -1;
    for (int k = 0; k < patch.count; ++k) {
      if (((matched_ | succeeded_) >> k & 1u) != 0) continue;
      const Real distance = squaredNorm(moved_[k].position - fresh.contact.position);
      if (!(distance <= nearest)) continue;
      if (!(dot(patch.points[k].contact.normal, fresh.contact.normal) >=
            rules_.samePoint.normalDot))
        continue;
      nearest = distance;
      donor = k;
    }
    if (donor < 0) continue;
    succeeded_ |= 1u << donor;
    fresh.normalImpulse = std::exchange(patch.points[donor].normalImpulse, 0);
    fresh.tangentImpulse = std::exchange(patch.points[donor].tangentImpulse, Vec3{});
  }
}

/// The points of the patch that were not found again and may stay, one frame older, where they are
/// now; unique, and none of them a fresh one.
int ContactPatchUpdate::collectStale(const ContactPatch& patch, ContactPatchPoint* stale) const {
  int count = 0;
  for (int k = 0; k < patch.count; ++k) {
    if (((matched_ | succeeded_) >> k & 1u) != 0) continue;
    ContactPatchPoint& point = stale[count];
    point = patch.points[k];
    if (!ageStale(point, moved_[k])) continue;
    const auto isPoint = [&](const ContactPoint& other) {
      return kernel::isSamePoint(point.contact.position, point.contact.normal, other.position,
                                 other.normal, rules_.samePoint);
    };
    bool isUnique = true;
    for (int i = 0; i < num_fresh_; ++i)
      isUnique = isUnique && !isPoint(fresh_[static_cast<std::size_t>(i)].contact);
    for (int i = 0; i < count; ++i) isUnique = isUnique && !isPoint(stale[i].contact);
    count += isUnique ? 1 : 0;
  }
  return count;
}

/// False: the point is too old, or its witness points came apart (or are not finite).
bool ContactPatchUpdate::ageStale(ContactPatchPoint& point,
                                  const kernel::MovedContact<Real>& moved) const {
  point.age = incrementSaturating(point.age);
  if (point.age > rules_.maxSeparationFrames) return false;
  if (!(-moved.depth <= rules_.separation && moved.squaredDrift <= rules_.squaredSeparation))
    return false;
  point.contact.position = moved.position;
  point.contact.depth = moved.depth >= 0 || rules_.allowNegativeDepth ? moved.depth : Real(0);
  return true;
}

/// Writes the indices of the points to keep: those below num_fresh_ are fresh, the rest stale.
int ContactPatchUpdate::choosePoints(const ContactPatch& patch,
                                     std::span<const ContactPatchPoint> stale, int* chosen) {
  const int numStale = num_fresh_ < rules_.maxPoints ? static_cast<int>(stale.size()) : 0;
  const int total = num_fresh_ + numStale;
  if (total <= rules_.maxPoints) {
    for (int i = 0; i < total; ++i) chosen[i] = i;
    return total;
  }
  // Of points that spread equally well the first is taken: points found again before new ones
  // before stale ones, so that the choice does not change without need.
  pool_.clear();
  pool_index_.clear();
  for (const bool isFoundAgain : {true, false}) {
    for (int i = 0; i < num_fresh_; ++i) {
      const FreshPoint& fresh = fresh_[static_cast<std::size_t>(i)];
      if ((fresh.match >= 0) != isFoundAgain) continue;
      pool_.push_back(fresh.contact.position);
      pool_index_.push_back(i);
    }
  }
  for (int i = 0; i < numStale; ++i) {
    pool_.push_back(stale[static_cast<std::size_t>(i)].contact.position);
    pool_index_.push_back(num_fresh_ + i);
  }
  if (nearest_.size() < pool_.size()) nearest_.resize(pool_.size());
  const auto seed = std::find(pool_index_.begin(), pool_index_.end(), seedPoint(patch));
  const int count =
      kernel::selectSpreadPoints(pool_.data(), total, static_cast<int>(seed - pool_index_.begin()),
                                 rules_.maxPoints, nearest_.data(), chosen);
  for (int i = 0; i < count; ++i) chosen[i] = pool_index_[static_cast<std::size_t>(chosen[i])];
  return count;
}

/// The deepest fresh point; of those within depthEpsilon of it the one that was there first.
int ContactPatchUpdate::seedPoint(const ContactPatch& patch) const {
  const Real enough = fresh_[0].contact.depth - rules_.depthEpsilon;
  int seed = 0;
  std::uint64_t oldest = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < num_fresh_; ++i) {
    const FreshPoint& fresh = fresh_[static_cast<std::size_t>(i)];
    if (fresh.contact.depth < enough) break;
    if (fresh.match < 0 || patch.points[fresh.match].id >= oldest) continue;
    oldest = patch.points[fresh.match].id;
    seed = i;
  }
  return seed;
}

/// Counts what became of the old points; new points have no id yet.
void ContactPatchUpdate::countRebuild(const ContactPatch& old,
                                      std::span<const ContactPatchPoint> points,
                                      PatchChurn& delta) const {
  for (const ContactPatchPoint& before : old.contacts()) {
    const ContactPatchPoint* after = nullptr;
    for (const ContactPatchPoint& point : points)
      if (point.id == before.id) after = &point;
    delta.removes += after == nullptr;
    delta.rawRemoves += before.age == 0 && (after == nullptr || after->age > 0);
  }
}

void ContactPatchUpdate::countFor(ContactPatch& patch, const PatchChurn& delta) {
  for (PatchChurn* sum : {&patch.churn, &churn_}) {
    sum->adds += delta.adds;
    sum->removes += delta.removes;
    sum->moved += delta.moved;
    sum->rawAdds += delta.rawAdds;
    sum->rawRemoves += delta.rawRemoves;
  }
}

}  // namespace tangere::collision
