// SPDX-License-Identifier: Apache-2.0
#include "io/recorded_model.hpp"

#include <algorithm>
#include <array>

namespace tangere {

const char* bodyTypeName(BodyType type) {
  switch (type) {
    case BodyType::Dynamic:
      return "dynamic";
    case BodyType::Fixed:
      return "fixed";
    case BodyType::Kinematic:
      return "kinematic";
  }
  return "dynamic";
}

namespace io {

namespace {

constexpr std::uint64_t kMaxRows = std::uint64_t{1} << 30;  // whatever is counted fits an int

/// Where each of `count` things begins in a table, and where the last one ends.
std::vector<int> readOffsets(const OpenRecording& file, const std::string& path,
                             std::size_t count) {
  RecordedColumn<std::uint64_t> column;
  column.open(file, path, {});
  if (column.rows() != count + 1) file.reject("the column " + path + " has the wrong length");
  column.read(file, 0, count + 1);
  std::vector<int> offsets;
  std::uint64_t last = 0;
  for (const std::uint64_t offset : column.values()) {
    if (offset < last || offset > kMaxRows || (offsets.empty() && offset != 0))
      file.reject("the column " + path + " is damaged");
    last = offset;
    offsets.push_back(static_cast<int>(offset));
  }
  return offsets;
}

/// All of a column of `count` rows.
template <class T>
std::vector<T> readNumbers(const OpenRecording& file, const std::string& path,
                           const std::vector<hsize_t>& rowShape, std::size_t count) {
  RecordedColumn<T> column;
  column.open(file, path, rowShape);
  if (column.rows() != count) file.reject("the column " + path + " has the wrong length");
  column.read(file, 0, count);
  return {column.values().begin(), column.values().end()};
}

Vec3 vec3At(const std::vector<Real>& values, std::size_t row) {
  return {values[3 * row], values[3 * row + 1], values[3 * row + 2]};
}

/// Rows of N vertices, those of body i between offsets i and i + 1.
template <std::size_t N>
class ElementTable {
 public:
  using Element = std::array<std::int32_t, N>;

  ElementTable(const OpenRecording& file, const std::string& path, const std::string& offsetPath,
               std::size_t numBodies)
      : file_(file), path_(path), offsets_(readOffsets(file, offsetPath, numBodies)) {
    column_.open(file, path, {N});
    column_.read(file, 0, static_cast<std::uint64_t>(offsets_.back()));
  }

  [[nodiscard]] std::vector<Element> of(std::size_t body, int numVertices) const {
    std::vector<Element> out;
    for (int i = offsets_[body]; i < offsets_[body + 1]; ++i) {
      Element& element = out.emplace_back();
      for (std::size_t k = 0; k < N; ++k) {
        element[k] = column_.at(static_cast<std::size_t>(i) * N + k);
        if (element[k] < 0 || element[k] >= numVertices)
          file_.reject("the column " + path_ + " names a vertex that does not exist");
      }
    }
    return out;
  }

