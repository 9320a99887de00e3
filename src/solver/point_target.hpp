// SPDX-License-Identifier: Apache-2.0
//
// The right-hand sides of one contact point, the same for the exact and the
// iterative solve.
#pragma once

#include "solver/impulse_problem.hpp"

#include <algorithm>

namespace tangere::solver {

/// What is left of the step for a point: the shorter of its moving blocks [s].
[[nodiscard]] inline Real pointDuration(const ImpulseBlock& block1, const ImpulseBlock& block2) {
  if (!(block1.inverseMass > 0)) return block2.duration;
  if (!(block2.inverseMass > 0)) return block1.duration;
  return std::min(block1.duration, block2.duration);
}

/// The gap when both sides have the time h left: a block that has more moves on its own until then.
/// (The other was in an impact earlier in the step.)
[[nodiscard]] inline Real commonGap(const ImpulsePoint& point, const ImpulseBlock& block1,
                                    const ImpulseBlock& block2, Real h, Real dt) {
  const Real early1 = (block1.inverseMass > 0 ? block1.duration : dt) - h;
  const Real early2 = (block2.inverseMass > 0 ? block2.duration : dt) - h;
  if (!(early1 > 0) && !(early2 > 0)) return point.gap;
  const Vec3 v1 = block1.velocity + cross(block1.angularVelocity, point.r1);
  const Vec3 v2 = block2.velocity + cross(block2.angularVelocity, point.r2);
  return point.gap + dot(point.normal, v1 * early1 - v2 * early2);
}

/// 1 / h; a step of no length stops no approach, so any large number serves.
[[nodiscard]] inline Real inverseDuration(Real h) { return h > Real(1e-12) ? 1 / h : Real(1e12); }

/// Gap at the end of the step: each block moves over its own duration, which is the whole step for
/// one that no force moves, whenever the other was in an impact.
[[nodiscard]] inline Real movedGap(const ImpulsePoint& point, const ImpulseBlock& block1,
                                   const ImpulseBlock& block2) {
  const bool moves1 = block1.inverseMass > 0, moves2 = block2.inverseMass > 0;
  const Vec3 d1 = moves1 ? block1.displacement : block1.duration * block1.velocity;
  const Vec3 d2 = moves2 ? block2.displacement : block2.duration * block2.velocity;
  const Vec3 turn1 = moves1 ? block1.rotation : block1.duration * block1.angularVelocity;
  const Vec3 turn2 = moves2 ? block2.rotation : block2.duration * block2.angularVelocity;
  return point.gap +
         dot(point.normal, (d1 - d2) + (cross(turn1, point.r1) - cross(turn2, point.r2)));
}

/// Least v_n over the time h.
[[nodiscard]] inline Real pointTarget(Real gap, Real h, Real dt, const ImpulseOptions& options) {
  if (gap > 0) return -gap * inverseDuration(h);
  if (options.correction != PositionCorrection::Baumgarte) return 0;
  return std::min(
      options.correctionRate * inverseDuration(dt) * std::max(-gap - options.slop, Real(0)),
      options.maxCorrectionSpeed);
}

/// Least speed of the position problem: out of what is deeper than the slop,
/// and into it as far as the slop allows.
[[nodiscard]] inline Real correctionTarget(Real gap, Real dt, const ImpulseOptions& options) {
  const Real excess = -gap - options.slop;
  if (excess <= 0) return excess * inverseDuration(dt);
  return std::min(options.correctionRate * inverseDuration(dt) * excess,
                  options.maxCorrectionSpeed);
}

}  // namespace tangere::solver
