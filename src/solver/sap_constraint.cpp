// SPDX-License-Identifier: Apache-2.0
#include "solver/sap_constraint.hpp"

#include "solver/kernels/regularization.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tangere::solver {
namespace {

/// Whether all are finite: NaN and infinity times zero are NaN.
template <class... Reals>
bool isFinite(Reals... values) {
  return ((0 * values) + ...) == 0;
}

bool isStiffness(Real k) { return k > 0; }  // false for NaN; infinity is one

int lastOf(std::size_t size) { return static_cast<int>(size) - 1; }

}  // namespace

void SapConstraints::clear() {
  cones_.clear();
  contact_facts_.clear();
  has_bounds_ = is_following_ = false;
  hunt_crossleys_.clear();
  rows_.clear();
  drives_.clear();
  users_.clear();
}

int SapConstraints::prepare(const SapOptions& options, const SapProblem& problem, int index,
                            const Real* delassus) {
  const SapConstraint& c = problem.constraints[index];
  softness_ = options.frictionSoftness;
  const Real dt = problem.dt;
  switch (c.kind) {
    case SapKind::Contact: {
      const SapContact& contact = problem.contacts[c.parameters];
      const Real w = kernel::delassusEstimate(delassus);
      if (!isFinite(w, contact.friction, contact.dissipationTime, contact.gap,
                    contact.heldImpulse[0], contact.heldImpulse[1]) ||
          !isStiffness(contact.stiffness) || contact.friction < 0 || contact.dissipationTime < 0) {
        return -1;
      }
      // Without inverse mass (all of J is zero) any R will do: the impulse moves nothing. One of a
      // unit mass keeps the numbers finite.
      const Real mass = w > 0 ? w : 1;
      cones_.push_back(kernel::makeFrictionCone(
          contact.friction, options.frictionRegularization * mass,
          kernel::rowRegularization(dt, contact.stiffness, contact.dissipationTime,
                                    options.nearRigid, mass),
          kernel::rowTargetVelocity(dt, contact.dissipationTime, contact.gap,
                                    options.friction == SapFriction::Coulomb)));
      const Real* const held = contact.heldImpulse;
      cones_.back().held[0] = held[0];
      cones_.back().held[1] = held[1];
      contact_facts_.push_back({.inverseMass = mass,
                                .inverseNormalMass = w > 0 ? delassus[8] : 1,
                                .held = {held[0], held[1]},
                                .heldSize = std::sqrt(held[0] * held[0] + held[1] * held[1])});
      const int parameters = lastOf(cones_.size());
      if (options.friction == SapFriction::Coulomb) {
        has_bounds_ = has_bounds_ || contact.friction > 0;
        setStartBound(parameters, problem.impulse[c.firstRow + 2]);
      }
      return parameters;
    }
    case SapKind::HuntCrossley: {
      const SapHuntCrossley& contact = problem.huntCrossleys[c.parameters];
      const Real w = kernel::delassusEstimate(delassus);
      if (!isFinite(w, contact.friction, contact.dissipation, contact.gap, contact.normalVelocity,
                    contact.slipSpeed) ||
          !isStiffness(contact.stiffness) || contact.friction < 0 || contact.dissipation < 0 ||
          !(contact.slipSpeed > 0)) {
        return -1;
      }
      const Real mass = w > 0 ? w : 1;
      const Real stiffest =
          1 / (dt * dt * kernel::nearRigidRegularization(options.nearRigid, mass));
      const Real k = std::min(contact.stiffness, stiffest);
      const Real force = -k * contact.gap;
      const Real lagged = dt * std::max(force, Real(0)) *
                          std::max(1 - contact.dissipation * contact.normalVelocity, Real(0));
      hunt_crossleys_.push_back(
          {.dt = dt,
           .mu = contact.friction,
           .stiffness = k,
           .dissipation = contact.dissipation,
           .elasticForce = force,
           .laggedImpulse = lagged,
           .slip = std::max(contact.slipSpeed,
                            contact.friction * options.frictionRegularization * mass * lagged),
           .isSimilar = contact.model == HuntCrossleyFriction::Similar});
      return lastOf(hunt_crossleys_.size());
    }
    case SapKind::Bilateral:
    case SapKind::Limit:
    case SapKind::Friction:
      return prepareRows(options, problem, c, delassus);
    case SapKind::Drive:
      return prepareDrive(options, problem, c, delassus);
    case SapKind::User: {
      SapUserConstraint* const user = problem.users[c.parameters];
      if (user == nullptr) return -1;
      user->prepare(dt, c.numRows, delassus);
      users_.push_back(user);
      return lastOf(users_.size());
    }
  }
  return -1;
}

