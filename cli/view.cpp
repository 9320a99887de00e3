// SPDX-License-Identifier: Apache-2.0
//
// tangere view: a scene that runs, or a recording, in a browser.
#include "commands.hpp"
#include "live_run.hpp"
#include "scene_input.hpp"
#include "view_server.hpp"
#include "view_stream.hpp"

#include <tangere/error.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

namespace tangere::cli {

namespace {

struct ViewOptions {
  std::string file;
  ViewServerOptions server{};
  std::string solver{};
  std::optional<Real> dt{};
  std::optional<Real> seconds{};
  LoadingOptions loading{};
};

bool isRecording(const std::string& file) {
  constexpr unsigned char kHdf5[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  char begin[8] = {};
  std::ifstream stream(file, std::ios::binary);
  return stream.read(begin, sizeof begin) && std::memcmp(begin, kHdf5, sizeof begin) == 0;
}

void tell(const ViewServer& server, const CommonOptions& common) {
  if (common.json)
    printJson({{"address", server.address()}});
  else
    std::printf("open %s\n", server.address().c_str());
  flushStdout();
  say(common, "ends with ctrl + C");
}

std::string titleOf(const std::string& file) { return std::filesystem::path(file).stem().string(); }

/// A recording in chunks of frames, made when they are asked for.
class RecordingContent {
 public:
  RecordingContent(const std::string& file, const CommonOptions& common)
      : reader_(file), encoder_(reader_) {
    if (reader_.numFrames() == 0) throw InvalidInput(file + ": a recording without frames");
    const RecordedSeries series = reader_.series();
    chooseChunks(series);
    addUpWork(series);
    index_ = viewIndex(viewScene(reader_, titleOf(file)), series, frames_per_chunk_)
                 .dump(-1, ' ', false, Json::error_handler_t::replace);
    say(common, join(std::to_string(reader_.numFrames()), " frames"));
  }

  ViewContent::Answer find(std::string_view path, std::string_view chunk) {
    if (path == "recording") return {"application/json", index_};
    if (path != "frames") return {};
    std::int64_t number = -1;
    const auto parsed = std::from_chars(chunk.data(), chunk.data() + chunk.size(), number);
    if (parsed.ec != std::errc() || parsed.ptr != chunk.data() + chunk.size() || number < 0 ||
        number > reader_.numFrames() / frames_per_chunk_ ||
        number * frames_per_chunk_ >= reader_.numFrames())
      return {};
    return {"application/octet-stream", frames(number)};
  }

 private:
  /// So that a chunk is about a megabyte: quickly there wherever one scrubs to.
  void chooseChunks(const RecordedSeries& series) {
    constexpr Real kChunkBytes = 1 << 20, kBodyBytes = 29, kContactBytes = 56, kPolygonBytes = 64,
                   kVertexBytes = 20, kMostFrames = 64;
    Real vertices = 0, things = 0;
    for (const RecordedSoftBody& soft : reader_.softBodies())
      vertices += static_cast<Real>(soft.numVertices);
    for (std::size_t i = 0; i < series.numContacts.size(); ++i)
      things += kContactBytes * series.numContacts[i] + kPolygonBytes * series.numPolygons[i];
    const Real frame = kBodyBytes * reader_.numBodies() + kVertexBytes * vertices +
                       things / static_cast<Real>(series.numContacts.size());
    frames_per_chunk_ =
        static_cast<std::int64_t>(std::clamp(kChunkBytes / frame, Real(1), kMostFrames));
  }

  /// The work before each chunk: what a frame shows is summed since the start.
  void addUpWork(const RecordedSeries& series) {
    EnergyLedger sum;
    for (std::size_t i = 0; i < series.energy.size(); ++i) {
      if (static_cast<std::int64_t>(i) % frames_per_chunk_ == 0) work_before_.push_back(sum);
      add(series.energy[i], &sum);
    }
  }
  static void add(const EnergyLedger& step, EnergyLedger* sum) {
    for (const LedgerRow& row : energyLedgerRows()) sum->*row.value += step.*row.value;
  }

  std::string frames(std::int64_t chunk) {
    const std::lock_guard lock(mutex_);  // a reader is for one thread at a time
    std::vector<std::byte> bytes;
    const std::int64_t begin = chunk * frames_per_chunk_;
    const std::int64_t end = std::min(begin + frames_per_chunk_, reader_.numFrames());
    ViewExtras extras{.work = work_before_[static_cast<std::size_t>(chunk)]};
    for (std::int64_t i = begin; i < end; ++i) {
      const RecordedFrame& frame = reader_.frame(i);
      add(frame.energy, &extras.work);
      extras.news = {frame.report.status, frame.numEvents};
      extras.softStress.clear();
      for (const RecordedSoftBody& soft : reader_.softBodies())
        if (soft.elasticity)
          extras.softStress.push_back(
              reader_.softStress(static_cast<int>(extras.softStress.size())));
      encoder_.encode(frameOf(frame), extras, &bytes);
    }
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  std::mutex mutex_;
  RecordingReader reader_;
  ViewEncoder encoder_;
  std::int64_t frames_per_chunk_ = 1;
  std::vector<EnergyLedger> work_before_;
  std::string index_;
};

void showRecording(const ViewOptions& options, const CommonOptions& common) {
  std::optional<RecordingContent> content;
  try {
    content.emplace(options.file, common);
  } catch (const InvalidInput& error) {
    throw CommandError(kInputRejected, error.what());
  } catch (const FileError& error) {
    throw CommandError(kInputOutput, error.what());
  }
  const ViewServer server(options.server,
                          {.pageData = {{"server", "recording"}},
                           .find = [&](std::string_view path, std::string_view chunk) {
                             return content->find(path, chunk);
                           }});
  tell(server, common);
  const auto begin = std::chrono::steady_clock::now();
  while (!interrupted()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const std::chrono::duration<Real> passed = std::chrono::steady_clock::now() - begin;
    if (options.seconds && passed.count() > *options.seconds) return;
  }
}

void showScene(const ViewOptions& options, const CommonOptions& common) {
  const Scene loaded = loadSceneFor(options.file, common, options.loading);
  const Model model =
      modelFor(loaded, options.file, {.solver = options.solver, .dt_s = options.dt}, common);
  LiveRun run(model, common.threads);
  const std::string scene = viewScene(model, visualsFor(loaded, common), titleOf(options.file))
                                .dump(-1, ' ', false, Json::error_handler_t::replace);
  const ViewServer server(
      options.server, {.pageData = {{"server", "live"}},
                       .find = [&](std::string_view path, std::string_view) -> ViewContent::Answer {
                         if (path != "scene") return {};
                         return {"application/json", scene};
                       },
                       .live = &run.frames(),
                       .command = [&](const Json& command) { return run.take(command); }});
  tell(server, common);
  run.run(options.seconds);
}

void view(const ViewOptions& options, const CommonOptions& common) {
  if (!hasViewer())
    throw CommandError(kUsage,
                       "this program was built without its viewer: install npm and build again");
  if (isRecording(options.file))
    showRecording(options, common);
  else
    showScene(options, common);
}

}  // namespace

void addViewCommand(CLI::App& program, const CommonOptions& common) {
  auto options = std::make_shared<ViewOptions>();
  CLI::App* command =
      program.add_subcommand("view", "Show a scene that runs, or a recording, in a browser");
  command->footer("Example: tangere view scenes/grasp.toml");
  command
      ->add_option("FILE", options->file, "Scene (TOML, MJCF, URDF, SDFormat) or recording (.h5)")
      ->required();
  command->add_option("--port", options->server.port, "Port to listen on; 0: one that is free")
      ->check(CLI::Range(0, 65535));
  command
      ->add_option("--address", options->server.address,
                   "Address to listen on; others than 127.0.0.1 let other machines in")
      ->capture_default_str();
  command->add_option("--solver", options->solver, "sap, impulse or event instead of the scene's")
      ->check(CLI::IsMember({"sap", "impulse", "event"}));
  command->add_option("--dt", options->dt, "Step instead of the scene's [s]");
  command->add_option("--seconds", options->seconds, "End after so much real time [s]");
  addLoadingOptions(*command, options->loading);
  command->callback([options, &common] { view(*options, common); });
}

}  // namespace tangere::cli
