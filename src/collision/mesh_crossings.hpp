// SPDX-License-Identifier: Apache-2.0
//
// The pairs of triangles in which two meshes cross.
#pragma once

#include "collision/kernels/triangle_triangle.hpp"
#include "collision/mesh_dual_tree.hpp"

#include <cmath>
#include <cstring>

namespace tangere::collision {

/// Two triangles that meet, and the segment they share in the frame of A.
struct Crossing {
  int triangleA, triangleB;
  int behindA, behindB;  ///< bit k: corner k is behind the plane of the other triangle
  Vec3 p, q;
};

/// Up to four triangles in float, in the unit coordinates of the first tree: most pairs of two
/// leaves are told apart by boxes and planes at once.
class TriangleBlock {
 public:
  /// `corners` are unit coordinates of the second tree, nine per triangle; `seen` takes them to
  /// those of the first. Reads four triangles, whatever `count`.
  void set(const OtherTree& seen, const float* corners, int count) {
    lanes_ = (1 << count) - 1;
    slack_ = seen.slack();
    Float4 c[9];
    for (int k = 0; k < 8; k += 4) {
      for (int j = 0; j < 4; ++j) c[k + j] = load(corners + 9 * j + k);
      transpose(c + k);
    }
    c[8] = Float4{corners[8], corners[17], corners[26], corners[35]};
    for (int k = 0; k < 3; ++k)
      seen.transform(c[3 * k], c[3 * k + 1], c[3 * k + 2], &v_[k][0], &v_[k][1], &v_[k][2]);
    for (int i = 0; i < 3; ++i) {
      lower_[i] = min4(v_[0][i], min4(v_[1][i], v_[2][i])) - slack_;
      upper_[i] = max4(v_[0][i], max4(v_[1][i], v_[2][i])) + slack_;
    }
    planes_ = planesThrough(v_);
  }

  /// Bit j: triangle j may meet the triangle with these nine unit coordinates of the first tree.
  /// Reads one number more.
  [[nodiscard]] int mayMeet(const float* corners) const {
    const Float4 p[3] = {load(corners), load(corners + 3), load(corners + 6)};
    const Float4 low = min4(p[0], min4(p[1], p[2])), high = max4(p[0], max4(p[1], p[2]));
    const geometry::Int4 boxes = (upper_[0] >= splat(low[0])) & (lower_[0] <= splat(high[0])) &
                                 (upper_[1] >= splat(low[1])) & (lower_[1] <= splat(high[1])) &
                                 (upper_[2] >= splat(low[2])) & (lower_[2] <= splat(high[2]));
    const int mask = maskOf(boxes) & lanes_;
    if (mask == 0) return 0;
    Float4 u[3][3];
    for (int k = 0; k < 3; ++k)
      for (int i = 0; i < 3; ++i) u[k][i] = splat(p[k][i]);
    const int near = mask & maskOf(reaches(v_, planesThrough(u)));
    return near == 0 ? 0 : near & maskOf(reaches(u, planes_));
  }

 private:
  /// A plane per lane, through corner `at`, with a normal that is not unit.
  struct Planes {
    Float4 at[3], normal[3];
    Float4 edge, size;  ///< what rounding of the normal grows with
  };

