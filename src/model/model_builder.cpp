// SPDX-License-Identifier: Apache-2.0
//
// Checks what a user gives, completes it (mass from shapes, material pairs) and lays it out.
#include <tangere/error.hpp>
#include <tangere/model.hpp>

#include "core/assert.hpp"
#include "core/stable_sort.hpp"
#include "geometry/mass_properties.hpp"
#include "math/symmetric_eigen.hpp"
#include "math/transform.hpp"
#include "model/flush_groups.hpp"
#include "model/model_data.hpp"
#include "model/model_hash.hpp"
#include "model/requirements.hpp"
#include "model/robot_parts.hpp"
#include "model/soft_bodies.hpp"
#include "model/start_overlaps.hpp"
#include "model/tree_layout.hpp"

#include <algorithm>
#include <cmath>

namespace tangere {

namespace {

constexpr const char* kDefaultMaterial = "default";
/// Poses come from files with rounded digits: this far from a rotation is still taken for one.
constexpr Real kRotationTolerance = 1e-6;

const std::string& nameOf(const model::ModelBody& body) { return body.name; }
const std::string& nameOf(const model::ModelActuator& actuator) { return actuator.actuator.name; }
int findMaterial(const std::vector<Material>& materials, const std::string& name,
                 const std::string& who);
bool isJointed(const Body& body) { return !body.parent.empty() || !body.joints.empty(); }
/// A link that only joins others.
bool isMassless(const MassProperties& mass) { return mass.mass == 0 && mass.inertia == Mat3{}; }
std::vector<BodyShape> withoutCompounds(const std::vector<BodyShape>& shapes);
MassProperties massOfShapes(const Body& body, const std::vector<Material>& materials);
Mat3 inverseOf(const Mat3& inertia);
Real reachOf(const Shape& shape, const Transform& pose, const Vec3& from);
[[noreturn]] void reject(const std::string& message) { throw InvalidInput(message); }

}  // namespace

struct ModelBuilder::Impl {
  SimulationOptions options;
  std::vector<Material> materials;
  std::vector<MaterialPair> pairs;
  std::vector<Body> bodies;
  std::vector<SoftBody> softs;
  std::vector<std::pair<std::string, std::string>> excluded;
  model::RobotParts parts;

