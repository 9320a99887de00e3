// SPDX-License-Identifier: Apache-2.0
//
// The pieces that structured and layered meshes are put together from. A triangle of side m is the
// lattice of points (i, j), i + j <= m, joined to m^2 small triangles. Between two such lattices
// lies a layer of prisms (same side) or a tapering one (sides m and m - 1): tetrahedra and
// octahedra as in the regular subdivision of a tetrahedron. Neighbouring layers fit along their
// rims whatever is on the other side.
#pragma once

#include <tangere/tet_mesh.hpp>

#include <vector>

namespace tangere::geometry {

/// Vertices and tetrahedra under construction. Tetrahedra may be turned either way: TetMesh turns
/// them.
struct TetPieces {
  std::vector<Vec3> vertices;
  std::vector<Tet> tets;

  /// A prism between the triangles (a0, b0, c0) and (a1, b1, c1). The diagonal of each side runs
  /// from the end "0" of the column whose vertex "0" has the lower index, so both prisms at a side
  /// agree.
  void addPrism(const Triangle& t0, const Triangle& t1);
  /// p[k] and q[k] are opposite corners. Cut along the shortest of its diagonals.
  void addOctahedron(const std::array<std::int32_t, 3>& p, const std::array<std::int32_t, 3>& q);

  /// Prisms between two lattices of side m; lower(i, j) and upper(i, j) give the vertices.
  template <class Lower, class Upper>
  void addPrismLayer(int m, const Lower& lower, const Upper& upper) {
    for (int i = 0; i < m; ++i) {
      for (int j = 0; i + j < m; ++j) {
        addPrism({lower(i, j), lower(i + 1, j), lower(i, j + 1)},
                 {upper(i, j), upper(i + 1, j), upper(i, j + 1)});
        if (i + j + 1 >= m) continue;
        addPrism({lower(i + 1, j), lower(i + 1, j + 1), lower(i, j + 1)},
                 {upper(i + 1, j), upper(i + 1, j + 1), upper(i, j + 1)});
      }
    }
  }

  /// Between the lattice wide(i, j) of side m and narrow(i, j) of side m - 1.
  template <class Wide, class Narrow>
  void addTaperLayer(int m, const Wide& wide, const Narrow& narrow) {
    for (int i = 0; i < m; ++i) {
      for (int j = 0; i + j < m; ++j) {
        tets.push_back({wide(i, j), wide(i + 1, j), wide(i, j + 1), narrow(i, j)});
        if (i + j + 1 >= m) continue;
        addOctahedron({wide(i + 1, j), wide(i + 1, j + 1), wide(i, j + 1)},
                      {narrow(i, j + 1), narrow(i, j), narrow(i + 1, j)});
        if (i + j + 2 >= m) continue;
        tets.push_back(
            {narrow(i + 1, j), narrow(i + 1, j + 1), narrow(i, j + 1), wide(i + 1, j + 1)});
      }
    }
  }
};

}  // namespace tangere::geometry
