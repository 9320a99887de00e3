// SPDX-License-Identifier: Apache-2.0
#include "collision/narrow_phase.hpp"

#include "collision/box_pairs.hpp"
#include "collision/capsule_pairs.hpp"
#include "collision/compound_pairs.hpp"
#include "collision/convex_pairs.hpp"
#include "collision/height_field_pairs.hpp"
#include "collision/mesh_pairs.hpp"
#include "collision/plane_pairs.hpp"
#include "collision/point_cloud_pairs.hpp"
#include "collision/sphere_pairs.hpp"
#include "geometry/limits.hpp"

#include <array>
#include <cmath>
#include <utility>

namespace tangere {

namespace collision {

namespace {

using Table = std::array<std::array<PairFunctions, kNumShapeTypes>, kNumShapeTypes>;

Table makeTable() {
  // Each pair belongs to exactly one family; the first that knows it has it.
  constexpr PairFunctions (*kFamilies[])(ShapeType, ShapeType) = {
      spherePairFunctions,      capsulePairFunctions,    planePairFunctions,
      boxPairFunctions,         convexPairFunctions,     meshPairFunctions,
      heightFieldPairFunctions, pointCloudPairFunctions, compoundPairFunctions};
  Table table;
  for (int i = 0; i < kNumShapeTypes; ++i)
    for (int j = i; j < kNumShapeTypes; ++j)
      for (const auto family : kFamilies) {
        table[i][j] = family(ShapeType(i), ShapeType(j));
        if (table[i][j].collide) break;
      }
  return table;
}

// At namespace scope, not inside the function: the guard of a local static is paid on every query.
const Table kTable = makeTable();

}  // namespace

const PairFunctions& pairFunctions(ShapeType type1, ShapeType type2) {
  return kTable[static_cast<int>(type1)][static_cast<int>(type2)];
}

}  // namespace collision

namespace {

using collision::pairFunctions;
using collision::PairFunctions;
using collision::PairInput;

// A pose with a NaN, an infinity or a position whose powers overflow must not reach a kernel: its
// loops assume numbers. One sum of all entries, positions squared, tells them all: what is not
// finite stays so, and what is far away dominates. Independent sums of pairs keep this to a few
// cycles.
[[gnu::always_inline]] inline bool areUsable(const Transform& X, const Transform& Y) {
  static_assert(sizeof(Transform) == 12 * sizeof(Real));
  const Real* v = &X.rotation.col[0].x;
  const Real* w = &Y.rotation.col[0].x;
  Real sum[4];
  for (int k = 0; k < 4; ++k) {
    const Real x = v[8 + k], y = w[8 + k];  // the position, and an entry that is at most 1
    sum[k] = (v[k] + w[k]) + (v[4 + k] + w[4 + k]) + (x * x + y * y);
  }
  // Six coordinates at their limit are still answered.
  constexpr Real kMaxSum = 6 * geometry::kMaxPosition * geometry::kMaxPosition;
  return std::fabs((sum[0] + sum[1]) + (sum[2] + sum[3])) <= kMaxSum;
}

bool isConvex(ShapeType type) { return type <= ShapeType::Ellipsoid || type == ShapeType::Convex; }

const PairFunctions& functionsFor(const Shape& shape1, const Shape& shape2,
                                  ConvexAlgorithm algorithm) {
  if (algorithm != ConvexAlgorithm::Auto && isConvex(shape1.type()) && isConvex(shape2.type()))
    return collision::generalConvexFunctions();
  return pairFunctions(shape1.type(), shape2.type());
}

void swapSides(ContactManifold& manifold) {
  for (int i = 0; i < manifold.count; ++i) {
    ContactPoint& point = manifold.points[i];
    point.normal = -point.normal;
    std::swap(point.feature1, point.feature2);
  }
}

void swapSides(DistanceResult& result) {
  result.normal = -result.normal;
  std::swap(result.point1, result.point2);
  std::swap(result.feature1, result.feature2);
}

// Everything but the plain question: other order, other algorithm, boolean, or something wrong.
[[gnu::noinline]] int collideGeneral(const Shape& shape1, const Transform& X_W1,
                                     const Shape& shape2, const Transform& X_W2,
                                     const CollisionOption& option, CollisionResult& result,
                                     PairCache* cache) {
  if (option.maxNumContacts <= 0) return 0;
  if (!areUsable(X_W1, X_W2)) {
    result.raiseStatus(QueryStatus::InvalidPose);
    return 0;
  }
  if (shape1.type() > shape2.type()) {
    const int first = result.numManifolds();
    const int count = collide(shape2, X_W2, shape1, X_W1, option, result, cache);
    for (int i = first; i < result.numManifolds(); ++i) swapSides(result.manifolds()[i]);
    return count;
  }
  const PairFunctions& functions = functionsFor(shape1, shape2, option.algorithm);
  if (!functions.collide) {
    result.raiseStatus(QueryStatus::Unsupported);
    return 0;
  }
  const PairInput input{shape1.flat(), X_W1, shape2.flat(), X_W2, cache};
  if (option.enableContact) return functions.collide(input, option, result);
  if (!functions.overlap(input)) return 0;
  result.markColliding();
  return 1;
}

}  // namespace

int collide(const Shape& shape1, const Transform& X_W1, const Shape& shape2, const Transform& X_W2,
            const CollisionOption& option, CollisionResult& result, PairCache* cache) {
  // The common question first: a sphere pair is answered in the time of the checks below.
  const bool plain = option.enableContact && option.algorithm == ConvexAlgorithm::Auto &&
                     option.maxNumContacts > 0 && shape1.type() <= shape2.type();
  if (plain && areUsable(X_W1, X_W2)) [[likely]] {
    const PairFunctions& functions = pairFunctions(shape1.type(), shape2.type());
    if (functions.collide) [[likely]]
      return functions.collide({shape1.flat(), X_W1, shape2.flat(), X_W2, cache}, option, result);
  }
  return collideGeneral(shape1, X_W1, shape2, X_W2, option, result, cache);
}

bool overlap(const Shape& shape1, const Transform& X_W1, const Shape& shape2, const Transform& X_W2,
             PairCache* cache) {
  if (!areUsable(X_W1, X_W2)) return false;
  if (shape1.type() > shape2.type()) return overlap(shape2, X_W2, shape1, X_W1, cache);
  const PairFunctions& functions = pairFunctions(shape1.type(), shape2.type());
  return functions.overlap && functions.overlap({shape1.flat(), X_W1, shape2.flat(), X_W2, cache});
}

DistanceResult distance(const Shape& shape1, const Transform& X_W1, const Shape& shape2,
                        const Transform& X_W2, const DistanceOption& option, PairCache* cache) {
  DistanceResult result;
  if (!areUsable(X_W1, X_W2)) {
    result.status = QueryStatus::InvalidPose;
    return result;
  }
  const bool swapped = shape1.type() > shape2.type();
  const Shape& lower = swapped ? shape2 : shape1;
  const Shape& upper = swapped ? shape1 : shape2;
  const PairFunctions& functions = functionsFor(lower, upper, option.algorithm);
  if (!functions.distance) {
    result.status = QueryStatus::Unsupported;
    return result;
  }
  functions.distance(
      {lower.flat(), swapped ? X_W2 : X_W1, upper.flat(), swapped ? X_W1 : X_W2, cache}, option,
      result);
  if (swapped) swapSides(result);
  return result;
}

PairSupport pairSupport(ShapeType type1, ShapeType type2) {
  if (type1 > type2) std::swap(type1, type2);
  const PairFunctions& functions = pairFunctions(type1, type2);
  PairSupport support{.collide = functions.collide != nullptr,
                      .distance = functions.distance != nullptr,
                      .reason = {}};
  if (support.collide && support.distance) return support;
  if (type1 == ShapeType::Plane && type2 == ShapeType::Plane)
    support.reason = "two half spaces meet along an unbounded line";
  else if (type1 == ShapeType::Plane && type2 == ShapeType::HeightField)
    support.reason = "a half space and a terrain are both unbounded ground";
  else if (type1 == ShapeType::HeightField && type2 == ShapeType::HeightField)
    support.reason = "two terrains are both unbounded ground";
  else if (type1 == ShapeType::PointCloud && type2 == ShapeType::PointCloud)
    support.reason = "two point clouds have no surface to touch";
  return support;
}

}  // namespace tangere
