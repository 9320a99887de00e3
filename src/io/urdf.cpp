// SPDX-License-Identifier: Apache-2.0
//
// URDF: links and joints. What drives them is in urdf_transmission.cpp.
#include <tangere/error.hpp>

#include "geometry/mass_properties.hpp"
#include "io/text.hpp"
#include "io/urdf_reader.hpp"
#include "math/quat.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace tangere::io {

namespace {

constexpr Real kTurn = 6.283185307179586476925286766559;  // a revolution [rad]

constexpr std::array<std::string_view, 6> kExtensions{"gazebo", "ros2_control", "mujoco",
                                                      "sensor", "pybullet",     "group_state"};

std::string shortNumber(Real value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

/// A direction perpendicular to `normal`: x as far as that goes, else y.
Vec3 alongPlane(const Vec3& normal) {
  const Vec3 n = normal / math::scaledNorm(normal);
  const Vec3 start = std::fabs(n.x) < 0.9 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
  const Vec3 flat = start - n * dot(n, start);
  return flat / norm(flat);
}

}  // namespace

void importUrdf(const XmlElement& root, RobotImport& import) { UrdfReader(root, import).read(); }

void UrdfReader::read() {
  if (hasXacro()) return;
  readRoot();
  for (const XmlElement& child : root_.children) {
    if (child.name == "link") readLink(child);
  }
  for (const XmlElement& child : root_.children) {
    if (child.name == "joint" || child.name == "drake:joint") readJoint(child);
  }
  for (const XmlElement& child : root_.children) {
    if (child.name == "transmission") readTransmission(child);
  }
  for (const XmlElement& child : root_.children) {
    if (child.name == "frame") readFrame(child);
  }
  CollisionFilterGroups filters(import_);
  for (const XmlElement& child : root_.children) {
    if (child.name != "drake:collision_filter_group") continue;
    filters.read(child, ValueStyle::Attribute, "", [&](const std::string& link) {
      const int index = tree_.findLink(link);
      return index < 0 ? std::string() : tree_.links()[static_cast<std::size_t>(index)].body.name;
    });
  }
  build();
  if (notes_.hasErrors()) return;
  filters.apply();
  summarize();
}

bool UrdfReader::hasXacro() {
  const auto isMacro = [](const std::string& text) {
    return text.find("${") != std::string::npos || text.find("$(") != std::string::npos;
  };
  std::vector<const XmlElement*> left{&root_};
  while (!left.empty()) {
    const XmlElement& element = *left.back();
    left.pop_back();
    const XmlAttribute* found = nullptr;
    for (const XmlAttribute& attribute : element.attributes) {
      if (isMacro(attribute.value)) found = &attribute;
    }
    const bool isXacro = element.name.compare(0, 6, "xacro:") == 0;
    // Plugins of other programs may use these signs for themselves.
    if (isXacro ||
        (!isExtension(element.name, kExtensions) && (found != nullptr || isMacro(element.text)))) {
      say(notes_, ImportNote::Kind::Error, element,
          found != nullptr && !isXacro ? found->valuePlace : element.place,
          "found xacro (" +
              (isXacro ? "<" + element.name.substr(0, 40) + ">"
                       : io::quoted(found != nullptr ? found->value : element.text)) +
              "), a macro language, expected plain URDF: run 'xacro FILE -o robot.urdf' first");
      return true;
    }
    if (isExtension(element.name, kExtensions)) continue;
    for (auto child = element.children.rbegin(); child != element.children.rend(); ++child)
      left.push_back(&*child);
  }
  return false;
}

void UrdfReader::readRoot() {
  XmlReader reader(notes_, root_, "robot");
  robot_ = reader.string("name").value_or("");
  if (robot_.empty()) reader.error(root_.place, "name is missing, expected a name");
  reader.allow({"name", "version"});
  if (const auto version = reader.string("version"); version && *version != "1.0") {
    reader.note(ImportNote::Kind::Warning, reader.placeOf("version"),
                "version " + io::quoted(*version) + " is read as 1.0");
  }
  passForeignAttributes(root_, &extensions_);
  reader.finish();
  checkChildren(
      root_, "robot", {},
      {"link", "joint", "material", "transmission", "drake:joint", "drake:collision_filter_group",
       "drake:ball_constraint", "drake:distance_constraint", "drake:linear_bushing_rpy",
       "drake:linear_spring_damper", "drake:tendon_constraint", "drake:weld_constraint", "frame"});
  for (const XmlElement& child : root_.children) {
    if (child.name == "material") materials_.add(child);
    if (isIn(child.name,
             {"drake:ball_constraint", "drake:distance_constraint", "drake:linear_bushing_rpy",
              "drake:linear_spring_damper", "drake:tendon_constraint", "drake:weld_constraint"})) {
      note(ImportNote::Kind::Warning, child, child.name + ": is not simulated");
    }
  }
}

// ---- Links

void UrdfReader::readLink(const XmlElement& element) {
  if (!import_.countBody(element)) return;
  XmlReader reader(notes_, element, "link");
  RobotLink link;
  link.name = reader.string("name").value_or("");
  link.element = &element;
  reader.ignore({"type"}, "has no meaning in URDF");
  reader.finish();
  if (link.name.empty()) {
    reader.error(element.place, "name is missing, expected a name");
    return;
  }
  const std::string who = "link " + io::quoted(link.name);
  link.body.name = import_.takeName("body", link.name, element, reader.placeOf("name"));
  link.body.pose = import_.pose;
  link.body.massProperties = MassProperties{};
  checkChildren(element, who, {"inertial"},
                {"collision", "visual", "contact", "gravity", "self_collision",
                 "drake:surface_velocity_axis"});
  for (const XmlElement& child : element.children) {
    if (child.name == "inertial") {
      if (const auto mass = readInertial(child, who + ": inertial"))
        link.body.massProperties = *mass;
    } else if (child.name == "collision") {
      readCollision(child, link.name, &link.body);
    } else if (child.name == "visual") {
      passVisual(child, link.name);
      addUrdfVisual(child, link.body.name, colors_, import_);
    } else if (isIn(child.name, {"contact", "gravity", "self_collision"})) {
      note(ImportNote::Kind::Ignored, child,
           who + ": <" + child.name + "> is an extension of another program");
    } else if (child.name == "drake:surface_velocity_axis") {
      note(ImportNote::Kind::Warning, child, who + ": " + child.name + ": is not simulated");
    }
  }
  if (!link.body.name.empty()) tree_.addLink(std::move(link));
}

std::optional<MassProperties> UrdfReader::readInertial(const XmlElement& element,
                                                       const std::string& who) {
  XmlReader(notes_, element, who).finish();
  checkChildren(element, who, {"origin", "mass", "inertia"});
  const Transform X_LI = readOrigin(element, who);
  MassProperties out{.center = X_LI.translation};
  const XmlElement* massElement = element.child("mass");
  const XmlElement* inertiaElement = element.child("inertia");
  if (massElement == nullptr || inertiaElement == nullptr) {
    note(ImportNote::Kind::Error, element,
         who + ": " + (massElement == nullptr ? "mass" : "inertia") + " is missing");
    return std::nullopt;
  }
  XmlReader massReader(notes_, *massElement, who + ": mass");
  const std::optional<Real> mass = massReader.number("value", robot_rule::kMass);
  if (!massReader.has("value"))
    massReader.error(massElement->place, "value is missing, expected a mass [kg]");
  massReader.finish();
  XmlReader reader(notes_, *inertiaElement, who + ": inertia");
  constexpr const char* kKeys[] = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"};
  Real i[6] = {};
  bool isComplete = true;
  std::string values;
  for (int k = 0; k < 6; ++k) {
    const auto number = reader.number(kKeys[k], robot_rule::kInertia);
    if (!reader.has(kKeys[k]))
      reader.error(inertiaElement->place, std::string(kKeys[k]) + " is missing");
    isComplete = isComplete && number.has_value();
    i[k] = number.value_or(0);
    values += std::string(k > 0 ? ", " : "") + kKeys[k] + " " + shortNumber(i[k]);
  }
  reader.finish();
  if (!isComplete || !mass) return std::nullopt;
  const bool isPoint = std::all_of(i, i + 6, [](Real x) { return x == 0; });
  if (*mass == 0) {
    if (!isPoint) {
      reader.error(inertiaElement->place, "found a mass of 0 kg with an inertia (" + values +
                                              "), expected neither or both");
    }
    return std::nullopt;
  }
  const Mat3 I{{{i[0], i[1], i[2]}, {i[1], i[3], i[4]}, {i[2], i[4], i[5]}}};
  if (const auto why = whyNotInertia(I)) {
    reader.error(inertiaElement->place, "found " + *why + " (" + values + " kg m^2 with " +
                                            shortNumber(*mass) +
                                            " kg), expected one that a body can have");
    return std::nullopt;
  }
  out.mass = *mass;
  out.inertia = X_LI.rotation * I * transpose(X_LI.rotation);
  // The product rounds; a symmetric matrix is asked for.
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < row; ++column) {
      const Real mean = (out.inertia(row, column) + out.inertia(column, row)) / 2;
      out.inertia(row, column) = out.inertia(column, row) = mean;
    }
  }
  return out;
}

