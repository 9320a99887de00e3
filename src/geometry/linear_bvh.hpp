// SPDX-License-Identifier: Apache-2.0
//
// Binary tree over boxes that move: sorted along the Morton curve, refitted while the motion is
// small, rebuilt when the boxes have grown too far into each other.
//
// Nodes lie in depth-first order: the first child follows its parent, and `skip` leads past a
// subtree. So a query needs no stack, and bounds are made by one pass from the end. Where a node
// splits depends on the sorted codes between its ends alone, so nodes can be made independently.
// Results are sorted by index: they depend on the boxes, never on the shape of the tree.
#pragma once

#include <tangere/types.hpp>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tangere::geometry {

/// One cache line.
struct LinearBvhNode {
  Aabb box;
  float valueLower = 0, valueUpper = 0;  ///< rounded outward
  std::int32_t skip = 0;                 ///< the node after this one's subtree
  std::int32_t primitive = -1;           ///< of a leaf; -1: an inner node
};
static_assert(sizeof(LinearBvhNode) == 64);

/// A closed interval of some quantity that a primitive carries, such as its pressure: primitives
/// with disjoint intervals make no pair.
struct ValueRange {
  Real lower = 0, upper = 0;
};

struct IndexPair {
  std::int32_t first = 0, second = 0;
  friend bool operator==(const IndexPair&, const IndexPair&) = default;
};

struct LinearBvhOptions {
  /// update() rebuilds once the summed surface of the nodes is larger by this factor than after
  /// the last build.
  Real rebuildGrowth = 1.5;
};

class LinearBvh {
 public:
  /// No path from the root is longer: 63 bits of code, then halves of the equal ones.
  static constexpr int kMaxDepth = 96;

  LinearBvh() = default;
  explicit LinearBvh(const LinearBvhOptions& options) : options_(options) {}

  /// New topology and bounds. `values`: one per box, or empty when primitives carry none.
  /// Allocates only when there are more boxes than ever before.
  void build(std::span<const Aabb> boxes, std::span<const ValueRange> values = {});
  /// New bounds on the old topology; the number of boxes and their values stay.
  void refit(std::span<const Aabb> boxes);
  /// refit(), then build() when the tree has become bad or the number of boxes has changed. The
  /// values are kept unless the number changed (none then). True when it was rebuilt.
  bool update(std::span<const Aabb> boxes);

  [[nodiscard]] int size() const { return static_cast<int>(order_.size()); }
  [[nodiscard]] bool empty() const { return order_.empty(); }
  [[nodiscard]] std::span<const LinearBvhNode> nodes() const { return nodes_; }
  /// Primitives along the curve, and their codes.
  [[nodiscard]] std::span<const std::int32_t> order() const { return order_; }
  [[nodiscard]] std::span<const std::uint64_t> codes() const { return codes_; }
  /// Sum over the inner nodes of half the surface of their boxes [m^2].
  [[nodiscard]] Real quality() const { return quality_; }
  [[nodiscard]] Aabb bounds() const { return nodes_.empty() ? Aabb{} : nodes_[0].box; }

  /// Primitives whose boxes overlap `box`, ascending.
  void query(const Aabb& box, std::vector<std::int32_t>* out) const;
  /// Primitives, ascending, for which accept(node) is true of all nodes from the root to the leaf.
  template <class Accept>
  void queryNodes(const Accept& accept, std::vector<std::int32_t>* out) const {
    out->clear();
    const int n = static_cast<int>(nodes_.size());
    for (int k = 0; k < n;) {
      const LinearBvhNode& node = nodes_[k];
      const bool isHit = accept(node);
      if (isHit && node.primitive >= 0) out->push_back(node.primitive);
      k = isHit && node.primitive < 0 ? k + 1 : node.skip;
    }
    sortIndices(out);
  }

