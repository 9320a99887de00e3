// SPDX-License-Identifier: Apache-2.0
#include <tangere/broad_phase.hpp>

#include "collision/broad_phase_common.hpp"

namespace tangere {

using namespace collision;

struct BruteForceBroadPhase::Impl {
  BoxList list;
  std::vector<std::uint64_t> keys, keyScratch;
  std::vector<ObjectPair> pairs;
};

std::span<const ObjectPair> BruteForceBroadPhase::computePotentialPairs() {
  Impl& impl = *impl_;
  const std::vector<Aabb>& boxes = impl.list.boxes();
  const std::vector<ObjectId>& ids = impl.list.ids();
  impl.keys.clear();
  for (std::size_t i = 0; i < boxes.size(); ++i)
    for (std::size_t j = i + 1; j < boxes.size(); ++j)
      if (boxes[i].overlaps(boxes[j])) impl.keys.push_back(pairKey(ids[i], ids[j]));
  sortPairKeys(impl.keys, impl.keyScratch);
  impl.pairs.resize(impl.keys.size());
  for (std::size_t i = 0; i < impl.keys.size(); ++i) impl.pairs[i] = pairOfKey(impl.keys[i]);
  return impl.pairs;
}

BruteForceBroadPhase::BruteForceBroadPhase() : impl_(std::make_unique<Impl>()) {}
BruteForceBroadPhase::~BruteForceBroadPhase() = default;
void BruteForceBroadPhase::add(ObjectId id, const Aabb& box) { impl_->list.add(id, box); }
void BruteForceBroadPhase::remove(ObjectId id) { impl_->list.remove(id); }
void BruteForceBroadPhase::update(ObjectId id, const Aabb& box) { impl_->list.update(id, box); }
void BruteForceBroadPhase::clear() { impl_->list.clear(); }
int BruteForceBroadPhase::size() const { return impl_->list.size(); }

void BruteForceBroadPhase::queryOverlap(const Aabb& box, std::vector<ObjectId>& out) const {
  impl_->list.queryOverlap(box, out);
}

void BruteForceBroadPhase::queryRay(const Vec3& origin, const Vec3& direction, Real maxT,
                                    const std::function<Real(ObjectId)>& visit) const {
  impl_->list.queryRay(origin, direction, maxT, visit);
}

void BruteForceBroadPhase::queryNearest(const Aabb& box, Real maxDistance,
                                        const std::function<Real(ObjectId)>& visit) const {
  impl_->list.queryNearest(box, maxDistance, visit);
}

}  // namespace tangere