  [[nodiscard]] std::vector<Material> sortedMaterials() const;
  [[nodiscard]] std::vector<std::string> bodyNames() const;
  void addBodyTo(model::ModelData& data, const Body& body) const;
  void fillPairTable(model::ModelData& data) const;
  void fillExcluded(model::ModelData& data) const;
  [[nodiscard]] bool isSoft(const std::string& name) const;
  /// Pairs of which at least one is a soft body.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> excludedSofts() const;
};

ModelBuilder::ModelBuilder() : impl_(std::make_unique<Impl>()) {}
ModelBuilder::~ModelBuilder() = default;
ModelBuilder::ModelBuilder(ModelBuilder&&) noexcept = default;
ModelBuilder& ModelBuilder::operator=(ModelBuilder&&) noexcept = default;

void ModelBuilder::setOptions(const SimulationOptions& options) {
  model::requireOptions(options);
  impl_->options = options;
}

const SimulationOptions& ModelBuilder::options() const { return impl_->options; }

void ModelBuilder::addMaterial(const Material& material) {
  model::requireMaterial(material);
  for (const Material& other : impl_->materials) {
    if (other.name == material.name) reject("material '" + material.name + "' exists already");
  }
  impl_->materials.push_back(material);
}

void ModelBuilder::addPair(const MaterialPair& pair) {
  const Material checked{.name = pair.material1 + "/" + pair.material2,
                         .friction = pair.friction.value_or(0),
                         .restitution = pair.restitution.value_or(0),
                         .torsionalFriction = pair.torsionalFriction.value_or(0),
                         .rollingFriction = pair.rollingFriction.value_or(0),
                         .stiffness = pair.stiffness.value_or(kUnlimited),
                         .relaxationTime = pair.relaxationTime.value_or(0),
                         .dissipation = pair.dissipation.value_or(0),
                         .rollingResistance = pair.rollingResistance.value_or(0)};
  model::requireMaterial(checked);
  const auto isSmall = [](const std::optional<Real>& value) {
    return !value || (*value > 0 && math::isFinite(*value));
  };
  if (!isSmall(pair.smallSpeed))
    reject("material '" + checked.name + "': small speed must be positive and finite [m/s]");
  if (!isSmall(pair.smallSpin))
    reject("material '" + checked.name + "': small spin must be positive and finite [rad/s]");
  for (const MaterialPair& other : impl_->pairs) {
    const bool isSame = other.material1 == pair.material1 && other.material2 == pair.material2;
    const bool isSwapped = other.material1 == pair.material2 && other.material2 == pair.material1;
    if (isSame || isSwapped) {
      reject("pair of materials '" + pair.material1 + "' and '" + pair.material2 +
             "' exists already");
    }
  }
  impl_->pairs.push_back(pair);
}

void ModelBuilder::addBody(const Body& body) {
  TANGERE_REQUIRE(!body.name.empty(), "a body needs a name");
  const std::string who = "body '" + body.name + "': ";
  if (!math::isRigid(body.pose, kRotationTolerance))
    reject(who + "pose must be finite and its rotation a rotation");
  if (!math::isFinite(body.linearVelocity) || !math::isFinite(body.angularVelocity))
    reject(who + "velocity must be finite [m/s, rad/s]");
  if (!(body.linearDamping >= 0 && body.angularDamping >= 0 &&
        math::isFinite(body.linearDamping + body.angularDamping)))
    reject(who + "damping must be finite and not negative [1/s]");
  if (!math::isFinite(body.gravityScale)) reject(who + "gravity scale must be finite");
  for (const BodyShape& shape : body.shapes) {
    if (shape.shape == nullptr) reject(who + "a shape is missing");
    if (!math::isRigid(shape.pose, kRotationTolerance))
      reject(who + "the pose of a shape must be finite and its rotation a rotation");
    const ShapeType type = shape.shape->type();
    const bool isSurface = type == ShapeType::Plane || type == ShapeType::HeightField;
    if (isSurface && body.type == BodyType::Dynamic)
      reject(who + "a " + std::string(shapeTypeName(type)) + " belongs to a fixed body");
  }
  if (body.massProperties && !(isJointed(body) && isMassless(*body.massProperties)))
    model::requireMass(*body.massProperties, body.name);
  if (isJointed(body) && body.type != BodyType::Dynamic)
    reject(who + "a body with a parent or joints is dynamic");
  if (isJointed(body) && !(body.linearVelocity == Vec3{} && body.angularVelocity == Vec3{}))
    reject(who + "a jointed body starts at rest; give its velocities to the simulator");
  for (const Joint& joint : body.joints) model::requireJoint(joint, body);
  if (body.type == BodyType::Fixed &&
      !(body.linearVelocity == Vec3{} && body.angularVelocity == Vec3{}))
    reject(who + "a fixed body has no velocity; use a kinematic one");
  impl_->bodies.push_back(body);
}

void ModelBuilder::addSoftBody(const SoftBody& soft) {
  model::require(soft);
  impl_->softs.push_back(soft);
}

void ModelBuilder::excludePair(std::string_view body1, std::string_view body2) {
  if (body1 == body2) reject("a body never touches itself: '" + std::string(body1) + "'");
  impl_->excluded.emplace_back(body1, body2);
}

void ModelBuilder::addShapePair(const ShapePairRule& rule) {
  if (!(rule.friction <= 1000)) reject("pair of shapes: friction must be at most 1000");
  impl_->parts.shapePairs.push_back(rule);
}
void ModelBuilder::addSite(const Site& site) {
  model::require(site);
  impl_->parts.sites.push_back(site);
}
void ModelBuilder::addTendon(const Tendon& tendon) {
  model::require(tendon);
  impl_->parts.tendons.push_back(tendon);
}
void ModelBuilder::addActuator(const Actuator& actuator) {
  model::require(actuator);
  impl_->parts.actuators.push_back(actuator);
}
void ModelBuilder::addEquality(const Equality& equality) {
  model::require(equality);
  impl_->parts.equalities.push_back(equality);
}
void ModelBuilder::addSensor(const Sensor& sensor) {
  model::require(sensor);
  impl_->parts.sensors.push_back(sensor);
}
void ModelBuilder::addKeyframe(const Keyframe& keyframe) {
  model::require(keyframe);
  impl_->parts.keyframes.push_back(keyframe);
}

void ModelBuilder::addSchedule(const ControlSchedule& schedule) {
  model::require(schedule);
  impl_->parts.schedules.push_back(schedule);
}
void ModelBuilder::addStartPosition(const StartPosition& start) {
  impl_->parts.starts.push_back(start);
}

Model ModelBuilder::build() const {
  auto data = std::make_shared<model::ModelData>();
  data->options = impl_->options;
  data->materials = impl_->sortedMaterials();

  std::vector<const Body*> sorted;
  for (const Body& body : impl_->bodies) sorted.push_back(&body);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Body* a, const Body* b) { return a->name < b->name; });
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i]->name == sorted[i - 1]->name)
      reject("two bodies are called '" + sorted[i]->name + "'");
  }
  std::size_t numShapes = 0;
  for (const Body* body : sorted) numShapes += body->shapes.size();
  data->bodies.reserve(sorted.size());
  data->shapes.reserve(numShapes);
  for (const Body* body : sorted) impl_->addBodyTo(*data, *body);
  impl_->fillPairTable(*data);
  model::groupFlushShapes(*data);
  impl_->fillExcluded(*data);
  for (const Body& body : impl_->bodies)
    data->creationOrder.push_back(model::findBody(*data, body.name));
  const bool isRobot =
      !impl_->parts.isEmpty() || std::any_of(impl_->bodies.begin(), impl_->bodies.end(), isJointed);
  if (!impl_->softs.empty() && data->options.solver != SolverType::Sap)
    reject("soft bodies need the SAP solver; soft body '" + impl_->softs.front().name + "'");
  if (isRobot && data->options.solver == SolverType::Impulse)
    reject(
        "joints, actuators, sensors and the like need the SAP solver; the impulse solver "
        "moves free bodies alone");
  if (data->options.solver != SolverType::Impulse) {
    model::layOutTrees(impl_->bodies, *data);
    model::excludeNeighbours(impl_->bodies, *data);
    std::stable_sort(data->excludedBodies.begin(), data->excludedBodies.end());
    model::resolveParts(impl_->parts, *data);
    model::layOutSoftBodies(impl_->softs, *data);
    model::excludeSofts(impl_->excludedSofts(), *data);
    model::preparePressure(*data);
    model::excludeStartOverlaps(*data);
  }
  model::requireHertz(*data);
  data->isRobot = isRobot || !impl_->softs.empty();
  data->hash = model::hashOf(*data);
  return Model(std::move(data));
}

