// SPDX-License-Identifier: Apache-2.0
//
// What a user may choose about the solvers of a step.
#pragma once

#include <tangere/config.hpp>

#include <cstdint>

namespace tangere {

enum class PositionCorrection : std::uint8_t {
  SplitImpulse,  ///< moves bodies apart without touching their velocities
  Baumgarte,     ///< a velocity bias; simple, but it turns depth into kinetic energy
  None,
};

/// The impulse solver.
struct ImpulseOptions {
  /// Islands with at most this many contact points are solved by the active set, to rounding.
  int maxExactPoints = 8;
  /// Larger islands: sub-steps of the step, and sweeps over the points in each.
  int numSubsteps = 1;
  int numSweeps = 10;
  /// Where those sweeps do not reach the tolerance: times that steps of conjugate gradients (with
  /// the contacts as they then are) and as many sweeps again follow. They end what sweeps hardly
  /// change, the swaying of a tower.
  int numProjections = 2;
  int numProjectionSteps = 10;
  /// Sweeps end when no impulse changed a velocity by more than this [m/s].
  Real tolerance = 1e-8;
  PositionCorrection correction = PositionCorrection::SplitImpulse;
  Real correctionRate = 0.2;      ///< part of the error beyond the slop that one step removes
  Real slop = 1e-4;               ///< depth left in peace, so that contacts stay [m]
  Real maxCorrectionSpeed = 5.0;  ///< [m/s]
  int numCorrectionSweeps = 8;
};

}  // namespace tangere
