// SPDX-License-Identifier: Apache-2.0
#include "collision/mesh_distance.hpp"

#include "collision/kernels/convex_distance.hpp"
#include "collision/mesh_traversal.hpp"
#include "geometry/bvh_nearest.hpp"
#include "geometry/signed_distance.hpp"

#include <cmath>
#include <limits>

namespace tangere::collision {

namespace {

/// Lower bounds of the distance from an oriented box to the boxes of a node: gaps along the axes of
/// the tree and of the body, and along the direction of the best pair so far, along which the body
/// itself is used instead of its box.
class DistanceCuller {
 public:
  DistanceCuller(const Bvh& bvh, const kernel::ConvexView<Real>& view, const Transform& X_MC)
      : bvh_(bvh), view_(view), X_MC_(X_MC) {
    const Aabb local = boxOf(view);
    const Vec3 c = bvh.toUnit(X_MC * local.center());
    const Vec3 h = local.halfExtents() * bvh.inverseScale;
    slack_ = 4 * Bvh::kUnitSlack * (1 + float(geometry::maxAbs(c)) + float(h.x + h.y + h.z));
    const Mat3& R = X_MC.rotation;
    for (int k = 0; k < 3; ++k) {
      center_[k] = splat(float(c[k]));
      half_[k] = splat(float(h[k]));
      Real reach = 0;
      for (int j = 0; j < 3; ++j) {
        axis_[j][k] = splat(float(R(k, j)));
        absAxis_[j][k] = splat(float(std::fabs(R(k, j))));
        reach += std::fabs(R(k, j)) * h[j];
      }
      reach_[k] = splat(float(reach));
    }
  }

  /// `toBody` is unit, from the surface to the body, in the frame of the mesh.
  void setDirection(const Vec3& toBody) {
    const Vec3 d_C = transposeTimes(X_MC_.rotation, toBody);
    int index;
    const Vec3 lowest = X_MC_ * kernel::supportCore(view_, -d_C, &index);
    bodyOffset_ = dot(toBody, lowest) - view_.radius;
    direction_ = toBody;
    hasDirection_ = true;
    const Real offset = (bodyOffset_ - dot(toBody, bvh_.center)) * bvh_.inverseScale;
    for (int k = 0; k < 3; ++k) n_[k] = splat(float(toBody[k]));
    offset_ = splat(float(offset));
  }
  /// A lower bound for one triangle from the same direction.
  [[nodiscard]] Real boundOf(const Vec3* v) const {
    if (!hasDirection_) return 0;
    return bodyOffset_ - std::fmax(dot(direction_, v[0]),
                                   std::fmax(dot(direction_, v[1]), dot(direction_, v[2])));
  }

  /// In unit coordinates, never above the true distance.
  [[nodiscard]] Float4 bounds(const BvhNode& node) const {
    const Float4 half = splat(0.5f), zero = splat(0);
    Float4 d[3], g[3];
    Float4 sum = zero;
    for (int k = 0; k < 3; ++k) {
      d[k] = (node.lower[k] + node.upper[k]) * half - center_[k];
      g[k] = (node.upper[k] - node.lower[k]) * half;
      const Float4 gap = max4(abs4(d[k]) - reach_[k] - g[k], zero);
      sum = sum + gap * gap;
    }
    Float4 bound = sqrt4(sum);
    Float4 own = zero;
    for (int j = 0; j < 3; ++j) {
      const Float4 s = axis_[j][0] * d[0] + axis_[j][1] * d[1] + axis_[j][2] * d[2];
      const Float4 r = absAxis_[j][0] * g[0] + absAxis_[j][1] * g[1] + absAxis_[j][2] * g[2];
      const Float4 gap = max4(abs4(s) - half_[j] - r, zero);
      own = own + gap * gap;
    }
    bound = max4(bound, sqrt4(own));
    if (hasDirection_) {
      const Float4 top = max4(node.lower[0] * n_[0], node.upper[0] * n_[0]) +
                         max4(node.lower[1] * n_[1], node.upper[1] * n_[1]) +
                         max4(node.lower[2] * n_[2], node.upper[2] * n_[2]);
      bound = max4(bound, offset_ - top);
    }
    return bound * 0.99999f - slack_;
  }

