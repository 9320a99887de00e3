// SPDX-License-Identifier: Apache-2.0
//
// URDF: joints, with their axes, limits and drives by other joints.
#include "io/text.hpp"
#include "io/urdf_reader.hpp"
#include "math/quat.hpp"

#include <array>
#include <cmath>
#include <span>

namespace tangere::io {

namespace {

constexpr Real kTurn = 6.283185307179586476925286766559;  // a revolution [rad]

constexpr std::array<std::string_view, 6> kTypes{"fixed",     "revolute", "continuous",
                                                 "prismatic", "floating", "planar"};
constexpr std::array<std::string_view, 4> kDrakeTypes{"ball", "universal", "screw", "planar"};

/// A direction perpendicular to `normal`: x as far as that goes, else y.
Vec3 alongPlane(const Vec3& normal) {
  const Vec3 n = normal / math::scaledNorm(normal);
  const Vec3 start = std::fabs(n.x) < 0.9 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
  const Vec3 flat = start - n * dot(n, start);
  return flat / norm(flat);
}

}  // namespace

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
  const std::string kind = readJointType(reader);
  checkChildren(element, who,
                {"parent", "child", "origin", "axis", "limit", "dynamics", "mimic",
                 "safety_controller", "calibration", "drake:screw_thread_pitch"});
  const auto parent = readEnd(element, "parent", who), child = readEnd(element, "child", who);
  joint.pose = readOrigin(element, who);

  Joint coordinate;
  coordinate.name = joint.name.empty()
                        ? ""
                        : import_.takeName("joint", joint.name, element, reader.placeOf("name"));
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
    readCoordinate(element, kind, who, &coordinate);
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

std::string UrdfReader::readJointType(XmlReader& reader) {
  const XmlElement& element = reader.element();
  const std::span<const std::string_view> types =
      element.name == "drake:joint" ? std::span<const std::string_view>(kDrakeTypes) : kTypes;
  const std::optional<int> type = reader.word("type", types);
  if (!reader.has("type")) reader.error(element.place, "type is missing");
  reader.finish();
  return type ? std::string(types[static_cast<std::size_t>(*type)]) : "fixed";
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

void UrdfReader::readCoordinate(const XmlElement& element, const std::string& type,
                                const std::string& who, Joint* joint) {
  constexpr std::pair<const char*, JointType> kKinds[] = {
      {"revolute", JointType::Revolute},   {"continuous", JointType::Revolute},
      {"prismatic", JointType::Prismatic}, {"planar", JointType::Planar},
      {"ball", JointType::Ball},           {"universal", JointType::Universal},
      {"screw", JointType::Screw}};
  for (const auto& [word, jointType] : kKinds) {
    if (type == word) joint->type = jointType;
  }
  joint->axis = {1, 0, 0};
  readAxis(element, who, joint);
  readLimits(element, type, who, joint);
  readDynamics(element, who, joint);
  readPitch(element, who, joint);
  readMimic(element, who, joint->name);
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
                      "of length " + sixDigits(length) + " was made a unit vector");
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
      reader.error(limit->place, "found lower " + sixDigits(joint->lower) + " above upper " +
                                     sixDigits(joint->upper));
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

}  // namespace tangere::io
