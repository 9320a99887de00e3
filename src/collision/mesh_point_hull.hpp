// SPDX-License-Identifier: Apache-2.0
//
// The convex hull of a few points as a convex view, for queries that ask only for support points.
#pragma once

#include "collision/mesh_surface.hpp"
#include "geometry/kernels/convex_view.hpp"

#include <cmath>

namespace tangere::collision {

/// Has no faces or edges. The view that it gives points into it.
template <int kMaxPoints>
class PointHull {
 public:
  static_assert(kMaxPoints % 4 == 0, "support points are taken four at a time");

  PointHull() = default;
  PointHull(const PointHull&) = delete;
  PointHull& operator=(const PointHull&) = delete;

  /// False when there is no room.
  bool add(const Vec3& p) {
    if (count_ == kMaxPoints) return false;
    x_[count_] = p.x;
    y_[count_] = p.y;
    z_[count_++] = p.z;
    return true;
  }
  [[nodiscard]] int size() const { return count_; }
  [[nodiscard]] Vec3 point(int i) const { return {x_[i], y_[i], z_[i]}; }

  [[nodiscard]] Real highest(const Vec3& direction) const {
    Real most = dot(direction, point(0));
    for (int i = 1; i < count_; ++i) most = larger(most, dot(direction, point(i)));
    return most;
  }

  /// The diagonal of the box around the points.
  [[nodiscard]] Real extent() const {
    Vec3 low = point(0), high = low;
    for (int i = 1; i < count_; ++i) {
      const Vec3 p = point(i);
      for (int k = 0; k < 3; ++k) {
        low[k] = p[k] < low[k] ? p[k] : low[k];
        high[k] = p[k] > high[k] ? p[k] : high[k];
      }
    }
    return norm(high - low);
  }

  /// Of at least one point; good until the next add().
  [[nodiscard]] kernel::ConvexView<Real> view() {
    for (int i = count_; i % 4 != 0; ++i) {
      x_[i] = x_[0];
      y_[i] = y_[0];
      z_[i] = z_[0];
    }
    hull_.x = x_;
    hull_.y = y_;
    hull_.z = z_;
    hull_.numVertices = count_;
    kernel::ConvexView<Real> out;
    out.core = kernel::CoreType::Hull;
    out.hull = &hull_;
    for (int i = 0; i < count_; ++i) out.center += point(i);
    out.center = out.center / Real(count_);
    Real r2 = 0;
    for (int i = 0; i < count_; ++i) r2 = larger(r2, squaredNorm(point(i) - out.center));
    out.boundingRadius = std::sqrt(r2);
    return out;
  }

 private:
  Real x_[kMaxPoints], y_[kMaxPoints], z_[kMaxPoints];
  int count_ = 0;
  kernel::HullView<Real> hull_;
};

}  // namespace tangere::collision
