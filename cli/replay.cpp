// SPDX-License-Identifier: Apache-2.0
#include "replay.hpp"

#include "console.hpp"
#include "replay_page_template.hpp"

#include <bit>
#include <cstring>

namespace tangere::cli {

namespace {

constexpr Real kFramesPerSecond = 60;
constexpr std::size_t kMaxFloats = std::size_t{12} << 20;  // 64 MB of base64

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
      break;  // the page draws planes as a floor and no points
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
                      {"shapes", Json::array()}});
  for (int i = 0; i < model.numShapes(); ++i)
    bodies[static_cast<std::size_t>(model.bodyOfShape(i))]["shapes"].push_back(
        {{"pose", poseJson(model.shapePose(i))}, {"shape", shapeJson(*model.shape(i))}});
  return bodies;
}

/// The surfaces of soft bodies, with their vertices numbered anew: those inside are not shown.
Json softsJson(const Model& model, std::span<const std::vector<int>> surfaceVertices) {
  Json softs = Json::array();
  for (int i = 0; i < model.numSoftBodies(); ++i) {
    const std::vector<int>& shown = surfaceVertices[static_cast<std::size_t>(i)];
    std::vector<int> number(model.softMesh(i).vertices().size(), -1);
    for (std::size_t k = 0; k < shown.size(); ++k)
      number[static_cast<std::size_t>(shown[k])] = static_cast<int>(k);
    Json faces = Json::array();
    for (const Triangle& t : model.softMesh(i).surface())
      for (const int corner : t) faces.push_back(number[static_cast<std::size_t>(corner)]);
    softs.push_back({{"name", std::string(model.softBodyName(i))},
                     {"count", shown.size()},
                     {"faces", std::move(faces)}});
  }
  return softs;
}

/// Bytes as base64; the page reads numbers as they lie in memory here, little-endian.
static_assert(std::endian::native == std::endian::little);
class Base64 {
 public:
  template <class T>
  void add(std::span<const T> values) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
    for (std::size_t i = 0; i < values.size_bytes(); ++i) addByte(bytes[i]);
  }
  template <class T>
  void add(T value) {
    add(std::span<const T>(&value, 1));
  }
  [[nodiscard]] std::string take() {
    if (count_ > 0) {
      const int missing = 3 - count_;
      for (int i = 0; i < missing; ++i) addByte(0);
      text_.replace(text_.size() - static_cast<std::size_t>(missing),
                    static_cast<std::size_t>(missing), static_cast<std::size_t>(missing), '=');
    }
    return std::move(text_);
  }

 private:
  void addByte(unsigned char byte) {
    constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    bits_ = (bits_ << 8 | byte) & 0xffffffu;
    if (++count_ < 3) return;
    for (const int shift : {18, 12, 6, 0}) text_ += kDigits[bits_ >> shift & 63u];
    count_ = 0;
  }

  std::string text_;
  std::uint32_t bits_ = 0;
  int count_ = 0;
};

float toFloat(Real value) { return static_cast<float>(value); }

}  // namespace

Replay::Replay(const Model& model) : model_(model), interval_s_(1 / kFramesPerSecond) {
  for (int i = 0; i < model.numSoftBodies(); ++i) {
    const std::span<const std::uint8_t> isOnSurface = model.softMesh(i).isOnSurface();
    std::vector<int>& shown = surface_vertices_.emplace_back();
    for (std::size_t k = 0; k < isOnSurface.size(); ++k)
      if (isOnSurface[k] != 0) shown.push_back(static_cast<int>(k));
  }
}

