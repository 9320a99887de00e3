// SPDX-License-Identifier: Apache-2.0
#include "integrator/event_driven_integrator.hpp"

#include "core/assert.hpp"
#include "math/contact_frame.hpp"
#include "math/transform.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tangere::integrator {

namespace {

/// One advance() ends after so many steps or events, whatever is left.
constexpr std::int64_t kMaxSteps = 2'000'000;
constexpr std::int64_t kMaxEvents = 500'000;
/// Restarts at the same time before the integrator is said to have failed.
constexpr int kMaxRetries = 3;
/// Samples of one pair within one step in search of a missed contact.
constexpr int kMaxSamples = 400;
/// A point that is deeper than this many times the hysteresis when it is first seen did not land
/// there: another description of the same surfaces has begun.
constexpr Real kDeepAtFirst = 16;
/// An overlap of rigid bodies at the start is told that would part them faster than this part of
/// the speed at which they may.
constexpr Real kToldOverlap = 0.01;
/// A pair that an impact throws apart by less than this part of the least impact speed stays.
constexpr Real kDeparts = 0.1;

/// Where a body is must not decide how well its contacts are resolved: positions count as if they
/// were at most this far from the origin [m].
constexpr Real kLargestPosition = 1;

std::vector<Real> largestScales(const model::ModelData& model, int size) {
  std::vector<Real> scales(static_cast<std::size_t>(size), kUnlimited);
  for (const model::TreeJoint& joint : model.treeJoints) {
    const int numLengths =
        joint.type == JointType::Free ? 3 : (joint.type == JointType::Prismatic ? 1 : 0);
    for (int k = 0; k < numLengths; ++k) scales[joint.q + k] = kLargestPosition;
  }
  return scales;
}

OdeOptions odeOptions(const model::ModelData& model, const EventState& state,
                      std::span<const Real> scales) {
  const EventOptions& options = model.options.event;
  return {.size = state.size(),
          .numRoots = kNumCrossings,
          .numQuadratures = state.numPowerRows(),
          .method = options.method,
          .relativeTolerance = options.relativeTolerance,
          .absoluteTolerance = options.absoluteTolerance,
          .maxStep = options.maxStep,
          .largestScale = scales,
          .rootDirections = kCrossingDirections};
}

bool isGoingOn(OdeStatus status) {
  return status == OdeStatus::Ok || status == OdeStatus::Root || status == OdeStatus::StopTime;
}

bool isFinite(std::span<const Real> values) {
  return std::all_of(values.begin(), values.end(), [](Real x) { return std::isfinite(x); });
}

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

Real& row(Powers& powers, PowerRow which) { return powers[static_cast<std::size_t>(which)]; }

}  // namespace

EventDrivenIntegrator::EventDrivenIntegrator(const model::ModelData& model,
                                             const model::Control& control)
    : model_(model),
      state_(model, control),
      crossing_(state_),
      jacobian_(state_),
      impacts_(state_) {
  y_.resize(static_cast<std::size_t>(state_.size()));
  scratch_.resize(y_.size());
  start_speed_.resize(model.shapes.size());
  end_speed_.resize(model.shapes.size());
  scales_ = largestScales(model, state_.size());
  if (!y_.empty())
    session_ = std::make_unique<CvodeSession>(static_cast<OdeSystem&>(*this),
                                              odeOptions(model, state_, scales_));
}

EventDrivenIntegrator::~EventDrivenIntegrator() = default;

AdvanceReport EventDrivenIntegrator::advance(Real target, State& state) {
  AdvanceReport report;
  if (!has_early_events_ || !is_started_) {
    events_.clear();
    impulses_.beginAt(state.time);
  }
  has_early_events_ = false;
  if (!is_started_) start(state);
  report = std::exchange(start_report_, {});
  if (!session_) {  // nothing moves but what is told to
    state.time = target;
    state_.writeTo(y_.data(), state);
    return report;
  }
  const Powers workAtStart = work_;
  const std::int64_t firstStep = session_->counts().numSteps;
  const std::int64_t firstEvent = num_events_;
  while (has_event_ ? event_time_ <= target : session_->time() < target) {
    bool isGood = true;
    impulses_.integrateTo(has_event_ ? event_time_ : session_->time(), state_.contacts);
    if (has_event_)
      handleEvent(event_time_, &report);
    else
      isGood = takeStep(&report);
    isGood = isGood && session_->counts().numSteps - firstStep <= kMaxSteps &&
             num_events_ - firstEvent <= kMaxEvents;
    const bool isInterrupted = interrupt_ != nullptr && interrupt_->load();
    if (isGood && !isInterrupted) continue;
    report.status =
        report.status | (isGood ? StepStatus::Interrupted : StepStatus::IntegratorFailed);
    if (!isGood && report.body1 < 0) report.body1 = bodyOfComponent(session_->worstComponent());
    is_started_ = false;
    work_ = workAtStart;
    return report;
  }
  impulses_.integrateTo(target, state_.contacts);
  session_->stateAt(target, scratch_);
  state.time = target;
  state_.writeTo(scratch_.data(), state);
  remember(state);
  collectWork(target);
  return report;
}

