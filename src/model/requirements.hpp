// SPDX-License-Identifier: Apache-2.0
//
// What the numbers of a model must be. Each throws InvalidInput with what was found wrong, whose it
// is and what is expected.
#pragma once

#include <tangere/model.hpp>

#include "model/model_data.hpp"

#include <string>

namespace tangere::model {

void requireMaterial(const Material& material);
/// The law of Hertz has numbers where one side of a contact asks for it.
void requireHertz(const ModelData& data);
void requireOptions(const SimulationOptions& options);
void requireMass(const MassProperties& mass, const std::string& body);

}  // namespace tangere::model
