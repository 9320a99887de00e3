// SPDX-License-Identifier: Apache-2.0
//
// Impacts of rigid bodies, without duration: Newton's restitution and Coulomb's friction at all
// points of a pair together, one pair after another, the fastest approach first. Balls in a row so
// pass their momentum on as they do in nature, and a body that lies on others and is hit gives the
// blow on to them. What does not bounce comes to rest together with all that it touches and that
// does not bounce either.
//
// What holds: no impact adds energy. Where Newton's restitution and friction would (a rod that
// lands obliquely may), it bounces as much as its energy allows.
#pragma once

#include "integrator/event_state.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace tangere::integrator {

/// What an impact did to a pair.
struct PairImpact {
  int contact = 0;      ///< into EventState::contacts
  bool wasHit = false;  ///< it approached; otherwise it only passed the blow on
  ContactLoad load{};   ///< impulses
};

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
  /// Of the last one: all pairs that took part. Those that were hit have their speed of approach.
  [[nodiscard]] std::span<const PairImpact> pairs() const { return pairs_; }
  /// Smallest speed of separation over the points of a contact, at the motion of the state.
  [[nodiscard]] Real separationSpeed(EventContact& contact);

 private:
  struct Point {
    int contact = 0;
    EventPoint at{};
    Mat3 R_WC{};             // tangents and normal
    Vec3 before{}, after{};  // relative velocity in that frame
    Vec3 impulse{};
    Real target = 0;  // least normal velocity after
    Vec3 mobility{};  // along each axis
  };
  /// Velocities of one tree that a row has.
  struct Range {
    int tree = -1, first = 0, count = 0;
  };

  [[nodiscard]] Real approachSpeed(EventContact& contact);
  void gatherGroup(int contact, bool isInelastic);
  void markHits(int contact);
  void gatherPoints(int contact, Real restitution);
  [[nodiscard]] bool isBounceSeen(Real t, const Real* y, EventContact& contact, Real speed);
  void buildRows();
  void push(std::size_t row, Real impulse);
  [[nodiscard]] Real velocityAt(const Point& point, std::size_t row) const;
  [[nodiscard]] bool iterate();
  void followSlowest(int sweep);
  void move(std::span<const Vec3> steps, Real sign);
  void measureAfter();
  [[nodiscard]] Real energyGain() const;
  void limitEnergy();
  void weaken();
  void apply(Real t, Real* y, ImpactOutcome* out);

  EventState& state_;
  std::vector<Point> points_;
  std::vector<PairImpact> pairs_;
  std::vector<std::uint8_t> is_touched_;  // trees, while a group is gathered
  // Of three axes of each point: J, and K J^T; and where they are not zero.
  std::vector<Real> rows_, solved_;
  std::vector<std::array<Range, 2>> ranges_, solved_ranges_;
  std::vector<Real> change_, rate_;   // change_: of the velocities, in tree order
  std::vector<Vec3> bounce_, steps_;  // impulses, and steps of them
  std::vector<std::array<Vec3, 2>> earlier_;
  PairDistance distance_;
};

}  // namespace tangere::integrator
