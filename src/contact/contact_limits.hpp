// SPDX-License-Identifier: Apache-2.0
//
// The caps that a user set on the number of contacts.
#pragma once

#include "contact/pressure_workspace.hpp"
#include "model/workspace.hpp"

namespace tangere::contact {

[[nodiscard]] bool hasLimits(const ContactLimits& limits);

/// Whether the contacts that were found are more than options.limits allows; the report then says
/// which. Of the kinds that exceed their own cap the first in order is named. `pressure` is null
/// where the solver has none. Changes nothing but the report.
[[nodiscard]] bool exceedsLimits(const model::ModelData& model, const PressureWorkspace* pressure,
                                 model::Workspace& ws);

}  // namespace tangere::contact
