// SPDX-License-Identifier: Apache-2.0
#include "trace.hpp"

#include "console.hpp"

#include <cstdio>

namespace tangere::cli {

namespace {

Real microseconds(Trace::Clock::duration duration) {
  return std::chrono::duration<Real, std::micro>(duration).count();
}

}  // namespace

Trace::Trace(const std::string& path, const std::string& title) : file_(path) {
  const Json name = title;
  file_.write(
      "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
      "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"tid\":1,\"args\":{\"name\":");
  file_.write(name.dump(-1, ' ', false, Json::error_handler_t::replace));
  file_.write("}}");
}

void Trace::addStep(Clock::time_point begin, Clock::time_point end, std::uint64_t step,
                    const StepReport& report, std::span<const PhaseTime> phases) {
  if (isFull()) return;
  ++num_steps_;
  const Real begin_us = microseconds(begin - begin_);
  char arguments[160];
  std::snprintf(arguments, sizeof arguments,
                "{\"contacts\":%d,\"islands\":%d,\"iterations\":%d,\"impacts\":%d,\"status\":%u}",
                report.numContacts, report.numIslands, report.iterations, report.numImpacts,
                static_cast<unsigned>(report.status));
  addEvent("step " + std::to_string(step), begin_us, microseconds(end - begin), arguments);
  Real at_us = begin_us, part_us = begin_us;
  for (const PhaseTime& phase : phases) {
    const Real duration_us = phase.last_s * 1e6;
    const bool isPart = !phase.parent.empty();
    if (!isPart) part_us = at_us;  // its parts begin with it
    if (duration_us <= 0) continue;
    Real& from_us = isPart ? part_us : at_us;
    addEvent(std::string(phase.name), from_us, duration_us);
    from_us += duration_us;
  }
}

void Trace::addSpan(const char* name, Clock::time_point begin) {
  if (!isFull()) addEvent(name, microseconds(begin - begin_), microseconds(Clock::now() - begin));
}

void Trace::addEvent(const std::string& name, Real begin_us, Real duration_us,
                     const std::string& arguments) {
  char text[160];
  const int length = std::snprintf(
      text, sizeof text,
      ",\n{\"name\":\"%.40s\",\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":%.3f,\"dur\":%.3f",
      name.c_str(), begin_us, duration_us);
  file_.write({text, static_cast<std::size_t>(length)});
  if (!arguments.empty()) file_.write(join(",\"args\":", arguments));
  file_.write("}");
}

void Trace::commit() {
  file_.write("\n]}\n");
  file_.commit();
}

}  // namespace tangere::cli
