// SPDX-License-Identifier: Apache-2.0
#include "io/foxglove_scene.hpp"

#include <tangere/error.hpp>

#include "math/quat.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tangere::io {

namespace {

constexpr std::int64_t kFramesLookedAt = 32;
constexpr int kLineList = 2;

struct Color {
  float r = 0, g = 0, b = 0, a = 1;
};
constexpr Color kFixed{0.55f, 0.56f, 0.58f, 1};
constexpr std::array<Color, 6> kBodies{{{0.30f, 0.47f, 0.66f, 1},
                                        {0.95f, 0.56f, 0.17f, 1},
                                        {0.35f, 0.63f, 0.31f, 1},
                                        {0.46f, 0.72f, 0.70f, 1},
                                        {0.93f, 0.79f, 0.28f, 1},
                                        {0.69f, 0.48f, 0.63f, 1}}};
// As in the viewer: normals blue, forces in a colour of their own.
constexpr Color kPoint{0.9f, 0.1f, 0.1f, 1}, kNormal{0.1f, 0.2f, 0.9f, 1},
    kForce{0.95f, 0.45f, 0.05f, 1};

void addColor(JsonText& json, const Color& color) {
  json.beginObject().member("r", color.r).member("g", color.g).member("b", color.b);
  json.member("a", color.a).endObject();
}

/// With the digits of S.
template <class S>
void addVector(JsonText& json, const Vec3& v) {
  json.beginObject().member("x", static_cast<S>(v.x)).member("y", static_cast<S>(v.y));
  json.member("z", static_cast<S>(v.z)).endObject();
}
template <class S>
void addQuaternion(JsonText& json, const Quat& q) {
  json.beginObject().member("x", static_cast<S>(q.x)).member("y", static_cast<S>(q.y));
  json.member("z", static_cast<S>(q.z)).member("w", static_cast<S>(q.w)).endObject();
}
void addPose(JsonText& json, const Vec3& position, const Quat& orientation) {
  json.key("pose").beginObject().key("position");
  addVector<float>(json, position);
  json.key("orientation");
  addQuaternion<float>(json, orientation);
  json.endObject();
}
constexpr Quat kUpright{1, 0, 0, 0};

void addTime(JsonText& json, const char* name, std::uint64_t time_ns) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  json.key(name).beginObject().member("sec", time_ns / kSecond);
  json.member("nsec", time_ns % kSecond).endObject();
}

/// The primitives of one entity, each list as JSON.
struct Primitives {
  JsonText arrows{}, cubes{}, spheres{}, cylinders{}, lines{}, triangles{};
};

void addEntity(JsonText& json, std::uint64_t time_ns, const std::string& frame,
               const std::string& id, const Primitives& primitives) {
  json.beginObject();
  addTime(json, "timestamp", time_ns);
  json.member("frame_id", frame).member("id", id);
  addTime(json, "lifetime", 0);  // until another of this name replaces it
  json.member("frame_locked", true).key("metadata").beginArray().endArray();
  const auto addList = [&](const char* name, const std::string& list) {
    json.key(name).beginArray();
    if (!list.empty()) json.raw(list);
    json.endArray();
  };
  addList("arrows", primitives.arrows.text());
  addList("cubes", primitives.cubes.text());
  addList("spheres", primitives.spheres.text());
  addList("cylinders", primitives.cylinders.text());
  addList("lines", primitives.lines.text());
  addList("triangles", primitives.triangles.text());
  addList("texts", "");
  addList("models", "");
  json.endObject();
}

void beginUpdate(JsonText& json) {
  json.beginObject().key("deletions").beginArray().endArray().key("entities").beginArray();
}
void endUpdate(JsonText& json) { json.endArray().endObject(); }

void addSolid(JsonText& list, const Transform& pose, const Vec3& size, const Color& color) {
  list.beginObject();
  addPose(list, pose.translation, math::quatFromRotation(pose.rotation));
  list.key("size");
  addVector<float>(list, size);
  list.key("color");
  addColor(list, color);
  list.endObject();
}

void addCylinder(JsonText& list, const Transform& pose, Real radius, Real halfHeight, Real topScale,
                 const Color& color) {
  list.beginObject();
  addPose(list, pose.translation, math::quatFromRotation(pose.rotation));
  list.key("size");
  addVector<float>(list, {2 * radius, 2 * radius, 2 * halfHeight});
  list.member("bottom_scale", 1).member("top_scale", topScale).key("color");
  addColor(list, color);
  list.endObject();
}

