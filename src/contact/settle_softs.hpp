// SPDX-License-Identifier: Apache-2.0
//
// Whether what the solver found is a step that soft bodies may take. The step is linear in the
// stiffness at its start; where the true energy grows beyond that of the linear one, as in a body
// that is drawn out far and let go, it would gain energy without end.
//
// With F the elastic forces that the step has set, the energies of a body change by
//
//   E(x1) - E(x0) + dt v1 F - 1/2 |v1 - v0|_M^2
//
// otherwise than by the work of what acts on it along v1: loads, contacts and what holds or drives
// its vertices. Where that is above zero beyond a small part of the energy at hand, the turn of the
// body is taken from the solution, which what touches or holds it may have changed; then the
// stiffness is taken 4, 16, ... times: a step as by a shorter one of Newton's.
#pragma once

#include "contact/sap_workspace.hpp"

namespace tangere::contact {

/// How the system of a body is formed.
struct SoftForm {
  Real stiffening = 1;
  bool isTurningFree = false;
};

/// The system of an assembled body, in this form and with its driven vertices; work.turning too.
void formSoft(const model::ModelSoft& soft, const Vec3* x, Real dt, const SoftForm& form,
              model::Workspace& ws, SoftWork& work);

/// Whether the stiffness would turn the body as a whole if it went on with the velocities v: its
/// system is then formed free of turns at once. settleSofts() finds what this did not foresee.
[[nodiscard]] bool isTurnedByStiffness(const model::ModelSoft& soft, const Vec3* x, const Vec3* v,
                                       Real dt, model::Workspace& ws, SoftWork& work);

/// For the clique of the body; null where its system is not free of turns.
[[nodiscard]] inline const solver::SapTurning* turningOf(const SoftWork& work) {
  return work.assembly.isTurningFree ? &work.turning : nullptr;
}

/// After a solve, with the State still at the start: whether all soft bodies may take their steps.
/// Where they may not their systems are formed anew, from which the problem is to be solved again.
[[nodiscard]] bool settleSofts(const model::ModelData& model, const State& state,
                               model::Workspace& ws, SapWorkspace& sap);

/// The first soft body whose step would gain energy all the same; -1: none.
[[nodiscard]] int firstGaining(const SapWorkspace& sap);

}  // namespace tangere::contact
