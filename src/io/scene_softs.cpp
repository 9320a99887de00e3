// SPDX-License-Identifier: Apache-2.0
#include "io/scene_softs.hpp"

#include <tangere/error.hpp>
#include <tangere/io.hpp>

#include "io/text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tangere::io {

namespace {

constexpr NumberRule kResolution{0, 1e6, "the length of an edge above 0 [m]", true};
constexpr NumberRule kScale{1e-12, 1e12, "a scale above 0"};
constexpr NumberRule kVelocity{-1e15, 1e15, "a finite velocity within 1e15 [m/s]"};
constexpr NumberRule kYoung{0, 1e15, "a modulus above 0 [Pa]", true};
constexpr NumberRule kPoisson{0, 0.4999, "Poisson's ratio from 0 to 0.4999"};
constexpr NumberRule kDamping{0, 1e6, "a damping from 0 to 1e6 [s]"};
constexpr NumberRule kMassDamping{0, 1e6, "a damping from 0 to 1e6 [1/s]"};
constexpr NumberRule kPosition{-1e15, 1e15, "a finite position within 1e15 [m]"};
constexpr NumberRule kHalfSize{0, 1e15, "half a size above 0 [m]", true};

}  // namespace

void SceneSofts::read(const Value& softs) {
  const Value::Array* items = softs.array();
  if (items == nullptr) {
    notes_.error(softs.place,
                 "soft: found " + describe(softs) + ", expected tables headed [[soft]]");
    return;
  }
  for (const Value& item : *items) readSoft(item);
}

void SceneSofts::summarize() {
  if (isEmpty()) return;
  notes_.add(ImportNote::Kind::Read, {},
             std::to_string(places_.size()) +
                 (places_.size() == 1 ? " soft body" : " soft bodies") + " with " +
                 std::to_string(num_vertices_) + " vertices and " + std::to_string(num_tets_) +
                 " tetrahedra");
}

void SceneSofts::readSoft(const Value& value) {
  TableReader table(notes_, value, "soft");
  if (value.table() == nullptr) return;
  const std::size_t numErrors = notes_.numErrors();
  SoftBody soft;
  soft.name = bodies_.readName(table);
  if (!soft.name.empty()) table.setWho("soft " + io::quoted(soft.name));
  soft.pose = bodies_.readPose(table);
  soft.linearVelocity = table.vec3("velocity", kVelocity).value_or(Vec3{});
  soft.material = bodies_.readMaterial(table).value_or("");
  soft.elasticity = readElasticity(table);
  soft.selfContact = table.boolean("self_contact").value_or(true);
  constexpr std::int64_t kAllBits = std::numeric_limits<std::uint32_t>::max();
  soft.group = static_cast<std::uint32_t>(table.integer("group", 0, kAllBits, "bits").value_or(1));
  soft.mask =
      static_cast<std::uint32_t>(table.integer("mask", 0, kAllBits, "bits").value_or(kAllBits));
  soft.mesh = readMesh(table);
  if (soft.mesh != nullptr) readAttachments(table, &soft);
  table.allow({"attach", "resolution", "scale", "shape", "volume"});
  table.finish();
  const auto [other, isNew] = places_.emplace(soft.name, value.place);
  if (!isNew || bodies_.places().count(soft.name) > 0)
    table.error(table.placeOf("name"), "found the name twice, expected a name of its own");
  if (notes_.numErrors() > numErrors) return;
  try {
    builder_.addSoftBody(soft);
    num_vertices_ += soft.mesh->vertices().size();
    given_vertices_[soft.name] = soft.mesh->vertices().size();
    num_tets_ += soft.mesh->tets().size();
  } catch (const InvalidInput& error) {
    table.error(value.place, error.what());
  }
}

/// Null after an error.
std::shared_ptr<const TetMesh> SceneSofts::readMesh(TableReader& table) {
  const Value* const shape = table.find("shape");
  if ((shape != nullptr) == table.has("volume")) {
    table.error(shape != nullptr ? table.placeOf("volume") : table.place(),
                "expected one of shape, such as { sphere = 0.02 }, and volume, the name of a file");
    return nullptr;
  }
  try {
    return shape != nullptr ? meshOfShape(table, *shape) : meshOfFile(table);
  } catch (const InvalidInput& error) {
    table.error(table.placeOf(shape != nullptr ? "shape" : "volume"), error.what());
  }
  return nullptr;
}

std::shared_ptr<const TetMesh> SceneSofts::meshOfShape(TableReader& table, const Value& shape) {
  TableReader geometry(notes_, shape, table.who() + ": shape");
  if (shape.table() == nullptr) return nullptr;
  const std::shared_ptr<const Shape> solid = bodies_.readGeometry(geometry);
  const std::optional<Real> resolution = table.number("resolution", kResolution);
  if (table.has("scale"))
    table.error(table.placeOf("scale"), "found a scale, expected none: it is for a volume");
  if (solid == nullptr) return nullptr;
  TetMeshReport report;
  auto mesh = std::make_shared<const TetMesh>(
      meshShape(*solid, {.resolution = resolution.value_or(0)}, &report));
  notes_.add(ImportNote::Kind::Changed, table.placeOf("shape"),
             table.who() + ": meshed (" + report.method + ") with " +
                 std::to_string(mesh->vertices().size()) + " vertices and " +
                 std::to_string(mesh->tets().size()) + " tetrahedra");
  for (const std::string& finding : report.findings)
    notes_.warning(table.placeOf("shape"), table.who() + ": " + finding);
  return mesh;
}

