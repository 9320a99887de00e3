// SPDX-License-Identifier: Apache-2.0
#include "io/mjcf_bodies.hpp"
#include "io/contact_law.hpp"

#include <tangere/error.hpp>

#include "geometry/mass_properties.hpp"
#include "io/text.hpp"
#include "io/xml_reader.hpp"
#include "math/quat.hpp"
#include "math/symmetric_eigen.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::io {

namespace {

using namespace mjcf_rule;

constexpr Real kTooSmall = 1e-14;

Mat3 diagonal(Real x, Real y, Real z) { return {{{x, 0, 0}, {0, y, 0}, {0, 0, z}}}; }

Mat3 rotated(const Mat3& rotation, const Mat3& inertia) {
  return rotation * inertia * transpose(rotation);
}

/// Mass and inertia of a hollow body whose surface has mass `perArea` [kg/m^2] times its area.
struct ShellInertia {
  Real area = 0;
  Vec3 perMass{};  // moments of inertia of 1 kg
};

/// As MuJoCo has them: exact for sphere, capsule, cylinder and box.
std::optional<ShellInertia> shellOf(const MjcfGeom& geom) {
  constexpr Real kPi = 3.14159265358979323846;
  const Real x = geom.size[0], y = geom.size[1], z = geom.size[2];
  ShellInertia out;
  switch (geom.type) {
    case MjcfGeomType::Sphere:
      out.area = 4 * kPi * x * x;
      out.perMass = Vec3{1, 1, 1} * (2 * x * x / 3);
      return out;
    case MjcfGeomType::Capsule: {
      const Real height = 2 * y, ends = 4 * kPi * x * x, side = 2 * kPi * x * height;
      out.area = ends + side;
      const Real endPart = ends / out.area, sidePart = side / out.area;
      // The centre of a hemispherical shell is half a radius from the plane of its rim.
      const Real across =
          endPart * (2 * x * x / 3 + y * y + y * x) + sidePart * (6 * x * x + height * height) / 12;
      out.perMass = {across, across, endPart * 2 * x * x / 3 + sidePart * x * x};
      return out;
    }
    case MjcfGeomType::Cylinder: {
      const Real height = 2 * y, disk = kPi * x * x, side = 2 * kPi * x * height;
      out.area = 2 * disk + side;
      const Real diskPart = 2 * disk / out.area, sidePart = side / out.area;
      const Real across =
          diskPart * (x * x / 4 + y * y) + sidePart * (6 * x * x + height * height) / 12;
      out.perMass = {across, across, diskPart * x * x / 2 + sidePart * x * x};
      return out;
    }
    case MjcfGeomType::Box: {
      const Vec3 half{x, y, z};
      const Vec3 faces{4 * y * z, 4 * z * x, 4 * x * y};  // one face across each axis
      out.area = 2 * (faces.x + faces.y + faces.z);
      Vec3 second{};  // integral of the square of each coordinate, for 1 kg
      for (int axis = 0; axis < 3; ++axis) {
        for (int across = 0; across < 3; ++across) {
          const Real square = half[axis] * half[axis];
          second[axis] += 2 * faces[across] / out.area * (axis == across ? square : square / 3);
        }
      }
      out.perMass = {second.y + second.z, second.z + second.x, second.x + second.y};
      return out;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

MjcfBodies::MjcfBodies(RobotImport& import, const MjcfCompiler& compiler,
                       const MjcfDefaults& defaults, MjcfAssets& assets,
                       const MjcfDisabled& disabled)
    : import_(import),
      compiler_(compiler),
      defaults_(defaults),
      assets_(assets),
      disabled_(disabled) {
  MjcfBody world;
  world.pose = import.pose;
  world.isStatic = true;
  world.body.name = import.prefix + "world";
  world.body.type = BodyType::Fixed;
  world.body.pose = import.pose;
  bodies_.push_back(std::move(world));
  index_["world"] = 0;
  import.names.emplace("body " + import.prefix + "world", Place{});
}

void MjcfBodies::read(const XmlElement& worldbody) {
  worldbody.isRead = true;
  if (bodies_[0].element == nullptr) bodies_[0].element = &worldbody;
  reserveNames(worldbody);
  readChildren(worldbody, {.settings = defaults_.find("main")});
}

/// So that nothing unnamed takes a name that is given further on.
void MjcfBodies::reserveNames(const XmlElement& worldbody) {
  std::vector<const XmlElement*> pending{&worldbody};
  while (!pending.empty()) {
    const XmlElement& element = *pending.back();
    pending.pop_back();
    for (const XmlElement& child : element.children) {
      for (const XmlAttribute& attribute : child.attributes) {
        if (attribute.name != "name") continue;
        const std::string kind = child.name == "freejoint" ? "joint" : child.name;
        import_.reserved.insert(kind + " " + import_.prefix + attribute.value);
      }
      pending.push_back(&child);
    }
  }
}

void MjcfBodies::readChildren(const XmlElement& section, const Scope& scope) {
  for (const XmlElement& child : section.children) {
    if (is_full_) return;
    const std::string& kind = child.name;
    if (kind == "body") {
      readBody(child, scope);
    } else if (kind == "frame") {
      readFrame(child, scope);
    } else if (kind == "replicate") {
      readReplicate(child, scope);
    } else if (kind == "inertial") {
      readInertial(child, scope);
    } else if (kind == "joint" || kind == "freejoint") {
      readJoint(child, scope);
    } else if (kind == "geom") {
      readGeom(child, scope);
    } else if (kind == "site") {
      readSite(child, scope);
    } else if (kind == "composite" || kind == "flexcomp" || kind == "attach" || kind == "plugin") {
      child.isRead = true;
      notes().addIn(*child.file, ImportNote::Kind::Error, child.place,
                    "found <" + kind + ">, which is not available in this version" +
                        (kind == "attach" ? "; place models as [[model]] of a native scene" : ""));
    }
    // Cameras and lights are reported as unread.
  }
}

void MjcfBodies::readBody(const XmlElement& element, const Scope& scope) {
  XmlReader reader(notes(), element, callOf(element));
  if (!import_.countBody(element)) {
    is_full_ = true;
    return;
  }
  const MjcfClass* settings = classOf(reader, "childclass", scope.settings);
  Vec3 position{};
  Mat3 rotation = Mat3::identity();
  readMjcfPlacement(reader, compiler_, &position, &rotation);

  MjcfBody out;
  out.element = &element;
  out.parent = scope.body;
  std::string fileName;
  out.body.name = takeName(reader, "body", scope, &fileName);
  out.body.pose = scope.frame * Transform{rotation, position};
  out.pose = bodies_[static_cast<std::size_t>(scope.body)].pose * out.body.pose;
  out.hasInertial = std::any_of(element.children.begin(), element.children.end(),
                                [](const XmlElement& child) { return child.name == "inertial"; });
  out.isMocap = reader.boolean("mocap").value_or(false);
  const Real compensation = reader.number("gravcomp", kFinite).value_or(0);
  out.body.gravityScale = 1 - compensation;
  out.body.collidesWithParent = disabled_.parentFilter;
  reader.ignore({"sleep", "simple"}, "it belongs to MuJoCo's solver");
  if (out.isMocap && scope.body != 0) {
    reader.errorFound("mocap", "a body directly in the world");
    out.isMocap = false;
  }
  const int index = static_cast<int>(bodies_.size());
  if (!fileName.empty()) index_.emplace(fileName, index);
  bodies_.push_back(std::move(out));
  if (settings == nullptr) return;
  readChildren(element, {.body = index,
                         .settings = settings,
                         .suffix = scope.suffix,
                         .isInReplicate = scope.isInReplicate});
  const MjcfBody& made = bodies_[static_cast<std::size_t>(index)];
  if (made.isMocap && !made.body.joints.empty())
    reader.errorFound("mocap", "a body without joints");
}

void MjcfBodies::readFrame(const XmlElement& element, const Scope& scope) {
  XmlReader reader(notes(), element, callOf(element));
  (void)reader.string("name");
  Vec3 position{};
  Mat3 rotation = Mat3::identity();
  readMjcfPlacement(reader, compiler_, &position, &rotation);
  Scope inner = scope;
  inner.settings = classOf(reader, "childclass", scope.settings);
  inner.frame = scope.frame * Transform{rotation, position};
  if (inner.settings != nullptr) readChildren(element, inner);
}

void MjcfBodies::readReplicate(const XmlElement& element, const Scope& scope) {
  XmlReader reader(notes(), element, "replicate");
  const auto count = reader.integer("count", 0, 1'000'000'000'000, "a number of copies");
  const Vec3 offset = reader.vec3("offset", kPosition).value_or(Vec3{});
  const Vec3 euler = reader.vec3("euler", kAngle).value_or(Vec3{});
  const std::string separator = reader.string("sep").value_or("");
  Scope inner = scope;
  inner.isInReplicate = true;
  inner.settings = classOf(reader, "childclass", scope.settings);
  if (!reader.has("count")) reader.error(reader.place(), "count is missing, expected a number");
  if (!count || inner.settings == nullptr) return;
  if (*count > import_.limits.maxBodies - num_copies_) {
    // Not to the notes of a copy, which nobody sees.
    import_.notes.limitIn(*element.file, reader.placeOf("count"),
                          "replicate: found more than " + std::to_string(import_.limits.maxBodies) +
                              " copies in the file, the limit");
    is_full_ = true;
    return;
  }
  num_copies_ += static_cast<int>(*count);
  const std::size_t numDigits = std::to_string(*count).size();
  const bool wasCopy = is_copy_;
  const Mat3 turn = rotationFromEuler(compiler_, euler);
  Transform place;
  for (std::int64_t i = 0; i < *count && !is_full_; ++i) {
    // Each angle from its own multiple, so that errors do not add up.
    place.rotation = rotationFromEuler(compiler_, euler * static_cast<Real>(i));
    inner.frame = scope.frame * place;
    const std::string digits = std::to_string(i);
    inner.suffix = separator;
    inner.suffix.append(numDigits - digits.size(), '0').append(digits).append(scope.suffix);
    is_copy_ = wasCopy || i > 0;
    readChildren(element, inner);
    place = place * Transform{turn, offset};
  }
  is_copy_ = wasCopy;
}

void MjcfBodies::readInertial(const XmlElement& element, const Scope& scope) {
  MjcfBody& body = bodies_[static_cast<std::size_t>(scope.body)];
  XmlReader reader(notes(), element, "inertial");
  if (scope.body == 0) {
    reader.error(reader.place(), "found it in the world, expected it in a body");
    return;
  }
  if (body.inertial) {
    reader.error(reader.place(), "found it twice in one body, expected one");
    return;
  }
  Vec3 position{};
  Mat3 rotation = Mat3::identity();
  readMjcfPlacement(reader, compiler_, &position, &rotation);
  const auto mass = reader.number("mass", {0, 1e150, "a mass of 0 or more [kg]"});
  const auto moments =
      reader.vec3("diaginertia", {0, 1e150, "moments of inertia of 0 or more [kg m^2]"});
  const auto full = reader.numbers("fullinertia", 6, 6, kFinite);
  for (const char* name : {"pos", "mass"}) {
    if (!reader.has(name)) reader.error(reader.place(), std::string(name) + " is missing");
  }
  if (reader.has("diaginertia") && reader.has("fullinertia"))
    reader.error(reader.placeOf("fullinertia"),
                 "found diaginertia and fullinertia, expected one of them");
  for (const char* name : {"quat", "axisangle", "euler", "xyaxes", "zaxis"}) {
    if (reader.has(name) && reader.has("fullinertia"))
      reader.error(reader.placeOf(name), "found an orientation beside fullinertia, which has one");
  }
  MassProperties out{.mass = mass.value_or(1)};
  Mat3 inertia{};
  if (full) {
    const std::vector<Real>& i = *full;  // xx yy zz xy xz yz
    inertia = {{{i[0], i[3], i[4]}, {i[3], i[1], i[5]}, {i[4], i[5], i[2]}}};
    Real a[3][3];
    for (int row = 0; row < 3; ++row) {
      for (int column = 0; column < 3; ++column) a[row][column] = inertia(row, column);
    }
    if (!(math::symmetricEigen(a).values[0] > 0))
      reader.errorFound("fullinertia", "a positive definite inertia");
  } else if (moments) {
    inertia = rotated(rotation, diagonal(moments->x, moments->y, moments->z));
  }
  // Not moved by a frame around it: MuJoCo has the inertia in the body's own frame.
  out.center = position;
  out.inertia = inertia;
  body.inertial = out;
}

void MjcfBodies::readJoint(const XmlElement& element, const Scope& scope) {
  XmlReader reader(notes(), element, callOf(element));
  if (scope.body == 0) {
    reader.error(reader.place(), "found a joint in the world, expected it in a body");
    return;
  }
  const bool isFreeJoint = element.name == "freejoint";
  MjcfJoint settings;
  if (isFreeJoint) {
    settings.type = JointType::Free;
    if (const auto word = reader.word("align", {"false", "true", "auto"}); word && *word == 1)
      reader.change("align", "the coordinates stay those of the body's own frame");
  } else {
    const MjcfClass* klass = classOf(reader, "class", scope.settings);
    if (klass == nullptr) return;
    settings = klass->joint;
    readMjcfJoint(reader, &settings);
  }
  Joint joint = makeJoint(reader, settings, scope);
  MjcfBody& body = bodies_[static_cast<std::size_t>(scope.body)];
  if (settings.type == JointType::Free && body.parent != 0)
    reader.error(reader.place(), "found a free joint, expected it in a body directly in the world");
  if (!body.body.joints.empty() &&
      (settings.type == JointType::Free || body.body.joints[0].type == JointType::Free)) {
    reader.error(reader.place(), "found a free joint beside another, expected it alone");
    return;
  }
  const bool hasBall = std::any_of(body.body.joints.begin(), body.body.joints.end(),
                                   [](const Joint& j) { return j.type == JointType::Ball; });
  if (hasBall && settings.type != JointType::Prismatic)
    reader.error(reader.place(), "found a rotation after a ball joint, expected none");
  int numDofs = numJointVelocities(joint.type);
  for (const Joint& other : body.body.joints) numDofs += numJointVelocities(other.type);
  constexpr int kMaxDofs = 6;
  if (numDofs > kMaxDofs) {
    reader.error(reader.place(), "found more than 6 degrees of freedom in one body");
    return;
  }
  std::string fileName;
  if (settings.type == JointType::Free && !reader.has("name")) {
    joint.name = body.body.name;  // as that of a free body
  } else {
    joint.name = takeName(reader, "joint", scope, &fileName);
  }
  numPositions += numJointPositions(joint.type);
  numVelocities += numJointVelocities(joint.type);
  if (!fileName.empty())
    joints_.emplace(fileName,
                    MjcfJointEntry{scope.body, static_cast<int>(body.body.joints.size())});
  body.body.joints.push_back(std::move(joint));
}

/// A joint as we have it, in radians and in the frame of the body.
Joint MjcfBodies::makeJoint(XmlReader& reader, const MjcfJoint& settings, const Scope& scope) {
  Joint out;
  out.type = settings.type;
  const bool isHinge = settings.type == JointType::Revolute;
  const bool isBall = settings.type == JointType::Ball;
  const bool isFree = settings.type == JointType::Free;
  if (!isFree) out.position = scope.frame * settings.position;
  if (!isFree && !isBall) {
    out.axis = scope.frame.rotation * settings.axis;
    const Real length = math::scaledNorm(out.axis);
    if (!(length > kTooSmall)) {
      reader.errorFound("axis", "a direction other than zero");
      out.axis = {0, 0, 1};
    } else {
      out.axis = out.axis / length;
    }
  }
  out.armature = settings.armature;
  out.damping = disabled_.dampers ? 0 : settings.damping;
  out.frictionLoss = disabled_.frictionLoss ? 0 : settings.frictionLoss;
  out.stiffness = disabled_.springs ? 0 : settings.stiffness;
  if (isHinge || settings.type == JointType::Prismatic) {
    out.reference = isHinge ? compiler_.radians(settings.reference) : settings.reference;
    out.springReference =
        isHinge ? compiler_.radians(settings.springReference) : settings.springReference;
  }
  const auto isLimited = [&](MjcfLimited limited, const MjcfRange& range, const char* name) {
    if (limited != MjcfLimited::Auto) return limited == MjcfLimited::True;
    if (range.isSet() && !compiler_.autoLimits)
      reader.error(reader.placeOf(name), std::string(name) +
                                             ": found a range without 'limited' under "
                                             "autolimits=\"false\", expected both");
    return range.isSet();
  };
  if (!isFree && isLimited(settings.limited, settings.range, "range") && !disabled_.limits) {
    const bool isAngle = isHinge || isBall;
    out.lower = isAngle ? compiler_.radians(settings.range.lower) : settings.range.lower;
    out.upper = isAngle ? compiler_.radians(settings.range.upper) : settings.range.upper;
    if (isBall) {
      if (settings.range.lower != 0) reader.errorFound("range", "0 and the largest angle");
      out.lower = -kUnlimited;
    } else if (!(out.lower < out.upper)) {
      reader.errorFound("range", "a lower limit below the upper one");
      out.lower = -kUnlimited;
      out.upper = kUnlimited;
    }
  }
  if (!isFree && !isBall &&
      isLimited(settings.forceLimited, settings.forceRange, "actuatorfrcrange")) {
    out.lowerActuatorForce = settings.forceRange.lower;
    out.upperActuatorForce = settings.forceRange.upper;
  }
  return out;
}

void MjcfBodies::readGeom(const XmlElement& element, const Scope& scope) {
  XmlReader reader(notes(), element, callOf(element));
  const MjcfClass* klass = classOf(reader, "class", scope.settings);
  if (klass == nullptr) return;
  if (!import_.countShape(element)) {
    is_full_ = true;
    return;
  }
  MjcfGeom geom = klass->geom;
  readMjcfGeom(reader, compiler_, &geom);
  std::string fileName;
  const std::string name = takeName(reader, "geom", scope, &fileName);
  if (!fileName.empty()) geoms_.emplace(fileName, geom);
  for (const XmlElement& child : element.children) {
    child.isRead = true;
    reader.error(child.place,
                 "found <" + child.name + ">: plugins are not available in this version");
  }
  if (geom.fromTo && !fitFromTo(reader, &geom)) return;
  const bool isMesh = geom.type == MjcfGeomType::Mesh || geom.type == MjcfGeomType::Sdf;
  if (!geom.mesh.empty() && !isMesh && !fitToMesh(reader, &geom)) return;

  MjcfBody& body = bodies_[static_cast<std::size_t>(scope.body)];
  const bool hasBits = geom.contactType != 0 || geom.contactAffinity != 0;
  const bool isKept = !fileName.empty() && kept_geoms_.count(fileName) > 0;
  const bool collides = (hasBits || isKept) && !disabled_.contacts;
  const bool countsAsMass =
      scope.body != 0 &&
      (!body.inertial || compiler_.inertiaFromGeom == MjcfCompiler::InertiaFromGeom::True) &&
      compiler_.inertiaFromGeom != MjcfCompiler::InertiaFromGeom::False &&
      geom.group >= compiler_.firstInertiaGroup && geom.group <= compiler_.lastInertiaGroup;
  const bool isGiven =
      body.hasInertial && compiler_.inertiaFromGeom == MjcfCompiler::InertiaFromGeom::Auto;
  const bool needsMass =
      countsAsMass && !isGiven && geom.mass.value_or(1) > 0 && (geom.mass || geom.density > 0);

  std::shared_ptr<const Shape> shape;
  if (collides || (needsMass && !isMesh) || !isMesh) {
    shape = makeShape(reader, geom);
    if (shape == nullptr) return;
  } else if (!assets_.hasMesh(geom.mesh)) {
    reader.errorFound(
        "mesh", "the name of a mesh" + candidates(geom.mesh.substr(0, 64), assets_.meshNames()));
    return;
  }
  const Transform pose = scope.frame * Transform{geom.rotation, geom.position};
  if (needsMass) {
    if (const auto mass = massOf(reader, geom, shape.get()))
      body.geoms.push_back(geometry::transformed(*mass, pose));
  }
  if (!collides) return;
  BodyShape out{.shape = shape, .pose = pose, .material = materialOf(reader, geom)};
  out.group = geom.contactType;
  out.mask = geom.contactAffinity;
  out.isOneSideEnough = true;
  out.name = name;
  if (!fileName.empty()) shapes_.emplace(fileName, name);
  body.body.shapes.push_back(std::move(out));
}

/// Position, direction and length from the two ends. False after an error.
bool MjcfBodies::fitFromTo(XmlReader& reader, MjcfGeom* geom) {
  const std::array<Real, 6>& e = *geom->fromTo;
  const bool isLong = geom->type == MjcfGeomType::Capsule || geom->type == MjcfGeomType::Cylinder;
  if (!isLong && geom->type != MjcfGeomType::Box && geom->type != MjcfGeomType::Ellipsoid) {
    reader.errorFound("fromto", "it with a capsule, cylinder, box or ellipsoid");
    return false;
  }
  const Vec3 from{e[0], e[1], e[2]}, to{e[3], e[4], e[5]};
  const Vec3 axis = from - to;
  const Real length = math::scaledNorm(axis);
  if (!(length > kTooSmall)) {
    reader.errorFound("fromto", "two points apart from each other");
    return false;
  }
  if (isLong) {
    geom->size[1] = length / 2;
  } else {
    geom->size[2] = length / 2;
    geom->size[1] = geom->size[0];
  }
  geom->position = (from + to) * Real(0.5);
  geom->rotation = rotationFromZ(axis);
  return true;
}

/// A primitive with the size and place of a mesh. False after an error.
bool MjcfBodies::fitToMesh(XmlReader& reader, MjcfGeom* geom) {
  if (geom->type == MjcfGeomType::Plane || geom->type == MjcfGeomType::HeightField ||
      geom->fromTo) {
    reader.errorFound("mesh", "a sphere, capsule, ellipsoid, cylinder or box without fromto");
    return false;
  }
  if (!assets_.hasMesh(geom->mesh)) {
    reader.errorFound(
        "mesh", "the name of a mesh" + candidates(geom->mesh.substr(0, 64), assets_.meshNames()));
    return false;
  }
  return assets_.fit(geom);
}

std::shared_ptr<const Shape> MjcfBodies::makeShape(XmlReader& reader, const MjcfGeom& geom) {
  const std::array<Real, 3>& s = geom.size;
  const auto requireSizes = [&](int count, const char* expected) {
    for (int i = 0; i < count; ++i) {
      if (s[static_cast<std::size_t>(i)] > 0) continue;
      reader.errorFound("size", expected);
      return false;
    }
    return true;
  };
  try {
    switch (geom.type) {
      case MjcfGeomType::Plane:
        return std::make_shared<Plane>();
      case MjcfGeomType::Sphere:
        if (!requireSizes(1, "a radius above 0 [m]")) return nullptr;
        return std::make_shared<Sphere>(s[0]);
      case MjcfGeomType::Capsule:
        if (!requireSizes(2, "radius and half length above 0 [m]")) return nullptr;
        return std::make_shared<Capsule>(s[0], s[1]);
      case MjcfGeomType::Cylinder:
        if (!requireSizes(2, "radius and half length above 0 [m]")) return nullptr;
        return std::make_shared<Cylinder>(s[0], s[1]);
      case MjcfGeomType::Ellipsoid:
        if (!requireSizes(3, "three half axes above 0 [m]")) return nullptr;
        return std::make_shared<Ellipsoid>(Vec3{s[0], s[1], s[2]});
      case MjcfGeomType::Box:
        if (!requireSizes(3, "three half sizes above 0 [m]")) return nullptr;
        return std::make_shared<Box>(Vec3{s[0], s[1], s[2]});
      case MjcfGeomType::HeightField:
        if (!assets_.hasHeightField(geom.heightField)) {
          reader.errorFound(
              "hfield", "the name of an hfield" +
                            candidates(geom.heightField.substr(0, 64), assets_.heightFieldNames()));
          return nullptr;
        }
        return assets_.heightField(geom.heightField);
      case MjcfGeomType::Sdf:
        reader.change("type", "the mesh collides as its convex hull");
        [[fallthrough]];
      case MjcfGeomType::Mesh:
        if (!assets_.hasMesh(geom.mesh)) {
          reader.errorFound("mesh", "the name of a mesh" +
                                        candidates(geom.mesh.substr(0, 64), assets_.meshNames()));
          return nullptr;
        }
        return assets_.hull(geom.mesh);
    }
  } catch (const InvalidInput& error) {
    reader.error(reader.place(), error.what());
  }
  return nullptr;
}

/// In the frame of the geom. Nothing where there is none, or after an error.
std::optional<MassProperties> MjcfBodies::massOf(XmlReader& reader, const MjcfGeom& geom,
                                                 const Shape* shape) {
  if (geom.type == MjcfGeomType::Plane || geom.type == MjcfGeomType::HeightField)
    return std::nullopt;
  if (geom.type == MjcfGeomType::Mesh || geom.type == MjcfGeomType::Sdf) {
    if (geom.isShell) {
      reader.errorFound("shellinertia", "inertia=\"shell\" of the mesh");
      return std::nullopt;
    }
    return assets_.massProperties(geom.mesh, geom.mass, geom.density);
  }
  if (geom.isShell) {
    const std::optional<ShellInertia> shell = shellOf(geom);
    if (!shell) {
      reader.errorFound("shellinertia", "a sphere, capsule, cylinder or box");
      return std::nullopt;
    }
    const Real mass = geom.mass.value_or(geom.density * shell->area);
    const Vec3 moments = shell->perMass * mass;
    return MassProperties{.mass = mass, .inertia = diagonal(moments.x, moments.y, moments.z)};
  }
  MassProperties out = shape->massProperties(geom.mass ? Real(1) : geom.density);
  if (geom.mass) {
    const Real factor = *geom.mass / out.mass;
    for (Vec3& column : out.inertia.col) column *= factor;
    out.mass = *geom.mass;
  }
  return out;
}

void MjcfBodies::readSite(const XmlElement& element, const Scope& scope) {
  XmlReader reader(notes(), element, callOf(element));
  const MjcfClass* klass = classOf(reader, "class", scope.settings);
  if (klass == nullptr) return;
  if (!import_.countShape(element)) {
    is_full_ = true;
    return;
  }
  MjcfSite settings = klass->site;
  readMjcfSite(reader, compiler_, &settings);
  using Type = MjcfSite::Type;
  const bool isLong = settings.type == Type::Capsule || settings.type == Type::Cylinder;
  if (settings.fromTo) {
    MjcfGeom geom{.size = settings.size, .fromTo = settings.fromTo};
    geom.type = settings.type == Type::Sphere ? MjcfGeomType::Sphere
                : isLong                      ? MjcfGeomType::Capsule
                                              : MjcfGeomType::Box;
    if (!fitFromTo(reader, &geom)) return;
    settings.size = geom.size;
    settings.position = geom.position;
    settings.rotation = geom.rotation;
  }
  const std::array<Real, 3>& s = settings.size;
  Site out;
  std::string fileName;
  out.name = takeName(reader, "site", scope, &fileName);
  out.halfSize = settings.type == Type::Sphere ? Vec3{s[0], s[0], s[0]}
                 : isLong                      ? Vec3{s[0], s[0], s[1]}
                                               : Vec3{s[0], s[1], s[2]};
  if (settings.type == Type::Capsule) out.halfSize.z += s[0];
  out.isBox = settings.type == Type::Box;
  const Transform pose = scope.frame * Transform{settings.rotation, settings.position};
  if (scope.body == 0) {
    out.pose = import_.pose * pose;
  } else {
    out.body = bodies_[static_cast<std::size_t>(scope.body)].body.name;
    out.pose = pose;
  }
  if (!fileName.empty()) sites_.emplace(fileName, MjcfSiteEntry{scope.body, pose, isLong});
  if (!out.name.empty())
    bodies_[static_cast<std::size_t>(scope.body)].sites.emplace_back(std::move(out), &element);
}

const MjcfClass* MjcfBodies::classOf(XmlReader& reader, const char* attribute,
                                     const MjcfClass* fallback) {
  const auto name = reader.string(attribute);
  if (!name) return fallback;
  const MjcfClass* found = defaults_.find(*name);
  if (found == nullptr)
    reader.errorFound(attribute,
                      "a default class" + candidates(name->substr(0, 64), defaults_.names()));
  return found;
}

/// The full name; `fileName` is how the rest of the file calls it, empty for something unnamed.
std::string MjcfBodies::takeName(XmlReader& reader, const char* kind, const Scope& scope,
                                 std::string* fileName) {
  *fileName = reader.string("name").value_or("");
  if (!fileName->empty()) *fileName += scope.suffix;
  return import_.takeName(kind, *fileName, reader.element(), reader.placeOf("name"));
}

MjcfFriction combinedFriction(int contactDimension, const std::array<Real, 3>& friction) {
  constexpr int kSliding = 3, kTorsional = 4, kRolling = 6;
  return {.sliding = contactDimension >= kSliding ? friction[0] : 0,
          .torsional = contactDimension >= kTorsional ? friction[1] : 0,
          .rolling = contactDimension >= kRolling ? friction[2] : 0};
}

std::string MjcfBodies::materialOf(XmlReader& reader, const MjcfGeom& geom) {
  const Surface surface{geom.contactDimension, geom.priority, geom.friction};
  if (const auto found = surface_names_.find(surface); found != surface_names_.end())
    return found->second;
  constexpr std::size_t kMaxSurfaces = 200;  // each two of them make a pair of materials
  if (surfaces_.size() >= kMaxSurfaces) {
    if (!is_full_)
      import_.notes.limitIn(
          *reader.element().file, reader.place(),
          "found more than 200 different surfaces (friction, condim, priority), the limit");
    is_full_ = true;
    return "";
  }
  std::string name = import_.prefix + "surface" + std::to_string(surfaces_.size());
  surface_names_.emplace(surface, name);
  surfaces_.push_back(surface);
  return name;
}

/// A material for each surface and a rule for each two of them, because MuJoCo combines them in its
/// own way.
void MjcfBodies::addMaterials() {
  for (const Surface& surface : surfaces_) {
    const MjcfFriction f = combinedFriction(surface.contactDimension, surface.friction);
    Material material{.name = surface_names_.at(surface),
                      .friction = f.sliding,
                      .torsionalFriction = f.torsional,
                      .rollingFriction = f.rolling};
    if (import_.contactLaw) copyContactLaw(*import_.contactLaw, &material);
    import_.builder.addMaterial(material);
  }
  for (std::size_t i = 0; i < surfaces_.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const Surface &a = surfaces_[i], &b = surfaces_[j];
      MjcfFriction f;
      if (a.priority != b.priority) {
        const Surface& higher = a.priority > b.priority ? a : b;
        f = combinedFriction(higher.contactDimension, higher.friction);
      } else {
        std::array<Real, 3> larger{};
        for (std::size_t k = 0; k < 3; ++k) larger[k] = std::fmax(a.friction[k], b.friction[k]);
        f = combinedFriction(std::max(a.contactDimension, b.contactDimension), larger);
      }
      import_.builder.addPair({.material1 = surface_names_.at(a),
                               .material2 = surface_names_.at(b),
                               .friction = f.sliding,
                               .torsionalFriction = f.torsional,
                               .rollingFriction = f.rolling});
    }
  }
}

void MjcfBodies::finish() {
  for (std::size_t i = 1; i < bodies_.size(); ++i) {
    MjcfBody& body = bodies_[i];
    body.isStatic = body.body.joints.empty() && !body.isMocap &&
                    bodies_[static_cast<std::size_t>(body.parent)].isStatic;
  }
  computeMasses();
  requireMasses();
  if (import_.notes.hasErrors()) return;
  addMaterials();
  addBodies();
  addSites();
}

void MjcfBodies::computeMasses() {
  using Mode = MjcfCompiler::InertiaFromGeom;
  Real total = 0;
  for (std::size_t i = 1; i < bodies_.size(); ++i) {
    MjcfBody& body = bodies_[i];
    const bool fromGeoms = compiler_.inertiaFromGeom == Mode::True ||
                           (compiler_.inertiaFromGeom == Mode::Auto && !body.inertial);
    if (fromGeoms) {
      if (!body.geoms.empty()) body.mass = geometry::sum(body.geoms);
    } else if (body.inertial) {
      body.mass = *body.inertial;
    }
    if (!boundMass(body)) return;
    total += body.mass.mass;
  }
  if (compiler_.totalMass > 0 && total > 0) {
    const Real factor = compiler_.totalMass / total;
    for (MjcfBody& body : bodies_) {
      body.mass.mass *= factor;
      for (Vec3& column : body.mass.inertia.col) column *= factor;
    }
  }
}

/// The least mass and inertia of the compiler, and the triangle rule. False after an error.
bool MjcfBodies::boundMass(MjcfBody& body) {
  body.mass.mass = std::fmax(body.mass.mass, compiler_.lowerMass);
  Real a[3][3];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) a[i][j] = body.mass.inertia(i, j);
  }
  math::SymmetricEigen<Real, 3> eigen = math::symmetricEigen(a);
  bool isChanged = false;
  for (Real& value : eigen.values) {
    if (value >= compiler_.lowerInertia) continue;
    if (compiler_.lowerInertia > 0) isChanged = true;
    value = std::fmax(value, compiler_.lowerInertia);
  }
  constexpr Real kRounding = 1e-9;
  Real* v = eigen.values;
  if (v[0] + v[1] < v[2] * (1 - kRounding) && v[2] > 0) {
    if (!compiler_.balancesInertia) {
      import_.notes.addIn(*body.element->file, ImportNote::Kind::Error, body.element->place,
                          callOf(*body.element) +
                              ": found principal moments of inertia of which two are less than the "
                              "third, which no body has; balanceinertia=\"true\" mends it");
      return false;
    }
    const Real mean = (v[0] + v[1] + v[2]) / 3;
    v[0] = v[1] = v[2] = mean;
    isChanged = true;
    import_.notes.addIn(*body.element->file, ImportNote::Kind::Changed, body.element->place,
                        callOf(*body.element) +
                            ": moments of inertia that no body has were made equal "
                            "(balanceinertia)");
  }
  if (!isChanged) return true;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      Real sum = 0;
      for (int k = 0; k < 3; ++k)
        sum += eigen.vectors[i][k] * eigen.values[k] * eigen.vectors[j][k];
      body.mass.inertia(i, j) = sum;
    }
  }
  return true;
}

