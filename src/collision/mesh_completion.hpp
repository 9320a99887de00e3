// SPDX-License-Identifier: Apache-2.0
//
// Whether the contacts of two meshes are all that there are to be.
//
// Contacts are complete when the least translation that resolves them all parts the bodies: then
// nothing that is deeper was overlooked. A translation that parts the bodies also says how deep a
// contact may be at most: no point of one body is farther inside the other than it is long.
#pragma once

#include "collision/mesh_crossings.hpp"
#include "collision/mesh_manifolds.hpp"
#include "collision/mesh_mesh.hpp"
#include "collision/mesh_penetration.hpp"
#include "collision/mesh_regions.hpp"

#include <span>
#include <vector>

namespace tangere::collision {

/// A way that bounds the depth of contacts is a contact of its own where none of them is so deep.
inline constexpr Real kNearlyAsDeep = 0.99;

/// Gives a contact less depth and keeps one of its two points where it is: that of the other body,
/// or that of the surface.
void makeShallower(Real depth, bool keepsBody, SurfaceContact& contact);

/// The least translation of body 1 that resolves all contacts (normals from body 1 to body 2).
/// False where they contradict each other, as those of a peg in a hole that is too narrow.
[[nodiscard]] bool findLeastMove(std::span<const SurfaceContact> contacts, Vec3* move);

/// Drops from contacts [first, end) those against which a translation of body 1 leads that parts
/// the bodies, and leaves none deeper than it is long.
void limitDepths(const Vec3& move, std::size_t first, std::vector<SurfaceContact>& contacts);

/// Adds the contact that is missing, if any. `contacts`, in the frame of body 1, are not empty.
void completeContacts(const MeshBodyPair& pair, const Transform& X_12,
                      std::span<const Crossing> crossings, const RegionReport& report,
                      std::vector<SurfaceContact>& contacts);

/// Adds the directions in which the crossed triangles would push body 1, in its frame, where they
/// are few.
void addCrossedNormals(const MeshBodyPair& pair, const Transform& X_12,
                       std::span<const Crossing> crossings, Real depth, WaysOut& ways);

}  // namespace tangere::collision
