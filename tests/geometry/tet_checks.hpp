// SPDX-License-Identifier: Apache-2.0
//
// What must hold for every solid of tetrahedra, whoever made it.
#pragma once

#include <tangere/tet_mesh.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include <gtest/gtest.h>

namespace tangere::test {

inline Real volumeOfTet(const TetMesh& mesh, const Tet& t) {
  const auto x = mesh.vertices();
  return dot(cross(x[t[1]] - x[t[0]], x[t[2]] - x[t[0]]), x[t[3]] - x[t[0]]) / 6;
}

/// Gradient of a field that is linear in the tetrahedron.
inline Vec3 gradientIn(const TetMesh& mesh, const Tet& t, std::span<const Real> value) {
  const auto x = mesh.vertices();
  const Vec3 a = x[t[1]] - x[t[0]], b = x[t[2]] - x[t[0]], c = x[t[3]] - x[t[0]];
  const Real v0 = value[t[0]];
  return (cross(b, c) * (value[t[1]] - v0) + cross(c, a) * (value[t[2]] - v0) +
          cross(a, b) * (value[t[3]] - v0)) /
         dot(cross(a, b), c);
}

/// V - E + F of the surface: 2 for a ball, 0 for a torus, the sum over several.
inline int eulerCharacteristic(const TetMesh& mesh) {
  std::set<std::array<int, 2>> edges;
  std::set<int> vertices;
  for (const Triangle& t : mesh.surface()) {
    for (int k = 0; k < 3; ++k) {
      const int a = t[k], b = t[(k + 1) % 3];
      edges.insert({std::min(a, b), std::max(a, b)});
      vertices.insert(a);
    }
  }
  return static_cast<int>(vertices.size()) - static_cast<int>(edges.size()) +
         static_cast<int>(mesh.surface().size());
}

/// Positive volumes that add up, and a surface that is closed and encloses just that volume.
inline void expectSolid(const TetMesh& mesh) {
  Real sum = 0;
  for (const Tet& t : mesh.tets()) {
    const Real volume = volumeOfTet(mesh, t);
    ASSERT_GT(volume, 0);
    sum += volume;
  }
  EXPECT_NEAR(mesh.volume(), sum, 1e-12 * sum);

  std::map<std::array<int, 2>, int> balance;  // how often an edge is run along, less how often back
  Real enclosed = 0;
  const auto x = mesh.vertices();
  const Vec3 origin = x[0];
  for (const Triangle& t : mesh.surface()) {
    for (int k = 0; k < 3; ++k) {
      const int a = t[k], b = t[(k + 1) % 3];
      balance[{std::min(a, b), std::max(a, b)}] += a < b ? 1 : -1;
    }
    enclosed += dot(x[t[0]] - origin, cross(x[t[1]] - origin, x[t[2]] - origin)) / 6;
  }
  for (const auto& [edge, count] : balance) {
    ASSERT_EQ(count, 0) << "edge " << edge[0] << " " << edge[1];
  }
  EXPECT_NEAR(enclosed, sum, 1e-9 * sum);
}

inline bool hasSameBits(const TetMesh& a, const TetMesh& b) {
  return std::ranges::equal(a.vertices(), b.vertices()) && std::ranges::equal(a.tets(), b.tets());
}

}  // namespace tangere::test
