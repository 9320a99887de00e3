// SPDX-License-Identifier: Apache-2.0
//
// Builds the nodes of a Bvh from the top down: binned surface area heuristic on the longest axis.
//
// What is sorted is a box in 16-bit cells with the primitive's number, 16 bytes in all: one load,
// one minimum and one store merge it into a bin. Cells only decide who is next to whom; the boxes
// of the nodes are taken from the floats of the primitives, on the way back up.
#pragma once

#include "geometry/bvh.hpp"

#include <algorithm>
#include <cfloat>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tangere::geometry {

/// A box in unit coordinates; lane 3 means nothing and is finite.
struct BvhBox {
  Float4 lower = splat(FLT_MAX);
  Float4 upper = splat(-FLT_MAX);

  void merge(const BvhBox& o) {
    lower = min4(lower, o.lower);
    upper = max4(upper, o.upper);
  }
};

/// Lanes 0..2: lower; 4..6: minus upper, so that one minimum merges both; 3 and 7: the halves of
/// the primitive's number in an item, nothing in a box.
using CellLanes = std::int16_t __attribute__((vector_size(16)));
struct alignas(16) CellBox {
  std::int16_t lane[8];

  [[nodiscard]] static CellBox empty() {
    constexpr std::int16_t kNone = INT16_MAX;
    return {{kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone}};
  }
  void merge(const CellBox& o) {
    CellLanes a, b;
    std::memcpy(&a, lane, sizeof a);
    std::memcpy(&b, o.lane, sizeof b);
#if defined(__SSE2__)
    a = (CellLanes)_mm_min_epi16((__m128i)a, (__m128i)b);
#else
    for (int i = 0; i < 8; ++i) a[i] = a[i] < b[i] ? a[i] : b[i];
#endif
    std::memcpy(lane, &a, sizeof a);
  }
  [[nodiscard]] int extent(int axis) const { return -lane[4 + axis] - lane[axis]; }
  [[nodiscard]] int twiceCenter(int axis) const { return lane[axis] - lane[4 + axis]; }
  [[nodiscard]] int longestAxis() const {
    int axis = 0;
    if (extent(1) > extent(axis)) axis = 1;
    if (extent(2) > extent(axis)) axis = 2;
    return axis;
  }
  [[nodiscard]] float halfArea() const {
#if defined(__SSE2__)
    __m128i all;
    std::memcpy(&all, lane, sizeof all);
    const __m128i lower = _mm_srai_epi32(_mm_unpacklo_epi16(all, all), 16);
    const __m128i minusUpper = _mm_srai_epi32(_mm_unpackhi_epi16(all, all), 16);
    const __m128 minusExtent = _mm_cvtepi32_ps(_mm_add_epi32(lower, minusUpper));
    const Float4 sides =
        (Float4)_mm_mul_ps(minusExtent, _mm_shuffle_ps(minusExtent, minusExtent, 0b00'00'10'01));
    return sides[0] + sides[1] + sides[2];
#else
    const float x = float(extent(0)), y = float(extent(1)), z = float(extent(2));
    return x * y + y * z + z * x;
#endif
  }
};
/// What is sorted: a primitive and its box.
struct alignas(16) CellItem : CellBox {
  CellItem() = default;  // leaves the lanes as they are
  /// `lower` and `minusUpper` in cells.
  CellItem(Float4 lower, Float4 minusUpper, int index) {
    const Int4 a = __builtin_convertvector(lower, Int4);
    const Int4 b = __builtin_convertvector(minusUpper, Int4);
#if defined(__SSE2__)
    const __m128i packed = _mm_packs_epi32((__m128i)a, (__m128i)b);
    std::memcpy(lane, &packed, sizeof lane);
#else
    for (int i = 0; i < 4; ++i) {
      lane[i] = static_cast<std::int16_t>(a[i]);
      lane[4 + i] = static_cast<std::int16_t>(b[i]);
    }
#endif
    const auto bits = static_cast<std::uint32_t>(index);
    lane[3] = static_cast<std::int16_t>(bits & 0xffff);
    lane[7] = static_cast<std::int16_t>(bits >> 16);
  }
  [[nodiscard]] int index() const {
    const auto low = static_cast<std::uint16_t>(lane[3]);
    const auto high = static_cast<std::uint16_t>(lane[7]);
    return static_cast<int>(low | (static_cast<std::uint32_t>(high) << 16));
  }
};
static_assert(sizeof(CellItem) == 16);

/// Source has
///   BvhBox box(int primitive) const   rounded outward, within the unit cube but for the rounding
///   void append(int primitive)        the primitive of the next slot; slots come in order
template <class Source>
class BvhBuilder {
 public:
  /// `room` has an item for each primitive.
  BvhBuilder(Source& source, std::span<CellItem> room, std::vector<BvhNode>& nodes)
      : source_(source), items_(room), nodes_(nodes) {}

  void run() {
    const Frame unit{{0, 0, 0, 0}, kCells};
    Range all{0, static_cast<int>(items_.size()), CellBox::empty()};
    for (int i = 0; i < all.end; ++i) {
      items_[i] = itemOf(source_.box(i), unit, i);
      all.box.merge(items_[i]);
    }
    nodes_.clear();
    nodes_.reserve(items_.size() / 6 + 4);
    makeNode(all, unit, 0);
  }

 private:
  // Ranges up to this size are split in the middle of the order of their centres, which costs less
  // than bins and fills the leaves.
  static constexpr int kSmall = 16;
  static constexpr int kBins = 16;
  static constexpr float kCells = 32000;  // from 0 to 1, short of what 16 bits hold
  // Ranges of fewer cells across are measured anew, in cells of their own.
  static constexpr int kCoarse = 128;

  /// Cell coordinates are (x - origin) * cells.
  struct Frame {
    Float4 origin;
    float cells;
  };
  struct Range {
    int begin = 0;
    int end = 0;
    CellBox box = CellBox::empty();
    [[nodiscard]] int size() const { return end - begin; }
  };
  struct Made {
    int node;
    BvhBox box;
  };

  static CellItem itemOf(const BvhBox& box, const Frame& frame, int index) {
    return CellItem((box.lower - frame.origin) * frame.cells,
                    (frame.origin - box.upper) * frame.cells, index);
  }

  Made makeNode(const Range& range, const Frame& outerFrame, int depth) {
    Range parts[4];
    parts[0] = range;
    const Frame frame = refine(parts[0], outerFrame);
    const int count = splitInFour(parts, depth);
    // Slots are handed out in order.
    for (int i = 1; i < count; ++i)
      for (int k = i; k > 0 && parts[k].begin < parts[k - 1].begin; --k)
        std::swap(parts[k], parts[k - 1]);

    const int index = static_cast<int>(nodes_.size());
    nodes_.emplace_back();
    BvhNode node;
    BvhBox all;
    for (int i = 0; i < 4; ++i) {
      BvhBox box;
      node.child[i] = node.count[i] = -1;
      if (i < count && parts[i].size() > Bvh::kLeafSize) {
        const Made made = makeNode(parts[i], frame, depth + 1);
        node.child[i] = made.node;
        node.count[i] = 0;
        box = made.box;
      } else if (i < count && parts[i].size() > 0) {
        node.child[i] = parts[i].begin;
        node.count[i] = parts[i].size();
        for (int s = parts[i].begin; s < parts[i].end; ++s) {
          const int primitive = items_[s].index();
          box.merge(source_.box(primitive));
          source_.append(primitive);
        }
      }
      for (int k = 0; k < 3; ++k) {
        node.lower[k][i] = box.lower[k];
        node.upper[k][i] = box.upper[k];
      }
      all.merge(box);
    }
    nodes_[index] = node;
    return {index, all};
  }

  /// The frame for a range: its own where the cells of the outer one no longer tell its primitives
  /// apart. Then its items and its box are measured anew.
  Frame refine(Range& range, const Frame& outer) {
    if (range.box.extent(range.box.longestAxis()) >= kCoarse || range.size() <= kSmall)
      return outer;
    BvhBox bounds;
    for (int i = range.begin; i < range.end; ++i) bounds.merge(source_.box(items_[i].index()));
    const Float4 half = (bounds.upper - bounds.lower) * 0.5f;
    const float longest = std::max(half[0], std::max(half[1], half[2]));
    if (!(longest > 0) || kCells / longest < 2 * outer.cells) return outer;
    // Halves are rounded: the cells leave room for that.
    const Frame frame{bounds.lower + half, kCells / longest};
    range.box = CellBox::empty();
    for (int i = range.begin; i < range.end; ++i) {
      const int primitive = items_[i].index();
      items_[i] = itemOf(source_.box(primitive), frame, primitive);
      range.box.merge(items_[i]);
    }
    return frame;
  }

  /// parts[0] becomes up to four parts; returns their number.
  int splitInFour(Range* parts, int depth) {
    int count = 1;
    while (count < 4) {
      int widest = -1;
      float area = -1;
      for (int i = 0; i < count; ++i) {
        if (parts[i].size() <= Bvh::kLeafSize) continue;
        const float a = parts[i].box.halfArea();
        if (a > area) {
          area = a;
          widest = i;
        }
      }
      if (widest < 0) break;
      Range left, right;
      split(parts[widest], depth, left, right);
      parts[widest] = left;
      parts[count++] = right;
    }
    return count;
  }

  void split(const Range& range, int depth, Range& left, Range& right) {
    const int axis = range.box.longestAxis();
    // Deep in a lopsided tree only halving keeps the depth bounded.
    const bool halve = depth > Bvh::kMaxDepth - 32;
    if (range.size() <= kSmall || halve || !splitByBins(range, axis, left, right))
      splitInMiddle(range, axis, left, right);
  }

  /// Which of the bins the centre of a box is in.
  struct Binning {
    int axis, begin, factor;

    Binning(const CellBox& box, int axis_)
        : axis(axis_),
          begin(2 * box.lane[axis_]),
          factor((kBins << 20) / (2 * box.extent(axis_) + 1)) {}
    [[nodiscard]] int binOf(const CellItem& item) const {
      return ((item.twiceCenter(axis) - begin) * factor) >> 20;
    }
  };

  bool splitByBins(const Range& range, int axis, Range& left, Range& right) {
    if (range.box.extent(axis) <= 0) return false;
    const Binning binning(range.box, axis);
    // Neighbours often share a bin: with two sets the one need not wait for the other.
    CellBox box[kBins], otherBox[kBins];
    std::fill_n(box, kBins, CellBox::empty());
    std::fill_n(otherBox, kBins, CellBox::empty());
    int number[kBins] = {}, otherNumber[kBins] = {};
    int i = range.begin;
    for (; i + 1 < range.end; i += 2) {
      const int b = binning.binOf(items_[i]), c = binning.binOf(items_[i + 1]);
      box[b].merge(items_[i]);
      otherBox[c].merge(items_[i + 1]);
      ++number[b];
      ++otherNumber[c];
    }
    if (i < range.end) {
      const int b = binning.binOf(items_[i]);
      box[b].merge(items_[i]);
      ++number[b];
    }
    CellBox fromRight[kBins];
    CellBox sum = CellBox::empty();
    for (int b = kBins - 1; b >= 0; --b) {
      box[b].merge(otherBox[b]);
      number[b] += otherNumber[b];
      sum.merge(box[b]);
      fromRight[b] = sum;
    }
    sum = CellBox::empty();
    int below = 0, bestBin = -1, bestBelow = 0;
    float bestCost = FLT_MAX;
    CellBox bestLeft = sum;
    for (int b = 0; b + 1 < kBins; ++b) {
      sum.merge(box[b]);
      below += number[b];
      const int above = range.size() - below;
      if (below == 0 || above == 0) continue;
      const float cost = sum.halfArea() * float(below) + fromRight[b + 1].halfArea() * float(above);
      if (cost < bestCost) {
        bestCost = cost;
        bestBin = b;
        bestBelow = below;
        bestLeft = sum;
      }
    }
    if (bestBin < 0) return false;
    partition(range, [&](const CellItem& item) { return binning.binOf(item) <= bestBin; });
    left = {range.begin, range.begin + bestBelow, bestLeft};
    right = {range.begin + bestBelow, range.end, fromRight[bestBin + 1]};
    return true;
  }

  void splitInMiddle(const Range& range, int axis, Range& left, Range& right) {
    const int n = range.size();
    // Whole leaves on the left.
    int half = n / 2;
    if (n <= kSmall) half = (half + Bvh::kLeafSize - 1) / Bvh::kLeafSize * Bvh::kLeafSize;
    if (half >= n) half = n / 2;
    if (n <= kSmall) sortByCenter(range, axis);
    left = {range.begin, range.begin + half, CellBox::empty()};
    right = {range.begin + half, range.end, CellBox::empty()};
    for (int i = left.begin; i < left.end; ++i) left.box.merge(items_[i]);
    for (int i = right.begin; i < right.end; ++i) right.box.merge(items_[i]);
  }

  /// Moves those with isLeft(item) to the front. The outcome of isLeft cannot be predicted, so
  /// nothing branches on it: every item changes places with the first that does not go left.
  template <class IsLeft>
  void partition(const Range& range, const IsLeft& isLeft) {
    CellItem* left = &items_[range.begin];
    for (int i = range.begin; i < range.end; ++i) {
      const std::ptrdiff_t goesLeft = isLeft(items_[i]) ? 1 : 0;
      const CellItem item = items_[i];
      items_[i] = *left;
      *left = item;
      left += goesLeft;
    }
  }

  /// A small range in the order of the centres along an axis; ties keep their order. Counts how
  /// many come before each: no branch depends on the data.
  void sortByCenter(const Range& range, int axis) {
    const int n = range.size();
    CellItem* const items = &items_[range.begin];
    std::int32_t keys[kSmall];
    std::fill_n(keys, kSmall, INT32_MAX);
    for (int i = 0; i < n; ++i) keys[i] = items[i].twiceCenter(axis) * kSmall + i;  // no two equal
    Int4 key[kSmall / 4], rank[kSmall / 4] = {};
    std::memcpy(key, keys, sizeof key);
    for (int i = 0; i < n; ++i) {
      const Int4 k{keys[i], keys[i], keys[i], keys[i]};
      for (int q = 0; q < kSmall / 4; ++q) rank[q] -= k < key[q];  // true is -1
    }
    std::int32_t ranks[kSmall];
    std::memcpy(ranks, rank, sizeof ranks);
    CellItem sorted[kSmall];
    for (int i = 0; i < n; ++i) sorted[ranks[i]] = items[i];
    std::copy_n(sorted, n, items);
  }

  Source& source_;
  std::span<CellItem> items_;
  std::vector<BvhNode>& nodes_;
};

}  // namespace tangere::geometry
