// SPDX-License-Identifier: Apache-2.0
//
// How deep two bodies overlap as a whole, from how deep single triangles do.
#pragma once

#include "collision/mesh_manifolds.hpp"
#include "collision/narrow_phase.hpp"

#include <functional>
#include <span>

namespace tangere::collision {

/// Distance of the bodies after body 1 has moved by a translation in the world; zero or negative
/// when they still touch.
using DistanceAfter = std::function<DistanceResult(const Vec3& move_W)>;

/// Ways to begin the search with: directions in the world in which body 1 may leave.
struct WaysOut {
  static constexpr int kMax = 8;
  Vec3 normal_W[kMax];
  Real depth[kMax];  ///< what a single triangle asks for
  int count = 0;

  /// Takes what is not like a way it has.
  void add(const Vec3& normal, Real depthThere);
  /// The same for a direction of any length, and as deep as `depthThere`.
  void addDirection(const Vec3& direction, Real depthThere);
};

/// The ways of contacts whose normals, turned by `R`, are directions for body 1: that of `out`, the
/// mean, from the contact to the middle of body 1, and each contact's own.
[[nodiscard]] WaysOut waysOf(std::span<const SurfaceContact> contacts, const Mat3& R,
                             const Vec3& fromContact, const DistanceResult& out);

/// Makes `out`, which holds the overlap along the way of one triangle, the shortest translation
/// found that separates the bodies, with the two points that touch last. Where the search ends
/// nowhere, as deep inside a concave body, it is the shortest of the ways followed until the bodies
/// are apart.
///
/// To be done in the frame of one of the bodies: far from the origin of the world a small move is
/// lost in rounding.
///
/// The bodies that have moved apart by t are g apart along m, so the overlap along m is t.m - g,
/// and moving by that along m alone separates what is convex there. Done again and again this goes
/// down to a translation along its own m, the point of the Minkowski difference's surface that is
/// locally nearest to the origin.
/// The first of the ways is the one that is thought to be right: what is far longer than that is
/// doubted.
void refinePenetration(const WaysOut& ways, const DistanceAfter& distanceAfter,
                       DistanceResult& out);

/// Takes an answer from the frame of a body to the world.
void moveToWorld(const Transform& X_W, DistanceResult& out);

/// The same for a body of several parts, of which `out` holds the deepest: what parts one need not
/// part the others. Does nothing where it does.
void partWhole(const PairInput& in, const PairFunctions& functions, DistanceResult& out);

}  // namespace tangere::collision