void UrdfReader::readCollision(const XmlElement& element, const std::string& link, Body* body) {
  if (!import_.countShape(element)) return;
  XmlReader reader(notes_, element, "link " + io::quoted(link) + ": collision");
  const std::string name = reader.string("name").value_or("");
  reader.ignore({"group", "concave"}, "is an extension of another program");
  reader.finish();
  const std::string& who = reader.who();
  checkChildren(element, who,
                {"origin", "geometry", "material", "verbose", "contact_coefficients",
                 "max_contacts", "drake:proximity_properties"});
  BodyShape shape;
  shape.pose = readOrigin(element, who);
  for (const char* key : {"material", "verbose", "contact_coefficients", "max_contacts"}) {
    if (const XmlElement* child = element.child(key))
      note(ImportNote::Kind::Ignored, *child, who + ": <" + std::string(key) + ">");
  }
  if (const XmlElement* proximity = element.child("drake:proximity_properties")) {
    Material surface;
    shapes_.readProximity(*proximity, ValueStyle::Attribute, who, &surface);
    shape.material = shapes_.materialOf(surface, *proximity);
  }
  const XmlElement* geometry = element.child("geometry");
  if (geometry == nullptr) {
    note(ImportNote::Kind::Error, element, who + ": geometry is missing");
    return;
  }
  shape.shape = readGeometry(*geometry, who);
  if (shape.shape == nullptr) return;
  if (!name.empty()) {
    // Exporters call several shapes of a link the same: the first one keeps the name.
    const std::string full = link + "::" + name;
    if (import_.hasName("shape", import_.prefix + full)) {
      reader.note(ImportNote::Kind::Changed, reader.placeOf("name"),
                  "the name " + io::quoted(name) + " is taken: this one has none");
    } else {
      shape.name = import_.takeName("shape", full, element, reader.placeOf("name"));
    }
  }
  body->shapes.push_back(std::move(shape));
}

