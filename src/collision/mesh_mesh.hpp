// SPDX-License-Identifier: Apache-2.0
//
// Two surfaces of triangles against each other: meshes, and a height field as its solid mesh.
//
// Where the surfaces cross, the crossing lines bound regions. In each, the vertices of one solid
// that lie inside the other are contacts with the depth and the outward normal of the nearest
// surface there; a region without such a vertex (edges across edges) gives points of its crossing
// line, with the extent of that line along the normal as depth.
#pragma once

#include "collision/mesh_manifolds.hpp"
#include "collision/narrow_phase.hpp"
#include "geometry/mesh_data.hpp"

namespace tangere::collision {

/// A surface, with what is solid behind it where it is closed.
struct MeshBody {
  const geometry::MeshData& mesh;

  [[nodiscard]] bool isSolid() const { return mesh.closed; }
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

/// The unsigned distance of meshes, made to try a translation `move` that body 1 has made: of
/// bodies that overlap it tells only that, and `move` as the direction to go on.
[[nodiscard]] DistanceResult distanceOfApart(const MeshBodyPair& pair, const Vec3& move);

[[nodiscard]] PairFunctions meshMeshFunctions();

}  // namespace tangere::collision
