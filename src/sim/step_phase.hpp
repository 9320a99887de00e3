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

/// Parts of phases; what is left of a phase has no part.
enum class StepPart : std::uint8_t {
  PointContacts,
  PressureGradients,
  TetTrees,
  Polygons,
  ReducePatches,
  SoftAssembly,
  PolygonRows,
  SolverSetup,
  Gradients,
  Factorization,
  Cholesky,
  ContactPcg,
  SoftPcg,
  LineSearch,
};
inline constexpr int kNumStepParts = 14;

[[nodiscard]] constexpr std::string_view stepPartName(StepPart part) {
  constexpr std::string_view kNames[kNumStepParts] = {
      "point_contacts", "pressure_gradients", "bvh",      "polygons",   "reduce_patches",
      "soft_assembly",  "polygon_rows",       "setup",    "gradients",  "factorization",
      "cholesky",       "contact_pcg",        "soft_pcg", "line_search"};
  return kNames[static_cast<int>(part)];
}

[[nodiscard]] constexpr StepPhase phaseOf(StepPart part) {
  if (part <= StepPart::ReducePatches) return StepPhase::NarrowPhase;
  return part <= StepPart::PolygonRows ? StepPhase::BuildProblem : StepPhase::Solve;
}

/// Time spent in each phase; off, it costs one branch a phase. Never part of a result.
struct PhaseClock {
  bool isOn = false;
  std::int64_t total_ns[kNumStepPhases] = {};
  std::int64_t last_ns[kNumStepPhases] = {};  ///< of the last step
  std::int64_t totalOfPart_ns[kNumStepParts] = {};
  std::int64_t lastOfPart_ns[kNumStepParts] = {};
  std::chrono::steady_clock::time_point mark{};

  void begin() {
    if (!isOn) return;
    for (std::int64_t& time : last_ns) time = 0;
    for (std::int64_t& time : lastOfPart_ns) time = 0;
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
  /// Since the last phase ended.
  void endPart(StepPart part) {
    if (!isOn) return;
    const auto now = std::chrono::steady_clock::now();
    addPart(part, std::chrono::duration_cast<std::chrono::nanoseconds>(now - mark).count());
  }
  void addPart(StepPart part, std::int64_t spent_ns) {
    totalOfPart_ns[static_cast<int>(part)] += spent_ns;
    lastOfPart_ns[static_cast<int>(part)] += spent_ns;
  }
};

}  // namespace tangere::sim
