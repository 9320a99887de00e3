// SPDX-License-Identifier: Apache-2.0
//
// What holds for ContactPatchCache whatever it is fed: random streams with copies, wrong contacts,
// points and pairs that come and go, several regions, moving bodies. Also that it does what it is
// for: contacts that flicker come out calm.
#include <tangere/collision.hpp>
#include <tangere/contact_patch_cache.hpp>

#include "collision/contact_patch_shared.hpp"
#include "collision/contact_patch_threads.hpp"
#include "collision/kernels/patch_matching.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace tangere {
namespace {

struct Random {
  std::uint64_t state;
  explicit Random(std::uint64_t seed) : state(seed * 0x9E3779B97F4A7C15u + 1) {}
  std::uint64_t bits() {
    std::uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  int below(int n) { return static_cast<int>(bits() % static_cast<std::uint64_t>(n)); }
  bool chance(Real p) { return real(0, 1) < p; }
  Real real(Real low, Real high) {
    return low + (high - low) * (static_cast<Real>(bits() >> 11) * 0x1p-53);
  }
  Vec3 vector(Real size) { return {real(-size, size), real(-size, size), real(-size, size)}; }
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[bits() % i]);
  }
};

constexpr int kObjects = 8;

/// A frame of nonsense and sense: coordinates from a coarse grid, so that copies and ties are
/// common, with noise below and above the thresholds.
ContactPoint randomContact(Random& random) {
  const Real grid = 0.25;
  ContactPoint contact;
  contact.position = {grid * random.below(4), grid * random.below(4), grid * random.below(2)};
  if (random.chance(0.5)) contact.position += random.vector(random.chance(0.5) ? 5e-5 : 5e-3);
  contact.normal = random.chance(0.8) ? Vec3{0, 0, 1} : random.vector(1);
  contact.depth = random.chance(0.5) ? 0.01 : random.real(0, 0.02);
  if (random.chance(0.5)) contact.feature1 = random.below(6);
  if (random.chance(0.5)) contact.feature2 = random.below(3);
  const int fault = random.below(60);
  if (fault == 0) contact.depth = -0.01;
  if (fault == 1) contact.normal = {};
  if (fault == 2) contact.position.y = std::numeric_limits<Real>::quiet_NaN();
  if (fault == 3) contact.depth = std::numeric_limits<Real>::infinity();
  return contact;
}

std::vector<ContactManifold> randomFrame(Random& random) {
  std::vector<ContactManifold> manifolds;
  const int count = random.below(24);
  for (int i = 0; i < count; ++i) {
    ContactManifold manifold;
    manifold.object1 = static_cast<ObjectId>(random.below(kObjects));
    manifold.object2 = static_cast<ObjectId>(random.below(kObjects + (random.chance(0.1) ? 2 : 0)));
    if (random.chance(0.01)) manifold.object2 = kNoObject;
    manifold.count = random.below(5);
    manifold.type = static_cast<ContactType>(random.below(5));
    for (int k = 0; k < manifold.count; ++k) manifold.points[k] = randomContact(random);
    manifolds.push_back(manifold);
  }
  return manifolds;
}

void moveObjects(Random& random, std::vector<Transform>& poses) {
  for (Transform& pose : poses) {
    if (!random.chance(0.3)) continue;
    pose.translation += random.vector(random.chance(0.9) ? 2e-4 : 0.5);
    const Real angle = random.real(-1e-3, 1e-3);
    const Quat turn{std::sqrt(1 - angle * angle), 0, 0, angle};
    pose.rotation = rotationMatrix(turn) * pose.rotation;
  }
}

ContactPatchCacheOptions randomOptions(Random& random) {
  ContactPatchCacheOptions options{.enabled = true};
  options.maxPointsPerPair = 1 + random.below(4);
  options.maxPairs = random.chance(0.5) ? 0 : random.below(12);
  options.maxSeparationFrames = random.below(5);
  options.positionThreshold = random.chance(0.5) ? 1e-4 : random.real(0, 0.3);
  options.normalThreshold = random.chance(0.5) ? 0.99 : random.real(-1, 1);
  options.allowNegativeDepth = random.chance(0.3);
  return options;
}

