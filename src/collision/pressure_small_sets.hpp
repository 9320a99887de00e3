// SPDX-License-Identifier: Apache-2.0
//
// Elements of two bodies that can share a contact polygon, for bodies of a few hundred elements:
// flat loops over their vertices instead of trees. Where the bodies overlap is bounded along the
// axes of both and along the line between them; an element with all its corners beyond one of
// these bounds is left out. What of the rest the surface of equal pressure (the plane of a rigid
// triangle) goes through is found from one value of each vertex.
#pragma once

#include "collision/pressure_candidates.hpp"

namespace tangere::collision {

/// True when the flat loops are faster than trees.
[[nodiscard]] bool areSmall(const PressureMesh& a, const PressureMesh& b);

/// True when boxes and spheres around the bodies already tell that they are apart.
[[nodiscard]] bool areApart(const PressureMesh& a, const Aabb& boundsA, const PressureMesh& b,
                            const Aabb& boundsB, const Transform& X_AB);

/// Fills tets1, tets2 and tetCuts with the pairs that the surface of equal pressure goes through.
void findSmallTetTetCuts(const PressureMesh& a, const PressureMesh& b, const Transform& X_AB,
                         PressureCandidates* out);
/// Fills tets1, triangles2 and triangleCuts with the pairs where the plane of the triangle goes
/// through the tet.
void findSmallTetSurfaceCuts(const PressureMesh& a, const PressureMesh& b, const Transform& X_AB,
                             PressureCandidates* out);

}  // namespace tangere::collision
