// SPDX-License-Identifier: Apache-2.0
#include "integrator/event_impacts.hpp"

#include "math/contact_frame.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::integrator {

namespace {

constexpr int kMaxSweeps = 10000;
/// Sweeps end when no velocity changes by more than this part of the approach.
constexpr Real kTolerance = 1e-14;
/// Points that are this part of the size of a pair apart from the deepest take part in an impact:
/// a box that lands flat hits with all corners though rounding lifts one of them [m].
constexpr Real kTogether = 1e-9;
/// A bounce counts that gets this many times as high as positions are uncertain.
constexpr Real kSeen = 30;

}  // namespace

EventImpacts::EventImpacts(EventState& state) : state_(state) {
  change_.resize(state.model().dofs.size());
  rate_.resize(static_cast<std::size_t>(state.size()));
}

ImpactOutcome EventImpacts::resolveNext(Real t, Real* y, bool isInelastic) {
  ImpactOutcome out;
  for (std::size_t i = 0; i < state_.contacts.size(); ++i) {
    EventContact& contact = state_.contacts[i];
    if (!contact.law.isRigid() || (contact.link1 < 0 && contact.link2 < 0)) continue;
    const Real speed = approachSpeed(contact);
    if (speed <= contact.law.impactSpeed || speed <= out.approachSpeed) continue;
    out.contact = static_cast<int>(i);
    out.approachSpeed = speed;
  }
  if (out.contact < 0) return out;
  EventContact& contact = state_.contacts[static_cast<std::size_t>(out.contact)];
  const bool isBounce = !isInelastic && contact.law.restitution > 0 &&
                        isBounceSeen(t, y, contact, contact.law.restitution * out.approachSpeed);
  gatherPoints(contact, !isBounce);
  buildMatrix(contact);
  out.isConverged = iterate(contact.law.friction);
  apply(contact, t, y, &out);
  return out;
}

Real EventImpacts::approachSpeed(EventContact& contact) {
  Real eps = 0, fastest = 0;
  state_.locate(contact, &distance_, &eps);
  for (int i = 0; i < distance_.numPoints; ++i) {
    const EventPoint& point = distance_.points[static_cast<std::size_t>(i)];
    if (point.distance > distance_.distance + kTogether) continue;
    fastest = std::max(fastest, state_.sample(contact, point, eps).motion.rate);
  }
  return fastest;
}

Real EventImpacts::separationSpeed(EventContact& contact) {
  Real eps = 0, slowest = kUnlimited;
  state_.locate(contact, &distance_, &eps);
  for (int i = 0; i < distance_.numPoints; ++i) {
    const EventPoint& point = distance_.points[static_cast<std::size_t>(i)];
    if (point.distance > distance_.distance + kTogether) continue;
    slowest = std::min(slowest, -state_.sample(contact, point, eps).motion.rate);
  }
  return slowest;
}

/// Thrown apart at `speed`, what brings the two together again gives a parabola of this height.
bool EventImpacts::isBounceSeen(Real t, const Real* y, EventContact& contact, Real speed) {
  Real eps = 0;
  state_.locate(contact, &distance_, &eps);
  const EventPoint point = distance_.points[0];
  const ContactLaw::Kind kind = contact.law.kind;
  contact.law.kind = ContactLaw::Kind::Observer;  // after the impact it does not press
  const bool isFinite = state_.derivative(t, y, rate_.data());
  contact.law.kind = kind;
  if (!isFinite) return true;
  std::fill(change_.begin(), change_.end(), Real(0));
  if (contact.link1 >= 0)
    state_.addWrench(contact.link1, point.position, point.normal, {}, change_.data());
  if (contact.link2 >= 0)
    state_.addWrench(contact.link2, point.position, -point.normal, {}, change_.data());
  // J^T n times the accelerations, those of free turns in world axes.
  for (const EventState::FreeTurn& turn : state_.freeTurns()) {
    Real* at = change_.data() + turn.dof;
    const Vec3 world = state_.rotationOf(turn) * Vec3{at[0], at[1], at[2]};
    at[0] = world.x, at[1] = world.y, at[2] = world.z;
  }
  Real acceleration = 0;
  const Real* a = rate_.data() + state_.numPositions();
  for (std::size_t k = 0; k < change_.size(); ++k)
    acceleration += change_[k] * a[state_.trees().dofs[k].v];
  if (!(acceleration < 0)) return true;
  const EventOptions& options = state_.model().options.event;
  Real farthest = 0;
  for (int k = 0; k < 3; ++k) farthest = std::max(farthest, std::fabs(point.position[k]));
  const Real uncertainty = options.relativeTolerance * farthest + options.absoluteTolerance;
  return speed * speed > -2 * acceleration * kSeen * uncertainty;
}

