// SPDX-License-Identifier: Apache-2.0
//
// Contacts at a motion: where their points are, what they press, and what moves there.
#include "integrator/event_state.hpp"

#include "integrator/kernels/elastic_force_law.hpp"
#include "math/transform.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::integrator {

namespace {

/// Points whose features are new and that are at most this part of the size of the pair away from
/// one that touches are that one: a corner that has passed an edge.
constexpr Real kSamePlace = 1e-3;
/// The entry of EventContact::touching that a point is, or -1.
int findTouching(const EventContact& contact, const EventPoint& point, const Transform& X_W1,
                 const Transform& X_W2) {
  const auto count = static_cast<int>(contact.touching.size());
  for (int k = 0; k < count; ++k) {
    const TouchingPoint& known = contact.touching[static_cast<std::size_t>(k)];
    if (known.feature1 == point.feature1 && known.feature2 == point.feature2) return k;
  }
  if (count == 0) return -1;
  const Vec3 p_1 = inverseTimes(X_W1, point.position), p_2 = inverseTimes(X_W2, point.position);
  Real least = kSamePlace * kSamePlace * contact.size * contact.size;
  int nearest = -1;
  for (int k = 0; k < count; ++k) {
    const TouchingPoint& known = contact.touching[static_cast<std::size_t>(k)];
    const Real away = std::min(squaredNorm(p_1 - known.p_1), squaredNorm(p_2 - known.p_2));
    if (away > least || (nearest >= 0 && away == least)) continue;
    least = away;
    nearest = k;
  }
  return nearest;
}

}  // namespace

void EventState::locate(EventContact& contact, PairDistance* out, Real* eps) {
  const Transform &X_W1 = shapePose(contact.shape1), &X_W2 = shapePose(contact.shape2);
  evaluatePair(*model_.shapes[contact.shape1].shape, X_W1, *model_.shapes[contact.shape2].shape,
               X_W2, out, &contact.hint);
  limitCounts(out);
  *eps = contactEps(X_W1, X_W2);
  if (!contact.hasPoints) return;
  for (int i = 0; i < out->numPoints; ++i) {
    EventPoint& point = out->points[static_cast<std::size_t>(i)];
    point.touching = findTouching(contact, point, X_W1, X_W2);
  }
}

ContactLaw EventState::lawAt(const EventContact& contact, const EventPoint& point) {
  ContactLaw law = contact.law;
  if (point.touching >= 0)
    contact.touching[static_cast<std::size_t>(point.touching)].giveDamping(&law);
  return law;
}

ContactSample EventState::sample(const EventContact& contact, const EventPoint& point,
                                 Real eps) const {
  ContactSample out{.point = point};
  const Vec3& p = point.position;
  out.motion.depth = -forceDistance(point.distance, eps);
  out.motion.normal = point.normal;
  out.motion.relativeVelocity = pointVelocity(contact.body1, p) - pointVelocity(contact.body2, p);
  out.motion.rate = -dot(point.normal, out.motion.relativeVelocity);
  out.motion.relativeSpin = angularVelocity(contact.body1) - angularVelocity(contact.body2);
  out.motion.effectiveMass = contact.effectiveMass;
  out.motion.share = point.share;
  out.motion.weight = point.weight;
  out.motion.count = point.count;
  if (!contact.hasPoints) {
    out.force = evaluateForce(contact.law, out.motion);
  } else {
    out.force = evaluateForce(lawAt(contact, point), out.motion);
    if (point.touching < 0) out.force = {.tensionSignal = out.force.tensionSignal};
  }
  return out;
}

void EventState::measureLoad(const PairDistance& at, Real eps, const ContactSample& deepest,
                             EventContact* contact) const {
  ContactLoad& load = contact->load;
  if (contact->law.kind != ContactLaw::Kind::Foundation) {
    load = {};
    for (int i = 0; i < at.numPoints; ++i) {
      const EventPoint& point = at.points[static_cast<std::size_t>(i)];
      if (!isPressed(*contact, point, eps)) continue;
      load.addPoint(point.position, point.normal,
                    i == 0 ? deepest.force : sample(*contact, point, eps).force);
    }
  }
  load.position = deepest.point.position;
  load.axis = deepest.point.normal;
  load.depth = deepest.motion.depth;
}

Real EventState::tensionOf(const EventContact& contact, const PairDistance& at, Real eps,
                           const ContactSample& deepest) const {
  Real most = -kUnlimited;
  if (contact.hasPoints) {
    for (int i = 0; i < at.numPoints; ++i) {
      const EventPoint& point = at.points[static_cast<std::size_t>(i)];
      if (point.touching >= 0)
        most = std::max(most, sample(contact, point, eps).force.tensionSignal);
    }
  }
  return most > -kUnlimited ? most : deepest.force.tensionSignal;
}

FoundationForce EventState::foundation(EventContact& contact) const {
  PairMotion motion;
  motion.X_W1 = shapePose(contact.shape1);
  motion.X_W2 = shapePose(contact.shape2);
  motion.velocity1 = pointVelocity(contact.body1, motion.X_W1.translation);
  motion.velocity2 = pointVelocity(contact.body2, motion.X_W2.translation);
  motion.spin1 = angularVelocity(contact.body1);
  motion.spin2 = angularVelocity(contact.body2);
  FoundationForce out;
  evaluateFoundation(model_, contact.shape1, contact.shape2, contact.law, motion, &contact.polygons,
                     &out);
  return out;
}

