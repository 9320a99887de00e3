// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with the engine's answers for a generated case: one word for each fault, none when
// all is right.
#pragma once

#include "mesh_reference/touch_plus_d.hpp"

#include <tangere/collision.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace tangere::reference {

/// What the pair queries say.
struct Answers {
  PairSupport support;
  bool overlap = false;
  std::vector<ContactPoint> contacts;
  Real deepest = -1;
  Vec3 way{};  ///< normal of the deepest contact
  DistanceResult distance;

  Answers(const GeneratedShape& a, const Transform& X_WA, const GeneratedShape& b,
          const Transform& X_WB)
      : support(pairSupport(a.shape->type(), b.shape->type())) {
    if (!support.collide) return;
    overlap = tangere::overlap(*a.shape, X_WA, *b.shape, X_WB);
    CollisionResult result;
    collide(*a.shape, X_WA, *b.shape, X_WB, CollisionOption::fullContacts(), result);
    for (const ContactManifold& m : result.manifolds())
      for (const ContactPoint& p : m.contacts()) {
        contacts.push_back(p);
        if (!(p.depth > deepest)) continue;
        deepest = p.depth;
        way = p.normal;
      }
    if (support.distance) distance = tangere::distance(*a.shape, X_WA, *b.shape, X_WB);
  }
};

inline bool isNear(Real x, Real y, Real relative, Real absolute) {
  return std::fabs(x - y) <= relative * std::fmax(std::fabs(x), std::fabs(y)) + absolute;
}

/// The same pair in the other order, in a group, and with bounds: all must say the same.
inline void findDisagreements(const TouchCase& c, const Answers& answers,
                              std::vector<std::string>& faults) {
  const Real slack = 1e-9 * c.size;
  const Answers exchanged(c.shape2, c.X_W2, c.shape1, c.X_W1);
  if (exchanged.overlap != answers.overlap) faults.push_back("exchange_overlap");
  if (exchanged.contacts.size() != answers.contacts.size() ||
      !isNear(exchanged.deepest, answers.deepest, 1e-9, slack))
    faults.push_back("exchange_contacts");

  CollisionGroup group;
  group.add(c.shape1.shape, c.X_W1);
  group.add(c.shape2.shape, c.X_W2);
  CollisionResult together;
  const bool any = group.collide(CollisionOption::fullContacts(), together);
  Real deepest = -1;
  for (const ContactManifold& m : together.manifolds()) deepest = std::fmax(deepest, m.depth());
  if (any != answers.overlap || !isNear(deepest, answers.deepest, 1e-9, slack))
    faults.push_back("group_collide");
  if (!answers.support.distance) return;
  const Real d = answers.distance.distance;
  if (!isNear(exchanged.distance.distance, d, 1e-6, slack)) faults.push_back("exchange_distance");
  for (const Real bound : {0.0, 0.1 * c.size, 10.0 * c.size}) {
    DistanceOption option;
    option.upperBound = bound;
    const Real bounded =
        distance(*c.shape1.shape, c.X_W1, *c.shape2.shape, c.X_W2, option).distance;
    const bool right = d > bound ? bounded > bound : isNear(bounded, d, 1e-6, slack);
    if (!right) faults.push_back("bounded_distance");
    const std::optional<DistanceResult> inGroup = group.distance(option);
    if (inGroup.has_value() != (d <= bound) ||
        (inGroup && !isNear(inGroup->distance, d, 1e-6, slack)))
      faults.push_back("group_distance");
    if (!right) break;
  }
  if (!answers.overlap) return;
  Motion from, still;
  from.start = c.X_W1;
  from.displacement = Vec3{0.3, 0.2, 0.1} * c.size;
  still.start = c.X_W2;
  const ImpactResult impact =
      timeOfImpact(*c.shape1.shape, from, *c.shape2.shape, still, {.tolerance = 1e-7 * c.size});
  if (impact.status != ImpactStatus::Overlapping) faults.push_back("impact_not_overlapping");
}

/// Points of either surface that lie at least 0.9 d deep along the way out.
inline std::vector<Vec3> deepPoints(const TouchCase& c) {
  std::vector<Vec3> out;
  const TriangleSoup a = inWorld(c.shape1.soup, c.X_W1), b = inWorld(c.shape2.soup, c.X_W2);
  const auto collect = [&](const TriangleSoup& from, const TriangleSoup& to, const Vec3& way) {
    const Point from_d = toPoint(way) * (0.9L * c.d), to_d = toPoint(way) * (1.01L * c.d);
    for (const SoupTriangle& s : from.triangles)
      for (const Point& p : s.v)
        for (const SoupTriangle& t : to.triangles) {
          Point at;
          if (length(p - t.middle) > t.reach + 2 * c.d) continue;
          if (!detail::segmentPierces(p + from_d, p + to_d, t, &at)) continue;
          out.push_back({static_cast<Real>(p.x), static_cast<Real>(p.y), static_cast<Real>(p.z)});
          break;
        }
  };
  collect(a, b, c.normal);
  collect(b, a, c.normal * -1);
  return out;
}

