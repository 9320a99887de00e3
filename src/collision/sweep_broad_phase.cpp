// SPDX-License-Identifier: Apache-2.0
//
// Sort and sweep: boxes in order of their lower sides along one axis, each compared with those that
// begin before it ends. Candidates come from float boxes rounded outward, four at a time, and are
// confirmed by the exact ones. Queries look at every box: for many of them the tree is the better
// choice.
#include <tangere/broad_phase.hpp>

#include "collision/broad_phase_common.hpp"
#include "collision/bvh_broad_phase_tree.hpp"

#include <bit>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace tangere {

using namespace collision;

namespace {

constexpr std::size_t kLanes = 4;

// Float sides in sweep order, axis by axis; the first axis is the one swept along.
struct SweepSides {
  std::vector<float> lower[3];
  std::vector<float> upper[3];

  void resize(std::size_t count) {
    for (int k = 0; k < 3; ++k) {
      // Beyond the end nothing begins: one block of padding ends every sweep.
      lower[k].assign(count + kLanes, std::numeric_limits<float>::infinity());
      upper[k].assign(count + kLanes, -std::numeric_limits<float>::infinity());
    }
  }
};

// Bit k is set when box j + k overlaps box i; `done` when the last of them begins after i ends.
unsigned overlapBlock(const SweepSides& sides, std::size_t i, std::size_t j, bool* done) {
#ifdef __SSE2__
  const __m128 begins =
      _mm_cmple_ps(_mm_loadu_ps(&sides.lower[0][j]), _mm_set1_ps(sides.upper[0][i]));
  __m128 overlaps = begins;
  for (int k = 1; k < 3; ++k) {
    overlaps = _mm_and_ps(
        overlaps, _mm_cmple_ps(_mm_loadu_ps(&sides.lower[k][j]), _mm_set1_ps(sides.upper[k][i])));
    overlaps = _mm_and_ps(
        overlaps, _mm_cmple_ps(_mm_set1_ps(sides.lower[k][i]), _mm_loadu_ps(&sides.upper[k][j])));
  }
  *done = (_mm_movemask_ps(begins) & 8) == 0;
  return static_cast<unsigned>(_mm_movemask_ps(overlaps));
#else
  unsigned mask = 0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    bool overlaps = sides.lower[0][j + lane] <= sides.upper[0][i];
    for (int k = 1; k < 3; ++k)
      overlaps &= (sides.lower[k][j + lane] <= sides.upper[k][i]) &
                  (sides.lower[k][i] <= sides.upper[k][j + lane]);
    mask |= static_cast<unsigned>(overlaps) << lane;
  }
  *done = !(sides.lower[0][j + kLanes - 1] <= sides.upper[0][i]);
  return mask;
#endif
}

// The bits of a float in an order that is that of the numbers.
std::uint32_t orderedBits(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

// The axis on which the centers of the bounded boxes vary most.
int axisOfGreatestSpread(const std::vector<Aabb>& boxes) {
  Vec3 sum{}, squares{};
  Real count = 0;
  for (const Aabb& box : boxes) {
    if (!fitsTree(box)) continue;
    const Vec3 center = box.center();
    sum += center;
    squares += {center.x * center.x, center.y * center.y, center.z * center.z};
    count += 1;
  }
  int axis = 0;
  Real widest = -1;
  for (int k = 0; k < 3; ++k) {
    const Real spread = count * squares[k] - sum[k] * sum[k];
    if (spread > widest) {
      widest = spread;
      axis = k;
    }
  }
  return axis;
}

}  // namespace

struct SweepBroadPhase::Impl {
  BoxList list;
  bool isStale = true;
  SweepSides sides;
  std::vector<std::uint64_t> order, keys, keyScratch;
  std::vector<ObjectPair> pairs;

  void sortAlong(int axis);
  void sweep();
};

std::span<const ObjectPair> SweepBroadPhase::computePotentialPairs() {
  Impl& impl = *impl_;
  if (!impl.isStale) return impl.pairs;
  impl.sortAlong(axisOfGreatestSpread(impl.list.boxes()));
  impl.sweep();
  sortPairKeys(impl.keys, impl.keyScratch);
  impl.pairs.resize(impl.keys.size());
  for (std::size_t i = 0; i < impl.keys.size(); ++i) impl.pairs[i] = pairOfKey(impl.keys[i]);
  impl.isStale = false;
  return impl.pairs;
}

// Fills order (lower side, slot) and the sides in that order.
void SweepBroadPhase::Impl::sortAlong(int axis) {
  const std::vector<Aabb>& boxes = list.boxes();
  order.resize(boxes.size());
  for (std::size_t slot = 0; slot < boxes.size(); ++slot)
    order[slot] =
        (std::uint64_t{orderedBits(outwardQueryBox(boxes[slot]).lower[axis])} << 32) | slot;
  sortPairKeys(order, keyScratch);

  sides.resize(boxes.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const FloatBox box = outwardQueryBox(boxes[order[i] & 0xffffffffu]);
    for (int k = 0; k < 3; ++k) {
      const int from = k == 0 ? axis : (k == axis ? 0 : k);
      sides.lower[k][i] = box.lower[from];
      sides.upper[k][i] = box.upper[from];
    }
  }
}

void SweepBroadPhase::Impl::sweep() {
  const std::vector<Aabb>& boxes = list.boxes();
  const std::vector<ObjectId>& ids = list.ids();
  keys.clear();
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t slot = order[i] & 0xffffffffu;
    bool done = false;
    for (std::size_t j = i + 1; !done && j < order.size(); j += kLanes) {
      unsigned mask = overlapBlock(sides, i, j, &done);
      for (; mask != 0; mask &= mask - 1) {
        // An unbounded box reaches into the padding too.
        const std::size_t other = j + static_cast<std::size_t>(std::countr_zero(mask));
        if (other >= order.size()) break;
        const std::size_t otherSlot = order[other] & 0xffffffffu;
        if (boxes[slot].overlaps(boxes[otherSlot]))
          keys.push_back(pairKey(ids[slot], ids[otherSlot]));
      }
    }
  }
}

SweepBroadPhase::SweepBroadPhase() : impl_(std::make_unique<Impl>()) {}
SweepBroadPhase::~SweepBroadPhase() = default;
int SweepBroadPhase::size() const { return impl_->list.size(); }

void SweepBroadPhase::add(ObjectId id, const Aabb& box) {
  impl_->list.add(id, box);
  impl_->isStale = true;
}

void SweepBroadPhase::remove(ObjectId id) {
  impl_->list.remove(id);
  impl_->isStale = true;
}

void SweepBroadPhase::update(ObjectId id, const Aabb& box) {
  impl_->list.update(id, box);
  impl_->isStale = true;
}

void SweepBroadPhase::clear() {
  impl_->list.clear();
  impl_->isStale = true;
}

void SweepBroadPhase::queryOverlap(const Aabb& box, std::vector<ObjectId>& out) const {
  impl_->list.queryOverlap(box, out);
}

void SweepBroadPhase::queryRay(const Vec3& origin, const Vec3& direction, Real maxT,
                               const std::function<Real(ObjectId)>& visit) const {
  impl_->list.queryRay(origin, direction, maxT, visit);
}

void SweepBroadPhase::queryNearest(const Aabb& box, Real maxDistance,
                                   const std::function<Real(ObjectId)>& visit) const {
  impl_->list.queryNearest(box, maxDistance, visit);
}

}  // namespace tangere
