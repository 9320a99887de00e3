// SPDX-License-Identifier: Apache-2.0
//
// What drives the joints of a URDF file: a simple transmission is a motor, or, with Drake's gains,
// a position drive. URDF itself has no actuators, so a file without transmissions has none.
#include <tangere/error.hpp>

#include "io/text.hpp"
#include "io/urdf_reader.hpp"

namespace tangere::io {

namespace {

constexpr NumberRule kReduction{-1e9, 1e9, "a reduction other than 0"};
constexpr NumberRule kGain{0, 1e150, "a gain of 0 or more"};

std::string lastPart(const std::string& type) { return type.substr(type.rfind('/') + 1); }

}  // namespace

void UrdfReader::readTransmission(const XmlElement& element) {
  XmlReader reader(notes_, element, "transmission");
  const std::string name = reader.string("name").value_or("");
  if (!name.empty()) reader.setWho("transmission " + io::quoted(name));
  const std::string& who = reader.who();
  checkChildren(element, who, {"type", "mechanicalReduction"},
                {"joint", "actuator", "compensator", "leftActuator", "rightActuator", "flexJoint",
                 "rollJoint", "gap_joint", "passive_joint", "use_simulated_gripper_joint",
                 "simulated_actuated_joint"});
  std::string type = reader.string("type").value_or("");
  reader.finish();
  if (const XmlElement* child = element.child("type")) type = child->text;
  std::vector<const XmlElement*> joints, actuators;
  for (const XmlElement& child : element.children) {
    if (child.name == "joint") joints.push_back(&child);
    if (child.name == "actuator") actuators.push_back(&child);
  }
  if (lastPart(type) != "SimpleTransmission" || joints.size() != 1 || actuators.size() != 1) {
    note(ImportNote::Kind::Warning, element,
         who + ": found type " + io::quoted(type) + " with " + std::to_string(joints.size()) +
             " joints and " + std::to_string(actuators.size()) +
             " actuators, makes no drive; only a SimpleTransmission with one of each does");
    return;
  }
  Real reduction = 1;
  const auto readReduction = [&](const XmlElement& parent) {
    const XmlElement* child = parent.child("mechanicalReduction");
    if (child == nullptr) return;
    const XmlText text{child->text, child->textPlace, child->file.get(),
                       who + ": mechanicalReduction"};
    const auto number = readNumber(notes_, text, kReduction);
    if (number && *number == 0) {
      note(ImportNote::Kind::Error, *child,
           who + ": mechanicalReduction: found 0, expected " + kReduction.expected);
    } else if (number) {
      reduction = *number;
    }
  };
  readReduction(element);

  XmlReader jointReader(notes_, *joints[0], who + ": joint");
  const std::string joint = jointReader.string("name").value_or("");
  jointReader.finish();
  checkChildren(*joints[0], jointReader.who(), {"mechanicalReduction", "offset"},
                {"hardwareInterface", "role"});
  readReduction(*joints[0]);
  const auto found = joint_types_.find(joint);
  const bool isDriven = found != joint_types_.end() && found->second != "fixed" &&
                        found->second != "floating" && found->second != "planar";
  if (!isDriven) {
    std::vector<std::string> known;
    for (const auto& [other, kind] : joint_types_) {
      if (kind != "fixed" && kind != "floating" && kind != "planar") known.push_back(other);
    }
    jointReader.note(ImportNote::Kind::Warning, jointReader.placeOf("name"),
                     "found the joint " + io::quoted(joint) + ", which " +
                         (found == joint_types_.end() ? "does not exist" : "cannot be driven") +
                         ": makes no drive" + nearNames(joint.substr(0, 64), known));
    return;
  }
  for (const XmlElement* part : {joints[0], actuators[0]}) {
    const XmlElement* interface = part->child("hardwareInterface");
    if (interface == nullptr || lastPart(interface->text) == "EffortJointInterface") continue;
    note(ImportNote::Kind::Changed, *interface,
         who + ": " + io::quoted(interface->text) +
             ": the drive takes an effort; URDF has no gains for anything else");
  }
  readReduction(*actuators[0]);
  readActuator(*actuators[0], joint, reduction, who);
}

void UrdfReader::readActuator(const XmlElement& element, const std::string& joint, Real reduction,
                              const std::string& who) {
  XmlReader reader(notes_, element, who + ": actuator");
  const std::string name = reader.string("name").value_or("");
  reader.finish();
  checkChildren(element, reader.who(),
                {"mechanicalReduction", "motorTorqueConstant", "encoderReduction",
                 "drake:gear_ratio", "drake:rotor_inertia", "drake:controller_gains"},
                {"hardwareInterface", "role"});
  for (const char* key : {"motorTorqueConstant", "encoderReduction"}) {
    if (const XmlElement* child = element.child(key))
      note(ImportNote::Kind::Ignored, *child, reader.who() + ": <" + std::string(key) + ">");
  }
  const auto value = [&](const char* key) -> std::optional<Real> {
    const XmlElement* child = element.child(key);
    if (child == nullptr) return std::nullopt;
    XmlReader part(notes_, *child, reader.who() + ": " + key);
    const auto out = part.number("value", robot_rule::kDamping);
    if (!part.has("value")) part.error(child->place, "value is missing");
    part.finish();
    return out;
  };
  const Real gear = value("drake:gear_ratio").value_or(1);
  const std::string fullJoint = import_.prefix + joint;
  if (const auto rotor = value("drake:rotor_inertia"))
    armatures_[fullJoint] += *rotor * gear * gear;

  const std::string full = import_.takeName("actuator", name, element, reader.placeOf("name"));
  Actuator actuator = Actuator::motor(full, fullJoint, reduction);
  if (const XmlElement* gains = element.child("drake:controller_gains")) {
    XmlReader part(notes_, *gains, reader.who() + ": drake:controller_gains");
    const auto p = part.number("p", kGain), d = part.number("d", kGain);
    if (!part.has("p") || !part.has("d")) part.error(gains->place, "p or d is missing");
    part.finish();
    if (p && d) actuator = Actuator::position(full, fullJoint, *p, *d);
    if (reduction != 1) {
      part.note(ImportNote::Kind::Ignored, gains->place,
                "a mechanicalReduction has no part in a position drive");
    }
  }
  if (!full.empty()) actuators_.push_back({actuator, &element});
}

}  // namespace tangere::io
