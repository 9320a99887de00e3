// SPDX-License-Identifier: Apache-2.0
//
// Which contacts ContactPatchCache keeps, and which kept point a new contact goes on with: rule by
// rule, with numbers that can be checked by hand.
#include "collision/kernels/patch_matching.hpp"
#include "collision/patch_cache_under_test.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

namespace tangere {
namespace {

using test::contactAt;
using test::kUp;
using test::manifoldOf;
using Cache = test::PatchCacheUnderTest;

constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();

// Raw contacts.

TEST(ContactPatchCache, ContactsThatCannotBeKeptAreLeftOutAndCounted) {
  const auto isKept = [](const ContactManifold& manifold) {
    Cache cache;
    cache.see({manifold});
    EXPECT_EQ(static_cast<int>(cache->contacts().size()) + cache->numRejectedContacts(), 1);
    return cache->contacts().size() == 1;
  };
  const auto withNormal = [](const Vec3& normal) {
    ContactManifold manifold = manifoldOf(0, 1, {contactAt({0, 0, 0}, 0.1)});
    manifold.points[0].normal = normal;
    return manifold;
  };
  EXPECT_TRUE(isKept(manifoldOf(0, 1, {contactAt({0, 0, 0}, 0.1)})));
  EXPECT_TRUE(isKept(manifoldOf(0, 1, {contactAt({0, 0, 0}, 0)})));
  EXPECT_FALSE(isKept(manifoldOf(kNoObject, 1, {contactAt({0, 0, 0}, 0.1)})));
  EXPECT_FALSE(isKept(manifoldOf(0, kNoObject, {contactAt({0, 0, 0}, 0.1)})));
  EXPECT_FALSE(isKept(manifoldOf(1, 1, {contactAt({0, 0, 0}, 0.1)})));
  EXPECT_FALSE(isKept(manifoldOf(0, 16, {contactAt({0, 0, 0}, 0.1)})));  // poses end at 15
  EXPECT_FALSE(isKept(withNormal({0, 0, 0})));
  EXPECT_FALSE(isKept(withNormal({0, 0, 0.99e-6})));  // squared: below 1e-12
  EXPECT_TRUE(isKept(withNormal({0, 0, 1.01e-6})));
  EXPECT_FALSE(isKept(withNormal({0, kNan, 1})));
  EXPECT_FALSE(isKept(manifoldOf(0, 1, {contactAt({0, 0, 0}, -1e-9)})));
  EXPECT_FALSE(isKept(manifoldOf(0, 1, {contactAt({0, 0, 0}, kNan)})));
  EXPECT_FALSE(isKept(manifoldOf(0, 1, {contactAt({kNan, 0, 0}, 0.1)})));
}

TEST(ContactPatchCache, NegativeDepthIsKeptWhenAllowed) {
  Cache cache({.allowNegativeDepth = true});
  cache.see({contactAt({0, 0, 0}, -0.001)});
  ASSERT_EQ(cache->contacts().size(), 1u);
  EXPECT_EQ(cache.point(0).contact.depth, -0.001);
}

TEST(ContactPatchCache, APoseThatIsNotFiniteKeepsNothing) {
  Cache cache;
  cache.pose(1).translation.x = kNan;
  cache.see({contactAt({0, 0, 0}, 0.1)});
  EXPECT_EQ(cache->contacts().size(), 0u);
  EXPECT_EQ(cache->numRejectedContacts(), 1);

  cache.pose(1).translation.x = 0;
  cache.see({contactAt({0, 0, 0}, 0.1)});
  ASSERT_EQ(cache->contacts().size(), 1u);
  cache.pose(1).translation.x = kNan;
  cache.seeNothing();
  EXPECT_EQ(cache->contacts().size(), 0u);
}

TEST(ContactPatchCache, ANormalOfAnyLengthIsADirection) {
  Cache cache;
  ContactManifold manifold = manifoldOf(0, 1, {contactAt({0, 0, 0}, 0.5)});
  manifold.points[0].normal = {0, 0, 8};
  cache.see({manifold});
  EXPECT_EQ(cache.point(0).contact.normal, kUp);
  EXPECT_EQ(cache.point(0).local2, (Vec3{0, 0, 0.25}));
}

TEST(ContactPatchCache, PointsAreSortedByDepthThenPositionThenNormal) {
  ContactPoint tilted = contactAt({0, 1, 0}, 0.1);
  tilted.normal = {0.6, 0, 0.8};
  Cache cache;

  cache.see(
      {contactAt({1, 0, 0}, 0.1), tilted, contactAt({0, 1, 0}, 0.1), contactAt({5, 5, 5}, 0.2)});

  ASSERT_EQ(cache.patch().count, 4);
  EXPECT_EQ(cache.point(0).contact.position, (Vec3{5, 5, 5}));
  EXPECT_EQ(cache.point(1).contact.normal, kUp);  // nx = 0 before nx = 0.6
  EXPECT_EQ(cache.point(2).contact.normal, tilted.normal);
  EXPECT_EQ(cache.point(3).contact.position, (Vec3{1, 0, 0}));
  const auto isBefore = [](const Vec3& a, const Vec3& b) {
    return kernel::comesBefore(contactAt(a, 1), contactAt(b, 1));
  };
  EXPECT_TRUE(isBefore({0, 9, 9}, {1, 0, 0}));
  EXPECT_TRUE(isBefore({0, 0, 9}, {0, 1, 0}));
  EXPECT_TRUE(isBefore({0, 0, 0}, {0, 0, 1}));
  EXPECT_FALSE(isBefore({0, 0, 0}, {0, 0, 0}));
}

TEST(ContactPatchCache, AStreamOfSingleContactsIsGroupedByPair) {
  Cache cache;
  cache.see(std::vector<PairContact>{{3, 4, contactAt({0, 0, 0}, 0.1)},
                                     {0, 1, contactAt({0, 0, 0}, 0.1)},
                                     {4, 3, contactAt({1, 0, 0}, 0.3)},
                                     {0, 1, contactAt({2, 0, 0}, 0.2)}});

  ASSERT_EQ(cache->numManifolds(), 2);
  EXPECT_EQ(cache.patch(0).key, (PairKey{0, 1, 0}));
  EXPECT_EQ(cache.patch(1).key, (PairKey{3, 4, 0}));
  EXPECT_EQ(cache.depths(), (std::vector<Real>{0.2, 0.1, 0.3, 0.1}));
  // The third input made the first point of the second patch.
  EXPECT_EQ(cache->contacts()[2].rawManifold, 2);
  EXPECT_EQ(cache.patch(1).points[0].contact.normal, (Vec3{0, 0, -1}));
}

// Matching.

TEST(ContactPatchCache, APointMatchesUpToTheThresholdAndNotBeyond) {
  for (const auto& [shift, isSame] : {std::pair{0.25, true}, std::pair{0.25 + 1e-9, false}}) {
    Cache cache({.positionThreshold = 0.25});
    cache.see({contactAt({0, 0, 0}, 0.1)});
    const std::uint64_t id = cache.point(0).id;

    cache.see({contactAt({shift, 0, 0}, 0.1)});

    EXPECT_EQ(cache.patch().count, isSame ? 1 : 2) << shift;
    EXPECT_EQ(cache.point(0).id, id);  // beyond, it is the stale one, first by its x
    EXPECT_EQ(cache.point(0).age, isSame ? 0 : 1);
  }
}

TEST(ContactPatchCache, APointMatchesUpToTheNormalThresholdAndNotBeyond) {
  // The dot product of (0, 0, 1) and (0.6, 0, 0.8) is 0.8.
  for (const auto& [threshold, isSame] :
       {std::pair{0.8, true}, std::pair{0.81, false}, std::pair{-0.5, true}}) {
    Cache cache({.normalThreshold = threshold});
    cache.see({contactAt({0, 0, 0}, 0)});
    const std::uint64_t id = cache.point(0).id;
    ContactPoint tilted = contactAt({0, 0, 0}, 0);
    tilted.normal = {0.6, 0, 0.8};

    cache.see({tilted});

    bool isFound = false;
    for (const ContactPatchPoint& point : cache.patch().contacts())
      isFound = isFound || (point.id == id && point.age == 0);
    EXPECT_EQ(isFound, isSame) << threshold;
  }
}

TEST(ContactPatchCache, ANegativeNormalThresholdRefusesOppositeNormals) {
  Cache cache({.normalThreshold = -0.5});
  cache.see({contactAt({0, 0, 0}, 0)});
  const std::uint64_t id = cache.point(0).id;
  ContactPoint opposite = contactAt({0, 0, 0}, 0);
  opposite.normal = {0, 0, -1};
  cache.see({opposite});
  for (const ContactPatchPoint& point : cache.patch().contacts())
    EXPECT_NE(point.id == id, point.age == 0);
}

TEST(ContactPatchCache, TheNearestKeptPointWins) {
  Cache cache({.positionThreshold = 1});
  cache.see({contactAt({0, 0, 0}, 0.2), contactAt({1.5, 0, 0}, 0.1)});
  const std::uint64_t left = cache.point(0).id, right = cache.point(1).id;

  cache.see({contactAt({0.8, 0, 0}, 0.2)});  // 0.8 from the left one, 0.7 from the right one

  ASSERT_EQ(cache.patch().count, 1);  // the left one is a copy of the fresh one now
  EXPECT_EQ(cache.point(0).id, right);
  EXPECT_NE(cache.point(0).id, left);
}

TEST(ContactPatchCache, AtEqualDistanceTheLaterPointWins) {
  Cache cache({.positionThreshold = 1});
  cache.see({contactAt({0, 0, 0}, 0.2), contactAt({1.5, 0, 0}, 0.1)});
  const std::uint64_t later = cache.point(1).id;

  cache.see({contactAt({0.75, 0, 0}, 0.2)});

  EXPECT_EQ(cache.point(0).id, later);
}

TEST(ContactPatchCache, AKeptPointIsMatchedOnce) {
  Cache cache({.positionThreshold = 1});
  cache.see({contactAt({0, 0, 0}, 0.1)});
  const std::uint64_t id = cache.point(0).id;

  // Both are within 1 m of the kept point, but not of each other. The deeper one chooses first.
  cache.see({contactAt({-0.9, 0, 0}, 0.2), contactAt({0.5, 0, 0}, 0.3)});

  ASSERT_EQ(cache.patch().count, 2);
  EXPECT_EQ(cache.point(0).contact.position.x, 0.5);
  EXPECT_EQ(cache.point(0).id, id);
  EXPECT_EQ(cache.point(1).id, id + 1);
}

TEST(ContactPatchCache, AMatchedPointTakesTheNewValuesAndKeepsIdAndImpulses) {
  Cache cache({.positionThreshold = 1});
  cache.see({contactAt({0, 0, 0}, 0.5)});
  const std::uint64_t id = cache.point(0).id;
  cache->storeImpulse(cache->contacts()[0], 3, {1, 2, 0});
  cache.seeNothing();
  ASSERT_EQ(cache.point(0).age, 1);

  cache.see({contactAt({0.5, 0, 0}, 0.25)});

  ASSERT_EQ(cache.patch().count, 1);
  EXPECT_EQ(cache.point(0).contact.position, (Vec3{0.5, 0, 0}));
  EXPECT_EQ(cache.point(0).contact.depth, 0.25);
  EXPECT_EQ(cache.point(0).age, 0);
  EXPECT_EQ(cache.point(0).id, id);
  EXPECT_EQ(cache.point(0).normalImpulse, 3);
  EXPECT_EQ(cache.point(0).tangentImpulse, (Vec3{1, 2, 0}));
}

TEST(ContactPatchCache, APointNotFoundAgainAgesWhileThePairIsSeenAndGoesAfterMaxSeparationFrames) {
  Cache cache({.maxSeparationFrames = 2});
  cache.see({contactAt({0, 0, 0}, 0.2), contactAt({1, 0, 0}, 0.1)});
  for (int age = 1; age <= 2; ++age) {
    cache.see({contactAt({0, 0, 0}, 0.2)});
    ASSERT_EQ(cache.patch().count, 2);
    EXPECT_EQ(cache.patch().framesSinceSeen, 0);
    EXPECT_EQ(cache.point(0).age, 0);
    EXPECT_EQ(cache.point(1).age, age);
    EXPECT_EQ(cache->contacts()[1].rawManifold, -1);
  }
  cache.see({contactAt({0, 0, 0}, 0.2)});
  EXPECT_EQ(cache.patch().count, 1);
}

TEST(ContactPatchCache, EqualFeaturesMatchFartherThanThePositionThreshold) {
  // Object 0 is moved by 5 mm: its corner, 7 on 3, slides along object 1.
  for (const auto& [feature, isSame] : {std::pair{7, true}, std::pair{8, false}}) {
    Cache cache;
    cache.see({contactAt({0, 0, 0}, 0.001, 7, 3)});
    const std::uint64_t id = cache.point(0).id;
    cache.pose(0).translation.x = 0.005;

    cache.see({contactAt({0.005, 0, 0}, 0.001, feature, 3)});

    EXPECT_EQ(cache.point(0).id == id, isSame) << feature;
    EXPECT_EQ(cache->churn().moved, 0u);  // on object 0 it did not move at all
  }
}

TEST(ContactPatchCache, EqualFeaturesDoNotMatchBeyondTheWarmStartRadiusOrAcrossNormals) {
  const auto isFoundAgain = [](Real shift, const Vec3& normal) {
    Cache cache({.normalThreshold = 0.9, .warmStartRadius = 0.25});
    cache.see({contactAt({0, 0, 0}, 0, 7, 3)});
    const std::uint64_t id = cache.point(0).id;
    ContactPoint moved = contactAt({shift, 0, 0}, 0, 7, 3);
    moved.normal = normal;
    cache.see({moved});
    for (const ContactPatchPoint& point : cache.patch().contacts())
      if (point.id == id && point.age == 0) return true;
    return false;
  };
  EXPECT_TRUE(isFoundAgain(0.25, kUp));
  EXPECT_FALSE(isFoundAgain(0.25 + 1e-9, kUp));
  EXPECT_FALSE(isFoundAgain(0.1, {0.6, 0, 0.8}));
}

TEST(ContactPatchCache, EqualFeaturesGoBeforeTheNearerPoint) {
  Cache cache({.positionThreshold = 0.3, .warmStartRadius = 2});
  cache.see({contactAt({0, 0, 0}, 0, 1, 1), contactAt({1, 0, 0}, 0, 2, 2)});
  const std::uint64_t second = cache.point(1).id;

  cache.see({contactAt({0.25, 0, 0}, 0, 2, 2)});  // nearer to the first, but made by the second

  EXPECT_EQ(cache.point(0).contact.position.x, 0.25);
  EXPECT_EQ(cache.point(0).id, second);
  EXPECT_EQ(cache->churn().moved, 1u);
}

TEST(ContactPatchCache, ANewPointTakesOverTheImpulsesOfTheOneItReplacesAndEndsIt) {
  // A ball rolls by 4 mm: too far to be the same point, near enough to carry the force on. Kept
  // beside it, the old one would carry the same load once more.
  Cache cache;
  cache.see({contactAt({0, 0, 0}, 0.001)});
  const std::uint64_t id = cache.point(0).id;
  cache->storeImpulse(cache->contacts()[0], 5, {0, 1, 0});

  cache.see({contactAt({0.004, 0, 0}, 0.002)});

  ASSERT_EQ(cache.patch().count, 1);
  EXPECT_NE(cache.point(0).id, id);
  EXPECT_EQ(cache.point(0).normalImpulse, 5);
  EXPECT_EQ(cache.point(0).tangentImpulse, (Vec3{0, 1, 0}));
}

}  // namespace
}  // namespace tangere
