// SPDX-License-Identifier: Apache-2.0
#include "view_stream.hpp"

#include "view_scene.hpp"
#include "viewer_page.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace tangere::cli {

namespace {

// Numbers go out as they lie in memory here.
static_assert(std::endian::native == std::endian::little);

constexpr std::uint32_t kVersion = 2;

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
  /// Into the first word, which the length was to have.
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
    count += 4 + 3 * static_cast<std::size_t>(polygon.numVertices);
  return count;
}

/// Energies as they are now, work since the start.
void addEnergy(ByteWriter& bytes, const EnergyLedger& energy, const EnergyLedger& work) {
  for (const Real row : {energy.kinetic, energy.potential, work.external, work.damping,
                         work.contactNormal, work.contactFriction, work.kinematic, work.constraint,
                         work.correction, work.integration, work.gyroscopic, work.residual})
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

/// A body, or a soft body counted down from -2.
Real sideNumber(const PressureSide& side) { return side.soft < 0 ? side.body : -2 - side.soft; }

void addPolygons(ByteWriter& bytes, std::span<const PressurePolygon> polygons) {
  for (const PressurePolygon& polygon : polygons) {
    bytes.addFloat(polygon.numVertices);
    bytes.addFloat(polygon.area > 0 ? dot(polygon.force, polygon.normal) / polygon.area : 0);
    bytes.addFloat(sideNumber(polygon.side1));
    bytes.addFloat(sideNumber(polygon.side2));
    for (int i = 0; i < polygon.numVertices; ++i)
      bytes.addFloats(polygon.vertices[static_cast<std::size_t>(i)]);
  }
}

}  // namespace

ViewExtras extrasOf(const Simulator& simulator, const ViewNews& news) {
  ViewExtras extras{.news = news, .work = simulator.energySum()};
  for (int i = 0; i < simulator.model().numSoftBodies(); ++i)
    extras.softStress.push_back(simulator.softStress(i));
  return extras;
}

ViewEncoder::ViewEncoder(const Model& model) {
  for (int i = 0; i < model.numSoftBodies(); ++i) {
    const TetMesh& mesh = model.softMesh(i);
    addSoft(model.firstVertexOf(i), mesh.vertices(), mesh.tets(), mesh.surface());
  }
}

ViewEncoder::ViewEncoder(const RecordingReader& recording) {
  for (const RecordedSoftBody& soft : recording.softBodies())
    addSoft(soft.firstVertex, soft.rest, soft.tets, soft.surface);
}

void ViewEncoder::addSoft(int firstVertex, std::span<const Vec3> rest, std::span<const Tet> tets,
                          std::span<const Triangle> surface) {
  Soft& soft = softs_.emplace_back();
  soft.firstVertex = firstVertex;
  soft.numVertices = static_cast<int>(rest.size());
  soft.shown = surfaceVertices(surface);
  soft.tets.assign(tets.begin(), tets.end());
  for (const Tet& tet : tets) {
    const auto edge = [&](std::size_t k) {
      return rest[static_cast<std::size_t>(tet[k])] - rest[static_cast<std::size_t>(tet[0])];
    };
    soft.volume.push_back(std::fabs(dot(edge(1), cross(edge(2), edge(3)))) / 6);
  }
  num_shown_ += soft.shown.size();
}

/// The stress at a vertex is the mean of its tetrahedra, by their volumes.
void ViewEncoder::addStress(const Soft& soft, std::span<const Mat3> stress,
                            std::vector<float>* out) const {
  std::vector<Mat3> sum(static_cast<std::size_t>(soft.numVertices), Mat3{});
  std::vector<Real> volume(sum.size(), 0);
  for (std::size_t t = 0; t < std::min(soft.tets.size(), stress.size()); ++t)
    for (const int vertex : soft.tets[t]) {
      const auto at = static_cast<std::size_t>(vertex);
      for (int k = 0; k < 3; ++k) sum[at].col[k] += stress[t].col[k] * soft.volume[t];
      volume[at] += soft.volume[t];
    }
  for (const int vertex : soft.shown) {
    const auto at = static_cast<std::size_t>(vertex);
    const Real scale = volume[at] > 0 ? 1 / volume[at] : 0;
    const Mat3& s = sum[at];
    const Real normal = (s(0, 0) - s(1, 1)) * (s(0, 0) - s(1, 1)) +
                        (s(1, 1) - s(2, 2)) * (s(1, 1) - s(2, 2)) +
                        (s(2, 2) - s(0, 0)) * (s(2, 2) - s(0, 0));
    const Real shear = s(0, 1) * s(0, 1) + s(1, 2) * s(1, 2) + s(2, 0) * s(2, 0);
    out->push_back(static_cast<float>(std::sqrt(normal / 2 + 3 * shear) * scale));
    out->push_back(static_cast<float>(-(s(0, 0) + s(1, 1) + s(2, 2)) / 3 * scale));
  }
}

void ViewEncoder::encode(const RecordFrame& frame, const ViewExtras& extras,
                         std::vector<std::byte>* out) const {
  std::vector<float> stress;
  for (std::size_t i = 0; i < softs_.size() && extras.softStress.size() == softs_.size(); ++i)
    addStress(softs_[i], extras.softStress[i], &stress);

  ByteWriter bytes(out);
  bytes.addCount(0);  // the length, when it is known
  bytes.add(kVersion);
  bytes.add(frame.time);
  bytes.add(static_cast<Real>(frame.step));
  bytes.addCount(frame.bodies.size());
  bytes.addCount(frame.contacts.size());
  bytes.addCount(num_shown_);
  bytes.addCount(numPolygonWords(frame.polygons));
  bytes.add(static_cast<std::uint32_t>(extras.news.status));
  for (const int count : {frame.report.iterations, frame.report.numIslands, extras.news.numEvents})
    bytes.addCount(static_cast<std::size_t>(std::max(0, count)));
  bytes.addCount(frame.polygons.size());
  bytes.addCount(stress.size());
  addEnergy(bytes, frame.energy, extras.work);
  bytes.add(frame.report.residual);
  bytes.add(frame.report.maxDepth);
  addBodies(bytes, frame.bodies, frame.isAsleep);
  addContacts(bytes, frame.contacts);
  for (const Soft& soft : softs_)
    for (const int vertex : soft.shown)
      bytes.addFloats(frame.softVertices[static_cast<std::size_t>(soft.firstVertex + vertex)]);
  for (const float value : stress) bytes.add(value);
  addPolygons(bytes, frame.polygons);
  bytes.padTo(8);
  bytes.writeLength();
}

std::string viewerPage(const Json& data, const std::string& nonce) {
  std::string json = data.dump(-1, ' ', false, Json::error_handler_t::replace);
  for (std::size_t at = json.find('<'); at != std::string::npos; at = json.find('<', at))
    json.replace(at, 1, "\\u003c");
  std::string page(kViewerPage, sizeof kViewerPage - 1);
  const std::string mark = "/*TANGERE_DATA*/null";
  if (!nonce.empty()) {
    // Its own two, which are before and after the data; the program in the second has the word too.
    const std::string plain = "<script>", marked = "<script nonce=\"" + nonce + "\">";
    const std::size_t first = page.find(plain);
    page.replace(first, plain.size(), marked);
    page.replace(page.find(plain, first + marked.size()), plain.size(), marked);
  }
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
