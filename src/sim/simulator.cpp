// SPDX-License-Identifier: Apache-2.0
#include <tangere/simulator.hpp>

#include "contact/build_sap_problem.hpp"
#include "contact/contact_forces.hpp"
#include "contact/energy_ledger.hpp"
#include "contact/pressure_rows.hpp"
#include "contact/tree_ledger.hpp"
#include "contact/user_rows.hpp"
#include "core/assert.hpp"
#include "core/fpu_guard.hpp"
#include "math/quat.hpp"
#include "math/transform.hpp"
#include "sim/simulator_impl.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tangere {

Simulator::Simulator(Model model, int numThreads)
    : impl_(std::make_unique<Impl>(std::move(model), numThreads)) {}
Simulator::~Simulator() = default;
Simulator::Simulator(Simulator&&) noexcept = default;
Simulator& Simulator::operator=(Simulator&&) noexcept = default;

const Model& Simulator::model() const { return impl_->model; }

const StepReport& Simulator::step() {
  Impl& impl = *impl_;
  return impl.finish([&] {
    if (impl.event) {
      impl.event->advance(impl.state.time + impl.model.options().dt, impl.state, impl.ws);
    } else if (impl.errorControl) {
      impl.errorControl->step(impl.control, impl.state, impl.ws, *impl.sap, impl.clock);
    } else if (impl.divided) {
      impl.divided->step(impl.control, impl.state, impl.ws, *impl.sap, impl.clock);
    } else if (impl.sap) {
      sim::stepEnvironmentSap(impl.model.data(), impl.control, impl.state, impl.ws, *impl.sap,
                              impl.clock);
    } else {
      sim::stepEnvironment(impl.model.data(), impl.control, impl.state, impl.ws, impl.clock);
    }
  });
}

template <class Move>
const StepReport& Simulator::Impl::finish(const Move& move) {
  const core::FpuGuard guard;
  followSchedules();
  move();
  if (hasForces) {
    control.jointForce.assign(control.jointForce.size(), 0);
    control.force.assign(control.force.size(), {});
    control.torque.assign(control.torque.size(), {});
    control.softForce.clear();
    hasForces = false;
  }
  areSensorsRead = false;
  hasStep = isWhole();
  isLedgerOfState = hasStep;
  if (hasStep) sim::addLedger(ws.ledger, &sum);
  return ws.report;
}

const StepReport& Simulator::step(int count) {
  for (int i = 0; i < count; ++i) {
    if (isRefused(step().status)) break;
  }
  return report();
}

const StepReport& Simulator::advanceTo(Real time) {
  Impl& impl = *impl_;
  if (impl.event) return impl.finish([&] { impl.event->advance(time, impl.state, impl.ws); });
  while (impl.state.time < time && !isRefused(step().status)) {
  }
  return report();
}

const StepReport& Simulator::report() const { return impl_->ws.report; }

const EnergyLedger& Simulator::energy() const {
  Impl& impl = *impl_;
  if (impl.isLedgerOfState) return impl.ws.ledger;
  const model::ModelData& model = impl.model.data();
  if (impl.event) {
    impl.event->readEnergy(impl.state, &impl.ws.ledger);
  } else {
    if (impl.sap) {
      contact::updateTrees(model, impl.state, *impl.sap);
      contact::measureTreeEnergy(model, impl.state, impl.ws, *impl.sap);
    }
    contact::readEnergy(model, impl.state, impl.ws);
  }
  impl.isLedgerOfState = true;
  return impl.ws.ledger;
}

const EnergyLedger& Simulator::energySum() const { return impl_->sum; }

