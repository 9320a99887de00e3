// SPDX-License-Identifier: Apache-2.0
#include "io/scene_bodies.hpp"

#include <tangere/error.hpp>

#include "geometry/limits.hpp"
#include "geometry/mass_properties.hpp"
#include "io/contact_law.hpp"
#include "io/robot_import.hpp"
#include "io/text.hpp"
#include "math/quat.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace tangere::io {

namespace {

constexpr Real kFar = 1e15;  // beyond, a double has no digit left for what happens at a body

constexpr NumberRule kLength{geometry::kMinSize, geometry::kMaxSize, "a length above 0 [m]"};
constexpr NumberRule kCoordinate{-geometry::kMaxSize, geometry::kMaxSize,
                                 "a coordinate within 1e12 [m]"};
constexpr NumberRule kPosition{-kFar, kFar, "a finite position within 1e15 [m]"};
constexpr NumberRule kVelocity{-kFar, kFar, "a finite velocity within 1e15 [m/s]"};
constexpr NumberRule kAngularVelocity{-kFar, kFar, "a finite angular velocity [rad/s]"};
constexpr NumberRule kAngle{-1e9, 1e9, "a finite angle [rad]"};
constexpr NumberRule kComponent{-1e150, 1e150, "a finite number"};
constexpr NumberRule kMass{0, 1e150, "a mass above 0 [kg]", true};
constexpr NumberRule kMassOrZero{0, 1e150, "a mass of 0 or more [kg]"};
constexpr NumberRule kInertia{-1e150, 1e150, "a finite moment of inertia [kg m^2]"};
constexpr NumberRule kDamping{0, 1e12, "a damping of 0 or more [1/s]"};
constexpr NumberRule kScale{1e-12, 1e12, "a scale above 0"};

constexpr std::array<std::string_view, 10> kShapeKeys{"box",  "sphere",      "capsule", "cylinder",
                                                      "cone", "ellipsoid",   "plane",   "convex",
                                                      "mesh", "height_field"};

std::string shortNumber(Real value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), end};
}

std::string placeText(Place place) {
  return std::to_string(place.line) + ":" + std::to_string(place.column);
}

}  // namespace

void SceneBodies::read(const Value& bodies) {
  const Value::Array* items = bodies.array();
  if (items == nullptr) {
    notes_.error(bodies.place,
                 "body: found " + describe(bodies) + ", expected tables headed [[body]]");
    return;
  }
  for (const Value& item : *items) readBody(item);
}

void SceneBodies::readBody(const Value& value) {
  TableReader table(notes_, value, "body");
  if (value.table() == nullptr) return;
  const std::size_t numErrors = notes_.numErrors();
  const std::string name = readName(table);
  if (!name.empty()) table.setWho("body " + io::quoted(name));

  Body body;
  body.name = name;
  body.type = readType(table);
  body.pose = readPose(table);
  body.linearVelocity = table.vec3("velocity", kVelocity).value_or(Vec3{});
  body.angularVelocity = table.vec3("angular_velocity", kAngularVelocity).value_or(Vec3{});
  body.linearDamping = table.number("linear_damping", kDamping).value_or(0);
  body.angularDamping = table.number("angular_damping", kDamping).value_or(0);
  body.gravityScale = table.number("gravity_scale", kComponent).value_or(1);
  body.shapes = readShapes(table, body.type);
  const bool isStill = body.linearVelocity == Vec3{} && body.angularVelocity == Vec3{};
  if (body.type == BodyType::Fixed && !isStill) {
    table.error(table.placeOf(body.linearVelocity == Vec3{} ? "angular_velocity" : "velocity"),
                "found a velocity on a fixed body, expected none; use kinematic = true");
  }
  body.massProperties = readMass(table, body);
  table.allow({"count", "spacing"});
  table.finish();
  addCopies(table, body, notes_.numErrors() == numErrors);
}

std::string SceneBodies::readName(TableReader& table) {
  const std::optional<std::string> name = table.string("name");
  if (!table.has("name")) table.error(table.place(), "name is missing, expected a string");
  if (name && name->empty()) table.error(table.placeOf("name"), "name: found '', expected a name");
  constexpr std::size_t kMaxName = 256;
  if (name && name->size() > kMaxName) {
    table.error(table.placeOf("name"), "name: found " + std::to_string(name->size()) +
                                           " bytes, expected at most " + std::to_string(kMaxName));
    return name->substr(0, kMaxName);
  }
  return name.value_or("");
}

