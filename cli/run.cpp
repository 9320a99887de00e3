// SPDX-License-Identifier: Apache-2.0
//
// tangere run: simulates a scene, records it, and can go on where an earlier run was cut.
#include "commands.hpp"
#include "environments.hpp"
#include "output_file.hpp"
#include "progress.hpp"
#include "replay.hpp"
#include "run_report.hpp"
#include "scene_input.hpp"
#include "trace.hpp"

#include <tangere/checkpoint.hpp>
#include <tangere/recording.hpp>
#include <tangere/simulator.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

namespace tangere::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr Real kDefaultDuration_s = 5;
constexpr Real kMaxSteps = 1e15;
constexpr Real kMaxTimeLimit_s = 1e9;
constexpr int kHashesShown = 16;
// Many environments take some steps each before the next ones do, so that each stays in the cache;
// few enough that an interrupt is answered at once.
constexpr int kMaxStepsAtOnce = 256;
constexpr Real kMaxTimeAtOnce_s = 0.05;

struct RunOptions {
  std::string scene;
  std::optional<Real> duration_s, dt_s, checkpointEvery_s, timeLimit_s;
  std::optional<std::uint64_t> steps;
  std::string solver, device = "cpu";
  std::optional<Real> accuracy;
  bool excludeStartOverlaps = false;
  std::string keyframe;
  int envs = 1;
  std::uint64_t seed = 0;
  std::uint64_t hashEvery = 0;
  std::string record, replay, trace, checkpoint, resume, events;
  LoadingOptions loading{};
};

/// Why a run ended before its last step.
struct EarlyEnd {
  ExitCode code = kDone;
  std::string message;
};

Real secondsSince(Clock::time_point begin) {
  return std::chrono::duration<Real>(Clock::now() - begin).count();
}

void requireUsable(const RunOptions& options) {
  const auto usage = [](const std::string& message) { throw CommandError(kUsage, message); };
  const auto isTime = [](const std::optional<Real>& value, bool mayBeZero) {
    return !value || (std::isfinite(*value) && (*value > 0 || (mayBeZero && *value == 0)));
  };
  if (options.duration_s && options.steps) usage("give --duration or --steps, not both");
  if (!isTime(options.duration_s, true))
    usage("--duration: expected seconds, finite and not negative");
  if (!isTime(options.dt_s, false)) usage("--dt: expected seconds, finite and positive");
  if (!isTime(options.checkpointEvery_s, false))
    usage("--checkpoint-every: expected seconds, finite and positive");
  if (!isTime(options.timeLimit_s, false) || options.timeLimit_s.value_or(0) >= kMaxTimeLimit_s)
    usage("--time-limit: expected seconds, positive and below 1e9");
  if (options.checkpointEvery_s && options.checkpoint.empty())
    usage("--checkpoint-every needs --checkpoint FILE");
  if (options.device == "cuda")
    throw CommandError(kDevice, "--device cuda: scenes run on the cpu only; use --device cpu");
  if (options.envs == 1) return;
  if (!options.checkpoint.empty() || !options.resume.empty())
    usage("--checkpoint and --resume hold one environment: use them without --envs");
  if (!options.trace.empty())
    usage("--trace follows the phases of one environment: use it without --envs");
}

/// A checkpoint may be the one that was resumed from: it is read before, and replaced in one move.
void requireDifferentFiles(const RunOptions& options, const Scene& scene) {
  const std::vector<NamedFile> outputs{{"--record", options.record},
                                       {"--replay", options.replay},
                                       {"--trace", options.trace},
                                       {"--checkpoint", options.checkpoint},
                                       {"--events", options.events}};
  requireDifferentFiles(outputs, inputsOf(scene, options.scene));
  if (options.resume.empty()) return;
  for (const NamedFile& output : outputs)
    if (output.what != "--checkpoint")
      requireDifferentFiles({&output, 1}, std::vector<NamedFile>{{"--resume", options.resume}});
}