namespace {

void forgetTrees(model::ModelData& data) {
  data.trees.clear();
  data.links.clear();
  data.treeJoints.clear();
  data.dofs.clear();
  data.linkOfBody.clear();
  data.joints.clear();
  data.startPositions.clear();
  data.startVelocities.clear();
  data.numPositions = data.numVelocities = 0;
}

}  // namespace

Model Model::withOptions(const SimulationOptions& options) const {
  model::requireOptions(options);
  auto data = std::make_shared<model::ModelData>(*data_);
  data->options = options;
  if (data->isRobot && options.solver == SolverType::Impulse)
    reject(
        "this model has joints, drives or soft bodies: the impulse solver moves free rigid bodies "
        "alone");
  if (!data->softs.empty() && options.solver == SolverType::Event)
    reject("soft bodies need the SAP solver; soft body '" + data->softs[0].name + "'");
  if (options.solver == SolverType::Impulse) forgetTrees(*data);
  const bool hasTrees = data_->options.solver != SolverType::Impulse;
  if (!hasTrees && options.solver != SolverType::Impulse) {
    std::vector<Body> freeBodies;
    for (const int index : data->creationOrder)
      freeBodies.push_back({.name = data->bodies[index].name, .type = data->bodies[index].type});
    model::layOutTrees(freeBodies, *data);
  }
  model::preparePressure(*data);
  model::excludeStartOverlaps(*data);
  model::requireHertz(*data);
  data->hash = model::hashOf(*data);
  return Model(std::move(data));
}

