// SPDX-License-Identifier: Apache-2.0
#include "collision/mesh_penetration.hpp"

#include <limits>

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

/// Moves body 1 along `normal`, then along whatever still touches, until nothing does. After
/// kSameSteps steps grow: a vertex beside a rim is near to the side of the rim, and far less deep
/// there than its edges are.
constexpr int kSameSteps = 4, kManySteps = 10;
Separation leave(const Vec3& normal, Real depth, int maxSteps, const DistanceAfter& distanceAfter) {
  Vec3 move = normal * (depth * kRoom);
  for (int step = 0; step < maxSteps; ++step) {
    const DistanceResult apart = distanceAfter(move);
    if (apart.distance > 0) return separationAfter(move, apart);
    move += apart.normal * depth;
    if (step + 1 >= kSameSteps) depth *= 2;
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
  constexpr Real kFactors[] = {1 + Real(1e-6), Real(1.001), Real(1.01), Real(1.05), kRoom};
  constexpr int kHalvings = 6;
  if (!(best.depth > 0)) return {};
  const auto isApart = [&](Real factor) {
    const DistanceResult apart = distanceAfter(best.normal * (best.depth * factor));
    if (!(apart.distance > 0)) return false;
    // What touches last, which need not be what was nearest after a move that led elsewhere.
    best.onBody2 = apart.point2;
    best.feature1 = apart.feature1;
    best.feature2 = apart.feature2;
    return true;
  };
  Real touching = 1;
  for (Real factor : kFactors) {
    if (!isApart(factor)) {
      touching = factor;
      continue;
    }
    if (factor < Real(1.0005)) return best;
    for (int i = 0; i < kHalvings; ++i) {
      const Real middle = Real(0.5) * (touching + factor);
      (isApart(middle) ? factor : touching) = middle;
    }
    best.depth *= factor;
    return best;
  }
  return {};
}

/// Goes along a direction until the bodies are apart, and comes back until they all but touch: what
/// is left of the way is how far one has to go. No step back is longer than the distance. Nothing
/// where the bodies are not apart after `most`.
Separation comeBack(const Vec3& normal, Real depth, Real most, const DistanceAfter& distanceAfter) {
  constexpr int kMaxDoublings = 60, kMaxSteps = 100;
  constexpr Real kClose = 1e-6;
  Real length = depth * kRoom < most ? depth * kRoom : most;
  DistanceResult apart = distanceAfter(normal * length);
  for (int i = 0; i < kMaxDoublings && !(apart.distance > 0); ++i) {
    if (length * 2 > most) return {};
    length *= 2;
    apart = distanceAfter(normal * length);
  }
  Separation best;
  for (int step = 0; step < kMaxSteps && apart.distance > 0; ++step) {
    best = {normal, length, apart.point2, apart.feature1, apart.feature2};
    if (apart.distance < kClose * length) break;
    length -= apart.distance * (1 - kClose);
    apart = distanceAfter(normal * length);
  }
  return best;
}

}  // namespace

void WaysOut::addDirection(const Vec3& direction, Real depthThere) {
  const Real length = norm(direction);
  if (length > 0) add(direction / length, depthThere);
}

void WaysOut::add(const Vec3& normal, Real depthThere) {
  constexpr Real kSameCosine = 0.966;  // 15 degrees
  for (int i = 0; i < count; ++i)
    if (dot(normal, normal_W[i]) > kSameCosine) return;
  if (count == kMax || !(depthThere > 0)) return;
  normal_W[count] = normal;
  depth[count++] = depthThere;
}

WaysOut waysOf(std::span<const SurfaceContact> contacts, const Mat3& R, const Vec3& fromContact,
               const DistanceResult& out) {
  WaysOut ways;
  ways.add(out.normal, -out.distance);
  Vec3 sum{};
  for (const SurfaceContact& c : contacts) sum += c.normal * c.depth;
  ways.addDirection(R * sum, -out.distance);
  ways.addDirection(fromContact, -out.distance);
  for (const SurfaceContact& c : contacts) ways.add(R * c.normal, c.depth);
  return ways;
}

void refinePenetration(const WaysOut& ways, const DistanceAfter& distanceAfter,
                       DistanceResult& out) {
  Separation best;
  const auto consider = [&](const Separation& found) {
    if (found.depth > 0 && (!(best.depth > 0) || found.depth < best.depth)) best = found;
  };
  const auto leaveAll = [&](int maxSteps) {
    for (int i = 0; i < ways.count; ++i)
      consider(
          shorten(leave(ways.normal_W[i], ways.depth[i], maxSteps, distanceAfter), distanceAfter));
  };
  // In an inner corner no way is locally the shortest, and whatever was found leads somewhere else;
  // so it may do where all ways are far too short to leave along.
  constexpr Real kElsewhere = 4;
  const Real likely = ways.count > 0 ? ways.depth[0] : Real(0);
  const auto isElsewhere = [&] { return !(best.depth > 0) || best.depth > kElsewhere * likely; };
  leaveAll(kSameSteps);
  if (isElsewhere())
    for (int i = 0; i < ways.count; ++i) {
      const Real atMost = best.depth > 0 ? best.depth : std::numeric_limits<Real>::infinity();
      consider(comeBack(ways.normal_W[i], ways.depth[i], atMost, distanceAfter));
    }
  if (isElsewhere()) leaveAll(kManySteps);
  if (!(best.depth > 0)) return;
  out.distance = -best.depth;
  out.normal = best.normal;
  out.point2 = best.onBody2;
  out.point1 = out.point2 + out.normal * out.distance;
  out.feature1 = best.feature1;
  out.feature2 = best.feature2;
}

void moveToWorld(const Transform& X_W, DistanceResult& out) {
  out.normal = X_W.rotation * out.normal;
  out.point1 = X_W * out.point1;
  out.point2 = X_W * out.point2;
}

void partWhole(const PairInput& world, const PairFunctions& functions, DistanceResult& out) {
  if (!(out.distance < 0)) return;
  const Transform X_21 = inverseTimes(world.X_W2, world.X_W1), own;
  const PairInput in{world.shape1, X_21, world.shape2, own, nullptr};
  DistanceResult local = out;
  moveToWorld(inverse(world.X_W2), local);
  const auto moved = [&](const Vec3& move_W) {
    return Transform{in.X_W1.rotation, in.X_W1.translation + move_W};
  };
  const Transform parted = moved(local.normal * (-local.distance * (1 + Real(1e-9))));
  if (!functions.overlap({in.shape1, parted, in.shape2, in.X_W2, nullptr})) return;
  const auto distanceAfter = [&](const Vec3& move_W) {
    const Transform X_W1 = moved(move_W);
    DistanceOption unsignedOption;
    unsignedOption.enableSigned = false;
    DistanceResult apart;
    functions.distance({in.shape1, X_W1, in.shape2, in.X_W2, nullptr}, unsignedOption, apart);
    return apart;
  };
  WaysOut ways;
  ways.add(local.normal, -local.distance);
  ways.addDirection(in.X_W1.translation - in.X_W2.translation, -local.distance);
  for (int k = 0; k < 3; ++k)
    for (const Real sign : {Real(1), Real(-1)})
      ways.add(in.X_W2.rotation.col[k] * sign, -local.distance);
  refinePenetration(ways, distanceAfter, local);
  moveToWorld(world.X_W2, local);
  out = local;
}

}  // namespace tangere::collision
