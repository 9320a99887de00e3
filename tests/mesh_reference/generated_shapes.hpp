// SPDX-License-Identifier: Apache-2.0
//
// Shapes of every kind that is triangles or meets them, with the same shape as a set of triangles.
// About 1 m across before `size` scales them.
#pragma once

#include "mesh_reference/triangle_soup.hpp"

#include <tangere/shape.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tangere::reference {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull + 1) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  Real uniform(Real low, Real high) {
    return low + (high - low) * (static_cast<Real>(next() >> 11) * 0x1p-53);
  }
  int below(int n) { return static_cast<int>(next() % static_cast<std::uint64_t>(n)); }
  Vec3 direction() {
    for (;;) {
      const Vec3 v{uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
      const Real l = norm(v);
      if (l > 0.1 && l <= 1) return v / l;
    }
  }

 private:
  std::uint64_t state_;
};

struct GeneratedShape {
  std::string name;
  std::shared_ptr<const Shape> shape;
  TriangleSoup soup;
  bool curved = false;
  /// A terrain or a sheet: the other body stays above it.
  bool isGround = false;
};

struct SurfaceParts {
  std::vector<Vec3> vertices;
  std::vector<Triangle> triangles;
};

inline Point toPoint(const Vec3& v) { return {v.x, v.y, v.z}; }

/// Adds one piece.
inline void addTo(TriangleSoup& soup, const SurfaceParts& s) {
  soup.beginPiece();
  for (const Triangle& t : s.triangles)
    soup.add(toPoint(s.vertices[t[0]]), toPoint(s.vertices[t[1]]), toPoint(s.vertices[t[2]]));
}

inline SurfaceParts boxSurface(const Vec3& half, const Vec3& at = {}) {
  SurfaceParts out;
  for (int i = 0; i < 8; ++i)
    out.vertices.push_back(at + Vec3{(i & 4) ? half.x : -half.x, (i & 2) ? half.y : -half.y,
                                     (i & 1) ? half.z : -half.z});
  out.triangles = {{0, 1, 3}, {0, 3, 2}, {4, 6, 7}, {4, 7, 5}, {0, 4, 5}, {0, 5, 1},
                   {2, 3, 7}, {2, 7, 6}, {0, 2, 6}, {0, 6, 4}, {1, 5, 7}, {1, 7, 3}};
  return out;
}

/// A prism over a polygon that is star-shaped around the origin.
inline SurfaceParts prismSurface(const std::vector<std::pair<Real, Real>>& outline, Real half) {
  SurfaceParts out;
  const int n = static_cast<int>(outline.size());
  for (const Real z : {-half, half}) {
    for (const auto& [x, y] : outline) out.vertices.push_back({x, y, z});
    out.vertices.push_back({0, 0, z});
  }
  const int top = n + 1;
  for (int i = 0; i < n; ++i) {
    const int j = (i + 1) % n;
    out.triangles.push_back({n, j, i});
    out.triangles.push_back({top + n, top + i, top + j});
    out.triangles.push_back({i, j, top + j});
    out.triangles.push_back({i, top + j, top + i});
  }
  return out;
}

/// An outline in the plane x, z that is cut into triangles given by hand, extruded along y.
inline SurfaceParts extruded(const std::vector<std::pair<Real, Real>>& outline,
                             const std::vector<Triangle>& caps, Real half) {
  SurfaceParts out;
  const int n = static_cast<int>(outline.size());
  for (const Real y : {-half, half})
    for (const auto& [x, z] : outline) out.vertices.push_back({x, y, z});
  for (const Triangle& t : caps) {
    out.triangles.push_back({t[0], t[1], t[2]});
    out.triangles.push_back({n + t[0], n + t[2], n + t[1]});
  }
  for (int i = 0; i < n; ++i) {
    const int j = (i + 1) % n;
    out.triangles.push_back({j, i, n + j});
    out.triangles.push_back({i, n + i, n + j});
  }
  return out;
}