BodyType SceneBodies::readType(TableReader& table) {
  const bool isFixed = table.boolean("fixed").value_or(false);
  const bool isKinematic = table.boolean("kinematic").value_or(false);
  if (isFixed && isKinematic)
    table.error(table.placeOf("kinematic"), "found both fixed and kinematic, expected one");
  return isFixed ? BodyType::Fixed : isKinematic ? BodyType::Kinematic : BodyType::Dynamic;
}

Transform SceneBodies::readPose(TableReader& table) {
  Transform pose;
  pose.translation = table.vec3("position", kPosition).value_or(Vec3{});
  int given = 0;
  for (const char* key : {"quaternion", "rpy", "axis_angle"}) {
    if (table.has(key) && ++given == 2) {
      table.error(table.placeOf(key),
                  "found two rotations, expected one of quaternion, rpy, axis_angle");
    }
  }
  if (const auto q = table.numbers("quaternion", 4, kComponent)) {
    const Quat quat{(*q)[0], (*q)[1], (*q)[2], (*q)[3]};
    const Real largest = std::fmax(std::fmax(std::fabs(quat.w), std::fabs(quat.x)),
                                   std::fmax(std::fabs(quat.y), std::fabs(quat.z)));
    if (!(largest > 1e-9)) {
      table.errorFound("quaternion", *table.find("quaternion"),
                       "a quaternion w x y z of length 1, not 0");
      return pose;
    }
    const Real length = largest * math::norm(Quat{quat.w / largest, quat.x / largest,
                                                  quat.y / largest, quat.z / largest});
    if (std::fabs(length - 1) > 1e-6) {
      notes_.warning(table.placeOf("quaternion"), table.who() + ": quaternion of length " +
                                                      shortNumber(length) + " was normalised");
    }
    pose.rotation = rotationMatrix(quat);
  } else if (const auto rpy = table.vec3("rpy", kAngle)) {
    const Quat roll = math::quatFromAxisAngle(Vec3{1, 0, 0}, rpy->x);
    const Quat pitch = math::quatFromAxisAngle(Vec3{0, 1, 0}, rpy->y);
    const Quat yaw = math::quatFromAxisAngle(Vec3{0, 0, 1}, rpy->z);
    pose.rotation = rotationMatrix(yaw * (pitch * roll));
  } else if (const auto turn = table.numbers("axis_angle", 4, kComponent)) {
    const Vec3 axis{(*turn)[0], (*turn)[1], (*turn)[2]};
    if (!(math::scaledNorm(axis) > 1e-9) || !(std::fabs((*turn)[3]) <= kAngle.upper)) {
      table.error(table.placeOf("axis_angle"),
                  "axis_angle: expected an axis x y z other than 0 and an angle [rad]");
      return pose;
    }
    pose.rotation = rotationMatrix(math::quatFromAxisAngle(axis, (*turn)[3]));
  }
  return pose;
}

std::vector<BodyShape> SceneBodies::readShapes(TableReader& table, BodyType type) {
  std::vector<BodyShape> out;
  const std::string bodyMaterial = readMaterial(table).value_or("");
  const Value* shapes = table.find("shapes");
  if (shapes == nullptr) return out;
  const Value::Array* items = shapes->array();
  if (items == nullptr) {
    table.errorFound("shapes", *shapes, "an array of tables, such as [{ sphere = 0.1 }]");
    return out;
  }
  for (const Value& item : *items) {
    std::optional<BodyShape> shape = readShape(item, table.who() + ": shape", bodyMaterial);
    if (!shape) continue;
    const ShapeType shapeType = shape->shape->type();
    const bool isSurface = shapeType == ShapeType::Plane || shapeType == ShapeType::HeightField;
    if (isSurface && type == BodyType::Dynamic) {
      table.error(item.place,
                  "found a " +
                      std::string(shapeType == ShapeType::Plane ? "plane" : "height_field") +
                      " on a body that moves freely, expected fixed = true");
      continue;
    }
    out.push_back(std::move(*shape));
  }
  return out;
}

