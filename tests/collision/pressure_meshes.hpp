// SPDX-License-Identifier: Apache-2.0
//
// Bodies with a pressure whose contact can be checked by hand: spheres as cones from the centre to
// the triangles of a divided icosahedron, bricks of cubes cut into six, boxes as surfaces.
#pragma once

#include <tangere/tet_mesh.hpp>

#include "collision/pressure_contact.hpp"
#include "geometry/linear_bvh.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace tangere::test {

/// A mesh with all that the patch finder asks for.
struct PressureBody {
  std::vector<Vec3> vertices;
  std::vector<Tet> tets;
  std::vector<Real> pressure;
  std::vector<Triangle> surface;
  std::vector<Vec3> gradient;
  geometry::LinearBvh tetTree, surfaceTree;

  void finish() {
    gradient.resize(tets.size());
    if (!tets.empty()) {
      collision::computePressureGradients(vertices, tets, pressure, gradient);
      collision::buildTetTree(vertices, tets, pressure, &tetTree);
    }
    collision::buildSurfaceTree(vertices, surface, &surfaceTree);
  }
  /// Turns the faces of one tetrahedron alone into the surface.
  void findSurface() {
    std::map<std::array<int, 3>, std::pair<Triangle, int>> faces;
    for (const Tet& t : tets) {
      for (const Triangle& f : {Triangle{t[1], t[2], t[3]}, Triangle{t[0], t[3], t[2]},
                                Triangle{t[0], t[1], t[3]}, Triangle{t[0], t[2], t[1]}}) {
        std::array<int, 3> key = f;
        std::sort(key.begin(), key.end());
        ++faces.try_emplace(key, f, 0).first->second.second;
      }
    }
    surface.clear();
    for (const auto& [key, face] : faces) {
      if (face.second == 1) surface.push_back(face.first);
    }
    finish();
  }
  [[nodiscard]] collision::PressureMesh view() const {
    return {.vertices = vertices,
            .tets = tets,
            .pressure = pressure,
            .gradient = gradient,
            .surface = surface,
            .tetTree = &tetTree,
            .surfaceTree = &surfaceTree};
  }
  /// The same for a finder that looks at every element.
  [[nodiscard]] collision::PressureMesh viewWithoutTrees() const {
    collision::PressureMesh mesh = view();
    mesh.tetTree = mesh.surfaceTree = nullptr;
    return mesh;
  }
};

