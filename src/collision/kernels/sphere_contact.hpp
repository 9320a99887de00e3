// SPDX-License-Identifier: Apache-2.0
//
// A sphere against every convex solid: the signed distance of its centre from the other surface.
//
// Each function takes `offset`, the sphere's centre minus the other shape's origin in world (formed
// first, so that bodies far from the origin lose no digits), and `limit`. It returns false, with
// nothing written, when the centre is farther than `limit` from the solid; otherwise it writes the
// exact signed distance and the outward unit normal in world. Where several normals are as good
// (centre on an axis) a fixed one is taken. A distance that is not a number is beyond any limit.
#pragma once

#include "collision/kernels/segment_contact.hpp"
#include "collision/kernels/sphere_box.hpp"
#include "collision/kernels/sphere_hull.hpp"
#include "geometry/kernels/convex_view.hpp"
#include "geometry/kernels/point_distance.hpp"

#include <cstdint>

namespace tangere::kernel {

template <class S>
struct CenterDistance {
  S distance{};                       ///< from the centre of the sphere, negative inside
  Vec3T<S> normal{};                  ///< outward from the other solid, world
  std::int32_t feature = kNoFeature;  ///< of the other solid

  TANGERE_HD void set(S newDistance, const Vec3T<S>& newNormal, std::int32_t newFeature) {
    distance = newDistance;
    normal.x = newNormal.x;
    normal.y = newNormal.y;
    normal.z = newNormal.z;
    feature = newFeature;
  }
};

template <class S>
TANGERE_HD inline bool centerToSphere(S radius, const Vec3T<S>& offset, S limit,
                                      CenterDistance<S>* out) {
  using std::sqrt;
  const S d2 = squaredNorm(offset);
  const S reach = radius + limit;
  if (!(d2 <= reach * reach)) return false;
  if (!(d2 > leastSquaredLength<S>())) {
    out->set(-radius, Vec3T<S>{S(0), S(0), S(1)}, kNoFeature);
    return true;
  }
  const S d = sqrt(d2);
  out->set(d - radius, offset * (S(1) / d), kNoFeature);
  return true;
}

template <class S>
TANGERE_HD inline bool centerToPlane(const Mat3T<S>& R_W2, const Vec3T<S>& offset, S limit,
                                     CenterDistance<S>* out) {
  const S d = dot(R_W2.col[2], offset);
  if (!(d <= limit)) return false;
  out->set(d, R_W2.col[2], kNoFeature);
  return true;
}

template <class S>
TANGERE_HD inline bool centerToCapsule(S radius, S halfLength, const Mat3T<S>& R_W2,
                                       const Vec3T<S>& offset, S limit, CenterDistance<S>* out) {
  using std::sqrt;
  const Vec3T<S>& axis = R_W2.col[2];
  const S along = dot(axis, offset);
  const S t = clampMagnitude(along, halfLength);
  Vec3T<S> v = offset - axis * t;
  S d2 = squaredNorm(v);
  const S reach = radius + limit;
  if (!(d2 <= reach * reach)) return false;
  // Beside the side or beyond an end cannot be guessed, so near the axis mostly can: this test
  // first.
  if (d2 < S(1e-10) * halfLength * halfLength && t == along) {
    // So near the axis the rounding of t tilts v: take that part out again.
    v -= axis * dot(axis, v);
    d2 = squaredNorm(v);
  }
  const int above = static_cast<int>(along > halfLength),
            below = static_cast<int>(along < -halfLength);
  const std::int32_t feature = edgeFeature(0, 1) + above * (vertexFeature(1) - edgeFeature(0, 1)) +
                               below * (vertexFeature(0) - edgeFeature(0, 1));
  if (!(d2 > leastSquaredLength<S>())) {
    out->set(-radius, R_W2.col[0], feature);
    return true;
  }
  const S d = sqrt(d2);
  out->set(d - radius, v * (S(1) / d), feature);
  return true;
}

template <class S>
TANGERE_HD inline bool centerToBox(const Vec3T<S>& size, const Mat3T<S>& R_W2,
                                   const Vec3T<S>& offset, S limit, CenterDistance<S>* out) {
  using std::fabs;
  using std::sqrt;
  const Vec3T<S> p = transposeTimes(R_W2, offset);
  const Vec3T<S> c{clampMagnitude(p.x, size.x), clampMagnitude(p.y, size.y),
                   clampMagnitude(p.z, size.z)};
  const Vec3T<S> v = p - c;
  const S d2 = squaredNorm(v);
  if (d2 > limit * limit) return false;
  if (d2 > leastSquaredLength<S>()) {
    const S d = sqrt(d2);
    out->set(d, R_W2 * (v * (S(1) / d)), boxFeature(v));
    return true;
  }
  // Inside: the nearest face, the lowest axis of those that tie.
  const S dx = size.x - fabs(p.x), dy = size.y - fabs(p.y), dz = size.z - fabs(p.z);
  const int axis = dx <= dy && dx <= dz ? 0 : (dy <= dz ? 1 : 2);
  const bool positive = p[axis] >= S(0);
  out->set(axis == 0 ? -dx : (axis == 1 ? -dy : -dz), positive ? R_W2.col[axis] : -R_W2.col[axis],
           faceFeature(boxFace(axis, positive)));
  return true;
}

template <class S>
TANGERE_HD inline bool centerToCylinder(const Vec3T<S>& size, const Mat3T<S>& R_W2,
                                        const Vec3T<S>& offset, S limit, CenterDistance<S>* out) {
  using std::fabs;
  using std::sqrt;
  const Vec3T<S> p = transposeTimes(R_W2, offset);
  const S dz = fabs(p.z) - size.z;
  if (!(dz <= limit)) return false;
  const S rho2 = p.x * p.x + p.y * p.y;
  const S reach = size.x + limit;
  if (!(rho2 <= reach * reach)) return false;
  const S rho = sqrt(rho2);
  const S dr = rho - size.x;
  const bool radial = rho2 > leastSquaredLength<S>();
  const S inverse = radial ? S(1) / rho : S(0);
  const Vec3T<S> u =
      radial ? R_W2.col[0] * (p.x * inverse) + R_W2.col[1] * (p.y * inverse) : R_W2.col[0];
  const Vec3T<S> w = p.z >= S(0) ? R_W2.col[2] : -R_W2.col[2];
  if (dr > S(0) && dz > S(0)) {
    const S d2 = dr * dr + dz * dz;
    if (d2 > limit * limit) return false;
    if (d2 > leastSquaredLength<S>()) {
      const S d = sqrt(d2), k = S(1) / d;
      out->set(d, u * (dr * k) + w * (dz * k), kNoFeature);
      return true;
    }
  }
  if (dr > dz)
    out->set(dr, u, kNoFeature);
  else
    out->set(dz, w, kNoFeature);
  return true;
}

template <class S>
TANGERE_HD inline bool centerToCone(const Vec3T<S>& size, const Mat3T<S>& R_W2,
                                    const Vec3T<S>& offset, S limit, CenterDistance<S>* out) {
  const Vec3T<S> p = transposeTimes(R_W2, offset);
  // The box around the cone first: three comparisons decide most pairs of a broad phase.
  const S reach = size.x + limit;
  if (p.z > size.z + limit || -p.z > size.z + limit || p.x * p.x + p.y * p.y > reach * reach)
    return false;
  const PointDistance<S> d = pointDistanceCone(size, p);
  if (d.distance > limit) return false;
  out->set(d.distance, R_W2 * d.normal, kNoFeature);
  return true;
}

template <class S>
TANGERE_HD inline bool centerToEllipsoid(const Vec3T<S>& size, const Mat3T<S>& R_W2,
                                         const Vec3T<S>& offset, S limit, CenterDistance<S>* out) {
  using std::sqrt;
  const Vec3T<S> p = transposeTimes(R_W2, offset);
  // With g the gradient at the point scaled onto the surface, the plane there separates by
  // (q - sqrt q) / |g|, where q = sum (p_i / e_i)^2: one division each settles most far pairs.
  const S x = p.x / size.x, y = p.y / size.y, z = p.z / size.z;
  const S q = x * x + y * y + z * z;
  if (q > S(1)) {
    const S gx = x / size.x, gy = y / size.y, gz = z / size.z;
    const S lower = q - sqrt(q);
    if (lower * lower > limit * limit * (gx * gx + gy * gy + gz * gz)) return false;
  }
  const PointDistance<S> d = pointDistanceEllipsoid(size, p);
  if (d.distance > limit) return false;
  out->set(d.distance, R_W2 * d.normal, kNoFeature);
  return true;
}

template <class S>
TANGERE_HD inline bool centerToHull(const HullView<S>& hull, S scale, const Mat3T<S>& R_W2,
                                    const Vec3T<S>& offset, S limit, CenterDistance<S>* out) {
  HullPoint<S> d;
  if (!pointToHull(hull, scale, transposeTimes(R_W2, offset), limit, &d)) return false;
  out->set(d.distance, R_W2 * d.normal, d.feature);
  return true;
}

}  // namespace tangere::kernel
