// SPDX-License-Identifier: Apache-2.0
#include "collision/extended_mpr.hpp"

#include "collision/kernels/refine_contact.hpp"
#include "core/extended.hpp"
#include "math/limits.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tangere::collision {

namespace {

using core::Extended;
using ExtendedVec3 = Vec3T<Extended>;
using Pair = kernel::MinkowskiPair<Extended>;

ExtendedVec3 widen(const Vec3& v) { return {Extended(v.x), Extended(v.y), Extended(v.z)}; }
Vec3 narrow(const ExtendedVec3& v) {
  return {static_cast<Real>(v.x), static_cast<Real>(v.y), static_cast<Real>(v.z)};
}

/// A shape with its numbers widened; face normals of a hull are computed anew.
class ExtendedView {
 public:
  explicit ExtendedView(const kernel::ConvexView<Real>& from) {
    view_.core = from.core;
    view_.radius = Extended(from.radius);
    view_.size = widen(from.size);
    view_.center = widen(from.center);
    view_.boundingRadius = Extended(from.boundingRadius);
    if (from.hull) copyHull(*from.hull);
  }
  ExtendedView(const ExtendedView&) = delete;
  ExtendedView& operator=(const ExtendedView&) = delete;
  [[nodiscard]] const kernel::ConvexView<Extended>& view() const { return view_; }

 private:
  void copyHull(const kernel::HullView<Real>& from) {
    for (int i = 0; i < from.numVertices; ++i) {
      x_.emplace_back(from.x[i]);
      y_.emplace_back(from.y[i]);
      z_.emplace_back(from.z[i]);
    }
    hull_.x = x_.data();
    hull_.y = y_.data();
    hull_.z = z_.data();
    hull_.numVertices = from.numVertices;
    hull_.numFaces = from.numFaces;
    hull_.faceStart = from.faceStart;
    hull_.faceVertex = from.faceVertex;
    hull_.vertexFaceStart = from.vertexFaceStart;
    hull_.vertexFace = from.vertexFace;
    for (int f = 0; f < from.numFaces; ++f) {
      const int start = from.faceStart[f], count = from.faceStart[f + 1] - start;
      const ExtendedVec3 first = hull_.vertex(from.faceVertex[start]);
      ExtendedVec3 sum{};
      for (int k = 1; k + 1 < count; ++k)
        sum += cross(hull_.vertex(from.faceVertex[start + k]) - first,
                     hull_.vertex(from.faceVertex[start + k + 1]) - first);
      normal_.push_back(sum / norm(sum));
      offset_.push_back(dot(normal_.back(), first));
    }
    hull_.faceNormal = normal_.data();
    hull_.faceOffset = offset_.data();
    view_.hull = &hull_;
  }

  kernel::ConvexView<Extended> view_;
  kernel::HullView<Extended> hull_;
  std::vector<Extended> x_, y_, z_, offset_;
  std::vector<ExtendedVec3> normal_;
};

/// A rotation given in double precision is one to 1e-16 only: its axes are made orthogonal, or the
/// two frames would disagree in the digits that are asked for.
Mat3T<Extended> orthogonal(const Mat3& R) {
  ExtendedVec3 x = widen(R.col[0]);
  x = x / norm(x);
  ExtendedVec3 y = widen(R.col[1]);
  y -= x * dot(x, y);
  y = y / norm(y);
  return {{x, y, cross(x, y)}};
}

/// Separated polytopes: the nearest point of the simplex that GJK ended on.
bool refineSimplex(const Pair& pair, const kernel::ConvexHint<Extended>& hint,
                   kernel::RefinedDirection<Extended>* out) {
  kernel::Unset<kernel::SimplexVertex<Extended>, 4> p;
  const int count = kernel::detail::recall(pair, &hint, p.data());
  if (count == 0 || count > 3) return false;
  kernel::Simplex<Extended> simplex;
  for (int i = 0; i < count; ++i) simplex.add(p[i]);
  kernel::reduceSimplex(simplex);
  const Extended length = norm(simplex.v);
  if (!(length > Extended(0))) return false;
  out->direction = simplex.v / -length;
  out->value = -length;
  out->pointA = simplex.pointA();
  // No other vertex may reach farther.
  const Extended reach = dot(out->direction, pair.support(out->direction).w);
  const Extended size = kernel::detail::minkowskiSize(pair);
  return reach - out->value <= Extended(1e-25) * size;
}

/// Overlapping polytopes: the plane of the facet that EPA ended on. Two crossing edges make a facet
/// of four corners, of which the three that are known need not be around the foot of the origin.
bool refineFacet(const Pair& pair, const kernel::ConvexHint<Extended>& hint,
                 const ExtendedVec3& pointA, kernel::RefinedDirection<Extended>* out) {
  kernel::Unset<kernel::SimplexVertex<Extended>, 4> p;
  if (kernel::detail::recall(pair, &hint, p.data()) != 3) return false;
  ExtendedVec3 normal = cross(p[1].w - p[0].w, p[2].w - p[0].w);
  const Extended length = norm(normal);
  if (!(length > Extended(0))) return false;
  normal = normal / (dot(normal, hint.axis) > Extended(0) ? -length : length);
  out->direction = normal;
  out->value = dot(normal, p[0].w);
  out->pointA = pointA;
  const Extended size = kernel::detail::minkowskiSize(pair);
  return dot(normal, pair.support(normal).w) - out->value <= Extended(1e-25) * size;
}

}  // namespace

