// SPDX-License-Identifier: Apache-2.0
//
// Where two recordings part: bodies first, since that is where people look, then soft bodies,
// contacts, sensors, what the solver and the ledger say, and last the hash of the state, which sees
// what is not recorded.
#include <tangere/recording.hpp>

#include "io/recording_layout.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <iterator>

namespace tangere {

namespace {

/// The shortest text that means this number and no other.
std::string textOf(Real value) {
  char digits[32];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
  return {digits, end};
}
std::string textOf(int value) { return std::to_string(value); }
std::string textOf(std::uint64_t value) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(value));
  return digits;
}
std::string textOf(const Vec3& v) { return textOf(v.x) + " " + textOf(v.y) + " " + textOf(v.z); }
std::string textOf(const Quat& q) { return textOf(q.w) + " " + textOf(Vec3{q.x, q.y, q.z}); }

/// Compares two frames of one step; stops at the first difference.
class FrameDiff {
 public:
  FrameDiff(const RecordingReader& recording, const RecordedFrame& frame1,
            const RecordedFrame& frame2, Real tolerance)
      : recording_(recording), a_(frame1), b_(frame2), tolerance_(tolerance) {}

  [[nodiscard]] std::optional<RecordingDifference> find();

 private:
  // Each of these is true when all is the same; otherwise found_ says where not.
  [[nodiscard]] bool compareMotion();
  [[nodiscard]] bool compareBodies();
  [[nodiscard]] bool compareBody(const std::string& name, const BodyState& a, const BodyState& b);
  [[nodiscard]] bool compareSofts();
  [[nodiscard]] bool compareSoft(const RecordedSoftBody& soft);

  [[nodiscard]] bool compareCauses();
  [[nodiscard]] bool compareContacts();
  [[nodiscard]] bool compareContact(std::size_t index);
  [[nodiscard]] bool compareContactBodies(std::size_t index);
  [[nodiscard]] bool comparePolygons();
  [[nodiscard]] bool comparePolygon(const PressurePolygon& a, const PressurePolygon& b);
  [[nodiscard]] bool comparePolygonVertices(const PressurePolygon& a, const PressurePolygon& b);
  [[nodiscard]] bool compareSensors();
  [[nodiscard]] bool compareSensor(const RecordedSensor& sensor);
  [[nodiscard]] bool compareReport();
  [[nodiscard]] bool compareEnergy();
  [[nodiscard]] bool compareSleep();
  [[nodiscard]] bool compareEvents();
  [[nodiscard]] bool compareTime();
  [[nodiscard]] bool compareStateHash();

  /// How many rows there are; the first that only one frame has gives the name.
  template <class Row>
  [[nodiscard]] bool compareCount(const char* kind, const char* quantity, const std::vector<Row>& a,
                                  const std::vector<Row>& b);
  template <class Row, class Value, std::size_t N>
  [[nodiscard]] bool compareFields(const char* kind, const std::string& name,
                                   const io::Field<Row, Value> (&fields)[N], const Row& a,
                                   const Row& b);
  template <class Value>
  [[nodiscard]] bool compare(const char* kind, const std::string& name, const std::string& quantity,
                             const Value& a, const Value& b);

  /// Equal bits, or close; a NaN, which no recording has, is never equal.
  [[nodiscard]] bool same(Real a, Real b) const { return a == b || std::fabs(a - b) <= tolerance_; }
  [[nodiscard]] bool same(const Vec3& a, const Vec3& b) const {
    return same(a.x, b.x) && same(a.y, b.y) && same(a.z, b.z);
  }
  [[nodiscard]] bool same(const Quat& a, const Quat& b) const {
    return same(a.w, b.w) && same(Vec3{a.x, a.y, a.z}, Vec3{b.x, b.y, b.z});
  }
  [[nodiscard]] bool same(int a, int b) const { return a == b; }
  [[nodiscard]] bool same(std::uint64_t a, std::uint64_t b) const { return a == b; }

  [[nodiscard]] std::string nameOf(const ContactForce& contact) const;
  [[nodiscard]] std::string nameOf(const PressurePolygon& polygon) const;
  [[nodiscard]] std::string nameOf(const PressureSide& side) const;
  [[nodiscard]] std::string nameOfBody(int body) const;

  const RecordingReader& recording_;
  const RecordedFrame& a_;
  const RecordedFrame& b_;
  Real tolerance_;
  RecordingDifference found_;
};

std::optional<RecordingDifference> FrameDiff::find() {
  const bool onlyMotion = tolerance_ > 0;
  if (compareMotion() && (onlyMotion || compareCauses())) return std::nullopt;
  found_.step = a_.step;
  return found_;
}

