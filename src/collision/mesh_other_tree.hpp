// SPDX-License-Identifier: Apache-2.0
//
// Boxes of one mesh's tree as seen from another's: four of its own against one of the other at a
// time, in float, along the axes of both trees and across the mean normal of what its own boxes
// hold. Every test errs on the side of yes.
#pragma once

#include "collision/mesh_traversal.hpp"
#include "geometry/mesh_data.hpp"

#include <cmath>

namespace tangere::collision {

using geometry::MeshData;
using geometry::NodeFacing;

/// Lengths are in unit coordinates of the own tree. Of boxes they are doubled: lower + upper and
/// upper - lower stand for the centre and the half extents, which saves the halving.
class OtherTree {
 public:
  /// A tree with the facing of its nodes.
  struct Tree {
    const Bvh& bvh;
    const NodeFacing* facing;
  };
  [[nodiscard]] static Tree treeOf(const MeshData& mesh) {
    return {mesh.bvh, mesh.nodeFacing().data()};
  }

  /// X is the pose of the other mesh in the frame of this one.
  OtherTree(const Tree& ownTree, const Tree& otherTree, const Transform& X)
      : nodes_(ownTree.bvh.nodes.data()),
        facing_(ownTree.facing),
        otherNodes_(otherTree.bvh.nodes.data()),
        otherFacing_(otherTree.facing) {
    const Bvh &own = ownTree.bvh, &other = otherTree.bvh;
    ratio_ = float(other.scale * own.inverseScale);
    inverseRatio_ = float(own.scale * other.inverseScale);
    const Vec3 origin = own.toUnit(X * other.center);
    slack_ = 4 * Bvh::kUnitSlack * (1 + float(geometry::maxAbs(origin)) + 2 * ratio_);
    for (int k = 0; k < 3; ++k) origin_[k] = float(origin[k]);
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 3; ++k) {
        const float r = float(X.rotation(k, j));
        axis_[j][k] = splat(r);
        absAxis_[j][k] = abs4(axis_[j][k]);
        column_[j][k] = r * ratio_;
      }
      absColumn_[j] = abs4(column_[j]);
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

  /// Sets the box of the other tree that the tests compare with: one of a node's four.
  void setBox(const BvhNode& node, int lane) {
    const auto sum = [&](int k) { return node.lower[k][lane] + node.upper[k][lane]; };
    const auto extent = [&](int k) { return node.upper[k][lane] - node.lower[k][lane]; };
    show(Float4{sum(0), sum(1), sum(2), 0}, Float4{extent(0), extent(1), extent(2), 0});
    slabFacing_ = &otherFacing_[&node - otherNodes_];
    slabLane_ = lane;
  }
  /// The same for the whole tree.
  void setWhole() {
    show(splat(0), splat(2.002f));
    slabFacing_ = nullptr;
  }

  /// Bit i: box i of the node may meet the set one. `size` of the boxes; smaller keys overlap more.
  int test(const BvhNode& node, Float4& size, Float4& key) const {
    Float4 d[3], g[3];
    compare(node, d, g);
    size = g[0] + g[1] + g[2];
    Float4 least = splat(1e30f);
    for (int k = 0; k < 3; ++k) least = min4(least, reach_[k] + g[k] - abs4(d[k]));
    for (int j = 0; j < 3; ++j)
      least = min4(least, half_[j] + reachAlong(j, g) - abs4(heightAlong(j, d)));
    const Float4 limit = splat(-2 * slack_);
    if (maskOf(least >= limit) == 0) return 0;
    // Most boxes that pass are thin slabs across their mean normal.
    const NodeFacing& facing = facing_[&node - nodes_];
    least = min4(least, -gapAcross(facing, d, g));
    key = -least;
    return maskOf(least >= limit);
  }

  /// A direction along which distances are worth measuring, in this frame, unit; towards the other.
  void setDirection(const Vec3& towardOther) {
    for (int k = 0; k < 3; ++k) direction_[k] = splat(float(towardOther[k]));
    for (int j = 0; j < 3; ++j)
      spread_[j] = abs4(direction_[0] * axis_[j][0] + direction_[1] * axis_[j][1] +
                        direction_[2] * axis_[j][2]);
    hasDirection_ = true;
  }

