// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"
#include "progress.hpp"
#include "verify_event.hpp"
#include "verify_families.hpp"
#include "verify_markdown.hpp"
#include "verify_rows.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

namespace tangere::cli {

namespace {

struct VerifyOptions {
  std::vector<std::string> paths;
  bool markdown = false;
};

/// Of progress, into a pipe or a log.
constexpr double kLineEvery_s = 3;

/// Beside the cases of a folder: what other engines reach.
constexpr const char* kPeersFile = "peers.json";

std::vector<std::string> caseFiles(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
      if (entry.path().extension() == ".json" && entry.path().filename() != kPeersFile)
        inside.push_back(entry.path().string());
    }
    if (inside.empty())
      throw CommandError(kInputRejected,
                         {{.file = path, .message = "no .json case in the folder"}});
    std::stable_sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

Json readCase(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw CommandError(kInputOutput, {{.file = path, .message = "cannot be read"}});
  std::stringstream text;
  text << in.rdbuf();
  try {
    Json document = Json::parse(text.str());
    for (const char* key : {"id", "family", "parameters", "checks"}) {
      if (!document.contains(key)) {
        throw CommandError(kInputRejected,
                           {{.file = path, .message = join("'", key, "' is missing")}});
      }
    }
    if (!document["id"].is_string() || !document["family"].is_string() ||
        !document["parameters"].is_object() || !document["checks"].is_array()) {
      throw CommandError(kInputRejected,
                         {{.file = path,
                           .message = "not an accuracy case: id and family are "
                                      "strings, parameters an object, checks a list"}});
    }
    return document;
  } catch (const Json::exception& error) {
    throw CommandError(kInputRejected, {{.file = path, .message = error.what()}});
  }
}

std::vector<double> numbers(const Json& value) {
  std::vector<double> out;
  if (value.is_number()) return {value.get<double>()};
  if (value.is_string()) return {labelCode(value.get<std::string>())};
  if (value.is_array()) {
    for (const Json& entry : value) {
      if (!entry.is_number()) return {};
      out.push_back(entry.get<double>());
    }
  }
  return out;
}

/// The rules of the reference data: rel, abs, rel_to_max, equal, le_factor.
void judge(Row* row) {
  const std::string type = row->tolerance.value("type", "");
  const double bound = row->tolerance.value("value", 0.0);
  if (row->value.size() != row->reference.size()) return;
  double largest = 0;
  for (const double r : row->reference) largest = std::max(largest, std::fabs(r));
  row->pass = !row->value.empty();
  for (std::size_t i = 0; i < row->value.size(); ++i) {
    const double v = row->value[i], r = row->reference[i];
    const double error = std::fabs(v - r);
    double allowed = 0;
    if (type == "rel") allowed = bound * std::fabs(r);
    if (type == "abs") allowed = bound;
    if (type == "rel_to_max") allowed = bound * largest;
    double scale = 1;  // of the error in the unit of the tolerance
    if (type == "rel") scale = std::fabs(r);
    if (type == "rel_to_max") scale = largest;
    row->scaledError = std::max(row->scaledError, scale > 0 ? error / scale : error);
    if (type == "le_factor") {
      row->pass = row->pass && v >= 0 && v <= bound * r;
      row->error = std::max(row->error, v);
      row->scaledError = std::max(row->scaledError, v / r);
      continue;
    }
    row->pass = row->pass && error <= allowed;  // false for NaN; "equal" allows nothing
    row->error = std::max(row->error, error);
  }
}

/// "impulse_dt_1e-3" and the like; nothing for a lane of another solver.
std::optional<Lane> laneOf(const std::string& name) {
  for (const auto& [known, kind] :
       {std::pair<std::string_view, LaneKind>{"hydro_fine", LaneKind::FinePressure},
        std::pair<std::string_view, LaneKind>{"hydro_coarse", LaneKind::CoarsePressure},
        std::pair<std::string_view, LaneKind>{"fem", LaneKind::Elastic},
        std::pair<std::string_view, LaneKind>{"sap", LaneKind::Kernel},
        std::pair<std::string_view, LaneKind>{"geom", LaneKind::Kernel}}) {
    if (name == known) return Lane{.solver = SolverType::Sap, .kind = kind};
  }
  if (name == "accurate") return Lane{.solver = SolverType::Event, .kind = LaneKind::Accurate};
  for (const auto& [prefix, solver] :
       {std::pair<std::string_view, SolverType>{"impulse_dt_", SolverType::Impulse},
        std::pair<std::string_view, SolverType>{"sap_dt_", SolverType::Sap},
        std::pair<std::string_view, SolverType>{"lagged_dt_", SolverType::Sap}}) {
    if (name.rfind(prefix, 0) != 0) continue;
    try {
      const double dt = std::stod(name.substr(prefix.size()));
      if (dt > 0 && dt <= 1) return Lane{dt, solver, prefix == "lagged_dt_"};
    } catch (const std::exception&) {
    }
  }
  return std::nullopt;
}

bool canRun(const Family& family, const Lane& lane) {
  if (lane.kind == LaneKind::Accurate) return family.runAccurate != nullptr;
  if (family.run == nullptr) return false;
  const auto has = [](const auto& list, auto value) {
    return std::find(list.begin(), list.end(), value) != list.end();
  };
  return has(family.solvers, lane.solver) && has(family.kinds, lane.kind) &&
         (!lane.isLagged || family.hasLagged);
}

/// One case in one lane, and what came of it.
struct Job {
  std::string path;
  const Json* document = nullptr;
  const Family* family = nullptr;
  std::string laneName;
  Lane lane;
  Outcome outcome;
  std::exception_ptr error;
};

Measured measure(const Job& job, std::string* failure) {
  const Json& parameters = (*job.document)["parameters"];
  try {
    if (job.lane.kind == LaneKind::Accurate) return job.family->runAccurate(parameters);
    return job.family->run(parameters, job.lane);
  } catch (const InvalidInput& error) {
    throw CommandError(kInputRejected, {{.file = job.path, .message = error.what()}});
  } catch (const RunFailed& error) {
    *failure = error.what();
    return {};
  }
}

void runJob(Job* job) {
  const Json& document = *job->document;
  const std::string id = document["id"];
  std::string failure;
  const Measured measured = measure(*job, &failure);
  for (const Json& check : document["checks"]) {
    const Json goals = check.value("tolerance_goal", Json::object());
    if (!goals.contains(job->laneName)) continue;
    Row row{.caseId = id,
            .lane = job->laneName,
            .quantity = check["quantity"],
            .reference = numbers(check["reference"]),
            .value = {},
            .tolerance = goals[job->laneName]};
    const auto value = measured.find(row.quantity);
    if (value != measured.end()) row.value = value->second;
    const auto reason = job->family->notMeasured.find(row.quantity);
    if (value == measured.end() && reason != job->family->notMeasured.end()) {
      job->outcome.skipped.push_back({id, job->laneName, join(row.quantity, ": ", reason->second)});
      continue;
    }
    row.failure = failure;
    judge(&row);
    job->outcome.rows.push_back(std::move(row));
  }
}

/// The lanes of a case, in the order in which they are named.
std::vector<std::string> lanesOf(const std::string& path, const Json& document) {
  std::vector<std::string> lanes;
  for (const Json& check : document["checks"]) {
    if (!check.contains("quantity") || !check.contains("reference")) {
      throw CommandError(kInputRejected,
                         {{.file = path, .message = "a check needs a quantity and a reference"}});
    }
    const Json goals = check.value("tolerance_goal", Json::object());
    for (const auto& goal : goals.items()) {
      const std::string& lane = goal.key();
      if (std::find(lanes.begin(), lanes.end(), lane) == lanes.end()) lanes.push_back(lane);
    }
  }
  return lanes;
}

/// What is to do for a case; families that are not known and lanes that cannot be run are in the
/// outcome of a job without family: a newer list of cases is no reason to run none of it.
void addJobs(const std::string& path, const Json& document, std::vector<Job>* jobs) {
  const std::string id = document["id"], family = document["family"];
  const auto& all = families();
  const auto found = all.find(family);
  if (found == all.end()) {
    std::vector<std::string> known;
    for (const auto& [name, unused] : all) known.push_back(name);
    Job job{.path = path,
            .document = &document,
            .family = nullptr,
            .laneName = {},
            .lane = {},
            .outcome = {},
            .error = {}};
    job.outcome.skipped.push_back(
        {id, "", join(path, ": no family '", family, "' is known", nearNames(family, known))});
    jobs->push_back(std::move(job));
    return;
  }
  for (const std::string& lane : lanesOf(path, document)) {
    const std::optional<Lane> how = laneOf(lane);
    Job job{.path = path,
            .document = &document,
            .family = nullptr,
            .laneName = lane,
            .lane = {},
            .outcome = {},
            .error = {}};
    if (!how) {
      job.outcome.skipped.push_back({id, lane, "no lane of this name is known"});
    } else if (how->kind == LaneKind::Accurate && !found->second.whyNotAccurate.empty()) {
      job.outcome.skipped.push_back({id, lane, found->second.whyNotAccurate});
    } else if (!canRun(found->second, *how)) {
      job.outcome.skipped.push_back(
          {id, lane, join("the ", solverTypeName(how->solver), " solver cannot express it")});
    } else {
      job.family = &found->second;
      job.lane = *how;
    }
    jobs->push_back(std::move(job));
  }
}

/// All of them, on some threads; results are in the order of the jobs whatever their number.
void runJobs(const CommonOptions& common, std::vector<Job>* jobs) {
  std::atomic<std::size_t> next{0};
  ProgressWatch watch(common, {.title = "verify",
                               .unit = "case",
                               .last = static_cast<double>(jobs->size()),
                               .plainEvery_s = kLineEvery_s});
  const auto work = [&] {
    for (std::size_t i = next++; i < jobs->size() && !interrupted(); i = next++) {
      Job& job = (*jobs)[i];
      try {
        if (job.family != nullptr) runJob(&job);
      } catch (...) {
        job.error = std::current_exception();
      }
      watch.add(1);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < common.threads; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  throwIfInterrupted();
  for (const Job& job : *jobs)
    if (job.error) std::rethrow_exception(job.error);
}

/// What the folders among the paths know about other engines.
Json readPeers(const std::vector<std::string>& paths) {
  Json rows = Json::array();
  for (const std::string& path : paths) {
    std::ifstream in(std::filesystem::path(path) / kPeersFile, std::ios::binary);
    if (!in) continue;
    const Json document = Json::parse(in, nullptr, false);
    if (document.is_discarded() || !document.contains("rows")) continue;
    for (const Json& row : document["rows"]) rows.push_back(row);
  }
  return rows;
}

Json scalarOrList(const std::vector<double>& values) {
  if (values.size() == 1) return values[0];
  return values;
}

std::string text(const std::vector<double>& values) {
  std::string out;
  for (const double value : values) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%s%.9g", out.empty() ? "" : " ", value);
    out += buffer;
  }
  return out.empty() ? "not measured" : out;
}

void printDocument(const Outcome& outcome, int failed) {
  Json rows = Json::array(), skipped = Json::array();
  for (const Row& row : outcome.rows) {
    rows.push_back({{"case", row.caseId},
                    {"lane", row.lane},
                    {"quantity", row.quantity},
                    {"reference", scalarOrList(row.reference)},
                    {"value", scalarOrList(row.value)},
                    {"error", row.error},
                    {"tolerance", row.tolerance},
                    {"pass", row.pass}});
    if (!row.failure.empty()) rows.back()["failure"] = row.failure;
  }
  for (const Skipped& s : outcome.skipped)
    skipped.push_back({{"case", s.caseId}, {"lane", s.lane}, {"reason", s.reason}});
  printJson({{"rows", rows},
             {"skipped", skipped},
             {"passed", outcome.rows.size() - static_cast<std::size_t>(failed)},
             {"failed", failed}});
}

void printText(const Outcome& outcome, int failed) {
  for (const Row& row : outcome.rows) {
    std::printf("%s  %-28s %-16s %-20s %-22s error %-10.3g %s%s%s\n", row.pass ? "pass" : "FAIL",
                row.caseId.c_str(), row.lane.c_str(), row.quantity.c_str(), text(row.value).c_str(),
                row.error, row.tolerance.dump().c_str(), row.failure.empty() ? "" : "  ",
                row.failure.c_str());
  }
  for (const Skipped& s : outcome.skipped) {
    std::printf("skip  %-28s %-16s %s\n", s.caseId.c_str(), s.lane.c_str(), s.reason.c_str());
  }
  std::printf("%zu rows, %d failed, %zu skipped\n", outcome.rows.size(), failed,
              outcome.skipped.size());
}

void runVerify(const VerifyOptions& options, const CommonOptions& common) {
  const std::vector<std::string> files = caseFiles(options.paths);
  std::vector<Json> documents;
  for (const std::string& file : files) documents.push_back(readCase(file));
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < files.size(); ++i) addJobs(files[i], documents[i], &jobs);
  runJobs(common, &jobs);

  Outcome outcome;
  for (Job& job : jobs) {
    std::move(job.outcome.rows.begin(), job.outcome.rows.end(), std::back_inserter(outcome.rows));
    std::move(job.outcome.skipped.begin(), job.outcome.skipped.end(),
              std::back_inserter(outcome.skipped));
  }
  const auto failed = static_cast<int>(std::count_if(outcome.rows.begin(), outcome.rows.end(),
                                                     [](const Row& row) { return !row.pass; }));
  if (options.markdown) {
    std::fputs(accuracyMarkdown(outcome, readPeers(options.paths)).c_str(), stdout);
  } else if (common.json) {
    printDocument(outcome, failed);
  } else {
    printText(outcome, failed);
  }
  if (failed > 0) throw CommandEnd{kDifferent};
}

}  // namespace

void addVerifyCommand(CLI::App& program, const CommonOptions& common) {
  auto* command =
      program.add_subcommand("verify", "Run accuracy cases and compare with their references");
  const auto options = std::make_shared<VerifyOptions>();
  command->add_option("CASE", options->paths, "Case files (.json), or folders of them")->required();
  command->add_flag("--markdown", options->markdown,
                    "Print the page docs/accuracy.md: errors beside tolerances and other engines");
  command->footer("Example:\n  tangere verify tests/data/golden/accuracy --json");
  command->callback([options, &common] { runVerify(*options, common); });
}

}  // namespace tangere::cli
