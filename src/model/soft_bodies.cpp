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
void listAttachedTets(ModelSoft* soft);

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
  if (sorted.empty()) return;
  std::vector<ModelSoft>& made = data.softs.edit();
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const SoftBody& soft = *sorted[i];
    if (i > 0 && sorted[i - 1]->name == soft.name) reject(soft, "another one has this name");
    if (findBody(data, soft.name) >= 0) reject(soft, "a rigid body has this name");
    made.push_back(makeSoft(soft, data));
    made.back().firstVertex = data.numSoftVertices;
    data.numSoftVertices += static_cast<int>(made.back().mesh.vertices().size());
  }
}

void excludeSofts(std::span<const std::pair<std::string, std::string>> pairs, ModelData& data) {
  if (pairs.empty()) return;
  std::vector<ModelSoft>& softs = data.softs.edit();
  const auto findSoft = [&](const std::string& name) {
    const auto at = std::find_if(softs.begin(), softs.end(),
                                 [&](const ModelSoft& soft) { return soft.name == name; });
    return at == softs.end() ? -1 : static_cast<int>(at - softs.begin());
  };
  for (const auto& [name1, name2] : pairs) {
    const int soft1 = findSoft(name1), soft2 = findSoft(name2);
    if (soft1 >= 0 && soft2 >= 0) {
      softs[soft1].excludedSofts.push_back(soft2);
      softs[soft2].excludedSofts.push_back(soft1);
    } else {
      const std::string& other = soft1 >= 0 ? name2 : name1;
      const int body = findBody(data, other);
      if (body < 0 || (soft1 < 0 && soft2 < 0))
        throw InvalidInput("excluded pair: no body is called '" + other + "'");
      softs[std::max(soft1, soft2)].excludedBodies.push_back(body);
    }
  }
  for (ModelSoft& soft : softs) {
    std::stable_sort(soft.excludedBodies.begin(), soft.excludedBodies.end());
    std::stable_sort(soft.excludedSofts.begin(), soft.excludedSofts.end());
  }
}

void preparePressure(ModelData& data) {
  const auto isHydroelastic = [&](const ModelShape& shape) {
    return data.materials[shape.material].contact == ContactModel::Hydroelastic;
  };
  data.hasPressure =
      data.options.solver != SolverType::Impulse &&
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
  std::vector<Vec3> gradient(out.mesh.tets().size());
  collision::computePressureGradients(out.mesh.vertices(), out.mesh.tets(), out.pressure, gradient);
  out.depth = depthOfField(out.mesh.vertices(), out.mesh.tets(), gradient, 1);
  out.core = coreVertices(out.mesh.vertices(), out.mesh.tets(), out.pressure, gradient);
  for (Real& pressure : out.pressure) pressure *= surface.hydroelasticModulus;
  out.highest = *std::max_element(out.pressure.begin(), out.pressure.end());
  for (const SoftAttachment& attachment : soft.attachments)
    out.attachments.push_back(attach(soft, attachment, out.mesh, data));
  std::stable_sort(
      out.attachments.begin(), out.attachments.end(),
      [](const ModelAttachment& a, const ModelAttachment& b) { return a.vertex < b.vertex; });
  for (std::size_t i = 1; i < out.attachments.size(); ++i) {
    if (out.attachments[i].vertex == out.attachments[i - 1].vertex)
      reject(soft, "vertex " + std::to_string(out.attachments[i].vertex) + " is attached twice");
  }
  listAttachedTets(&out);
  return out;
}

void listAttachedTets(ModelSoft* soft) {
  std::vector<int> bodyOf(soft->mesh.vertices().size(), -1);
  for (const ModelAttachment& attachment : soft->attachments)
    bodyOf[attachment.vertex] = attachment.body;
  for (std::size_t t = 0; t < soft->mesh.tets().size(); ++t) {
    for (const std::int32_t vertex : soft->mesh.tets()[t]) {
      if (bodyOf[vertex] >= 0) soft->attachedTets.emplace_back(bodyOf[vertex], static_cast<int>(t));
    }
  }
  std::vector<std::pair<int, int>>& tets = soft->attachedTets;
  std::stable_sort(tets.begin(), tets.end());
  tets.erase(std::unique(tets.begin(), tets.end()), tets.end());
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
  out.point = inverse(data.bodies[out.body].startPose) * out.point;
  return out;
}

}  // namespace

}  // namespace tangere::model