void EventState::addContactForces(Real* tau) {
  slopes_.clear();
  for (EventContact& contact : contacts) {
    if (!budget_.mayGoOn()) return;
    if (contact.law.isObserver()) continue;
    const Real friction = contact.mobility > 0 ? contact.law.friction : Real(0);
    const auto apply = [&](const ContactSample& s) {
      const Vec3& p = s.point.position;
      if (contact.link1 >= 0) addWrench(contact.link1, p, s.force.force, s.force.torque, tau);
      if (contact.link2 >= 0) addWrench(contact.link2, p, -s.force.force, -s.force.torque, tau);
      addPower(contact, s);
      if (friction == 0) return;
      const Vec3 slip = kernel::tangentialPart(s.motion.relativeVelocity, s.point.normal);
      const Real speed = norm(slip);
      slopes_.push_back(
          {friction * s.force.normalForce / kernel::regularizedSize(speed, contact.law.smallSpeed),
           contact.mobility, slip, speed > contact.law.smallSpeed,
           contact.law.kind == ContactLaw::Kind::Foundation
               ? -1
               : static_cast<int>(&contact - contacts.data()),
           p});
    };
    if (contact.law.kind == ContactLaw::Kind::Foundation) {
      const ContactSample sum = sampleOf(contact, foundation(contact));
      contact.load = {};
      contact.load.addPoint(sum.point.position, sum.point.normal, sum.force);
      apply(sum);
      continue;
    }
    Real eps = 0;
    locate(contact, &distance_, &eps);
    for (int i = 0; i < distance_.numPoints; ++i) {
      const EventPoint& point = distance_.points[static_cast<std::size_t>(i)];
      if (isPressed(contact, point, eps)) apply(sample(contact, point, eps));
    }
  }
  if (drives_.isEmpty()) return;
  DrivePowers powers;
  drives_.addStiffForces(*this, tau, &powers);
  addDrivePowers(powers);
  for (const EventDrives::DryFriction& dry : drives_.dryFrictions()) {
    const Real slip = drives_.slipOf(dry, *this), speed = std::fabs(slip);
    const Real slope = dry.size / kernel::regularizedSize(speed, model_.options.event.slipSpeed);
    slopes_.push_back(
        {slope, drives_.mobilityOf(dry), {slip, 0, 0}, speed > model_.options.event.slipSpeed});
  }
}

ContactSample EventState::sampleOf(const EventContact& contact,
                                   const FoundationForce& force) const {
  ContactSample out;
  out.point.position = force.position;
  out.point.normal = force.normal;
  out.point.distance = -force.depth;
  out.motion.depth = force.depth;
  out.motion.rate = force.rate;
  out.motion.normal = force.normal;
  out.motion.relativeVelocity =
      pointVelocity(contact.body1, force.position) - pointVelocity(contact.body2, force.position);
  out.motion.relativeSpin = angularVelocity(contact.body1) - angularVelocity(contact.body2);
  out.force.force = force.force;
  out.force.torque = force.torque;
  out.force.normalForce = force.normalForce;
  return out;
}

void EventState::addPower(const EventContact& contact, const ContactSample& s) {
  const Real normal = s.force.normalForce * dot(s.point.normal, s.motion.relativeVelocity);
  const Real all =
      dot(s.force.force, s.motion.relativeVelocity) + dot(s.force.torque, s.motion.relativeSpin);
  row(powers_, PowerRow::ContactNormal) += normal;
  row(powers_, PowerRow::ContactFriction) += all - normal;
  const auto told = [&](int body) {
    return dot(s.force.force, pointVelocity(body, s.point.position)) +
           dot(s.force.torque, angularVelocity(body));
  };
  if (told_.empty()) return;
  // Forces between bodies work on their relative motion; what is told to move adds the rest.
  if (contact.link1 < 0) row(powers_, PowerRow::Kinematic) -= told(contact.body1);
  if (contact.link2 < 0) row(powers_, PowerRow::Kinematic) += told(contact.body2);
}

Real EventState::mobility(const EventContact& contact, const Vec3& p_W, const Vec3& direction) {
  factorMasses();
  std::fill(scratch_.begin(), scratch_.end(), Real(0));
  Real* row = scratch_.data();
  Real* solved = scratch_.data() + trees_.dofs.size();
  if (contact.link1 >= 0) addWrench(contact.link1, p_W, direction, {}, row);
  if (contact.link2 >= 0) addWrench(contact.link2, p_W, -direction, {}, row);
  std::copy_n(row, trees_.dofs.size(), solved);
  applyInverseMass(solved);
  Real sum = 0;
  for (std::size_t k = 0; k < trees_.dofs.size(); ++k) sum += row[k] * solved[k];
  return sum;
}

Real EventState::accelerationAlong(const EventContact& contact, const Vec3& p_W,
                                   const Vec3& direction, const Real* yDot) {
  Real* row = scratch_.data();
  std::fill_n(row, trees_.dofs.size(), Real(0));
  if (contact.link1 >= 0) addWrench(contact.link1, p_W, direction, {}, row);
  if (contact.link2 >= 0) addWrench(contact.link2, p_W, -direction, {}, row);
  // J^T n times the accelerations, those of free turns in world axes.
  for (const FreeTurn& turn : free_turns_) {
    Real* at = row + turn.dof;
    const Vec3 world = rotationOf(turn) * Vec3{at[0], at[1], at[2]};
    at[0] = world.x, at[1] = world.y, at[2] = world.z;
  }
  Real sum = 0;
  const Real* a = yDot + num_q_;
  for (std::size_t k = 0; k < trees_.dofs.size(); ++k) sum += row[k] * a[trees_.dofs[k].v];
  return sum;
}

}  // namespace tangere::integrator
