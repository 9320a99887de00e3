// SPDX-License-Identifier: Apache-2.0
#include "compare_study.hpp"

#include "console.hpp"
#include "step_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tangere::cli {

namespace {

constexpr int kMaxTimes = 400;
// Of the points that one motion remembers; fewer times are looked at where there are many bodies.
constexpr int kMaxPointsKept = 1'000'000;
constexpr int kMinTimes = 20;
// The event solver is asked twice: the looser answer tells what the other is worth.
constexpr Real kLooser = 10;
constexpr Real kInfinite = std::numeric_limits<Real>::infinity();
// How many steps a duration has at least, and how far a step may be coarser than the coarsest
// tried.
constexpr Real kMinStepsOfDuration = 8;
constexpr Real kMaxCoarser = 64;
constexpr Real kMaxFiner = 4;
// While errors fall with less than this, chaos has begun.
constexpr Real kEarlyOrder = 0.75;

class StudyMaker {
 public:
  StudyMaker(const Model& model, const StudyOptions& options, const Progress& progress)
      : model_(model), options_(options), progress_(progress) {
    study_.tracking = trackBodies(model);
    if (study_.tracking.bodies.empty())
      throw CommandError(kInputRejected, "nothing in the scene can move");
    const int times = std::clamp(kMaxPointsKept / study_.tracking.numPoints, kMinTimes, kMaxTimes);
    study_.grid = makeTimeGrid(options.duration_s, options.steps.front(), times);
  }

  Study make() {
    if (options_.reference != ReferenceKind::Finest) runEventReference();
    for (const SolverType solver : options_.solvers)
      study_.solvers.push_back(solver == SolverType::Event ? studyEvent() : studySteps(solver));
    requireSomething();
    if (study_.referenceKind == ReferenceKind::Finest) compareFinest();
    return std::move(study_);
  }

 private:
  [[nodiscard]] Model modelWith(SolverType solver, Real dt) const {
    SimulationOptions changed = model_.options();
    changed.solver = solver;
    changed.dt = dt;
    changed.accuracy = 0;  // errors of whole steps are asked for
    return model_.withOptions(changed);
  }

  Motion record(const Model& model) {
    progress_(model.options().solver, model.options().dt);
    const bool isEvent = model.options().solver == SolverType::Event;
    return recordMotion({.model = model,
                         .keyframe = options_.keyframe,
                         .numThreads = options_.numThreads,
                         .wallLimit_s = isEvent ? options_.referenceLimit_s : 0},
                        study_.tracking, study_.grid);
  }

  // ---- the event solver

  /// Leaves the reason in whyNoEvent when there is none.
  void runEventReference() {
    const bool isNeeded = options_.reference == ReferenceKind::Event;
    try {
      Motion motion = record(modelWith(SolverType::Event, study_.grid.interval));
      if (motion.isComplete())
        study_.eventMotion = std::move(motion);
      else
        study_.whyNoEvent = motion.stopped;
    } catch (const InvalidInput& error) {
      study_.whyNoEvent = error.what();
    }
    if (!study_.eventMotion) {
      if (isNeeded)
        throw CommandError(kInputRejected,
                           join("the event solver cannot run this scene: ", study_.whyNoEvent));
      return;
    }
    study_.referenceKind = ReferenceKind::Event;
    measureUncertainty();
  }

  void measureUncertainty() {
    SimulationOptions looser = modelWith(SolverType::Event, study_.grid.interval).options();
    looser.event.relativeTolerance *= kLooser;
    looser.event.absoluteTolerance *= kLooser;
    const Motion motion = record(model_.withOptions(looser));
    study_.eventUncertainty = errorBetween(motion, *study_.eventMotion, study_.tracking,
                                           scalesOf(*study_.eventMotion, study_.tracking));
    study_.eventUncertaintyWorst =
        motion.isComplete() ? summarize(*study_.eventUncertainty, study_.grid.numTimes).worst : 1;
    study_.eventHoldsUntil_s = holdsUntil(*study_.eventUncertainty, options_.wantedError / 10);
  }

  SolverStudy studyEvent() {
    SolverStudy out{.solver = SolverType::Event};
    if (!study_.eventMotion && study_.whyNoEvent.empty()) runEventAlone();
    out.whyNot = study_.whyNoEvent;
    if (!study_.eventMotion) return out;
    out.notes = modelWith(SolverType::Event, study_.grid.interval).unused();
    out.scales = scalesOf(*study_.eventMotion, study_.tracking);
    out.referenceError = study_.eventUncertaintyWorst;
    out.levels.push_back(
        {.motion = *study_.eventMotion, .holdsUntil_s = study_.grid.duration, .isReference = true});
    return out;
  }

