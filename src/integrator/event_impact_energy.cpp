// SPDX-License-Identifier: Apache-2.0
//
// No impact adds energy: what friction, restitution or sweeps that did not end would add is taken
// back.
#include "integrator/event_impacts.hpp"

#include "math/share_without_gain.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::integrator {

namespace {

/// Energy that rounding may add, relative to what the impulses turn over.
constexpr Real kRounding = 1e-12;

}  // namespace

/// What the impulses do: their mean with the velocities before and after.
Real EventImpacts::energyGain() const {
  Real gain = 0;
  for (const Point& point : points_) gain += dot(point.impulse, point.before + point.after) / 2;
  return gain;
}

/// Newton's restitution with friction may add energy (Kane's example). Without friction it does
/// not: so friction gives way, as far as it must. Where coefficients differ restitution alone may
/// add some: impulses without any never do.
void EventImpacts::limitEnergy() {
  if (!isGaining()) return;
  bounce_.clear();
  for (const Point& point : points_) bounce_.push_back(point.impulse);
  if (!solveAnew(Changed::WithoutFriction)) (void)solveAnew(Changed::WithoutRestitution);
  moveTowardsBounce();
}

/// Beyond what rounding adds.
bool EventImpacts::isGaining() const {
  Real turnover = 0;
  for (const Point& point : points_) turnover += std::fabs(dot(point.impulse, point.before));
  return energyGain() > kRounding * turnover;
}

/// False where it does not converge, or adds energy.
bool EventImpacts::solveAnew(Changed what) {
  std::vector<Real> friction;
  for (Point& point : points_) {
    friction.push_back(point.friction);
    point.impulse = {};
    if (what == Changed::WithoutFriction) point.friction = 0;
    if (what == Changed::WithoutRestitution) point.target = 0;
  }
  std::fill(change_.begin(), change_.end(), Real(0));
  const bool isConverged = iterate();
  for (std::size_t p = 0; p < points_.size(); ++p) points_[p].friction = friction[p];
  return isConverged && !isGaining();
}

/// From impulses that add no energy to those of bounce_, as far as it goes without. Both are in the
/// friction cones; where both reach their targets, so does all between them.
void EventImpacts::moveTowardsBounce() {
  steps_.clear();
  for (std::size_t p = 0; p < points_.size(); ++p)
    steps_.push_back(bounce_[p] - points_[p].impulse);
  // With the impulses p + s d the gain is w + s b + s^2 c.
  const Real w = energyGain();
  Real b = 0, c = 0;
  std::vector<Vec3> rest;
  for (const Point& point : points_) rest.push_back(point.after);
  const std::vector<Real> change = change_;
  move(steps_, 1);
  measureAfter();
  for (std::size_t p = 0; p < points_.size(); ++p) {
    b += dot(steps_[p], rest[p]);
    c += dot(steps_[p], points_[p].after - rest[p]) / 2;
  }
  const Real share = shareWithoutGain(w, b, c);
  for (std::size_t k = 0; k < change_.size(); ++k)
    change_[k] = change[k] + share * (change_[k] - change[k]);
  for (std::size_t p = 0; p < points_.size(); ++p) points_[p].impulse -= steps_[p] * (1 - share);
  measureAfter();
}

/// Impulses that did not get to their end may add energy: less of them does not.
void EventImpacts::weaken() {
  Real b = 0, c = 0;  // the gain is s b + s^2 c with the share s of the impulses
  for (const Point& point : points_) {
    b += dot(point.impulse, point.before);
    c += dot(point.impulse, point.after - point.before) / 2;
  }
  if (!(b + c > 0)) return;
  const Real share = b < 0 ? -b / c : Real(0);
  for (Point& point : points_) point.impulse = point.impulse * share;
  for (Real& velocity : change_) velocity *= share;
  measureAfter();
}

}  // namespace tangere::integrator
