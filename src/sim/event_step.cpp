// SPDX-License-Identifier: Apache-2.0
#include "sim/event_step.hpp"

#include "math/transform.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::sim {

using integrator::ContactSample;
using integrator::EventContact;
using integrator::PowerRow;

namespace {

/// At the centre of the normal impulses.
ContactForce meanForce(const integrator::PairImpulse& pair, Real elapsed) {
  const integrator::ContactLoad& sum = pair.sum;
  const bool isPressed = sum.normalForce > 0;
  const Vec3 position = isPressed ? sum.center / sum.normalForce : sum.position;
  const Real length = norm(sum.normal);
  return {.body1 = pair.body1,
          .body2 = pair.body2,
          .shape1 = pair.shape1,
          .shape2 = pair.shape2,
          .id = pair.id,
          .position = position,
          .normal = isPressed && length > 0 ? sum.normal / length : sum.axis,
          .depth = sum.depth,
          .force = sum.force / elapsed,
          .torque = (sum.moment - cross(position, sum.force)) / elapsed};
}

}  // namespace

EventStep::EventStep(const model::ModelData& model, const model::Control& control)
    : model_(model), control_(control), integrator_(model, control) {
  is_scheduled_.assign(model.actuators.size(), 0);
  for (const model::ModelSchedule& schedule : model.schedules) is_scheduled_[schedule.actuator] = 1;
  y_.resize(static_cast<std::size_t>(integrator_.state().size()));
  y_dot_.resize(y_.size());
}

void EventStep::advance(Real target, State& state, model::Workspace& ws) {
  ws.report = {};
  ws.areContactsListed = false;
  noticeControl();
  const Energy before = measureEnergy(state);
  const integrator::Powers workBefore = integrator_.work();
  const std::int64_t stepsBefore = integrator_.statistics().numSteps;
  const integrator::AdvanceReport advanced = integrator_.advance(target, state);
  ws.report.status = advanced.status;
  ws.report.body1 = advanced.body1;
  ws.report.body2 = advanced.body2;
  ws.report.numImpacts = advanced.numImpacts;
  ws.report.memoryNeeded = advanced.memoryNeeded;
  const EventStatistics now = integrator_.statistics();
  ws.report.iterations = static_cast<int>(now.numSteps - stepsBefore);
  statistics_ = {.numSteps = now.numSteps - statistics_before_.numSteps,
                 .numDerivatives = now.numDerivatives - statistics_before_.numDerivatives,
                 .numJacobians = now.numJacobians - statistics_before_.numJacobians,
                 .numZeroCrossings = now.numZeroCrossings - statistics_before_.numZeroCrossings,
                 .numRestarts = now.numRestarts - statistics_before_.numRestarts,
                 .numEvents = now.numEvents - statistics_before_.numEvents};
  if (isRefused(advanced.status)) return;

  ++state.step;
  const integrator::Powers& work = integrator_.work();
  const auto did = [&](PowerRow row) {
    const auto i = static_cast<std::size_t>(row);
    return work[i] - workBefore[i];
  };
  const Energy after = measureEnergy(state);
  EnergyLedger& ledger = ws.ledger;
  ledger = {};
  ledger.kinetic = after.kinetic;
  ledger.potential = after.potential;
  ledger.external = did(PowerRow::External);
  ledger.damping = did(PowerRow::Damping);
  ledger.correction = integrator_.takeOverlapEnergy();
  ledger.contactNormal = did(PowerRow::ContactNormal) - ledger.correction;
  ledger.contactFriction = did(PowerRow::ContactFriction);
  ledger.kinematic = did(PowerRow::Kinematic);
  ledger.constraint = did(PowerRow::Constraint);
  ledger.residual =
      after.kinetic + after.potential - before.kinetic - before.potential -
      (ledger.external + ledger.damping + ledger.contactNormal + ledger.contactFriction +
       ledger.kinematic + ledger.constraint + ledger.correction);
  forEachPoint(state, [&](const EventContact&, const ContactSample& sample) {
    ++ws.report.numContacts;
    ws.report.maxDepth = std::max(ws.report.maxDepth, sample.motion.depth);
  });
}

/// Another force or control is a jump: the integration starts anew from where it is.
void EventStep::noticeControl() {
  bool isSame = control_.force == last_.force && control_.torque == last_.torque &&
                control_.jointForce == last_.jointForce &&
                control_.control.size() == last_.control.size();
  for (std::size_t i = 0; isSame && i < control_.control.size(); ++i)
    isSame = is_scheduled_[i] != 0 || control_.control[i] == last_.control[i];
  if (isSame) return;
  last_ = control_;
  integrator_.forget();
}

void EventStep::resetStatistics() {
  statistics_before_ = integrator_.statistics();
  statistics_ = {};
}

EventStep::Energy EventStep::measureEnergy(const State& state) {
  integrator::EventState& bodies = integrator_.state();
  bodies.readFrom(state, y_.data());
  bodies.setMotion(state.time, y_.data());
  Energy sum;
  for (int tree = 0; tree < bodies.trees().numTrees(); ++tree) {
    sum.kinetic += dynamics::treeKineticEnergy(bodies.trees(), tree);
    sum.potential += dynamics::treePotentialEnergy(bodies.trees(), tree, model_.options.gravity,
                                                   bodies.positions());
  }
  return sum;
}

void EventStep::readEnergy(const State& state, EnergyLedger* ledger) {
  const Energy now = measureEnergy(state);
  *ledger = {.kinetic = now.kinetic, .potential = now.potential};
}

