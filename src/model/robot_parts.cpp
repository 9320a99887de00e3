// SPDX-License-Identifier: Apache-2.0
#include "model/robot_parts.hpp"

#include <tangere/error.hpp>

#include "math/quat.hpp"
#include "math/transform.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace tangere::model {

namespace {

[[noreturn]] void reject(const std::string& message) { throw InvalidInput(message); }

void requireName(const std::string& name, const char* what) {
  if (name.empty()) reject(std::string("a ") + what + " needs a name");
}

void requireRange(Real lower, Real upper, const std::string& who, const char* what) {
  if (!(lower <= upper)) reject(who + "the range of " + what + " is empty");
}

void requireNotNegative(Real value, const std::string& who, const char* what) {
  if (!(value >= 0 && math::isFinite(value)))
    reject(who + what + " must be finite and not negative");
}

/// Names of one kind of part and where each is.
class NameTable {
 public:
  explicit NameTable(const char* kind) : kind_(kind) {}
  void add(const std::string& name, int index) {
    if (!table_.emplace(name, index).second)
      reject(std::string("two ") + kind_ + "s are called '" + name + "'");
  }
  [[nodiscard]] int find(const std::string& name, const std::string& who) const {
    const auto found = table_.find(name);
    if (found != table_.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& [key, index] : table_) known.push_back(key);
    reject(who + "no " + kind_ + " is called '" + name + "'" + nearNames(name, known));
  }

 private:
  const char* kind_;
  std::map<std::string, int> table_;
};

struct Names {
  NameTable bodies{"body"}, joints{"joint"}, sites{"site"}, tendons{"tendon"},
      actuators{"actuator"}, shapes{"shape"};
};

Names collectNames(const RobotParts& parts, const ModelData& data);
ModelTendon resolved(const Tendon& tendon, const Names& names, const ModelData& data);
ModelActuator resolved(const Actuator& actuator, const Names& names, ModelData& data);
ModelEquality resolved(const Equality& equality, const Names& names, const ModelData& data);
ModelSensor resolved(const Sensor& sensor, const Names& names, const ModelData& data);
ModelShapePair resolved(const ShapePairRule& rule, const Names& names);
void requireSizes(const Keyframe& keyframe, const ModelData& data);
ModelSchedule resolved(const ControlSchedule& schedule, const ModelData& data);
InitialPosition resolved(const StartPosition& start, const ModelData& data);
void keepAwake(ModelData& data);

}  // namespace

void require(const Site& site) {
  requireName(site.name, "site");
  const std::string who = "site '" + site.name + "': ";
  if (!math::isRigid(site.pose, Real(1e-6)))
    reject(who + "pose must be finite and its rotation a rotation");
  if (!math::isFinite(site.halfSize)) reject(who + "size must be finite [m]");
}

void require(const Tendon& tendon) {
  requireName(tendon.name, "tendon");
  const std::string who = "tendon '" + tendon.name + "': ";
  if (tendon.terms.empty() == tendon.path.empty())
    reject(who + "it needs either joints or a path through sites");
  for (const Tendon::Term& term : tendon.terms) {
    if (!math::isFinite(term.coefficient)) reject(who + "a coefficient must be finite");
  }
  int numSites = 0;  // since the last pulley
  for (std::size_t i = 0; i < tendon.path.size(); ++i) {
    const Tendon::Via& via = tendon.path[i];
    if (via.kind == Tendon::Via::Kind::Pulley) {
      if (!(via.divisor > 0 && math::isFinite(via.divisor)))
        reject(who + "the divisor of a pulley must be positive");
      if (i > 0 && numSites < 2) reject(who + "there must be two sites before a pulley");
      numSites = 0;
    } else {
      ++numSites;
    }
  }
  if (!tendon.path.empty() && numSites < 2) reject(who + "a path ends with at least two sites");
  requireRange(tendon.lower, tendon.upper, who, "its length");
  requireNotNegative(tendon.damping, who, "damping");
  requireNotNegative(tendon.frictionLoss, who, "friction loss");
  requireNotNegative(tendon.stiffness, who, "stiffness");
  requireNotNegative(tendon.armature, who, "armature");
  if (!math::isFinite(tendon.springLower) || !math::isFinite(tendon.springUpper))
    reject(who + "spring lengths must be finite [m]");
}

