// SPDX-License-Identifier: Apache-2.0
#include "collision/sphere_pairs.hpp"

#include "collision/kernels/sphere_contact.hpp"
#include "collision/pair_output.hpp"

#include <limits>

namespace tangere::collision {

namespace {

using kernel::CenterDistance;

/// Signed distance of the sphere's centre from shape 2, or false beyond `limit`.
template <ShapeType kType2>
bool measureCenter(const PairInput& input, Real limit, CenterDistance<Real>* out) {
  const kernel::ConvexView<Real>& view = input.shape2.convex;
  const Mat3& R_W2 = input.X_W2.rotation;
  const Vec3 offset = input.X_W1.translation - input.X_W2.translation;
  if constexpr (kType2 == ShapeType::Sphere)
    return kernel::centerToSphere(view.radius, offset, limit, out);
  else if constexpr (kType2 == ShapeType::Box)
    return kernel::centerToBox(view.size, R_W2, offset, limit, out);
  else if constexpr (kType2 == ShapeType::Capsule)
    return kernel::centerToCapsule(view.radius, view.size.z, R_W2, offset, limit, out);
  else if constexpr (kType2 == ShapeType::Cylinder)
    return kernel::centerToCylinder(view.size, R_W2, offset, limit, out);
  else if constexpr (kType2 == ShapeType::Cone)
    return kernel::centerToCone(view.size, R_W2, offset, limit, out);
  else if constexpr (kType2 == ShapeType::Ellipsoid)
    return kernel::centerToEllipsoid(view.size, R_W2, offset, limit, out);
  else if constexpr (kType2 == ShapeType::Plane)
    return kernel::centerToPlane(R_W2, offset, limit, out);
  else
    return kernel::centerToHull(*view.hull, view.boundingRadius, R_W2, offset, limit, out);
}

// flatten: the small kernels keep their results in registers.
template <ShapeType kType2>
[[gnu::flatten]] int collideSphere(const PairInput& input, const CollisionOption&,
                                   CollisionResult& result) {
  const Real radius = input.shape1.convex.radius;
  CenterDistance<Real> center;
  if (!measureCenter<kType2>(input, radius, &center)) return 0;
  return addPoint(input.X_W1.translation, center.normal, radius, center.distance,
                  kernel::kNoFeature, center.feature, result);
}

template <ShapeType kType2>
[[gnu::flatten]] bool overlapSphere(const PairInput& input) {
  CenterDistance<Real> center;
  return measureCenter<kType2>(input, input.shape1.convex.radius, &center);
}

template <ShapeType kType2>
[[gnu::flatten]] void distanceSphere(const PairInput& input, const DistanceOption& option,
                                     DistanceResult& result) {
  CenterDistance<Real> center;
  measureCenter<kType2>(input, std::numeric_limits<Real>::infinity(), &center);
  writeDistance(input.X_W1.translation, center.normal, input.shape1.convex.radius, center.distance,
                kernel::kNoFeature, center.feature, option, result);
}

template <ShapeType kType2>
constexpr PairFunctions kFunctions{collideSphere<kType2>, overlapSphere<kType2>,
                                   distanceSphere<kType2>, collideDirectly<collideSphere<kType2>>};

}  // namespace

PairFunctions spherePairFunctions(ShapeType type1, ShapeType type2) {
  if (type1 != ShapeType::Sphere) return {};
  switch (type2) {
    case ShapeType::Sphere:
      return kFunctions<ShapeType::Sphere>;
    case ShapeType::Box:
      return kFunctions<ShapeType::Box>;
    case ShapeType::Capsule:
      return kFunctions<ShapeType::Capsule>;
    case ShapeType::Cylinder:
      return kFunctions<ShapeType::Cylinder>;
    case ShapeType::Cone:
      return kFunctions<ShapeType::Cone>;
    case ShapeType::Ellipsoid:
      return kFunctions<ShapeType::Ellipsoid>;
    case ShapeType::Plane:
      return kFunctions<ShapeType::Plane>;
    case ShapeType::Convex:
      return kFunctions<ShapeType::Convex>;
    default:
      return {};
  }
}

}  // namespace tangere::collision
