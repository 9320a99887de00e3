// SPDX-License-Identifier: Apache-2.0
//
// The primitive solids: what they are for kernels, their boxes and their support points.
#include <tangere/shape.hpp>

#include "geometry/flat_shape.hpp"
#include "geometry/kernels/point_distance.hpp"
#include "geometry/kernels/support.hpp"
#include "geometry/limits.hpp"
#include "geometry/query_helpers.hpp"

#include <cmath>
#include <limits>

namespace tangere {

namespace {

using geometry::FlatShape;
using geometry::isSize;
using kernel::CoreType;

constexpr Real kInfinity = std::numeric_limits<Real>::infinity();

std::shared_ptr<const FlatShape> makeFlat(ShapeType type, const kernel::ConvexView<Real>& view) {
  auto flat = std::make_shared<FlatShape>();
  flat->type = type;
  flat->convex = view;
  return flat;
}

Aabb centredBox(const Vec3& half) { return {-half, half}; }

Aabb boxAround(const Vec3& center, const Vec3& half) { return {center - half, center + half}; }

/// Half extents along the world axes of a disc of unit radius about the z axis of R.
Vec3 discExtents(const Mat3& R) {
  const Vec3 &x = R.col[0], &y = R.col[1];
  return {std::sqrt(x.x * x.x + y.x * y.x), std::sqrt(x.y * x.y + y.y * y.y),
          std::sqrt(x.z * x.z + y.z * y.z)};
}

Vec3 absolute(const Vec3& v) { return {std::fabs(v.x), std::fabs(v.y), std::fabs(v.z)}; }

/// Support of the core plus the rounding radius.
Vec3 supportOf(const FlatShape& flat, const Vec3& direction) {
  const Vec3 n = geometry::scaledDirection(direction);
  int index;
  const Vec3 core = kernel::supportCore(flat.convex, n, &index);
  if (flat.convex.radius == 0) return core;
  const Real l = norm(n);
  return core + (l > 0 ? n * (flat.convex.radius / l) : Vec3{0, 0, flat.convex.radius});
}

}  // namespace

// Sphere.

Sphere::Sphere(Real radius)
    : Shape(ShapeType::Sphere,
            makeFlat(ShapeType::Sphere,
                     {.core = CoreType::Point, .radius = radius, .boundingRadius = radius}),
            centredBox({radius, radius, radius})) {
  TANGERE_REQUIRE(isSize(radius), "sphere radius must be between 1e-12 and 1e12 [m]", radius);
}

Real Sphere::radius() const { return flat().convex.radius; }

Aabb Sphere::worldAabb(const Transform& X_WS) const {
  return boxAround(X_WS.translation, {radius(), radius(), radius()});
}

Vec3 Sphere::support(const Vec3& direction) const { return supportOf(flat(), direction); }

// Box.

Box::Box(const Vec3& halfExtents)
    : Shape(ShapeType::Box,
            makeFlat(
                ShapeType::Box,
                {.core = CoreType::Box, .size = halfExtents, .boundingRadius = norm(halfExtents)}),
            centredBox(halfExtents)) {
  const auto& [x, y, z] = halfExtents;
  TANGERE_REQUIRE(isSize(x) && isSize(y) && isSize(z),
                  "box half extents must be between 1e-12 and 1e12 [m]", x, y, z);
}

const Vec3& Box::halfExtents() const { return flat().convex.size; }

Aabb Box::worldAabb(const Transform& X_WS) const {
  const Vec3& h = halfExtents();
  const Mat3& R = X_WS.rotation;
  return boxAround(X_WS.translation,
                   absolute(R.col[0]) * h.x + absolute(R.col[1]) * h.y + absolute(R.col[2]) * h.z);
}

Vec3 Box::support(const Vec3& direction) const { return supportOf(flat(), direction); }

// Capsule.

Capsule::Capsule(Real radius, Real halfLength)
    : Shape(ShapeType::Capsule,
            makeFlat(ShapeType::Capsule, {.core = CoreType::Segment,
                                          .radius = radius,
                                          .size = {0, 0, halfLength},
                                          .boundingRadius = halfLength + radius}),
            centredBox({radius, radius, halfLength + radius})) {
  TANGERE_REQUIRE(isSize(radius), "capsule radius must be between 1e-12 and 1e12 [m]", radius);
  TANGERE_REQUIRE(
      isSize(halfLength),
      "capsule half length must be between 1e-12 and 1e12 [m]; without a length it is a "
      "sphere",
      halfLength);
}

Real Capsule::radius() const { return flat().convex.radius; }
Real Capsule::halfLength() const { return flat().convex.size.z; }

Aabb Capsule::worldAabb(const Transform& X_WS) const {
  const Real r = radius();
  return boxAround(X_WS.translation, absolute(X_WS.rotation.col[2]) * halfLength() + Vec3{r, r, r});
}

Vec3 Capsule::support(const Vec3& direction) const { return supportOf(flat(), direction); }

// Cylinder.

Cylinder::Cylinder(Real radius, Real halfLength)
    : Shape(ShapeType::Cylinder,
            makeFlat(ShapeType::Cylinder, {.core = CoreType::Cylinder,
                                           .size = {radius, radius, halfLength},
                                           .boundingRadius = kernel::length2(radius, halfLength)}),
            centredBox({radius, radius, halfLength})) {
  TANGERE_REQUIRE(isSize(radius), "cylinder radius must be between 1e-12 and 1e12 [m]", radius);
  TANGERE_REQUIRE(isSize(halfLength), "cylinder half length must be between 1e-12 and 1e12 [m]",
                  halfLength);
}

Real Cylinder::radius() const { return flat().convex.size.x; }
Real Cylinder::halfLength() const { return flat().convex.size.z; }

Aabb Cylinder::worldAabb(const Transform& X_WS) const {
  return boxAround(X_WS.translation, absolute(X_WS.rotation.col[2]) * halfLength() +
                                         discExtents(X_WS.rotation) * radius());
}

Vec3 Cylinder::support(const Vec3& direction) const { return supportOf(flat(), direction); }

// Cone.

namespace {

/// Farther of the apex and the rim, seen from the centroid a quarter of the height above the base.
Real coneBoundingRadius(Real radius, Real halfHeight) {
  return std::fmax(Real(1.5) * halfHeight, kernel::length2(radius, Real(0.5) * halfHeight));
}

}  // namespace

Cone::Cone(Real radius, Real halfHeight)
    : Shape(ShapeType::Cone,
            makeFlat(ShapeType::Cone, {.core = CoreType::Cone,
                                       .size = {radius, radius, halfHeight},
                                       .center = {0, 0, Real(-0.5) * halfHeight},
                                       .boundingRadius = coneBoundingRadius(radius, halfHeight)}),
            centredBox({radius, radius, halfHeight})) {
  TANGERE_REQUIRE(isSize(radius), "cone radius must be between 1e-12 and 1e12 [m]", radius);
  TANGERE_REQUIRE(isSize(halfHeight), "cone half height must be between 1e-12 and 1e12 [m]",
                  halfHeight);
}

Real Cone::radius() const { return flat().convex.size.x; }
Real Cone::halfHeight() const { return flat().convex.size.z; }

Aabb Cone::worldAabb(const Transform& X_WS) const {
  const Vec3 toApex = X_WS.rotation.col[2] * halfHeight();
  const Vec3 disc = discExtents(X_WS.rotation) * radius();
  Aabb box = boxAround(X_WS.translation - toApex, disc);
  box.merge(X_WS.translation + toApex);
  return box;
}

Vec3 Cone::support(const Vec3& direction) const { return supportOf(flat(), direction); }

// Ellipsoid.

Ellipsoid::Ellipsoid(const Vec3& semiAxes)
    : Shape(ShapeType::Ellipsoid,
            makeFlat(ShapeType::Ellipsoid, {.core = CoreType::Ellipsoid,
                                            .size = semiAxes,
                                            .boundingRadius = geometry::maxAbs(semiAxes)}),
            centredBox(semiAxes)) {
  const auto& [x, y, z] = semiAxes;
  TANGERE_REQUIRE(isSize(x) && isSize(y) && isSize(z),
                  "ellipsoid semi-axes must be between 1e-12 and 1e12 [m]", x, y, z);
}

const Vec3& Ellipsoid::semiAxes() const { return flat().convex.size; }

Aabb Ellipsoid::worldAabb(const Transform& X_WS) const {
  const Vec3& e = semiAxes();
  const Mat3& R = X_WS.rotation;
  const Vec3 x = R.col[0] * e.x, y = R.col[1] * e.y, z = R.col[2] * e.z;
  return boxAround(X_WS.translation, {std::sqrt(x.x * x.x + y.x * y.x + z.x * z.x),
                                      std::sqrt(x.y * x.y + y.y * y.y + z.y * z.y),
                                      std::sqrt(x.z * x.z + y.z * y.z + z.z * z.z)});
}

Vec3 Ellipsoid::support(const Vec3& direction) const { return supportOf(flat(), direction); }

// Plane.

Plane::Plane()
    : Shape(ShapeType::Plane, makeFlat(ShapeType::Plane, {.boundingRadius = kInfinity}),
            {{-kInfinity, -kInfinity, -kInfinity}, {kInfinity, kInfinity, 0}}) {}

Aabb Plane::worldAabb(const Transform& X_WS) const {
  // Bounded on one side when the normal is exactly along a world axis, nowhere otherwise.
  Aabb box{{-kInfinity, -kInfinity, -kInfinity}, {kInfinity, kInfinity, kInfinity}};
  const Vec3& n = X_WS.rotation.col[2];
  for (int i = 0; i < 3; ++i) {
    if (n[(i + 1) % 3] != 0 || n[(i + 2) % 3] != 0) continue;
    if (n[i] > 0) box.upper[i] = X_WS.translation[i];
    if (n[i] < 0) box.lower[i] = X_WS.translation[i];
  }
  return box;
}

Vec3 Plane::support(const Vec3& direction) const {
  const auto farthest = [](Real d) { return d > 0 ? kInfinity : (d < 0 ? -kInfinity : 0); };
  return {farthest(direction.x), farthest(direction.y), direction.z < 0 ? -kInfinity : 0};
}

}  // namespace tangere
