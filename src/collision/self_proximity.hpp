// SPDX-License-Identifier: Apache-2.0
//
// Where the surface of a deformed body meets itself, without a look at every pair of neighbours:
// a tree of patches over the surface, each connected over edges, with its box and the directions
// all of its normals lean to (Volino and Magnenat-Thalmann 1994).
//
// What is tested: two triangles touch when no plane lies between them (a relative 1e-12 counts as
// touching). Triangles with a common vertex touch when the side opposite to it of one meets the
// other; those with a common edge are not looked at. Pairs are left out untested only when
//  - the boxes of their patches are apart, or
//  - both lie in one patch, or in two that share an edge, of which every normal is less than 87
//    degrees from one of 26 fixed directions. Such a patch is a graph over a plane, unless its
//    border winds around and crosses itself in the projection. That is not tested, as is usual: two
//    turns of a wide flat spiral that pass through each other, faces of like orientation alone,
//    would be missed. Bodies that come to touch do so with faces of opposite orientation.
//
// What follows for the tetrahedra: where none is turned inside out and the surface does not meet
// itself, no two of them overlap (each point is covered as often as the surface winds around it).
// Tetrahedra that are turned inside out can overlap others deep in the body though its surface is
// sound; this is no contact, and is not reported. A part of the body that has got wholly into
// another part is reported.
//
// Results depend on the vertices and on those the tree was built from. Nothing throws on vertices
// that are not finite (their triangles touch nothing), and nothing allocates once the arrays have
// grown to the number of contacts.
#pragma once

#include <tangere/tet_mesh.hpp>

#include "geometry/linear_bvh.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace tangere::collision {

/// A patch of the surface: one triangle, or the union of two patches. The first half follows its
/// parent.
struct SurfacePatch {
  Aabb box{};
  std::uint32_t facing = 0;    ///< bit k: all normals lean to direction k; connected
  std::int32_t second = -1;    ///< the second half; -1: one triangle
  std::int32_t firstLeaf = 0;  ///< its triangles have the places [firstLeaf, firstLeaf + numLeaves)
  std::int32_t numLeaves = 1;
};
static_assert(sizeof(SurfacePatch) == 64);

/// The tree of one body's surface, and what the last test found.
struct SelfProximity {
  std::vector<SurfacePatch> patches;
  std::vector<std::int32_t> triangleAt;             ///< of each place
  std::vector<std::array<std::int32_t, 3>> beyond;  ///< of each triangle and edge: the other; or -1
  std::vector<std::int32_t> borderStart;            ///< of each patch: its part of `border`
  std::vector<std::int32_t> border;  ///< places of the triangles across its edges, ascending
  std::vector<std::int32_t> parts;   ///< whole outer surfaces of parts of the body, as patches
  std::vector<std::int32_t> loose;   ///< patches that are not connected: several such surfaces

  /// Triangles that touch, first < second, sorted.
  std::vector<geometry::IndexPair> touching;
  /// Boxes that hold all of the overlap of the body with itself; disjoint.
  std::vector<Aabb> regions;
  long numVisited = 0;  ///< pairs of patches that were looked at
  long numTested = 0;   ///< pairs of triangles of these

  std::vector<geometry::IndexPair> stack;    ///< scratch
  std::vector<std::uint8_t> behind;          ///< scratch: corners of a triangle that are inside
  std::vector<std::int32_t> cluster, queue;  ///< scratch
};

/// Makes the tree from the shape at rest. To be called again for another surface.
void buildSelfProximity(std::span<const Vec3> restVertices, std::span<const Triangle> surface,
                        SelfProximity* memory);

/// False: the surface, outward and the one of the tree, does not meet itself. True: `touching` and
/// `regions` say where. Builds the tree from these vertices if there is none of this size.
[[nodiscard]] bool mayTouchItself(std::span<const Vec3> vertices, std::span<const Triangle> surface,
                                  SelfProximity* memory);

}  // namespace tangere::collision
