// SPDX-License-Identifier: Apache-2.0
#include <tangere/articulation.hpp>

namespace tangere {

const char* jointTypeName(JointType type) {
  switch (type) {
    case JointType::Free:
      return "free";
    case JointType::Ball:
      return "ball";
    case JointType::Revolute:
      return "revolute";
    case JointType::Prismatic:
      return "prismatic";
    case JointType::Screw:
      return "screw";
    case JointType::Universal:
      return "universal";
    case JointType::Planar:
      return "planar";
  }
  return "unknown";
}

int numJointVelocities(JointType type) {
  switch (type) {
    case JointType::Free:
      return 6;
    case JointType::Ball:
    case JointType::Planar:
      return 3;
    case JointType::Universal:
      return 2;
    case JointType::Revolute:
    case JointType::Prismatic:
    case JointType::Screw:
      return 1;
  }
  return 0;
}

int numJointPositions(JointType type) {
  const bool hasQuaternion = type == JointType::Free || type == JointType::Ball;
  return numJointVelocities(type) + (hasQuaternion ? 1 : 0);
}

Actuator Actuator::motor(std::string name, std::string joint, Real gear) {
  return {.name = std::move(name), .targetName = std::move(joint), .gear = {gear, 0, 0, 0, 0, 0}};
}

Actuator Actuator::position(std::string name, std::string joint, Real kp, Real kd) {
  return {.name = std::move(name),
          .targetName = std::move(joint),
          .gain = {kp, 0, 0},
          .bias = {0, -kp, -kd}};
}

Actuator Actuator::velocity(std::string name, std::string joint, Real kd) {
  return {.name = std::move(name),
          .targetName = std::move(joint),
          .gain = {kd, 0, 0},
          .bias = {0, 0, -kd}};
}

int sensorSize(SensorType type) {
  switch (type) {
    case SensorType::JointPosition:
    case SensorType::JointVelocity:
    case SensorType::JointLimitForce:
    case SensorType::TendonPosition:
    case SensorType::TendonVelocity:
    case SensorType::ActuatorPosition:
    case SensorType::ActuatorVelocity:
    case SensorType::ActuatorForce:
    case SensorType::JointActuatorForce:
    case SensorType::Touch:
    case SensorType::Clock:
      return 1;
    case SensorType::BallQuaternion:
    case SensorType::FrameQuaternion:
      return 4;
    case SensorType::BallAngularVelocity:
    case SensorType::Accelerometer:
    case SensorType::Gyro:
    case SensorType::Velocimeter:
    case SensorType::Magnetometer:
    case SensorType::Force:
    case SensorType::Torque:
    case SensorType::ContactForce:
    case SensorType::FramePosition:
    case SensorType::FrameXAxis:
    case SensorType::FrameYAxis:
    case SensorType::FrameZAxis:
    case SensorType::FrameLinearVelocity:
    case SensorType::FrameAngularVelocity:
    case SensorType::FrameLinearAcceleration:
    case SensorType::FrameAngularAcceleration:
    case SensorType::SubtreeCenter:
    case SensorType::SubtreeLinearVelocity:
    case SensorType::SubtreeAngularMomentum:
      return 3;
  }
  return 0;
}

}  // namespace tangere