void expectInvariants(const ContactPatchCache& cache) {
  const ContactPatchCacheOptions& options = cache.options();
  const kernel::PointThresholds<Real> same{options.positionThreshold * options.positionThreshold,
                                           options.normalThreshold};
  std::size_t numContacts = 0;
  int numKept = 0;
  std::set<std::uint64_t> ids;
  const std::span<const ContactPatch> patches = cache.patches();
  for (std::size_t i = 0; i < patches.size(); ++i) {
    const ContactPatch& patch = patches[i];
    ASSERT_LT(patch.key.object1, patch.key.object2);
    if (i > 0) {
      ASSERT_LT(patches[i - 1].key, patch.key);
    }
    ASSERT_GE(patch.count, 1);
    ASSERT_LE(patch.count, options.maxPointsPerPair);
    ASSERT_LE(patch.framesSinceSeen, options.maxSeparationFrames);
    ASSERT_EQ(patch.framesSinceSeen, cache.frame() - patch.lastUpdateFrame);
    numKept += patch.isBypassed ? 0 : 1;
    for (int k = 0; k < patch.count; ++k) {
      const ContactPatchPoint& point = patch.points[k];
      ASSERT_NEAR(norm(point.contact.normal), 1, 1e-11);
      ASSERT_TRUE(std::isfinite(squaredNorm(point.contact.position)));
      ASSERT_TRUE(std::isfinite(point.contact.depth));
      ASSERT_TRUE(point.contact.depth >= 0 || options.allowNegativeDepth);
      ASSERT_LE(point.age, options.maxSeparationFrames);
      ASSERT_GE(point.age, patch.framesSinceSeen);
      if (patch.isBypassed) {
        ASSERT_EQ(point.id, 0u);
      } else {
        ASSERT_TRUE(ids.insert(point.id).second);
      }
      if (k > 0) {
        ASSERT_TRUE(kernel::comesBefore(patch.points[k - 1].contact, point.contact));
      }
      for (int m = 0; m < k; ++m) {
        const ContactPoint& other = patch.points[m].contact;
        ASSERT_FALSE(kernel::isSamePoint(point.contact.position, point.contact.normal,
                                         other.position, other.normal, same));
      }
      const EmittedContact& emitted = cache.contacts()[numContacts++];
      ASSERT_EQ(emitted.patch, static_cast<int>(i));
      ASSERT_EQ(emitted.point, k);
      ASSERT_EQ(emitted.rawManifold >= 0, point.age == 0);
    }
    const ContactPatchPoint empty{};
    for (int k = patch.count; k < ContactPatch::kMaxPoints; ++k) {
      ASSERT_EQ(std::memcmp(&patch.points[k], &empty, sizeof empty), 0);
    }
  }
  ASSERT_EQ(numContacts, cache.contacts().size());
  ASSERT_EQ(numKept, cache.numManifolds());
  ASSERT_EQ(static_cast<int>(ids.size()), cache.numPersistentContacts());
  if (options.maxPairs > 0) {
    ASSERT_LE(numKept, options.maxPairs);
  }
  // Every point that came has gone or is still here.
  ASSERT_EQ(cache.churn().adds - cache.churn().removes, ids.size());
}

/// A solver: writes something that depends on the point alone.
void storeImpulses(ContactPatchCache& cache) {
  for (const EmittedContact& contact : cache.contacts()) {
    const ContactPatchPoint& point = cache.point(contact);
    cache.storeImpulse(contact, static_cast<Real>(point.id) + point.contact.depth,
                       point.contact.position);
  }
}

/// Bit equality, reserved bytes and all.
void expectSameBits(const ContactPatchCache& a, const ContactPatchCache& b) {
  ASSERT_EQ(a.patches().size(), b.patches().size());
  for (std::size_t i = 0; i < a.patches().size(); ++i) {
    ASSERT_EQ(std::memcmp(&a.patches()[i], &b.patches()[i], sizeof(ContactPatch)), 0) << i;
  }
  ASSERT_EQ(a.stateHash(), b.stateHash());
  ASSERT_EQ(a.churn(), b.churn());
  ASSERT_EQ(a.frame(), b.frame());
}

class RandomStreams : public testing::TestWithParam<int> {};

TEST_P(RandomStreams, KeepTheInvariants) {
  Random random(static_cast<std::uint64_t>(GetParam()));
  ContactPatchCache cache(randomOptions(random));
  std::vector<Transform> poses(kObjects);
  for (int frame = 0; frame < 200; ++frame) {
    moveObjects(random, poses);
    cache.update(randomFrame(random), poses);
    expectInvariants(cache);
    if (HasFatalFailure()) FAIL() << "frame " << frame;
    storeImpulses(cache);
    if (random.chance(0.05)) cache.invalidateObject(static_cast<ObjectId>(random.below(kObjects)));
  }
}

