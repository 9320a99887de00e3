// SPDX-License-Identifier: Apache-2.0
//
// Second fundamental form of the surface of a convex shape at a point of it: how fast the outward
// normal turns. Positive where the solid curves away, zero on flat faces. Edges, rims and corners
// have none.
#pragma once

#include "collision/kernels/support_feature.hpp"

namespace tangere::kernel {

/// The form (L, M, N) in the tangent directions u, v (unit, across each other and the normal) at
/// `point` with the outward `normal`, all in the shape's frame. False where the surface is not
/// smooth. Where a capsule's side meets its caps the form jumps: the seam counts as side.
template <class S>
TANGERE_HD inline bool secondForm(const ConvexView<S>& view, const Vec3T<S>& point,
                                  const Vec3T<S>& normal, const Vec3T<S>& u, const Vec3T<S>& v,
                                  S form[3]);

/// How far a normal may be off a flat face, and how close to its rim, as a share of the body, a
/// point still counts as on the rim.
template <class S>
inline constexpr S kFormTolerance = S(1e-6);

template <class S>
TANGERE_HD inline bool flatForm(S form[3]) {
  form[0] = form[1] = form[2] = S(0);
  return true;
}

/// Curvature `kappa` along the unit tangent t and none across it.
template <class S>
TANGERE_HD inline bool ridgeForm(S kappa, const Vec3T<S>& t, const Vec3T<S>& u, const Vec3T<S>& v,
                                 S form[3]) {
  const S tu = dot(t, u), tv = dot(t, v);
  form[0] = kappa * tu * tu;
  form[1] = kappa * tu * tv;
  form[2] = kappa * tv * tv;
  return true;
}

/// Whether `normal` is +-z and the point inside the circle.
template <class S>
TANGERE_HD inline bool isOnCap(const Vec3T<S>& point, const Vec3T<S>& normal, S radius, S margin) {
  const S inner = radius - margin;
  return normal.x * normal.x + normal.y * normal.y <= kFormTolerance<S> * kFormTolerance<S> &&
         point.x * point.x + point.y * point.y < inner * inner && inner > S(0);
}

template <class S>
TANGERE_HD inline bool hullForm(const HullView<S>& hull, const Vec3T<S>& point,
                                const Vec3T<S>& normal, S margin, S form[3]) {
  const int v = supportVertex(hull, normal);
  for (int i = hull.vertexFaceStart[v]; i < hull.vertexFaceStart[v + 1]; ++i) {
    const int f = hull.vertexFace[i];
    if (squaredNorm(hull.faceNormal[f] - normal) > kFormTolerance<S> * kFormTolerance<S>) continue;
    const int start = hull.faceStart[f], count = hull.faceStart[f + 1] - start;
    for (int k = 0; k < count; ++k) {
      const Vec3T<S> p0 = hull.vertex(hull.faceVertex[start + k]);
      const Vec3T<S> p1 = hull.vertex(hull.faceVertex[start + (k + 1 < count ? k + 1 : 0)]);
      const Vec3T<S> edge = p1 - p0;
      const S inside = dot(cross(hull.faceNormal[f], edge), point - p0);
      if (!(inside > margin * norm(edge))) return false;
    }
    return flatForm(form);
  }
  return false;
}

template <class S>
TANGERE_HD inline bool secondForm(const ConvexView<S>& view, const Vec3T<S>& point,
                                  const Vec3T<S>& normal, const Vec3T<S>& u, const Vec3T<S>& v,
                                  S form[3]) {
  using std::fabs;
  using std::sqrt;
  const Vec3T<S>& s = view.size;
  const S margin = kFormTolerance<S> * view.boundingRadius;
  switch (view.core) {
    case CoreType::Point:
      if (!(view.radius > S(0))) return false;
      form[0] = form[2] = S(1) / view.radius;
      form[1] = S(0);
      return true;
    case CoreType::Segment: {
      if (!(view.radius > S(0))) return false;
      const S kappa = S(1) / view.radius;
      if (fabs(normal.z) <= kFormTolerance<S> && fabs(point.z) <= s.z + margin)
        return ridgeForm(kappa, Vec3T<S>{-normal.y, normal.x, S(0)}, u, v, form);
      form[0] = form[2] = kappa;
      form[1] = S(0);
      return true;
    }
    case CoreType::Triangle:
      return false;
    case CoreType::Box: {
      int axis = -1;
      for (int k = 0; k < 3; ++k)
        if (S(1) - fabs(normal[k]) <= S(0.5) * kFormTolerance<S> * kFormTolerance<S>) axis = k;
      if (axis < 0) return false;
      for (int k = 0; k < 3; ++k)
        if (k != axis && !(fabs(point[k]) < s[k] - margin)) return false;
      return flatForm(form);
    }
    case CoreType::Cylinder: {
      if (isOnCap(point, normal, s.x, margin)) return flatForm(form);
      if (!(fabs(normal.z) <= kFormTolerance<S> && fabs(point.z) < s.z - margin)) return false;
      return ridgeForm(S(1) / s.x, Vec3T<S>{-normal.y, normal.x, S(0)}, u, v, form);
    }
    case CoreType::Cone: {
      if (normal.z < S(0) && isOnCap(point, normal, s.x, margin)) return flatForm(form);
      // On the side the normal rises by radius : height.
      const S height = S(2) * s.z, slant = sqrt(height * height + s.x * s.x);
      const S radial = sqrt(normal.x * normal.x + normal.y * normal.y);
      const S rho = sqrt(point.x * point.x + point.y * point.y);
      if (fabs(normal.z - s.x / slant) > kFormTolerance<S> || !(rho > margin) ||
          !(point.z > -s.z + margin))
        return false;
      const Vec3T<S> around = Vec3T<S>{-normal.y, normal.x, S(0)} * (S(1) / radial);
      return ridgeForm(radial / rho, around, u, v, form);
    }
    case CoreType::Ellipsoid: {
      // x = A^2 n / |A n| is the point with this normal, and the form there is |A n| A^-2.
      const Vec3T<S> an{s.x * normal.x, s.y * normal.y, s.z * normal.z};
      const S length = norm(an);
      const Vec3T<S> w{length / (s.x * s.x), length / (s.y * s.y), length / (s.z * s.z)};
      form[0] = u.x * u.x * w.x + u.y * u.y * w.y + u.z * u.z * w.z;
      form[1] = u.x * v.x * w.x + u.y * v.y * w.y + u.z * v.z * w.z;
      form[2] = v.x * v.x * w.x + v.y * v.y * w.y + v.z * v.z * w.z;
      return true;
    }
    case CoreType::Hull:
      return hullForm(*view.hull, point, normal, margin, form);
  }
  return false;
}

}  // namespace tangere::kernel
