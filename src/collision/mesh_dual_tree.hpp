// SPDX-License-Identifier: Apache-2.0
//
// Walks through the trees of two meshes at once. A step opens a node of one tree and compares its
// four boxes with one box of the other: see mesh_other_tree.hpp for the tests.
#pragma once

#include "collision/mesh_other_tree.hpp"

#include <vector>

namespace tangere::collision {

/// Two boxes to look at, one of each tree.
struct NodePair {
  BvhRef ref[2];          ///< what the boxes hold
  std::int32_t place[2];  ///< where the boxes are kept: four times the node, plus the lane
  float size[2];          ///< of the boxes, in units of the first tree
  float key;              ///< smaller ones are looked at first
};

/// Both trees, the poses of each in the frame of the other, and the common walk.
class DualTraversal {
 public:
  DualTraversal(const MeshData& a, const MeshData& b, const Transform& X_AB)
      : DualTraversal(OtherTree::treeOf(a), OtherTree::treeOf(b), X_AB) {}

  [[nodiscard]] const OtherTree& seenFromFirst() const { return seen_[0]; }

  /// Calls leaf(slotA, countA, slotB, countB) for every two leaves that may meet.
  template <class Leaf>
  void visitOverlaps(const Leaf& leaf) {
    Stack stack;
    stack.push(roots());
    while (!stack.empty()) {
      const NodePair pair = stack.pop();
      const int side = open(pair);
      const BvhNode& node = nodeOf(pair, side);
      Float4 size, key;
      int mask = seen_[side].test(node, size, key);
      size = size * toFirst_[side];
      const BvhRef other = pair.ref[1 - side];
      for (int i = 0; mask != 0; ++i, mask >>= 1) {
        if (!(mask & 1) || node.count[i] < 0) continue;
        if (node.count[i] == 0 || other.count == 0)
          stack.push(childOf(pair, side, node, i, size[i], 0));
        else if (side == 0)
          leaf(node.child[i], node.count[i], other.child, other.count);
        else
          leaf(other.child, other.count, node.child[i], node.count[i]);
      }
    }
  }

  /// The same, the deepest overlap first, until leaf returns true.
  template <class Leaf>
  bool findOverlap(const Leaf& leaf) {
    Stack stack;
    stack.push(roots());
    while (!stack.empty()) {
      const NodePair pair = stack.pop();
      if (isLeaf(pair)) {
        if (leaf(pair.ref[0].child, pair.ref[0].count, pair.ref[1].child, pair.ref[1].count))
          return true;
        continue;
      }
      const int side = open(pair);
      const BvhNode& node = nodeOf(pair, side);
      Float4 size, key;
      const int mask = seen_[side].test(node, size, key);
      pushOrdered(stack, pair, side, node, mask, size * toFirst_[side], key);
    }
    return false;
  }

  /// Calls leaf(...) for pairs of leaves that may hold a locally nearest pair of points no farther
  /// apart than `limit` [m], the nearest first; leaf may lower `limit`.
  template <class Leaf>
  void visitNearest(Real& limit, const Leaf& leaf) {
    Stack stack;
    stack.push(roots());
    while (!stack.empty()) {
      const NodePair pair = stack.pop();
      if (pair.key > unitLimit(limit, 0)) continue;
      if (isLeaf(pair)) {
        leaf(pair.ref[0].child, pair.ref[0].count, pair.ref[1].child, pair.ref[1].count);
        continue;
      }
      const int side = open(pair);
      const BvhNode& node = nodeOf(pair, side);
      Float4 size, bound;
      const int mask = seen_[side].testNear(node, unitLimit(limit, side), size, bound);
      pushOrdered(stack, pair, side, node, mask, size * toFirst_[side], bound * toFirst_[side]);
    }
  }

  /// The direction from a to b along which distances are worth measuring, in the frame of a.
  void setDirection(const Vec3& fromAToB_A, const Transform& X_AB) {
    seen_[0].setDirection(fromAToB_A);
    seen_[1].setDirection(-transposeTimes(X_AB.rotation, fromAToB_A));
  }

 private:
  DualTraversal(const OtherTree::Tree& a, const OtherTree::Tree& b, const Transform& X_AB)
      : tree_{&a.bvh, &b.bvh},
        seen_{{a, b, X_AB}, {b, a, inverse(X_AB)}},
        toFirst_{1, float(b.bvh.scale * a.bvh.inverseScale)} {}

  /// A stack whose memory stays.
  class Stack {
   public:
    Stack() : memory_(scratch()) {
      if (memory_.empty()) memory_.resize(1024);
    }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] std::size_t size() const { return size_; }
    const NodePair& pop() { return memory_[--size_]; }
    NodePair& operator[](std::size_t i) { return memory_[i]; }
    void push(const NodePair& pair) {
      if (size_ == memory_.size()) memory_.resize(2 * size_);
      memory_[size_++] = pair;
    }

   private:
    static std::vector<NodePair>& scratch() {
      thread_local std::vector<NodePair> memory;
      return memory;
    }
    std::vector<NodePair>& memory_;
    std::size_t size_ = 0;
  };

  [[nodiscard]] NodePair roots() const { return {{{0, 0}, {0, 0}}, {-1, -1}, {1, toFirst_[1]}, 0}; }
  [[nodiscard]] static bool isLeaf(const NodePair& pair) {
    return pair.ref[0].count > 0 && pair.ref[1].count > 0;
  }
  /// Which of both to open: the larger one that is not a leaf. Shows the box of the other to it.
  int open(const NodePair& pair) {
    int side = pair.size[0] >= pair.size[1] ? 0 : 1;
    if (pair.ref[side].count > 0) side = 1 - side;
    const std::int32_t place = pair.place[1 - side];
    if (place < 0)
      seen_[side].setWhole();
    else
      seen_[side].setBox(tree_[1 - side]->nodes[place >> 2], place & 3);
    return side;
  }
  [[nodiscard]] const BvhNode& nodeOf(const NodePair& pair, int side) const {
    return tree_[side]->nodes[pair.ref[side].child];
  }
  [[nodiscard]] static NodePair childOf(const NodePair& pair, int side, const BvhNode& node, int i,
                                        float size, float key) {
    NodePair child = pair;
    child.place[side] = 4 * pair.ref[side].child + i;
    child.ref[side] = {node.child[i], node.count[i]};
    child.size[side] = size;
    child.key = key;
    return child;
  }
  static void pushOrdered(Stack& stack, const NodePair& pair, int side, const BvhNode& node,
                          int mask, Float4 size, Float4 key) {
    const std::size_t first = stack.size();
    for (int i = 0; mask != 0; ++i, mask >>= 1) {
      if (!(mask & 1) || node.count[i] < 0) continue;
      const NodePair child = childOf(pair, side, node, i, size[i], key[i]);
      stack.push(child);
      std::size_t j = stack.size() - 1;
      for (; j > first && stack[j - 1].key < key[i]; --j) stack[j] = stack[j - 1];
      stack[j] = child;
    }
  }
  [[nodiscard]] float unitLimit(Real limit, int side) const {
    const Real u = limit * tree_[side]->inverseScale;
    return u < Real(1e30) ? float(u) * 1.000001f : 1e30f;
  }

  const Bvh* tree_[2];
  OtherTree seen_[2];
  float toFirst_[2];  ///< lengths of each tree in units of the first
};

}  // namespace tangere::collision
