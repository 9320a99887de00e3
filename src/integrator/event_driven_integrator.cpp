// SPDX-License-Identifier: Apache-2.0
#include "integrator/event_driven_integrator.hpp"

#include "core/assert.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tangere::integrator {

namespace {

/// Restarts at the same time before the integrator is said to have failed.
constexpr int kMaxRetries = 3;

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
  WorkBudget& budget = state_.budget();
  budget.begin();
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
  const auto isBefore = [&] {
    return has_event_ ? event_time_ <= target : session_->time() < target;
  };
  bool isGood = true;
  while (isGood && budget.mayGoOn() && isBefore()) {
    budget.countStep();
    impulses_.integrateTo(has_event_ ? event_time_ : session_->time(), state_.contacts);
    if (has_event_)
      handleEvent(event_time_, &report);
    else
      isGood = takeStep(&report);
  }
  if (!isGood || !budget.mayGoOn()) {
    const StepStatus why = budget.mayGoOn() ? StepStatus::IntegratorFailed : budget.status();
    // What was not taken says nothing else: overlaps of the start are told when it begins again.
    report = {.status = why, .cause = report.cause, .memoryNeeded = budget.memoryNeeded()};
    const bool isLate = why != StepStatus::Interrupted && report.memoryNeeded == 0;
    if (isLate) report.body1 = bodyOfComponent(session_->worstComponent());
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
  state_.budget().begin();
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
  if (state_.budget().mayGoOn()) return;
  is_started_ = false;
  state_.contacts.clear();
}

void EventDrivenIntegrator::restart(Real t) {
  state_.normalize(y_.data());
  state_.setMotion(t, y_.data());
  crossing_.refreshRoles();
  jacobian_.forget();
  Real z[kNumCrossings];
  crossing_.evaluate(z);
  if (!state_.budget().mayGoOn()) return;
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
    if (!state_.budget().mayGoOn()) return false;
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
