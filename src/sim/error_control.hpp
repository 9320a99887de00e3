// SPDX-License-Identifier: Apache-2.0
//
// Steps whose length follows their error. A part of the step is taken once whole and once as two
// halves; the halves are kept when no coordinate differs by more than the accuracy asked for, and
// the difference, which falls with the square of the length, tells how long the next part may be.
#pragma once

#include "sim/step.hpp"

namespace tangere::sim {

class ErrorControl {
 public:
  explicit ErrorControl(const model::ModelData& model) : model_(model) {}

  /// One step of options.dt in as many parts as it takes. The ledger and the report of `ws` are
  /// those of the whole step; forces and contacts those of its last part.
  void step(const model::Control& control, State& state, model::Workspace& ws,
            contact::SapWorkspace& sap, PhaseClock& clock);

 private:
  model::ModelData model_;  ///< a copy whose dt changes
  model::Control control_;
  State start_, whole_;
};

}  // namespace tangere::sim
