// SPDX-License-Identifier: Apache-2.0
//
// Distance of a point to a mesh: nearest triangle through the tree, sign from the angle-weighted
// pseudonormal of the nearest feature (Baerentzen, Aanaes 2005) or, for closed meshes with dropped
// triangles, from the winding number.
#pragma once

#include "geometry/kernels/triangle_point.hpp"
#include "geometry/mesh_data.hpp"

#include <limits>

namespace tangere::geometry {

struct MeshPoint {
  Real squaredDistance = std::numeric_limits<Real>::infinity();
  Vec3 point{};
  int triangle = -1;  ///< -1: none nearer than the bound
  kernel::TriangleFeature feature = kernel::TriangleFeature::Face;
};

/// The nearest point of the surface within `maxDistance` of p; of several equally near triangles
/// the one with the lowest index.
[[nodiscard]] MeshPoint closestOnMesh(const MeshData& mesh, const Vec3& p,
                                      Real maxDistance = std::numeric_limits<Real>::infinity());

/// A point of the surface within `maxDistance` of p whose squared distance is at most 1 / share of
/// that of the nearest one (share <= 1): found sooner.
[[nodiscard]] MeshPoint closeOnMesh(const MeshData& mesh, const Vec3& p, Real maxDistance,
                                    Real share);

/// Outward direction at a point of the surface, not unit: triangle normal, sum over both triangles
/// at an edge, angle-weighted sum at a vertex.
[[nodiscard]] Vec3 pseudonormal(const MeshData& mesh, int triangle,
                                kernel::TriangleFeature feature);

/// How often the surface goes round p: 1 inside and 0 outside a closed mesh, a fraction near the
/// holes of an open one. Cost: linear in the number of triangles.
[[nodiscard]] Real windingNumber(const MeshData& mesh, const Vec3& p);

/// Whether p is inside a closed mesh; `closest` is its nearest surface point.
[[nodiscard]] bool isInside(const MeshData& mesh, const Vec3& p, const MeshPoint& closest);

/// Negative inside a closed mesh; never negative for an open one.
[[nodiscard]] SignedDistance signedDistanceToMesh(const MeshData& mesh, const Vec3& p);

/// First triangle along the ray; feature is its index.
[[nodiscard]] std::optional<RayHit> rayCastMesh(const MeshData& mesh, const Ray& ray);

}  // namespace tangere::geometry