  static Float4 load(const float* p) {
    Float4 out;
    std::memcpy(&out, p, sizeof out);
    return out;
  }
  static void transpose(Float4* r) {
    const Float4 a = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5);
    const Float4 b = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5);
    const Float4 c = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7);
    const Float4 d = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
    r[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
    r[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
    r[2] = __builtin_shufflevector(c, d, 0, 1, 4, 5);
    r[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7);
  }

  static Planes planesThrough(const Float4 (&v)[3][3]) {
    Planes out;
    Float4 e[3], f[3];
    for (int i = 0; i < 3; ++i) {
      out.at[i] = v[0][i];
      e[i] = v[1][i] - v[0][i];
      f[i] = v[2][i] - v[0][i];
    }
    out.normal[0] = e[1] * f[2] - e[2] * f[1];
    out.normal[1] = e[2] * f[0] - e[0] * f[2];
    out.normal[2] = e[0] * f[1] - e[1] * f[0];
    const Float4 lengthE = abs4(e[0]) + abs4(e[1]) + abs4(e[2]);
    const Float4 lengthF = abs4(f[0]) + abs4(f[1]) + abs4(f[2]);
    out.edge = lengthE + lengthF;
    out.size = lengthE * lengthF;
    return out;
  }
  /// Whether the triangles v have points on both sides of the planes, or near them. The boxes
  /// overlap, so the corners are near: the slack is a length times that of the normal, and the
  /// rounding of the normal times their offsets.
  [[nodiscard]] geometry::Int4 reaches(const Float4 (&v)[3][3], const Planes& planes) const {
    Float4 lowest = splat(1e30f), highest = splat(-1e30f), offset = splat(0);
    for (int k = 0; k < 3; ++k) {
      const Float4 x = v[k][0] - planes.at[0], y = v[k][1] - planes.at[1],
                   z = v[k][2] - planes.at[2];
      const Float4 h = x * planes.normal[0] + y * planes.normal[1] + z * planes.normal[2];
      lowest = min4(lowest, h);
      highest = max4(highest, h);
      offset = max4(offset, abs4(x) + abs4(y) + abs4(z));
    }
    const Float4 slack = (offset * planes.edge + planes.size) * slack_;
    return (lowest <= slack) & (highest >= -slack);
  }

  Float4 v_[3][3];  ///< corner, coordinate
  Float4 lower_[3], upper_[3];
  Planes planes_;
  int lanes_ = 0;  ///< bit j: there is a triangle j
  float slack_ = 0;
};

/// Tells the crossings of two leaves.
class CrossingFinder {
 public:
  CrossingFinder(const MeshData& a, const MeshData& b, const Transform& X_AB)
      : a_(a), b_(b), X_AB_(X_AB), both_(a, b, X_AB) {
    tolerance_ = Real(1e-14) * (std::fmin(a.radius, b.radius) + norm(X_AB * b.center - a.center));
  }

  /// Calls found(crossing) for every pair of triangles that meet.
  template <class Found>
  void visitAll(const Found& found) {
    both_.visitOverlaps([&](int slotA, int countA, int slotB, int countB) {
      compare(slotA, countA, slotB, countB, [&](const Crossing& c) {
        found(c);
        return false;
      });
    });
  }
  [[nodiscard]] bool any() {
    return both_.findOverlap([&](int slotA, int countA, int slotB, int countB) {
      return compare(slotA, countA, slotB, countB, [](const Crossing&) { return true; });
    });
  }

 private:
  template <class Found>
  bool compare(int slotA, int countA, int slotB, int countB, const Found& found) {
    // Leaves of A often come one after the other against the same leaf of B.
    if (slotB != blockSlot_) {
      block_.set(both_.seenFromFirst(), unitB_ + 9 * slotB, countB);
      blockSlot_ = slotB;
    }
    for (int i = slotA; i < slotA + countA; ++i) {
      int mask = block_.mayMeet(unitA_ + 9 * i);
      for (int j = 0; mask != 0; ++j, mask >>= 1) {
        Crossing crossing;
        if ((mask & 1) != 0 && intersect(i, slotB + j, &crossing) && found(crossing)) return true;
      }
    }
    return false;
  }
  bool intersect(int slotA, int slotB, Crossing* out) const {
    const Vec3* const u = &a_.corners[3 * slotA];
    const Vec3* const w = &b_.corners[3 * slotB];
    const Vec3 v[3] = {X_AB_ * w[0], X_AB_ * w[1], X_AB_ * w[2]};
    const int ta = a_.bvh.order[slotA], tb = b_.bvh.order[slotB];
    kernel::TriangleCrossing<Real> c;
    if (!kernel::intersectTriangles(u, a_.normals[ta], v, X_AB_.rotation * b_.normals[tb],
                                    tolerance_, &c))
      return false;
    *out = {ta, tb, c.behindA, c.behindB, c.p, c.q};
    return true;
  }

  const MeshData& a_;
  const MeshData& b_;
  const Transform& X_AB_;
  DualTraversal both_;
  const float* unitA_ = a_.unitCorners().data();
  const float* unitB_ = b_.unitCorners().data();
  TriangleBlock block_;
  int blockSlot_ = -1;
  Real tolerance_;
};

}  // namespace tangere::collision
