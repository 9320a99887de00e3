// SPDX-License-Identifier: Apache-2.0
//
// How a linear force of springs, damping and drives, f = f0 - k dx - d dv, is taken over a step in
// which the velocity goes from v0 to v1 and positions move by dt v1. With dv = v1 - v0 it acts as
//
//   f = f0 - lead k dt v0 - (stiffness k dt + damping d) dv
//
// Midpoint: lead = 0, stiffness = 1/4. With the position half a step back, y = x - dt v/2, this is
// -k (y0 + y1)/2 while y moves by dt (v0 + v1)/2: the midpoint rule, which keeps
// v M v/2 + y k y/2 for any step. Its period is right to second order.
// BackwardEuler: all are 1, which is f at the end of the step. Damps what it cannot resolve.
//
// Any lead in [0, 1] with stiffness = 1/4 + 3/4 lead is stable for any step, joint by joint: the
// work of what is added, lead k dt (v0 + 3/4 dv), along dt (v0 + dv/2) is negative up to the
// difference of a square. So is any damping >= 1/2.
#pragma once

#include <tangere/model.hpp>

#include "contact/sap_workspace.hpp"

#include <algorithm>

namespace tangere::contact {

/// For a force on something of this inverse mass [1/kg, 1/(kg m^2)].
[[nodiscard]] inline StepWeights weightsOf(JointStep step, Real dt, Real stiffness, Real damping,
                                           Real inverseMass) {
  if (step == JointStep::BackwardEuler) return {1, 1, 1};
  // (omega dt)^2: six steps a period are resolved, three are not.
  const Real phase = dt * dt * stiffness * inverseMass;
  const Real lead = std::clamp<Real>((phase - 1) / 3, 0, 1);
  // v1/v0 = (1 - x/3)/(1 + 2x/3 + x^2/6), which is exp(-x) to third order and 0 for large x.
  const Real x = dt * damping * inverseMass;
  const Real theta = x < Real(1e6) ? (3 + x) / (6 + x) : 1;
  return {lead, Real(0.25) + Real(0.75) * lead, theta};
}

/// What the force falls by from v0 to v1.
[[nodiscard]] inline Real forceChange(const StepWeights& w, Real dt, Real stiffness, Real damping,
                                      Real v0, Real v1) {
  return dt * stiffness * (w.lead * v0 + w.stiffness * (v1 - v0)) + w.damping * damping * (v1 - v0);
}

/// The same as a drive of the solver, for the force f0 at the start. As a target and not as a
/// force: gains beyond what the step resolves are lowered by the solver, and the target stays.
[[nodiscard]] inline solver::SapDrive driveLaw(const StepWeights& w, Real dt, Real f0,
                                               Real stiffness, Real damping, Real v0) {
  solver::SapDrive law{.kp = w.stiffness * stiffness, .kd = w.damping * damping};
  const Real atRest =
      f0 + (dt * (law.kp - w.lead * stiffness) + law.kd) * v0;  // the force where v1 = 0
  if (law.kp > 0)
    law.targetPosition = atRest / law.kp;
  else if (law.kd > 0)
    law.targetVelocity = atRest / law.kd;
  else
    law.feedForward = atRest;
  return law;
}

/// What moves along one velocity, or along a row, for a unit force, as if all velocities were
/// independent. The problem's matrices are filled.
[[nodiscard]] inline Real inverseMassOf(int clique, int dof, const SapWorkspace& sap) {
  if (clique < 0) return 0;
  const int n = sap.problem.numVelocities(clique);
  const Real mass = sap.problem.matrix(clique)[dof * (n + 1)];
  return mass > 0 ? 1 / mass : 0;
}
[[nodiscard]] inline Real inverseMassOf(const CliqueRow& row, const SapWorkspace& sap) {
  Real sum = 0;
  const auto add = [&](int clique, const std::vector<Real>& entries) {
    if (clique < 0) return;
    for (std::size_t k = 0; k < entries.size(); ++k)
      sum += entries[k] * entries[k] * inverseMassOf(clique, static_cast<int>(k), sap);
  };
  add(row.clique1, row.row1);
  add(row.clique2, row.row2);
  return sum;
}

}  // namespace tangere::contact
