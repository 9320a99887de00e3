// SPDX-License-Identifier: Apache-2.0
//
// The polygons of two rigid bodies, however many, act on them as one force and one moment. A flat
// patch is therefore replaced by four points with its force, its moment and its stiffness against
// pressing and tilting, all exact, and none of the points pulls: a box on two large polygons does
// not rock about their centroids, and a ball on a hundred small ones costs no more than a box.
#pragma once

#include "contact/pressure_workspace.hpp"
#include "model/workspace.hpp"

namespace tangere::contact {

/// From the sorted polygons in pressure.contacts: what users see to pressure.shown, and to
/// pressure.contacts what the solver gets, polygons of soft bodies as they are.
///
/// The points of a patch have exactly the force and the moment of its polygons, and the stiffness
/// against pressing and tilting; what rounding and cut corners leave of the wrench is kept as
/// pressure.patchError.
void reducePatches(const model::ModelData& model, const model::Workspace& ws,
                   PressureWorkspace& pressure);

}  // namespace tangere::contact
