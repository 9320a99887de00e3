// SPDX-License-Identifier: Apache-2.0
//
// Whether bodies that press passed each other within a step. A pressure pushes back whatever has
// not yet come to the core of the weaker body, where its pressure is greatest; beyond, it pushes on
// in the direction of the motion. So a step that leads something past a core is not one to keep.
#pragma once

#include "contact/sap_workspace.hpp"
#include "model/workspace.hpp"

namespace tangere::contact {

/// After the bodies were moved to `state`: looks at the pairs of sap.pressure.pairs that came far
/// within the step or press hard. True when one of them passed; its names are in ws.report.
///
/// What is asked: did a point of the core of one body come to where the other presses with at least
/// the pressure of that core (into a rigid body or a half space; in a body that yields, to where
/// its pressure is as high), or did the middle of one pass the core of the other? Bodies that had
/// passed before the step are let go on.
[[nodiscard]] bool findCrossing(const model::ModelData& model, const State& state,
                                model::Workspace& ws, SapWorkspace& sap);

}  // namespace tangere::contact
