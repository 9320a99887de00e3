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
#include "geometry/kernels/support.hpp"
#include "geometry/limits.hpp"

#include <array>
#include <cmath>
#include <utility>

namespace tangere {

namespace collision {

namespace {

using Table = std::array<std::array<PairFunctions, kNumShapeTypes>, kNumShapeTypes>;

/// The direct function of all pairs that have none of their own.
int collideByTable(const Shape& shape1, const Transform& X_W1, const Shape& shape2,
                   const Transform& X_W2, const CollisionOption& option, CollisionResult& result,
                   PairCache* cache) {
  const PairFunctions& functions = pairFunctions(shape1.type(), shape2.type());
  if (!functions.collide) {
    result.raiseStatus(QueryStatus::Unsupported);
    return 0;
  }
  return functions.collide({shape1.flat(), X_W1, shape2.flat(), X_W2, cache}, option, result);
}

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
  for (auto& row : table)
    for (PairFunctions& functions : row)
      if (!functions.collideDirect) functions.collideDirect = collideByTable;
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

/// Whether two shapes with these halves of squares of their motions keep some of their gap:
/// sqrt(2 m1) + sqrt(2 m2) < gap, without the roots.
[[gnu::always_inline]] inline bool leaveOfGap(Real squaredGap, Real m1, Real m2) {
  const Real rest = Real(0.5) * squaredGap - (m1 + m2);
  return rest > 0 && rest * rest > 4 * m1 * m2;
}

/// A point x of a shape moves by |dR x + dt| <= |dR|_F |x| / sqrt(2) + |dt|, whose square is at
/// most 2 (weight |dR|_F^2 + |dt|^2). Half of that.
[[gnu::always_inline]] inline Real halfSquaredMotion(const Transform& X, const Transform& Y,
                                                     Real weight) {
  const Real* v = &X.rotation.col[0].x;
  const Real* w = &Y.rotation.col[0].x;
  Real sum[4];
  for (int i = 0; i < 4; ++i) {
    const Real d = v[i] - w[i], e = v[4 + i] - w[4 + i], f = v[8 + i] - w[8 + i];
    // The last entry of the rotation is the first of f.
    sum[i] = (d * d + e * e) * weight + (f * f) * (i == 0 ? weight : Real(1));
  }
  return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

bool movedLittle(const PairCache::Apart& last, Real squaredGap, const Transform& X_W1,
                 const Transform& X_W2) {
  return leaveOfGap(squaredGap, halfSquaredMotion(X_W1, last.X_W1, last.weight1),
                    halfSquaredMotion(X_W2, last.X_W2, last.weight2));
}

#ifdef TANGERE_SUPPORT_SSE2
/// The same bit for bit in lanes of four; chosen at run time where the processor has them.
[[gnu::target("avx2")]] bool movedLittleAvx2(const PairCache::Apart& last, Real squaredGap,
                                             const Transform& X_W1, const Transform& X_W2) {
  const auto motion = [](const Transform& X, const Transform& Y, Real weight)
      __attribute__((target("avx2"), always_inline)) {
    const Real* v = &X.rotation.col[0].x;
    const Real* w = &Y.rotation.col[0].x;
    const __m256d d = _mm256_sub_pd(_mm256_loadu_pd(v), _mm256_loadu_pd(w));
    const __m256d e = _mm256_sub_pd(_mm256_loadu_pd(v + 4), _mm256_loadu_pd(w + 4));
    const __m256d f = _mm256_sub_pd(_mm256_loadu_pd(v + 8), _mm256_loadu_pd(w + 8));
    const __m256d weights = _mm256_blend_pd(_mm256_set1_pd(1), _mm256_set1_pd(weight), 1);
    const __m256d turned = _mm256_add_pd(_mm256_mul_pd(d, d), _mm256_mul_pd(e, e));
    const __m256d sum = _mm256_add_pd(_mm256_mul_pd(turned, _mm256_set1_pd(weight)),
                                      _mm256_mul_pd(_mm256_mul_pd(f, f), weights));
    const __m128d half = _mm_add_pd(_mm256_castpd256_pd128(sum), _mm256_extractf128_pd(sum, 1));
    return _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)));
  };
  return leaveOfGap(squaredGap, motion(X_W1, last.X_W1, last.weight1),
                    motion(X_W2, last.X_W2, last.weight2));
}
#endif

[[gnu::always_inline]] inline bool isAbout(const PairCache::Apart& proof, const Shape& shape1,
                                           const Shape& shape2) {
  return proof.shape1 == shape1.flat().id && proof.shape2 == shape2.flat().id;
}

/// Whether the shapes have moved too little since the last query to have closed a gap. Poses that
/// are not finite have moved too far.
[[gnu::always_inline]] inline bool keepGap(const PairCache::Apart& last, Real squaredGap,
                                           const Transform& X_W1, const Transform& X_W2) {
#ifdef TANGERE_SUPPORT_SSE2
  if (__builtin_cpu_supports("avx2")) return movedLittleAvx2(last, squaredGap, X_W1, X_W2);
#endif
  return movedLittle(last, squaredGap, X_W1, X_W2);
}

[[gnu::always_inline]] inline bool areStillApart(const PairCache* cache, const Shape& shape1,
                                                 const Transform& X_W1, const Shape& shape2,
                                                 const Transform& X_W2) {
  const PairCache::Apart& last = cache->apart;
  return isAbout(last, shape1, shape2) && keepGap(last, last.limit, X_W1, X_W2);
}

/// Keeps the gap that a query left in its cache as a proof for poses nearby.
[[gnu::noinline]] void rememberGap(PairCache& cache, const Shape& shape1, const Transform& X_W1,
                                   const Shape& shape2, const Transform& X_W2) {
  const auto radius = [](const kernel::ConvexView<Real>& view) {
    return norm(view.center) + view.boundingRadius;
  };
  const Real radius1 = radius(shape1.flat().convex), radius2 = radius(shape2.flat().convex);
  // A gap much smaller than the shapes is used up before the proof has paid; and rounding must be
  // nothing beside it.
  const Real size = radius1 + radius2;
  if (!(cache.apart.gap > Real(0.01) * size) ||
      !(cache.apart.gap > Real(1e-9) * norm(X_W1.translation - X_W2.translation)))
    return;
  const Real usable = Real(0.99) * cache.apart.gap;
  cache.apart.limit = usable * usable;
  cache.apart.weight1 = Real(0.5) * radius1 * radius1;
  cache.apart.weight2 = Real(0.5) * radius2 * radius2;
  cache.apart.shape1 = shape1.flat().id;
  cache.apart.shape2 = shape2.flat().id;
  cache.apart.X_W1 = X_W1;
  cache.apart.X_W2 = X_W2;
}

/// After a query: what it proved, if anything. Shapes in contact are not worth asking next time.
[[gnu::always_inline]] inline void rememberApart(PairCache& cache, bool colliding,
                                                 const Shape& shape1, const Transform& X_W1,
                                                 const Shape& shape2, const Transform& X_W2) {
  if (colliding)
    cache.apart.shape1 = 0;
  else if (cache.apart.gap > 0)
    rememberGap(cache, shape1, X_W1, shape2, X_W2);
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

// Any question in the other order of types.
[[gnu::noinline]] int collideSwapped(const Shape& shape1, const Transform& X_W1,
                                     const Shape& shape2, const Transform& X_W2,
                                     const CollisionOption& option, CollisionResult& result,
                                     PairCache* cache) {
  const int first = result.numManifolds();
  const int count = collide(shape2, X_W2, shape1, X_W1, option, result, cache);
  for (int i = first; i < result.numManifolds(); ++i) swapSides(result.manifolds()[i]);
  return count;
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
  if (shape1.type() > shape2.type())
    return collideSwapped(shape1, X_W1, shape2, X_W2, option, result, cache);
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

// The plain question with a cache, where the proof in it does not hold.
[[gnu::noinline]] int collideAnew(const Shape& shape1, const Transform& X_W1, const Shape& shape2,
                                  const Transform& X_W2, const CollisionOption& option,
                                  CollisionResult& result, PairCache* cache) {
  const PairFunctions& functions = pairFunctions(shape1.type(), shape2.type());
  if (!areUsable(X_W1, X_W2) || !functions.collide)
    return collideGeneral(shape1, X_W1, shape2, X_W2, option, result, cache);
  cache->apart.gap = 0;
  const int count =
      functions.collide({shape1.flat(), X_W1, shape2.flat(), X_W2, cache}, option, result);
  rememberApart(*cache, count > 0, shape1, X_W1, shape2, X_W2);
  return count;
}

// The plain question with a cache. Each of these jumps to the next with all arguments in place: a
// proof that holds is the whole answer, and saves no registers.
#ifdef TANGERE_SUPPORT_SSE2
[[gnu::noinline, gnu::flatten, gnu::target("avx2")]] int collideWithCacheAvx2(
    const Shape& shape1, const Transform& X_W1, const Shape& shape2, const Transform& X_W2,
    const CollisionOption& option, CollisionResult& result, PairCache* cache) {
  const PairCache::Apart& last = cache->apart;
  if (isAbout(last, shape1, shape2) && movedLittleAvx2(last, last.limit, X_W1, X_W2)) return 0;
  return collideAnew(shape1, X_W1, shape2, X_W2, option, result, cache);
}
#endif

[[gnu::noinline]] int collideWithCache(const Shape& shape1, const Transform& X_W1,
                                       const Shape& shape2, const Transform& X_W2,
                                       const CollisionOption& option, CollisionResult& result,
                                       PairCache* cache) {
#ifdef TANGERE_SUPPORT_SSE2
  if (__builtin_cpu_supports("avx2"))
    return collideWithCacheAvx2(shape1, X_W1, shape2, X_W2, option, result, cache);
#endif
  const PairCache::Apart& last = cache->apart;
  if (isAbout(last, shape1, shape2) && movedLittle(last, last.limit, X_W1, X_W2)) return 0;
  return collideAnew(shape1, X_W1, shape2, X_W2, option, result, cache);
}

}  // namespace

int collide(const Shape& shape1, const Transform& X_W1, const Shape& shape2, const Transform& X_W2,
            const CollisionOption& option, CollisionResult& result, PairCache* cache) {
  // The common question first: a sphere pair is answered in the time of the checks below. Whatever
  // comes next is jumped to, with all arguments in place.
  const bool plain = option.enableContact && option.algorithm == ConvexAlgorithm::Auto &&
                     option.maxNumContacts > 0;
  if (plain && shape1.type() > shape2.type())
    return collideSwapped(shape1, X_W1, shape2, X_W2, option, result, cache);
  if (plain && cache) return collideWithCache(shape1, X_W1, shape2, X_W2, option, result, cache);
  if (plain && areUsable(X_W1, X_W2)) [[likely]] {
    const PairFunctions& functions = pairFunctions(shape1.type(), shape2.type());
    if (functions.collideDirect) [[likely]]  // null only before the table is made
      return functions.collideDirect(shape1, X_W1, shape2, X_W2, option, result, cache);
  }
  return collideGeneral(shape1, X_W1, shape2, X_W2, option, result, cache);
}

bool overlap(const Shape& shape1, const Transform& X_W1, const Shape& shape2, const Transform& X_W2,
             PairCache* cache) {
  if (cache && areStillApart(cache, shape1, X_W1, shape2, X_W2)) return false;
  if (!areUsable(X_W1, X_W2)) return false;
  if (shape1.type() > shape2.type()) return overlap(shape2, X_W2, shape1, X_W1, cache);
  const PairFunctions& functions = pairFunctions(shape1.type(), shape2.type());
  if (!functions.overlap) return false;
  const PairInput input{shape1.flat(), X_W1, shape2.flat(), X_W2, cache};
  if (!cache) return functions.overlap(input);
  cache->apart.gap = 0;
  const bool found = functions.overlap(input);
  rememberApart(*cache, found, shape1, X_W1, shape2, X_W2);
  return found;
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

bool collision::areProvenApart(const PairCache& cache, const Shape& shape1, const Transform& X_W1,
                               const Shape& shape2, const Transform& X_W2, Real reach) {
  // Queries put the lower type first.
  if (shape1.type() > shape2.type())
    return areProvenApart(cache, shape2, X_W2, shape1, X_W1, reach);
  const PairCache::Apart& proof = cache.apart;
  if (!isAbout(proof, shape1, shape2)) return false;
  const Real rest = std::sqrt(proof.limit) - reach;
  return rest > 0 && keepGap(proof, rest * rest, X_W1, X_W2);
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
