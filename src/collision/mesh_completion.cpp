// SPDX-License-Identifier: Apache-2.0
#include "collision/mesh_completion.hpp"

#include "collision/mesh_penetration.hpp"

#include <cmath>

namespace tangere::collision {

void makeShallower(Real depth, bool keepsBody, SurfaceContact& c) {
  c.position += c.normal * (Real(keepsBody ? 0.5 : -0.5) * (depth - c.depth));
  c.depth = depth;
}

bool findLeastMove(std::span<const SurfaceContact> contacts, Vec3* move) {
  // Hildreth's method: a multiplier for each contact, none negative, one after the other.
  constexpr int kMaxContacts = 64, kMaxRounds = 100;
  constexpr Real kResolved = 1e-6;
  if (contacts.size() > kMaxContacts) return false;
  Real multiplier[kMaxContacts] = {};
  Real deepest = 0;
  for (const SurfaceContact& c : contacts) deepest = std::fmax(deepest, c.depth);
  *move = {};
  for (int round = 0; round < kMaxRounds; ++round) {
    Real worst = 0;
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      const SurfaceContact& c = contacts[i];
      const Real lacking = c.depth + dot(c.normal, *move);
      const Real next = std::fmax(multiplier[i] + lacking, Real(0));
      *move -= c.normal * (next - multiplier[i]);
      multiplier[i] = next;
      worst = std::fmax(worst, lacking);
    }
    if (worst <= kResolved * deepest) return deepest > 0;
  }
  return false;
}

void limitDepths(const Vec3& move, std::size_t first, std::vector<SurfaceContact>& contacts) {
  const Real most = norm(move);
  std::size_t kept = first;
  for (std::size_t i = first; i < contacts.size(); ++i) {
    if (!(dot(contacts[i].normal, move) < 0)) continue;
    SurfaceContact& c = contacts[kept++];
    c = contacts[i];
    if (most < c.depth) makeShallower(most, c.triangle < 0, c);
  }
  contacts.resize(kept);
}

namespace {

/// The longest side of the box around the crossing lines.
Real extentOf(std::span<const Crossing> crossings) {
  Vec3 low = crossings[0].p, high = low;
  for (const Crossing& c : crossings)
    for (const Vec3& p : {c.p, c.q})
      for (int k = 0; k < 3; ++k) {
        low[k] = std::fmin(low[k], p[k]);
        high[k] = std::fmax(high[k], p[k]);
      }
  return std::fmax(high.x - low.x, std::fmax(high.y - low.y, high.z - low.z));
}

/// Whether triangles that cross still cross others of them after body 1 has moved. What is met only
/// then, as the other side of a hole with some play, is no contact that was missed.
bool stillCross(const MeshBodyPair& pair, const Transform& X_12,
                std::span<const Crossing> crossings) {
  const auto crossedBefore = [&](const Crossing& now) {
    bool a = false, b = false;
    for (const Crossing& c : crossings) {
      a = a || c.triangleA == now.triangleA;
      b = b || c.triangleB == now.triangleB;
    }
    return a && b;
  };
  bool found = false;
  CrossingFinder(pair.body1.mesh, pair.body2.mesh, X_12).visitAll([&](const Crossing& now) {
    found = found || crossedBefore(now);
  });
  return found;
}

}  // namespace

void completeContacts(const MeshBodyPair& pair, const Transform& X_12,
                      std::span<const Crossing> crossings, const RegionReport& report,
                      std::vector<SurfaceContact>& contacts) {
  // A way that is so much longer, and longer than what is crossed, leads out of something that the
  // bodies are caught in.
  constexpr Real kCaught = 50;
  Vec3 move;
  if (!findLeastMove(contacts, &move)) {
    if (!report.hasGuess) return;
    move = {};
  }
  const Transform resolved{X_12.rotation, X_12.translation - move * (1 + Real(1e-5))};
  const bool isComplete = !report.hasGuess && !stillCross(pair, resolved, crossings);
  if (isComplete && !report.mayBeShorter) return;
  const SurfaceContact* deepest = &contacts[0];
  for (const SurfaceContact& c : contacts)
    if (c.depth > deepest->depth) deepest = &c;
  // A guess may be that nothing is deep: then what is crossed tells how long a way may be.
  const Real length =
      std::fmax(norm(move), report.hasGuess ? Real(0.1) * extentOf(crossings) : Real(0));
  WaysOut ways;
  ways.addDirection(move, length);
  ways.add(-deepest->normal, deepest->depth);
  for (int i = 0; i < report.ways.count; ++i) ways.add(report.ways.normal_W[i], length);
  addCrossedNormals(pair, X_12, crossings, length, ways);
  DistanceResult found;
  refinePenetration(
      ways,
      [&](const Vec3& by) {
        const Transform moved{Mat3::identity(), by};
        return distanceOfApart({pair.body1, moved, pair.body2, X_12}, by);
      },
      found);
  const Real depth = -found.distance;
  if (!(depth > 0) || depth > std::fmax(kCaught * length, extentOf(crossings))) return;
  // Of what is complete already only depths are in question.
  if (isComplete && !(depth < norm(move))) return;
  limitDepths(found.normal * depth, 0, contacts);
  contacts.push_back({(found.point1 + found.point2) * Real(0.5), -found.normal, depth,
                      found.feature1, found.feature2});
}

void addCrossedNormals(const MeshBodyPair& pair, const Transform& X_12,
                       std::span<const Crossing> crossings, Real depth, WaysOut& ways) {
  constexpr std::size_t kFew = 64;
  if (crossings.size() > kFew) return;
  const MeshData &a = pair.body1.mesh, &b = pair.body2.mesh;
  const Vec3 towardA = a.center - X_12 * b.center;
  for (const Crossing& c : crossings) {
    const Vec3 &nA = a.normals[c.triangleA], nB = X_12.rotation * b.normals[c.triangleB];
    ways.add(pair.body1.isSolid() || dot(nA, towardA) < 0 ? -nA : nA, depth);
    ways.add(pair.body2.isSolid() || dot(nB, towardA) > 0 ? nB : -nB, depth);
  }
}

}  // namespace tangere::collision
