// SPDX-License-Identifier: Apache-2.0
//
// contactDict at an event: which pairs and points touch, what they know of how they began, and what
// of an overlap at the start is released how fast.
#include "integrator/event_driven_integrator.hpp"

#include "math/contact_frame.hpp"
#include "math/transform.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tangere::integrator {

namespace {

/// What a contact holds, with what is known of it at the last event and of its forces [bytes].
constexpr Real kBytesOfContact = 2 * sizeof(EventContact) + 4 * sizeof(ContactLoad) +
                                 sizeof(PairImpulse) + sizeof(EventContactMemory) +
                                 sizeof(TouchingPoint);
/// A point that is deeper than this many times the hysteresis when it is first seen did not land
/// there: another description of the same surfaces has begun.
constexpr Real kDeepAtFirst = 16;
/// An overlap of rigid bodies at the start is told that would part them faster than this part of
/// the speed at which they may.
constexpr Real kToldOverlap = 0.01;

/// Of those that touched before.
const TouchingPoint& nearestOf(const EventContact& contact, const TouchingPoint& point) {
  std::size_t nearest = 0;
  const auto away = [&](std::size_t k) {
    const TouchingPoint& known = contact.touching[k];
    return std::min(squaredNorm(point.p_1 - known.p_1), squaredNorm(point.p_2 - known.p_2));
  };
  for (std::size_t k = 1; k < contact.touching.size(); ++k)
    if (away(k) < away(nearest)) nearest = k;
  return contact.touching[nearest];
}

}  // namespace

/// contactDict from the rule of events; entries of lastContactDict keep what they know.
void EventDrivenIntegrator::rebuildContacts(Real t, bool isStart) {
  state_.contacts.clear();
  auto last = last_contacts_.begin();
  WorkBudget& budget = state_.budget();
  for (NearPair& pair : crossing_.pairs()) {
    budget.hold(WorkBudget::Part::Contacts,
                kBytesOfContact * static_cast<Real>(state_.contacts.size()));
    if (!budget.mayGoOn()) return;
    while (last != last_contacts_.end() && last->id < pair.id) ++last;
    const bool wasTouching = last != last_contacts_.end() && last->id == pair.id;
    if (pair.isDeparting) {
      const PairSample now = crossing_.sample(pair, t);
      if (crossing_.leavingSignal(now.distance, pair.eps) > 0)
        pair.isDeparting = false;
      else if (now.rate <= 0)
        addContact(pair, t, isStart);
      continue;
    }
    const Real distance = crossing_.distanceOf(pair);
    if (crossing_.isTouching(distance, pair.eps)) {
      if (wasTouching) {
        state_.contacts.push_back(std::move(*last));
        addLanded(state_.contacts.back(), t, isStart);
      } else {
        addContact(pair, t, isStart);
      }
    } else if (wasTouching && !isStart) {
      log(t, EventCause::ContactEnds, *last, crossing_.leavingSignal(distance, pair.eps));
    }
  }
}

void EventDrivenIntegrator::addContact(NearPair& pair, Real t, bool isStart) {
  EventContact& contact = state_.contacts.emplace_back();
  contact.id = pair.id;
  contact.shape1 = pair.shape1;
  contact.shape2 = pair.shape2;
  contact.body1 = model_.shapes[pair.shape1].body;
  contact.body2 = model_.shapes[pair.shape2].body;
  contact.link1 = model_.linkOfBody[contact.body1];
  contact.link2 = model_.linkOfBody[contact.body2];
  contact.law = makeContactLaw(model_, pair.shape1, pair.shape2);
  contact.hint = pair.hint;
  const Shape &s1 = *model_.shapes[pair.shape1].shape, &s2 = *model_.shapes[pair.shape2].shape;
  contact.size = smallerSize(s1, s2);
  contact.hasPoints = (contact.law.isRigid() || contact.law.kind == ContactLaw::Kind::Hertz) &&
                      mayHaveManyPoints(s1.type(), s2.type());
  pair.isDeparting = false;
  Real eps = 0;
  state_.locate(contact, &distance_, &eps);
  const EventPoint& deepest = distance_.points[0];
  contact.approachSpeed = std::max<Real>(state_.sample(contact, deepest, eps).motion.rate, 0);
  integrator::beginContact(model_.options.event, contact.approachSpeed, &contact.law);
  measureMasses(contact, deepest);
  if (contact.hasPoints) (void)updatePoints(contact);
  contact.isPulled = false;
  measureTension(contact);
  const bool isImpact = contact.law.isRigid() && contact.approachSpeed > contact.law.impactSpeed;
  if (isStart || isImpact) return;  // an impact is logged when it is resolved
  log(t, EventCause::ContactBegins, contact, state_.forceDistance(distance_.distance, eps));
}

