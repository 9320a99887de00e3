// SPDX-License-Identifier: Apache-2.0
//
// One run, taken differently: on several threads, cut and resumed, its bodies added in another
// order. To the last bit, but for the event solver after a cut (docs/limits.md), where scenes that
// are as sensitive to their start are counted. Numbers of scenes and seeds as in
// test_relations.cpp.
#include "metamorphic/check_relation.hpp"
#include "metamorphic/scene_case.hpp"
#include "metamorphic/solver_parameter.hpp"
#include "sim/random_scene.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>

namespace tangere::test {
namespace {

constexpr int kMostStepsToContact = 600;
/// Of the cases, those that may be sensitive to 1e-10 and differ: as of a relation.
constexpr Real kMaxSensitive = 0.03;

/// What is wrong, or nothing.
struct Outcome {
  std::string wrong{};
  bool isSensitive = false;  ///< it differs by no more than its sensitivity explains
};

/// Runs the two ways on random cases up to their first contact and `numAfter` steps on.
using Compare = std::function<Outcome(const Case& scene, int numSteps)>;

void expectSame(const std::string& name, SolverType solver, int few, const Compare& compare) {
  const long count = fromEnvironment("TANGERE_METAMORPHIC", few);
  const long first = fromEnvironment("TANGERE_METAMORPHIC_SEED", 1);
  const long maxFailures = fromEnvironment("TANGERE_METAMORPHIC_FAILURES", 3);
  long numFailed = 0, numSensitive = 0, seed = first;
  for (; seed < first + count && numFailed < maxFailures; ++seed) {
    const Case scene = randomCase(static_cast<std::uint64_t>(seed), solver);
    const int numAfter = solver == SolverType::Event ? 4 : 40;
    const int numSteps = numStepsToContact(scene, kMostStepsToContact) + numAfter;
    const auto [wrong, isSensitive] = compare(scene, numSteps);
    numSensitive += isSensitive ? 1 : 0;
    if (wrong.empty()) continue;
    ++numFailed;
    const Case smallest = shrunk(
        scene, [&](const Case& smaller) { return !compare(smaller, numSteps).wrong.empty(); });
    const std::string path = outputFolder() + "/" + name + "_" + solverTypeName(solver) + "_" +
                             std::to_string(seed) + ".toml";
    writeCase(path, smallest, name + ", seed " + std::to_string(seed) + ": " + wrong + "\n");
    ADD_FAILURE() << "TANGERE_METAMORPHIC=1 TANGERE_METAMORPHIC_SEED=" << seed << "\n"
                  << wrong << "\n  shrunk to " << smallest.bodies.size() << " bodies in " << path;
  }
  std::printf("%s, %s: seeds %ld to %ld, %ld sensitive, %ld failed\n", name.c_str(),
              solverTypeName(solver), first, seed - 1, numSensitive, numFailed);
  EXPECT_LE(static_cast<Real>(numSensitive), 1 + kMaxSensitive * static_cast<Real>(seed - first));
}

std::string hashesDiffer(const Simulator& a, const Simulator& b, const char* what) {
  if (a.state().hash() == b.state().hash()) return {};
  return std::string(what) + " at step " + std::to_string(a.state().step);
}

/// Steps that are refused are refused in both; one that takes too many steps inside is not
/// compared.
bool stepBoth(Simulator& a, Simulator& b) {
  return !isRefused(a.step().status) && !isRefused(b.step().status);
}

/// Of a step of the event solver that was taken whole and resumed; `numSteps` after the cut.
Outcome resumedStep(const Case& scene, int cut, int numSteps, Real difference) {
  if (difference <= toleranceOf(SolverType::Event)) return {};
  // As in expectRelation(): what counts is how sensitive the compared steps are.
  const std::optional<Case> start = advanced(scene, cut);
  if (start && difference <= 10 * sensitivityOf(*start, numSteps)) return {.isSensitive = true};
  return {.wrong = "the resumed run differs by " + std::to_string(difference)};
}

class SameRun : public testing::TestWithParam<SolverType> {
 protected:
  static int few() { return GetParam() == SolverType::Event ? 8 : 60; }
};

TEST_P(SameRun, OnThreeThreadsToTheLastBit) {
  expectSame("threads", GetParam(), few(), [](const Case& scene, int numSteps) -> Outcome {
    Simulator one = startOf(scene, 1), three = startOf(scene, 3);
    std::string wrong;
    for (int i = 0; i < numSteps && wrong.empty() && stepBoth(one, three); ++i)
      wrong = hashesDiffer(one, three, "three threads give other bits");
    return {.wrong = wrong};
  });
}

TEST_P(SameRun, ResumedFromACheckpointToTheLastBit) {
  expectSame("checkpoint", GetParam(), few(), [](const Case& scene, int numSteps) -> Outcome {
    Simulator whole = startOf(scene);
    const int cut = numSteps - numSteps / 4;
    for (int i = 0; i < cut; ++i)
      if (isRefused(whole.step().status)) return {};
    Simulator resumed(whole.model());
    resumed.setState(State::load(whole.model(), whole.state().save(whole.model())));
    if (!hashesDiffer(whole, resumed, "").empty())
      return {.wrong = "the state that was loaded is another"};
    const bool isEvent = scene.options.solver == SolverType::Event;
    Outcome outcome;
    for (int i = cut;
         i < numSteps && outcome.wrong.empty() && !outcome.isSensitive && stepBoth(whole, resumed);
         ++i) {
      if (isEvent)
        outcome = resumedStep(scene, cut, i + 1 - cut,
                              differenceOf(snapshotOf(whole, scene), snapshotOf(resumed, scene)));
      else
        outcome.wrong = hashesDiffer(whole, resumed, "the resumed run gives other bits");
    }
    return outcome;
  });
}

TEST_P(SameRun, WithBodiesAddedInAnotherOrderToTheLastBit) {
  // Coordinates are in the order of creation: sums over them are rounded otherwise.
  if (GetParam() != SolverType::Impulse) GTEST_SKIP() << "see Relations.Renaming";
  expectSame("order", GetParam(), few(), [](const Case& scene, int numSteps) -> Outcome {
    Case other = scene;
    std::reverse(other.bodies.begin(), other.bodies.end());
    Simulator a = startOf(scene), b = startOf(other);
    std::string wrong;
    for (int i = 0; i < numSteps && wrong.empty() && stepBoth(a, b); ++i)
      wrong = hashesDiffer(a, b, "another order of creation gives other bits");
    return {.wrong = wrong};
  });
}

INSTANTIATE_TEST_SUITE_P(Solvers, SameRun, testing::ValuesIn(kAllSolvers), nameOfSolver);

}  // namespace
}  // namespace tangere::test