std::span<const ContactForce> Simulator::contacts() const {
  model::Workspace& ws = impl_->ws;
  const model::ModelData& model = impl_->model.data();
  const Real dt = impl_->sap ? impl_->sap->problem.dt : 0;  // error control may have cut the step
  if (!impl_->event && !impl_->hasStep)
    ws.contacts.clear();
  else if (!ws.areContactsListed && impl_->event)
    impl_->event->listContacts(impl_->state, &ws.contacts);
  else if (!ws.areContactsListed)
    contact::listContactForces(model, impl_->state, ws, dt);
  ws.areContactsListed = true;
  if (ws.sleepingContacts.empty()) return ws.contacts;

  impl_->allContacts.assign(ws.contacts.begin(), ws.contacts.end());
  for (const ContactForce& contact : ws.sleepingContacts) {
    if (contact::isHeld(model, impl_->state, contact)) impl_->allContacts.push_back(contact);
  }
  std::stable_sort(impl_->allContacts.begin(), impl_->allContacts.end(),
                   [](const ContactForce& a, const ContactForce& b) {
                     return std::pair(a.shape1, a.shape2) < std::pair(b.shape1, b.shape2);
                   });
  return impl_->allContacts;
}

void Simulator::setInterrupt(const std::atomic<bool>* flag) {
  if (impl_->event) impl_->event->setInterrupt(flag);
}

void Simulator::setProfiling(bool isOn) {
  impl_->clock = {};
  impl_->clock.isOn = isOn;
  if (!impl_->sap) return;
  impl_->sap->solver.setProfiling(isOn);
  impl_->sap->pressure.clock.set(isOn);
}

std::span<const PhaseTime> Simulator::profile() const {
  std::vector<PhaseTime>& phases = impl_->phases;
  phases.clear();
  const sim::PhaseClock& clock = impl_->clock;
  const auto seconds = [](std::int64_t ns) { return 1e-9 * static_cast<Real>(ns); };
  for (int i = 0; i < sim::kNumStepPhases; ++i) {
    const auto phase = static_cast<sim::StepPhase>(i);
    const std::string_view name = sim::stepPhaseName(phase);
    phases.push_back(
        {.name = name, .total_s = seconds(clock.total_ns[i]), .last_s = seconds(clock.last_ns[i])});
    for (int k = 0; k < sim::kNumStepParts; ++k) {
      const auto part = static_cast<sim::StepPart>(k);
      if (!impl_->sap || sim::phaseOf(part) != phase) continue;
      phases.push_back({.name = sim::stepPartName(part),
                        .total_s = seconds(clock.totalOfPart_ns[k]),
                        .last_s = seconds(clock.lastOfPart_ns[k]),
                        .parent = name});
    }
  }
  return phases;
}

const State& Simulator::state() const { return impl_->state; }

void Simulator::setState(const State& state) {
  const std::size_t numBodies = impl_->model.data().bodies.size();
  const model::FieldCounts n(impl_->model.data());
#define TANGERE_FIELD(name, type, count, meaning)                                       \
  TANGERE_REQUIRE(state.name.size() == n.count, "state does not fit the model: " #name, \
                  state.name.size(), n.count);
#include <tangere/state_fields.inc>
#undef TANGERE_FIELD
  for (std::size_t i = 0; i < numBodies; ++i) {
    const std::string name(impl_->model.bodyName(static_cast<int>(i)));
    TANGERE_REQUIRE(math::isFinite(state.center[i]) && math::isFinite(state.orientation[i]) &&
                        math::isFinite(state.velocity[i]) &&
                        math::isFinite(state.angularVelocity[i]) &&
                        math::isFinite(state.stillTime[i]),
                    "state is not finite", name);
    TANGERE_REQUIRE(std::fabs(math::norm(state.orientation[i]) - 1) < 1e-6,
                    "orientation is not a unit quaternion", name);
  }
  for (const std::vector<Real>* values :
       {&state.q, &state.v, &state.activation, &state.dryFriction})
    sim::requireFinite(*values, values->size(), "state is not finite");
  sim::requireFinite(state.softPosition, state.softPosition.size(), "state is not finite");
  sim::requireFinite(state.softVelocity, state.softVelocity.size(), "state is not finite");
  for (const HeldFriction& held : state.heldFriction)
    TANGERE_REQUIRE(math::isFinite(held.tangent) && math::isFinite(held.normal),
                    "state is not finite", held.object1, held.object2);
  TANGERE_REQUIRE(math::isFinite(state.time), "time is not finite", state.time);
  const ContactPatchCacheOptions options = impl_->model.options().patchCache;
  impl_->state = state;
  impl_->state.patches.setOptions(options);
  impl_->sum = {};
  if (impl_->event) impl_->event->resetStatistics();
  impl_->ws.sleepingContacts.clear();
  impl_->hasStep = false;
  impl_->forgetPoses();
}

