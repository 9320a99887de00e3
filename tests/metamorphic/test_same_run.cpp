// SPDX-License-Identifier: Apache-2.0
//
// One run, taken differently: on several threads, cut and resumed, its bodies added in another
// order. To the last bit, but for the event solver after a cut (docs/limits.md). Numbers of scenes
// and seeds as in test_relations.cpp.
#include "metamorphic/check_relation.hpp"
#include "metamorphic/scene_case.hpp"
#include "metamorphic/solver_parameter.hpp"
#include "sim/random_scene.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>

namespace tangere::test {
namespace {

constexpr int kMostStepsToContact = 600;

/// Runs the two ways on random cases up to their first contact and `numAfter` steps on; `compare`
/// says what is wrong, or nothing.
using Compare = std::function<std::string(const Case& scene, int numSteps)>;

void expectSame(const std::string& name, SolverType solver, int few, const Compare& compare) {
  const long count = fromEnvironment("TANGERE_METAMORPHIC", few);
  const long first = fromEnvironment("TANGERE_METAMORPHIC_SEED", 1);
  const long maxFailures = fromEnvironment("TANGERE_METAMORPHIC_FAILURES", 3);
  long numFailed = 0, seed = first;
  for (; seed < first + count && numFailed < maxFailures; ++seed) {
    const Case scene = randomCase(static_cast<std::uint64_t>(seed), solver);
    const int numAfter = solver == SolverType::Event ? 4 : 40;
    const int numSteps = numStepsToContact(scene, kMostStepsToContact) + numAfter;
    const std::string wrong = compare(scene, numSteps);
    if (wrong.empty()) continue;
    ++numFailed;
    const Case smallest =
        shrunk(scene, [&](const Case& smaller) { return !compare(smaller, numSteps).empty(); });
    const std::string path = outputFolder() + "/" + name + "_" + solverTypeName(solver) + "_" +
                             std::to_string(seed) + ".toml";
    writeCase(path, smallest, name + ", seed " + std::to_string(seed) + ": " + wrong + "\n");
    ADD_FAILURE() << "TANGERE_METAMORPHIC=1 TANGERE_METAMORPHIC_SEED=" << seed << "\n"
                  << wrong << "\n  shrunk to " << smallest.bodies.size() << " bodies in " << path;
  }
  std::printf("%s, %s: seeds %ld to %ld, %ld failed\n", name.c_str(), solverTypeName(solver), first,
              seed - 1, numFailed);
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

class SameRun : public testing::TestWithParam<SolverType> {
 protected:
  static int few() { return GetParam() == SolverType::Event ? 8 : 60; }
};

TEST_P(SameRun, OnThreeThreadsToTheLastBit) {
  expectSame("threads", GetParam(), few(), [](const Case& scene, int numSteps) {
    Simulator one = startOf(scene, 1), three = startOf(scene, 3);
    std::string wrong;
    for (int i = 0; i < numSteps && wrong.empty() && stepBoth(one, three); ++i)
      wrong = hashesDiffer(one, three, "three threads give other bits");
    return wrong;
  });
}

TEST_P(SameRun, ResumedFromACheckpointToTheLastBit) {
  expectSame("checkpoint", GetParam(), few(), [](const Case& scene, int numSteps) -> std::string {
    Simulator whole = startOf(scene);
    const int cut = numSteps - numSteps / 4;
    for (int i = 0; i < cut; ++i)
      if (isRefused(whole.step().status)) return {};
    Simulator resumed(whole.model());
    resumed.setState(State::load(whole.model(), whole.state().save(whole.model())));
    if (!hashesDiffer(whole, resumed, "").empty()) return "the state that was loaded is another";
    const bool isEvent = scene.options.solver == SolverType::Event;
    std::string wrong;
    for (int i = cut; i < numSteps && wrong.empty() && stepBoth(whole, resumed); ++i) {
      if (!isEvent) {
        wrong = hashesDiffer(whole, resumed, "the resumed run gives other bits");
      } else if (const Real difference =
                     differenceOf(snapshotOf(whole, scene), snapshotOf(resumed, scene));
                 difference > toleranceOf(SolverType::Event)) {
        wrong = "the resumed run differs by " + std::to_string(difference);
      }
    }
    return wrong;
  });
}

TEST_P(SameRun, WithBodiesAddedInAnotherOrderToTheLastBit) {
  // Coordinates are in the order of creation: sums over them are rounded otherwise.
  if (GetParam() != SolverType::Impulse) GTEST_SKIP() << "see Relations.Renaming";
  expectSame("order", GetParam(), few(), [](const Case& scene, int numSteps) {
    Case other = scene;
    std::reverse(other.bodies.begin(), other.bodies.end());
    Simulator a = startOf(scene), b = startOf(other);
    std::string wrong;
    for (int i = 0; i < numSteps && wrong.empty() && stepBoth(a, b); ++i)
      wrong = hashesDiffer(a, b, "another order of creation gives other bits");
    return wrong;
  });
}

INSTANTIATE_TEST_SUITE_P(Solvers, SameRun, testing::ValuesIn(kAllSolvers), nameOfSolver);

}  // namespace
}  // namespace tangere::test
