// SPDX-License-Identifier: Apache-2.0
//
// Walks through the trees of two meshes at once. Boxes are compared in float along the axes of both
// trees and across the mean normal of what they hold; every test errs on the side of yes.
#pragma once

#include "collision/mesh_traversal.hpp"
#include "geometry/mesh_data.hpp"

#include <cmath>
#include <vector>

namespace tangere::collision {

using geometry::MeshData;

/// A box of one of the trees in the unit coordinates of its own tree.
struct UnitBox {
  float center[3];
  float half[3];
};

/// Sees boxes of the other tree from one of the two.
class OtherTree {
 public:
  /// X is the pose of the other mesh in the frame of this one.
  OtherTree(const MeshData& ownMesh, const MeshData& otherMesh, const Transform& X)
      : nodes_(ownMesh.bvh.nodes.data()), facing_(ownMesh.nodeFacing().data()) {
    const Bvh &own = ownMesh.bvh, &other = otherMesh.bvh;
    ratio_ = float(other.scale * own.inverseScale);
    const Vec3 origin = own.toUnit(X * other.center);
    slack_ = 4 * Bvh::kUnitSlack * (1 + float(geometry::maxAbs(origin)) + 2 * ratio_);
    for (int k = 0; k < 3; ++k) {
      origin_[k] = float(origin[k]);
      for (int j = 0; j < 3; ++j) {
        r_[j][k] = float(X.rotation(k, j));
        axis_[j][k] = splat(r_[j][k]);
        absAxis_[j][k] = abs4(axis_[j][k]);
      }
    }
  }

  [[nodiscard]] float slack() const { return slack_; }
  /// Four points of the other tree's unit coordinates in those of this one.
  void transform(Float4 x, Float4 y, Float4 z, Float4* outX, Float4* outY, Float4* outZ) const {
    x = x * ratio_;
    y = y * ratio_;
    z = z * ratio_;
    *outX = axis_[0][0] * x + axis_[1][0] * y + axis_[2][0] * z + origin_[0];
    *outY = axis_[0][1] * x + axis_[1][1] * y + axis_[2][1] * z + origin_[1];
    *outZ = axis_[0][2] * x + axis_[1][2] * y + axis_[2][2] * z + origin_[2];
  }
  /// Sets the box that test() and bounds() compare with.
  void setBox(const UnitBox& box) {
    float c[3] = {origin_[0], origin_[1], origin_[2]}, reach[3] = {0, 0, 0};
    for (int j = 0; j < 3; ++j) {
      const float h = box.half[j] * ratio_, m = box.center[j] * ratio_;
      half_[j] = splat(h);
      for (int k = 0; k < 3; ++k) {
        c[k] += r_[j][k] * m;
        reach[k] += std::fabs(r_[j][k]) * h;
      }
    }
    for (int k = 0; k < 3; ++k) {
      center_[k] = splat(c[k]);
      reach_[k] = splat(reach[k]);
      centerScalar_[k] = c[k];
      halfScalar_[k] = box.half[k] * ratio_;
    }
  }
  /// Bit i: box i may meet the set one; smaller keys overlap more.
  int test(const BvhNode& node, Float4& key) const {
    const Float4 half = splat(0.5f);
    Float4 d[3], g[3];
    Float4 least = splat(1e30f);
    for (int k = 0; k < 3; ++k) {
      d[k] = (node.lower[k] + node.upper[k]) * half - center_[k];
      g[k] = (node.upper[k] - node.lower[k]) * half;
      least = min4(least, reach_[k] + g[k] - abs4(d[k]));
    }
    for (int j = 0; j < 3; ++j) {
      const Float4 s = axis_[j][0] * d[0] + axis_[j][1] * d[1] + axis_[j][2] * d[2];
      const Float4 r = absAxis_[j][0] * g[0] + absAxis_[j][1] * g[1] + absAxis_[j][2] * g[2];
      least = min4(least, half_[j] + r - abs4(s));
    }
    // Most boxes that pass are thin slabs across their mean normal.
    const geometry::NodeFacing& facing = facing_[&node - nodes_];
    Float4 height, reach;
    seenAlong(facing, height, reach);
    least = min4(least, min4(facing.upper - height + reach, height + reach - facing.lower));
    key = -least;
    return maskOf(least >= splat(-slack_));
  }
  /// A direction along which distances are worth measuring, in this frame, unit; towards the other.
  void setDirection(const Vec3& towardOther) {
    for (int k = 0; k < 3; ++k) {
      directionScalar_[k] = float(towardOther[k]);
      direction_[k] = splat(directionScalar_[k]);
    }
    for (int j = 0; j < 3; ++j)
      spread_[j] = std::fabs(directionScalar_[0] * r_[j][0] + directionScalar_[1] * r_[j][1] +
                             directionScalar_[2] * r_[j][2]);
    hasDirection_ = true;
  }
  /// Lower bounds of the distance in unit coordinates of this tree.
  [[nodiscard]] Float4 bounds(const BvhNode& node) const {
    const Float4 half = splat(0.5f), zero = splat(0);
    Float4 d[3], g[3];
    Float4 sum = zero;
    for (int k = 0; k < 3; ++k) {
      d[k] = (node.lower[k] + node.upper[k]) * half - center_[k];
      g[k] = (node.upper[k] - node.lower[k]) * half;
      const Float4 gap = max4(abs4(d[k]) - reach_[k] - g[k], zero);
      sum = sum + gap * gap;
    }
    Float4 own = zero;
    for (int j = 0; j < 3; ++j) {
      const Float4 s = axis_[j][0] * d[0] + axis_[j][1] * d[1] + axis_[j][2] * d[2];
      const Float4 r = absAxis_[j][0] * g[0] + absAxis_[j][1] * g[1] + absAxis_[j][2] * g[2];
      const Float4 gap = max4(abs4(s) - half_[j] - r, zero);
      own = own + gap * gap;
    }
    Float4 bound = sqrt4(max4(sum, own));
    const geometry::NodeFacing& facing = facing_[&node - nodes_];
    Float4 height, across;
    seenAlong(facing, height, across);
    bound = max4(bound, max4(height - across - facing.upper, facing.lower - height - across));
    if (hasDirection_) {
      float low = 0;
      for (int k = 0; k < 3; ++k)
        low += directionScalar_[k] * centerScalar_[k] - spread_[k] * halfScalar_[k];
      const Float4 top = max4(node.lower[0] * direction_[0], node.upper[0] * direction_[0]) +
                         max4(node.lower[1] * direction_[1], node.upper[1] * direction_[1]) +
                         max4(node.lower[2] * direction_[2], node.upper[2] * direction_[2]);
      bound = max4(bound, splat(low) - top);
    }
    return bound * 0.99999f - slack_;
  }