TEST_P(RandomStreams, DoNotDependOnTheOrderOfTheManifolds) {
  Random random(static_cast<std::uint64_t>(GetParam()));
  const ContactPatchCacheOptions options = randomOptions(random);
  ContactPatchCache cache(options), shuffled(options);
  std::vector<Transform> poses(kObjects);
  for (int frame = 0; frame < 200; ++frame) {
    moveObjects(random, poses);
    std::vector<ContactManifold> manifolds = randomFrame(random);
    cache.update(manifolds, poses);
    storeImpulses(cache);
    random.shuffle(manifolds);
    shuffled.update(manifolds, poses);
    storeImpulses(shuffled);
    expectSameBits(cache, shuffled);
    ASSERT_EQ(cache.numRejectedContacts(), shuffled.numRejectedContacts());
    if (HasFatalFailure()) FAIL() << "frame " << frame;
  }
}

/// Many frames of random contacts side by side, each among objects of its own.
std::vector<ContactManifold> wideFrame(Random& random, int width) {
  std::vector<ContactManifold> all;
  for (int copy = 0; copy < width; ++copy) {
    for (ContactManifold manifold : randomFrame(random)) {
      manifold.object1 += static_cast<ObjectId>(copy * kObjects);
      if (manifold.object2 != kNoObject) manifold.object2 += static_cast<ObjectId>(copy * kObjects);
      all.push_back(manifold);
    }
  }
  return all;
}

TEST_P(RandomStreams, AreTheSameWithSeveralThreads) {
  constexpr int kWidth = 40;
  Random random(static_cast<std::uint64_t>(GetParam()));
  ContactPatchCacheOptions options = randomOptions(random);
  options.maxPairs = 0;  // a cap is kept by one thread alone
  ContactPatchCache cache(options), shared(options);
  core::ThreadPool pool(3);
  std::vector<Transform> poses(kWidth * kObjects);
  std::vector<ContactManifold> manifolds;
  std::size_t most = 0;
  for (int frame = 0; frame < 30; ++frame) {
    moveObjects(random, poses);
    if (frame % 3 != 2) manifolds = wideFrame(random, kWidth);  // else seen again as they are
    cache.update(manifolds, poses);
    {
      const collision::ContactPatchThreads threads(&pool);
      shared.update(manifolds, poses);
    }
    expectSameBits(cache, shared);
    if (HasFatalFailure()) FAIL() << "frame " << frame;
    ASSERT_EQ(cache.contacts().size(), shared.contacts().size());
    ASSERT_EQ(std::memcmp(cache.contacts().data(), shared.contacts().data(),
                          cache.contacts().size_bytes()),
              0);
    ASSERT_EQ(cache.numManifolds(), shared.numManifolds());
    ASSERT_EQ(cache.numPersistentContacts(), shared.numPersistentContacts());
    ASSERT_EQ(cache.numRejectedContacts(), shared.numRejectedContacts());
    most = std::max(most, cache.patches().size());
    storeImpulses(cache);
    storeImpulses(shared);
  }
  EXPECT_GT(most, collision::kMinSharedPatches);  // or the threads had nothing to do
}

TEST_P(RandomStreams, OfSingleContactsKeepTheInvariantsInAnyOrder) {
  Random random(static_cast<std::uint64_t>(GetParam()));
  const ContactPatchCacheOptions options = randomOptions(random);
  ContactPatchCache cache(options), shuffled(options);
  std::vector<Transform> poses(kObjects);
  for (int frame = 0; frame < 100; ++frame) {
    moveObjects(random, poses);
    std::vector<PairContact> contacts;
    const int count = random.below(120);
    for (int i = 0; i < count; ++i)
      contacts.push_back({static_cast<ObjectId>(random.below(4)),
                          static_cast<ObjectId>(random.below(4)), randomContact(random)});
    cache.update(contacts, poses);
    expectInvariants(cache);
    random.shuffle(contacts);
    shuffled.update(contacts, poses);
    expectSameBits(cache, shuffled);
    if (HasFatalFailure()) FAIL() << "frame " << frame;
  }
}