std::optional<BodyShape> SceneBodies::readShape(const Value& value, const std::string& who,
                                                const std::string& bodyMaterial) {
  TableReader table(notes_, value, who);
  if (value.table() == nullptr) return std::nullopt;
  BodyShape out;
  out.pose = readPose(table);
  out.material = readMaterial(table).value_or(bodyMaterial);
  constexpr std::int64_t kAllBits = std::numeric_limits<std::uint32_t>::max();
  out.group = static_cast<std::uint32_t>(table.integer("group", 0, kAllBits, "bits").value_or(1));
  out.mask =
      static_cast<std::uint32_t>(table.integer("mask", 0, kAllBits, "bits").value_or(kAllBits));
  out.shape = readGeometry(table);
  if (out.shape == nullptr) return std::nullopt;
  return out;
}

std::shared_ptr<const Shape> SceneBodies::readGeometry(TableReader& table) {
  std::vector<std::string_view> found;
  for (const std::string_view key : kShapeKeys) {
    if (table.has(key)) found.push_back(key);
  }
  if (found.size() != 1) {
    table.allow({"scale", "representation"});
    const int unknown = table.finish();
    if (!found.empty() || unknown == 0) {
      std::string expected;
      for (const std::string_view key : kShapeKeys)
        expected.append(expected.empty() ? "" : ", ").append(key);
      table.error(found.empty() ? table.place() : table.placeOf(found[1]),
                  "found " + std::string(found.empty() ? "no" : "more than one") +
                      " shape, expected one of " + expected);
    }
    return nullptr;
  }
  const std::string key(found[0]);
  const Value& value = *table.find(key);
  std::shared_ptr<const Shape> shape;
  try {
    if (key == "box") {
      if (const auto v = table.vec3(key, kLength)) shape = std::make_shared<Box>(*v);
    } else if (key == "ellipsoid") {
      if (const auto v = table.vec3(key, kLength)) shape = std::make_shared<Ellipsoid>(*v);
    } else if (key == "sphere") {
      if (const auto r = table.number(key, kLength)) shape = std::make_shared<Sphere>(*r);
    } else if (key == "capsule") {
      if (const auto v = table.numbers(key, 2, kLength))
        shape = std::make_shared<Capsule>((*v)[0], (*v)[1]);
    } else if (key == "cylinder") {
      if (const auto v = table.numbers(key, 2, kLength))
        shape = std::make_shared<Cylinder>((*v)[0], (*v)[1]);
    } else if (key == "cone") {
      if (const auto v = table.numbers(key, 2, kLength))
        shape = std::make_shared<Cone>((*v)[0], (*v)[1]);
    } else if (key == "plane") {
      const auto flag = table.boolean(key);
      if (flag && *flag) shape = std::make_shared<Plane>();
      if (flag && !*flag) table.errorFound(key, value, "true");
    } else if (key == "convex") {
      shape = readConvex(table, value);
    } else if (key == "mesh") {
      shape = readMesh(table, key, MeshRepresentation::Bvh);
    } else {
      shape = readHeightField(table, value);
    }
  } catch (const InvalidInput& error) {
    table.error(value.place, key + ": " + error.what());
  }
  table.finish();
  return shape;
}

std::shared_ptr<const Shape> SceneBodies::readConvex(TableReader& table, const Value& value) {
  if (value.string() != nullptr) return readMesh(table, "convex", MeshRepresentation::Convex);
  const Value::Array* items = value.array();
  if (items == nullptr) {
    table.errorFound("convex", value, "an array of points [x, y, z] or the name of a mesh file");
    return nullptr;
  }
  std::vector<Vec3> points;
  for (const Value& item : *items) {
    const std::optional<Vec3> point = table.readVec3("convex", item, kCoordinate);
    if (!point) return nullptr;
    points.push_back(*point);
  }
  return std::make_shared<Convex>(points);
}

