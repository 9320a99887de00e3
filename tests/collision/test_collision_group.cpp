// SPDX-License-Identifier: Apache-2.0
//
// A group answers like its pairs asked one by one, in the order of ids, with the same bits for any
// number of threads, any order of insertion and any broad phase.
#include <tangere/collision.hpp>
#include <tangere/error.hpp>

#include "core/scene_random.hpp"
#include "geometry/shape_of_lengths.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <memory>
#include <numbers>
#include <thread>

namespace tangere {
namespace {

constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();
constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
constexpr BroadPhaseType kTypes[] = {BroadPhaseType::Bvh, BroadPhaseType::Sweep,
                                     BroadPhaseType::BruteForce};

using test::movedTo;
using Random = test::SceneRandom;

const auto kBall = std::make_shared<Sphere>(0.5);

std::shared_ptr<const Shape> randomShape(Random& random) {
  const Real a = random.real(0.1, 0.6), b = random.real(0.1, 0.6), c = random.real(0.1, 0.6);
  const int kind = random.below(6);
  if (kind < 5) return test::shapeOfLengths(static_cast<ShapeType>(kind), a, b, c);
  std::array<Vec3, 12> points;
  for (Vec3& p : points) p = random.vec(-0.6, 0.6);
  return std::make_shared<Convex>(points);
}

std::vector<CollisionObject> randomObjects(int count, Real halfSize, std::uint64_t seed) {
  Random random(seed);
  std::vector<CollisionObject> objects;
  for (int i = 0; i < count; ++i) {
    CollisionObject object;
    object.id = static_cast<ObjectId>(3 * i + 1);
    object.shape = randomShape(random);
    object.pose = {random.rotation(), random.vec(-halfSize, halfSize)};
    objects.push_back(object);
  }
  CollisionObject floor;
  floor.id = 2;
  floor.shape = std::make_shared<Plane>();
  floor.pose = movedTo({0, 0, -0.7 * halfSize});
  objects.push_back(floor);
  return objects;
}

void addAll(CollisionGroup& group, const std::vector<CollisionObject>& objects) {
  for (const CollisionObject& object : objects) group.add(object);
}

bool sameBits(const ContactPoint& a, const ContactPoint& b) {
  return std::memcmp(&a, &b, sizeof(ContactPoint)) == 0;
}

void expectSameBits(const CollisionResult& a, const CollisionResult& b) {
  ASSERT_EQ(a.isCollision(), b.isCollision());
  ASSERT_EQ(a.status(), b.status());
  ASSERT_EQ(a.numManifolds(), b.numManifolds());
  for (int i = 0; i < a.numManifolds(); ++i) {
    const ContactManifold& m = a.manifolds()[i];
    const ContactManifold& n = b.manifolds()[i];
    ASSERT_EQ(m.object1, n.object1);
    ASSERT_EQ(m.object2, n.object2);
    ASSERT_EQ(m.count, n.count);
    ASSERT_EQ(m.type, n.type);
    for (int k = 0; k < m.count; ++k) ASSERT_TRUE(sameBits(m.points[k], n.points[k]));
  }
}

// By the definition: every pair, in order of ids.
CollisionResult askAllPairs(std::vector<CollisionObject> objects) {
  std::sort(objects.begin(), objects.end(),
            [](const CollisionObject& a, const CollisionObject& b) { return a.id < b.id; });
  CollisionResult result;
  for (std::size_t i = 0; i < objects.size(); ++i)
    for (std::size_t k = i + 1; k < objects.size(); ++k) {
      const int first = result.numManifolds();
      collide(*objects[i].shape, objects[i].pose, *objects[k].shape, objects[k].pose,
              CollisionOption::fullContacts(100000), result);
      for (ContactManifold& manifold : result.manifolds().subspan(first)) {
        manifold.object1 = objects[i].id;
        manifold.object2 = objects[k].id;
      }
    }
  return result;
}

TEST(CollisionGroup, CollideEqualsAskingEveryPair) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<CollisionObject> objects = randomObjects(60, 1.5, seed);
    const CollisionResult expected = askAllPairs(objects);
    ASSERT_GT(expected.numManifolds(), 50);
    for (const BroadPhaseType type : kTypes) {
      CollisionGroup group(type);
      addAll(group, objects);
      CollisionResult result;
      EXPECT_TRUE(group.collide(CollisionOption::fullContacts(100000), result));
      ASSERT_NO_FATAL_FAILURE(expectSameBits(result, expected));
      for (const ContactManifold& manifold : result.manifolds())
        ASSERT_LT(manifold.object1, manifold.object2);
    }
  }
}

