// SPDX-License-Identifier: Apache-2.0
//
// The nearest triangles of two meshes that are apart.
#pragma once

#include "geometry/mesh_data.hpp"

namespace tangere::collision {

/// The nearest pair of triangles found so far, in the frame of A.
struct NearestPair {
  Real distance;
  Vec3 onA{}, onB{};
  int triangleA = -1, triangleB = -1;
};

/// A pair of points by going to and fro between the surfaces: a good guess, and often the answer.
/// triangleA is -1 when it found nothing within `bound`.
[[nodiscard]] NearestPair guessNearest(const geometry::MeshData& a, const geometry::MeshData& b,
                                       const Transform& X_AB, Real bound);

enum class PlaneRefinement {
  Unknown,    ///< The plane across the guess does not separate the meshes: they may overlap.
  Separated,  ///< It does, but too many triangles are near it.
  Nearest,    ///< `best` is the answer.
};

/// Makes a guess the answer for meshes that a plane separates: only triangles near that plane can
/// be nearer than the guess, and along its normal each triangle tells how near exactly.
[[nodiscard]] PlaneRefinement refineAcrossPlane(const geometry::MeshData& a,
                                                const geometry::MeshData& b, const Transform& X_AB,
                                                NearestPair& best);

/// The general search, through both trees at once; `best` holds the guess.
void searchNearest(const geometry::MeshData& a, const geometry::MeshData& b, const Transform& X_AB,
                   NearestPair& best);

}  // namespace tangere::collision
