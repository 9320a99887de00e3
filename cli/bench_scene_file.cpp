// SPDX-License-Identifier: Apache-2.0
#include "bench_scene_file.hpp"

#include "environments.hpp"
#include "progress.hpp"
#include "run_report.hpp"
#include "scene_input.hpp"

#include <tangere/simulator.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>

namespace tangere::cli {

namespace {

using Clock = std::chrono::steady_clock;

/// One phase of a step, or a part of one.
struct PhaseRow {
  std::string name{}, parent{};
  Real us = 0;       ///< of a step, in the mean
  Real percent = 0;  ///< of the step
};

struct SceneFigures {
  std::string file{}, solver{};
  int numBodies = 0, numSoftVertices = 0, numDofs = 0, numThreads = 1;
  Real dt_s = 0;
  std::uint64_t steps = 0;
  Real simulated_s = 0, wall_s = 0;
  Real mean_us = 0, median_us = 0, p99_us = 0, worst_us = 0;  ///< of a step
  Real contacts = 0, polygons = 0, iterations = 0, linearIterations = 0, islands = 0;  ///< means
  int contactsMax = 0, iterationsMax = 0;
  Real maxDepth = 0, energyResidual = 0;
  std::vector<std::pair<std::string, std::uint64_t>> status{};  ///< steps by status
  Real profiled_us = 0;                                         ///< of a step that is profiled
  std::vector<PhaseRow> phases{};
  std::string stateHash{};
  bool isRepeatable = false;  ///< the profiled run gave the same bits
};

int dofsOf(const Model& model) {
  int dofs = model.numVelocities();
  if (dofs == 0)
    for (int i = 0; i < model.numBodies(); ++i)
      if (model.bodyType(i) == BodyType::Dynamic) dofs += 6;
  return dofs + 3 * model.numSoftVertices();
}

/// Takes the steps of one run; stops the command when the scene does.
class TimedRun {
 public:
  TimedRun(const Model& model, const std::string& file, const SceneBenchOptions& options,
           const CommonOptions& common)
      : file_(file), environments_(model, 1, common.threads) {
    const int keyframe = keyframeNamed(options.keyframe, model, file);
    if (keyframe >= 0) simulator().resetToKeyframe(keyframe);
    for (std::uint64_t i = 0; i < options.settle; ++i) step();
  }

  [[nodiscard]] Simulator& simulator() { return environments_.first(); }

  /// Returns how long it took [s].
  Real step() {
    const auto begin = Clock::now();
    environments_.step(1);
    const Real wall_s = std::chrono::duration<Real>(Clock::now() - begin).count();
    if (environments_.numRunning() == 0)
      throw CommandError(environments_.isStoppedByLimit() ? kResourceLimit : kSimulationStopped,
                         {{.file = file_, .message = environments_.whyStopped()}});
    throwIfInterrupted();
    return wall_s;
  }

