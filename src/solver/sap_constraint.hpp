// SPDX-License-Identifier: Apache-2.0
//
// What each kind of constraint means: from its parameters and the inverse mass of its rows to a
// convex cost l(v_c), the impulse gamma = -dl/dv_c and the Hessian G. Evaluation is inline and free
// of virtual calls for all kinds but User: it is the inner loop of the line search.
#pragma once

#include <tangere/solver_options.hpp>

#include "solver/kernels/friction_cone.hpp"
#include "solver/kernels/hunt_crossley.hpp"
#include "solver/sap_problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace tangere::solver {

/// A row of a Bilateral, Limit or Friction constraint.
struct SapRow {
  Real regularization = 0;  ///< R
  Real inverse = 0;         ///< 1/R; 0: the row moves nothing and has no impulse
  Real targetVelocity = 0;  ///< v_hat
  Real bound = 0;           ///< Friction: the greatest impulse
};

/// A Drive: gamma = clamp(y, low, high), y = offset - slope v.
struct SapDriveRow {
  Real slope = 0;    ///< dt (dt kp + kd)
  Real inverse = 0;  ///< 1/slope, 0 when it is zero
  Real offset = 0;   ///< gamma wanted at v = 0
  Real low = 0, high = 0;
};

/// What friction bounds are off by, as squares of impulses in the norm of their inverse mass [J].
struct FrictionError {
  Real change = 0;  ///< of the friction impulses, were each bounded by mu times its normal impulse
  Real size = 0;    ///< of all contact impulses
};

/// How G is kept.
enum class SapHessian : std::uint8_t {
  Diagonal,  ///< numRows entries
  Packed,    ///< lower triangle row by row, numRows (numRows + 1) / 2 entries
};

[[nodiscard]] constexpr SapHessian hessianOf(SapKind kind) {
  return kind == SapKind::Contact || kind == SapKind::HuntCrossley || kind == SapKind::User
             ? SapHessian::Packed
             : SapHessian::Diagonal;
}
[[nodiscard]] constexpr int hessianSize(SapKind kind, int numRows) {
  return hessianOf(kind) == SapHessian::Packed ? numRows * (numRows + 1) / 2 : numRows;
}

/// The parameters of the constraints of one island, ready for evaluation.
class SapConstraints {
 public:
  void clear();

  /// Prepares constraint `index` of the problem, given W = J A^-1 J^T (numRows x numRows, row
  /// major); returns where its parameters lie, or -1 when they are not finite or make no sense.
  int prepare(const SapOptions& options, const SapProblem& problem, int index,
              const Real* delassus);

  /// Cost at vc; writes gamma, and G as hessianOf(kind) says.
  [[nodiscard]] Real evaluate(SapKind kind, int numRows, int parameters, const Real* vc,
                              Real* gamma, Real* hessian) const;

  /// The same for a Contact.
  [[nodiscard]] Real evaluateContact(int parameters, const Real* vc, Real* gamma,
                                     Real* hessian) const {
    const kernel::FrictionCone<Real>& cone = cones_[parameters];
    const kernel::ConePoint<Real> point = kernel::projectImpulse(cone, vc, softness_);
    for (int i = 0; i < 3; ++i) gamma[i] = point.gamma[i];
    kernel::coneHessian(cone, point, hessian);
    return kernel::coneCost(cone, point);
  }

  // Coulomb's law from convex problems (SapFriction::Coulomb): each has fixed bounds of friction,
  // and the law holds where the bounds are those that follow from its solution.