std::shared_ptr<const Shape> UrdfReader::readGeometry(const XmlElement& element,
                                                      const std::string& who) {
  XmlReader(notes_, element, who + ": geometry").finish();
  checkChildren(
      element, who + ": geometry",
      {"box", "cylinder", "sphere", "capsule", "mesh", "drake:capsule", "drake:ellipsoid"});
  if (element.children.size() != 1) {
    note(ImportNote::Kind::Error, element,
         who + ": geometry: found " + std::to_string(element.children.size()) +
             " shapes, expected one of box, cylinder, sphere, capsule, mesh");
    return nullptr;
  }
  const XmlElement& child = element.children[0];
  const std::string& kind = child.name;
  XmlReader reader(notes_, child, who + ": " + kind.substr(0, 40));
  const auto length = [&](const char* key) {
    const auto out = reader.number(key, robot_rule::kLength);
    if (!reader.has(key)) reader.error(child.place, std::string(key) + " is missing");
    return out;
  };
  std::shared_ptr<const Shape> out;
  if (kind == "box") {
    const auto size = reader.vec3("size", robot_rule::kLength);
    if (!reader.has("size")) reader.error(child.place, "size is missing");
    if (size) out = std::make_shared<Box>(*size / 2);
  } else if (kind == "sphere") {
    if (const auto radius = length("radius")) out = std::make_shared<Sphere>(*radius);
  } else if (isIn(kind, {"cylinder", "capsule", "drake:capsule"})) {
    const auto radius = length("radius");
    const auto full = length("length");
    if (radius && full) {
      if (kind == "cylinder") {
        out = std::make_shared<Cylinder>(*radius, *full / 2);
      } else {
        out = std::make_shared<Capsule>(*radius, *full / 2);
      }
    }
  } else if (kind == "drake:ellipsoid") {
    const auto a = length("a"), b = length("b"), c = length("c");
    if (a && b && c) out = std::make_shared<Ellipsoid>(Vec3{*a, *b, *c});
  } else if (kind == "mesh") {
    const auto file = reader.string("filename");
    if (!file) reader.error(child.place, "filename is missing");
    const Vec3 scale = reader.vec3("scale", robot_rule::kScale).value_or(Vec3{1, 1, 1});
    checkChildren(child, who + ": mesh", {"drake:declare_convex"});
    if (scale.x == 0 || scale.y == 0 || scale.z == 0) {
      reader.errorFound("scale", robot_rule::kScale.expected);
    } else if (file) {
      out = shapes_.hull(*file, scale, child, reader.placeOf("filename"), {});
    }
  } else {
    return nullptr;  // checkChildren() has said so
  }
  reader.finish();
  return out;
}

