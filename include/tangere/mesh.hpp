// SPDX-License-Identifier: Apache-2.0
//
// Triangle meshes as files hold them, and what can be said about one before it becomes a shape.
#pragma once

#include <tangere/shape.hpp>

#include <optional>
#include <string>
#include <vector>

namespace tangere {

/// Vertices [m] and triangles that name them, counter-clockwise seen from outside.
struct TriangleMesh {
  std::vector<Vec3> vertices;
  std::vector<Triangle> triangles;

  friend bool operator==(const TriangleMesh&, const TriangleMesh&) = default;
};

/// The mesh with every vertex at one place (equal coordinates, to the last bit) made one, in order
/// of first appearance. Triangles keep their number and order. Throws InvalidInput on an index out
/// of range.
[[nodiscard]] TriangleMesh weldVertices(const TriangleMesh& mesh);

/// An edge of a mesh, with a triangle it belongs to.
struct MeshEdge {
  int vertex0 = -1;
  int vertex1 = -1;
  int triangle = -1;
  Vec3 midpoint{};
};

enum class MeshScale : unsigned char {
  Plausible,
  LikelyMillimetres,  ///< More than 50 m across: scaling by 0.001 is probably meant.
  LikelyMetresTwice,  ///< Less than 0.1 mm across: probably converted to metres twice.
};

/// What inspectMesh() found. Edges are compared by vertex index, as the Mesh shape does; triangles
/// that name a vertex twice have no edges.
struct MeshReport {
  int numVertices = 0;
  int numTriangles = 0;
  int numUnusedVertices = 0;
  int numDuplicateVertices = 0;  ///< at the place of an earlier vertex

  int numDegenerateTriangles = 0;  ///< without an area (to 1e-12 of the longest side squared)
  int firstDegenerateTriangle = -1;
  int numDuplicateTriangles = 0;  ///< the three vertices of an earlier one, in any order
  int firstDuplicateTriangle = -1;

  int numOpenEdges = 0;  ///< in one triangle only
  std::optional<MeshEdge> firstOpenEdge;
  int numNonManifoldEdges = 0;  ///< in more than two
  std::optional<MeshEdge> firstNonManifoldEdge;
  int numInconsistentEdges = 0;  ///< in two that run the same way along it
  std::optional<MeshEdge> firstInconsistentEdge;
  /// Open as it is, but watertight once weldVertices() has been called.
  bool wouldCloseWhenWelded = false;
  /// Of a closed, consistently oriented mesh of at most 2,000,000 triangles: an edge that passes
  /// through a triangle, at `midpoint`. The volume where the surface is inside itself counts twice.
  std::optional<MeshEdge> firstIntersection;

  int numComponents = 0;  ///< connected over edges
  Real area = 0;          ///< [m^2]
  Real volume = 0;        ///< signed [m^3]; has a meaning when the mesh is watertight
  Aabb bounds;            ///< of the vertices in use
  MeshScale scale = MeshScale::Plausible;

  /// Every edge in exactly two triangles.
  [[nodiscard]] bool isWatertight() const {
    return numTriangles > 0 && numOpenEdges == 0 && numNonManifoldEdges == 0;
  }
  [[nodiscard]] bool isConsistentlyOriented() const { return numInconsistentEdges == 0; }
  [[nodiscard]] bool isInsideOut() const {
    return isWatertight() && isConsistentlyOriented() && volume < 0;
  }
  /// A solid whose surface looks outward and does not pass through itself: nothing to mend.
  [[nodiscard]] bool isSolid() const {
    return isWatertight() && isConsistentlyOriented() && volume > 0 && !firstIntersection;
  }
  /// One sentence per finding, the gravest first; empty for a clean solid.
  [[nodiscard]] std::vector<std::string> findings() const;
};

/// Looks at a mesh without changing it. Throws InvalidInput on an index out of range or a
/// coordinate that is not finite; anything else is a finding.
[[nodiscard]] MeshReport inspectMesh(const TriangleMesh& mesh);

}  // namespace tangere
