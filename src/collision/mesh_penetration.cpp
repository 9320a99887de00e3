// SPDX-License-Identifier: Apache-2.0
#include "collision/mesh_penetration.hpp"

namespace tangere::collision {

namespace {

// Some room between the bodies makes the direction between them a good one.
constexpr Real kRoom = 1.1;

/// A separating direction, as deep as the bodies overlap along it.
struct Separation {
  Vec3 normal{};
  Real depth = 0;  ///< 0: none
  Vec3 onBody2{};
  std::int32_t feature1 = -1, feature2 = -1;
};

/// Told by the bodies' distance once body 1 has moved.
Separation separationAfter(const Vec3& move, const DistanceResult& apart) {
  return {apart.normal, dot(move, apart.normal) - apart.distance, apart.point2, apart.feature1,
          apart.feature2};
}

/// Moves body 1 along `normal`, then along whatever still touches, until nothing does.
Separation leave(const Vec3& normal, Real depth, const DistanceAfter& distanceAfter) {
  constexpr int kMaxSteps = 4;
  Vec3 move = normal * (depth * kRoom);
  for (int step = 0; step < kMaxSteps; ++step) {
    const DistanceResult apart = distanceAfter(move);
    if (apart.distance > 0) return separationAfter(move, apart);
    move += apart.normal * depth;
  }
  return {};
}

/// Turns a separation until it is locally the shortest.
Separation shorten(Separation best, const DistanceAfter& distanceAfter) {
  constexpr int kMaxTurns = 24;
  for (int turn = 0; turn < kMaxTurns && best.depth > 0; ++turn) {
    const Vec3 move = best.normal * (best.depth * kRoom);
    const DistanceResult apart = distanceAfter(move);
    if (!(apart.distance > 0)) break;
    const Separation next = separationAfter(move, apart);
    const bool settled = !(next.depth < best.depth * (1 - Real(1e-10)));
    if (next.depth > 0 && next.depth <= best.depth) best = next;
    if (settled) break;
  }
  // Where the surface is not convex, other parts may be in the way for a little longer.
  for (const Real factor : {1 + Real(1e-6), Real(1.001), Real(1.01), Real(1.05), kRoom}) {
    if (!(best.depth > 0)) break;
    if (!(distanceAfter(best.normal * (best.depth * factor)).distance > 0)) continue;
    if (factor > Real(1.0005)) best.depth *= factor;
    return best;
  }
  return {};
}

}  // namespace

void WaysOut::add(const Vec3& normal, Real depthThere) {
  constexpr Real kSameCosine = 0.966;  // 15 degrees
  for (int i = 0; i < count; ++i)
    if (dot(normal, normal_W[i]) > kSameCosine) return;
  if (count == kMax || !(depthThere > 0)) return;
  normal_W[count] = normal;
  depth[count++] = depthThere;
}

void refinePenetration(const WaysOut& ways, const DistanceAfter& distanceAfter,
                       DistanceResult& out) {
  Separation best;
  for (int i = 0; i < ways.count; ++i) {
    const Separation found =
        shorten(leave(ways.normal_W[i], ways.depth[i], distanceAfter), distanceAfter);
    if (found.depth > 0 && (!(best.depth > 0) || found.depth < best.depth)) best = found;
  }
  if (!(best.depth > 0)) return;
  out.distance = -best.depth;
  out.normal = best.normal;
  out.point2 = best.onBody2;
  out.point1 = out.point2 + out.normal * out.distance;
  out.feature1 = best.feature1;
  out.feature2 = best.feature2;
}

}  // namespace tangere::collision
