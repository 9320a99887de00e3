// SPDX-License-Identifier: Apache-2.0
//
// The three broad phases answer alike through any history of additions, removals and moves.
#include <workload.hpp>

#include <tangere/broad_phase.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace tangere {
namespace {

using workload::Random;

/// Same operations on all three; answers compared after every step.
class ThreeBroadPhases {
 public:
  void add(ObjectId id, const Aabb& box) {
    for (BroadPhase* each : all_) each->add(id, box);
    boxes_[id] = box;
  }
  void addBulk(const std::vector<ObjectId>& ids, const std::vector<Aabb>& boxes) {
    bvh_.addBulk(ids, boxes);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      bruteForce_.add(ids[i], boxes[i]);
      sweep_.add(ids[i], boxes[i]);
      boxes_[ids[i]] = boxes[i];
    }
  }
  void update(ObjectId id, const Aabb& box) {
    for (BroadPhase* each : all_) each->update(id, box);
    boxes_[id] = box;
  }
  void remove(ObjectId id) {
    for (BroadPhase* each : all_) each->remove(id);
    boxes_.erase(id);
  }
  [[nodiscard]] const std::map<ObjectId, Aabb>& boxes() const { return boxes_; }

  void expectSamePairs() {
    const auto reference = bruteForce_.computePotentialPairs();
    const auto bvh = bvh_.computePotentialPairs(), sweep = sweep_.computePotentialPairs();
    ASSERT_TRUE(std::equal(bvh.begin(), bvh.end(), reference.begin(), reference.end()));
    ASSERT_TRUE(std::equal(sweep.begin(), sweep.end(), reference.begin(), reference.end()));
    for (const BroadPhase* each : all_) ASSERT_EQ(each->size(), static_cast<int>(boxes_.size()));
    for (std::size_t i = 1; i < reference.size(); ++i) ASSERT_TRUE(reference[i - 1] < reference[i]);
  }

  void expectSameQueries(Random& random, Real reach) {
    const Vec3 corner = random.pointInCube(reach);
    const Vec3 size = random.pointInCube(reach / 4);
    const Aabb box{corner, corner + Vec3{std::fabs(size.x), std::fabs(size.y), std::fabs(size.z)}};
    std::vector<ObjectId> expected;
    for (const auto& [id, other] : boxes_)
      if (other.overlaps(box)) expected.push_back(id);
    for (const BroadPhase* each : all_) {
      std::vector<ObjectId> found;
      each->queryOverlap(box, found);
      ASSERT_EQ(found, expected);
    }
    expectSameRay(random, reach);
    expectSameNearest(box, reach);
  }

 private:
  void expectSameRay(Random& random, Real reach) {
    const Vec3 origin = random.pointInCube(2 * reach), direction = random.direction();
    const Real maxT = random.uniform(0, 4 * reach);
    for (const BroadPhase* each : all_) {
      std::set<ObjectId> visited;
      each->queryRay(origin, direction, maxT, [&](ObjectId id) {
        visited.insert(id);
        return maxT;
      });
      // Every box the ray surely meets must be visited; grazing ones may be.
      for (const auto& [id, box] : boxes_) {
        const int meets = rayMeets(box, origin, direction, maxT);
        if (meets > 0) {
          ASSERT_TRUE(visited.count(id)) << "missed " << id;
        }
        if (meets < 0) {
          ASSERT_FALSE(visited.count(id)) << "visited " << id << " off the ray";
        }
      }
    }
  }

  /// 1 surely, -1 surely not, 0 within rounding.
  static int rayMeets(const Aabb& box, const Vec3& origin, const Vec3& direction, Real maxT) {
    const auto meets = [&](Real margin) {
      Real enter = 0, leave = maxT;
      for (int k = 0; k < 3; ++k) {
        const Real a = (box.lower[k] - margin - origin[k]) / direction[k];
        const Real b = (box.upper[k] + margin - origin[k]) / direction[k];
        enter = std::fmax(enter, std::fmin(a, b));
        leave = std::fmin(leave, std::fmax(a, b));
      }
      return enter <= leave;
    };
    const Real margin = 1e-9 * (norm(origin) + norm(box.upper) + norm(box.lower));
    return meets(-margin) ? 1 : meets(margin) ? 0 : -1;
  }