  void runEventAlone() {
    runEventReference();
    study_.referenceKind = ReferenceKind::Finest;
  }

  // ---- solvers with a fixed step

  SolverStudy studySteps(SolverType solver) {
    SolverStudy out{.solver = solver};
    try {
      for (const Real dt : options_.steps) {
        const Model model = modelWith(solver, dt);
        out.notes = model.unused();
        out.levels.push_back({.motion = record(model)});
      }
    } catch (const InvalidInput& error) {
      out.whyNot = error.what();
      out.levels.clear();
      return out;
    }
    const int finest = finestComplete(out);
    if (finest < 0) {
      out.whyNot = out.levels.back().motion.stopped;
      return out;
    }
    const bool isOwn = study_.referenceKind == ReferenceKind::Finest;
    const Motion reference =
        isOwn ? out.levels[static_cast<std::size_t>(finest)].motion : *study_.eventMotion;
    out.scales = scalesOf(reference, study_.tracking);
    for (LevelResult& level : out.levels) measure(level, reference, out.scales);
    if (isOwn) out.levels[static_cast<std::size_t>(finest)].isReference = true;
    judgeLevels(out);
    recommend(out, reference);
    return out;
  }

  static int finestComplete(const SolverStudy& study) {
    for (int i = static_cast<int>(study.levels.size()) - 1; i >= 0; --i)
      if (study.levels[static_cast<std::size_t>(i)].motion.isComplete()) return i;
    return -1;
  }

  void measure(LevelResult& level, const Motion& reference, const ErrorScales& scales) const {
    level.curve = errorBetween(level.motion, reference, study_.tracking, scales);
    level.summary = summarize(level.curve, study_.grid.numTimes);
    level.holdsUntil_s = holdsUntil(level.curve, options_.wantedError);
  }

  /// The last time before the curve rises above `wanted`.
  [[nodiscard]] Real holdsUntil(const ErrorCurve& curve, Real wanted) const {
    return study_.grid.time(std::max(firstBeyond(curve, wanted) - 1, 0));
  }

  /// Errors of one kind, up to a time of the grid, of the runs that came to their end.
  template <class Quantity>
  static std::vector<LadderError> ladderOf(const SolverStudy& study, int numTimes,
                                           Quantity quantity) {
    std::vector<LadderError> ladder;
    for (const LevelResult& level : study.levels)
      if (level.motion.isComplete() && !level.isReference)
        ladder.push_back(
            {.dt = level.motion.dt, .error = summarize(level.curve, numTimes).*quantity});
    return ladder;
  }

  /// What the errors up to a time of the grid were measured against.
  [[nodiscard]] ReferenceOfLadder referenceOf(const SolverStudy& study, int numTimes) const {
    if (study_.referenceKind == ReferenceKind::Event)
      return {.floor = summarize(*study_.eventUncertainty, numTimes).worst};
    for (const LevelResult& level : study.levels)
      if (level.isReference) return {.dt = level.motion.dt};
    return {};
  }

  std::vector<LadderError> differencesOf(const SolverStudy& study) const {
    std::vector<LadderError> out;
    const LevelResult* before = nullptr;
    for (const LevelResult& level : study.levels) {
      if (!level.motion.isComplete()) continue;
      if (before != nullptr) {
        const ErrorCurve curve =
            errorBetween(before->motion, level.motion, study_.tracking, study.scales);
        out.push_back(
            {.dt = before->motion.dt, .error = summarize(curve, study_.grid.numTimes).worst});
      }
      before = &level;
    }
    return out;
  }

  void judgeLevels(SolverStudy& study) {
    const int all = study_.grid.numTimes;
    const ReferenceOfLadder reference = referenceOf(study, all);
    Evidence evidence{.ladder = ladderOf(study, all, &ErrorSummary::worst),
                      .differences = differencesOf(study),
                      .reference = reference,
                      .wantedError = options_.wantedError};
    for (const LevelResult& level : study.levels)
      if (level.motion.isComplete() && !level.isReference &&
          level.holdsUntil_s < study_.grid.duration)
        evidence.horizons.push_back({.dt = level.motion.dt, .time = level.holdsUntil_s});
    study.judgement = judge(evidence);
    study.rmsOrder = fitOrder(ladderOf(study, all, &ErrorSummary::rms), reference);
    study.impulseOrder = fitOrder(ladderOf(study, all, &ErrorSummary::impulse), reference);
    study.energyOrder = fitOrder(ladderOf(study, all, &ErrorSummary::energy), reference);
    study.referenceError = errorOfReference(study, evidence);
    const Verdict verdict = study.judgement.verdict;
    if (verdict == Verdict::Chaotic || verdict == Verdict::Scattered) findEarlyFit(study);
  }