  /// Bit i: box i of the node may hold a point that is locally nearest to one of the set box and no
  /// farther from it than `limit`. `bound` is a lower bound of the distance.
  int testNear(const BvhNode& node, float limit, Float4& size, Float4& bound) const {
    Float4 d[3], g[3];
    compare(node, d, g);
    size = g[0] + g[1] + g[2];
    const Float4 zero = splat(0);
    Float4 sum = zero, own = zero;
    for (int k = 0; k < 3; ++k) {
      const Float4 gap = max4(abs4(d[k]) - reach_[k] - g[k], zero);
      sum = sum + gap * gap;
    }
    for (int j = 0; j < 3; ++j) {
      const Float4 gap = max4(abs4(heightAlong(j, d)) - half_[j] - reachAlong(j, g), zero);
      own = own + gap * gap;
    }
    Float4 twice = sqrt4(max4(sum, own));
    if (hasDirection_) twice = max4(twice, gapAlongDirection(node));
    const Float4 most = splat((limit + slack_) * 2.0001f);
    if (maskOf(twice <= most) == 0) return 0;
    const NodeFacing& facing = facing_[&node - nodes_];
    twice = max4(twice, gapAcross(facing, d, g));
    bound = twice * (0.5f * 0.99999f) - slack_;
    const int mask = maskOf(bound <= splat(limit));
    return mask == 0 ? 0 : mask & maskOf(facesSetBox(facing, d, g));
  }

 private:
  /// From unit coordinates of the other tree.
  void show(Float4 sum, Float4 extent) {
    const Float4 center = column_[0] * sum[0] + column_[1] * sum[1] + column_[2] * sum[2];
    const Float4 reach =
        absColumn_[0] * extent[0] + absColumn_[1] * extent[1] + absColumn_[2] * extent[2];
    const Float4 half = extent * ratio_;
    for (int k = 0; k < 3; ++k) {
      center_[k] = splat(center[k] + 2 * origin_[k]);
      reach_[k] = splat(reach[k]);
      half_[k] = splat(half[k]);
    }
  }

  /// From the set box's centre to those of the node's boxes, and their extents.
  void compare(const BvhNode& node, Float4* d, Float4* g) const {
    for (int k = 0; k < 3; ++k) {
      d[k] = node.lower[k] + node.upper[k] - center_[k];
      g[k] = node.upper[k] - node.lower[k];
    }
  }
  /// Along axis j of the other tree.
  [[nodiscard]] Float4 heightAlong(int j, const Float4* d) const {
    return axis_[j][0] * d[0] + axis_[j][1] * d[1] + axis_[j][2] * d[2];
  }
  [[nodiscard]] Float4 reachAlong(int j, const Float4* g) const {
    return absAxis_[j][0] * g[0] + absAxis_[j][1] * g[1] + absAxis_[j][2] * g[2];
  }
  /// The slab of the other tree that holds what is in the set box, in this frame; doubled.
  struct Slab {
    Float4 axis[3], lower, upper;
    Float4 height;  ///< of the set box's centre
  };
  [[nodiscard]] Slab slab() const {
    Slab out;
    const NodeFacing& facing = *slabFacing_;
    const int i = slabLane_;
    const Float4 axis = (column_[0] * facing.axis[0][i] + column_[1] * facing.axis[1][i] +
                         column_[2] * facing.axis[2][i]) *
                        inverseRatio_;
    const float shift = axis[0] * origin_[0] + axis[1] * origin_[1] + axis[2] * origin_[2];
    for (int k = 0; k < 3; ++k) out.axis[k] = splat(axis[k]);
    out.height = out.axis[0] * center_[0] + out.axis[1] * center_[1] + out.axis[2] * center_[2];
    out.lower = splat(2 * (facing.lower[i] * ratio_ + shift - slack_));
    out.upper = splat(2 * (facing.upper[i] * ratio_ + shift + slack_));
    return out;
  }
  /// Boxes that hold much of a surface face everywhere: they have no thin slab.
  [[nodiscard]] bool hasSlab() const {
    return slabFacing_ != nullptr && slabFacing_->cosine[slabLane_] > 0;
  }

  /// How far apart the own boxes and the set one are, measured across the mean normals of both;
  /// where they overlap, minus by how much.
  [[nodiscard]] Float4 gapAcross(const NodeFacing& facing, const Float4* d, const Float4* g) const {
    const Float4* const a = facing.axis;
    const Float4 height = a[0] * center_[0] + a[1] * center_[1] + a[2] * center_[2];
    Float4 reach = splat(0);
    for (int j = 0; j < 3; ++j)
      reach = reach + half_[j] * abs4(a[0] * axis_[j][0] + a[1] * axis_[j][1] + a[2] * axis_[j][2]);
    const Float4 upper = facing.upper + facing.upper, lower = facing.lower + facing.lower;
    const Float4 gap = max4(height - reach - upper, lower - height - reach);
    return hasSlab() ? max4(gap, gapToSlab(facing, height, d, g)) : gap;
  }

