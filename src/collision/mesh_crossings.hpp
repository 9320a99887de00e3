// SPDX-License-Identifier: Apache-2.0
//
// The pairs of triangles in which two meshes cross.
#pragma once

#include "collision/kernels/triangle_triangle.hpp"
#include "collision/mesh_dual_tree.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::collision {

/// Two triangles that meet, and the segment they share in the frame of A.
struct Crossing {
  int triangleA, triangleB;
  Vec3 p, q;
};

/// Up to four triangles in float, in the unit coordinates of the first tree: most pairs of two
/// leaves are told apart by boxes and planes at once.
class TriangleBlock {
 public:
  /// `corners` are unit coordinates of the second tree, nine per triangle; `seen` takes them to
  /// those of the first.
  TriangleBlock(const OtherTree& seen, const float* corners, int count)
      : lanes_((1 << count) - 1), slack_(seen.slack()) {
    for (int k = 0; k < 3; ++k) {
      Float4 x = splat(0), y = x, z = x;
      for (int j = 0; j < count; ++j) {
        const float* const p = corners + 9 * j + 3 * k;
        x[j] = p[0];
        y[j] = p[1];
        z[j] = p[2];
      }
      seen.transform(x, y, z, &x_[k], &y_[k], &z_[k]);
    }
    lower_[0] = min4(x_[0], min4(x_[1], x_[2]));
    lower_[1] = min4(y_[0], min4(y_[1], y_[2]));
    lower_[2] = min4(z_[0], min4(z_[1], z_[2]));
    upper_[0] = max4(x_[0], max4(x_[1], x_[2]));
    upper_[1] = max4(y_[0], max4(y_[1], y_[2]));
    upper_[2] = max4(z_[0], max4(z_[1], z_[2]));
  }
  /// Bit j: triangle j may meet the triangle u, given in unit coordinates of the first tree.
  [[nodiscard]] int mayMeet(const float* u) const {
    const float ax = u[0], ay = u[1], az = u[2];
    const float bx = u[3], by = u[4], bz = u[5];
    const float cx = u[6], cy = u[7], cz = u[8];
    const float s = slack_;
    const auto low = [s](float p, float q, float r) { return std::min(p, std::min(q, r)) - s; };
    const auto high = [s](float p, float q, float r) { return std::max(p, std::max(q, r)) + s; };
    const geometry::Int4 boxes =
        (upper_[0] >= splat(low(ax, bx, cx))) & (lower_[0] <= splat(high(ax, bx, cx))) &
        (upper_[1] >= splat(low(ay, by, cy))) & (lower_[1] <= splat(high(ay, by, cy))) &
        (upper_[2] >= splat(low(az, bz, cz))) & (lower_[2] <= splat(high(az, bz, cz)));
    const int mask = maskOf(boxes) & lanes_;
    if (mask == 0) return 0;
    // Heights over the plane of u; the slack is a length times that of the normal.
    const float ex = bx - ax, ey = by - ay, ez = bz - az;
    const float fx = cx - ax, fy = cy - ay, fz = cz - az;
    const float nx = ey * fz - ez * fy, ny = ez * fx - ex * fz, nz = ex * fy - ey * fx;
    const float size = (std::fabs(ex) + std::fabs(ey) + std::fabs(ez)) *
                       (std::fabs(fx) + std::fabs(fy) + std::fabs(fz));
    // The boxes overlap, so the vertices are near: rounding of the normal times their offsets.
    Float4 above = splat(1e30f), below = splat(-1e30f), reach = splat(0);
    for (int k = 0; k < 3; ++k) {
      const Float4 dx = x_[k] - ax, dy = y_[k] - ay, dz = z_[k] - az;
      const Float4 h = dx * nx + dy * ny + dz * nz;
      above = min4(above, h);
      below = max4(below, h);
      reach = max4(reach, abs4(dx) + abs4(dy) + abs4(dz));
    }
    const float edge = std::fabs(ex) + std::fabs(ey) + std::fabs(ez) + std::fabs(fx) +
                       std::fabs(fy) + std::fabs(fz);
    const Float4 slack = reach * (edge * s) + size * s;
    return mask & maskOf((above <= slack) & (below >= -slack));
  }

 private:
  Float4 x_[3], y_[3], z_[3];
  Float4 lower_[3], upper_[3];
  int lanes_;  ///< bit j: there is a triangle j
  float slack_;
};

/// Calls found(crossing) for every pair of triangles that meet; stops when it returns true.
template <class Found>
bool findCrossings(const MeshData& a, const MeshData& b, const Transform& X_AB, bool ordered,
                   const Found& found) {
  DualTraversal both(a, b, X_AB);
  const Real tolerance =
      Real(1e-14) * (std::fmin(a.radius, b.radius) + norm(X_AB * b.center - a.center));
  const float* const unitA = a.unitCorners().data();
  const float* const unitB = b.unitCorners().data();
  return both.visitOverlaps(ordered, [&](int slotA, int countA, int slotB, int countB) {
    const TriangleBlock block(both.seenFromFirst(), unitB + 9 * slotB, countB);
    for (int i = slotA; i < slotA + countA; ++i) {
      int mask = block.mayMeet(unitA + 9 * i);
      if (mask == 0) continue;
      const Vec3* const u = &a.corners[3 * i];
      const int ta = a.bvh.order[i];
      for (int j = 0; mask != 0; ++j, mask >>= 1) {
        if ((mask & 1) == 0) continue;
        const int tb = b.bvh.order[slotB + j];
        const Vec3* const w = &b.corners[3 * (slotB + j)];
        const Vec3 v[3] = {X_AB * w[0], X_AB * w[1], X_AB * w[2]};
        kernel::TriangleCrossing<Real> c;
        if (!kernel::intersectTriangles(u, a.normals[ta], v, X_AB.rotation * b.normals[tb],
                                        tolerance, &c))
          continue;
        if (found(Crossing{ta, tb, c.p, c.q})) return true;
      }
    }
    return false;
  });
}

}  // namespace tangere::collision
