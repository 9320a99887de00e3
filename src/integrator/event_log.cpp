// SPDX-License-Identifier: Apache-2.0
//
// The log of events as text. Numbers are the shortest that read back to the same bits, as the log
// of the Modia3D tools prints them; what describes the contact has three digits.
#include <tangere/integrator.hpp>

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace tangere {

namespace {

/// The digits and the exponent of a scientific number.
std::string layOut(std::string_view scientific) {
  const bool isNegative = scientific.front() == '-';
  if (isNegative) scientific.remove_prefix(1);
  const std::size_t e = scientific.find('e');
  if (e == std::string_view::npos) return std::string(scientific);
  const int exponent = std::atoi(std::string(scientific.substr(e + 1)).c_str());
  std::string digits;
  for (const char c : scientific.substr(0, e)) {
    if (c != '.') digits += c;
  }
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  const auto count = static_cast<int>(digits.size());
  std::string out(isNegative ? "-" : "");
  constexpr int kLargest = 6, kSmallest = -4;  // beyond these with an exponent
  if (digits == "0") {
    out += "0.0";
  } else if (exponent >= kLargest || exponent < kSmallest) {
    out += digits.front();
    out += '.';
    out += count > 1 ? std::string_view(digits).substr(1) : std::string_view("0");
    out += 'e';
    out += std::to_string(exponent);
  } else if (exponent < 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-exponent - 1), '0');
    out += digits;
  } else {
    if (count < exponent + 2) digits.append(static_cast<std::size_t>(exponent + 2 - count), '0');
    digits.insert(static_cast<std::size_t>(exponent + 1), 1, '.');
    out += digits;
  }
  return out;
}

std::string exact(Real value) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific);
  return layOut({text, static_cast<std::size_t>(end.ptr - text)});
}

std::string rounded(Real value) {
  constexpr int kDigitsAfterFirst = 2;
  char text[64];
  const Real shown = value == 0 ? Real(0) : value;  // no "-0.0"
  const auto end = std::to_chars(text, text + sizeof text, shown, std::chars_format::scientific,
                                 kDigitsAfterFirst);
  return layOut({text, static_cast<std::size_t>(end.ptr - text)});
}

std::string rounded(const Vec3& v) {
  std::string text("[");
  text += rounded(v.x);
  text += ", ";
  text += rounded(v.y);
  text += ", ";
  text += rounded(v.z);
  text += ']';
  return text;
}

}  // namespace

const char* eventSignalName(EventCause cause) {
  switch (cause) {
    case EventCause::ContactEnds:
      return "z[1]";
    case EventCause::ContactBegins:
    case EventCause::Impact:
      return "z[2]";
    case EventCause::ForceVanishes:
    case EventCause::ForceReturns:
      return "z[3]";
  }
  return "z[?]";
}

std::string describe(const EventRecord& event, const Model& model) {
  std::string pair("(");
  pair += model.bodyName(event.body1);
  pair += ',';
  pair += model.bodyName(event.body2);
  pair += ')';
  std::string text = "State event (zero-crossing) at time = " + exact(event.time) + " s (due to " +
                     eventSignalName(event.cause) + ")\n";
  const bool isTension =
      event.cause == EventCause::ForceVanishes || event.cause == EventCause::ForceReturns;
  if (isTension) {
    const bool isReturn = event.cause == EventCause::ForceReturns;
    text += "    tension" + pair + (isReturn ? " became <= 0" : " became > 0") + "\n";
  } else {
    const bool isEnd = event.cause == EventCause::ContactEnds;
    text += "    distance" + pair + " = " + exact(event.distance) +
            (isEnd ? " became > 0" : " became <= 0") + "\n";
    if (!isEnd) {
      text += "    contact normal = " + rounded(-event.normal) +
              ", contact position = " + rounded(event.position);
      if (event.cause == EventCause::Impact)
        text += ", impact speed = " + rounded(event.approachSpeed) + "\n";
      else
        text +=
            ", c_res = " + rounded(event.stiffness) + " d_res = " + rounded(event.damping) + "\n";
    }
  }
  text += std::string("    restart = ") + (event.isRestart ? "Restart" : "NoRestart") + "\n";
  return text;
}

}  // namespace tangere
