// SPDX-License-Identifier: Apache-2.0
//
// What surfaces are made of, and what happens where two of them meet.
#pragma once

#include <tangere/config.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace tangere {

/// How surfaces press on each other.
enum class ContactModel : std::uint8_t {
  Point,         ///< at points, each with its depth
  Hydroelastic,  ///< over an area, by a pressure that grows inward
  Hertz,         ///< at points, as elastic bodies do (the event solver)
  Observer,      ///< not at all: contacts begin and end, and are reported (the event solver)
};

/// What of a body with a pressure field, or of a soft body, presses on a plane.
enum class PlaneContact : std::uint8_t {
  Elements,  ///< polygons: where its tetrahedra are cut
  Vertices,  ///< the vertices of its surface, each with its share of the area: cheaper and rougher
};

/// A surface. Two of them combine as the geometric mean, sqrt(a b), of each number, unless a
/// MaterialPair says otherwise: a frictionless surface then stays frictionless against anything.
struct Material {
  std::string name;
  Real density = 1000;         ///< [kg/m^3]
  Real friction = 0.5;         ///< Coulomb, in [0, 1000]
  Real restitution = 0;        ///< in [0, 1]
  Real torsionalFriction = 0;  ///< torque about the normal over normal force [m]
  Real rollingFriction = 0;    ///< torque about the tangents over normal force [m]

  // The compliant contact of the SAP solver; combined in series.
  Real stiffness =
      kUnlimited;  ///< of a contact point [N/m]; unlimited: as stiff as the step allows
  /// Linear dissipation: a contact relaxes in this time; the times of two surfaces add up [s].
  Real relaxationTime = 0.01;
  Real dissipation = 0;  ///< Hunt-Crossley, where that model is chosen [s/m]

  // Pressure (the SAP solver). One hydroelastic side is enough: the other is then a rigid surface,
  // unless it is hydroelastic too. Soft bodies always press by areas.
  ContactModel contact = ContactModel::Point;
  /// Pressure at the points farthest inside [Pa]; unlimited: a rigid surface.
  Real hydroelasticModulus = 1e7;
  Real hydroelasticThickness = 1;   ///< of the compliant layer on a Plane [m]
  Real hydroelasticResolution = 0;  ///< edges of the tetrahedra [m]; 0: chosen from the shape
  PlaneContact planeContact = PlaneContact::Elements;

  // Hertz (the event solver).
  Real youngsModulus = 0;      ///< [Pa]; needed there
  Real poissonRatio = 0.3;     ///< in [0, 0.5]
  Real rollingResistance = 0;  ///< torque against rolling over normal force and contact radius
};

/// What one pair of materials does where it is more than the combination rule.
struct MaterialPair {
  std::string material1, material2;
  std::optional<Real> friction{};
  std::optional<Real> restitution{};
  std::optional<Real> torsionalFriction{};
  std::optional<Real> rollingFriction{};
  std::optional<Real> stiffness{};
  std::optional<Real> relaxationTime{};
  std::optional<Real> dissipation{};
  std::optional<Real> rollingResistance{};
  std::optional<Real> smallSpeed{}, smallSpin{};  ///< of the event solver's friction [m/s, rad/s]
};

}  // namespace tangere
