// SPDX-License-Identifier: Apache-2.0
//
// A mesh that reaches through an open surface, a sheet. Nothing is inside a sheet: the crossing
// line cuts the mesh into the parts on its two sides, and the one that reaches less far has gone
// through.
#pragma once

#include "collision/mesh_crossings.hpp"
#include "collision/mesh_manifolds.hpp"
#include "geometry/mesh_data.hpp"

#include <vector>

namespace tangere::collision {

/// Whether a vertex of triangle `t` can touch something that lies in `direction` of it: it is a
/// summit that way, or the surface faces that way. A vertex in the middle of a flat face that is
/// near a side of the other body does not push that side.
[[nodiscard]] bool mayPush(const geometry::MeshData& mesh, int t, int vertex,
                           const Vec3& direction);

/// Poses take to the frame of all points.
struct SheetPair {
  const geometry::MeshData& sheet;
  const Transform& X_S;
  const geometry::MeshData& body;
  const Transform& X_B;
  bool sheetIsFirst = false;  ///< its triangles are triangleA of the crossings
};

/// Appends up to four contacts of one region: vertices of the body that went through the sheet,
/// with the way back to the nearest point of it. Normals from the first of the two to the second.
void addSheetContacts(const SheetPair& pair, const std::vector<Crossing>& crossings,
                      const std::vector<int>& members, std::vector<SurfaceContact>& out);

}  // namespace tangere::collision
