// SPDX-License-Identifier: Apache-2.0
//
// What the tests of meshes and of terrains share: a body of each convex kind, and the distance of a
// body from single triangles, by GJK.
#pragma once

#include "collision/kernels/convex_distance.hpp"
#include "geometry/flat_shape.hpp"
#include "geometry/mesh_samples.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace tangere::test {

/// About `s` across.
inline std::vector<std::pair<const char*, std::shared_ptr<const Shape>>> convexShapes(double s) {
  std::vector<Vec3> points;
  Random random(41);
  for (int i = 0; i < 24; ++i) points.push_back(random.direction() * (0.3 * s));
  return {{"sphere", std::make_shared<Sphere>(0.25 * s)},
          {"box", std::make_shared<Box>(Vec3{0.3 * s, 0.2 * s, 0.15 * s})},
          {"capsule", std::make_shared<Capsule>(0.1 * s, 0.25 * s)},
          {"cylinder", std::make_shared<Cylinder>(0.2 * s, 0.2 * s)},
          {"cone", std::make_shared<Cone>(0.25 * s, 0.3 * s)},
          {"ellipsoid", std::make_shared<Ellipsoid>(Vec3{0.3 * s, 0.2 * s, 0.1 * s})},
          {"hull", std::make_shared<Convex>(points)}};
}

/// Distance of a body from the nearest of `count` triangles, 0 when one is touched; corner(t, k) is
/// vertex k of triangle t, in a frame that X_BS takes to the body's.
template <class Corner>
Real nearestTriangleByGjk(const Shape& body, const Transform& X_BS, int count,
                          const Corner& corner) {
  constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
  Real best = kInfinity;
  for (int t = 0; t < count; ++t) {
    const Vec3 v[3] = {corner(t, 0), corner(t, 1), corner(t, 2)};
    kernel::ConvexView<Real> view;
    view.core = kernel::CoreType::Triangle;
    view.triangle = v;
    view.center = (v[0] + v[1] + v[2]) / 3.0;
    for (const Vec3& p : v)
      view.boundingRadius = std::fmax(view.boundingRadius, norm(p - view.center));
    best = std::fmin(best, kernel::convexDistance(body.flat().convex, view, X_BS, kInfinity,
                                                  /*enableSigned=*/false)
                               .distance);
  }
  return best;
}

}  // namespace tangere::test