void require(const Actuator& actuator) {
  requireName(actuator.name, "actuator");
  const std::string who = "actuator '" + actuator.name + "': ";
  for (const Real g : actuator.gear) {
    if (!math::isFinite(g)) reject(who + "gear must be finite");
  }
  for (int i = 0; i < 3; ++i) {
    if (!math::isFinite(actuator.gain[i]) || !math::isFinite(actuator.bias[i]))
      reject(who + "gain and bias must be finite");
  }
  const bool isFilter = actuator.dynamics == Actuator::Dynamics::Filter ||
                        actuator.dynamics == Actuator::Dynamics::FilterExact;
  if (isFilter && !(actuator.timeConstant > 0 && math::isFinite(actuator.timeConstant)))
    reject(who + "time constant must be positive [s]");
  requireRange(actuator.lowerControl, actuator.upperControl, who, "control");
  requireRange(actuator.lowerForce, actuator.upperForce, who, "force");
  requireRange(actuator.lowerActivation, actuator.upperActivation, who, "activation");
}

void require(const Equality& equality) {
  requireName(equality.name, "equality");
  const std::string who = "equality '" + equality.name + "': ";
  if (!math::isFinite(equality.anchor) || !math::isFinite(equality.anchor2))
    reject(who + "anchors must be finite [m]");
  if (!math::isRigid(equality.relativePose, Real(1e-6)))
    reject(who + "relative pose must be finite and its rotation a rotation");
  for (const Real c : equality.polynomial) {
    if (!math::isFinite(c)) reject(who + "polynomial must be finite");
  }
  if (equality.type == Equality::Type::Distance) {
    if (!(equality.distance > 0 && math::isFinite(equality.distance)))
      reject(who + "distance must be positive [m]");
  }
}

void require(const Sensor& sensor) {
  requireName(sensor.name, "sensor");
  if (!(sensor.cutoff >= 0)) reject("sensor '" + sensor.name + "': cutoff must not be negative");
}

void require(const Keyframe& keyframe) {
  const std::string who = "keyframe '" + keyframe.name + "': ";
  if (!math::isFinite(keyframe.time)) reject(who + "time must be finite [s]");
  for (const std::vector<Real>* values :
       {&keyframe.q, &keyframe.v, &keyframe.activation, &keyframe.control}) {
    for (const Real value : *values) {
      if (!math::isFinite(value)) reject(who + "values must be finite");
    }
  }
}

void require(const ControlSchedule& schedule) {
  const std::string who = "schedule of '" + schedule.actuator + "': ";
  if (schedule.times.empty() || schedule.times.size() != schedule.values.size())
    reject(who + "expected as many times as values, at least one");
  for (std::size_t i = 0; i < schedule.times.size(); ++i) {
    if (!math::isFinite(schedule.times[i]) || !math::isFinite(schedule.values[i]))
      reject(who + "times and values must be finite");
    if (i > 0 && !(schedule.times[i] > schedule.times[i - 1])) reject(who + "times must ascend");
  }
}

void resolveParts(const RobotParts& parts, ModelData& data) {
  const Names names = collectNames(parts, data);
  for (const Site& site : parts.sites) {
    const std::string who = "site '" + site.name + "': ";
    data.sites.push_back(
        {.site = site, .body = site.body.empty() ? -1 : names.bodies.find(site.body, who)});
  }
  for (const Tendon& tendon : parts.tendons) data.tendons.push_back(resolved(tendon, names, data));
  for (const Actuator& actuator : parts.actuators)
    data.actuators.push_back(resolved(actuator, names, data));
  for (const Equality& equality : parts.equalities)
    data.equalities.push_back(resolved(equality, names, data));
  keepAwake(data);
  for (const Sensor& sensor : parts.sensors) {
    data.sensors.push_back(resolved(sensor, names, data));
    data.numSensorValues += sensorSize(sensor.type);
  }
  for (const ShapePairRule& rule : parts.shapePairs)
    data.shapePairs.push_back(resolved(rule, names));
  std::stable_sort(data.shapePairs.begin(), data.shapePairs.end(),
                   [](const ModelShapePair& a, const ModelShapePair& b) {
                     return std::pair(a.shape1, a.shape2) < std::pair(b.shape1, b.shape2);
                   });
  for (const Keyframe& keyframe : parts.keyframes) {
    requireSizes(keyframe, data);
    data.keyframes.push_back(keyframe);
  }
  for (const ControlSchedule& schedule : parts.schedules)
    data.schedules.push_back(resolved(schedule, data));
  for (const StartPosition& start : parts.starts)
    data.initialPositions.push_back(resolved(start, data));
}

