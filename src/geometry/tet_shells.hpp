// SPDX-License-Identifier: Apache-2.0
//
// Solids that are star-shaped about a point, filled with shells around it. A shell of side k is a
// closed surface of triangles, each a lattice of side k; shells of falling side taper towards the
// centre, shells of equal side are joined by prisms.
#pragma once

#include "geometry/tet_mesher.hpp"

#include <array>
#include <span>
#include <vector>

namespace tangere::geometry {

/// Where a vertex lies on the coarse surface: the sum of weight / side times its coarse vertices.
struct ShellPoint {
  std::array<int, 3> vertex{};
  std::array<int, 3> weight{};
  int side = 1;
};

/// The lattices that a closed surface of triangles gets when each is cut to a side of k.
class ShellLattice {
 public:
  ShellLattice(int numVertices, std::vector<Triangle> triangles);

  [[nodiscard]] std::span<const Triangle> triangles() const { return triangles_; }
  /// Vertices of the shell of side k; 1 for side 0, the centre.
  [[nodiscard]] int size(int k) const;
  /// Lattice point (i, j) of a triangle in the shell of side k, counted from the shell's first.
  [[nodiscard]] int index(int triangle, int k, int i, int j) const;
  /// All points of the shell of side k >= 1, in order of index.
  [[nodiscard]] std::vector<ShellPoint> points(int k) const;

 private:
  [[nodiscard]] int onEdge(int triangle, int edge, int k, int steps) const;

  int num_vertices_;
  std::vector<Triangle> triangles_;
  std::vector<std::array<int, 2>> edges_;     // lower vertex first
  std::vector<std::array<int, 3>> edges_of_;  // of each triangle: ab, bc, ca
};

struct ShellPlan {
  int side = 1;       ///< of the outermost shell
  int numPrisms = 0;  ///< layers of prisms; then the taper down to the centre
  [[nodiscard]] int numLayers() const { return side + numPrisms; }
  [[nodiscard]] TetCounts counts(int numVertices, int numTriangles) const;
};

/// Shells numbered from the outermost; place(layer, point) gives the position of a point of the
/// shell that many layers below the surface, the centre being the one at plan.numLayers().
template <class Place>
[[nodiscard]] TetPieces fillShells(const ShellLattice& lattice, const ShellPlan& plan,
                                   const Vec3& center, const Place& place) {
  TetPieces out;
  const auto sideOf = [&](int layer) {
    return layer <= plan.numPrisms ? plan.side : plan.side - (layer - plan.numPrisms);
  };
  std::vector<int> first;
  for (int layer = 0; layer < plan.numLayers(); ++layer) {
    first.push_back(static_cast<int>(out.vertices.size()));
    for (const ShellPoint& point : lattice.points(sideOf(layer))) {
      out.vertices.push_back(place(layer, point));
    }
  }
  first.push_back(static_cast<int>(out.vertices.size()));
  out.vertices.push_back(center);

  for (int layer = 0; layer < plan.numLayers(); ++layer) {
    const int outer = sideOf(layer), inner = sideOf(layer + 1);
    for (int t = 0; t < static_cast<int>(lattice.triangles().size()); ++t) {
      const auto above = [&](int i, int j) { return first[layer] + lattice.index(t, outer, i, j); };
      const auto below = [&](int i, int j) {
        return first[layer + 1] + lattice.index(t, inner, i, j);
      };
      if (outer != inner) {
        out.addTaperLayer(outer, above, below);
      } else if (layer % 2 == 0) {
        out.addPrismLayer(outer, above, below);
      } else {
        out.addPrismLayer(outer, below, above);  // diagonals lean the other way
      }
    }
  }
  return out;
}

}  // namespace tangere::geometry
