// SPDX-License-Identifier: Apache-2.0
//
// Walks through the tree of a mesh or of a point cloud with a convex body in hand. A culler says
// which of a node's four boxes the body may meet; it errs on the side of yes.
#pragma once

#include "geometry/bvh.hpp"
#include "geometry/kernels/convex_view.hpp"
#include "geometry/kernels/support.hpp"
#include "geometry/mesh_data.hpp"
#include "geometry/query_helpers.hpp"

#include <cmath>

namespace tangere::collision {

using geometry::abs4;
using geometry::Bvh;
using geometry::BvhNode;
using geometry::BvhRef;
using geometry::Float4;
using geometry::maskOf;
using geometry::max4;
using geometry::min4;
using geometry::splat;
using geometry::sqrt4;

/// A box in the body's own frame around the whole rounded shape.
[[nodiscard]] inline Aabb boxOf(const kernel::ConvexView<Real>& view) {
  const Vec3& s = view.size;
  Vec3 h{};
  switch (view.core) {
    case kernel::CoreType::Point:
      break;
    case kernel::CoreType::Segment:
      h = {0, 0, s.z};
      break;
    case kernel::CoreType::Cylinder:
    case kernel::CoreType::Cone:
      h = {s.x, s.x, s.z};
      break;
    case kernel::CoreType::Box:
    case kernel::CoreType::Ellipsoid:
      h = s;
      break;
    case kernel::CoreType::Triangle:
    case kernel::CoreType::Hull: {
      Aabb box;
      if (view.core == kernel::CoreType::Triangle) {
        box = {view.triangle[0], view.triangle[0]};
        box.merge(view.triangle[1]);
        box.merge(view.triangle[2]);
      } else {
        const kernel::HullView<Real>& hull = *view.hull;
        box = {hull.vertex(0), hull.vertex(0)};
        const Real* const coordinates[3] = {hull.x, hull.y, hull.z};
        for (int k = 0; k < 3; ++k) {
          Real lower = coordinates[k][0], upper = lower;
          for (int i = 1; i < hull.numVertices; ++i) {
            const Real v = coordinates[k][i];
            lower = v < lower ? v : lower;
            upper = v > upper ? v : upper;
          }
          box.lower[k] = lower;
          box.upper[k] = upper;
        }
      }
      box.expand(view.radius);
      return box;
    }
  }
  h += Vec3{view.radius, view.radius, view.radius};
  return {-h, h};
}

/// Ball: squared distance from the centre to the boxes.
class BallCuller {
 public:
  BallCuller(const Bvh& bvh, const Vec3& center, Real radius) {
    const Vec3 u = bvh.toUnit(center);
    const Real r = radius * bvh.inverseScale;
    x_ = splat(float(u.x));
    y_ = splat(float(u.y));
    z_ = splat(float(u.z));
    const float reach = float(r) * 1.000001f + Bvh::kUnitSlack * (1 + float(geometry::maxAbs(u)));
    limit_ = splat(reach * reach);
  }
  /// Bit i: box i may be met. `key` is smaller for boxes to be looked at first.
  int test(const BvhNode& node, Float4& key) const {
    const Float4 zero = splat(0);
    const Float4 dx = max4(max4(node.lower[0] - x_, x_ - node.upper[0]), zero);
    const Float4 dy = max4(max4(node.lower[1] - y_, y_ - node.upper[1]), zero);
    const Float4 dz = max4(max4(node.lower[2] - z_, z_ - node.upper[2]), zero);
    key = dx * dx + dy * dy + dz * dz;
    return maskOf(key <= limit_);
  }

