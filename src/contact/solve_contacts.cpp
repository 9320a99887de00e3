// SPDX-License-Identifier: Apache-2.0
#include "contact/solve_contacts.hpp"

#include <algorithm>

namespace tangere::contact {

namespace {

/// Constant acceleration: moving by the mean velocity is exact.
void moveFreely(solver::ImpulseBlock& block) {
  const Real t = block.duration;
  const Vec3 v = block.velocity + block.acceleration * t;
  const Vec3 w = block.angularVelocity + block.angularAcceleration * t;
  block.meanDisplacement = block.displacement = (block.velocity + v) * (Real(0.5) * t);
  block.meanRotation = block.rotation = (block.angularVelocity + w) * (Real(0.5) * t);
  block.velocity = v;
  block.angularVelocity = w;
}

/// The tolerance is where sweeps may stop; that a pile in motion is left with more is no fault. One
/// per cent of what gravity adds in the step is a fall of that much more than there should be.
Real worthTelling(const SimulationOptions& options) {
  return std::max(options.impulse.tolerance, Real(0.01) * norm(options.gravity) * options.dt);
}

/// A gap of a few atoms counts as closed. Otherwise a pile at rest never rests: what the solver
/// leaves of a velocity opens a gap, the gap allows as much velocity back in the next step, and so
/// on.
void closeTinyGaps(const ImpulseOptions& options, std::span<solver::ImpulsePoint> points,
                   core::ThreadPool* pool) {
  constexpr std::int64_t kGrain = 128, kMinShared = 512;  // fewer are not worth a message
  const Real tiny = Real(0.01) * options.slop;
  const auto count = static_cast<std::int64_t>(points.size());
  core::parallelFor(count >= kMinShared ? pool : nullptr, count, kGrain,
                    [&](std::int64_t begin, std::int64_t end) {
                      for (auto i = static_cast<std::size_t>(begin);
                           i < static_cast<std::size_t>(end); ++i) {
                        solver::ImpulsePoint& point = points[i];
                        if (point.gap > 0 && point.gap < tiny) point.gap = 0;
                      }
                    });
}

}  // namespace

void solveContacts(const model::ModelData& model, model::Workspace& ws) {
  solver::ImpulseProblem& problem = ws.problem;
  ws.islands.build(problem.blocks, problem.groups);
  const auto islands = ws.islands.islands();
  const auto islandOfBlock = ws.islands.islandOfBlock();
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    if (islandOfBlock[i] < 0 && problem.blocks[i].inverseMass > 0) moveFreely(problem.blocks[i]);
  }
  closeTinyGaps(model.options.impulse, problem.points, ws.pool.get());
  ws.reports.assign(islands.size(), {});
  ws.solver.solve(problem, islands, model.options.impulse, model.options.dt, ws.pool.get(),
                  ws.reports);

  ws.report.numIslands = static_cast<int>(islands.size());
  const Real limit = worthTelling(model.options);
  for (const solver::ImpulseReport& island : ws.reports) {
    ws.report.iterations = std::max(ws.report.iterations, island.iterations);
    ws.report.residual = std::max(ws.report.residual, island.residual);
    if (island.residual <= limit) continue;
    ws.report.status = ws.report.status | StepStatus::SolverNotConverged;
    if (island.worstPoint < 0 || ws.report.body1 >= 0) continue;
    ws.report.body1 = problem.points[island.worstPoint].block1;
    ws.report.body2 = problem.points[island.worstPoint].block2;
  }
}

}  // namespace tangere::contact
