// SPDX-License-Identifier: Apache-2.0
//
// Moves a State from event to event: variable steps with error control, a stop wherever a contact
// begins or ends, and a restart there with another set of contacts. Between two looks the
// integration goes its own way: when a caller looks does not change what happens.
//
// What holds: nothing throws but the constructor, and nothing hangs; where the integrator fails the
// State is the one before, and the body in trouble is named.
#pragma once

#include <tangere/integrator.hpp>
#include <tangere/simulator.hpp>

#include "integrator/contact_impulses.hpp"
#include "integrator/cvode_session.hpp"
#include "integrator/event_impacts.hpp"
#include "integrator/event_jacobian.hpp"
#include "integrator/event_state.hpp"
#include "integrator/zero_crossing.hpp"

#include <atomic>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace tangere::integrator {

/// How advance() went.
struct AdvanceReport {
  StepStatus status = StepStatus::Ok;
  int body1 = -1, body2 = -1;
  int numImpacts = 0;
  OdeStatus cause = OdeStatus::Ok;  ///< of IntegratorFailed
  Real memoryNeeded = 0;            ///< where it was more than there may be [bytes]
};

class EventDrivenIntegrator final : private OdeSystem {
 public:
  EventDrivenIntegrator(const model::ModelData& model, const model::Control& control);
  ~EventDrivenIntegrator() override;

  /// State or control were changed from outside: the next advance() starts anew from the State.
  void forget() { is_started_ = false; }
  /// Contacts of a State that no advance() has seen yet.
  void ensureStarted(const State& state);
  /// To `target` >= state.time; the State is then that of `target`.
  AdvanceReport advance(Real target, State& state);
  /// advance() ends soon after it becomes true, with Interrupted. Null: never.
  void setInterrupt(const std::atomic<bool>* flag) { state_.budget().setInterrupt(flag); }

  /// Of the last advance().
  [[nodiscard]] std::span<const EventRecord> events() const { return events_; }
  /// Of all forces since construction, in rows of the ledger [J].
  [[nodiscard]] const Powers& work() const { return work_; }
  /// What overlaps held at the start, if advance() has started since it was last asked for: their
  /// contacts have it from nowhere [J].
  [[nodiscard]] Real takeOverlapEnergy() { return std::exchange(overlap_energy_, Real(0)); }
  [[nodiscard]] EventStatistics statistics() const;
  /// Restarts with a root function that is exactly zero, which must not be.
  [[nodiscard]] std::int64_t numZeroRestarts() const { return num_zero_restarts_; }
  [[nodiscard]] EventState& state() { return state_; }
  /// Of the last advance(), when it ended at `t` and nothing was changed since; or null.
  [[nodiscard]] const ContactImpulses* impulsesUntil(Real t) const {
    return is_started_ && impulses_.end() == t && impulses_.elapsed() > 0 ? &impulses_ : nullptr;
  }

 private:
  // OdeSystem
  bool derivative(Real t, const Real* y, Real* yDot) override;
  void crossings(Real t, const Real* y, Real* z) override;
  void powers(Real t, const Real* y, Real* power) override;
  int prepareSolve(Real t, const Real* y, Real gamma, bool mayReuse) override;
  void solve(const Real* b, Real* x) override;
  [[nodiscard]] bool isSteep() override;
  [[nodiscard]] bool isMatrixStale(bool isConverged) override;
  [[nodiscard]] bool straightenResidual(Real gamma, Real* r) override;

  void start(const State& state);
  void restart(Real t);
  [[nodiscard]] bool takeStep(AdvanceReport* report);
  /// What begins and ends again within the last step: the end of its bracket, or none.
  [[nodiscard]] bool findMissed(Real from, Real to, Real* found);
  /// A pair that may begin to touch, or a contact that may end.
  struct Watched {
    NearPair* pair = nullptr;
    EventContact* contact = nullptr;
  };
  /// Of the points of two shapes against each other.
  struct MotionBound {
    Real speed = 0, acceleration = 0;
  };
  [[nodiscard]] bool searchBetween(const Watched& watched, const PairSample& a, const PairSample& b,
                                   const MotionBound& bound, int* budget, Real* found);
  [[nodiscard]] PairSample sampleAt(const Watched& watched, Real t);
  [[nodiscard]] Real refine(const Watched& watched, Real before, Real after);
  void handleEvent(Real t, AdvanceReport* report);
  void rebuildContacts(Real t, bool isStart);
  void addContact(NearPair& pair, Real t, bool isStart);
  void releaseOverlaps(const State& state);
  [[nodiscard]] Real releaseSpeed(EventContact& contact, Real* depth, Real* stored);
  void limitRelease(EventContact& contact);
  /// Which points of a contact touch, at an event; the fastest of those that began, or -1.
  int updatePoints(EventContact& contact);
  void addLanded(EventContact& contact, Real t, bool isStart);
  /// Points that have left no longer touch, and corners that have passed an edge have new names.
  void followPoints();
  void updateTension(Real t);
  void updateLimits();
  [[nodiscard]] Real massOf(std::size_t limit);
  void measureTension(EventContact& contact);
  void measureMasses(EventContact& contact, const EventPoint& point);
  void resolveImpacts(Real t, bool isStart, AdvanceReport* report);
  /// Pairs that were departing and approach again are in contact.
  void addTurnedBack(Real t, bool isStart);
  [[nodiscard]] bool addNearlyTouching(Real t);
  void sortContacts();
  void bookRound(Real t, const ImpactOutcome& round, AdvanceReport* report);
  void partAfterImpacts();
  void log(Real t, EventCause cause, EventContact& contact, Real distance);
  void logPoint(Real t, EventCause cause, const EventContact& contact, const EventPoint& point,
                Real distance, Real approachSpeed);
  [[nodiscard]] int bodyOfComponent(int component) const;
  void remember(State& state) const;
  void recall(const State& state);
  void recallPoint(const EventContactMemory& memory, EventContact& contact);
  void collectWork(Real t);

  const model::ModelData& model_;
  EventState state_;
  ZeroCrossing crossing_;
  EventJacobian jacobian_;
  EventImpacts impacts_;
  ContactImpulses impulses_;
  std::unique_ptr<CvodeSession> session_;
  std::vector<EventContact> last_contacts_;  // lastContactDict
  std::vector<EventRecord> events_;
  std::vector<Real> y_, scratch_, scales_;
  PairDistance distance_, log_distance_;
  std::vector<TouchingPoint> next_touching_;
  std::vector<ShapeSpeed> start_speed_, end_speed_;  // of shapes, over the last step
  bool is_started_ = false;
  bool has_stepped_ = false;    // since the last restart
  AdvanceReport start_report_;  // what is to be told of the start
  Real overlap_energy_ = 0;
  bool has_early_events_ = false;  // of a start that no advance() has told yet
  bool has_event_ = false;         // the session stands at a root that was not handled yet
  Real event_time_ = 0;            // of it
  Powers work_{}, work_before_{};  // since the start; up to the last restart
  std::int64_t num_restarts_ = 0, num_events_ = 0, num_zero_restarts_ = 0;
};

}  // namespace tangere::integrator