TEST_P(RandomStreams, GoOnWithTheSameBitsAfterSaveAndLoad) {
  Random random(static_cast<std::uint64_t>(GetParam()));
  const ContactPatchCacheOptions options = randomOptions(random);
  ContactPatchCache cache(options);
  std::unique_ptr<ContactPatchCache> resumed;
  std::vector<Transform> poses(kObjects);
  for (int frame = 0; frame < 120; ++frame) {
    if (frame == 60) {
      ContactPatchCache::Snapshot snapshot;
      cache.save(snapshot);
      resumed = std::make_unique<ContactPatchCache>(options);
      resumed->update(randomFrame(random), poses);  // what it held before does not matter
      resumed->load(snapshot);
      expectSameBits(cache, *resumed);
    }
    moveObjects(random, poses);
    const std::vector<ContactManifold> manifolds = randomFrame(random);
    cache.update(manifolds, poses);
    storeImpulses(cache);
    if (!resumed) continue;
    resumed->update(manifolds, poses);
    storeImpulses(*resumed);
    expectSameBits(cache, *resumed);
    if (HasFatalFailure()) FAIL() << "frame " << frame;
  }
}

/// Ids are given once and a point's id stays with its place while both are there.
TEST_P(RandomStreams, GiveAnIdOnceOnly) {
  Random random(static_cast<std::uint64_t>(GetParam()));
  ContactPatchCache cache(randomOptions(random));
  std::vector<Transform> poses(kObjects);
  std::map<std::uint64_t, PairKey> owner;
  std::set<std::uint64_t> alive;
  for (int frame = 0; frame < 200; ++frame) {
    moveObjects(random, poses);
    cache.update(randomFrame(random), poses);
    std::set<std::uint64_t> now;
    for (const EmittedContact& contact : cache.contacts()) {
      const ContactPatch& patch = cache.patches()[static_cast<std::size_t>(contact.patch)];
      const std::uint64_t id = cache.point(contact).id;
      if (id == 0) continue;
      const auto [entry, isNew] = owner.emplace(id, patch.key);
      ASSERT_EQ(entry->second, patch.key);
      ASSERT_TRUE(isNew || alive.count(id) == 1) << "an id came back after its point was gone";
      now.insert(id);
    }
    alive = now;
  }
}

