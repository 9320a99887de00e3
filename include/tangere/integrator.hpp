// SPDX-License-Identifier: Apache-2.0
//
// What the event solver tells about contacts: when they began and ended, and what they are like at
// an instant. Its options are in solver_options.hpp, its force laws in material.hpp.
#pragma once

#include <tangere/model.hpp>

#include <cstdint>
#include <string>

namespace tangere {

/// Why the integration stopped at an instant.
enum class EventCause : std::uint8_t {
  ContactBegins,  ///< z[2]: two shapes that were apart penetrate
  ContactEnds,    ///< z[1]: two shapes that touched come apart
  Impact,         ///< z[2]: rigid bodies bounce off each other, without duration
  ForceVanishes,  ///< z[3]: the damping of a contact that is pulled open has used up its force
  ForceReturns,   ///< z[3]: and it pushes again
};
/// "z[1]", "z[2]", "z[3]".
[[nodiscard]] const char* eventSignalName(EventCause cause);

struct EventRecord {
  Real time = 0;  ///< [s]
  EventCause cause = EventCause::ContactBegins;
  int body1 = -1, body2 = -1;
  int shape1 = -1, shape2 = -1;
  Real distance = 0;       ///< that crossed zero, hysteresis included [m]
  Vec3 normal{};           ///< from body 2 to body 1
  Vec3 position{};         ///< world
  Real approachSpeed = 0;  ///< when the contact began [m/s]
  Real stiffness = 0;      ///< c_res of the law of Hertz [Pa], or of a point [N/m]; 0: a rigid one
  Real damping = 0;        ///< d_res [s/m]
  bool isRestart = true;   ///< the integrator started anew
};

/// The lines of a log:
///   State event (zero-crossing) at time = 2.385... s (due to z[2])
///       distance(ground,sphere) = -2.0001204970840633e-13 became <= 0
///       contact normal = [...], contact position = [...], c_res = 1.1e11 d_res = 22.0
///       restart = Restart
[[nodiscard]] std::string describe(const EventRecord& event, const Model& model);

/// A contact at an instant. Vectors are in the axes of the frame that was asked for; forces act on
/// body 1.
struct ContactResult {
  int body1 = -1, body2 = -1;
  int shape1 = -1, shape2 = -1;
  Real penetration = 0;      ///< [m]
  Real penetrationRate = 0;  ///< > 0: going deeper [m/s]
  Real tangentialSpeed = 0;  ///< of body 1 against body 2 [m/s]
  Real angularSpeed = 0;     ///< of body 1 against body 2 [rad/s]
  Real normalForce = 0;      ///< [N]
  Real tangentialForce = 0;  ///< [N]
  Real torqueSize = 0;       ///< of rolling resistance [N m]
  Vec3 position{};           ///< in the frame [m]
  Vec3 normal{};             ///< from body 2 to body 1
  Vec3 force{}, torque{};    ///< torque about the point [N, N m]
};

/// The work of the integrator.
struct EventStatistics {
  std::int64_t numSteps = 0;
  std::int64_t numDerivatives = 0;  ///< evaluations of accelerations, Jacobians included
  std::int64_t numJacobians = 0;
  std::int64_t numZeroCrossings = 0;  ///< evaluations of the root functions
  std::int64_t numRestarts = 0;
  std::int64_t numEvents = 0;
};

}  // namespace tangere
