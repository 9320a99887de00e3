// SPDX-License-Identifier: Apache-2.0
//
// Times the convex solver on a soft ball of 1,000 vertices in the hand of an arm: it closes, holds
// and lifts. Prints a line for every tenth step and the means.
//
//   time_soft_sap [preconditioner: 0 auto, 1 block Jacobi, 2 incomplete, 3 two levels]
#include "solver/sap_solver.hpp"

#include "solver/soft_scenes.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  using namespace tangere;
  using namespace tangere::solver;
  constexpr int kNumSteps = 120, kLiftStep = 60;
  SapOptions options;
  options.softPreconditioner = static_cast<SoftPreconditioner>(argc > 1 ? std::atoi(argv[1]) : 0);
  test::SoftGrasp grasp(9, 0.03, {}, 0.7);
  grasp.stiffness = 50;  // of one polygon of a pressure field of 1e5 Pa over the radius
  grasp.grip = 30;
  SapProblem problem;
  SapSolver solver;
  std::vector<Real> last;
  double total = 0;
  int newton = 0, pcg = 0;
  for (int step = 0; step < kNumSteps; ++step) {
    if (step == kLiftStep) grasp.lift = 0.02;
    grasp.fill(&problem);
    if (!last.empty()) problem.impulse = last;
    const auto start = std::chrono::steady_clock::now();
    const SapReport report = solver.solve(options, &problem);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    last = problem.impulse;
    grasp.take(problem);
    total += time.count();
    newton += report.iterations;
    pcg += report.pcgIterations;
    if (!isSolved(report.status)) {
      std::printf("step %d is not solved: timing void\n", step);
      return 1;
    }
    if (step % 10 != 0) continue;
    std::printf("step %3d: %6.2f ms, %2d Newton, %3d PCG (at most %d), residual %.1e\n", step,
                time.count(), report.iterations, report.pcgIterations, report.mostPcgIterations,
                report.residual);
  }
  std::printf("%d vertices, %d contacts: %.2f ms, %.1f Newton, %.1f PCG for each of them\n",
              grasp.mesh.numVertices(), static_cast<int>(grasp.points.size()), total / kNumSteps,
              static_cast<double>(newton) / kNumSteps, static_cast<double>(pcg) / newton);
  return 0;
}
