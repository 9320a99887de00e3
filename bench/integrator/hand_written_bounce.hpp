// SPDX-License-Identifier: Apache-2.0
//
// A sphere that bounces on the ground, written for this one problem straight against CVODE: what a
// general program is measured by.
#pragma once

#include <cstdint>

namespace tangere::bench {

struct BounceProblem {
  double g = 9.81;         ///< [m/s^2]
  double height = 1;       ///< of the start, above touching [m]
  double mass = 0.001;     ///< [kg]
  double stiffness = 0;    ///< k of f = k depth^1.5 (1 + d rate) [N/m^1.5]
  double restitution = 0;  ///< of Flores' damping
  double smallSpeed = 0;   ///< slower approach does not bounce [m/s]
  double maxDamping = 0;   ///< [s/m]
  double endTime = 0;      ///< [s]
  double relativeTolerance = 0, absoluteTolerance = 0;
};

struct BounceResult {
  double height = 0, speed = 0;  ///< at the end, above touching, up
  double firstTouch = 0;         ///< [s]
  std::int64_t numSteps = 0, numDerivatives = 0, numJacobians = 0, numRoots = 0;
  int numEvents = 0;
  bool isDone = false;
};

[[nodiscard]] BounceResult runHandWrittenBounce(const BounceProblem& problem);

}  // namespace tangere::bench
