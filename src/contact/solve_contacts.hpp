// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/workspace.hpp"

namespace tangere::contact {

/// Velocities and displacements of all bodies: islands by the impulse solver, bodies that touch
/// nothing by their free motion. Fills the solver's part of the report.
void solveContacts(const model::ModelData& model, model::Workspace& ws);

}  // namespace tangere::contact
