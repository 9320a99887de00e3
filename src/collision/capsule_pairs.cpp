// SPDX-License-Identifier: Apache-2.0
#include "collision/capsule_pairs.hpp"

#include "collision/kernels/capsule_capsule.hpp"
#include "collision/kernels/capsule_ellipsoid.hpp"
#include "collision/kernels/convex_distance.hpp"
#include "collision/kernels/plane_contact.hpp"
#include "collision/kernels/segment_manifold.hpp"
#include "collision/pair_output.hpp"
#include "collision/plane_output.hpp"

#include <cmath>
#include <limits>

namespace tangere::collision {

namespace {

using kernel::SegmentPoints;
using Segment = kernel::SegmentT<Real>;

constexpr Real kInfinity = std::numeric_limits<Real>::infinity();

// ---------------------------------------------------------------- capsule, capsule

bool measureCapsules(const PairInput& input, Real limit, kernel::SegmentPair<Real>* out) {
  return kernel::segmentToSegment(input.X_W1.rotation.col[2], input.shape1.convex.size.z,
                                  input.X_W2.rotation.col[2], input.shape2.convex.size.z,
                                  input.X_W1.translation - input.X_W2.translation, limit, out);
}

std::int32_t axisFeature(Real t, Real half) {
  if (t <= -half) return kernel::vertexFeature(0);
  return t >= half ? kernel::vertexFeature(1) : kernel::edgeFeature(0, 1);
}

/// Calls write(core1, radius1, gap, feature1, feature2) for the points t1 and t2 of the axes.
template <class Write>
[[gnu::always_inline]] inline auto withCapsulesAt(const PairInput& input, Real t1, Real t2,
                                                  Real distance, const Write& write) {
  return write(input.X_W1.translation + input.X_W1.rotation.col[2] * t1, input.shape1.convex.radius,
               distance - input.shape2.convex.radius, axisFeature(t1, input.shape1.convex.size.z),
               axisFeature(t2, input.shape2.convex.size.z));
}

[[gnu::flatten]] int collideCapsules(const PairInput& input, const CollisionOption& option,
                                     CollisionResult& result) {
  const Real limit = input.shape1.convex.radius + input.shape2.convex.radius;
  kernel::SegmentPair<Real> nearest;
  if (!measureCapsules(input, limit, &nearest)) return 0;
  kernel::SideBySide<Real> along;
  if (option.maxNumContacts > 1)
    kernel::segmentsSideBySide(input.X_W1.rotation.col[2], input.shape1.convex.size.z,
                               input.X_W2.rotation.col[2], input.shape2.convex.size.z,
                               input.X_W1.translation - input.X_W2.translation, limit, nearest,
                               &along);
  if (along.count == 0)
    return withCapsulesAt(input, nearest.t1, nearest.t2, nearest.distance,
                          [&](const Vec3& core1, Real radius1, Real gap, std::int32_t feature1,
                              std::int32_t feature2) {
                            return addPoint(core1, nearest.normal, radius1, gap, feature1, feature2,
                                            result);
                          });

  ContactManifold& manifold = result.beginManifold();
  const int count = along.count < option.maxNumContacts ? along.count : option.maxNumContacts;
  for (int i = 0; i < count; ++i) {
    const auto& pair = along.pairs[i];
    withCapsulesAt(input, pair.t1, pair.t2, pair.distance,
                   [&](const Vec3& core1, Real radius1, Real gap, std::int32_t feature1,
                       std::int32_t feature2) {
                     writePoint(core1, pair.normal, radius1, gap, feature1, feature2,
                                manifold.points[i]);
                   });
    manifold.points[i].normal = nearest.normal;
  }
  manifold.count = count;
  manifold.type = ContactType::Edge;
  result.commitManifold();
  return count;
}

[[gnu::flatten]] bool overlapCapsules(const PairInput& input) {
  kernel::SegmentPair<Real> nearest;
  return measureCapsules(input, input.shape1.convex.radius + input.shape2.convex.radius, &nearest);
}

[[gnu::flatten]] void distanceCapsules(const PairInput& input, const DistanceOption& option,
                                       DistanceResult& result) {
  kernel::SegmentPair<Real> nearest;
  measureCapsules(input, kInfinity, &nearest);
  withCapsulesAt(
      input, nearest.t1, nearest.t2, nearest.distance,
      [&](const Vec3& core1, Real radius1, Real gap, std::int32_t feature1, std::int32_t feature2) {
        writeDistance(core1, nearest.normal, radius1, gap, feature1, feature2, option, result);
      });
}

// ---------------------------------------------------------------- capsule, solid

/// The pair seen as capsule and solid; a box comes before the capsule in the order of types.
template <ShapeType kSolid>
struct CapsuleAndSolid {
  static constexpr bool kCapsuleFirst = kSolid != ShapeType::Box;