kernel::ConvexContact<Real> extendedDistance(const kernel::ConvexView<Real>& a,
                                             const kernel::ConvexView<Real>& b,
                                             const Transform& X_AB) {
  kernel::ConvexHint<Real> hint;
  kernel::ConvexContact<Real> contact =
      kernel::convexDistance(a, b, X_AB, Real(1e300), true, &hint);
  const ExtendedView wideA(a), wideB(b);
  const TransformT<Extended> X{orthogonal(X_AB.rotation), widen(X_AB.translation)};
  const Pair pair{wideA.view(), wideB.view(), X};
  const Extended epsilon(core::kExtendedEpsilon);
  const Real size = a.boundingRadius + b.boundingRadius;
  const Real coarse = -(contact.distance + a.radius + b.radius);

  kernel::ConvexHint<Extended> wideHint;
  wideHint.axis = widen(hint.axis);
  wideHint.count = hint.count;
  std::copy(std::begin(hint.index1), std::end(hint.index1), std::begin(wideHint.index1));
  std::copy(std::begin(hint.index2), std::end(hint.index2), std::begin(wideHint.index2));

  // The answer is the least value of all directions: no more than that of the coarse one, or it is
  // where another facet is least.
  const ExtendedVec3 known = widen(-contact.normal) / norm(widen(contact.normal));
  const Extended most = dot(known, pair.support(known).w);
  kernel::RefinedDirection<Extended> refined;
  const auto agrees = [&] {
    return refined.value - most <= Extended(1e-25) * Extended(size) &&
           std::fabs(static_cast<Real>(refined.value) - coarse) <= Real(1e-6) * size;
  };
  bool found = kernel::detail::hasInside(pair) &&
               kernel::refineFromPortal(pair, epsilon, refined) && agrees();
  if (!found && pair.isPolytopePair()) found = refineSimplex(pair, wideHint, &refined) && agrees();
  if (!found) found = kernel::refineFromHint(pair, wideHint, epsilon, refined) && agrees();
  const ExtendedVec3 pointA = widen(contact.pointA + contact.normal * a.radius);
  if (!found && pair.isPolytopePair())
    found = refineFacet(pair, wideHint, pointA, &refined) && agrees();
  if (!found)
    found = kernel::detail::refineOnParallelFaces(pair, widen(-contact.normal), Extended(coarse),
                                                  pointA, refined);
  if (!found && !kernel::detail::hasInside(pair) &&
      std::fabs(static_cast<Real>(most)) <= math::kEpsilon<Real> * size) {
    // Points and segments that meet: nothing is nearer than 0.
    refined = {.direction = known, .value = most, .pointA = pointA};
    found = true;
  }
  if (!found) {
    contact.status = QueryStatus::NotConverged;
    return contact;
  }
  kernel::ConvexContact<Extended> wide;
  kernel::setRefined(pair, refined, &wide);
  contact.distance = static_cast<Real>(wide.distance);
  contact.normal = narrow(wide.normal);
  contact.pointA = narrow(wide.pointA);
  contact.pointB = narrow(wide.pointB);
  contact.status = QueryStatus::Ok;
  return contact;
}

}  // namespace tangere::collision
