// SPDX-License-Identifier: Apache-2.0
#include "compare_page.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace tangere::cli {

namespace {

constexpr int kNumRampColors = 6;

std::string rampColor(std::size_t index, std::size_t count) {
  const std::size_t last = std::max(count, std::size_t{2}) - 1;
  return "ramp" + std::to_string((index * (kNumRampColors - 1) + last / 2) / last);
}

std::string secondsText(Real seconds) { return seconds == 0 ? "0" : timeText(seconds); }

bool hasError(const LevelResult& level) { return !level.isReference && level.motion.isComplete(); }

/// Ladder and trials, from coarse to fine.
std::vector<const LevelResult*> allRuns(const SolverStudy& study) {
  std::vector<const LevelResult*> out;
  for (const std::vector<LevelResult>* list : {&study.levels, &study.trials})
    for (const LevelResult& level : *list)
      if (hasError(level)) out.push_back(&level);
  std::stable_sort(out.begin(), out.end(), [](const LevelResult* a, const LevelResult* b) {
    return a->motion.dt > b->motion.dt;
  });
  return out;
}

Plot errorOverTime(const ComparedScene& scene, const SolverStudy& study) {
  Plot plot{.title = join(solverTypeName(study.solver), ": error over time, for each dt"),
            .x = {.label = "time", .format = secondsText},
            .y = {.label = "error of the worst body", .isLog = true, .format = percentText},
            .wantedY = scene.wantedError,
            .wantedLabel = join("wanted: ", percentText(scene.wantedError)),
            .largestDecades = 6};
  for (std::size_t i = 0; i < study.levels.size(); ++i) {
    const LevelResult& level = study.levels[i];
    if (level.isReference) continue;
    PlotSeries series{.label = timeText(level.motion.dt),
                      .color = rampColor(i, study.levels.size())};
    for (std::size_t k = 0; k < level.curve.worst.size(); ++k)
      series.points.push_back({scene.study->grid.time(static_cast<int>(k)), level.curve.worst[k]});
    plot.series.push_back(std::move(series));
  }
  return plot;
}

Plot errorOverStep(const ComparedScene& scene) {
  Plot plot{
      .title = "Error against step size",
      .x = {.label = "dt", .isLog = true, .format = timeText},
      .y = {.label = "largest error of all bodies and times", .isLog = true, .format = percentText},
      .wantedY = scene.wantedError,
      .wantedLabel = join("wanted: ", percentText(scene.wantedError))};
  for (const SolverStudy& study : scene.study->solvers) {
    if (!study.whyNot.empty() || study.solver == SolverType::Event) continue;
    const std::string color = solverTypeName(study.solver);
    PlotSeries series{.label = color, .color = color, .look = SeriesLook::LineAndMarkers};
    const std::vector<const LevelResult*> runs = allRuns(study);
    for (auto run = runs.rbegin(); run != runs.rend(); ++run)
      series.points.push_back({(*run)->motion.dt, (*run)->summary.worst});
    plot.series.push_back(std::move(series));
    if (study.recommendation)
      plot.series.push_back({.color = color,
                             .look = SeriesLook::Star,
                             .points = {{study.recommendation->dt, study.recommendation->error}}});
    if (const std::optional<OrderFit>& fit = study.judgement.fit; fit && !study.levels.empty()) {
      const Real x = std::sqrt(study.levels.front().motion.dt * study.levels.back().motion.dt);
      char label[32];
      std::snprintf(label, sizeof label, "order %.2f", fit->order);
      plot.triangles.push_back({.x = x,
                                .y = 0.4 * fit->errorOf(x),
                                .factor = 2,
                                .slope = fit->order,
                                .label = label,
                                .color = color});
    }
  }
  return plot;
}

Plot costOverError(const ComparedScene& scene) {
  Plot plot{
      .title = "Cost against error",
      .x = {.label = "largest error of all bodies and times", .isLog = true, .format = percentText},
      .y = {.label = "computing for one simulated second", .isLog = true, .format = timeText},
      .wantedX = scene.wantedError,
      .wantedLabel = join("wanted: ", percentText(scene.wantedError)),
      .isLabelledAtPoints = true};
  for (const SolverStudy& study : scene.study->solvers) {
    if (!study.whyNot.empty()) continue;
    const std::string color = solverTypeName(study.solver);
    PlotSeries series{.label = color, .color = color, .look = SeriesLook::LineAndMarkers};
    if (study.solver == SolverType::Event) {
      if (scene.study->referenceKind != ReferenceKind::Event) continue;
      series.look = SeriesLook::Markers;
      series.points.push_back(
          {study.referenceError, study.levels.front().motion.wallPerSimulated()});
    }
    const std::vector<const LevelResult*> runs = allRuns(study);
    for (auto run = runs.rbegin(); run != runs.rend(); ++run)
      series.points.push_back({(*run)->summary.worst, (*run)->motion.wallPerSimulated()});
    plot.series.push_back(std::move(series));
    if (study.recommendation && study.recommendation->isMeasured)
      plot.series.push_back(
          {.color = color,
           .look = SeriesLook::Star,
           .points = {{study.recommendation->error, study.recommendation->wallPerSimulated}}});
  }
  return plot;
}

const char* pageStyle() {
  return R"css(
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 1480px; margin: 0 auto; padding: 24px 28px 48px; }
h1 { font-size: 24px; margin: 0 0 2px; overflow-wrap: anywhere; } h2 { font-size: 17px; margin: 28px 0 8px; }
.facts, footer { color: var(--soft); margin: 0 0 14px; max-width: 90ch; }
.answers { display: grid; grid-template-columns: repeat(auto-fit, minmax(300px, 1fr)); gap: 14px; margin: 18px 0; }
.answer { border: 1px solid var(--grid); border-radius: 10px; padding: 12px 16px; }
.answer h2 { margin: 0 0 4px; } .answer .step { font-size: 26px; font-weight: 650; } .answer p { margin: 4px 0 0; }
.answer.sap h2 { color: var(--sap); } .answer.impulse h2 { color: var(--impulse); } .answer.event h2 { color: var(--event); }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(560px, 100%), 1fr)); gap: 18px; }
.plots svg { width: 100%; height: auto; border: 1px solid var(--grid); border-radius: 10px; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: 4px 12px; border-bottom: 1px solid var(--grid); white-space: nowrap; }
th { color: var(--soft); font-weight: 500; } th:first-child, td:first-child, td.name, th.name { text-align: left; }
)css";
}