 private:
  std::string file_;
  Environments environments_;
};

void countStatus(StepStatus status, SceneFigures* figures) {
  const auto count = [&](std::string_view name) {
    for (auto& [known, steps] : figures->status)
      if (known == name) {
        ++steps;
        return;
      }
    figures->status.emplace_back(name, 1);
  };
  if (status == StepStatus::Ok) return count(stepStatusName(StepStatus::Ok));
  for (std::uint32_t bit = 1; bit != 0; bit <<= 1)
    if ((static_cast<std::uint32_t>(status) & bit) != 0)
      count(stepStatusName(static_cast<StepStatus>(bit)));
}

/// The speed, without the profiler.
void measureSteps(TimedRun& run, std::uint64_t steps, ProgressBar& progress,
                  SceneFigures* figures) {
  std::vector<Real> times;
  times.reserve(steps);
  const Real begin = run.simulator().state().time;
  for (std::uint64_t i = 0; i < steps; ++i) {
    times.push_back(run.step());
    const StepReport& report = run.simulator().report();
    figures->contacts += report.numContacts;
    figures->polygons += report.numPressurePolygons;
    figures->iterations += report.iterations;
    figures->linearIterations += report.linearIterations;
    figures->islands += report.numIslands;
    figures->contactsMax = std::max(figures->contactsMax, report.numContacts);
    figures->iterationsMax = std::max(figures->iterationsMax, report.iterations);
    figures->maxDepth = std::max(figures->maxDepth, report.maxDepth);
    figures->energyResidual =
        std::max(figures->energyResidual, std::fabs(run.simulator().energy().residual));
    countStatus(report.status, figures);
    progress.update(static_cast<double>(i + 1));
  }
  figures->simulated_s = run.simulator().state().time - begin;
  figures->stateHash = hashText(run.simulator().state().hash());
  for (const Real time : times) figures->wall_s += time;
  const Real share = 1 / static_cast<Real>(steps);
  for (Real* mean : {&figures->contacts, &figures->polygons, &figures->iterations,
                     &figures->linearIterations, &figures->islands})
    *mean *= share;
  std::stable_sort(times.begin(), times.end());
  figures->mean_us = figures->wall_s * share * 1e6;
  figures->median_us = times[times.size() / 2] * 1e6;
  figures->p99_us = times[times.size() * 99 / 100] * 1e6;
  figures->worst_us = times.back() * 1e6;
}

/// The same steps again, with the profiler: its clock would be part of the speed of a small scene.
void measurePhases(TimedRun& run, std::uint64_t steps, ProgressBar& progress,
                   SceneFigures* figures) {
  run.simulator().setProfiling(true);
  Real wall_s = 0;
  for (std::uint64_t i = 0; i < steps; ++i) {
    wall_s += run.step();
    progress.update(static_cast<double>(steps + i + 1));
  }
  const Real perStep = 1e6 / static_cast<Real>(steps);
  figures->profiled_us = wall_s * perStep;
  for (const PhaseTime& phase : run.simulator().profile())
    if (phase.total_s > 0)
      figures->phases.push_back({.name = std::string(phase.name),
                                 .parent = std::string(phase.parent),
                                 .us = phase.total_s * perStep,
                                 .percent = 100 * phase.total_s / wall_s});
  figures->isRepeatable = hashText(run.simulator().state().hash()) == figures->stateHash;
}

SceneFigures measureScene(const std::string& file, const SceneBenchOptions& options,
                          const CommonOptions& common) {
  const Scene scene = loadSceneFor(file, common, options.loading);
  const Model model =
      modelFor(scene, file, {.solver = options.solver, .dt_s = options.dt_s}, common);
  SceneFigures figures{.file = file,
                       .solver = solverTypeName(model.options().solver),
                       .numBodies = model.numBodies(),
                       .numSoftVertices = model.numSoftVertices(),
                       .numDofs = dofsOf(model),
                       .numThreads = common.threads,
                       .dt_s = model.options().dt,
                       .steps = options.steps};
  ProgressBar progress(common, {.title = join("bench ", file),
                                .unit = "step",
                                .last = 2 * static_cast<double>(options.steps)});
  {
    TimedRun run(model, file, options, common);
    measureSteps(run, options.steps, progress, &figures);
  }
  TimedRun again(model, file, options, common);
  measurePhases(again, options.steps, progress, &figures);
  return figures;
}

Real ratio(Real a, Real b) { return b > 0 ? a / b : 0; }

void print(const SceneFigures& figures) {
  const auto row = [](const char* name, const char* format, auto... values) {
    std::printf("  %-26s ", name);
    std::printf(format, values...);
    std::printf("\n");
  };
  std::printf("%s\n", figures.file.c_str());
  row("bodies", "%d", figures.numBodies);
  if (figures.numSoftVertices > 0) row("vertices of soft bodies", "%d", figures.numSoftVertices);
  row("degrees of freedom", "%d", figures.numDofs);
  row("solver, dt, threads", "%s, %.4g s, %d", figures.solver.c_str(), figures.dt_s,
      figures.numThreads);
  row("steps", "%llu, simulating %.4g s in %.4g s", static_cast<unsigned long long>(figures.steps),
      figures.simulated_s, figures.wall_s);
  row("steps per second", "%.0f", ratio(static_cast<Real>(figures.steps), figures.wall_s));
  row("real-time factor", "%.4g x", ratio(figures.simulated_s, figures.wall_s));
  row("time per step", "%.2f us (median %.2f, p99 %.2f, longest %.2f)", figures.mean_us,
      figures.median_us, figures.p99_us, figures.worst_us);
  row("contacts per step", "%.2f (most %d)", figures.contacts, figures.contactsMax);
  if (figures.polygons > 0) row("pressure polygons per step", "%.2f", figures.polygons);
  row("islands per step", "%.2f", figures.islands);
  row("solver iterations per step", "%.2f (most %d)", figures.iterations, figures.iterationsMax);
  if (figures.linearIterations > 0) row("CG iterations per step", "%.2f", figures.linearIterations);
  row("deepest contact", "%.4g mm", figures.maxDepth * 1e3);
  row("energy that is not booked", "at most %.2g J in a step", figures.energyResidual);
  for (const auto& [name, steps] : figures.status)
    row("status", "%llu steps %s", static_cast<unsigned long long>(steps), name.c_str());
  row("state hash", "%s%s", figures.stateHash.c_str(),
      figures.isRepeatable ? ", again the same when profiled"
                           : "  WRONG: another one when profiled");
  std::printf("\n  %-26s %12s %9s\n", "phase", "us per step", "percent");
  std::printf("  %-26s %12.2f %9.1f\n", "step (profiled)", figures.profiled_us, 100.0);
  Real rest = 100;
  for (const PhaseRow& phase : figures.phases) {
    const bool isPart = !phase.parent.empty();
    if (!isPart) rest -= phase.percent;
    std::printf("  %-26s %12.2f %9.1f\n", join(isPart ? "    " : "  ", phase.name).c_str(),
                phase.us, phase.percent);
  }
  std::printf("  %-26s %12.2f %9.1f\n", "  (between phases)", figures.profiled_us * rest / 100,
              rest);
}

Json toJson(const SceneFigures& figures) {
  Json status = Json::object();
  for (const auto& [name, steps] : figures.status) status[name] = steps;
  Json phases = Json::array();
  for (const PhaseRow& phase : figures.phases)
    phases.push_back({{"name", phase.name},
                      {"parent", phase.parent},
                      {"us_per_step", phase.us},
                      {"percent", phase.percent}});
  return {{"scene", figures.file},
          {"bodies", figures.numBodies},
          {"soft_vertices", figures.numSoftVertices},
          {"degrees_of_freedom", figures.numDofs},
          {"solver", figures.solver},
          {"dt_s", figures.dt_s},
          {"threads", figures.numThreads},
          {"steps", figures.steps},
          {"simulated_s", figures.simulated_s},
          {"wall_s", figures.wall_s},
          {"steps_per_s", ratio(static_cast<Real>(figures.steps), figures.wall_s)},
          {"realtime_factor", ratio(figures.simulated_s, figures.wall_s)},
          {"step_us",
           {{"mean", figures.mean_us},
            {"median", figures.median_us},
            {"p99", figures.p99_us},
            {"max", figures.worst_us}}},
          {"contacts_mean", figures.contacts},
          {"contacts_max", figures.contactsMax},
          {"polygons_mean", figures.polygons},
          {"islands_mean", figures.islands},
          {"iterations_mean", figures.iterations},
          {"iterations_max", figures.iterationsMax},
          {"linear_iterations_mean", figures.linearIterations},
          {"max_depth_m", figures.maxDepth},
          {"energy_residual_max", figures.energyResidual},
          {"status", status},
          {"state_hash", figures.stateHash},
          {"same_when_profiled", figures.isRepeatable},
          {"profiled_step_us", figures.profiled_us},
          {"phases", phases}};
}

}  // namespace

bool isSceneFile(const std::string& word) {
  const std::string extension = std::filesystem::path(word).extension().string();
  return word.find('/') != std::string::npos || extension == ".toml" || extension == ".xml" ||
         extension == ".urdf" || extension == ".sdf";
}

void benchSceneFiles(const SceneBenchOptions& options, const CommonOptions& common) {
  Json documents = Json::array();
  for (const std::string& file : options.files) {
    const SceneFigures figures = measureScene(file, options, common);
    if (common.json)
      documents.push_back(toJson(figures));
    else
      print(figures);
    if (!common.json && file != options.files.back()) std::printf("\n");
  }
  if (common.json) printJson({{"scenes", documents}});
  flushStdout();
}

}  // namespace tangere::cli
