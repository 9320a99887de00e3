// SPDX-License-Identifier: Apache-2.0
//
// Two surfaces of triangles against each other: meshes, and a terrain as a mesh.
//
// Where the surfaces cross, the crossing lines bound regions. In each, the vertices of one solid
// that lie inside the other are contacts with the depth and the outward normal of the nearest
// surface there; a region without such a vertex (edges across edges) gives points of its crossing
// line, with the extent of that line along the normal as depth.
#pragma once

#include "collision/mesh_manifolds.hpp"
#include "collision/narrow_phase.hpp"
#include "geometry/mesh_data.hpp"

namespace tangere::geometry {
struct HeightFieldData;
}

namespace tangere::collision {

/// A surface and what is solid behind it.
struct MeshBody {
  const geometry::MeshData& mesh;
  const geometry::HeightFieldData* terrain = nullptr;  ///< set: `mesh` is its surface

  [[nodiscard]] bool isSolid() const { return terrain != nullptr || mesh.closed; }
  /// Of a point in the frame of the mesh.
  [[nodiscard]] SignedDistance distanceAt(const Vec3& p) const;
};

struct MeshBodyPair {
  const MeshBody& body1;
  const Transform& X_W1;
  const MeshBody& body2;
  const Transform& X_W2;
};

int collideMeshes(const MeshBodyPair& pair, const CollisionOption& option, CollisionResult& result);
[[nodiscard]] bool overlapMeshes(const MeshBodyPair& pair);
void distanceMeshes(const MeshBodyPair& pair, const DistanceOption& option, DistanceResult& out);

[[nodiscard]] PairFunctions meshMeshFunctions();

}  // namespace tangere::collision