bool FrameDiff::compareMotion() { return compareBodies() && compareSofts(); }

bool FrameDiff::compareBodies() {
  for (std::size_t i = 0; i < a_.bodies.size(); ++i)
    if (!compareBody(recording_.bodyName(static_cast<int>(i)), a_.bodies[i], b_.bodies[i]))
      return false;
  return true;
}

bool FrameDiff::compareBody(const std::string& name, const BodyState& a, const BodyState& b) {
  return compare("body", name, "position", a.pose.translation, b.pose.translation) &&
         compare("body", name, "quaternion", a.orientation, b.orientation) &&
         compare("body", name, "linear_velocity", a.linearVelocity, b.linearVelocity) &&
         compare("body", name, "angular_velocity", a.angularVelocity, b.angularVelocity);
}

bool FrameDiff::compareSofts() {
  for (const RecordedSoftBody& soft : recording_.softBodies())
    if (!compareSoft(soft)) return false;
  return true;
}

bool FrameDiff::compareSoft(const RecordedSoftBody& soft) {
  for (int i = 0; i < soft.numVertices; ++i) {
    const auto at = static_cast<std::size_t>(soft.firstVertex + i);
    if (same(a_.softVertices[at], b_.softVertices[at])) continue;
    return compare("soft body", soft.name, "position of vertex " + std::to_string(i),
                   a_.softVertices[at], b_.softVertices[at]);
  }
  return true;
}

/// What the motion came from and what was measured of it: alike only where the bits are.
bool FrameDiff::compareCauses() {
  return compareContacts() && comparePolygons() && compareSensors() && compareReport() &&
         compareEnergy() && compareSleep() && compareEvents() && compareTime() &&
         compareStateHash();
}

bool FrameDiff::compareContacts() {
  const std::size_t common = std::min(a_.contacts.size(), b_.contacts.size());
  for (std::size_t i = 0; i < common; ++i)
    if (!compareContact(i)) return false;
  return compareCount("contact", "number of contacts", a_.contacts, b_.contacts);
}

bool FrameDiff::compareContact(std::size_t index) {
  const ContactForce &a = a_.contacts[index], &b = b_.contacts[index];
  const std::string name = nameOf(a);
  return compareContactBodies(index) && compareFields("contact", name, io::kContactInts, a, b) &&
         compareFields("contact", name, io::kContactIds, a, b) &&
         compareFields("contact", name, io::kContactVectors, a, b) &&
         compareFields("contact", name, io::kContactReals, a, b);
}

/// Before the fields, which would say it in indices: people know bodies by their names.
bool FrameDiff::compareContactBodies(std::size_t index) {
  const ContactForce &a = a_.contacts[index], &b = b_.contacts[index];
  if (a.body1 == b.body1 && a.body2 == b.body2) return true;
  found_ = {.step = std::nullopt,
            .kind = "contact",
            .name = nameOf(a),
            .quantity = "bodies of contact " + std::to_string(index),
            .value1 = nameOf(a),
            .value2 = nameOf(b)};
  return false;
}

bool FrameDiff::comparePolygons() {
  const std::size_t common = std::min(a_.polygons.size(), b_.polygons.size());
  for (std::size_t i = 0; i < common; ++i)
    if (!comparePolygon(a_.polygons[i], b_.polygons[i])) return false;
  return compareCount("pressure", "number of polygons", a_.polygons, b_.polygons);
}

bool FrameDiff::comparePolygon(const PressurePolygon& a, const PressurePolygon& b) {
  const std::string name = nameOf(a);
  return compareFields("pressure", name, io::kSideInts, a.side1, b.side1) &&
         compareFields("pressure", name, io::kSideInts, a.side2, b.side2) &&
         compareFields("pressure", name, io::kPolygonInts, a, b) &&
         compareFields("pressure", name, io::kPolygonVectors, a, b) &&
         compareFields("pressure", name, io::kPolygonReals, a, b) && comparePolygonVertices(a, b);
}

/// Of polygons that have equally many.
bool FrameDiff::comparePolygonVertices(const PressurePolygon& a, const PressurePolygon& b) {
  const std::string name = nameOf(a);
  for (std::size_t k = 0; k < static_cast<std::size_t>(a.numVertices); ++k)
    if (!compare("pressure", name, "vertex", a.vertices[k], b.vertices[k]) ||
        !compare("pressure", name, "vertex_pressure", a.pressures[k], b.pressures[k]))
      return false;
  return true;
}