 private:
  const OpenRecording& file_;
  std::string path_;
  std::vector<int> offsets_;
  RecordedColumn<std::int32_t> column_;
};

/// Of each soft body; none in recordings of earlier versions.
std::vector<std::optional<Elasticity>> readElasticity(const OpenRecording& file,
                                                      std::size_t count) {
  const std::string group = "/model/soft_bodies/";
  std::vector<std::optional<Elasticity>> out(count);
  if (!file.has("/model/soft_bodies/elastic_model")) return out;
  const std::vector<std::string> laws = file.readTexts(group + "elastic_model");
  if (laws.size() != count) file.reject("the column " + group + "elastic_model is cut");
  const std::vector<Real> young = readNumbers<Real>(file, group + "young", {}, count);
  const std::vector<Real> poisson = readNumbers<Real>(file, group + "poisson", {}, count);
  for (std::size_t i = 0; i < count; ++i) {
    for (const ElasticModel law : {ElasticModel::Linear, ElasticModel::Corotated,
                                   ElasticModel::NeoHookean, ElasticModel::StVenantKirchhoff})
      if (laws[i] == elasticModelName(law))
        out[i] = Elasticity{.model = law, .young = young[i], .poisson = poisson[i]};
    if (!out[i]) file.reject("the column " + group + "elastic_model is damaged");
  }
  return out;
}

}  // namespace

std::vector<BodyType> readBodyTypes(const OpenRecording& file, std::size_t numBodies) {
  const std::vector<std::string> names = file.readTexts("/model/body_type");
  if (names.size() != numBodies) file.reject("the column /model/body_type has the wrong length");
  constexpr std::array kTypes{BodyType::Dynamic, BodyType::Fixed, BodyType::Kinematic};
  std::vector<BodyType> types;
  for (const std::string& name : names) {
    const auto type = std::find_if(kTypes.begin(), kTypes.end(),
                                   [&](BodyType t) { return name == bodyTypeName(t); });
    if (type == kTypes.end()) file.reject("the column /model/body_type is damaged");
    types.push_back(*type);
  }
  return types;
}

std::vector<int> readParents(const OpenRecording& file, std::size_t numBodies) {
  if (!file.has("/model/body_parent")) return std::vector<int>(numBodies, -1);
  const std::vector<std::int32_t> parents =
      readNumbers<std::int32_t>(file, "/model/body_parent", {}, numBodies);
  for (const std::int32_t parent : parents)
    if (parent < -1 || parent >= static_cast<std::int64_t>(numBodies))
      file.reject("the column /model/body_parent names a body that does not exist");
  return {parents.begin(), parents.end()};
}

std::vector<RecordedJoint> readJoints(const OpenRecording& file, std::size_t numBodies) {
  if (!file.has("/model/joints")) return {};
  const std::string group = "/model/joints/";
  std::vector<std::string> names = file.readTexts(group + "name");
  std::vector<std::string> types = file.readTexts(group + "type");
  if (types.size() != names.size())
    file.reject("the column " + group + "type has the wrong length");
  const std::vector<std::int32_t> body =
      readNumbers<std::int32_t>(file, group + "body", {}, names.size());
  const std::vector<Real> position = readNumbers<Real>(file, group + "position", {3}, names.size());
  const std::vector<Real> axis = readNumbers<Real>(file, group + "axis", {3}, names.size());
  std::vector<RecordedJoint> joints;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (body[i] < 0 || static_cast<std::size_t>(body[i]) >= numBodies)
      file.reject("the column " + group + "body names a body that does not exist");
    joints.push_back({.name = std::move(names[i]),
                      .type = std::move(types[i]),
                      .body = body[i],
                      .position = vec3At(position, i),
                      .axis = vec3At(axis, i)});
  }
  return joints;
}

std::vector<RecordedShape> readShapes(const OpenRecording& file, const std::string& name,
                                      std::size_t numBodies) {
  const std::string group = "/model/" + name + "/";
  const bool isVisual = name == "visuals";
  if (isVisual && !file.has("/model/visuals")) return {};
  std::vector<std::string> types = file.readTexts(group + "type");
  const std::size_t count = types.size();
  const std::vector<std::int32_t> shape =
      readNumbers<std::int32_t>(file, group + "shape", {}, count);
  const std::vector<std::int32_t> body = readNumbers<std::int32_t>(file, group + "body", {}, count);
  const std::vector<Real> rotation = readNumbers<Real>(file, group + "rotation", {3, 3}, count);
  const std::vector<Real> position = readNumbers<Real>(file, group + "position", {3}, count);
  const std::vector<Real> size = readNumbers<Real>(file, group + "size", {3}, count);
  const std::vector<int> vertexOffset = readOffsets(file, group + "vertex_offset", count);
  const std::vector<Real> vertices = readNumbers<Real>(
      file, group + "vertices", {3}, static_cast<std::size_t>(vertexOffset.back()));
  const ElementTable<3> triangles(file, group + "triangles", group + "triangle_offset", count);
  const std::vector<Real> color =
      isVisual ? readNumbers<Real>(file, group + "color", {4}, count) : std::vector<Real>{};
  std::vector<RecordedShape> shapes;
  for (std::size_t i = 0; i < count; ++i) {
    if (body[i] < (isVisual ? -1 : 0) || body[i] >= static_cast<std::int64_t>(numBodies))
      file.reject("the column " + group + "body names a body that does not exist");
    RecordedShape& made = shapes.emplace_back();
    made.type = std::move(types[i]);
    made.shape = shape[i];
    made.body = body[i];
    for (int k = 0; k < 3; ++k)  // columns of a matrix that is stored by rows
      made.pose.rotation.col[k] = {rotation[9 * i + static_cast<std::size_t>(k)],
                                   rotation[9 * i + 3 + static_cast<std::size_t>(k)],
                                   rotation[9 * i + 6 + static_cast<std::size_t>(k)]};
    made.pose.translation = vec3At(position, i);
    made.size = vec3At(size, i);
    for (int k = vertexOffset[i]; k < vertexOffset[i + 1]; ++k)
      made.vertices.push_back(vec3At(vertices, static_cast<std::size_t>(k)));
    made.triangles = triangles.of(i, vertexOffset[i + 1] - vertexOffset[i]);
    for (std::size_t k = 0; isVisual && k < made.color.size(); ++k)
      made.color[k] = color[4 * i + k];
  }
  return shapes;
}

std::vector<RecordedSoftBody> readSoftBodies(const OpenRecording& file) {
  if (!file.has("/model/soft_bodies")) return {};
  const std::string group = "/model/soft_bodies/";
  std::vector<std::string> names = file.readTexts(group + "name");
  const std::vector<int> vertices = readOffsets(file, group + "vertex_offset", names.size());
  const ElementTable<4> tets(file, group + "tetrahedra", group + "tetrahedron_offset",
                             names.size());
  const ElementTable<3> triangles(file, group + "triangles", group + "triangle_offset",
                                  names.size());
  const std::vector<Real> rest =
      readNumbers<Real>(file, group + "vertices", {3}, static_cast<std::size_t>(vertices.back()));
  const std::vector<std::optional<Elasticity>> elasticity = readElasticity(file, names.size());
  std::vector<RecordedSoftBody> softs;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const int count = vertices[i + 1] - vertices[i];
    if (count == 0) file.reject("a soft body without vertices");
    softs.push_back({.name = std::move(names[i]),
                     .firstVertex = vertices[i],
                     .numVertices = count,
                     .tets = tets.of(i, count),
                     .surface = triangles.of(i, count),
                     .elasticity = elasticity[i]});
    for (int k = vertices[i]; k < vertices[i + 1]; ++k)
      softs.back().rest.push_back(vec3At(rest, static_cast<std::size_t>(k)));
  }
  return softs;
}

std::vector<RecordedSensor> readSensors(const OpenRecording& file) {
  if (!file.has("/model/sensors")) return {};
  std::vector<std::string> names = file.readTexts("/model/sensors/name");
  const std::vector<int> values = readOffsets(file, "/model/sensors/value_offset", names.size());
  if (values.back() == 0) file.reject("sensors without readings");
  std::vector<RecordedSensor> sensors;
  for (std::size_t i = 0; i < names.size(); ++i)
    sensors.push_back({.name = std::move(names[i]),
                       .firstValue = values[i],
                       .numValues = values[i + 1] - values[i]});
  return sensors;
}

}  // namespace io

}  // namespace tangere