 private:
  Float4 x_, y_, z_, limit_;
};

/// The same where only locally nearest points count: a box is left out when no direction from it to
/// the centre, or back, can be normal to the surface there.
class LocalBallCuller {
 public:
  LocalBallCuller(const geometry::MeshData& mesh, const Vec3& center, Real radius)
      : ball_(mesh.bvh, center, radius),
        facing_(mesh.nodeFacing().data()),
        nodes_(mesh.bvh.nodes.data()) {
    const Vec3 u = mesh.bvh.toUnit(center);
    for (int k = 0; k < 3; ++k) center_[k] = splat(float(u[k]));
  }
  int test(const BvhNode& node, Float4& key) const {
    const int mask = ball_.test(node, key);
    if (mask == 0) return 0;
    const geometry::NodeFacing& cone = facing_[&node - nodes_];
    const Float4 half = splat(0.5f);
    Float4 d[3];
    Float4 size2 = splat(0), distance2 = splat(0), along = splat(0);
    for (int k = 0; k < 3; ++k) {
      d[k] = center_[k] - (node.lower[k] + node.upper[k]) * half;
      const Float4 g = (node.upper[k] - node.lower[k]) * half;
      size2 = size2 + g * g;
      distance2 = distance2 + d[k] * d[k];
      along = along + cone.axis[k] * d[k];
    }
    // With D = |d| and the half angle b under which the box is seen, sin b = size / D, the angle to
    // the axis has to be below that of the cone plus b. The slack covers float.
    const Float4 tangent2 = max4(distance2 - size2, splat(0));
    const Float4 reach =
        cone.cosine * sqrt4(tangent2) - cone.sine * sqrt4(size2) - sqrt4(distance2) * 1e-4f;
    const Float4 side = abs4(along);
    return mask &
           maskOf((side >= reach) | (distance2 <= size2 * 1.001f) | (cone.cosine <= splat(-0.5f)));
  }

 private:
  BallCuller ball_;
  const geometry::NodeFacing* facing_;
  const BvhNode* nodes_;
  Float4 center_[3];
};

/// Oriented box: separation along its own axes and along those of the tree.
class BoxCuller {
 public:
  BoxCuller(const Bvh& bvh, const Aabb& local, const Transform& X_MC) {
    const Vec3 c = bvh.toUnit(X_MC * local.center());
    const Vec3 h = local.halfExtents() * bvh.inverseScale;
    const float slack =
        4 * Bvh::kUnitSlack * (1 + float(geometry::maxAbs(c)) + float(h.x + h.y + h.z));
    const Mat3& R = X_MC.rotation;
    for (int k = 0; k < 3; ++k) {
      center_[k] = splat(float(c[k]));
      half_[k] = splat(float(h[k]) + slack);
      Real reach = 0;
      for (int j = 0; j < 3; ++j) {
        const Real r = R(k, j);
        axis_[j][k] = splat(float(r));
        absAxis_[j][k] = splat(float(std::fabs(r)));
        reach += std::fabs(r) * h[j];
      }
      reach_[k] = splat(float(reach) + slack);
    }
  }
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
    key = -least;
    return maskOf(least >= splat(0));
  }

 private:
  Float4 center_[3], half_[3], reach_[3], axis_[3][3], absAxis_[3][3];
};

/// Calls leaf(first slot, number of slots) for leaves the body may meet, the most promising first;
/// stops and returns true when leaf does.
template <class Culler, class Leaf>
bool findAmongLeaves(const Bvh& bvh, const Culler& culler, const Leaf& leaf) {
  struct Entry {
    float key;
    BvhRef ref;
  } stack[Bvh::kStackSize];
  int size = 0;
  stack[size++] = {0, {0, 0}};
  while (size > 0) {
    const BvhRef ref = stack[--size].ref;
    if (ref.count > 0) {
      if (leaf(ref.child, ref.count)) return true;
      continue;
    }
    const BvhNode& node = bvh.nodes[ref.child];
    Float4 key;
    int mask = culler.test(node, key);
    const int first = size;
    for (int i = 0; mask != 0; ++i, mask >>= 1) {
      if (!(mask & 1) || node.count[i] < 0) continue;
      int j = size++;
      while (j > first && stack[j - 1].key < key[i]) {
        stack[j] = stack[j - 1];
        --j;
      }
      stack[j] = {key[i], {node.child[i], node.count[i]}};
    }
  }
  return false;
}

/// The same in the order of the tree, for all leaves.
template <class Culler, class Leaf>
void visitLeaves(const Bvh& bvh, const Culler& culler, const Leaf& leaf) {
  std::int32_t stack[Bvh::kStackSize];
  int size = 0;
  stack[size++] = 0;
  while (size > 0) {
    const BvhNode& node = bvh.nodes[stack[--size]];
    Float4 key;
    int mask = culler.test(node, key);
    for (int i = 0; mask != 0; ++i, mask >>= 1) {
      if (!(mask & 1)) continue;
      if (node.count[i] > 0)
        leaf(node.child[i], node.count[i]);
      else if (node.count[i] == 0)
        stack[size++] = node.child[i];
    }
  }
}

}  // namespace tangere::collision
