// SPDX-License-Identifier: Apache-2.0
//
// Steps of models with soft bodies or pressure: one in which bodies would move past a thin one is
// taken in as many parts as it needs, and one that fails whole is taken again in 2, 4, ... parts
// before it is given up.
#pragma once

#include "sim/step.hpp"

namespace tangere::sim {

class DividedStep {
 public:
  explicit DividedStep(const model::ModelData& model) : model_(model) {}

  /// The ledger and the report of `ws` are those of the whole step; forces and contacts those of
  /// its last part. When the step is refused the State is the one before.
  void step(const model::Control& control, State& state, model::Workspace& ws,
            contact::SapWorkspace& sap, PhaseClock& clock);

 private:
  bool stepInParts(int numParts, const model::Control& control, State& state, model::Workspace& ws,
                   contact::SapWorkspace& sap, PhaseClock& clock);

  model::ModelData model_;  ///< a copy whose dt changes
  model::Control control_;
  State start_;
};

/// The targets of driven vertices after `part` of a step that began at `start`: on straight lines.
void placeTargets(const model::ModelData& model, const model::Control& whole, const State& start,
                  Real part, model::Control* out);
/// Forgets what a workspace knows of a State that was replaced.
void forgetState(model::Workspace& ws, contact::SapWorkspace& sap);
/// The report of a step from those of its parts, in order.
void addReport(const StepReport& part, StepReport* sum);

}  // namespace tangere::sim
