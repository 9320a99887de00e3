// SPDX-License-Identifier: Apache-2.0
//
// What the event solver knows of two shapes: their signed distance to about 1e-13 of their size, so
// that the root of a zero crossing is one, and the points that carry force, continuous in the poses
// while they touch. Nothing here throws, and every number is finite.
//
// Convention of <tangere/contact.hpp>: normals are unit and point from shape 2 to shape 1,
// positions are half way between the two surfaces.
#pragma once

#include <tangere/collision.hpp>

#include <array>
#include <cstdint>

namespace tangere::integrator {

/// A point that carries force, or would if its distance were negative.
struct EventPoint {
  Vec3 position{};
  Vec3 normal{};      ///< from shape 2 to shape 1
  Real distance = 0;  ///< < 0 inside
  std::int32_t feature1 = -1;
  std::int32_t feature2 = -1;
  /// Of the stiffness of the pair: 1 for a point of round shapes; the points of a face on a face
  /// have shares that sum to 1. A corner keeps the share it has as a corner of its face (1/4 of a
  /// box). Continuous: a point that appears or vanishes has no share then, or no depth.
  Real share = 1;
  /// The same for rigid contacts, 1 for a single point and for a corner of a box.
  Real weight = 1;
  /// How many points of a contact manifold this one stands for: 1 for a single point and for a
  /// corner. For laws whose stiffness is that of a point, whatever the number of points.
  Real count = 1;
  /// Into EventContact::touching; -1: apart, or of a pair whose points are not told apart.
  int touching = -1;
};

inline constexpr int kMaxEventPoints = 40;

struct PairDistance {
  Real distance = 0;  ///< smallest signed one
  int numPoints = 0;
  QueryStatus status = QueryStatus::Ok;
  std::array<EventPoint, kMaxEventPoints> points;  ///< those up to numPoints hold values
};

/// Signed distance, normal and nearest points alone, all to rounding: tangere::distance() refined
/// where it is not exact already. Compounds as tangere::distance() has them. NotConverged: it could
/// not be refined, the digits are those of tangere::distance(). Here and below a mesh or a terrain
/// whose solid is convex is its hull, features and all.
[[nodiscard]] DistanceResult nearestPoints(const Shape& s1, const Transform& X_W1, const Shape& s2,
                                           const Transform& X_W2, PairCache* hint);

/// Distance and points of a pair that touches or is near. points[0] is the deepest: its distance is
/// `distance`, but for a disc that stands on fixed points of its rim, where it is within 1 % of it.
/// Two flat faces give all points that are at most a margin (1e-3 of the size of the smaller shape)
/// apart, so that a corner that lifts leaves smoothly; other pairs the deepest alone. `hint` may be
/// null.
void evaluatePair(const Shape& s1, const Transform& X_W1, const Shape& s2, const Transform& X_W2,
                  PairDistance* out, PairCache* hint);

/// A manifold of the other solvers has four points at most, so more of them share the stiffness of
/// four: scales the counts. More is measured by the depths, (sum d)^2 / sum d^2, so that a hull
/// that rocks on one edge of many has the stiffness of the two ends of that edge.
void limitCounts(PairDistance* pair);

/// The signed distance, as evaluatePair() gives it; where the boxes of the shapes are farther apart
/// than `enough`, a lower bound above `enough`.
[[nodiscard]] Real pairDistance(const Shape& s1, const Transform& X_W1, const Shape& s2,
                                const Transform& X_W2, Real enough, PairCache* hint);

/// Whether two shapes may touch at more than one point.
[[nodiscard]] bool mayHaveManyPoints(ShapeType type1, ShapeType type2);
/// Bounding radius of the smaller one [m]; of the bounded one beside a half space.
[[nodiscard]] Real smallerSize(const Shape& s1, const Shape& s2);

/// Hysteresis of contact events: max(1e-13, 64 ulp of the largest coordinate) [m].
[[nodiscard]] Real contactEps(const Transform& X_W1, const Transform& X_W2);

/// How a body moves: velocity of its origin and angular velocity, world axes, and bounds on how
/// fast these change during the step.
struct BodyMotion {
  Vec3 velocity{};
  Vec3 angularVelocity{};
  Real acceleration = 0;         ///< at least |dv/dt| of the origin [m/s^2]
  Real angularAcceleration = 0;  ///< at least |dw/dt| [rad/s^2]
};

/// Bounds on how a distance shrinks: by at most speed t + acceleration t^2 / 2.
struct ClosingBound {
  Real speed = 0;         ///< [m/s]
  Real acceleration = 0;  ///< [m/s^2]
};

/// For two shapes fixed to bodies whose origins are those of the motions: no pair of their points
/// closes in faster. `X_1S`, `X_2S`: the shapes in the frames of their bodies.
[[nodiscard]] ClosingBound closingBound(const Shape& s1, const Transform& X_1S,
                                        const BodyMotion& motion1, const Shape& s2,
                                        const Transform& X_2S, const BodyMotion& motion2);

/// The longest time in which a gap of `distance` cannot close:
/// speed t + acceleration t^2 / 2 <= distance, rounded to the safe side. 0 where there is no gap,
/// infinite where nothing closes.
[[nodiscard]] Real safeStep(Real distance, Real closingSpeed, Real acceleration);

}  // namespace tangere::integrator
