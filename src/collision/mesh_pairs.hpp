// SPDX-License-Identifier: Apache-2.0
//
// Pairs with a triangle mesh: every convex shape, the plane, and another mesh.
//
// A closed mesh is a solid: a body inside it overlaps it. Contacts come from the triangles that are
// touched (see mesh_surface.hpp). The distance of overlapping bodies is minus the depth of the
// shallowest contact that frees them, or of the deepest one where no single one does.
#pragma once

#include "collision/narrow_phase.hpp"

namespace tangere::collision {

/// Null members where this family does not own the pair.
[[nodiscard]] PairFunctions meshPairFunctions(ShapeType type1, ShapeType type2);

}  // namespace tangere::collision
