// SPDX-License-Identifier: Apache-2.0
//
// tangere diff: the first step, and there the first body or contact, in which two recordings part.
#include "commands.hpp"
#include "run_report.hpp"

#include <tangere/recording.hpp>

#include <cmath>
#include <cstdio>

namespace tangere::cli {

namespace {

struct DiffOptions {
  std::string file1, file2;
  Real tolerance = 0;
  bool onlyCommonSteps = false;
};

Json documentOf(const DiffOptions& options, RecordingReader& recording1,
                RecordingReader& recording2, const std::optional<RecordingDifference>& difference) {
  Json document = {{"equal", !difference.has_value()},
                   {"frames", {recording1.numFrames(), recording2.numFrames()}},
                   {"same_model", recording1.modelHash() == recording2.modelHash()},
                   {"tolerance", options.tolerance},
                   {"difference", nullptr}};
  if (difference) {
    Json step = nullptr;
    if (difference->step) step = *difference->step;
    document["difference"] = {{"step", step},
                              {"kind", difference->kind},
                              {"name", difference->name},
                              {"quantity", difference->quantity},
                              {"values", {difference->value1, difference->value2}}};
  }
  return document;
}

void print(const DiffOptions& options, RecordingReader& recording1, RecordingReader& recording2,
           const std::optional<RecordingDifference>& difference) {
  if (recording1.modelHash() != recording2.modelHash())
    std::printf("the models differ: hash %s and %s\n", hashText(recording1.modelHash()).c_str(),
                hashText(recording2.modelHash()).c_str());
  if (!difference) {
    std::printf("equal: %lld and %lld frames of %d bodies\n",
                static_cast<long long>(recording1.numFrames()),
                static_cast<long long>(recording2.numFrames()), recording1.numBodies());
    return;
  }
  if (difference->step)
    std::printf("step %llu: ", static_cast<unsigned long long>(*difference->step));
  std::printf("%s", difference->kind.c_str());
  if (!difference->name.empty()) std::printf(" '%s'", difference->name.c_str());
  std::printf(": %s\n", difference->quantity.c_str());
  std::printf("  %s: %s\n", options.file1.c_str(), difference->value1.c_str());
  std::printf("  %s: %s\n", options.file2.c_str(), difference->value2.c_str());
}

void runDiff(const DiffOptions& options, const CommonOptions& common) {
  if (!(options.tolerance >= 0) || !std::isfinite(options.tolerance))
    throw CommandError(kUsage, "--tolerance: expected a number, finite and not negative");
  RecordingReader recording1(options.file1), recording2(options.file2);
  const auto difference =
      firstDifference(recording1, recording2,
                      {.tolerance = options.tolerance, .onlyCommonSteps = options.onlyCommonSteps});
  if (common.json)
    printJson(documentOf(options, recording1, recording2, difference));
  else if (common.quiet == 0)
    print(options, recording1, recording2, difference);
  flushStdout();
  if (difference) throw CommandEnd{kDifferent};
}

}  // namespace

void addDiffCommand(CLI::App& program, const CommonOptions& common) {
  auto* command = program.add_subcommand(
      "diff", "Compare two recordings: the first step, body or contact that differs");
  const auto options = std::make_shared<DiffOptions>();
  command->add_option("A.h5", options->file1, "A recording, also a .partial one")->required();
  command->add_option("B.h5", options->file2, "Another")->required();
  command
      ->add_option(
          "--tolerance", options->tolerance,
          "Compare poses and velocities alone; this close, in their own unit, they are equal. "
          "0: every bit of everything")
      ->type_name("X")
      ->default_str("0");
  command->add_flag("--common", options->onlyCommonSteps,
                    "Compare the steps that both have, as for a run that was resumed");
  command->footer(
      "Exit codes: 0 equal, 1 different.\n"
      "Example:\n  tangere diff one_thread.h5 eight_threads.h5");
  command->callback([options, &common] { runDiff(*options, common); });
}

}  // namespace tangere::cli