template <class Visit>
void EventStep::forEachPoint(const State& state, const Visit& visit) {
  integrator::EventState& bodies = integrator_.state();
  integrator_.ensureStarted(state);
  if (bodies.contacts.empty()) return;
  bodies.readFrom(state, y_.data());
  bodies.setMotion(state.time, y_.data());
  for (EventContact& contact : bodies.contacts) {
    if (contact.law.kind == integrator::ContactLaw::Kind::Foundation) {
      visit(contact, bodies.sampleOf(contact, bodies.foundation(contact)));
      continue;
    }
    Real eps = 0;
    const PairCache hint = contact.hint;  // the integration goes on as if nobody had looked
    bodies.locate(contact, &distance_, &eps);
    contact.hint = hint;
    for (int i = 0; i < distance_.numPoints; ++i) {
      const integrator::EventPoint& point = distance_.points[static_cast<std::size_t>(i)];
      if (bodies.isPressed(contact, point, eps) || i == 0)
        visit(contact, bodies.sample(contact, point, eps));
    }
  }
}

void EventStep::listContacts(const State& state, std::vector<ContactForce>* out) {
  out->clear();
  constexpr int kBitsOfIndex = 8;
  if (const integrator::ContactImpulses* impulses = integrator_.impulsesUntil(state.time)) {
    for (const integrator::PairImpulse& pair : impulses->pairs()) {
      out->push_back(meanForce(pair, impulses->elapsed()));
      out->back().id <<= kBitsOfIndex;
    }
    return;
  }
  std::uint64_t last = 0, index = 0;
  forEachPoint(state, [&](const EventContact& contact, const ContactSample& sample) {
    index = contact.id == last ? index + 1 : 0;
    last = contact.id;
    out->push_back({.body1 = contact.body1,
                    .body2 = contact.body2,
                    .shape1 = contact.shape1,
                    .shape2 = contact.shape2,
                    .id = (contact.id << kBitsOfIndex) | index,
                    .position = sample.point.position,
                    .normal = sample.point.normal,
                    .depth = sample.motion.depth,
                    .force = sample.force.force,
                    .torque = sample.force.torque});
  });
}

const InstantReadings& EventStep::read(const State& state) {
  integrator::EventState& bodies = integrator_.state();
  integrator::EventDrives& drives = bodies.drives();
  integrator_.ensureStarted(state);
  readings_.ofBody.assign(model_.bodies.size(), {});
  for (std::size_t i = 0; i < model_.bodies.size(); ++i)
    readings_.ofBody[i] = {control_.force[i], control_.torque[i]};
  forEachPoint(state, [&](const EventContact& contact, const ContactSample& sample) {
    const auto add = [&](int body, const Vec3& force, const Vec3& torque) {
      dynamics::LinkWrench& wrench = readings_.ofBody[static_cast<std::size_t>(body)];
      wrench.force += force;
      wrench.torque += torque + cross(sample.point.position - state.center[body], force);
    };
    add(contact.body1, sample.force.force, sample.force.torque);
    add(contact.body2, -sample.force.force, -sample.force.torque);
  });
  bodies.readFrom(state, y_.data());
  (void)bodies.derivative(state.time, y_.data(), y_dot_.data());  // not finite: so they read
  const auto copy = [](std::span<const Real> from, std::vector<Real>* to) {
    to->assign(from.begin(), from.end());
  };
  copy(bodies.accelerations(), &readings_.accelerations);
  copy(drives.actuatorForces(), &readings_.actuatorForces);
  copy(drives.actuatorTau(), &readings_.actuatorTau);
  readings_.limitForces.assign(model_.joints.size(), 0);
  integrator::SparseRow row;
  for (std::size_t i = 0; i < drives.limits.size(); ++i) {
    if (drives.isLimitActive[i] == 0 || drives.limits[i].joint < 0) continue;
    drives.rowOf(i, bodies, &row);
    Real rate = 0;
    for (std::size_t k = 0; k < row.dof.size(); ++k)
      rate += row.entry[k] * bodies.trees().rate[static_cast<std::size_t>(row.dof[k])];
    readings_.limitForces[model_.treeJoints[drives.limits[i].joint].joint] +=
        std::fabs(drives.limitForce(i, drives.gapOf(i, bodies), rate).force);
  }
  return readings_;
}

std::vector<ContactResult> EventStep::contactResults(const State& state, int frameBody) {
  std::vector<ContactResult> out;
  forEachPoint(state, [&](const EventContact& contact, const ContactSample& sample) {
    const Transform X_WF = frameBody < 0 ? Transform{} : integrator_.state().bodyPose(frameBody);
    const Vec3& n = sample.point.normal;
    const Vec3 sliding =
        sample.motion.relativeVelocity - n * dot(n, sample.motion.relativeVelocity);
    const Vec3 friction = sample.force.force - n * dot(n, sample.force.force);
    out.push_back(
        {.body1 = contact.body1,
         .body2 = contact.body2,
         .shape1 = contact.shape1,
         .shape2 = contact.shape2,
         .penetration = sample.motion.depth,
         .penetrationRate = sample.motion.rate,
         .tangentialSpeed = norm(sliding),
         .angularSpeed = norm(sample.motion.relativeSpin),
         .normalForce = sample.force.normalForce,
         .tangentialForce = norm(friction),
         .torqueSize = norm(sample.force.torque),
         .position = transposeTimes(X_WF.rotation, sample.point.position - X_WF.translation),
         .normal = transposeTimes(X_WF.rotation, n),
         .force = transposeTimes(X_WF.rotation, sample.force.force),
         .torque = transposeTimes(X_WF.rotation, sample.force.torque)});
  });
  return out;
}

}  // namespace tangere::sim
