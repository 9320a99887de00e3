// SPDX-License-Identifier: Apache-2.0
#include "view_scene.hpp"

#include "view_stream.hpp"

#include <algorithm>

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

Json verticesJson(std::span<const Vec3> vertices) {
  Json list = Json::array();
  for (const Vec3& v : vertices) list.push_back(vecJson(v));
  return list;
}

void addHull(Json& json, const Convex& hull) {
  json["v"] = verticesJson(hull.vertices());
  Json faces = Json::array();
  for (int f = 0; f < hull.numFaces(); ++f) {
    const std::span<const int> face = hull.face(f);
    for (std::size_t k = 2; k < face.size(); ++k)
      faces.push_back(Json::array({face[0], face[k - 1], face[k]}));
  }
  json["f"] = faces;
}

void addMesh(Json& json, const Mesh& mesh) {
  json["v"] = verticesJson(mesh.vertices());
  Json faces = Json::array();
  for (const Triangle& t : mesh.triangles()) faces.push_back(Json::array({t[0], t[1], t[2]}));
  json["f"] = faces;
}

void addTerrain(Json& json, const HeightField& field) {
  const int numX = field.numX(), numY = field.numY();
  Json vertices = Json::array(), faces = Json::array();
  for (int j = 0; j < numY; ++j)
    for (int i = 0; i < numX; ++i) {
      vertices.push_back(vecJson({field.sizeX() * (static_cast<Real>(i) / (numX - 1) - 0.5),
                                  field.sizeY() * (static_cast<Real>(j) / (numY - 1) - 0.5),
                                  field.heights()[static_cast<std::size_t>(j) * numX + i]}));
      if (i + 1 == numX || j + 1 == numY) continue;
      const int corner = j * numX + i;
      faces.push_back(Json::array({corner, corner + 1, corner + numX + 1}));
      faces.push_back(Json::array({corner, corner + numX + 1, corner + numX}));
    }
  json["v"] = vertices;
  json["f"] = faces;
}

Json shapeJson(const Shape& shape) {
  Json json = {{"type", std::string(shapeTypeName(shape.type()))}};
  switch (shape.type()) {
    case ShapeType::Sphere:
      json["size"] = Json::array({static_cast<const Sphere&>(shape).radius()});
      break;
    case ShapeType::Box:
      json["size"] = vecJson(static_cast<const Box&>(shape).halfExtents());
      break;
    case ShapeType::Capsule:
      json["size"] = Json::array({static_cast<const Capsule&>(shape).radius(),
                                  static_cast<const Capsule&>(shape).halfLength()});
      break;
    case ShapeType::Cylinder:
      json["size"] = Json::array({static_cast<const Cylinder&>(shape).radius(),
                                  static_cast<const Cylinder&>(shape).halfLength()});
      break;
    case ShapeType::Cone:
      json["size"] = Json::array(
          {static_cast<const Cone&>(shape).radius(), static_cast<const Cone&>(shape).halfHeight()});
      break;
    case ShapeType::Ellipsoid:
      json["size"] = vecJson(static_cast<const Ellipsoid&>(shape).semiAxes());
      break;
    case ShapeType::Convex:
      addHull(json, static_cast<const Convex&>(shape));
      break;
    case ShapeType::Mesh:
      addMesh(json, static_cast<const Mesh&>(shape));
      break;
    case ShapeType::HeightField:
      addTerrain(json, static_cast<const HeightField&>(shape));
      break;
    case ShapeType::Compound: {
      Json parts = Json::array();
      for (const Compound::Child& child : static_cast<const Compound&>(shape).children())
        parts.push_back({{"pose", poseJson(child.pose)}, {"shape", shapeJson(*child.shape)}});
      json["parts"] = parts;
      break;
    }
    case ShapeType::Plane:
    case ShapeType::PointCloud:
      break;  // the viewer draws planes as a floor and no points
  }
  return json;
}

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

Json bodiesJson(const Model& model) {
  Json bodies = Json::array();
  for (int i = 0; i < model.numBodies(); ++i)
    bodies.push_back({{"name", std::string(model.bodyName(i))},
                      {"type", bodyTypeName(model.bodyType(i))},
                      {"parent", model.parentOf(i)},
                      {"shapes", Json::array()}});
  for (int i = 0; i < model.numShapes(); ++i)
    bodies[static_cast<std::size_t>(model.bodyOfShape(i))]["shapes"].push_back(
        {{"pose", poseJson(model.shapePose(i))}, {"shape", shapeJson(*model.shape(i))}});
  return bodies;
}

Json jointsJson(const Model& model) {
  Json joints = Json::array();
  for (int i = 0; i < model.numJoints(); ++i) {
    const Joint& joint = model.joint(i);
    if (joint.type == JointType::Free || joint.type == JointType::Ball) continue;  // no axis
    joints.push_back({{"name", joint.name},
                      {"body", model.bodyOfJoint(i)},
                      {"type", jointTypeName(joint.type)},
                      {"position", vecJson(joint.position)},
                      {"axis", vecJson(joint.axis)}});
  }
  return joints;
}

/// A surface, with its vertices numbered anew: those inside are not shown.
Json softJson(std::string_view name, std::span<const int> shown,
              std::span<const Triangle> surface) {
  Json faces = Json::array();
  for (const Triangle& triangle : surface)
    for (const int corner : triangle)
      faces.push_back(std::lower_bound(shown.begin(), shown.end(), corner) - shown.begin());
  return {{"name", std::string(name)}, {"count", shown.size()}, {"faces", std::move(faces)}};
}

Json softsJson(const Model& model) {
  Json softs = Json::array();
  for (int i = 0; i < model.numSoftBodies(); ++i) {
    const std::span<const Triangle> surface = model.softMesh(i).surface();
    softs.push_back(softJson(model.softBodyName(i), surfaceVertices(surface), surface));
  }
  return softs;
}

Json recordedShapeJson(const RecordedShape& shape) {
  Json json = {{"type", shape.type}, {"size", vecJson(shape.size)}};
  if (!shape.triangles.empty()) {
    json["v"] = verticesJson(shape.vertices);
    Json faces = Json::array();
    for (const Triangle& t : shape.triangles) faces.push_back(Json::array({t[0], t[1], t[2]}));
    json["f"] = faces;
  }
  return {{"pose", poseJson(shape.pose)}, {"shape", json}};
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

Json viewScene(const Model& model, const std::string& title) {
  return {{"title", title},
          {"solver", solverTypeName(model.options().solver)},
          {"bodies", bodiesJson(model)},
          {"joints", jointsJson(model)},
          {"softs", softsJson(model)}};
}

Json viewScene(const RecordingReader& recording, const std::string& title) {
  Json bodies = Json::array(), softs = Json::array();
  for (int i = 0; i < recording.numBodies(); ++i)
    bodies.push_back({{"name", recording.bodyName(i)},
                      {"type", bodyTypeName(recording.bodyType(i))},
                      {"shapes", Json::array()}});
  for (const RecordedShape& shape : recording.shapes())
    bodies[static_cast<std::size_t>(shape.body)]["shapes"].push_back(recordedShapeJson(shape));
  for (const RecordedSoftBody& soft : recording.softBodies())
    softs.push_back(softJson(soft.name, surfaceVertices(soft.surface), soft.surface));
  return {{"title", title}, {"bodies", bodies}, {"softs", softs}};
}

}  // namespace tangere::cli
