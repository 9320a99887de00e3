// SPDX-License-Identifier: Apache-2.0
//
// SDFormat: poses, numbers and words, which are the texts of child elements.
#include "io/sdformat_reader.hpp"
#include "math/quat.hpp"

#include <cmath>

namespace tangere::io {

namespace {

constexpr Real kDegree = 0.017453292519943295769236907684886;  // [rad]

}  // namespace

std::string SdfReader::plainName(const std::string& name) const {
  return !lone_.empty() && name.compare(0, lone_.size(), lone_) == 0 ? name.substr(lone_.size())
                                                                     : name;
}

SdfReader::PoseText SdfReader::readPose(const XmlElement& parent, const std::string& who) {
  PoseText out;
  const XmlElement* element = parent.child("pose");
  if (element == nullptr) return out;
  XmlReader reader(notes_, *element, who + ": pose");
  out.isGiven = true;
  out.place = element->place;
  if (const XmlAttribute* to = reader.find("relative_to")) {
    out.relativeTo = to->value;
    out.place = to->valuePlace;
  }
  if (const XmlAttribute* frame = reader.find("frame"); frame != nullptr && !frame->value.empty()) {
    reader.note(ImportNote::Kind::Ignored, frame->place,
                "frame: had no effect before 1.7; relative_to has");
  }
  const bool isQuat = reader.word("rotation_format", {"euler_rpy", "quat_xyzw"}).value_or(0) == 1;
  const bool isDegrees = reader.boolean("degrees").value_or(false);
  reader.finish();
  if (element->text.empty()) return out;
  const std::size_t count = isQuat ? 7 : 6;
  const auto v =
      readNumbers(notes_, {element->text, element->textPlace, element->file.get(), reader.who()},
                  count, count, robot_rule::kPosition);
  if (!v) return out;
  out.X.translation = {(*v)[0], (*v)[1], (*v)[2]};
  if (isQuat) {
    const Quat q{(*v)[6], (*v)[3], (*v)[4], (*v)[5]};
    const Real length = math::norm(q);
    if (!(length > 1e-9)) {
      reader.error(element->textPlace, "found a quaternion of length 0, expected 1");
      return out;
    }
    out.X.rotation = rotationMatrix(q);
    return out;
  }
  Vec3 rpy{(*v)[3], (*v)[4], (*v)[5]};
  if (isDegrees) rpy = rpy * kDegree;
  if (!(std::fabs(rpy.x) <= robot_rule::kAngle.upper &&
        std::fabs(rpy.y) <= robot_rule::kAngle.upper &&
        std::fabs(rpy.z) <= robot_rule::kAngle.upper)) {
    reader.error(element->textPlace,
                 std::string("found an angle, expected ") + robot_rule::kAngle.expected);
    return out;
  }
  out.X.rotation = rotationFromRpy(rpy);
  return out;
}

std::optional<Real> SdfReader::number(const XmlElement& parent, std::string_view key,
                                      const NumberRule& rule, const std::string& who) {
  const XmlElement* child = parent.child(key);
  if (child == nullptr) return std::nullopt;
  XmlReader reader(notes_, *child, who + ": " + std::string(key));
  reader.finish();
  return readNumber(notes_, {child->text, child->textPlace, child->file.get(), reader.who()}, rule);
}

std::optional<Vec3> SdfReader::vec3(const XmlElement& parent, std::string_view key,
                                    const NumberRule& rule, const std::string& who) {
  const XmlElement* child = parent.child(key);
  if (child == nullptr) return std::nullopt;
  const std::string whose = who + ": " + std::string(key);
  return readVec3(notes_, {child->text, child->textPlace, child->file.get(), whose}, rule);
}

std::optional<bool> SdfReader::boolean(const XmlElement& parent, std::string_view key,
                                       const std::string& who) {
  const XmlElement* child = parent.child(key);
  if (child == nullptr) return std::nullopt;
  XmlReader reader(notes_, *child, who + ": " + std::string(key));
  reader.finish();
  return readBoolean(notes_, {child->text, child->textPlace, child->file.get(), reader.who()});
}

std::optional<std::string> SdfReader::text(const XmlElement& parent, std::string_view key,
                                           const std::string& who) {
  const XmlElement* child = parent.child(key);
  if (child == nullptr) return std::nullopt;
  XmlReader(notes_, *child, who + ": " + std::string(key)).finish();
  if (child->text.empty()) return std::nullopt;
  return child->text;
}

void SdfReader::ignore(const XmlElement& parent, const std::string& who, const std::string& why,
                       std::initializer_list<std::string_view> names) {
  for (const XmlElement& child : parent.children) {
    if (!isIn(child.name, names)) continue;
    child.isRead = true;
    note(ImportNote::Kind::Ignored, child, who + ": <" + child.name + "> " + why);
  }
}

}  // namespace tangere::io
