// SPDX-License-Identifier: Apache-2.0
//
// Accelerations and forces of the step that was taken last, as sensors feel them: means over the
// step, in the positions of its start.
#pragma once

#include "contact/sap_workspace.hpp"

#include <vector>

namespace tangere::sim {

/// A frame that a body carries; body -1: the world.
struct SensorFrame {
  int body = -1;
  Transform X_BF{};
};

struct FrameMotion {
  Transform pose{};  ///< X_WF
  Vec3 velocity{};   ///< of its origin, world
  Vec3 angularVelocity{};
  Vec3 acceleration{};  ///< without gravity: zero at rest
  Vec3 angularAcceleration{};
};

class LastStep {
 public:
  explicit LastStep(const model::ModelData& model) : trees_(model) {}

  /// Newton and Euler for every jointed tree with the accelerations of the step. After a step that
  /// kept its start.
  void update(const model::ModelData& model, const model::Workspace& ws,
              const contact::SapWorkspace& sap);

  /// After update(), of the same step.
  [[nodiscard]] FrameMotion motionOf(const SensorFrame& frame, const model::ModelData& model,
                                     const model::Workspace& ws,
                                     const contact::SapWorkspace& sap) const;
  /// What the parent (or the world) does to the body through its joints or weld, the torque about
  /// `point`. Nothing for a free body. Of a fixed body: what holds it against the contacts on it
  /// and the jointed bodies that it carries; the masses of fixed bodies are in no model.
  [[nodiscard]] dynamics::LinkWrench jointWrench(int body, const Vec3& point,
                                                 const model::ModelData& model,
                                                 const model::Workspace& ws) const;

 private:
  void addBodyDamping(const model::ModelData& model, const contact::SapWorkspace& sap);

  dynamics::TreeWorkspace trees_;             ///< in the positions of the start
  std::vector<dynamics::LinkWrench> ofBody_;  ///< from outside the joints
  std::vector<dynamics::LinkWrench> ofLink_;
  std::vector<Real> acceleration_, tau_;
};

}  // namespace tangere::sim
