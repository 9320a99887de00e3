// SPDX-License-Identifier: Apache-2.0
//
// Where two recordings part: bodies first, since that is where people look, then contacts, what the
// solver and the ledger say, and last the hash of the state, which sees what is not recorded.
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

  [[nodiscard]] std::optional<RecordingDifference> find() {
    const bool onlyMotion = tolerance_ > 0;
    if (compareBodies() && (onlyMotion || (compareContacts() && compareRest())))
      return std::nullopt;
    found_.step = a_.step;
    return found_;
  }

 private:
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

  template <class Value>
  bool compare(const char* kind, const std::string& name, const char* quantity, const Value& a,
               const Value& b) {
    if (same(a, b)) return true;
    found_ = {.step = std::nullopt,
              .kind = kind,
              .name = name,
              .quantity = quantity,
              .value1 = textOf(a),
              .value2 = textOf(b)};
    return false;
  }
  template <class Row, class Value, std::size_t N>
  bool compareFields(const char* kind, const std::string& name,
                     const io::Field<Row, Value> (&fields)[N], const Row& a, const Row& b) {
    for (const auto& field : fields)
      if (!compare(kind, name, field.name, a.*field.member, b.*field.member)) return false;
    return true;
  }

  bool compareBodies() {
    for (std::size_t i = 0; i < a_.bodies.size(); ++i) {
      const BodyState &a = a_.bodies[i], &b = b_.bodies[i];
      const std::string& name = recording_.bodyName(static_cast<int>(i));
      if (!compare("body", name, "position", a.pose.translation, b.pose.translation) ||
          !compare("body", name, "quaternion", a.orientation, b.orientation) ||
          !compare("body", name, "linear_velocity", a.linearVelocity, b.linearVelocity) ||
          !compare("body", name, "angular_velocity", a.angularVelocity, b.angularVelocity))
        return false;
    }
    return true;
  }
  [[nodiscard]] std::string nameOf(const ContactForce& contact) const {
    const auto name = [&](int body) {
      return body < 0 ? std::string("nothing") : recording_.bodyName(body);
    };
    return name(contact.body1) + " on " + name(contact.body2);
  }
  bool compareContacts() {
    const std::size_t common = std::min(a_.contacts.size(), b_.contacts.size());
    for (std::size_t i = 0; i < common; ++i) {
      const ContactForce &a = a_.contacts[i], &b = b_.contacts[i];
      const std::string name = nameOf(a);
      if (a.body1 != b.body1 || a.body2 != b.body2) {
        found_ = {.step = std::nullopt,
                  .kind = "contact",
                  .name = name,
                  .quantity = "bodies of contact " + std::to_string(i),
                  .value1 = name,
                  .value2 = nameOf(b)};
        return false;
      }
      if (!compareFields("contact", name, io::kContactInts, a, b) ||
          !compareFields("contact", name, io::kContactIds, a, b) ||
          !compareFields("contact", name, io::kContactVectors, a, b) ||
          !compareFields("contact", name, io::kContactReals, a, b))
        return false;
    }
    if (a_.contacts.size() == b_.contacts.size()) return true;
    const auto& longer = a_.contacts.size() > common ? a_.contacts : b_.contacts;
    return compare("contact", nameOf(longer[common]), "number of contacts",
                   static_cast<int>(a_.contacts.size()), static_cast<int>(b_.contacts.size()));
  }
  bool compareRest() {
    return compare("solver", "", "status", static_cast<int>(a_.report.status),
                   static_cast<int>(b_.report.status)) &&
           compareFields("solver", "", io::kReportInts, a_.report, b_.report) &&
           compareFields("solver", "", io::kReportReals, a_.report, b_.report) &&
           compareFields("energy", "", io::kLedgerReals, a_.energy, b_.energy) &&
           compare("frames", "", "time", a_.time, b_.time) &&
           compare("state", "", "hash of what is not recorded", a_.stateHash, b_.stateHash);
  }

  const RecordingReader& recording_;
  const RecordedFrame& a_;
  const RecordedFrame& b_;
  Real tolerance_;
  RecordingDifference found_;
};

std::optional<RecordingDifference> differenceOfBodies(const RecordingReader& recording1,
                                                      const RecordingReader& recording2) {
  const auto differ = [](const std::string& name, const std::string& quantity,
                         const std::string& value1, const std::string& value2) {
    return RecordingDifference{.step = std::nullopt,
                               .kind = "model",
                               .name = name,
                               .quantity = quantity,
                               .value1 = value1,
                               .value2 = value2};
  };
  const int common = std::min(recording1.numBodies(), recording2.numBodies());
  for (int i = 0; i < common; ++i)
    if (recording1.bodyName(i) != recording2.bodyName(i))
      return differ("", "name of body " + std::to_string(i), recording1.bodyName(i),
                    recording2.bodyName(i));
  if (recording1.numBodies() == recording2.numBodies()) return std::nullopt;
  const RecordingReader& longer = recording1.numBodies() > common ? recording1 : recording2;
  return differ(longer.bodyName(common), "number of bodies", textOf(recording1.numBodies()),
                textOf(recording2.numBodies()));
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
  if (auto difference = differenceOfBodies(recording1, recording2)) return difference;
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
