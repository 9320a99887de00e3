// SPDX-License-Identifier: Apache-2.0
#include "collision/plane_pairs.hpp"

#include "collision/kernels/plane_contact.hpp"
#include "collision/plane_output.hpp"

#include <limits>

namespace tangere::collision {

namespace {

using kernel::PlanePoints;

// A hull comes after the plane in the order of types, all other solids before it.
constexpr PlaneSide planeSide(ShapeType solid) {
  return solid == ShapeType::Convex ? PlaneSide::Shape1 : PlaneSide::Shape2;
}

template <PlanePoints kPoints, ShapeType kSolid, class Sink>
void measure(const PairInput& input, Real limit, Sink& out) {
  constexpr bool kPlaneLast = planeSide(kSolid) == PlaneSide::Shape2;
  const kernel::ConvexView<Real>& view = (kPlaneLast ? input.shape1 : input.shape2).convex;
  const Transform& X_WS = kPlaneLast ? input.X_W1 : input.X_W2;
  const Transform& X_WP = kPlaneLast ? input.X_W2 : input.X_W1;
  const Vec3& n = X_WP.rotation.col[2];
  const Real height = dot(n, X_WS.translation - X_WP.translation);
  if constexpr (kSolid == ShapeType::Box)
    kernel::planeToBox<kPoints>(view.size, X_WS.rotation, n, height, limit, out);
  else if constexpr (kSolid == ShapeType::Cylinder)
    kernel::planeToCylinder<kPoints>(view.size, X_WS.rotation, n, height, limit, out);
  else if constexpr (kSolid == ShapeType::Cone)
    kernel::planeToCone<kPoints>(view.size, X_WS.rotation, n, height, limit, out);
  else if constexpr (kSolid == ShapeType::Ellipsoid)
    kernel::planeToEllipsoid(view.size, X_WS.rotation, n, height, limit, out);
  else
    kernel::planeToHull<kPoints>(*view.hull, X_WS.rotation, n, height, limit, out);
}

// flatten: the small kernels keep their results in registers.
template <ShapeType kSolid>
[[gnu::flatten]] int collidePlane(const PairInput& input, const CollisionOption& option,
                                  CollisionResult& result) {
  PlaneManifold<planeSide(kSolid)> manifold(input, result);
  measure<PlanePoints::All, kSolid>(input, 0, manifold);
  return manifold.commit(option.maxNumContacts);
}

template <ShapeType kSolid>
[[gnu::flatten]] bool overlapPlane(const PairInput& input) {
  PlaneOverlap overlap;
  measure<PlanePoints::Lowest, kSolid>(input, 0, overlap);
  return overlap.found;
}

template <ShapeType kSolid>
[[gnu::flatten]] void distancePlane(const PairInput& input, const DistanceOption& option,
                                    DistanceResult& result) {
  PlaneDistance<planeSide(kSolid)> distance(input, option, result);
  measure<PlanePoints::Lowest, kSolid>(input, std::numeric_limits<Real>::infinity(), distance);
}

template <ShapeType kSolid>
constexpr PairFunctions kFunctions{collidePlane<kSolid>, overlapPlane<kSolid>,
                                   distancePlane<kSolid>, collideDirectly<collidePlane<kSolid>>};

}  // namespace

PairFunctions planePairFunctions(ShapeType type1, ShapeType type2) {
  if (type1 == ShapeType::Plane && type2 == ShapeType::Convex) return kFunctions<ShapeType::Convex>;
  if (type2 != ShapeType::Plane) return {};
  switch (type1) {
    case ShapeType::Box:
      return kFunctions<ShapeType::Box>;
    case ShapeType::Cylinder:
      return kFunctions<ShapeType::Cylinder>;
    case ShapeType::Cone:
      return kFunctions<ShapeType::Cone>;
    case ShapeType::Ellipsoid:
      return kFunctions<ShapeType::Ellipsoid>;
    default:
      return {};
  }
}

}  // namespace tangere::collision
