// SPDX-License-Identifier: Apache-2.0
//
// Three points that stand for a flat polygon: with a third of the area each they have its centroid
// and its second moments. So a pressure that is linear on the polygon has its exact force and its
// exact moment, where the centroid alone has the force only: large polygons need this to resist
// rocking and spinning.
#pragma once

#include <tangere/types.hpp>

#include <cmath>

namespace tangere::kernel {

template <class S>
struct QuadraturePoint {
  Vec3T<S> position;
  S pressure;
};

/// What quadraturePoints() reads: a convex polygon and the linear pressure on it.
template <class S>
struct QuadraturePolygon {
  const Vec3T<S>* vertex;
  const S* vertexPressure;
  int count;
  Vec3T<S> centroid;
  Vec3T<S> normal;
  S area, pressure;  ///< pressure at the centroid
};

/// The points lie in the polygon: a convex figure holds the ellipse with sqrt(2) times the
/// semi-axes of its moments (Kannan, Lovasz, Simonovits 1995), and they lie on that ellipse. One is
/// in the direction of the first vertex.
template <class S>
TANGERE_HD inline void quadraturePoints(const QuadraturePolygon<S>& polygon,
                                        QuadraturePoint<S> out[3]) {
  using std::sqrt;
  Vec3T<S> u = polygon.vertex[0] - polygon.centroid;
  const S reach = norm(u);
  u = reach > S(0) ? u / reach : Vec3T<S>{};
  const Vec3T<S> v = cross(polygon.normal, u);

  // Moments about the centroid in the axes u and v, and those of the pressure beyond its mean.
  S uu = S(0), uv = S(0), vv = S(0), pu = S(0), pv = S(0);
  for (int i = 0; i < polygon.count; ++i) {
    const int next = i + 1 < polygon.count ? i + 1 : 0;
    const Vec3T<S> a = polygon.vertex[i] - polygon.centroid;
    const Vec3T<S> b = polygon.vertex[next] - polygon.centroid;
    const S au = dot(a, u), av = dot(a, v), bu = dot(b, u), bv = dot(b, v);
    const S weight = (au * bv - av * bu) / (S(24) * polygon.area);
    const S pa = polygon.vertexPressure[i] - polygon.pressure;
    const S pb = polygon.vertexPressure[next] - polygon.pressure;
    uu += weight * (au * au + bu * bu + (au + bu) * (au + bu));
    uv += weight * (au * av + bu * bv + (au + bu) * (av + bv));
    vv += weight * (av * av + bv * bv + (av + bv) * (av + bv));
    pu += weight * (pa * au + pb * bu + (pa + pb) * (au + bu));
    pv += weight * (pa * av + pb * bv + (pa + pb) * (av + bv));
  }
  // Cholesky: the ellipse is the image of a circle; the pressure is linear on the circle as well.
  const S l11 = uu > S(0) ? sqrt(uu) : S(0);
  const S l21 = l11 > S(0) ? uv / l11 : S(0);
  const S rest = vv - l21 * l21;
  const S l22 = rest > S(0) ? sqrt(rest) : S(0);
  const S slope1 = l11 > S(0) ? pu / l11 : S(0);
  const S slope2 = l22 > S(0) ? (pv - l21 * slope1) / l22 : S(0);

  const S root2 = S(1.4142135623730951), root6Half = S(1.2247448713915890);
  const S circle[3][2] = {{root2, S(0)}, {-root2 / S(2), root6Half}, {-root2 / S(2), -root6Half}};
  for (int k = 0; k < 3; ++k) {
    const S s = circle[k][0], t = circle[k][1];
    out[k].position = polygon.centroid + u * (l11 * s) + v * (l21 * s + l22 * t);
    out[k].pressure = polygon.pressure + slope1 * s + slope2 * t;
  }
}

}  // namespace tangere::kernel