/// What a joint moves must have mass and inertia, in its body or in what is welded to it.
void MjcfBodies::requireMasses() {
  constexpr Real kLeast = 1e-15;  // MuJoCo's bound
  std::vector<bool> hasMass(bodies_.size(), false);
  for (std::size_t i = bodies_.size(); i-- > 1;) {
    MjcfBody& body = bodies_[i];
    const Mat3& inertia = body.mass.inertia;
    if (body.mass.mass >= kLeast && inertia(0, 0) > 0 && inertia(1, 1) > 0 && inertia(2, 2) > 0)
      hasMass[i] = true;
    if (hasMass[i] && body.body.joints.empty())
      hasMass[static_cast<std::size_t>(body.parent)] = true;
    if (hasMass[i] || body.body.joints.empty()) continue;
    import_.notes.addIn(
        *body.element->file, ImportNote::Kind::Error, body.element->place,
        callOf(*body.element) +
            ": found joints but neither mass nor inertia, expected an <inertial> or "
            "geoms with mass");
  }
}

void MjcfBodies::addBodies() {
  const MjcfBody& world = bodies_[0];
  if (!world.body.shapes.empty()) import_.builder.addBody(world.body);
  for (std::size_t i = 1; i < bodies_.size(); ++i) {
    MjcfBody& entry = bodies_[i];
    Body& body = entry.body;
    const bool hasGround =
        std::any_of(body.shapes.begin(), body.shapes.end(), [](const BodyShape& shape) {
          return shape.shape->type() == ShapeType::Plane ||
                 shape.shape->type() == ShapeType::HeightField;
        });
    if (entry.isMocap) {
      body.type = BodyType::Kinematic;
      body.pose = entry.pose;
    } else if (entry.isStatic && (entry.parent == 0 || hasGround)) {
      body.type = BodyType::Fixed;
      body.pose = entry.pose;
    } else if (entry.parent != 0) {
      body.parent = bodies_[static_cast<std::size_t>(entry.parent)].body.name;
    } else {
      body.pose = entry.pose;
    }
    if (body.type == BodyType::Dynamic) {
      body.massProperties = entry.mass;
      if (entry.mass.mass == 0) body.massProperties = MassProperties{};
    }
    try {
      import_.builder.addBody(body);
    } catch (const InvalidInput& error) {
      import_.notes.addIn(*entry.element->file, ImportNote::Kind::Error, entry.element->place,
                          error.what());
    }
  }
}