void addTriangles(JsonText& list, const Transform& pose, std::span<const Vec3> vertices,
                  std::span<const Triangle> triangles, const Color& color) {
  list.beginObject();
  addPose(list, pose.translation, math::quatFromRotation(pose.rotation));
  list.key("points").beginArray();
  for (const Vec3& vertex : vertices) addVector<float>(list, vertex);
  list.endArray().key("color");
  addColor(list, color);
  list.key("colors").beginArray().endArray().key("indices").beginArray();
  for (const Triangle& triangle : triangles)
    for (const auto corner : triangle) list.value(corner);
  list.endArray().endObject();
}

struct DrawnSizes {
  Real plane, typical;
};

void addShape(const RecordedShape& shape, const Color& color, const DrawnSizes& sizes,
              Primitives& lists) {
  const Vec3& size = shape.size;
  const auto moved = [&](const Vec3& by) {
    return Transform{shape.pose.rotation, shape.pose.translation + shape.pose.rotation * by};
  };
  const auto addBall = [&](const Vec3& at, Real radius) {
    addSolid(lists.spheres, moved(at), Vec3{2, 2, 2} * radius, color);
  };
  if (shape.type == "sphere") {
    addBall({}, size.x);
  } else if (shape.type == "ellipsoid") {
    addSolid(lists.spheres, shape.pose, size * 2, color);
  } else if (shape.type == "box") {
    addSolid(lists.cubes, shape.pose, size * 2, color);
  } else if (shape.type == "cylinder") {
    addCylinder(lists.cylinders, shape.pose, size.x, size.y, 1, color);
  } else if (shape.type == "cone") {
    addCylinder(lists.cylinders, shape.pose, size.x, size.y, 0, color);
  } else if (shape.type == "capsule") {
    addCylinder(lists.cylinders, shape.pose, size.x, size.y, 1, color);
    addBall({0, 0, size.y}, size.x);
    addBall({0, 0, -size.y}, size.x);
  } else if (shape.type == "plane") {  // a slab whose top is the surface
    const Real thickness = sizes.plane / 500;
    addSolid(lists.cubes, moved({0, 0, -thickness / 2}),
             {2 * sizes.plane, 2 * sizes.plane, thickness}, color);
  } else if (!shape.triangles.empty()) {
    addTriangles(lists.triangles, shape.pose, shape.vertices, shape.triangles, color);
  } else {  // a point cloud
    for (const Vec3& point : shape.vertices)
      addBall(point, size.x > 0 ? size.x : sizes.typical / 50);
  }
}

/// From +x to `direction`, which is a unit vector.
Quat turnFromX(const Vec3& direction) {
  if (direction.x < -0.999999) return {0, 0, 0, 1};  // half a turn about z
  const Quat q{1 + direction.x, 0, -direction.z, direction.y};
  const Real scale = 1 / std::sqrt(q.w * q.w + q.y * q.y + q.z * q.z);
  return {q.w * scale, 0, q.y * scale, q.z * scale};
}

/// Blue, green, yellow, red.
Color pressureColor(Real part) {
  const auto x = static_cast<float>(std::clamp(part, 0.0, 1.0));
  return {std::clamp(2 * x - 0.5f, 0.0f, 1.0f),
          std::clamp(1.5f - std::fabs(3 * x - 1.5f), 0.0f, 1.0f),
          std::clamp(1 - 2.5f * x, 0.0f, 1.0f), 0.9f};
}

/// Largest distance from the frame of the shape that is drawn.
Real reachOf(const RecordedShape& shape) {
  Real reach = std::max({shape.size.x, shape.size.y, shape.size.z});
  for (const Vec3& vertex : shape.vertices) reach = std::max(reach, norm(vertex));
  return reach;
}

}  // namespace

std::uint64_t nanoseconds(Real time_s) {
  constexpr Real kMost_s = 1.8e10;
  if (!(time_s >= 0 && time_s <= kMost_s))
    throw InvalidInput("a time that a message cannot have: " + std::to_string(time_s) + " s");
  return static_cast<std::uint64_t>(std::floor(time_s * 1e9 + 0.5));
}

