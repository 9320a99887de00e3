// SPDX-License-Identifier: Apache-2.0
//
// Where the time of a run goes, as a file that chrome://tracing and Perfetto open: a bar for each
// step and, under it, its phases with their parts. Within a step the phases stand in their order,
// and the parts of a phase in theirs, each as one bar, also where it is entered more than once.
// Bars are nested to the nanosecond, as Perfetto demands: where the parts of several threads add up
// to more than their phase took, they share its bar in proportion and say their time as "cpu_us".
#pragma once

#include "output_file.hpp"

#include <tangere/simulator.hpp>

#include <chrono>
#include <cstdint>
#include <span>
#include <string>

namespace tangere::cli {

class Trace {
 public:
  using Clock = std::chrono::steady_clock;
  /// A browser can still open this many.
  static constexpr std::uint64_t kMaxSteps = 50000;

  /// Throws CommandError with kInputOutput, as all functions do.
  Trace(const std::string& path, const std::string& title);

  void addStep(Clock::time_point begin, Clock::time_point end, std::uint64_t step,
               const StepReport& report, std::span<const PhaseTime> phases);
  /// Something else that took time since `begin`.
  void addSpan(const char* name, Clock::time_point begin);
  /// Whether a step was left out because there were too many.
  [[nodiscard]] bool isFull() const { return num_steps_ >= kMaxSteps; }
  void commit();

 private:
  using Nanoseconds = std::int64_t;  ///< since the begin of the trace

  void addPhases(Nanoseconds begin, Nanoseconds end, std::span<const PhaseTime> phases);
  void addEvent(const std::string& name, Nanoseconds begin, Nanoseconds end,
                const std::string& arguments = "");

  OutputFile file_;
  Clock::time_point begin_ = Clock::now();
  std::uint64_t num_steps_ = 0;
};

}  // namespace tangere::cli
