// SPDX-License-Identifier: Apache-2.0
//
// Which points stay when ContactPatchCache has more than a patch holds.
#include "collision/patch_cache_under_test.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace tangere {
namespace {

using test::contactAt;
using test::streamOf;
using Cache = test::PatchCacheUnderTest;

TEST(ContactPatchCache, PointsAreInsertedWhileThereIsRoom) {
  Cache cache;
  cache.see({contactAt({0, 0, 0}, 0.4)});
  cache.see({contactAt({0, 0, 0}, 0.4), contactAt({1, 0, 0}, 0.3), contactAt({0, 1, 0}, 0.2)});
  EXPECT_EQ(cache.depths(), (std::vector<Real>{0.4, 0.3, 0.2}));
  EXPECT_EQ(cache.point(0).id, 1u);
  EXPECT_EQ(cache.point(1).id, 2u);
  EXPECT_EQ(cache.point(2).id, 3u);
}

TEST(ContactPatchCache, OverCapacityTheDeepestAndTheFarthestStay) {
  Cache cache;
  // From x = 4 the farthest is 10; then 0 (4 from the nearest); then 7 (3 from 4 and from 10).
  cache.see(streamOf({contactAt({0, 0, 0}, 0.1), contactAt({1, 0, 0}, 0.2),
                      contactAt({4, 0, 0}, 0.9), contactAt({5, 0, 0}, 0.8),
                      contactAt({7, 0, 0}, 0.3), contactAt({10, 0, 0}, 0.05)}));
  ASSERT_EQ(cache.patch().count, 4);
  EXPECT_EQ(cache.point(0).contact.position.x, 4);
  EXPECT_EQ(cache.point(1).contact.position.x, 7);
  EXPECT_EQ(cache.point(2).contact.position.x, 0);
  EXPECT_EQ(cache.point(3).contact.position.x, 10);
}

TEST(ContactPatchCache, FewerPointsPerPairKeepTheFirstOfTheSameChoice) {
  Cache cache({.maxPointsPerPair = 2});
  cache.see({contactAt({0, 0, 0}, 0.1), contactAt({4, 0, 0}, 0.9), contactAt({5, 0, 0}, 0.8),
             contactAt({10, 0, 0}, 0.05)});
  ASSERT_EQ(cache.patch().count, 2);
  EXPECT_EQ(cache.point(0).contact.position.x, 4);
  EXPECT_EQ(cache.point(1).contact.position.x, 10);
}

TEST(ContactPatchCache, StalePointsAreNotConsideredWhenFreshOnesFillThePatch) {
  Cache cache({.maxPointsPerPair = 2});
  cache.see({contactAt({-100, 0, 0}, 0.1)});
  cache.see({contactAt({0, 0, 0}, 0.2), contactAt({1, 0, 0}, 0.1)});
  ASSERT_EQ(cache.patch().count, 2);
  EXPECT_EQ(cache.point(0).contact.position.x, 0);
  EXPECT_EQ(cache.point(1).contact.position.x, 1);
}

TEST(ContactPatchCache, StalePointsJoinThePoolWhenFreshOnesCannotFillThePatch) {
  Cache cache({.maxPointsPerPair = 3});
  cache.see({contactAt({10, 0, 0}, 0.3), contactAt({11, 0, 0}, 0.2), contactAt({20, 0, 0}, 0.1)});
  // Fresh: 0 and 1. From 0 the farthest of all is 20, then 10 (10 from 0 and from 20).
  cache.see({contactAt({0, 0, 0}, 0.9), contactAt({1, 0, 0}, 0.8)});
  ASSERT_EQ(cache.patch().count, 3);
  EXPECT_EQ(cache.point(0).contact.position.x, 0);
  EXPECT_EQ(cache.point(1).contact.position.x, 10);
  EXPECT_EQ(cache.point(2).contact.position.x, 20);
  EXPECT_EQ(cache.point(1).age, 1);
}

TEST(ContactPatchCache, WithinDepthEpsilonTheOldestPointIsTheSeed) {
  Cache cache({.maxPointsPerPair = 1, .depthEpsilon = 1e-6});
  cache.see({contactAt({0, 0, 0}, 0.1)});
  cache.see({contactAt({0, 0, 0}, 0.1), contactAt({1, 0, 0}, 0.1 + 0.9e-6)});
  EXPECT_EQ(cache.point(0).contact.position.x, 0);
  cache.see({contactAt({0, 0, 0}, 0.1), contactAt({1, 0, 0}, 0.1 + 1.1e-6)});
  EXPECT_EQ(cache.point(0).contact.position.x, 1);
}

TEST(ContactPatchCache, TheSpreadOfPointsOnOnePlaceWithDifferentNormalsIsDefined) {
  ContactPoint a = contactAt({0, 0, 0}, 0.3), b = a, c = a;
  b.normal = {1, 0, 0};
  c.normal = {0, 1, 0};
  Cache cache({.maxPointsPerPair = 2});
  cache.see({a, b, c});
  EXPECT_EQ(cache.patch().count, 2);
}

TEST(ContactPatchCache, FreshCopiesAreOnePointAndTheDeeperOneStays) {
  Cache cache;
  cache.see(
      {contactAt({0, 0, 0}, 0.1), contactAt({0.5e-4, 0, 0}, 0.2), contactAt({2e-4, 0, 0}, 0.1)});
  ASSERT_EQ(cache.patch().count, 2);
  EXPECT_EQ(cache.point(0).contact.position.x, 0.5e-4);
  EXPECT_EQ(cache.point(1).contact.position.x, 2e-4);
}

TEST(ContactPatchCache, OnePlaceWithTwoNormalsIsTwoPoints) {
  ContactPoint wall = contactAt({0, 0, 0}, 0.1);
  wall.normal = {1, 0, 0};
  Cache cache;
  cache.see({contactAt({0, 0, 0}, 0.1), wall});
  EXPECT_EQ(cache.patch().count, 2);
}

TEST(ContactPatchCache, AStalePointThatIsACopyOfAFreshOneGoes) {
  Cache cache({.positionThreshold = 0.3});
  cache.see({contactAt({0, 0, 0}, 0.1), contactAt({0.4, 0, 0}, 0.1)});
  cache.see({contactAt({0.2, 0, 0}, 0.1)});  // within 0.3 of both: one matches, the other goes
  EXPECT_EQ(cache.patch().count, 1);
}

TEST(ContactPatchCache, StalePointsThatCameTogetherAreOne) {
  Cache cache({.positionThreshold = 0.25});
  cache.see({contactAt({0, 0, 0}, 0.1), contactAt({0.25 + 1e-9, 0, 0}, 0.1)});
  ASSERT_EQ(cache.patch().count, 2);
  // Between the two bodies, one turned by 2 mrad, the distance is cos(1 mrad) of what it was.
  cache.pose(0).rotation = rotationMatrix(Quat{1, 0, 0, 1e-3});
  cache.seeNothing();
  EXPECT_EQ(cache.patch().count, 1);
}

TEST(ContactPatchCache, ANewPatchIsACopyOfItsRawContacts) {
  const std::vector<ContactPoint> raw{contactAt({0, 0, 0}, 0.4, 1, 2), contactAt({1, 0, 0}, 0.3),
                                      contactAt({0, 1, 0}, 0.2), contactAt({1, 1, 0}, 0.1)};
  Cache cache;
  cache.see(raw);
  ASSERT_EQ(cache.patch().count, 4);
  for (int i = 0; i < 4; ++i) {
    const ContactPoint& expected = raw[static_cast<std::size_t>(i)];
    EXPECT_EQ(std::memcmp(&cache.point(i).contact, &expected, sizeof expected), 0) << i;
    EXPECT_EQ(cache.point(i).id, static_cast<std::uint64_t>(i + 1));
  }
}

}  // namespace
}  // namespace tangere