void Simulator::reset() {
  setState(State(impl_->model));
  impl_->moveToStart();
}

std::span<const Real> Simulator::sensors() const {
  Impl& impl = *impl_;
  if (!impl.sensors || impl.areSensorsRead) return impl.readings;
  if (impl.event) {
    dynamics::computeTreePositions(impl.sap->trees, impl.state.q);
    dynamics::computeTreeVelocities(impl.sap->trees, impl.state.v);
  }
  impl.readings =
      impl.sensors->read({.model = impl.model.data(),
                          .state = impl.state,
                          .ws = impl.ws,
                          .sap = *impl.sap,
                          .contacts = contacts(),
                          .pressureContacts = pressureContacts(),
                          .hasStep = impl.hasStep || impl.event,
                          .instant = impl.event ? &impl.event->read(impl.state) : nullptr});
  impl.areSensorsRead = true;
  return impl.readings;
}

int Simulator::addContactHandler(std::shared_ptr<ContactHandler> handler) {
  TANGERE_REQUIRE(impl_->sap != nullptr && !impl_->event, "contact handlers need the SAP solver",
                  solverTypeName(impl_->model.options().solver));
  TANGERE_REQUIRE(handler != nullptr, "a contact handler is missing");
  impl_->sap->handlers.push_back(std::move(handler));
  return static_cast<int>(impl_->sap->handlers.size()) - 1;
}

int Simulator::numContactHandlers() const {
  return impl_->sap ? static_cast<int>(impl_->sap->handlers.size()) : 0;
}

std::span<const HandlerForce> Simulator::handlerForces(int handler) const {
  const int count = impl_->sap ? static_cast<int>(impl_->sap->handlers.size()) : 0;
  TANGERE_REQUIRE(handler >= 0 && handler < count, "no such contact handler", handler);
  impl_->handlerForces.clear();
  if (impl_->hasStep) contact::listHandlerForces(handler, *impl_->sap, &impl_->handlerForces);
  return impl_->handlerForces;
}

void Simulator::resetToKeyframe(int keyframe) {
  const std::span<const Keyframe> all = impl_->model.keyframes();
  TANGERE_REQUIRE(keyframe >= 0 && keyframe < static_cast<int>(all.size()), "no such keyframe",
                  keyframe);
  const Keyframe& key = all[keyframe];
  reset();
  if (!key.q.empty()) setPositions(key.q);
  if (!key.v.empty()) setVelocities(key.v);
  if (!key.activation.empty()) impl_->state.activation = key.activation;
  if (!key.control.empty()) impl_->control.control = key.control;
  impl_->state.time = key.time;
  impl_->forgetMotion();
  impl_->areSensorsRead = false;
}

std::span<const PressurePolygon> Simulator::pressureContacts() const {
  impl_->pressureContacts.clear();
  if (impl_->sap && !impl_->event && impl_->hasStep)
    contact::listPressureContacts(impl_->model.data(), *impl_->sap, &impl_->pressureContacts);
  return impl_->pressureContacts;
}

std::span<const EventRecord> Simulator::events() const {
  return impl_->event ? impl_->event->events() : std::span<const EventRecord>{};
}

std::vector<ContactResult> Simulator::contactResults(int frameBody) const {
  TANGERE_REQUIRE(frameBody >= -1 && frameBody < impl_->model.numBodies(), "no such body",
                  frameBody);
  if (!impl_->event) return {};
  return impl_->event->contactResults(impl_->state, frameBody);
}

const EventStatistics& Simulator::eventStatistics() const {
  static const EventStatistics kNone{};
  return impl_->event ? impl_->event->statistics() : kNone;
}

}  // namespace tangere
