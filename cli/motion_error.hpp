// SPDX-License-Identifier: Apache-2.0
//
// How far one motion is from another, over time. The error of a body is the root mean square
// distance of its mass from where it should be, over the way that its mass travels in the reference
// or its own size, whichever is larger.
#pragma once

#include "motion.hpp"

#include <vector>

namespace tangere::cli {

/// What errors are measured by; all from the reference.
struct ErrorScales {
  std::vector<Real> way;   ///< of each tracked body over the whole time [m]
  std::vector<Real> body;  ///< the larger of way and size [m]
  Real impulse = 0;        ///< the largest impulse or momentum of any body [N s]
  Real energy = 0;         ///< the largest change of mechanical energy or the largest kinetic one,
                           ///< whichever is larger [J]
};
[[nodiscard]] ErrorScales scalesOf(const Motion& reference, const Tracking& tracking);

/// At the times of the grid, as far as both motions go.
struct ErrorCurve {
  std::vector<Real> worst;     ///< of all bodies
  std::vector<int> worstBody;  ///< which tracked one it is
  std::vector<Real> rms;       ///< over the bodies
  std::vector<Real> impulse;   ///< of the body with the largest difference
  std::vector<Real> energy;
};
[[nodiscard]] ErrorCurve errorBetween(const Motion& motion, const Motion& reference,
                                      const Tracking& tracking, const ErrorScales& scales);

/// Of a curve up to a time.
struct ErrorSummary {
  Real worst = 0;                ///< largest of all bodies and times
  int worstBody = -1;            ///< -1: nothing is wrong with any
  int worstTime = -1;            ///< index in the grid
  Real rms = 0;                  ///< over bodies and times
  Real impulse = 0, energy = 0;  ///< largest over the times
};
[[nodiscard]] ErrorSummary summarize(const ErrorCurve& curve, int numTimes);

/// Index of the first time at which the error is above `wanted`; the number of times if there is
/// none.
[[nodiscard]] int firstBeyond(const ErrorCurve& curve, Real wanted);

}  // namespace tangere::cli
