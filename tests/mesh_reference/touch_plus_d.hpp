// SPDX-License-Identifier: Apache-2.0
//
// "Touch plus d": two shapes apart, the first moved along the normal of their closest points by
// their distance + d. Moving it back by d parts them, so no contact may be deeper than d, none may
// push the other way, and the answers of all queries follow from the reference.
#pragma once

#include "mesh_reference/generated_shapes.hpp"

#include <tangere/collision.hpp>

#include <string>
#include <vector>

namespace tangere::reference {

/// One pair of shapes that overlap by d along `normal` (from shape 2 to shape 1).
struct TouchCase {
  GeneratedShape shape1, shape2;
  Transform X_W1, X_W2;  ///< overlapping by d
  Vec3 normal{};
  Real d = 0, gap = 0;  ///< the gap that there was
  Real size = 1;
};

inline TriangleSoup inWorld(const TriangleSoup& soup, const Transform& X) {
  TriangleSoup out;
  out.closed = soup.closed;
  out.radius = soup.radius;
  const auto map = [&](const Point& p) {
    const Vec3 v = X * Vec3{static_cast<Real>(p.x), static_cast<Real>(p.y), static_cast<Real>(p.z)};
    return toPoint(v);
  };
  out.pieces = soup.pieces;
  for (const SoupTriangle& t : soup.triangles) out.add(map(t.v[0]), map(t.v[1]), map(t.v[2]));
  return out;
}

inline Mat3 randomRotation(Dice& dice) {
  Mat3 R;
  const Vec3 a = dice.direction();
  Vec3 b = cross(a, dice.direction());
  while (norm(b) < 0.1) b = cross(a, dice.direction());
  b = b / norm(b);
  R.col[0] = a;
  R.col[1] = b;
  R.col[2] = cross(a, b);
  return R;
}

/// Whether body 1, moved by `move`, still has a point in common with body 2.
inline bool overlapsAfter(const TouchCase& c, const Vec3& move) {
  Transform X = c.X_W1;
  X.translation += move;
  const TriangleSoup a = inWorld(c.shape1.soup, X), b = inWorld(c.shape2.soup, c.X_W2);
  // A little more than what touches, so that rounding of the bound decides nothing.
  return overlaps(a, b, nearest(a, b, (a.radius + b.radius) * (1 + Ext(1e-15)) + Ext(1e-30)));
}

/// False where the dice gave shapes that overlap at once, or that do not overlap in the end: the
/// tips of two spikes may pass each other.
inline bool makeTouchCase(int kind1, int kind2, std::uint64_t seed, TouchCase* out) {
  Dice dice(seed);
  const Real size = std::pow(Real(10), dice.below(4) == 0 ? dice.uniform(-4, 4) : Real(0));
  TouchCase c;
  c.size = size;
  c.shape1 = generateShape(kind1, size, dice);
  const Real scale2 = dice.below(3) == 0 ? dice.uniform(0.3, 3) : 1;
  c.shape2 = generateShape(kind2, kind2 < kNumBodies ? size * scale2 : size, dice);
  const bool flat = dice.below(3) == 0;
  if (!flat) c.X_W1.rotation = randomRotation(dice);
  if (c.shape2.isGround && c.shape2.soup.closed && dice.below(4) == 0)  // at a wall, or below
    c.X_W1.translation =
        Vec3{dice.uniform(1.6, 2.4), dice.uniform(-1.8, 1.8), dice.uniform(-4, 0.5)} * size;
  else if (c.shape2.isGround)
    c.X_W1.translation =
        Vec3{dice.uniform(-1.8, 1.8), dice.uniform(-1.8, 1.8), dice.uniform(1, 1.4)} * size;
  else
    c.X_W1.translation = dice.direction() * (dice.uniform(0.6, 1.6) * size);
  TriangleSoup a = inWorld(c.shape1.soup, c.X_W1), b = inWorld(c.shape2.soup, c.X_W2);
  const Nearest near = nearest(a, b);
  if (overlaps(a, b, near)) return false;
  const Ext gap = near.distance - a.radius - b.radius;
  if (gap < 1e-6 * size) return false;
  const Point n = (near.on1 - near.on2) * (1 / near.distance);
  c.normal = {static_cast<Real>(n.x), static_cast<Real>(n.y), static_cast<Real>(n.z)};
  if (c.shape2.isGround && !c.shape2.soup.closed && !(c.normal.z > 0.05)) return false;
  c.gap = static_cast<Real>(gap);
  c.d = size * std::pow(Real(10), dice.uniform(-5, -2));
  c.X_W1.translation -= c.normal * (c.gap + c.d);
  *out = c;
  return overlapsAfter(c, {});
}

}  // namespace tangere::reference