TEST(CollisionGroup, ThreadsInsertionAndHistoryDoNotShow) {
  const int numObjects = 700, numSteps = 5;
  std::vector<CollisionResult> expected;
  for (const int numThreads : {1, 2, 3, 4, 8}) {
    for (const BroadPhaseType type : {BroadPhaseType::Bvh, BroadPhaseType::Sweep}) {
      std::vector<CollisionObject> objects = randomObjects(numObjects, 3.5, 42);
      Random order(static_cast<std::uint64_t>(numThreads));
      if (numThreads > 1) order.shuffle(objects);
      CollisionGroup group(type);
      group.setNumThreads(numThreads);
      addAll(group, objects);
      std::sort(objects.begin(), objects.end(),
                [](const CollisionObject& a, const CollisionObject& b) { return a.id < b.id; });
      Random random(7);
      for (int step = 0; step < numSteps; ++step) {
        CollisionResult result;
        // What a group did before must not show either: caches of pairs are hints.
        if (numThreads % 2 == 0) {
          group.collide(CollisionOption::binaryCheck(), result);
          result.clear();
        }
        group.collide(CollisionOption::fullContacts(1000000), result);
        if (numThreads == 1 && type == BroadPhaseType::Bvh) {
          ASSERT_GT(result.numContacts(), 500);
          expected.push_back(result);
        } else {
          ASSERT_NO_FATAL_FAILURE(expectSameBits(result, expected[static_cast<std::size_t>(step)]))
              << numThreads << " threads, step " << step;
        }
        for (const CollisionObject& object : objects) {
          Transform pose = group.object(object.id).pose;
          pose.translation += random.vec(-0.05, 0.05);
          group.setPose(object.id, pose);
        }
      }
    }
  }
}

TEST(CollisionGroup, LimitOfContactsKeepsTheFirstInOrderOfPairs) {
  const std::vector<CollisionObject> objects = randomObjects(300, 2.2, 5);
  const CollisionResult all = askAllPairs(objects);
  ASSERT_GT(all.numContacts(), 600);
  for (const int numThreads : {1, 4}) {
    CollisionGroup group;
    group.setNumThreads(numThreads);
    addAll(group, objects);
    for (const int limit : {2, 3, 17, 100, 599}) {
      CollisionResult result;
      EXPECT_TRUE(group.collide(CollisionOption::fullContacts(limit), result));
      ASSERT_EQ(result.numContacts(), limit);
      for (int i = 0; i < limit; ++i) {
        ASSERT_EQ(result.manifoldOfContact(i).object1, all.manifoldOfContact(i).object1);
        ASSERT_EQ(result.manifoldOfContact(i).object2, all.manifoldOfContact(i).object2);
      }
    }
    // One: the deepest point of the first pair that collides.
    CollisionResult one;
    EXPECT_TRUE(group.collide(CollisionOption::fullContacts(1), one));
    ASSERT_EQ(one.numContacts(), 1);
    EXPECT_EQ(one.manifolds()[0].object1, all.manifolds()[0].object1);
    EXPECT_EQ(one.manifolds()[0].object2, all.manifolds()[0].object2);
    EXPECT_NEAR(one.contact(0).depth, all.manifolds()[0].depth(), 1e-9);

    CollisionResult yes;
    EXPECT_TRUE(group.collide(CollisionOption::binaryCheck(), yes));
    EXPECT_TRUE(yes.isCollision());
    EXPECT_EQ(yes.numManifolds(), 0);

    CollisionResult none;
    EXPECT_FALSE(group.collide(CollisionOption::fullContacts(0), none));
    EXPECT_FALSE(none.isCollision());
    EXPECT_EQ(none.numManifolds(), 0);
  }
}

TEST(CollisionGroup, ResultsAreAppended) {
  CollisionGroup group;
  group.add(kBall, movedTo({0, 0, 0}));
  group.add(kBall, movedTo({0.9, 0, 0}));
  CollisionResult result;
  group.collide({}, result);
  group.collide({}, result);
  EXPECT_EQ(result.numManifolds(), 2);
  EXPECT_NEAR(result.contact(1).depth, 0.1, 1e-15);
  EXPECT_NEAR(result.contact(1).normal.x, -1, 1e-15);  // pushes the first to the left
}

