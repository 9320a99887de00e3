// SPDX-License-Identifier: Apache-2.0
#include "geometry/bvh.hpp"

#include "geometry/bvh_builder.hpp"
#include "geometry/bvh_nearest.hpp"
#include "geometry/query_helpers.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

namespace tangere::geometry {

namespace {

/// The boxes that build() was given.
struct PrimitiveSource {
  std::span<const BvhPrimitive> primitives;
  std::vector<int>& order;

  [[nodiscard]] BvhBox box(int i) const {
    BvhBox out{primitives[i].lower, primitives[i].upper};
    out.lower[3] = 0;
    return out;
  }
  void append(int i) {
    const float bits = primitives[i].lower[3];
    std::int32_t index;
    std::memcpy(&index, &bits, sizeof index);
    order.push_back(index);
  }
};

}  // namespace

void Bvh::setFrame(const Aabb& bounds) {
  center = bounds.center();
  const Vec3 h = bounds.halfExtents();
  const Real extent = std::fmax(h.x, std::fmax(h.y, h.z));
  int exponent = 0;
  // Smaller than that is a point: one over it would not be finite.
  std::frexp(extent > Real(1e-200) ? extent : Real(1), &exponent);
  scale = std::ldexp(Real(1), exponent);
  inverseScale = std::ldexp(Real(1), -exponent);
}

void Bvh::build(std::span<const BvhPrimitive> primitives) {
  order.clear();
  order.reserve(primitives.size());
  PrimitiveSource source{primitives, order};
  const auto room = std::make_unique_for_overwrite<CellItem[]>(primitives.size());
  BvhBuilder<PrimitiveSource>(source, {room.get(), primitives.size()}, nodes).run();
}

PointInTree::PointInTree(const Bvh& bvh, const Vec3& p) : inverseScale_(bvh.inverseScale) {
  const Vec3 unit = bvh.toUnit(p);
  for (int k = 0; k < 3; ++k) p_[k] = splat(float(unit[k]));
  slack_ = Bvh::kUnitSlack * (1 + float(maxAbs(unit)));
}

float PointInTree::reach(Real squaredDistance) const {
  const Real r = std::sqrt(squaredDistance) * inverseScale_;
  // Squares of more than that are not floats: then everything is within reach.
  if (!(r < Real(1e15))) return std::numeric_limits<float>::infinity();
  const float bound = float(r) * 1.00001f + slack_;
  return bound * bound;
}

}  // namespace tangere::geometry
