// SPDX-License-Identifier: Apache-2.0
//
// Shapes that touch: the distance is nothing but rounding, yet the normal is as definite as ever.
// Pairs are brought together along the normal of their distance, which is the normal at the touch
// as well: the two nearest points and the planes through them move towards each other.
#include <tangere/collision.hpp>

#include "collision/random_shapes.hpp"
#include "geometry/shape_of_lengths.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace tangere {
namespace {

using test::Random;

constexpr std::array kTypes{ShapeType::Sphere,   ShapeType::Box,   ShapeType::Capsule,
                            ShapeType::Cylinder, ShapeType::Cone,  ShapeType::Ellipsoid,
                            ShapeType::Plane,    ShapeType::Convex};

std::unique_ptr<Shape> randomShape(Random& random, ShapeType type, Real aspect) {
  const auto length = [&] { return random.uniform(0.3, 1) * (random.below(2) ? 1 : 1 / aspect); };
  const Real a = length(), b = length(), c = length();
  if (auto shape = test::shapeOfLengths(type, a, b, c)) return shape;
  std::vector<Vec3> points;
  for (int i = 0, n = 6 + random.below(30); i < n; ++i) {
    const Vec3 d = random.direction();
    points.push_back({d.x * a, d.y * b, d.z * c});
  }
  return std::make_unique<Convex>(points);
}

/// Two shapes, of which the second is to be laid against the first.
struct TouchingPair {
  std::unique_ptr<Shape> shape1, shape2;
  Transform X_W1, X_W2;  ///< touching, to rounding
  Vec3 normal;

  [[nodiscard]] Transform retreated(const Vec3& away, Real by) const {
    return {X_W2.rotation, X_W2.translation - away * by};
  }
  [[nodiscard]] Transform apart(Real gap) const { return retreated(normal, gap); }
};

/// False for a pair that was not apart to begin with.
bool makeTouch(Random& random, ShapeType type1, ShapeType type2, Real aspect, TouchingPair& out) {
  out.shape1 = randomShape(random, type1, aspect);
  out.shape2 = randomShape(random, type2, aspect);
  const auto coordinate = [&] { return random.uniform(-1, 1); };
  out.X_W1 = {random.rotation(), {coordinate(), coordinate(), coordinate()}};
  out.X_W2 = {random.rotation(),
              out.X_W1.translation + random.direction() * random.uniform(2.5, 4)};
  if (random.below(4) == 0) out.X_W2.rotation = out.X_W1.rotation;  // faces and axes in parallel
  // Closed forms of spheres and half spaces are exact; of the rest the digits beyond double count.
  DistanceOption exact;
  if (type1 != ShapeType::Sphere && type1 != ShapeType::Plane && type2 != ShapeType::Plane)
    exact.algorithm = ConvexAlgorithm::MprExtended;
  const DistanceResult d = distance(*out.shape1, out.X_W1, *out.shape2, out.X_W2, exact);
  if (!(d.distance > 0.05) || d.status != QueryStatus::Ok) return false;
  out.normal = d.normal;
  out.X_W2.translation += d.normal * d.distance;
  return true;
}

/// Whether there is one normal only: not where a corner meets a corner or an edge. Going back a
/// little in a direction that is not the normal then does not take the normal along: it follows the
/// curvature alone.
bool hasOneNormal(const TouchingPair& pair) {
  const Vec3& n = pair.normal;
  const Vec3 side = std::fabs(n.x) < 0.6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
  Vec3 t = cross(n, side);
  t = t / norm(t);
  for (const Vec3& tilt : {t, -t, cross(n, t), -cross(n, t)}) {
    const Vec3 away = (n + tilt * 0.3) / norm(n + tilt * 0.3);
    const DistanceResult d =
        distance(*pair.shape1, pair.X_W1, *pair.shape2, pair.retreated(away, 1e-6));
    if (norm(d.normal - n) > 1e-4) return false;
  }
  return true;
}

struct Seen {
  int pairs = 0, contacts = 0;
  Real worst = 0;
};

void expectNormal(const TouchingPair& pair, const Vec3& normal, const std::string& query,
                  Seen& seen) {
  const Real error = norm(normal - pair.normal);
  seen.worst = std::fmax(seen.worst, error);
  EXPECT_LE(error, 1e-6) << query << " of " << shapeTypeName(pair.shape1->type()) << " and "
                         << shapeTypeName(pair.shape2->type()) << ", touch number " << seen.pairs;
}

void checkTouch(const TouchingPair& pair, Seen& seen) {
  const Shape &a = *pair.shape1, &b = *pair.shape2;
  ++seen.pairs;
  for (const Real gap : {0.0, 1e-15, -1e-15, 1e-12, -1e-12, 1e-9, -1e-9}) {
    const Transform X_W2 = pair.apart(gap);
    for (const ConvexAlgorithm algorithm :
         {ConvexAlgorithm::Auto, ConvexAlgorithm::Gjk, ConvexAlgorithm::Mpr}) {
      DistanceOption option;
      option.algorithm = algorithm;
      const DistanceResult d = distance(a, pair.X_W1, b, X_W2, option);
      EXPECT_NEAR(d.distance, gap, 1e-11);
      expectNormal(pair, d.normal, "distance at " + std::to_string(gap * 1e15) + " fm", seen);
    }
    PairCache cache;
    static_cast<void>(distance(a, pair.X_W1, b, pair.apart(1e-3), {}, &cache));
    expectNormal(pair, distance(a, pair.X_W1, b, X_W2, {}, &cache).normal, "warm distance", seen);
    if (gap > -1e-13) continue;
    CollisionResult result;
    collide(a, pair.X_W1, b, X_W2, CollisionOption::fullContacts(), result);
    ASSERT_EQ(result.numManifolds(), 1);
    ++seen.contacts;
    expectNormal(pair, result.manifolds()[0].points[0].normal, "contact", seen);
  }
}

void checkTouches(Real aspect, int perPair) {
  Seen seen;
  for (std::size_t i = 0; i < kTypes.size(); ++i)
    for (std::size_t j = i; j < kTypes.size(); ++j) {
      if (kTypes[i] == ShapeType::Plane && kTypes[j] == ShapeType::Plane) continue;
      Random random(100 * i + j + 1);
      for (int k = 0; k < perPair; ++k) {
        TouchingPair pair;
        if (makeTouch(random, kTypes[i], kTypes[j], aspect, pair) && hasOneNormal(pair))
          checkTouch(pair, seen);
      }
    }
  // Corners of two hulls meet more often than not; a third of all is left.
  EXPECT_GT(seen.pairs, 35 * perPair / 3);
  EXPECT_EQ(seen.contacts, 2 * seen.pairs);
  ::testing::Test::RecordProperty("worst_normal_error", std::to_string(seen.worst));
}

TEST(TouchingNormals, AreThoseOfTheGapForEveryPairOfConvexShapes) { checkTouches(1, 100); }

TEST(TouchingNormals, AreThoseOfTheGapForFlatAndSlenderShapes) { checkTouches(20, 100); }

}  // namespace
}  // namespace tangere
