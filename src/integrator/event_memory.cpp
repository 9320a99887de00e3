// SPDX-License-Identifier: Apache-2.0
//
// What a State holds of the contacts of the event solver: enough to go on from it.
#include "integrator/event_driven_integrator.hpp"

#include <utility>

namespace tangere::integrator {

void EventDrivenIntegrator::remember(State& state) const {
  state.eventContacts.clear();
  auto contact = state_.contacts.begin();
  for (const NearPair& pair : crossing_.pairs()) {
    EventContactMemory memory{.shape1 = static_cast<std::uint32_t>(pair.shape1),
                              .shape2 = static_cast<std::uint32_t>(pair.shape2)};
    if (pair.isDeparting) {
      memory.isDeparting = 1;
      state.eventContacts.push_back(memory);
      continue;
    }
    if (!pair.isInContact) continue;
    while (contact->id < pair.id) ++contact;
    memory.approachSpeed = contact->approachSpeed;
    memory.effectiveMass = contact->effectiveMass;
    memory.overlap = contact->overlap;
    if (contact->touching.empty()) state.eventContacts.push_back(memory);
    for (const TouchingPoint& point : contact->touching) {
      memory.feature1 = point.feature1;
      memory.feature2 = point.feature2;
      memory.approachSpeed = point.approachSpeed;
      state.eventContacts.push_back(memory);
    }
  }
}

void EventDrivenIntegrator::recall(const State& state) {
  last_contacts_.clear();
  for (NearPair& pair : crossing_.pairs()) pair.isDeparting = false;
  for (const EventContactMemory& memory : state.eventContacts) {
    NearPair* pair =
        crossing_.find(pairId(static_cast<int>(memory.shape1), static_cast<int>(memory.shape2)));
    if (pair == nullptr) continue;
    if (memory.isDeparting != 0) {
      pair->isDeparting = true;
      continue;
    }
    const bool isFurther = !last_contacts_.empty() && last_contacts_.back().id == pair->id;
    if (!isFurther) {
      state_.contacts.clear();
      addContact(*pair, state.time, true);
      EventContact& contact = last_contacts_.emplace_back(std::move(state_.contacts.front()));
      contact.approachSpeed = memory.approachSpeed;
      contact.effectiveMass = memory.effectiveMass;
      contact.law = makeContactLaw(model_, contact.shape1, contact.shape2);
      integrator::beginContact(model_.options.event, contact.approachSpeed, &contact.law);
    }
    last_contacts_.back().overlap = memory.overlap;
    recallPoint(memory, last_contacts_.back());
  }
  for (EventContact& contact : last_contacts_) {
    if (contact.overlap > 0) limitRelease(contact);
    measureTension(contact);
  }
  state_.contacts.clear();
}

/// Points that touch and that the State does not know begin now, as addContact() has begun them.
void EventDrivenIntegrator::recallPoint(const EventContactMemory& memory, EventContact& contact) {
  for (TouchingPoint& point : contact.touching) {
    if (point.feature1 != memory.feature1 || point.feature2 != memory.feature2) continue;
    point.approachSpeed = memory.approachSpeed;
    ContactLaw law = contact.law;
    integrator::beginContact(model_.options.event, point.approachSpeed, &law);
    point.takeDamping(law);
  }
}

}  // namespace tangere::integrator
