// SPDX-License-Identifier: Apache-2.0
//
// What a query leaves for the next one saves time and changes nothing.
#include "collision/narrow_phase.hpp"
#include "pair_query.hpp"

namespace tangere {
namespace {

using test::Random;
using test::randomShape;

constexpr ShapeType kConvexTypes[] = {ShapeType::Sphere,   ShapeType::Box,  ShapeType::Capsule,
                                      ShapeType::Cylinder, ShapeType::Cone, ShapeType::Ellipsoid,
                                      ShapeType::Convex};

/// Both bodies drift and turn; the second is on its way through the first and beyond.
struct Encounter {
  Encounter(Real scale, Random& random)
      : X_W1{random.rotation(), random.direction() * scale},
        spin1(smallTurn(random)),
        spin2(smallTurn(random)),
        drift1(random.direction() * (0.002 * scale)) {
    const Vec3 way = random.direction();
    X_W2 = {random.rotation(), X_W1.translation - way * (3 * scale)};
    drift2 = drift1 + way * (0.02 * scale);
  }
  static Mat3 smallTurn(Random& random) {
    const Vec3 v = random.direction() * 0.005;
    return rotationMatrix(Quat{1, v.x, v.y, v.z});
  }
  void step() {
    X_W1 = {spin1 * X_W1.rotation, X_W1.translation + drift1};
    X_W2 = {spin2 * X_W2.rotation, X_W2.translation + drift2};
  }

