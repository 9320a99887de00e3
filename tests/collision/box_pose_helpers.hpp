// SPDX-License-Identifier: Apache-2.0
//
// Random poses, box views and the eight box-box poses with a known manifold, for the tests of
// contact manifolds.
#pragma once

#include <tangere/contact.hpp>

#include "geometry/kernels/convex_view.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace tangere::test {

/// splitmix64: the same numbers on every platform.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(next() >> 11) * 0x1.0p-53;
  }
  Vec3 inBall() {
    for (;;) {
      const Vec3 v{uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
      if (squaredNorm(v) <= 1 && squaredNorm(v) > 1e-4) return v;
    }
  }
  Vec3 direction() {
    const Vec3 v = inBall();
    return v / norm(v);
  }
  Mat3 rotation() {
    for (;;) {
      const Quat q{uniform(-1, 1), uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
      const double n2 = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
      if (n2 <= 1 && n2 > 1e-3) return rotationMatrix(q);
    }
  }

 private:
  std::uint64_t state_;
};

inline kernel::ConvexView<double> boxView(const Vec3& half) {
  kernel::ConvexView<double> view;
  view.core = kernel::CoreType::Box;
  view.size = half;
  view.boundingRadius = norm(half);
  return view;
}

inline Mat3 rotationAbout(const Vec3& axis, double degrees) {
  const double h = degrees * 3.14159265358979323846 / 360;
  const Vec3 u = axis * (std::sin(h) / norm(axis));
  return rotationMatrix(Quat{std::cos(h), u.x, u.y, u.z});
}

/// Support value of a box at a pose along n.
inline double boxSupport(const Vec3& half, const Transform& X, const Vec3& n) {
  const Vec3 m = transposeTimes(X.rotation, n);
  return half.x * std::fabs(m.x) + half.y * std::fabs(m.y) + half.z * std::fabs(m.z) +
         dot(n, X.translation);
}

/// Overlap of two boxes along a unit direction: what has to be moved along it to part them.
inline double overlapAlong(const Vec3& half1, const Transform& X1, const Vec3& half2,
                           const Transform& X2, const Vec3& n) {
  return boxSupport(half1, X1, -n) + boxSupport(half2, X2, n);
}

/// The least overlap over all fifteen axes, both senses, each normalised: the reference for the
/// faster search.
inline double leastOverlap(const Vec3& half1, const Transform& X1, const Vec3& half2,
                           const Transform& X2) {
  std::vector<Vec3> axes;
  for (int i = 0; i < 3; ++i) {
    axes.push_back(X1.rotation.col[i]);
    axes.push_back(X2.rotation.col[i]);
    for (int j = 0; j < 3; ++j) {
      const Vec3 c = cross(X1.rotation.col[i], X2.rotation.col[j]);
      if (norm(c) > 1e-8) axes.push_back(c / norm(c));
    }
  }
  double least = 1e300;
  for (const Vec3& n : axes) {
    least = std::fmin(least, overlapAlong(half1, X1, half2, X2, n));
    least = std::fmin(least, overlapAlong(half1, X1, half2, X2, -n));
  }
  return least;
}

/// A pose of two boxes whose manifold is known. Box 1 is below and box 2 above: the normal, from
/// box 2 to box 1, is -z.
struct KnownManifold {
  std::string name;
  Vec3 half1, half2;
  Transform X_W1, X_W2;
  double depth = 0;
  int numVertices = 0;  ///< of the whole contact region that box corners and crossings make
  double area = 0;      ///< of that region
};

inline std::vector<KnownManifold> knownManifolds() {
  std::vector<KnownManifold> out;
  const Vec3 cube{0.5, 0.5, 0.5}, top{0.4, 0.3, 0.2}, slab{0.5, 0.5, 0.2};
  const auto add = [&](const char* name, const Vec3& half2, const Mat3& R, double depth, double x,
                       double y, int numVertices, double area) {
    KnownManifold k{name, cube, half2, {}, {R, {}}, depth, numVertices, area};
    const double lowest = -boxSupport(half2, k.X_W2, {0, 0, -1});
    k.X_W2.translation = {x, y, 0.5 - lowest - depth};
    out.push_back(k);
  };
  const Mat3 I = Mat3::identity();
  add("flat_aligned", top, I, 0.005, 0.05, -0.03, 4, 0.8 * 0.6);
  // A regular octagon of inradius 1/2.
  add("flat_yaw45", slab, rotationAbout({0, 0, 1}, 45), 0.005, 0, 0, 8, 2 * (std::sqrt(2.0) - 1));
  add("flat_yaw30_overhang", slab, rotationAbout({0, 0, 1}, 30), 0.005, 0.45, 0.2, 5, -1);
  add("tilt_0.5deg", top, rotationAbout({1, 0, 0}, 0.5), 0.01, 0.05, -0.03, 4, -1);
  add("tilt_15deg", top, rotationAbout({1, 0, 0}, 15), 0.01, 0.05, -0.03, 2, 0);
  add("vertex_15deg", top, rotationAbout({1, 0.7, 0}, 15), 0.01, 0.05, -0.03, 1, 0);
  add("grazing_1e-6", top, I, 1e-6, 0.05, -0.03, 4, 0.8 * 0.6);
  KnownManifold edges{"edge_edge",
                      cube,
                      cube,
                      {rotationAbout({1, 0, 0}, 45), {}},
                      {rotationAbout({0, 1, 0}, 45), {0.02, 0.03, std::sqrt(2.0) - 0.01}},
                      0.01,
                      1,
                      0};
  out.push_back(edges);
  return out;
}

/// The height at which a vertical line leaves (upper) or enters the planes of a box that look up
/// (down).
inline double envelope(const Vec3& half, const Transform& X, double x, double y, bool upper) {
  double best = upper ? 1e300 : -1e300;
  for (int k = 0; k < 3; ++k) {
    for (const double sign : {-1.0, 1.0}) {
      const Vec3 m = X.rotation.col[k] * sign;
      if (upper ? m.z < 1e-6 : m.z > -1e-6) continue;
      const double z = (half[k] + dot(m, X.translation) - m.x * x - m.y * y) / m.z;
      best = upper ? std::fmin(best, z) : std::fmax(best, z);
    }
  }
  return best;
}

/// How far outside a box a point is (0 inside), by its largest violated face.
inline double outsideBox(const Vec3& half, const Transform& X, const Vec3& p) {
  const Vec3 q = inverseTimes(X, p);
  return std::fmax(0.0, std::fmax(std::fabs(q.x) - half.x,
                                  std::fmax(std::fabs(q.y) - half.y, std::fabs(q.z) - half.z)));
}

}  // namespace tangere::test