  /// The same by the slab. With a normal a = c s + r of its own, s being that of the slab, a.x is c
  /// times a height of the slab plus r.x, which is little where both face each other.
  [[nodiscard]] Float4 gapToSlab(const NodeFacing& facing, Float4 height, const Float4* d,
                                 const Float4* g) const {
    const Slab set = slab();
    const Float4* const a = facing.axis;
    const Float4* const s = set.axis;
    const Float4 c = a[0] * s[0] + a[1] * s[1] + a[2] * s[2];
    const Float4 r[3] = {a[0] - c * s[0], a[1] - c * s[1], a[2] - c * s[2]};
    Float4 rest = splat(2 * slack_);
    for (int j = 0; j < 3; ++j)
      rest = rest + half_[j] * abs4(r[0] * axis_[j][0] + r[1] * axis_[j][1] + r[2] * axis_[j][2]);
    const Float4 base = height - c * set.height;
    const Float4 end0 = c * set.lower, end1 = c * set.upper;
    const Float4 low = base + min4(end0, end1) - rest, high = base + max4(end0, end1) + rest;
    const Float4 upper = facing.upper + facing.upper, lower = facing.lower + facing.lower;
    const Float4 gap = max4(low - upper, lower - high);
    // The own boxes across the slab.
    const Float4 own = set.height + s[0] * d[0] + s[1] * d[1] + s[2] * d[2];
    const Float4 ownReach = abs4(s[0]) * g[0] + abs4(s[1]) * g[1] + abs4(s[2]) * g[2];
    return max4(gap, max4(own - ownReach - set.upper, set.lower - own - ownReach));
  }
  [[nodiscard]] Float4 gapAlongDirection(const BvhNode& node) const {
    Float4 low = splat(0), top = splat(0);
    for (int k = 0; k < 3; ++k) {
      low = low + direction_[k] * center_[k] - spread_[k] * half_[k];
      top = top + max4(node.lower[k] * direction_[k], node.upper[k] * direction_[k]);
    }
    return low - (top + top);
  }

  /// Where two points are nearest to each other locally, the line between them is in the cone of
  /// the surface's normals there, on either side of it. Tells for which of a node's boxes some line
  /// to the set box may be: all such lines are within the angle b of that between the centres, with
  /// sin b = (both radii) / (distance of the centres).
  [[nodiscard]] geometry::Int4 facesSetBox(const NodeFacing& cone, const Float4* d,
                                           const Float4* g) const {
    const Float4 distance2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    const Float4 along = abs4(cone.axis[0] * d[0] + cone.axis[1] * d[1] + cone.axis[2] * d[2]);
    const Float4 radii = sqrt4(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) +
                         sqrt4(half_[0] * half_[0] + half_[1] * half_[1] + half_[2] * half_[2]) +
                         2 * slack_;
    const Float4 tangent = sqrt4(max4(distance2 - radii * radii, splat(0)));
    const Float4 least =
        cone.cosine * tangent - cone.sine * radii - sqrt4(distance2) * 1e-4f - 2 * slack_;
    return (along >= least) | (distance2 <= radii * radii * 1.001f) | (cone.cosine <= splat(-0.5f));
  }

  const BvhNode* nodes_;
  const NodeFacing* facing_;
  const BvhNode* otherNodes_;
  const NodeFacing* otherFacing_;
  float ratio_;  ///< lengths of the other tree in units of this one
  float inverseRatio_;
  float slack_;
  float origin_[3];
  Float4 axis_[3][3], absAxis_[3][3];          ///< the other tree's axes, a component in all lanes
  Float4 column_[3] = {}, absColumn_[3] = {};  ///< the same times the ratio, components as lanes
  Float4 center_[3] = {}, half_[3] = {}, reach_[3] = {};
  const NodeFacing* slabFacing_ = nullptr;  ///< of the node that the set box is of
  int slabLane_ = 0;
  Float4 direction_[3] = {}, spread_[3] = {};
  bool hasDirection_ = false;
};

}  // namespace tangere::collision
