// SPDX-License-Identifier: Apache-2.0
//
// SDFormat: joints. A joint has a pose in its child, an axis in a frame of its choice, and, for
// some types, a second axis.
#include <tangere/error.hpp>

#include "io/sdformat_reader.hpp"
#include "io/text.hpp"
#include "math/quat.hpp"

#include <array>
#include <cmath>

namespace tangere::io {

namespace {

constexpr Real kTurn = 6.283185307179586476925286766559;  // a revolution [rad]
constexpr Real kNoLimit = 1e16;                           // how old files write infinity
constexpr std::array<std::string_view, 9> kTypes{"revolute", "continuous", "prismatic",
                                                 "ball",     "universal",  "screw",
                                                 "fixed",    "revolute2",  "gearbox"};

bool isSameDrive(const Joint& a, const Joint& b) {
  return a.lower == b.lower && a.upper == b.upper && a.damping == b.damping &&
         a.frictionLoss == b.frictionLoss && a.stiffness == b.stiffness &&
         a.springReference == b.springReference && a.upperActuatorForce == b.upperActuatorForce &&
         a.armature == b.armature;
}

}  // namespace

void SdfReader::readJoint(const PendingJoint& pending) {
  const XmlElement& element = *pending.element;
  const std::string who = "joint " + io::quoted(pending.name);
  XmlReader reader(notes_, element, who);
  const std::string type = readJointType(reader);
  checkChildren(
      element, who,
      {"parent", "child", "pose", "axis", "axis2", "physics", "gearbox_ratio",
       "gearbox_reference_body", "thread_pitch", "screw_thread_pitch", "drake:rotor_inertia",
       "drake:gear_ratio", "drake:controller_gains", "drake:mimic"},
      {"sensor"});
  if (const XmlElement* physics = element.child("physics")) odes_.add(*physics);
  for (const XmlElement& child : element.children) {
    if (child.name == "sensor") sensors_.add(child);
  }
  if (type == "gearbox") {
    reader.error(element.place, "gearbox: is not available yet; mimic couples two joints");
    return;
  }
  const std::string full =
      import_.takeName("joint", plainName(pending.name), element, reader.placeOf("name"));
  if (full.empty() || pending.isBroken) return;
  RobotJoint joint{.name = pending.name, .element = &element};
  Placement placement;
  if (!findEnds(reader, pending, &joint, &placement)) return;
  if (pending.isStatic) {
    note(ImportNote::Kind::Ignored, element, who + ": the links of a static model stand still");
    return;
  }
  Joint first;
  first.name = full;
  first.position = placement.X_CJ.translation;
  if (type == "ball") {
    first.type = JointType::Ball;
    joint.joints = {first};
  } else if (type == "universal" || type == "revolute2") {
    if (!addTwoAxes(reader, pending, placement, type, first, &joint)) return;
  } else if (type != "fixed") {
    if (!addOneAxis(reader, pending, placement, type, first, &joint)) return;
  }
  noteIdle(element, who, type);
  readDrive(element, who, full, &joint.joints);
  tree_.addJoint(std::move(joint));
}

/// "fixed" after an error.
std::string SdfReader::readJointType(XmlReader& reader) {
  const XmlElement& element = reader.element();
  reader.allow({"name"});
  const std::optional<int> kind = reader.word("type", kTypes);
  if (!reader.has("type")) reader.error(element.place, "type is missing");
  reader.finish();
  return kind ? std::string(kTypes[static_cast<std::size_t>(*kind)]) : "fixed";
}

/// The links that it joins, and where. False after an error, here or in a link.
bool SdfReader::findEnds(XmlReader& reader, const PendingJoint& pending, RobotJoint* joint,
                         Placement* out) {
  const auto parentLink = frames_.link(pending.parent), childLink = frames_.link(pending.child);
  const std::optional<Transform> X_WJ = frames_.pose(pending.frame);
  if (!parentLink || !childLink || !X_WJ) return false;
  joint->parent = parentLink->empty() ? -1 : tree_.findLink(*parentLink);
  joint->child = childLink->empty() ? -1 : tree_.findLink(*childLink);
  // A link with errors is not in the tree.
  if ((joint->child < 0 && !childLink->empty()) || (joint->parent < 0 && !parentLink->empty()))
    return false;
  if (joint->child < 0 || joint->parent == joint->child) {
    reader.error(reader.place(),
                 std::string("found ") +
                     (joint->child < 0 ? "the world as child" : "one link as parent and child") +
                     ", expected two links");
    return false;
  }
  const Transform X_WC = *frames_.pose(*childLink);
  joint->pose = joint->parent < 0 ? X_WC : inverseTimes(*frames_.pose(*parentLink), X_WC);
  out->X_CJ = inverseTimes(X_WC, *X_WJ);
  out->R_WC = X_WC.rotation;
  return true;
}

/// A universal joint, or two revolute ones where it is none. False after an error.
bool SdfReader::addTwoAxes(XmlReader& reader, const PendingJoint& pending,
                           const Placement& placement, const std::string& type, Joint first,
                           RobotJoint* joint) {
  const XmlElement& element = reader.element();
  Joint second = first;
  second.name = first.name + "::axis2";
  Real start = 0;
  if (!readAxis(element, "axis", pending, placement, reader.who(), &first, &start) ||
      !readAxis(element, "axis2", pending, placement, reader.who(), &second, &start))
    return false;
  const Real cosine = dot(first.axis, second.axis);
  constexpr Real kRounding = 1e-9;
  if (type == "universal" && std::fabs(cosine) < kRounding && isSameDrive(first, second)) {
    first.type = JointType::Universal;
    first.axis2 = second.axis;
    joint->joints = {first};
    return true;
  }
  if (std::fabs(cosine) > 1 - kRounding) {
    reader.error(element.place, "found axis and axis2 along one line, expected two");
    return false;
  }
  (void)import_.takeName("joint", plainName(pending.name) + "::axis2", element, element.place);
  joint->joints = {first, second};
  note(ImportNote::Kind::Changed, element,
       reader.who() + ": " + type + ": two revolute joints, the second called " +
           io::quoted(second.name));
  return true;
}

/// Revolute, continuous, prismatic or screw. False after an error.
bool SdfReader::addOneAxis(XmlReader& reader, const PendingJoint& pending,
                           const Placement& placement, const std::string& type, Joint only,
                           RobotJoint* joint) {
  const XmlElement& element = reader.element();
  const std::string& who = reader.who();
  only.type = type == "prismatic" ? JointType::Prismatic
              : type == "screw"   ? JointType::Screw
                                  : JointType::Revolute;
  if (!readAxis(element, "axis", pending, placement, who, &only, &joint->start)) return false;
  if (type == "continuous") only.lower = -kUnlimited, only.upper = kUnlimited;
  if (type == "screw") only.pitch = readPitch(element, who);
  joint->joints = {only};
  if (const XmlElement* own = element.child("axis")) {
    if (const XmlElement* mimic = own->child("mimic")) readMimic(*mimic, pending, who, only.name);
  }
  if (const XmlElement* mimic = element.child("drake:mimic"))
    readMimic(*mimic, pending, who, only.name);
  return true;
}

/// Of a screw [m/rad].
Real SdfReader::readPitch(const XmlElement& element, const std::string& who) {
  const auto pitch = number(element, "screw_thread_pitch", robot_rule::kComponent, who);
  const auto thread = number(element, "thread_pitch", robot_rule::kComponent, who);
  if (pitch) return *pitch / kTurn;
  if (thread && *thread != 0) return -1 / *thread;  // radians per metre of a left-handed thread
  note(ImportNote::Kind::Changed, element,
       who + ": screw_thread_pitch is missing: the format's 1 m per turn");
  return 1 / kTurn;
}

/// What belongs to joints of another type.
void SdfReader::noteIdle(const XmlElement& element, const std::string& who,
                         const std::string& type) {
  const auto idle = [&](const char* key, const std::string& why) {
    if (const XmlElement* child = element.child(key))
      note(ImportNote::Kind::Ignored, *child, who + ": " + why);
  };
  if (type == "ball") {
    idle("axis", "a ball joint has no axis");
    idle("axis2", "a ball joint has no axis");
  } else if (isIn(type, {"revolute", "continuous", "prismatic", "screw"})) {
    idle("axis2", "a " + type + " joint has one axis");
  }
  for (const char* key : {"gearbox_ratio", "gearbox_reference_body"})
    idle(key, "only a gearbox has <" + std::string(key) + ">");
  if (type == "screw") return;
  for (const char* key : {"thread_pitch", "screw_thread_pitch"})
    idle(key, "only a screw has <" + std::string(key) + ">");
}

/// False after an error.
bool SdfReader::readAxis(const XmlElement& jointElement, const char* key,
                         const PendingJoint& pending, const Placement& placement,
                         const std::string& jointName, Joint* out, Real* start) {
  const std::string who = jointName + ": " + key;
  const std::size_t numErrors = notes_.numErrors();
  const XmlElement* element = jointElement.child(key);
  out->axis = placement.X_CJ.rotation * Vec3{0, 0, 1};
  if (element == nullptr) {
    note(ImportNote::Kind::Error, jointElement, who + " is missing");
    return false;
  }
  XmlReader(notes_, *element, who).finish();
  checkChildren(
      *element, who,
      {"xyz", "limit", "dynamics", "mimic", "initial_position", "use_parent_model_frame"});
  Vec3 direction{0, 0, 1};
  // Before 1.5 axes were in the frame of the model, in 1.5 and 1.6 by a flag, then in any frame.
  bool isInModel = pending.version < 5;
  if (const auto flag = boolean(*element, "use_parent_model_frame", who)) isInModel = *flag;
  std::optional<std::string> frame;
  if (isInModel && !pending.scope.empty()) frame = pending.scope;
  if (const XmlElement* xyz = element->child("xyz")) {
    XmlReader reader(notes_, *xyz, who + ": xyz");
    if (const auto name = reader.string("expressed_in"); name && !name->empty()) {
      frame = frames_.lookUp(pending.scope, *name, *xyz, reader.placeOf("expressed_in"),
                             who + ": expressed_in");
    }
    reader.finish();
    direction = readVec3(notes_, {xyz->text, xyz->textPlace, xyz->file.get(), reader.who()},
                         robot_rule::kComponent)
                    .value_or(direction);
    const Real length = math::scaledNorm(direction);
    if (!(length > 1e-9)) {
      reader.error(xyz->textPlace,
                   "found " + io::quoted(xyz->text) + ", expected an axis other than 0");
      return false;
    }
    constexpr Real kOff = 1e-3;
    if (std::fabs(length - 1) > kOff) {
      reader.note(ImportNote::Kind::Changed, xyz->textPlace,
                  "of length " + sixDigits(length) + " was made a unit vector");
    }
    direction = direction / length;
  }
  if (frame) {
    const std::optional<Transform> X_WF = frames_.pose(*frame);
    if (!X_WF) return false;
    out->axis = transposeTimes(placement.R_WC, X_WF->rotation * direction);
  } else {
    out->axis = placement.X_CJ.rotation * direction;
  }
  if (const auto begin = number(*element, "initial_position", robot_rule::kPosition, who))
    *start = *begin;
  readLimit(*element, who, out);
  if (const XmlElement* dynamics = element->child("dynamics")) {
    const std::string whose = who + ": dynamics";
    checkChildren(*dynamics, whose,
                  {"damping", "friction", "spring_reference", "spring_stiffness"});
    out->damping = number(*dynamics, "damping", robot_rule::kDamping, whose).value_or(0);
    out->frictionLoss = number(*dynamics, "friction", robot_rule::kDamping, whose).value_or(0);
    out->stiffness = number(*dynamics, "spring_stiffness", robot_rule::kDamping, whose).value_or(0);
    out->springReference =
        number(*dynamics, "spring_reference", robot_rule::kPosition, whose).value_or(0);
  }
  return notes_.numErrors() == numErrors;
}

void SdfReader::readLimit(const XmlElement& axis, const std::string& axisName, Joint* out) {
  const XmlElement* limit = axis.child("limit");
  if (limit == nullptr) return;
  const std::string who = axisName + ": limit";
  checkChildren(
      *limit, who,
      {"lower", "upper", "effort", "velocity", "stiffness", "dissipation", "drake:acceleration"});
  const Real lower = number(*limit, "lower", robot_rule::kLimit, who).value_or(-kUnlimited);
  const Real upper = number(*limit, "upper", robot_rule::kLimit, who).value_or(kUnlimited);
  out->lower = lower <= -kNoLimit ? -kUnlimited : lower;
  out->upper = upper >= kNoLimit ? kUnlimited : upper;
  if (out->lower > out->upper) {
    note(ImportNote::Kind::Error, *limit,
         who + ": found lower " + sixDigits(lower) + " above upper " + sixDigits(upper));
  }
  // A negative effort or velocity was how old files wrote infinity.
  const auto effort = number(*limit, "effort", robot_rule::kLimit, who);
  if (effort && *effort >= 0) {
    out->lowerActuatorForce = -*effort;
    out->upperActuatorForce = *effort;
    if (*effort == 0) {
      note(ImportNote::Kind::Warning, *limit,
           who + ": an effort of 0: no drive can move this joint");
    }
  }
  const auto velocity = number(*limit, "velocity", robot_rule::kLimit, who);
  if (velocity && *velocity >= 0 && *velocity < kNoLimit) velocities_.add(*limit);
  for (const char* key : {"stiffness", "dissipation"}) {
    if (const XmlElement* child = limit->child(key)) springs_.add(*child);
  }
  if (const XmlElement* child = limit->child("drake:acceleration"))
    note(ImportNote::Kind::Ignored, *child, who + ": accelerations are not limited");
}

void SdfReader::readMimic(const XmlElement& mimic, const PendingJoint& pending,
                          const std::string& jointName, const std::string& follower) {
  const std::string who = jointName + ": mimic";
  XmlReader reader(notes_, mimic, who);
  const std::string leader = reader.string("joint").value_or("");
  RobotMimic out{.follower = follower, .element = &mimic, .place = reader.placeOf("joint")};
  if (mimic.name == "mimic") {
    if (const auto axis = reader.string("axis"); axis && *axis != "axis")
      reader.error(reader.placeOf("axis"), "axis2 of another joint: is not available yet");
    checkChildren(mimic, who, {"multiplier", "offset", "reference"});
    out.multiplier = number(mimic, "multiplier", robot_rule::kComponent, who).value_or(1);
    const Real reference = number(mimic, "reference", robot_rule::kPosition, who).value_or(0);
    out.offset = number(mimic, "offset", robot_rule::kPosition, who).value_or(0) -
                 out.multiplier * reference;
  } else {
    out.multiplier = reader.number("multiplier", robot_rule::kComponent).value_or(1);
    out.offset = reader.number("offset", robot_rule::kPosition).value_or(0);
  }
  reader.finish();
  out.leader = import_.prefix + plainName(scoped(pending.scope, leader));
  tree_.addMimic(std::move(out));
}

/// Drake's rotor inertia and gains; SDFormat itself has no drives.
void SdfReader::readDrive(const XmlElement& element, const std::string& who,
                          const std::string& fullJoint, std::vector<Joint>* joints) {
  const auto rotor = number(element, "drake:rotor_inertia", robot_rule::kDamping, who);
  const auto gear = number(element, "drake:gear_ratio", robot_rule::kDamping, who);
  if (rotor) {
    for (Joint& joint : *joints) joint.armature = *rotor * gear.value_or(1) * gear.value_or(1);
  }
  const XmlElement* gains = element.child("drake:controller_gains");
  if (gains == nullptr) return;
  XmlReader reader(notes_, *gains, who + ": drake:controller_gains");
  const NumberRule kGain{0, 1e150, "a gain of 0 or more"};
  const auto p = reader.number("p", kGain), d = reader.number("d", kGain);
  if (!reader.has("p") || !reader.has("d")) reader.error(gains->place, "p or d is missing");
  reader.finish();
  if (joints->size() != 1) {
    reader.error(gains->place, "found gains on a joint that is not of one coordinate");
    return;
  }
  const std::string name = import_.takeName("actuator", "", *gains, gains->place);
  if (p && d) actuators_.push_back({Actuator::position(name, fullJoint, *p, *d), gains});
}

}  // namespace tangere::io
