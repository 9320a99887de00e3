// SPDX-License-Identifier: Apache-2.0
//
// A box of cubes, each cut into six tetrahedra along its diagonal (Kuhn): conforming, and the same
// whatever the counts.
#pragma once

#include <tangere/tet_mesh.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace tangere::test {

struct BoxGrid {
  Vec3 size{1, 1, 1};  ///< from the origin to this corner [m]
  std::array<int, 3> count{1, 1, 1};

  [[nodiscard]] int vertexAt(int i, int j, int k) const {
    return (k * (count[1] + 1) + j) * (count[0] + 1) + i;
  }
};

[[nodiscard]] inline std::vector<Vec3> gridVertices(const BoxGrid& grid) {
  std::vector<Vec3> vertices;
  for (int k = 0; k <= grid.count[2]; ++k) {
    for (int j = 0; j <= grid.count[1]; ++j) {
      for (int i = 0; i <= grid.count[0]; ++i) {
        vertices.push_back({grid.size.x * i / grid.count[0], grid.size.y * j / grid.count[1],
                            grid.size.z * k / grid.count[2]});
      }
    }
  }
  return vertices;
}

[[nodiscard]] inline std::vector<Tet> gridTets(const BoxGrid& grid) {
  std::vector<Tet> tets;
  for (int k = 0; k < grid.count[2]; ++k) {
    for (int j = 0; j < grid.count[1]; ++j) {
      for (int i = 0; i < grid.count[0]; ++i) {
        std::array<int, 3> axes{0, 1, 2};
        do {  // a walk along the three axes from one corner to the opposite one
          std::array<int, 3> at{i, j, k};
          Tet tet{grid.vertexAt(i, j, k), 0, 0, 0};
          for (int step = 0; step < 3; ++step) {
            ++at[axes[step]];
            tet[step + 1] = grid.vertexAt(at[0], at[1], at[2]);
          }
          const bool isOdd = (axes[0] > axes[1]) ^ (axes[0] > axes[2]) ^ (axes[1] > axes[2]);
          if (isOdd) std::swap(tet[2], tet[3]);
          tets.push_back(tet);
        } while (std::next_permutation(axes.begin(), axes.end()));
      }
    }
  }
  return tets;
}

[[nodiscard]] inline TetMesh gridMesh(const BoxGrid& grid) {
  return TetMesh(gridVertices(grid), gridTets(grid));
}

}  // namespace tangere::test