void UrdfReader::passVisual(const XmlElement& element, const std::string& link) {
  const std::string who = "link " + io::quoted(link) + ": visual";
  XmlReader reader(notes_, element, who);
  reader.allow({"name"});
  reader.finish();
  checkChildren(element, who, {"origin", "geometry", "material", "meta"},
                {"drake:illustration_properties", "drake:perception_properties",
                 "drake:accepting_renderer", "drake:diffuse_map"});
  if (const XmlElement* geometry = element.child("geometry")) {
    checkChildren(
        *geometry, who + ": geometry",
        {"box", "cylinder", "sphere", "capsule", "mesh", "drake:capsule", "drake:ellipsoid"});
  }
  visuals_.add(element);
}

// ---- Joints

void UrdfReader::readJoint(const XmlElement& element) {
  XmlReader reader(notes_, element, "joint");
  RobotJoint joint;
  joint.element = &element;
  joint.name = reader.string("name").value_or("");
  if (joint.name.empty()) {
    reader.error(element.place, "name is missing, expected a name");
  } else {
    reader.setWho("joint " + io::quoted(joint.name));
  }
  const std::string who = reader.who();
  const bool isDrake = element.name == "drake:joint";
  const auto type = isDrake ? reader.word("type", {"ball", "universal", "screw", "planar"})
                            : reader.word("type", {"fixed", "revolute", "continuous", "prismatic",
                                                   "floating", "planar"});
  constexpr const char* kDrakeTypes[] = {"ball", "universal", "screw", "planar"};
  constexpr const char* kTypes[] = {"fixed",     "revolute", "continuous",
                                    "prismatic", "floating", "planar"};
  if (!reader.has("type")) reader.error(element.place, "type is missing");
  reader.finish();
  checkChildren(element, who,
                {"parent", "child", "origin", "axis", "limit", "dynamics", "mimic",
                 "safety_controller", "calibration", "drake:screw_thread_pitch"});
  const auto parent = readEnd(element, "parent", who), child = readEnd(element, "child", who);
  joint.pose = readOrigin(element, who);

  Joint coordinate;
  coordinate.name = joint.name.empty()
                        ? ""
                        : import_.takeName("joint", joint.name, element, reader.placeOf("name"));
  const std::string kind = !type ? "fixed" : isDrake ? kDrakeTypes[*type] : kTypes[*type];
  joint_types_[joint.name] = kind;
  if (kind == "fixed" || kind == "floating") {
    for (const char* key : {"axis", "limit", "dynamics", "mimic"}) {
      if (const XmlElement* idle = element.child(key)) idle_.add(*idle);
    }
    joint.isFloating = kind == "floating";
    if (joint.isFloating) {
      note(ImportNote::Kind::Changed, element,
           who + ": floating: its child is a free body with coordinates in the world");
    }
  } else {
    constexpr std::pair<const char*, JointType> kKinds[] = {
        {"revolute", JointType::Revolute},   {"continuous", JointType::Revolute},
        {"prismatic", JointType::Prismatic}, {"planar", JointType::Planar},
        {"ball", JointType::Ball},           {"universal", JointType::Universal},
        {"screw", JointType::Screw}};
    for (const auto& [word, jointType] : kKinds) {
      if (kind == word) coordinate.type = jointType;
    }
    coordinate.axis = {1, 0, 0};
    readAxis(element, who, &coordinate);
    readLimits(element, kind, who, &coordinate);
    readDynamics(element, who, &coordinate);
    readPitch(element, who, &coordinate);
    readMimic(element, who, coordinate.name);
    joint.joints.push_back(coordinate);
  }
  for (const char* key : {"safety_controller", "calibration"}) {
    if (const XmlElement* idle = element.child(key)) {
      note(ImportNote::Kind::Ignored, *idle,
           who + ": <" + std::string(key) + "> is for the controller of the real robot");
    }
  }
  if (!parent || !child || coordinate.name.empty()) return;
  if (*parent == *child) {
    note(ImportNote::Kind::Error, element,
         who + ": found one link as parent and child, expected two");
    return;
  }
  joint.parent = *parent;
  joint.child = *child;
  tree_.addJoint(std::move(joint));
}

