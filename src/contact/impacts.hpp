// SPDX-License-Identifier: Apache-2.0
//
// Impacts with restitution, one after another at their own times within the step.
//
// Until it hits something a body moves with constant acceleration, so the time at which a gap
// closes is the root of a quadratic. The earliest impact is resolved first (Newton's law, normal
// velocity -e times that of approach, friction on the disk), the two bodies take on new
// velocities, and the times of their other contacts are found anew. Balls in a row therefore pass
// their momentum on as they do in nature, and a bouncing ball neither gains nor loses height by the
// place of the impact in the step. Approaches slower than restitutionThreshold are left to the
// contact problem, which does not bounce.
#pragma once

#include "model/workspace.hpp"

namespace tangere::contact {

/// Leaves the blocks with the velocities after the last impact and the time that remains, and the
/// gaps as they are then. Sets ImpactsCut when there are more than maxImpactsPerStep.
void resolveImpacts(const model::ModelData& model, model::Workspace& ws);

}  // namespace tangere::contact
