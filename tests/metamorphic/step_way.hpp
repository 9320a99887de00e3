// SPDX-License-Identifier: Apache-2.0
//
// How bodies came through a step, from their motion alone.
#pragma once

#include "metamorphic/scene_case.hpp"

#include <tangere/simulator.hpp>

namespace tangere::test {

/// Of all bodies, or what gravity adds in a step [m/s].
[[nodiscard]] Real fastestOf(const Simulator& sim);

/// How a body came through a step. Under the impulse solver one that lands flies until then and
/// goes on with the velocity of the end: when that was follows from how far it came.
struct Way {
  Vec3 landing{};             ///< where its centre was when it landed, or at the start
  Vec3 rest{}, turn{};        ///< its way and rotation from there on
  Real unexplained = 0;       ///< the part of its way that is neither [m]
  Real time = 0;              ///< of the landing [s]
  Vec3 early{}, earlyTurn{};  ///< its way and rotation until then
  bool isPushed = false;
};

[[nodiscard]] Way wayOf(const Simulator& sim, const Case& scene, const State& start, int body);

/// The way of a body that nothing pushes, counted from `time` on.
[[nodiscard]] Way flown(Way way, const Case& scene, const Simulator& sim, const State& start,
                        int body, Real time);

}  // namespace tangere::test