  Transform X_W1, X_W2;
  Mat3 spin1, spin2;
  Vec3 drift1, drift2;
};

bool isPolytope(const Shape& shape) {
  return shape.type() == ShapeType::Box || shape.type() == ShapeType::Convex;
}

void expectSameBits(const CollisionResult& a, const CollisionResult& b) {
  ASSERT_EQ(a.numContacts(), b.numContacts());
  for (int i = 0; i < a.numContacts(); ++i) {
    EXPECT_EQ(a.contact(i).position, b.contact(i).position);
    EXPECT_EQ(a.contact(i).normal, b.contact(i).normal);
    EXPECT_EQ(a.contact(i).depth, b.contact(i).depth);
    EXPECT_EQ(a.contact(i).feature1, b.contact(i).feature1);
    EXPECT_EQ(a.contact(i).feature2, b.contact(i).feature2);
  }
}

TEST(PairCache, ShapesThatWereApartAreFoundInTheSameStepAsWithoutIt) {
  Random random(5);
  int numSkipped = 0;
  for (const ShapeType type1 : kConvexTypes)
    for (const ShapeType type2 : kConvexTypes)
      for (const Real scale : {1e-3, 1.0, 1e4}) {
        const auto shape1 = randomShape(type1, scale, random);
        const auto shape2 = randomShape(type2, scale, random);
        const bool exact = isPolytope(*shape1) && isPolytope(*shape2);
        Encounter poses(scale, random);
        PairCache contactCache, overlapCache;
        for (int i = 0; i < 300; ++i, poses.step()) {
          const Transform &X_W1 = poses.X_W1, &X_W2 = poses.X_W2;
          CollisionResult cold, warm;
          const CollisionOption option = CollisionOption::fullContacts();
          const Transform known = contactCache.apart.X_W2;
          collide(*shape1, X_W1, *shape2, X_W2, option, cold);
          collide(*shape1, X_W1, *shape2, X_W2, option, warm, &contactCache);
          numSkipped += !warm && contactCache.apart.shape1 != 0 &&
                        contactCache.apart.X_W2.translation == known.translation;
          ASSERT_EQ(cold.isCollision(), warm.isCollision())
              << shapeTypeName(type1) << "-" << shapeTypeName(type2) << " step " << i;
          if (exact) expectSameBits(cold, warm);
          ASSERT_EQ(overlap(*shape1, X_W1, *shape2, X_W2),
                    overlap(*shape1, X_W1, *shape2, X_W2, &overlapCache))
              << shapeTypeName(type1) << "-" << shapeTypeName(type2) << " step " << i;
        }
      }
  EXPECT_GT(numSkipped, 10000);  // of 44100 steps, half of them apart
}

TEST(PairCache, ShapesProvenFartherApartThanAReachAre) {
  Random random(7);
  int numProven = 0, numFarther = 0;
  for (const ShapeType type1 : kConvexTypes)
    for (const ShapeType type2 : kConvexTypes) {
      const auto shape1 = randomShape(type1, 1, random);
      const auto shape2 = randomShape(type2, 1, random);
      Encounter poses(1, random);
      PairCache cache;
      EXPECT_FALSE(collision::areProvenApart(cache, *shape1, poses.X_W1, *shape2, poses.X_W2, 0));
      for (int i = 0; i < 300; ++i, poses.step()) {
        CollisionResult result;
        collide(*shape1, poses.X_W1, *shape2, poses.X_W2, CollisionOption::fullContacts(), result,
                &cache);
        const Real reach = random.uniform(0, 0.5);
        const Real apart = distance(*shape1, poses.X_W1, *shape2, poses.X_W2).distance;
        numFarther += apart > reach;
        if (!collision::areProvenApart(cache, *shape1, poses.X_W1, *shape2, poses.X_W2, reach))
          continue;
        ++numProven;
        ASSERT_GT(apart, reach) << shapeTypeName(type1) << "-" << shapeTypeName(type2);
      }
    }
  EXPECT_GT(numProven, numFarther / 4);  // spheres keep no proof, they are asked as fast
}

TEST(PairCache, CapsulesOnBoxesGiveTheSameBits) {
  Random random(6);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const Real scale = std::pow(10.0, random.uniform(-3, 3));
    const auto box = randomShape(ShapeType::Box, scale, random);
    const auto capsule = randomShape(ShapeType::Capsule, scale, random);
    Encounter poses(scale, random);
    if (repeat % 4 == 0) {
      // Along an edge, and staying there: where regions and signs are decided by rounding.
      poses.X_W1.rotation = poses.X_W2.rotation = Mat3::identity();
      poses.spin1 = poses.spin2 = Mat3::identity();
    }
    PairCache distanceCache, contactCache;
    for (int i = 0; i < 200; ++i, poses.step()) {
      const DistanceResult cold = distance(*capsule, poses.X_W1, *box, poses.X_W2);
      const DistanceResult warm =
          distance(*capsule, poses.X_W1, *box, poses.X_W2, {}, &distanceCache);
      ASSERT_EQ(cold.distance, warm.distance) << repeat << " step " << i;
      ASSERT_EQ(cold.normal, warm.normal);
      ASSERT_EQ(cold.point1, warm.point1);
      ASSERT_EQ(cold.point2, warm.point2);
      ASSERT_EQ(cold.feature1, warm.feature1);
      ASSERT_EQ(cold.feature2, warm.feature2);
      CollisionResult coldContacts, warmContacts;
      const CollisionOption option = CollisionOption::fullContacts();
      collide(*capsule, poses.X_W1, *box, poses.X_W2, option, coldContacts);
      collide(*capsule, poses.X_W1, *box, poses.X_W2, option, warmContacts, &contactCache);
      expectSameBits(coldContacts, warmContacts);
    }
  }
}

TEST(PairCache, ProvesNothingAboutOtherShapes) {
  const Box small({0.1, 0.1, 0.1}), large({1, 1, 1});
  const Transform X_W1, X_W2 = test::at(1.5, 0, 0);
  const CollisionOption option = CollisionOption::fullContacts();
  PairCache cache;
  CollisionResult result;
  EXPECT_EQ(collide(small, X_W1, small, X_W2, option, result, &cache), 0);
  EXPECT_GT(cache.apart.limit, 0);
  EXPECT_EQ(collide(small, X_W1, small, X_W2, option, result, &cache), 0);
  EXPECT_GT(collide(large, X_W1, small, test::at(1.05, 0, 0), option, result, &cache), 0);
  EXPECT_EQ(collide(small, X_W1, small, X_W2, option, result, &cache), 0);
  EXPECT_TRUE(overlap(large, X_W1, large, X_W2, &cache));
}

TEST(PairCache, RefusesPosesThatAreNotFinite) {
  const Box box({0.1, 0.1, 0.1});
  const CollisionOption option = CollisionOption::fullContacts();
  for (int entry = 0; entry < 12; ++entry) {
    PairCache cache;
    CollisionResult result;
    Transform X_W2 = test::at(1.5, 0, 0);
    EXPECT_EQ(collide(box, {}, box, X_W2, option, result, &cache), 0);
    EXPECT_EQ(result.status(), QueryStatus::Ok);
    EXPECT_GT(cache.apart.limit, 0);
    if (entry < 9)
      X_W2.rotation(entry % 3, entry / 3) = std::numeric_limits<Real>::quiet_NaN();
    else
      X_W2.translation[entry - 9] = std::numeric_limits<Real>::infinity();
    EXPECT_EQ(collide(box, {}, box, X_W2, option, result, &cache), 0);
    EXPECT_EQ(result.status(), QueryStatus::InvalidPose);
  }
}

}  // namespace
}  // namespace tangere
