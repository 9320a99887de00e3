// SPDX-License-Identifier: Apache-2.0
//
// What begins and ends within one step of the integrator: each near pair is proved to have kept its
// sign, or the step is searched by halves.
#include "integrator/event_driven_integrator.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tangere::integrator {

namespace {

/// Samples of one pair within one step in search of a missed contact.
constexpr int kMaxSamples = 400;

}  // namespace

bool EventDrivenIntegrator::findMissed(Real from, Real to, Real* found) {
  const Real length = to - from;
  if (!(length > 0)) return false;
  state_.setMotion(to, session_->state().data());
  for (std::size_t s = 0; s < end_speed_.size(); ++s)
    end_speed_[s] = crossing_.speedOf(static_cast<int>(s));
  bool isFound = false;
  const auto fastest = [&](int shape) {
    return std::max(start_speed_[shape].fastest, end_speed_[shape].fastest);
  };
  // Speeds and accelerations may be higher in between; these are generous for a step that passed
  // the error test.
  const auto acceleration = [&](int shape) {
    const ShapeSpeed &a = start_speed_[shape], &b = end_speed_[shape];
    return 2 * norm(b.velocity - a.velocity) / length + 2 * std::max(a.centripetal, b.centripetal);
  };
  const auto boundOf = [&](int shape1, int shape2) -> MotionBound {
    return {.speed = Real(1.5) * (fastest(shape1) + fastest(shape2)),
            .acceleration = acceleration(shape1) + acceleration(shape2)};
  };
  const auto search = [&](const Watched& watched, const PairSample& a, const PairSample& b,
                          const MotionBound& bound) {
    int budget = kMaxSamples;
    Real at = 0;
    if (!searchBetween(watched, a, b, bound, &budget, &at)) return;
    if (!isFound || at < *found) *found = at;
    isFound = true;
  };
  WorkBudget& budget = state_.budget();
  for (NearPair& pair : crossing_.pairs()) {
    if (!budget.mayGoOn()) return false;
    if (pair.isInContact || pair.isDeparting) continue;
    const Real closing = Real(1.5) * (fastest(pair.shape1) + fastest(pair.shape2)) * length;
    const Real end = pair.distance;
    if (pair.startDistance > 0 && end > 0 && pair.startDistance + end > closing) continue;
    const Watched watched{.pair = &pair};
    search(watched, sampleAt(watched, from), sampleAt(watched, to),
           boundOf(pair.shape1, pair.shape2));
    pair.distance = end;
  }
  for (EventContact& contact : state_.contacts) {
    if (!budget.mayGoOn()) return false;
    const Real closing = Real(1.5) * (fastest(contact.shape1) + fastest(contact.shape2)) * length;
    if (contact.startSignal + contact.signal < -closing) continue;
    MotionBound bound = boundOf(contact.shape1, contact.shape2);
    // What presses bends its way as its force does, which the error test has seen: a wheel that
    // rolls is not searched for a jump at every step.
    if (!contact.law.isObserver())
      bound.acceleration = std::min(bound.acceleration,
                                    4 * std::fabs(contact.signalRate - contact.startRate) / length);
    search({.contact = &contact}, {from, -contact.startSignal, -contact.startRate},
           {to, -contact.signal, -contact.signalRate}, bound);
  }
  std::swap(start_speed_, end_speed_);
  crossing_.beginStep();
  return isFound;
}

/// A signal that is positive as long as nothing happens.
PairSample EventDrivenIntegrator::sampleAt(const Watched& watched, Real t) {
  session_->stateAt(t, scratch_);
  state_.setMotion(t, scratch_.data());
  if (watched.pair != nullptr) {
    PairSample sample = crossing_.sample(*watched.pair, t);
    sample.distance = crossing_.enteringSignal(sample.distance, watched.pair->eps);
    return sample;
  }
  Real eps = 0;
  state_.locate(*watched.contact, &distance_, &eps);
  const ContactSample deepest = state_.sample(*watched.contact, distance_.points[0], eps);
  return {t, -crossing_.leavingSignal(distance_.distance, eps), deepest.motion.rate};
}

/// The signal falls by at most speed t; and from either end by at most rate t + acceleration t^2/2
/// up to the middle.
bool EventDrivenIntegrator::searchBetween(const Watched& watched, const PairSample& a,
                                          const PairSample& b, const MotionBound& bound,
                                          int* budget, Real* found) {
  const Real half = (b.t - a.t) / 2;
  if (a.distance + b.distance > bound.speed * 2 * half) return false;
  const Real drop = bound.acceleration * half * half / 2;
  if (a.distance + a.rate * half > drop && b.distance - b.rate * half > drop) return false;
  const Real middle = a.t + half;
  if (!(middle > a.t && middle < b.t) || --*budget < 0) return false;
  const PairSample m = sampleAt(watched, middle);
  if (m.distance <= 0) {
    *found = refine(watched, a.t, m.t);
    return true;
  }
  return searchBetween(watched, a, m, bound, budget, found) ||
         searchBetween(watched, m, b, bound, budget, found);
}

/// The end of the shortest bracket at which it has happened.
Real EventDrivenIntegrator::refine(const Watched& watched, Real before, Real after) {
  constexpr int kMaxHalvings = 80;
  for (int i = 0; i < kMaxHalvings; ++i) {
    const Real middle = before + (after - before) / 2;
    if (!(middle > before && middle < after)) break;
    (sampleAt(watched, middle).distance > 0 ? before : after) = middle;
  }
  return after;
}

}  // namespace tangere::integrator
