// SPDX-License-Identifier: Apache-2.0
//
// The three broad phases agree with each other and with the definition, whatever was added, moved
// and removed in whatever order.
#include <tangere/broad_phase.hpp>
#include <tangere/error.hpp>

#include "core/counted_allocations.hpp"
#include "core/scene_random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <thread>

namespace tangere {
namespace {

constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();

using Random = test::SceneRandom;

// Ways to fill space; each is hard on another part of the code.
enum class Scene {
  Uniform,
  Lattice,     // integer sides: faces that touch exactly, equal boxes
  FarAway,     // around 1e9, where a float holds no metre
  MixedSizes,  // 1e-3 to 1e3
  Unbounded,   // some sides at infinity, some beyond float's range
  Flat,        // points, segments and rectangles
  Clusters,    // tiny heaps a million metres apart
  kCount,
};

Aabb randomBox(Scene scene, Random& random) {
  Vec3 lower, size;
  switch (scene) {
    case Scene::Lattice:
      lower = {Real(random.below(6)), Real(random.below(6)), Real(random.below(6))};
      size = {Real(random.below(3)), Real(random.below(3)), Real(random.below(3))};
      break;
    case Scene::FarAway:
      lower = random.vec(1e9, 1e9 + 6);
      size = random.vec(0, 2);
      break;
    case Scene::MixedSizes: {
      lower = random.vec(-10, 10);
      Real scale = 1e-3;
      for (int i = random.below(7); i > 0; --i) scale *= 10;
      size = random.vec(0, scale);
      break;
    }
    case Scene::Flat:
      lower = {Real(random.below(3)), random.real(0, 3), random.real(0, 3)};
      size = {0, random.real(0, 1), random.below(2) * random.real(0, 1)};
      break;
    case Scene::Clusters: {
      const Real center = 1e6 * random.below(4);
      lower = Vec3{center, -center, center} + random.vec(0, 1e-3);
      size = random.vec(0, 4e-4);
      break;
    }
    default:
      lower = random.vec(0, 6);
      size = random.vec(0.3, 1.8);
  }
  Aabb box{lower, lower + size};
  if (scene == Scene::Unbounded && random.below(4) == 0) {
    for (int k = 0; k < 3; ++k) {
      if (random.below(2) == 0) box.lower[k] = random.below(2) == 0 ? -kInfinity : -1e200;
      if (random.below(2) == 0) box.upper[k] = random.below(2) == 0 ? kInfinity : 1e35;
    }
  }
  return box;
}

// The definition, kept in a std::map.
struct Reference {
  std::map<ObjectId, Aabb> boxes;