  void expectSameNearest(const Aabb& box, Real reach) {
    const auto gap = [&](const Aabb& other) {
      Real squared = 0;
      for (int k = 0; k < 3; ++k) {
        const Real d =
            std::fmax(0, std::fmax(other.lower[k] - box.upper[k], box.lower[k] - other.upper[k]));
        squared += d * d;
      }
      return std::sqrt(squared);
    };
    Real expected = reach;
    for (const auto& entry : boxes_) expected = std::fmin(expected, gap(entry.second));
    for (const BroadPhase* each : all_) {
      Real nearest = reach;
      each->queryNearest(box, reach, [&](ObjectId id) {
        nearest = std::fmin(nearest, gap(boxes_.at(id)));
        return nearest;
      });
      ASSERT_EQ(nearest, expected);
    }
  }

  BruteForceBroadPhase bruteForce_;
  BvhBroadPhase bvh_;
  SweepBroadPhase sweep_;
  BroadPhase* all_[3] = {&bruteForce_, &bvh_, &sweep_};
  std::map<ObjectId, Aabb> boxes_;
};

Aabb randomBox(Random& random, Real reach) {
  const Vec3 center = random.pointInCube(reach);
  // Mostly small, some as large as everything, some flat, some a point, some on a common grid so
  // that they touch exactly.
  const int kind = random.index(20);
  if (kind == 0) return {{-reach, -reach, -reach}, {reach, reach, reach}};
  if (kind == 1) return {center, center};
  if (kind < 6) {
    const Vec3 cell{std::floor(center.x), std::floor(center.y), std::floor(center.z)};
    return {cell, cell + Vec3{1, 1, 1}};
  }
  const Vec3 half{random.uniform(0, 0.6), random.uniform(0, 0.6),
                  kind == 6 ? 0 : random.uniform(0, 0.6)};
  return {center - half, center + half};
}

TEST(BroadPhaseProperties, AllThreeAgreeThroughRandomHistories) {
  int comparisons = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    ThreeBroadPhases phases;
    const Real reach = random.uniform(2, 6);
    ObjectId nextId = static_cast<ObjectId>(random.index(1000));
    std::vector<ObjectId> alive;
    if (seed % 3 == 0) {
      std::vector<Aabb> boxes;
      for (int i = 0; i < 100; ++i) {
        alive.push_back(nextId);
        nextId += 3;
        boxes.push_back(randomBox(random, reach));
      }
      phases.addBulk(alive, boxes);
    }
    for (int step = 0; step < 400; ++step) {
      const int action = random.index(10);
      if (action < 3 || alive.empty()) {
        phases.add(nextId, randomBox(random, reach));
        alive.push_back(nextId);
        nextId += static_cast<ObjectId>(1 + random.index(5));
      } else if (action < 5 && alive.size() > 20) {
        const auto at = static_cast<std::size_t>(random.index(static_cast<int>(alive.size())));
        phases.remove(alive[at]);
        alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(at));
      } else {
        const auto at = static_cast<std::size_t>(random.index(static_cast<int>(alive.size())));
        Aabb box = phases.boxes().at(alive[at]);
        const Vec3 drift = random.pointInCube(action == 9 ? reach : 0.05);
        box.lower += drift;
        box.upper += drift;
        phases.update(alive[at], box);
      }
      if (step % 3 == 0) phases.expectSamePairs();
      phases.expectSameQueries(random, reach);
      comparisons += 1;
      if (HasFatalFailure()) FAIL() << "seed " << seed << " step " << step;
    }
  }
  EXPECT_EQ(comparisons, 24000);
}

TEST(BroadPhaseProperties, MovedPairsAreThePairsOfWhatMoved) {
  workload::MovingBoxes boxes(2000, 20, 9);
  BvhBroadPhase broadPhase;
  broadPhase.addBulk(boxes.ids(), boxes.boxes());
  (void)broadPhase.computePotentialPairs();
  BvhBroadPhase complete;
  complete.addBulk(boxes.ids(), boxes.boxes());
  const std::set<int> movers(boxes.movers().begin(), boxes.movers().end());
  for (int step = 0; step < 50; ++step) {
    boxes.step();
    for (const int i : boxes.movers()) {
      broadPhase.update(static_cast<ObjectId>(i), boxes.boxes()[static_cast<std::size_t>(i)]);
      complete.update(static_cast<ObjectId>(i), boxes.boxes()[static_cast<std::size_t>(i)]);
    }
    std::vector<ObjectPair> expected;
    for (const ObjectPair& pair : complete.computePotentialPairs())
      if (movers.count(static_cast<int>(pair.first)) || movers.count(static_cast<int>(pair.second)))
        expected.push_back(pair);
    const auto moved = broadPhase.computeMovedPairs();
    ASSERT_TRUE(std::equal(moved.begin(), moved.end(), expected.begin(), expected.end()))
        << "step " << step;
  }
}

}  // namespace
}  // namespace tangere