/// A sphere about the origin of 20 * 4^level triangles and `layers` shells, the innermost of cones
/// to the centre; pressure modulus (1 - r/radius), exact at the vertices.
inline PressureBody makeSphere(Real radius, Real modulus, int level, int layers = 1) {
  PressureBody body;
  const Real g = (1 + std::sqrt(Real(5))) / 2;
  body.vertices = {{-1, g, 0},  {1, g, 0},  {-1, -g, 0}, {1, -g, 0}, {0, -1, g},  {0, 1, g},
                   {0, -1, -g}, {0, 1, -g}, {g, 0, -1},  {g, 0, 1},  {-g, 0, -1}, {-g, 0, 1}};
  body.surface = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                  {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                  {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                  {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
  for (int pass = 0; pass < level; ++pass) {
    std::map<std::pair<int, int>, int> middles;
    const auto middle = [&](int a, int b) {
      const auto [at, isNew] =
          middles.try_emplace(std::minmax(a, b), static_cast<int>(body.vertices.size()));
      if (isNew) {
        // Projected at once: midpoints of points on the sphere make the most even triangles.
        const Vec3 p =
            body.vertices[a] / norm(body.vertices[a]) + body.vertices[b] / norm(body.vertices[b]);
        body.vertices.push_back(p);
      }
      return at->second;
    };
    std::vector<Triangle> finer;
    for (const Triangle& t : body.surface) {
      const int a = middle(t[0], t[1]), b = middle(t[1], t[2]), c = middle(t[2], t[0]);
      finer.insert(finer.end(), {{t[0], a, c}, {a, t[1], b}, {c, b, t[2]}, {a, b, c}});
    }
    body.surface = std::move(finer);
  }
  for (Vec3& v : body.vertices) v = v * (radius / norm(v));
  const int shell = static_cast<int>(body.vertices.size());
  for (int layer = 0; layer < layers; ++layer) {
    const Real share = Real(layer) / layers;  // the way to the centre
    for (int i = 0; i < shell; ++i) {
      if (layer > 0) body.vertices.push_back(body.vertices[i] * (1 - share));
      body.pressure.push_back(modulus * share);
    }
  }
  const int center = static_cast<int>(body.vertices.size());
  body.vertices.push_back({});
  body.pressure.push_back(modulus);
  const int last = (layers - 1) * shell;
  for (const Triangle& t : body.surface) {
    body.tets.push_back({center, t[0] + last, t[1] + last, t[2] + last});
    // A prism between two shells: its diagonals start at the smaller index, so neighbours agree.
    Triangle s = t;
    while (s[0] > s[1] || s[0] > s[2]) s = {s[1], s[2], s[0]};
    for (int outer = 0; outer < last; outer += shell) {
      const int a = s[0] + outer, b = s[1] + outer, c = s[2] + outer;
      const int d = a + shell, e = b + shell, f = c + shell;
      body.tets.push_back({a, d, f, e});
      if (b < c) {
        body.tets.insert(body.tets.end(), {Tet{a, e, f, b}, Tet{a, b, f, c}});
      } else {
        body.tets.insert(body.tets.end(), {Tet{a, e, f, c}, Tet{a, e, c, b}});
      }
    }
  }
  body.finish();
  return body;
}

/// A brick from `lower` to `upper` of nx x ny x nz cells, each cut into six tetrahedra about its
/// diagonal. The pressure is `value` at `lower.z` and grows by `slope` per metre along z.
inline PressureBody makeBrick(const Vec3& lower, const Vec3& upper, std::array<int, 3> cells,
                              Real value, Real slope) {
  PressureBody body;
  const auto index = [&](int i, int j, int k) {
    return (k * (cells[1] + 1) + j) * (cells[0] + 1) + i;
  };
  const Vec3 extent = upper - lower;
  for (int k = 0; k <= cells[2]; ++k) {
    for (int j = 0; j <= cells[1]; ++j) {
      for (int i = 0; i <= cells[0]; ++i) {
        body.vertices.push_back({lower.x + extent.x * i / cells[0],
                                 lower.y + extent.y * j / cells[1],
                                 lower.z + extent.z * k / cells[2]});
        body.pressure.push_back(value + slope * (body.vertices.back().z - lower.z));
      }
    }
  }
  constexpr int kOrders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {1, 0, 2}, {0, 2, 1}, {2, 1, 0}};
  for (int k = 0; k < cells[2]; ++k) {
    for (int j = 0; j < cells[1]; ++j) {
      for (int i = 0; i < cells[0]; ++i) {
        for (int n = 0; n < 6; ++n) {
          int at[3] = {i, j, k};
          Tet tet{index(i, j, k), 0, 0, 0};
          for (int step = 0; step < 3; ++step) {
            ++at[kOrders[n][step]];
            tet[step + 1] = index(at[0], at[1], at[2]);
          }
          if (n >= 3) std::swap(tet[2], tet[3]);  // the odd orders are turned
          body.tets.push_back(tet);
        }
      }
    }
  }
  body.finish();
  return body;
}

/// The surface of a box about the origin, two triangles to a side, outward; rigid.
inline PressureBody makeRigidBox(const Vec3& size) {
  PressureBody body;
  for (int i = 0; i < 8; ++i) {
    body.vertices.push_back({(i & 1 ? 0.5 : -0.5) * size.x, (i & 2 ? 0.5 : -0.5) * size.y,
                             (i & 4 ? 0.5 : -0.5) * size.z});
  }
  body.surface = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                  {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  body.finish();
  return body;
}

/// A cube about the origin with pressure modulus * depth / (side/2): twelve cones to the centre.
inline PressureBody makeCube(Real side, Real modulus) {
  PressureBody body = makeRigidBox({side, side, side});
  body.vertices.push_back({});
  body.pressure.assign(8, 0);
  body.pressure.push_back(modulus);
  for (const Triangle& t : body.surface) body.tets.push_back({8, t[0], t[1], t[2]});
  body.finish();
  return body;
}

}  // namespace tangere::test
