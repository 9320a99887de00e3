// SPDX-License-Identifier: Apache-2.0
//
// Readings of the sensors of a model. Positions and velocities are those of the State; forces and
// accelerations are means over the last step, in the frames of its start. Under the event solver
// they are those of the State as well; but those of contacts, which may be short, are means.
#pragma once

#include "sim/last_step.hpp"

#include <span>
#include <vector>

namespace tangere::sim {

/// What is read.
struct SensorInput {
  const model::ModelData& model;
  const State& state;
  const model::Workspace& ws;
  const contact::SapWorkspace& sap;
  std::span<const ContactForce> contacts;
  std::span<const PressurePolygon> pressureContacts;
  /// Whether the last step led to this state; without one, forces and accelerations are zero.
  bool hasStep = false;
  const InstantReadings* instant = nullptr;  ///< of the event solver
};

/// Field of the earth at every place, world axes: as MuJoCo has it.
inline constexpr Vec3 kMagneticField{0, -0.5, 0};

class Sensors {
 public:
  explicit Sensors(const model::ModelData& model);

  /// All readings, in the order of the sensors; good until the next call.
  [[nodiscard]] std::span<const Real> read(const SensorInput& in);

 private:
  LastStep lastStep_;
  bool needsLastStep_ = false;
  std::vector<Real> values_;
};

}  // namespace tangere::sim
