// SPDX-License-Identifier: Apache-2.0
//
// Worlds of the accurate lane in which bodies stay in contact.
//
// Rigid contacts that last are springs of a short period, critically damped, with friction that is
// complete from a small speed on (EventOptions). Both are chosen so that what they change stays
// below the tolerances: a period of 1e-4 s is a depth of 2.5e-9 m under the weight, and a held body
// creeps at a part of 1e-8 m/s, less where the creep itself is measured. A shorter period would
// need positions to more digits than the tolerance of the lane, 1e-10, gives.
#pragma once

#include <tangere/model.hpp>

#include "verify_families.hpp"

namespace tangere::cli {

inline constexpr double kRestPeriod = 1e-4;  // [s]
inline constexpr double kSlipSpeed = 1e-8;   // [m/s]
/// Of what rolls: it slips at a small part of this.
inline constexpr double kRollingSlip = 1e-6;  // [m/s]
/// When a contact that was loaded has come to rest [s].
inline constexpr double kSettled = 20 * kRestPeriod;
/// Faster than this is no creep [m/s, rad/s].
inline constexpr double kMoving = 1e-6;

/// A parameter of a case. Throws InvalidInput when it is no number above 0.
[[nodiscard]] double positive(const Json& parameters, const char* name);

/// A plane, and bodies of one material, "stuff".
struct RestWorld {
  ModelBuilder builder;

  explicit RestWorld(const Vec3& gravity, double friction, bool hasPlane = true,
                     double slipSpeed = kSlipSpeed);
};

/// The same moment about all axes.
[[nodiscard]] MassProperties evenInertia(double mass, double moment);

}  // namespace tangere::cli