  /// Pairs (i of this tree, j of `other`), sorted, whose boxes come within `margin` of each other
  /// and whose values overlap. `other` lies at X_AB in the frame of this tree; its boxes are
  /// replaced by those around them in this frame.
  void pairs(const LinearBvh& other, const Transform& X_AB, Real margin,
             std::vector<IndexPair>* out) const;

  /// The same for two trees in one frame.
  void pairs(const LinearBvh& other, std::vector<IndexPair>* out) const;

  /// Pairs (i, j), i < j, sorted, of primitives whose boxes and values overlap and for which
  /// accept(i, j) is true. The filter is asked before anything is stored: neighbours in a mesh,
  /// by far the most numerous, cost no memory.
  template <class Accept>
  void selfPairs(const Accept& accept, std::vector<IndexPair>* out) const {
    out->clear();
    if (size() < 2) return;
    NodePair stack[4 * kMaxDepth + 8];
    int top = 0;
    stack[top++] = {0, 0};
    while (top > 0) {
      const auto [a, b] = stack[--top];
      const LinearBvhNode& nodeA = nodes_[a];
      const LinearBvhNode& nodeB = nodes_[b];
      if (a == b) {
        if (nodeA.primitive >= 0) continue;
        const std::int32_t left = a + 1, right = nodes_[left].skip;
        stack[top++] = {left, left};
        stack[top++] = {right, right};
        stack[top++] = {left, right};
        continue;
      }
      if (!overlaps(nodeA, nodeB)) continue;
      if (nodeA.primitive >= 0 && nodeB.primitive >= 0) {
        const std::int32_t i =
            nodeA.primitive < nodeB.primitive ? nodeA.primitive : nodeB.primitive;
        const std::int32_t j =
            nodeA.primitive < nodeB.primitive ? nodeB.primitive : nodeA.primitive;
        if (accept(i, j)) out->push_back({i, j});
        continue;
      }
      if (descendsFirst(nodeA, nodeB)) {
        stack[top++] = {a + 1, b};
        stack[top++] = {nodes_[a + 1].skip, b};
      } else {
        stack[top++] = {a, b + 1};
        stack[top++] = {a, nodes_[b + 1].skip};
      }
    }
    sortPairs(out);
  }
  void selfPairs(std::vector<IndexPair>* out) const;

 private:
  struct NodePair {
    std::int32_t a, b;
  };

  [[nodiscard]] static bool overlaps(const LinearBvhNode& a, const LinearBvhNode& b) {
    return a.valueLower <= b.valueUpper && b.valueLower <= a.valueUpper && a.box.overlaps(b.box);
  }
  /// Which of two nodes to open: never a leaf, else the larger.
  [[nodiscard]] static bool descendsFirst(const LinearBvhNode& a, const LinearBvhNode& b) {
    if (a.primitive >= 0 || b.primitive >= 0) return b.primitive >= 0;
    return a.box.halfArea() >= b.box.halfArea();
  }
  static void sortIndices(std::vector<std::int32_t>* indices);
  static void sortPairs(std::vector<IndexPair>* pairs);

  void sortByCode(std::span<const Aabb> boxes);
  void makeTopology();

  LinearBvhOptions options_{};
  std::vector<LinearBvhNode> nodes_;
  std::vector<std::int32_t> order_;
  std::vector<std::uint64_t> codes_;
  std::vector<ValueRange> values_;
  Real quality_ = 0;
  Real built_quality_ = 0;
};

/// Interleaves the lowest 21 bits of the three: x has the highest bit of each triple.
[[nodiscard]] TANGERE_HD std::uint64_t mortonCode(std::uint32_t x, std::uint32_t y,
                                                  std::uint32_t z);
/// The last position of the first part when codes[first..last] (ascending) are split where their
/// highest differing bit changes; in the middle when all are equal.
[[nodiscard]] TANGERE_HD int findSplit(const std::uint64_t* codes, int first, int last);

}  // namespace tangere::geometry
