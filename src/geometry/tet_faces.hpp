// SPDX-License-Identifier: Apache-2.0
//
// Faces of tetrahedra: which vertices they have, and which two tetrahedra meet at one.
#pragma once

#include <tangere/tet_mesh.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace tangere::geometry {

/// The face across from each vertex, counter-clockwise seen from outside a tetrahedron of positive
/// volume.
inline constexpr std::array<std::array<int, 3>, 4> kTetFaces{
    {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}};

[[nodiscard]] inline Triangle faceOf(const Tet& tet, int k) {
  return {tet[kTetFaces[k][0]], tet[kTetFaces[k][1]], tet[kTetFaces[k][2]]};
}

/// Six times the signed volume of a tetrahedron.
[[nodiscard]] inline Real sixVolumes(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  return dot(cross(b - a, c - a), d - a);
}

/// For face k of tetrahedron t at 4 t + k: the face it is glued to (4 t' + k'), or -1 on the
/// surface. Throws InvalidInput where more than two tetrahedra meet at a face.
[[nodiscard]] std::vector<std::int32_t> matchFaces(int numVertices, std::span<const Tet> tets);

}  // namespace tangere::geometry