class CountingFilter : public CollisionFilter {
 public:
  [[nodiscard]] bool ignoresCollision(ObjectId object1, ObjectId object2) const override {
    ++numCalls;
    EXPECT_LT(object1, object2);
    return object1 == ignored || object2 == ignored;
  }
  mutable std::atomic<int> numCalls{0};
  ObjectId ignored = kNoObject;
};

std::vector<ObjectPair> collidingPairs(CollisionGroup& group) {
  CollisionResult result;
  group.collide({}, result);
  std::vector<ObjectPair> pairs;
  for (const ContactManifold& manifold : result.manifolds())
    pairs.push_back({manifold.object1, manifold.object2});
  return pairs;
}

TEST(CollisionGroup, FiltersByBitsExclusionAndCallback) {
  using Pairs = std::vector<ObjectPair>;
  CollisionGroup group;
  // Four balls on top of each other: six pairs.
  const auto add = [&](ObjectId id, std::uint32_t bits, std::uint32_t mask) {
    group.add(
        {.id = id, .shape = kBall, .pose = movedTo({0.1 * id, 0, 0}), .group = bits, .mask = mask});
  };
  add(1, 1, ~0u);
  add(2, 2, ~2u);  // not with its own kind
  add(3, 2, ~0u);  // would, but both sides must agree
  add(4, 4, 1);    // only with kind 1
  EXPECT_EQ(collidingPairs(group), (Pairs{{1, 2}, {1, 3}, {1, 4}}));

  group.excludePair(3, 1);
  group.excludePair(1, 3);  // twice is once
  EXPECT_EQ(collidingPairs(group), (Pairs{{1, 2}, {1, 4}}));
  group.includePair(1, 3);
  group.includePair(1, 3);
  EXPECT_EQ(collidingPairs(group), (Pairs{{1, 2}, {1, 3}, {1, 4}}));
  EXPECT_THROW(group.excludePair(1, 1), InvalidInput);

  CountingFilter filter;
  filter.ignored = 2;
  group.setFilter(&filter);
  EXPECT_EQ(collidingPairs(group), (Pairs{{1, 3}, {1, 4}}));
  EXPECT_EQ(filter.numCalls, 3);  // only for the pairs that the bits let through
  EXPECT_EQ(group.distance()->object2, 3u);
  CollisionResult result;
  filter.numCalls = 0;
  EXPECT_FALSE(group.collide(CollisionOption::fullContacts(0), result));
  EXPECT_EQ(filter.numCalls, 0);  // nothing is even looked at
  group.setFilter(nullptr);
  EXPECT_EQ(collidingPairs(group).size(), 3u);
}

TEST(CollisionGroup, RefusesBadObjects) {
  CollisionGroup group;
  group.add({.id = 1, .shape = kBall});
  EXPECT_THROW(group.add({.id = 1, .shape = kBall}), InvalidInput);
  EXPECT_THROW(group.add({.id = kNoObject, .shape = kBall}), InvalidInput);
  EXPECT_THROW(group.add({.id = 2}), InvalidInput);
  EXPECT_THROW(group.add({.id = 2, .shape = kBall, .pose = movedTo({kNan, 0, 0})}), InvalidInput);
  EXPECT_THROW(group.add({.id = 2, .shape = kBall, .pose = movedTo({0, kInfinity, 0})}),
               InvalidInput);
  Transform bad;
  bad.rotation.col[0].x = 1 + 1e-5;
  EXPECT_THROW(group.add({.id = 2, .shape = kBall, .pose = bad}), InvalidInput);
  EXPECT_THROW(group.setPose(1, bad), InvalidInput);
  bad = {};
  bad.rotation.col[0].x = -1;  // a mirror
  EXPECT_THROW(group.setPose(1, bad), InvalidInput);
  bad.rotation.col[0].x = kNan;
  EXPECT_THROW(group.setPose(1, bad), InvalidInput);
  Transform good;
  good.rotation.col[0].x = 1 + 1e-7;
  EXPECT_NO_THROW(group.setPose(1, good));
  EXPECT_THROW(group.setPose(2, {}), InvalidInput);
  EXPECT_THROW(group.remove(2), InvalidInput);
  EXPECT_THROW((void)group.object(2), InvalidInput);
  EXPECT_THROW(group.setNumThreads(0), InvalidInput);
  EXPECT_EQ(group.size(), 1);
  EXPECT_EQ(group.broadPhase().size(), 1);
}

