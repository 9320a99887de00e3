// SPDX-License-Identifier: Apache-2.0
//
// Conservative advancement. At each time the closest points give a direction n along which the two
// shapes are a distance apart; the next time is one up to which they provably stay apart along n.
//
// With x(t) = x + t w x x + e, |e| <= t^2 |w|^2 r / 2 (r: distance from the axis of rotation), the
// gap along a fixed n after t is at least
//
//   L(t) = n.(p1 - p2) + t n.(v1 - v2) + min_1 x.(n + t n x w1) - max_2 x.(n + t n x w2)
//          - t^2/2 (|w1| |n x w1| r1 + |w2| |n x w2| r2)
//
// x being seen from the origin of each shape. Two support points evaluate it. L is concave, so
// L(0) > 0 and L(t) > 0 prove the gap on all of [0, t]; near the impact it is accurate to second
// order, so a transversal impact is met in a few steps. A round shape (sphere, capsule) enters with
// its core, and its radius is taken off: its spin costs nothing.
//
// Concave shapes have no such n. There the distance falls at most at the speed
// |v1 - v2| + |w1| r1 + |w2| r2, with r now about the origin; if their hulls are apart L is used
// too.
#include "collision/time_of_impact.hpp"

#include "core/elementary.hpp"
#include "geometry/flat_shape.hpp"
#include "geometry/kernels/support.hpp"
#include "geometry/limits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tangere {

using namespace collision;