namespace {

/// What an equality, a tendon or an actuator holds may be moved without a contact.
void keepAwake(ModelData& data) {
  const auto keep = [&](int body) {
    if (body >= 0) data.bodies[body].neverSleeps = true;
  };
  for (const ModelEquality& equality : data.equalities) {
    const Equality::Type type = equality.equality.type;
    if (type == Equality::Type::Joint || type == Equality::Type::Tendon) continue;
    keep(equality.first);
    keep(equality.second);
  }
  for (const ModelTendon& tendon : data.tendons) {
    for (const int site : tendon.sites) {
      if (site >= 0) keep(data.sites[site].body);
    }
  }
  for (const ModelActuator& actuator : data.actuators) {
    if (actuator.actuator.target == Actuator::Target::Site) keep(data.sites[actuator.target].body);
    if (actuator.actuator.target == Actuator::Target::Joint)
      keep(data.joints[actuator.target].body);
  }
}

Names collectNames(const RobotParts& parts, const ModelData& data) {
  Names names;
  for (std::size_t i = 0; i < data.bodies.size(); ++i)
    names.bodies.add(data.bodies[i].name, static_cast<int>(i));
  // The joint of a free body has the body's name, which another joint may have as well.
  std::vector<std::pair<std::string, int>> implied;
  for (std::size_t i = 0; i < data.joints.size(); ++i) {
    const ModelJoint& joint = data.joints[i];
    if (joint.joint.name != data.bodies[joint.body].name)
      names.joints.add(joint.joint.name, static_cast<int>(i));
    else
      implied.emplace_back(joint.joint.name, static_cast<int>(i));
  }
  for (const auto& [name, index] : implied) {
    try {
      names.joints.add(name, index);
    } catch (const InvalidInput&) {
      if (data.joints[index].joint.type != JointType::Free) throw;
    }
  }
  for (std::size_t i = 0; i < parts.sites.size(); ++i)
    names.sites.add(parts.sites[i].name, static_cast<int>(i));
  for (std::size_t i = 0; i < parts.tendons.size(); ++i)
    names.tendons.add(parts.tendons[i].name, static_cast<int>(i));
  for (std::size_t i = 0; i < parts.actuators.size(); ++i)
    names.actuators.add(parts.actuators[i].name, static_cast<int>(i));
  if (!parts.shapePairs.empty()) {
    for (std::size_t i = 0; i < data.shapes.size(); ++i) {
      if (!data.shapes[i].name.empty()) names.shapes.add(data.shapes[i].name, static_cast<int>(i));
    }
  }
  return names;
}

/// The trees that a tendon acts on.
void addTrees(const ModelTendon& tendon, const ModelData& data, std::set<int>* trees) {
  const auto add = [&](int body) {
    if (body >= 0 && data.linkOfBody[body] >= 0)
      trees->insert(data.links[data.linkOfBody[body]].tree);
  };
  for (const int joint : tendon.joints) add(data.joints[joint].body);
  for (const int site : tendon.sites) {
    if (site >= 0) add(data.sites[site].body);
  }
}

bool hasOneCoordinate(JointType type) { return numJointPositions(type) == 1; }

ModelTendon resolved(const Tendon& tendon, const Names& names, const ModelData& data) {
  const std::string who = "tendon '" + tendon.name + "': ";
  ModelTendon out{.tendon = tendon};
  for (const Tendon::Term& term : tendon.terms) {
    const int joint = names.joints.find(term.joint, who);
    if (!hasOneCoordinate(data.joints[joint].joint.type))
      reject(who + "joint '" + term.joint + "' has more than one coordinate");
    out.joints.push_back(joint);
  }
  for (const Tendon::Via& via : tendon.path) {
    out.sites.push_back(via.kind == Tendon::Via::Kind::Site ? names.sites.find(via.site, who) : -1);
  }
  std::set<int> trees;
  addTrees(out, data, &trees);
  if (trees.size() > 2) reject(who + "it joins more than two trees of bodies");
  return out;
}

/// An actuator keeps within the range of its joint.
void requireRange(const Actuator& actuator, const ModelJoint& joint) {
  const std::string who = "actuator '" + actuator.name + "': ";
  const Real lower = joint.joint.lowerActuatorForce, upper = joint.joint.upperActuatorForce;
  if (lower == -kUnlimited && upper == kUnlimited) return;
  if (numJointVelocities(joint.joint.type) > 1)
    reject(who + "a range of actuator forces needs a joint of one coordinate, not '" +
           joint.joint.name + "'");
  const Real gear = actuator.gear[0];
  if (gear == 0) return;
  const Real a = lower / gear, b = upper / gear;
  if (!(std::max(actuator.lowerForce, std::min(a, b)) <=
        std::min(actuator.upperForce, std::max(a, b))))
    reject(who + "no force is within its range and that of joint '" + joint.joint.name + "'");
}

ModelActuator resolved(const Actuator& actuator, const Names& names, ModelData& data) {
  const std::string who = "actuator '" + actuator.name + "': ";
  ModelActuator out{.actuator = actuator};
  switch (actuator.target) {
    case Actuator::Target::Joint:
      out.target = names.joints.find(actuator.targetName, who);
      if (const JointType type = data.joints[out.target].joint.type;
          type == JointType::Universal || type == JointType::Planar)
        reject(who + "a " + jointTypeName(type) + " joint has several axes: drive a joint of one");
      requireRange(actuator, data.joints[out.target]);
      break;
    case Actuator::Target::Tendon:
      out.target = names.tendons.find(actuator.targetName, who);
      break;
    case Actuator::Target::Site:
      out.target = names.sites.find(actuator.targetName, who);
      break;
  }
  if (actuator.dynamics != Actuator::Dynamics::None) out.activation = data.numActivations++;
  return out;
}

Transform startOf(const ModelData& data, int body) {
  return body < 0 ? Transform{} : data.bodies[body].startPose;
}

/// The body at the top of what is welded together; -1: what stands.
int weldOf(const ModelData& data, int body) {
  while (body >= 0) {
    if (data.bodies[body].type != BodyType::Dynamic) return -1;
    if (data.bodies[body].numJoints > 0) return body;
    body = data.bodies[body].parent;
  }
  return -1;
}

ModelEquality resolved(const Equality& equality, const Names& names, const ModelData& data) {
  const std::string who = "equality '" + equality.name + "': ";
  ModelEquality out{.equality = equality};
  switch (equality.type) {
    case Equality::Type::Joint:
      out.first = names.joints.find(equality.first, who);
      if (!equality.second.empty()) out.second = names.joints.find(equality.second, who);
      for (const int joint : {out.first, out.second}) {
        if (joint >= 0 && !hasOneCoordinate(data.joints[joint].joint.type))
          reject(who + "joint '" + data.joints[joint].joint.name +
                 "' has more than one coordinate");
      }
      break;
    case Equality::Type::Tendon:
      out.first = names.tendons.find(equality.first, who);
      if (!equality.second.empty()) out.second = names.tendons.find(equality.second, who);
      {
        std::set<int> trees;
        for (const int tendon : {out.first, out.second}) {
          if (tendon >= 0) addTrees(data.tendons[tendon], data, &trees);
        }
        if (trees.size() > 2) reject(who + "its tendons join more than two trees of bodies");
      }
      break;
    case Equality::Type::Connect:
    case Equality::Type::Weld:
    case Equality::Type::Distance: {
      out.first = names.bodies.find(equality.first, who);
      if (!equality.second.empty()) out.second = names.bodies.find(equality.second, who);
      const Transform X_21 = inverse(startOf(data, out.second)) * startOf(data, out.first);
      out.anchor1 = equality.anchor;
      const bool isWeld = equality.type == Equality::Type::Weld;
      if (equality.hasRelativePose) {
        out.anchor2 = isWeld ? inverse(equality.relativePose) * equality.anchor : equality.anchor2;
        out.rotation = equality.relativePose.rotation;
      } else {
        out.anchor2 = X_21 * equality.anchor;
        out.rotation = inverse(X_21).rotation;
      }
      if (weldOf(data, out.first) == weldOf(data, out.second))
        reject(who + "its two bodies cannot move against each other");
      break;
    }
  }
  return out;
}

ModelSensor resolved(const Sensor& sensor, const Names& names, const ModelData& data) {
  const std::string who = "sensor '" + sensor.name + "': ";
  ModelSensor out{.sensor = sensor, .start = data.numSensorValues};
  const auto findFrame = [&](Sensor::Frame frame, const std::string& name) {
    return frame == Sensor::Frame::Site ? names.sites.find(name, who)
                                        : names.bodies.find(name, who);
  };
  switch (sensor.type) {
    case SensorType::JointPosition:
    case SensorType::JointVelocity:
    case SensorType::JointLimitForce:
    case SensorType::JointActuatorForce:
      out.object = names.joints.find(sensor.object, who);
      if (!hasOneCoordinate(data.joints[out.object].joint.type))
        reject(who + "joint '" + sensor.object + "' has more than one coordinate");
      break;
    case SensorType::BallQuaternion:
    case SensorType::BallAngularVelocity:
      out.object = names.joints.find(sensor.object, who);
      if (data.joints[out.object].joint.type != JointType::Ball)
        reject(who + "joint '" + sensor.object + "' is no ball joint");
      break;
    case SensorType::TendonPosition:
    case SensorType::TendonVelocity:
      out.object = names.tendons.find(sensor.object, who);
      break;
    case SensorType::ActuatorPosition:
    case SensorType::ActuatorVelocity:
    case SensorType::ActuatorForce:
      out.object = names.actuators.find(sensor.object, who);
      break;
    case SensorType::Accelerometer:
    case SensorType::Gyro:
    case SensorType::Velocimeter:
    case SensorType::Magnetometer:
    case SensorType::Force:
    case SensorType::Torque:
    case SensorType::Touch:
      out.object = names.sites.find(sensor.object, who);
      break;
    case SensorType::ContactForce:
    case SensorType::SubtreeCenter:
    case SensorType::SubtreeLinearVelocity:
    case SensorType::SubtreeAngularMomentum:
      out.object = names.bodies.find(sensor.object, who);
      break;
    case SensorType::FramePosition:
    case SensorType::FrameQuaternion:
    case SensorType::FrameXAxis:
    case SensorType::FrameYAxis:
    case SensorType::FrameZAxis:
    case SensorType::FrameLinearVelocity:
    case SensorType::FrameAngularVelocity:
    case SensorType::FrameLinearAcceleration:
    case SensorType::FrameAngularAcceleration:
      out.object = findFrame(sensor.objectFrame, sensor.object);
      if (!sensor.reference.empty())
        out.reference = findFrame(sensor.referenceFrame, sensor.reference);
      break;
    case SensorType::Clock:
      break;
  }
  return out;
}

ModelShapePair resolved(const ShapePairRule& rule, const Names& names) {
  const int a = names.shapes.find(rule.shape1, "pair of shapes: ");
  const int b = names.shapes.find(rule.shape2, "pair of shapes: ");
  if (a == b) reject("pair of shapes: '" + rule.shape1 + "' never touches itself");
  return {.shape1 = std::min(a, b), .shape2 = std::max(a, b), .friction = rule.friction};
}

ModelSchedule resolved(const ControlSchedule& schedule, const ModelData& data) {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < data.actuators.size(); ++i) {
    const std::string& name = data.actuators[i].actuator.name;
    if (name == schedule.actuator) return {static_cast<int>(i), schedule.times, schedule.values};
    known.push_back(name);
  }
  reject("schedule: no actuator is called '" + schedule.actuator + "'" +
         nearNames(schedule.actuator, known));
}

