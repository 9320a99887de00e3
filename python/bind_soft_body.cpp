// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "core_enums.hpp"
#include "struct_binding.hpp"

#include <tangere/soft_body.hpp>

namespace tangere::python {

void bindSoftBody(nb::module_& m) {
  nb::enum_<ElasticModel>(m, "ElasticModel", "What stress a deformation makes.")
      .value("LINEAR", ElasticModel::Linear)
      .value("COROTATED", ElasticModel::Corotated)
      .value("NEO_HOOKEAN", ElasticModel::NeoHookean)
      .value("STVK", ElasticModel::StVenantKirchhoff);
  bindStruct<Elasticity>(
      m, "Elasticity", "An elastic material.",
      field("model", &Elasticity::model, "what stress a deformation makes"),
      field("young", &Elasticity::young, "[Pa]"),
      field("poisson", &Elasticity::poisson, "0 to below 0.5"),
      field("damping", &Elasticity::damping, "Rayleigh, of the stiffness [s]"),
      field("mass_damping", &Elasticity::massDamping, "Rayleigh, of the mass [1/s]"));
  bindStruct<SoftAttachment>(m, "SoftAttachment", "A vertex that a rigid body carries with it.",
                             field("vertex", &SoftAttachment::vertex, "index of the vertex"),
                             field("body", &SoftAttachment::body, "empty: the world"));
  bindStruct<SoftBody>(
      m, "SoftBody", "A deformable body of tetrahedra (the SAP solver).",
      field("name", &SoftBody::name, "its identity"), field("mesh", &SoftBody::mesh, "a TetMesh"),
      field("pose", &SoftBody::pose, "of the mesh at the start"),
      field("linear_velocity", &SoftBody::linearVelocity, "at the start [m/s]"),
      field("material", &SoftBody::material, "name of a material"),
      field("elasticity", &SoftBody::elasticity, "what it is made of"),
      field("attachments", &SoftBody::attachments, "vertices that rigid bodies carry"),
      field("self_contact", &SoftBody::selfContact, "it may touch itself"),
      field("group", &SoftBody::group, "bits it belongs to"),
      field("mask", &SoftBody::mask, "bits it collides with"));
}

}  // namespace tangere::python
