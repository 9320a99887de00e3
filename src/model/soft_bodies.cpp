// SPDX-License-Identifier: Apache-2.0
#include "model/soft_bodies.hpp"

#include <tangere/error.hpp>

#include "math/transform.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace tangere {

const char* elasticModelName(ElasticModel model) {
  switch (model) {
    case ElasticModel::Linear:
      return "linear";
    case ElasticModel::Corotated:
      return "corotated";
    case ElasticModel::NeoHookean:
      return "neo_hookean";
    case ElasticModel::StVenantKirchhoff:
      return "stvk";
  }
  return "unknown";
}

}  // namespace tangere

namespace tangere::model {

namespace {

[[noreturn]] void reject(const SoftBody& soft, const std::string& message) {
  throw InvalidInput("soft body '" + soft.name + "': " + message);
}

int findMaterial(const ModelData& data, const SoftBody& soft);
ModelSoft makeSoft(const SoftBody& soft, const ModelData& data);
ModelAttachment attach(const SoftBody& soft, const SoftAttachment& attachment, const TetMesh& mesh,
                       const ModelData& data);

}  // namespace

void require(const SoftBody& soft) {
  if (soft.name.empty()) throw InvalidInput("a soft body needs a name");
  if (soft.mesh == nullptr) reject(soft, "the mesh is missing");
  if (!math::isRigid(soft.pose, Real(1e-6)))
    reject(soft, "pose must be finite and its rotation a rotation");
  if (!math::isFinite(soft.linearVelocity)) reject(soft, "velocity must be finite [m/s]");
  const Elasticity& law = soft.elasticity;
  if (!(law.young > 0 && law.young <= 1e15))
    reject(soft, "Young's modulus must be positive and at most 1e15 [Pa]");
  if (!(law.poisson >= 0 && law.poisson <= 0.4999))
    reject(soft, "Poisson's ratio must be between 0 and 0.4999");
  if (!(law.damping >= 0 && law.damping <= 1e6))
    reject(soft, "damping must be between 0 and 1e6 [s]");
  if (!(law.massDamping >= 0 && law.massDamping <= 1e6))
    reject(soft, "mass damping must be between 0 and 1e6 [1/s]");
  for (const SoftAttachment& attachment : soft.attachments) {
    if (attachment.vertex < 0 ||
        attachment.vertex >= static_cast<std::int32_t>(soft.mesh->vertices().size()))
      reject(soft, "attachment: no vertex " + std::to_string(attachment.vertex) +
                       ", the mesh has " + std::to_string(soft.mesh->vertices().size()));
  }
}

void layOutSoftBodies(std::span<const SoftBody> softs, ModelData& data) {
  std::vector<const SoftBody*> sorted;
  for (const SoftBody& soft : softs) sorted.push_back(&soft);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const SoftBody* a, const SoftBody* b) { return a->name < b->name; });
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const SoftBody& soft = *sorted[i];
    if (i > 0 && sorted[i - 1]->name == soft.name) reject(soft, "another one has this name");
    if (findBody(data, soft.name) >= 0) reject(soft, "a rigid body has this name");
    data.softs.push_back(makeSoft(soft, data));
    data.softs.back().firstVertex = data.numSoftVertices;
    data.numSoftVertices += static_cast<int>(data.softs.back().mesh.vertices().size());
  }
}

void preparePressure(ModelData& data) {
  const auto isHydroelastic = [&](const ModelShape& shape) {
    return data.materials[shape.material].contact == ContactModel::Hydroelastic;
  };
  data.hasPressure =
      data.options.solver == SolverType::Sap &&
      (!data.softs.empty() || std::any_of(data.shapes.begin(), data.shapes.end(), isHydroelastic));
  if (!data.hasPressure) return;
  std::map<std::pair<const Shape*, int>, std::shared_ptr<const PressureShape>> made;
  for (ModelShape& shape : data.shapes) {
    if (shape.pressure != nullptr) continue;
    std::shared_ptr<const PressureShape>& known = made[{shape.shape.get(), shape.material}];
    try {
      if (known == nullptr) known = makePressureShape(*shape.shape, data.materials[shape.material]);
      shape.pressure = known;
    } catch (const InvalidInput& error) {
      throw InvalidInput("body '" + data.bodies[shape.body].name +
                         "': a shape cannot press: " + error.what());
    }
  }
}