void EventImpacts::gatherPoints(EventContact& contact, bool isInelastic) {
  Real eps = 0;
  state_.locate(contact, &distance_, &eps);
  points_.clear();
  const Real restitution = isInelastic ? Real(0) : contact.law.restitution;
  for (int i = 0; i < distance_.numPoints; ++i) {
    const EventPoint& at = distance_.points[static_cast<std::size_t>(i)];
    if (at.distance > distance_.distance + kTogether) continue;
    Point& point = points_.emplace_back();
    point.at = at;
    point.R_WC = math::contactFrame(at.normal);
    point.before = point.after =
        transposeTimes(point.R_WC, state_.sample(contact, at, eps).motion.relativeVelocity);
    point.target = restitution * std::max<Real>(-point.before.z, 0);
  }
}

void EventImpacts::buildMatrix(const EventContact& contact) {
  state_.factorMasses();
  const std::size_t n = state_.model().dofs.size();
  const std::size_t count = 3 * points_.size();
  rows_.assign(count * n, 0);
  for (std::size_t r = 0; r < count; ++r) {
    const Point& point = points_[r / 3];
    const Vec3 axis = point.R_WC.col[r % 3];
    Real* row = rows_.data() + r * n;
    if (contact.link1 >= 0) state_.addWrench(contact.link1, point.at.position, axis, {}, row);
    if (contact.link2 >= 0) state_.addWrench(contact.link2, point.at.position, -axis, {}, row);
  }
  solved_ = rows_;
  for (std::size_t r = 0; r < count; ++r) state_.applyInverseMass(solved_.data() + r * n);
  matrix_.assign(count * count, 0);
  for (std::size_t r = 0; r < count; ++r) {
    for (std::size_t c = 0; c <= r; ++c) {
      Real sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += rows_[r * n + k] * solved_[c * n + k];
      matrix_[r * count + c] = matrix_[c * count + r] = sum;
    }
  }
}

/// Gauss-Seidel: of each point the normal impulse, then friction on the disk it allows.
bool EventImpacts::iterate(Real friction) {
  const std::size_t count = 3 * points_.size();
  Real fastest = 0;
  for (const Point& point : points_) fastest = std::max(fastest, norm(point.before));
  const auto push = [&](std::size_t row, Real impulse) {
    for (std::size_t i = 0; i < count; ++i)
      points_[i / 3].after[static_cast<int>(i % 3)] += matrix_[i * count + row] * impulse;
  };
  for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
    Real change = 0;
    for (std::size_t p = 0; p < points_.size(); ++p) {
      Point& point = points_[p];
      const std::size_t row = 3 * p;
      const Real w = matrix_[(row + 2) * count + row + 2];
      if (w > 0) {
        const Real next = std::max<Real>(point.impulse.z + (point.target - point.after.z) / w, 0);
        const Real step = next - point.impulse.z;
        push(row + 2, step);
        point.impulse.z = next;
        change = std::max(change, w * std::fabs(step));
      }
      const Real wt = std::max(matrix_[row * count + row], matrix_[(row + 1) * count + row + 1]);
      if (!(friction > 0) || !(wt > 0)) continue;
      Real x = point.impulse.x - point.after.x / wt, y = point.impulse.y - point.after.y / wt;
      const Real size = std::sqrt(x * x + y * y), most = friction * point.impulse.z;
      if (size > most) {
        x *= most / size;
        y *= most / size;
      }
      const Real dx = x - point.impulse.x, dy = y - point.impulse.y;
      push(row, dx);
      push(row + 1, dy);
      point.impulse.x = x;
      point.impulse.y = y;
      change = std::max(change, wt * std::max(std::fabs(dx), std::fabs(dy)));
    }
    if (change <= kTolerance * fastest) return true;
  }
  return false;
}

void EventImpacts::apply(const EventContact& contact, Real t, Real* y, ImpactOutcome* out) {
  const std::size_t n = change_.size();
  std::fill(change_.begin(), change_.end(), Real(0));
  for (std::size_t p = 0; p < points_.size(); ++p) {
    const Point& point = points_[p];
    for (int i = 0; i < 3; ++i) {
      const Real* solved = solved_.data() + (3 * p + static_cast<std::size_t>(i)) * n;
      for (std::size_t k = 0; k < n; ++k) change_[k] += solved[k] * point.impulse[i];
    }
    const Vec3 mean = (point.before + point.after) * Real(0.5);
    out->normalWork += point.impulse.z * mean.z;
    out->frictionWork += point.impulse.x * mean.x + point.impulse.y * mean.y;
    const Vec3 impulse = point.R_WC * point.impulse;
    if (contact.link1 < 0)
      out->kinematicWork -= dot(impulse, state_.pointVelocity(contact.body1, point.at.position));
    if (contact.link2 < 0)
      out->kinematicWork += dot(impulse, state_.pointVelocity(contact.body2, point.at.position));
  }
  out->position = points_.front().at.position;
  out->normal = points_.front().at.normal;
  state_.addVelocities(change_.data(), y);
  state_.setMotion(t, y);
}

}  // namespace tangere::integrator
