// SPDX-License-Identifier: Apache-2.0
//
// Impacts of rigid bodies, without duration, in rounds: all points that approach at this instant
// are one round. Those that hang together, through the bodies they move, are solved together:
// Newton's restitution by the approach speed of each point, and Coulomb's friction. What approaches
// after it is the next round. Balls in a row so pass their momentum on as they do in nature, a ball
// that hits two at once parts them evenly, and no name or order decides anything. What does not
// bounce comes to rest together with all that it touches and that does not bounce either.
//
// What holds: no impact adds energy. Without friction that is Newton's law itself, since each round
// solves v+ >= e v-, p >= 0 with equality where p > 0, and loses (1 - e) p v- / 2 at each point.
// Where restitution and friction would add some (a rod that lands obliquely may), friction gives
// way, and there is as much of it as the energy allows.
#pragma once

#include "integrator/event_state.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace tangere::integrator {

/// Points that touch take part in impacts, and those that are apart by at most this part of the
/// size of the pair (smallerSize()): a box that lands flat hits with all corners, and a ball hits
/// two others at once, though rounding lifts one of them.
inline constexpr Real kTogether = 1e-8;

/// What a round of impacts did to a pair.
struct PairImpact {
  int contact = 0;       ///< into EventState::contacts
  bool wasHit = false;   ///< it approached; otherwise it only passed the blow on
  Real restitution = 0;  ///< 0: it does not bounce
  EventPoint at{};       ///< of a hit: the fastest point
  int group = 0;         ///< pairs that were solved together have the same
  ContactLoad load{};    ///< impulses
};

/// What a round did.
struct ImpactOutcome {
  int numHits = 0;                                           ///< pairs; 0: nothing approaches
  Real normalWork = 0, frictionWork = 0, kinematicWork = 0;  ///< [J]
  bool isConverged = true;
  int contact = -1;  ///< of what did not converge: into EventState::contacts
};

class EventImpacts {
 public:
  explicit EventImpacts(EventState& state);

  /// The rigid contacts that approach faster than impacts do, at the motion of the state; whether
  /// there are any.
  bool findHits();
  /// One round: those of the last findHits(), resolved. The velocities in y change, and the motion
  /// of the state with them. `isInelastic`: nothing bounces. Neither does what would not get higher
  /// than the tolerances of the integration see: so a series of bounces ends.
  ImpactOutcome resolveHits(Real t, Real* y, bool isInelastic);
  /// Of the last round: all pairs that took part. Those that were hit have their approach speed.
  [[nodiscard]] std::span<const PairImpact> pairs() const { return pairs_; }
  /// Smallest speed of separation over the points of a contact, at the motion of the state.
  [[nodiscard]] Real separationSpeed(EventContact& contact);

 private:
  struct Hit {
    int contact = 0;
    Real speed = 0;
    EventPoint point{};     // the fastest
    bool isBounce = false;  // otherwise it does not bounce at all,
    bool isUnseen = false;  // or too low to be seen
  };
  /// Which contacts that do not approach pass the blow on at once.
  enum class Rest : std::uint8_t { None, Inelastic, All };
  struct Point {
    int pair = 0, contact = 0;
    EventPoint at{};
    Mat3 R_WC{};             // tangents and normal
    Vec3 before{}, after{};  // relative velocity in that frame
    Vec3 impulse{};
    Real friction = 0;
    Real target = 0;  // least normal velocity after
    Vec3 mobility{};  // along each axis
    Real normalBound = 0, tangentBound = 0;
  };
  /// Velocities of one tree that a row has.
  struct Range {
    int tree = -1, first = 0, count = 0;
    int at = 0;  // where its entries begin in rows_ or solved_
  };

  [[nodiscard]] Real approachSpeed(EventContact& contact, EventPoint* at);
  void findBounces(Real t, const Real* y, bool isInelastic);
  [[nodiscard]] bool isBounceSeen(const EventContact& contact, const EventPoint& point, Real speed);
  void joinHits();
  void gatherResting(bool isInelastic);
  [[nodiscard]] int rootOf(int tree) const;
  [[nodiscard]] int groupOf(const EventContact& contact) const;
  [[nodiscard]] Rest restOf(const EventContact& contact) const;
  void join(const EventContact& contact);
  void resolveGroup(std::size_t first, std::size_t end, Real* y, ImpactOutcome* out);
  void gatherPoints(int pair);
  void buildRows();
  void push(std::size_t row, Real impulse);
  [[nodiscard]] Real changeAt(std::size_t row) const;
  [[nodiscard]] Real velocityAt(const Point& point, std::size_t row) const;
  void boundMobilities();
  [[nodiscard]] Vec3 stepOf(std::size_t p, Real normalMobility, Real tangentMobility) const;
  [[nodiscard]] bool iterateTogether(Real fastest);
  [[nodiscard]] bool iterate();
  /// The same from the start, where friction is above 1: see event_impact_points.cpp. False:
  /// nothing has changed.
  [[nodiscard]] bool solveByPoints(Real tolerance);
  void followSlowest(int sweep);
  void move(std::span<const Vec3> steps, Real sign);
  void measureAfter();
  [[nodiscard]] Real energyGain() const;
  void limitEnergy();
  [[nodiscard]] bool isGaining() const;
  enum class Changed : std::uint8_t { WithoutFriction, WithoutRestitution };
  [[nodiscard]] bool solveAnew(Changed what);
  void moveTowardsBounce();
  void weaken();
  void book(ImpactOutcome* out);

  EventState& state_;
  std::vector<Point> points_;
  std::vector<PairImpact> pairs_;
  std::vector<Hit> hits_;
  // While groups are gathered: of trees, and of contacts.
  std::vector<int> group_;  // the tree that it is joined to
  std::vector<Rest> rest_;  // of the groups
  std::vector<std::uint8_t> is_reached_, is_hit_;
  // Of three axes of each point: J, and K J^T, where they are not zero; and where that is.
  std::vector<Real> rows_, solved_;
  std::vector<std::array<Range, 2>> ranges_, solved_ranges_;
  std::vector<Real> column_;
  std::vector<Real> change_, rate_;   // change_: of the velocities, in tree order
  std::vector<Vec3> bounce_, steps_;  // impulses, and steps of them
  std::vector<std::array<Vec3, 2>> earlier_;
  PairDistance distance_;
};

}  // namespace tangere::integrator
