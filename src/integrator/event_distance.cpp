// SPDX-License-Identifier: Apache-2.0
#include "integrator/event_distance.hpp"

#include <tangere/contact.hpp>

#include "collision/kernels/refine_contact.hpp"
#include "collision/kernels/sphere_contact.hpp"
#include "collision/pair_output.hpp"
#include "collision/time_of_impact.hpp"
#include "geometry/flat_shape.hpp"
#include "geometry/height_field_data.hpp"
#include "geometry/mesh_data.hpp"
#include "integrator/event_points.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

namespace tangere::integrator {

namespace {

constexpr Real kEpsilon = std::numeric_limits<Real>::epsilon();
// How far apart a point may be to be told, as a share of the smaller shape.
constexpr Real kMargin = 1e-3;
constexpr Real kInfinity = std::numeric_limits<Real>::infinity();

// A convex solid of triangles is its hull, whose distances are exact and whose faces are known.
const Shape& asSolid(const Shape& shape) {
  const Convex* hull = nullptr;
  if (shape.type() == ShapeType::Mesh)
    hull = shape.flat().mesh->asConvex();
  else if (shape.type() == ShapeType::HeightField)
    hull = shape.flat().heightField->asConvex();
  return hull != nullptr ? *hull : shape;
}

// A lower bound of the distance of two boxes.
Real boxGap(const Aabb& a, const Aabb& b) {
  Real square = 0;
  Real scale = 0;
  for (int k = 0; k < 3; ++k) {
    const Real gap =
        std::fmax(std::fmax(a.lower[k] - b.upper[k], b.lower[k] - a.upper[k]), Real(0));
    square += gap * gap;
    if (gap > 0) scale = std::fmax(scale, std::fmax(std::fabs(a.lower[k]), std::fabs(b.lower[k])));
  }
  return std::sqrt(square) * (1 - 8 * kEpsilon) - 16 * kEpsilon * scale;
}

// A pair that GJK, EPA and Newton's method measure: all digits of those need refinement.
bool needsRefinement(const Shape& s1, const Shape& s2) {
  const auto isGeneral = [](ShapeType type) {
    return type == ShapeType::Box || type == ShapeType::Cylinder || type == ShapeType::Cone ||
           type == ShapeType::Ellipsoid || type == ShapeType::Convex;
  };
  const auto isFlatFaced = [](ShapeType type) {
    return type == ShapeType::Box || type == ShapeType::Convex;
  };
  return isGeneral(s1.type()) && isGeneral(s2.type()) &&
         !(isFlatFaced(s1.type()) && isFlatFaced(s2.type()));
}

bool isUsable(const Transform& X) {
  Real sum = squaredNorm(X.translation);
  for (const Vec3& column : X.rotation.col) sum += squaredNorm(column);
  return sum < Real(1e60);
}

// A lower bound of the distance by the boxes of the shapes; 0 where one has none.
Real boxGapOf(const Shape& s1, const Transform& X_W1, const Shape& s2, const Transform& X_W2) {
  if (s1.type() == ShapeType::Plane || s2.type() == ShapeType::Plane) return 0;
  return boxGap(s1.worldAabb(X_W1), s2.worldAabb(X_W2));
}

// Parts farther apart than this add nothing to what was found.
Real nearEnough(const PairDistance& found, const Shape& s1, const Shape& s2) {
  return std::fmax(found.distance, kMargin * smallerSize(s1, s2));
}

// A sphere and what bounces most often: the closed form alone, with the numbers of distance().
// False where it is another shape, or a pose that is none.
bool measureSphere(const Shape& sphere, const Transform& X_W1, const Shape& other,
                   const Transform& X_W2, DistanceResult* out) {
  const kernel::ConvexView<Real>& view = other.flat().convex;
  const Vec3 offset = X_W1.translation - X_W2.translation;
  kernel::CenterDistance<Real> center;
  bool isMeasured = false;
  if (other.type() == ShapeType::Sphere)
    isMeasured = kernel::centerToSphere(view.radius, offset, kInfinity, &center);
  else if (other.type() == ShapeType::Plane)
    isMeasured = kernel::centerToPlane(X_W2.rotation, offset, kInfinity, &center);
  else if (other.type() == ShapeType::Box)
    isMeasured = kernel::centerToBox(view.size, X_W2.rotation, offset, kInfinity, &center);
  if (!isMeasured) return false;
  collision::writeDistance(X_W1.translation, center.normal, sphere.flat().convex.radius,
                           center.distance, kernel::kNoFeature, center.feature, {}, *out);
  return true;
}

bool measureSphereOf(const Shape& s1, const Transform& X_W1, const Shape& s2, const Transform& X_W2,
                     DistanceResult* out) {
  if (s1.type() == ShapeType::Sphere) return measureSphere(s1, X_W1, s2, X_W2, out);
  if (s2.type() != ShapeType::Sphere || !measureSphere(s2, X_W2, s1, X_W1, out)) return false;
  out->normal = -out->normal;
  std::swap(out->point1, out->point2);
  std::swap(out->feature1, out->feature2);
  return true;
}

void setSinglePoint(const DistanceResult& d, PairDistance* out) {
  EventPoint& p = out->points[0];
  out->distance = d.distance;
  out->numPoints = 1;
  out->status = d.status;
  p.position = (d.point1 + d.point2) * Real(0.5);
  p.normal = d.normal;
  p.distance = d.distance;
  p.feature1 = d.feature1;
  p.feature2 = d.feature2;
  p.share = 1;
  p.weight = 1;
  p.touching = -1;
  p.count = 1;
}

void evaluateShapes(const Shape& given1, const Transform& X_W1, const Shape& given2,
                    const Transform& X_W2, PairDistance* out, PairCache* hint) {
  const Shape &s1 = asSolid(given1), &s2 = asSolid(given2);
  const DistanceResult nearest = nearestPoints(s1, X_W1, s2, X_W2, hint);
  if (mayHaveManyPoints(s1.type(), s2.type())) {
    const Real margin = kMargin * smallerSize(s1, s2);
    if (nearest.distance <= margin && writeFlatPoints(s1, X_W1, s2, X_W2, nearest, margin, out))
      return;
  }
  setSinglePoint(nearest, out);
}

// Calls visit(shape, pose) for every child of a compound, or for the shape itself.
template <class Visit>
void visitParts(const Shape& shape, const Transform& X_W, const Visit& visit) {
  if (shape.type() != ShapeType::Compound) {
    visit(shape, X_W);
    return;
  }
  for (const Compound::Child& child : static_cast<const Compound&>(shape).children())
    visit(*child.shape, X_W * child.pose);
}

// Every pair of parts that is near has its points, and the pair the smallest distance of all.
void evaluateParts(const Shape& s1, const Transform& X_W1, const Shape& s2, const Transform& X_W2,
                   PairDistance* out) {
  PairDistance part;
  out->numPoints = 0;
  out->status = QueryStatus::Ok;
  out->distance = kInfinity;
  const auto append = [out](const EventPoint& point) {
    if (out->numPoints < kMaxEventPoints)
      out->points[static_cast<std::size_t>(out->numPoints++)] = point;
  };
  visitParts(s1, X_W1, [&](const Shape& part1, const Transform& X_W1P) {
    visitParts(s2, X_W2, [&](const Shape& part2, const Transform& X_W2P) {
      if (out->numPoints > 0 && boxGapOf(part1, X_W1P, part2, X_W2P) > nearEnough(*out, s1, s2))
        return;
      evaluateShapes(part1, X_W1P, part2, X_W2P, &part, nullptr);
      out->status = std::max(out->status, part.status);
      const bool isNearest = part.distance < out->distance;
      if (!isNearest && part.distance > kMargin * smallerSize(s1, s2)) return;
      // A pair that was only the nearest so far, and does not touch, makes room.
      if (isNearest && out->distance > kMargin * smallerSize(s1, s2)) out->numPoints = 0;
      const int first = out->numPoints;
      for (int i = 0; i < part.numPoints; ++i) append(part.points[static_cast<std::size_t>(i)]);
      if (!isNearest) return;
      out->distance = part.distance;
      if (out->numPoints > first)
        std::swap(out->points[0], out->points[static_cast<std::size_t>(first)]);
    });
  });
}

}  // namespace

DistanceResult nearestPoints(const Shape& given1, const Transform& X_W1, const Shape& given2,
                             const Transform& X_W2, PairCache* hint) {
  const Shape &s1 = asSolid(given1), &s2 = asSolid(given2);
  DistanceResult out;
  if (measureSphereOf(s1, X_W1, s2, X_W2, &out)) return out;
  if (!needsRefinement(s1, s2)) return distance(s1, X_W1, s2, X_W2, {}, hint);
  const Transform X_12 = inverseTimes(X_W1, X_W2);
  // A pose that is no pose is told by the query that looks for it.
  if (!isUsable(X_12)) return distance(s1, X_W1, s2, X_W2, {}, nullptr);
  PairCache own;
  const kernel::MinkowskiPair<Real> pair{s1.flat().convex, s2.flat().convex, X_12};
  const kernel::ConvexContact<Real> contact =
      kernel::refinedDistance(pair, hint ? hint : &own, kEpsilon);
  out.distance = contact.distance;
  out.normal = X_W1.rotation * contact.normal;
  out.point1 = X_W1 * contact.pointA;
  out.point2 = X_W1 * contact.pointB;
  out.status = contact.status;
  return out;
}

void evaluatePair(const Shape& s1, const Transform& X_W1, const Shape& s2, const Transform& X_W2,
                  PairDistance* out, PairCache* hint) {
  if (s1.type() == ShapeType::Compound || s2.type() == ShapeType::Compound)
    evaluateParts(s1, X_W1, s2, X_W2, out);
  else
    evaluateShapes(s1, X_W1, s2, X_W2, out, hint);
}

void limitCounts(PairDistance* pair) {
  if (pair->numPoints <= ContactManifold::kMaxPoints) return;
  Real sum = 0, squares = 0;
  const std::span points(pair->points.data(), static_cast<std::size_t>(pair->numPoints));
  for (const EventPoint& p : points) {
    const Real depth = std::fmax(-p.distance, Real(0));
    sum += p.count * depth;
    squares += p.count * depth * depth;
  }
  const Real most = ContactManifold::kMaxPoints;
  if (!(sum * sum > most * squares)) return;
  const Real scale = most * squares / (sum * sum);
  for (EventPoint& p : points) p.count *= scale;
}

Real pairDistance(const Shape& s1, const Transform& X_W1, const Shape& s2, const Transform& X_W2,
                  Real enough, PairCache* hint) {
  DistanceResult nearest;
  if (measureSphereOf(s1, X_W1, s2, X_W2, &nearest)) return nearest.distance;
  const Real bound = boxGapOf(s1, X_W1, s2, X_W2);
  if (bound > enough && bound > 0) return bound;
  if (s1.type() == ShapeType::Compound || s2.type() == ShapeType::Compound) {
    PairDistance parts;
    evaluateParts(s1, X_W1, s2, X_W2, &parts);
    return parts.distance;
  }
  return nearestPoints(s1, X_W1, s2, X_W2, hint).distance;
}

bool mayHaveManyPoints(ShapeType type1, ShapeType type2) {
  // Spheres and ellipsoids touch at one point, whatever the other shape is.
  const auto isRound = [](ShapeType type) {
    return type == ShapeType::Sphere || type == ShapeType::Ellipsoid;
  };
  return !isRound(type1) && !isRound(type2);
}

Real smallerSize(const Shape& s1, const Shape& s2) {
  const Real radius1 = s1.flat().convex.boundingRadius, radius2 = s2.flat().convex.boundingRadius;
  if (s1.type() == ShapeType::Plane) return radius2;
  if (s2.type() == ShapeType::Plane) return radius1;
  return std::fmin(radius1, radius2);
}

Real contactEps(const Transform& X_W1, const Transform& X_W2) {
  Real largest = 0;
  for (int k = 0; k < 3; ++k)
    largest = std::fmax(largest,
                        std::fmax(std::fabs(X_W1.translation[k]), std::fabs(X_W2.translation[k])));
  return std::fmax(Real(1e-13), 64 * kEpsilon * largest);
}

ClosingBound closingBound(const Shape& s1, const Transform& X_1S, const BodyMotion& motion1,
                          const Shape& s2, const Transform& X_2S, const BodyMotion& motion2) {
  const auto timesReach = [](Real rate, Real reach) { return rate == 0 ? Real(0) : rate * reach; };
  const Real reach1 = norm(X_1S.translation) + collision::reachAboutOrigin(s1);
  const Real reach2 = norm(X_2S.translation) + collision::reachAboutOrigin(s2);
  const Real spin1 = norm(motion1.angularVelocity), spin2 = norm(motion2.angularVelocity);
  ClosingBound bound;
  bound.speed = norm(motion1.velocity - motion2.velocity) + timesReach(spin1, reach1) +
                timesReach(spin2, reach2);
  bound.acceleration = motion1.acceleration + motion2.acceleration +
                       timesReach(motion1.angularAcceleration, reach1) +
                       timesReach(motion2.angularAcceleration, reach2);
  bound.speed *= 1 + 16 * kEpsilon;
  bound.acceleration *= 1 + 16 * kEpsilon;
  return bound;
}

Real safeStep(Real distance, Real closingSpeed, Real acceleration) {
  if (!(distance > 0)) return 0;
  const Real speed = std::fmax(closingSpeed, Real(0));
  const Real rate = std::fmax(acceleration, Real(0));
  if (speed == 0 && rate == 0) return kInfinity;
  // The root that loses no digits: 2 d / (v + sqrt(v^2 + 2 a d)).
  const Real root = speed + std::sqrt(speed * speed + 2 * rate * distance);
  return 2 * distance / root * (1 - 8 * kEpsilon);
}

}  // namespace tangere::integrator