/// Whether contacts that bear are as far apart as what is deep, in eight directions across.
inline bool holdsWhatIsDeep(const TouchCase& c, const Answers& answers) {
  const std::vector<Vec3> deep = deepPoints(c);
  if (deep.empty()) return true;
  Vec3 middle{};
  for (const Vec3& p : deep) middle += p / static_cast<Real>(deep.size());
  Vec3 u = cross(c.normal, std::fabs(c.normal.x) < 0.5 ? Vec3{1, 0, 0} : Vec3{0, 1, 0});
  u = u / norm(u);
  const Vec3 v = cross(c.normal, u);
  for (int k = 0; k < 8; ++k) {
    const Vec3 along = u * std::cos(0.7853981634 * k) + v * std::sin(0.7853981634 * k);
    Real there = -1e300, here = -1e300;
    for (const Vec3& p : deep) there = std::fmax(there, dot(along, p - middle));
    for (const ContactPoint& p : answers.contacts)
      if (p.depth > 0.3 * c.d) here = std::fmax(here, dot(along, p.position - middle));
    if (there > 10 * c.d && here < 0.3 * there) return false;
  }
  return true;
}

/// The shortest way out that is known: back by d, or less where the engine knows a shorter one that
/// parts the bodies. Past a tip there may be one.
inline Vec3 wayOut(const TouchCase& c, const Answers& answers) {
  const Vec3 other = answers.distance.normal * -answers.distance.distance;
  const bool shorter = answers.support.distance && answers.distance.distance < 0 &&
                       norm(other) < c.d && !overlapsAfter(c, other * (1 + 1e-6));
  return shorter ? other : c.normal * c.d;
}

/// The least move of body 1 that resolves all contacts: in an inner corner that of none does.
inline Vec3 leastMove(const Answers& answers, Real slack) {
  std::vector<Real> multiplier(answers.contacts.size(), 0);
  Vec3 move{};
  for (int round = 0; round < 1000; ++round)
    for (std::size_t i = 0; i < answers.contacts.size(); ++i) {
      const ContactPoint& p = answers.contacts[i];
      const Real next = std::fmax(multiplier[i] + p.depth + slack - dot(p.normal, move), 0);
      move += p.normal * (next - multiplier[i]);
      multiplier[i] = next;
    }
  return move;
}

inline void findContactFaults(const TouchCase& c, const Answers& answers, Real most, Real slack,
                              std::vector<std::string>& faults) {
  const Vec3 out = wayOut(c, answers);
  const Real depth = norm(out);
  bool tooDeep = false, opposite = false;
  for (const ContactPoint& p : answers.contacts) {
    tooDeep = tooDeep || p.depth > most;
    // Back along the normal of the gap parts them too: a contact that pushes that way is none that
    // pulls, though a shorter way past a rim leads elsewhere.
    opposite = opposite || (dot(p.normal, out) < -0.1 * depth && dot(p.normal, c.normal) < 0.1 &&
                            p.depth > slack);
  }
  if (tooDeep) faults.push_back("too_deep");
  if (opposite) faults.push_back("opposite");
  if (answers.contacts.empty())
    faults.push_back("no_contact");
  else if (answers.deepest < 0.7 * depth &&
           overlapsAfter(c, answers.way * (answers.deepest * 1.001 + slack)) &&
           overlapsAfter(c, leastMove(answers, slack) * 1.001))
    faults.push_back("missed");
  else if (!c.shape1.curved && !c.shape2.curved && dot(answers.way, c.normal) > 0.99 &&
           !holdsWhatIsDeep(c, answers))
    faults.push_back("support_lost");
}

inline std::vector<std::string> findFaults(const TouchCase& c) {
  std::vector<std::string> faults;
  const Answers answers(c.shape1, c.X_W1, c.shape2, c.X_W2);
  if (!answers.support.collide) return faults;
  const Shape &s1 = *c.shape1.shape, &s2 = *c.shape2.shape;
  const bool curved = c.shape1.curved || c.shape2.curved;
  const Real slack = 1e-9 * c.size, most = c.d * (curved ? 1.05 : 1.001) + slack;
  if (!answers.overlap) faults.push_back("overlap_no");
  findContactFaults(c, answers, most, slack, faults);
  findDisagreements(c, answers, faults);
  if (!answers.support.distance) return faults;
  const Real depth = -answers.distance.distance;
  if (!(depth >= -slack))
    faults.push_back("distance_apart");
  else if (depth > most)
    faults.push_back("distance_too_deep");
  else if (overlapsAfter(c, answers.distance.normal * (depth * 1.001 + slack)))
    faults.push_back("distance_does_not_part");
  Transform apart = c.X_W1;
  apart.translation += c.normal * (c.gap + c.d);
  const DistanceResult before = distance(s1, apart, s2, c.X_W2);
  if (std::fabs(before.distance - c.gap) > 1e-6 * c.gap + slack) faults.push_back("gap_wrong");
  DistanceOption half;
  half.upperBound = 0.5 * c.gap;
  if (!(distance(s1, apart, s2, c.X_W2, half).distance > half.upperBound))
    faults.push_back("bounded_gap");
  Motion motion;
  motion.start = apart;
  motion.displacement = c.normal * -(c.gap + c.d);
  Motion still;
  still.start = c.X_W2;
  const ImpactResult impact = timeOfImpact(s1, motion, s2, still, {.tolerance = 1e-7 * c.size});
  if (impact.status == ImpactStatus::Miss || impact.status == ImpactStatus::Overlapping)
    faults.push_back("impact_missed");
  else if (impact.s * (c.gap + c.d) > c.gap + 1e-6 * c.size)
    faults.push_back("impact_late");
  return faults;
}

}  // namespace tangere::reference