  /// Is there any friction by this law?
  [[nodiscard]] bool hasBounds() const { return has_bounds_; }
  [[nodiscard]] Real bound(int parameters) const { return cones_[parameters].bound; }
  /// mu gamma_n.
  [[nodiscard]] Real followingBound(int parameters, const Real* gamma) const {
    return cones_[parameters].mu * gamma[2];
  }
  void setBound(int parameters, Real bound) {
    bindCone(contact_facts_[parameters], bound, &cones_[parameters]);
  }
  /// That of the normal impulse of the last step; 0 where there was none.
  void setStartBound(int parameters, Real lastNormalImpulse) {
    const bool pushed = lastNormalImpulse > 0 && std::isfinite(lastNormalImpulse);
    setBound(parameters, pushed ? cones_[parameters].mu * lastNormalImpulse : 0);
  }
  /// While on, every evaluation of an iterate is with the bounds that follow from its velocity.
  void setFollowing(bool isOn) { is_following_ = isOn && has_bounds_; }
  [[nodiscard]] bool isFollowing() const { return is_following_; }
  /// The bound is mu gamma_n at vc.
  void follow(int parameters, const Real* vc) {
    followCone(contact_facts_[parameters], vc, &cones_[parameters]);
  }
  /// evaluate() of a Contact with the bound that follows from vc, which is not kept; `entries` as
  /// coupling() there.
  void evaluateFollowing(int parameters, const Real* vc, Real* gamma, Real* hessian,
                         Real* entries) const {
    const ContactFacts& facts = contact_facts_[parameters];
    kernel::FrictionCone<Real> cone = cones_[parameters];
    followCone(facts, vc, &cone);
    const kernel::ConePoint<Real> point = kernel::projectImpulse(cone, vc, softness_);
    for (int i = 0; i < 3; ++i) gamma[i] = point.gamma[i];
    kernel::coneHessian(cone, point, hessian);
    couplingOf(facts, cone, point, entries);
  }
  /// Where the last step says nothing of a bound: from the velocity vc, as if the contact were
  /// alone. False: nothing pushes there.
  bool predictBound(int parameters, const Real* vc);
  /// Is there no normal impulse at this normal velocity?
  [[nodiscard]] bool isOpen(int parameters, Real normalVelocity) const {
    return cones_[parameters].targetVelocity <= normalVelocity;
  }
  /// What its normal velocity would have to gain for that.
  [[nodiscard]] Real missingVelocity(int parameters, Real normalVelocity) const {
    return cones_[parameters].targetVelocity - normalVelocity;
  }
  /// gamma <- the impulse by Coulomb's law if nothing but this contact changed, its normal first
  /// and then its friction; vc is its velocity with gamma as it is, `delassus` its own W.
  void relax(int parameters, const Real* delassus, const Real* vc, Real* gamma) const;
  /// Returns the weight of the bound: 0 where friction is the same with the following one.
  Real addFrictionError(int parameters, const Real* vc, const Real* gamma,
                        FrictionError* sum) const {
    const Real w = contact_facts_[parameters].inverseMass;
    sum->size += w * (gamma[0] * gamma[0] + gamma[1] * gamma[1] + gamma[2] * gamma[2]);
    return isHeldByBoth(parameters, gamma) ? 0 : addBoundError(parameters, vc, gamma, sum);
  }
  /// Is there any such error?
  [[nodiscard]] bool isBoundWrong(int parameters, const Real* vc, const Real* gamma) const {
    FrictionError unused;
    return !isHeldByBoth(parameters, gamma) && addBoundError(parameters, vc, gamma, &unused) > 0;
  }
  /// What friction adds to -d gamma/d vc when its bound is mu gamma_n and follows: the entries of
  /// rows t1 and t2 in the column of the normal. Those of the row of the normal are zero.
  void coupling(int parameters, const Real* vc, Real* entries) const {
    const kernel::FrictionCone<Real>& cone = cones_[parameters];
    couplingOf(contact_facts_[parameters], cone, kernel::projectImpulse(cone, vc, softness_),
               entries);
  }
  /// Is friction at its bound?
  [[nodiscard]] bool isSliding(int parameters, const Real* vc) const {
    const kernel::FrictionCone<Real>& cone = cones_[parameters];
    return kernel::projectImpulse(cone, vc, softness_).region == kernel::ConeRegion::Slide;
  }

  /// For certificates: how much gamma can change with v_c. |d gamma_i| <= bound[i] * |d v_c| in the
  /// norm |d v_c|^2 = sum of (bound[i] d v_i)^2; `reach[i]` is the size of the terms of which the
  /// kind takes differences, such as v_hat.
  void lipschitz(SapKind kind, int numRows, int parameters, const Real* vc, const Real* hessian,
                 Real* bound, Real* reach) const;

