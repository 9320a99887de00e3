// SPDX-License-Identifier: Apache-2.0
//
// Unions of shapes. Every query asks the children and keeps the best answer, the lowest child of
// those that tie.
#include <tangere/shape.hpp>

#include "geometry/flat_shape.hpp"
#include "geometry/limits.hpp"
#include "geometry/mass_properties.hpp"
#include "geometry/query_helpers.hpp"

#include <cmath>
#include <limits>

namespace tangere {

namespace {

bool isRotation(const Mat3& R) {
  const Mat3 product = transposeTimes(R, R);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      if (!(std::fabs(product(i, j) - (i == j ? 1 : 0)) <= 1e-9)) return false;
    }
  }
  return dot(cross(R.col[0], R.col[1]), R.col[2]) > 0;
}

/// The children, if they are usable.
std::span<const Compound::Child> checked(std::span<const Compound::Child> children) {
  TANGERE_REQUIRE(!children.empty(), "a compound needs at least one child");
  for (std::size_t i = 0; i < children.size(); ++i) {
    const Compound::Child& child = children[i];
    TANGERE_REQUIRE(child.shape != nullptr, "compound child has no shape", i);
    TANGERE_REQUIRE(child.shape->type() != ShapeType::Compound,
                    "compound child may not be a compound itself: add its children instead", i);
    const auto& [x, y, z] = child.pose.translation;
    TANGERE_REQUIRE(geometry::isCoordinate(child.pose.translation),
                    "compound child position must be finite and within 1e12 of the origin [m]", i,
                    x, y, z);
    TANGERE_REQUIRE(isRotation(child.pose.rotation),
                    "compound child orientation must be a rotation matrix (to 1e-9)", i);
  }
  return children;
}

std::shared_ptr<const geometry::FlatShape> makeFlat(std::span<const Compound::Child> children) {
  auto flat = std::make_shared<geometry::FlatShape>();
  flat->type = ShapeType::Compound;
  // Moving the vector into the compound keeps its buffer, so this span stays good.
  flat->children = children;
  return flat;
}

Aabb boxOf(std::span<const Compound::Child> children, const Transform& X) {
  Aabb box = children[0].shape->worldAabb(X * children[0].pose);
  for (const Compound::Child& child : children.subspan(1)) {
    box.merge(child.shape->worldAabb(X * child.pose));
  }
  return box;
}

/// Infinitely far along d.
Vec3 atInfinity(const Vec3& d) {
  constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
  const auto sign = [](Real c) { return c > 0 ? kInfinity : (c < 0 ? -kInfinity : 0); };
  return {sign(d.x), sign(d.y), sign(d.z)};
}

}  // namespace

Compound::Compound(std::vector<Child> children)
    : Shape(ShapeType::Compound, makeFlat(checked(children)), boxOf(checked(children), {})),
      children_(std::move(children)) {}

std::span<const Compound::Child> Compound::children() const { return children_; }

Aabb Compound::worldAabb(const Transform& X_WS) const { return boxOf(children_, X_WS); }

Vec3 Compound::support(const Vec3& direction) const {
  const Vec3 d = geometry::scaledDirection(direction);
  Vec3 best{};
  Real bestReach = -std::numeric_limits<Real>::infinity();
  bool found = false;
  for (const Child& child : children_) {
    const Vec3 local = transposeTimes(child.pose.rotation, d);
    const Vec3 farthest = child.shape->support(local);
    // A plane reaches to infinity, unless it is seen along its normal.
    const bool bounded = std::isfinite(geometry::maxAbs(farthest));
    const Vec3 p = bounded ? child.pose * farthest : atInfinity(d);
    const Real r = bounded ? dot(d, p) : std::numeric_limits<Real>::infinity();
    if (!found || r > bestReach) {
      best = p;
      bestReach = r;
      found = true;
    }
  }
  return best;
}

MassProperties Compound::massProperties(Real density) const {
  geometry::requireDensity(density);
  std::vector<MassProperties> parts;
  for (const Child& child : children_) {
    parts.push_back(geometry::transformed(child.shape->massProperties(density), child.pose));
  }
  return geometry::sum(parts);
}

std::optional<RayHit> Compound::rayCast(const Ray& ray) const {
  std::optional<RayHit> best;
  for (std::size_t i = 0; i < children_.size(); ++i) {
    const Transform& X = children_[i].pose;
    const Ray local{inverseTimes(X, ray.origin), transposeTimes(X.rotation, ray.direction),
                    best ? best->t : ray.maxT};
    std::optional<RayHit> hit = children_[i].shape->rayCast(local);
    if (!hit || (best && !(hit->t < best->t))) continue;
    hit->position = X * hit->position;
    hit->normal = X.rotation * hit->normal;
    hit->feature = static_cast<int>(i);
    best = hit;
  }
  return best;
}

SignedDistance Compound::signedDistance(const Vec3& point) const {
  SignedDistance best{.distance = std::numeric_limits<Real>::infinity()};
  for (const Child& child : children_) {
    SignedDistance d = child.shape->signedDistance(inverseTimes(child.pose, point));
    if (!(d.distance < best.distance)) continue;
    d.closest = child.pose * d.closest;
    d.normal = child.pose.rotation * d.normal;
    best = d;
  }
  return best;
}

}  // namespace tangere
