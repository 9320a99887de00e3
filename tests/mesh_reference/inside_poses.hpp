// SPDX-License-Identifier: Apache-2.0
//
// Bodies wholly inside a solid, which no triangle of theirs touches: nothing but the side that
// they are on tells that they overlap.
#pragma once

#include "mesh_reference/find_faults.hpp"

namespace tangere::reference {

/// False where the dice found no such pose.
inline bool makeInsideCase(int kind1, int kind2, std::uint64_t seed, TouchCase* out) {
  Dice dice(seed);
  const Real size = std::pow(Real(10), dice.below(4) == 0 ? dice.uniform(-4, 4) : Real(0));
  TouchCase c;
  c.size = size;
  c.shape1 = generateShape(kind1, size * dice.uniform(0.02, 0.3), dice);
  c.shape2 = generateShape(kind2, size, dice);
  if (!c.shape2.soup.closed) return false;
  c.X_W1.rotation = randomRotation(dice);
  c.X_W2.rotation = randomRotation(dice);
  const Real reach = c.shape2.isGround ? 2 : 0.5;
  for (int attempt = 0; attempt < 20; ++attempt) {
    const Vec3 p = Vec3{dice.uniform(-reach, reach), dice.uniform(-reach, reach),
                        dice.uniform(c.shape2.isGround ? -3 : -reach, reach)} *
                   size;
    c.X_W1.translation = c.X_W2 * p;
    const TriangleSoup a = inWorld(c.shape1.soup, c.X_W1), b = inWorld(c.shape2.soup, c.X_W2);
    if (nearest(a, b).distance - a.radius <= 1e-6 * size) continue;
    bool inside = true;
    for (const int t : a.pieces) inside = inside && isInside(b, a.triangles[t].v[0]);
    if (!inside) continue;
    *out = c;
    return true;
  }
  return false;
}

/// What is wrong with the answers for such a pose.
inline std::vector<std::string> findInsideFaults(const TouchCase& c) {
  std::vector<std::string> faults;
  const Answers answers(c.shape1, c.X_W1, c.shape2, c.X_W2);
  if (!answers.support.collide) return faults;
  if (!answers.overlap) faults.push_back("inside_overlap_no");
  if (!(answers.deepest > 0)) faults.push_back("inside_no_contact");
  if (answers.support.distance) {
    const Real depth = -answers.distance.distance;
    if (!(depth > 0))
      faults.push_back("inside_distance_apart");
    else if (overlapsAfter(c, answers.distance.normal * (depth * 1.001)))
      faults.push_back("inside_distance_does_not_part");
  }
  findDisagreements(c, answers, faults);
  return faults;
}

}  // namespace tangere::reference