std::shared_ptr<const Shape> SceneBodies::readMesh(TableReader& table, const std::string& key,
                                                   MeshRepresentation representation) {
  MeshUse use{.representation = representation};
  const std::optional<std::string> file = table.string(key);
  if (const Value* scale = table.find("scale")) {
    if (scale->array() != nullptr) {
      use.scale = table.vec3("scale", kScale).value_or(use.scale);
    } else if (const auto factor = table.number("scale", kScale)) {
      use.scale = {*factor, *factor, *factor};
    }
  }
  if (key == "mesh") {
    const auto word = table.word("representation", {"bvh", "convex", "sdf", "tet"});
    if (word && *word > 1) {
      table.error(table.placeOf("representation"), "representation " +
                                                       describe(*table.find("representation")) +
                                                       " is not available yet in this version");
      return nullptr;
    }
    if (word && *word == 1) use.representation = MeshRepresentation::Convex;
  }
  if (!file) return nullptr;
  use.file = *file;
  const MeshAsset* asset = assets_.load(use, table.placeOf(key), table.who());
  if (asset == nullptr) return nullptr;
  asset_of_[asset->shape.get()] = asset;
  return asset->shape;
}

std::shared_ptr<const Shape> SceneBodies::readHeightField(TableReader& table, const Value& value) {
  TableReader field(notes_, value, table.who() + ": height_field");
  if (value.table() == nullptr) return nullptr;
  const auto size = field.numbers("size", 2, kLength);
  const Value* rows = field.find("heights");
  field.finish();
  if (!field.has("size")) field.error(value.place, "size is missing, expected [x, y] [m]");
  if (rows == nullptr || rows->array() == nullptr) {
    field.error(field.placeOf("heights"),
                "heights: expected an array of rows along y, each an array of heights along x [m]");
    return nullptr;
  }
  std::vector<Real> heights;
  std::size_t numX = 0;
  for (const Value& row : *rows->array()) {
    const Value::Array* items = row.array();
    if (items == nullptr || (numX > 0 && items->size() != numX)) {
      field.errorFound("heights", row,
                       numX == 0 ? "a row of heights [m]"
                                 : "a row of " + std::to_string(numX) + " heights, like the first");
      return nullptr;
    }
    numX = items->size();
    for (const Value& item : *items) {
      const auto height = field.readNumber("heights", item, kCoordinate);
      if (!height) return nullptr;
      heights.push_back(*height);
    }
  }
  if (!size) return nullptr;
  return std::make_shared<HeightField>(static_cast<int>(numX),
                                       static_cast<int>(rows->array()->size()), (*size)[0],
                                       (*size)[1], heights);
}

std::optional<std::string> SceneBodies::readMaterial(TableReader& table) {
  std::optional<std::string> name = table.string("material");
  if (!name || materials_.count(*name) > 0) return name;
  table.error(table.placeOf("material"), "found the material " + io::quoted(*name) +
                                             ", expected one that exists" +
                                             materialCandidates(*name, materials_));
  return std::nullopt;
}

std::optional<MassProperties> SceneBodies::readMass(TableReader& table, const Body& body) {
  const bool isDynamic = body.type == BodyType::Dynamic;
  const auto mass = table.number("mass", isDynamic ? kMass : kMassOrZero);
  const auto center = table.vec3("center_of_mass", kPosition);
  std::optional<std::vector<Real>> inertia;
  if (const Value* value = table.find("inertia")) {
    const bool isDiagonal = value->array() != nullptr && value->array()->size() == 3;
    inertia = table.numbers("inertia", isDiagonal ? 3 : 6, kInertia);
    if (inertia && isDiagonal) inertia->insert(inertia->end(), 3, Real(0));
  }
  if (!isDynamic) {
    for (const char* key : {"mass", "inertia", "center_of_mass"}) {
      if (table.has(key))
        notes_.add(ImportNote::Kind::Ignored, table.placeOf(key),
                   table.who() + ": " + key + " of a body that no force moves");
    }
    return std::nullopt;
  }
  const bool isComplete = table.has("mass") && table.has("inertia");
  if (!isComplete && (table.has("inertia") || table.has("center_of_mass"))) {
    table.error(table.placeOf(table.has("inertia") ? "inertia" : "center_of_mass"),
                "found inertia or center_of_mass alone, expected mass and inertia together");
    return std::nullopt;
  }
  if (isComplete) {
    if (!mass || !inertia) return std::nullopt;
    const std::vector<Real>& i = *inertia;  // xx yy zz xy xz yz
    MassProperties out{.mass = *mass, .center = center.value_or(Vec3{})};
    out.inertia = {{{i[0], i[3], i[4]}, {i[3], i[1], i[5]}, {i[4], i[5], i[2]}}};
    const auto why = limits_.mendsInertia ? io::whyNotInertia(out.inertia) : std::nullopt;
    if (const auto mended = why ? io::mendedInertia(out.inertia) : std::nullopt) {
      out.inertia = *mended;
      notes_.warning(table.placeOf("inertia"), table.who() + ": inertia: found " + *why + ": it " +
                                                   io::describeMended(out.inertia));
    }
    return out;
  }
  std::optional<MassProperties> out = massOfShapes(table, body);
  if (table.has("mass")) {
    if (!mass || !out) return std::nullopt;
    const Real factor = *mass / out->mass;
    for (Vec3& column : out->inertia.col) column *= factor;
    out->mass = *mass;
  }
  return out;
}

