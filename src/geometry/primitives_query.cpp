// SPDX-License-Identifier: Apache-2.0
//
// The primitive solids: mass properties, ray casts and signed distances.
#include <tangere/error.hpp>
#include <tangere/shape.hpp>

#include "geometry/flat_shape.hpp"
#include "geometry/kernels/point_distance.hpp"
#include "geometry/kernels/ray_interval.hpp"
#include "geometry/mass_properties.hpp"
#include "geometry/query_helpers.hpp"

#include <numbers>

namespace tangere {

namespace {

using Line = kernel::LineT<Real>;
using kernel::PointDistance;

constexpr Real kPi = std::numbers::pi_v<Real>;

Mat3 diagonal(Real x, Real y, Real z) { return {{{x, 0, 0}, {0, y, 0}, {0, 0, z}}}; }

SignedDistance fromKernel(const PointDistance<Real>& d) {
  return {d.distance, d.closest, d.normal};
}

}  // namespace

// Sphere.

MassProperties Sphere::massProperties(Real density) const {
  geometry::requireDensity(density);
  const Real r = radius();
  const Real mass = density * (Real(4) / 3 * kPi) * (r * r * r);
  const Real i = Real(0.4) * mass * (r * r);
  return {.mass = mass, .center = {}, .inertia = diagonal(i, i, i)};
}

std::optional<RayHit> Sphere::rayCast(const Ray& ray) const {
  return geometry::firstHit(
      ray, {}, [this](const Line& line) { return kernel::rayIntervalSphere(radius(), {}, line); });
}

SignedDistance Sphere::signedDistance(const Vec3& point) const {
  return geometry::signedDistanceAt(point, [this](const Vec3& p) {
    return fromKernel(kernel::pointDistanceSphere(radius(), p));
  });
}

// Box.

MassProperties Box::massProperties(Real density) const {
  geometry::requireDensity(density);
  const Vec3& h = halfExtents();
  const Real mass = density * 8 * (h.x * h.y * h.z);
  const Real k = mass / 3;
  const Real x2 = h.x * h.x, y2 = h.y * h.y, z2 = h.z * h.z;
  return {
      .mass = mass, .center = {}, .inertia = diagonal(k * (y2 + z2), k * (z2 + x2), k * (x2 + y2))};
}

std::optional<RayHit> Box::rayCast(const Ray& ray) const {
  return geometry::firstHit(
      ray, {}, [this](const Line& line) { return kernel::rayIntervalBox(halfExtents(), line); });
}

SignedDistance Box::signedDistance(const Vec3& point) const {
  return geometry::signedDistanceAt(point, [this](const Vec3& p) {
    return fromKernel(kernel::pointDistanceBox(halfExtents(), p));
  });
}

// Capsule.

MassProperties Capsule::massProperties(Real density) const {
  geometry::requireDensity(density);
  const Real r = radius(), h = halfLength();
  const Real r2 = r * r;
  const Real tube = density * kPi * r2 * (2 * h);
  const Real balls = density * (Real(4) / 3 * kPi) * (r2 * r);
  const Real axial = Real(0.5) * tube * r2 + Real(0.4) * balls * r2;
  // Each half ball about its own centre of mass, 3r/8 beyond the end, moved to the middle.
  const Real lateral =
      tube * (r2 / 4 + h * h / 3) + balls * (Real(0.4) * r2 + h * h + Real(0.75) * h * r);
  return {.mass = tube + balls, .center = {}, .inertia = diagonal(lateral, lateral, axial)};
}

std::optional<RayHit> Capsule::rayCast(const Ray& ray) const {
  return geometry::firstHit(ray, {}, [this](const Line& line) {
    return kernel::rayIntervalCapsule(radius(), halfLength(), line);
  });
}

SignedDistance Capsule::signedDistance(const Vec3& point) const {
  return geometry::signedDistanceAt(point, [this](const Vec3& p) {
    const PointDistance<Real> d = kernel::pointDistanceSegment(halfLength(), p);
    return SignedDistance{d.distance - radius(), d.closest + d.normal * radius(), d.normal};
  });
}

// Cylinder.

MassProperties Cylinder::massProperties(Real density) const {
  geometry::requireDensity(density);
  const Real r2 = radius() * radius(), h = halfLength();
  const Real mass = density * kPi * r2 * (2 * h);
  const Real lateral = mass * (r2 / 4 + h * h / 3);
  return {.mass = mass, .center = {}, .inertia = diagonal(lateral, lateral, Real(0.5) * mass * r2)};
}

std::optional<RayHit> Cylinder::rayCast(const Ray& ray) const {
  return geometry::firstHit(ray, {}, [this](const Line& line) {
    return kernel::rayIntervalCylinder(flat().convex.size, line);
  });
}

SignedDistance Cylinder::signedDistance(const Vec3& point) const {
  return geometry::signedDistanceAt(point, [this](const Vec3& p) {
    return fromKernel(kernel::pointDistanceCylinder(flat().convex.size, p));
  });
}

// Cone.

MassProperties Cone::massProperties(Real density) const {
  geometry::requireDensity(density);
  const Real r2 = radius() * radius(), height = 2 * halfHeight();
  const Real mass = density * (kPi / 3) * r2 * height;
  const Real lateral = mass * (Real(3) / 20 * r2 + Real(3) / 80 * (height * height));
  return {.mass = mass,
          .center = flat().convex.center,
          .inertia = diagonal(lateral, lateral, Real(0.3) * mass * r2)};
}

std::optional<RayHit> Cone::rayCast(const Ray& ray) const {
  return geometry::firstHit(ray, {}, [this](const Line& line) {
    return kernel::rayIntervalCone(flat().convex.size, line);
  });
}

SignedDistance Cone::signedDistance(const Vec3& point) const {
  return geometry::signedDistanceAt(point, [this](const Vec3& p) {
    return fromKernel(kernel::pointDistanceCone(flat().convex.size, p));
  });
}

// Ellipsoid.

MassProperties Ellipsoid::massProperties(Real density) const {
  geometry::requireDensity(density);
  const Vec3& e = semiAxes();
  const Real mass = density * (Real(4) / 3 * kPi) * (e.x * e.y * e.z);
  const Real k = mass / 5;
  const Real x2 = e.x * e.x, y2 = e.y * e.y, z2 = e.z * e.z;
  return {
      .mass = mass, .center = {}, .inertia = diagonal(k * (y2 + z2), k * (z2 + x2), k * (x2 + y2))};
}

std::optional<RayHit> Ellipsoid::rayCast(const Ray& ray) const {
  return geometry::firstHit(
      ray, {}, [this](const Line& line) { return kernel::rayIntervalEllipsoid(semiAxes(), line); });
}

SignedDistance Ellipsoid::signedDistance(const Vec3& point) const {
  return geometry::signedDistanceAt(point, [this](const Vec3& p) {
    return fromKernel(kernel::pointDistanceEllipsoid(semiAxes(), p));
  });
}

// Plane.

MassProperties Plane::massProperties(Real) const {
  throw InvalidInput("a plane has no finite volume: it has no mass properties");
}

std::optional<RayHit> Plane::rayCast(const Ray& ray) const {
  return geometry::firstHit(ray, {}, [](const Line& line) {
    kernel::RayInterval<Real> inside = kernel::wholeLine<Real>();
    kernel::clipRayInterval(line, {0, 0, 1}, Real(0), &inside);
    return inside;
  });
}

SignedDistance Plane::signedDistance(const Vec3& point) const {
  return {point.z, {point.x, point.y, 0}, {0, 0, 1}};
}

}  // namespace tangere
