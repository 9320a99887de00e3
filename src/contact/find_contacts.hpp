// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/workspace.hpp"

namespace tangere::contact {

/// Tests every pair of shapes whose swept boxes meet, and leaves their manifolds sorted by pair.
///
/// Shapes that do not touch yet but may within the step get one speculative point with negative
/// depth, minus the gap, where they are nearest now or where they will first meet: with it no body
/// passes through another, however fast.
///
/// Points count from a margin (the slop) before they touch: a box at rest on a floor keeps its four
/// corners though rounding lifts one of them by an atom. The narrow phase is asked for the shapes
/// pushed together by the margin along their last normal, and the margin is taken off the depths.
void findContacts(const model::ModelData& model, const State& state, model::Workspace& ws);

/// The pairs of shapes that may touch, from the broad phase: ws.pairs, sorted.
void findPairs(const model::ModelData& model, const State& state, model::Workspace& ws);

/// Whether filters, bodies and rules let the two shapes touch.
[[nodiscard]] bool mayTouch(const model::ModelData& model, const ObjectPair& pair);

}  // namespace tangere::contact