/// Of a dynamic body without its own figures.
std::optional<MassProperties> SceneBodies::massOfShapes(TableReader& table, const Body& body) {
  if (body.shapes.empty()) {
    // A shape that was refused has its own error.
    if (!table.has("shapes") ||
        (table.find("shapes")->array() != nullptr && table.find("shapes")->array()->empty()))
      table.error(table.place(), "found no shapes, expected shapes or mass and inertia");
    return std::nullopt;
  }
  std::vector<MassProperties> parts;
  for (const BodyShape& shape : body.shapes) {
    const auto asset = asset_of_.find(shape.shape.get());
    if (shape.shape->type() == ShapeType::Mesh && asset != asset_of_.end() &&
        !static_cast<const Mesh&>(*shape.shape).isClosed()) {
      table.error(table.placeOf("shapes"),
                  "found a mesh with " + whyNotSolid(asset->second->report) +
                      ", expected a closed one to take the mass from; mend it, or give mass and "
                      "inertia");
      return std::nullopt;
    }
    const auto material = materials_.find(shape.material.empty() ? "default" : shape.material);
    try {
      parts.push_back(
          geometry::transformed(shape.shape->massProperties(material->second.density), shape.pose));
    } catch (const InvalidInput& error) {
      table.error(table.placeOf("shapes"), error.what());
      return std::nullopt;
    }
  }
  return geometry::sum(parts);
}

void SceneBodies::addCopies(TableReader& table, const Body& body, bool isValid) {
  std::array<std::int64_t, 3> count{1, 1, 1};
  if (const Value* value = table.find("count")) {
    const Value::Array* items = value->array();
    bool isCount = items != nullptr && items->size() == 3;
    for (std::size_t i = 0; isCount && i < 3; ++i) {
      const auto* n = std::get_if<std::int64_t>(&(*items)[i].data);
      isCount = n != nullptr && *n >= 1;
      if (isCount) count[i] = *n;
    }
    if (!isCount) {
      table.errorFound("count", *value, "three integers above 0: copies along x, y and z");
      return;
    }
  }
  const std::optional<Vec3> spacing = table.vec3("spacing", kPosition);
  const bool isAlone = count[0] == 1 && count[1] == 1 && count[2] == 1;
  if (!isAlone && !table.has("spacing")) {
    table.error(table.placeOf("count"), "found count without spacing, expected [dx, dy, dz] [m]");
    return;
  }
  // One factor after the other, so that nothing overflows.
  const std::int64_t left = std::int64_t{limits_.maxBodies} - num_bodies_;
  const auto numShapes = static_cast<std::int64_t>(body.shapes.size());
  std::int64_t total = 1;
  for (const std::int64_t n : count) total = n > left ? left + 1 : std::min(total * n, left + 1);
  if (total > left || num_shapes_ + total * numShapes > limits_.maxShapes) {
    notes_.limit(table.placeOf("count"),
                 table.who() + ": found more than " +
                     (total > left ? std::to_string(limits_.maxBodies) + " bodies"
                                   : std::to_string(limits_.maxShapes) + " shapes") +
                     " in the scene, the limit");
    return;
  }
  num_bodies_ += static_cast<int>(total);
  num_shapes_ += total * numShapes;
  (body.type == BodyType::Dynamic ? num_dynamic_
   : body.type == BodyType::Fixed ? num_fixed_
                                  : num_kinematic_) += static_cast<int>(total);
  rememberSizes(body, table.place());
  // The names of the copies are needed to check references; a body with errors is not.
  Body copy = body;
  for (std::int64_t i = 0; i < count[0]; ++i) {
    for (std::int64_t j = 0; j < count[1]; ++j) {
      for (std::int64_t k = 0; k < count[2]; ++k) {
        const std::array<std::int64_t, 3> index{i, j, k};
        copy.name = body.name;
        for (std::size_t axis = 0; axis < 3; ++axis) {
          if (count[axis] > 1) copy.name.append("_").append(std::to_string(index[axis]));
        }
        const Vec3 offset = spacing.value_or(Vec3{});
        copy.pose.translation = body.pose.translation + Vec3{static_cast<Real>(i) * offset.x,
                                                             static_cast<Real>(j) * offset.y,
                                                             static_cast<Real>(k) * offset.z};
        if (!addOne(copy, table, isValid)) return;
      }
    }
  }
}