TEST(CollisionGroup, GivesFreeIdsAndForgetsRemovedObjects) {
  CollisionGroup group;
  group.add({.id = 1, .shape = kBall});
  EXPECT_EQ(group.add(kBall, movedTo({0.5, 0, 0})), 0u);
  EXPECT_EQ(group.add(kBall, movedTo({0.2, 0, 0})), 2u);  // 1 is taken
  EXPECT_EQ(collidingPairs(group).size(), 3u);
  const CollisionObject& first = group.object(0);
  for (int i = 0; i < 1000; ++i) group.add(kBall, movedTo({10.0 * i + 10, 0, 0}));
  EXPECT_EQ(&group.object(0), &first);  // stays where it is
  group.remove(1);
  EXPECT_EQ(collidingPairs(group), (std::vector<ObjectPair>{{0, 2}}));
  group.add({.id = 1,
             .shape = std::make_shared<Box>(Vec3{0.1, 0.1, 0.1}),
             .pose = movedTo({-0.35, 0, 0})});
  EXPECT_EQ(collidingPairs(group), (std::vector<ObjectPair>{{0, 2}, {1, 2}}));
  group.clear();
  EXPECT_EQ(group.size(), 0);
  EXPECT_TRUE(collidingPairs(group).empty());
  EXPECT_EQ(group.add(kBall, {}), 0u);
}

TEST(CollisionGroup, AnIdMayComeBackWithAnotherShape) {
  // A large hull leaves hints about vertices that the small one in its place does not have.
  Random random(9);
  const auto hull = [&](int numPoints) {
    std::vector<Vec3> points;
    for (int i = 0; i < numPoints; ++i) {
      const Vec3 p = random.vec(-1, 1);
      points.push_back(p / norm(p));
    }
    return std::make_shared<Convex>(points);
  };
  const auto large = hull(200), small = hull(6);
  CollisionGroup group, fresh;
  for (int round = 0; round < 10; ++round) {
    for (CollisionGroup* one : {&group, &fresh}) {
      const auto& shape = round % 2 == 0 ? large : small;
      one->add({.id = 1, .shape = shape, .pose = movedTo({0, 0, 0})});
      one->add({.id = 2, .shape = shape, .pose = movedTo({1.2, 0.3, 0.1 * round})});
    }
    CollisionResult result, expected;
    group.collide({}, result);
    fresh.collide({}, expected);
    ASSERT_NO_FATAL_FAILURE(expectSameBits(result, expected));
    group.remove(1);
    group.remove(2);
    fresh = CollisionGroup();
  }
}

TEST(CollisionGroup, DistanceIsThatOfTheClosestPair) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    const bool sparse = seed % 2 == 0;
    std::vector<CollisionObject> objects = randomObjects(40, sparse ? 12 : 3, seed);
    if (sparse) objects.pop_back();  // the floor
    // By the definition.
    std::sort(objects.begin(), objects.end(),
              [](const CollisionObject& a, const CollisionObject& b) { return a.id < b.id; });
    std::optional<DistanceResult> expected;
    for (std::size_t i = 0; i < objects.size(); ++i)
      for (std::size_t k = i + 1; k < objects.size(); ++k) {
        DistanceResult found =
            distance(*objects[i].shape, objects[i].pose, *objects[k].shape, objects[k].pose);
        found.object1 = objects[i].id;
        found.object2 = objects[k].id;
        if (!expected || found.distance < expected->distance) expected = found;
      }
    for (const BroadPhaseType type : kTypes) {
      random.shuffle(objects);
      CollisionGroup group(type);
      addAll(group, objects);
      const std::optional<DistanceResult> found = group.distance();
      ASSERT_TRUE(found.has_value());
      ASSERT_EQ(found->distance, expected->distance);
      ASSERT_EQ(found->object1, expected->object1);
      ASSERT_EQ(found->object2, expected->object2);
      ASSERT_EQ(found->normal, expected->normal);
      ASSERT_EQ(found->point1, expected->point1);
      if (expected->distance > 0) {
        ASSERT_FALSE(group.distance({.upperBound = 0.5 * expected->distance}).has_value());
        ASSERT_TRUE(group.distance({.upperBound = 2 * expected->distance}).has_value());
      }
    }
  }
}

