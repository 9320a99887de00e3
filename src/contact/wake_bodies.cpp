// SPDX-License-Identifier: Apache-2.0
#include "contact/wake_bodies.hpp"

#include "contact/contact_forces.hpp"
#include "dynamics/kinetic_energy.hpp"

#include <algorithm>

namespace tangere::contact {

namespace {

bool isMoving(const model::ModelData& model, const State& state, std::size_t body) {
  switch (model.bodies[body].type) {
    case BodyType::Fixed:
      return false;
    case BodyType::Dynamic:
      return state.isAsleep[body] == 0;
    case BodyType::Kinematic:
      return !(state.velocity[body] == Vec3{} && state.angularVelocity[body] == Vec3{});
  }
  return false;
}

/// Whether a sleeper next to it must wake. A body that is awake but slow does not: two islands
/// whose boxes overlap would wake each other in turn for ever.
bool disturbs(const model::ModelData& model, const State& state, std::size_t body) {
  return isMoving(model, state, body) &&
         (model.bodies[body].type == BodyType::Kinematic || !(state.stillTime[body] > 0));
}

/// What holds a sleeper goes on holding it: its forces stay on the list of contacts.
void keepForces(const model::ModelData& model, const State& state,
                const solver::ImpulseIsland& island, model::Workspace& ws) {
  if (!ws.areContactsListed) listContactForces(model, state, ws);
  ws.areContactsListed = true;
  for (const int group : island.groups) {
    const solver::ImpulseGroup& g = ws.problem.groups[group];
    ws.sleepingContacts.insert(ws.sleepingContacts.end(), ws.contacts.begin() + g.first,
                               ws.contacts.begin() + g.first + g.count);
  }
}

}  // namespace

void wakeBodies(const model::ModelData& model, State& state, model::Workspace& ws) {
  const bool isAnyAsleep = std::any_of(state.isAsleep.begin(), state.isAsleep.end(),
                                       [](auto flag) { return flag != 0; });
  if (!isAnyAsleep) return;

  // Until nothing changes: each pass carries the waking over at least one more pair.
  bool isChanged = true;
  while (isChanged) {
    isChanged = false;
    for (const model::ShapePair& pair : ws.pairs) {
      const auto body1 = static_cast<std::size_t>(model.shapes[pair.shape1].body);
      const auto body2 = static_cast<std::size_t>(model.shapes[pair.shape2].body);
      for (const auto& [mover, sleeper] : {std::pair{body1, body2}, std::pair{body2, body1}}) {
        if (state.isAsleep[sleeper] == 0 || !disturbs(model, state, mover)) continue;
        state.isAsleep[sleeper] = 0;
        state.stillTime[sleeper] = 0;
        ws.poseAge[sleeper] = 0;
        isChanged = true;
      }
    }
  }
  std::erase_if(ws.pairs, [&](const model::ShapePair& pair) {
    return !isMoving(model, state, static_cast<std::size_t>(model.shapes[pair.shape1].body)) &&
           !isMoving(model, state, static_cast<std::size_t>(model.shapes[pair.shape2].body));
  });
}

Real putToSleep(const model::ModelData& model, State& state, model::Workspace& ws) {
  const SleepOptions& sleep = model.options.sleep;
  if (!sleep.enabled || model.hasPressure) return 0;
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    if (model.bodies[i].type != BodyType::Dynamic || state.isAsleep[i] != 0) continue;
    if (model.bodies[i].neverSleeps) continue;
    const bool isSlow = norm(state.velocity[i]) <= sleep.linearSpeed &&
                        norm(state.angularVelocity[i]) <= sleep.angularSpeed;
    state.stillTime[i] = isSlow ? state.stillTime[i] + model.options.dt : 0;
  }

  std::erase_if(ws.sleepingContacts,
                [&](const ContactForce& contact) { return !isHeld(model, state, contact); });
  Real energy = 0;
  for (const solver::ImpulseIsland& island : ws.islands.islands()) {
    const bool mayRest = std::all_of(island.blocks.begin(), island.blocks.end(), [&](int body) {
      return state.stillTime[body] >= sleep.duration;
    });
    // Carried along by a kinematic body it must go on moving.
    const bool isCarried = std::any_of(island.groups.begin(), island.groups.end(), [&](int group) {
      const solver::ImpulseGroup& g = ws.problem.groups[group];
      return (model.bodies[g.block1].type == BodyType::Kinematic &&
              isMoving(model, state, g.block1)) ||
             (model.bodies[g.block2].type == BodyType::Kinematic &&
              isMoving(model, state, g.block2));
    });
    if (!mayRest || isCarried) continue;
    keepForces(model, state, island, ws);
    for (const int body : island.blocks) {
      energy += dynamics::kineticEnergy(model.bodies[body], state, body);
      state.velocity[body] = {};
      state.angularVelocity[body] = {};
      state.isAsleep[body] = 1;
    }
  }
  return energy;
}

}  // namespace tangere::contact