bool FrameDiff::compareSensors() {
  // Recordings of earlier versions have none.
  if (a_.sensors.empty() || b_.sensors.empty()) return true;
  for (const RecordedSensor& sensor : recording_.sensors())
    if (!compareSensor(sensor)) return false;
  return true;
}

bool FrameDiff::compareSensor(const RecordedSensor& sensor) {
  for (int i = 0; i < sensor.numValues; ++i) {
    const auto at = static_cast<std::size_t>(sensor.firstValue + i);
    if (same(a_.sensors[at], b_.sensors[at])) continue;
    return compare("sensor", sensor.name, "value " + std::to_string(i), a_.sensors[at],
                   b_.sensors[at]);
  }
  return true;
}

bool FrameDiff::compareReport() {
  return compare("solver", "", "status", static_cast<int>(a_.report.status),
                 static_cast<int>(b_.report.status)) &&
         compareFields("solver", "", io::kReportInts, a_.report, b_.report) &&
         compareFields("solver", "", io::kPressureReportInts, a_.report, b_.report) &&
         compareFields("solver", "", io::kReportReals, a_.report, b_.report);
}

bool FrameDiff::compareEnergy() {
  return compareFields("energy", "", io::kLedgerReals, a_.energy, b_.energy);
}

bool FrameDiff::compareSleep() {
  // Recordings of earlier versions do not say it.
  if (a_.isAsleep.empty() || b_.isAsleep.empty()) return true;
  for (std::size_t i = 0; i < a_.isAsleep.size(); ++i)
    if (!compare("body", recording_.bodyName(static_cast<int>(i)), "asleep", int{a_.isAsleep[i]},
                 int{b_.isAsleep[i]}))
      return false;
  return true;
}

bool FrameDiff::compareEvents() {
  if (a_.isAsleep.empty() || b_.isAsleep.empty()) return true;
  return compare("solver", "", "events", a_.numEvents, b_.numEvents);
}

bool FrameDiff::compareTime() { return compare("frames", "", "time", a_.time, b_.time); }

bool FrameDiff::compareStateHash() {
  return compare("state", "", "hash of what is not recorded", a_.stateHash, b_.stateHash);
}

template <class Row>
bool FrameDiff::compareCount(const char* kind, const char* quantity, const std::vector<Row>& a,
                             const std::vector<Row>& b) {
  if (a.size() == b.size()) return true;
  const std::vector<Row>& longer = a.size() > b.size() ? a : b;
  const Row& extra = longer[std::min(a.size(), b.size())];
  return compare(kind, nameOf(extra), quantity, static_cast<int>(a.size()),
                 static_cast<int>(b.size()));
}

template <class Row, class Value, std::size_t N>
bool FrameDiff::compareFields(const char* kind, const std::string& name,
                              const io::Field<Row, Value> (&fields)[N], const Row& a,
                              const Row& b) {
  for (const auto& field : fields)
    if (!compare(kind, name, field.name, a.*field.member, b.*field.member)) return false;
  return true;
}

template <class Value>
bool FrameDiff::compare(const char* kind, const std::string& name, const std::string& quantity,
                        const Value& a, const Value& b) {
  if (same(a, b)) return true;
  found_ = {.step = std::nullopt,
            .kind = kind,
            .name = name,
            .quantity = quantity,
            .value1 = textOf(a),
            .value2 = textOf(b)};
  return false;
}

std::string FrameDiff::nameOf(const ContactForce& contact) const {
  return nameOfBody(contact.body1) + " on " + nameOfBody(contact.body2);
}

std::string FrameDiff::nameOf(const PressurePolygon& polygon) const {
  return nameOf(polygon.side1) + " on " + nameOf(polygon.side2);
}

std::string FrameDiff::nameOf(const PressureSide& side) const {
  return side.soft < 0 ? nameOfBody(side.body)
                       : recording_.softBodies()[static_cast<std::size_t>(side.soft)].name;
}

std::string FrameDiff::nameOfBody(int body) const {
  return body < 0 ? std::string("nothing") : recording_.bodyName(body);
}

RecordingDifference modelDifference(const std::string& name, const std::string& quantity,
                                    const std::string& value1, const std::string& value2) {
  return {.step = std::nullopt,
          .kind = "model",
          .name = name,
          .quantity = quantity,
          .value1 = value1,
          .value2 = value2};
}

