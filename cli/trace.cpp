// SPDX-License-Identifier: Apache-2.0
#include "trace.hpp"

#include "console.hpp"

#include <algorithm>
#include <cstdio>

namespace tangere::cli {

namespace {

std::int64_t nanoseconds(Trace::Clock::duration duration) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
}
std::int64_t nanoseconds(Real seconds) { return static_cast<std::int64_t>(seconds * 1e9); }

/// "12.345": a decimal number of microseconds with every nanosecond.
std::string microseconds(std::int64_t time_ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%lld.%03lld", static_cast<long long>(time_ns / 1000),
                static_cast<long long>(time_ns % 1000));
  return text;
}

}  // namespace

Trace::Trace(const std::string& path, const std::string& title) : file_(path) {
  const Json name = title;
  file_.write(
      "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
      "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"tid\":1,\"args\":{\"name\":");
  file_.write(name.dump(-1, ' ', false, Json::error_handler_t::replace));
  file_.write(
      "}},\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":1,\"args\":"
      "{\"name\":\"simulation\"}}");
}

void Trace::addStep(Clock::time_point begin, Clock::time_point end, std::uint64_t step,
                    const StepReport& report, std::span<const PhaseTime> phases) {
  if (isFull()) return;
  ++num_steps_;
  const Nanoseconds from = nanoseconds(begin - begin_), to = nanoseconds(end - begin_);
  char arguments[160];
  std::snprintf(arguments, sizeof arguments,
                "{\"contacts\":%d,\"islands\":%d,\"iterations\":%d,\"impacts\":%d,\"status\":%u}",
                report.numContacts, report.numIslands, report.iterations, report.numImpacts,
                static_cast<unsigned>(report.status));
  addEvent("step " + std::to_string(step), from, to, arguments);
  addPhases(from, to, phases);
}

void Trace::addPhases(Nanoseconds begin, Nanoseconds end, std::span<const PhaseTime> phases) {
  Nanoseconds at = begin;
  for (std::size_t i = 0; i < phases.size();) {
    const PhaseTime& phase = phases[i++];
    const std::size_t firstPart = i;
    Nanoseconds inParts = 0;
    for (; i < phases.size() && !phases[i].parent.empty(); ++i)
      inParts += nanoseconds(phases[i].last_s);
    const Nanoseconds length = std::min(nanoseconds(phase.last_s), end - at);
    if (length <= 0) continue;
    addEvent(std::string(phase.name), at, at + length);
    Nanoseconds partAt = at;
    for (std::size_t k = firstPart; k < i; ++k) {
      const Nanoseconds own = nanoseconds(phases[k].last_s);
      const bool isShared = inParts > length;
      const auto shown =
          isShared ? static_cast<Nanoseconds>(static_cast<Real>(own) * static_cast<Real>(length) /
                                              static_cast<Real>(inParts))
                   : own;
      if (shown <= 0) continue;
      const Nanoseconds partEnd = std::min(partAt + shown, at + length);
      addEvent(std::string(phases[k].name), partAt, partEnd,
               isShared ? join("{\"cpu_us\":", microseconds(own), "}") : "");
      partAt = partEnd;
    }
    at += length;
  }
}

void Trace::addSpan(const char* name, Clock::time_point begin) {
  if (!isFull()) addEvent(name, nanoseconds(begin - begin_), nanoseconds(Clock::now() - begin_));
}

void Trace::addEvent(const std::string& name, Nanoseconds begin, Nanoseconds end,
                     const std::string& arguments) {
  file_.write(join(",\n{\"name\":\"", name, "\",\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":",
                   microseconds(begin), ",\"dur\":", microseconds(end - begin)));
  if (!arguments.empty()) file_.write(join(",\"args\":", arguments));
  file_.write("}");
}

void Trace::commit() {
  file_.write("\n]}\n");
  file_.commit();
}

}  // namespace tangere::cli
