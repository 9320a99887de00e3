// SPDX-License-Identifier: Apache-2.0
//
// Meshes and poses for tests: all from a seed, the same everywhere.
#pragma once

#include <tangere/shape.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace tangere::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull + 1) {}
  double unit() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
  }
  double in(double low, double high) { return low + (high - low) * unit(); }
  int below(int n) { return static_cast<int>(unit() * n); }
  Vec3 inCube(double h) { return {in(-h, h), in(-h, h), in(-h, h)}; }
  Vec3 direction() {
    for (;;) {
      const Vec3 v = inCube(1);
      const double l = norm(v);
      if (l > 0.1 && l < 1) return v / l;
    }
  }
  Mat3 rotation() {
    for (;;) {
      const Quat q{in(-1, 1), in(-1, 1), in(-1, 1), in(-1, 1)};
      const double l = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
      if (l > 0.1 && l < 1) return rotationMatrix(q);
    }
  }
  Transform pose(double h) { return {rotation(), inCube(h)}; }

 private:
  std::uint64_t state_;
};

struct MeshInput {
  std::vector<Vec3> vertices;
  std::vector<Triangle> triangles;

  [[nodiscard]] std::shared_ptr<const Mesh> build() const {
    return std::make_shared<const Mesh>(vertices, triangles);
  }
};

inline MeshInput boxMesh(const Vec3& h) {
  MeshInput m;
  for (int i = 0; i < 8; ++i)
    m.vertices.push_back(
        {(i & 1) != 0 ? h.x : -h.x, (i & 2) != 0 ? h.y : -h.y, (i & 4) != 0 ? h.z : -h.z});
  m.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                 {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  return m;
}

/// Octahedron subdivided n times in each direction (8 n^2 triangles), with bumps of `amplitude`.
inline MeshInput bumpySphere(int n, double radius, double amplitude) {
  MeshInput m;
  std::map<std::array<int, 3>, int> known;
  const auto vertex = [&](int x, int y, int z) {
    const auto [it, isNew] = known.insert({{x, y, z}, static_cast<int>(m.vertices.size())});
    if (isNew) {
      Vec3 d{double(x), double(y), double(z)};
      d = d / norm(d);
      const double r =
          radius * (1 + amplitude * std::sin(7 * d.x + 1) * std::sin(6 * d.y) * std::cos(5 * d.z));
      m.vertices.push_back(d * r);
    }
    return it->second;
  };
  for (int s = 0; s < 8; ++s) {
    const int sx = (s & 1) != 0 ? 1 : -1, sy = (s & 2) != 0 ? 1 : -1, sz = (s & 4) != 0 ? 1 : -1;
    const bool outward = sx * sy * sz > 0;
    const auto at = [&](int i, int j) { return vertex(sx * (n - i - j), sy * i, sz * j); };
    const auto add = [&](int a, int b, int c) {
      if (outward)
        m.triangles.push_back({a, b, c});
      else
        m.triangles.push_back({a, c, b});
    };
    for (int i = 0; i < n; ++i)
      for (int j = 0; i + j < n; ++j) {
        add(at(i, j), at(i + 1, j), at(i, j + 1));
        if (i + j + 1 < n) add(at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
      }
  }
  return m;
}

inline MeshInput torusMesh(int n, int k, double R, double r) {
  MeshInput m;
  constexpr double kTwoPi = 6.283185307179586;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < k; ++j) {
      const double u = kTwoPi * i / n, v = kTwoPi * j / k;
      m.vertices.push_back({(R + r * std::cos(v)) * std::cos(u),
                            (R + r * std::cos(v)) * std::sin(u), r * std::sin(v)});
    }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < k; ++j) {
      const int a = i * k + j, b = (i + 1) % n * k + j;
      const int c = (i + 1) % n * k + (j + 1) % k, d = i * k + (j + 1) % k;
      m.triangles.push_back({a, b, c});
      m.triangles.push_back({a, c, d});
    }
  return m;
}

/// Flat square in z = 0 of n x n cells, the triangles facing up.
inline MeshInput floorMesh(int n, double size) {
  MeshInput m;
  for (int j = 0; j <= n; ++j)
    for (int i = 0; i <= n; ++i)
      m.vertices.push_back({size * (double(i) / n - 0.5), size * (double(j) / n - 0.5), 0});
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const int a = j * (n + 1) + i;
      m.triangles.push_back({a, a + 1, a + n + 2});
      m.triangles.push_back({a, a + n + 2, a + n + 1});
    }
  return m;
}

/// Triangles that share nothing.
inline MeshInput soup(int n, double extent, double size, std::uint64_t seed) {
  MeshInput m;
  Random random(seed);
  for (int i = 0; i < n; ++i) {
    const Vec3 c = random.inCube(extent);
    const int v = static_cast<int>(m.vertices.size());
    for (int k = 0; k < 3; ++k) m.vertices.push_back(c + random.inCube(size));
    m.triangles.push_back({v, v + 1, v + 2});
  }
  return m;
}

inline MeshInput scaled(MeshInput m, double s) {
  for (Vec3& v : m.vertices) v *= s;
  return m;
}

inline std::vector<std::pair<const char*, MeshInput>> sampleMeshes() {
  return {{"box", boxMesh({0.5, 0.4, 0.3})},
          {"bumpy sphere", bumpySphere(8, 0.5, 0.15)},
          {"torus", torusMesh(24, 12, 0.5, 0.2)},
          {"floor", floorMesh(6, 1.5)},
          {"soup", soup(150, 0.6, 0.2, 5)},
          {"triangle", {{{0, 0, 0}, {0.7, 0.1, 0}, {0.1, 0.8, 0.2}}, {{0, 1, 2}}}},
          {"tiny torus", scaled(torusMesh(16, 8, 0.5, 0.2), 1e-5)},
          {"huge sphere", scaled(bumpySphere(6, 0.5, 0.1), 1e5)}};
}

}  // namespace tangere::test
