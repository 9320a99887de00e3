// SPDX-License-Identifier: Apache-2.0
#include "contact/solve_sap.hpp"

#include "contact/body_rows.hpp"
#include "contact/drive_rows.hpp"
#include "contact/recovery.hpp"
#include "contact/settle_softs.hpp"
#include "dynamics/free_motion.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::contact {

namespace {

void takeImpulses(const State& state, model::Workspace& ws, SapWorkspace& sap);
void takeVelocities(const model::ModelData& model, model::Workspace& ws, SapWorkspace& sap);
void report(const model::ModelData& model, model::Workspace& ws, const SapWorkspace& sap);
void reportOverlaps(const model::ModelData& model, model::Workspace& ws, const SapWorkspace& sap);

/// Friction that does not remember what it held needs the small regularization of the books.
SapOptions solverOptions(const model::ModelData& model) {
  SapOptions options = model.options.sap;
  if (options.contact == SapContactModel::HuntCrossley)
    options.frictionRegularization = std::min<Real>(options.frictionRegularization, 1e-3);
  return options;
}

}  // namespace

void solveSap(const model::ModelData& model, const State& state, model::Workspace& ws,
              SapWorkspace& sap) {
  // The guess; soft bodies have theirs, with driven vertices as they will be.
  std::copy_n(sap.v0.begin(), sap.bias.size(), sap.problem.v.begin());
  sap.report = sap.solver.solve(solverOptions(model), &sap.problem, ws.pool.get());
  constexpr int kMaxShortened = 3;
  for (int i = 0; i < kMaxShortened && !sap.recovering.empty() && shortenRecovery(model, sap);
       ++i) {
    std::copy_n(sap.v0.begin(), sap.bias.size(), sap.problem.v.begin());
    sap.report = sap.solver.solve(solverOptions(model), &sap.problem, ws.pool.get());
  }
  while (sap.report.status != solver::SapStatus::NotFinite && !settleSofts(model, state, ws, sap)) {
    const solver::SapReport before = sap.report;
    sap.report = sap.solver.solve(solverOptions(model), &sap.problem, ws.pool.get());
    sap.report.iterations += before.iterations;
    sap.report.pcgIterations += before.pcgIterations;
  }
  std::copy(sap.problem.v.begin(), sap.problem.v.end(), sap.v1.begin());
  finishDrives(sap);
  takeImpulses(state, ws, sap);
  takeVelocities(model, ws, sap);
  report(model, ws, sap);
  reportOverlaps(model, ws, sap);
}

