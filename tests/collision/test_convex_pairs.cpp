// SPDX-License-Identifier: Apache-2.0
#include "collision/convex_pairs.hpp"

#include <tangere/collision.hpp>

#include "collision/golden_queries.hpp"
#include "collision/random_shapes.hpp"
#include "math/quat.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

namespace tangere {
namespace {

using test::GoldenCase;
using test::GoldenCases;
using test::inFrame1;
using test::makeShape;

const GoldenCases& golden() {
  static const GoldenCases cases(TANGERE_TEST_DATA "/golden/collision");
  return cases;
}

bool isOwnPair(const GoldenCase& g) {
  const auto own = [](const test::GoldenShape& s) {
    return s.kind != "sphere" && s.kind != "capsule";
  };
  return own(g.shape1) && own(g.shape2);
}

TEST(ConvexPairFunctions, CoverTheFamilyAndNothingElse) {
  const ShapeType own[] = {ShapeType::Box, ShapeType::Cylinder, ShapeType::Cone,
                           ShapeType::Ellipsoid, ShapeType::Convex};
  int pairs = 0;
  for (int i = 0; i < kNumShapeTypes; ++i) {
    for (int j = i; j < kNumShapeTypes; ++j) {
      const ShapeType type1 = ShapeType(i), type2 = ShapeType(j);
      bool expected1 = false, expected2 = false;
      for (const ShapeType type : own) {
        expected1 = expected1 || type == type1;
        expected2 = expected2 || type == type2;
      }
      const collision::PairFunctions f = collision::convexPairFunctions(type1, type2);
      EXPECT_EQ(f.collide != nullptr, expected1 && expected2);
      EXPECT_EQ(f.overlap != nullptr, expected1 && expected2);
      EXPECT_EQ(f.distance != nullptr, expected1 && expected2);
      pairs += f.collide != nullptr;
    }
  }
  EXPECT_EQ(pairs, 15);
}

/// Distance, overlap and contact of every golden case with one algorithm.
void checkGolden(ConvexAlgorithm algorithm) {
  int checked = 0;
  for (const GoldenCase& g : golden().cases()) {
    if (algorithm == ConvexAlgorithm::Auto && !isOwnPair(g))
      continue;  // other families' closed forms
    const std::unique_ptr<Shape> shape1 = makeShape(g.shape1), shape2 = makeShape(g.shape2);
    const std::string name = std::to_string(g.id) + " " + g.category + " " + g.pair();
    const double tolerance = g.isCurved() ? 1e-6 : 1e-9;

    DistanceOption distanceOption;
    distanceOption.algorithm = algorithm;
    const DistanceResult d = distance(*shape1, g.X_W1, *shape2, g.X_W2, distanceOption);
    EXPECT_EQ(d.status, QueryStatus::Ok) << name;
    EXPECT_LT(judge(g, inFrame1(g, d)).worst(), tolerance) << name;
    ++checked;

    if (std::fabs(g.distance) <= 1e-6 * g.scale) continue;
    if (algorithm == ConvexAlgorithm::Auto) {
      EXPECT_EQ(overlap(*shape1, g.X_W1, *shape2, g.X_W2), g.distance < 0) << name;
    }
    CollisionResult result;
    CollisionOption option = CollisionOption::fullContacts();
    option.algorithm = algorithm;
    const int count = collide(*shape1, g.X_W1, *shape2, g.X_W2, option, result);
    EXPECT_EQ(count > 0, g.distance < 0) << name;
    EXPECT_EQ(result.numContacts(), count) << name;
    if (count == 0) continue;
    // The deepest point has the depth of the golden answer, along a normal as good as its.
    const double den = std::max(-g.distance, g.scale);
    EXPECT_NEAR(result.manifolds()[0].depth(), -g.distance, tolerance * den) << name;
    const Vec3 n = transposeTimes(g.X_W1.rotation, result.contact(0).normal);
    const double gap = test::gapAlong(g.shape1.view, g.shape2.view, g.relativePose(), n);
    EXPECT_NEAR(gap, g.distance, tolerance * den) << name;

    option.maxNumContacts = 1;
    result.clear();
    EXPECT_EQ(collide(*shape1, g.X_W1, *shape2, g.X_W2, option, result), 1) << name;
    EXPECT_NEAR(result.contact(0).depth, -g.distance, tolerance * den) << name;

    option = CollisionOption::binaryCheck();
    option.algorithm = algorithm;
    result.clear();
    EXPECT_EQ(collide(*shape1, g.X_W1, *shape2, g.X_W2, option, result), 1) << name;
    EXPECT_TRUE(result.isCollision()) << name;
    EXPECT_EQ(result.numContacts(), 0) << name;
  }
  EXPECT_EQ(checked, algorithm == ConvexAlgorithm::Auto ? 870 : 1624);
}

TEST(ConvexPairs, GoldenCasesWithTheInlinedPairs) { checkGolden(ConvexAlgorithm::Auto); }
TEST(ConvexPairs, GoldenCasesWithGjkForEveryPair) { checkGolden(ConvexAlgorithm::Gjk); }
TEST(ConvexPairs, GoldenCasesWithMprForEveryPair) { checkGolden(ConvexAlgorithm::Mpr); }
TEST(ConvexPairs, GoldenCasesWithExtendedMprForEveryPair) {
  checkGolden(ConvexAlgorithm::MprExtended);
}

// The cone's slope is so small that Newton's method runs out of steps beside the cylinder's axis.
TEST(ConvexPairs, ANeedleConeAcrossACylinderHasPointsOnBothSurfaces) {
  const Cylinder cylinder(0.64, 1.03);
  const Cone needle(0.35, 577);
  const Transform X_W1{{{{-1, 0, 0}, {0, -1, 0}, {0, 0, 1}}}, {0, 0, -0.4274444580078125}};
  const Transform X_W2{{{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}}, {}};
  for (const ConvexAlgorithm algorithm : {ConvexAlgorithm::Auto, ConvexAlgorithm::Gjk,
                                          ConvexAlgorithm::Mpr, ConvexAlgorithm::MprExtended}) {
    DistanceOption option;
    option.algorithm = algorithm;
    const DistanceResult d = distance(cylinder, X_W1, needle, X_W2, option);
    ASSERT_EQ(d.status, QueryStatus::Ok);
    EXPECT_LE(norm(d.point1 - d.point2 - d.normal * d.distance), 1e-8);
    // On the cylinder's upper rim, and on the line of the cone below its axis.
    const Vec3 p1 = transposeTimes(X_W1.rotation, d.point1 - X_W1.translation);
    EXPECT_NEAR(p1.z, 1.03, 1e-8);
    EXPECT_NEAR(p1.x * p1.x + p1.y * p1.y, 0.64 * 0.64, 1e-8);
    const Vec3 p2 = transposeTimes(X_W2.rotation, d.point2);
    const Real radius = 0.35 * (577 - p2.z) / (2 * 577);
    EXPECT_NEAR(p2.x, 0, 1e-8);
    EXPECT_NEAR(p2.y, -radius, 1e-8);
  }
}

TEST(ConvexPairs, ACacheOfAnotherPairChangesNothing) {
  PairCache cache;  // carried through all cases: always the wrong one
  for (const GoldenCase& g : golden().cases()) {
    if (!isOwnPair(g)) continue;
    const std::unique_ptr<Shape> shape1 = makeShape(g.shape1), shape2 = makeShape(g.shape2);
    const double cold = distance(*shape1, g.X_W1, *shape2, g.X_W2).distance;
    const double warm = distance(*shape1, g.X_W1, *shape2, g.X_W2, {}, &cache).distance;
    EXPECT_NEAR(cold, warm, (g.isCurved() ? 1e-6 : 1e-12) * std::max(g.scale, std::fabs(cold)))
        << g.id << " " << g.pair();
    if (std::fabs(g.distance) > 1e-6 * g.scale) {
      EXPECT_EQ(overlap(*shape1, g.X_W1, *shape2, g.X_W2, &cache), g.distance < 0) << g.id;
    }
    CollisionResult result;
    const int count = collide(*shape1, g.X_W1, *shape2, g.X_W2, {}, result, &cache);
    if (std::fabs(g.distance) > 1e-6 * g.scale) {
      EXPECT_EQ(count > 0, g.distance < 0) << g.id << " " << g.pair();
    }
  }
}

/// A shape with edges or a side that may lie along another's.
std::shared_ptr<const Shape> slenderShape(test::Random& random, int kind) {
  const Real a = random.uniform(0.3, 1), b = random.uniform(0.3, 1), c = random.uniform(0.3, 1);
  if (kind == 0) return std::make_shared<Box>(Vec3{a, b, c});
  if (kind == 1) return std::make_shared<Capsule>(0.3 * a, b);
  std::vector<Vec3> points;
  for (int i = 0; i < 10; ++i)
    points.push_back({random.uniform(-a, a), random.uniform(-b, b), random.uniform(-c, c)});
  return std::make_shared<Convex>(points);
}

/// Farthest that a point of one is from all points of the other.
Real farthestApart(const CollisionResult& straight, const CollisionResult& swapped) {
  if (straight.numContacts() != swapped.numContacts()) return 1;
  Real farthest = 0;
  for (int i = 0; i < straight.numContacts(); ++i) {
    Real nearest = 1;
    for (int j = 0; j < swapped.numContacts(); ++j) {
      const ContactPoint &one = straight.contact(i), &other = swapped.contact(j);
      nearest =
          std::min(nearest, norm(one.position - other.position) + norm(one.normal + other.normal) +
                                std::fabs(one.depth - other.depth));
    }
    farthest = std::max(farthest, nearest);
  }
  return farthest;
}

// Edges that lie almost along each other share a stretch whose ends are those of one of them.
TEST(ConvexPairs, SwappingShapesOfOneKindKeepsThePointsWhereTheirEdgesLieAlongEachOther) {
  test::Random random(3);
  int numWithLines = 0;
  int numOther[3] = {};
  for (int k = 0; k < 6000; ++k) {
    const int kind = k % 3;
    const auto shape1 = slenderShape(random, kind), shape2 = slenderShape(random, kind);
    const Transform X_W2{random.rotation(), {}};
    const Real angle = std::pow(10.0, random.uniform(-4, -0.5));
    const Mat3 tilt = rotationMatrix(math::quatExp(random.direction() * angle));
    Transform X_W1{tilt * X_W2.rotation, random.direction() * 6.0};
    const DistanceResult gap = distance(*shape1, X_W1, *shape2, X_W2, {});
    const Real depth = std::pow(10.0, random.uniform(-6, -1));
    X_W1.translation -= gap.normal * (gap.distance + depth);

    CollisionResult straight, swapped;
    numWithLines += collide(*shape1, X_W1, *shape2, X_W2, {}, straight) > 1 ? 1 : 0;
    collide(*shape2, X_W2, *shape1, X_W1, {}, swapped);
    numOther[kind] += farthestApart(straight, swapped) > 1e-6 ? 1 : 0;
  }
  EXPECT_GT(numWithLines, 1000);
  EXPECT_EQ(numOther[0], 0) << "boxes";
  EXPECT_EQ(numOther[1], 0) << "capsules";
  // Where two corners are equally far along the normal, rounding says which face is looked for.
  EXPECT_LE(numOther[2], 3) << "hulls";
}

}  // namespace
}  // namespace tangere
