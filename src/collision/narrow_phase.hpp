// SPDX-License-Identifier: Apache-2.0
//
// The one table ShapeType x ShapeType. Each family of pairs (sphere_pairs, convex_pairs, ...) gives
// its functions for the pairs it owns; the table orders every query so that
// type(shape1) <= type(shape2), and turns the answer round where it had to swap.
#pragma once

#include <tangere/collision.hpp>

#include "geometry/flat_shape.hpp"

namespace tangere::collision {

struct PairInput {
  const geometry::FlatShape& shape1;
  const Transform& X_W1;
  const geometry::FlatShape& shape2;
  const Transform& X_W2;
  PairCache* cache;  ///< may be null
};

/// Appends manifolds (world frame, normal from 2 to 1); returns the number of contacts added.
using CollideFunction = int (*)(const PairInput&, const CollisionOption&, CollisionResult&);
using OverlapFunction = bool (*)(const PairInput&);
using DistanceFunction = void (*)(const PairInput&, const DistanceOption&, DistanceResult&);

/// A CollideFunction with the arguments of tangere::collide() where they are: the pairs of a few
/// nanoseconds are reached by a jump. For contacts of usable poses; the cache is not looked at.
using DirectCollideFunction = int (*)(const Shape&, const Transform&, const Shape&,
                                      const Transform&, const CollisionOption&, CollisionResult&,
                                      PairCache*);

template <CollideFunction kCollide>
[[gnu::flatten]] int collideDirectly(const Shape& shape1, const Transform& X_W1,
                                     const Shape& shape2, const Transform& X_W2,
                                     const CollisionOption& option, CollisionResult& result,
                                     PairCache*) {
  return kCollide({shape1.flat(), X_W1, shape2.flat(), X_W2, nullptr}, option, result);
}

struct PairFunctions {
  CollideFunction collide = nullptr;
  OverlapFunction overlap = nullptr;
  DistanceFunction distance = nullptr;
  DirectCollideFunction collideDirect = nullptr;  ///< null where `collide` alone will do
};

/// The functions for type1 <= type2, null where the pair is refused.
[[nodiscard]] const PairFunctions& pairFunctions(ShapeType type1, ShapeType type2);

/// Whether what queries with this cache proved suffices to say that the shapes are farther apart
/// than `reach`. False means nothing.
[[nodiscard]] bool areProvenApart(const PairCache& cache, const Shape& shape1,
                                  const Transform& X_W1, const Shape& shape2, const Transform& X_W2,
                                  Real reach);

}  // namespace tangere::collision
