// SPDX-License-Identifier: Apache-2.0
//
// Properties that hold for every pair of solids, checked on generated cases. No expected value is
// stored: each answer is held against another way of asking the same question.
#include "generated_case.hpp"

namespace tangere::properties {
namespace {

constexpr Ranges kOrdinary{};
constexpr Ranges kExtreme{.smallest = 1e-6, .largest = 1e6, .ratio = 1000, .aspect = 1000};

CollisionResult contactsOf(const Shape& shape1, const Transform& X_W1, const Shape& shape2,
                           const Transform& X_W2) {
  CollisionResult result;
  collide(shape1, X_W1, shape2, X_W2, CollisionOption::fullContacts(), result);
  return result;
}

CollisionResult contactsOf(const GeneratedPair& pair) {
  return contactsOf(*pair.shape1, pair.pose.X_W1, *pair.shape2, pair.pose.X_W2);
}

Real deepest(const CollisionResult& result) {
  Real depth = -std::numeric_limits<Real>::infinity();
  for (const ContactManifold& manifold : result.manifolds())
    depth = std::fmax(depth, manifold.depth());
  return depth;
}

bool isFinite(const Vec3& v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

/// Everything that must hold of any answer, however the shapes lie.
void expectSoundDistance(const GeneratedPair& pair, const DistanceResult& d) {
  ASSERT_TRUE(std::isfinite(d.distance)) << d.distance;
  ASSERT_TRUE(isFinite(d.normal) && isFinite(d.point1) && isFinite(d.point2));
  ASSERT_NEAR(norm(d.normal), 1, 1e-12);
  ASSERT_LE(norm(d.point1 - d.point2 - d.normal * d.distance), tolerance(pair));
}

void expectSoundContacts(const CollisionResult& result) {
  for (const ContactManifold& manifold : result.manifolds()) {
    ASSERT_GE(manifold.count, 1);
    ASSERT_LE(manifold.count, ContactManifold::kMaxPoints);
    for (const ContactPoint& contact : manifold.contacts()) {
      ASSERT_TRUE(isFinite(contact.position) && isFinite(contact.normal));
      ASSERT_TRUE(std::isfinite(contact.depth) && contact.depth >= 0) << contact.depth;
      ASSERT_NEAR(norm(contact.normal), 1, 1e-12);
    }
  }
}

TEST(PairProperties, DistanceIsProvedByItsNormalAndItsWitnessPoints) {
  forEachPair(400, kOrdinary, 1, [](const GeneratedPair& pair) {
    const DistanceResult d = distanceOf(pair);
    const Real tol = tolerance(pair);
    expectSoundDistance(pair, d);
    ASSERT_EQ(d.status, QueryStatus::Ok);
    ASSERT_NEAR(gapAlong(pair, d.normal), d.distance, tol);
    const Real off1 = pair.shape1->signedDistance(inverseTimes(pair.pose.X_W1, d.point1)).distance;
    const Real off2 = pair.shape2->signedDistance(inverseTimes(pair.pose.X_W2, d.point2)).distance;
    ASSERT_LE(std::fabs(off1), tol) << "witness point off shape 1, distance " << d.distance;
    ASSERT_LE(std::fabs(off2), tol) << "witness point off shape 2, distance " << d.distance;
  });
}

TEST(PairProperties, NoOtherDirectionSeparatesMore) {
  forEachPair(100, kOrdinary, 2, [](const GeneratedPair& pair) {
    if (pair.shape1->type() == ShapeType::Plane || pair.shape2->type() == ShapeType::Plane) return;
    const DistanceResult d = distanceOf(pair);
    Random random(pair.seed + 7);
    for (int i = 0; i < 60; ++i) {
      // Half anywhere, half close to the answer, where a local optimum would betray itself.
      Vec3 n = random.direction();
      if (i % 2 == 1) n = d.normal + n * random.magnitude(1e-4, 0.3);
      n = n / norm(n);
      ASSERT_LE(gapAlong(pair, n), d.distance + tolerance(pair));
    }
    for (int axis = 0; axis < 3; ++axis)
      for (const Mat3& R : {pair.pose.X_W1.rotation, pair.pose.X_W2.rotation})
        for (const Real sign : {-1.0, 1.0})
          ASSERT_LE(gapAlong(pair, R.col[axis] * sign), d.distance + tolerance(pair));
  });
}

TEST(PairProperties, SwappingTheObjectsFlipsNormalsAndKeepsTheRest) {
  forEachPair(400, kOrdinary, 3, [](const GeneratedPair& pair) {
    const Real tol = tolerance(pair);
    const DistanceResult forth = distanceOf(pair);
    const DistanceResult back =
        distance(*pair.shape2, pair.pose.X_W2, *pair.shape1, pair.pose.X_W1);
    ASSERT_NEAR(forth.distance, back.distance, tol);
    // The flipped normal is as good: equal where there is only one, a tie otherwise.
    ASSERT_NEAR(gapAlong(pair, -back.normal), forth.distance, tol);

    const CollisionResult contacts = contactsOf(pair);
    const CollisionResult swapped =
        contactsOf(*pair.shape2, pair.pose.X_W2, *pair.shape1, pair.pose.X_W1);
    if (std::fabs(forth.distance) <= tol) return;
    ASSERT_EQ(contacts.isCollision(), swapped.isCollision());
    if (!contacts) return;
    ASSERT_NEAR(deepest(contacts), deepest(swapped), tol);
    if (pair.shape1->type() == pair.shape2->type()) return;
    // Different types are ordered by the table, so the very same numbers come back.
    ASSERT_EQ(contacts.numContacts(), swapped.numContacts());
    for (int i = 0; i < contacts.numContacts(); ++i) {
      ASSERT_EQ(contacts.contact(i).position, swapped.contact(i).position);
      ASSERT_EQ(contacts.contact(i).normal, -swapped.contact(i).normal);
      ASSERT_EQ(contacts.contact(i).depth, swapped.contact(i).depth);
      ASSERT_EQ(contacts.contact(i).feature1, swapped.contact(i).feature2);
    }
  });
}

TEST(PairProperties, ACommonRigidMotionMovesTheAnswerAlong) {
  forEachPair(300, kOrdinary, 4, [](const GeneratedPair& pair) {
    Random random(pair.seed + 1);
    const Transform X{random.rotation(), random.pointInCube(10 * pair.scale())};
    GeneratedPair moved = pair;
    moved.pose = {X * pair.pose.X_W1, X * pair.pose.X_W2};
    const Real tol = tolerance(pair) + tolerance(moved);
    const DistanceResult d = distanceOf(pair), e = distanceOf(moved);
    ASSERT_NEAR(d.distance, e.distance, tol);
    ASSERT_NEAR(gapAlong(moved, X.rotation * d.normal), e.distance, tol);
    if (std::fabs(d.distance) <= tol) return;
    const CollisionResult contacts = contactsOf(pair), movedContacts = contactsOf(moved);
    ASSERT_EQ(contacts.isCollision(), movedContacts.isCollision());
    if (contacts) {
      ASSERT_NEAR(deepest(contacts), deepest(movedContacts), tol);
    }
  });
}

TEST(PairProperties, OverlapContactsAndDistanceAgree) {
  forEachPair(500, kOrdinary, 5, [](const GeneratedPair& pair) {
    const Real tol = tolerance(pair);
    const DistanceResult d = distanceOf(pair);
    const CollisionResult contacts = contactsOf(pair);
    expectSoundContacts(contacts);
    if (std::fabs(d.distance) <= tol) return;
    const bool overlaps = d.distance < 0;
    ASSERT_EQ(overlap(*pair.shape1, pair.pose.X_W1, *pair.shape2, pair.pose.X_W2), overlaps);
    ASSERT_EQ(contacts.isCollision(), overlaps);
    if (!overlaps) return;
    ASSERT_GE(contacts.numContacts(), 1);
    ASSERT_NEAR(deepest(contacts), -d.distance, tol);
  });
}

TEST(PairProperties, NoContactIsDeeperThanThePenetrationAlongItsNormal) {
  forEachPair(400, kOrdinary, 6, [](const GeneratedPair& pair) {
    const CollisionResult contacts = contactsOf(pair);
    for (const ContactManifold& manifold : contacts.manifolds())
      for (const ContactPoint& contact : manifold.contacts()) {
        const Real tol = tolerance(pair);
        ASSERT_LE(contact.depth, -gapAlong(pair, contact.normal) + tol);
        // One end is a point of its shape, the other lies on the supporting plane of the other
        // shape: deep edge contacts have no common point along the normal.
        const Vec3 half = contact.normal * (contact.depth / 2);
        const Vec3 p1 = inverseTimes(pair.pose.X_W1, contact.position - half);
        const Vec3 p2 = inverseTimes(pair.pose.X_W2, contact.position + half);
        ASSERT_LE(std::fmin(pair.shape1->signedDistance(p1).distance,
                            pair.shape2->signedDistance(p2).distance),
                  tol);
      }
  });
}

TEST(PairProperties, EveryAlgorithmGivesTheSameDistance) {
  forEachPair(150, kOrdinary, 7, [](const GeneratedPair& pair) {
    const Real expected = distanceOf(pair).distance;
    for (const ConvexAlgorithm algorithm : {ConvexAlgorithm::Gjk, ConvexAlgorithm::Mpr}) {
      DistanceOption option;
      option.algorithm = algorithm;
      const DistanceResult d =
          distance(*pair.shape1, pair.pose.X_W1, *pair.shape2, pair.pose.X_W2, option);
      if (d.status == QueryStatus::Unsupported) continue;
      expectSoundDistance(pair, d);
      // A portal search gives the exit along one ray: an upper bound of the depth when it overlaps.
      if (algorithm == ConvexAlgorithm::Gjk || expected > 0) {
        ASSERT_NEAR(d.distance, expected, tolerance(pair)) << static_cast<int>(algorithm);
      } else {
        ASSERT_LE(d.distance, expected + tolerance(pair));
      }
    }
  });
}

TEST(PairProperties, AWarmStartDoesNotChangeTheAnswer) {
  forEachPair(40, kOrdinary, 8, [](const GeneratedPair& start) {
    Random random(start.seed + 2);
    GeneratedPair pair = start;
    PairCache distanceCache, overlapCache, contactCache;
    const Vec3 drift = random.direction() * (0.01 * pair.scale());
    const Mat3 spin = rotationMatrix(Quat{1, 0.01, random.uniform(-0.01, 0.01), 0.005});
    for (int step = 0; step < 10; ++step) {
      pair.pose.X_W2 = {spin * pair.pose.X_W2.rotation, pair.pose.X_W2.translation + drift};
      if (step == 7) pair.pose.X_W2.rotation = random.rotation();  // a jump: the hint is useless
      const Real tol = tolerance(pair);
      const DistanceResult cold = distanceOf(pair);
      const DistanceResult warm =
          distance(*pair.shape1, pair.pose.X_W1, *pair.shape2, pair.pose.X_W2, {}, &distanceCache);
      ASSERT_NEAR(cold.distance, warm.distance, tol);
      ASSERT_NEAR(gapAlong(pair, warm.normal), cold.distance, tol);
      if (std::fabs(cold.distance) <= tol) continue;
      ASSERT_EQ(overlap(*pair.shape1, pair.pose.X_W1, *pair.shape2, pair.pose.X_W2, &overlapCache),
                cold.distance < 0);
      CollisionResult contacts;
      collide(*pair.shape1, pair.pose.X_W1, *pair.shape2, pair.pose.X_W2,
              CollisionOption::fullContacts(), contacts, &contactCache);
      ASSERT_EQ(contacts.isCollision(), cold.distance < 0);
      if (contacts) {
        ASSERT_NEAR(deepest(contacts), -cold.distance, tol);
      }
    }
  });
}

TEST(PairProperties, OptionsCutTheContactsShort) {
  forEachPair(60, kOrdinary, 9, [](const GeneratedPair& pair) {
    const CollisionResult full = contactsOf(pair);
    for (const int limit : {0, 1, 2, 3}) {
      CollisionResult result;
      const int added = collide(*pair.shape1, pair.pose.X_W1, *pair.shape2, pair.pose.X_W2,
                                CollisionOption::fullContacts(limit), result);
      ASSERT_EQ(added, result.numContacts());
      ASSERT_LE(added, limit);
      ASSERT_EQ(result.isCollision(), limit > 0 && full.isCollision());
      if (limit == 1 && full) {
        ASSERT_NEAR(deepest(result), deepest(full), tolerance(pair));
      }
    }
    CollisionResult binary;
    const int hit = collide(*pair.shape1, pair.pose.X_W1, *pair.shape2, pair.pose.X_W2,
                            CollisionOption::binaryCheck(), binary);
    ASSERT_EQ(hit, binary.isCollision() ? 1 : 0);
    ASSERT_EQ(binary.numContacts(), 0);
  });
}

TEST(PairProperties, ExtremeSizesAndAspectsGiveFiniteProvableAnswers) {
  forEachPair(500, kExtreme, 10, [](const GeneratedPair& pair) {
    const DistanceResult d = distanceOf(pair);
    // As the reference data judge: relative to the larger of the distance and the smaller shape.
    const Real tol = 1e-6 * std::fmax(pair.scale(), std::fabs(d.distance)) + 100 * pair.rounding();
    ASSERT_TRUE(std::isfinite(d.distance));
    ASSERT_TRUE(isFinite(d.normal) && isFinite(d.point1) && isFinite(d.point2));
    ASSERT_NEAR(norm(d.normal), 1, 1e-12);
    ASSERT_LE(norm(d.point1 - d.point2 - d.normal * d.distance), tol);
    ASSERT_NEAR(gapAlong(pair, d.normal), d.distance, tol);
    const CollisionResult contacts = contactsOf(pair);
    expectSoundContacts(contacts);
    if (std::fabs(d.distance) <= tol) return;
    ASSERT_EQ(contacts.isCollision(), d.distance < 0) << d.distance;
    ASSERT_EQ(overlap(*pair.shape1, pair.pose.X_W1, *pair.shape2, pair.pose.X_W2), d.distance < 0)
        << d.distance;
  });
}

TEST(PairProperties, CoincidentCentresGiveADefinedAnswer) {
  forEachPair(50, kExtreme, 11, [](const GeneratedPair& start) {
    GeneratedPair pair = start;
    pair.pose.X_W2.translation = pair.pose.X_W1.translation;
    if (pair.seed % 2 == 0) pair.pose.X_W2.rotation = pair.pose.X_W1.rotation;
    const DistanceResult d = distanceOf(pair);
    ASSERT_TRUE(std::isfinite(d.distance));
    ASSERT_NEAR(norm(d.normal), 1, 1e-12);
    const CollisionResult contacts = contactsOf(pair);
    expectSoundContacts(contacts);
    const bool planeInvolved =
        pair.shape1->type() == ShapeType::Plane || pair.shape2->type() == ShapeType::Plane;
    ASSERT_TRUE(contacts.isCollision());
    if (!planeInvolved) {
      ASSERT_LT(d.distance, 0);
    }
  });
}

TEST(PairProperties, ExactTouchIsHandledOnBothSides) {
  forEachPair(100, kOrdinary, 12, [](const GeneratedPair& start) {
    const DistanceResult d = distanceOf(start);
    if (d.distance <= 0) return;
    // Move shape 2 along the normal until the computed gap is zero or next to it.
    for (const Real past : {-1e-3, -1e-12, 0.0, 1e-12, 1e-3}) {
      GeneratedPair pair = start;
      pair.pose.X_W2.translation += d.normal * (d.distance + past * pair.scale());
      const DistanceResult e = distanceOf(pair);
      expectSoundDistance(pair, e);
      // Past the touch another direction may be the shorter way out, but not a longer one.
      ASSERT_GE(e.distance, -past * pair.scale() - tolerance(pair));
      ASSERT_LE(e.distance, std::fmax(0, -past * pair.scale()) + tolerance(pair));
      expectSoundContacts(contactsOf(pair));
      if (std::fabs(past) == 1e-3) {
        ASSERT_EQ(overlap(*pair.shape1, pair.pose.X_W1, *pair.shape2, pair.pose.X_W2), past > 0);
      }
    }
  });
}

}  // namespace
}  // namespace tangere::properties
