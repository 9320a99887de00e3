// SPDX-License-Identifier: Apache-2.0
//
// What acted on the bodies of a model in the last step from outside their joints.
#pragma once

#include "contact/sap_workspace.hpp"

#include <vector>

namespace tangere::contact {

/// Adds to the wrench of every body (at its centre of mass at the start of the step) what was
/// applied to it and what contacts, equalities between bodies, spatial tendons, drives at sites and
/// handlers did to it: means over the step. Gravity, damping and what joints transmit are not in
/// it. After a step that kept its start.
void collectWrenches(const model::ModelData& model, const model::Workspace& ws,
                     const SapWorkspace& sap, std::vector<dynamics::LinkWrench>* ofBody);

}  // namespace tangere::contact
