// SPDX-License-Identifier: Apache-2.0
//
// Whether a surface passes through itself.
#pragma once

#include <tangere/mesh.hpp>

#include <optional>

namespace tangere::geometry {

/// An edge that passes through a triangle which shares no corner with it, and the place where; the
/// first by the indices of the two triangles. Faces that only touch, lie in one plane or meet at an
/// edge do not count, nor does what is within 1e-9 of the mesh's size. Nothing for meshes of more
/// than 2,000,000 triangles. The indices must be in range.
[[nodiscard]] std::optional<MeshEdge> findIntersection(const TriangleMesh& mesh);

}  // namespace tangere::geometry
