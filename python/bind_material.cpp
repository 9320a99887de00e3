// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "core_enums.hpp"
#include "struct_binding.hpp"

#include <tangere/material.hpp>

namespace tangere::python {

void bindMaterial(nb::module_& m) {
  nb::enum_<ContactModel>(m, "ContactModel", "How surfaces press on each other.")
      .value("POINT", ContactModel::Point, "at points, each with its depth")
      .value("HYDROELASTIC", ContactModel::Hydroelastic, "over an area, by pressure")
      .value("HERTZ", ContactModel::Hertz, "as elastic bodies do (the event solver)")
      .value("OBSERVER", ContactModel::Observer, "not at all: reported (the event solver)");
  nb::enum_<PlaneContact>(m, "PlaneContact", "What of a body with pressure presses on a plane.")
      .value("ELEMENTS", PlaneContact::Elements, "polygons where its tetrahedra are cut")
      .value("VERTICES", PlaneContact::Vertices, "vertices of its surface: cheaper, rougher");
  bindStruct<Material>(
      m, "Material",
      "A surface. Two of them combine as the geometric mean of each number, unless a "
      "MaterialPair says otherwise.\n\n"
      ">>> import tangere\n"
      ">>> tangere.Material('rubber', friction=1.0)\n"
      "Material(name='rubber', friction=1.0)\n",
      field("name", &Material::name, "its name; empty: the material of shapes that name none"),
      field("density", &Material::density, "[kg/m^3]"),
      field("friction", &Material::friction, "Coulomb, 0 to 1000"),
      field("restitution", &Material::restitution, "0 to 1"),
      field("torsional_friction", &Material::torsionalFriction,
            "torque about the normal over normal force [m]"),
      field("rolling_friction", &Material::rollingFriction,
            "torque about the tangents over normal force [m]"),
      field("stiffness", &Material::stiffness, "of a contact point [N/m]"),
      field("relaxation_time", &Material::relaxationTime, "a contact relaxes in this time [s]"),
      field("dissipation", &Material::dissipation, "Hunt and Crossley [s/m]"),
      field("contact", &Material::contact, "how the surface presses"),
      field("hydroelastic_modulus", &Material::hydroelasticModulus,
            "pressure at the points farthest inside [Pa]"),
      field("hydroelastic_thickness", &Material::hydroelasticThickness,
            "of the compliant layer on a Plane [m]"),
      field("hydroelastic_resolution", &Material::hydroelasticResolution,
            "edges of the tetrahedra [m]; 0: chosen from the shape"),
      field("plane_contact", &Material::planeContact, "what presses on a plane"),
      field("youngs_modulus", &Material::youngsModulus, "the event solver [Pa]"),
      field("poisson_ratio", &Material::poissonRatio, "0 to 0.5"),
      field("rolling_resistance", &Material::rollingResistance,
            "torque against rolling over normal force and contact radius"));
  bindStruct<MaterialPair>(
      m, "MaterialPair", "What one pair of materials does, where it is more than the rule.",
      field("material1", &MaterialPair::material1, "name of one"),
      field("material2", &MaterialPair::material2, "name of the other"),
      field("friction", &MaterialPair::friction, "Coulomb, 0 to 1000"),
      field("restitution", &MaterialPair::restitution, "0 to 1"),
      field("torsional_friction", &MaterialPair::torsionalFriction, "[m]"),
      field("rolling_friction", &MaterialPair::rollingFriction, "[m]"),
      field("stiffness", &MaterialPair::stiffness, "[N/m]"),
      field("relaxation_time", &MaterialPair::relaxationTime, "[s]"),
      field("dissipation", &MaterialPair::dissipation, "[s/m]"),
      field("rolling_resistance", &MaterialPair::rollingResistance,
            "torque over normal force and contact radius"),
      field("small_speed", &MaterialPair::smallSpeed, "of the event solver's friction [m/s]"),
      field("small_spin", &MaterialPair::smallSpin, "[rad/s]"));
}

}  // namespace tangere::python
