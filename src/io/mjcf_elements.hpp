// SPDX-License-Identifier: Apache-2.0
//
// The elements of MJCF that default classes may fill in, as MuJoCo sees them: a class is a copy of
// its parent class with some attributes set, an element a copy of its class with some more.
#pragma once

#include <tangere/articulation.hpp>
#include <tangere/types.hpp>

#include "io/robot_visuals.hpp"
#include "io/xml_reader.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tangere::io {

/// <compiler>: how the rest of the file is to be understood.
struct MjcfCompiler {
  enum class InertiaFromGeom : unsigned char { False, True, Auto };
  bool isDegree = true;
  bool autoLimits = true;
  std::string eulerSequence = "xyz";  ///< lower case: about axes that turn; upper case: fixed ones
  std::string meshFolder{};
  bool stripsPath = false;
  bool fitsBounds = false;  ///< primitives fitted to meshes: to their bounds, not their inertia
  InertiaFromGeom inertiaFromGeom = InertiaFromGeom::Auto;
  int firstInertiaGroup = 0, lastInertiaGroup = 5;
  bool balancesInertia = false;
  Real lowerMass = 0;
  Real lowerInertia = 0;
  Real totalMass = -1;  ///< positive: all masses are scaled to this sum

  [[nodiscard]] Real radians(Real angle) const;
};

/// "auto", "true" and "false" of limited and its relatives.
enum class MjcfLimited : unsigned char { False, True, Auto };

struct MjcfRange {
  Real lower = 0, upper = 0;
  [[nodiscard]] bool isSet() const { return lower != 0 || upper != 0; }
};

struct MjcfJoint {
  JointType type = JointType::Revolute;
  Vec3 position{};
  Vec3 axis{0, 0, 1};
  MjcfLimited limited = MjcfLimited::Auto;
  MjcfRange range{};
  MjcfLimited forceLimited = MjcfLimited::Auto;
  MjcfRange forceRange{};
  Real stiffness = 0, damping = 0, armature = 0, frictionLoss = 0;
  Real reference = 0, springReference = 0;
};

enum class MjcfGeomType : unsigned char {
  Plane,
  HeightField,
  Sphere,
  Capsule,
  Ellipsoid,
  Cylinder,
  Box,
  Mesh,
  Sdf,
};

struct MjcfGeom {
  MjcfGeomType type = MjcfGeomType::Sphere;
  std::uint32_t contactType = 1, contactAffinity = 1;
  int contactDimension = 3;
  int group = 0;
  int priority = 0;
  std::array<Real, 3> size{};
  std::array<Real, 3> friction{1, 0.005, 0.0001};
  std::optional<Real> mass{};
  Real density = 1000;
  bool isShell = false;
  std::optional<std::array<Real, 6>> fromTo{};
  Vec3 position{};
  Mat3 rotation = Mat3::identity();
  std::string heightField{}, mesh{};
  Real fitScale = 1;
  std::string material{};       ///< of its looks
  std::optional<Rgba> color{};  ///< of its own, before that of the material
};

struct MjcfSite {
  enum class Type : unsigned char { Sphere, Capsule, Ellipsoid, Cylinder, Box };
  Type type = Type::Sphere;
  std::array<Real, 3> size{0.005, 0.005, 0.005};
  std::optional<std::array<Real, 6>> fromTo{};
  Vec3 position{};
  Mat3 rotation = Mat3::identity();
};

struct MjcfMesh {
  enum class Inertia : unsigned char { Convex, Exact, Legacy, Shell };
  Vec3 scale{1, 1, 1};
  Inertia inertia = Inertia::Legacy;
};

struct MjcfPair {
  std::optional<int> contactDimension{};
  std::optional<std::array<Real, 5>> friction{};
};

struct MjcfEquality {
  bool isActive = true;
};