bool SapConstraints::predictBound(int parameters, const Real* vc) {
  const kernel::FrictionCone<Real>& cone = cones_[parameters];
  const Real mass = contact_facts_[parameters].inverseNormalMass + cone.regularizationN;
  const Real predicted = std::max<Real>((cone.targetVelocity - vc[2]) / mass, 0);
  if (!(cone.mu * predicted > 0)) return false;
  setBound(parameters, cone.mu * predicted);
  return true;
}

Real SapConstraints::addBoundError(int parameters, const Real* vc, const Real* gamma,
                                   FrictionError* sum) const {
  kernel::FrictionCone<Real> cone = cones_[parameters];
  bindCone(contact_facts_[parameters], followingBound(parameters, gamma), &cone);
  const kernel::ConePoint<Real> point = kernel::projectImpulse(cone, vc, softness_);
  const Real d0 = point.gamma[0] - gamma[0], d1 = point.gamma[1] - gamma[1];
  const Real change = d0 * d0 + d1 * d1;
  const Real w = contact_facts_[parameters].inverseMass;
  sum->change += w * change;
  return change > 0 ? w : 0;
}

namespace {

/// The inverse mass that row i feels. Three rows make a vector: one along which nothing can move
/// feels only rounding, and is regularized like the others and not a billion times stiffer.
Real rowDelassus(const Real* delassus, int numRows, int i) {
  constexpr Real kLeastPart = 1e-3;
  constexpr Real kRounding = 1e-18;  // of velocities per impulse: no mass is that large [1/kg]
  const int first = numRows % 3 == 0 ? i / 3 * 3 : i;
  const int end = numRows % 3 == 0 ? first + 3 : i + 1;
  Real largest = 0;
  for (int k = first; k < end; ++k) largest = std::max(largest, delassus[k * numRows + k]);
  if (!(largest > kRounding)) return largest == largest ? 0 : largest;
  return std::max(delassus[i * numRows + i], kLeastPart * largest);
}

}  // namespace

int SapConstraints::prepareRows(const SapOptions& options, const SapProblem& problem,
                                const SapConstraint& c, const Real* delassus) {
  const int first = static_cast<int>(rows_.size());
  const Real dt = problem.dt;
  for (int i = 0; i < c.numRows; ++i) {
    // Row by row: those of a weld have different units.
    const Real w = rowDelassus(delassus, c.numRows, i);
    const Real target = problem.rowTarget[c.firstRow + i];
    if (!isFinite(w, target, problem.held[c.firstRow + i])) return -1;
    SapRow row;
    if (c.kind == SapKind::Friction) {
      if (target < 0) return -1;
      row.regularization = options.frictionRegularization * w;
      row.bound = dt * target;
      row.targetVelocity = row.regularization * problem.held[c.firstRow + i];
    } else {
      const SapCompliance& compliance = problem.compliances[c.parameters];
      if (!isStiffness(compliance.stiffness) || !std::isfinite(compliance.dissipationTime) ||
          compliance.dissipationTime < 0) {
        return -1;
      }
      row.regularization = kernel::rowRegularization(
          dt, compliance.stiffness, compliance.dissipationTime, options.nearRigidBilateral, w);
      row.targetVelocity = kernel::rowTargetVelocity(dt, compliance.dissipationTime, target,
                                                     c.kind == SapKind::Limit);
    }
    row.inverse = w > 0 && row.regularization > 0 ? 1 / row.regularization : 0;
    rows_.push_back(row);
  }
  return first;
}

