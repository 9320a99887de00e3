// SPDX-License-Identifier: Apache-2.0
//
// Points and regions of ContactPatchCache follow their bodies while these move.
#include "collision/patch_cache_under_test.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tangere {
namespace {

using test::contactAt;
using test::manifoldOf;
using test::streamOf;
using Cache = test::PatchCacheUnderTest;

// Motion.

TEST(ContactPatchCache, TheDepthOfAStalePointFollowsItsBodies) {
  Cache cache;
  cache.see({contactAt({0, 0, 0}, 0.25)});
  cache.pose(0).translation.z = 0.125;  // object 0 is above: it goes up by half the depth
  cache.seeNothing();
  ASSERT_EQ(cache->contacts().size(), 1u);
  EXPECT_EQ(cache.point(0).contact.depth, 0.125);
  EXPECT_EQ(cache.point(0).contact.position, (Vec3{0, 0, 0.0625}));

  cache.pose(0).translation.z = -0.125;
  cache.seeNothing();
  EXPECT_EQ(cache.point(0).contact.depth, 0.375);
}

TEST(ContactPatchCache, AStalePointOnASeenPairFollowsItsBodiesToo) {
  Cache cache;
  cache.see({contactAt({0, 0, 0}, 0.25), contactAt({2, 0, 0}, 0.25)});
  cache.pose(0).translation.z = 0.125;
  cache.see({contactAt({0, 0, 0.0625}, 0.125)});
  ASSERT_EQ(cache.patch().count, 2);
  EXPECT_EQ(cache.point(1).contact.depth, 0.125);
  EXPECT_EQ(cache.point(1).age, 1);
}

TEST(ContactPatchCache, APairThatMovesAsOneKeepsItsPoints) {
  // Both bodies ride on a belt: in world the point is 1 m away, between the bodies nothing changed.
  Cache cache;
  cache.see({contactAt({0, 0, 0}, 0.25)});
  const std::uint64_t id = cache.point(0).id;
  cache.pose(0).translation.x = cache.pose(1).translation.x = 1;

  cache.seeNothing();
  EXPECT_EQ(cache.point(0).contact.position, (Vec3{1, 0, 0}));
  EXPECT_EQ(cache.point(0).contact.depth, 0.25);

  cache.pose(0).translation.x = cache.pose(1).translation.x = 2;
  cache.see({contactAt({2, 0, 0}, 0.25)});
  EXPECT_EQ(cache.point(0).id, id);
}

TEST(ContactPatchCache, AStalePointIsDroppedWhenItsBodiesCameApart) {
  const auto numAfterMove = [](const Vec3& move, bool allowNegativeDepth) {
    Cache cache({.separationThreshold = 0.25, .allowNegativeDepth = allowNegativeDepth});
    cache.see({contactAt({0, 0, 0}, 0.25)});
    cache.pose(0).translation = move;
    cache.seeNothing();
    if (cache->contacts().empty()) return -1.0;
    return cache.point(0).contact.depth;
  };
  EXPECT_EQ(numAfterMove({0, 0, 0.5}, false), 0);      // a gap of 0.25, emitted as touching
  EXPECT_EQ(numAfterMove({0, 0, 0.5}, true), -0.25);   // or as it is
  EXPECT_EQ(numAfterMove({0, 0, 0.501}, false), -1);   // beyond
  EXPECT_EQ(numAfterMove({0.25, 0, 0}, false), 0.25);  // slid across by 0.25
  EXPECT_EQ(numAfterMove({0.251, 0, 0}, false), -1);
}

// Several regions of one pair.

TEST(ContactPatchCache, RegionsKeepTheirNumbersWhateverTheOrderOfArrival) {
  Cache cache;
  const ContactManifold left = manifoldOf(0, 1, {contactAt({-1, 0, 0}, 0.1)});
  const ContactManifold middle = manifoldOf(0, 1, {contactAt({0, 0, 0}, 0.2)});
  const ContactManifold right = manifoldOf(0, 1, {contactAt({1, 0, 0}, 0.3)});
  cache.see({right, left});
  ASSERT_EQ(cache->numManifolds(), 2);
  EXPECT_EQ(cache.patch(0).key, (PairKey{0, 1, 0}));
  EXPECT_EQ(cache.patch(0).points[0].contact.depth, 0.1);  // numbered by place: left is 0
  EXPECT_EQ(cache.patch(1).points[0].contact.depth, 0.3);

  cache.see({right, middle, left});  // the new one gets the next number
  ASSERT_EQ(cache->numManifolds(), 3);
  EXPECT_EQ(cache.depths(), (std::vector<Real>{0.1, 0.3, 0.2}));
  EXPECT_EQ(cache.patch(2).key, (PairKey{0, 1, 2}));

  cache.see({middle, right});  // left is not seen and keeps its number
  EXPECT_EQ(cache.depths(), (std::vector<Real>{0.1, 0.3, 0.2}));
  EXPECT_EQ(cache.patch(0).framesSinceSeen, 1);
  for (int i = 0; i < 5; ++i) cache.see({middle, right});
  EXPECT_EQ(cache.depths(), (std::vector<Real>{0.3, 0.2}));
  EXPECT_EQ(cache.patch(0).key, (PairKey{0, 1, 1}));

  cache.see({middle, left, right});  // number 0 is free again
  EXPECT_EQ(cache.depths(), (std::vector<Real>{0.1, 0.3, 0.2}));
  EXPECT_EQ(cache.patch(0).key, (PairKey{0, 1, 0}));
}

TEST(ContactPatchCache, RegionsFollowTheirBodies) {
  Cache cache;
  const auto feet = [](Real x) {
    return std::vector<ContactManifold>{manifoldOf(0, 1, {contactAt({x, 0, 0}, 0.1)}),
                                        manifoldOf(0, 1, {contactAt({x + 1, 0, 0}, 0.2)})};
  };
  cache.see(feet(0));
  const std::uint64_t id = cache.patch(0).points[0].id;
  cache.pose(0).translation.x = cache.pose(1).translation.x = 1;
  cache.see(feet(1));  // the left foot stands where the right one was
  ASSERT_EQ(cache->numManifolds(), 2);
  EXPECT_EQ(cache.patch(0).points[0].id, id);
  EXPECT_EQ(cache.depths(), (std::vector<Real>{0.1, 0.2}));
}

TEST(ContactPatchCache, ARegionFarFromAllKeptOnesIsANewOne) {
  Cache cache;
  const auto at = [](Real x) { return manifoldOf(0, 1, {contactAt({x, 0, 0}, 0.1)}); };
  cache.see({at(0), at(1)});
  cache.see({at(0), at(5)});
  ASSERT_EQ(cache->numManifolds(), 3);
  EXPECT_EQ(cache.patch(1).framesSinceSeen, 1);
  EXPECT_EQ(cache.patch(2).points[0].contact.position.x, 5);
}

TEST(ContactPatchCache, ARegionWithoutValidContactsTakesNobodysPlace) {
  Cache cache;
  const auto at = [](Real x, Real depth) {
    return manifoldOf(0, 1, {contactAt({x, 0, 0}, depth)});
  };
  cache.see({at(0, 0.1), at(1, 0.2)});
  cache.see({at(0, -1), at(1, 0.2), at(0, 0.1)});
  EXPECT_EQ(cache.depths(), (std::vector<Real>{0.1, 0.2}));
  EXPECT_EQ(cache.patch(0).framesSinceSeen, 0);
  EXPECT_EQ(cache->numRejectedContacts(), 1);
}

TEST(ContactPatchCache, AStreamGoesOnWithTheFirstRegionThatManifoldsLeft) {
  Cache cache;
  const auto at = [](Real x) { return manifoldOf(0, 1, {contactAt({x, 0, 0}, 0.1)}); };
  cache.see({at(0), at(1)});
  cache.see(streamOf({contactAt({0, 0, 0}, 0.1), contactAt({1, 0, 0}, 0.1)}));
  ASSERT_EQ(cache->numManifolds(), 2);
  EXPECT_EQ(cache.patch(0).count, 2);
  EXPECT_EQ(cache.patch(0).points[0].id, 1u);
  EXPECT_EQ(cache.patch(1).framesSinceSeen, 1);
}

}  // namespace
}  // namespace tangere