 private:
  /// Height of the set box's centre along the mean normals, and how far the box reaches from it.
  void seenAlong(const geometry::NodeFacing& facing, Float4& height, Float4& reach) const {
    const Float4* const a = facing.axis;
    height = a[0] * center_[0] + a[1] * center_[1] + a[2] * center_[2];
    reach = splat(0);
    for (int j = 0; j < 3; ++j)
      reach = reach + half_[j] * abs4(a[0] * axis_[j][0] + a[1] * axis_[j][1] + a[2] * axis_[j][2]);
  }

  const BvhNode* nodes_;
  const geometry::NodeFacing* facing_;
  float ratio_, slack_;
  float origin_[3], r_[3][3];
  Float4 axis_[3][3], absAxis_[3][3];
  Float4 center_[3] = {}, half_[3] = {}, reach_[3] = {}, direction_[3] = {};
  float centerScalar_[3] = {}, halfScalar_[3] = {}, directionScalar_[3] = {}, spread_[3] = {};
  bool hasDirection_ = false;
};

inline UnitBox childBox(const BvhNode& node, int i) {
  UnitBox box;
  for (int k = 0; k < 3; ++k) {
    box.center[k] = 0.5f * (node.lower[k][i] + node.upper[k][i]);
    box.half[k] = 0.5f * (node.upper[k][i] - node.lower[k][i]);
  }
  return box;
}

struct NodePair {
  float key;
  BvhRef ref[2];
  UnitBox box[2];
};

inline float sizeOf(const UnitBox& box) { return box.half[0] + box.half[1] + box.half[2]; }

/// Both trees, the poses of each in the frame of the other, and the common walk.
class DualTraversal {
 public:
  DualTraversal(const MeshData& a, const MeshData& b, const Transform& X_AB)
      : a_(a), b_(b), seen_{{a, b, X_AB}, {b, a, inverse(X_AB)}} {
    ratio_ = float(b.bvh.scale * a.bvh.inverseScale);
  }

