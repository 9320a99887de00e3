// SPDX-License-Identifier: Apache-2.0
//
// Kinematics and dynamics of the bodies of a Model, without contacts, limits and drives:
//
//   M(q) a + bias(q, v) = force        M v^2/2: kinetic energy
//
// Everything is in the coordinates of the State (q, v; see articulation.hpp), SI units and world
// axes, unless said otherwise. A force on a coordinate is [N m] or [N], for Free and Ball in the
// axes of their velocities. Models of the impulse solver have no coordinates and are refused.
//
// The functions make what they need anew in every call. For many calls with one model, a Dynamics
// keeps it.
#pragma once

#include <tangere/model.hpp>
#include <tangere/state.hpp>

#include <memory>
#include <span>
#include <vector>

namespace tangere {

/// Velocity of a body: of its centre of mass [m/s], and angular [rad/s].
struct BodyVelocity {
  Vec3 linear{};
  Vec3 angular{};
};

/// Of all bodies that forces move, soft ones included: linear [N s], and angular about their common
/// centre of mass [N m s].
struct Momentum {
  Vec3 linear{};
  Vec3 angular{};
};

/// n x n numbers, row after row, n = numVelocities(). Armature of joints and tendons is in it.
[[nodiscard]] std::vector<Real> massMatrix(const Model& model, const State& state);
/// Coriolis and centrifugal forces, those of the armature of tendons too, less gravity.
[[nodiscard]] std::vector<Real> biasForce(const Model& model, const State& state);
/// Springs and damping of joints and tendons, and damping of bodies.
[[nodiscard]] std::vector<Real> passiveForce(const Model& model, const State& state);
/// The force for an acceleration: M a + bias. Throws InvalidInput on another size.
[[nodiscard]] std::vector<Real> inverseDynamics(const Model& model, const State& state,
                                                std::span<const Real> acceleration);
/// The acceleration under a force: M^-1 (force - bias). `force` is all there is: add
/// passiveForce() for springs and damping. Throws InvalidInput on another size.
[[nodiscard]] std::vector<Real> forwardDynamics(const Model& model, const State& state,
                                                std::span<const Real> force);

/// 6 x n numbers, row after row: velocity of the point of the body that is at `point` (world), then
/// angular velocity of the body. Zero for bodies that do not move.
[[nodiscard]] std::vector<Real> jacobian(const Model& model, const State& state, int body,
                                         const Vec3& point);
/// X_WB.
[[nodiscard]] Transform bodyPose(const Model& model, const State& state, int body);
[[nodiscard]] BodyVelocity bodyVelocity(const Model& model, const State& state, int body);

/// Of all bodies that forces move, soft ones included [m].
[[nodiscard]] Vec3 centerOfMass(const Model& model, const State& state);
/// [J], soft bodies, armature of joints and tendons included.
[[nodiscard]] Real kineticEnergy(const Model& model, const State& state);
/// Of gravity, zero for a mass at the world's origin, of springs of joints and tendons, and elastic
/// of soft bodies [J].
[[nodiscard]] Real potentialEnergy(const Model& model, const State& state);
[[nodiscard]] Momentum momentum(const Model& model, const State& state);

/// q moved by the constant velocity v for dt [s]; quaternions turn exactly and stay unit. Throws
/// InvalidInput on other sizes.
[[nodiscard]] std::vector<Real> integratePositions(const Model& model, std::span<const Real> q,
                                                   std::span<const Real> v, Real dt);
/// The velocity that takes q1 to q2 in one second, by the shorter turn; its inverse.
[[nodiscard]] std::vector<Real> differentiatePositions(const Model& model, std::span<const Real> q1,
                                                       std::span<const Real> q2);

/// The same with kept memory: after construction nothing is allocated. Functions that write to a
/// span throw InvalidInput when it has another size. Not for several threads at once.
class Dynamics {
 public:
  explicit Dynamics(const Model& model);
  ~Dynamics();
  Dynamics(Dynamics&&) noexcept;
  Dynamics& operator=(Dynamics&&) noexcept;

  /// What all that follows is for.
  void setState(std::span<const Real> q, std::span<const Real> v);
  /// The vertices of all soft bodies, as in the State [m], [m/s]; until then they are where they
  /// started, at rest. Throws InvalidInput on another number of them.
  void setSoftState(std::span<const Vec3> positions, std::span<const Vec3> velocities);

  void massMatrix(std::span<Real> out);
  void biasForce(std::span<Real> out);
  void passiveForce(std::span<Real> out);
  void inverseDynamics(std::span<const Real> acceleration, std::span<Real> force);
  /// By articulated bodies: O(n).
  void forwardDynamics(std::span<const Real> force, std::span<Real> acceleration);
  /// By the factors of the mass matrix along the trees, O(n depth^2): the same to rounding.
  void forwardDynamicsByFactors(std::span<const Real> force, std::span<Real> acceleration);
  void jacobian(int body, const Vec3& point, std::span<Real> out);
  /// Bodies without coordinates are where they started, at rest.
  [[nodiscard]] Transform bodyPose(int body) const;
  [[nodiscard]] BodyVelocity bodyVelocity(int body) const;
  [[nodiscard]] Vec3 centerOfMass() const;
  [[nodiscard]] Real kineticEnergy() const;
  [[nodiscard]] Real potentialEnergy() const;
  [[nodiscard]] Momentum momentum() const;
  void integratePositions(std::span<const Real> q, std::span<const Real> v, Real dt,
                          std::span<Real> out) const;
  void differentiatePositions(std::span<const Real> q1, std::span<const Real> q2,
                              std::span<Real> v) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tangere
