// SPDX-License-Identifier: Apache-2.0
#include <tangere/simulator.hpp>

#include "contact/contact_forces.hpp"
#include "contact/pressure_rows.hpp"
#include "contact/user_rows.hpp"
#include "core/assert.hpp"
#include "core/fpu_guard.hpp"
#include "integrator/integrate_trees.hpp"
#include "math/quat.hpp"
#include "math/transform.hpp"
#include "sim/carry_softs.hpp"
#include "sim/divided_step.hpp"
#include "sim/error_control.hpp"
#include "sim/event_step.hpp"
#include "sim/sensors.hpp"
#include "sim/step.hpp"

#include <algorithm>

namespace tangere {

namespace {

/// Throws InvalidInput when a joint moves nothing that has inertia.
void requireInertia(const model::ModelData& model, contact::SapWorkspace& sap) {
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    const model::Tree& tree = model.trees[t];
    if (tree.isFreeBody) continue;
    const int index = static_cast<int>(t);
    dynamics::computeTreePositions(sap.trees, index, model.startPositions);
    dynamics::computeMassMatrix(sap.trees, index);
    if (dynamics::factorMassMatrix(sap.trees, index)) continue;
    const kernel::TreeView<Real> view = sap.trees.view(index);
    for (int k = 0; k < tree.numDofs; ++k) {
      if (view.matrix[view.dofs[k].row + view.dofs[k].depth] > 0) continue;
      const Joint& joint =
          model.joints[model.treeJoints[model.dofs[tree.firstDof + k].joint].joint].joint;
      throw InvalidInput("joint '" + joint.name +
                         "' moves nothing that has a mass; give its body a mass or the joint an "
                         "armature");
    }
    throw InvalidInput("the mass matrix of '" +
                       model.bodies[model.links[tree.firstLink].body].name +
                       "' and what hangs on it is not positive definite: its masses and inertias "
                       "are too small for its size");
  }
}

void requireFinite(std::span<const Real> values, std::size_t expected, const char* what) {
  TANGERE_REQUIRE(values.size() == expected, what, values.size(), expected);
  for (const Real value : values)
    TANGERE_REQUIRE(math::isFinite(value), "values must be finite", value);
}

void requireFinite(std::span<const Vec3> values, std::size_t expected, const char* what) {
  TANGERE_REQUIRE(values.size() == expected, what, values.size(), expected);
  for (const Vec3& value : values)
    TANGERE_REQUIRE(math::isFinite(value), "values must be finite", value.x, value.y, value.z);
}

}  // namespace

struct Simulator::Impl {
  Impl(Model m, int numThreads) : model(std::move(m)), state(model), ws(numThreads) {
    const model::ModelData& data = model.data();
    control.force.assign(data.bodies.size(), {});
    control.torque.assign(data.bodies.size(), {});
    control.jointForce.assign(state.v.size(), 0);
    control.control.assign(data.actuators.size(), 0);
    if (data.options.solver != SolverType::Impulse) {
      sap = std::make_unique<contact::SapWorkspace>(data);
      requireInertia(data, *sap);
      if (data.options.solver == SolverType::Event)
        event = std::make_unique<sim::EventStep>(data, control);
      moveToStart();
      if (!data.sensors.empty()) sensors = std::make_unique<sim::Sensors>(data);
      if (data.options.accuracy > 0)
        errorControl = std::make_unique<sim::ErrorControl>(data);
      else if (data.hasPressure)
        divided = std::make_unique<sim::DividedStep>(data);
    }
  }

  /// State or control were changed from outside.
  void forgetMotion() {
    if (event) event->forget();
  }
  /// Coordinates of free bodies after these were moved from outside.
  void copyToCoordinates() {
    forgetMotion();
    if (sap) integrator::copyFreeBodies(model.data(), state);
  }
  /// Bodies after the coordinates were changed from outside.
  void copyFromCoordinates() {
    dynamics::computeTreePositions(sap->trees, state.q);
    dynamics::computeTreeVelocities(sap->trees, state.v);
    dynamics::copyLinksToState(model.data(), sap->trees, state);
    for (std::size_t i = 0; i < state.isAsleep.size(); ++i) wake(static_cast<int>(i));
    forgetPoses();
  }
  /// Joints that do not start at their references.
  void moveToStart() {
    if (!sap || model.data().initialPositions.empty()) return;
    for (const model::InitialPosition& start : model.data().initialPositions)
      state.q[start.q] = start.position;
    const sim::BodyPlaces before(state);
    copyFromCoordinates();
    sim::carrySofts(model.data(), before, state);
  }
  /// What schedules tell the actuators at the start of a step.
  void followSchedules() {
    for (const model::ModelSchedule& schedule : model.data().schedules)
      control.control[schedule.actuator] = sim::valueAt(schedule, state.time);
  }
  void requireNotJointed(int body) const {
    const model::ModelBody& b = model.data().bodies[body];
    TANGERE_REQUIRE(!b.isJointed, "the body is moved by joints: set positions and velocities",
                    b.name);
  }