/// False when no further copy should be tried.
bool SceneBodies::addOne(const Body& body, TableReader& table, bool isValid) {
  if (body.name.empty()) return false;
  const auto [other, isNew] = places_.emplace(body.name, table.placeOf("name"));
  if (!isNew) {
    notes_.error(table.placeOf("name"), "body " + io::quoted(body.name) +
                                            ": found the name twice, expected another than at " +
                                            placeText(other->second));
    return false;
  }
  if (!isValid) return true;
  try {
    builder_.addBody(body);
  } catch (const InvalidInput& error) {
    notes_.error(table.place(), error.what());
    return false;
  }
  return true;
}

void SceneBodies::rememberSizes(const Body& body, Place place) {
  if (body.type != BodyType::Dynamic) return;
  if (body.massProperties) {
    const Real mass = body.massProperties->mass;
    if (!heaviest_ || mass > heaviest_->value) heaviest_ = {mass, body.name, place};
    if (!lightest_ || mass < lightest_->value) lightest_ = {mass, body.name, place};
  }
  for (const BodyShape& shape : body.shapes) {
    const Vec3 size = shape.shape->localAabb().upper - shape.shape->localAabb().lower;
    const Real longest = std::fmax(size.x, std::fmax(size.y, size.z));
    if (!largest_ || longest > largest_->value) largest_ = {longest, body.name, place};
  }
}

void SceneBodies::warnAboutSizes(const Vec3& gravity, Place gravityPlace) {
  constexpr Real kManyMetres = 1000, kFewKilograms = 1e-9, kMuchGravity = 1000;
  std::string found;
  Place place{};
  const auto suspect = [&](const std::string& what, Place where) {
    if (found.empty()) place = where;
    found += (found.empty() ? "" : ", ") + what;
  };
  if (norm(gravity) >= kMuchGravity)
    suspect("gravity of " + shortNumber(norm(gravity)) + " m/s^2", gravityPlace);
  if (largest_ && largest_->value >= kManyMetres) {
    suspect("body " + io::quoted(largest_->body) + " of " + shortNumber(largest_->value) + " m",
            largest_->place);
  }
  if (lightest_ && lightest_->value <= kFewKilograms) {
    suspect("body " + io::quoted(lightest_->body) + " of " + shortNumber(lightest_->value) + " kg",
            lightest_->place);
  }
  if (!found.empty()) {
    notes_.warning(
        place, "found " + found + ": is the scene in millimetres or grams? Units are m, kg and s");
  }
  constexpr Real kManyTimes = 1e9;
  if (heaviest_ && heaviest_->value / lightest_->value >= kManyTimes) {
    notes_.warning(heaviest_->place,
                   "body " + io::quoted(heaviest_->body) + " is " +
                       shortNumber(std::round(heaviest_->value / lightest_->value)) +
                       " times as heavy as body " + io::quoted(lightest_->body) +
                       ": where they touch, the solver may not converge");
  }
}

void SceneBodies::summarize() {
  if (num_bodies_ == 0) return;  // robot files speak for themselves
  notes_.add(ImportNote::Kind::Read, {},
             std::to_string(num_bodies_) + (num_bodies_ == 1 ? " body (" : " bodies (") +
                 std::to_string(num_dynamic_) + " dynamic, " + std::to_string(num_fixed_) +
                 " fixed, " + std::to_string(num_kinematic_) + " kinematic) with " +
                 std::to_string(num_shapes_) + (num_shapes_ == 1 ? " shape" : " shapes"));
}

}  // namespace tangere::io
