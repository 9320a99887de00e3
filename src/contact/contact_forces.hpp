// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/workspace.hpp"

namespace tangere::contact {

/// Keeps the impulses for the warm start of the next step.
void storeImpulses(State& state, model::Workspace& ws);

/// The contact points of the last step with their forces: ws.contacts, in the order of the problem.
/// Made on request only. `dt` [s]: how long the step was; 0: as long as the model says.
void listContactForces(const model::ModelData& model, const State& state, model::Workspace& ws,
                       Real dt = 0);

/// Whether a contact kept from the step in which its bodies fell asleep still stands.
[[nodiscard]] inline bool isHeld(const model::ModelData& model, const State& state,
                                 const ContactForce& contact) {
  const auto rests = [&](int body) {
    return model.bodies[body].type != BodyType::Dynamic || state.isAsleep[body] != 0;
  };
  return rests(contact.body1) && rests(contact.body2);
}

}  // namespace tangere::contact