  [[nodiscard]] Real errorOfReference(const SolverStudy& study, const Evidence& evidence) const {
    if (study_.referenceKind == ReferenceKind::Event) return study_.eventUncertaintyWorst;
    if (study.judgement.fit) return study.judgement.fit->errorOf(evidence.reference.dt);
    // Nothing better is known than that the next coarser step is off by that much.
    return evidence.ladder.empty() ? 1 : evidence.ladder.back().error;
  }

  /// Chaos begins somewhere: before, errors fall as they should.
  void findEarlyFit(SolverStudy& study) {
    constexpr int kParts = 40;
    for (int part = kParts - 1; part > 1; --part) {
      const int numTimes = study_.grid.numTimes * part / kParts;
      if (numTimes < 3) return;
      const std::optional<OrderFit> fit =
          fitOrder(ladderOf(study, numTimes, &ErrorSummary::worst), referenceOf(study, numTimes));
      if (!fit || fit->order < kEarlyOrder) continue;
      study.earlyFit = fit;
      study.earlyUntil_s = study_.grid.time(numTimes - 1);
      return;
    }
  }

  // ---- the step to take

  void recommend(SolverStudy& study, const Motion& reference) {
    const bool isOwn = study_.referenceKind == ReferenceKind::Finest;
    const Real finest = options_.steps.back();
    StepSearchRequest request{
        .fit = study.judgement.fit,
        .wantedError = options_.wantedError,
        .coarsestAllowed = std::min({kMaxCoarser * options_.steps.front(),
                                     study_.grid.duration / kMinStepsOfDuration, Real(1)}),
        .finestAllowed = isOwn ? finest : finest / kMaxFiner};
    for (const LevelResult& level : study.levels)
      request.ladder.push_back({.dt = level.motion.dt, .error = fullError(study, level)});
    const auto measureStep = [&](Real dt) {
      study.trials.push_back({.motion = record(modelWith(study.solver, dt))});
      measure(study.trials.back(), reference, study.scales);
      return fullError(study, study.trials.back());
    };
    const std::optional<FoundStep> found = findLargestStep(request, measureStep);
    if (!found) return;
    study.recommendation = Recommendation{.dt = found->dt,
                                          .error = found->error,
                                          .wallPerSimulated = costOf(study, found->dt),
                                          .isMeasured = found->isMeasured,
                                          .isLowerBound = found->isLowerBound};
  }

  /// With what the reference itself may be off by.
  static Real fullError(const SolverStudy& study, const LevelResult& level) {
    if (!level.motion.isComplete()) return kInfinite;
    return level.summary.worst + study.referenceError;
  }

  /// Measured, or that of the finest with as many more steps as it takes.
  static Real costOf(const SolverStudy& study, Real dt) {
    for (const std::vector<LevelResult>* list : {&study.trials, &study.levels})
      for (const LevelResult& level : *list)
        if (level.motion.dt == dt) return level.motion.wallPerSimulated();
    const Motion& finest = study.levels.back().motion;
    return finest.wallPerSimulated() * finest.dt / dt;
  }

  // ---- all together

  void requireSomething() const {
    std::string reasons;
    for (const SolverStudy& study : study_.solvers) {
      if (study.whyNot.empty()) return;
      reasons +=
          join(reasons.empty() ? "" : "; ", solverTypeName(study.solver), ": ", study.whyNot);
    }
    throw CommandError(kInputRejected, join("no solver could run the scene: ", reasons));
  }

  void compareFinest() {
    const SolverStudy* first = nullptr;
    for (const SolverStudy& study : study_.solvers) {
      if (!study.whyNot.empty()) {
        study_.distanceToFirst.push_back(-1);
        continue;
      }
      if (first == nullptr) first = &study;
      const auto motionOf = [](const SolverStudy& s) -> const Motion& {
        return s.levels[static_cast<std::size_t>(finestComplete(s))].motion;
      };
      const ErrorCurve curve =
          errorBetween(motionOf(study), motionOf(*first), study_.tracking, first->scales);
      study_.distanceToFirst.push_back(summarize(curve, study_.grid.numTimes).worst);
    }
  }

  const Model& model_;
  const StudyOptions& options_;
  const Progress& progress_;
  Study study_;
};

}  // namespace

Study studyScene(const Model& model, const StudyOptions& options, const Progress& progress) {
  return StudyMaker(model, options, progress).make();
}

}  // namespace tangere::cli
