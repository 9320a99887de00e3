// SPDX-License-Identifier: Apache-2.0
#include "scene_page.hpp"

#include "scene_page_template.hpp"

#include <cstdio>

namespace tangere::demo {

namespace {

/// Appends JSON; six digits are enough to look at.
class JsonText {
 public:
  JsonText& raw(std::string_view text) {
    text_ += text;
    return *this;
  }
  JsonText& number(Real value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.6g", value);
    text_ += digits;
    return *this;
  }
  JsonText& vec(const Vec3& v) {
    return raw("[").number(v.x).raw(",").number(v.y).raw(",").number(v.z).raw("]");
  }
  /// Column-major 3x4: three columns of the rotation, then the translation.
  JsonText& pose(const Transform& X) {
    raw("[");
    for (const Vec3& column : X.rotation.col)
      number(column.x).raw(",").number(column.y).raw(",").number(column.z).raw(",");
    const Vec3& t = X.translation;
    return number(t.x).raw(",").number(t.y).raw(",").number(t.z).raw("]");
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

void writeTriangles(JsonText& json, std::span<const Vec3> vertices,
                    const std::vector<Triangle>& triangles) {
  json.raw(",\"v\":[");
  for (std::size_t i = 0; i < vertices.size(); ++i) json.raw(i > 0 ? "," : "").vec(vertices[i]);
  json.raw("],\"f\":[");
  for (std::size_t i = 0; i < triangles.size(); ++i) {
    json.raw(i > 0 ? ",[" : "[").number(triangles[i][0]).raw(",");
    json.number(triangles[i][1]).raw(",").number(triangles[i][2]).raw("]");
  }
  json.raw("]");
}

void writeHull(JsonText& json, const Convex& hull) {
  std::vector<Triangle> triangles;
  for (int f = 0; f < hull.numFaces(); ++f) {
    const auto face = hull.face(f);
    for (std::size_t k = 2; k < face.size(); ++k)
      triangles.push_back({face[0], face[k - 1], face[k]});
  }
  writeTriangles(json, hull.vertices(), triangles);
}

/// The surface of a terrain, sampled straight down with rays: the public API has no list of cells.
void writeTerrain(JsonText& json, const HeightField& field) {
  const Aabb& box = field.localAabb();
  std::vector<Vec3> vertices;
  std::vector<Triangle> triangles;
  const int numX = field.numX(), numY = field.numY();
  for (int j = 0; j < numY; ++j)
    for (int i = 0; i < numX; ++i) {
      const Real x = box.lower.x + (box.upper.x - box.lower.x) * i / (numX - 1);
      const Real y = box.lower.y + (box.upper.y - box.lower.y) * j / (numY - 1);
      // A hair inside the rim, so that the ray cannot pass beside the last cell.
      const Vec3 above{x * (1 - 1e-9), y * (1 - 1e-9), box.upper.z + 1};
      const auto hit = field.rayCast({above, {0, 0, -1}, 1e3});
      vertices.push_back({x, y, hit ? hit->position.z : box.lower.z});
      if (i + 1 < numX && j + 1 < numY) {
        const int a = j * numX + i;
        triangles.push_back({a, a + 1, a + numX + 1});
        triangles.push_back({a, a + numX + 1, a + numX});
      }
    }
  writeTriangles(json, vertices, triangles);
}

void writeShape(JsonText& json, const Shape& shape) {
  json.raw("{\"type\":\"").raw(shapeTypeName(shape.type())).raw("\"");
  const auto sizes = [&](std::initializer_list<Real> values) {
    json.raw(",\"size\":[");
    const char* separator = "";
    for (const Real value : values) {
      json.raw(separator).number(value);
      separator = ",";
    }
    json.raw("]");
  };
  switch (shape.type()) {
    case ShapeType::Sphere:
      sizes({static_cast<const Sphere&>(shape).radius()});
      break;
    case ShapeType::Box: {
      const Vec3& h = static_cast<const Box&>(shape).halfExtents();
      sizes({h.x, h.y, h.z});
      break;
    }
    case ShapeType::Capsule:
      sizes({static_cast<const Capsule&>(shape).radius(),
             static_cast<const Capsule&>(shape).halfLength()});
      break;
    case ShapeType::Cylinder:
      sizes({static_cast<const Cylinder&>(shape).radius(),
             static_cast<const Cylinder&>(shape).halfLength()});
      break;
    case ShapeType::Cone:
      sizes(
          {static_cast<const Cone&>(shape).radius(), static_cast<const Cone&>(shape).halfHeight()});
      break;
    case ShapeType::Ellipsoid: {
      const Vec3& a = static_cast<const Ellipsoid&>(shape).semiAxes();
      sizes({a.x, a.y, a.z});
      break;
    }
    case ShapeType::Convex:
      writeHull(json, static_cast<const Convex&>(shape));
      break;
    case ShapeType::Mesh: {
      const auto& mesh = static_cast<const Mesh&>(shape);
      writeTriangles(json, mesh.vertices(), {mesh.triangles().begin(), mesh.triangles().end()});
      break;
    }
    case ShapeType::HeightField:
      writeTerrain(json, static_cast<const HeightField&>(shape));
      break;
    case ShapeType::Compound: {
      json.raw(",\"parts\":[");
      const char* separator = "";
      for (const Compound::Child& child : static_cast<const Compound&>(shape).children()) {
        json.raw(separator).raw("{\"pose\":").pose(child.pose).raw(",\"shape\":");
        writeShape(json, *child.shape);
        json.raw("}");
        separator = ",";
      }
      json.raw("]");
      break;
    }
    case ShapeType::Plane:
    case ShapeType::PointCloud:
      break;  // the page draws bounded solids only
  }
  json.raw("}");
}

void writeBodies(JsonText& json, const BinScene& scene) {
  json.raw("\"bodies\":[");
  for (std::size_t i = 0; i < scene.bodies.size(); ++i) {
    const Body& body = scene.bodies[i];
    const CollisionObject& object = scene.group.object(body.id);
    json.raw(i > 0 ? ",{" : "{").raw("\"name\":\"").raw(body.name).raw("\",\"fixed\":");
    json.raw(body.isFixed ? "true" : "false").raw(",\"pose\":").pose(object.pose);
    json.raw(",\"shape\":");
    writeShape(json, *object.shape);
    json.raw("}");
  }
  json.raw("]");
}

const char* contactTypeName(ContactType type) {
  switch (type) {
    case ContactType::Point:
      return "point";
    case ContactType::Edge:
      return "edge";
    case ContactType::Face:
      return "face";
    case ContactType::Patch:
      return "patch";
    case ContactType::Unknown:
      return "unknown";
  }
  return "unknown";
}

void writeContacts(JsonText& json, const CollisionResult& contacts) {
  json.raw("\"contacts\":[");
  const char* separator = "";
  for (const ContactManifold& manifold : contacts.manifolds())
    for (const ContactPoint& contact : manifold.contacts()) {
      json.raw(separator).raw("{\"p\":").vec(contact.position).raw(",\"n\":").vec(contact.normal);
      json.raw(",\"d\":").number(contact.depth).raw(",\"a\":").number(manifold.object1);
      json.raw(",\"b\":").number(manifold.object2).raw(",\"t\":\"");
      json.raw(contactTypeName(manifold.type)).raw("\"}");
      separator = ",";
    }
  json.raw("]");
}

void writeRays(JsonText& json, const std::vector<RayMark>& rays) {
  json.raw("\"rays\":[");
  for (std::size_t i = 0; i < rays.size(); ++i) {
    json.raw(i > 0 ? ",{" : "{").raw("\"a\":").vec(rays[i].from).raw(",\"b\":").vec(rays[i].to);
    json.raw(rays[i].hit ? ",\"hit\":true}" : ",\"hit\":false}");
  }
  json.raw("]");
}

void writeCast(JsonText& json, const CastMark& cast) {
  json.raw("\"cast\":{\"shape\":");
  writeShape(json, *cast.shape);
  json.raw(",\"hit\":").raw(cast.hit ? "true" : "false").raw(",\"point\":").vec(cast.point);
  json.raw(",\"path\":[");
  for (std::size_t i = 0; i < cast.path.size(); ++i) json.raw(i > 0 ? "," : "").pose(cast.path[i]);
  json.raw("]}");
}

}  // namespace

std::string makeScenePage(const PageContent& content) {
  JsonText json;
  json.raw("{");
  writeBodies(json, *content.scene);
  json.raw(",");
  writeContacts(json, *content.contacts);
  json.raw(",");
  writeRays(json, content.rays);
  json.raw(",");
  writeCast(json, content.cast);
  json.raw("}");
  std::string page = kScenePageTemplate;
  const std::string mark = "/*SCENE*/null";
  const std::size_t at = page.find(mark);
  return page.replace(at, mark.size(), json.text());
}

}  // namespace tangere::demo