TEST(CollisionGroup, EquallyNearPairsAreToldApartByTheirIds) {
  // A grid of equal balls: hundreds of pairs at the same distance.
  std::vector<CollisionObject> objects;
  for (int i = 0; i < 216; ++i)
    objects.push_back({.id = static_cast<ObjectId>(i),
                       .shape = kBall,
                       .pose = movedTo({1.5 * (i % 6), 1.5 * (i / 6 % 6), 1.5 * (i / 36)})});
  Random random(3);
  for (int round = 0; round < 10; ++round) {
    random.shuffle(objects);
    CollisionGroup group(kTypes[round % 3]);
    addAll(group, objects);
    const auto found = group.distance();
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->distance, 0.5);
    EXPECT_EQ(found->object1, 0u);
    EXPECT_EQ(found->object2, 1u);
  }
  CollisionGroup lonely;
  EXPECT_FALSE(lonely.distance().has_value());
  lonely.add(kBall, {});
  EXPECT_FALSE(lonely.distance().has_value());
}

TEST(CollisionGroup, RayFindsTheNearestAndAllInOrder) {
  int numHits = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    std::vector<CollisionObject> objects = randomObjects(150, 5, seed);
    Random random(seed + 100);
    CollisionGroup groups[3] = {CollisionGroup(kTypes[0]), CollisionGroup(kTypes[1]),
                                CollisionGroup(kTypes[2])};
    for (CollisionGroup& group : groups) {
      random.shuffle(objects);
      addAll(group, objects);
    }
    for (int trial = 0; trial < 100; ++trial) {
      const Ray ray{random.vec(-6, 6), random.vec(-1, 1), random.real(1, 20)};
      // By the definition: every object.
      std::vector<GroupRayHit> expected;
      for (const CollisionObject& object : objects) {
        const Ray local{inverseTimes(object.pose, ray.origin),
                        transposeTimes(object.pose.rotation, ray.direction), ray.maxT};
        if (const auto hit = object.shape->rayCast(local)) expected.push_back({object.id, *hit});
      }
      std::sort(expected.begin(), expected.end(), [](const GroupRayHit& a, const GroupRayHit& b) {
        return a.hit.t != b.hit.t ? a.hit.t < b.hit.t : a.object < b.object;
      });
      numHits += static_cast<int>(expected.size());
      for (const CollisionGroup& group : groups) {
        std::vector<GroupRayHit> found;
        group.rayCastAll(ray, found);
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
          ASSERT_EQ(found[i].object, expected[i].object);
          ASSERT_EQ(found[i].hit.t, expected[i].hit.t);
          // In the world, not in the frame of the object.
          const Vec3 point = ray.origin + ray.direction * found[i].hit.t;
          ASSERT_LT(norm(found[i].hit.position - point), 1e-9);
          ASSERT_LE(dot(found[i].hit.normal, ray.direction), 1e-9);
        }
        const auto first = group.rayCast(ray);
        ASSERT_EQ(first.has_value(), !expected.empty());
        if (first) {
          ASSERT_EQ(first->object, expected[0].object);
          ASSERT_EQ(first->hit.t, expected[0].hit.t);
        }
      }
    }
  }
  EXPECT_GT(numHits, 400);
}

