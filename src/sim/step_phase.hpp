// SPDX-License-Identifier: Apache-2.0
//
// The phases of a step, shared by the step, the profiler and the docs.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

namespace tangere::sim {

enum class StepPhase : std::uint8_t {
  Kinematics,
  BroadPhase,
  NarrowPhase,
  Patches,
  BuildProblem,
  Impacts,
  Solve,
  Integrate,
  Ledger,
};
inline constexpr int kNumStepPhases = 9;

[[nodiscard]] constexpr std::string_view stepPhaseName(StepPhase phase) {
  constexpr std::string_view kNames[kNumStepPhases] = {
      "kinematics", "broad_phase", "narrow_phase", "patches", "build_problem",
      "impacts",    "solve",       "integrate",    "ledger"};
  return kNames[static_cast<int>(phase)];
}

/// Time spent in each phase; off, it costs one branch a phase. Never part of a result.
struct PhaseClock {
  bool isOn = false;
  std::int64_t total_ns[kNumStepPhases] = {};
  std::int64_t last_ns[kNumStepPhases] = {};  ///< of the last step
  std::chrono::steady_clock::time_point mark{};

  void begin() {
    if (!isOn) return;
    for (std::int64_t& time : last_ns) time = 0;
    mark = std::chrono::steady_clock::now();
  }
  /// Ends the phase; what follows belongs to the next.
  void end(StepPhase phase) {
    if (!isOn) return;
    const auto now = std::chrono::steady_clock::now();
    const auto spent = std::chrono::duration_cast<std::chrono::nanoseconds>(now - mark).count();
    total_ns[static_cast<int>(phase)] += spent;
    last_ns[static_cast<int>(phase)] += spent;
    mark = now;
  }
};

}  // namespace tangere::sim
