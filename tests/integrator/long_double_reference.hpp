// SPDX-License-Identifier: Apache-2.0
//
// Signed distance of two convex shapes in long double, with a certificate that does not depend on
// how it was found: a plane with all of A on one side and all of B on the other bounds the distance
// from below, and points of A and B that are so far apart bound it from above.
#pragma once

#include <tangere/shape.hpp>

#include "collision/kernels/refine_contact.hpp"
#include "geometry/flat_shape.hpp"

#include <cmath>
#include <vector>

namespace tangere::test {

using Long = long double;
using LongVec3 = Vec3T<Long>;

inline LongVec3 widen(const Vec3& v) { return {v.x, v.y, v.z}; }
inline TransformT<Long> widen(const Transform& X) {
  TransformT<Long> wide;
  for (int k = 0; k < 3; ++k) wide.rotation.col[k] = widen(X.rotation.col[k]);
  wide.translation = widen(X.translation);
  return wide;
}

/// A convex view in long double; the numbers are those of the shape, normals are computed anew.
class LongView {
 public:
  explicit LongView(const Shape& shape) {
    const kernel::ConvexView<Real>& from = shape.flat().convex;
    view_.core = from.core;
    view_.radius = from.radius;
    view_.size = widen(from.size);
    view_.center = widen(from.center);
    view_.boundingRadius = from.boundingRadius;
    if (from.hull) copyHull(*from.hull);
  }
  LongView(const LongView&) = delete;
  LongView& operator=(const LongView&) = delete;
  [[nodiscard]] const kernel::ConvexView<Long>& view() const { return view_; }

 private:
  void copyHull(const kernel::HullView<Real>& from) {
    for (int i = 0; i < from.numVertices; ++i) {
      x_.push_back(from.x[i]);
      y_.push_back(from.y[i]);
      z_.push_back(from.z[i]);
    }
    const auto vertex = [&](int f, int k) {
      const auto i = static_cast<std::size_t>(from.faceVertex[from.faceStart[f] + k]);
      return LongVec3{x_[i], y_[i], z_[i]};
    };
    for (int f = 0; f < from.numFaces; ++f) {
      LongVec3 sum{};
      for (int k = 1; k + 1 < from.faceStart[f + 1] - from.faceStart[f]; ++k)
        sum += cross(vertex(f, k) - vertex(f, 0), vertex(f, k + 1) - vertex(f, 0));
      normal_.push_back(sum / norm(sum));
      offset_.push_back(dot(normal_.back(), vertex(f, 0)));
    }
    hull_.x = x_.data();
    hull_.y = y_.data();
    hull_.z = z_.data();
    hull_.numVertices = from.numVertices;
    hull_.neighborStart = from.neighborStart;
    hull_.neighbor = from.neighbor;
    hull_.numFaces = from.numFaces;
    hull_.faceNormal = normal_.data();
    hull_.faceOffset = offset_.data();
    hull_.faceStart = from.faceStart;
    hull_.faceVertex = from.faceVertex;
    hull_.vertexFaceStart = from.vertexFaceStart;
    hull_.vertexFace = from.vertexFace;
    hull_.numEdges = from.numEdges;
    hull_.edgeVertex = from.edgeVertex;
    hull_.edgeFace = from.edgeFace;
    view_.hull = &hull_;
  }

  kernel::ConvexView<Long> view_;
  kernel::HullView<Long> hull_;
  std::vector<Long> x_, y_, z_, offset_;
  std::vector<LongVec3> normal_;
};

struct LongDistance {
  Long distance = 0;
  LongVec3 normal{};  ///< world, from 2 to 1
  LongVec3 point1{};  ///< relative to the origin of shape 1, world axes
  Long size = 0;      ///< of both shapes together
  /// Between what the plane proves and the distance. 1e-15 of the size: the rotations given are
  /// rotations to double precision only.
  Long gap = 0;
  bool converged = false;
};

inline LongDistance longDistance(const Shape& s1, const Transform& X_W1, const Shape& s2,
                                 const Transform& X_W2) {
  const LongView a(s1), b(s2);
  const TransformT<Long> X_W1L = widen(X_W1), X_12 = inverseTimes(X_W1L, widen(X_W2));
  const kernel::MinkowskiPair<Long> pair{a.view(), b.view(), X_12};
  kernel::ConvexHint<Long> hint;
  const kernel::ConvexContact<Long> contact =
      pair.isPolytopePair()
          ? kernel::detail::convexDistance(pair, Long(1e300L), true, &hint, false)
          : kernel::refinedDistance(pair, &hint, std::numeric_limits<Long>::epsilon());
  LongDistance out;
  out.distance = contact.distance;
  out.normal = X_W1L.rotation * contact.normal;
  out.point1 = X_W1L.rotation * contact.pointA;
  out.size = kernel::detail::minkowskiSize(pair);
  const LongVec3 m = -contact.normal;
  const Long proved = -dot(m, pair.support(m).w) - a.view().radius - b.view().radius;
  out.gap = std::fabs(proved - contact.distance);
  out.converged = contact.status == QueryStatus::Ok;
  return out;
}

}  // namespace tangere::test
