// SPDX-License-Identifier: Apache-2.0
//
// From a recording to an MCAP file: frame by frame, one message for each topic.
#include <tangere/config.hpp>
#include <tangere/error.hpp>
#include <tangere/mcap.hpp>

#include "core/assert.hpp"
#include "io/foxglove_scene.hpp"
#include "io/foxglove_schemas.hpp"
#include "io/json_text.hpp"
#include "io/mcap_writer.hpp"
#include "io/recording_layout.hpp"
#include "io/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace tangere {

namespace {

void addVector(io::JsonText& json, const char* name, const Vec3& v) {
  json.key(name).beginObject().member("x", v.x).member("y", v.y).member("z", v.z).endObject();
}
template <class Row, class Value, std::size_t N>
void addAll(io::JsonText& json, const io::Field<Row, Value> (&fields)[N], const Row& row) {
  for (const auto& field : fields) {
    if constexpr (std::is_same_v<Value, Vec3>)
      addVector(json, field.name, row.*field.member);
    else
      json.member(field.name, row.*field.member);
  }
}
/// JSON readers know integers up to 2^53: larger ones are text.
std::string hexadecimal(std::uint64_t number) {
  char digits[20];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(number));
  return digits;
}

/// Frames at least 1 / rate apart: the first, and the last of each interval that is full.
class Thinning {
 public:
  explicit Thinning(Real rate) : rate_(rate) {}
  bool wants(Real time) {
    if (rate_ > 0 && time < next_) return false;
    // Rounding must not make a frame wait for the one behind it.
    next_ = (std::floor(time * rate_ + 1e-6) + 1 - 1e-6) / rate_;
    return true;
  }

 private:
  Real rate_, next_ = -std::numeric_limits<Real>::infinity();
};

class Export {
 public:
  Export(RecordingReader& recording, const std::filesystem::path& path, const McapOptions& options)
      : recording_(recording),
        scene_(recording),
        writer_(path.string(), "tangere " TANGERE_VERSION_STRING, options.isCompressed) {
    addChannels();
  }

  void addFrame(const RecordedFrame& frame) {
    const std::uint64_t time_ns = io::nanoseconds(frame.time);
    if (num_frames_ > 0 && time_ns < last_ns_)
      throw InvalidInput("the time goes back in step " + std::to_string(frame.step));
    last_ns_ = time_ns;
    const auto write = [&](std::uint16_t channel, auto&& add) {
      json_.clear();
      add();
      writer_.write(channel, time_ns, json_.text());
    };
    if (num_frames_ == 0) {
      if (recording_.numBodies() > 0) write(shapes_, [&] { scene_.addShapes(frame.time, json_); });
      if (scene_.hasFixed()) write(fixed_, [&] { scene_.addTransforms(frame, true, json_); });
    }
    if (scene_.hasMoving()) write(moving_, [&] { scene_.addTransforms(frame, false, json_); });
    if (hasSofts()) write(softs_, [&] { scene_.addSoftBodies(frame, json_); });
    write(contact_scene_, [&] { scene_.addContacts(frame, json_); });
    if (recording_.numBodies() > 0) write(bodies_, [&] { addBodies(frame); });
    write(contacts_, [&] { addContacts(frame); });
    if (has_pressure_) write(pressure_, [&] { addPressure(frame); });
    write(solver_, [&] { addSolver(frame); });
    write(energy_, [&] { addEnergy(frame); });
    if (!recording_.sensors().empty()) write(sensors_, [&] { addSensors(frame); });
    ++num_frames_;
  }

  McapReport finish() {
    writer_.finish();
    return {.numFrames = num_frames_,
            .numMessages = writer_.numMessages(),
            .numChunks = writer_.numChunks(),
            .numBytes = writer_.numBytes(),
            .metresPerNewton = scene_.metresPerNewton()};
  }

 private:
  [[nodiscard]] bool hasSofts() const { return !recording_.softBodies().empty(); }

  void addChannels() {
    const std::string scene = io::sceneUpdateSchema(), transforms = io::frameTransformsSchema();
    const char* const kScene = "foxglove.SceneUpdate";
    const char* const kTransforms = "foxglove.FrameTransforms";
    if (recording_.numBodies() > 0) {
      shapes_ = writer_.addChannel("/shapes", kScene, scene);
      bodies_ = writer_.addChannel("/bodies", "tangere.Bodies", io::bodiesSchema());
    }
    if (scene_.hasFixed()) fixed_ = writer_.addChannel("/tf_static", kTransforms, transforms);
    if (scene_.hasMoving()) moving_ = writer_.addChannel("/tf", kTransforms, transforms);
    if (hasSofts()) softs_ = writer_.addChannel("/soft_bodies", kScene, scene);
    contact_scene_ = writer_.addChannel("/contact_scene", kScene, scene);
    contacts_ = writer_.addChannel("/contacts", "tangere.Contacts", io::contactsSchema());
    has_pressure_ = recording_.hasPressure();
    if (has_pressure_)
      pressure_ = writer_.addChannel("/pressure", "tangere.Pressure", io::pressureSchema());
    solver_ = writer_.addChannel("/solver", "tangere.Solver", io::solverSchema(has_pressure_));
    energy_ = writer_.addChannel("/energy", "tangere.Energy", io::energySchema());
    if (!recording_.sensors().empty())
      sensors_ = writer_.addChannel("/sensors", "tangere.Sensors", io::sensorsSchema());
    writer_.addMetadata("tangere", {{"frame", scene_.worldName()},
                                    {"metres_per_newton", io::sixDigits(scene_.metresPerNewton())},
                                    {"model_hash", hexadecimal(recording_.modelHash())},
                                    {"units", "m, kg, s, rad, N, J"}});
  }

