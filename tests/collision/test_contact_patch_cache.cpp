// SPDX-License-Identifier: Apache-2.0
//
// What ContactPatchCache promises about its patches: how they are kept, found, emitted and counted.
// Its points are in test_contact_patch_{matching,selection,motion}.cpp.
#include <tangere/collision.hpp>
#include <tangere/error.hpp>

#include "collision/patch_cache_under_test.hpp"
#include "core/counted_allocations.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace tangere {
namespace {

using test::contactAt;
using test::kUp;
using test::manifoldOf;
using Cache = test::PatchCacheUnderTest;

constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();

// Keys and storage.

TEST(ContactPatchCache, ThePairKeyIsOrderedByIdWhicheverObjectComesFirst) {
  Cache cache;
  ContactManifold manifold = manifoldOf(5, 2, {contactAt({0, 0, 0}, 0.5, 7, 9)});
  manifold.points[0].normal = {0, 0, 1};

  cache.see({manifold});

  ASSERT_EQ(cache->numManifolds(), 1);
  EXPECT_EQ(cache.patch().key, (PairKey{2, 5, 0}));
  // From 2 to 5 it was +z: from 5 to 2 it is -z, and the features change sides.
  EXPECT_EQ(cache.point(0).contact.normal, (Vec3{0, 0, -1}));
  EXPECT_EQ(cache.point(0).contact.feature1, 9);
  EXPECT_EQ(cache.point(0).contact.feature2, 7);
  // Object 2 is pushed down, so its surface is above by half the depth.
  EXPECT_EQ(cache.point(0).local1, (Vec3{0, 0, 0.25}));
  EXPECT_EQ(cache.point(0).local2, (Vec3{0, 0, -0.25}));
}

TEST(ContactPatchCache, AnExchangedPairFindsThePatchOfTheOtherOrder) {
  Cache cache;
  cache.see({manifoldOf(2, 5, {contactAt({0, 0, 0}, 0.5)})});
  const std::uint64_t id = cache.point(0).id;
  ContactManifold exchanged = manifoldOf(5, 2, {contactAt({0, 0, 0}, 0.5)});
  exchanged.points[0].normal = {0, 0, -1};

  cache.see({exchanged});

  ASSERT_EQ(cache->numManifolds(), 1);
  EXPECT_EQ(cache.point(0).id, id);
}

TEST(ContactPatchCache, PatchesAreContiguousSortedByKeyAndFoundByKey) {
  Cache cache;
  const std::vector<ContactPoint> one{contactAt({0, 0, 0}, 0.01)};
  cache.see({manifoldOf(3, 4, one), manifoldOf(0, 9, one), manifoldOf(0, 2, one)});

  const std::span<const ContactPatch> patches = std::as_const(*cache).patches();
  ASSERT_EQ(patches.size(), 3u);
  EXPECT_EQ(patches[0].key, (PairKey{0, 2, 0}));
  EXPECT_EQ(patches[1].key, (PairKey{0, 9, 0}));
  EXPECT_EQ(patches[2].key, (PairKey{3, 4, 0}));
  EXPECT_EQ(cache->find({0, 9, 0}), &patches[1]);
  EXPECT_EQ(cache->find({0, 9, 1}), nullptr);
  EXPECT_EQ(cache->find({3, 9, 0}), nullptr);
}

TEST(ContactPatchCache, APatchHoldsFourPointsAndIsPlainData) {
  static_assert(std::is_trivially_copyable_v<ContactPatch>);
  static_assert(ContactPatch::kMaxPoints == 4);
  static_assert(std::is_same_v<decltype(ContactPatch::count), std::uint8_t>);
  static_assert(std::is_same_v<decltype(ContactPatch::framesSinceSeen), std::uint16_t>);
  static_assert(std::is_same_v<decltype(ContactPatch::lastUpdateFrame), std::uint32_t>);
  static_assert(std::is_same_v<decltype(ContactPatchPoint::age), std::uint8_t>);
  Cache cache;

  cache.seeNothing();
  cache.see({contactAt({0, 0, 0}, 0.25)});

  EXPECT_EQ(cache.patch().count, 1);
  EXPECT_EQ(cache.patch().lastUpdateFrame, 2u);
  EXPECT_EQ(cache.patch().framesSinceSeen, 0);
  EXPECT_EQ(cache.patch().type, ContactType::Face);
  EXPECT_EQ(cache.point(0).contact.position, (Vec3{0, 0, 0}));
  EXPECT_EQ(cache.point(0).contact.normal, kUp);
  EXPECT_EQ(cache.point(0).contact.depth, 0.25);
  EXPECT_EQ(cache.point(0).age, 0);
}

TEST(ContactPatchCache, AgeAndFramesSinceSeenSaturate) {
  Cache cache({.maxSeparationFrames = 1000000});
  cache.see({contactAt({0, 0, 0}, 0.25)});

  for (int i = 0; i < 300; ++i) cache.seeNothing();
  EXPECT_EQ(cache.point(0).age, 255);
  EXPECT_EQ(cache.patch().framesSinceSeen, 300);
  EXPECT_EQ(cache.patch().lastUpdateFrame, 1u);
  for (int i = 0; i < 65400; ++i) cache.seeNothing();
  EXPECT_EQ(cache.patch().framesSinceSeen, 65535);
  EXPECT_EQ(cache->numPersistentContacts(), 1);
}

// Options.

TEST(ContactPatchCache, DefaultsAreThoseOfTheDesign) {
  const ContactPatchCacheOptions options;
  EXPECT_FALSE(options.enabled);
  EXPECT_EQ(options.maxPointsPerPair, 4);
  EXPECT_EQ(options.maxPairs, 0);
  EXPECT_EQ(options.maxSeparationFrames, 4);
  EXPECT_EQ(options.positionThreshold, 1e-4);
  EXPECT_EQ(options.normalThreshold, 0.99);
  EXPECT_EQ(options.depthEpsilon, 1e-6);
  EXPECT_FALSE(options.allowNegativeDepth);
  EXPECT_EQ(ContactPatchCache({.maxPointsPerPair = 9}).options().maxPointsPerPair, 4);
}

TEST(ContactPatchCache, OptionsThatMeanNothingAreRefused) {
  EXPECT_THROW(ContactPatchCache({.maxPointsPerPair = -1}), InvalidInput);
  EXPECT_THROW(ContactPatchCache({.maxPairs = -1}), InvalidInput);
  EXPECT_THROW(ContactPatchCache({.maxSeparationFrames = -1}), InvalidInput);
  EXPECT_THROW(ContactPatchCache({.positionThreshold = -1}), InvalidInput);
  EXPECT_THROW(ContactPatchCache({.normalThreshold = kNan}), InvalidInput);
  EXPECT_THROW(ContactPatchCache({.normalThreshold = 1.1}), InvalidInput);
  EXPECT_THROW(ContactPatchCache({.depthEpsilon = kNan}), InvalidInput);
  EXPECT_THROW(ContactPatchCache({.separationThreshold = -1}), InvalidInput);
  EXPECT_THROW(ContactPatchCache({.warmStartRadius = kNan}), InvalidInput);
  ContactPatchCache cache;
  EXPECT_THROW(cache.setOptions({.maxPairs = -1}), InvalidInput);
}

TEST(ContactPatchCache, DisabledOrWithoutPointsItIsEmptyAndTogglingResets) {
  Cache cache;
  const ContactPatchCacheOptions on = cache->options();
  cache.see({contactAt({0, 0, 0}, 0.25)});
  ASSERT_EQ(cache->contacts().size(), 1u);

  ContactPatchCacheOptions off = on;
  off.enabled = false;
  cache->setOptions(off);
  EXPECT_EQ(cache->contacts().size(), 0u);
  cache.see({contactAt({0, 0, 0}, 0.25)});
  EXPECT_EQ(cache->contacts().size(), 0u);
  EXPECT_EQ(cache->numManifolds(), 0);
  EXPECT_EQ(cache->frame(), 0u);

  cache->setOptions(on);
  cache.seeNothing();  // nothing of the time before is left to emit
  EXPECT_EQ(cache->contacts().size(), 0u);

  ContactPatchCacheOptions pointless = on;
  pointless.maxPointsPerPair = 0;
  cache->setOptions(pointless);
  cache.see({contactAt({0, 0, 0}, 0.25)});
  EXPECT_EQ(cache->contacts().size(), 0u);
}

TEST(ContactPatchCache, AChangeOfAThresholdKeepsThePatches) {
  Cache cache;
  cache.see({contactAt({0, 0, 0}, 0.25)});
  ContactPatchCacheOptions looser = cache->options();
  looser.positionThreshold = 0.5;
  cache->setOptions(looser);
  ASSERT_EQ(cache->numManifolds(), 1);
  const std::uint64_t id = cache.point(0).id;

  cache.see({contactAt({0.4, 0, 0}, 0.25)});

  EXPECT_EQ(cache.point(0).id, id);
}

// Lifetime and emission.

TEST(ContactPatchCache, AnUnseenPairIsEmittedForMaxSeparationFramesAndNotLonger) {
  Cache cache({.maxSeparationFrames = 3});
  cache.see({contactAt({0, 0, 0}, 0.25)});
  for (int frames = 1; frames <= 3; ++frames) {
    cache.seeNothing();
    ASSERT_EQ(cache.depths(), (std::vector<Real>{0.25})) << frames;
    EXPECT_EQ(cache.patch().framesSinceSeen, frames);
    EXPECT_EQ(cache.patch().lastUpdateFrame, 1u);
  }
  cache.seeNothing();
  EXPECT_EQ(cache->contacts().size(), 0u);
  EXPECT_EQ(cache->numManifolds(), 0);
}

TEST(ContactPatchCache, APairThatReappearsInTimeGoesOn) {
  Cache cache({.maxSeparationFrames = 3});
  cache.see({contactAt({0, 0, 0}, 0.25)});
  const std::uint64_t id = cache.point(0).id;
  for (int i = 0; i < 3; ++i) cache.seeNothing();
  cache.see({contactAt({0, 0, 0}, 0.25)});
  EXPECT_EQ(cache.point(0).id, id);
  EXPECT_EQ(cache.patch().framesSinceSeen, 0);
  for (int i = 0; i < 4; ++i) cache.seeNothing();
  cache.see({contactAt({0, 0, 0}, 0.25)});
  EXPECT_NE(cache.point(0).id, id);
}

TEST(ContactPatchCache, SeenAndUnseenPairsAreEmittedInTheOrderOfTheirKeys) {
  Cache cache;
  const auto one = [](Real depth) { return std::vector<ContactPoint>{contactAt({}, depth)}; };
  cache.see({manifoldOf(0, 1, one(0.1)), manifoldOf(2, 3, one(0.3))});
  cache.see({manifoldOf(4, 5, one(0.5)), manifoldOf(1, 2, one(0.2))});
  EXPECT_EQ(cache.depths(), (std::vector<Real>{0.1, 0.2, 0.3, 0.5}));
  EXPECT_EQ(cache->contacts()[0].rawManifold, -1);
  EXPECT_EQ(cache->contacts()[1].rawManifold, 1);
  EXPECT_EQ(cache->contacts()[2].rawManifold, -1);
  EXPECT_EQ(cache->contacts()[3].rawManifold, 0);
}

TEST(ContactPatchCache, BeyondMaxPairsAPairBypassesTheCache) {
  Cache cache({.maxPointsPerPair = 2, .maxPairs = 1});
  cache.see({manifoldOf(2, 3, {contactAt({0, 0, 0}, 0.1)})});
  // The kept pair keeps its place although the others have smaller keys.
  const std::vector<ContactManifold> manifolds{
      manifoldOf(2, 3, {contactAt({0, 0, 0}, 0.1)}),
      manifoldOf(
          0, 1, {contactAt({0, 0, 0}, 0.2), contactAt({1, 0, 0}, 0.4), contactAt({9, 0, 0}, 0.3)})};
  for (int i = 0; i < 2; ++i) {
    cache.see(manifolds);
    // The first two in order of depth, not the farthest: nothing is chosen for a bypassed pair.
    EXPECT_EQ(cache.depths(), (std::vector<Real>{0.4, 0.3, 0.1}));
    EXPECT_EQ(cache->numManifolds(), 1);
    EXPECT_EQ(cache->numPersistentContacts(), 1);
    EXPECT_TRUE(cache.patch(0).isBypassed);
    EXPECT_EQ(cache.patch(0).points[0].id, 0u);
    EXPECT_FALSE(cache.patch(1).isBypassed);
    EXPECT_EQ(cache.patch(1).points[0].id, 1u);
  }
  cache.see({manifolds[0]});  // a bypassed pair is not remembered
  EXPECT_EQ(cache.depths(), (std::vector<Real>{0.1}));
}

TEST(ContactPatchCache, TheRoomOfADroppedPatchIsFreeInTheNextFrame) {
  Cache cache({.maxPairs = 1, .maxSeparationFrames = 0});
  const std::vector<ContactPoint> one{contactAt({0, 0, 0}, 0.1)};
  cache.see({manifoldOf(2, 3, one)});
  cache.see({manifoldOf(0, 1, one)});
  EXPECT_TRUE(cache.patch().isBypassed);
  cache.see({manifoldOf(0, 1, one)});
  EXPECT_FALSE(cache.patch().isBypassed);
}

TEST(ContactPatchCache, OneObjectOrAllButTheLivingCanBeForgotten) {
  Cache cache;
  const std::vector<ContactPoint> one{contactAt({0, 0, 0}, 0.1)};
  const auto see = [&] {
    cache.see({manifoldOf(0, 1, one), manifoldOf(1, 2, one), manifoldOf(2, 3, one)});
  };
  see();
  cache->invalidateObject(1);
  ASSERT_EQ(cache->numManifolds(), 1);
  EXPECT_EQ(cache->contacts().size(), 1u);
  EXPECT_EQ(cache->point(cache->contacts()[0]).id, 3u);
  EXPECT_EQ(cache->numPersistentContacts(), 1);

  see();
  const std::array<std::uint8_t, 3> alive{1, 1, 1};  // object 3 is beyond: gone
  cache->purge(alive);
  ASSERT_EQ(cache->numManifolds(), 2);
  EXPECT_NE(cache->find({0, 1, 0}), nullptr);
  EXPECT_NE(cache->find({1, 2, 0}), nullptr);
  const std::array<std::uint8_t, 4> noneButTheOthers{0, 1, 1, 1};
  cache->purge(noneButTheOthers);
  EXPECT_EQ(cache->find({0, 1, 0}), nullptr);
  cache->reset();
  EXPECT_EQ(cache->contacts().size(), 0u);
  EXPECT_EQ(cache->frame(), 0u);
}

TEST(ContactPatchCache, APatchWhoseObjectHasNoPoseAnyMoreIsDropped) {
  ContactPatchCache cache({.enabled = true});
  const std::vector<ContactManifold> manifolds{manifoldOf(0, 5, {contactAt({0, 0, 0}, 0.1)})};
  cache.update(manifolds, std::vector<Transform>(6));
  ASSERT_EQ(cache.numManifolds(), 1);
  cache.update(std::span<const ContactManifold>{}, std::vector<Transform>(5));
  EXPECT_EQ(cache.numManifolds(), 0);
}

// With the narrow phase.

TEST(ContactPatchCache, TheCollisionResultIsLeftAloneAndEachContactKnowsItsRawOne) {
  const Box box({0.5, 0.5, 0.5});
  std::vector<Transform> poses(2);
  poses[1].translation = {0, 0, 0.99};
  CollisionResult result;
  collide(box, poses[0], box, poses[1], CollisionOption::fullContacts(), result);
  ASSERT_EQ(result.numContacts(), 4);
  result.manifolds()[0].object1 = 0;
  result.manifolds()[0].object2 = 1;
  const ContactManifold before = result.manifolds()[0];
  ContactPatchCache cache({.enabled = true});

  cache.update(result.manifolds(), poses);

  EXPECT_EQ(std::memcmp(&before, &result.manifolds()[0], sizeof before), 0);
  ASSERT_EQ(cache.contacts().size(), 4u);
  for (const EmittedContact& contact : cache.contacts()) {
    ASSERT_EQ(contact.rawManifold, 0);
    const ContactPoint& raw = before.points[contact.rawPoint];
    EXPECT_EQ(cache.point(contact).contact.position, raw.position);
    EXPECT_EQ(cache.point(contact).contact.feature1, raw.feature1);
    EXPECT_NEAR(raw.depth, 0.01, 1e-15);
  }
}

TEST(ContactPatchCache, TheNarrowPhaseKeepsNoContactsOfItsOwn) {
  CollisionGroup group;
  const auto box = std::make_shared<Box>(Vec3{0.5, 0.5, 0.5});
  group.add(box, {});
  group.add(box, {Mat3::identity(), {0, 0, 0.9999}});
  ContactPatchCache cache({.enabled = true});
  std::vector<Transform> poses{group.object(0).pose, group.object(1).pose};
  CollisionResult result;
  group.collide(CollisionOption::fullContacts(), result);
  cache.update(result.manifolds(), poses);
  ASSERT_EQ(cache.contacts().size(), 4u);

  poses[1].translation.z = 1.0001;  // a gap of 0.1 mm
  group.setPose(1, poses[1]);
  result.clear();
  group.collide(CollisionOption::fullContacts(), result);
  cache.update(result.manifolds(), poses);

  EXPECT_EQ(result.numContacts(), 0);  // one memory of contacts, the cache's
  ASSERT_EQ(cache.contacts().size(), 4u);
  for (const EmittedContact& contact : cache.contacts())
    EXPECT_EQ(cache.point(contact).contact.depth, 0);
}

// Counters and churn.

TEST(ContactPatchCache, CountersCountPatchesPointsAndFrames) {
  Cache cache;
  cache.see({manifoldOf(0, 1, {contactAt({0, 0, 0}, 0.1), contactAt({1, 0, 0}, 0.1)}),
             manifoldOf(1, 2, {contactAt({0, 0, 0}, 0.1)})});
  cache.seeNothing();
  EXPECT_EQ(cache->numManifolds(), 2);
  EXPECT_EQ(cache->numPersistentContacts(), 3);
  EXPECT_EQ(cache->frame(), 2u);
}

TEST(ContactPatchCache, ChurnCountsWhatCameWentAndMovedPerPairAndPerRun) {
  Cache cache({.maxSeparationFrames = 1});
  const ContactPoint corner = contactAt({0, 0, 0}, 0.2, 1, 1), other = contactAt({1, 0, 0}, 0.1);
  cache.see({corner, other});
  EXPECT_EQ(cache->churn(), (PatchChurn{.adds = 2, .rawAdds = 2}));

  cache.see({corner});  // the other one is held: the raw stream lost it, the emitted one did not
  EXPECT_EQ(cache->churn(), (PatchChurn{.adds = 2, .rawAdds = 2, .rawRemoves = 1}));
  cache.see({corner, other});  // and it is back
  EXPECT_EQ(cache->churn(), (PatchChurn{.adds = 2, .rawAdds = 3, .rawRemoves = 1}));
  EXPECT_EQ(cache->churnOf({0, 1, 0}), cache->churn());

  cache->resetChurn();
  cache.see({contactAt({0.005, 0, 0}, 0.2, 1, 1), other});  // the same corner, 5 mm on
  EXPECT_EQ(cache->churn(), (PatchChurn{.moved = 1}));
  EXPECT_EQ(cache->churnOf({0, 1, 0}).total(), 1u);
  EXPECT_EQ(cache->churnOf({0, 2, 0}).total(), 0u);

  cache->resetChurn();
  cache.seeNothing();
  EXPECT_EQ(cache->churn(), (PatchChurn{.rawRemoves = 2}));
  cache.seeNothing();
  EXPECT_EQ(cache->churn(), (PatchChurn{.removes = 2, .rawRemoves = 2}));
}

// Memory.

TEST(ContactPatchCache, ASteadyStateAsksForNoMemory) {
  constexpr int kPairs = 64;
  std::vector<Transform> poses(kPairs + 1);
  std::vector<ContactManifold> manifolds;
  for (int i = 0; i < kPairs; ++i) {
    const Real z = i;
    const ObjectId object = static_cast<ObjectId>(i);
    manifolds.push_back(
        manifoldOf(object, object + 1,
                   {contactAt({0, 0, z}, 0.01, 1, 1), contactAt({1, 0, z}, 0.01, 2, 1),
                    contactAt({0, 1, z}, 0.01, 3, 1), contactAt({1, 1, z}, 0.01, 4, 1)}));
  }
  std::vector<ContactManifold> flickering = manifolds;  // points, pairs and regions come and go
  for (std::size_t i = 0; i < kPairs; i += 3) flickering[i].count = 2;
  flickering.erase(flickering.begin() + 7);
  flickering.push_back(manifoldOf(3, 4, {contactAt({9, 0, 0}, 0.01)}));
  std::swap(flickering[0], flickering[60]);
  ContactPatchCache cache({.enabled = true});
  for (int i = 0; i < 20; ++i) {
    cache.update(manifolds, poses);
    cache.update(flickering, poses);
  }

  const long before = test::numAllocations;
  for (int i = 0; i < 50; ++i) {
    cache.update(manifolds, poses);
    cache.update(flickering, poses);
    cache.update(std::span<const ContactManifold>{}, poses);
  }
  EXPECT_EQ(test::numAllocations - before, 0);

  ContactPatchCache reserved({.enabled = true});
  reserved.reserve(kPairs);
  reserved.update(std::span<const ContactManifold>{}, poses);
  const long beforeFirst = test::numAllocations;
  reserved.update(manifolds, poses);
  EXPECT_LE(test::numAllocations - beforeFirst, 2);  // scratch of one pair, not of all
}

}  // namespace
}  // namespace tangere