/// With a capital and a full stop.
std::string asSentence(std::string text) {
  if (text.front() >= 'a' && text.front() <= 'z')
    text.front() = static_cast<char>(text.front() - 32);
  if (text.back() != '.') text += '.';
  return text;
}

std::string answerCard(const ComparedScene& scene, const SolverStudy& study) {
  const std::string name = solverTypeName(study.solver);
  std::string card = join("<section class=\"answer ", name, "\"><h2>", name, "</h2>");
  if (study.recommendation)
    card += join("<div class=\"step\">dt = ", timeText(study.recommendation->dt), "</div>");
  else if (study.solver == SolverType::Event && study.whyNot.empty())
    card += join("<div class=\"step\">",
                 scene.study->referenceKind == ReferenceKind::Event ? "the reference" : "its own",
                 "</div>");
  else
    card += "<div class=\"step\">no dt</div>";
  for (const std::string& sentence :
       {recommendationSentence(scene, study), verdictSentence(scene, study)})
    if (!sentence.empty()) card += join("<p>", escapedForXml(asSentence(sentence)), "</p>");
  return card + "</section>\n";
}

std::string levelRow(const Study& study, const char* solver, const LevelResult& level) {
  const ErrorSummary& s = level.summary;
  std::string row =
      join("<tr><td>", solver, "</td><td>",
           std::string_view(solver) == "event" ? "its own" : timeText(level.motion.dt), "</td>");
  const auto cell = [&](const std::string& text) { row += join("<td>", text, "</td>"); };
  if (hasError(level))
    for (const Real error : {s.worst, s.rms, s.impulse, s.energy}) cell(percentText(error));
  else
    row += join("<td colspan=\"4\">",
                level.isReference ? "reference" : escapedForXml(level.motion.stopped), "</td>");
  cell(timeText(level.motion.wallPerSimulated()));
  cell(std::to_string(level.motion.numSteps));
  cell(level.isReference ? "" : timeText(level.holdsUntil_s));
  const bool isSomebody = hasError(level) && s.worstBody >= 0;
  row += join("<td class=\"name\">",
              isSomebody ? escapedForXml(join(
                               study.tracking.bodies[static_cast<std::size_t>(s.worstBody)].name,
                               " at ", timeText(study.grid.time(s.worstTime))))
                         : "",
              "</td></tr>\n");
  return row;
}