 private:
  const Bvh& bvh_;
  const kernel::ConvexView<Real>& view_;
  const Transform& X_MC_;
  Float4 center_[3], half_[3], reach_[3], axis_[3][3], absAxis_[3][3];
  Float4 n_[3] = {}, offset_ = {};
  float slack_;
  bool hasDirection_ = false;
  Vec3 direction_{};
  Real bodyOffset_ = 0;
};

}  // namespace

NearestTriangle nearestTriangle(const geometry::MeshData& mesh,
                                const kernel::ConvexView<Real>& view, const Transform& X_MC,
                                Real upperBound) {
  const Bvh& bvh = mesh.bvh;
  const Transform X_CM = inverse(X_MC);
  DistanceCuller culler(bvh, view, X_MC);
  NearestTriangle best;
  Real bound = std::fmax(upperBound, Real(0));
  kernel::ConvexHint<Real> hint;

  const auto limit = [&] {
    const Real unit = bound * bvh.inverseScale;
    return unit < Real(1e30) ? float(unit) * 1.000001f : 1e30f;
  };
  const auto bounds = [&](const BvhNode& node) { return culler.bounds(node); };
  geometry::visitNearestFirst(bvh, bounds, limit, [&](int slot, int count) {
    for (int s = slot; s < slot + count; ++s) {
      const Vec3* v = &mesh.corners[3 * s];
      if (culler.boundOf(v) > bound) continue;
      const kernel::ConvexView<Real> triangle = triangleView(v);
      const kernel::ConvexContact<Real> pair =
          kernel::convexDistance(view, triangle, X_CM, bound, /*enableSigned=*/false, &hint);
      // Beyond the bound the answer is a lower bound with no points to it; rounding may put it on
      // the bound itself.
      const Real nearer = bound * (1 - Real(1e-13)) - Real(1e-13) * view.boundingRadius;
      if (!(pair.distance <= 0 || pair.distance < nearer)) continue;
      best.triangle = bvh.order[s];
      best.distance = pair.distance;
      best.touching = !(pair.distance > 0);
      best.found = !best.touching;
      if (best.touching) return true;
      best.normal = X_MC.rotation * pair.normal;
      best.onSurface = X_MC * pair.pointB;
      bound = pair.distance;
      culler.setDirection(best.normal);
    }
    return false;
  });
  return best;
}

DistanceResult distanceOfApart(const geometry::MeshData& mesh, const kernel::ConvexView<Real>& view,
                               const Transform& X_MC, const Vec3& move) {
  DistanceResult out;
  const NearestTriangle nearest =
      nearestTriangle(mesh, view, X_MC, std::numeric_limits<Real>::infinity());
  const Vec3 center = X_MC * view.center;
  if (!nearest.found || (mesh.closed && mesh.bounds.contains(center) &&
                         geometry::isInside(mesh, center, geometry::closestOnMesh(mesh, center)))) {
    out.distance = 0;
    out.normal = move / norm(move);
    return out;
  }
  out.distance = nearest.distance;
  out.normal = nearest.normal;
  out.point2 = nearest.onSurface;
  out.point1 = out.point2 + out.normal * out.distance;
  out.feature2 = nearest.triangle;
  return out;
}

kernel::ConvexView<Real> triangleView(const Vec3* v) {
  kernel::ConvexView<Real> triangle;
  triangle.core = kernel::CoreType::Triangle;
  triangle.triangle = v;
  triangle.center = (v[0] + v[1] + v[2]) * Real(1.0 / 3.0);
  Real r2 = 0;
  for (int k = 0; k < 3; ++k) r2 = std::fmax(r2, squaredNorm(v[k] - triangle.center));
  triangle.boundingRadius = std::sqrt(r2);
  return triangle;
}

void writeBeyond(const Vec3& center1_W, const Vec3& center2_W, Real upperBound,
                 DistanceResult& out) {
  const Vec3 offset = center1_W - center2_W;
  const Real length = norm(offset);
  out.normal = length > 0 ? offset / length : Vec3{0, 0, 1};
  out.distance =
      std::nextafter(std::fmax(upperBound, Real(0)), std::numeric_limits<Real>::infinity());
  out.point2 = center2_W;
  out.point1 = center2_W + out.normal * out.distance;
}

}  // namespace tangere::collision