  void requireSoft(int soft) const;
  void requireVertex(int soft, int vertex) const;
  template <class Move>
  const StepReport& finish(const Move& move);
  /// The last step was taken.
  [[nodiscard]] bool isWhole() const { return !isRefused(ws.report.status); }

  void wake(int body) {
    ws.isLedgerCurrent = false;
    state.isAsleep[body] = 0;
    state.stillTime[body] = 0;
  }
  /// Wakes what sleeps on, under or beside the body where it is now.
  void wakeNear(int body) {
    const model::ModelData& data = model.data();
    const auto boxOf = [&](int shape) {
      const model::ModelShape& s = data.shapes[shape];
      const Mat3 R = rotationMatrix(state.orientation[s.body]);
      const Transform X_WB{R, state.center[s.body] - R * data.bodies[s.body].mass.center};
      return s.shape->worldAabb(X_WB * s.pose);
    };
    const model::ModelBody& moved = data.bodies[body];
    for (int s = moved.firstShape; s < moved.firstShape + moved.numShapes; ++s) {
      Aabb box = boxOf(s);
      box.expand(2 * data.options.impulse.slop);  // contacts live up to the slop apart
      for (std::size_t other = 0; other < data.shapes.size(); ++other) {
        const int sleeper = data.shapes[other].body;
        if (state.isAsleep[sleeper] != 0 && box.overlaps(boxOf(static_cast<int>(other))))
          wake(sleeper);
      }
    }
  }
  /// After the state was changed from outside.
  void forgetPoses() {
    ws.poseAge.assign(ws.poseAge.size(), 0);
    ws.isLedgerCurrent = false;
    if (sap) sap->areTreesCurrent = false;
    areSensorsRead = false;
    forgetMotion();
  }

  Model model;
  State state;
  model::Control control;
  model::Workspace ws;
  std::unique_ptr<contact::SapWorkspace> sap;  ///< of the SAP solver
  std::unique_ptr<sim::ErrorControl> errorControl;
  std::unique_ptr<sim::DividedStep> divided;  ///< of soft bodies and pressure
  std::unique_ptr<sim::EventStep> event;      ///< of the event solver
  EnergyLedger sum;
  sim::PhaseClock clock;
  std::vector<PhaseTime> phases;
  std::vector<ContactForce> allContacts;
  std::vector<Real> actuatorForces;
  std::unique_ptr<sim::Sensors> sensors;  ///< null: the model has none
  std::span<const Real> readings;
  std::vector<HandlerForce> handlerForces;
  std::vector<PressurePolygon> pressureContacts;
  bool areSensorsRead = false;
  bool hasStep = false;  ///< what the last step did is about the state as it is
  bool hasForces = false;
};

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

