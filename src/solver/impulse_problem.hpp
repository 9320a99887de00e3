// SPDX-License-Identifier: Apache-2.0
//
// The impulse problem of one step: momentum blocks of six coordinates, and
// contact points between two of them. Nothing here knows what a body or a shape
// is.
//
// Over the time `duration` a block gains acceleration * duration, and the
// contacts add impulses such that at every point, with v_c = R^T (v_1 + w_1 x
// r_1 - v_2 - w_2 x r_2) and R = (t1, t2, n):
//
//   0 <= lambda_n   complementary to   v_n + gap / duration >= 0      (no
//   approach beyond the gap) |lambda_t| <= mu lambda_n, opposing v_t (Coulomb,
//   on a disk)
//
// The impulse on block 1 is R lambda, that on block 2 the opposite.
#pragma once

#include <tangere/solver_options.hpp>
#include <tangere/types.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace tangere::solver {

/// Symmetric 3x3 matrix.
struct Sym3 {
  Real xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0;

  friend constexpr Vec3 operator*(const Sym3& a, const Vec3& v) {
    return {a.xx * v.x + a.xy * v.y + a.xz * v.z, a.xy * v.x + a.yy * v.y + a.yz * v.z,
            a.xz * v.x + a.yz * v.y + a.zz * v.z};
  }
};

/// Six momentum coordinates about a centre of mass, world frame.
struct ImpulseBlock {
  Vec3 velocity{};         ///< in: at the start; out: at the end [m/s]
  Vec3 angularVelocity{};  ///< [rad/s]
  Real inverseMass = 0;    ///< 0: moved by no impulse (fixed or driven); its
                           ///< velocity still counts
  Sym3 inverseInertia{};
  Vec3 acceleration{};         ///< free motion: gravity and applied forces over the
                               ///< mass [m/s^2]
  Vec3 angularAcceleration{};  ///< of applied torques; the gyroscopic part is
                               ///< not in the solve
  Real duration = 0;           ///< what is left of the step for this block [s]
  Vec3 center{};               ///< where it is: decides how a large island is divided, and
                               ///< nothing else [m]

  // out
  Vec3 displacement{};  ///< of the centre over `duration` [m]
  Vec3 rotation{};      ///< integral of the angular velocity over `duration` [rad]
  /// Integral over `duration` of the mean of the velocities before and after
  /// each sub-step: a constant force does work along this, exactly.
  Vec3 meanDisplacement{};
  Vec3 meanRotation{};
  Vec3 pushDisplacement{};  ///< of the position correction, not part of any
                            ///< velocity [m]
  Vec3 pushRotation{};      ///< [rad]
  bool isTouched = false;   ///< some contact gave it an impulse
};

/// One point of contact between two blocks.
struct ImpulsePoint {
  std::int32_t block1 = 0, block2 = 0;
  Vec3 normal{};  ///< unit, from block 2 to block 1
  Vec3 tangent1{};
  Vec3 tangent2{};
  Vec3 r1{}, r2{};  ///< from the centre of the block to the point, world
  Real gap = 0;     ///< at the start of `duration`; negative: depth [m]
  Real friction = 0;
  Real torsionalFriction = 0;  ///< spin about the normal: |tau_n| <= this * lambda_n [m]; 0: none
  Real rollingFriction = 0;    ///< roll about the tangents: |tau_t| <= this * lambda_n [m]; 0: none

  // in: warm start; out: the sum over the step
  Real normalImpulse = 0;  ///< [N s]
  Real tangentImpulse[2] = {};
  Real torsionalImpulse = 0;  ///< [N m s]
  Real rollingImpulse[2] = {};

  // out
  Real correctionImpulse = 0;  ///< lambda of the position problem
  /// Work of the normal impulse on both blocks: sum over the sub-steps of
  /// lambda_n times the mean of v_n before and after [J]. With the work of the
  /// free forces along meanDisplacement it is all the kinetic energy gained. It
  /// can be positive without any energy being made, where a force presses a
  /// parting point back: ImpulseReport::contactWork is what may not.
  Real normalWork = 0;
  Real frictionWork = 0;  ///< of friction, torsion and rolling [J]; negative: heat
};

/// The points [first, first + count) are in contact between the same two
/// blocks; islands and colours are made of these.
struct ImpulseGroup {
  std::int32_t block1 = 0, block2 = 0;
  std::int32_t first = 0;
  std::int32_t count = 0;
};

/// One island: which groups and which moving blocks belong to it.
struct ImpulseIsland {
  std::span<const std::int32_t> groups;  ///< ascending
  std::span<const std::int32_t> blocks;  ///< ascending, only those with inverseMass > 0
};

struct ImpulseReport {
  int iterations = 0;  ///< sweeps, or changes of the active set
  Real residual = 0;   ///< largest velocity error left, see tolerance [m/s]
  std::int32_t worstPoint = -1;
  bool converged = true;
  bool restartedCold = false;  ///< the warm start would have added energy and was dropped
  /// Work of all contacts upon the motion that the free forces leave, less what
  /// a Baumgarte bias asked for [J]: never positive beyond rounding.
  Real contactWork = 0;
  Real warmWork = 0;  ///< that of the attempt which was dropped
};

/// Everything of one step. The arrays are kept from step to step and grow.
struct ImpulseProblem {
  std::vector<ImpulseBlock> blocks;
  std::vector<ImpulsePoint> points;
  std::vector<ImpulseGroup> groups;
};

}  // namespace tangere::solver
