// SPDX-License-Identifier: Apache-2.0
//
// Collision shapes as URDF and SDFormat describe them: mesh files that become hulls, and surfaces
// that become materials. Equal ones are made once.
#pragma once

#include <tangere/material.hpp>
#include <tangere/shape.hpp>

#include "io/robot_import.hpp"
#include "io/table_reader.hpp"
#include "io/xml_document.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

namespace tangere::io {

/// The ranges of what robot files say.
namespace robot_rule {
inline constexpr Real kFar = 1e15;
inline constexpr NumberRule kPosition{-kFar, kFar, "a position within 1e15 [m]"};
inline constexpr NumberRule kAngle{-1e9, 1e9, "an angle within 1e9 [rad]"};
inline constexpr NumberRule kComponent{-1e150, 1e150, "a finite number"};
inline constexpr NumberRule kLength{1e-12, 1e12, "a length above 0 [m]"};
inline constexpr NumberRule kScale{-1e12, 1e12, "a scale other than 0"};
inline constexpr NumberRule kMass{0, 1e150, "a mass of 0 or more [kg]"};
inline constexpr NumberRule kDensity{0, 1e12, "a density above 0 [kg/m^3]", true};
inline constexpr NumberRule kInertia{-1e150, 1e150, "a finite moment of inertia [kg m^2]"};
inline constexpr NumberRule kLimit{-kUnlimited, kUnlimited, "a limit [rad, m]"};
inline constexpr NumberRule kEffort{0, kUnlimited, "an effort of 0 or more [N m, N]"};
inline constexpr NumberRule kDamping{0, 1e150, "0 or more"};
inline constexpr NumberRule kFriction{0, 1000, "a friction coefficient from 0 to 1000"};
inline constexpr NumberRule kStiffness{0, 1e150, "a stiffness above 0 [N/m]", true};
inline constexpr NumberRule kTime{0, 1e6, "a time of 0 or more [s]"};
inline constexpr NumberRule kDissipation{0, 1e6, "a dissipation of 0 or more [s/m]"};
inline constexpr NumberRule kModulus{0, 1e150, "a modulus above 0 [Pa]", true};
inline constexpr NumberRule kResolution{0, 1e6, "a length above 0 [m]", true};
}  // namespace robot_rule

/// Roll, pitch, yaw about the fixed axes x, y, z [rad].
[[nodiscard]] Mat3 rotationFromRpy(const Vec3& rpy);

/// Where the numbers of a Drake extension are: <drake:mu_static value="1"/> or
/// <drake:mu_static>1</drake:mu_static>.
enum class ValueStyle : unsigned char { Attribute, Text };

class RobotShapes {
 public:
  explicit RobotShapes(RobotImport& import) : import_(import) {}

  /// The hull of a mesh file, seen from the folder `base`, with its vertices scaled. Null after an
  /// error, which is in the notes at `place`.
  [[nodiscard]] std::shared_ptr<const Shape> hull(const std::string& file, const Vec3& scale,
                                                  const XmlElement& element, Place place,
                                                  const std::filesystem::path& base);

  /// The name of the material with these numbers; its own name does not matter. Empty after an
  /// error.
  [[nodiscard]] std::string materialOf(const Material& surface, const XmlElement& element);

  /// drake:proximity_properties: what has a counterpart goes to `out`, the rest to the notes.
  void readProximity(const XmlElement& element, ValueStyle style, const std::string& who,
                     Material* out);

 private:
  using MeshKey = std::tuple<std::string, Real, Real, Real>;
  using SurfaceKey = std::tuple<Real, Real, Real, Real, Real, ContactModel, Real, Real>;
  /// What a file says of pressure, before it is known what the surface is.
  struct Pressure {
    const XmlElement *compliant = nullptr, *rigid = nullptr;
    const XmlElement *modulusElement = nullptr, *resolutionElement = nullptr;
    std::optional<Real> modulus{}, resolution{};
  };

  /// Whether the element was one of pressure.
  bool readPressure(const XmlElement& element, ValueStyle style, const std::string& who,
                    Pressure* out);
  void applyPressure(const Pressure& pressure, const std::string& who, Material* out);
  [[nodiscard]] std::optional<Real> value(const XmlElement& element, ValueStyle style,
                                          const std::string& who, const NumberRule& rule);

  RobotImport& import_;
  std::map<MeshKey, std::shared_ptr<const Shape>> hulls_;
  std::map<SurfaceKey, std::string> materials_;
};

}  // namespace tangere::io
