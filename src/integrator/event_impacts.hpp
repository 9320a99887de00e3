// SPDX-License-Identifier: Apache-2.0
//
// Impacts of rigid bodies, without duration: Newton's restitution and Coulomb's friction at all
// points of a pair together, one pair after another, the fastest approach first. Balls in a row so
// pass their momentum on as they do in nature, and a body that lies on others and is hit gives the
// blow on to them.
#pragma once

#include "integrator/event_state.hpp"

#include <vector>

namespace tangere::integrator {

/// What an impact did.
struct ImpactOutcome {
  int contact = -1;  ///< into EventState::contacts; -1: none approaches fast enough
  Real approachSpeed = 0;
  Vec3 position{}, normal{};
  Real normalWork = 0, frictionWork = 0, kinematicWork = 0;  ///< [J]
  bool isConverged = true;
};

class EventImpacts {
 public:
  explicit EventImpacts(EventState& state);

  /// The fastest approach among the rigid contacts, resolved: the velocities in y change, and the
  /// motion of the state with them. `isInelastic`: nothing bounces. Neither does what would not get
  /// higher than the tolerances of the integration see: so a series of bounces ends.
  ImpactOutcome resolveNext(Real t, Real* y, bool isInelastic);
  /// Smallest speed of separation over the points of a contact, at the motion of the state.
  [[nodiscard]] Real separationSpeed(EventContact& contact);

 private:
  struct Point {
    EventPoint at{};
    Mat3 R_WC{};             // tangents and normal
    Vec3 before{}, after{};  // relative velocity in that frame
    Vec3 impulse{};
    Real target = 0;  // least normal velocity after
  };

  [[nodiscard]] Real approachSpeed(EventContact& contact);
  void gatherPoints(EventContact& contact, bool isInelastic);
  [[nodiscard]] bool isBounceSeen(Real t, const Real* y, EventContact& contact, Real speed);
  void buildMatrix(const EventContact& contact);
  [[nodiscard]] bool iterate(Real friction);
  void apply(const EventContact& contact, Real t, Real* y, ImpactOutcome* out);

  EventState& state_;
  std::vector<Point> points_;
  std::vector<Real> rows_, solved_, matrix_, change_, rate_;
  PairDistance distance_;
};

}  // namespace tangere::integrator