/// Body by body, as MuJoCo numbers them.
void MjcfBodies::addSites() {
  for (const MjcfBody& body : bodies_) {
    for (const auto& [site, element] : body.sites) {
      try {
        import_.builder.addSite(site);
      } catch (const InvalidInput& error) {
        import_.notes.addIn(*element->file, ImportNote::Kind::Error, element->place, error.what());
      }
    }
  }
}

int MjcfBodies::find(const std::string& name) const {
  const auto found = index_.find(name);
  return found != index_.end() ? found->second : -1;
}

std::vector<std::string> MjcfBodies::bodyNames() const { return namesOf(index_); }

const MjcfSiteEntry* MjcfBodies::findSite(const std::string& name) const {
  const auto found = sites_.find(name);
  return found != sites_.end() ? &found->second : nullptr;
}

const MjcfJointEntry* MjcfBodies::findJoint(const std::string& name) const {
  const auto found = joints_.find(name);
  return found != joints_.end() ? &found->second : nullptr;
}

const MjcfGeom* MjcfBodies::findGeom(const std::string& name) const {
  const auto found = geoms_.find(name);
  return found != geoms_.end() ? &found->second : nullptr;
}

const Joint& MjcfBodies::joint(const MjcfJointEntry& entry) const {
  return body(entry.body).body.joints[static_cast<std::size_t>(entry.index)];
}

Real MjcfBodies::inertiaAt(const MjcfJointEntry& entry) const {
  const Joint& moved = joint(entry);
  const Transform& pose = body(entry.body).pose;
  const Vec3 axis = pose.rotation * moved.axis, point = pose * moved.position;
  std::vector<bool> isMoved(bodies_.size(), false);
  Real out = moved.armature;
  for (std::size_t i = static_cast<std::size_t>(entry.body); i < bodies_.size(); ++i) {
    const MjcfBody& other = bodies_[i];
    isMoved[i] =
        static_cast<int>(i) == entry.body || isMoved[static_cast<std::size_t>(other.parent)];
    if (!isMoved[i]) continue;
    if (moved.type == JointType::Prismatic) {
      out += other.mass.mass;
      continue;
    }
    const Vec3 local = transposeTimes(other.pose.rotation, axis);
    const Vec3 arm = cross(axis, other.pose * other.mass.center - point);
    out += dot(local, other.mass.inertia * local) + other.mass.mass * squaredNorm(arm);
  }
  return out;
}

}  // namespace tangere::io