FoxgloveScene::FoxgloveScene(RecordingReader& recording) : recording_(recording) {
  nameFrames();
  findScales();
}

/// Frames are trees of names: no body may have the name of the root, or none.
void FoxgloveScene::nameFrames() {
  for (int i = 0; i < recording_.numBodies(); ++i) {
    const std::string& name = recording_.bodyName(i);
    frames_.push_back(name.empty() ? "body " + std::to_string(i) : name);
    (recording_.bodyType(i) == BodyType::Fixed ? has_fixed_ : has_moving_) = true;
  }
  while (std::find(frames_.begin(), frames_.end(), world_) != frames_.end()) world_ += "_frame";
}

void FoxgloveScene::findScales() {
  Real sum = 0, count = 0;
  for (const RecordedShape& shape : recording_.shapes()) {
    if (recording_.bodyType(shape.body) == BodyType::Fixed) continue;
    sum += reachOf(shape);
    ++count;
  }
  typical_size_ = sum > 0 ? sum / count : 0.1;
  Real farthest = typical_size_, forces = 0, pressing = 0;
  const std::int64_t stride = std::max<std::int64_t>(recording_.numFrames() / kFramesLookedAt, 1);
  for (std::int64_t i = 0; i < recording_.numFrames(); i += stride) {
    const RecordedFrame& frame = recording_.frame(i);
    for (std::size_t k = 0; k < frame.bodies.size(); ++k)
      farthest = std::max(farthest, norm(frame.bodies[k].pose.translation));
    for (const Vec3& vertex : frame.softVertices) farthest = std::max(farthest, norm(vertex));
    for (const ContactForce& contact : frame.contacts) {
      forces += norm(contact.force);
      if (norm(contact.force) > 0) ++pressing;
    }
    for (const PressurePolygon& polygon : frame.polygons)
      for (std::size_t k = 0; k < static_cast<std::size_t>(polygon.numVertices); ++k)
        max_pressure_ = std::max(max_pressure_, polygon.pressures[k]);
  }
  plane_size_ = std::min(2 * (farthest + typical_size_), 1000 * typical_size_);
  // A contact of mean force has an arrow as long as a typical shape.
  metres_per_newton_ = forces > 0 ? typical_size_ * pressing / forces : 1;
}

void FoxgloveScene::addShapes(Real time_s, JsonText& json) const {
  std::vector<std::vector<const RecordedShape*>> ofBody(
      static_cast<std::size_t>(recording_.numBodies()));
  for (const RecordedShape& shape : recording_.shapes())
    ofBody[static_cast<std::size_t>(shape.body)].push_back(&shape);
  beginUpdate(json);
  for (int body = 0; body < recording_.numBodies(); ++body) {
    Primitives lists;
    const bool isFixed = recording_.bodyType(body) == BodyType::Fixed;
    const Color color = isFixed ? kFixed : kBodies[static_cast<std::size_t>(body) % kBodies.size()];
    for (const RecordedShape* shape : ofBody[static_cast<std::size_t>(body)])
      addShape(*shape, color, {.plane = plane_size_, .typical = typical_size_}, lists);
    addEntity(json, nanoseconds(time_s), frameName(body), frameName(body), lists);
  }
  endUpdate(json);
}

void FoxgloveScene::addTransforms(const RecordedFrame& frame, bool ofFixed, JsonText& json) const {
  json.beginObject().key("transforms").beginArray();
  for (std::size_t i = 0; i < frame.bodies.size(); ++i) {
    const int body = static_cast<int>(i);
    if ((recording_.bodyType(body) == BodyType::Fixed) != ofFixed) continue;
    json.beginObject();
    addTime(json, "timestamp", nanoseconds(frame.time));
    json.member("parent_frame_id", world_).member("child_frame_id", frameName(body));
    json.key("translation");
    addVector<Real>(json, frame.bodies[i].pose.translation);
    json.key("rotation");
    addQuaternion<Real>(json, frame.bodies[i].orientation);
    json.endObject();
  }
  json.endArray().endObject();
}