/// Better to say so now than after hours.
void requireWritable(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  const std::string name = folder.empty() ? "." : folder.string();
  if (access(name.c_str(), W_OK | X_OK) != 0)
    throw CommandError(kInputOutput, {{.file = file,
                                       .message = "cannot be written: " +
                                                  std::generic_category().message(errno)}});
  std::error_code error;
  const auto refuse = [&](const char* reason) {
    throw CommandError(kInputOutput,
                       {{.file = file, .message = join("cannot be written: ", reason)}});
  };
  const auto status = std::filesystem::status(file, error);
  if (std::filesystem::is_directory(status)) refuse("a folder");
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    refuse("not a regular file");
  if (!std::filesystem::exists(status) &&
      std::filesystem::is_symlink(std::filesystem::symlink_status(file, error)))
    refuse("a link to nothing");
}

std::uint64_t stepsToReach(const RunOptions& options, Real dt_s) {
  if (options.steps) return *options.steps;
  const Real steps = options.duration_s.value_or(kDefaultDuration_s) / dt_s;
  if (!(steps <= kMaxSteps))
    throw CommandError(kResourceLimit, "--duration: more than 1e15 steps of this dt");
  // 1 s in steps of 0.001 s is 1000 steps, whatever the last digit of the quotient.
  const Real nearest = std::floor(steps + 0.5);
  const bool isWhole = std::fabs(steps - nearest) <= 1e-9 * (1 + steps);
  return static_cast<std::uint64_t>(isWhole ? nearest : std::ceil(steps));
}

/// One run: its environments and everything that is written on the way.
class Run {
 public:
  Run(const RunOptions& options, const CommonOptions& common, const Model& model,
      const Scene& scene)
      : options_(options),
        common_(common),
        environments_(model, options.envs, common.threads),
        simulator_(environments_.first()) {
    if (!options.keyframe.empty()) startFromKeyframe();
    if (!options.resume.empty()) resume();
    if (!options.checkpoint.empty()) requireWritable(options.checkpoint);
    const std::vector<VisualShape> visuals = options.replay.empty() && options.record.empty()
                                                 ? std::vector<VisualShape>{}
                                                 : visualsFor(scene, common);
    if (!options.replay.empty()) {
      replay_.emplace(simulator_.model(), visuals);
      replayFile_.emplace(options.replay);
    }
    if (!options.trace.empty()) {
      trace_.emplace(options.trace, "tangere run " + options.scene);
      simulator_.setProfiling(true);
    }
    if (!options.events.empty()) requireWritable(options.events);
    if (!options.record.empty())
      recording_.emplace(options.record, simulator_.model(), RecordingOptions{.visuals = visuals});
    if (options.resume.empty()) record();  // the step resumed from is in the earlier recording
  }

  /// Its controls stay; the state is that of a checkpoint when one is resumed.
  void startFromKeyframe() {
    const int keyframe = keyframeNamed(options_.keyframe, simulator_.model(), options_.scene);
    for (int k = 0; k < environments_.size(); ++k)
      environments_.environment(k).resetToKeyframe(keyframe);
  }

  /// Steps until `last`, or until something ends the run early.
  void advanceTo(std::uint64_t last) {
    const std::uint64_t first = simulator_.state().step;
    const Real firstTime = simulator_.state().time;
    const auto begin = Clock::now();
    auto saved = begin;
    {
      ProgressBar progress(common_, {.title = "run",
                                     .unit = "step",
                                     .first = static_cast<double>(first),
                                     .last = static_cast<double>(last)});
      progress_ = &progress;
      try {
        for (std::uint64_t step = first; step < last && !early_;) {
          step += advance(last - step);
          progress.update(static_cast<double>(step));
          if (options_.checkpointEvery_s && secondsSince(saved) >= *options_.checkpointEvery_s) {
            const auto from = Clock::now();
            saveCheckpoint(options_.checkpoint, simulator_.model(), simulator_.state(),
                           environments_.counters());
            if (trace_) trace_->addSpan("checkpoint", from);
            saved = Clock::now();
          }
          if (interrupted()) early_ = whyInterrupted();
        }
        if (!early_ && environments_.numRunning() < environments_.size()) stopEarly();
      } catch (const FileError& error) {
        early_ = {kInputOutput, error.what()};
      } catch (const CommandError& error) {  // of the trace
        early_ = {error.code(), error.what()};
      } catch (const InvalidInput& error) {  // a number that cannot be recorded
        early_ = {
            kSimulationStopped,
            "environment 0, step " + std::to_string(simulator_.state().step) + ": " + error.what()};
      }
      progress_ = nullptr;
    }
    stepsHere_ = simulator_.state().step - first;
    simulatedHere_s_ = simulator_.state().time - firstTime;
    finishFiles();
    wall_s_ = secondsSince(begin);
  }

