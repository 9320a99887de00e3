// SPDX-License-Identifier: Apache-2.0
//
// Where the steps fall may change a motion within the order of the method and no more: the same
// random scene with its steps shifted by a part of one, at a step and at one eight times as short.
// Numbers of scenes and seeds as in test_relations.cpp.
#include "metamorphic/check_relation.hpp"
#include "metamorphic/scene_case.hpp"
#include "metamorphic/solver_parameter.hpp"
#include "sim/random_scene.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace tangere::test {
namespace {

/// The motion at `numSteps` steps, the first one cut to `part` of its length and what that leaves
/// done at the end; part 1: not shifted.
std::optional<Snapshot> shiftedMotion(const Case& scene, int numSteps, Real part) {
  if (part == 1) return motionOf(scene, numSteps);
  Simulator sim = startOf(scene);
  SimulationOptions options = scene.options;
  const auto go = [&](Real dt, int count) {
    options.dt = dt;
    Simulator next(sim.model().withOptions(options));
    next.setState(sim.state());
    for (int i = 0; i < count; ++i)
      if (isRefused(next.step().status)) return false;
    sim = std::move(next);
    return true;
  };
  const Real dt = scene.options.dt;
  if (!go(part * dt, 1) || !go(dt, numSteps - 1) || !go((1 - part) * dt, 1)) return std::nullopt;
  return snapshotOf(sim, scene);
}

/// Largest difference that shifting makes; negative where a step was refused.
Real spreadAt(const Case& scene, int numSteps) {
  const std::optional<Snapshot> original = shiftedMotion(scene, numSteps, 1);
  if (!original) return -1;
  Real spread = 0;
  for (const Real part : {0.21, 0.47, 0.79}) {
    const std::optional<Snapshot> shifted = shiftedMotion(scene, numSteps, part);
    if (!shifted) return -1;
    spread = std::max(spread, differenceOf(*original, *shifted));
  }
  return spread;
}

/// The middle one of three times: at one of them an impact may be over in one run and not in
/// another.
Real spreadOf(const Case& scene, int numSteps, int between) {
  std::array<Real, 3> spreads{};
  for (std::size_t i = 0; i < 3; ++i) {
    spreads[i] = spreadAt(scene, numSteps + static_cast<int>(i) * between);
    if (spreads[i] < 0) return -1;
  }
  std::sort(spreads.begin(), spreads.end());
  return spreads[1];
}

/// One body that lands on a floor, or two that meet: contacts after which motion is not yet
/// chaotic.
Case fewBodies(std::uint64_t seed, SolverType solver) {
  return randomCase(seed, solver,
                    {.hasRobots = false, .hasDamping = false, .hasMeshes = false, .maxBodies = 2});
}

class ShiftedStart : public testing::TestWithParam<SolverType> {};

TEST_P(ShiftedStart, ChangesTheMotionWithinTheOrderOfTheMethod) {
  const bool isEvent = GetParam() == SolverType::Event;
  const long count = fromEnvironment("TANGERE_METAMORPHIC", isEvent ? 20 : 80);
  const long first = fromEnvironment("TANGERE_METAMORPHIC_SEED", 1);
  constexpr int kFiner = 8;
  int numCompared = 0, numStubborn = 0;
  std::vector<Real> ratios;
  Real worst = 0;
  for (long seed = first; seed < first + count; ++seed) {
    const Case scene = fewBodies(static_cast<std::uint64_t>(seed), GetParam());
    const int numSteps = numStepsToContact(scene, 600) + 4;
    if (numSteps > 600) continue;
    const Real spread = spreadOf(scene, numSteps, 2);
    if (spread < 0) continue;
    ++numCompared;
    if (isEvent) {
      worst = std::max(worst, spread);
      if (spread > 1e-4) {
        ++numStubborn;
        std::printf("shift, event, seed %ld: %.2e\n", seed, spread);
      }
      continue;
    }
    Case finer = scene;
    finer.options.dt /= kFiner;
    const Real fine = spreadOf(finer, numSteps * kFiner, 2 * kFiner);
    worst = std::max(worst, fine);
    // Rounding has no order.
    if (fine < 1e-6) continue;
    ratios.push_back(spread / fine);
    if (fine > 0.5 * spread && fine > 0.02) {
      ++numStubborn;
      std::printf("shift, %s, seed %ld: %.2e at dt, %.2e at dt/8\n", solverTypeName(GetParam()),
                  seed, spread, fine);
      writeCase(outputFolder() + "/shift_" + solverTypeName(GetParam()) + "_" +
                    std::to_string(seed) + ".toml",
                finer, "the motion depends on where the steps fall\n");
    }
  }
  std::sort(ratios.begin(), ratios.end());
  const Real median = ratios.empty() ? 0 : ratios[ratios.size() / 2];
  std::printf(
      "shift, %s: %d compared, spread %.2g times less at an eighth of the step (median), "
      "largest %.2e, %d do not shrink\n",
      solverTypeName(GetParam()), numCompared, median, worst, numStubborn);
  if (count < 20) return;
  EXPECT_GT(numCompared, count / 2);
  // An edge that is just missed, or a grip that just slips, falls either way. SAP takes an impact
  // in two steps, and what friction does depends on how it is divided: docs/accuracy.md.
  const Real allowed = GetParam() == SolverType::Sap ? 0.15 : 0.05;
  EXPECT_LE(numStubborn, 1 + allowed * numCompared);
  if (!isEvent) {
    EXPECT_GT(median, 4) << "first order: 8";
  }
}

INSTANTIATE_TEST_SUITE_P(Solvers, ShiftedStart, testing::ValuesIn(kAllSolvers), nameOfSolver);

}  // namespace
}  // namespace tangere::test