 private:
  [[nodiscard]] Real evaluateUser(int numRows, int parameters, const Real* vc, Real* gamma,
                                  Real* hessian) const;
  int prepareRows(const SapOptions& options, const SapProblem& problem, const SapConstraint& c,
                  const Real* delassus);
  int prepareDrive(const SapOptions& options, const SapProblem& problem, const SapConstraint& c,
                   const Real* delassus);

  /// What the bound of a Contact needs to know of it.
  struct ContactFacts {
    Real inverseMass = 0;        // of all rows
    Real inverseNormalMass = 0;  // of the normal alone
    Real held[2] = {};           // as given
    Real heldSize = 0;
  };
  /// Friction holds of what it held no more than its bound: the friction of an impact is over with
  /// it, and given on it would throw back what it stopped.
  static void bindCone(const ContactFacts& facts, Real bound, kernel::FrictionCone<Real>* cone) {
    const Real part = facts.heldSize > bound ? bound / facts.heldSize : 1;
    cone->isBounded = true;
    cone->bound = bound;
    cone->held[0] = part * facts.held[0];
    cone->held[1] = part * facts.held[1];
  }
  static void followCone(const ContactFacts& facts, const Real* vc,
                         kernel::FrictionCone<Real>* cone) {
    const Real normal = cone->inverseN * (cone->targetVelocity - vc[2]);
    bindCone(facts, normal > 0 ? cone->mu * normal : 0, cone);
  }
  static void couplingOf(const ContactFacts& facts, const kernel::FrictionCone<Real>& cone,
                         const kernel::ConePoint<Real>& point, Real* entries);
  /// Whether friction and what it held lie within the bound and within the one that follows: it
  /// sticks with either, by the same impulse. So it is with nearly all contacts at rest.
  [[nodiscard]] bool isHeldByBoth(int parameters, const Real* gamma) const {
    constexpr Real kInside = 1 - 1e-9;  // clear of rounding where friction slides at its bound
    const Real* const held = contact_facts_[parameters].held;
    const Real bound = std::min(cones_[parameters].bound, followingBound(parameters, gamma));
    const Real limit = kInside * bound * bound;
    return gamma[0] * gamma[0] + gamma[1] * gamma[1] + softness_ * softness_ < limit &&
           held[0] * held[0] + held[1] * held[1] < limit;
  }
  /// addFrictionError() where friction depends on the bound.
  Real addBoundError(int parameters, const Real* vc, const Real* gamma, FrictionError* sum) const;

  Real softness_ = 0;
  bool has_bounds_ = false, is_following_ = false;
  std::vector<kernel::FrictionCone<Real>> cones_;
  std::vector<ContactFacts> contact_facts_;  // of the cones
  std::vector<kernel::HuntCrossley<Real>> hunt_crossleys_;
  std::vector<SapRow> rows_;
  std::vector<SapDriveRow> drives_;
  std::vector<const SapUserConstraint*> users_;
};

inline void SapConstraints::couplingOf(const ContactFacts& facts,
                                       const kernel::FrictionCone<Real>& cone,
                                       const kernel::ConePoint<Real>& point, Real* entries) {
  entries[0] = entries[1] = 0;
  if (!(point.y[2] > 0)) return;
  // d gamma_t / d bound: of what is held as well, where that is cut to the bound.
  const bool isCut = facts.heldSize > cone.bound;
  Real along[2] = {isCut ? facts.held[0] / facts.heldSize : 0,
                   isCut ? facts.held[1] / facts.heldSize : 0};
  if (point.region == kernel::ConeRegion::Slide && point.norm > 0) {
    const Real y[2] = {point.y[0] / point.norm, point.y[1] / point.norm};
    const Real part = cone.bound / point.norm;
    const Real radial = y[0] * along[0] + y[1] * along[1];
    for (int i = 0; i < 2; ++i) along[i] = y[i] + part * (along[i] - radial * y[i]);
  }
  const Real slope = cone.mu * cone.inverseN;
  entries[0] = slope * along[0];
  entries[1] = slope * along[1];
}

