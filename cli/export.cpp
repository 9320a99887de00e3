// SPDX-License-Identifier: Apache-2.0
//
// tangere export: a recording as a file of another kind of tool. Today that is MCAP, for Foxglove.
#include "commands.hpp"
#include "output_file.hpp"
#include "progress.hpp"

#include <tangere/mcap.hpp>
#include <tangere/recording.hpp>

#include <cmath>
#include <cstdio>
#include <filesystem>

namespace tangere::cli {

namespace {

struct ExportOptions {
  std::string recording, output;
  Real rate = 0;
  bool isPlain = false;
};

void requireUsable(const ExportOptions& options) {
  if (!(options.rate >= 0) || !std::isfinite(options.rate))
    throw CommandError(kUsage, "--rate: expected frames a second, finite and not negative");
  if (std::filesystem::path(options.output).extension() != ".mcap")
    throw CommandError(kUsage, join("-o ", options.output, ": recordings are exported as .mcap"));
  requireDifferentFiles(std::vector<NamedFile>{{"-o", options.output}},
                        std::vector<NamedFile>{{"the recording", options.recording}});
}

void print(const ExportOptions& options, const RecordingReader& recording,
           const McapReport& report) {
  std::printf(
      "%s: %lld of %lld frames, %llu messages in %llu chunks, %.1f MB\n", options.output.c_str(),
      static_cast<long long>(report.numFrames), static_cast<long long>(recording.numFrames()),
      static_cast<unsigned long long>(report.numMessages),
      static_cast<unsigned long long>(report.numChunks), static_cast<Real>(report.numBytes) / 1e6);
}

void exportRecording(const ExportOptions& options, const CommonOptions& common) {
  requireUsable(options);
  RecordingReader recording(options.recording);
  McapReport report;
  try {
    ProgressBar progress(
        common,
        {.title = "export", .unit = "frame", .last = static_cast<double>(recording.numFrames())});
    report = exportMcap(recording, options.output,
                        {.rate = options.rate, .isCompressed = !options.isPlain},
                        [&](std::int64_t done, std::int64_t) {
                          throwIfInterrupted();
                          progress.update(static_cast<double>(done));
                        });
  } catch (const InvalidInput& error) {
    const std::string what = error.what();
    if (what.starts_with(options.recording)) throw CommandError(kInputRejected, what);
    throw CommandError(kInputRejected, {{.file = options.recording, .message = what}});
  }
  if (common.json)
    printJson({{"output", options.output},
               {"frames", report.numFrames},
               {"frames_recorded", recording.numFrames()},
               {"messages", report.numMessages},
               {"chunks", report.numChunks},
               {"bytes", report.numBytes},
               {"metres_per_newton", report.metresPerNewton}});
  else if (common.quiet == 0)
    print(options, recording, report);
  flushStdout();
}

}  // namespace

void addExportCommand(CLI::App& program, const CommonOptions& common) {
  auto* command = program.add_subcommand("export", "Turn a recording into MCAP, for Foxglove");
  const auto options = std::make_shared<ExportOptions>();
  command->add_option("RECORDING.h5", options->recording, "A recording, also a .partial one")
      ->required();
  command->add_option("-o,--output", options->output, "File to write")
      ->required()
      ->type_name("OUT.mcap");
  command->add_option("--rate", options->rate, "Frames for each simulated second (default: all)")
      ->type_name("HZ");
  command->add_flag("--plain", options->isPlain, "Do not compress");
  command->footer(
      "Topics: /shapes, /tf, /tf_static, /soft_bodies and /contact_scene for the 3D panel; "
      "/bodies,\n"
      "/contacts, /pressure, /solver, /energy and /sensors for plots.\n"
      "Example:\n  tangere run scenes/stack.toml --record stack.h5\n"
      "  tangere export stack.h5 -o stack.mcap --rate 60");
  command->callback([options, &common] { exportRecording(*options, common); });
}

}  // namespace tangere::cli