std::optional<int> UrdfReader::readEnd(const XmlElement& element, const char* end,
                                       const std::string& who) {
  const XmlElement* child = element.child(end);
  if (child == nullptr) {
    note(ImportNote::Kind::Error, element, who + ": " + end + " is missing");
    return std::nullopt;
  }
  XmlReader reader(notes_, *child, who + ": " + end);
  const std::string name = reader.string("link").value_or("");
  const int link = tree_.findLink(name);
  if (!reader.has("link")) {
    reader.error(child->place, "link is missing");
  } else if (link < 0 && name == "world" && std::string_view(end) == "parent") {
    reader.finish();
    return -1;
  } else if (link < 0) {
    // Near names cost as much as there are links: only for mistakes that are listed.
    constexpr std::size_t kMaxListed = 20;
    reader.error(
        reader.placeOf("link"),
        "found the link " + io::quoted(name) + ", expected one that exists" +
            (notes_.numErrors() < kMaxListed ? candidates(name.substr(0, 64), tree_.linkNames())
                                             : std::string()));
  }
  reader.finish();
  if (link < 0) return std::nullopt;
  return link;
}

void UrdfReader::readAxis(const XmlElement& element, const std::string& who, Joint* joint) {
  if (const XmlElement* axis = element.child("axis")) {
    XmlReader reader(notes_, *axis, who + ": axis");
    const auto xyz = reader.vec3("xyz", robot_rule::kComponent);
    if (!reader.has("xyz")) reader.error(axis->place, "xyz is missing");
    reader.finish();
    if (xyz) {
      const Real length = math::scaledNorm(*xyz);
      if (!(length > 1e-9)) {
        reader.errorFound("xyz", "an axis other than 0");
      } else {
        joint->axis = *xyz / length;
        constexpr Real kOff = 1e-3;
        if (std::fabs(length - 1) > kOff) {
          reader.note(ImportNote::Kind::Changed, reader.placeOf("xyz"),
                      "of length " + shortNumber(length) + " was made a unit vector");
        }
      }
    }
  }
  if (joint->type == JointType::Planar) joint->axis2 = alongPlane(joint->axis);
  if (joint->type == JointType::Universal) {
    joint->axis = {1, 0, 0};
    joint->axis2 = {0, 1, 0};
  }
}

