// SPDX-License-Identifier: Apache-2.0
//
// Accelerations and forces of the step that was taken last, as sensors feel them: means over the
// step, in the positions of its start.
#pragma once

#include "contact/sap_workspace.hpp"

#include <span>
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

/// What the event solver knows of the instant of a State.
struct InstantReadings {
  std::vector<Real> accelerations;           ///< rates of the velocities, in tree order
  std::vector<dynamics::LinkWrench> ofBody;  ///< contacts and applied forces, about the centres
  std::vector<Real> actuatorForces;
  std::vector<Real> actuatorTau;  ///< of all actuators on each velocity, in tree order
  std::vector<Real> limitForces;  ///< of each joint
};

class LastStep {
 public:
  explicit LastStep(const model::ModelData& model) : trees_(model) {}

  /// The same of an instant instead of a step: then motionOf() and jointWrench() are of that State.
  void update(const model::ModelData& model, const State& state, const InstantReadings& instant);

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
  void addBodyDamping(const model::ModelData& model, std::span<const Real> velocities);
  [[nodiscard]] const Transform& poseOf(int body, const model::Workspace& ws) const {
    return poses_.empty() ? ws.bodyPose[body] : poses_[static_cast<std::size_t>(body)];
  }

  dynamics::TreeWorkspace trees_;             ///< in the positions of the start
  std::vector<dynamics::LinkWrench> ofBody_;  ///< from outside the joints
  std::vector<dynamics::LinkWrench> ofLink_;
  std::vector<Real> acceleration_, tau_;
  // Of an instant alone.
  std::vector<Transform> poses_;
  std::vector<Vec3> velocity_, angularVelocity_;  ///< of the centres
};

}  // namespace tangere::sim