TEST(CollisionGroup, OfTwoFacesInOnePlaneTheRayFindsTheSmallerId) {
  const auto box = std::make_shared<Box>(Vec3{1, 1, 1});
  for (int round = 0; round < 6; ++round) {
    std::vector<ObjectId> ids = {10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
    Random random(static_cast<std::uint64_t>(round));
    random.shuffle(ids);
    CollisionGroup group(kTypes[round % 3]);
    for (const ObjectId id : ids)  // all upper faces at z = 1 + 0.1
      group.add({.id = id, .shape = box, .pose = movedTo({0.1 * (id - 15.0), 0, 0.1})});
    const auto hit = group.rayCast({.origin = {0, 0, 5}, .direction = {0, 0, -0.7}});
    ASSERT_TRUE(hit.has_value());
    EXPECT_EQ(hit->object, 10u);
    EXPECT_NEAR(hit->hit.t, 3.9 / 0.7, 1e-12);
  }
}

TEST(CollisionGroup, ShapeCastFindsTheFirstObjectOnTheWay) {
  CollisionGroup group;
  for (int i = 0; i < 10; ++i) group.add(kBall, movedTo({2.0 * i + 3, 0, 0}));
  const Sphere bullet(0.1);
  Motion motion;
  motion.displacement = {100, 0, 0};
  const auto hit = group.shapeCast(bullet, motion);
  ASSERT_TRUE(hit.has_value());
  EXPECT_EQ(hit->object, 0u);
  EXPECT_EQ(hit->impact.status, ImpactStatus::Hit);
  EXPECT_LE(hit->impact.s, 0.024);
  EXPECT_NEAR(hit->impact.s, 0.024, 1e-7);  // (3 - 0.5 - 0.1) / 100
  EXPECT_NEAR(hit->impact.normal.x, -1, 1e-9);

  motion.displacement = {0, 100, 0};
  EXPECT_FALSE(group.shapeCast(bullet, motion).has_value());

  // The start overlaps two: the smaller id.
  motion.start.translation = {4, 0, 0};
  const auto inside = group.shapeCast(Sphere(0.6), motion);
  ASSERT_TRUE(inside.has_value());
  EXPECT_EQ(inside->object, 0u);
  EXPECT_EQ(inside->impact.status, ImpactStatus::Overlapping);
  EXPECT_EQ(inside->impact.s, 0);
}

TEST(CollisionGroup, ShapeCastEqualsAskingEveryObject) {
  int numHits = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    std::vector<CollisionObject> objects = randomObjects(60, 4, seed);
    Random random(seed + 500);
    CollisionGroup groups[3] = {CollisionGroup(kTypes[0]), CollisionGroup(kTypes[1]),
                                CollisionGroup(kTypes[2])};
    for (CollisionGroup& group : groups) {
      random.shuffle(objects);
      addAll(group, objects);
    }
    for (int trial = 0; trial < 20; ++trial) {
      const auto shape = randomShape(random);
      Motion motion;
      motion.start = {random.rotation(), random.vec(-6, 6)};
      motion.displacement = random.vec(-8, 8);
      motion.rotationVector = random.vec(-1, 1) * (trial % 3 == 0 ? 0 : 4);
      Real first = 2;
      for (const CollisionObject& object : objects) {
        const ImpactResult impact =
            timeOfImpact(*shape, motion, *object.shape, {.start = object.pose});
        if (impact.status != ImpactStatus::Miss) first = std::min(first, impact.s);
      }
      const auto expected = groups[0].shapeCast(*shape, motion);
      ASSERT_EQ(expected.has_value(), first <= 1);
      if (expected) {
        ++numHits;
        // The horizon may end a search elsewhere within the tolerance.
        ASSERT_NEAR(expected->impact.s, first, 1e-5);
      }
      for (const CollisionGroup& group : groups) {
        const auto found = group.shapeCast(*shape, motion);
        ASSERT_EQ(found.has_value(), expected.has_value());
        if (!found) continue;
        ASSERT_EQ(found->object, expected->object);
        ASSERT_EQ(found->impact.s, expected->impact.s);
        ASSERT_EQ(found->impact.status, expected->impact.status);
        ASSERT_EQ(found->impact.point, expected->impact.point);
      }
    }
  }
  EXPECT_GT(numHits, 60);
}

TEST(CollisionGroup, TouchingToTheLastDigitIsNotLostBetweenBoxes) {
  // Faces that touch exactly, at places where sums of decimals round in both directions.
  Random random(21);
  int numTouching = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const Real a = random.real(0.01, 2), b = random.real(0.01, 2), x = random.real(-100, 100);
    const Box box1({a, 1, 1});
    const Box box2({b, 1, 1});
    const Transform X1 = movedTo({x, 0, 0}), X2 = movedTo({x + a + b, 0, 0});
    const bool touching = overlap(box1, X1, box2, X2);
    numTouching += touching;
    CollisionGroup group(kTypes[trial % 3]);
    group.add(std::make_shared<Box>(box1.halfExtents()), X1);
    group.add(std::make_shared<Box>(box2.halfExtents()), X2);
    CollisionResult result;
    ASSERT_EQ(group.collide(CollisionOption::binaryCheck(), result), touching);
  }
  EXPECT_GT(numTouching, 500);
}

TEST(CollisionGroup, MovesAndIsReadByManyThreads) {
  const std::vector<CollisionObject> objects = randomObjects(200, 4, 17);
  CollisionGroup source;
  addAll(source, objects);
  CollisionGroup group = std::move(source);
  const Vec3 eye{-9, 0.1, 0.2};
  const Ray ray{eye, objects[0].pose.translation - eye, 100};
  const auto expected = CollisionGroup(std::move(group));
  const auto reference = expected.rayCast(ray);
  ASSERT_TRUE(reference.has_value());
  std::atomic<int> numWrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 100; ++k) {
        const auto hit = expected.rayCast(ray);
        if (!hit || hit->object != reference->object || hit->hit.t != reference->hit.t) ++numWrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(numWrong, 0);
}

}  // namespace
}  // namespace tangere
