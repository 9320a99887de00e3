// SPDX-License-Identifier: Apache-2.0
//
// Checks soft bodies, lays them out in a model, and prepares what touches by pressure.
#pragma once

#include <tangere/broad_phase.hpp>

#include "model/model_data.hpp"

#include <span>
#include <string>
#include <utility>

namespace tangere::model {

/// Throws InvalidInput.
void require(const SoftBody& soft);

/// Into data.softs; after the bodies and materials. Throws InvalidInput on names that are not
/// there.
void layOutSoftBodies(std::span<const SoftBody> softs, ModelData& data);

/// Pairs of names of which at least one is a soft body; after layOutSoftBodies. Throws InvalidInput
/// on names that are not there.
void excludeSofts(std::span<const std::pair<std::string, std::string>> pairs, ModelData& data);

/// The pressure shapes of a model that has soft bodies or hydroelastic materials; nothing under
/// the impulse solver.
void preparePressure(ModelData& data);

/// Whether the two shapes touch by pressure rather than at points.
[[nodiscard]] bool isPressurePair(const ModelData& data, const ObjectPair& shapes);

}  // namespace tangere::model