/// What comes before and after the step that `move` takes.
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
const EnergyLedger& Simulator::energy() const { return impl_->ws.ledger; }
const EnergyLedger& Simulator::energySum() const { return impl_->sum; }
std::span<const ContactForce> Simulator::contacts() const {
  model::Workspace& ws = impl_->ws;
  const model::ModelData& model = impl_->model.data();
  const Real dt = impl_->sap ? impl_->sap->problem.dt : 0;  // error control may have cut the step
  if (!ws.areContactsListed && impl_->event)
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
    requireFinite(*values, values->size(), "state is not finite");
  requireFinite(state.softPosition, state.softPosition.size(), "state is not finite");
  requireFinite(state.softVelocity, state.softVelocity.size(), "state is not finite");
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

BodyState Simulator::body(int index) const {
  const Impl& impl = *impl_;
  TANGERE_REQUIRE(index >= 0 && index < impl.model.numBodies(), "no such body", index);
  const model::ModelBody& body = impl.model.data().bodies[index];
  BodyState out;
  out.orientation = impl.state.orientation[index];
  out.pose.rotation = rotationMatrix(out.orientation);
  const Vec3 arm = out.pose.rotation * body.mass.center;
  out.pose.translation = impl.state.center[index] - arm;
  out.angularVelocity = impl.state.angularVelocity[index];
  out.linearVelocity = impl.state.velocity[index] - cross(out.angularVelocity, arm);
  return out;
}

BodyState Simulator::body(std::string_view name) const {
  const int index = impl_->model.findBody(name);
  if (index < 0) {
    std::vector<std::string> known;
    known.reserve(impl_->model.data().bodies.size());
    for (int i = 0; i < impl_->model.numBodies(); ++i) known.emplace_back(impl_->model.bodyName(i));
    throw InvalidInput("no body is called '" + std::string(name) + "'" +
                       nearNames(std::string(name), known));
  }
  return body(index);
}

void Simulator::setPose(int index, const Transform& pose) {
  TANGERE_REQUIRE(index >= 0 && index < impl_->model.numBodies(), "no such body", index);
  TANGERE_REQUIRE(math::isRigid(pose, Real(1e-6)), "pose must be finite and rigid", index);
  impl_->requireNotJointed(index);
  const model::ModelBody& body = impl_->model.data().bodies[index];
  impl_->wakeNear(index);
  const sim::BodyPlaces before(impl_->state);
  impl_->state.orientation[index] = math::quatFromRotation(pose.rotation);
  impl_->state.center[index] = pose.translation + pose.rotation * body.mass.center;
  impl_->wakeNear(index);
  for (int s = body.firstShape; s < body.firstShape + body.numShapes; ++s)
    impl_->state.patches.invalidateObject(static_cast<ObjectId>(s));
  impl_->state.heldFriction.clear();
  impl_->wake(index);
  impl_->forgetPoses();
  impl_->copyToCoordinates();
  sim::carrySofts(impl_->model.data(), before, impl_->state);
}

void Simulator::setVelocity(int index, const Vec3& linear, const Vec3& angular) {
  TANGERE_REQUIRE(index >= 0 && index < impl_->model.numBodies(), "no such body", index);
  TANGERE_REQUIRE(math::isFinite(linear) && math::isFinite(angular),
                  "velocity must be finite [m/s, rad/s]", index);
  const model::ModelBody& body = impl_->model.data().bodies[index];
  TANGERE_REQUIRE(body.type != BodyType::Fixed, "a fixed body has no velocity", body.name);
  impl_->requireNotJointed(index);
  const Vec3 arm = rotationMatrix(impl_->state.orientation[index]) * body.mass.center;
  impl_->state.velocity[index] = linear + cross(angular, arm);
  impl_->state.angularVelocity[index] = angular;
  impl_->wake(index);
  impl_->areSensorsRead = false;
  impl_->copyToCoordinates();
}

void Simulator::applyForce(int index, const Vec3& force, const Vec3& torque) {
  TANGERE_REQUIRE(index >= 0 && index < impl_->model.numBodies(), "no such body", index);
  TANGERE_REQUIRE(math::isFinite(force) && math::isFinite(torque),
                  "force and torque must be finite [N, N m]", index);
  impl_->control.force[index] += force;
  impl_->control.torque[index] += torque;
  impl_->hasForces = true;
  impl_->wake(index);
}

namespace {

/// Scales the quaternions among the coordinates to unit length.
void normalizeQuaternions(const model::ModelData& model, std::vector<Real>* q) {
  for (const model::TreeJoint& part : model.treeJoints) {
    if (part.type != JointType::Free && part.type != JointType::Ball) continue;
    Real* at = q->data() + part.q + (part.type == JointType::Free ? 3 : 0);
    const Quat given{at[0], at[1], at[2], at[3]};
    TANGERE_REQUIRE(math::norm(given) > 0, "a quaternion must not be zero",
                    model.joints[part.joint].joint.name);
    const Quat unit = math::normalized(given);
    at[0] = unit.w, at[1] = unit.x, at[2] = unit.y, at[3] = unit.z;
  }
}

}  // namespace

void Simulator::setPositions(std::span<const Real> q) {
  requireFinite(q, impl_->state.q.size(), "positions do not fit the model");
  if (!impl_->sap) return;
  std::vector<Real> checked(q.begin(), q.end());
  normalizeQuaternions(impl_->model.data(), &checked);
  impl_->state.q = std::move(checked);
  impl_->state.patches.reset();
  impl_->state.heldFriction.clear();
  const sim::BodyPlaces before(impl_->state);
  impl_->copyFromCoordinates();
  sim::carrySofts(impl_->model.data(), before, impl_->state);
}

void Simulator::setVelocities(std::span<const Real> v) {
  requireFinite(v, impl_->state.v.size(), "velocities do not fit the model");
  if (!impl_->sap) return;
  impl_->state.v.assign(v.begin(), v.end());
  impl_->copyFromCoordinates();
}

void Simulator::setControl(int actuator, Real value) {
  TANGERE_REQUIRE(actuator >= 0 && actuator < impl_->model.numActuators(), "no such actuator",
                  actuator);
  TANGERE_REQUIRE(math::isFinite(value), "a control must be finite", value);
  impl_->control.control[actuator] = value;
}

void Simulator::setControls(std::span<const Real> values) {
  requireFinite(values, impl_->control.control.size(), "controls do not fit the model");
  impl_->control.control.assign(values.begin(), values.end());
}

std::span<const Real> Simulator::controls() const { return impl_->control.control; }

void Simulator::applyJointForces(std::span<const Real> force) {
  requireFinite(force, impl_->control.jointForce.size(), "forces do not fit the model");
  const model::ModelData& data = impl_->model.data();
  for (std::size_t i = 0; i < force.size(); ++i) impl_->control.jointForce[i] += force[i];
  for (const model::Tree& tree : data.trees) {
    if (!tree.isFreeBody || force.empty()) continue;
    // At its centre, where free bodies are pushed.
    const model::TreeLink& link = data.links[tree.firstLink];
    const Real* f = force.data() + data.treeJoints[link.firstJoint].v;
    const Mat3 R = rotationMatrix(impl_->state.orientation[link.body]);
    const Vec3 push{f[0], f[1], f[2]};
    const Vec3 torque =
        R * Vec3{f[3], f[4], f[5]} - cross(R * data.bodies[link.body].mass.center, push);
    if (!(push == Vec3{} && torque == Vec3{})) applyForce(link.body, push, torque);
  }
  impl_->hasForces = true;
}

std::span<const Real> Simulator::actuatorForces() const {
  std::vector<Real>& forces = impl_->actuatorForces;
  forces.assign(impl_->control.control.size(), 0);
  if (impl_->event) {
    const std::span<const Real> now = impl_->event->actuatorForces();
    std::copy(now.begin(), now.end(), forces.begin());
  } else if (impl_->sap && impl_->sap->drives.size() == forces.size()) {
    for (std::size_t i = 0; i < forces.size(); ++i) forces[i] = impl_->sap->drives[i].force;
  }
  return forces;
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

namespace {

/// The vertices of one soft body among those of all.
template <class Vertices>
auto verticesOf(const model::ModelData& model, int soft, Vertices& all) {
  const model::ModelSoft& body = model.softs[soft];
  return std::span(all).subspan(static_cast<std::size_t>(body.firstVertex),
                                body.mesh.vertices().size());
}

}  // namespace

void Simulator::Impl::requireVertex(int soft, int vertex) const {
  requireSoft(soft);
  TANGERE_REQUIRE(vertex >= 0 && vertex < model.data().softs[soft].elastic.numVertices,
                  "no such vertex of the soft body", model.data().softs[soft].name, vertex);
}

void Simulator::Impl::requireSoft(int soft) const {
  TANGERE_REQUIRE(soft >= 0 && soft < model.numSoftBodies(), "no such soft body", soft);
}

std::span<const Vec3> Simulator::softPositions(int soft) const {
  impl_->requireSoft(soft);
  return verticesOf(impl_->model.data(), soft, impl_->state.softPosition);
}

std::span<const Vec3> Simulator::softVelocities(int soft) const {
  impl_->requireSoft(soft);
  return verticesOf(impl_->model.data(), soft, impl_->state.softVelocity);
}

void Simulator::setSoftPositions(int soft, std::span<const Vec3> positions) {
  impl_->requireSoft(soft);
  const std::span<Vec3> own = verticesOf(impl_->model.data(), soft, impl_->state.softPosition);
  requireFinite(positions, own.size(), "positions do not fit the soft body");
  std::copy(positions.begin(), positions.end(), own.begin());
  impl_->state.heldFriction.clear();
  impl_->ws.isLedgerCurrent = false;
}

void Simulator::setSoftVelocities(int soft, std::span<const Vec3> velocities) {
  impl_->requireSoft(soft);
  const std::span<Vec3> own = verticesOf(impl_->model.data(), soft, impl_->state.softVelocity);
  requireFinite(velocities, own.size(), "velocities do not fit the soft body");
  std::copy(velocities.begin(), velocities.end(), own.begin());
  impl_->ws.isLedgerCurrent = false;
}

void Simulator::driveVertex(int soft, int vertex, const Vec3& target) {
  impl_->requireVertex(soft, vertex);
  TANGERE_REQUIRE(math::isFinite(target), "the target of a vertex must be finite [m]", soft,
                  vertex);
  std::vector<model::DrivenVertex>& driven = impl_->control.drivenVertices;
  const auto at = std::lower_bound(driven.begin(), driven.end(), std::pair{soft, vertex},
                                   [](const model::DrivenVertex& a, const std::pair<int, int>& b) {
                                     return std::pair{a.soft, a.vertex} < b;
                                   });
  if (at != driven.end() && at->soft == soft && at->vertex == vertex)
    at->target = target;
  else
    driven.insert(at, {.soft = soft, .vertex = vertex, .target = target});
}

void Simulator::releaseVertex(int soft, int vertex) {
  impl_->requireVertex(soft, vertex);
  std::erase_if(impl_->control.drivenVertices, [&](const model::DrivenVertex& driven) {
    return driven.soft == soft && driven.vertex == vertex;
  });
}

std::vector<VertexTarget> Simulator::vertexTargets() const {
  std::vector<VertexTarget> out;
  for (const model::DrivenVertex& driven : impl_->control.drivenVertices)
    out.push_back({.soft = driven.soft, .vertex = driven.vertex, .target = driven.target});
  return out;
}

void Simulator::applySoftForce(int soft, int vertex, const Vec3& force) {
  impl_->requireVertex(soft, vertex);
  TANGERE_REQUIRE(math::isFinite(force), "force must be finite [N]", soft, vertex);
  std::vector<Vec3>& forces = impl_->control.softForce;
  forces.resize(impl_->state.softPosition.size());
  forces[static_cast<std::size_t>(impl_->model.firstVertexOf(soft) + vertex)] += force;
  impl_->hasForces = true;
}

std::vector<Mat3> Simulator::softStress(int soft) const {
  impl_->requireSoft(soft);
  const model::SoftMesh& mesh = impl_->model.data().softs[soft].elastic;
  std::vector<Mat3> out(mesh.tets.size());
  dynamics::tetStresses(mesh, softPositions(soft).data(), impl_->ws.pool.get(), out.data());
  return out;
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

std::string_view stepStatusName(StepStatus bit) {
  switch (bit) {
    case StepStatus::Ok:
      return "Ok";
    case StepStatus::SolverNotConverged:
      return "SolverNotConverged";
    case StepStatus::StateNotFinite:
      return "StateNotFinite";
    case StepStatus::EnergyInjected:
      return "EnergyInjected";
    case StepStatus::QueryNotConverged:
      return "QueryNotConverged";
    case StepStatus::ImpactsCut:
      return "ImpactsCut";
    case StepStatus::HandlerRefused:
      return "HandlerRefused";
    case StepStatus::ElementsInverted:
      return "ElementsInverted";
    case StepStatus::StepDivided:
      return "StepDivided";
    case StepStatus::IntegratorFailed:
      return "IntegratorFailed";
    case StepStatus::TooManyContacts:
      return "TooManyContacts";
    case StepStatus::MayHaveCrossed:
      return "MayHaveCrossed";
    case StepStatus::Interrupted:
      return "Interrupted";
  }
  return "Unknown";
}

std::string describe(const StepReport& report, const Model& model, std::uint64_t step) {
  if (report.status == StepStatus::Ok) return "";
  std::string text = "step " + std::to_string(step) + ":";
  for (std::uint32_t bit = 1; bit != 0; bit <<= 1) {
    if (has(report.status, static_cast<StepStatus>(bit))) {
      text += " ";
      text += stepStatusName(static_cast<StepStatus>(bit));
    }
  }
  if (report.body1 >= 0) {
    text += report.body2 >= 0 ? " between '" : " of '";
    text += model.bodyName(report.body1);
    text += "'";
  }
  if (report.body2 >= 0) {
    text += " and '";
    text += model.bodyName(report.body2);
    text += "'";
  }
  if (report.soft >= 0) {
    text += report.body1 >= 0 ? ", soft body '" : " of soft body '";
    text += model.softBodyName(report.soft);
    text += "'";
  }
  if (has(report.status, StepStatus::TooManyContacts)) {
    text += ": " + std::to_string(report.contactsNeeded) + " contacts" +
            (report.isLimitOfAll ? ", most of them of kind '" : " of kind '") +
            contactKindName(report.contactKind) + "', the limit is " +
            std::to_string(report.contactLimit);
  }
  return text;
}

}  // namespace tangere
