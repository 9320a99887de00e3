// SPDX-License-Identifier: Apache-2.0
//
// Impacts at an event, round after round, and what they leave in contact.
#include "integrator/event_driven_integrator.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tangere::integrator {

namespace {

/// A pair that an impact throws apart by less than this part of the least impact speed stays.
constexpr Real kDeparts = 0.1;

}  // namespace

/// Round after round until nothing approaches any more. A round may also drive together what an
/// earlier impact threw apart.
void EventDrivenIntegrator::resolveImpacts(Real t, bool isStart, AdvanceReport* report) {
  bool isAny = false;
  while (state_.budget().mayGoOn()) {
    addTurnedBack(t, isStart);
    if (!impacts_.findHits()) break;
    if (addNearlyTouching(t)) (void)impacts_.findHits();
    isAny = true;
    state_.budget().countStep();
    const bool isInelastic = report->numImpacts >= model_.options.maxImpactsPerStep;
    if (isInelastic) report->status = report->status | StepStatus::ImpactsCut;
    // Inelastic ones come to rest within a few rounds; what is left then stays as it is.
    if (report->numImpacts >= 2 * model_.options.maxImpactsPerStep + 1000) break;
    bookRound(t, impacts_.resolveHits(t, y_.data(), isInelastic), report);
  }
  if (isAny) partAfterImpacts();
}

void EventDrivenIntegrator::addTurnedBack(Real t, bool isStart) {
  const std::size_t before = state_.contacts.size();
  for (NearPair& pair : crossing_.pairs()) {
    if (!state_.budget().mayGoOn()) break;
    if (pair.isDeparting && crossing_.sample(pair, t).rate <= 0) addContact(pair, t, isStart);
  }
  if (state_.contacts.size() != before) sortContacts();
}

/// Rigid pairs that approach and are as good as in contact take part: of two that are hit at once
/// one may be behind by rounding.
bool EventDrivenIntegrator::addNearlyTouching(Real t) {
  const std::size_t before = state_.contacts.size();
  std::size_t next = 0;
  for (NearPair& pair : crossing_.pairs()) {
    if (!state_.budget().mayGoOn()) break;
    while (next < before && state_.contacts[next].id < pair.id) ++next;
    if (pair.isDeparting || (next < before && state_.contacts[next].id == pair.id)) continue;
    const Shape &s1 = *model_.shapes[pair.shape1].shape, &s2 = *model_.shapes[pair.shape2].shape;
    if (!(crossing_.distanceOf(pair) <= kTogether * smallerSize(s1, s2))) continue;
    const ContactLaw law = makeContactLaw(model_, pair.shape1, pair.shape2);
    if (!law.isRigid() || !(-crossing_.sample(pair, t).rate > law.impactSpeed)) continue;
    addContact(pair, t, true);
    state_.contacts.back().isNear = true;
  }
  if (state_.contacts.size() == before) return false;
  sortContacts();
  return true;
}

void EventDrivenIntegrator::sortContacts() {
  std::sort(state_.contacts.begin(), state_.contacts.end(),
            [](const EventContact& a, const EventContact& b) { return a.id < b.id; });
}

void EventDrivenIntegrator::bookRound(Real t, const ImpactOutcome& round, AdvanceReport* report) {
  report->numImpacts += round.numHits;
  if (!round.isConverged && !has(report->status, StepStatus::SolverNotConverged)) {
    const EventContact& contact = state_.contacts[static_cast<std::size_t>(round.contact)];
    report->status = report->status | StepStatus::SolverNotConverged;
    report->body1 = contact.body1;
    report->body2 = contact.body2;
  }
  row(work_, PowerRow::ContactNormal) += round.normalWork;
  row(work_, PowerRow::ContactFriction) += round.frictionWork;
  row(work_, PowerRow::Kinematic) += round.kinematicWork;
  for (const PairImpact& pair : impacts_.pairs()) {
    const EventContact& contact = state_.contacts[static_cast<std::size_t>(pair.contact)];
    impulses_.addImpact(contact, pair.load);
    if (!pair.wasHit) continue;
    const Real eps = contactEps(state_.shapePose(contact.shape1), state_.shapePose(contact.shape2));
    logPoint(t, EventCause::Impact, contact, pair.at, state_.forceDistance(pair.at.distance, eps),
             contact.approachSpeed);
  }
}

/// What was thrown apart is watched until it is clear; what only seemed to touch does not.
void EventDrivenIntegrator::partAfterImpacts() {
  std::erase_if(state_.contacts, [&](EventContact& contact) {
    const bool wasHit = std::exchange(contact.wasHit, false);
    const bool departs =
        wasHit && impacts_.separationSpeed(contact) > kDeparts * contact.law.impactSpeed;
    if (departs) {
      NearPair* pair = crossing_.find(contact.id);
      if (pair != nullptr)
        pair->isDeparting = crossing_.leavingSignal(crossing_.distanceOf(*pair), pair->eps) < 0;
    }
    return departs || contact.isNear;
  });
}

}  // namespace tangere::integrator