void UrdfReader::readLimits(const XmlElement& element, const std::string& type,
                            const std::string& who, Joint* joint) {
  const XmlElement* limit = element.child("limit");
  const bool isLimited = type == "revolute" || type == "prismatic";
  if (limit == nullptr) {
    if (isLimited) {
      note(ImportNote::Kind::Warning, element,
           who + ": limit is missing, which URDF asks for: it has no limits");
    }
    return;
  }
  XmlReader reader(notes_, *limit, who + ": limit");
  const auto lower = reader.number("lower", robot_rule::kLimit);
  const auto upper = reader.number("upper", robot_rule::kLimit);
  const auto effort = reader.number("effort", robot_rule::kEffort);
  if (isLimited || type == "screw") {
    // What is not given is 0 in URDF.
    const bool isGiven = isLimited || reader.has("lower") || reader.has("upper");
    if (isGiven) joint->lower = lower.value_or(0);
    if (isGiven) joint->upper = upper.value_or(0);
    if (joint->lower > joint->upper) {
      reader.error(limit->place, "found lower " + shortNumber(joint->lower) + " above upper " +
                                     shortNumber(joint->upper));
      joint->lower = joint->upper;
    }
  } else {
    reader.ignore({"lower", "upper"}, "a " + type + " joint has no limits in URDF");
  }
  if (effort) {
    joint->lowerActuatorForce = -*effort;
    joint->upperActuatorForce = *effort;
    if (*effort == 0) {
      reader.note(ImportNote::Kind::Warning, reader.placeOf("effort"),
                  "an effort of 0: no drive can move this joint");
    }
  }
  if (reader.has("velocity")) {
    constexpr NumberRule kVelocity{0, kUnlimited, "a velocity of 0 or more [rad/s, m/s]"};
    (void)reader.number("velocity", kVelocity);
    velocities_.add(*limit);
  }
  reader.ignore({"drake:acceleration"}, "accelerations are not limited");
  reader.finish();
}

void UrdfReader::readDynamics(const XmlElement& element, const std::string& who, Joint* joint) {
  const XmlElement* dynamics = element.child("dynamics");
  if (dynamics == nullptr) return;
  XmlReader reader(notes_, *dynamics, who + ": dynamics");
  joint->damping = reader.number("damping", robot_rule::kDamping).value_or(0);
  joint->frictionLoss = reader.number("friction", robot_rule::kDamping).value_or(0);
  reader.ignore({"coulomb_window", "drake:coulomb_window"}, "dry friction needs none");
  // Not in the standard, but Gazebo and Isaac read them.
  joint->stiffness = reader.number("spring_stiffness", robot_rule::kDamping).value_or(0);
  joint->springReference = reader.number("spring_reference", robot_rule::kPosition).value_or(0);
  reader.finish();
}

void UrdfReader::readPitch(const XmlElement& element, const std::string& who, Joint* joint) {
  const XmlElement* pitch = element.child("drake:screw_thread_pitch");
  const bool isScrew = joint->type == JointType::Screw;
  if (pitch == nullptr) {
    if (isScrew)
      note(ImportNote::Kind::Error, element, who + ": drake:screw_thread_pitch is missing");
    return;
  }
  XmlReader reader(notes_, *pitch, who + ": drake:screw_thread_pitch");
  joint->pitch = reader.number("value", robot_rule::kComponent).value_or(0) / kTurn;
  reader.finish();
  if (!isScrew) reader.error(pitch->place, "found a pitch on a joint that is no screw");
}