inline void SapConstraints::relax(int parameters, const Real* delassus, const Real* vc,
                                  Real* gamma) const {
  const kernel::FrictionCone<Real>& cone = cones_[parameters];
  const ContactFacts& facts = contact_facts_[parameters];
  const Real before = gamma[2];
  const Real wanted = before + (cone.targetVelocity - vc[2] - cone.regularizationN * before) /
                                   (delassus[8] + cone.regularizationN);
  gamma[2] = wanted > 0 ? wanted : 0;
  const Real change = gamma[2] - before, bound = cone.mu * gamma[2];
  const Real part = facts.heldSize > bound ? bound / facts.heldSize : 1;
  const Real inverse = 1 / (std::max(delassus[0], delassus[4]) + cone.regularizationT);
  for (int i = 0; i < 2; ++i) {
    const Real slip = vc[i] + delassus[3 * i + 2] * change;
    gamma[i] += (cone.regularizationT * (part * facts.held[i] - gamma[i]) - slip) * inverse;
  }
  const Real square = gamma[0] * gamma[0] + gamma[1] * gamma[1];
  if (square <= bound * bound) return;
  const Real scale = bound / std::sqrt(square);
  gamma[0] *= scale;
  gamma[1] *= scale;
}

inline Real SapConstraints::evaluate(SapKind kind, int numRows, int parameters, const Real* vc,
                                     Real* gamma, Real* hessian) const {
  switch (kind) {
    case SapKind::Contact:
      return evaluateContact(parameters, vc, gamma, hessian);
    case SapKind::HuntCrossley:
      return kernel::evaluateHuntCrossley(hunt_crossleys_[parameters], vc, gamma, hessian);
    case SapKind::Bilateral:
    case SapKind::Limit: {
      Real cost = 0;
      for (int i = 0; i < numRows; ++i) {
        const SapRow& row = rows_[parameters + i];
        const Real y = row.inverse * (row.targetVelocity - vc[i]);
        const bool isActive = kind == SapKind::Bilateral || y > 0;
        gamma[i] = isActive ? y : 0;
        hessian[i] = isActive ? row.inverse : 0;
        cost += 0.5 * row.regularization * gamma[i] * gamma[i];
      }
      return cost;
    }
    case SapKind::Friction: {
      Real cost = 0;
      for (int i = 0; i < numRows; ++i) {
        const SapRow& row = rows_[parameters + i];
        const Real y = row.inverse * (row.targetVelocity - vc[i]);
        const bool isHeld = y <= row.bound && y >= -row.bound;
        gamma[i] = isHeld ? y : (y > 0 ? row.bound : -row.bound);
        hessian[i] = isHeld ? row.inverse : 0;
        const Real size = y > 0 ? y : -y;
        cost += row.regularization *
                (isHeld ? 0.5 * y * y : row.bound * (size - Real(0.5) * row.bound));
      }
      return cost;
    }
    case SapKind::Drive: {
      // The cost counts from v = 0, so that a large error of the position does not hide how it
      // changes with v: antiderivative of -clamp(offset - slope v) in v.
      const SapDriveRow& drive = drives_[parameters];
      const Real start = drive.offset < drive.low    ? drive.low
                         : drive.offset > drive.high ? drive.high
                                                     : drive.offset;
      const Real y = drive.offset - drive.slope * vc[0];
      const bool isFree = y >= drive.low && y <= drive.high;
      gamma[0] = isFree ? y : (y < drive.low ? drive.low : drive.high);
      hessian[0] = isFree ? drive.slope : 0;
      if (isFree && start == drive.offset) return -0.5 * (gamma[0] + start) * vc[0];
      if (drive.inverse == 0 || (!isFree && gamma[0] == start)) return -gamma[0] * vc[0];
      // Through a corner: the parts on either side of it, gamma changes linearly in between.
      const Real atStart = (drive.offset - start) * drive.inverse;
      const Real atEnd = (drive.offset - gamma[0]) * drive.inverse;
      return -start * atStart - 0.5 * (start + gamma[0]) * (atEnd - atStart) -
             gamma[0] * (vc[0] - atEnd);
    }
    case SapKind::User:
      return evaluateUser(numRows, parameters, vc, gamma, hessian);
  }
  return 0;
}

}  // namespace tangere::solver
