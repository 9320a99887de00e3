// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contact/sap_workspace.hpp"

namespace tangere::contact {

/// Lengths of the tendons and how velocities change them.
void measureTendons(const model::ModelData& model, const State& state, SapWorkspace& sap);

/// Limits, springs, damping and dry friction of tendons.
void addTendonRows(const model::ModelData& model, SapWorkspace& sap);

}  // namespace tangere::contact
