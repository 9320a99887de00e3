// SPDX-License-Identifier: Apache-2.0
#include "collision/compound_pairs.hpp"

#include "collision/mesh_penetration.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace tangere::collision {

namespace {

using geometry::FlatShape;

/// One part of a body: a child of a compound, or the whole.
struct Part {
  const FlatShape& flat;
  const Shape* shape;  // null for the whole: its box is not known here
  Transform X_W;
};

template <class Visit>
bool visitParts(const FlatShape& flat, const Transform& X_W, const Visit& visit) {
  if (flat.type != ShapeType::Compound) return visit(Part{flat, nullptr, X_W});
  for (const Compound::Child& child : flat.children)
    if (visit(Part{child.shape->flat(), child.shape.get(), X_W * child.pose})) return true;
  return false;
}

/// Ball around a part; false for those without one (planes, terrains).
bool ballOf(const Part& part, Vec3* center, Real* radius) {
  const ShapeType type = part.flat.type;
  if (type == ShapeType::Plane || type == ShapeType::HeightField) return false;
  *center = part.X_W * part.flat.convex.center;
  *radius = part.flat.convex.boundingRadius;
  return true;
}

/// A lower bound of the distance of two parts by their balls; 0 where there is none.
Real gapOf(const Part& a, const Part& b) {
  Vec3 ca, cb;
  Real ra, rb;
  if (!ballOf(a, &ca, &ra) || !ballOf(b, &cb, &rb)) return 0;
  return std::fmax(norm(ca - cb) * (1 - Real(1e-12)) - (ra + rb), Real(0));
}

/// Calls visit(part of shape 1, part of shape 2); stops when it returns true.
template <class Visit>
bool visitPairs(const PairInput& in, const Visit& visit) {
  return visitParts(in.shape1, in.X_W1, [&](const Part& a) {
    return visitParts(in.shape2, in.X_W2, [&](const Part& b) { return visit(a, b); });
  });
}

/// The table's functions for two parts, in the order the table wants.
struct Ordered {
  const Part& first;
  const Part& second;
  bool swapped;
  const PairFunctions& functions;

  Ordered(const Part& a, const Part& b)
      : first(a.flat.type <= b.flat.type ? a : b),
        second(a.flat.type <= b.flat.type ? b : a),
        swapped(a.flat.type > b.flat.type),
        functions(pairFunctions(first.flat.type, second.flat.type)) {}
  [[nodiscard]] PairInput input() const {
    return {first.flat, first.X_W, second.flat, second.X_W, nullptr};
  }
};

void swapSides(ContactManifold& manifold) {
  for (int i = 0; i < manifold.count; ++i) {
    ContactPoint& point = manifold.points[i];
    point.normal = -point.normal;
    std::swap(point.feature1, point.feature2);
  }
}

/// Contacts of all pairs of parts, at most option.maxNumContacts of each pair and in all.
int collideParts(const PairInput& in, const CollisionOption& option, CollisionResult& result) {
  int added = 0;
  visitPairs(in, [&](const Part& a, const Part& b) {
    if (gapOf(a, b) > 0) return false;
    const Ordered pair(a, b);
    if (!pair.functions.collide) {
      result.raiseStatus(QueryStatus::Unsupported);
      return false;
    }
    CollisionOption rest = option;
    rest.maxNumContacts = option.maxNumContacts - added;
    const int before = result.numManifolds();
    added += pair.functions.collide(pair.input(), rest, result);
    if (pair.swapped)
      for (int m = before; m < result.numManifolds(); ++m) swapSides(result.manifolds()[m]);
    return added >= option.maxNumContacts;
  });
  return added;
}

/// The deepest point of all: every pair of parts has to be asked for its own.
int collideDeepest(const PairInput& in, const CollisionOption& option, CollisionResult& result) {
  thread_local CollisionResult all;
  all.clear();
  visitPairs(in, [&](const Part& a, const Part& b) {
    if (gapOf(a, b) > 0) return false;
    const Ordered pair(a, b);
    if (!pair.functions.collide) {
      result.raiseStatus(QueryStatus::Unsupported);
      return false;
    }
    const int before = all.numManifolds();
    pair.functions.collide(pair.input(), option, all);
    if (pair.swapped)
      for (int m = before; m < all.numManifolds(); ++m) swapSides(all.manifolds()[m]);
    return false;
  });
  result.raiseStatus(all.status());
  const ContactManifold* deepest = nullptr;
  for (const ContactManifold& manifold : all.manifolds())
    if (!deepest || manifold.depth() > deepest->depth()) deepest = &manifold;
  if (!deepest) return 0;
  result.addManifold(*deepest);
  return deepest->count;
}

int collideCompound(const PairInput& in, const CollisionOption& option, CollisionResult& result) {
  return option.maxNumContacts == 1 ? collideDeepest(in, option, result)
                                    : collideParts(in, option, result);
}

bool overlapCompound(const PairInput& in) {
  return visitPairs(in, [&](const Part& a, const Part& b) {
    if (gapOf(a, b) > 0) return false;
    const Ordered pair(a, b);
    return pair.functions.overlap && pair.functions.overlap(pair.input());
  });
}

void distanceCompound(const PairInput& in, const DistanceOption& option, DistanceResult& out) {
  bool found = false, unsupported = false;
  visitPairs(in, [&](const Part& a, const Part& b) {
    const Ordered pair(a, b);
    if (!pair.functions.distance) {
      unsupported = true;
      return false;
    }
    DistanceOption bounded = option;
    if (found) bounded.upperBound = std::fmin(option.upperBound, std::fmax(out.distance, Real(0)));
    if (found && gapOf(a, b) > bounded.upperBound) return false;
    DistanceResult here;
    pair.functions.distance(pair.input(), bounded, here);
    if (found && !(here.distance < out.distance)) return false;
    if (pair.swapped) {
      here.normal = -here.normal;
      std::swap(here.point1, here.point2);
      std::swap(here.feature1, here.feature2);
    }
    out = here;
    found = true;
    return false;
  });
  if (option.enableSigned && !unsupported)
    partWhole(in, {collideCompound, overlapCompound, distanceCompound}, out);
  if (!found) out.distance = std::numeric_limits<Real>::infinity();
  if (unsupported) out.status = QueryStatus::Unsupported;
}

}  // namespace

PairFunctions compoundPairFunctions(ShapeType, ShapeType type2) {
  if (type2 != ShapeType::Compound) return {};
  return {collideCompound, overlapCompound, distanceCompound};
}

}  // namespace tangere::collision