void FoxgloveScene::addContacts(const RecordedFrame& frame, JsonText& json) const {
  Primitives lists;
  const Real pointSize = typical_size_ / 12, normalLength = typical_size_ / 4;
  if (!frame.contacts.empty()) {
    JsonText& lines = lists.lines;
    lines.beginObject().member("type", kLineList);
    addPose(lines, {}, kUpright);
    lines.member("thickness", 2).member("scale_invariant", true).key("points").beginArray();
    for (const ContactForce& contact : frame.contacts) {
      addVector<float>(lines, contact.position);
      addVector<float>(lines, contact.position + contact.normal * normalLength);
    }
    lines.endArray().key("color");
    addColor(lines, kNormal);
    lines.key("colors").beginArray().endArray().key("indices").beginArray().endArray().endObject();
  }
  for (const ContactForce& contact : frame.contacts) {
    addSolid(lists.spheres, {Mat3::identity(), contact.position}, Vec3{1, 1, 1} * pointSize,
             kPoint);
    const Real force = norm(contact.force);
    if (!(force > 0)) continue;
    // An impact a thousand times as hard as the rest must not hide the scene behind its arrow.
    const Real length = std::min(force * metres_per_newton_, 10 * typical_size_);
    lists.arrows.beginObject();
    addPose(lists.arrows, contact.position, turnFromX(contact.force / force));
    lists.arrows.member("shaft_length", static_cast<float>(0.75 * length))
        .member("shaft_diameter", static_cast<float>(pointSize / 3))
        .member("head_length", static_cast<float>(0.25 * length))
        .member("head_diameter", static_cast<float>(pointSize * 0.8))
        .key("color");
    addColor(lists.arrows, kForce);
    lists.arrows.endObject();
  }
  if (!frame.polygons.empty()) addPatches(frame, lists.triangles);
  beginUpdate(json);
  addEntity(json, nanoseconds(frame.time), world_, "contacts", lists);
  endUpdate(json);
}

/// Polygons as fans, coloured by the pressure at their vertices.
void FoxgloveScene::addPatches(const RecordedFrame& frame, JsonText& json) const {
  json.beginObject();
  addPose(json, {}, kUpright);
  const auto forEachVertex = [&](auto&& visit) {
    for (const PressurePolygon& polygon : frame.polygons)
      for (std::size_t k = 0; k < static_cast<std::size_t>(polygon.numVertices); ++k)
        visit(polygon, k);
  };
  json.key("points").beginArray();
  forEachVertex([&](const PressurePolygon& polygon, std::size_t k) {
    addVector<float>(json, polygon.vertices[k]);
  });
  json.endArray().key("color");
  addColor(json, pressureColor(0));
  json.key("colors").beginArray();
  forEachVertex([&](const PressurePolygon& polygon, std::size_t k) {
    addColor(json, pressureColor(max_pressure_ > 0 ? polygon.pressures[k] / max_pressure_ : 0));
  });
  json.endArray().key("indices").beginArray();
  int first = 0;
  for (const PressurePolygon& polygon : frame.polygons) {
    for (int k = 2; k < polygon.numVertices; ++k)
      json.value(first).value(first + k - 1).value(first + k);
    first += polygon.numVertices;
  }
  json.endArray().endObject();
}

void FoxgloveScene::addSoftBodies(const RecordedFrame& frame, JsonText& json) const {
  beginUpdate(json);
  const std::span<const RecordedSoftBody> softs = recording_.softBodies();
  for (std::size_t i = 0; i < softs.size(); ++i) {
    // Vertices inside are not drawn, so they are not written.
    const RecordedSoftBody& soft = softs[i];
    std::vector<int> numberOf(static_cast<std::size_t>(soft.numVertices), -1);
    std::vector<Vec3> vertices;
    std::vector<Triangle> triangles = soft.surface;
    for (Triangle& triangle : triangles)
      for (auto& corner : triangle) {
        int& number = numberOf[static_cast<std::size_t>(corner)];
        if (number < 0) {
          number = static_cast<int>(vertices.size());
          vertices.push_back(
              frame.softVertices[static_cast<std::size_t>(soft.firstVertex + corner)]);
        }
        corner = number;
      }
    Primitives lists;
    addTriangles(lists.triangles, {}, vertices, triangles,
                 kBodies[(i + frames_.size()) % kBodies.size()]);
    addEntity(json, nanoseconds(frame.time), world_, soft.name, lists);
  }
  endUpdate(json);
}

}  // namespace tangere::io