Model Model::withParameters(const ModelParameters& parameters) const {
  auto data = std::make_shared<model::ModelData>(*data_);
  const auto unknown = [](const char* kind, const std::string& name, const auto& all) {
    std::vector<std::string> known;
    for (const auto& one : all) known.push_back(nameOf(one));
    reject(std::string("no ") + kind + " is called '" + name + "'" + nearNames(name, known));
  };
  for (const ModelParameters::MassScale& mass : parameters.masses) {
    const int index = findBody(mass.body);
    if (index < 0) unknown("body", mass.body, data->bodies);
    if (!(mass.factor > 0 && math::isFinite(mass.factor)))
      reject("body '" + mass.body + "': the factor of the mass must be positive");
    model::ModelBody& body = data->bodies[index];
    body.mass.mass *= mass.factor;
    for (Vec3& column : body.mass.inertia.col) column *= mass.factor;
    if (body.inverseMass > 0) {
      body.inverseMass = 1 / body.mass.mass;
      body.inverseInertia = inverseOf(body.mass.inertia);
    }
  }
  for (const ModelParameters::Friction& friction : parameters.frictions) {
    const int index = findMaterial(data->materials, friction.material, "");
    data->materials[index].friction = friction.friction;
    model::requireMaterial(data->materials[index]);
  }
  const std::size_t n = data->materials.size();
  for (std::size_t i = 0; i < n * n; ++i) {
    if (data->isFrictionGiven[i]) continue;
    data->materialPairs[i].friction =
        std::sqrt(data->materials[i / n].friction * data->materials[i % n].friction);
  }
  for (const ModelParameters::Gains& gains : parameters.gains) {
    const int index = findActuator(gains.actuator);
    if (index < 0) unknown("actuator", gains.actuator, data->actuators);
    Actuator& actuator = data->actuators[index].actuator;
    actuator.gain = gains.gain;
    actuator.bias = gains.bias;
    model::require(actuator);
  }
  data->hash = model::hashOf(*data);
  return Model(std::move(data));
}

std::vector<Material> ModelBuilder::Impl::sortedMaterials() const {
  std::vector<Material> sorted = materials;
  const auto isDefault = [](const Material& m) { return m.name == kDefaultMaterial; };
  if (std::none_of(sorted.begin(), sorted.end(), isDefault))
    sorted.push_back({.name = kDefaultMaterial});
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Material& a, const Material& b) { return a.name < b.name; });
  return sorted;
}

std::vector<std::string> ModelBuilder::Impl::bodyNames() const {
  std::vector<std::string> names;
  for (const Body& body : bodies) names.push_back(body.name);
  return names;
}

namespace {

int findMaterial(const std::vector<Material>& materials, const std::string& name,
                 const std::string& who) {
  const std::string wanted = name.empty() ? kDefaultMaterial : name;
  for (std::size_t i = 0; i < materials.size(); ++i) {
    if (materials[i].name == wanted) return static_cast<int>(i);
  }
  std::vector<std::string> known;
  known.reserve(materials.size());
  for (const Material& material : materials) known.push_back(material.name);
  reject(who + "no material is called '" + wanted + "'" + nearNames(wanted, known));
}

}  // namespace

