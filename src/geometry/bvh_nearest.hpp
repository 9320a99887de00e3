// SPDX-License-Identifier: Apache-2.0
//
// The walk through a tree that all searches for the least of something share.
#pragma once

#include "geometry/bvh.hpp"

#include <cfloat>

namespace tangere::geometry {

/// Calls leaf(first slot, number of slots) for leaves whose bound is not above limit(), nearest
/// first among the children of a node. `bounds(node)` gives lower bounds for its four children,
/// FLT_MAX for one to leave out; limit() may fall as leaves are seen. Leaf returns true to stop.
/// From so far away that float overflows a bound is not finite: it tells nothing and excludes
/// nothing.
template <class Bounds, class Limit, class Leaf>
void visitNearestFirst(const Bvh& bvh, const Bounds& bounds, const Limit& limit, const Leaf& leaf) {
  struct Entry {
    float bound;
    BvhRef ref;
  } stack[Bvh::kStackSize];
  int size = 0;
  stack[size++] = {-FLT_MAX, {0, 0}};
  while (size > 0) {
    const Entry entry = stack[--size];
    const float most = limit();
    if (entry.bound > most) continue;
    if (entry.ref.count > 0) {
      if (leaf(entry.ref.child, entry.ref.count)) return;
      continue;
    }
    const BvhNode& node = bvh.nodes[entry.ref.child];
    const Float4 bound = bounds(node);
    const int first = size;
    const int known = maskOf(bound <= splat(FLT_MAX));
    int mask = maskOf(bound <= splat(most)) | (~known & 15);
    for (int i = 0; mask != 0; ++i, mask >>= 1) {
      if (!(mask & 1) || node.count[i] < 0) continue;
      const float b = bound[i] <= FLT_MAX ? bound[i] : -FLT_MAX;
      int j = size++;
      for (; j > first && stack[j - 1].bound < b; --j) stack[j] = stack[j - 1];
      stack[j] = {b, {node.child[i], node.count[i]}};
    }
  }
}

/// A point as the boxes of a tree see it.
class PointInTree {
 public:
  PointInTree(const Bvh& bvh, const Vec3& p);

  /// Squared distances to the boxes of a node, in unit coordinates.
  [[nodiscard]] Float4 squaredDistances(const BvhNode& node) const {
    const Float4 zero = splat(0);
    Float4 sum = zero;
    for (int k = 0; k < 3; ++k) {
      const Float4 d = max4(max4(node.lower[k] - p_[k], p_[k] - node.upper[k]), zero);
      sum = sum + d * d;
    }
    return sum;
  }
  /// What squaredDistances() may not be above for something at this distance, given as its square.
  [[nodiscard]] float reach(Real squaredDistance) const;

 private:
  Float4 p_[3];
  float slack_;  ///< what float may lose on a coordinate of this size
  Real inverseScale_;
};

}  // namespace tangere::geometry
