// SPDX-License-Identifier: Apache-2.0
//
// The triangle of a mesh that is nearest to a convex body.
#pragma once

#include "collision/narrow_phase.hpp"
#include "geometry/kernels/convex_view.hpp"
#include "geometry/mesh_data.hpp"

namespace tangere::collision {

struct NearestTriangle {
  bool found = false;     ///< within the bound, and apart
  bool touching = false;  ///< distance zero or less: contacts say more
  Real distance = 0;
  Vec3 normal{};     ///< unit, from the surface to the body, frame of the mesh
  Vec3 onSurface{};  ///< frame of the mesh
  int triangle = -1;
};

/// Distance to the surface; a body inside a closed mesh is as far from it as one outside.
[[nodiscard]] NearestTriangle nearestTriangle(const geometry::MeshData& mesh,
                                              const kernel::ConvexView<Real>& view,
                                              const Transform& X_MC, Real upperBound);

/// For searches that try a translation `move` that the body has made: of a body that still touches,
/// or is inside, it tells only that, and `move` as the direction to go on. Frame of the mesh.
[[nodiscard]] DistanceResult distanceOfApart(const geometry::MeshData& mesh,
                                             const kernel::ConvexView<Real>& view,
                                             const Transform& X_MC, const Vec3& move);

/// A triangle as a convex body; `v` must outlive it.
[[nodiscard]] kernel::ConvexView<Real> triangleView(const Vec3* v);

/// What is reported when nothing is within the upper bound.
void writeBeyond(const Vec3& center1_W, const Vec3& center2_W, Real upperBound,
                 DistanceResult& out);

}  // namespace tangere::collision