bool isPressurePair(const ModelData& data, const ObjectPair& shapes) {
  const PressureShape* const a = data.shapes[shapes.first].pressure.get();
  const PressureShape* const b = data.shapes[shapes.second].pressure.get();
  if (a == nullptr || b == nullptr) return false;
  using Kind = PressureShape::Kind;
  if (a->kind == Kind::None || b->kind == Kind::None) return false;
  if (a->isHalfSpace() && b->isHalfSpace()) return false;
  return a->isCompliant() || b->isCompliant();
}

namespace {

int findMaterial(const ModelData& data, const SoftBody& soft) {
  const std::string wanted = soft.material.empty() ? "default" : soft.material;
  std::vector<std::string> known;
  for (std::size_t i = 0; i < data.materials.size(); ++i) {
    if (data.materials[i].name == wanted) return static_cast<int>(i);
    known.push_back(data.materials[i].name);
  }
  reject(soft, "no material is called '" + wanted + "'" + nearNames(wanted, known));
}

ModelSoft makeSoft(const SoftBody& soft, const ModelData& data) {
  const int material = findMaterial(data, soft);
  const Material& surface = data.materials[material];
  if (!(surface.hydroelasticModulus < kUnlimited))
    reject(soft, "its material is rigid; a soft body needs a hydroelastic modulus");
  // Split where all vertices are on the surface: the elastic mesh and the pressure are one.
  PressureField field = makePressureField(soft.mesh->transformed(soft.pose));
  ModelSoft out{.name = soft.name,
                .mesh = field.mesh,
                .elastic = makeSoftMesh(field.mesh, {}, surface.density, soft.elasticity),
                .startVelocity = soft.linearVelocity,
                .material = material,
                .pressure = std::move(field.extent),
                .selfContact = soft.selfContact,
                .group = soft.group,
                .mask = soft.mask};
  out.cellSize = meanCellSize(out.mesh);
  for (Real& pressure : out.pressure) pressure *= surface.hydroelasticModulus;
  for (const SoftAttachment& attachment : soft.attachments)
    out.attachments.push_back(attach(soft, attachment, out.mesh, data));
  std::stable_sort(
      out.attachments.begin(), out.attachments.end(),
      [](const ModelAttachment& a, const ModelAttachment& b) { return a.vertex < b.vertex; });
  for (std::size_t i = 1; i < out.attachments.size(); ++i) {
    if (out.attachments[i].vertex == out.attachments[i - 1].vertex)
      reject(soft, "vertex " + std::to_string(out.attachments[i].vertex) + " is attached twice");
  }
  return out;
}

ModelAttachment attach(const SoftBody& soft, const SoftAttachment& attachment, const TetMesh& mesh,
                       const ModelData& data) {
  ModelAttachment out{.vertex = attachment.vertex, .point = mesh.vertices()[attachment.vertex]};
  if (attachment.body.empty()) return out;
  out.body = findBody(data, attachment.body);
  if (out.body < 0) {
    std::vector<std::string> known;
    for (const ModelBody& body : data.bodies) known.push_back(body.name);
    reject(soft, "attachment: no body is called '" + attachment.body + "'" +
                     nearNames(attachment.body, known));
  }
  if (data.bodies[out.body].isJointed && !data.initialPositions.empty())
    reject(soft, "attachment: body '" + attachment.body +
                     "' hangs on joints, which must then start at their references");
  out.point = inverse(data.bodies[out.body].startPose) * out.point;
  return out;
}

}  // namespace

}  // namespace tangere::model