  [[nodiscard]] std::vector<ObjectPair> pairs() const {
    std::vector<ObjectPair> result;
    for (auto a = boxes.begin(); a != boxes.end(); ++a)
      for (auto b = std::next(a); b != boxes.end(); ++b)
        if (a->second.overlaps(b->second)) result.push_back({a->first, b->first});
    return result;
  }
  [[nodiscard]] std::vector<ObjectId> overlapping(const Aabb& box) const {
    std::vector<ObjectId> result;
    for (const auto& [id, own] : boxes)
      if (own.overlaps(box)) result.push_back(id);
    return result;
  }
  [[nodiscard]] std::vector<ObjectId> ids() const {
    std::vector<ObjectId> result;
    for (const auto& [id, own] : boxes) result.push_back(id);
    return result;
  }
};

std::vector<ObjectPair> toVector(std::span<const ObjectPair> pairs) {
  return {pairs.begin(), pairs.end()};
}

std::vector<ObjectId> rayIds(const BroadPhase& broadPhase, const Vec3& origin,
                             const Vec3& direction, Real maxT) {
  std::vector<ObjectId> result;
  broadPhase.queryRay(origin, direction, maxT, [&](ObjectId id) {
    result.push_back(id);
    return maxT;
  });
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<ObjectId> nearIds(const BroadPhase& broadPhase, const Aabb& box, Real bound) {
  std::vector<ObjectId> result;
  broadPhase.queryNearest(box, bound, [&](ObjectId id) {
    result.push_back(id);
    return bound;
  });
  std::sort(result.begin(), result.end());
  return result;
}

// Distance of two boxes by the definition, in long double.
long double gapBetween(const Aabb& a, const Aabb& b) {
  long double sum = 0;
  for (int k = 0; k < 3; ++k) {
    const long double gap = std::max({0.0L, static_cast<long double>(b.lower[k]) - a.upper[k],
                                      static_cast<long double>(a.lower[k]) - b.upper[k]});
    sum += gap * gap;
  }
  return std::sqrt(sum);
}

struct AllThree {
  BruteForceBroadPhase bruteForce;
  SweepBroadPhase sweep;
  BvhBroadPhase bvh;
  BroadPhase* all[3] = {&bruteForce, &sweep, &bvh};
  Reference reference;

  void add(ObjectId id, const Aabb& box) {
    for (BroadPhase* one : all) one->add(id, box);
    reference.boxes[id] = box;
  }
  void update(ObjectId id, const Aabb& box) {
    for (BroadPhase* one : all) one->update(id, box);
    reference.boxes[id] = box;
  }
  void remove(ObjectId id) {
    for (BroadPhase* one : all) one->remove(id);
    reference.boxes.erase(id);
  }
  void expectPairs() {
    const std::vector<ObjectPair> expected = reference.pairs();
    for (BroadPhase* one : all) ASSERT_EQ(toVector(one->computePotentialPairs()), expected);
  }
  void expectQueries(Scene scene, Random& random) {
    const Aabb box = randomBox(scene, random);
    const std::vector<ObjectId> overlapping = reference.overlapping(box);
    for (BroadPhase* one : all) {
      std::vector<ObjectId> found = {7};  // appended to what is there
      one->queryOverlap(box, found);
      ASSERT_EQ(found[0], 7u);
      found.erase(found.begin());
      ASSERT_EQ(found, overlapping);
    }

    const Vec3 origin = box.lower.x > -1e10 ? box.lower : Vec3{};
    Vec3 direction = random.vec(-1, 1);
    if (random.below(4) == 0) direction[random.below(3)] = 0;
    const Real maxT = random.real(0, 5);
    const std::vector<ObjectId> hit = rayIds(bruteForce, origin, direction, maxT);
    ASSERT_EQ(rayIds(sweep, origin, direction, maxT), hit);
    ASSERT_EQ(rayIds(bvh, origin, direction, maxT), hit);

    const Real bound = random.real(0, 2);
    const std::vector<ObjectId> nearby = nearIds(bruteForce, box, bound);
    ASSERT_EQ(nearIds(sweep, box, bound), nearby);
    ASSERT_EQ(nearIds(bvh, box, bound), nearby);
    // An endless bound and a negative one mean everything and whatever touches.
    ASSERT_EQ(nearIds(bvh, box, kInfinity), reference.ids());
    ASSERT_EQ(nearIds(bvh, box, -1), overlapping);
  }
};

ObjectId randomId(int kind, Random& random) {
  const std::uint32_t n = static_cast<std::uint32_t>(random.below(400));
  if (kind == 0) return n;
  if (kind == 1) return n * 65536u;
  return static_cast<std::uint32_t>(random.bits() % 0xffffffffu);
}

TEST(BroadPhase, AllAgreeUnderRandomAddsMovesAndRemovals) {
  int numChecks = 0;
  for (int trial = 0; trial < 420; ++trial) {
    Random random(static_cast<std::uint64_t>(trial) + 1);
    const Scene scene = static_cast<Scene>(trial % static_cast<int>(Scene::kCount));
    const int idKind = trial / static_cast<int>(Scene::kCount) % 3;
    // From sets in which everything changes to sets in which almost nothing does.
    const int sizeGoal = 1 + random.below(trial % 5 == 0 ? 250 : 60);
    AllThree set;
    for (int step = 0; step < 25; ++step) {
      const int numChanges = step == 0 ? sizeGoal : random.below(1 + sizeGoal / (1 + step % 7));
      for (int change = 0; change < numChanges; ++change) {
        const std::vector<ObjectId> ids = set.reference.ids();
        const int what = random.below(10);
        const bool grow = static_cast<int>(ids.size()) < sizeGoal;
        if (ids.empty() || (grow && what < 6)) {
          const ObjectId id = randomId(idKind, random);
          if (set.reference.boxes.count(id) == 0) set.add(id, randomBox(scene, random));
          continue;
        }
        const ObjectId id =
            ids[static_cast<std::size_t>(random.below(static_cast<int>(ids.size())))];
        if (what == 0 || (!grow && what == 1)) {
          set.remove(id);
        } else if (what < 8) {  // a small move
          Aabb box = set.reference.boxes[id];
          const Vec3 move = scene == Scene::Lattice
                                ? Vec3{Real(random.below(3) - 1), 0, Real(random.below(3) - 1)}
                                : random.vec(-0.1, 0.1);
          box.lower += move;
          box.upper += move;
          set.update(id, box);
        } else if (what == 8) {  // a copy of another box
          const ObjectId other =
              ids[static_cast<std::size_t>(random.below(static_cast<int>(ids.size())))];
          set.update(id, set.reference.boxes[other]);
        } else {
          set.update(id, randomBox(scene, random));
        }
      }
      if (random.below(4) != 0) {
        ASSERT_NO_FATAL_FAILURE(set.expectPairs()) << "trial " << trial;
      }
      if (random.below(4) == 0) {
        ASSERT_NO_FATAL_FAILURE(set.expectQueries(scene, random)) << "trial " << trial;
      }
      ++numChecks;
      for (const BroadPhase* one : set.all)
        ASSERT_EQ(one->size(), static_cast<int>(set.reference.boxes.size()));
    }
  }
  EXPECT_GE(numChecks, 10000);
}

TEST(BroadPhase, LargeSetsStayExactWhileAllOrSomeMove) {
  for (const int share : {1, 10, 1000}) {
    Random random(static_cast<std::uint64_t>(share));
    BvhBroadPhase bvh;
    SweepBroadPhase sweep;
    const int n = 6000;
    std::vector<Aabb> boxes;
    for (int i = 0; i < n; ++i) {
      const Vec3 lower = random.vec(0, 25);
      boxes.push_back({lower, lower + random.vec(0.5, 1.5)});
      bvh.add(static_cast<ObjectId>(i), boxes.back());
      sweep.add(static_cast<ObjectId>(i), boxes.back());
    }
    for (int step = 0; step < 40; ++step) {
      for (int i = step % share; i < n; i += share) {
        const Vec3 move = random.vec(-0.2, 0.2);
        boxes[i].lower += move;
        boxes[i].upper += move;
        bvh.update(static_cast<ObjectId>(i), boxes[i]);
        sweep.update(static_cast<ObjectId>(i), boxes[i]);
      }
      const std::vector<ObjectPair> expected = toVector(sweep.computePotentialPairs());
      ASSERT_GT(expected.size(), 1000u);
      ASSERT_EQ(toVector(bvh.computePotentialPairs()), expected) << share << " " << step;
    }
  }
}

TEST(BroadPhase, OrderOfInsertionDoesNotShow) {
  for (int trial = 0; trial < 100; ++trial) {
    Random random(static_cast<std::uint64_t>(trial) + 99);
    const Scene scene = static_cast<Scene>(trial % static_cast<int>(Scene::kCount));
    std::map<ObjectId, Aabb> boxes;
    while (boxes.size() < 150) boxes[randomId(2, random)] = randomBox(scene, random);
    std::vector<std::pair<ObjectId, Aabb>> order(boxes.begin(), boxes.end());
    std::vector<ObjectPair> expected;
    for (int round = 0; round < 4; ++round) {
      random.shuffle(order);
      BruteForceBroadPhase bruteForce;
      SweepBroadPhase sweep;
      BvhBroadPhase bvh, bulk;
      std::vector<ObjectId> ids;
      std::vector<Aabb> list;
      for (const auto& [id, box] : order) {
        bruteForce.add(id, box);
        sweep.add(id, box);
        bvh.add(id, box);
        (void)bvh.computePotentialPairs();  // one at a time, the hard way
        ids.push_back(id);
        list.push_back(box);
      }
      bulk.addBulk(ids, list);
      if (round == 0) expected = toVector(bruteForce.computePotentialPairs());
      ASSERT_EQ(toVector(bruteForce.computePotentialPairs()), expected);
      ASSERT_EQ(toVector(sweep.computePotentialPairs()), expected);
      ASSERT_EQ(toVector(bvh.computePotentialPairs()), expected);
      ASSERT_EQ(toVector(bulk.computePotentialPairs()), expected);
    }
  }
}

TEST(BvhBroadPhase, MovedPairsAreThosePairsInWhichSomethingMoved) {
  for (int trial = 0; trial < 60; ++trial) {
    Random random(static_cast<std::uint64_t>(trial) + 5);
    const Scene scene = static_cast<Scene>(trial % static_cast<int>(Scene::kCount));
    BvhBroadPhase bvh;
    Reference reference;
    std::set<ObjectId> moved;
    for (ObjectId id = 0; id < 200; ++id) {
      reference.boxes[id] = randomBox(scene, random);
      bvh.add(id, reference.boxes[id]);
      moved.insert(id);
    }
    for (int step = 0; step < 30; ++step) {
      for (int i = random.below(step % 3 == 0 ? 150 : 8); i > 0; --i) {
        const ObjectId id = static_cast<ObjectId>(random.below(200));
        if (reference.boxes.count(id) == 0) continue;
        const int what = random.below(8);
        if (what == 0) {
          bvh.remove(id);
          reference.boxes.erase(id);
          moved.erase(id);
          continue;
        }
        if (what > 1) reference.boxes[id] = randomBox(scene, random);  // else the same box again
        bvh.update(id, reference.boxes[id]);
        moved.insert(id);
      }
      if (step % 4 == 3) {
        ASSERT_EQ(toVector(bvh.computePotentialPairs()), reference.pairs());
      } else {
        std::vector<ObjectPair> expected = reference.pairs();
        std::erase_if(expected, [&](const ObjectPair& pair) {
          return moved.count(pair.first) + moved.count(pair.second) == 0;
        });
        ASSERT_EQ(toVector(bvh.computeMovedPairs()), expected);
      }
      moved.clear();
      ASSERT_TRUE(bvh.computeMovedPairs().empty());
    }
  }
}

TEST(BroadPhase, RayVisitsEveryBoxItHitsAndStopsWhereTold) {
  Random random(3);
  BvhBroadPhase bvh;
  Reference reference;
  for (ObjectId id = 0; id < 500; ++id) {
    const Vec3 lower = random.vec(-20, 20);
    reference.boxes[id] = {lower, lower + random.vec(0.1, 3)};
    bvh.add(id, reference.boxes[id]);
  }
  for (int trial = 0; trial < 2000; ++trial) {
    const Vec3 origin = random.vec(-25, 25);
    const Vec3 direction = random.vec(-2, 2);
    // By sampling: whatever holds a point of the ray must be visited.
    const std::vector<ObjectId> visited = rayIds(bvh, origin, direction, 20);
    for (int i = 0; i <= 50; ++i) {
      const Vec3 point = origin + direction * (20.0 * i / 50);
      for (const auto& [id, box] : reference.boxes)
        if (box.contains(point)) {
          ASSERT_TRUE(std::binary_search(visited.begin(), visited.end(), id));
        }
    }
    for (const ObjectId id : visited) {
      // And whatever is visited is not far from the ray.
      Real enter = 0, leave = 20;
      for (int k = 0; k < 3; ++k) {
        const Real a = (reference.boxes[id].lower[k] - origin[k]) / direction[k];
        const Real b = (reference.boxes[id].upper[k] - origin[k]) / direction[k];
        enter = std::max(enter, std::min(a, b));
        leave = std::min(leave, std::max(a, b));
      }
      ASSERT_LE(enter, leave + 1e-12);
    }
    int numVisits = 0;
    bvh.queryRay(origin, direction, 20, [&](ObjectId) {
      ++numVisits;
      return Real(-1);
    });
    ASSERT_LE(numVisits, 1);
    ASSERT_EQ(numVisits, visited.empty() ? 0 : 1);
  }
}

TEST(BroadPhase, RaysThatAreNoRaysHitNothing) {
  AllThree set;
  set.add(1, {{-1, -1, -1}, {1, 1, 1}});
  set.add(2, {{-kInfinity, -1, -1}, {kInfinity, 1, 1}});
  for (const BroadPhase* one : set.all) {
    EXPECT_TRUE(rayIds(*one, {kNan, 0, 0}, {1, 0, 0}, 1).empty());
    EXPECT_TRUE(rayIds(*one, {0, 0, 0}, {kInfinity, 0, 0}, 1).empty());
    EXPECT_TRUE(rayIds(*one, {0, 0, 0}, {1, 0, 0}, kNan).empty());
    EXPECT_TRUE(rayIds(*one, {0, 0, 0}, {1, 0, 0}, -1).empty());
    // Without a direction the ray is its origin.
    EXPECT_EQ(rayIds(*one, {0, 0, 0}, {0, 0, 0}, 1), (std::vector<ObjectId>{1, 2}));
    EXPECT_EQ(rayIds(*one, {5, 0, 0}, {0, 0, 0}, 1), (std::vector<ObjectId>{2}));
    // From a face, and with a direction so small that its inverse overflows.
    EXPECT_EQ(rayIds(*one, {1, 1, 1}, {1, 0, 0}, 1), (std::vector<ObjectId>{1, 2}));
    EXPECT_EQ(rayIds(*one, {1, 0, 0}, {5e-324, 0, 0}, 1), (std::vector<ObjectId>{1, 2}));
    std::vector<ObjectId> found;
    one->queryOverlap({{kNan, 0, 0}, {1, 1, 1}}, found);
    EXPECT_TRUE(found.empty());
  }
}

TEST(BroadPhase, NearestFindsTheNearestBox) {
  Random random(4);
  AllThree set;
  for (ObjectId id = 0; id < 400; ++id) {
    const Vec3 lower = random.vec(-50, 50);
    set.add(id, {lower, lower + random.vec(0, 1)});
  }
  for (int trial = 0; trial < 500; ++trial) {
    const Vec3 lower = random.vec(-60, 60);
    const Aabb box{lower, lower + random.vec(0, 1)};
    long double best = kInfinity;
    for (const auto& [id, own] : set.reference.boxes) best = std::min(best, gapBetween(own, box));
    for (const BroadPhase* one : set.all) {
      long double found = kInfinity;
      int numVisits = 0;
      one->queryNearest(box, kInfinity, [&](ObjectId id) {
        found = std::min(found, gapBetween(set.reference.boxes.at(id), box));
        ++numVisits;
        return static_cast<Real>(found);
      });
      ASSERT_EQ(found, best);
      if (one == &set.bvh) {
        ASSERT_LT(numVisits, 60);  // not by looking at all of them
      }
    }
  }
  // Squares of these distances overflow.
  BvhBroadPhase far;
  BruteForceBroadPhase farReference;
  for (BroadPhase* one :
       {static_cast<BroadPhase*>(&far), static_cast<BroadPhase*>(&farReference)}) {
    one->add(1, {{1e200, 0, 0}, {1e200, 0, 0}});
    one->add(2, {{-3e200, 0, 0}, {-3e200, 0, 0}});
    EXPECT_EQ(nearIds(*one, {{0, 0, 0}, {0, 0, 0}}, 2e200), (std::vector<ObjectId>{1}));
    EXPECT_EQ(nearIds(*one, {{0, 0, 0}, {0, 0, 0}}, 4e200), (std::vector<ObjectId>{1, 2}));
  }
}

TEST(BroadPhase, TouchingBoxesOverlapAndTheNextDoubleDoesNot) {
  for (const Real x : {1.0, 0.1, 1e-30, 12345.678, 1e9 / 3, 1e-300, 7e25}) {
    AllThree set;
    set.add(1, {{-x, 0, 0}, {x, 1, 1}});
    set.add(2, {{x, 0, 0}, {3 * x, 1, 1}});
    set.add(3, {{std::nextafter(x, kInfinity), 0, 0}, {3 * x, 1, 1}});
    ASSERT_NO_FATAL_FAILURE(set.expectPairs());
    EXPECT_EQ(toVector(set.bvh.computePotentialPairs()), (std::vector<ObjectPair>{{1, 2}, {2, 3}}));
  }
}

TEST(BroadPhase, RefusesWhatIsNoBoxAndUnknownOrTakenIds) {
  AllThree set;
  for (BroadPhase* one : set.all) {
    one->add(5, {{0, 0, 0}, {1, 1, 1}});
    EXPECT_THROW(one->add(5, {{0, 0, 0}, {1, 1, 1}}), InvalidInput);
    EXPECT_THROW(one->add(kNoObject, {{0, 0, 0}, {1, 1, 1}}), InvalidInput);
    EXPECT_THROW(one->add(6, {{0, kNan, 0}, {1, 1, 1}}), InvalidInput);
    EXPECT_THROW(one->add(6, {{0, 0, 0}, {1, 1, kNan}}), InvalidInput);
    EXPECT_THROW(one->add(6, {{0, 0, 2}, {1, 1, 1}}), InvalidInput);
    EXPECT_THROW(one->update(5, {{0, 0, 2}, {1, 1, 1}}), InvalidInput);
    EXPECT_THROW(one->update(6, {{0, 0, 0}, {1, 1, 1}}), InvalidInput);
    EXPECT_THROW(one->remove(6), InvalidInput);
    EXPECT_EQ(one->size(), 1);
    one->add(6, {{-kInfinity, -kInfinity, -kInfinity}, {kInfinity, kInfinity, 0}});
    EXPECT_EQ(toVector(one->computePotentialPairs()), (std::vector<ObjectPair>{{5, 6}}));
    one->clear();
    EXPECT_EQ(one->size(), 0);
    EXPECT_TRUE(one->computePotentialPairs().empty());
    EXPECT_THROW(one->remove(5), InvalidInput);
    one->add(5, {{0, 0, 0}, {1, 1, 1}});
    EXPECT_EQ(one->size(), 1);
  }
  const std::vector<ObjectId> ids = {1, 2, 1};
  const std::vector<Aabb> boxes(3, Aabb{{0, 0, 0}, {1, 1, 1}});
  EXPECT_THROW(set.bvh.addBulk(ids, boxes), InvalidInput);
  EXPECT_THROW(set.bvh.addBulk(ids, std::span<const Aabb>(boxes).first(2)), InvalidInput);
  EXPECT_EQ(set.bvh.size(), 1);  // all or nothing
}

TEST(BvhBroadPhase, AllocatesNothingOnceWarm) {
  for (const int share : {1, 50}) {
    Random random(8);
    BvhBroadPhase bvh;
    std::vector<Aabb> boxes;
    std::vector<Vec3> velocity;
    for (ObjectId id = 0; id < 3000; ++id) {
      const Vec3 lower = random.vec(0, 20);
      boxes.push_back({lower, lower + random.vec(0.5, 1.5)});
      velocity.push_back(random.vec(-0.05, 0.05));
      bvh.add(id, boxes.back());
    }
    std::size_t numPairs = 0;
    const auto step = [&](Real sign) {
      for (std::size_t i = 0; i < boxes.size(); i += static_cast<std::size_t>(share)) {
        boxes[i].lower += velocity[i] * sign;
        boxes[i].upper += velocity[i] * sign;
        bvh.update(static_cast<ObjectId>(i), boxes[i]);
      }
      numPairs = bvh.computePotentialPairs().size();
    };
    // Forth and back: the second time round every capacity is there.
    for (int round = 0; round < 4; ++round) {
      const long before = test::numAllocations;
      for (int i = 0; i < 30; ++i) step(1);
      for (int i = 0; i < 30; ++i) step(-1);
      if (round == 3) {
        EXPECT_EQ(test::numAllocations, before) << "one in " << share << " moving";
      }
    }
    EXPECT_GT(numPairs, 1000u);
  }
}

TEST(BvhBroadPhase, ComingAndGoingWithoutQuestionsKeepsMemoryBounded) {
  BvhBroadPhase bvh;
  const Aabb box{{0, 0, 0}, {1, 1, 1}};
  bvh.add(0, box);
  bvh.add(1, box);
  EXPECT_EQ(bvh.computePotentialPairs().size(), 1u);
  const auto cycle = [&](ObjectId begin, ObjectId end) {
    for (ObjectId id = begin; id < end; ++id) {
      bvh.add(id, box);
      bvh.remove(id);
    }
  };
  cycle(2, 10000);
  const long before = test::numAllocations;
  cycle(2, 1000000);
  EXPECT_EQ(test::numAllocations, before);
  EXPECT_EQ(toVector(bvh.computePotentialPairs()), (std::vector<ObjectPair>{{0, 1}}));
}

TEST(BvhBroadPhase, SeveralThreadsMayAskAtOnce) {
  Random random(12);
  BvhBroadPhase bvh;
  Reference reference;
  for (ObjectId id = 0; id < 2000; ++id) {
    const Vec3 lower = random.vec(0, 20);
    reference.boxes[id] = {lower, lower + random.vec(0.5, 1.5)};
    bvh.add(id, reference.boxes[id]);
  }
  // The tree is not built yet: the first question does it, under the eyes of the others.
  std::atomic<int> numWrong{0};
  const auto ask = [&](std::uint64_t seed) {
    Random own(seed);
    for (int i = 0; i < 50; ++i) {
      const Vec3 lower = own.vec(0, 20);
      const Aabb box{lower, lower + own.vec(0, 3)};
      std::vector<ObjectId> found;
      bvh.queryOverlap(box, found);
      if (found != reference.overlapping(box)) ++numWrong;
    }
  };
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 4; ++i) threads.emplace_back(ask, i);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(numWrong, 0);
}

}  // namespace
}  // namespace tangere