inline SurfaceParts icosphere(int subdivisions, const std::function<Real(int)>& radius) {
  const Real g = 1.6180339887498949;
  SurfaceParts s;
  s.vertices = {{-1, g, 0},  {1, g, 0},  {-1, -g, 0}, {1, -g, 0}, {0, -1, g},  {0, 1, g},
                {0, -1, -g}, {0, 1, -g}, {g, 0, -1},  {g, 0, 1},  {-g, 0, -1}, {-g, 0, 1}};
  s.triangles = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                 {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                 {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                 {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
  for (int k = 0; k < subdivisions; ++k) {
    std::map<std::pair<int, int>, int> middle;
    const auto split = [&](int a, int b) {
      const auto [it, isNew] =
          middle.try_emplace({std::min(a, b), std::max(a, b)}, static_cast<int>(s.vertices.size()));
      if (isNew) s.vertices.push_back((s.vertices[a] + s.vertices[b]) * 0.5);
      return it->second;
    };
    std::vector<Triangle> finer;
    for (const Triangle& t : s.triangles) {
      const int ab = split(t[0], t[1]), bc = split(t[1], t[2]), ca = split(t[2], t[0]);
      finer.push_back({t[0], ab, ca});
      finer.push_back({t[1], bc, ab});
      finer.push_back({t[2], ca, bc});
      finer.push_back({ab, bc, ca});
    }
    s.triangles = finer;
    for (Vec3& v : s.vertices) v = v / norm(v);
  }
  for (std::size_t i = 0; i < s.vertices.size(); ++i)
    s.vertices[i] = s.vertices[i] / norm(s.vertices[i]) * radius(static_cast<int>(i));
  return s;
}

inline SurfaceParts torus(int around, int across) {
  SurfaceParts s;
  const Real turn = 6.283185307179586;
  for (int i = 0; i < around; ++i)
    for (int j = 0; j < across; ++j) {
      const Real a = turn * i / around, b = turn * j / across, r = 0.35 + 0.15 * std::cos(b);
      s.vertices.push_back({r * std::cos(a), r * std::sin(a), 0.15 * std::sin(b)});
    }
  for (int i = 0; i < around; ++i)
    for (int j = 0; j < across; ++j) {
      const int i1 = (i + 1) % around, j1 = (j + 1) % across;
      const int a = i * across + j, b = i1 * across + j, c = i1 * across + j1, d = i * across + j1;
      s.triangles.push_back({a, b, c});
      s.triangles.push_back({a, c, d});
    }
  return s;
}

/// A grid over [-size/2, size/2]^2 as a HeightField cuts its cells.
inline SurfaceParts gridSurface(int n, Real size, const std::vector<Real>& heights) {
  SurfaceParts s;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      s.vertices.push_back({size * i / (n - 1) - size / 2, size * j / (n - 1) - size / 2,
                            heights[static_cast<std::size_t>(j * n + i)]});
  for (int j = 0; j + 1 < n; ++j)
    for (int i = 0; i + 1 < n; ++i) {
      const int a = j * n + i;
      s.triangles.push_back({a, a + 1, a + n + 1});
      s.triangles.push_back({a, a + n + 1, a + n});
    }
  return s;
}

/// The solid under a grid: walls down from its rim and a floor, as a HeightField has them.
inline SurfaceParts solidUnder(int n, Real size, const std::vector<Real>& heights) {
  SurfaceParts s = gridSurface(n, size, heights);
  const Real floor = *std::min_element(heights.begin(), heights.begin() + n * n) - size;
  const int below = n * n;
  for (int v = 0; v < below; ++v) s.vertices.push_back({s.vertices[v].x, s.vertices[v].y, floor});
  const std::size_t top = s.triangles.size();
  for (std::size_t i = 0; i < top; ++i) {
    const Triangle t = s.triangles[i];
    s.triangles.push_back({below + t[0], below + t[2], below + t[1]});
  }
  const auto wall = [&](int a, int b) {
    s.triangles.push_back({b, a, below + a});
    s.triangles.push_back({b, below + a, below + b});
  };
  for (int i = 0; i + 1 < n; ++i) {
    wall(i, i + 1);
    wall(n * n - 1 - i, n * n - 2 - i);
    wall(n * (i + 1) - 1, n * (i + 2) - 1);
    wall(n * (n - 1 - i), n * (n - 2 - i));
  }
  return s;
}

inline GeneratedShape meshOf(const std::string& name, SurfaceParts s, Real size, bool curved) {
  for (Vec3& v : s.vertices) v = v * size;
  auto mesh = std::make_shared<Mesh>(s.vertices, s.triangles);
  GeneratedShape out{name, mesh, {}, curved};
  addTo(out.soup, s);
  out.soup.closed = mesh->isClosed();
  return out;
}

/// Kinds below kNumBodies are bodies, the others ground.
inline constexpr int kNumBodies = 16, kNumKinds = 22;

/// Heights of a grid of 8 x 8: flat, rough, or equal bumps on a plane.
inline std::vector<Real> generateHeights(int kind, Dice& dice) {
  std::vector<Real> h(64, 0);
  if (kind == 1)
    for (Real& z : h) z = dice.uniform(-0.1, 0.1);
  if (kind == 2)
    for (int i = 0; i < 8; ++i) h[static_cast<std::size_t>(dice.below(64))] = 0.1;
  return h;
}

inline GeneratedShape generateShape(int kind, Real size, Dice& dice) {
  const auto u = [&](Real a, Real b) { return dice.uniform(a, b); };
  switch (kind) {
    case 0: {
      const Vec3 half = Vec3{u(0.1, 0.5), u(0.1, 0.5), u(0.1, 0.5)} * size;
      GeneratedShape out{"box", std::make_shared<Box>(half), {}, false};
      addTo(out.soup, boxSurface(half));
      out.soup.closed = true;
      return out;
    }
    case 1:
      return meshOf("mesh_box", boxSurface({u(0.1, 0.5), u(0.1, 0.5), u(0.1, 0.5)}), size, false);
    case 2: {
      GeneratedShape out{"ball", std::make_shared<Sphere>(0.3 * size), {}, true};
      out.soup.add({}, {}, {});
      out.soup.radius = 0.3 * size;
      return out;
    }
    case 3: {
      const Real r = u(0.05, 0.2) * size, h = u(0.1, 0.4) * size;
      GeneratedShape out{"capsule", std::make_shared<Capsule>(r, h), {}, true};
      out.soup.add({0, 0, -h}, {0, 0, h}, {0, 0, h});
      out.soup.radius = r;
      return out;
    }
    case 4: {
      std::vector<Vec3> points;
      for (int i = 0; i < 14; ++i) points.push_back(dice.direction() * (0.4 * size));
      auto hull = std::make_shared<Convex>(points);
      GeneratedShape out{"hull", hull, {}, false};
      for (int f = 0; f < hull->numFaces(); ++f)
        for (std::size_t k = 2; k < hull->face(f).size(); ++k)
          out.soup.add(toPoint(hull->vertices()[hull->face(f)[0]]),
                       toPoint(hull->vertices()[hull->face(f)[k - 1]]),
                       toPoint(hull->vertices()[hull->face(f)[k]]));
      out.soup.closed = true;
      return out;
    }
    case 5: {
      std::vector<std::pair<Real, Real>> outline;
      const int n = 3 + dice.below(6);
      for (int i = 0; i < n; ++i)
        outline.emplace_back(0.4 * std::cos(6.2831853 * i / n), 0.4 * std::sin(6.2831853 * i / n));
      return meshOf("prism", prismSurface(outline, u(0.05, 0.5)), size, false);
    }
    case 6: {
      std::vector<std::pair<Real, Real>> outline;
      const int n = 2 * (4 + dice.below(4));
      for (int i = 0; i < n; ++i) {
        const Real r = i % 2 ? 0.5 : u(0.15, 0.3);
        outline.emplace_back(r * std::cos(6.2831853 * i / n), r * std::sin(6.2831853 * i / n));
      }
      return meshOf("star", prismSurface(outline, u(0.05, 0.3)), size, false);
    }
    case 7:
      return meshOf("icosphere", icosphere(1 + dice.below(2), [](int) { return 0.5; }), size, true);
    case 8:
      return meshOf("spiky", icosphere(0, [&](int) { return dice.below(2) ? 0.5 : u(0.15, 0.3); }),
                    size, false);
    case 9:
      return meshOf("blob", icosphere(1, [&](int) { return u(0.3, 0.5); }), size, false);
    case 10:
      return meshOf("torus", torus(12, 6), size, true);
    case 11:
      return meshOf(
          "L",
          extruded({{-0.4, -0.4}, {0.4, -0.4}, {0.4, -0.1}, {-0.1, -0.1}, {-0.1, 0.4}, {-0.4, 0.4}},
                   {{0, 1, 3}, {1, 2, 3}, {0, 3, 5}, {3, 4, 5}}, u(0.1, 0.4)),
          size, false);
    case 12:
      return meshOf(
          "stairs",
          extruded({{-0.4, -0.4},
                    {0.4, -0.4},
                    {0.4, -0.15},
                    {0.13, -0.15},
                    {0.13, 0.1},
                    {-0.13, 0.1},
                    {-0.13, 0.35},
                    {-0.4, 0.35}},
                   {{0, 1, 3}, {1, 2, 3}, {0, 3, 5}, {3, 4, 5}, {0, 5, 7}, {5, 6, 7}}, u(0.1, 0.4)),
          size, false);
    case 13:
      return meshOf("fin", boxSurface({0.4, u(0.004, 0.02), 0.3}), size, false);
    case 14: {
      std::vector<Compound::Child> parts;
      GeneratedShape out{"compound", nullptr, {}, false};
      for (int i = 0; i < 3; ++i) {
        const Vec3 half = Vec3{u(0.05, 0.2), u(0.05, 0.2), u(0.05, 0.2)} * size;
        const Vec3 at = Vec3{0.45 * (i - 1), u(-0.1, 0.1), u(-0.1, 0.1)} * size;
        Transform X;
        X.translation = at;
        parts.push_back({std::make_shared<Box>(half), X});
        addTo(out.soup, boxSurface(half, at));
      }
      out.soup.closed = true;
      out.shape = std::make_shared<Compound>(std::move(parts));
      return out;
    }
    case 15: {
      std::vector<Vec3> points;
      GeneratedShape out{"cloud", nullptr, {}, true};
      for (int i = 0; i < 12; ++i) {
        points.push_back(dice.direction() * (u(0.2, 0.5) * size));
        out.soup.beginPiece();
        out.soup.add(toPoint(points.back()), toPoint(points.back()), toPoint(points.back()));
      }
      out.soup.radius = 0.05 * size;
      out.shape = std::make_shared<PointCloud>(points, 0.05 * size);
      return out;
    }
    case 16: {
      SurfaceParts s = gridSurface(2 + dice.below(6), 3, std::vector<Real>(64, 0));
      GeneratedShape out = meshOf("sheet", s, size, false);
      out.isGround = true;
      return out;
    }
    case 17:
    case 18: {
      const SurfaceParts s = gridSurface(8, 3, generateHeights(kind - 16, dice));
      GeneratedShape out = meshOf(kind == 17 ? "open_terrain" : "open_bumps", s, size, false);
      out.isGround = true;
      return out;
    }
    default: {
      static constexpr const char* kNames[] = {"flat_field", "rough_field", "bumpy_field"};
      std::vector<Real> h = generateHeights(kind - 19, dice);
      for (Real& z : h) z *= size;
      GeneratedShape out{
          kNames[kind - 19], std::make_shared<HeightField>(8, 8, 3 * size, 3 * size, h), {}, false};
      addTo(out.soup, solidUnder(8, 3 * size, h));
      out.soup.closed = true;
      out.isGround = true;
      return out;
    }
  }
}

}  // namespace tangere::reference