  void report() const {
    const RunSummary summary{.simulator = &simulator_,
                             .counters = environments_.counters(),
                             .numEnvironments = environments_.size(),
                             .stateHashes = environments_.stateHashes(kHashesShown),
                             .stepsHere = stepsHere_,
                             .environmentStepsHere = environments_.numSteps(),
                             .events = &events_,
                             .simulatedHere_s = simulatedHere_s_,
                             .wall_s = wall_s_};
    if (common_.json)
      printJson(runDocument(summary));
    else if (common_.quiet == 0)
      printRunTable(options_.scene, summary, common_.verbose > 0);
    flushStdout();
  }

  [[nodiscard]] const std::optional<EarlyEnd>& earlyEnd() const { return early_; }
  [[nodiscard]] std::uint64_t step() const { return simulator_.state().step; }

 private:
  void resume() {
    const Checkpoint checkpoint = loadCheckpoint(options_.resume, simulator_.model());
    simulator_.setState(checkpoint.state);
    environments_.setCounters(checkpoint.counters);
  }

  /// One step of every environment, or several where nothing has to be seen in between; returns
  /// how many.
  std::uint64_t advance(std::uint64_t most) {
    const auto begin = Clock::now();
    const std::uint64_t before = simulator_.state().step;
    const int count = static_cast<int>(std::min(most, static_cast<std::uint64_t>(stepsAtOnce_)));
    environments_.step(count);
    if (trace_)
      trace_->addStep(begin, Clock::now(), simulator_.state().step, simulator_.report(),
                      simulator_.profile());
    if (isFree() && stepsAtOnce_ < kMaxStepsAtOnce && 2 * secondsSince(begin) < kMaxTimeAtOnce_s)
      stepsAtOnce_ *= 2;
    if (environments_.numRunning() == 0)
      stopEarly();
    else if (simulator_.state().step > before)  // others go on where environment 0 has stopped
      observe();
    keepEvents();
    return static_cast<std::uint64_t>(count);
  }

  [[nodiscard]] EarlyEnd whyInterrupted() const {
    const std::string after = " after step " + std::to_string(simulator_.state().step);
    if (!isTimeUp()) return {kInterrupted, "interrupted" + after};
    char limit[32];
    std::snprintf(limit, sizeof limit, "%g", *options_.timeLimit_s);
    return {kResourceLimit, join("the time limit of ", limit, " s was reached", after)};
  }

  void stopEarly() {
    early_ = {environments_.isStoppedByLimit() ? kResourceLimit : kSimulationStopped,
              environments_.whyStopped()};
  }

  /// Whether nobody wants to see single steps.
  [[nodiscard]] bool isFree() const {
    return environments_.size() > 1 && !recording_ && !replay_ && options_.hashEvery == 0;
  }

  /// Those of the last step of the first environment.
  void keepEvents() {
    for (const EventRecord& event : simulator_.events()) {
      if (common_.verbose > 0 && !common_.json) {
        clearProgress();
        std::printf("%s\n", describe(event, simulator_.model()).c_str());
      }
      if (common_.json || !options_.events.empty()) events_.push_back(event);
    }
  }

  void writeEvents() {
    OutputFile file(options_.events);
    if (options_.events.ends_with(".json")) {
      file.write(eventsDocument(events_, simulator_.model()).dump(1) + "\n");
    } else {
      for (const EventRecord& event : events_)
        file.write(describe(event, simulator_.model()) + "\n");
    }
    file.commit();
  }

  void observe() {
    record();
    const State& state = simulator_.state();
    if (options_.hashEvery > 0 && state.step % options_.hashEvery == 0) printHash(state);
  }

