// SPDX-License-Identifier: Apache-2.0
//
// How deep two bodies overlap as a whole, from how deep single triangles do.
#pragma once

#include "collision/narrow_phase.hpp"

#include <functional>

namespace tangere::collision {

/// Distance of the bodies after body 1 has moved by a translation in the world; zero or negative
/// when they still touch.
using DistanceAfter = std::function<DistanceResult(const Vec3& move_W)>;

/// Ways to begin the search with: directions in the world in which body 1 may leave.
struct WaysOut {
  static constexpr int kMax = 6;
  Vec3 normal_W[kMax];
  Real depth[kMax];  ///< what a single triangle asks for
  int count = 0;

  /// Takes what is not like a way it has.
  void add(const Vec3& normal, Real depthThere);
};

/// Makes `out`, which holds the overlap along the way of one triangle, the shortest translation
/// found that separates the bodies, with the two points that touch last. Leaves `out` as it is
/// where there is none, as deep inside a concave body.
///
/// The bodies that have moved apart by t are g apart along m, so the overlap along m is t.m - g,
/// and moving by that along m alone separates what is convex there. Done again and again this goes
/// down to a translation along its own m, the point of the Minkowski difference's surface that is
/// locally nearest to the origin.
void refinePenetration(const WaysOut& ways, const DistanceAfter& distanceAfter,
                       DistanceResult& out);

}  // namespace tangere::collision
