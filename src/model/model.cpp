// SPDX-License-Identifier: Apache-2.0
#include <tangere/model.hpp>

#include "model/model_data.hpp"

#include <algorithm>

namespace tangere {

const char* contactKindName(ContactKind kind) {
  switch (kind) {
    case ContactKind::Points:
      return "points";
    case ContactKind::RigidRigid:
      return "rigid_rigid";
    case ContactKind::SoftRigid:
      return "soft_rigid";
    case ContactKind::SoftSoft:
      return "soft_soft";
    case ContactKind::SoftSelf:
      return "soft_self";
  }
  return "unknown";
}

const char* solverTypeName(SolverType type) {
  switch (type) {
    case SolverType::Impulse:
      return "impulse";
    case SolverType::Sap:
      return "sap";
    case SolverType::Event:
      return "event";
  }
  return "unknown";
}

int Model::numBodies() const { return static_cast<int>(data_->bodies.size()); }

std::string_view Model::bodyName(int body) const { return data_->bodies[body].name; }

int Model::findBody(std::string_view name) const { return model::findBody(*data_, name); }

int model::findBody(const ModelData& data, std::string_view name) {
  const auto found = std::lower_bound(
      data.bodies.begin(), data.bodies.end(), name,
      [](const ModelBody& body, std::string_view wanted) { return body.name < wanted; });
  if (found == data.bodies.end() || found->name != name) return -1;
  return static_cast<int>(found - data.bodies.begin());
}

BodyType Model::bodyType(int body) const { return data_->bodies[body].type; }

const MassProperties& Model::massProperties(int body) const { return data_->bodies[body].mass; }

int Model::numShapes() const { return static_cast<int>(data_->shapes.size()); }

int Model::bodyOfShape(int shape) const { return data_->shapes[shape].body; }

const std::shared_ptr<const Shape>& Model::shape(int shape) const {
  return data_->shapes[shape].shape;
}

const Transform& Model::shapePose(int shape) const { return data_->shapes[shape].pose; }

std::string_view Model::shapeName(int shape) const { return data_->shapes[shape].name; }

int Model::parentOf(int body) const { return data_->bodies[body].parent; }

int Model::numPositions() const {
  return static_cast<int>(model::FieldCounts(*data_).numPositions);
}

int Model::numVelocities() const {
  return static_cast<int>(model::FieldCounts(*data_).numVelocities);
}

int Model::numActivations() const { return data_->numActivations; }

int Model::numJoints() const { return static_cast<int>(data_->joints.size()); }

const Joint& Model::joint(int joint) const { return data_->joints[joint].joint; }

int Model::bodyOfJoint(int joint) const { return data_->joints[joint].body; }

int Model::positionOfJoint(int joint) const { return data_->joints[joint].q; }

int Model::velocityOfJoint(int joint) const { return data_->joints[joint].v; }

int Model::findJoint(std::string_view name) const {
  int found = -1;
  for (int i = 0; i < numJoints(); ++i) {
    if (joint(i).name != name) continue;
    if (joint(i).type != JointType::Free) return i;
    found = i;  // unless a joint proper has this name
  }
  return found;
}

int Model::numActuators() const { return static_cast<int>(data_->actuators.size()); }

const Actuator& Model::actuator(int actuator) const { return data_->actuators[actuator].actuator; }

int Model::findActuator(std::string_view name) const {
  for (int i = 0; i < numActuators(); ++i) {
    if (actuator(i).name == name) return i;
  }
  return -1;
}

int Model::numTendons() const { return static_cast<int>(data_->tendons.size()); }

const Tendon& Model::tendon(int tendon) const { return data_->tendons[tendon].tendon; }

int Model::numSites() const { return static_cast<int>(data_->sites.size()); }

const Site& Model::site(int site) const { return data_->sites[site].site; }

int Model::numEqualities() const { return static_cast<int>(data_->equalities.size()); }

const Equality& Model::equality(int equality) const { return data_->equalities[equality].equality; }

int Model::numSensors() const { return static_cast<int>(data_->sensors.size()); }

const Sensor& Model::sensor(int sensor) const { return data_->sensors[sensor].sensor; }

int Model::startOfSensor(int sensor) const { return data_->sensors[sensor].start; }

int Model::numSensorValues() const { return data_->numSensorValues; }

std::span<const Keyframe> Model::keyframes() const { return data_->keyframes; }

int Model::numSoftBodies() const { return static_cast<int>(data_->softs.size()); }

std::string_view Model::softBodyName(int soft) const { return data_->softs[soft].name; }

int Model::findSoftBody(std::string_view name) const {
  for (int i = 0; i < numSoftBodies(); ++i) {
    if (softBodyName(i) == name) return i;
  }
  return -1;
}

const TetMesh& Model::softMesh(int soft) const { return data_->softs[soft].mesh; }

int Model::firstVertexOf(int soft) const { return data_->softs[soft].firstVertex; }

int Model::numSoftVertices() const { return data_->numSoftVertices; }

Real Model::softMass(int soft) const {
  Real sum = 0;
  for (const Real mass : data_->softs[soft].elastic.mass) sum += mass;
  return sum;
}

namespace {

/// What is of the event solver and was given to another one.
void addUnusedOfEvent(const model::ModelData& data, std::vector<std::string>* out) {
  const std::string name = data.options.solver == SolverType::Sap ? "SAP" : "impulse";
  const auto isAny = [&](ContactModel wanted) {
    return std::any_of(data.shapes.begin(), data.shapes.end(), [&](const auto& shape) {
      return data.materials[shape.material].contact == wanted;
    });
  };
  if (isAny(ContactModel::Hertz))
    out->push_back("the law of Hertz is of the event solver: under the " + name +
                   " solver these contacts press as points");
  if (isAny(ContactModel::Observer))
    out->push_back("observers are of the event solver: under the " + name +
                   " solver their contacts press as points");
  const bool resists = std::any_of(data.materialPairs.begin(), data.materialPairs.end(),
                                   [](const auto& pair) { return pair.rollingResistance > 0; });
  if (resists) out->push_back("rolling resistance is not used by the " + name + " solver");
}

/// Whether something pulls at bodies that is neither a joint nor a contact.
bool hasOtherPulls(const model::ModelData& data) {
  const auto isAtSite = [](const model::ModelActuator& a) {
    return a.actuator.target == Actuator::Target::Site;
  };
  const auto isAlongSites = [](const model::ModelTendon& t) { return !t.sites.empty(); };
  return !data.equalities.empty() ||
         std::any_of(data.actuators.begin(), data.actuators.end(), isAtSite) ||
         std::any_of(data.tendons.begin(), data.tendons.end(), isAlongSites);
}

void addUnusedUnderEvent(const model::ModelData& data, std::vector<std::string>* out) {
  if (data.options.sleep.enabled) out->emplace_back("sleeping is not used by the event solver");
  bool isCompliantAndBounces = false;
  const std::size_t n = data.materials.size();
  for (std::size_t i = 0; i < n * n; ++i) {
    const model::ContactMaterial& pair = data.materialPairs[i];
    const bool isElastic = data.materials[i / n].contact == ContactModel::Hertz ||
                           data.materials[i % n].contact == ContactModel::Hertz;
    if (pair.stiffness < kUnlimited && pair.restitution > 0 && !isElastic)
      isCompliantAndBounces = true;
  }
  if (isCompliantAndBounces)
    out->emplace_back(
        "restitution is not used where points have a stiffness: what they give back follows from "
        "their dissipation");
  for (const model::ModelTendon& tendon : data.tendons) {
    if (tendon.tendon.armature > 0)
      out->emplace_back("armature of tendon '" + tendon.tendon.name +
                        "' is not used by the event solver");
  }
  if (!hasOtherPulls(data)) return;
  for (const model::ModelSensor& sensor : data.sensors) {
    if (sensor.sensor.type == SensorType::Force || sensor.sensor.type == SensorType::Torque)
      out->emplace_back("sensor '" + sensor.sensor.name +
                        "': what equalities, tendons along sites and actuators at sites do is not "
                        "in it under the event solver");
  }
}

}  // namespace

std::vector<std::string> Model::unused() const {
  std::vector<std::string> out;
  if (data_->options.solver == SolverType::Event) {
    addUnusedUnderEvent(*data_, &out);
    return out;
  }
  addUnusedOfEvent(*data_, &out);
  if (data_->options.solver != SolverType::Sap) return out;
  bool bounces = false, spins = false, rolls = false;
  for (const model::ContactMaterial& pair : data_->materialPairs) {
    bounces = bounces || pair.restitution > 0;
    spins = spins || pair.torsionalFriction > 0;
    rolls = rolls || pair.rollingFriction > 0;
  }
  if (bounces)
    out.emplace_back("restitution is not used by the SAP solver: contacts do not bounce");
  if (spins) out.emplace_back("torsional friction is not used by the SAP solver");
  if (rolls) out.emplace_back("rolling friction is not used by the SAP solver");
  if (data_->hasPressure && data_->options.sleep.enabled)
    out.emplace_back("sleeping is not used where bodies touch by pressure");
  return out;
}

const SimulationOptions& Model::options() const { return data_->options; }

std::uint64_t Model::hash() const { return data_->hash; }

}  // namespace tangere
