// SPDX-License-Identifier: Apache-2.0
//
// Pressure contacts in the convex problem: one constraint for each polygon of a soft body and for
// each point of a rigid patch, with the stiffness k = area * gradient and the depth p / gradient.
#pragma once

#include "contact/sap_workspace.hpp"

namespace tangere::contact {

/// After the cliques.
void addPressureRows(const model::ModelData& model, const State& state, SapWorkspace& sap);

/// What friction held, to the State; after the solve.
void storeHeldFriction(const SapWorkspace& sap, State& state);

/// Work of each polygon along the mean of the velocities before and after, and the impulses on
/// vertices; after the solve.
void bookPressureWork(const model::ModelData& model, const State& state, model::Workspace& ws,
                      SapWorkspace& sap);

/// For users.
void listPressureContacts(const model::ModelData& model, const SapWorkspace& sap,
                          std::vector<PressurePolygon>* out);

}  // namespace tangere::contact