namespace {

/// Impulses and their work: the impulse times the mean of the velocities before and after.
void takeImpulses(const State& state, model::Workspace& ws, SapWorkspace& sap) {
  for (std::size_t i = 0; i < ws.problem.points.size(); ++i) {
    solver::ImpulsePoint& point = ws.problem.points[i];
    const int c = sap.constraintOfPoint[i];
    if (c < 0) {
      point.normalImpulse = point.tangentImpulse[0] = point.tangentImpulse[1] = 0;
      continue;
    }
    const Real* impulse = sap.problem.impulseOf(c);
    const Real* after = sap.problem.velocityOf(c);
    const Vec3 slip = relativeVelocity(state, point);
    point.tangentImpulse[0] = impulse[0];
    point.tangentImpulse[1] = impulse[1];
    point.normalImpulse = impulse[2];
    point.normalWork = Real(0.5) * impulse[2] * (after[2] + dot(slip, point.normal));
    point.frictionWork = Real(0.5) * (impulse[0] * (after[0] + dot(slip, point.tangent1)) +
                                      impulse[1] * (after[1] + dot(slip, point.tangent2)));
  }
}

/// A free body that nothing touches moves by the mean velocity, which is exact under a constant
/// force; what is touched by the new one, which is what the constraints are about.
void takeVelocities(const model::ModelData& model, model::Workspace& ws, SapWorkspace& sap) {
  const Real dt = model.options.dt;
  std::vector<std::uint8_t>& isTouched = sap.isTouched;
  isTouched.assign(static_cast<std::size_t>(sap.problem.numCliques()), 0);
  for (int i = 0; i < sap.problem.numConstraints(); ++i) {
    // A point that was foreseen and not reached touches nothing.
    const solver::SapConstraint& constraint = sap.problem.constraints[i];
    const Real* impulse = sap.problem.impulseOf(i);
    if (std::all_of(impulse, impulse + constraint.numRows, [](Real p) { return p == 0; })) continue;
    isTouched[constraint.clique1] = 1;
    if (constraint.clique2 >= 0) isTouched[constraint.clique2] = 1;
  }
  for (std::size_t c = 0; c < sap.treeOfClique.size(); ++c) {
    const model::Tree& tree = model.trees[sap.treeOfClique[c]];
    if (!tree.isFreeBody) continue;
    solver::ImpulseBlock& block = ws.problem.blocks[model.links[tree.firstLink].body];
    const Real* v = sap.problem.velocity(static_cast<int>(c));
    const Vec3 linear{v[0], v[1], v[2]}, angular{v[3], v[4], v[5]};
    block.meanDisplacement = (block.velocity + linear) * (Real(0.5) * dt);
    block.meanRotation = (block.angularVelocity + angular) * (Real(0.5) * dt);
    block.isTouched = isTouched[c] != 0;
    block.displacement = block.isTouched ? linear * dt : block.meanDisplacement;
    block.rotation = block.isTouched ? angular * dt : block.meanRotation;
    block.velocity = linear;
    block.angularVelocity = angular;
  }
}

/// Who is behind a constraint, for people.
void nameBodies(const model::ModelData& model, const model::Workspace& ws, const SapWorkspace& sap,
                int constraint, StepReport* out) {
  for (std::size_t i = 0; i < sap.constraintOfPoint.size(); ++i) {
    if (sap.constraintOfPoint[i] != constraint) continue;
    out->body1 = ws.problem.points[i].block1;
    out->body2 = ws.problem.points[i].block2;
    return;
  }
  for (const RowOwner& owner : sap.owners) {
    if (owner.constraint != constraint) continue;
    if (owner.kind == RowOwner::Kind::Limit || owner.kind == RowOwner::Kind::Friction)
      out->body1 = model.joints[owner.index].body;
    return;
  }
}

void report(const model::ModelData& model, model::Workspace& ws, const SapWorkspace& sap) {
  StepReport& out = ws.report;
  out.numIslands = sap.report.numIslands;
  out.iterations = sap.report.iterations;
  out.linearIterations = sap.report.pcgIterations;
  out.residual = sap.report.residual;
  out.errorBound = sap.report.errorBound;
  out.frictionUpdates = sap.report.frictionUpdates;
  out.frictionResidual = sap.report.frictionResidual;
  if (sap.isHandlerRefused) out.status = out.status | StepStatus::HandlerRefused;
  if (solver::isSolved(sap.report.status)) return;
  out.status = out.status | StepStatus::SolverNotConverged;
  if (sap.report.worstConstraint >= 0) nameBodies(model, ws, sap, sap.report.worstConstraint, &out);
  const int worst = sap.report.worstClique;
  if (worst >= static_cast<int>(sap.treeOfClique.size())) {
    out.soft = worst - static_cast<int>(sap.treeOfClique.size());
    return;
  }
  if (out.body1 < 0 && worst >= 0) {
    const model::Tree& tree = model.trees[sap.treeOfClique[worst]];
    out.body1 = model.links[tree.firstLink].body;
  }
}

/// Half of the smallest side of its box; unlimited for a half space.
Real halfThickness(const Shape& shape) {
  if (shape.type() == ShapeType::Plane) return kUnlimited;
  const Vec3 size = shape.localAabb().upper - shape.localAabb().lower;
  return Real(0.5) * std::min({size.x, size.y, size.z});
}

/// Whether the point is deeper than `limit` and moves apart by less than a tenth of what its
/// contact asks for, which is nothing where joints give no way.
bool isStuck(const solver::ImpulsePoint& point, int c, Real limit, Real relaxationTime,
             const SapWorkspace& sap) {
  constexpr Real kPart = 0.1;
  if (c < 0 || !(-point.gap > limit)) return false;
  const solver::SapConstraint& constraint = sap.problem.constraints[c];
  const Real gap = constraint.kind == solver::SapKind::HuntCrossley
                       ? sap.problem.huntCrossleys[constraint.parameters].gap
                       : sap.problem.contacts[constraint.parameters].gap;
  const Real target = -gap / (sap.problem.dt + relaxationTime);
  return !(target > 0 && sap.problem.velocityOf(c)[2] > kPart * target);
}

/// A load presses rigid bodies into each other by far less than a tenth of their thickness.
void reportOverlaps(const model::ModelData& model, model::Workspace& ws, const SapWorkspace& sap) {
  constexpr Real kDeep = 0.1, kShallow = 1e-3;
  for (std::size_t g = 0; g < ws.problem.groups.size(); ++g) {
    const solver::ImpulseGroup& group = ws.problem.groups[g];
    if (!model.bodies[group.block1].isJointed && !model.bodies[group.block2].isJointed) continue;
    const auto [shape1, shape2] = ws.groupShapes[g];
    Real deepest = 0;
    for (int i = group.first; i < group.first + group.count; ++i)
      deepest = std::max(deepest, -ws.problem.points[i].gap);
    // Nearly all contacts end here: nothing is thinner than a hundredth of its size.
    if (deepest < kShallow * std::min(model.shapes[shape1].reach, model.shapes[shape2].reach))
      continue;
    const model::ContactMaterial& material =
        model.contactMaterial(model.shapes[shape1].material, model.shapes[shape2].material);
    if (material.stiffness < kUnlimited) continue;  // a law, with the depth that follows from it
    const Real limit = kDeep * std::min(halfThickness(*model.shapes[shape1].shape),
                                        halfThickness(*model.shapes[shape2].shape));
    for (int i = group.first; i < group.first + group.count; ++i) {
      if (!isStuck(ws.problem.points[i], sap.constraintOfPoint[i], limit, material.relaxationTime,
                   sap))
        continue;
      ws.report.status = ws.report.status | StepStatus::OverlapNotResolved;
      if (ws.report.body1 >= 0) return;
      ws.report.body1 = group.block1;
      ws.report.body2 = group.block2;
      return;
    }
  }
}

}  // namespace

}  // namespace tangere::contact
