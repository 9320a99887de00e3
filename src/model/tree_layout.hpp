// SPDX-License-Identifier: Apache-2.0
//
// From bodies that name their parents to trees: who moves whom, which coordinates there are and
// where each body starts.
#pragma once

#include "model/model_data.hpp"

#include <span>

namespace tangere::model {

/// Fills trees, links, joints and coordinates of `data`, whose bodies exist, and the start of every
/// jointed body. `bodies` are in order of creation. Throws InvalidInput.
void layOutTrees(std::span<const Body> bodies, ModelData& data);

/// Adds to excludedBodies those that joints keep together: bodies of one weld, and a body and its
/// parent.
void excludeNeighbours(std::span<const Body> bodies, ModelData& data);

/// Throws InvalidInput when the joint cannot be simulated.
void requireJoint(const Joint& joint, const Body& body);

}  // namespace tangere::model