  void record() {
    const State& state = simulator_.state();
    news_.add(simulator_);
    const bool isForReplay = replay_ && replay_->isDue(state.time);
    if (!recording_ && !isForReplay) return;
    const auto begin = Clock::now();
    RecordFrame frame = frameOf(simulator_, &bodies_);
    if (isForReplay) replay_->add(frame, extrasOf(simulator_, std::exchange(news_, {})));
    if (recording_) {
      frame.stateHash = state.hash();
      recording_->append(frame);
    }
    if (trace_) trace_->addSpan("record", begin);
  }

  /// What is printed stands in a line of its own.
  void clearProgress() const {
    if (progress_ != nullptr) progress_->clear();
  }

  /// On stdout, or on stderr where stdout belongs to the document.
  void printHash(const State& state) const {
    std::FILE* stream = common_.json ? stderr : stdout;
    clearProgress();
    std::fprintf(stream, "%llu %s\n", static_cast<unsigned long long>(state.step),
                 hashText(state.hash()).c_str());
    if (std::fflush(stream) != 0) throw FileError("stdout: cannot be written");
  }

  /// What can be saved is saved, also after an interrupt or when another file failed.
  void finishFiles() {
    const auto attempt = [&](auto&& write) {
      try {
        write();
      } catch (const FileError& error) {
        if (!early_) early_ = {kInputOutput, error.what()};
      } catch (const CommandError& error) {
        if (!early_) early_ = {error.code(), error.what()};
      }
    };
    if (recording_ && !(early_ && early_->code == kInputOutput))
      attempt([&] { recording_->close(); });
    if (trace_) {
      if (trace_->isFull())
        warn(common_, join(options_.trace, ": holds the first ", std::to_string(Trace::kMaxSteps),
                           " steps, not all"));
      attempt([&] { trace_->commit(); });
    }
    if (replay_)
      attempt([&] {
        replayFile_->write(replay_->page(std::filesystem::path(options_.scene).stem().string()));
        replayFile_->commit();
      });
    if (!options_.events.empty()) attempt([&] { writeEvents(); });
    if (!options_.checkpoint.empty())
      attempt([&] {
        saveCheckpoint(options_.checkpoint, simulator_.model(), simulator_.state(),
                       environments_.counters());
      });
  }

  const RunOptions& options_;
  const CommonOptions& common_;
  Environments environments_;
  Simulator& simulator_;  // the first of them, which the files are about
  std::optional<RecordingWriter> recording_;
  std::optional<Trace> trace_;
  std::optional<Replay> replay_;
  std::optional<OutputFile> replayFile_;
  std::vector<BodyState> bodies_;
  ViewNews news_;                    // since the last frame of the replay
  std::vector<EventRecord> events_;  // of the event solver
  std::optional<EarlyEnd> early_;
  ProgressBar* progress_ = nullptr;  // while it steps
  int stepsAtOnce_ = 1;
  std::uint64_t stepsHere_ = 0;
  Real simulatedHere_s_ = 0, wall_s_ = 0;
};

void runScene(const RunOptions& options, const CommonOptions& common) {
  requireUsable(options);
  if (options.timeLimit_s) limitTime(*options.timeLimit_s);
  if (options.device == "auto") say(common, "tangere: --device auto: on the cpu");
  const Scene scene = loadSceneFor(options.scene, common, options.loading);
  requireDifferentFiles(options, scene);
  const Model model = modelFor(scene, options.scene,
                               {.solver = options.solver,
                                .dt_s = options.dt_s,
                                .accuracy = options.accuracy,
                                .excludeStartOverlaps = options.excludeStartOverlaps},
                               common);
  const std::uint64_t last = stepsToReach(options, model.options().dt);
  Run run(options, common, model, scene);
  if (run.step() >= last && !options.resume.empty())
    warn(common, join(options.resume, ": is at step ", std::to_string(run.step()),
                      " already; nothing is left to do"));
  run.advanceTo(last);
  if (run.earlyEnd()) std::fprintf(stderr, "tangere: %s\n", run.earlyEnd()->message.c_str());
  run.report();
  if (run.earlyEnd()) throw CommandEnd{run.earlyEnd()->code};
}

}  // namespace

