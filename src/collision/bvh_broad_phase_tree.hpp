// SPDX-License-Identifier: Apache-2.0
//
// Tree of boxes with eight children per node and all leaves at one depth (an R-tree). Boxes are
// kept in float, rounded outward: half the memory of the exact ones, and four are compared at once.
// Items are named by the index of their exact box (their slot). The tree finds candidates, and says
// of each whether it overlaps for certain or has to be looked up in the exact boxes.
#pragma once

#include <tangere/types.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace tangere::collision {

struct FloatBox {
  float lower[3];
  float upper[3];
};

/// Boxes that reach farther out are not for the tree: float could not hold their sides.
inline constexpr Real kTreeReach = 1e30;

/// Whether the tree can hold a box.
[[nodiscard]] inline bool fitsTree(const Aabb& box) {
  return box.lower.x >= -kTreeReach && box.lower.y >= -kTreeReach && box.lower.z >= -kTreeReach &&
         box.upper.x <= kTreeReach && box.upper.y <= kTreeReach && box.upper.z <= kTreeReach;
}

// Conversion to float errs by at most 2^-24 of the value, as does the correction below: 1.5 * 2^-23
// covers both. The constant covers results below the normal range.
inline constexpr float kOutwardRelative = 1.8e-7f;
inline constexpr float kOutwardAbsolute = 1e-37f;
/// Twice what separates a float side from the exact one, relative and absolute.
inline constexpr float kSureRelative = 1e-6f;
inline constexpr float kSureAbsolute = 1e-36f;

[[nodiscard]] inline float floatBelow(Real x) {
  const float f = static_cast<float>(x);
  return f - (std::fabs(f) * kOutwardRelative + kOutwardAbsolute);
}
[[nodiscard]] inline float floatAbove(Real x) {
  const float f = static_cast<float>(x);
  return f + (std::fabs(f) * kOutwardRelative + kOutwardAbsolute);
}

/// The box of an item, which must fit the tree.
[[nodiscard]] inline FloatBox outwardBox(const Aabb& box) {
  return {{floatBelow(box.lower.x), floatBelow(box.lower.y), floatBelow(box.lower.z)},
          {floatAbove(box.upper.x), floatAbove(box.upper.y), floatAbove(box.upper.z)}};
}

/// Any box at all, for a query: sides out of float's range become the nearest safe ones.
[[nodiscard]] FloatBox outwardQueryBox(const Aabb& box);

/// A box so much smaller that what overlaps it in the tree overlaps the exact box for certain.
[[nodiscard]] inline FloatBox sureBox(const FloatBox& box) {
  FloatBox sure;
  for (int k = 0; k < 3; ++k) {
    sure.lower[k] = box.lower[k] + (std::fabs(box.lower[k]) * kSureRelative + kSureAbsolute);
    sure.upper[k] = box.upper[k] - (std::fabs(box.upper[k]) * kSureRelative + kSureAbsolute);
  }
  return sure;
}

inline constexpr int kTreeWidth = 8;
/// A build of 2^31 items has 11 levels; splits, which leave three children or more, add a few
/// before the next build.
inline constexpr int kMaxHeight = 24;

struct alignas(64) TreeNode {
  float lower[3][kTreeWidth];
  float upper[3][kTreeWidth];
  std::int32_t child[kTreeWidth];  ///< nodes, or slots in a leaf
  FloatBox bounds;                 ///< around all lanes
  std::int32_t parent;             ///< -1: the root
  std::uint8_t count;              ///< lanes in use: the first ones
  std::uint8_t lane;               ///< of this node in its parent
  std::uint8_t level;              ///< 0: a leaf

  [[nodiscard]] bool isLeaf() const { return level == 0; }
  [[nodiscard]] unsigned used() const { return (1u << count) - 1; }
  [[nodiscard]] FloatBox box(int i) const {
    return {{lower[0][i], lower[1][i], lower[2][i]}, {upper[0][i], upper[1][i], upper[2][i]}};
  }
  void setBox(int i, const FloatBox& box) {
    for (int k = 0; k < 3; ++k) {
      lower[k][i] = box.lower[k];
      upper[k][i] = box.upper[k];
    }
  }
};
static_assert(sizeof(TreeNode) == 256);

