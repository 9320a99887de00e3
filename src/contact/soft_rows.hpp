// SPDX-License-Identifier: Apache-2.0
//
// Soft bodies in the convex problem: a sparse clique each, vertices that are driven, vertices that
// bodies carry.
#pragma once

#include "contact/sap_workspace.hpp"

namespace tangere::contact {

/// Elastic forces, A and momentum of each soft body, with driven vertices taken out of the
/// unknowns, and its clique; after the cliques of trees.
void addSoftCliques(const model::ModelData& model, const model::Control& control,
                    const State& state, model::Workspace& ws, SapWorkspace& sap);

/// Rows for the vertices that dynamic bodies carry; vertices held by anything else are driven.
void addAttachmentRows(const model::ModelData& model, const State& state, SapWorkspace& sap);

/// Velocity of a vertex in this step when it is driven; null when it is free.
[[nodiscard]] inline const Vec3* drivenVelocity(const SoftWork& work, int vertex) {
  const std::int32_t at = work.drivenOf[vertex];
  return at < 0 ? nullptr : &work.drivenVelocities[at];
}

}  // namespace tangere::contact