void UrdfReader::readMimic(const XmlElement& element, const std::string& who,
                           const std::string& follower) {
  const XmlElement* mimic = element.child("mimic");
  if (mimic == nullptr) return;
  XmlReader reader(notes_, *mimic, who + ": mimic");
  const auto leader = reader.string("joint");
  RobotMimic out{.follower = follower, .element = mimic, .place = reader.placeOf("joint")};
  if (!leader) {
    reader.error(mimic->place, "joint is missing, expected the name of another joint");
  }
  out.multiplier = reader.number("multiplier", robot_rule::kComponent).value_or(1);
  out.offset = reader.number("offset", robot_rule::kPosition).value_or(0);
  reader.finish();
  if (!leader || follower.empty()) return;
  out.leader = import_.prefix + *leader;
  tree_.addMimic(std::move(out));
}

/// A named frame of a link, as Drake has it: a site.
void UrdfReader::readFrame(const XmlElement& element) {
  XmlReader reader(notes_, element, "frame");
  const std::string name = reader.string("name").value_or("");
  const std::string link = reader.string("link").value_or("");
  Site site;
  site.pose.translation = reader.vec3("xyz", robot_rule::kPosition).value_or(Vec3{});
  if (const auto rpy = reader.vec3("rpy", robot_rule::kAngle))
    site.pose.rotation = rotationFromRpy(*rpy);
  reader.finish();
  const int index = tree_.findLink(link);
  if (name.empty() || index < 0) {
    reader.error(element.place, "found name " + io::quoted(name) + " and link " + io::quoted(link) +
                                    ", expected a name and a link that exists");
    return;
  }
  site.name = import_.takeName("site", name, element, reader.placeOf("name"));
  const RobotLink& owner = tree_.links()[static_cast<std::size_t>(index)];
  const bool isWorld = owner.name == "world" && owner.body.shapes.empty();
  site.body = isWorld ? "" : owner.body.name;
  if (isWorld) site.pose = import_.pose * site.pose;
  if (!site.name.empty()) sites_.push_back({site, &element});
}

// ---- The whole

void UrdfReader::build() {
  if (tree_.links().empty() && !notes_.hasErrors())
    note(ImportNote::Kind::Error, root_, "robot: found no link, expected at least one");
  if (notes_.hasErrors() || !tree_.connect()) return;
  const std::vector<int> roots = tree_.roots();
  const bool hasWorld = std::any_of(tree_.joints().begin(), tree_.joints().end(),
                                    [](const RobotJoint& joint) { return joint.parent < 0; });
  if (roots.size() + (hasWorld ? 1 : 0) > 1) {
    const RobotLink& last = tree_.links()[static_cast<std::size_t>(roots.back())];
    std::string others = "the world";
    if (roots.size() > 1) {
      const RobotLink& first = tree_.links()[static_cast<std::size_t>(roots[0])];
      others = io::quoted(first.name) + " at " + std::to_string(first.element->place.line) + ":" +
               std::to_string(first.element->place.column);
    }
    note(ImportNote::Kind::Error, *last.element,
         "link " + io::quoted(last.name) + ": found a root besides " + others +
             ", expected one link that no joint holds");
    return;
  }
  if (!roots.empty()) chooseBase(roots[0]);
  tree_.setArmatures(armatures_);
  tree_.build();
  if (notes_.hasErrors()) return;
  for (const PendingSite& pending : sites_) {
    try {
      import_.builder.addSite(pending.site);
    } catch (const InvalidInput& error) {
      note(ImportNote::Kind::Error, *pending.element, error.what());
    }
  }
  for (const PendingActuator& pending : actuators_) {
    try {
      import_.builder.addActuator(pending.actuator);
    } catch (const InvalidInput& error) {
      note(ImportNote::Kind::Error, *pending.element, error.what());
    }
  }
}