int EventDrivenIntegrator::updatePoints(EventContact& contact) {
  Real eps = 0, fastest = -1;
  int first = -1;
  state_.locate(contact, &distance_, &eps);
  const Transform& X_W1 = state_.shapePose(contact.shape1);
  const Transform& X_W2 = state_.shapePose(contact.shape2);
  next_touching_.clear();
  for (int i = 0; i < distance_.numPoints; ++i) {
    const EventPoint& point = distance_.points[static_cast<std::size_t>(i)];
    const bool isKnown = point.touching >= 0;
    if (!crossing_.isTouching(point.distance, eps) &&
        !(isKnown && crossing_.leavingSignal(point.distance, eps) <= 0))
      continue;
    TouchingPoint next;
    if (isKnown) next = contact.touching[static_cast<std::size_t>(point.touching)];
    next.feature1 = point.feature1;
    next.feature2 = point.feature2;
    next.p_1 = inverseTimes(X_W1, point.position);
    next.p_2 = inverseTimes(X_W2, point.position);
    if (!isKnown) {
      next.approachSpeed = std::max<Real>(state_.sample(contact, point, eps).motion.rate, 0);
      const bool hasLanded = point.distance > -kDeepAtFirst * eps || contact.touching.empty();
      if (hasLanded && next.approachSpeed > fastest) {
        fastest = next.approachSpeed;
        first = i;
      }
      if (!hasLanded) next.approachSpeed = nearestOf(contact, next).approachSpeed;
      ContactLaw law = contact.law;
      integrator::beginContact(model_.options.event, next.approachSpeed, &law);
      next.takeDamping(law);
    }
    next_touching_.push_back(next);
  }
  std::swap(contact.touching, next_touching_);
  return first;
}

/// Further points of a pair that touches begin as the first one did.
void EventDrivenIntegrator::addLanded(EventContact& contact, Real t, bool isStart) {
  if (!contact.hasPoints) return;
  const int first = updatePoints(contact);
  if (first < 0 || isStart) return;
  const EventPoint& point = distance_.points[static_cast<std::size_t>(first)];
  const Real eps = contactEps(state_.shapePose(contact.shape1), state_.shapePose(contact.shape2));
  const Real speed = std::max<Real>(state_.sample(contact, point, eps).motion.rate, 0);
  if (contact.law.isRigid() && speed > contact.law.impactSpeed) return;  // logged as an impact
  logPoint(t, EventCause::ContactBegins, contact, point, state_.forceDistance(point.distance, eps),
           speed);
}

void EventDrivenIntegrator::followPoints() {
  const bool isAny = std::any_of(state_.contacts.begin(), state_.contacts.end(),
                                 [](const EventContact& contact) { return contact.hasPoints; });
  if (!isAny) return;
  state_.setMotion(session_->time(), session_->state().data());
  for (EventContact& contact : state_.contacts) {
    if (!state_.budget().mayGoOn()) return;
    if (!contact.hasPoints) continue;
    Real eps = 0;
    state_.locate(contact, &distance_, &eps);
    const Transform& X_W1 = state_.shapePose(contact.shape1);
    const Transform& X_W2 = state_.shapePose(contact.shape2);
    next_touching_.clear();
    for (int i = 0; i < distance_.numPoints; ++i) {
      const EventPoint& point = distance_.points[static_cast<std::size_t>(i)];
      if (point.touching < 0 || crossing_.leavingSignal(point.distance, eps) > 0) continue;
      TouchingPoint next = contact.touching[static_cast<std::size_t>(point.touching)];
      next.feature1 = point.feature1;
      next.feature2 = point.feature2;
      next.p_1 = inverseTimes(X_W1, point.position);
      next.p_2 = inverseTimes(X_W2, point.position);
      next_touching_.push_back(next);
    }
    std::swap(contact.touching, next_touching_);
  }
}