void ModelBuilder::Impl::addBodyTo(model::ModelData& data, const Body& body) const {
  const std::string who = "body '" + body.name + "': ";
  const int index = static_cast<int>(data.bodies.size());
  model::ModelBody out{.name = body.name,
                       .type = body.type,
                       .startPose = body.pose,
                       .startVelocity = body.linearVelocity,
                       .startAngularVelocity = body.angularVelocity,
                       .linearDamping = body.linearDamping,
                       .angularDamping = body.angularDamping,
                       .gravityScale = body.gravityScale,
                       .firstShape = static_cast<int>(data.shapes.size())};
  if (body.type == BodyType::Dynamic) {
    for (const BodyShape& shape : body.shapes)  // before the mass, which needs their density
      (void)findMaterial(data.materials, shape.material, who);
    const bool hasMass = body.massProperties ? !isMassless(*body.massProperties)
                                             : !(isJointed(body) && body.shapes.empty());
    if (hasMass || !isJointed(body)) {
      out.mass = body.massProperties ? *body.massProperties : massOfShapes(body, data.materials);
      model::requireMass(out.mass, body.name);
      out.inverseMass = 1 / out.mass.mass;
      out.inverseInertia = inverseOf(out.mass.inertia);
    } else if (body.massProperties) {
      out.mass.center = body.massProperties->center;
    }
  }
  for (const BodyShape& shape : withoutCompounds(body.shapes)) {
    const ShapeType type = shape.shape->type();
    data.shapes.push_back({.body = index,
                           .shape = shape.shape,
                           .pose = shape.pose,
                           .material = findMaterial(data.materials, shape.material, who),
                           .group = shape.group,
                           .mask = shape.mask,
                           .isOneSideEnough = shape.isOneSideEnough,
                           .name = shape.name,
                           .reach = reachOf(*shape.shape, shape.pose, out.mass.center),
                           .isFlatFaced = type == ShapeType::Box || type == ShapeType::Convex ||
                                          type == ShapeType::Plane || type == ShapeType::Mesh ||
                                          type == ShapeType::HeightField,
                           .mayWarmStart = type == ShapeType::Box || type == ShapeType::Convex});
  }
  out.numShapes = static_cast<int>(data.shapes.size()) - out.firstShape;
  data.bodies.push_back(std::move(out));
}

namespace {

Real inSeries(Real k1, Real k2) {
  if (k1 == kUnlimited) return k2;
  if (k2 == kUnlimited) return k1;
  return k1 * k2 / (k1 + k2);
}

/// The softer surface moves more, and counts more.
Real combinedDissipation(const Material& a, const Material& b) {
  if (a.stiffness == kUnlimited && b.stiffness == kUnlimited)
    return (a.dissipation + b.dissipation) / 2;
  if (a.stiffness == kUnlimited) return b.dissipation;
  if (b.stiffness == kUnlimited) return a.dissipation;
  return (b.stiffness * a.dissipation + a.stiffness * b.dissipation) / (a.stiffness + b.stiffness);
}

}  // namespace

void ModelBuilder::Impl::fillPairTable(model::ModelData& data) const {
  const std::size_t n = data.materials.size();
  data.materialPairs.resize(n * n);
  data.isFrictionGiven.assign(n * n, false);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const Material& a = data.materials[i];
      const Material& b = data.materials[j];
      data.materialPairs[i * n + j] = {
          .friction = std::sqrt(a.friction * b.friction),
          .restitution = std::sqrt(a.restitution * b.restitution),
          .torsionalFriction = std::sqrt(a.torsionalFriction * b.torsionalFriction),
          .rollingFriction = std::sqrt(a.rollingFriction * b.rollingFriction),
          .stiffness = inSeries(a.stiffness, b.stiffness),
          .relaxationTime = a.relaxationTime + b.relaxationTime,
          .dissipation = combinedDissipation(a, b),
          .rollingResistance = std::sqrt(a.rollingResistance * b.rollingResistance)};
    }
  }
  for (const MaterialPair& pair : pairs) {
    const std::string who = "pair of materials: ";
    const auto i = static_cast<std::size_t>(findMaterial(data.materials, pair.material1, who));
    const auto j = static_cast<std::size_t>(findMaterial(data.materials, pair.material2, who));
    model::ContactMaterial combined = data.materialPairs[i * n + j];
    combined.friction = pair.friction.value_or(combined.friction);
    data.isFrictionGiven[i * n + j] = data.isFrictionGiven[j * n + i] = pair.friction.has_value();
    combined.restitution = pair.restitution.value_or(combined.restitution);
    combined.torsionalFriction = pair.torsionalFriction.value_or(combined.torsionalFriction);
    combined.rollingFriction = pair.rollingFriction.value_or(combined.rollingFriction);
    combined.stiffness = pair.stiffness.value_or(combined.stiffness);
    combined.relaxationTime = pair.relaxationTime.value_or(combined.relaxationTime);
    combined.dissipation = pair.dissipation.value_or(combined.dissipation);
    combined.rollingResistance = pair.rollingResistance.value_or(combined.rollingResistance);
    combined.smallSpeed = pair.smallSpeed.value_or(combined.smallSpeed);
    combined.smallSpin = pair.smallSpin.value_or(combined.smallSpin);
    data.materialPairs[i * n + j] = data.materialPairs[j * n + i] = combined;
  }
  for (const model::ContactMaterial& pair : data.materialPairs)
    data.hasRestitution = data.hasRestitution || pair.restitution > 0;
}

