// SPDX-License-Identifier: Apache-2.0
//
// The three ways to fill a solid with tetrahedra. Each refuses (InvalidInput) what would need more
// than maxTets before it allocates anything of that size.
#pragma once

#include "geometry/tet_pieces.hpp"

namespace tangere::geometry {

/// Vertices that a body gets when nobody asks for a resolution.
inline constexpr Real kTypicalNumVertices = 1000;

/// How large a mesh will be; Real, because the wish may be beyond any integer.
struct TetCounts {
  Real vertices = 0;
  Real tets = 0;
};

/// Throws InvalidInput on a resolution or a limit that makes no sense.
void requireTetMeshOptions(const TetMeshOptions& options);

/// Throws InvalidInput with the count where it is above maxTets.
void requireTetCount(Real numTets, Real resolution, int maxTets);

/// Sphere, Box, Capsule, Cylinder, Cone, Ellipsoid; resolution > 0.
[[nodiscard]] TetCounts countStructuredTets(const Shape& shape, Real resolution);
[[nodiscard]] TetPieces makeStructuredTets(const Shape& shape, Real resolution);

/// A lattice of triangles on a sphere, each joined to the centre, which is the last vertex.
[[nodiscard]] TetCounts countSphereFan(Real radius, Real resolution);
[[nodiscard]] TetPieces makeSphereFan(Real radius, Real resolution);

/// A hull in shells towards its centroid: its faces cut to triangles, those to lattices as fine as
/// the resolution, and scaled copies of that surface joined by prisms and tapers.
class LayeredMesher {
 public:
  explicit LayeredMesher(const Convex& convex);
  /// False for a hull so thin that its faces would have to be cut into too many triangles: then
  /// nothing else may be asked for.
  [[nodiscard]] bool isPossible() const { return is_possible_; }
  [[nodiscard]] TetCounts count(Real resolution) const;
  [[nodiscard]] TetPieces make(Real resolution) const;

 private:
  std::vector<Vec3> vertices_;
  std::vector<Triangle> triangles_;
  Vec3 center_{};
  Real mean_radius_ = 0;
  Real longest_edge_ = 0;
  bool is_possible_ = true;
};

/// Isosurface stuffing (Labelle, Shewchuk 2007) of a shape of known volume on a body-centred cubic
/// lattice of the given spacing. No tetrahedra where the shape slips through the lattice.
[[nodiscard]] TetPieces stuffShape(const Shape& shape, Real volume, Real spacing, int maxTets);

}  // namespace tangere::geometry