/// Bit i is set when lane i overlaps `box`. Comparisons only: the same bits with and without SSE.
[[nodiscard]] inline unsigned overlapMask(const TreeNode& node, const FloatBox& box) {
#ifdef __SSE2__
  __m128 low = _mm_castsi128_ps(_mm_set1_epi32(-1));
  __m128 high = low;
  for (int k = 0; k < 3; ++k) {
    const __m128 lower = _mm_set1_ps(box.lower[k]);
    const __m128 upper = _mm_set1_ps(box.upper[k]);
    low = _mm_and_ps(low, _mm_and_ps(_mm_cmple_ps(_mm_load_ps(&node.lower[k][0]), upper),
                                     _mm_cmple_ps(lower, _mm_load_ps(&node.upper[k][0]))));
    high = _mm_and_ps(high, _mm_and_ps(_mm_cmple_ps(_mm_load_ps(&node.lower[k][4]), upper),
                                       _mm_cmple_ps(lower, _mm_load_ps(&node.upper[k][4]))));
  }
  const int mask = _mm_movemask_ps(low) | (_mm_movemask_ps(high) << 4);
  return static_cast<unsigned>(mask) & node.used();
#else
  unsigned mask = 0;
  for (int i = 0; i < kTreeWidth; ++i) {
    bool overlaps = true;
    for (int k = 0; k < 3; ++k)
      overlaps &= (node.lower[k][i] <= box.upper[k]) & (box.lower[k] <= node.upper[k][i]);
    mask |= static_cast<unsigned>(overlaps) << i;
  }
  return mask & node.used();
#endif
}

class BoxTree {
 public:
  static constexpr int kNone = -1;

  /// Forgets all items; room for slots up to `numSlots`.
  void clear();
  void reserveSlots(int numSlots);

  /// One balanced build of the given slots, which replaces whatever was there.
  void build(std::span<const int> slots, const std::vector<Aabb>& boxes);
  /// Fits every box again after most of them moved. Returns the sum of the surfaces of the leaves
  /// over that of the last build: how much worse than new the tree has become.
  [[nodiscard]] float refit(const std::vector<Aabb>& boxes);

  void insert(int slot, const FloatBox& box);
  void remove(int slot);
  /// Changes one box; the item is placed anew when it strayed too far from its leaf.
  void move(int slot, const FloatBox& box);

  [[nodiscard]] bool contains(int slot) const { return place_[slot] != kNone; }
  [[nodiscard]] int size() const { return size_; }
  /// Insertions since the last build.
  [[nodiscard]] int numInsertions() const { return num_insertions_; }

  /// Calls visit(slot, sure) for the items whose float box overlaps `box`; sure: so does the exact
  /// one.
  template <class Visit>
  void query(const FloatBox& box, const Visit& visit) const;
  /// Calls visit(slot1, slot2, sure) once for each two items whose float boxes overlap.
  template <class Visit>
  void forEachPair(const Visit& visit) const;
  /// Walks down wherever test(node, lanes) sets a bit and calls visit(slot) for the items.
  template <class Test, class Visit>
  void traverse(const Test& test, const Visit& visit) const;

  [[nodiscard]] int root() const { return root_; }
  [[nodiscard]] const TreeNode& node(int index) const { return nodes_[index]; }

 private:
  struct BuildItem {
    float center[3];
    float extent;  // the longest side
    std::int32_t slot;
  };

  [[nodiscard]] int newNode(int level);
  int buildSubtree(std::span<BuildItem> items, int level, const std::vector<Aabb>& boxes);
  void buildChildren(int node, std::span<BuildItem> items, int numParts, int level,
                     const std::vector<Aabb>& boxes);
  float refitSubtree(int node, const std::vector<Aabb>& boxes);
  [[nodiscard]] int separateBySize(std::span<BuildItem> items, std::size_t* partEnd) const;

