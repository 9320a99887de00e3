// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contact/sap_workspace.hpp"

namespace tangere::contact {

/// Where bodies press on each other: polygons between shapes that touch by pressure
/// (ws.pressurePairs), soft bodies and shapes, soft bodies with each other and with themselves.
/// Shapes come before soft bodies as objects; object 1 is the lower of two.
///
/// Where bodies move by much of a cell within the step, contacts that will be are foreseen: a
/// polygon of the places where the velocities of the start lead to, with the gap that is left now.
/// What came together unseen would be thrown out again by a stiff pressure.
void findPressureContacts(const model::ModelData& model, const State& state, model::Workspace& ws,
                          SapWorkspace& sap);

}  // namespace tangere::contact