namespace {

constexpr Real kEpsilon = std::numeric_limits<Real>::epsilon();
constexpr Real kInfinity = std::numeric_limits<Real>::infinity();

bool isFinite(const Vec3& v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

// Finite, and the lengths such that their powers are finite too.
bool isUsable(const Motion& motion) {
  const Mat3& R = motion.start.rotation;
  return isFinite(R.col[0]) && isFinite(R.col[1]) && isFinite(R.col[2]) &&
         geometry::isPosition(motion.start.translation) &&
         geometry::isPosition(motion.displacement) && isFinite(motion.rotationVector);
}

// 0 times infinity is 0 here: what does not rotate may be as large as it likes.
Real timesReach(Real rate, Real reach) { return rate == 0 ? Real(0) : rate * reach; }

enum class PartKind : std::uint8_t {
  Convex,   // rounded core
  Plane,    // the half space, along its normal only
  Concave,  // bounded; its hull has support points
  Ground,   // height field: hull from above only
};

// One shape of the two, or one child of a compound: fixed at `offset` in a frame that moves.
struct Part {
  Part(const Shape& shape, const Transform& offset, const Motion& motion);

  [[nodiscard]] Transform pose(Real s) const { return motion.at(s) * offset; }
  /// max x.direction over the core or hull, x from the origin of the motion, the frame turned by R.
  [[nodiscard]] Real support(const Mat3& R, const Vec3& direction) const;

  const Shape& shape;
  Transform offset;
  const Motion& motion;
  PartKind kind;
  Real radius = 0;     // around the core
  Real reach = 0;      // of the core from the origin of the motion
  Real spin = 0;       // |w|
  Real axisReach = 0;  // of the core from the axis of rotation
};

Vec3 corner(const Aabb& box, int i) {
  return {(i & 1) != 0 ? box.upper.x : box.lower.x, (i & 2) != 0 ? box.upper.y : box.lower.y,
          (i & 4) != 0 ? box.upper.z : box.lower.z};
}

// max |p| (axis null) or max |axis x p| over offset * shape without its rounding radius.
Real farthest(const Shape& shape, const Transform& offset, const Vec3* axis) {
  const auto measure = [axis](const Vec3& p) { return axis ? norm(cross(*axis, p)) : norm(p); };
  const Vec3& t = offset.translation;
  const Vec3& z = offset.rotation.col[2];
  const kernel::ConvexView<Real>& view = shape.flat().convex;
  Real reach = 0;
  switch (shape.type()) {
    case ShapeType::Plane:
      return kInfinity;
    case ShapeType::Sphere:
    case ShapeType::Capsule:
    case ShapeType::Box:
    case ShapeType::Convex:
      for (int i = 0; i < kernel::coreVertexCount(view); ++i)
        reach = std::max(reach, measure(offset * kernel::coreVertex(view, i)));
      break;
    case ShapeType::Cylinder:
    case ShapeType::Cone: {
      const Real apexRadius = shape.type() == ShapeType::Cone ? Real(0) : view.size.x;
      reach = std::max(measure(t - z * view.size.z) + view.size.x,
                       measure(t + z * view.size.z) + apexRadius);
      reach = std::min(reach, measure(t) + norm(Vec3{view.size.x, 0, view.size.z}));
      break;
    }
    case ShapeType::Ellipsoid:
      reach = measure(t) + std::max({view.size.x, view.size.y, view.size.z});
      break;
    case ShapeType::Mesh:
    case ShapeType::HeightField:
    case ShapeType::PointCloud:
    case ShapeType::Compound:
      if (!isFinite(shape.localAabb().lower) || !isFinite(shape.localAabb().upper))
        return kInfinity;
      for (int i = 0; i < 8; ++i)
        reach = std::max(reach, measure(offset * corner(shape.localAabb(), i)));
      break;
  }
  return reach * (1 + 16 * kEpsilon);
}

PartKind kindOf(ShapeType type) {
  switch (type) {
    case ShapeType::Plane:
      return PartKind::Plane;
    case ShapeType::HeightField:
      return PartKind::Ground;
    case ShapeType::Mesh:
    case ShapeType::PointCloud:
    case ShapeType::Compound:
      return PartKind::Concave;
    default:
      return PartKind::Convex;
  }
}

Part::Part(const Shape& shape_, const Transform& offset_, const Motion& motion_)
    : shape(shape_), offset(offset_), motion(motion_), kind(kindOf(shape_.type())) {
  if (kind == PartKind::Convex) radius = shape.flat().convex.radius;
  reach = farthest(shape, offset, nullptr);
  spin = norm(motion.rotationVector);
  if (spin > 0) {
    // The axis is the same in the world and in the turning frame.
    const Vec3 axis = transposeTimes(motion.start.rotation, motion.rotationVector / spin);
    axisReach = std::min(farthest(shape, offset, &axis), reach);
  }
}

Real Part::support(const Mat3& R, const Vec3& direction) const {
  const Vec3 inFrame = transposeTimes(R, direction);
  if (kind == PartKind::Plane) return dot(offset.translation, inFrame);
  const Vec3 inShape = transposeTimes(offset.rotation, inFrame);
  int index = 0;
  const Vec3 point = kind == PartKind::Convex
                         ? kernel::supportCore(shape.flat().convex, inShape, &index)
                         : shape.support(inShape);
  return dot(offset * point, inFrame);
}

// Two parts and one horizon: the loop.
class Advancement {
 public:
  Advancement(const Part& part1, const Part& part2, const ImpactOption& option, Real horizon);

  [[nodiscard]] ImpactResult run();

 private:
  struct Slab;

  [[nodiscard]] ImpactResult miss(int iterations) const;
  [[nodiscard]] DistanceResult measure();
  [[nodiscard]] Real sphereEntry() const;
  [[nodiscard]] Real safeStep(const DistanceResult& closest) const;
  [[nodiscard]] Real speedStep(Real distance, Real left) const;
  [[nodiscard]] Real slabStep(const Slab& slab, Real left) const;
  [[nodiscard]] Vec3 slabNormal(const Vec3& closest) const;
  [[nodiscard]] bool hullsAreUsable(const Vec3& n, const Mat3& R1, const Mat3& R2) const;

  const Part& a_;
  const Part& b_;
  const ImpactOption& option_;
  Real horizon_;
  Vec3 velocity_;   // of 1 relative to 2
  Real error_;      // bound on all rounding, as a length
  Real tolerance_;  // option.tolerance, or what rounding allows
  Real target_;     // gap that every step keeps
  Real s_ = 0;
  PairCache cache_;
};

Advancement::Advancement(const Part& part1, const Part& part2, const ImpactOption& option,
                         Real horizon)
    : a_(part1), b_(part2), option_(option), horizon_(horizon) {
  velocity_ = a_.motion.displacement - b_.motion.displacement;
  // Coordinates are rounded once when a pose is made and once when points of it are, and the same
  // for angles. 32 leaves room for the sums.
  Real size = 0;
  for (const Part* part : {&a_, &b_}) {
    const Real reach = part->reach < kInfinity ? part->reach : Real(0);
    size += norm(part->motion.start.translation) + norm(part->motion.displacement) + part->radius +
            (1 + part->spin) * reach;
  }
  error_ = 32 * kEpsilon * size;
  const Real wanted = option.tolerance > 0 ? option.tolerance : Real(0);
  tolerance_ = std::max(wanted, 8 * error_);
  target_ = Real(0.5) * tolerance_;
}

ImpactResult Advancement::run() {
  ImpactResult result{.s = 0};
  s_ = sphereEntry();
  for (;;) {
    if (s_ > 0 && s_ >= horizon_) return miss(result.iterations);
    ++result.iterations;
    const DistanceResult closest = measure();
    const bool isAnswer =
        closest.status == QueryStatus::Ok || closest.status == QueryStatus::NotConverged;
    if (isAnswer && closest.distance <= 0 && s_ > 0) {
      // Only when the distance contradicts the proof: the last time it was asked about stands.
      result.status = ImpactStatus::Hit;
      return result;
    }
    result.s = s_;
    result.distance = closest.distance;
    result.normal = closest.normal;
    result.point = (closest.point1 + closest.point2) * Real(0.5);
    if (!isAnswer) {
      result.status = ImpactStatus::Indeterminate;
      return result;
    }
    if (closest.distance <= tolerance_) {
      result.status = closest.distance <= 0 ? ImpactStatus::Overlapping : ImpactStatus::Hit;
      return result;
    }
    if (s_ >= horizon_) return miss(result.iterations);
    const Real next = s_ + safeStep(closest);
    if (!(next > s_) || result.iterations >= option_.maxIterations) {
      result.status = ImpactStatus::Indeterminate;
      return result;
    }
    s_ = next;
  }
}

ImpactResult Advancement::miss(int iterations) const {
  return {.status = ImpactStatus::Miss, .s = horizon_, .iterations = iterations};
}

DistanceResult Advancement::measure() {
  return distance(a_.shape, a_.pose(s_), b_.shape, b_.pose(s_), {.enableSigned = s_ == 0}, &cache_);
}

// A time up to which not even the balls about the two origins meet; the horizon if they never do.
Real Advancement::sphereEntry() const {
  const Real sum =
      (a_.reach + a_.radius + b_.reach + b_.radius + tolerance_ + error_) * (1 + 1e-12);
  if (!(sum < kInfinity)) return 0;
  const Vec3 offset = a_.motion.start.translation - b_.motion.start.translation;
  const Real vv = squaredNorm(velocity_);
  const Real pv = dot(offset, velocity_);
  const Real pp = squaredNorm(offset);
  if (pp <= sum * sum) return 0;
  if (pv >= 0) return horizon_;
  // |offset + t velocity| = sum; the smaller root in the form without cancellation.
  const Real c = pp - sum * sum;
  const Real discriminant = pv * pv - vv * c;
  if (discriminant <= -1e-12 * pv * pv) return horizon_;
  const Real t = c / (-pv + std::sqrt(std::max(discriminant, Real(0))));
  return std::min(t * (1 - 1e-9), horizon_);
}

// The gap along one direction as a function of the time from now.
struct Advancement::Slab {
  const Part& a;
  const Part& b;
  Vec3 n;
  Mat3 R1, R2;
  Real start;  // n.(p1 - p2) minus both radii and the rounding
  Real rate;   // n.(v1 - v2)
  Vec3 turn1, turn2;
  Real curvature;

  [[nodiscard]] Real gap(Real t) const {
    const Real near1 = -a.support(R1, -(n + turn1 * t));
    const Real far2 = b.support(R2, n + turn2 * t);
    return start + t * rate + near1 - far2 - t * t * curvature;
  }
};

Real Advancement::safeStep(const DistanceResult& closest) const {
  const Real left = horizon_ - s_;
  const Transform X1 = a_.motion.at(s_), X2 = b_.motion.at(s_);
  const Vec3 n = slabNormal(closest.normal);
  if (!hullsAreUsable(n, X1.rotation, X2.rotation))
    return speedStep(closest.distance * (1 - 1e-9) - error_, left);

  const Vec3 w1 = a_.motion.rotationVector, w2 = b_.motion.rotationVector;
  const Vec3 turn1 = cross(n, w1), turn2 = cross(n, w2);
  const Vec3 offset = X1.translation - X2.translation;
  const Real rate1 = timesReach(norm(turn1), a_.axisReach);
  const Real rate2 = timesReach(norm(turn2), b_.axisReach);
  const Real along = dot(n, offset) - a_.radius - b_.radius - error_;
  const Slab slab{.a = a_,
                  .b = b_,
                  .n = n,
                  .R1 = X1.rotation,
                  .R2 = X2.rotation,
                  .start = along,
                  .rate = dot(n, velocity_),
                  .turn1 = turn1,
                  .turn2 = turn2,
                  .curvature = Real(0.5) * (rate1 * a_.spin + rate2 * b_.spin)};
  const Real gap = slab.gap(0);
  const bool bothConvex = a_.kind <= PartKind::Plane && b_.kind <= PartKind::Plane;
  if (gap <= target_)
    return bothConvex ? Real(0) : speedStep(closest.distance * (1 - 1e-9) - error_, left);

  Real step = slabStep(slab, left);
  const auto until = [&](Real room, Real closing) {
    return closing <= 0 ? left : std::min(left, room / closing);
  };
  // To first order with the largest speed that rotation can give, and without regard to rotation.
  step = std::max(step, until(gap - target_, -slab.rate + rate1 + rate2));
  const Real spheres = along - a_.reach - b_.reach;
  if (spheres > target_) step = std::max(step, until(spheres - target_, -slab.rate));
  if (!bothConvex) step = std::max(step, speedStep(closest.distance * (1 - 1e-9) - error_, left));
  return step;
}

// The direction of the closest points, but of a half space its own: it is bounded in no other.
Vec3 Advancement::slabNormal(const Vec3& closest) const {
  if (a_.kind == PartKind::Plane) return -a_.pose(s_).rotation.col[2];
  if (b_.kind == PartKind::Plane) return b_.pose(s_).rotation.col[2];
  return closest;
}

// Whether the support points of both bound them along n and along what n turns into.
bool Advancement::hullsAreUsable(const Vec3& n, const Mat3& R1, const Mat3& R2) const {
  const auto usable = [](const Part& part, const Mat3& R, const Vec3& outward) {
    if (part.kind == PartKind::Convex || part.kind == PartKind::Concave) return true;
    if (part.kind == PartKind::Plane) return part.spin == 0;
    const Vec3 inShape = transposeTimes(part.offset.rotation, transposeTimes(R, outward));
    return part.spin == 0 && inShape.z >= 0;  // ground is solid below: bounded from above only
  };
  return usable(a_, R1, -n) && usable(b_, R2, n);
}

Real Advancement::speedStep(Real distance, Real left) const {
  // Seen from the frame of one shape it is the other that its rotation carries along: where that
  // reaches less far, it is the better bound (and the only one for a plane).
  const Vec3 now = (a_.motion.start.translation - b_.motion.start.translation) + velocity_ * s_;
  const Real apart = std::max(norm(now), norm(now + velocity_ * left));
  const Real full1 = a_.reach + a_.radius, full2 = b_.reach + b_.radius;
  const Real own = timesReach(a_.spin, a_.reach) + timesReach(b_.spin, b_.reach);
  const Real from1 = timesReach(a_.spin, apart + full2) + timesReach(b_.spin, b_.reach);
  const Real from2 = timesReach(b_.spin, apart + full1) + timesReach(a_.spin, a_.reach);
  const Real speed = (norm(velocity_) + std::min({own, from1, from2})) * (1 + 16 * kEpsilon);
  if (distance <= target_) return 0;
  return speed > 0 ? std::min(left, (distance - target_) / speed) : left;
}

// The last t in [0, left] with gap(t) >= target, from below. The gap is concave: the chord between
// a point above the target and one below lies under it, so where the chord meets the target the
// gap is still large enough.
Real Advancement::slabStep(const Slab& slab, Real left) const {
  Real low = 0, high = left;
  Real gapLow = slab.gap(0) - target_;
  Real gapHigh = slab.gap(high) - target_;
  if (gapHigh >= 0) return left;
  constexpr int kMaxCuts = 12;
  for (int i = 0; i < kMaxCuts; ++i) {
    const Real chord = low + (high - low) * (gapLow / (gapLow - gapHigh));
    const Real gapChord = slab.gap(chord) - target_;
    if (!(chord > low) || gapChord < 0) break;  // rounding: low is as good as it gets
    low = chord;
    gapLow = gapChord;
    if (gapLow <= Real(0.125) * target_) break;
    const Real middle = Real(0.5) * (low + high);
    const Real gapMiddle = slab.gap(middle) - target_;
    if (gapMiddle >= 0) {
      low = middle;
      gapLow = gapMiddle;
    } else {
      high = middle;
      gapHigh = gapMiddle;
    }
  }
  return low;
}

// Calls visit(part) for the shape or for each child of a compound.
template <class Visit>
void forEachPart(const Shape& shape, const Motion& motion, const Visit& visit) {
  if (shape.type() != ShapeType::Compound) {
    visit(Part(shape, Transform::identity(), motion));
    return;
  }
  for (const Compound::Child& child : shape.flat().children)
    visit(Part(*child.shape, child.pose, motion));
}

}  // namespace

Transform Motion::at(Real s) const {
  const Vec3 turn = rotationVector * s;
  const Real angle = norm(turn);
  Transform X = start;
  X.translation = start.translation + displacement * s;
  if (!(angle > 0)) return X;
  // By half angles: 1 - cos loses no digits where the angle is small.
  const Vec3 u = turn / angle;
  const core::SinCos half = core::sinCos(Real(0.5) * angle);
  const Real sine = 2 * half.sin * half.cos;
  const Real versine = 2 * half.sin * half.sin;
  for (Vec3& column : X.rotation.col) {
    const Vec3 side = cross(u, column);
    column = column + side * sine + cross(u, side) * versine;
  }
  return X;
}

ImpactResult timeOfImpact(const Shape& shape1, const Motion& motion1, const Shape& shape2,
                          const Motion& motion2, const ImpactOption& option) {
  ImpactResult result = timeOfImpactUntil(shape1, motion1, shape2, motion2, option, 1);
  if (result.status != ImpactStatus::Miss) return result;
  const DistanceResult closest = distance(shape1, motion1.at(1), shape2, motion2.at(1));
  result.distance = closest.distance;
  result.normal = closest.normal;
  result.point = (closest.point1 + closest.point2) * Real(0.5);
  return result;
}

namespace collision {

ImpactResult timeOfImpactUntil(const Shape& shape1, const Motion& motion1, const Shape& shape2,
                               const Motion& motion2, const ImpactOption& option, Real horizon) {
  ImpactResult first{.status = ImpactStatus::Miss, .s = horizon};
  if (!isUsable(motion1) || !isUsable(motion2))
    return {.status = ImpactStatus::Indeterminate, .s = 0};
  int iterations = 0;
  forEachPart(shape1, motion1, [&](const Part& part1) {
    forEachPart(shape2, motion2, [&](const Part& part2) {
      if (first.status == ImpactStatus::Overlapping) return;
      const ImpactResult impact = Advancement(part1, part2, option, first.s).run();
      iterations += impact.iterations;
      if (impact.status == ImpactStatus::Miss) return;
      if (first.status == ImpactStatus::Miss || impact.s < first.s ||
          impact.status == ImpactStatus::Overlapping)
        first = impact;
    });
  });
  first.iterations = iterations;
  return first;
}

Real reachAboutOrigin(const Shape& shape) {
  const Real reach = farthest(shape, Transform::identity(), nullptr);
  return kindOf(shape.type()) == PartKind::Convex ? reach + shape.flat().convex.radius : reach;
}

}  // namespace collision
}  // namespace tangere
