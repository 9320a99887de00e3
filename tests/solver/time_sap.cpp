// SPDX-License-Identifier: Apache-2.0
//
// Times the convex solver on heaps of free bodies: the steady state of a step sequence, warm
// started.
//
//   time_sap [bodies = 40] [steps = 2000] [guess: impulse | velocity | best] [pcg]
#include "solver/sap_scenes.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

int main(int argc, char** argv) {
  using namespace tangere;
  using namespace tangere::solver;
  const int numBodies = argc > 1 ? std::atoi(argv[1]) : 40;
  const int numSteps = argc > 2 ? std::atoi(argv[2]) : 2000;
  SapOptions options;
  if (argc > 3) {
    const std::string_view guess = argv[3];
    options.guess = guess == "best"      ? SapGuess::Best
                    : guess == "impulse" ? SapGuess::Impulse
                                         : SapGuess::Velocity;
  }
  if (argc > 4 && std::string_view(argv[4]) == "pcg") {
    options.linearSolver = SapLinearSolver::ConjugateGradients;
  }
  test::SapWorld world = test::clutter(numBodies, 1, {.friction = 0.5});
  SapProblem problem;
  SapSolver solver;
  std::vector<Real> last;
  std::vector<double> times;
  double fill = 0;
  int iterations = 0, evaluations = 0, factorizations = 0, most = 0, unsolved = 0, pcg = 0;
  Real residual = 0, bound = 0;
  for (int step = 0; step < numSteps; ++step) {
    const auto begin = std::chrono::steady_clock::now();
    world.fill(&problem);
    if (last.size() == problem.impulse.size()) problem.impulse = last;
    const auto filled = std::chrono::steady_clock::now();
    const SapReport report = solver.solve(options, &problem);
    const auto end = std::chrono::steady_clock::now();
    world.take(problem);
    last = problem.impulse;
    unsolved += isSolved(report.status) ? 0 : 1;
    if (step < numSteps / 4) continue;  // the heap settles
    times.push_back(std::chrono::duration<double, std::micro>(end - filled).count());
    fill += std::chrono::duration<double, std::micro>(filled - begin).count();
    iterations += report.iterations;
    most = std::max(most, report.iterations);
    evaluations += report.evaluations;
    factorizations += report.factorizations;
    pcg += report.pcgIterations;
    residual = std::max(residual, report.residual);
    bound = std::max(bound, report.errorBound);
  }
  const auto count = static_cast<double>(times.size());
  double sum = 0;
  for (const double t : times) sum += t;
  std::sort(times.begin(), times.end());
  std::printf(
      "%d bodies, %d contacts: mean %.1f us, median %.1f, p99 %.1f, fill %.1f; Newton %.2f (max "
      "%d), "
      "factorizations %.2f, line %.2f, pcg %.1f; residual %.1e, error bound %.1e, not solved %d\n",
      numBodies, problem.numConstraints(), sum / count, times[times.size() / 2],
      times[times.size() * 99 / 100], fill / count, iterations / count, most,
      factorizations / count, evaluations / count, pcg / count, residual, bound, unsolved);
  return unsolved == 0 ? 0 : 1;
}
