// SPDX-License-Identifier: Apache-2.0
//
// Micro benchmarks of the collision library. Each one checks its answers first: a fast wrong
// answer is reported as an error, not as a time.
#include "workload.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>

namespace tangere {
namespace {

using workload::PairWorkload;
using workload::PosePair;
using workload::Regime;

constexpr int kPoses = 1000;

ShapeType shapeArgument(const benchmark::State& state, int index) {
  return static_cast<ShapeType>(state.range(index));
}

void label(benchmark::State& state, Regime regime) {
  state.SetLabel(std::string(shapeTypeName(shapeArgument(state, 0))) + "-" +
                 std::string(shapeTypeName(shapeArgument(state, 1))) + " " +
                 workload::regimeName(regime));
}

/// Whether the plane across the normal of the distance keeps the shapes apart, which proves it. Not
/// the regime: the tips of two cones that were pushed towards each other may pass.
bool areApart(const PairWorkload& work, const PosePair& pose) {
  const DistanceResult d = distance(*work.shape1, pose.X_W1, *work.shape2, pose.X_W2);
  return d.distance > workload::certificateGap(*work.shape1, *work.shape2, pose, d);
}

template <Regime kRegime>
void distancePair(benchmark::State& state) {
  const PairWorkload work =
      workload::makePairs(shapeArgument(state, 0), shapeArgument(state, 1), kRegime, kPoses, 1);
  Real worst = 0;
  for (const PosePair& pose : work.poses)
    worst = std::fmax(worst, workload::certificateGap(
                                 *work.shape1, *work.shape2, pose,
                                 distance(*work.shape1, pose.X_W1, *work.shape2, pose.X_W2)));
  std::size_t i = 0;
  for (auto _ : state) {
    const PosePair& pose = work.poses[i];
    benchmark::DoNotOptimize(distance(*work.shape1, pose.X_W1, *work.shape2, pose.X_W2));
    i = i + 1 == work.poses.size() ? 0 : i + 1;
  }
  label(state, kRegime);
  state.counters["certificate_gap_m"] = worst;
  if (worst > 1e-6) state.SkipWithError("the distance is not proved by its normal: timing void");
}

template <Regime kRegime>
void contactsPair(benchmark::State& state) {
  const PairWorkload work =
      workload::makePairs(shapeArgument(state, 0), shapeArgument(state, 1), kRegime, kPoses, 1);
  CollisionResult result;
  const CollisionOption option = CollisionOption::fullContacts();
  Real points = 0, missed = 0;
  for (const PosePair& pose : work.poses) {
    result.clear();
    points += collide(*work.shape1, pose.X_W1, *work.shape2, pose.X_W2, option, result);
    missed += result.isCollision() == areApart(work, pose) ? 1 : 0;
  }
  std::size_t i = 0;
  for (auto _ : state) {
    const PosePair& pose = work.poses[i];
    result.clear();
    benchmark::DoNotOptimize(
        collide(*work.shape1, pose.X_W1, *work.shape2, pose.X_W2, option, result));
    i = i + 1 == work.poses.size() ? 0 : i + 1;
  }
  label(state, kRegime);
  state.counters["points_per_query"] = points / kPoses;
  if (missed > 0) state.SkipWithError("contacts missing or invented: timing void");
}

template <Regime kRegime>
void overlapPair(benchmark::State& state) {
  const PairWorkload work =
      workload::makePairs(shapeArgument(state, 0), shapeArgument(state, 1), kRegime, kPoses, 1);
  int wrong = 0;
  for (const PosePair& pose : work.poses)
    wrong += overlap(*work.shape1, pose.X_W1, *work.shape2, pose.X_W2) == areApart(work, pose);
  std::size_t i = 0;
  for (auto _ : state) {
    const PosePair& pose = work.poses[i];
    benchmark::DoNotOptimize(overlap(*work.shape1, pose.X_W1, *work.shape2, pose.X_W2));
    i = i + 1 == work.poses.size() ? 0 : i + 1;
  }
  label(state, kRegime);
  state.counters["wrong"] = wrong;
  if (wrong > 0) state.SkipWithError("wrong answers: timing void");
}

void allConvexPairs(benchmark::internal::Benchmark* bench) {
  for (const ShapeType type1 : workload::kConvexTypes)
    for (const ShapeType type2 : workload::kConvexTypes)
      if (type1 <= type2) bench->Args({static_cast<int>(type1), static_cast<int>(type2)});
}

BENCHMARK(distancePair<Regime::Separated>)->Apply(allConvexPairs);
BENCHMARK(distancePair<Regime::Deep>)->Apply(allConvexPairs);
BENCHMARK(contactsPair<Regime::Shallow>)->Apply(allConvexPairs);
BENCHMARK(contactsPair<Regime::Deep>)->Apply(allConvexPairs);
BENCHMARK(overlapPair<Regime::Separated>)->Apply(allConvexPairs);
BENCHMARK(overlapPair<Regime::Shallow>)->Apply(allConvexPairs);

template <class Phase>
void moveBoxes(benchmark::State& state) {
  const int count = static_cast<int>(state.range(0));
  workload::MovingBoxes boxes(count, static_cast<int>(state.range(1)), 3);
  Phase phase;
  for (int i = 0; i < count; ++i)
    phase.add(static_cast<ObjectId>(i), boxes.boxes()[static_cast<std::size_t>(i)]);
  std::size_t pairs = phase.computePotentialPairs().size();
  for (auto _ : state) {
    boxes.step();
    for (const int i : boxes.movers())
      phase.update(static_cast<ObjectId>(i), boxes.boxes()[static_cast<std::size_t>(i)]);
    pairs = phase.computePotentialPairs().size();
  }
  state.SetItemsProcessed(state.iterations() * count);
  state.counters["pairs_per_box"] = static_cast<double>(pairs) / count;
  SweepBroadPhase reference;
  for (int i = 0; i < count; ++i)
    reference.add(static_cast<ObjectId>(i), boxes.boxes()[static_cast<std::size_t>(i)]);
  if (reference.computePotentialPairs().size() != pairs)
    state.SkipWithError("pairs missing or invented: timing void");
}
BENCHMARK_TEMPLATE(moveBoxes, BvhBroadPhase)
    ->ArgsProduct({{1000, 10000, 100000}, {1, 100}})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_TEMPLATE(moveBoxes, SweepBroadPhase)
    ->ArgsProduct({{1000, 10000}, {1, 100}})
    ->Unit(benchmark::kMicrosecond);

void buildMesh(benchmark::State& state) {
  const auto mesh = workload::bumpySphere(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    const Mesh again(mesh->vertices(), mesh->triangles());
    benchmark::DoNotOptimize(&again);
  }
  state.counters["triangles"] = static_cast<double>(mesh->triangles().size());
  if (!mesh->isClosed()) state.SkipWithError("the mesh has a hole: timing void");
}
BENCHMARK(buildMesh)->Arg(16)->Arg(22)->Arg(71)->Unit(benchmark::kMillisecond);

/// A thousand mixed bodies in one group, all contacts: what a simulation step asks.
void collideGroup(benchmark::State& state) {
  workload::Random random(4);
  CollisionGroup group;
  group.setNumThreads(static_cast<int>(state.range(0)));
  for (int i = 0; i < 1000; ++i) {
    const workload::ShapePtr shape =
        workload::randomConvex(workload::kConvexTypes[i % 7], 0.3, 2, random);
    const Mat3 rotation = random.rotation();
    group.add(shape, {rotation, random.pointInCube(2.4)});
  }
  CollisionResult result;
  for (auto _ : state) {
    result.clear();
    group.collide(CollisionOption::fullContacts(1000000), result);
  }
  state.counters["contacts"] = result.numContacts();
  if (result.status() != QueryStatus::Ok) state.SkipWithError("a query failed: timing void");
}
BENCHMARK(collideGroup)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace tangere

BENCHMARK_MAIN();