bool ModelBuilder::Impl::isSoft(const std::string& name) const {
  return std::any_of(softs.begin(), softs.end(),
                     [&](const SoftBody& soft) { return soft.name == name; });
}

std::vector<std::pair<std::string, std::string>> ModelBuilder::Impl::excludedSofts() const {
  std::vector<std::pair<std::string, std::string>> found;
  for (const auto& pair : excluded) {
    if (isSoft(pair.first) || isSoft(pair.second)) found.push_back(pair);
  }
  return found;
}

void ModelBuilder::Impl::fillExcluded(model::ModelData& data) const {
  const auto indexOf = [&](const std::string& name) {
    const int index = model::findBody(data, name);
    if (index < 0)
      reject("excluded pair: no body is called '" + name + "'" + nearNames(name, bodyNames()));
    return index;
  };
  for (const auto& [name1, name2] : excluded) {
    if (isSoft(name1) || isSoft(name2)) continue;
    const int i = indexOf(name1), j = indexOf(name2);
    data.excludedBodies.emplace_back(std::min(i, j), std::max(i, j));
  }
  std::stable_sort(data.excludedBodies.begin(), data.excludedBodies.end());
}

namespace {

/// Every child of a compound becomes a shape of its own, so that each keeps its own contact patch.
std::vector<BodyShape> withoutCompounds(const std::vector<BodyShape>& shapes) {
  std::vector<BodyShape> out;
  for (const BodyShape& shape : shapes) {
    if (shape.shape->type() != ShapeType::Compound) {
      out.push_back(shape);
      continue;
    }
    for (const Compound::Child& child : static_cast<const Compound&>(*shape.shape).children()) {
      BodyShape part = shape;
      part.shape = child.shape;
      part.pose = shape.pose * child.pose;
      out.push_back(std::move(part));
    }
  }
  return out;
}

MassProperties massOfShapes(const Body& body, const std::vector<Material>& materials) {
  const std::string who = "body '" + body.name + "': ";
  if (body.shapes.empty()) reject(who + "a dynamic body needs a mass or shapes to take it from");
  std::vector<MassProperties> parts;
  for (const BodyShape& shape : body.shapes) {
    const int material = findMaterial(materials, shape.material, who);
    try {
      parts.push_back(geometry::transformed(
          shape.shape->massProperties(materials[static_cast<std::size_t>(material)].density),
          shape.pose));
    } catch (const InvalidInput& error) {
      reject(who + "no mass can be taken from a shape: " + error.what());
    }
  }
  return geometry::sum(parts);
}

Mat3 inverseOf(const Mat3& inertia) {
  // By the principal axes: symmetric to the last bit and as accurate as the data.
  Real matrix[3][3];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) matrix[i][j] = inertia(i, j);
  }
  const auto principal = math::symmetricEigen(matrix);
  Mat3 out{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      Real sum = 0;
      for (int k = 0; k < 3; ++k)
        sum += principal.vectors[i][k] * principal.vectors[j][k] / principal.values[k];
      out(i, j) = sum;
    }
  }
  return out;
}

Real reachOf(const Shape& shape, const Transform& pose, const Vec3& from) {
  const Aabb& box = shape.localAabb();
  if (!math::isFinite(box.lower) || !math::isFinite(box.upper)) return 0;  // a plane does not move
  Real farthest = 0;
  for (int corner = 0; corner < 8; ++corner) {
    const Vec3 p{(corner & 1) != 0 ? box.upper.x : box.lower.x,
                 (corner & 2) != 0 ? box.upper.y : box.lower.y,
                 (corner & 4) != 0 ? box.upper.z : box.lower.z};
    farthest = std::max(farthest, norm(pose * p - from));
  }
  return farthest;
}

}  // namespace

}  // namespace tangere