int SapConstraints::prepareDrive(const SapOptions& options, const SapProblem& problem,
                                 const SapConstraint& c, const Real* delassus) {
  const SapDrive& drive = problem.drives[c.parameters];
  const Real dt = problem.dt;
  const Real error = drive.targetPosition - drive.position;
  if (!isFinite(delassus[0], drive.kp, drive.kd, error, drive.targetVelocity, drive.feedForward) ||
      drive.kp < 0 || drive.kd < 0 || !(drive.minEffort <= drive.maxEffort)) {
    return -1;
  }
  SapDriveRow row;
  row.slope = dt * (dt * drive.kp + drive.kd);
  // Gains that the step cannot resolve are lowered together, which keeps kd/kp.
  const Real nearRigid = kernel::nearRigidRegularization(options.nearRigidBilateral, delassus[0]);
  const Real ratio = nearRigid * row.slope;
  const Real scale = ratio > 1 ? 1 / ratio : 1;
  row.slope *= scale;
  row.inverse = row.slope > 0 ? 1 / row.slope : 0;
  row.offset =
      dt * (scale * (drive.kp * error + drive.kd * drive.targetVelocity) + drive.feedForward);
  row.low = dt * drive.minEffort;
  row.high = dt * drive.maxEffort;
  drives_.push_back(row);
  return lastOf(drives_.size());
}

Real SapConstraints::evaluateUser(int numRows, int parameters, const Real* vc, Real* gamma,
                                  Real* hessian) const {
  Real full[kSapMaxRows * kSapMaxRows];
  const Real cost = users_[parameters]->evaluate(numRows, vc, gamma, full);
  for (int i = 0; i < numRows; ++i) {
    for (int k = 0; k <= i; ++k) *hessian++ = full[i * numRows + k];
  }
  return cost;
}

void SapConstraints::lipschitz(SapKind kind, int numRows, int parameters, const Real* vc,
                               const Real* hessian, Real* bound, Real* reach) const {
  for (int i = 0; i < numRows; ++i) bound[i] = reach[i] = 0;
  switch (kind) {
    case SapKind::Contact: {
      // The projection does not lengthen in the norm of R.
      const kernel::FrictionCone<Real>& cone = cones_[parameters];
      bound[0] = bound[1] = std::sqrt(cone.inverseT);
      bound[2] = std::sqrt(cone.inverseN);
      for (int i = 0; i < 2; ++i) reach[i] = cone.regularizationT * std::abs(cone.held[i]);
      // Sliding adds mu R_t/R_n |y_t| to y_n, which may cancel.
      reach[2] = std::abs(cone.targetVelocity) +
                 cone.mu * (std::abs(vc[0]) + reach[0] + std::abs(vc[1]) + reach[1]);
      return;
    }
    case SapKind::Bilateral:
    case SapKind::Limit:
    case SapKind::Friction:
      for (int i = 0; i < numRows; ++i) {
        bound[i] = std::sqrt(rows_[parameters + i].inverse);
        reach[i] = std::abs(rows_[parameters + i].targetVelocity);
      }
      return;
    case SapKind::Drive:
      bound[0] = std::sqrt(drives_[parameters].slope);
      reach[0] = std::abs(drives_[parameters].offset * drives_[parameters].inverse);
      return;
    case SapKind::HuntCrossley: {
      // n is a product of two factors that are linear where they are positive.
      const kernel::HuntCrossley<Real>& c = hunt_crossleys_[parameters];
      const Real v = std::abs(vc[2]) + c.mu * (std::abs(vc[0]) + std::abs(vc[1]));
      const Real force = std::abs(c.elasticForce) + c.dt * c.stiffness * v;
      const Real damping = 1 + c.dissipation * v;
      const Real slope = c.dt * (c.stiffness * c.dt * damping + c.dissipation * force);
      const Real impulse = c.isSimilar ? c.dt * force * damping : c.laggedImpulse;
      bound[0] = bound[1] = std::sqrt(c.mu * impulse / c.slip + 2 * c.mu * c.mu * slope);
      bound[2] = std::sqrt(2 * slope);
      reach[2] = std::abs(c.elasticForce) / (c.dt * c.stiffness) + damping / (c.dissipation + 1);
      return;
    }
    case SapKind::User: {
      // Smooth enough that the Hessian here is twice that of any point within rounding: |G_ij| is
      // at most b_i b_j with b_i^2 the sum of |G_ik|.
      for (int i = 0; i < numRows; ++i) {
        Real sum = 0;
        for (int k = 0; k < numRows; ++k) {
          const int row = std::max(i, k), column = std::min(i, k);
          sum += std::abs(hessian[row * (row + 1) / 2 + column]);
        }
        bound[i] = std::sqrt(2 * sum);
      }
      return;
    }
  }
}

}  // namespace tangere::solver
