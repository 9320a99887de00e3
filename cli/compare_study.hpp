// SPDX-License-Identifier: Apache-2.0
//
// One scene under several solvers and step sizes: what differs, how fast the difference goes away,
// and the step to take for a wanted error.
#pragma once

#include "convergence.hpp"
#include "motion_error.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tangere::cli {

enum class ReferenceKind : unsigned char {
  Event,   ///< the event solver
  Finest,  ///< of each solver its own finest step
};

struct StudyOptions {
  std::vector<SolverType> solvers;
  std::vector<Real> steps;  ///< [s], from coarse to fine
  Real duration_s = 1;
  Real wantedError = 0.01;
  std::optional<ReferenceKind> reference{};  ///< without: Event where that can run the scene
  Real referenceLimit_s = 0;                 ///< of computing for the event solver; 0: none
  int keyframe = -1;
  int numThreads = 1;
};

/// One run.
struct LevelResult {
  Motion motion;
  ErrorCurve curve{};  ///< against the reference
  ErrorSummary summary{};
  Real holdsUntil_s = 0;  ///< the wanted error, from the start without a break
  bool isReference = false;
};

/// The largest step that was found to keep the wanted error.
struct Recommendation {
  Real dt = 0;
  Real error = 0;             ///< of this step, that of the reference added
  Real wallPerSimulated = 0;  ///< [s/s]
  bool isMeasured = false;    ///< false: the law of the errors was continued to finer steps
  bool isLowerBound = false;  ///< still coarser ones would do too
};

struct SolverStudy {
  SolverType solver = SolverType::Sap;
  std::string whyNot{};               ///< why it did not run; empty: it did
  std::vector<std::string> notes{};   ///< what of the scene it does not use
  std::vector<LevelResult> levels{};  ///< from coarse to fine
  Real referenceError = 0;            ///< what the reference itself may be off by
  ErrorScales scales{};
  Judgement judgement{};  ///< of the worst body
  std::optional<OrderFit> rmsOrder{}, impulseOrder{}, energyOrder{};
  /// Where errors follow no law over the whole time: until when they do, and which.
  std::optional<OrderFit> earlyFit{};
  Real earlyUntil_s = 0;
  std::optional<Recommendation> recommendation{};
  std::vector<LevelResult> trials{};  ///< runs that looked for the recommended step
};

struct Study {
  Tracking tracking{};
  TimeGrid grid{};
  ReferenceKind referenceKind = ReferenceKind::Finest;
  std::string whyNoEvent{};  ///< why the event solver is not the reference, where it was not told
  std::optional<Motion> eventMotion{};
  std::optional<ErrorCurve> eventUncertainty{};  ///< against a run with looser tolerances
  Real eventUncertaintyWorst = 0;
  Real eventHoldsUntil_s = 0;  ///< how long that stays below a tenth of the wanted error
  std::vector<SolverStudy> solvers{};
  /// Where each solver is its own reference: how far their finest motions are from the first one's.
  std::vector<Real> distanceToFirst{};
};

/// Called before each run, for people who wait.
using Progress = std::function<void(SolverType solver, Real dt)>;

/// Throws CommandError when nothing could be compared, with the reasons.
[[nodiscard]] Study studyScene(const Model& model, const StudyOptions& options,
                               const Progress& progress);

}  // namespace tangere::cli
