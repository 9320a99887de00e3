// SPDX-License-Identifier: Apache-2.0
//
// What ContactPatchCache promises, rule by rule, with numbers that can be checked by hand. Unless a
// test says otherwise all poses are the identity and all normals +z.
#include <tangere/collision.hpp>
#include <tangere/contact_patch_cache.hpp>
#include <tangere/error.hpp>

#include "collision/kernels/patch_matching.hpp"
#include "core/counted_allocations.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

namespace tangere {
namespace {

constexpr Vec3 kUp{0, 0, 1};
constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();

ContactPoint contactAt(const Vec3& position, Real depth, int feature1 = -1, int feature2 = -1) {
  return {.position = position,
          .normal = kUp,
          .depth = depth,
          .feature1 = feature1,
          .feature2 = feature2};
}

ContactManifold manifoldOf(ObjectId object1, ObjectId object2,
                           const std::vector<ContactPoint>& points) {
  ContactManifold manifold;
  manifold.object1 = object1;
  manifold.object2 = object2;
  manifold.type = ContactType::Face;
  for (const ContactPoint& point : points) manifold.points[manifold.count++] = point;
  return manifold;
}

/// A cache that is on, with poses that a test can change.
class Cache {
 public:
  explicit Cache(ContactPatchCacheOptions options = {}) : cache_(enabled(options)) {}

  ContactPatchCache* operator->() { return &cache_; }
  ContactPatchCache& operator*() { return cache_; }
  Transform& pose(int i) { return poses_[static_cast<std::size_t>(i)]; }

  void see(const std::vector<ContactManifold>& manifolds) { cache_.update(manifolds, poses_); }
  void see(const std::vector<PairContact>& contacts) { cache_.update(contacts, poses_); }
  /// One manifold of objects 0 and 1.
  void see(const std::vector<ContactPoint>& points) { see({manifoldOf(0, 1, points)}); }
  void seeNothing() { see(std::vector<ContactManifold>{}); }

  const ContactPatch& patch(int i = 0) { return std::as_const(cache_).patches()[std::size_t(i)]; }
  const ContactPatchPoint& point(int i) { return patch().points[i]; }
  std::vector<Real> depths() {
    std::vector<Real> all;
    for (const EmittedContact& contact : cache_.contacts())
      all.push_back(cache_.point(contact).contact.depth);
    return all;
  }

