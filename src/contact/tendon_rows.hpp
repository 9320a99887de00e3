// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contact/sap_workspace.hpp"
#include "dynamics/tendons.hpp"

namespace tangere::contact {

/// The energy of armature and springs of tendons in a state [J].
struct TendonEnergy {
  Real kinetic = 0, potential = 0;
};
[[nodiscard]] TendonEnergy tendonEnergy(const model::ModelData& model, const State& state,
                                        SapWorkspace& sap);

/// Lengths of the tendons and how velocities change them.
void measureTendons(const model::ModelData& model, const State& state, SapWorkspace& sap);

/// Limits, springs, damping and dry friction of tendons.
void addTendonRows(const model::ModelData& model, SapWorkspace& sap);

using dynamics::forEachPiece;

}  // namespace tangere::contact