void EventDrivenIntegrator::ensureStarted(const State& state) {
  if (is_started_) return;
  events_.clear();
  impulses_.beginAt(state.time);
  start(state);
  has_early_events_ = true;
}

void EventDrivenIntegrator::start(const State& state) {
  start_report_ = {};
  overlap_energy_ = 0;
  state_.setOrigin(state);
  state_.readFrom(state, y_.data());
  is_started_ = true;
  has_event_ = false;
  if (!session_) return;
  state_.setMotion(state.time, y_.data());
  crossing_.rebuild();
  if (!state_.drives().isEmpty()) {
    state_.drives().measure(state_);
    state_.factorMasses();
    state_.drives().measureMobility(state_);
  }
  recall(state);
  std::fill(state_.drives().isLimitActive.begin(), state_.drives().isLimitActive.end(), 0);
  updateLimits();
  rebuildContacts(state.time, true);
  releaseOverlaps(state);
  resolveImpacts(state.time, true, &start_report_);
  work_before_ = work_;
  restart(state.time);
}

void EventDrivenIntegrator::restart(Real t) {
  state_.normalize(y_.data());
  state_.setMotion(t, y_.data());
  crossing_.refreshRoles();
  jacobian_.forget();
  Real z[kNumCrossings];
  crossing_.evaluate(z);
  crossing_.beginStep();
  impulses_.forgetValues();
  impulses_.addValues(t, state_.contacts);
  const bool isAnyZero = std::find(z, z + kNumCrossings, Real(0)) != z + kNumCrossings;
  num_zero_restarts_ += isAnyZero ? 1 : 0;
  TANGERE_ASSERT(!isAnyZero);  // a crossing from zero would not be seen
  for (std::size_t s = 0; s < start_speed_.size(); ++s)
    start_speed_[s] = crossing_.speedOf(static_cast<int>(s));
  session_->restart(t, y_, state_.drives().nextKink(t));
  has_event_ = false;
  has_stepped_ = false;
  ++num_restarts_;
}

