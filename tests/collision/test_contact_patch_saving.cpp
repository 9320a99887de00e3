// SPDX-License-Identifier: Apache-2.0
//
// A ContactPatchCache saved, loaded, hashed and copied.
#include <tangere/error.hpp>

#include "collision/patch_cache_under_test.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace tangere {
namespace {

using test::contactAt;
using test::manifoldOf;
using Cache = test::PatchCacheUnderTest;

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

}  // namespace
}  // namespace tangere
