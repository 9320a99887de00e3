// SPDX-License-Identifier: Apache-2.0
#include "view_stream.hpp"

#include "view_scene.hpp"
#include "viewer_page.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace tangere::cli {

namespace {

// Numbers go out as they lie in memory here.
static_assert(std::endian::native == std::endian::little);

constexpr std::uint32_t kVersion = 1;

/// Grows by numbers of any kind.
class ByteWriter {
 public:
  explicit ByteWriter(std::vector<std::byte>* out) : out_(*out), begin_(out->size()) {}

  template <class T>
  void add(T value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    out_.insert(out_.end(), bytes, bytes + sizeof(T));
  }
  void addFloat(Real value) { add(static_cast<float>(value)); }
  void addFloats(const Vec3& v) {
    addFloat(v.x);
    addFloat(v.y);
    addFloat(v.z);
  }
  void addCount(std::size_t count) { add(static_cast<std::uint32_t>(count)); }
  void padTo(std::size_t multiple) {
    while ((out_.size() - begin_) % multiple != 0) add(std::uint8_t{0});
  }
  /// Its length, at the place that begin() kept for it.
  void writeLength() {
    const auto length = static_cast<std::uint32_t>(out_.size() - begin_);
    std::memcpy(out_.data() + begin_, &length, sizeof length);
  }

 private:
  std::vector<std::byte>& out_;
  std::size_t begin_;
};

std::size_t numPolygonWords(std::span<const PressurePolygon> polygons) {
  std::size_t count = 0;
  for (const PressurePolygon& polygon : polygons)
    count += 2 + 3 * static_cast<std::size_t>(polygon.numVertices);
  return count;
}

void addEnergy(ByteWriter& bytes, const EnergyLedger& energy) {
  for (const Real row :
       {energy.kinetic, energy.potential, energy.external, energy.damping, energy.contactNormal,
        energy.contactFriction, energy.kinematic, energy.constraint, energy.correction,
        energy.integration, energy.gyroscopic, energy.residual})
    bytes.add(row);
}

void addBodies(ByteWriter& bytes, std::span<const BodyState> bodies,
               std::span<const std::uint8_t> isAsleep) {
  for (const BodyState& body : bodies) {
    bytes.addFloats(body.pose.translation);
    const Quat& q = body.orientation;
    for (const Real value : {q.w, q.x, q.y, q.z}) bytes.addFloat(value);
  }
  for (std::size_t i = 0; i < bodies.size(); ++i)
    bytes.add(i < isAsleep.size() ? isAsleep[i] : std::uint8_t{0});
  bytes.padTo(4);
}

void addContacts(ByteWriter& bytes, std::span<const ContactForce> contacts) {
  for (const ContactForce& contact : contacts) {
    bytes.addFloats(contact.position);
    bytes.addFloats(contact.force);
    bytes.addFloats(contact.normal);
    bytes.addFloat(contact.depth);
  }
  for (const ContactForce& contact : contacts) {
    bytes.add(static_cast<std::int32_t>(contact.body1));
    bytes.add(static_cast<std::int32_t>(contact.body2));
    bytes.add(contact.id);
  }
}

void addPolygons(ByteWriter& bytes, std::span<const PressurePolygon> polygons) {
  for (const PressurePolygon& polygon : polygons) {
    bytes.addFloat(polygon.numVertices);
    bytes.addFloat(polygon.area > 0 ? dot(polygon.force, polygon.normal) / polygon.area : 0);
    for (int i = 0; i < polygon.numVertices; ++i)
      bytes.addFloats(polygon.vertices[static_cast<std::size_t>(i)]);
  }
}

}  // namespace

ViewEncoder::ViewEncoder(const Model& model) {
  for (int i = 0; i < model.numSoftBodies(); ++i)
    for (const int vertex : surfaceVertices(model.softMesh(i).surface()))
      surface_vertices_.push_back(model.firstVertexOf(i) + vertex);
}

ViewEncoder::ViewEncoder(const RecordingReader& recording) {
  for (const RecordedSoftBody& soft : recording.softBodies())
    for (const int vertex : surfaceVertices(soft.surface))
      surface_vertices_.push_back(soft.firstVertex + vertex);
}

void ViewEncoder::encode(const RecordFrame& frame, const ViewExtras& extras,
                         std::vector<std::byte>* out) const {
  ByteWriter bytes(out);
  bytes.addCount(0);  // the length, when it is known
  bytes.add(kVersion);
  bytes.add(frame.time);
  bytes.add(static_cast<Real>(frame.step));
  bytes.addCount(frame.bodies.size());
  bytes.addCount(frame.contacts.size());
  bytes.addCount(surface_vertices_.size());
  bytes.addCount(numPolygonWords(frame.polygons));
  bytes.add(static_cast<std::uint32_t>(frame.report.status));
  for (const int count : {frame.report.iterations, frame.report.numIslands, extras.numEvents})
    bytes.addCount(static_cast<std::size_t>(std::max(0, count)));
  addEnergy(bytes, frame.energy);
  bytes.add(frame.report.residual);
  bytes.add(frame.report.maxDepth);
  addBodies(bytes, frame.bodies, extras.isAsleep);
  addContacts(bytes, frame.contacts);
  for (const int vertex : surface_vertices_)
    bytes.addFloats(frame.softVertices[static_cast<std::size_t>(vertex)]);
  addPolygons(bytes, frame.polygons);
  bytes.padTo(8);
  bytes.writeLength();
}

std::string viewerPage(const Json& data) {
  std::string json = data.dump(-1, ' ', false, Json::error_handler_t::replace);
  for (std::size_t at = json.find('<'); at != std::string::npos; at = json.find('<', at))
    json.replace(at, 1, "\\u003c");
  std::string page(kViewerPage, sizeof kViewerPage - 1);
  const std::string mark = "/*TANGERE_DATA*/null";
  return page.replace(page.find(mark), mark.size(), json);
}

bool hasViewer() { return kHasViewer; }

std::string base64(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (i + k < bytes.size() ? std::to_integer<std::uint32_t>(bytes[i + k]) : 0u);
    for (const int shift : {18, 12, 6, 0}) text += kDigits[bits >> shift & 63u];
  }
  const std::size_t numMissing = (3 - bytes.size() % 3) % 3;
  text.replace(text.size() - numMissing, numMissing, numMissing, '=');
  return text;
}

}  // namespace tangere::cli
