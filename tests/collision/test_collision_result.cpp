// SPDX-License-Identifier: Apache-2.0
#include <tangere/contact.hpp>

#include <gtest/gtest.h>

namespace tangere {
namespace {

ContactManifold manifoldWith(int count, Real firstDepth) {
  ContactManifold manifold;
  manifold.count = count;
  for (int i = 0; i < count; ++i) manifold.points[i].depth = firstDepth + i;
  return manifold;
}

TEST(CollisionResult, StartsEmpty) {
  const CollisionResult result;
  EXPECT_FALSE(result.isCollision());
  EXPECT_FALSE(static_cast<bool>(result));
  EXPECT_EQ(result.numManifolds(), 0);
  EXPECT_EQ(result.numContacts(), 0);
  EXPECT_EQ(result.status(), QueryStatus::Ok);
}

TEST(CollisionResult, FlatAccessRunsThroughTheManifoldsInOrder) {
  CollisionResult result;
  const int counts[] = {4, 1, 0, 2, 0, 0, 3, 1};  // empty ones must not be landed on
  Real next = 0;
  for (const int count : counts) {
    result.addManifold(manifoldWith(count, next));
    next += count;
  }
  ASSERT_EQ(result.numManifolds(), 8);
  ASSERT_EQ(result.numContacts(), 11);
  EXPECT_TRUE(result.isCollision());
  for (int i = 0; i < result.numContacts(); ++i) {
    EXPECT_EQ(result.contact(i).depth, i);
    const ContactManifold& owner = result.manifoldOfContact(i);
    EXPECT_TRUE(&result.contact(i) >= owner.points &&
                &result.contact(i) < owner.points + owner.count);
  }
}

TEST(CollisionResult, BeginCommitAndDiscard) {
  CollisionResult result;
  result.beginManifold() = manifoldWith(2, 0);
  result.commitManifold();
  (void)result.beginManifold();
  result.discardManifold();
  result.beginManifold() = manifoldWith(3, 2);
  result.commitManifold();
  EXPECT_EQ(result.numManifolds(), 2);
  EXPECT_EQ(result.numContacts(), 5);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(result.contact(i).depth, i);
}

TEST(CollisionResult, ClearForgetsAndTheNextUseStartsAtZero) {
  CollisionResult result;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i <= round; ++i) result.addManifold(manifoldWith(2, 2 * i));
    EXPECT_EQ(result.numContacts(), 2 * (round + 1));
    for (int i = 0; i < result.numContacts(); ++i) EXPECT_EQ(result.contact(i).depth, i);
    result.raiseStatus(QueryStatus::NotConverged);
    result.clear();
    EXPECT_FALSE(result.isCollision());
    EXPECT_EQ(result.numManifolds(), 0);
    EXPECT_EQ(result.numContacts(), 0);
    EXPECT_EQ(result.status(), QueryStatus::Ok);
  }
}

TEST(CollisionResult, AManifoldOfItsOwnMayBeAddedAgain) {
  CollisionResult result;
  result.addManifold(manifoldWith(3, 5));
  for (int i = 0; i < 20; ++i)
    result.addManifold(result.manifolds()[0]);  // storage grows meanwhile
  EXPECT_EQ(result.numContacts(), 63);
  for (int i = 0; i < 63; ++i) EXPECT_EQ(result.contact(i).depth, 5 + i % 3);
}

TEST(CollisionResult, KeepsTheWorstStatusAndAPlainYesHasNoManifold) {
  CollisionResult result;
  result.raiseStatus(QueryStatus::Unsupported);
  result.raiseStatus(QueryStatus::NotConverged);
  EXPECT_EQ(result.status(), QueryStatus::Unsupported);
  EXPECT_FALSE(result.isCollision());
  result.markColliding();
  EXPECT_TRUE(result.isCollision());
  EXPECT_EQ(result.numManifolds(), 0);
}

}  // namespace
}  // namespace tangere
