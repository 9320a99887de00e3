// SPDX-License-Identifier: Apache-2.0
//
// The families of accuracy cases: each builds its scene from the parameters of a case and measures
// the quantities that have a reference.
#pragma once

#include <tangere/model.hpp>

#include "console.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tangere::cli {

/// Measured values by quantity; a scalar is a vector of one.
using Measured = std::map<std::string, std::vector<double>>;

/// What a lane is about, beside a solver.
enum class LaneKind : std::uint8_t {
  Stepping,        ///< a step
  FinePressure,    ///< pressure fields of many tetrahedra; the step is the family's choice
  CoarsePressure,  ///< pressure fields as fine as they are without a wish
  Elastic,         ///< deformable bodies; the step is the family's choice
  Accurate,        ///< the event solver; tolerances are the family's choice
  Kernel,          ///< one call of a solver or of a query
};

/// How a case is run.
struct Lane {
  double dt = 0;  ///< [s]
  SolverType solver = SolverType::Impulse;
  bool isLagged = false;  ///< SAP with Hunt and Crossley's contact
  LaneKind kind = LaneKind::Stepping;
};

/// Runs one family. Throws InvalidInput on parameters that make no scene.
using FamilyFunction = Measured (*)(const Json& parameters, const Lane& lane);

/// The same in the accurate lane, by the event solver.
using AccurateFunction = Measured (*)(const Json& parameters);

struct Family {
  FamilyFunction run = nullptr;       ///< null: the accurate lane alone
  std::vector<SolverType> solvers{};  ///< that can express it
  bool hasLagged = false;
  std::vector<LaneKind> kinds{LaneKind::Stepping};
  /// Quantities that may be missing from what is measured, and why.
  std::map<std::string, std::string> notMeasured{};
  AccurateFunction runAccurate = nullptr;
  std::string whyNotAccurate{};  ///< where that is null
};

[[nodiscard]] const std::map<std::string, Family>& families();

/// What stands for a word ("stick", "slide", "open") among numbers; negative: not a known one.
[[nodiscard]] double labelCode(std::string_view label);

/// A parameter of a case. Throws InvalidInput when it is no number.
[[nodiscard]] double number(const Json& parameters, const char* name);
/// Converged to rounding, no sleeping, no threshold: what a reference is compared with.
[[nodiscard]] SimulationOptions accurateOptions(const Lane& lane, const Vec3& gravity);

}  // namespace tangere::cli
