// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/workspace.hpp"

namespace tangere::contact {

/// The contact points of this step as an impulse problem: from the patches (with their warm start),
/// or from the manifolds alone when the patch cache is off. One group for each patch.
void buildContactProblem(const model::ModelData& model, const State& state, model::Workspace& ws);

/// The tangents of a point, the first along the slip where there is one.
void setTangents(const solver::ImpulseBlock& block1, const solver::ImpulseBlock& block2,
                 solver::ImpulsePoint* point);

}  // namespace tangere::contact
