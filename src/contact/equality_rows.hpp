// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contact/sap_workspace.hpp"

namespace tangere::contact {

/// Connect, weld, distance, and coupled joints and tendons.
void addEqualityRows(const model::ModelData& model, const State& state, SapWorkspace& sap);

}  // namespace tangere::contact