std::shared_ptr<const TetMesh> SceneSofts::meshOfFile(TableReader& table) {
  const std::optional<std::string> file = table.string("volume");
  const Real scale = table.number("scale", kScale).value_or(1);
  if (table.has("resolution"))
    table.error(table.placeOf("resolution"),
                "found a resolution, expected none: a volume is meshed");
  if (!file) return nullptr;
  std::vector<std::string> said;
  TetMesh mesh = readTetMesh(bodies_.resolve(*file), &said);
  for (const std::string& sentence : said)
    notes_.add(ImportNote::Kind::Changed, table.placeOf("volume"),
               table.who() + ": " + io::quoted(*file) + ": " + sentence);
  if (const int numParts = mesh.quality().numParts; numParts > 1)
    notes_.warning(table.placeOf("volume"),
                   table.who() + ": " + io::quoted(*file) + " is in " + std::to_string(numParts) +
                       " parts that no face connects: they move as bodies of their own");
  if (scale == 1) return std::make_shared<const TetMesh>(std::move(mesh));
  std::vector<Vec3> vertices(mesh.vertices().begin(), mesh.vertices().end());
  for (Vec3& vertex : vertices) vertex *= scale;
  return std::make_shared<const TetMesh>(std::move(vertices),
                                         std::vector<Tet>(mesh.tets().begin(), mesh.tets().end()));
}

Elasticity SceneSofts::readElasticity(TableReader& table) {
  Elasticity out;
  const Value* const value = table.find("elasticity");
  if (value == nullptr) return out;
  TableReader law(notes_, *value, table.who() + ": elasticity");
  if (const auto word = law.word("model", {"linear", "corotated", "neo_hookean", "stvk"}))
    out.model = static_cast<ElasticModel>(*word);
  out.young = law.number("young", kYoung).value_or(out.young);
  out.poisson = law.number("poisson", kPoisson).value_or(out.poisson);
  constexpr Real kLocking = 0.495;
  if (out.poisson > kLocking)
    notes_.warning(law.placeOf("poisson"),
                   law.who() +
                       ": Poisson's ratio above 0.495: linear tetrahedra lock, the body is "
                       "much stiffer than its law");
  out.damping = law.number("damping", kDamping).value_or(out.damping);
  out.massDamping = law.number("mass_damping", kMassDamping).value_or(out.massDamping);
  law.finish();
  return out;
}

/// attach = [{ body = "palm", vertices = [0, 3] }, { center = [0, 0, 1], box = [0.1, 0.1, 0.01] }]:
/// without a body to the world.
void SceneSofts::readAttachments(TableReader& table, SoftBody* soft) {
  const Value* const value = table.find("attach");
  if (value == nullptr) return;
  if (value->array() == nullptr) {
    table.errorFound("attach", *value, "an array of tables, such as [{ vertices = [0] }]");
    return;
  }
  for (const Value& item : *value->array()) {
    TableReader part(notes_, item, table.who() + ": attach");
    if (item.table() != nullptr) readAttachment(part, soft);
  }
}

void SceneSofts::readAttachment(TableReader& table, SoftBody* soft) {
  const std::string body = table.string("body").value_or("");
  const auto center = table.vec3("center", kPosition);
  const auto half = table.vec3("box", kHalfSize);
  const Value* const list = table.find("vertices");
  table.finish();
  if (table.has("box") == (list != nullptr)) {
    table.error(table.place(), "expected vertices, or box and center (half sizes, world)");
    return;
  }
  if (list != nullptr && table.has("center"))
    table.error(table.placeOf("center"), "found a center, expected none: it is for a box");
  const auto numVertices = static_cast<std::int64_t>(soft->mesh->vertices().size());
  std::vector<std::int32_t> chosen;
  if (list != nullptr) {
    const Value::Array* const items = list->array();
    if (items == nullptr) return table.errorFound("vertices", *list, "an array of vertices");
    for (const Value& item : *items) {
      const auto vertex = table.readNumber(
          "vertices", item, {0, static_cast<Real>(numVertices - 1), "a vertex of the mesh"});
      if (!vertex) return;
      if (*vertex != std::floor(*vertex)) return table.errorFound("vertices", item, "an integer");
      chosen.push_back(static_cast<std::int32_t>(*vertex));
    }
  } else if (half) {
    const Vec3 middle = center.value_or(Vec3{});
    for (std::int32_t i = 0; i < numVertices; ++i) {
      const Vec3 from = soft->pose * soft->mesh->vertices()[i] - middle;
      if (std::fabs(from.x) <= half->x && std::fabs(from.y) <= half->y &&
          std::fabs(from.z) <= half->z)
        chosen.push_back(i);
    }
    if (chosen.empty()) table.error(table.placeOf("box"), "found no vertex in the box");
  }
  for (const std::int32_t vertex : chosen)
    soft->attachments.push_back({.vertex = vertex, .body = body});
}

}  // namespace tangere::io
