// SPDX-License-Identifier: Apache-2.0
//
// A humanoid of 30 velocities, for us and as MJCF for a peer: one table, so that both have the same
// numbers.
#pragma once

#include <tangere/model.hpp>

#include <sstream>
#include <string>
#include <vector>

namespace tangere::workload {

struct HumanoidPart {
  std::string name, parent;
  Vec3 position;           ///< in the parent
  std::vector<Vec3> axes;  ///< of its revolute joints, unit
  Real mass = 1;
  Vec3 center;
  Vec3 moments;  ///< of inertia
};

[[nodiscard]] inline std::vector<HumanoidPart> humanoidParts() {
  constexpr Real a = 0.8164965809277260, b = 0.4082482904638630;  // (2 1 1)/sqrt 6
  constexpr Real s = 0.7071067811865476;
  const Vec3 x{1, 0, 0}, y{0, 1, 0}, z{0, 0, 1};
  std::vector<HumanoidPart> parts = {
      {"torso", "", {0, 0, 1.282}, {}, 8.3, {0, 0, 0.03}, {0.13, 0.12, 0.06}},
      {"head", "torso", {0, 0, 0.19}, {z}, 3.1, {0, 0, 0.05}, {0.012, 0.012, 0.01}},
      {"waist", "torso", {-0.01, 0, -0.26}, {z, y}, 2.0, {0, 0, 0.065}, {0.01, 0.008, 0.009}},
      {"pelvis", "waist", {0, 0, -0.165}, {x}, 5.8, {-0.02, 0, -0.03}, {0.04, 0.03, 0.035}}};
  for (const Real side : {1.0, -1.0}) {
    const std::string prefix = side > 0 ? "left_" : "right_";
    parts.push_back({prefix + "thigh",
                     "pelvis",
                     {0, 0.1 * side, -0.04},
                     {x, z, y},
                     4.5,
                     {0, -0.005 * side, -0.17},
                     {0.06, 0.06, 0.008}});
    parts.push_back({prefix + "shin",
                     prefix + "thigh",
                     {0, -0.01 * side, -0.403},
                     {y},
                     2.6,
                     {0, 0, -0.15},
                     {0.03, 0.03, 0.003}});
    parts.push_back({prefix + "foot",
                     prefix + "shin",
                     {0, 0, -0.39},
                     {y, {s, 0, s}},
                     1.2,
                     {0.03, 0, -0.02},
                     {0.002, 0.006, 0.006}});
    parts.push_back({prefix + "upper_arm",
                     "torso",
                     {0, 0.17 * side, 0.06},
                     {{a, b * side, b}, {0, s * side, -s}, x},
                     1.6,
                     {0.08, 0.08 * side, -0.08},
                     {0.012, 0.012, 0.012}});
    parts.push_back({prefix + "lower_arm",
                     prefix + "upper_arm",
                     {0.18, 0.18 * side, -0.18},
                     {{0, -s, s * side}},
                     1.3,
                     {0.09, -0.09 * side, 0.09},
                     {0.009, 0.009, 0.009}});
  }
  return parts;
}

/// The joints have no offsets, limits, springs or armature of any size.
inline constexpr Real kHumanoidArmature = 0.01;

[[nodiscard]] inline Model humanoidModel() {
  ModelBuilder builder;
  SimulationOptions options;
  options.solver = SolverType::Sap;
  builder.setOptions(options);
  for (const HumanoidPart& part : humanoidParts()) {
    Body body;
    body.name = part.name;
    body.parent = part.parent;
    body.pose.translation = part.position;
    MassProperties mass{.mass = part.mass, .center = part.center};
    for (int i = 0; i < 3; ++i) mass.inertia(i, i) = part.moments[i];
    body.massProperties = mass;
    for (const Vec3& axis : part.axes) {
      Joint joint;
      joint.name = part.name + "_" + std::to_string(body.joints.size());
      joint.axis = axis;
      joint.armature = kHumanoidArmature;
      body.joints.push_back(joint);
    }
    builder.addBody(body);
  }
  return builder.build();
}

namespace detail {

inline void writeVec3(std::ostream& out, const char* name, const Vec3& v) {
  out << ' ' << name << "=\"" << v.x << ' ' << v.y << ' ' << v.z << '"';
}

inline void writeBody(std::ostream& out, const std::vector<HumanoidPart>& parts,
                      const HumanoidPart& part) {
  out << "<body name=\"" << part.name << '"';
  writeVec3(out, "pos", part.position);
  out << '>';
  if (part.parent.empty()) out << "<freejoint/>";
  for (const Vec3& axis : part.axes) {
    out << "<joint armature=\"" << kHumanoidArmature << '"';
    writeVec3(out, "axis", axis);
    out << "/>";
  }
  out << "<inertial mass=\"" << part.mass << '"';
  writeVec3(out, "pos", part.center);
  writeVec3(out, "diaginertia", part.moments);
  out << "/>";
  for (const HumanoidPart& child : parts)
    if (child.parent == part.name) writeBody(out, parts, child);
  out << "</body>";
}

}  // namespace detail

/// Bodies depth first: the order of its coordinates differs from ours.
[[nodiscard]] inline std::string humanoidMjcf() {
  std::ostringstream out;
  out.precision(17);
  out << "<mujoco><compiler angle=\"radian\"/><worldbody>";
  const std::vector<HumanoidPart> parts = humanoidParts();
  detail::writeBody(out, parts, parts[0]);
  out << "</worldbody></mujoco>";
  return out.str();
}

}  // namespace tangere::workload