void addRunCommand(CLI::App& program, const CommonOptions& common) {
  auto* command = program.add_subcommand("run", "Simulate a scene");
  const auto options = std::make_shared<RunOptions>();
  command->add_option("SCENE", options->scene, "Scene in TOML, MJCF, URDF or SDFormat")->required();
  addLoadingOptions(*command, options->loading);
  command
      ->add_option("--duration", options->duration_s,
                   "Simulated time to reach [s], from the start of the scene")
      ->type_name("S")
      ->default_str("5");
  command->add_option("--steps", options->steps, "Steps to reach, from the start of the scene")
      ->check(CLI::Range(std::uint64_t{0}, static_cast<std::uint64_t>(kMaxSteps)))
      ->type_name("N");
  command->add_option("--dt", options->dt_s, "Time step [s] (default: the scene's)")
      ->type_name("S");
  command->add_option("--keyframe", options->keyframe, "Start from this keyframe of the model")
      ->type_name("NAME");
  command
      ->add_option("--accuracy", options->accuracy,
                   "SAP: divide steps until no coordinate is off by more [m, rad]")
      ->check(CLI::PositiveNumber)
      ->type_name("E");
  command->add_flag("--exclude-start-overlaps", options->excludeStartOverlaps,
                    "Links that overlap their parent or their fixed base at the start never touch "
                    "it ('tangere check' lists them)");
  command->add_option("--solver", options->solver, "Solver (default: the scene's)")
      ->check(CLI::IsMember({"sap", "impulse", "event"}))
      ->type_name("sap|impulse|event");
  command
      ->add_option("--envs", options->envs,
                   "Environments, stepped together; bodies and files are those of the first")
      ->check(CLI::Range(1, 1 << 24))
      ->type_name("B")
      ->default_str("1");
  command->add_option("--device", options->device, "Device")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
      ->type_name("auto|cpu|cuda")
      ->default_str("cpu");
  command
      ->add_option("--seed", options->seed,
                   "Seed of random numbers; a scene draws none: any seed gives the same bits")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N")
      ->default_str("0");
  command->add_option("--record", options->record, "Record every step (HDF5)")
      ->type_name("FILE.h5");
  command->add_option("--replay", options->replay, "Write a page that plays the run in a browser")
      ->type_name("FILE.html");
  command
      ->add_option("--trace", options->trace,
                   "Write where the time went, step by step, for chrome://tracing or Perfetto")
      ->type_name("FILE.json");
  command
      ->add_option("--events", options->events,
                   "Write what the event solver met, as text or (.json) as a document")
      ->type_name("FILE");
  command->add_option("--hash-every", options->hashEvery, "Print 'step hash' every N steps")
      ->check(CLI::Range(std::uint64_t{1}, static_cast<std::uint64_t>(kMaxSteps)))
      ->type_name("N");
  command
      ->add_option("--checkpoint", options->checkpoint,
                   "Save the state here at the end, and when interrupted")
      ->type_name("FILE");
  command
      ->add_option("--checkpoint-every", options->checkpointEvery_s,
                   "and every S seconds of wall time")
      ->type_name("S");
  command
      ->add_option("--time-limit", options->timeLimit_s,
                   "End after S seconds of wall time, with the state of the last whole step")
      ->type_name("S");
  command->add_option("--resume", options->resume, "Go on from a checkpoint of the same scene")
      ->type_name("FILE");
  command->footer(
      "The state after N steps is the same, bit for bit, for any number of threads and whether or\n"
      "not the run was cut and resumed. FILE.h5 is FILE.h5.partial until it is complete.\n"
      "Example:\n"
      "  tangere run stack.toml --duration 60 --record stack.h5 --checkpoint stack.ck "
      "--checkpoint-every 10\n"
      "  tangere run stack.toml --duration 60 --resume stack.ck --checkpoint stack.ck --json");
  command->callback([options, &common] { runScene(*options, common); });
}

}  // namespace tangere::cli
