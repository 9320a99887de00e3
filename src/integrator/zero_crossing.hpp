// SPDX-License-Identifier: Apache-2.0
//
// Zero-crossing functions that tell the integrator when a contact begins or ends.
//
//   z1 = max distance of the pairs in contact (leaving), z2 = min distance of the others
//   (entering) and of the points that do not touch of those in contact, both shifted by the
//   hysteresis so that neither is zero at a restart: docs/events.md. z3 = the tension of contacts:
//   falling where a force would begin to pull, rising where it pushes
//        again.
//   Pairs that an impact has just thrown apart are neither: they are watched until they are clear
//   of each other, or turn back.
//
// Pairs whose boxes were never near are not asked. Boxes are enlarged, and the list of near pairs
// is made anew when a shape leaves its box, with all that its way since the last restart or step
// may have met.
#pragma once

#include <tangere/broad_phase.hpp>

#include "integrator/event_state.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tangere::integrator {

enum class CrossingSignal : std::uint8_t {
  ContactEnds,    ///< z1, rising
  ContactBegins,  ///< z2, falling
  ForceVanishes,  ///< z3, falling
  ForceReturns,   ///< z3, rising
  Cleared,        ///< a departing pair is apart, rising
  TurnedBack,     ///< a departing pair approaches again, falling
};
inline constexpr int kNumCrossings = 6;
/// Of each signal: 1 rising, -1 falling.
inline constexpr int kCrossingDirections[kNumCrossings] = {1, -1, -1, 1, 1, -1};

/// Hysteresis of limits of joints and tendons [m, rad].
inline constexpr Real kLimitEps = 1e-13;

/// A pair that is not in contactDict and may get there.
struct NearPair {
  std::uint64_t id = 0;
  int shape1 = 0, shape2 = 0;
  bool isInContact = false;
  bool isDeparting = false;
  PairCache hint{};
  Real distance = 0;  ///< distanceOrg of the last evaluation, or a lower bound beyond the smallest
  Real eps = 0;
  Real startDistance = 0;  ///< at the start of the step; negative: not known
};

/// Distance of a pair at a time, and how fast it grows.
struct PairSample {
  Real t = 0, distance = 0, rate = 0;
};

/// How fast a shape moves.
struct ShapeSpeed {
  Vec3 velocity{};       ///< of the body's centre
  Real fastest = 0;      ///< no point is faster [m/s]
  Real centripetal = 0;  ///< what turning adds to the acceleration of its points [m/s^2]
};

/// Whether the force of the law may vanish before the contact ends.
[[nodiscard]] bool hasTension(const ContactLaw& law);

class ZeroCrossing {
 public:
  explicit ZeroCrossing(EventState& state);

  /// Makes the list of near pairs anew at the positions of the state.
  void rebuild();
  /// At the motion of the state.
  void evaluate(Real* z);
  /// Whether velocities must be set as well.
  [[nodiscard]] bool needsVelocities() const { return needs_velocities_; }
  /// After contactDict or departing pairs have changed.
  void refreshRoles();

  [[nodiscard]] std::span<NearPair> pairs() { return pairs_; }
  [[nodiscard]] std::span<const NearPair> pairs() const { return pairs_; }
  [[nodiscard]] NearPair* find(std::uint64_t id);
  /// Exact, at the positions of the state.
  [[nodiscard]] Real distanceOf(NearPair& pair);
  /// With its rate, at the motion of the state.
  [[nodiscard]] PairSample sample(NearPair& pair, Real t);

  /// The signal of z1 and z2, by the policy.
  [[nodiscard]] Real leavingSignal(Real distance, Real eps) const {
    return is_penetrating_ ? distance + eps : distance - 2 * eps;
  }
  [[nodiscard]] Real enteringSignal(Real distance, Real eps) const {
    return is_penetrating_ ? distance + 3 * eps : distance - eps;
  }
  /// The rule of events.
  [[nodiscard]] bool isTouching(Real distance, Real eps) const {
    return is_penetrating_ ? distance < -2 * eps : distance <= eps;
  }

  /// Notes where shapes are: the next boxes reach from here.
  void beginStep();
  /// At the motion of the state.
  [[nodiscard]] ShapeSpeed speedOf(int shape) const;

 private:
  void listAllPairs();
  void followBoxes();
  void listNearPairs();
  [[nodiscard]] bool mayListPairs();
  void addPair(int shape1, int shape2);
  [[nodiscard]] Real nextPoint(Real eps) const;

  EventState& state_;
  bool is_penetrating_ = true;
  bool is_small_ = false;  // all pairs are near
  bool needs_velocities_ = false;
  std::vector<NearPair> pairs_, old_pairs_;    // sorted by id
  std::vector<std::uint8_t> is_moving_;        // of shapes
  std::vector<Aabb> boxes_;                    // enlarged
  std::vector<Aabb> now_boxes_, start_boxes_;  // of the last evaluation; at the start of the step
  std::vector<Real> reach_;                    // of shapes, from the body's origin
  BvhBroadPhase broad_phase_;
  std::vector<ObjectId> near_;
  bool is_filled_ = false;
  PairDistance distance_;
};

}  // namespace tangere::integrator
