// SPDX-License-Identifier: Apache-2.0
//
// Solids made of tetrahedra: from shapes and closed surfaces by our own mesher, or from volume
// files. Deterministic: the same input gives the same mesh, bit for bit.
#pragma once

#include <tangere/mesh.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tangere {

/// Vertices of a tetrahedron; (x1 - x0) x (x2 - x0) . (x3 - x0) > 0.
using Tet = std::array<std::int32_t, 4>;

/// How good the tetrahedra of a mesh are, and how well it fills what it was made from.
struct TetMeshQuality {
  Real minDihedral = 0, maxDihedral = 0;   ///< [rad]
  Real minVolume = 0, maxVolume = 0;       ///< of one tetrahedron [m^3]
  Real maxAspect = 0;                      ///< longest edge over shortest height; regular: 1.22
  Real shortestEdge = 0, longestEdge = 0;  ///< [m]
  int numParts = 0;                        ///< connected over faces
  int numSurfaceTets = 0;                  ///< all four vertices on the surface
};

/// A solid. Immutable.
class TetMesh {
 public:
  /// Tetrahedra of negative volume are turned. Throws InvalidInput on an index out of range, a
  /// coordinate that is not finite, a tetrahedron without a volume (below 1e-12 of its longest edge
  /// cubed) or that names a vertex twice, a face in more than two tetrahedra, no tetrahedron at
  /// all; vertices that no tetrahedron uses are refused too.
  TetMesh(std::vector<Vec3> vertices, std::vector<Tet> tets);

  [[nodiscard]] std::span<const Vec3> vertices() const { return vertices_; }
  [[nodiscard]] std::span<const Tet> tets() const { return tets_; }
  /// Faces of one tetrahedron alone, counter-clockwise seen from outside, in order of tetrahedra.
  [[nodiscard]] std::span<const Triangle> surface() const { return surface_; }
  /// The tetrahedron behind each triangle of the surface.
  [[nodiscard]] std::span<const std::int32_t> tetOfSurface() const { return tet_of_surface_; }
  /// 1 for vertices of the surface.
  [[nodiscard]] std::span<const std::uint8_t> isOnSurface() const { return is_on_surface_; }
  /// [m^3]
  [[nodiscard]] Real volume() const { return volume_; }
  [[nodiscard]] TetMeshQuality quality() const;
  /// The same solid elsewhere.
  [[nodiscard]] TetMesh transformed(const Transform& pose) const;

 private:
  std::vector<Vec3> vertices_;
  std::vector<Tet> tets_;
  std::vector<Triangle> surface_;
  std::vector<std::int32_t> tet_of_surface_;
  std::vector<std::uint8_t> is_on_surface_;
  Real volume_ = 0;
};

struct TetMeshOptions {
  Real resolution = 0;    ///< wanted length of edges [m]; 0: chosen from the shape
  int maxTets = 4000000;  ///< refused beyond, with the count that would be needed
};

/// What a mesher did, beside the mesh.
struct TetMeshReport {
  TetMeshQuality quality{};
  Real resolution = 0;    ///< that was used: the one asked for, or the one chosen [m]
  Real volumeError = 0;   ///< (volume - that of the input) / that of the input
  Real surfaceError = 0;  ///< farthest vertex of the mesh's surface from the input's [m]
  Real lostFeature = 0;   ///< farthest vertex of the input's surface from the mesh's [m]
  std::string method{};   ///< "structured", "layered", "stuffing"
  std::vector<std::string> findings{};  ///< what a user should know, one sentence each
};

/// Sphere, Box, Capsule, Cylinder, Cone, Ellipsoid: structured. Convex: layered. Closed Mesh and
/// Compound: isosurface stuffing; also a Convex or Ellipsoid that the resolution is fine enough for
/// and of which layers would have dihedral angles below 10 degrees (a finding says so). Throws
/// InvalidInput for what has no inside (Plane, HeightField, PointCloud, an open Mesh) and for a
/// resolution that would need more than maxTets.
[[nodiscard]] TetMesh meshShape(const Shape& shape, const TetMeshOptions& options,
                                TetMeshReport* report = nullptr);

/// The pressure that a body sets against what enters it: from 0 at its surface to `modulus` at the
/// points farthest inside, linear in each tetrahedron. Every tetrahedron has a vertex inside.
struct PressureField {
  TetMesh mesh;
  std::vector<Real> extent;  ///< of each vertex, 0 on the surface (margin: below it), at most 1
};

/// `margin`: the surface of zero pressure lies this far below that of the shape [m]. A Box has the
/// few tetrahedra of its medial surface, for which the field is exact; others are as fine as the
/// resolution asks.
[[nodiscard]] PressureField makePressureField(const Shape& shape, const TetMeshOptions& options,
                                              Real margin = 0);
/// From the distance to the surface over the greatest one. Tetrahedra with all vertices on the
/// surface are split first, so the mesh may have more vertices than `mesh`.
[[nodiscard]] PressureField makePressureField(const TetMesh& mesh, Real margin = 0);

}  // namespace tangere