  explicit CapsuleAndSolid(const PairInput& input)
      : capsule((kCapsuleFirst ? input.shape1 : input.shape2).convex),
        solid((kCapsuleFirst ? input.shape2 : input.shape1).convex),
        X_WC(kCapsuleFirst ? input.X_W1 : input.X_W2),
        X_WS(kCapsuleFirst ? input.X_W2 : input.X_W1) {}

  [[nodiscard]] Segment segmentInSolid() const {
    return {kernel::SegmentT<Real>{
        .center = transposeTimes(X_WS.rotation, X_WC.translation - X_WS.translation),
        .axis = transposeTimes(X_WS.rotation, X_WC.rotation.col[2]),
        .halfLength = capsule.size.z}};
  }

  const kernel::ConvexView<Real>& capsule;
  const kernel::ConvexView<Real>& solid;
  const Transform& X_WC;
  const Transform& X_WS;
};

template <ShapeType kSolid>
struct ContactOf {
  using Type = kernel::SegmentContact<Real>;
};
template <>
struct ContactOf<ShapeType::Box> {
  using Type = kernel::SegmentBoxContact<Real>;
};

template <ShapeType kSolid>
bool measureSolid(const Vec3& size, const Segment& segment, Real limit,
                  typename ContactOf<kSolid>::Type* out) {
  if constexpr (kSolid == ShapeType::Box)
    return kernel::segmentToBox(size, segment, limit, out);
  else if constexpr (kSolid == ShapeType::Cylinder)
    return kernel::segmentToRound<kernel::CoreType::Cylinder>(size, segment, limit, out);
  else if constexpr (kSolid == ShapeType::Cone)
    return kernel::segmentToRound<kernel::CoreType::Cone>(size, segment, limit, out);
  else
    return kernel::segmentToEllipsoid(size, segment, limit, out);
}

// Capsule and box with a cache. Not inline: a query without one does not carry this along.

/// The gap between the support planes across an axis in the frame of the box.
[[nodiscard]] Real gapAlong(const CapsuleAndSolid<ShapeType::Box>& pair, const Vec3& axis) {
  using std::fabs;
  const Real length2 = squaredNorm(axis);
  if (!(length2 > 0)) return 0;
  const Vec3 axis_W = pair.X_WS.rotation * axis;
  const Vec3& size = pair.solid.size;
  const Real gap = dot(axis_W, pair.X_WC.translation - pair.X_WS.translation) -
                   pair.capsule.size.z * fabs(dot(axis_W, pair.X_WC.rotation.col[2])) -
                   (size.x * fabs(axis.x) + size.y * fabs(axis.y) + size.z * fabs(axis.z));
  return gap / std::sqrt(length2) - pair.capsule.radius;
}

/// Whether the axis that separated them last time still does, and leaves enough of the gap.
[[gnu::noinline]] bool cachedAxisSeparates(const PairInput& input) {
  PairCache& cache = *input.cache;
  const CapsuleAndSolid<ShapeType::Box> pair(input);
  const Real gap = gapAlong(pair, cache.axis);
  const Real size = pair.solid.boundingRadius + pair.capsule.boundingRadius;
  if (!(gap > Real(1e-9) * size) || gap * gap < Real(0.02) * cache.apart.limit) return false;
  cache.apart.gap = gap;
  return true;
}

/// After a search that found them apart: the line of the nearest points, and the gap along it.
[[gnu::noinline]] void leaveAxis(const PairInput& input) {
  const CapsuleAndSolid<ShapeType::Box> pair(input);
  kernel::SegmentBoxContact<Real> contact;
  kernel::segmentToBox(pair.solid.size, pair.segmentInSolid(), kInfinity, &contact);
  input.cache->axis = contact.normal;
  input.cache->apart.gap = gapAlong(pair, contact.normal);
}

template <ShapeType kSolid>
SegmentPoints<Real> pointsOnSolid(const Vec3& size, const Segment& segment, Real radius,
                                  const typename ContactOf<kSolid>::Type& contact) {
  if constexpr (kSolid == ShapeType::Box)
    return kernel::segmentOnBox(size, segment, radius, contact);
  else if constexpr (kSolid == ShapeType::Cylinder)
    return kernel::segmentOnRound<kernel::CoreType::Cylinder>(size, segment, radius, contact);
  else if constexpr (kSolid == ShapeType::Cone)
    return kernel::segmentOnRound<kernel::CoreType::Cone>(size, segment, radius, contact);
  else
    return {.points = {{contact.t, contact.distance, contact.normal,
                        kernel::segmentFeature(segment, contact.t), kernel::kNoFeature}},
            .count = 1};
}

/// `outward` is the normal of the solid in world.
template <ShapeType kSolid>
[[gnu::always_inline]] inline int addSegmentPoints(const CapsuleAndSolid<kSolid>& pair,
                                                   const SegmentPoints<Real>& along,
                                                   const Vec3& outward, int maxNumContacts,
                                                   CollisionResult& result) {
  const int count = along.count < maxNumContacts ? along.count : maxNumContacts;
  const Real radius = pair.capsule.radius;
  ContactManifold& manifold = result.beginManifold();
  for (int i = 0; i < count; ++i) {
    const auto& from = along.points[i];
    ContactPoint& to = manifold.points[i];
    const Real depth = radius - from.height;
    const Vec3 up = along.count == 1 ? outward : pair.X_WS.rotation * from.up;
    to.position = pair.X_WC.translation +
                  (pair.X_WC.rotation.col[2] * from.t - up * (Real(0.5) * (radius + from.height)));
    to.normal = pair.kCapsuleFirst ? outward : -outward;
    to.depth = depth > 0 ? depth : 0;
    to.feature1 = pair.kCapsuleFirst ? from.segmentFeature : from.solidFeature;
    to.feature2 = pair.kCapsuleFirst ? from.solidFeature : from.segmentFeature;
  }
  manifold.count = count;
  manifold.type = along.count > 1 ? ContactType::Edge : ContactType::Point;
  result.commitManifold();
  return count;
}

template <ShapeType kSolid>
[[gnu::flatten]] int collideSolid(const PairInput& input, const CollisionOption& option,
                                  CollisionResult& result) {
  const CapsuleAndSolid<kSolid> pair(input);
  const Segment segment = pair.segmentInSolid();
  typename ContactOf<kSolid>::Type contact;
  constexpr bool kUsesCache = kSolid == ShapeType::Box;
  if constexpr (kUsesCache)
    if (input.cache && cachedAxisSeparates(input)) return 0;
  if (!measureSolid<kSolid>(pair.solid.size, segment, pair.capsule.radius, &contact)) {
    if constexpr (kUsesCache)
      if (input.cache) leaveAxis(input);
    return 0;
  }
  if constexpr (kUsesCache)
    if (input.cache) input.cache->axis = {};  // nothing to try next time
  return addSegmentPoints(
      pair, pointsOnSolid<kSolid>(pair.solid.size, segment, pair.capsule.radius, contact),
      pair.X_WS.rotation * contact.normal, option.maxNumContacts, result);
}

template <ShapeType kSolid>
[[gnu::flatten]] bool overlapSolid(const PairInput& input) {
  const CapsuleAndSolid<kSolid> pair(input);
  typename ContactOf<kSolid>::Type contact;
  return measureSolid<kSolid>(pair.solid.size, pair.segmentInSolid(), pair.capsule.radius,
                              &contact);
}

template <ShapeType kSolid>
[[gnu::flatten]] void distanceSolid(const PairInput& input, const DistanceOption& option,
                                    DistanceResult& out) {
  const CapsuleAndSolid<kSolid> pair(input);
  const Segment segment = pair.segmentInSolid();
  typename ContactOf<kSolid>::Type contact;
  measureSolid<kSolid>(pair.solid.size, segment, kInfinity, &contact);
  const Vec3 outward = pair.X_WS.rotation * contact.normal;
  const Vec3 core = pair.X_WC.translation + pair.X_WC.rotation.col[2] * contact.t;
  const Real radius = pair.capsule.radius;
  Vec3 onCapsule = core - outward * radius, onSolid = core - outward * contact.distance;
  out.distance = contact.distance - radius;
  if (out.distance < 0 && !option.enableSigned) {
    out.distance = 0;
    onCapsule = core - outward * (Real(0.5) * (radius + contact.distance));
    onSolid = onCapsule;
  }
  out.normal = pair.kCapsuleFirst ? outward : -outward;
  out.point1 = pair.kCapsuleFirst ? onCapsule : onSolid;
  out.point2 = pair.kCapsuleFirst ? onSolid : onCapsule;
  const std::int32_t ofCapsule = kernel::segmentFeature(segment, contact.t);
  std::int32_t ofSolid = kernel::kNoFeature;
  if constexpr (kSolid == ShapeType::Box)
    ofSolid = kernel::boxFeature(contact.distance > 0 ? contact.offset : contact.normal);
  out.feature1 = pair.kCapsuleFirst ? ofCapsule : ofSolid;
  out.feature2 = pair.kCapsuleFirst ? ofSolid : ofCapsule;
}

// ---------------------------------------------------------------- capsule, plane

template <kernel::PlanePoints kPoints, class Sink>
void measurePlane(const PairInput& input, Real limit, Sink& out) {
  const Vec3& n = input.X_W2.rotation.col[2];
  kernel::planeToCapsule<kPoints>(
      input.shape1.convex.radius, input.shape1.convex.size.z, input.X_W1.rotation, n,
      dot(n, input.X_W1.translation - input.X_W2.translation), limit, out);
}

[[gnu::flatten]] int collidePlane(const PairInput& input, const CollisionOption& option,
                                  CollisionResult& result) {
  PlaneManifold<PlaneSide::Shape2> manifold(input, result);
  measurePlane<kernel::PlanePoints::All>(input, 0, manifold);
  return manifold.commit(option.maxNumContacts);
}

[[gnu::flatten]] bool overlapPlane(const PairInput& input) {
  PlaneOverlap overlap;
  measurePlane<kernel::PlanePoints::Lowest>(input, 0, overlap);
  return overlap.found;
}

[[gnu::flatten]] void distancePlane(const PairInput& input, const DistanceOption& option,
                                    DistanceResult& result) {
  PlaneDistance<PlaneSide::Shape2> distance(input, option, result);
  measurePlane<kernel::PlanePoints::Lowest>(input, kInfinity, distance);
}

// ---------------------------------------------------------------- capsule, hull

int collideHull(const PairInput& input, const CollisionOption& option, CollisionResult& result) {
  const kernel::ConvexContact<Real> contact =
      kernel::convexDistance(input.shape1.convex, input.shape2.convex,
                             inverseTimes(input.X_W1, input.X_W2), Real(0), true, input.cache);
  if (contact.distance > 0) return 0;
  result.raiseStatus(contact.status);
  const CapsuleAndSolid<ShapeType::Convex> pair(input);
  const Real radius = pair.capsule.radius;
  const Vec3 outward = pair.X_WC.rotation * contact.normal;
  const kernel::SegmentContact<Real> core{
      .distance = contact.distance + radius,
      .normal = transposeTimes(pair.X_WS.rotation, outward),
      .t = kernel::clampMagnitude(contact.pointA.z + radius * contact.normal.z,
                                  pair.capsule.size.z)};
  return addSegmentPoints(pair,
                          kernel::segmentOnHull(*pair.solid.hull, pair.solid.boundingRadius,
                                                pair.segmentInSolid(), radius, core),
                          outward, option.maxNumContacts, result);
}

bool overlapHull(const PairInput& input) {
  return kernel::convexOverlap(input.shape1.convex, input.shape2.convex,
                               inverseTimes(input.X_W1, input.X_W2), input.cache);
}

void distanceHull(const PairInput& input, const DistanceOption& option, DistanceResult& out) {
  const kernel::ConvexContact<Real> contact = kernel::convexDistance(
      input.shape1.convex, input.shape2.convex, inverseTimes(input.X_W1, input.X_W2),
      option.upperBound, option.enableSigned, input.cache);
  out.distance = contact.distance;
  out.normal = input.X_W1.rotation * contact.normal;
  out.point1 = input.X_W1 * contact.pointA;
  out.point2 = input.X_W1 * contact.pointB;
  out.status = contact.status;
}

template <ShapeType kSolid>
constexpr PairFunctions kSolidFunctions{collideSolid<kSolid>, overlapSolid<kSolid>,
                                        distanceSolid<kSolid>};

}  // namespace

PairFunctions capsulePairFunctions(ShapeType type1, ShapeType type2) {
  if (type1 == ShapeType::Box && type2 == ShapeType::Capsule)
    return kSolidFunctions<ShapeType::Box>;
  if (type1 != ShapeType::Capsule) return {};
  switch (type2) {
    case ShapeType::Capsule:
      return {collideCapsules, overlapCapsules, distanceCapsules, collideDirectly<collideCapsules>};
    case ShapeType::Cylinder:
      return kSolidFunctions<ShapeType::Cylinder>;
    case ShapeType::Cone:
      return kSolidFunctions<ShapeType::Cone>;
    case ShapeType::Ellipsoid:
      return kSolidFunctions<ShapeType::Ellipsoid>;
    case ShapeType::Plane:
      return {collidePlane, overlapPlane, distancePlane, collideDirectly<collidePlane>};
    case ShapeType::Convex:
      return {collideHull, overlapHull, distanceHull};
    default:
      return {};
  }
}

}  // namespace tangere::collision