/// Contacts that no State remembers were not begun but put there: what is deep gets more damping,
/// and is told.
void EventDrivenIntegrator::releaseOverlaps(const State& state) {
  const auto idOf = [](const EventContactMemory& memory) {
    return pairId(static_cast<int>(memory.shape1), static_cast<int>(memory.shape2));
  };
  const auto isRemembered = [&](const EventContact& contact) {
    const auto at = std::lower_bound(
        state.eventContacts.begin(), state.eventContacts.end(), contact.id,
        [&](const EventContactMemory& memory, std::uint64_t id) { return idOf(memory) < id; });
    return at != state.eventContacts.end() && idOf(*at) == contact.id;
  };
  if (std::all_of(state_.contacts.begin(), state_.contacts.end(), isRemembered)) return;
  if (!state_.derivative(state.time, y_.data(), scratch_.data())) return;
  const Real fastest = model_.options.event.maxCorrectionSpeed;
  Real most = 0;
  for (EventContact& contact : state_.contacts) {
    if (!state_.budget().mayGoOn()) return;
    if (contact.law.isObserver() || isRemembered(contact)) continue;
    Real depth = 0, stored = 0;
    const Real speed = releaseSpeed(contact, &depth, &stored);
    if (!(speed > (contact.law.isRigid() ? kToldOverlap * fastest : fastest))) continue;
    contact.overlap = depth;
    limitRelease(contact);
    overlap_energy_ += stored;
    start_report_.status = start_report_.status | StepStatus::EnergyInjected;
    if (!(stored > most)) continue;
    most = stored;
    start_report_.body1 = contact.body1;
    start_report_.body2 = contact.body2;
  }
}

/// How fast a contact would push its bodies apart, by the accelerations at hand: those of a spring
/// that falls off with the depth. None where it holds a load.
Real EventDrivenIntegrator::releaseSpeed(EventContact& contact, Real* depth, Real* stored) {
  Real speed = 0;
  const auto add = [&](const ContactSample& sample) {
    if (!(sample.motion.depth > 0)) return;
    *depth = std::max(*depth, sample.motion.depth);
    *stored += storedEnergy(contact.law, sample.motion);
    const Real acceleration = state_.accelerationAlong(contact, sample.point.position,
                                                       sample.point.normal, scratch_.data());
    speed = std::max(speed, std::sqrt(std::max<Real>(acceleration, 0) * sample.motion.depth));
  };
  if (contact.law.kind == ContactLaw::Kind::Foundation) {
    const ContactSample sum = state_.sampleOf(contact, state_.foundation(contact));
    add(sum);
    *stored = sum.force.normalForce * sum.motion.depth / 2;
    return speed;
  }
  Real eps = 0;
  state_.locate(contact, &distance_, &eps);
  for (int i = 0; i < distance_.numPoints; ++i) {
    const EventPoint& point = distance_.points[static_cast<std::size_t>(i)];
    if (state_.isPressed(contact, point, eps)) add(state_.sample(contact, point, eps));
  }
  return speed;
}

void EventDrivenIntegrator::limitRelease(EventContact& contact) {
  const Real speed = model_.options.event.maxCorrectionSpeed;
  integrator::limitRelease(contact.overlap, speed, &contact.law);
  for (TouchingPoint& point : contact.touching) {
    ContactLaw law = contact.law;
    point.giveDamping(&law);
    integrator::limitRelease(contact.overlap, speed, &law);
    point.takeDamping(law);
  }
}

void EventDrivenIntegrator::measureMasses(EventContact& contact, const EventPoint& point) {
  if (contact.law.isObserver()) return;
  const Mat3 R_WC = math::contactFrame(point.normal);
  const Real normal = state_.mobility(contact, point.position, R_WC.col[2]);
  // The spring must hold the heavier one: it may lie on the lighter one.
  Real least = normal;
  if (contact.link1 >= 0 && contact.link2 >= 0) {
    EventContact alone = contact;
    alone.link2 = -1;
    const Real first = state_.mobility(alone, point.position, R_WC.col[2]);
    alone.link1 = -1;
    alone.link2 = contact.link2;
    const Real second = state_.mobility(alone, point.position, R_WC.col[2]);
    for (const Real own : {first, second}) least = own > 0 ? std::min(least, own) : least;
  }
  const Real tangent = std::max(state_.mobility(contact, point.position, R_WC.col[0]),
                                state_.mobility(contact, point.position, R_WC.col[1]));
  constexpr Real kRounding = 1e-12;
  contact.effectiveMass = least > 0 ? 1 / least : 0;
  contact.mobility = tangent > kRounding * normal ? tangent : 0;
}

/// Which contacts push and which were pulled open.
void EventDrivenIntegrator::updateTension(Real t) {
  for (EventContact& contact : state_.contacts) {
    const bool wasPulled = contact.isPulled;
    measureTension(contact);
    if (contact.isPulled == wasPulled) continue;
    log(t, wasPulled ? EventCause::ForceReturns : EventCause::ForceVanishes, contact,
        distance_.distance);
  }
}

void EventDrivenIntegrator::measureTension(EventContact& contact) {
  if (!hasTension(contact.law)) return;
  Real eps = 0;
  state_.locate(contact, &distance_, &eps);
  const ContactSample sample = state_.sample(contact, distance_.points[0], eps);
  contact.isPulled = !(state_.tensionOf(contact, distance_, eps, sample) > 0);
}

}  // namespace tangere::integrator
