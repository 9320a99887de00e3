// SPDX-License-Identifier: Apache-2.0
//
// Looks for the largest step that keeps a wanted error: between the steps of a ladder, or beyond
// its ends. What it finds it has run.
#pragma once

#include "convergence.hpp"

#include <functional>
#include <limits>
#include <optional>
#include <vector>

namespace tangere::cli {

struct StepSearchRequest {
  std::vector<LadderError> ladder{};  ///< from coarse to fine, measured
  std::optional<OrderFit> fit{};      ///< where the errors follow one
  Real wantedError = 0;
  Real coarsestAllowed = 0;  ///< [s]
  Real finestAllowed = 0;    ///< below, steps are not run any more [s]
};

struct FoundStep {
  Real dt = 0;
  Real error = 0;
  bool isMeasured = false;
  bool isLowerBound = false;  ///< the coarsest allowed would do
};

/// `measure` runs a step and gives its error; infinite where the run fails. Of the steps of the
/// ladder all that are finer than the answer keep the wanted error too. Nothing where no step that
/// could be run keeps it and no law says which would.
[[nodiscard]] std::optional<FoundStep> findLargestStep(const StepSearchRequest& request,
                                                       const std::function<Real(Real)>& measure);

}  // namespace tangere::cli