  void beginStep(const RecordedFrame& frame) {
    json_.beginObject().member("time", frame.time).member("step", frame.step);
  }

  void addBodies(const RecordedFrame& frame) {
    beginStep(frame);
    json_.key("bodies").beginArray();
    for (std::size_t i = 0; i < frame.bodies.size(); ++i) {
      const BodyState& body = frame.bodies[i];
      json_.beginObject().member("name", recording_.bodyName(static_cast<int>(i)));
      addVector(json_, "position", body.pose.translation);
      const Quat& q = body.orientation;
      json_.key("quaternion").beginObject().member("x", q.x).member("y", q.y);
      json_.member("z", q.z).member("w", q.w).endObject();
      addVector(json_, "linear_velocity", body.linearVelocity);
      addVector(json_, "angular_velocity", body.angularVelocity);
      json_.endObject();
    }
    json_.endArray().endObject();
  }

  [[nodiscard]] std::string_view nameOf(int body) const {
    return body < 0 ? std::string_view() : std::string_view(recording_.bodyName(body));
  }
  [[nodiscard]] std::string_view nameOf(const PressureSide& side) const {
    if (side.soft < 0) return nameOf(side.body);
    return recording_.softBodies()[static_cast<std::size_t>(side.soft)].name;
  }

  void addContacts(const RecordedFrame& frame) {
    Real total = 0;
    for (const ContactForce& contact : frame.contacts) total += norm(contact.force);
    beginStep(frame);
    json_.member("count", frame.contacts.size()).member("total_force", total);
    json_.key("contacts").beginArray();
    for (const ContactForce& contact : frame.contacts) {
      json_.beginObject().member("body1", nameOf(contact.body1));
      json_.member("body2", nameOf(contact.body2)).member("shape1", contact.shape1);
      json_.member("shape2", contact.shape2).member("id", hexadecimal(contact.id));
      addAll(json_, io::kContactVectors, contact);
      addAll(json_, io::kContactReals, contact);
      json_.endObject();
    }
    json_.endArray().endObject();
  }

  void addPressure(const RecordedFrame& frame) {
    Real area = 0, pressure = 0;
    for (const PressurePolygon& polygon : frame.polygons) {
      area += polygon.area;
      pressure = std::max(pressure, polygon.pressure);
    }
    beginStep(frame);
    json_.member("count", frame.polygons.size()).member("total_area", area);
    json_.member("max_pressure", pressure).key("polygons").beginArray();
    for (const PressurePolygon& polygon : frame.polygons) {
      json_.beginObject().member("side1", nameOf(polygon.side1));
      json_.member("side2", nameOf(polygon.side2));
      addAll(json_, io::kPolygonVectors, polygon);
      addAll(json_, io::kPolygonReals, polygon);
      json_.endObject();
    }
    json_.endArray().endObject();
  }

  void addSolver(const RecordedFrame& frame) {
    beginStep(frame);
    json_.member("status", static_cast<std::uint32_t>(frame.report.status));
    addAll(json_, io::kReportInts, frame.report);
    addAll(json_, io::kReportReals, frame.report);
    if (has_pressure_) addAll(json_, io::kPressureReportInts, frame.report);
    json_.member("state_hash", hexadecimal(frame.stateHash)).endObject();
  }

  void addEnergy(const RecordedFrame& frame) {
    beginStep(frame);
    addAll(json_, io::kLedgerReals, frame.energy);
    json_.endObject();
  }

  void addSensors(const RecordedFrame& frame) {
    beginStep(frame);
    json_.key("sensors").beginArray();
    for (const RecordedSensor& sensor : recording_.sensors()) {
      json_.beginObject().member("name", sensor.name).key("values").beginArray();
      for (int i = 0; i < sensor.numValues; ++i)
        json_.value(frame.sensors[static_cast<std::size_t>(sensor.firstValue + i)]);
      json_.endArray().endObject();
    }
    json_.endArray().endObject();
  }

  RecordingReader& recording_;
  io::FoxgloveScene scene_;
  io::McapWriter writer_;
  io::JsonText json_{};
  bool has_pressure_ = false;
  std::uint16_t shapes_ = 0, fixed_ = 0, moving_ = 0, softs_ = 0, contact_scene_ = 0;
  std::uint16_t bodies_ = 0, contacts_ = 0, pressure_ = 0, solver_ = 0, energy_ = 0, sensors_ = 0;
  std::int64_t num_frames_ = 0;
  std::uint64_t last_ns_ = 0;
};

}  // namespace

McapReport exportMcap(RecordingReader& recording, const std::filesystem::path& path,
                      const McapOptions& options, const McapProgress& progress) {
  TANGERE_REQUIRE(options.rate >= 0 && std::isfinite(options.rate),
                  "frames for each second: finite, not negative", options.rate);
  const std::vector<Real> times = recording.times();
  if (times.empty()) throw InvalidInput("the recording has no frame");
  Export out(recording, path, options);
  Thinning thinning(options.rate);
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (options.rate > 0 && !thinning.wants(times[i])) continue;
    const auto index = static_cast<std::int64_t>(i);
    const RecordedFrame& frame = recording.frame(index);
    try {
      out.addFrame(frame);
    } catch (const InvalidInput& error) {
      throw InvalidInput("frame " + std::to_string(index) + ": " + error.what());
    }
    if (progress) progress(index + 1, static_cast<std::int64_t>(times.size()));
  }
  return out.finish();
}

}  // namespace tangere
