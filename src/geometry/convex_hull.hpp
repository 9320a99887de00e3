// SPDX-License-Identifier: Apache-2.0
//
// Convex hull of a point set as a polytope with polygonal faces. The result depends on the set of
// points alone, not on their order, and keeps their coordinates to the last bit.
#pragma once

#include <tangere/types.hpp>

#include <span>
#include <vector>

namespace tangere::geometry {

/// Vertices in lexicographic order of (x, y, z). Faces are counter-clockwise from outside, begin at
/// their lowest vertex and are in lexicographic order of their vertex lists; edges are in order of
/// (v0, v1) with v0 < v1; lists per vertex are ascending.
struct ConvexHull {
  std::vector<Vec3> vertices;
  std::vector<Vec3> faceNormal;  ///< unit, outward
  std::vector<Real> faceOffset;  ///< normal . x on the face
  std::vector<int> faceStart;    ///< numFaces + 1
  std::vector<int> faceVertex;
  std::vector<int> edgeVertex;  ///< v0, v1
  std::vector<int> edgeFace;    ///< the face that runs v0 -> v1, then the one that runs v1 -> v0
  std::vector<int> neighborStart, neighbor;
  std::vector<int> vertexFaceStart, vertexFace;

  [[nodiscard]] int numVertices() const { return static_cast<int>(vertices.size()); }
  [[nodiscard]] int numFaces() const { return static_cast<int>(faceNormal.size()); }
  [[nodiscard]] int numEdges() const { return static_cast<int>(edgeFace.size() / 2); }
  [[nodiscard]] std::span<const int> face(int f) const {
    return std::span<const int>(faceVertex)
        .subspan(static_cast<std::size_t>(faceStart[f]),
                 static_cast<std::size_t>(faceStart[f + 1] - faceStart[f]));
  }
};

/// Throws InvalidInput for fewer than four points, coordinates that are not finite or beyond 1e12
/// m, and points that coincide or lie on one line or plane (to 1e-9 of their extent).
[[nodiscard]] ConvexHull computeConvexHull(std::span<const Vec3> points);

}  // namespace tangere::geometry