/// `what` is one "body", many of them are `many`.
std::optional<RecordingDifference> differenceOfNames(const std::string& what,
                                                     const std::string& many,
                                                     const std::vector<std::string>& names1,
                                                     const std::vector<std::string>& names2) {
  const std::size_t common = std::min(names1.size(), names2.size());
  for (std::size_t i = 0; i < common; ++i)
    if (names1[i] != names2[i])
      return modelDifference("", "name of " + what + " " + std::to_string(i), names1[i], names2[i]);
  if (names1.size() == names2.size()) return std::nullopt;
  const std::vector<std::string>& longer = names1.size() > common ? names1 : names2;
  return modelDifference(longer[common], "number of " + many, std::to_string(names1.size()),
                         std::to_string(names2.size()));
}

std::vector<std::string> namesOfBodies(const RecordingReader& recording) {
  std::vector<std::string> names;
  for (int i = 0; i < recording.numBodies(); ++i) names.push_back(recording.bodyName(i));
  return names;
}

template <class Thing>
std::vector<std::string> namesOf(std::span<const Thing> things) {
  std::vector<std::string> names;
  for (const Thing& thing : things) names.push_back(thing.name);
  return names;
}

std::optional<RecordingDifference> differenceOfBodies(const RecordingReader& recording1,
                                                      const RecordingReader& recording2) {
  return differenceOfNames("body", "bodies", namesOfBodies(recording1), namesOfBodies(recording2));
}

std::optional<RecordingDifference> differenceOfSofts(std::span<const RecordedSoftBody> softs1,
                                                     std::span<const RecordedSoftBody> softs2) {
  if (auto difference =
          differenceOfNames("soft body", "soft bodies", namesOf(softs1), namesOf(softs2)))
    return difference;
  for (std::size_t i = 0; i < softs1.size(); ++i)
    if (softs1[i].numVertices != softs2[i].numVertices)
      return modelDifference(softs1[i].name, "number of vertices", textOf(softs1[i].numVertices),
                             textOf(softs2[i].numVertices));
  return std::nullopt;
}

std::optional<RecordingDifference> differenceOfSensors(std::span<const RecordedSensor> sensors1,
                                                       std::span<const RecordedSensor> sensors2) {
  if (sensors1.empty() || sensors2.empty()) return std::nullopt;  // one of an earlier version
  if (auto difference =
          differenceOfNames("sensor", "sensors", namesOf(sensors1), namesOf(sensors2)))
    return difference;
  for (std::size_t i = 0; i < sensors1.size(); ++i)
    if (sensors1[i].numValues != sensors2[i].numValues)
      return modelDifference(sensors1[i].name, "number of values", textOf(sensors1[i].numValues),
                             textOf(sensors2[i].numValues));
  return std::nullopt;
}

/// Whether the tables of two recordings are about the same things.
std::optional<RecordingDifference> differenceOfModels(const RecordingReader& recording1,
                                                      const RecordingReader& recording2) {
  if (auto difference = differenceOfBodies(recording1, recording2)) return difference;
  if (auto difference = differenceOfSofts(recording1.softBodies(), recording2.softBodies()))
    return difference;
  return differenceOfSensors(recording1.sensors(), recording2.sensors());
}

RecordingDifference missingStep(std::uint64_t step, bool isInFirst) {
  return {.step = step,
          .kind = "frames",
          .name = "",
          .quantity = "step",
          .value1 = isInFirst ? std::to_string(step) : "missing",
          .value2 = isInFirst ? "missing" : std::to_string(step)};
}

}  // namespace

std::optional<RecordingDifference> firstDifference(RecordingReader& recording1,
                                                   RecordingReader& recording2,
                                                   const RecordingDiffOptions& options) {
  if (auto difference = differenceOfModels(recording1, recording2)) return difference;
  const std::int64_t n1 = recording1.numFrames(), n2 = recording2.numFrames();
  std::int64_t i1 = 0, i2 = 0, compared = 0;
  while (i1 < n1 && i2 < n2) {
    const RecordedFrame& frame1 = recording1.frame(i1);
    const RecordedFrame& frame2 = recording2.frame(i2);
    if (frame1.step != frame2.step) {
      const bool isInFirst = frame1.step < frame2.step;
      if (!options.onlyCommonSteps)
        return missingStep(isInFirst ? frame1.step : frame2.step, isInFirst);
      ++(isInFirst ? i1 : i2);
      continue;
    }
    if (auto difference = FrameDiff(recording1, frame1, frame2, options.tolerance).find())
      return difference;
    ++i1;
    ++i2;
    ++compared;
  }
  if ((i1 == n1 && i2 == n2) || (options.onlyCommonSteps && compared > 0)) return std::nullopt;
  const bool isInFirst = i1 < n1;
  return missingStep(isInFirst ? recording1.frame(i1).step : recording2.frame(i2).step, isInFirst);
}

}  // namespace tangere
