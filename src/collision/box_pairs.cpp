// SPDX-License-Identifier: Apache-2.0
#include "collision/box_pairs.hpp"

#include "collision/kernels/box_box.hpp"
#include "collision/kernels/box_distance.hpp"
#include "collision/kernels/convex_distance.hpp"

#include <cmath>

namespace tangere::collision {

namespace {

using kernel::BoxAxis;
using kernel::BoxPair;

// A gap below this share of the boxes is left to the full test: the cached axis and the fifteen
// axes must not disagree by rounding.
constexpr Real kCachedGap = 1e-9;

// An axis is looked for anew when the squared gap along it is less than this share of what the axis
// had to begin with: a small gap is soon used up.
constexpr Real kWorthKeeping = 0.02;

// Marks a PairCache whose index1 and index2 hold the sides of the boxes that were nearest. They are
// a guess, and nothing depends on it being right.
constexpr std::int16_t kNearestSidesMark = 0x5b0;

/// Whether the axis that separated the boxes last time still does.
bool cachedAxisSeparates(const PairInput& input) {
  if (!input.cache) return false;
  const Vec3& axis = input.cache->axis;
  if (axis == Vec3{}) return false;
  const Vec3& a = input.shape1.convex.size;
  const Vec3& b = input.shape2.convex.size;
  const Vec3 axis_W = input.X_W1.rotation * axis;
  const Vec3 axis_B = transposeTimes(input.X_W2.rotation, axis_W);
  using std::fabs;
  const Real reach = (a.x * fabs(axis.x) + a.y * fabs(axis.y) + a.z * fabs(axis.z)) +
                     (b.x * fabs(axis_B.x) + b.y * fabs(axis_B.y) + b.z * fabs(axis_B.z));
  const Real apart = fabs(dot(axis_W, input.X_W2.translation - input.X_W1.translation));
  if (!(apart > reach * (1 + kCachedGap))) return false;
  // Another pair may have left anything, and an axis that leaves little of the gap should go.
  const Real gap = apart - reach;
  if (std::fabs(squaredNorm(axis) - 1) > Real(1e-9)) return true;
  if (gap * gap < kWorthKeeping * input.cache->apart.limit) return false;
  input.cache->apart.gap = gap;
  return true;
}

/// Boxes that are farther apart than their bounding balls.
bool ballsAreApart(const PairInput& input) {
  const kernel::ConvexView<Real>&a = input.shape1.convex, &b = input.shape2.convex;
  if (kernel::boundingBallsOverlap(a, input.X_W1, b, input.X_W2)) return false;
  if (input.cache)
    input.cache->apart.gap = norm(input.X_W2.translation - input.X_W1.translation) -
                             (a.boundingRadius + b.boundingRadius);
  return true;
}

/// A separating BoxAxis in box 1's axes, and its gap, for the cache.
void storeAxis(const PairInput& input, const BoxPair<Real>& pair, int index) {
  if (!input.cache) return;
  Vec3 axis{};
  if (index < 3) {
    axis[index] = 1;
  } else if (index < 6) {
    axis = {pair.r[0][index - 3], pair.r[1][index - 3], pair.r[2][index - 3]};
  } else {
    axis = kernel::edgeAxis(pair, (index - 6) / 3, (index - 6) % 3);
    axis = axis * (1 / norm(axis));
  }
  input.cache->axis = axis;
  const Real overlap = kernel::overlapOnAxis(pair, axis);
  if (overlap < 0) input.cache->apart.gap = -overlap;
}

/// findBoxAxis(), which leaves a separating axis in the cache.
bool findAxis(const PairInput& input, const BoxPair<Real>& pair, BoxAxis<Real>& axis) {
  const bool overlapping = kernel::findBoxAxis(pair, &axis);
  if (!input.cache) return overlapping;
  if (overlapping) {
    input.cache->axis = {};  // nothing to try next time
    return true;
  }
  storeAxis(input, pair, axis.index);
  return false;
}

/// The axis of least overlap, or nothing when the boxes are apart.
bool findOverlap(const PairInput& input, BoxPair<Real>& pair, BoxAxis<Real>& axis) {
  if (ballsAreApart(input) || cachedAxisSeparates(input)) return false;
  kernel::makeBoxPair(input.shape1.convex, input.X_W1, input.shape2.convex, input.X_W2, &pair);
  return findAxis(input, pair, axis);
}

int collideBoxes(const PairInput& input, const CollisionOption& option, CollisionResult& result) {
  BoxPair<Real> pair;
  BoxAxis<Real> axis;
  if (!findOverlap(input, pair, axis)) return 0;
  ContactManifold& manifold = result.beginManifold();
  if (option.maxNumContacts == 1) {
    kernel::writeDeepestBoxPoint(pair, axis, input.X_W1, input.X_W2, &manifold.points[0]);
    manifold.count = 1;
    manifold.type = ContactType::Point;
  } else {
    kernel::writeBoxManifold(input.shape1.convex, input.X_W1, input.shape2.convex, input.X_W2, pair,
                             axis, &manifold);
    // The points come deepest first.
    if (manifold.count > option.maxNumContacts) manifold.count = option.maxNumContacts;
  }
  result.commitManifold();
  return manifold.count;
}

bool boxesOverlap(const PairInput& input) {
  if (ballsAreApart(input) || cachedAxisSeparates(input)) return false;
  BoxPair<Real> pair;
  kernel::makeBoxPair(input.shape1.convex, input.X_W1, input.shape2.convex, input.X_W2, &pair);
  if (!input.cache) return kernel::boxesOverlap(pair);
  BoxAxis<Real> axis;
  return findAxis(input, pair, axis);
}

void writeOverlap(const PairInput& input, const BoxPair<Real>& pair, const BoxAxis<Real>& axis,
                  const DistanceOption& option, DistanceResult& out) {
  ContactPoint point;
  kernel::writeDeepestBoxPoint(pair, axis, input.X_W1, input.X_W2, &point);
  out.normal = point.normal;
  out.feature1 = point.feature1;
  out.feature2 = point.feature2;
  if (!option.enableSigned) {
    out.distance = 0;
    out.point1 = out.point2 = point.position;
    return;
  }
  out.distance = -axis.overlap;
  out.point1 = point.position - point.normal * (Real(0.5) * axis.overlap);
  out.point2 = point.position + point.normal * (Real(0.5) * axis.overlap);
}

/// The general search, for the few poses on which the special one does not close.
void writeGeneralDistance(const PairInput& input, const DistanceOption& option,
                          DistanceResult& out) {
  const kernel::ConvexContact<Real> contact = kernel::convexDistance(
      input.shape1.convex, input.shape2.convex, inverseTimes(input.X_W1, input.X_W2),
      option.upperBound, option.enableSigned);
  out.distance = contact.distance;
  out.normal = input.X_W1.rotation * contact.normal;
  out.point1 = input.X_W1 * contact.pointA;
  out.point2 = input.X_W1 * contact.pointB;
  out.status = contact.status;
}

void writeNearest(const PairInput& input, const kernel::BoxDistance<Real>& nearest,
                  DistanceResult& out) {
  out.distance = nearest.distance;
  out.normal = input.X_W1.rotation * nearest.normal;
  out.point1 = input.X_W1 * nearest.pointA;
  out.point2 = input.X_W1 * nearest.pointB;
  out.feature1 = nearest.featureA;
  out.feature2 = nearest.featureB;
  PairCache* cache = input.cache;
  if (!cache) return;
  cache->axis = nearest.normal;
  cache->count = 0;
  cache->index1[3] = kNearestSidesMark;
  for (int k = 0; k < 3; ++k) {
    cache->index1[k] = nearest.sideA[k];
    cache->index2[k] = nearest.sideB[k];
  }
}

void distanceOfBoxes(const PairInput& input, const DistanceOption& option, DistanceResult& out) {
  BoxPair<Real> pair;
  kernel::makeBoxPair(input.shape1.convex, input.X_W1, input.shape2.convex, input.X_W2, &pair);
  kernel::BoxDistance<Real> nearest;
  PairCache* cache = input.cache;
  if (cache && cache->index1[3] == kNearestSidesMark) {
    if (kernel::resumeBoxDistance(pair, cache->index1, cache->index2, &nearest)) {
      writeNearest(input, nearest, out);
      return;
    }
    cache->index1[3] = -1;
  }
  BoxAxis<Real> axis;
  if (kernel::findBoxAxis<true>(pair, &axis))
    writeOverlap(input, pair, axis, option, out);
  else if (kernel::findBoxDistance(pair, kernel::startOfBoxDistance(pair, axis.index), &nearest))
    writeNearest(input, nearest, out);
  else
    writeGeneralDistance(input, option, out);
}

}  // namespace

PairFunctions boxPairFunctions(ShapeType type1, ShapeType type2) {
  if (type1 != ShapeType::Box || type2 != ShapeType::Box) return {};
  return {collideBoxes, boxesOverlap, distanceOfBoxes};
}

}  // namespace tangere::collision