void Replay::add(const Simulator& simulator, std::span<const BodyState> bodies) {
  const Real time = simulator.state().time;
  if (!isDue(time)) return;
  Frame frame{.time = time, .poses = {}, .contacts = {}, .softs = {}, .polygons = {}};
  for (const BodyState& body : bodies) {
    const Vec3& p = body.pose.translation;
    const Quat& q = body.orientation;
    for (const Real value : {p.x, p.y, p.z, q.w, q.x, q.y, q.z})
      frame.poses.push_back(toFloat(value));
  }
  for (const ContactForce& contact : simulator.contacts()) {
    const Vec3 &p = contact.position, &f = contact.force;
    for (const Real value : {p.x, p.y, p.z, f.x, f.y, f.z, contact.depth})
      frame.contacts.push_back(toFloat(value));
    frame.contacts.push_back(static_cast<float>(contact.body1));
    frame.contacts.push_back(static_cast<float>(contact.body2));
  }
  for (std::size_t i = 0; i < surface_vertices_.size(); ++i) {
    const std::span<const Vec3> x = simulator.softPositions(static_cast<int>(i));
    for (const int vertex : surface_vertices_[i])
      for (int k = 0; k < 3; ++k)
        frame.softs.push_back(toFloat(x[static_cast<std::size_t>(vertex)][k]));
  }
  for (const PressurePolygon& polygon : simulator.pressureContacts()) {
    frame.polygons.push_back(static_cast<float>(polygon.numVertices));
    frame.polygons.push_back(toFloat(dot(polygon.force, polygon.normal) / polygon.area));
    for (int i = 0; i < polygon.numVertices; ++i)
      for (int k = 0; k < 3; ++k)
        frame.polygons.push_back(toFloat(polygon.vertices[static_cast<std::size_t>(i)][k]));
  }
  num_floats_ += frame.numFloats();
  frames_.push_back(std::move(frame));
  // Not time + interval: the steps of a run do not fall on sixtieths, and lateness would add up.
  next_time_ = frames_.size() == 1 ? time + interval_s_ : next_time_ + interval_s_;
  while (num_floats_ > kMaxFloats && frames_.size() > 2) dropEverySecond();
}

void Replay::dropEverySecond() {
  std::vector<Frame> kept;
  num_floats_ = 0;
  for (std::size_t i = 0; i < frames_.size(); i += 2) {
    num_floats_ += frames_[i].numFloats();
    kept.push_back(std::move(frames_[i]));
  }
  frames_ = std::move(kept);
  interval_s_ *= 2;
  next_time_ = frames_.back().time + interval_s_;
}

std::string Replay::page(const std::string& title) const {
  Base64 times, poses, offsets, contacts, softs, polygonOffsets, polygons;
  std::uint32_t numContacts = 0, numPolygonFloats = 0;
  offsets.add(numContacts);
  polygonOffsets.add(numPolygonFloats);
  for (const Frame& frame : frames_) {
    times.add(frame.time);
    poses.add(std::span<const float>(frame.poses));
    contacts.add(std::span<const float>(frame.contacts));
    numContacts += static_cast<std::uint32_t>(frame.contacts.size() / 9);
    offsets.add(numContacts);
    softs.add(std::span<const float>(frame.softs));
    polygons.add(std::span<const float>(frame.polygons));
    numPolygonFloats += static_cast<std::uint32_t>(frame.polygons.size());
    polygonOffsets.add(numPolygonFloats);
  }
  const Json document = {{"title", title},
                         {"bodies", bodiesJson(model_)},
                         {"times", times.take()},
                         {"poses", poses.take()},
                         {"offsets", offsets.take()},
                         {"contacts", contacts.take()},
                         {"softs", softsJson(model_, surface_vertices_)},
                         {"soft_vertices", softs.take()},
                         {"polygon_offsets", polygonOffsets.take()},
                         {"polygons", polygons.take()}};
  std::string json = document.dump(-1, ' ', false, Json::error_handler_t::replace);
  // A name in the scene must not end the script it is in.
  for (std::size_t at = json.find('<'); at != std::string::npos; at = json.find('<', at))
    json.replace(at, 1, "\\u003c");
  std::string page = kReplayPageTemplate;
  const std::string mark = "/*SCENE*/null";
  return page.replace(page.find(mark), mark.size(), json);
}

}  // namespace tangere::cli
