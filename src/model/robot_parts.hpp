// SPDX-License-Identifier: Apache-2.0
//
// Sites, tendons, actuators, equalities, sensors and keyframes: checked as they come, and tied to
// the bodies and joints they name when the model is built.
#pragma once

#include "model/model_data.hpp"

namespace tangere::model {

struct RobotParts {
  std::vector<Site> sites;
  std::vector<Tendon> tendons;
  std::vector<Actuator> actuators;
  std::vector<Equality> equalities;
  std::vector<Sensor> sensors;
  std::vector<Keyframe> keyframes;
  std::vector<ControlSchedule> schedules;
  std::vector<StartPosition> starts;
  std::vector<ShapePairRule> shapePairs;

  [[nodiscard]] bool isEmpty() const {
    return sites.empty() && tendons.empty() && actuators.empty() && equalities.empty() &&
           sensors.empty() && keyframes.empty() && schedules.empty() && starts.empty() &&
           shapePairs.empty();
  }
};

// Each throws InvalidInput on numbers that cannot be simulated.
void require(const Site& site);
void require(const Tendon& tendon);
void require(const Actuator& actuator);
void require(const Equality& equality);
void require(const Sensor& sensor);
void require(const Keyframe& keyframe);
void require(const ControlSchedule& schedule);

/// Finds what the parts name. `data` has its bodies, shapes and trees. Throws InvalidInput with
/// near names.
void resolveParts(const RobotParts& parts, ModelData& data);

}  // namespace tangere::model
