// SPDX-License-Identifier: Apache-2.0
//
// A step of the event solver as a simulator wants it: report, energy ledger, contacts.
#pragma once

#include "integrator/event_driven_integrator.hpp"
#include "model/workspace.hpp"
#include "sim/last_step.hpp"

#include <atomic>
#include <span>
#include <vector>

namespace tangere::sim {

class EventStep {
 public:
  EventStep(const model::ModelData& model, const model::Control& control);

  /// State or control were changed from outside.
  void forget() { integrator_.forget(); }
  /// To `target`; leaves report and ledger of the way there in `ws`.
  void advance(Real target, State& state, model::Workspace& ws);
  /// See Simulator::setInterrupt().
  void setInterrupt(const std::atomic<bool>* flag) { integrator_.setInterrupt(flag); }

  [[nodiscard]] std::span<const EventRecord> events() const { return integrator_.events(); }
  [[nodiscard]] const EventStatistics& statistics() const { return statistics_; }
  void resetStatistics();
  /// At the last evaluation.
  [[nodiscard]] std::span<const Real> actuatorForces() {
    return integrator_.state().drives().actuatorForces();
  }
  /// Mean forces of the pairs that touched during the last advance(), also those that came apart in
  /// it, impacts included; where there was none, the forces of this instant.
  void listContacts(const State& state, std::vector<ContactForce>* out);
  [[nodiscard]] std::vector<ContactResult> contactResults(const State& state, int frameBody);
  /// For sensors: accelerations and forces at the State. Good until the next call.
  [[nodiscard]] const InstantReadings& read(const State& state);
  /// Kinetic and potential energy of the state as it is; the other rows are zero.
  void readEnergy(const State& state, EnergyLedger* ledger);

 private:
  struct Energy {
    Real kinetic = 0, potential = 0;
  };
  /// Calls visit(contact, sample) for every point that carries force.
  template <class Visit>
  void forEachPoint(const State& state, const Visit& visit);
  [[nodiscard]] Energy measureEnergy(const State& state);

  void noticeControl();

  const model::ModelData& model_;
  const model::Control& control_;
  model::Control last_{};                   // what the integrator was told
  std::vector<std::uint8_t> is_scheduled_;  // of each actuator
  integrator::EventDrivenIntegrator integrator_;
  EventStatistics statistics_{}, statistics_before_{};
  std::vector<Real> y_, y_dot_;
  InstantReadings readings_;
  integrator::PairDistance distance_;
};

}  // namespace tangere::sim