struct MjcfTendon {
  MjcfLimited limited = MjcfLimited::Auto;
  MjcfRange range{};
  Real frictionLoss = 0, stiffness = 0, damping = 0, armature = 0;
  Real springLower = -1, springUpper = -1;
};

struct MjcfActuator {
  /// What we cannot do: "a muscle". Empty when all is well.
  std::string refused{};
  Place refusedPlace{};
  bool isGainAffine = false, isBiasAffine = false;
  std::array<Real, 3> gain{1, 0, 0}, bias{};
  Actuator::Dynamics dynamics = Actuator::Dynamics::None;
  Real timeConstant = 1;
  MjcfLimited controlLimited = MjcfLimited::Auto, forceLimited = MjcfLimited::Auto,
              activationLimited = MjcfLimited::Auto;
  MjcfRange controlRange{}, forceRange{}, activationRange{};
  Real inheritRange = 0;
  std::array<Real, 6> gear{1, 0, 0, 0, 0, 0};
};

/// One default class.
struct MjcfClass {
  MjcfJoint joint{};
  MjcfGeom geom{};
  MjcfSite site{};
  MjcfMesh mesh{};
  MjcfPair pair{};
  MjcfEquality equality{};
  MjcfTendon tendon{};
  MjcfActuator actuator{};
};

/// Each sets what the element says and leaves the rest. Mistakes go to the notes.
void readMjcfJoint(XmlReader& reader, MjcfJoint* out);
void readMjcfGeom(XmlReader& reader, const MjcfCompiler& compiler, MjcfGeom* out);
void readMjcfSite(XmlReader& reader, const MjcfCompiler& compiler, MjcfSite* out);
void readMjcfMesh(XmlReader& reader, MjcfMesh* out);
void readMjcfPair(XmlReader& reader, MjcfPair* out);
void readMjcfEquality(XmlReader& reader, MjcfEquality* out);
void readMjcfTendon(XmlReader& reader, MjcfTendon* out);
/// What the element's own name implies is set as well: <motor>, <position> and so on.
void readMjcfActuator(XmlReader& reader, MjcfActuator* out);

/// Where a frame is: pos and one of quat, axisangle, euler, xyaxes and zaxis. Sets what is there.
void readMjcfPlacement(XmlReader& reader, const MjcfCompiler& compiler, Vec3* position,
                       Mat3* rotation);

/// The rotation of three angles in the compiler's sequence.
[[nodiscard]] Mat3 rotationFromEuler(const MjcfCompiler& compiler, const Vec3& angles);

/// The least rotation that takes the z axis to a direction, which is not zero.
[[nodiscard]] Mat3 rotationFromZ(const Vec3& direction);

/// All default classes of a file by name; "main" is the class of everything that names none.
class MjcfDefaults {
 public:
  MjcfDefaults() { classes_["main"]; }
  /// A <default> at the top. Mistakes go to the notes.
  void read(const XmlElement& element, const MjcfCompiler& compiler, ImportNotes& notes);
  /// Null when there is none.
  [[nodiscard]] const MjcfClass* find(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  void readClass(const XmlElement& element, const std::string& name, const MjcfCompiler& compiler,
                 ImportNotes& notes);

  std::map<std::string, MjcfClass> classes_;
};

namespace mjcf_rule {
inline constexpr NumberRule kFinite{-1e150, 1e150, "a finite number"};
inline constexpr NumberRule kPosition{-1e15, 1e15, "a position within 1e15 [m]"};
inline constexpr NumberRule kSize{0, 1e12, "a size of 0 or more [m]"};
inline constexpr NumberRule kRange{-kUnlimited, kUnlimited, "two numbers, the lower one first"};
inline constexpr NumberRule kNotNegative{0, 1e150, "a number of 0 or more"};
inline constexpr NumberRule kAngle{-1e9, 1e9, "an angle within 1e9"};
/// MuJoCo's bound: a vector that is not longer has no direction.
inline constexpr Real kTooShort = 1e-14;
}  // namespace mjcf_rule

}  // namespace tangere::io
