// SPDX-License-Identifier: Apache-2.0
//
// What the contact patch cache costs on a stack of boxes, and next to it what finding the contacts
// costs. Each benchmark checks that the cache did its work: the points are found again.
#include "workload.hpp"

#include <tangere/contact_patch_cache.hpp>

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

namespace tangere {
namespace {

/// Boxes in a column, four contacts to a pair, in a few frames that differ by a resting stack's
/// noise: 0.1 um, enough to change the order of the depths each time.
class StackFrames {
 public:
  static constexpr int kFrames = 16;

  explicit StackFrames(int numPairs) {
    workload::Random random(5);
    const auto box = std::make_shared<Box>(Vec3{0.5, 0.5, 0.5});
    for (int f = 0; f < kFrames; ++f) {
      CollisionGroup group;
      std::vector<Transform> poses;
      for (int i = 0; i <= numPairs; ++i) {
        const Vec3 noise = random.pointInCube(1e-7);
        const Vec3 tilt = random.pointInCube(1e-7);
        poses.push_back({rotationMatrix(Quat{1, tilt.x, tilt.y, tilt.z}),
                         Vec3{0.1 * (i % 2), 0.07 * (i % 3), 0.999 * i} + noise});
        group.add(box, poses.back());
      }
      CollisionResult result;
      group.collide(CollisionOption::fullContacts(1000000), result);
      frames_.emplace_back(result.manifolds().begin(), result.manifolds().end());
      poses_.push_back(std::move(poses));
    }
  }
  [[nodiscard]] const std::vector<ContactManifold>& manifolds(int frame) const {
    return frames_[static_cast<std::size_t>(frame % kFrames)];
  }
  [[nodiscard]] const std::vector<Transform>& poses(int frame) const {
    return poses_[static_cast<std::size_t>(frame % kFrames)];
  }

 private:
  std::vector<std::vector<ContactManifold>> frames_;
  std::vector<std::vector<Transform>> poses_;
};

void countPairs(benchmark::State& state) {
  state.counters["time_per_pair"] = benchmark::Counter(
      static_cast<double>(state.range(0)),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

/// The steady state: every point is found again by its features.
void updatePatchesOfStack(benchmark::State& state) {
  const int numPairs = static_cast<int>(state.range(0));
  const StackFrames stack(numPairs);
  ContactPatchCache cache({.enabled = true});
  int frame = 0;
  for (; frame < StackFrames::kFrames; ++frame)
    cache.update(stack.manifolds(frame), stack.poses(frame));
  cache.resetChurn();
  for (auto _ : state) {
    cache.update(stack.manifolds(frame), stack.poses(frame));
    ++frame;
  }
  countPairs(state);
  if (cache.numPersistentContacts() != 4 * numPairs || cache.churn().total() > 0)
    state.SkipWithError("the stack's points were not found again: timing void");
}
BENCHMARK(updatePatchesOfStack)->Arg(64)->Arg(1024);

/// The same without features: every point is looked for by its position.
void updatePatchesByPosition(benchmark::State& state) {
  const int numPairs = static_cast<int>(state.range(0));
  const StackFrames stack(numPairs);
  std::vector<std::vector<ContactManifold>> frames;
  for (int f = 0; f < StackFrames::kFrames; ++f) {
    frames.push_back(stack.manifolds(f));
    for (ContactManifold& manifold : frames.back())
      for (ContactPoint& point : manifold.points) point.feature1 = -1;
  }
  ContactPatchCache cache({.enabled = true});
  int frame = 0;
  for (; frame < StackFrames::kFrames; ++frame)
    cache.update(frames[static_cast<std::size_t>(frame)], stack.poses(frame));
  cache.resetChurn();
  for (auto _ : state) {
    cache.update(frames[static_cast<std::size_t>(frame % StackFrames::kFrames)],
                 stack.poses(frame));
    ++frame;
  }
  countPairs(state);
  if (cache.numPersistentContacts() != 4 * numPairs || cache.churn().total() > 0)
    state.SkipWithError("the stack's points were not found again: timing void");
}
BENCHMARK(updatePatchesByPosition)->Arg(64);

/// A stack that flickers: in each frame a quarter of the pairs lose half their points, and a pair
/// in sixteen is not seen at all.
void updatePatchesOfFlickeringStack(benchmark::State& state) {
  const int numPairs = static_cast<int>(state.range(0));
  const StackFrames stack(numPairs);
  std::vector<std::vector<ContactManifold>> frames;
  for (int f = 0; f < StackFrames::kFrames; ++f) {
    frames.emplace_back();
    for (std::size_t i = 0; i < stack.manifolds(f).size(); ++i) {
      const int turn = static_cast<int>(i) + f;
      if (turn % 16 == 0) continue;
      frames.back().push_back(stack.manifolds(f)[i]);
      if (turn % 4 == 1) frames.back().back().count = 2;
    }
  }
  ContactPatchCache cache({.enabled = true});
  int frame = 0;
  for (; frame < 2 * StackFrames::kFrames; ++frame)
    cache.update(frames[static_cast<std::size_t>(frame % StackFrames::kFrames)],
                 stack.poses(frame));
  cache.resetChurn();
  for (auto _ : state) {
    cache.update(frames[static_cast<std::size_t>(frame % StackFrames::kFrames)],
                 stack.poses(frame));
    ++frame;
  }
  countPairs(state);
  if (cache.numPersistentContacts() != 4 * numPairs || cache.churn().rawTotal() == 0)
    state.SkipWithError("the flicker was not bridged: timing void");
}
BENCHMARK(updatePatchesOfFlickeringStack)->Arg(64);

/// For comparison: broad and narrow phase of the same stack.
void collideStack(benchmark::State& state) {
  const int numPairs = static_cast<int>(state.range(0));
  const StackFrames stack(numPairs);
  const auto box = std::make_shared<Box>(Vec3{0.5, 0.5, 0.5});
  CollisionGroup group;
  for (const Transform& pose : stack.poses(0)) group.add(box, pose);
  CollisionResult result;
  int frame = 0;
  for (auto _ : state) {
    for (int i = 0; i <= numPairs; ++i)
      group.setPose(static_cast<ObjectId>(i), stack.poses(frame)[static_cast<std::size_t>(i)]);
    result.clear();
    group.collide(CollisionOption::fullContacts(1000000), result);
    ++frame;
  }
  countPairs(state);
  if (result.numContacts() != 4 * numPairs) state.SkipWithError("contacts missing: timing void");
}
BENCHMARK(collideStack)->Arg(64)->Arg(1024);

}  // namespace
}  // namespace tangere