bool EventDrivenIntegrator::takeStep(AdvanceReport* report) {
  Real from = session_->time();
  if (has_stepped_) followPoints();
  has_stepped_ = true;
  OdeStatus status = session_->step();
  for (int retry = 0; retry < kMaxRetries && !isGoingOn(status); ++retry) {
    from = session_->time();
    collectWork(from);
    work_before_ = work_;
    std::copy_n(session_->state().begin(), y_.size(), y_.begin());
    state_.normalize(y_.data());
    if (!isFinite(y_)) break;
    restart(from);
    status = session_->step();
  }
  if (!isGoingOn(status)) {
    report->cause = status;
    report->body1 = bodyOfComponent(session_->worstComponent());
    report->body2 = -1;
    return false;
  }
  has_event_ = status != OdeStatus::Ok;
  event_time_ = session_->time();
  if (has_event_) {  // the last evaluation was somewhere near
    Real z[kNumCrossings];
    crossings(event_time_, session_->state().data(), z);
  }
  impulses_.addValues(event_time_, state_.contacts);
  Real found = 0;
  if (!findMissed(from, session_->time(), &found)) return true;
  has_event_ = true;
  event_time_ = found;
  return true;
}

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
  for (NearPair& pair : crossing_.pairs()) {
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

void EventDrivenIntegrator::handleEvent(Real t, AdvanceReport* report) {
  session_->stateAt(t, scratch_);
  std::copy(scratch_.begin(), scratch_.end(), y_.begin());
  collectWork(t);
  state_.normalize(y_.data());
  state_.setMotion(t, y_.data());
  crossing_.rebuild();
  std::swap(last_contacts_, state_.contacts);
  updateLimits();
  rebuildContacts(t, false);
  resolveImpacts(t, false, report);
  updateTension(t);
  work_before_ = work_;
  ++num_events_;
  restart(t);
}

void EventDrivenIntegrator::updateLimits() {
  EventDrives& drives = state_.drives();
  if (drives.limits.empty()) return;
  drives.measure(state_);
  state_.factorMasses();
  for (std::size_t i = 0; i < drives.limits.size(); ++i) {
    const bool isActive = crossing_.isTouching(drives.gapOf(i, state_), kLimitEps);
    if (isActive && drives.isLimitActive[i] == 0) drives.limitMass[i] = massOf(i);
    drives.isLimitActive[i] = isActive ? 1 : 0;
  }
}

/// What a limit stops.
Real EventDrivenIntegrator::massOf(std::size_t limit) {
  SparseRow entries;
  state_.drives().rowOf(limit, state_, &entries);
  std::vector<Real> x(model_.dofs.size());
  for (std::size_t k = 0; k < entries.dof.size(); ++k) x[entries.dof[k]] += entries.entry[k];
  state_.applyInverseMass(x.data());
  Real inverse = 0;
  for (std::size_t k = 0; k < entries.dof.size(); ++k)
    inverse += entries.entry[k] * x[entries.dof[k]];
  return inverse > 0 ? 1 / inverse : 0;
}

/// contactDict from the rule of events; entries of lastContactDict keep what they know.
void EventDrivenIntegrator::rebuildContacts(Real t, bool isStart) {
  state_.contacts.clear();
  auto last = last_contacts_.begin();
  for (NearPair& pair : crossing_.pairs()) {
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

/// Round after round until nothing approaches any more. A round may also drive together what an
/// earlier impact threw apart.
void EventDrivenIntegrator::resolveImpacts(Real t, bool isStart, AdvanceReport* report) {
  bool isAny = false;
  while (true) {
    addTurnedBack(t, isStart);
    if (!impacts_.findHits()) break;
    if (addNearlyTouching(t)) (void)impacts_.findHits();
    isAny = true;
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

void EventDrivenIntegrator::log(Real t, EventCause cause, EventContact& contact, Real distance) {
  Real eps = 0;
  PairDistance& at = log_distance_;
  state_.locate(contact, &at, &eps);
  logPoint(t, cause, contact, at.points[0], distance, contact.approachSpeed);
}

void EventDrivenIntegrator::logPoint(Real t, EventCause cause, const EventContact& contact,
                                     const EventPoint& point, Real distance, Real approachSpeed) {
  ContactLaw law = contact.law;
  integrator::beginContact(model_.options.event, approachSpeed, &law);
  events_.push_back({.time = t,
                     .cause = cause,
                     .body1 = contact.body1,
                     .body2 = contact.body2,
                     .shape1 = contact.shape1,
                     .shape2 = contact.shape2,
                     .distance = distance,
                     .normal = point.normal,
                     .position = point.position,
                     .approachSpeed = approachSpeed,
                     .stiffness = law.loggedStiffness(),
                     .damping = law.damping});
}

int EventDrivenIntegrator::bodyOfComponent(int component) const {
  if (component < 0) return -1;
  const int numQ = state_.numPositions();
  for (const model::TreeJoint& joint : model_.treeJoints) {
    const bool isPosition =
        component >= joint.q && component < joint.q + numJointPositions(joint.type);
    const int v = component - numQ;
    if (component < numQ ? isPosition
                         : (v >= joint.v && v < joint.v + numJointVelocities(joint.type)))
      return joint.body;
  }
  return -1;
}

void EventDrivenIntegrator::collectWork(Real t) {
  Powers since{};
  session_->quadraturesAt(t, std::span(since).first(state_.numPowerRows()));
  for (std::size_t i = 0; i < since.size(); ++i) work_[i] = work_before_[i] + since[i];
}

EventStatistics EventDrivenIntegrator::statistics() const {
  if (!session_) return {};
  const OdeCounts counts = session_->counts();
  return {.numSteps = counts.numSteps,
          .numDerivatives = counts.numDerivatives,
          .numJacobians = counts.numJacobians,
          .numZeroCrossings = counts.numCrossings,
          .numRestarts = num_restarts_,
          .numEvents = num_events_};
}

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

bool EventDrivenIntegrator::derivative(Real t, const Real* y, Real* yDot) {
  return state_.derivative(t, y, yDot);
}

void EventDrivenIntegrator::crossings(Real t, const Real* y, Real* z) {
  if (crossing_.needsVelocities())
    state_.setMotion(t, y);
  else
    state_.setPositions(t, y);
  crossing_.evaluate(z);
}

void EventDrivenIntegrator::powers(Real, const Real*, Real* power) {
  std::copy_n(state_.powers().begin(), state_.numPowerRows(), power);
}

int EventDrivenIntegrator::prepareSolve(Real t, const Real* y, Real gamma, bool mayReuse) {
  return jacobian_.prepare(t, y, gamma, mayReuse);
}

void EventDrivenIntegrator::solve(const Real* b, Real* x) { jacobian_.solve(b, x); }

bool EventDrivenIntegrator::isSteep() {
  jacobian_.beginStep();
  if (!state_.drives().dryFrictions().empty()) return true;
  return std::any_of(state_.contacts.begin(), state_.contacts.end(),
                     [](const EventContact& c) { return c.law.friction > 0 && c.mobility > 0; });
}

bool EventDrivenIntegrator::isMatrixStale(bool isConverged) {
  return jacobian_.isStale(isConverged);
}

bool EventDrivenIntegrator::straightenResidual(Real gamma, Real* r) {
  return jacobian_.straighten(gamma, r);
}

}  // namespace tangere::integrator
