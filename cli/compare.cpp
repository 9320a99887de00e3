// SPDX-License-Identifier: Apache-2.0
//
// tangere compare: the same scene under several solvers and step sizes, how far they are from the
// truth, and which step to take.
#include "commands.hpp"
#include "compare_page.hpp"
#include "compare_report.hpp"
#include "output_file.hpp"
#include "progress.hpp"
#include "scene_input.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>

namespace tangere::cli {

namespace {

constexpr int kNumHalvings = 5;  // of the scene's step, without --dt
constexpr Real kMaxSteps = 1e15;

struct CompareOptions {
  std::string scene;
  std::vector<Real> steps{};
  Real duration_s = 1;
  Real error = 0.01;
  std::vector<std::string> solvers{"sap", "impulse", "event"};
  std::string reference;
  Real referenceLimit_s = 120;
  std::string keyframe, html, svg;
  LoadingOptions loading{};
};

void requireUsable(const CompareOptions& options) {
  const auto usage = [](const std::string& message) { throw CommandError(kUsage, message); };
  if (!(options.duration_s > 0) || !std::isfinite(options.duration_s))
    usage("--duration: expected seconds, finite and positive");
  if (!(options.error > 0) || !(options.error < 1))
    usage("--error: expected a relative error between 0 and 1");
  for (const Real dt : options.steps)
    if (!(dt > 0) || !(dt <= 1)) usage("--dt: expected seconds above 0 and at most 1");
}

/// Empty without --svg.
std::string svgFile(const CompareOptions& options, const std::string& plot) {
  return options.svg.empty() ? "" : join(options.svg, "_", plot, ".svg");
}

SolverType solverNamed(const std::string& name) {
  if (name == "sap") return SolverType::Sap;
  return name == "impulse" ? SolverType::Impulse : SolverType::Event;
}

/// Each once, from coarse to fine.
std::vector<Real> ladderOf(const CompareOptions& options, Real dtOfScene) {
  std::vector<Real> steps = options.steps;
  if (steps.empty())
    for (int i = 0; i <= kNumHalvings; ++i) steps.push_back(std::ldexp(dtOfScene, -i));
  std::stable_sort(steps.begin(), steps.end(), [](Real a, Real b) { return a > b; });
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

StudyOptions studyOptions(const CompareOptions& options, const Model& model, int numThreads) {
  StudyOptions out{.solvers = {},
                   .steps = ladderOf(options, model.options().dt),
                   .duration_s = options.duration_s,
                   .wantedError = options.error,
                   .referenceLimit_s = options.referenceLimit_s,
                   .keyframe = keyframeNamed(options.keyframe, model, options.scene),
                   .numThreads = numThreads};
  for (const std::string& name : options.solvers)
    if (std::find(out.solvers.begin(), out.solvers.end(), solverNamed(name)) == out.solvers.end())
      out.solvers.push_back(solverNamed(name));
  if (!(out.duration_s / out.steps.back() <= kMaxSteps))
    throw CommandError(kResourceLimit, "--duration: more than 1e15 of the finest steps");
  if (!options.reference.empty())
    out.reference = options.reference == "event" ? ReferenceKind::Event : ReferenceKind::Finest;
  return out;
}

/// Steps that the runs will take, as far as they are known before: the event solver takes its own,
/// and the search for a step may want more.
Real stepsOf(const StudyOptions& options, Real dt) { return options.duration_s / dt; }
Real stepsOfAll(const StudyOptions& options) {
  Real all = 0;
  for (const SolverType solver : options.solvers)
    for (const Real dt : options.steps)
      if (solver != SolverType::Event) all += stepsOf(options, dt);
  return all;
}

/// Files are opened before the runs: better to say now than after hours that one cannot be written.
class CompareFiles {
 public:
  CompareFiles(const CompareOptions& options, std::span<const NamedFile> inputs)
      : options_(options), inputs_(inputs) {
    const std::vector<NamedFile> outputs{{"--html", options.html},
                                         {"--svg", svgFile(options, kFirstPlot)}};
    requireDifferentFiles(outputs, inputs);
    if (!options.html.empty()) page_.emplace(options.html);
    if (!options.svg.empty()) first_plot_.emplace(svgFile(options, kFirstPlot));
  }

  void write(const ComparedScene& compared) {
    if (page_) {
      page_->write(comparePage(compared));
      page_->commit();
    }
    if (!first_plot_) return;
    for (const ComparePlot& plot : comparePlots(compared)) {
      if (plot.name == kFirstPlot) {
        first_plot_->write(standaloneSvg(plot.plot));
        first_plot_->commit();
        continue;
      }
      const NamedFile output{"--svg", svgFile(options_, plot.name)};
      requireDifferentFiles({&output, 1}, inputs_);
      OutputFile file(output.path);
      file.write(standaloneSvg(plot.plot));
      file.commit();
    }
  }

 private:
  static constexpr const char* kFirstPlot = "error_over_dt";
  const CompareOptions& options_;
  std::span<const NamedFile> inputs_;
  std::optional<OutputFile> page_, first_plot_;
};

void compareScene(const CompareOptions& options, const CommonOptions& common) {
  requireUsable(options);
  const Scene scene = loadSceneFor(options.scene, common, options.loading);
  const std::vector<NamedFile> inputs = inputsOf(scene, options.scene);
  CompareFiles files(options, inputs);
  const StudyOptions wanted = studyOptions(options, scene.model, common.threads);
  Study study;
  {
    ProgressWatch watch(common, {.title = "compare", .last = stepsOfAll(wanted)});
    Real steps = 0;  // of the run that goes on
    study = studyScene(scene.model, wanted, [&](SolverType solver, Real dt) {
      watch.add(steps);
      steps = solver == SolverType::Event ? 0 : stepsOf(wanted, dt);
      watch.say(join(solverTypeName(solver), ", dt ", timeText(dt)));
    });
  }
  const ComparedScene compared{
      .file = options.scene, .wantedError = options.error, .study = &study};
  files.write(compared);
  if (common.json)
    printJson(compareDocument(compared));
  else if (common.quiet == 0)
    printCompareTable(compared);
  flushStdout();
}

}  // namespace

void addCompareCommand(CLI::App& program, const CommonOptions& common) {
  auto* command = program.add_subcommand(
      "compare", "Errors of solvers and step sizes on a scene, and the step to take");
  const auto options = std::make_shared<CompareOptions>();
  command->add_option("SCENE", options->scene, "Scene in TOML, MJCF, URDF or SDFormat")->required();
  addLoadingOptions(*command, options->loading);
  command->add_option("--duration", options->duration_s, "Simulated time [s]")
      ->type_name("S")
      ->default_str("1");
  command
      ->add_option("--dt", options->steps,
                   "Steps [s], with commas (default: the scene's and five halvings of it)")
      ->delimiter(',')
      ->type_name("S,S,...");
  command->add_option("--error", options->error, "Wanted relative error")
      ->type_name("E")
      ->default_str("0.01");
  command->add_option("--solvers", options->solvers, "Solvers, with commas")
      ->delimiter(',')
      ->check(CLI::IsMember({"sap", "impulse", "event"}))
      ->type_name("NAME,...")
      ->default_str("sap,impulse,event");
  command
      ->add_option("--reference", options->reference,
                   "What errors are measured against: the event solver, or of each solver its\n"
                   "finest step (default: event where it can run the scene)")
      ->check(CLI::IsMember({"event", "finest"}))
      ->type_name("event|finest");
  command
      ->add_option("--reference-limit", options->referenceLimit_s,
                   "Computing time after which the event solver is given up [s]; 0: never")
      ->check(CLI::NonNegativeNumber)
      ->type_name("S")
      ->default_str("120");
  command->add_option("--keyframe", options->keyframe, "Start from this keyframe of the model")
      ->type_name("NAME");
  command->add_option("--html", options->html, "Write a page with plots")->type_name("FILE.html");
  command->add_option("--svg", options->svg, "Write the plots: PREFIX_error_over_time_sap.svg, ...")
      ->type_name("PREFIX");
  command->footer(
      "The error of a body is how far its mass is from where the reference has it, over the way\n"
      "it travels there or its size, whichever is larger; the worst body and time count.\n"
      "Example:\n"
      "  tangere compare scenes/sliding_box.toml --error 0.01 --html sliding_box.html");
  command->callback([options, &common] { compareScene(*options, common); });
}

}  // namespace tangere::cli