std::string levelTable(const Study& study) {
  std::string table =
      "<div class=\"wide\"><table><thead><tr><th>solver</th><th>dt</th><th>error</th><th>rms</th>"
      "<th>impulse</th><th>energy</th><th>cost of 1 s</th><th>steps</th><th>holds until</th>"
      "<th class=\"name\">worst body</th></tr></thead><tbody>\n";
  for (const SolverStudy& solver : study.solvers)
    for (const LevelResult& level : solver.levels)
      table += levelRow(study, solverTypeName(solver.solver), level);
  return table + "</tbody></table></div>\n";
}

}  // namespace

std::vector<ComparePlot> comparePlots(const ComparedScene& scene) {
  std::vector<ComparePlot> plots;
  plots.push_back({.name = "error_over_dt", .plot = errorOverStep(scene)});
  plots.push_back({.name = "cost_over_error", .plot = costOverError(scene)});
  for (const SolverStudy& study : scene.study->solvers)
    if (study.whyNot.empty() && study.solver != SolverType::Event)
      plots.push_back({.name = join("error_over_time_", solverTypeName(study.solver)),
                       .plot = errorOverTime(scene, study)});
  return plots;
}

std::string comparePage(const ComparedScene& scene) {
  const Study& study = *scene.study;
  const std::string title = escapedForXml(std::filesystem::path(scene.file).filename().string());
  std::string page = join(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
      title, " - tangere compare</title>\n<style>", plotStyle(), pageStyle(),
      "</style></head>\n<body><main>\n<h1>", title, "</h1>\n<p class=\"facts\">",
      timeText(study.grid.duration), ", ", std::to_string(study.tracking.bodies.size()),
      study.tracking.bodies.size() == 1 ? " body" : " bodies", ". Errors are measured against ",
      escapedForXml(referenceSentence(scene)), ".</p>\n<div class=\"answers\">\n");
  for (const SolverStudy& solver : study.solvers) page += answerCard(scene, solver);
  page += "</div>\n<div class=\"plots\">\n";
  for (const ComparePlot& plot : comparePlots(scene)) page += svgElement(plot.plot);
  page += join("</div>\n<h2>Runs</h2>\n", levelTable(study), "<h2>Contact laws</h2>\n<ul>");
  for (const std::string& sentence : lawSentences(scene))
    page += join("<li>", escapedForXml(sentence), "</li>");
  return page +
         "</ul>\n<footer>The error of a body is the root mean square distance of its mass from "
         "where the reference has it, over the way that its mass travels there or its size, "
         "whichever is larger. Impulse: what contacts (and joints) have given to a body up to a "
         "time, over the largest impulse or momentum of any. Energy: kinetic "
         "and potential, over its largest change or the largest kinetic energy. Stars: the "
         "recommended steps.</footer>\n</main></body></html>\n";
}

}  // namespace tangere::cli