  [[nodiscard]] const OtherTree& seenFromFirst() const { return seen_[0]; }
  /// Which of both to open: the larger one that is not a leaf.
  [[nodiscard]] int toOpen(const NodePair& pair) const {
    if (pair.ref[0].count > 0) return 1;
    if (pair.ref[1].count > 0) return 0;
    return sizeOf(pair.box[0]) >= sizeOf(pair.box[1]) * ratio_ ? 0 : 1;
  }
  [[nodiscard]] static NodePair roots() {
    const UnitBox all{{0, 0, 0}, {1.001f, 1.001f, 1.001f}};
    return {0, {{0, 0}, {0, 0}}, {all, all}};
  }

  /// leaf(slotA, countA, slotB, countB) returns true to stop. Ordered: the deepest overlap first.
  template <class Leaf>
  bool visitOverlaps(bool ordered, const Leaf& leaf) {
    Stack stack;
    stack[stack.push()] = roots();
    while (!stack.empty()) {
      const NodePair pair = stack.pop();
      if (pair.ref[0].count > 0 && pair.ref[1].count > 0) {
        if (leaf(pair.ref[0].child, pair.ref[0].count, pair.ref[1].child, pair.ref[1].count))
          return true;
        continue;
      }
      const int side = toOpen(pair);
      const BvhNode& node = tree(side).nodes[pair.ref[side].child];
      seen_[side].setBox(pair.box[1 - side]);
      Float4 key;
      const int mask = seen_[side].test(node, key);  // before `key` is read
      push(stack, pair, side, node, key, mask, ordered);
    }
    return false;
  }

  /// leaf(...) may lower `limit` (a distance in metres).
  template <class Leaf>
  void visitNearest(Real& limit, const Leaf& leaf) {
    Stack stack;
    stack[stack.push()] = roots();
    while (!stack.empty()) {
      const NodePair pair = stack.pop();
      if (pair.key > unitLimit(limit, 0)) continue;
      if (pair.ref[0].count > 0 && pair.ref[1].count > 0) {
        leaf(pair.ref[0].child, pair.ref[0].count, pair.ref[1].child, pair.ref[1].count);
        continue;
      }
      const int side = toOpen(pair);
      const BvhNode& node = tree(side).nodes[pair.ref[side].child];
      seen_[side].setBox(pair.box[1 - side]);
      Float4 key = seen_[side].bounds(node);
      const int mask = maskOf(key <= splat(unitLimit(limit, side)));
      if (side == 1) key = key * ratio_;  // keys are in the units of the first tree
      push(stack, pair, side, node, key, mask, true);
    }
  }

  /// The direction from a to b, in the frame of a.
  void setDirection(const Vec3& fromAToB_A, const Transform& X_AB) {
    seen_[0].setDirection(fromAToB_A);
    seen_[1].setDirection(-transposeTimes(X_AB.rotation, fromAToB_A));
  }

 private:
  [[nodiscard]] const Bvh& tree(int side) const { return side == 0 ? a_.bvh : b_.bvh; }
  [[nodiscard]] float unitLimit(Real limit, int side) const {
    const Real u = limit * tree(side).inverseScale;
    return u < Real(1e30) ? float(u) * 1.000001f : 1e30f;
  }
  /// A stack whose memory is not cleared.
  class Stack {
   public:
    Stack() : memory_(scratch()) {
      if (memory_.empty()) memory_.resize(1024);
    }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] std::size_t size() const { return size_; }
    NodePair pop() { return memory_[--size_]; }
    NodePair& operator[](std::size_t i) { return memory_[i]; }
    std::size_t push() {
      if (size_ == memory_.size()) memory_.resize(2 * size_);
      return size_++;
    }

   private:
    static std::vector<NodePair>& scratch() {
      thread_local std::vector<NodePair> memory;
      return memory;
    }
    std::vector<NodePair>& memory_;
    std::size_t size_ = 0;
  };
  static void push(Stack& stack, const NodePair& pair, int side, const BvhNode& node, Float4 key,
                   int mask, bool ordered) {
    const std::size_t first = stack.size();
    for (int i = 0; mask != 0; ++i, mask >>= 1) {
      if (!(mask & 1) || node.count[i] < 0) continue;
      std::size_t j = stack.push();
      if (ordered)
        while (j > first && stack[j - 1].key < key[i]) {
          stack[j] = stack[j - 1];
          --j;
        }
      NodePair& child = stack[j];
      child.key = key[i];
      child.ref[side] = {node.child[i], node.count[i]};
      child.ref[1 - side] = pair.ref[1 - side];
      child.box[side] = childBox(node, i);
      child.box[1 - side] = pair.box[1 - side];
    }
  }

  const MeshData& a_;
  const MeshData& b_;
  OtherTree seen_[2];
  float ratio_;
};

}  // namespace tangere::collision