 private:
  static ContactPatchCacheOptions enabled(ContactPatchCacheOptions options) {
    options.enabled = true;
    return options;
  }
  ContactPatchCache cache_;
  std::vector<Transform> poses_ = std::vector<Transform>(16);
};

std::vector<PairContact> streamOf(const std::vector<ContactPoint>& points) {
  std::vector<PairContact> contacts;
  for (const ContactPoint& point : points) contacts.push_back({0, 1, point});
  return contacts;
}

// ---- keys and storage ---------------------------------------------------------------------------

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

// ---- options ------------------------------------------------------------------------------------

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

// ---- raw contacts -------------------------------------------------------------------------------

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

// ---- matching -----------------------------------------------------------------------------------

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

TEST(ContactPatchCache, ANewPointTakesOverTheImpulsesOfTheOneItReplaces) {
  // A ball rolls by 4 mm: too far to be the same point, near enough to carry the force on.
  Cache cache;
  cache.see({contactAt({0, 0, 0}, 0.001)});
  const std::uint64_t id = cache.point(0).id;
  cache->storeImpulse(cache->contacts()[0], 5, {0, 1, 0});

  cache.see({contactAt({0.004, 0, 0}, 0.002)});

  ASSERT_EQ(cache.patch().count, 2);
  EXPECT_NE(cache.point(0).id, id);
  EXPECT_EQ(cache.point(0).normalImpulse, 5);
  EXPECT_EQ(cache.point(0).tangentImpulse, (Vec3{0, 1, 0}));
  EXPECT_EQ(cache.point(1).id, id);  // still there, but the force is not counted twice
  EXPECT_EQ(cache.point(1).normalImpulse, 0);
  EXPECT_EQ(cache.point(1).tangentImpulse, (Vec3{}));
}

// ---- selection ----------------------------------------------------------------------------------

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

// ---- lifetime and emission ----------------------------------------------------------------------

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

// ---- with the narrow phase ----------------------------------------------------------------------

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

// ---- counters and churn -------------------------------------------------------------------------

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

// ---- motion -------------------------------------------------------------------------------------

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

// ---- several regions of one pair ----------------------------------------------------------------

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

// ---- saving -------------------------------------------------------------------------------------

TEST(ContactPatchCache, ALoadedCacheGoesOnAsTheSavedOne) {
  Cache cache;
  cache.see({contactAt({0, 0, 0}, 0.2), contactAt({1, 0, 0}, 0.1)});
  cache->storeImpulse(cache->contacts()[1], 7, {1, 0, 0});
  cache.see({contactAt({0, 0, 0}, 0.2)});
  ContactPatchCache::Snapshot snapshot;
  cache->save(snapshot);
  Cache other;

  other->load(snapshot);

  EXPECT_EQ(other->stateHash(), cache->stateHash());
  EXPECT_EQ(other->contacts().size(), 2u);
  EXPECT_EQ(other->numPersistentContacts(), 2);
  EXPECT_EQ(other->churn(), cache->churn());
  for (Cache* each : {&cache, &other})
    each->see({contactAt({1, 0, 0}, 0.1), contactAt({3, 0, 0}, 0)});
  EXPECT_EQ(other->stateHash(), cache->stateHash());
  EXPECT_EQ(other.patch().points[1].normalImpulse, 7);
}

TEST(ContactPatchCache, ContentThatIsNotOfACacheIsRefused) {
  Cache cache;
  const std::vector<ContactPoint> one{contactAt({0, 0, 0}, 0.1)};
  cache.see({manifoldOf(0, 1, one), manifoldOf(1, 2, one)});
  const std::uint64_t hash = cache->stateHash();
  ContactPatchCache::Snapshot good;
  cache->save(good);

  ContactPatchCache::Snapshot bad = good;
  std::swap(bad.patches[0], bad.patches[1]);
  EXPECT_THROW(cache->load(bad), InvalidInput);
  bad = good;
  bad.patches[1].count = 5;
  EXPECT_THROW(cache->load(bad), InvalidInput);
  bad = good;
  bad.patches[1].key.object2 = kNoObject;
  EXPECT_THROW(cache->load(bad), InvalidInput);
  EXPECT_EQ(cache->stateHash(), hash);
}

TEST(ContactPatchCache, TheHashSeesEveryFieldThatTheNextFrameDependsOn) {
  Cache cache;
  cache.see({contactAt({0, 0, 0}, 0.2)});
  const std::uint64_t hash = cache->stateHash();
  cache->patches()[0].points[0].tangentImpulse.y = 1;
  EXPECT_NE(cache->stateHash(), hash);
  cache->patches()[0].points[0].tangentImpulse.y = 0;
  EXPECT_EQ(cache->stateHash(), hash);
  cache->resetChurn();
  EXPECT_EQ(cache->stateHash(), hash);
}

TEST(ContactPatchCache, ACopyIsIndependent) {
  Cache cache;
  cache.see({contactAt({0, 0, 0}, 0.2)});
  ContactPatchCache copy(*cache);
  EXPECT_EQ(copy.stateHash(), cache->stateHash());
  const std::uint64_t hash = copy.stateHash();
  cache.seeNothing();
  EXPECT_EQ(copy.stateHash(), hash);
  copy = *cache;
  EXPECT_EQ(copy.stateHash(), cache->stateHash());
  ContactPatchCache moved(std::move(copy));
  EXPECT_EQ(moved.stateHash(), cache->stateHash());
  copy = moved;
  EXPECT_EQ(copy.contacts().size(), 1u);
}

// ---- memory -------------------------------------------------------------------------------------

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