/// Pairs at rest take a short way through the code when they come as manifolds, and the general way
/// when their contacts come one by one: the bits are the same.
TEST_P(RandomStreams, AtRestAreTheSameAsManifoldsAndAsSingleContacts) {
  Random random(static_cast<std::uint64_t>(GetParam()));
  ContactPatchCacheOptions options = randomOptions(random);
  options.maxPairs = 0;
  options.maxPointsPerPair = 4;
  if (random.chance(0.5)) options.positionThreshold = 1e-4;
  if (random.chance(0.6)) options.warmStartRadius = random.real(0, 1);
  ContactPatchCache byManifold(options), byContact(options);
  std::vector<ContactManifold> base;
  for (int i = 0; i + 1 < kObjects; ++i) {
    ContactManifold manifold;
    manifold.object1 = static_cast<ObjectId>(i);
    manifold.object2 = static_cast<ObjectId>(i + 1);
    manifold.count = 1 + random.below(4);
    for (int k = 0; k < manifold.count; ++k) {
      manifold.points[k] = randomContact(random);
      manifold.points[k].position = {0.3 * k, 0.1 * random.below(3), 0};
      manifold.points[k].feature1 = random.chance(0.8) ? k : -1;
      manifold.points[k].feature2 = 3;
    }
    base.push_back(manifold);
  }
  std::vector<Transform> poses(kObjects);
  const Real noise = std::array{1e-9, 1e-5, 0.3 * options.positionThreshold}[random.bits() % 3];
  for (int frame = 0; frame < 200; ++frame) {
    for (Transform& pose : poses) pose.translation = random.vector(noise);
    std::vector<ContactManifold> manifolds = base;
    std::vector<PairContact> contacts;
    for (ContactManifold& manifold : manifolds) {
      for (int k = 0; k < manifold.count; ++k) {
        ContactPoint& point = manifold.points[k];
        point.position += random.vector(noise);
        if (random.chance(0.5)) point.depth += random.real(0, 1e-9);
        if (random.chance(0.02)) point.depth = -point.depth;
        if (random.chance(0.05)) std::swap(point.feature1, manifold.points[0].feature1);
        if (random.chance(0.01)) point.position += random.vector(0.3);
      }
      if (random.chance(0.02)) manifold.count = random.below(5);
      for (const ContactPoint& point : manifold.contacts())
        contacts.push_back({manifold.object1, manifold.object2, point});
    }
    byManifold.update(manifolds, poses);
    byContact.update(contacts, poses);
    expectInvariants(byManifold);
    expectSameBits(byManifold, byContact);
    if (HasFatalFailure()) FAIL() << "frame " << frame;
    storeImpulses(byManifold);
    storeImpulses(byContact);
  }
  EXPECT_GT(byManifold.numPersistentContacts(), 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomStreams, testing::Range(1, 41));

/// Boxes in a stack that breathe by less than a tenth of a millimetre: now some corners touch and
/// now others, in each frame anew.
struct BreathingStack {
  static constexpr int kBoxes = 65;  // 64 pairs
  std::shared_ptr<const Box> box = std::make_shared<Box>(Vec3{0.5, 0.5, 0.5});
  std::vector<Transform> poses = std::vector<Transform>(kBoxes);
  CollisionResult result;
  Random random{11};

  void step() {
    for (int i = 0; i < kBoxes; ++i) {
      Transform& pose = poses[static_cast<std::size_t>(i)];
      const Real tilt1 = random.real(-2e-5, 2e-5), tilt2 = random.real(-2e-5, 2e-5);
      pose.rotation = rotationMatrix(Quat{1, tilt1, tilt2, 0});
      pose.translation = {0, 0, i * (1 - 1e-5) + random.real(-2e-5, 2e-5)};
    }
    result.clear();
    for (int i = 0; i + 1 < kBoxes; ++i) {
      const int first = result.numManifolds();
      collide(*box, poses[static_cast<std::size_t>(i)], *box,
              poses[static_cast<std::size_t>(i + 1)], CollisionOption::fullContacts(), result);
      for (int k = first; k < result.numManifolds(); ++k) {
        result.manifolds()[static_cast<std::size_t>(k)].object1 = static_cast<ObjectId>(i);
        result.manifolds()[static_cast<std::size_t>(k)].object2 = static_cast<ObjectId>(i + 1);
      }
    }
  }
};

TEST(ContactPatchCacheChurn, OfABreathingStackFallsByMoreThanHalf) {
  BreathingStack stack;
  ContactPatchCache cache({.enabled = true});
  // Without a memory of missed points the cache only watches: its churn is that of the raw stream.
  ContactPatchCache watcher({.enabled = true, .maxSeparationFrames = 0});
  for (int frame = 0; frame < 200; ++frame) {
    stack.step();
    cache.update(stack.result.manifolds(), stack.poses);
    watcher.update(stack.result.manifolds(), stack.poses);
    if (frame == 20) {
      cache.resetChurn();
      watcher.resetChurn();
    }
  }
  ASSERT_GT(watcher.churn().total(), 1000u);  // the stream does flicker
  EXPECT_LT(2 * cache.churn().total(), watcher.churn().total());
  EXPECT_LT(2 * cache.churn().total(), cache.churn().rawTotal());
  RecordProperty("churn_on", std::to_string(cache.churn().total()));
  RecordProperty("churn_off", std::to_string(watcher.churn().total()));
  std::printf("churn of 64 pairs in 179 frames: %llu with the cache, %llu without\n",
              static_cast<unsigned long long>(cache.churn().total()),
              static_cast<unsigned long long>(watcher.churn().total()));
}

TEST(ContactPatchCacheChurn, PairsDoNotFlickerWhileTheyAreMissedForAFewFrames) {
  BreathingStack stack;
  ContactPatchCache cache({.enabled = true});
  int mostMissing = 0;
  stack.step();
  std::vector<ContactManifold> manifolds(stack.result.manifolds().begin(),
                                         stack.result.manifolds().end());
  cache.update(manifolds, stack.poses);
  const int all = cache.numManifolds();
  for (int frame = 0; frame < 100; ++frame) {
    // Each pair is shown in every fifth frame only: missed four times in a row.
    std::vector<ContactManifold> shown;
    for (std::size_t i = 0; i < manifolds.size(); ++i)
      if ((static_cast<int>(i) + frame) % 5 == 0) shown.push_back(manifolds[i]);
    cache.update(shown, stack.poses);
    if (frame >= 5) {
      ASSERT_EQ(cache.numManifolds(), all);
    }
    mostMissing = std::max(mostMissing, static_cast<int>(manifolds.size() - shown.size()));
  }
  EXPECT_GT(mostMissing, 40);
  EXPECT_EQ(cache.churn().removes, 0u);
}

}  // namespace
}  // namespace tangere
