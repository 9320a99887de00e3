// SPDX-License-Identifier: Apache-2.0
#include "compare_report.hpp"

#include <tangere/recording.hpp>

#include <cmath>
#include <cstdio>

namespace tangere::cli {

namespace {

template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[512];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

const std::string& bodyName(const Study& study, int body) {
  static const std::string kNobody = "-";
  return body < 0 ? kNobody : study.tracking.bodies[static_cast<std::size_t>(body)].name;
}

/// A number of the law that errors follow is worth two digits.
std::string orderText(const OrderFit& fit) {
  return format("order %.2f in dt (over %d steps)", fit.order, fit.numLevels);
}

std::string horizonText(const ComparedScene& scene, const SolverStudy& study) {
  Real longest = 0, dt = 0;
  for (const LevelResult& level : study.levels)
    if (!level.isReference && level.holdsUntil_s >= longest) {
      longest = level.holdsUntil_s;
      dt = level.motion.dt;
    }
  return join("an error of ", percentText(scene.wantedError), " is kept until ", timeText(longest),
              " at most (dt ", timeText(dt), ")");
}

/// What is left to say of errors that jump with where the steps fall.
std::string overallText(const Judgement& judgement) {
  if (!judgement.overall) return {};
  char text[64];
  std::snprintf(text, sizeof text, ", over all of them they fall with order %.2f",
                judgement.overall->order);
  return text;
}

std::string earlyText(const SolverStudy& study) {
  if (!study.earlyFit) return {};
  return join("; until ", timeText(study.earlyUntil_s), " they fall with ",
              orderText(*study.earlyFit));
}

Json orNull(bool exists, Real value) { return exists ? Json(value) : Json(nullptr); }

Json fitJson(const std::optional<OrderFit>& fit) {
  if (!fit) return nullptr;
  return {{"order", fit->order},
          {"factor", fit->factor},
          {"levels", fit->numLevels},
          {"scatter", fit->scatter}};
}

Json levelJson(const Study& study, const LevelResult& level) {
  const ErrorSummary& summary = level.summary;
  const bool hasError = !level.isReference && level.motion.isComplete();
  Json energy = Json::object();
  for (const LedgerRow& row : energyLedgerRows()) energy[row.name] = level.motion.ledger.*row.value;
  return {
      {"dt", level.motion.dt},
      {"steps", level.motion.numSteps},
      {"is_reference", level.isReference},
      {"stopped", level.motion.isComplete() ? Json(nullptr) : Json(level.motion.stopped)},
      {"error_max", orNull(hasError, summary.worst)},
      {"body", summary.worstBody < 0 ? Json(nullptr) : Json(bodyName(study, summary.worstBody))},
      {"time_s", orNull(summary.worstTime >= 0, study.grid.time(summary.worstTime))},
      {"error_rms", orNull(hasError, summary.rms)},
      {"impulse_error", orNull(hasError, summary.impulse)},
      {"energy_error", orNull(hasError, summary.energy)},
      {"holds_until_s", level.holdsUntil_s},
      {"wall_s_per_s", level.motion.wallPerSimulated()},
      {"energy", energy},
      {"error_over_time", level.curve.worst},
      {"rms_over_time", level.curve.rms},
      {"impulse_error_over_time", level.curve.impulse},
      {"energy_error_over_time", level.curve.energy}};
}

Json recommendationJson(const std::optional<Recommendation>& recommendation) {
  if (!recommendation) return nullptr;
  return {{"dt", recommendation->dt},
          {"error", recommendation->error},
          {"wall_s_per_s", recommendation->wallPerSimulated},
          {"measured", recommendation->isMeasured},
          {"coarser_would_do", recommendation->isLowerBound}};
}

Json solverJson(const ComparedScene& scene, std::size_t index) {
  const SolverStudy& study = scene.study->solvers[index];
  Json json = {{"solver", solverTypeName(study.solver)},
               {"ran", study.whyNot.empty()},
               {"why_not", study.whyNot.empty() ? Json(nullptr) : Json(study.whyNot)},
               {"notes", study.notes}};
  if (!study.whyNot.empty()) return json;
  Json levels = Json::array(), trials = Json::array();
  for (const LevelResult& level : study.levels) levels.push_back(levelJson(*scene.study, level));
  for (const LevelResult& trial : study.trials)
    trials.push_back({{"dt", trial.motion.dt},
                      {"error_max", orNull(trial.motion.isComplete(), trial.summary.worst)},
                      {"wall_s_per_s", trial.motion.wallPerSimulated()}});
  json["levels"] = levels;
  json["trials"] = trials;
  json["reference_error"] = study.referenceError;
  const bool isEvent = study.solver == SolverType::Event;
  json["verdict"] = isEvent ? "reference" : verdictName(study.judgement.verdict);
  json["order"] = {{"max", fitJson(study.judgement.fit)},
                   {"rms", fitJson(study.rmsOrder)},
                   {"impulse", fitJson(study.impulseOrder)},
                   {"energy", fitJson(study.energyOrder)}};
  json["overall_order"] = fitJson(study.judgement.overall);
  const bool isChaotic = study.judgement.verdict == Verdict::Chaotic;
  const std::optional<ErrorGrowth> growth = isChaotic ? study.judgement.growth : std::nullopt;
  json["growth_per_s"] = orNull(growth.has_value(), growth ? growth->rate : 0);
  json["gain_per_halving_s"] = orNull(growth.has_value(), growth ? growth->gainPerHalving : 0);
  json["early_order"] = fitJson(study.earlyFit);
  json["early_until_s"] = orNull(study.earlyFit.has_value(), study.earlyUntil_s);
  if (!scene.study->distanceToFirst.empty())
    json["distance_to_first"] = scene.study->distanceToFirst[index];
  json["recommended"] = recommendationJson(study.recommendation);
  json["sentence"] = verdictSentence(scene, study);
  json["recommendation"] = recommendationSentence(scene, study);
  return json;
}

void printLevel(const Study& study, const char* solver, const LevelResult& level) {
  const ErrorSummary& s = level.summary;
  std::printf("  %-8s %9s ", solver,
              std::string_view(solver) == "event" ? "-" : timeText(level.motion.dt).c_str());
  if (level.isReference)
    std::printf("%10s %10s %10s %10s", "reference", "", "", "");
  else if (!level.motion.isComplete())
    std::printf("stopped after %-27s", timeText(level.motion.simulated_s).c_str());
  else
    std::printf("%10s %10s %10s %10s", percentText(s.worst).c_str(), percentText(s.rms).c_str(),
                percentText(s.impulse).c_str(), percentText(s.energy).c_str());
  std::printf(" %11s %9s", timeText(level.motion.wallPerSimulated()).c_str(),
              level.isReference ? "" : timeText(level.holdsUntil_s).c_str());
  if (s.worstBody >= 0)
    std::printf("  %s at %s", bodyName(study, s.worstBody).c_str(),
                timeText(study.grid.time(s.worstTime)).c_str());
  std::printf("\n");
}

}  // namespace

std::string timeText(Real seconds) {
  const Real size = std::fabs(seconds);
  if (size >= 0.9995 || size == 0) return format("%.4g s", seconds);
  if (size >= 0.9995e-3) return format("%.4g ms", seconds * 1e3);
  return format("%.4g us", seconds * 1e6);
}

std::string percentText(Real error) { return format("%.3g %%", error * 100); }

std::string referenceSentence(const ComparedScene& scene) {
  const Study& study = *scene.study;
  if (study.referenceKind == ReferenceKind::Event) {
    std::string text = join("the event solver, known to ", percentText(study.eventUncertaintyWorst),
                            " (its difference to a run with ten times looser tolerances)");
    if (study.eventHoldsUntil_s < study.grid.duration)
      text += join("; after ", timeText(study.eventHoldsUntil_s),
                   " it is itself off by more than a tenth of the wanted error");
    return text;
  }
  std::string text = "of each solver its own finest step; orders account for its error";
  if (!study.whyNoEvent.empty()) text += join(". The event solver: ", study.whyNoEvent);
  return text;
}

std::string verdictSentence(const ComparedScene& scene, const SolverStudy& study) {
  const Judgement& judgement = study.judgement;
  if (!study.whyNot.empty()) return join("not run: ", study.whyNot);
  if (study.solver == SolverType::Event) return "no step to choose: it takes its own";
  switch (judgement.verdict) {
    case Verdict::Converges:
      return join("converges with ", orderText(*judgement.fit));
    case Verdict::Exact:
      return join("off by ", percentText(judgement.largest),
                  " at most with every step: nothing to choose by");
    case Verdict::Plateau:
      return join("does not converge to the reference: an error of ",
                  percentText(judgement.plateau),
                  " stays however small the step. Its contact law is another one");
    case Verdict::Chaotic:
      return join(
          "does not converge over the whole time: errors grow exponentially, each halving "
          "of the step follows the motion for only ",
          timeText(judgement.growth->gainPerHalving), " longer; ", horizonText(scene, study),
          earlyText(study));
    case Verdict::Scattered:
      return join("no order: errors follow no power of the step", overallText(judgement), "; ",
                  judgement.plateau > scene.wantedError
                      ? horizonText(scene, study)
                      : join("the finest is off by ", percentText(judgement.plateau)),
                  earlyText(study));
    case Verdict::TooFew:
      return "too few steps to tell an order: give at least three besides the reference";
  }
  return {};
}

std::string recommendationSentence(const ComparedScene& scene, const SolverStudy& study) {
  if (!study.whyNot.empty() || study.solver == SolverType::Event) return {};
  const std::string wanted = percentText(scene.wantedError);
  if (!study.recommendation) {
    if (study.judgement.verdict == Verdict::Plateau)
      return join("no step gives ", wanted, ": the laws differ by more");
    return join("no step that was tried gives ", wanted,
                " over the whole time, and the errors do not say which would");
  }
  const Recommendation& r = *study.recommendation;
  return join("for ", wanted, ": dt = ", timeText(r.dt),
              r.isLowerBound ? " (coarser ones, not tried, would do too)" : "", ", error ",
              percentText(r.error), ", ", timeText(r.wallPerSimulated),
              " of computing for a second",
              r.isMeasured ? "" : " (continued from the errors of coarser steps, not run)");
}

std::vector<std::string> lawSentences(const ComparedScene& scene) {
  std::vector<std::string> out;
  for (const SolverStudy& study : scene.study->solvers) {
    if (!study.whyNot.empty()) continue;
    switch (study.solver) {
      case SolverType::Sap:
        out.emplace_back(
            "sap: points yield by stiffness and relaxation time; where the stiffness is unlimited "
            "they are as stiff as the step allows, so finer steps are more rigid. Nothing bounces "
            "but what its stiffness returns.");
        break;
      case SolverType::Impulse:
        out.emplace_back(
            "impulse: rigid, with Newton's restitution at the instant of an impact; stiffness and "
            "relaxation time are not used.");
        break;
      case SolverType::Event:
        out.emplace_back(
            "event: points of finite stiffness yield by the law of sap, rigid ones bounce by "
            "Newton's restitution at the instant of an impact; Hertz's law and observers exist "
            "here alone.");
        break;
    }
    for (const std::string& note : study.notes)
      out.push_back(join(solverTypeName(study.solver), ": ", note));
  }
  return out;
}

void printCompareTable(const ComparedScene& scene) {
  const Study& study = *scene.study;
  const std::size_t numBodies = study.tracking.bodies.size();
  std::printf("%s: %s, %zu %s\n", scene.file.c_str(), timeText(study.grid.duration).c_str(),
              numBodies, numBodies == 1 ? "body" : "bodies");
  std::printf("  reference: %s\n\n", referenceSentence(scene).c_str());
  std::printf("  %-8s %9s %10s %10s %10s %10s %11s %9s  %s\n", "solver", "dt", "error", "rms",
              "impulse", "energy", "cost of 1 s", "holds", "worst body");
  for (const SolverStudy& solver : study.solvers)
    for (const LevelResult& level : solver.levels)
      printLevel(study, solverTypeName(solver.solver), level);
  std::printf("\n");
  for (const SolverStudy& solver : study.solvers) {
    std::printf("  %s: %s\n", solverTypeName(solver.solver),
                verdictSentence(scene, solver).c_str());
    const std::string advice = recommendationSentence(scene, solver);
    if (!advice.empty()) std::printf("  %s: %s\n", solverTypeName(solver.solver), advice.c_str());
  }
  for (std::size_t i = 1; i < study.distanceToFirst.size(); ++i)
    if (study.distanceToFirst[i] > 0)
      std::printf("  %s: its finest motion is %s from that of %s\n",
                  solverTypeName(study.solvers[i].solver),
                  percentText(study.distanceToFirst[i]).c_str(),
                  solverTypeName(study.solvers.front().solver));
}

Json compareDocument(const ComparedScene& scene) {
  const Study& study = *scene.study;
  Json bodies = Json::array(), solvers = Json::array(), times = Json::array();
  const ErrorScales* scales = nullptr;
  for (const SolverStudy& solver : study.solvers)
    if (solver.whyNot.empty() && scales == nullptr) scales = &solver.scales;
  for (std::size_t i = 0; i < study.tracking.bodies.size(); ++i)
    bodies.push_back({{"name", study.tracking.bodies[i].name},
                      {"way_m", scales->way[i]},
                      {"size_m", study.tracking.bodies[i].size}});
  for (std::size_t i = 0; i < study.solvers.size(); ++i) solvers.push_back(solverJson(scene, i));
  for (int i = 0; i < study.grid.numTimes; ++i) times.push_back(study.grid.time(i));
  const bool isEvent = study.referenceKind == ReferenceKind::Event;
  return {{"scene", scene.file},
          {"duration_s", study.grid.duration},
          {"wanted_error", scene.wantedError},
          {"reference",
           {{"kind", isEvent ? "event" : "finest"},
            {"error", orNull(isEvent, study.eventUncertaintyWorst)},
            {"holds_until_s", orNull(isEvent, study.eventHoldsUntil_s)},
            {"why_not_event", study.whyNoEvent.empty() ? Json(nullptr) : Json(study.whyNoEvent)},
            {"sentence", referenceSentence(scene)}}},
          {"bodies", bodies},
          {"laws", lawSentences(scene)},
          {"times_s", times},
          {"solvers", solvers}};
}

}  // namespace tangere::cli
