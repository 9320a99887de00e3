// SPDX-License-Identifier: Apache-2.0
#include "view_scene.hpp"

#include "view_stream.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace tangere::cli {

namespace {

Json vecJson(const Vec3& v) { return Json::array({v.x, v.y, v.z}); }

/// Three columns of the rotation, then the translation.
Json poseJson(const Transform& X) {
  Json list = Json::array();
  for (const Vec3* column :
       {&X.rotation.col[0], &X.rotation.col[1], &X.rotation.col[2], &X.translation})
    for (int k = 0; k < 3; ++k) list.push_back((*column)[k]);
  return list;
}

/// The bytes of numbers as text.
template <class T>
std::string packed(const std::vector<T>& numbers) {
  return base64(std::as_bytes(std::span(numbers)));
}

std::string packedVertices(std::span<const Vec3> vertices) {
  std::vector<float> numbers;
  for (const Vec3& v : vertices)
    for (int k = 0; k < 3; ++k) numbers.push_back(static_cast<float>(v[k]));
  return packed(numbers);
}

std::string packedTriangles(std::span<const Triangle> triangles) {
  std::vector<std::uint32_t> numbers;
  for (const Triangle& t : triangles)
    for (const int corner : t) numbers.push_back(static_cast<std::uint32_t>(corner));
  return packed(numbers);
}

/// Shapes as the page reads them; triangles that occur often are written once.
class ShapeList {
 public:
  [[nodiscard]] Json add(const RecordedShape& shape) {
    Json json = {{"type", shape.type}, {"pose", poseJson(shape.pose)}};
    if (shape.triangles.empty())
      json["size"] = vecJson(shape.size);
    else
      json["mesh"] = meshOf(shape);
    if (shape.color[3] > 0)
      json["color"] = Json::array({shape.color[0], shape.color[1], shape.color[2], shape.color[3]});
    return json;
  }
  [[nodiscard]] Json takeMeshes() { return std::move(meshes_); }

 private:
  [[nodiscard]] std::size_t meshOf(const RecordedShape& shape) {
    auto mesh = std::pair(packedVertices(shape.vertices), packedTriangles(shape.triangles));
    const auto [found, isNew] = known_.try_emplace(mesh, meshes_.size());
    if (isNew) meshes_.push_back({{"vertices", mesh.first}, {"triangles", mesh.second}});
    return found->second;
  }

  Json meshes_ = Json::array();
  std::map<std::pair<std::string, std::string>, std::size_t> known_;
};

/// "shapes" and "visuals" of the bodies, "visuals" of the world, and the meshes of both.
void addShapes(Json* scene, std::span<const RecordedShape> shapes,
               std::span<const RecordedShape> visuals) {
  ShapeList list;
  Json& bodies = (*scene)["bodies"];
  for (Json& body : bodies) body["shapes"] = Json::array();
  for (const RecordedShape& shape : shapes)
    bodies[static_cast<std::size_t>(shape.body)]["shapes"].push_back(list.add(shape));
  (*scene)["visuals"] = Json::array();
  for (const RecordedShape& visual : visuals) {
    Json& owner = visual.body < 0 ? *scene : bodies[static_cast<std::size_t>(visual.body)];
    owner["visuals"].push_back(list.add(visual));
  }
  (*scene)["meshes"] = list.takeMeshes();
}

/// Those without an axis are not shown.
bool isShown(std::string_view jointType) {
  return jointType != jointTypeName(JointType::Free) && jointType != jointTypeName(JointType::Ball);
}

Json jointJson(const std::string& name, const std::string& type, int body, const Vec3& position,
               const Vec3& axis) {
  return {{"name", name},
          {"type", type},
          {"body", body},
          {"position", vecJson(position)},
          {"axis", vecJson(axis)}};
}

/// A surface, with its vertices numbered anew: those inside are not shown.
Json softJson(std::string_view name, std::span<const Triangle> surface) {
  const std::vector<int> shown = surfaceVertices(surface);
  std::vector<std::uint32_t> faces;
  for (const Triangle& triangle : surface)
    for (const int corner : triangle)
      faces.push_back(static_cast<std::uint32_t>(
          std::lower_bound(shown.begin(), shown.end(), corner) - shown.begin()));
  return {{"name", std::string(name)}, {"count", shown.size()}, {"faces", packed(faces)}};
}

}  // namespace

std::vector<int> surfaceVertices(std::span<const Triangle> surface) {
  std::vector<int> vertices;
  for (const Triangle& triangle : surface)
    vertices.insert(vertices.end(), triangle.begin(), triangle.end());
  std::sort(vertices.begin(), vertices.end());
  vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
  return vertices;
}

Json viewScene(const Model& model, std::span<const VisualShape> visuals, const std::string& title) {
  Json scene = {{"title", title},
                {"solver", solverTypeName(model.options().solver)},
                {"bodies", Json::array()},
                {"joints", Json::array()},
                {"softs", Json::array()}};
  for (int i = 0; i < model.numBodies(); ++i)
    scene["bodies"].push_back({{"name", std::string(model.bodyName(i))},
                               {"type", bodyTypeName(model.bodyType(i))},
                               {"parent", model.parentOf(i)}});
  addShapes(&scene, recordedShapes(model), recordedVisuals(model, visuals));
  for (int i = 0; i < model.numJoints(); ++i) {
    const Joint& joint = model.joint(i);
    if (isShown(jointTypeName(joint.type)))
      scene["joints"].push_back(jointJson(joint.name, jointTypeName(joint.type),
                                          model.bodyOfJoint(i), joint.position, joint.axis));
  }
  for (int i = 0; i < model.numSoftBodies(); ++i)
    scene["softs"].push_back(softJson(model.softBodyName(i), model.softMesh(i).surface()));
  return scene;
}

Json viewScene(const RecordingReader& recording, const std::string& title) {
  Json scene = {{"title", title},
                {"bodies", Json::array()},
                {"joints", Json::array()},
                {"softs", Json::array()}};
  for (int i = 0; i < recording.numBodies(); ++i)
    scene["bodies"].push_back({{"name", recording.bodyName(i)},
                               {"type", bodyTypeName(recording.bodyType(i))},
                               {"parent", recording.parentOf(i)}});
  addShapes(&scene, recording.shapes(), recording.visuals());
  for (const RecordedJoint& joint : recording.joints())
    if (isShown(joint.type))
      scene["joints"].push_back(
          jointJson(joint.name, joint.type, joint.body, joint.position, joint.axis));
  for (const RecordedSoftBody& soft : recording.softBodies())
    scene["softs"].push_back(softJson(soft.name, soft.surface));
  return scene;
}

}  // namespace tangere::cli
