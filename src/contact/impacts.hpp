// SPDX-License-Identifier: Apache-2.0
//
// Impacts and landings, at their own times within the step.
//
// Until it hits something a body moves with constant acceleration, so the time at which a gap
// closes is the root of a quadratic. There the shapes are asked anew where they are and which way
// is apart, until time, normal and point agree: an impulse acts at one place for both bodies, at
// the configuration of the impact.
//
// Impacts that bounce (approach faster than restitutionThreshold) are resolved in rounds. One round
// has all points that close at the same time: those of bodies that are connected are one problem
// (Newton's law by the speed of approach of each point, Coulomb's law across), so that neither
// names nor orders decide. Only points that approach take part; what the round sets in motion is
// for the next one, at the same time. Balls in a row therefore pass their momentum on as they do in
// nature.
//
// What does not bounce lands: the bodies are moved to the time at which they touch, and the contact
// problem of the step stops them there, all together. A gap that the contact problem closes itself
// takes two steps, and part of the impact falls into each. Approaches that gravity makes in a few
// steps are left to it all the same.
#pragma once

#include "model/workspace.hpp"

namespace tangere::contact {

/// Leaves the blocks with the velocities after the last impact and the time that remains, and the
/// gaps as they are then. Sets ImpactsCut when there are more than maxImpactsPerStep.
void resolveImpacts(const model::ModelData& model, const State& state, model::Workspace& ws);

}  // namespace tangere::contact
