// SPDX-License-Identifier: Apache-2.0
//
// Static tree of boxes with four children per node, for triangles and points.
//
// Boxes are kept as floats, rounded outward, in "unit" coordinates: (p - center) / scale, all
// within [-1, 1]. They only ever cull; every answer is computed from the doubles of the primitives,
// so it does not depend on the tree. The tree depends on its input alone: same input, same bits.
#pragma once

#include <tangere/types.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace tangere::geometry {

/// Four floats in one register; plain IEEE arithmetic lane by lane.
using Float4 = float __attribute__((vector_size(16)));
using Int4 = std::int32_t __attribute__((vector_size(16)));

[[nodiscard]] inline Float4 splat(float x) { return Float4{x, x, x, x}; }
#if defined(__SSE__)
[[nodiscard]] inline Float4 min4(Float4 a, Float4 b) { return (Float4)_mm_min_ps(a, b); }
[[nodiscard]] inline Float4 max4(Float4 a, Float4 b) { return (Float4)_mm_max_ps(a, b); }
[[nodiscard]] inline Float4 sqrt4(Float4 a) { return (Float4)_mm_sqrt_ps(a); }
/// Bit i is set where lane i of a comparison is true.
[[nodiscard]] inline int maskOf(Int4 m) { return _mm_movemask_ps((__m128)m); }
#else
[[nodiscard]] inline Float4 min4(Float4 a, Float4 b) {
  for (int i = 0; i < 4; ++i) a[i] = a[i] < b[i] ? a[i] : b[i];
  return a;
}
[[nodiscard]] inline Float4 max4(Float4 a, Float4 b) {
  for (int i = 0; i < 4; ++i) a[i] = a[i] > b[i] ? a[i] : b[i];
  return a;
}
[[nodiscard]] inline Float4 sqrt4(Float4 a) {
  for (int i = 0; i < 4; ++i) a[i] = std::sqrt(a[i]);
  return a;
}
[[nodiscard]] inline int maskOf(Int4 m) {
  return (m[0] & 1) | (m[1] & 2) | (m[2] & 4) | (m[3] & 8);
}
#endif
[[nodiscard]] inline Float4 abs4(Float4 a) { return (Float4)((Int4)a & 0x7fffffff); }

/// One node: the boxes of four children. count[i] > 0: a leaf with the slots
/// child[i] .. child[i] + count[i]; 0: an inner node child[i]; -1: no child (an inverted box).
struct alignas(64) BvhNode {
  Float4 lower[3];
  Float4 upper[3];
  std::int32_t child[4];
  std::int32_t count[4];
};
static_assert(sizeof(BvhNode) == 128);

/// A primitive's box in unit coordinates, for Bvh::build().
struct alignas(32) BvhPrimitive {
  Float4 lower;  ///< lane 3 holds the bits of the primitive's index
  Float4 upper;
};

struct Bvh {
  static constexpr int kLeafSize = 4;
  /// No path from the root is longer than this, whatever the input.
  static constexpr int kMaxDepth = 64;
  /// Enough for any traversal that pops one entry and pushes up to four.
  static constexpr int kStackSize = 3 * kMaxDepth + 8;
  /// What one rounding to float in [-1, 1] can lose, with room to spare.
  static constexpr float kUnitSlack = 1e-6f;
  /// One ulp of 1: by so much boxes of coordinates rounded to nearest grow.
  static constexpr float kRounding = 1.2e-7f;

  Vec3 center{};
  Real scale = 1;
  Real inverseScale = 1;
  std::vector<BvhNode> nodes;  ///< nodes[0] is the root
  std::vector<int> order;      ///< slot -> primitive

  [[nodiscard]] Vec3 toUnit(const Vec3& p) const { return (p - center) * inverseScale; }

  /// Chooses center and scale (a power of two) for primitives within `bounds`.
  void setFrame(const Aabb& bounds);
  /// A primitive for build(), from its box.
  [[nodiscard]] BvhPrimitive primitive(const Vec3& lower, const Vec3& upper, int index) const {
    const Vec3 a = toUnit(lower), b = toUnit(upper);
    return primitive(Float4{float(a.x), float(a.y), float(a.z), 0},
                     Float4{float(b.x), float(b.y), float(b.z), 0}, index);
  }
  /// The same from unit coordinates that were rounded to nearest.
  [[nodiscard]] static BvhPrimitive primitive(Float4 lower, Float4 upper, int index) {
    BvhPrimitive out{lower - kRounding, upper + kRounding};
    const std::int32_t i = index;
    float bits;
    std::memcpy(&bits, &i, sizeof bits);
    out.lower[3] = bits;
    return out;
  }
  /// Fills nodes and order; see BvhBuilder.
  void build(std::span<const BvhPrimitive> primitives);
};

/// What a traversal knows of a child: a node, or a run of slots.
struct BvhRef {
  std::int32_t child = 0;
  std::int32_t count = 0;  ///< 0: inner node
};

}  // namespace tangere::geometry
