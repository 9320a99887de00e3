// SPDX-License-Identifier: Apache-2.0
//
// From the contacts of single triangles to manifolds: contacts with nearly the same normal make one
// manifold of at most four points, the deepest and then the farthest.
#pragma once

#include "collision/narrow_phase.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tangere::collision {

/// One contact of a surface with another body, in the frame of the surface.
struct SurfaceContact {
  Vec3 position{};  ///< half way between the two surfaces
  Vec3 normal{};    ///< unit, from the surface to the other body
  Real depth = 0;
  std::int32_t triangle = -1;
  std::int32_t feature = -1;  ///< of the other body
  bool sharp = false;         ///< next to a sharp edge of the surface
  std::int16_t way = -1;      ///< scratch of the search for contacts
};

/// Normals within 15 degrees of the deepest contact's share its manifold.
inline constexpr Real kClusterCosine = 0.9659258262890683;

/// Where the surface stands in the pair, and in the world.
struct SurfaceFrame {
  const Transform& X_WS;
  bool surfaceIsFirst = false;
  Real size = 1;  ///< a length of the order of the smaller body [m]
};

/// Four points of a flat patch that span its area: one of the deepest, the one farthest from it,
/// and the farthest on either side of the line through both. A patch over many triangles has points
/// along all their seams; these are its corners. Writes places in `index`, returns their number.
int selectCorners(const SurfaceContact* contacts, std::span<const int> index, Real size,
                  int* chosen);

/// Appends the manifolds of `contacts` to `result`, the deepest first, with at most
/// option.maxNumContacts points in all; may reorder `contacts`. Returns the number of points added.
int addManifolds(std::vector<SurfaceContact>& contacts, const SurfaceFrame& frame,
                 const CollisionOption& option, CollisionResult& result);

/// The contacts as a signed distance: the shallowest way that frees the bodies, as told by
/// separates(translation of the other body, frame of the surface); where none does, the deepest.
/// `contacts` must not be empty and is reordered.
void writePenetration(std::vector<SurfaceContact>& contacts, const SurfaceFrame& frame,
                      const DistanceOption& option,
                      const std::function<bool(const Vec3&)>& separates, DistanceResult& out);

/// Scratch of this thread, empty; the memory stays.
std::vector<SurfaceContact>& contactScratch();

}  // namespace tangere::collision
