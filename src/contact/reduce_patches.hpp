// SPDX-License-Identifier: Apache-2.0
//
// The polygons of two rigid bodies, however many, act on them as one force and one moment. A flat
// patch is therefore replaced by four points with its force, its moment and its stiffness against
// pressing and tilting, all exact: a box on two large polygons does not rock about their
// centroids, and a ball on a hundred small ones costs no more than a box.
#pragma once

#include "contact/pressure_workspace.hpp"

namespace tangere::contact {

/// From the sorted polygons in pressure.contacts: what users see to pressure.shown, and to
/// pressure.contacts what the solver gets, polygons of soft bodies as they are.
void reducePatches(const model::ModelData& model, PressureWorkspace& pressure);

}  // namespace tangere::contact