InitialPosition resolved(const StartPosition& start, const ModelData& data) {
  std::vector<std::string> known;
  for (const ModelJoint& joint : data.joints) {
    known.push_back(joint.joint.name);
    if (joint.joint.name != start.joint) continue;
    const JointType type = joint.joint.type;
    if (type != JointType::Revolute && type != JointType::Prismatic && type != JointType::Screw)
      reject("start of joint '" + start.joint + "': it has more than one coordinate");
    if (!math::isFinite(start.position))
      reject("start of joint '" + start.joint + "': must be finite [m, rad]");
    return {joint.q, start.position};
  }
  reject("start: no joint is called '" + start.joint + "'" + nearNames(start.joint, known));
}

void requireSizes(const Keyframe& keyframe, const ModelData& data) {
  const auto requireSize = [&](const std::vector<Real>& values, std::size_t expected,
                               const char* what) {
    if (!values.empty() && values.size() != expected) {
      reject("keyframe '" + keyframe.name + "': " + what + " has " + std::to_string(values.size()) +
             " numbers, expected " + std::to_string(expected));
    }
  };
  requireSize(keyframe.q, data.startPositions.size(), "q");
  requireSize(keyframe.v, data.startVelocities.size(), "v");
  requireSize(keyframe.activation, static_cast<std::size_t>(data.numActivations), "activation");
  requireSize(keyframe.control, data.actuators.size(), "control");
}

}  // namespace

}  // namespace tangere::model