/// The world, a base that stands or a base that floats, and says which.
void UrdfReader::chooseBase(int root) {
  RobotLink& link = tree_.links()[static_cast<std::size_t>(root)];
  const std::string who = "link " + io::quoted(link.name) + ": the root ";
  const bool hasMass = link.body.massProperties->mass > 0;
  if (link.name == "world") {
    link.base = RobotLink::Base::World;
    if (hasMass)
      note(ImportNote::Kind::Ignored, *link.element, who + "is the world: it needs no inertial");
  } else if (import_.isFixed) {
    link.base = RobotLink::Base::Fixed;
    note(ImportNote::Kind::Read, *link.element, who + "is fixed to the world, as asked for");
  } else if (!hasMass) {
    link.base = RobotLink::Base::Fixed;
    note(ImportNote::Kind::Changed, *link.element, who + "has no mass: it is fixed to the world");
  } else {
    note(ImportNote::Kind::Read, *link.element,
         who + "floats freely; a fixed joint to a link 'world' would hold it");
  }
}

void UrdfReader::summarize() {
  int numMoving = 0;
  for (const RobotJoint& joint : tree_.joints()) numMoving += joint.joints.empty() ? 0 : 1;
  const auto number = [](std::size_t n, const char* what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
  };
  note(ImportNote::Kind::Read, root_,
       "robot " + io::quoted(robot_) + ": " + number(tree_.links().size(), "link") + ", " +
           number(tree_.joints().size(), "joint") + " (" + std::to_string(numMoving) +
           " moving), " +
           number(static_cast<std::size_t>(import_.numShapes - first_shape_), "collision shape") +
           ", " + number(actuators_.size(), "actuator"));
  tell(notes_, visuals_, ImportNote::Kind::Ignored,
       "<visual>: what is simulated are collision shapes");
  tell(notes_, materials_, ImportNote::Kind::Ignored, "<material>: colours are not simulated");
  tell(notes_, velocities_, ImportNote::Kind::Ignored, "<limit velocity>: speeds are not limited");
  tell(notes_, idle_, ImportNote::Kind::Ignored,
       "<axis>, <limit>, <dynamics> or <mimic> of a joint that needs none");
  tell(notes_, extensions_, ImportNote::Kind::Ignored,
       "element of another program (<gazebo> and the like)");
}

// ---- Helpers

Transform UrdfReader::readOrigin(const XmlElement& element, const std::string& who) {
  Transform out;
  const XmlElement* origin = element.child("origin");
  if (origin == nullptr) return out;
  XmlReader reader(notes_, *origin, who + ": origin");
  out.translation = reader.vec3("xyz", robot_rule::kPosition).value_or(Vec3{});
  const auto rpy = reader.vec3("rpy", robot_rule::kAngle);
  const auto quat = reader.numbers("quat_xyzw", 4, 4, robot_rule::kComponent);
  reader.finish();
  if (rpy && quat) reader.error(reader.placeOf("quat_xyzw"), "found rpy as well, expected one");
  if (rpy) out.rotation = rotationFromRpy(*rpy);
  if (quat) {
    const Quat q{(*quat)[3], (*quat)[0], (*quat)[1], (*quat)[2]};
    const Real length = math::norm(scaledForSquares(q));
    if (!(length > 1e-9)) {
      reader.errorFound("quat_xyzw", "a quaternion of length 1, not 0");
    } else {
      out.rotation = rotationMatrix(q);
    }
  }
  return out;
}

void UrdfReader::checkChildren(const XmlElement& element, const std::string& who,
                               std::initializer_list<std::string_view> single,
                               std::initializer_list<std::string_view> many) {
  io::checkChildren(notes_, element, who, {single, many, kExtensions}, &extensions_);
}

}  // namespace tangere::io