  void addChild(int node, int child, const FloatBox& box);
  void insertAtLevel(int child, const FloatBox& box, int level);
  int splitNode(int node, int child, const FloatBox& box);
  void adopt(int node, int lane);
  void removeLane(int node, int lane);
  void fitUpward(int node);
  void fitBounds(TreeNode& node) const;

  std::vector<TreeNode> nodes_;
  std::vector<float> reference_area_;  // per node: surface of a leaf when an item was last placed
  std::vector<int> free_nodes_;
  std::vector<std::int32_t> place_;  // per slot: node * kTreeWidth + lane
  std::vector<BuildItem> build_items_;
  int root_ = kNone;
  int size_ = 0;
  int num_insertions_ = 0;
  float built_area_ = 0;
};

template <class Test, class Visit>
void BoxTree::traverse(const Test& test, const Visit& visit) const {
  if (root_ == kNone) return;
  constexpr int kMaxStack = kMaxHeight * kTreeWidth;
  int stack[kMaxStack];
  int size = 0;
  stack[size++] = root_;
  while (size > 0) {
    const TreeNode& node = nodes_[stack[--size]];
    for (unsigned mask = test(node); mask != 0; mask &= mask - 1) {
      const int lane = std::countr_zero(mask);
      if (node.isLeaf())
        visit(node.child[lane]);
      else
        stack[size++] = node.child[lane];
    }
  }
}

template <class Visit>
void BoxTree::query(const FloatBox& box, const Visit& visit) const {
  if (root_ == kNone) return;
  const FloatBox sure = sureBox(box);
  constexpr int kMaxStack = kMaxHeight * kTreeWidth;
  int stack[kMaxStack];
  int size = 0;
  stack[size++] = root_;
  while (size > 0) {
    const TreeNode& node = nodes_[stack[--size]];
    unsigned mask = overlapMask(node, box);
    if (node.isLeaf()) {
      if (mask == 0) continue;
      const unsigned sureMask = overlapMask(node, sure);
      for (; mask != 0; mask &= mask - 1) {
        const int lane = std::countr_zero(mask);
        visit(node.child[lane], ((sureMask >> lane) & 1u) != 0);
      }
    } else {
      for (; mask != 0; mask &= mask - 1) {
        const int child = node.child[std::countr_zero(mask)];
        __builtin_prefetch(&nodes_[child]);
        __builtin_prefetch(&nodes_[child].upper[1][0]);
        stack[size++] = child;
      }
    }
  }
}

template <class Visit>
void BoxTree::forEachPair(const Visit& visit) const {
  if (root_ == kNone) return;
  struct NodePair {
    std::int32_t a, b;  // equal: the items of one node among themselves
  };
  // A pair of nodes leaves at most 64 pairs one level below, and one of these is taken next.
  constexpr int kMaxStack = kMaxHeight * kTreeWidth * kTreeWidth;
  NodePair stack[kMaxStack];
  int size = 0;
  stack[size++] = {root_, root_};
  while (size > 0) {
    const NodePair top = stack[--size];
    const TreeNode& a = nodes_[top.a];
    const TreeNode& b = nodes_[top.b];
    const bool same = top.a == top.b;
    // Lanes of a that reach b at all; often two or three of eight.
    unsigned lanes = same ? a.used() : overlapMask(a, b.bounds);
    for (; lanes != 0; lanes &= lanes - 1) {
      const int i = std::countr_zero(lanes);
      const FloatBox box = a.box(i);
      unsigned mask = overlapMask(b, box);
      if (a.isLeaf()) {
        if (same) mask &= ~((2u << i) - 1);  // lanes after i
        if (mask == 0) continue;
        const unsigned sure = overlapMask(b, sureBox(box));
        for (; mask != 0; mask &= mask - 1) {
          const int j = std::countr_zero(mask);
          visit(a.child[i], b.child[j], ((sure >> j) & 1u) != 0);
        }
      } else {
        if (same) mask &= ~((1u << i) - 1);  // lanes from i on: also i with itself
        for (; mask != 0; mask &= mask - 1)
          stack[size++] = {a.child[i], b.child[std::countr_zero(mask)]};
      }
    }
  }
}

}  // namespace tangere::collision
